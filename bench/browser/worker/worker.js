// @ts-check
/**
 * The dedicated worker in which one engine lives: answers the requests of protocol.js, one at a
 * time and in order.
 */

import { engineByName } from "../adapters/engines.js";
import * as batteries from "./batteries.js";
import { flushBaseline } from "./flush-baseline.js";
import * as m0 from "./m0.js";
import { watchStorageCalls } from "./storage-calls.js";
import { waitForRelease } from "./wait-for-release.js";
import { watchWasmMemory, wasmMemoryBytes } from "./wasm-memory.js";

/** @typedef {import("../adapters/adapter.js").Adapter} Adapter */
/** @typedef {import("./protocol.js").Methods} Methods */

/** @type {Adapter | undefined} */
let current;

/** The opened database; most methods need it. */
function adapter() {
  if (current === undefined) throw new Error("no database is open in this worker");
  return current;
}

/** @type {Methods} */
const METHODS = {
  flushBaseline,
  waitForRelease,
  start,
  async openToFirstRow(argument) {
    const started = await start(argument);
    const before = performance.now();
    await m0.firstRow(adapter());
    return { ...started, firstRowMs: performance.now() - before };
  },
  bulkInsert: (argument) => m0.bulkInsert(adapter(), argument),
  bulkLoad: (argument) => m0.bulkLoad(adapter(), argument),
  countRows: (argument) => m0.countRows(adapter(), argument),
  pointLookups: (argument) => m0.pointLookups(adapter(), argument),
  scan: (argument) => m0.scan(adapter(), argument),
  durableInserts: (argument) => m0.durableInserts(adapter(), argument),
  commitUntilKilled: (argument) =>
    m0.commitUntilKilled(adapter(), argument, (key) => post({ kind: "bench-acknowledged", key })),
  checkLost: (argument) => m0.checkLost(adapter(), argument),
  runBattery: (argument) => batteries.run(adapter(), argument),
  async loadTable(source) {
    const before = performance.now();
    await adapter().loadTable(source);
    const elapsedMs = performance.now() - before;
    const { columns } = await adapter().query(`SELECT count(*) FROM ${source.table}`);
    return { elapsedMs, rows: Number(columns[0]?.[0]) };
  },
  async finishLoad() {
    const before = performance.now();
    await adapter().finishLoad();
    return { elapsedMs: performance.now() - before };
  },
  async query({ sql }) {
    const before = performance.now();
    const { names, columns } = await adapter().query(sql);
    const elapsedMs = performance.now() - before;
    const rows = Array.from({ length: columns[0]?.length ?? 0 }, (_, row) =>
      columns.map((column) => sendable(column[row] ?? null)),
    );
    return { elapsedMs, columns: names, rows };
  },
  memory: async () => ({ wasmMemoryBytes: wasmMemoryBytes() }),
  async close() {
    await adapter().close();
    current = undefined;
    return null;
  },
};

/** @type {Methods["start"]} */
async function start({ engine: name, database, relaxed = false, complete = false }) {
  const engine = engineByName(name);
  if (engine === undefined) throw new Error(`unknown engine ${name}`);
  const before = performance.now();
  const module = /** @type {{open: (options: import("../adapters/adapter.js").OpenOptions) => Promise<Adapter>}} */ (
    await import(`../adapters/${engine.adapter}.js`)
  );
  const imported = performance.now();
  current = await module.open({ variant: engine.variant, database, relaxed, complete });
  return { version: current.version, importMs: imported - before, openMs: performance.now() - imported };
}

/**
 * Integers past 2^53 travel as text: results leave the browser as JSON.
 *
 * @param {import("./protocol.js").Cell} cell
 */
function sendable(cell) {
  return typeof cell === "bigint" ? cell.toString() : cell;
}

/** @param {import("./protocol.js").Reply} reply */
function post(reply) {
  self.postMessage(reply);
}

watchWasmMemory();
watchStorageCalls();
/** @type {Promise<void>} */
let queue = Promise.resolve();

self.onmessage = (event) => {
  const request = /** @type {import("./protocol.js").Request} */ (event.data);
  if (request.kind !== "bench-request") return;
  queue = queue.then(() => answer(request));
};

/** @param {import("./protocol.js").Request} request */
async function answer(request) {
  try {
    const method = /** @type {(argument: unknown) => Promise<unknown>} */ (METHODS[request.method]);
    if (method === undefined) throw new Error(`unknown method ${request.method}`);
    post({ kind: "bench-result", id: request.id, value: await method(request.argument) });
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    post({ kind: "bench-error", id: request.id, message });
  }
}
