// @ts-check
/** Reading a served table file in the worker, piece by piece. */

import { splitArrowStream } from "./arrow-stream.js";
import { CsvReader } from "./csv.js";

/** Rows in one batch of `readCsvBatches`: large enough to amortize a call, small enough to hold. */
const BATCH_ROWS = 65_536;

/** @typedef {import("../worker/protocol.js").TableSource} TableSource */
/** @typedef {Record<string, Int32Array | string[]>} ColumnBatch by column name */

/**
 * @param {TableSource} source with format "arrow"
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>} Arrow IPC streams of one record batch each
 */
export async function* readArrowBatches(source) {
  yield* splitArrowStream(await fetchChunks(source.url));
}

/**
 * @param {TableSource} source with format "csv"
 * @returns {AsyncGenerator<ColumnBatch>} integers as Int32Array, everything else as text
 */
export async function* readCsvBatches(source) {
  /** @type {string[][]} */
  let records = [];
  let header = true;
  const reader = new CsvReader((fields) => {
    if (header) {
      header = false;
      const expected = source.columns.map((column) => column.name).join(",");
      if (fields.join(",").toLowerCase() !== expected) throw new Error(`${source.url}: header is not ${expected}`);
      return;
    }
    if (fields.length !== source.columns.length) throw new Error(`${source.url}: a record has ${fields.length} fields`);
    records.push(fields);
  });
  const decoder = new TextDecoder();
  for await (const chunk of await fetchChunks(source.url)) {
    reader.push(decoder.decode(chunk, { stream: true }));
    if (records.length < BATCH_ROWS) continue;
    yield toColumns(records, source.columns);
    records = [];
  }
  reader.end();
  if (records.length > 0) yield toColumns(records, source.columns);
}

/**
 * @param {string[][]} records
 * @param {TableSource["columns"]} columns
 * @returns {ColumnBatch}
 */
function toColumns(records, columns) {
  /** @type {ColumnBatch} */
  const batch = {};
  columns.forEach(({ name, type }, index) => {
    batch[name] =
      type === "integer"
        ? Int32Array.from(records, (fields) => Number(fields[index]))
        : records.map((fields) => fields[index] ?? "");
  });
  return batch;
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
