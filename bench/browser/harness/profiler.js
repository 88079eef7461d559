// @ts-check
/** Chromium's sampling profiler in a page's newest worker. */

/**
 * @typedef {object} ProfileNode
 * @property {number} id
 * @property {{functionName: string, url: string}} callFrame
 *
 * @typedef {object} Profile
 * @property {ProfileNode[]} nodes
 * @property {number[]} samples ids of nodes
 * @property {number[]} timeDeltas µs before each sample
 *
 * @typedef {object} WorkerProfiler
 * @property {(intervalUs: number) => Promise<void>} start
 * @property {() => Promise<Profile>} stop
 * @property {(expression: string) => Promise<unknown>} evaluate a value by JSON
 */

/**
 * Attaches to the worker that was started last.
 *
 * @param {import("playwright-core").Page} page
 * @returns {Promise<WorkerProfiler>}
 */
export async function attachProfiler(page) {
  const session = await page.context().newCDPSession(page);
  /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @type {string[]} */
  const workers = [];
  session.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
    if (targetInfo.type === "worker") workers.push(sessionId);
  });
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result, error } = JSON.parse(message);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error.message));
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const sessionId = workers.at(-1);
  if (sessionId === undefined) throw new Error("the page has no worker to profile");
  let last = 0;
  /** @param {string} method @param {object} [params] */
  const call = (method, params = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id: last, method, params }) }).catch(reject);
    });
  return {
    async start(intervalUs) {
      await call("Profiler.enable");
      await call("Profiler.setSamplingInterval", { interval: intervalUs });
      await call("Profiler.start");
    },
    async stop() {
      const { profile } = await call("Profiler.stop");
      return profile;
    },
    async evaluate(expression) {
      const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, returnByValue: true });
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
      return result.value;
    },
  };
}

/**
 * Counts the worker's OPFS calls from now on; gives what was counted since the last call.
 *
 * @param {WorkerProfiler} profiler
 */
export function storageWatch(profiler) {
  return profiler.evaluate(`(() => {
    const before = globalThis.storageCounted;
    const counted = globalThis.storageCounted = {};
    const prototype = FileSystemSyncAccessHandle.prototype;
    globalThis.storageMethods ??= Object.fromEntries(["read", "write", "flush"].map((name) => [name, prototype[name]]));
    for (const [name, method] of Object.entries(globalThis.storageMethods)) {
      const entry = counted[name] = { calls: 0, bytes: 0, ms: 0 };
      prototype[name] = function (...list) {
        const start = performance.now();
        const result = method.apply(this, list);
        entry.ms += performance.now() - start;
        entry.calls += 1;
        entry.bytes += result ?? 0;
        return result;
      };
    }
    return before;
  })()`);
}
