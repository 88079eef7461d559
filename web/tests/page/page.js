// @ts-check
/** The page that owns the test workers. The Node side calls `globalThis.testPage`. */

/**
 * @typedef {{id: number, result?: unknown, error?: string, note?: unknown}} Answer
 * @typedef {{resolve: (value: unknown) => void, reject: (error: Error) => void}} Waiting
 * @typedef {{worker: Worker, waiting: Map<number, Waiting>, notes: unknown[]}} Link
 */

/** @type {Map<number, Link>} */
const links = new Map();
let nextId = 1;

/** @returns {number} the id of a new worker */
function spawn() {
  const worker = new Worker("/tests/worker/host.js", { type: "module" });
  /** @type {Link} */
  const link = { worker, waiting: new Map(), notes: [] };
  worker.onmessage = (event) => receive(link, event.data);
  worker.onerror = (event) => rejectAll(link, `the worker failed: ${event.message}`);
  const id = nextId++;
  links.set(id, link);
  return id;
}

/**
 * @param {Link} link
 * @param {Answer} answer
 */
function receive(link, answer) {
  if ("note" in answer) {
    link.notes.push(answer.note);
    // Where the Node side listens: what it has heard outlives the page and the browser.
    /** @type {any} */ (globalThis).tellNode?.(answer.note);
    return;
  }
  const waiting = link.waiting.get(answer.id);
  link.waiting.delete(answer.id);
  if (answer.error === undefined) waiting?.resolve(answer.result);
  else waiting?.reject(new Error(answer.error));
}

/**
 * @param {Link} link
 * @param {string} message
 */
function rejectAll(link, message) {
  for (const { reject } of link.waiting.values()) reject(new Error(message));
  link.waiting.clear();
}

/**
 * Calls a function that a case module exports, in a worker.
 *
 * @param {number} id
 * @param {string} module
 * @param {string} name
 * @param {unknown[]} args
 */
function call(id, module, name, args) {
  const link = linkOf(id);
  return new Promise((resolve, reject) => {
    const request = nextId++;
    link.waiting.set(request, { resolve, reject });
    link.worker.postMessage({ id: request, module, name, args });
  });
}

/**
 * What the worker has noted so far.
 *
 * @param {number} id
 */
function notes(id) {
  return linkOf(id).notes;
}

/**
 * Kills a worker; calls that wait are rejected.
 *
 * @param {number} id
 * @returns {unknown[]} what it had noted
 */
function terminate(id) {
  const link = linkOf(id);
  link.worker.terminate();
  links.delete(id);
  rejectAll(link, "the worker was terminated");
  return link.notes;
}

/** @param {number} id */
function linkOf(id) {
  const link = links.get(id);
  if (link === undefined) throw new Error(`there is no worker ${id}`);
  return link;
}

/** @type {any} */ (globalThis).testPage = { spawn, call, notes, terminate };
