// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { lostCommits, m0Measures, m0Table, summarize } from "../report/m0-table.js";

const MEASURES = m0Measures({ rows: 1000, lookups: 10_000, transactions: 2 });

/**
 * @param {number} factor
 * @returns {import("../report/m0-table.js").M0Sample}
 */
function sample(factor) {
  return {
    version: "1",
    create: { version: "1", importMs: 1, openMs: 2 },
    bulkInsertMs: 100 * factor,
    count: { iterations: 10, totalMs: factor },
    lookupsMs: 50 * factor,
    lookupsAgainMs: 40 * factor,
    scansMs: [3 * factor, factor, 2 * factor],
    durable: { samplesMs: [factor, 3 * factor], totalMs: 4 * factor, flushes: 2, writtenBytes: 200 },
    floor: { samplesMs: [0.2, 0.4], totalMs: 0.6 },
    reopenedLookupsMs: 60 * factor,
    wasmMemoryBytes: 1 << 20,
    baseline: { samplesMs: [0.5, 0.5], totalMs: 1 },
    stored: { files: [], bytes: 2048 },
    openings: [{ elapsedMs: 10 * factor, importMs: 1, openMs: 1, firstRowMs: 1 }],
    kills: { acknowledged: 5, lost: factor > 1 ? 5 : 0, lostByRound: [], baseRowsLost: 0, unacknowledged: 0 },
    bulkLoadMs: factor > 1 ? null : 10,
    downloadedFiles: [],
    consoleErrors: [],
    browserVersion: "1",
  };
}

/**
 * @param {string} name
 * @param {import("../report/m0-table.js").M0Sample[]} samples
 */
function engine(name, samples) {
  return { name, title: name, samples, download: { raw: 1000, gzip: 500, brotli: 400 }, failure: null };
}

test("medians over the repetitions", () => {
  const summary = summarize(engine("x", [sample(1), sample(3), sample(2)]), MEASURES);
  assert.equal(summary["bulk_insert_ms"], 200);
  assert.equal(summary["lookup_us"], 10);
  assert.equal(summary["reopened_lookup_us"], 12);
  assert.equal(summary["durable_bytes"], 100);
  assert.equal(summary["scan_ms"], 4);
  assert.equal(summary["durable_mean_us"], 4000);
  assert.equal(summary["bulk_interface_ms"], 10);
  assert.equal(summary["download_brotli_bytes"], 400);
});

test("ratios are against Gingham, wherever it stands", () => {
  const table = m0Table([engine("sqlite", [sample(2)]), engine("gingham", [sample(1)])], MEASURES);
  const line = table.split("\n").find((text) => text.includes("bulk insert"));
  assert.match(line ?? "", /\| +200 ms \(2\.00×\) \| +100 ms \|$/);
  assert.match(table, /same by the engine's bulk interface +\| +– \| +10\.0 ms \|/);
});

test("without Gingham there are no ratios, and an engine without samples has dashes", () => {
  const table = m0Table([engine("sqlite", [sample(2)]), engine("duckdb", [])], MEASURES);
  assert.ok(!table.includes("×"));
  assert.match(table, /bulk insert[^|]+\| +200 ms \| +– \|/);
});

test("lost commits are summed, what else was lost is named", () => {
  assert.equal(lostCommits(engine("x", [sample(1), sample(2)])), "5 of 10");
  const earlier = { ...sample(2), kills: { ...sample(2).kills, baseRowsLost: 7 } };
  assert.equal(lostCommits(engine("x", [sample(1), earlier])), "5 of 10 and 7 earlier rows");
  const damaged = { ...sample(2), kills: { ...sample(2).kills, damage: "no table t" } };
  assert.equal(lostCommits(engine("x", [damaged])), "5 of 5, unusable");
});
