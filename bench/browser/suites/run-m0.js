// @ts-check
/** Runs the M0 suite: engines interleaved over the repetitions, then the table and the record. */

import { m0Measures, m0Table, summarize } from "../report/m0-table.js";
import { downloadSizes } from "../report/sizes.js";
import { inTurn } from "./in-turn.js";
import { LOOKUPS, measureEngine, TRANSACTIONS } from "./m0.js";

/** @typedef {import("../report/m0-table.js").EngineSamples} EngineSamples */
/** @typedef {import("../options.js").Options} Options */

const DUCKDB_NOTE =
  "DuckDB runs by its blocking bindings inside the worker, which spares it two messages a call. As shipped it never " +
  "flushes, so its commits are not durable; a CHECKPOINT flushes its log alone.";

/**
 * @param {Options} options
 * @param {{vendorFolder: string, note: (text: string) => void, profiles?: import("./session.js").Profiles | undefined}} tools
 */
export async function runM0(options, { vendorFolder, note, profiles }) {
  const measured = await inTurn(options, note, (engine, step) =>
    measureEngine(engine, { rows: options.rows, vendorFolder, profiles, note: step }),
  );
  /** @type {EngineSamples[]} */
  const engines = measured.map((engine) => ({ ...engine, download: null }));
  if (profiles === undefined) note("weighing downloads");
  for (const engine of profiles === undefined ? engines : []) {
    const files = engine.samples[0]?.downloadedFiles;
    if (files !== undefined) engine.download = await downloadSizes(files);
  }
  const measures = m0Measures({ rows: options.rows, lookups: LOOKUPS, transactions: TRANSACTIONS });
  return {
    table: m0Table(engines, measures),
    notes: [
      `Medians of ${options.repeat} repetition(s); less is better everywhere.`,
      ...(options.engines.some(({ adapter }) => adapter === "duckdb") ? [DUCKDB_NOTE] : []),
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
  for (const { kills } of engine.name === "gingham" ? engine.samples : []) {
    if (kills.lost === 0 && kills.baseRowsLost === 0) continue;
    failures.push(
      `gingham: ${kills.lost} of ${kills.acknowledged} commits and ${kills.baseRowsLost} earlier rows were lost. ${kills.damage ?? ""}`,
    );
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
