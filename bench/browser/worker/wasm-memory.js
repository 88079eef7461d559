// @ts-check
/**
 * Finds the linear memories of the wasm modules that an engine instantiates, whatever the
 * engine: `watchWasmMemory` must run before the engine's code is imported.
 */

/** @type {Set<WebAssembly.Memory>} */
const memories = new Set();

/** Wraps the three ways in which engines instantiate their modules. */
export function watchWasmMemory() {
  const { instantiate, instantiateStreaming } = WebAssembly;
  /** @type {typeof WebAssembly.instantiateStreaming} */
  WebAssembly.instantiateStreaming = async (source, imports) => {
    const result = await instantiateStreaming(source, imports);
    note(result.module, result.instance, imports);
    return result;
  };
  const original =
    /** @type {(source: unknown, imports?: WebAssembly.Imports) => Promise<WebAssembly.Instance | WebAssembly.WebAssemblyInstantiatedSource>} */ (
      instantiate
    );
  WebAssembly.instantiate = /** @type {typeof WebAssembly.instantiate} */ (
    async (/** @type {unknown} */ source, /** @type {WebAssembly.Imports | undefined} */ imports) => {
      const result = await original(source, imports);
      if ("module" in result) note(result.module, result.instance, imports);
      else if (source instanceof WebAssembly.Module) note(source, result, imports);
      return result;
    }
  );
  // A proxy, so that `instanceof WebAssembly.Instance` goes on working.
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(target, list) {
      const [module, imports] = /** @type {[WebAssembly.Module, WebAssembly.Imports | undefined]} */ (list);
      const instance = new target(module, imports);
      note(module, instance, imports);
      return instance;
    },
  });
}

/** @returns {number} the bytes of all linear memories, which wasm never gives back */
export function wasmMemoryBytes() {
  let bytes = 0;
  for (const memory of memories) bytes += memory.buffer.byteLength;
  return bytes;
}

/**
 * Notes exported memories and those that the module declares as imports. Nothing else of the
 * imports is touched: DuckDB's are proxies which take every access for a request.
 *
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Instance} instance
 * @param {WebAssembly.Imports | undefined} imports
 */
function note(module, instance, imports) {
  const found = Object.values(instance.exports);
  for (const wanted of WebAssembly.Module.imports(module)) {
    const value = wanted.kind === "memory" ? imports?.[wanted.module]?.[wanted.name] : undefined;
    if (value !== undefined) found.push(/** @type {WebAssembly.ExportValue} */ (value));
  }
  for (const value of found) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
  }
}
