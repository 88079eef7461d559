// @ts-check
/** Runs functions of case modules inside a dedicated worker. */

/** @typedef {{id: number, module: string, name: string, args: unknown[]}} CaseRequest */

self.onmessage = async (/** @type {MessageEvent<CaseRequest>} */ event) => {
  const { id, module, name, args } = event.data;
  try {
    const cases = await import(`/tests/worker/${module}`);
    const result = name === "" ? Object.keys(cases) : await cases[name](...args);
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: error instanceof Error ? `${error.stack}` : String(error) });
  }
};
