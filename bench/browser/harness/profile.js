// @ts-check
/**
 * Browser profiles: fresh, empty folders on a real disk. OPFS lives inside the profile, so on a
 * memory file system a flush would cost nothing and every durability figure would be false.
 */

import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Numbers that statfs(2) gives for file systems in memory. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */]);

const REPOSITORY = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/**
 * @typedef {object} Profile
 * @property {string} folder
 * @property {() => void} remove removes the folder; safe to call twice
 */

/**
 * Makes a fresh profile folder: under $GINGHAM_PROFILE_DIR where that is set, else in the system's
 * temporary folder, else (where that is in memory) in the repository's ignored `.cache`.
 *
 * @returns {Profile}
 */
export function createProfile() {
  const folder = mkdtempSync(join(profileParent(), "gingham-chromium-"));
  const remove = () => {
    process.off("exit", remove);
    // Chromium's helpers may still write for a moment after the browser has closed.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  process.on("exit", remove);
  return { folder, remove };
}

/** @returns {string} the folder in which profiles are made, which is not on a memory file system */
function profileParent() {
  const asked = process.env["GINGHAM_PROFILE_DIR"];
  if (asked !== undefined && asked !== "") {
    mkdirSync(asked, { recursive: true });
    if (isInMemory(asked)) throw new Error("GINGHAM_PROFILE_DIR must be on a disk, not on tmpfs");
    return asked;
  }
  if (!isInMemory(tmpdir())) return tmpdir();
  const cache = join(REPOSITORY, ".cache", "profiles");
  mkdirSync(cache, { recursive: true });
  if (isInMemory(cache)) {
    throw new Error("no folder on a disk for browser profiles: set GINGHAM_PROFILE_DIR to one");
  }
  return cache;
}

/** @param {string} folder */
function isInMemory(folder) {
  return MEMORY_FILE_SYSTEMS.has(statfsSync(folder).type);
}
