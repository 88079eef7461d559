// @ts-check
/** The TPC-H suite's samples as one Markdown table: a row a query; cold, first pass, second visit and warm an engine. */

import { formatQuantity, formatRatio, markdownTable } from "./format.js";
import { geometricMean, median, total } from "./statistics.js";

/** @typedef {import("../suites/tpch.js").TpchSample} TpchSample */

/** TPC-H's fair use rules ask for this beside every figure. */
export const TPCH_NOTICE =
  "Derived from TPC-H: queries and data follow it, but these figures are not comparable with published TPC-H results.";

/** Below a tick of the page's clock a time may read as zero, which has no geometric mean. */
const SHORTEST_MS = 0.05;

/**
 * @typedef {object} TpchEngine
 * @property {string} name
 * @property {string} title
 * @property {TpchSample[]} samples one a repetition
 * @property {string | null} failure
 *
 * @typedef {object} TpchSummary medians over the repetitions
 * @property {number} loadMs
 * @property {number} openColdMs
 * @property {number} openMs
 * @property {number} openSecondVisitMs
 * @property {number} explainMs median over the queries
 * @property {number} storedBytes
 * @property {number} wasmMemoryBytes
 * @property {{name: string, coldMs: number, firstPassMs: number, secondVisitMs: number, warmMs: number}[]} queries
 * @property {number} coldTotalMs
 * @property {number} firstPassTotalMs
 * @property {number} secondVisitTotalMs
 * @property {number} warmTotalMs
 * @property {number} coldGeometricMeanMs
 * @property {number} firstPassGeometricMeanMs
 * @property {number} secondVisitGeometricMeanMs
 * @property {number} warmGeometricMeanMs
 */

/**
 * @param {TpchEngine} engine
 * @returns {TpchSummary | null} null where no repetition succeeded
 */
export function summarizeTpch({ samples }) {
  const [first] = samples;
  if (first === undefined) return null;
  const queries = first.queries.map(({ name }, index) => ({
    name,
    coldMs: median(samples.map((sample) => sample.queries[index]?.coldMs ?? 0)),
    firstPassMs: median(samples.map((sample) => sample.queries[index]?.firstPassMs ?? 0)),
    secondVisitMs: median(samples.map((sample) => sample.queries[index]?.secondVisitMs ?? 0)),
    warmMs: median(samples.map((sample) => median(sample.queries[index]?.warmMs ?? []))),
  }));
  const cold = queries.map((query) => query.coldMs);
  const firstPass = queries.map((query) => query.firstPassMs);
  const secondVisit = queries.map((query) => query.secondVisitMs);
  const warm = queries.map((query) => query.warmMs);
  const atLeast = (/** @type {number} */ ms) => Math.max(ms, SHORTEST_MS);
  return {
    loadMs: median(samples.map((sample) => total(sample.loads.map((load) => load.elapsedMs)) + sample.finishLoadMs)),
    openColdMs: median(samples.map((sample) => sample.openColdMs)),
    openMs: median(samples.map((sample) => sample.openMs)),
    openSecondVisitMs: median(samples.map((sample) => sample.openSecondVisitMs)),
    explainMs: median(samples.flatMap((sample) => sample.queries.map((query) => median(query.explainMs)))),
    storedBytes: median(samples.map((sample) => sample.stored.bytes)),
    wasmMemoryBytes: median(samples.map((sample) => sample.wasmMemoryBytes)),
    queries,
    coldTotalMs: total(cold),
    firstPassTotalMs: total(firstPass),
    secondVisitTotalMs: total(secondVisit),
    warmTotalMs: total(warm),
    coldGeometricMeanMs: geometricMean(cold.map(atLeast)),
    firstPassGeometricMeanMs: geometricMean(firstPass.map(atLeast)),
    secondVisitGeometricMeanMs: geometricMean(secondVisit.map(atLeast)),
    warmGeometricMeanMs: geometricMean(warm.map(atLeast)),
  };
}

/**
 * @param {readonly TpchEngine[]} engines
 * @param {ReadonlyMap<string, string>} verdicts by query
 * @returns {string}
 */
export function tpchTable(engines, verdicts) {
  const summaries = engines.map(summarizeTpch);
  const base = summaries[engines.findIndex((engine) => engine.name === "gingham")] ?? null;
  const names = summaries.find((summary) => summary !== null)?.queries.map(({ name }) => name) ?? [];

  /**
   * @param {string} title
   * @param {(summary: TpchSummary) => (number | null)[]} values cold, first pass, second visit and warm
   * @param {import("./format.js").Unit} unit
   * @param {string} verdict
   */
  const row = (title, values, unit, verdict) => [
    title,
    ...summaries.flatMap((summary) => {
      const own = summary === null ? [null, null, null, null] : values(summary);
      const reference = base === null || summary === base ? [] : values(base);
      return own.map((value, index) => cell(value ?? null, reference[index] ?? null, unit));
    }),
    verdict,
  ];
  const rows = [
    row("load", (summary) => [summary.loadMs, null, null, null], "ms", ""),
    row("open, to the first plan", (summary) => [summary.openColdMs, summary.openMs, summary.openSecondVisitMs, null], "ms", ""),
    row("EXPLAIN of a new text, median", (summary) => [null, null, null, summary.explainMs], "ms", ""),
    ...names.map((name, index) =>
      row(
        name.toUpperCase(),
        ({ queries }) => {
          const query = queries[index];
          return [query?.coldMs ?? null, query?.firstPassMs ?? null, query?.secondVisitMs ?? null, query?.warmMs ?? null];
        },
        "ms",
        verdicts.get(name) ?? "–",
      ),
    ),
    row(
      "total",
      (summary) => [summary.coldTotalMs, summary.firstPassTotalMs, summary.secondVisitTotalMs, summary.warmTotalMs],
      "ms",
      "",
    ),
    row(
      "geometric mean",
      (summary) => [
        summary.coldGeometricMeanMs,
        summary.firstPassGeometricMeanMs,
        summary.secondVisitGeometricMeanMs,
        summary.warmGeometricMeanMs,
      ],
      "ms",
      "",
    ),
    row("OPFS bytes", (summary) => [summary.storedBytes, null, null, null], "bytes", ""),
    row("wasm memory", (summary) => [summary.wasmMemoryBytes, null, null, null], "bytes", ""),
  ];
  const columns = ["cold", "first pass", "second visit", "warm"];
  const titles = engines.flatMap(({ title }) => columns.map((column) => `${title}, ${column}`));
  return markdownTable(["", ...titles, "results"], rows);
}

/**
 * @param {number | null} value
 * @param {number | null} reference
 * @param {import("./format.js").Unit} unit
 */
function cell(value, reference, unit) {
  if (value === null) return "";
  return formatQuantity(value, unit) + (reference === null ? "" : ` (${formatRatio(value, reference)})`);
}
