// @ts-check
/**
 * The headless-Chromium harness of tests, demo and benches. It knows no engine and no suite.
 *
 *     import { withBrowser } from "…/bench/browser/harness/index.js";
 *     await withBrowser({ mounts: { "/": "web/dist" } }, async ({ page, consoleErrors }) => {
 *       …
 *     });
 */

export { CHROMIUM_FLAGS, findChromium, launchChromium } from "./chromium.js";
export { DeadlineError, withDeadline } from "./deadline.js";
export { createProfile } from "./profile.js";
export { startServer } from "./server.js";
export { withBrowser } from "./with-browser.js";
