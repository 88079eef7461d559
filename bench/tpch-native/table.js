/** The native TPC-H figures as one Markdown table: a row a query, with DuckDB's time by Gingham's. */

import { formatQuantity, formatRatio, markdownTable } from "../browser/report/format.js";
import { geometricMean, median, total } from "../browser/report/statistics.js";

/** @typedef {{name: string, verdict: string, ms: {gingham: number[], duckdb: number[]}}} Measured */

/** @param {readonly Measured[]} queries */
export function summarize(queries) {
  const of = (engine) => {
    const medians = queries.map(({ ms }) => median(ms[engine]));
    return { medianMs: medians, totalMs: total(medians), geometricMeanMs: geometricMean(medians) };
  };
  return { gingham: of("gingham"), duckdb: of("duckdb") };
}

/** @param {readonly Measured[]} queries */
export function nativeTable(queries) {
  const { gingham, duckdb } = summarize(queries);
  const row = (title, own, peer, verdict) => [title, formatQuantity(own, "ms"), formatQuantity(peer, "ms"), formatRatio(peer, own), verdict];
  return markdownTable(
    ["", "Gingham", "DuckDB", "DuckDB / Gingham", "results"],
    [
      ...queries.map(({ name, verdict }, at) => row(name.toUpperCase(), gingham.medianMs[at], duckdb.medianMs[at], verdict)),
      row("total", gingham.totalMs, duckdb.totalMs, ""),
      row("geometric mean", gingham.geometricMeanMs, duckdb.geometricMeanMs, ""),
    ],
  );
}
