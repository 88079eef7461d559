// @ts-check
/** The batteries of one engine in one repetition, in a browser and profile of their own. */

import { BATTERIES } from "../worker/batteries.js";
import { withSession } from "./session.js";

/** @typedef {import("../adapters/engines.js").Engine} Engine */
/** @typedef {Awaited<ReturnType<typeof measureBatteries>>} BatteriesSample */

const STEP_LIMIT_MS = 600_000;
const ENGINE_LIMIT_MS = 1_800_000;

/**
 * @param {Engine} engine
 * @param {{vendorFolder: string, note: (text: string) => void, profiles?: import("./session.js").Profiles | undefined}} options
 */
export function measureBatteries(engine, { vendorFolder, note, profiles }) {
  return withSession({ vendorFolder, profiles, limitMs: ENGINE_LIMIT_MS }, async (session) => {
    /** @type {Record<string, number>} */
    const elapsedMs = {};
    let version = "";
    for (const relaxed of [false, true]) {
      const database = relaxed ? "relaxed" : "strict";
      const { worker, started } = await session.start({ engine: engine.name, database, relaxed, complete: true });
      version = started.version;
      for (const battery of BATTERIES.filter((each) => (each.relaxed ?? false) === relaxed)) {
        note(battery.title);
        elapsedMs[battery.id] = (
          await worker.call("runBattery", { id: battery.id }, STEP_LIMIT_MS, battery.title)
        ).elapsedMs;
      }
      await worker.close();
    }
    return { version, elapsedMs, consoleErrors: session.consoleErrors, browserVersion: session.browserVersion };
  });
}
