// @ts-check
/**
 * The floor under every durable commit: a bare write and flush into a preallocated OPFS file,
 * with no engine in between.
 */

/** The size of the preallocated file, which the writes stay inside of. */
const FILE_BYTES = 1 << 20;

/**
 * @param {{writes: number, bytes: number}} argument
 * @returns {Promise<import("./protocol.js").Durations>}
 */
export async function flushBaseline({ writes, bytes }) {
  const root = await navigator.storage.getDirectory();
  const name = "flush-baseline";
  const file = await root.getFileHandle(name, { create: true });
  const access = await file.createSyncAccessHandle();
  try {
    write(access, new Uint8Array(FILE_BYTES), 0);
    access.flush();
    const payload = new Uint8Array(bytes).fill(0x67);
    /** @type {number[]} */
    const samplesMs = [];
    const start = performance.now();
    for (let index = 0; index < writes; index += 1) {
      const before = performance.now();
      write(access, payload, (index * bytes) % FILE_BYTES);
      access.flush();
      samplesMs.push(performance.now() - before);
    }
    return { samplesMs, totalMs: performance.now() - start };
  } finally {
    access.close();
    await root.removeEntry(name);
  }
}

/**
 * @param {FileSystemSyncAccessHandle} access
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} at
 */
function write(access, bytes, at) {
  const written = access.write(bytes, { at });
  if (written !== bytes.byteLength) throw new Error(`short write: ${written} of ${bytes.byteLength} bytes`);
}
