// @ts-check
/** Reading a served table file in the worker, piece by piece. */

import { splitArrowStream } from "./arrow-stream.js";

/** @typedef {import("../worker/protocol.js").TableSource} TableSource */

/**
 * @param {TableSource} source with format "arrow"
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>} Arrow IPC streams of one record batch each
 */
export async function* readArrowBatches(source) {
  yield* splitArrowStream(await fetchChunks(source.url));
}

/**
 * @param {string} url
 * @returns {Promise<AsyncIterable<Uint8Array>>}
 */
async function fetchChunks(url) {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`${url}: HTTP ${response.status}`);
  return iterate(response.body.getReader());
}

/**
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @returns {AsyncGenerator<Uint8Array>}
 */
async function* iterate(reader) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
