// @ts-check
/**
 * Counts what an engine asks the browser to write and to bring to the device. A durable commit
 * takes at least one flush; an engine that makes none survives a closed tab at best, and no loss
 * of power.
 */

const totals = { flushes: 0, writtenBytes: 0 };

/** Wraps `flush` and `write` of all access handles of this worker. */
export function watchStorageCalls() {
  const { flush, write } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.flush = function () {
    totals.flushes += 1;
    flush.call(this);
  };
  FileSystemSyncAccessHandle.prototype.write = function (
    /** @type {Parameters<typeof write>[0]} */ source,
    /** @type {Parameters<typeof write>[1]} */ options,
  ) {
    const bytes = write.call(this, source, options);
    totals.writtenBytes += bytes;
    return bytes;
  };
}

/** @returns {{flushes: number, writtenBytes: number}} so far */
export function storageCalls() {
  return { ...totals };
}
