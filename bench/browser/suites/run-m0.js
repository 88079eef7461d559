// @ts-check
/** Runs the M0 suite: engines interleaved over the repetitions, then the table and the record. */

import { m0Measures, m0Table, summarize } from "../report/m0-table.js";
import { downloadSizes } from "../report/sizes.js";
import { LOOKUPS, measureEngine, TRANSACTIONS } from "./m0.js";

/** @typedef {import("../report/m0-table.js").EngineSamples} EngineSamples */
/** @typedef {import("../options.js").Options} Options */

/**
 * @param {Options} options
 * @param {{vendorFolder: string, note: (text: string) => void}} tools
 */
export async function runM0(options, { vendorFolder, note }) {
  /** @type {EngineSamples[]} */
  const engines = options.engines.map(({ name, title }) => ({ name, title, samples: [], download: null, failure: null }));
  for (let repeat = 0; repeat < options.repeat; repeat += 1) {
    // Each repetition starts with another engine, so that none always runs first.
    for (let turn = 0; turn < engines.length; turn += 1) {
      const index = (repeat + turn) % engines.length;
      const [engine, collected] = [options.engines[index], engines[index]];
      if (engine === undefined || collected === undefined || collected.failure !== null) continue;
      const prefix = `${engine.name}, ${repeat + 1} of ${options.repeat}`;
      try {
        const step = (/** @type {string} */ text) => note(`${prefix}: ${text}`);
        const sample = await measureEngine(engine, { rows: options.rows, vendorFolder, note: step });
        collected.samples.push(sample);
      } catch (error) {
        collected.failure = error instanceof Error ? error.message : String(error);
        note(`${prefix}: FAILED: ${collected.failure}`);
      }
    }
  }
  note("weighing downloads");
  for (const engine of engines) {
    const files = engine.samples[0]?.downloadedFiles;
    if (files !== undefined) engine.download = await downloadSizes(files);
  }
  const measures = m0Measures({ rows: options.rows, lookups: LOOKUPS, transactions: TRANSACTIONS });
  return {
    table: m0Table(engines, measures),
    notes: [
      `Medians of ${options.repeat} repetition(s); less is better everywhere. A page's clock ticks every 0.1 ms.`,
      "DuckDB runs by its blocking bindings inside the worker, which spares it two messages a call.",
    ],
    failures: engines.flatMap(failuresOf),
    record: engines.map((engine) => recordOf(engine, options, measures)),
    browserVersion: engines.flatMap((engine) => engine.samples)[0]?.browserVersion ?? "unknown",
  };
}

/**
 * @param {EngineSamples} engine
 * @returns {string[]}
 */
function failuresOf(engine) {
  const failures = engine.failure === null ? [] : [`${engine.name}: ${engine.failure}`];
  // Peers may lose commits, that is what is measured; Gingham may not.
  const kills = engine.name === "gingham" ? engine.samples.flatMap((sample) => sample.kills) : [];
  for (const kill of kills) {
    if (kill.lost > 0) failures.push(`gingham: lost ${kill.lost} of ${kill.acknowledged} commits. ${kill.damage ?? ""}`);
  }
  return failures;
}

/**
 * @param {EngineSamples} engine
 * @param {Options} options
 * @param {readonly import("../report/m0-table.js").Measure[]} measures
 */
function recordOf(engine, options, measures) {
  const described = options.engines.find(({ name }) => name === engine.name);
  return {
    name: engine.name,
    version: engine.samples[0]?.version ?? null,
    setUp: described?.setUp ?? null,
    failure: engine.failure,
    download: engine.download,
    summary: summarize(engine, measures),
    // Where the files lie on this machine is nobody's business.
    samples: engine.samples.map(({ downloadedFiles: _, ...sample }) => sample),
  };
}
