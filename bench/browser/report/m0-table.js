// @ts-check
/** The M0 suite's samples as one Markdown table: a row a measure, a column an engine. */

import { formatQuantity, formatRatio, markdownTable } from "./format.js";
import { mean, median, percentile, total } from "./statistics.js";

/** @typedef {import("../suites/m0.js").M0Sample} M0Sample */
/** @typedef {import("./sizes.js").Sizes} Sizes */

/**
 * @typedef {object} EngineSamples
 * @property {string} name
 * @property {string} title
 * @property {M0Sample[]} samples one a repetition
 * @property {Sizes | null} download
 * @property {string | null} failure why a repetition failed
 *
 * @typedef {object} Measure
 * @property {string} id
 * @property {string} title
 * @property {import("./format.js").Unit} unit
 * @property {(sample: M0Sample) => number | null} of less is better, always
 * @property {boolean} [plain] no engine's doing, or no matter of degree: shown without a ratio
 */

/**
 * @param {{rows: number, lookups: number, transactions: number}} sizes
 * @returns {readonly Measure[]}
 */
export function m0Measures({ rows, lookups, transactions }) {
  const durable = `${transactions.toLocaleString("en")} durable transactions`;
  return [
    { id: "bulk_insert_ms", title: `bulk insert, ${rows.toLocaleString("en")} rows, one transaction`, unit: "ms", of: (s) => s.bulkInsertMs },
    { id: "bulk_interface_ms", title: "the same by the engine's bulk interface", unit: "ms", of: (s) => s.bulkLoadMs },
    { id: "lookup_us", title: `point lookup (mean of ${lookups.toLocaleString("en")})`, unit: "us", of: (s) => (s.lookupsMs * 1000) / lookups },
    { id: "lookup_again_us", title: "the same once more, other keys", unit: "us", of: (s) => (s.lookupsAgainMs * 1000) / lookups },
    { id: "reopened_lookup_us", title: "the same, first thing after opening", unit: "us", of: (s) => (s.reopenedLookupsMs * 1000) / lookups },
    { id: "count_us", title: "count(*)", unit: "us", of: (s) => (s.count.totalMs * 1000) / s.count.iterations },
    { id: "scan_ms", title: "scan, every value into JS", unit: "ms", of: (s) => median(s.scansMs) },
    { id: "durable_mean_us", title: `${durable}: mean`, unit: "us", of: (s) => (s.durable.totalMs * 1000) / s.durable.samplesMs.length },
    { id: "durable_p50_us", title: `${durable}: p50`, unit: "us", of: (s) => percentile(s.durable.samplesMs, 0.5) * 1000 },
    { id: "durable_p95_us", title: `${durable}: p95`, unit: "us", of: (s) => percentile(s.durable.samplesMs, 0.95) * 1000 },
    { id: "durable_max_us", title: `${durable}: max`, unit: "us", of: (s) => Math.max(...s.durable.samplesMs) * 1000 },
    { id: "durable_flushes", title: `${durable}: flushes each`, unit: "count", plain: true, of: (s) => s.durable.flushes / s.durable.samplesMs.length },
    { id: "durable_bytes", title: `${durable}: bytes written each`, unit: "bytes", plain: true, of: (s) => Math.round(s.durable.writtenBytes / s.durable.samplesMs.length) },
    { id: "floor_p50_us", title: "bare write + flush of as many bytes: p50", unit: "us", plain: true, of: (s) => percentile(s.floor.samplesMs, 0.5) * 1000 },
    { id: "baseline_mean_us", title: "bare write + flush of 64 bytes: mean", unit: "us", plain: true, of: (s) => mean(s.baseline.samplesMs) * 1000 },
    { id: "open_ms", title: "open: fresh worker to first row", unit: "ms", of: (s) => median(s.openings.map((opening) => opening.elapsedMs)) },
    { id: "opfs_bytes", title: "OPFS bytes after close", unit: "bytes", of: (s) => s.stored.bytes },
    { id: "wasm_memory_bytes", title: "wasm memory", unit: "bytes", of: (s) => s.wasmMemoryBytes },
  ];
}

/**
 * Medians over the repetitions.
 *
 * @param {EngineSamples} engine
 * @param {readonly Measure[]} measures
 * @returns {Record<string, number | null>} by the measure's id
 */
export function summarize(engine, measures) {
  /** @type {Record<string, number | null>} */
  const summary = {};
  for (const { id, of } of measures) {
    const values = engine.samples.map(of).filter((value) => value !== null);
    summary[id] = values.length === 0 ? null : median(values);
  }
  summary["download_raw_bytes"] = engine.download?.raw ?? null;
  summary["download_gzip_bytes"] = engine.download?.gzip ?? null;
  summary["download_brotli_bytes"] = engine.download?.brotli ?? null;
  return summary;
}

/**
 * @param {readonly EngineSamples[]} engines
 * @param {readonly Measure[]} measures
 * @returns {string}
 */
export function m0Table(engines, measures) {
  /** @type {Omit<Measure, "of">[]} */
  const all = [
    ...measures,
    { id: "download_raw_bytes", title: "download, raw", unit: "bytes" },
    { id: "download_gzip_bytes", title: "download, gzip -9", unit: "bytes" },
    { id: "download_brotli_bytes", title: "download, brotli -11", unit: "bytes" },
  ];
  const summaries = engines.map((engine) => summarize(engine, measures));
  const base = summaries[engines.findIndex((engine) => engine.name === "gingham")];
  const rows = all.map(({ id, title, unit, plain }) => [
    title,
    ...summaries.map((summary) => {
      const value = summary[id] ?? null;
      if (value === null) return "–";
      const reference = base === undefined || summary === base || plain === true ? null : (base[id] ?? null);
      return formatQuantity(value, unit) + (reference === null ? "" : ` (${formatRatio(value, reference)})`);
    }),
  ]);
  rows.push(["commits lost when the worker is killed", ...engines.map(lostCommits)]);
  return markdownTable(["", ...engines.map((engine) => engine.title)], rows);
}

/**
 * @param {EngineSamples} engine
 * @returns {string}
 */
export function lostCommits(engine) {
  const kills = engine.samples.map((sample) => sample.kills);
  if (kills.length === 0) return "–";
  const sum = (/** @type {(kill: import("../suites/m0.js").KillSample) => number} */ of) => total(kills.map(of));
  const commits = `${sum((kill) => kill.lost)} of ${sum((kill) => kill.acknowledged)}`;
  if (kills.some((kill) => kill.damage !== undefined)) return `${commits}, unusable`;
  const earlier = sum((kill) => kill.baseRowsLost);
  return earlier === 0 ? commits : `${commits} and ${earlier} earlier rows`;
}
