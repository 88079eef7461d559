// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import { splitArrowStream } from "../tpch/arrow-stream.js";

/**
 * @param {Uint8Array} bytes
 * @param {number} step
 */
async function* pieces(bytes, step) {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

/** Two batches, with a dictionary column of text. */
function sample() {
  const first = tableFromArrays({ k: Int32Array.of(1, 2, 3), v: ["a", "b", "a"] });
  return tableToIPC(first.concat(first), "stream");
}

test("each record batch becomes a stream of its own, wherever the bytes are cut", async () => {
  const whole = tableFromIPC(sample());
  for (const step of [1, 7, 64, 100_000]) {
    /** @type {unknown[]} */
    const rows = [];
    let streams = 0;
    for await (const stream of splitArrowStream(pieces(sample(), step))) {
      streams += 1;
      rows.push(...tableFromIPC(stream).toArray().map(String));
    }
    assert.equal(streams, 2, `step ${step}`);
    assert.deepEqual(rows, whole.toArray().map(String));
  }
});

test("a stream that stops inside a message is an error", async () => {
  const cut = sample().subarray(0, sample().length - 40);
  await assert.rejects(async () => {
    for await (const _ of splitArrowStream(pieces(cut, 50)));
  }, /ends inside/);
});

test("something else is an error", async () => {
  await assert.rejects(async () => {
    for await (const _ of splitArrowStream(pieces(new TextEncoder().encode("a,b,c\n1,2,3\n"), 4)));
  }, /not an Arrow IPC stream/);
});
