// @ts-check
/** Which part of a statement a sampled function belongs to. */

/** The parts, in the order in which a statement goes through them. */
export const PARTS = Object.freeze(
  /** @type {const} */ (["parameters in", "bind", "tree", "log", "file", "memory", "values out", "planner", "bench", "browser"]),
);

/** @typedef {typeof PARTS[number]} Part */

/** By the file of the package or of the bench. @type {readonly [RegExp, Part][]} */
const FILES = [
  [/\/web\/dist\/(parameters|input)\.js$/, "parameters in"],
  [/\/web\/dist\/(decode|rows|memory|times|values)\.js$/, "values out"],
  [/\/web\/dist\/(planner|planner-module)\.js$/, "planner"],
  [/\/web\/dist\/opfs\.js$/, "file"],
  [/\/web\/dist\//, "bind"],
  [/\/bench\//, "bench"],
];

/** Functions of the browser, which have no file. @type {readonly [RegExp, Part][]} */
const BROWSER_FUNCTIONS = [
  [/^(encodeInto)$/, "parameters in"],
  [/^(decode|fromCharCode)$/, "values out"],
  [/^(read|write|flush|getSize|truncate)$/, "file"],
];

/** Functions of the core module, by their names in Rust. @type {readonly [RegExp, Part][]} */
const RUST = [
  [/^gingham_web::(input|columns)|prepared_bind/, "parameters in"],
  [/^<?gingham_web::(output|arrow)|^gingham_web::prepared::show/, "values out"],
  [/^<?gingham_web::opfs|SyncAccessHandle|FileSystemReadWriteOptions/, "file"],
  [/gingham_row_store::(log|checkpoint)|ChangeWriter|state::State>?::(commit|flush)/, "log"],
  [/gingham_row_store::|xxhash_rust::/, "tree"],
  [/^talc::|__rust_(alloc|dealloc|realloc)|alloc::raw_vec|drop_slow|^mem(cpy|move|set|cmp)$|__rdl_|drop_in_place/, "memory"],
];

/**
 * @param {{functionName: string, url: string}} frame
 * @returns {Part}
 */
export function partOf({ functionName, url }) {
  if (url.startsWith("wasm:") || url.endsWith(".wasm")) {
    if (url.includes("planner")) return "planner";
    return firstOf(RUST, functionName) ?? "bind";
  }
  // Texts go both ways through one file.
  if (url.endsWith("/web/dist/text.js")) return /^(write|utf8)/.test(functionName) ? "parameters in" : "values out";
  if (url !== "") return firstOf(FILES, url) ?? "browser";
  return firstOf(BROWSER_FUNCTIONS, functionName) ?? "browser";
}

/**
 * @param {readonly [RegExp, Part][]} rules
 * @param {string} text
 */
function firstOf(rules, text) {
  return rules.find(([pattern]) => pattern.test(text))?.[1];
}
