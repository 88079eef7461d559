// @ts-check
/**
 * The page that owns the engines' workers: starts them, passes requests on, kills them, and
 * measures what only a page can see. The Node side calls `globalThis.benchPage`.
 */

/** @typedef {import("../worker/protocol.js").Reply} Reply */
/** @typedef {import("../worker/protocol.js").MethodName} MethodName */

const WORKER_URL = "/bench/worker/worker.js";

/**
 * @typedef {object} Link one worker and the replies it owes
 * @property {Worker} worker
 * @property {Map<number, {resolve: (value: unknown) => void, reject: (error: Error) => void}>} waiting
 * @property {(key: number) => void} onAcknowledged
 */

/** @type {Map<number, Link>} */
const links = new Map();
let nextId = 1;

/** @returns {number} the id of a new worker */
function spawn() {
  const worker = new Worker(WORKER_URL, { type: "module" });
  /** @type {Link} */
  const link = { worker, waiting: new Map(), onAcknowledged: () => {} };
  worker.onmessage = (event) => receive(link, event.data);
  worker.onerror = (event) => {
    for (const { reject } of link.waiting.values()) reject(new Error(`the worker failed: ${event.message}`));
    link.waiting.clear();
  };
  const id = nextId++;
  links.set(id, link);
  return id;
}

/**
 * @param {Link} link
 * @param {Reply | {kind?: undefined} | null} reply
 */
function receive(link, reply) {
  if (reply?.kind === "bench-acknowledged") link.onAcknowledged(reply.key);
  if (reply?.kind !== "bench-result" && reply?.kind !== "bench-error") return;
  const waiting = link.waiting.get(reply.id);
  link.waiting.delete(reply.id);
  if (reply.kind === "bench-result") waiting?.resolve(reply.value);
  else waiting?.reject(new Error(reply.message));
}

/**
 * @param {number} id
 * @param {MethodName} method
 * @param {unknown} argument
 * @returns {Promise<unknown>}
 */
function call(id, method, argument) {
  const { worker, waiting } = linkOf(id);
  return new Promise((resolve, reject) => {
    const request = nextId++;
    waiting.set(request, { resolve, reject });
    worker.postMessage({ kind: "bench-request", id: request, method, argument });
  });
}

/** @param {number} id */
function terminate(id) {
  const link = linkOf(id);
  link.worker.terminate();
  links.delete(id);
  for (const { reject } of link.waiting.values()) reject(new Error("the worker was terminated"));
}

/**
 * A fresh worker opens an existing database and reads one row. The time runs from before the
 * worker is made until the page knows that the row has arrived.
 *
 * @param {unknown} argument
 * @returns {Promise<{id: number, elapsedMs: number, inside: unknown}>}
 */
async function openToFirstRow(argument) {
  const start = performance.now();
  const id = spawn();
  const inside = await call(id, "openToFirstRow", argument);
  return { id, elapsedMs: performance.now() - start, inside };
}

/**
 * Lets the worker commit row after row and kills it the moment the page has learned of
 * `acknowledgements` commits.
 *
 * @param {number} id
 * @param {{firstKey: number, limit: number}} argument
 * @param {number} acknowledgements
 * @returns {Promise<{acknowledged: number}>}
 */
function killAfter(id, argument, acknowledgements) {
  const link = linkOf(id);
  return new Promise((resolve, reject) => {
    let acknowledged = 0;
    link.onAcknowledged = () => {
      acknowledged += 1;
      if (acknowledged !== acknowledgements) return;
      link.worker.terminate();
      resolve({ acknowledged });
      links.delete(id);
    };
    call(id, "commitUntilKilled", argument).then(
      () => reject(new Error("the worker committed everything before it was killed")),
      reject,
    );
  });
}

/** @returns {Promise<{files: {path: string, bytes: number}[], bytes: number}>} everything in OPFS */
async function storedFiles() {
  /** @type {{path: string, bytes: number}[]} */
  const files = [];
  await collect(await navigator.storage.getDirectory(), "", files);
  return { files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

/**
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} prefix
 * @param {{path: string, bytes: number}[]} files
 */
async function collect(folder, prefix, files) {
  for await (const [name, handle] of folder.entries()) {
    const path = `${prefix}${name}`;
    if (handle instanceof FileSystemDirectoryHandle) await collect(handle, `${path}/`, files);
    else if (handle instanceof FileSystemFileHandle) files.push({ path, bytes: (await handle.getFile()).size });
  }
}

/** @param {number} id */
function linkOf(id) {
  const link = links.get(id);
  if (link === undefined) throw new Error(`no worker ${id}`);
  return link;
}

export const benchPage = { spawn, call, terminate, openToFirstRow, killAfter, storedFiles };
/** @typedef {typeof benchPage} BenchPage */
Object.assign(globalThis, { benchPage });
