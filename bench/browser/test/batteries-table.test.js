// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { batteriesTable, summarizeBatteries } from "../report/batteries-table.js";
import { BATTERIES } from "../worker/batteries.js";

/**
 * @param {string} name
 * @param {number[]} times of the first battery, one a repetition
 */
function engine(name, times) {
  return { name, title: name, samples: times.map((time) => ({ elapsedMs: { [BATTERIES[0]?.id ?? ""]: time } })) };
}

test("every battery has a name of its own", () => {
  assert.equal(new Set(BATTERIES.map(({ id }) => id)).size, BATTERIES.length);
});

test("medians, and nothing where a battery was not run", () => {
  const summary = summarizeBatteries(engine("x", [3, 1, 2]));
  assert.equal(summary["insert_ms"], 2);
  assert.equal(summary["top_ms"], null);
});

test("the last column compares Gingham with the best peer", () => {
  const lines = batteriesTable([engine("slow", [90]), engine("gingham", [10]), engine("fast", [25])]).split("\n");
  assert.match(lines[2] ?? "", /\| +90\.0 ms \(9\.00×\) \| +10\.0 ms \| +25\.0 ms \(2\.50×\) \| +2\.50× \|$/);
  assert.match(lines[3] ?? "", /\| +– \| +– \| +– \| +– \|$/);
});

test("without Gingham, or without peers, nobody is ahead", () => {
  assert.match(batteriesTable([engine("slow", [90])]).split("\n")[2] ?? "", /\| +90\.0 ms \| +– \|$/);
  assert.match(batteriesTable([engine("gingham", [90])]).split("\n")[2] ?? "", /\| +90\.0 ms \| +– \|$/);
});
