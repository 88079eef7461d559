// @ts-check
/** Content types of the files that pages, workers and suites load. */

const TYPES = new Map([
  [".arrow", "application/vnd.apache.arrow.stream"],
  [".css", "text/css; charset=utf-8"],
  [".csv", "text/csv; charset=utf-8"],
  [".html", "text/html; charset=utf-8"],
  [".ico", "image/x-icon"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json; charset=utf-8"],
  [".map", "application/json; charset=utf-8"],
  [".mjs", "text/javascript; charset=utf-8"],
  [".parquet", "application/vnd.apache.parquet"],
  [".png", "image/png"],
  [".sql", "text/plain; charset=utf-8"],
  [".svg", "image/svg+xml"],
  [".txt", "text/plain; charset=utf-8"],
  // WebAssembly.instantiateStreaming refuses any other type.
  [".wasm", "application/wasm"],
]);

/**
 * @param {string} path
 * @returns {string} the Content-Type of a file, by the ending of its name
 */
export function contentType(path) {
  const dot = path.lastIndexOf(".");
  const ending = dot < 0 ? "" : path.slice(dot).toLowerCase();
  return TYPES.get(ending) ?? "application/octet-stream";
}
