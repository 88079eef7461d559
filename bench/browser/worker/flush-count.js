// @ts-check
/**
 * Counts how often an engine asks the browser to bring a file to the device. A durable commit
 * takes at least one flush; an engine that makes none survives a closed tab at best, and no loss
 * of power.
 */

let flushes = 0;

/** Wraps `flush` of all access handles of this worker. */
export function watchFlushes() {
  const { flush } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.flush = function () {
    flushes += 1;
    flush.call(this);
  };
}

/** @returns {number} flushes so far */
export function flushCount() {
  return flushes;
}
