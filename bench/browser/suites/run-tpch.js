// @ts-check
/** Runs the TPC-H suite: engines interleaved, results compared, then the table and the record. */

import { summarizeTpch, TPCH_NOTICE, tpchTable } from "../report/tpch-table.js";
import { readAnswer } from "../tpch/answers.js";
import { compareResults } from "../tpch/compare.js";
import { locateTables, readQueries, tablesFolder } from "../tpch/inputs.js";
import { inTurn } from "./in-turn.js";
import { measureTpch, WARM_PASSES } from "./tpch.js";

/** @typedef {import("../report/tpch-table.js").TpchEngine} TpchEngine */
/** @typedef {import("../options.js").Options} Options */

/**
 * @param {Options} options
 * @param {{vendorFolder: string, note: (text: string) => void}} tools
 */
export async function runTpch(options, { vendorFolder, note }) {
  const { scaleFactor, storage } = options;
  const queries = readQueries(scaleFactor, options.queriesFolder);
  const tables = locateTables(tablesFolder(scaleFactor), options.input);
  /** @type {TpchEngine[]} */
  const engines = await inTurn(options, note, (engine, step) =>
    measureTpch(engine, { vendorFolder, scaleFactor, queries, tables, storage, note: step }),
  );
  const { verdicts, failures } = compareEngines(engines, queries, scaleFactor);
  return {
    table: tpchTable(engines, verdicts),
    notes: [
      TPCH_NOTICE,
      `Scale factor ${scaleFactor}, loaded from ${tables.format === "csv" ? "CSV" : "Arrow IPC"} and made durable. ` +
        "Cold: each query in a fresh worker of its own, which had opened the database and loaded all of the engine; the time is the query's. " +
        `First pass: all queries for the first time in one such worker; warm: the median of ${WARM_PASSES} more passes in it. ` +
        "Second visit: after these and the planning the browser was closed, and a fresh one with the same profile ran each query once. " +
        "Results are right where they agree with the answers in tpch/answers, equal where the engines agree.",
    ],
    failures: [...engines.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: ${failure}`])), ...failures],
    record: engines.map((engine) => ({
      name: engine.name,
      version: engine.samples[0]?.version ?? null,
      setUp: options.engines.find(({ name }) => name === engine.name)?.setUp ?? null,
      failure: engine.failure,
      summary: summarizeTpch(engine),
      // The results were compared above; the record keeps times.
      samples: engine.samples.map(({ results: _, ...sample }) => sample),
    })),
    browserVersion: engines.flatMap((engine) => engine.samples)[0]?.browserVersion ?? "unknown",
  };
}

/**
 * Compares every engine's results with the known answers, and with those of the first engine.
 *
 * @param {readonly TpchEngine[]} engines
 * @param {readonly import("../tpch/inputs.js").Query[]} queries
 * @param {number} scaleFactor
 */
function compareEngines(engines, queries, scaleFactor) {
  /** @type {Map<string, "right" | "equal" | "WRONG" | "DIFFERENT">} */
  const verdicts = new Map();
  /** @type {string[]} */
  const failures = [];
  const [reference, ...others] = engines.filter((engine) => engine.samples.length > 0);
  for (const { name, sql } of reference === undefined ? [] : queries) {
    const answer = readAnswer(scaleFactor, name);
    const expected = answer ?? reference?.samples[0]?.results[name];
    const compared = answer === null ? others : [reference, ...others];
    if (expected === undefined || compared.length === 0) continue;
    verdicts.set(name, answer === null ? "equal" : "right");
    for (const engine of compared) {
      const result = engine?.samples[0]?.results[name];
      const difference = result === undefined ? "no result" : compareResults(sql, expected, result);
      if (difference === null) continue;
      verdicts.set(name, answer === null ? "DIFFERENT" : "WRONG");
      failures.push(`${name}: ${engine?.name} differs from ${answer === null ? reference?.name : "the answer"}: ${difference}`);
    }
  }
  for (const other of others) {
    reference?.samples[0]?.loads.forEach(({ table, rows }, index) => {
      const found = other.samples[0]?.loads[index]?.rows;
      if (found !== rows) failures.push(`${table}: ${reference.name} has ${rows} rows, ${other.name} ${found}`);
    });
  }
  return { verdicts, failures };
}
