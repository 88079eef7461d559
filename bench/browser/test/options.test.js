// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions, UsageError } from "../options.js";

/** @param {string} line */
function parse(line) {
  const options = parseOptions(line.split(" ").filter((word) => word !== ""));
  assert.ok(options !== "help");
  return options;
}

test("defaults", () => {
  const m0 = parse("m0");
  assert.deepEqual(m0.engines.map(({ name }) => name), ["gingham", "sqlite", "sqlite-wal", "duckdb", "duckdb-checkpoint", "pglite"]);
  assert.deepEqual([m0.repeat, m0.rows, m0.saveLabel, m0.jsonPath], [3, 100_000, null, null]);
  const batteries = parse("batteries");
  assert.deepEqual(batteries.engines.map(({ name }) => name), ["gingham", "sqlite", "sqlite-wal", "duckdb", "pglite"]);
  assert.equal(batteries.repeat, 3);
  const tpch = parse("tpch");
  assert.deepEqual(tpch.engines.map(({ name }) => name), ["gingham", "duckdb"]);
  assert.deepEqual([tpch.repeat, tpch.scaleFactor, tpch.input, tpch.storage], [1, 0.1, null, "column"]);
});

test("values by space or by equals sign", () => {
  const options = parse("m0 --engines sqlite,duckdb --repeat=5 --rows 10 --json out.json");
  assert.deepEqual(options.engines.map(({ name }) => name), ["sqlite", "duckdb"]);
  assert.deepEqual([options.repeat, options.rows, options.jsonPath], [5, 10, "out.json"]);
});

test("labels follow the milestones", () => {
  assert.equal(parse("m0 --save").saveLabel, "M0");
  assert.equal(parse("m0 --save --rows 5").saveLabel, "M0");
  assert.equal(parse("batteries --save").saveLabel, "batteries");
  assert.equal(parse("tpch --save").saveLabel, "M3");
  assert.equal(parse("tpch --sf 1 --save").saveLabel, "M7");
  assert.equal(parse("tpch --sf 10 --save").saveLabel, "M7");
  assert.equal(parse("tpch --sf 0.01 --save").saveLabel, "TPCH-SF0.01");
  assert.equal(parse("tpch --save before-tuning").saveLabel, "before-tuning");
});

test("what is not understood is a usage error", () => {
  for (const line of [
    "",
    "m1",
    "m0 --engines oracle",
    "tpch --engines sqlite",
    "m0 --engines",
    "m0 --fast",
    "m0 extra",
    "m0 --repeat 0",
    "m0 --repeat 1.5",
    "m0 --rows -5",
    "tpch --sf zero",
    "tpch --sf 1e3",
    "tpch --input parquet",
    "m0 --save ../up",
    "m0 --repeat 2 --repeat 3",
  ]) {
    assert.throws(() => parse(line), UsageError, line);
  }
});

test("a profile is of Gingham alone", () => {
  const options = parse("batteries --profile --repeat 2");
  assert.deepEqual([options.profile, options.engines.map(({ name }) => name), options.repeat], [true, ["gingham"], 2]);
  assert.throws(() => parse("tpch --profile"), UsageError);
});
