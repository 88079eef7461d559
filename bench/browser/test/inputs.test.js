// @ts-check
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseAnswer } from "../tpch/answers.js";
import { locateTables, readQueries } from "../tpch/inputs.js";
import { createTableSql, TABLES } from "../tpch/schema.js";

/** @param {(folder: string) => void} body */
function inFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), "gingham-inputs-test-"));
  try {
    body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the eight tables have the standard's columns", () => {
  assert.deepEqual(
    TABLES.map(({ name, columns }) => [name, columns.length]),
    [["region", 3], ["nation", 4], ["supplier", 7], ["customer", 8], ["part", 9], ["partsupp", 5], ["orders", 9], ["lineitem", 16]],
  );
  const nation = TABLES.find(({ name }) => name === "nation");
  assert.ok(nation !== undefined);
  assert.equal(
    createTableSql(nation),
    "CREATE TABLE nation (n_nationkey INTEGER NOT NULL, n_name TEXT NOT NULL, n_regionkey INTEGER NOT NULL, n_comment TEXT NOT NULL)",
  );
});

test("only Q11 depends on the scale factor", () => {
  inFolder((folder) => {
    for (let number = 1; number <= 22; number += 1) {
      writeFileSync(join(folder, `q${String(number).padStart(2, "0")}.sql`), "select 0.0001;\n");
    }
    const queries = readQueries(0.1, folder);
    assert.equal(queries.length, 22);
    assert.deepEqual(queries[9], { name: "q10", sql: "select 0.0001" });
    assert.deepEqual(queries[10], { name: "q11", sql: "select 0.0010000000" });
    rmSync(join(folder, "q22.sql"));
    assert.throws(() => readQueries(0.1, folder), /q22\.sql is missing/);
  });
});

test("Arrow files are preferred where all are there, missing ones are named", () => {
  inFolder((folder) => {
    assert.throws(() => locateTables(folder, null), /lacks region\.csv, .*lineitem\.csv: run cargo xtask tpch/);
    for (const { name } of TABLES) writeFileSync(join(folder, `${name}.csv`), "");
    assert.equal(locateTables(folder, null).format, "csv");
    assert.throws(() => locateTables(folder, "arrow"), /lacks region\.arrow/);
    for (const { name } of TABLES) writeFileSync(join(folder, `${name}.arrow`), "");
    assert.equal(locateTables(folder, null).format, "arrow");
    assert.equal(locateTables(folder, "csv").format, "csv");
  });
});

test("answers are read with their NULLs", () => {
  const answer = parseAnswer("a text sorted|b exact\nx|1.50\n\\N|2.00\n|3.00\n");
  assert.deepEqual(answer.columns, ["a", "b"]);
  assert.deepEqual(answer.rows, [["x", "1.50"], [null, "2.00"], ["", "3.00"]]);
});
