// @ts-check
/** Repetitions with the engines interleaved, so that a busy minute hits all of them alike. */

/** @typedef {import("../adapters/engines.js").Engine} Engine */

/**
 * @template S
 * @param {{engines: readonly Engine[], repeat: number}} options
 * @param {(text: string) => void} note
 * @param {(engine: Engine, step: (text: string) => void) => Promise<S>} measure
 * @returns {Promise<{name: string, title: string, samples: S[], failure: string | null}[]>} an engine
 *   that has failed once takes no further part
 */
export async function inTurn({ engines, repeat }, note, measure) {
  const collected = engines.map((engine) => ({
    engine,
    samples: /** @type {S[]} */ ([]),
    failure: /** @type {string | null} */ (null),
  }));
  for (let repetition = 0; repetition < repeat; repetition += 1) {
    // Each repetition starts with another engine, so that none always runs first.
    const first = repetition % collected.length;
    for (const entry of [...collected.slice(first), ...collected.slice(0, first)]) {
      if (entry.failure !== null) continue;
      const prefix = `${entry.engine.name}, ${repetition + 1} of ${repeat}`;
      try {
        entry.samples.push(await measure(entry.engine, (text) => note(`${prefix}: ${text}`)));
      } catch (error) {
        entry.failure = error instanceof Error ? error.message : String(error);
        note(`${prefix}: FAILED: ${entry.failure}`);
      }
    }
  }
  return collected.map(({ engine, samples, failure }) => ({ name: engine.name, title: engine.title, samples, failure }));
}
