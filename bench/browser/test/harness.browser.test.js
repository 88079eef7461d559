// @ts-check
/** The harness with a real Chromium. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createProfile, withBrowser } from "../harness/index.js";

const LIMIT_MS = 60_000;
/** On a disk, as the repository is; the system's temporary folder may not be. */
const FOLDER = dirname(fileURLToPath(import.meta.url));
const root = mkdtempSync(join(tmpdir(), "gingham-harness-test-"));
writeFileSync(join(root, "index.html"), "<!doctype html><title>t</title>");
writeFileSync(join(root, "worker.js"), 'console.error("from the worker"); throw new Error("uncaught in the worker");');
after(() => rmSync(root, { recursive: true }));
const mounts = { "/": root };

test("a page, OPFS in it, and errors of pages and workers collected", { timeout: LIMIT_MS }, async () => {
  const errors = await withBrowser({ mounts }, async ({ page, consoleErrors, browserVersion }) => {
    assert.match(browserVersion, /^\d+\./);
    assert.equal(await page.title(), "t");
    assert.equal(await page.evaluate(() => isSecureContext), true);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    await page.evaluate(() => console.error("from the page"));
    await page.evaluate(() => new Promise((resolve) => (new Worker("/worker.js").onerror = resolve)));
    await page.waitForTimeout(200);
    return consoleErrors;
  });
  for (const expected of ["from the page", "from the worker", "uncaught in the worker"]) {
    assert.ok(errors.some((text) => text.includes(expected)), `${expected} in ${JSON.stringify(errors)}`);
  }
});

test("profile, browser and server are gone after a failure", { timeout: LIMIT_MS }, async () => {
  const profiles = mkdtempSync(join(FOLDER, "profiles-"));
  process.env["GINGHAM_PROFILE_DIR"] = profiles;
  let origin = "";
  try {
    const run = withBrowser({ mounts }, async (session) => {
      origin = session.origin;
      assert.equal(readdirSync(profiles).length, 1);
      throw new Error("the body failed");
    });
    await assert.rejects(run, /the body failed/);
    assert.deepEqual(readdirSync(profiles), []);
    await assert.rejects(fetch(origin), "the server still answers");
  } finally {
    delete process.env["GINGHAM_PROFILE_DIR"];
    rmSync(profiles, { recursive: true });
  }
});

test("a browser that dies is an error at once", { timeout: LIMIT_MS }, async () => {
  const run = withBrowser({ mounts, limitMs: LIMIT_MS * 2 }, async ({ context }) => {
    void context.close();
    await new Promise(() => {});
  });
  await assert.rejects(run, /Chromium has closed/);
});

test("a signal ends the run, the browser and the profile", { timeout: LIMIT_MS }, async () => {
  const profiles = mkdtempSync(join(FOLDER, "profiles-"));
  const script = `
    import { withBrowser } from ${JSON.stringify(join(FOLDER, "../harness/index.js"))};
    await withBrowser({ mounts: { "/": ${JSON.stringify(root)} } }, async () => {
      console.log("running");
      await new Promise(() => {});
    });`;
  const env = { ...process.env, GINGHAM_PROFILE_DIR: profiles };
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const [profile] = readdirSync(profiles);
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    assert.equal(code, 128 + 15);
    assert.deepEqual(readdirSync(profiles), []);
    assert.ok(!commandLines().some((line) => line.includes(`--user-data-dir=${join(profiles, profile ?? "")}`)));
  } finally {
    child.kill("SIGKILL");
    rmSync(profiles, { recursive: true, force: true });
  }
});

/** Command lines of all processes, where the system tells. */
function commandLines() {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc").flatMap((entry) => {
    try {
      return /^\d+$/.test(entry) ? [readFileSync(`/proc/${entry}/cmdline`, "utf8")] : [];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

test("a Chromium that is not there is a clear error", async () => {
  const asked = process.env["CHROMIUM"];
  process.env["CHROMIUM"] = "/nowhere/chromium";
  try {
    await assert.rejects(withBrowser({ mounts }, async () => {}), /CHROMIUM names "\/nowhere\/chromium"/);
  } finally {
    if (asked === undefined) delete process.env["CHROMIUM"];
    else process.env["CHROMIUM"] = asked;
  }
});

test("a body that hangs is ended at its limit", { timeout: LIMIT_MS }, async () => {
  const run = withBrowser({ mounts, limitMs: 500 }, ({ page }) => page.evaluate(() => new Promise(() => {})));
  await assert.rejects(run, /the browser run took longer than 500 ms/);
});

test("a profile that is kept carries OPFS from one browser to the next", { timeout: LIMIT_MS }, async () => {
  const profile = createProfile();
  try {
    // The port is part of the origin, so both browsers must find the site at the same one.
    const port = await withBrowser({ mounts, profile }, async ({ page, origin }) => {
      await page.evaluate(async () => {
        const folder = await navigator.storage.getDirectory();
        await folder.getFileHandle("kept", { create: true });
      });
      return Number(new URL(origin).port);
    });
    const names = await withBrowser({ mounts, profile, port }, ({ page }) =>
      page.evaluate(async () => {
        const found = [];
        for await (const name of (await navigator.storage.getDirectory()).keys()) found.push(name);
        return found;
      }),
    );
    assert.deepEqual(names, ["kept"]);
  } finally {
    profile.remove();
  }
  assert.ok(!existsSync(profile.folder));
});
