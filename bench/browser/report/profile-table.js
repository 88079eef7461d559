// @ts-check
/** A sampled profile as text: time by module, then the functions that took most themselves. */

/**
 * @param {import("../harness/profiler.js").Profile} profile
 * @param {number} top functions listed
 */
export function summarizeProfile({ nodes, samples, timeDeltas }, top) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  /** @type {Map<string, number>} */
  const modules = new Map();
  /** @type {Map<string, number>} */
  const functions = new Map();
  let total = 0;
  samples.forEach((id, index) => {
    const frame = byId.get(id);
    const ms = (timeDeltas[index] ?? 0) / 1000;
    if (frame === undefined || frame.functionName === "(idle)") return;
    total += ms;
    const module = moduleOf(frame);
    modules.set(module, (modules.get(module) ?? 0) + ms);
    const name = `${module}: ${frame.functionName || "(anonymous)"}`;
    functions.set(name, (functions.get(name) ?? 0) + ms);
  });
  /** @param {Map<string, number>} times @param {number} count */
  const list = (times, count) =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, ms]) => `  ${ms.toFixed(1).padStart(9)} ms ${((ms / total) * 100).toFixed(1).padStart(5)} %  ${name.slice(0, 150)}\n`)
      .join("");
  return `profiled: ${total.toFixed(0)} ms not idle\n${list(modules, 12)} functions by their own time\n${list(functions, top)}`;
}

/** @param {{functionName: string, url: string}} frame */
function moduleOf({ functionName, url }) {
  if (functionName.startsWith("(")) return functionName;
  if (url.startsWith("wasm://")) return url.includes("planner") ? "planner" : "wasm";
  return url.split("/").at(-1) || "browser";
}
