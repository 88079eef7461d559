// @ts-check
/**
 * Waits until no worker holds a file of the origin private file system. A terminated worker's
 * access handles outlive it for a while, and an engine that is opened meanwhile may do worse than
 * fail: SQLite's opfs-sahpool answers a failed start by removing its folder, databases and all.
 */

const PAUSE_MS = 20;

/**
 * @param {{limitMs: number}} argument
 * @returns {Promise<{waitedMs: number}>}
 */
export async function waitForRelease({ limitMs }) {
  const start = performance.now();
  const root = await navigator.storage.getDirectory();
  for (;;) {
    const held = await firstHeldFile(root);
    const waitedMs = performance.now() - start;
    if (held === undefined) return { waitedMs };
    if (waitedMs > limitMs) throw new Error(`${held} is still held by another worker after ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/**
 * @param {FileSystemDirectoryHandle} folder
 * @returns {Promise<string | undefined>} the name of a file that cannot be opened now
 */
async function firstHeldFile(folder) {
  for await (const handle of folder.values()) {
    if (handle instanceof FileSystemDirectoryHandle) {
      const held = await firstHeldFile(handle);
      if (held !== undefined) return held;
    } else if (handle instanceof FileSystemFileHandle) {
      try {
        (await handle.createSyncAccessHandle()).close();
      } catch (error) {
        if (error instanceof DOMException && error.name === "NoModificationAllowedError") return handle.name;
        throw error;
      }
    }
  }
  return undefined;
}
