// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsEqual, compareResults } from "../tpch/compare.js";
import { orderKeys } from "../tpch/order-by.js";

/**
 * @param {import("../worker/protocol.js").Cell[][]} rows
 * @param {string[]} columns
 */
const result = (rows, columns = ["name", "total"]) => ({ columns, rows });
const ORDERED = "select name, sum(x) as total from t group by name order by total desc, name";

test("whole numbers and text are compared exactly", () => {
  assert.ok(cellsEqual(5, "5"));
  assert.ok(!cellsEqual(1_000_000_000, 1_000_000_001));
  assert.ok(!cellsEqual("9007199254740992", "9007199254740993"));
  assert.ok(!cellsEqual("BUILDING", "building"));
  assert.ok(!cellsEqual("1994-01-01", "1994-01-02"));
  assert.ok(!cellsEqual("a", 1));
});

test("other numbers within 1e-9, or 0.01 where that is within one percent", () => {
  assert.ok(cellsEqual("37734107.00", 37734107));
  assert.ok(cellsEqual(0.123456789012, 0.1234567890121));
  assert.ok(cellsEqual("25.52", 25.522005853257));
  assert.ok(!cellsEqual(0.03, 0.04));
  assert.ok(!cellsEqual("25.52", 25.54));
  assert.ok(!cellsEqual(1000.5, 1000.52));
});

test("NULL only equals NULL", () => {
  assert.ok(cellsEqual(null, null));
  assert.ok(!cellsEqual(null, 0));
  assert.ok(!cellsEqual("", null));
});

test("equal results", () => {
  assert.equal(compareResults(ORDERED, result([["a", 2.5], ["b", 1.5]]), result([["a", "2.50"], ["b", "1.50"]])), null);
  assert.equal(compareResults("select 1", result([], ["x"]), result([], ["y"])), null);
});

test("rows that tie may come in any order, others may not", () => {
  const byTotal = "select name, total from t order by total desc";
  assert.equal(compareResults(byTotal, result([["a", 2], ["b", 2], ["c", 1]]), result([["b", 2], ["a", 2], ["c", 1]])), null);
  const wrong = compareResults(byTotal, result([["a", 2], ["c", 1]]), result([["c", 1], ["a", 2]]));
  assert.match(wrong ?? "", /right result is out of order at row 2/);
});

test("rows without ORDER BY may come in any order, but as often as they should", () => {
  const plain = "select name, total from t";
  assert.equal(compareResults(plain, result([["a", 1], ["b", 2]]), result([["b", 2], ["a", 1]])), null);
  assert.match(compareResults(plain, result([["a", 1], ["a", 1]]), result([["a", 1], ["b", 2]])) ?? "", /row 2/);
});

test("missing rows, missing columns and other values are differences", () => {
  assert.match(compareResults(ORDERED, result([["a", 1]]), result([])) ?? "", /1 rows against 0/);
  assert.match(compareResults(ORDERED, result([["a", 1]]), result([["a"]], ["name"])) ?? "", /2 columns against 1/);
  assert.match(compareResults(ORDERED, result([["a", 1]]), result([["a", 2]])) ?? "", /row 1: \["a",1\] against \["a",2\]/);
});

test("order keys are found by name, by number, and only outside of parentheses", () => {
  assert.deepEqual(orderKeys(ORDERED, ["name", "total"]), [
    { column: 1, descending: true },
    { column: 0, descending: false },
  ]);
  assert.deepEqual(orderKeys("select a, b from t ORDER BY 2 DESC, t.a LIMIT 10", ["a", "b"]), [
    { column: 1, descending: true },
    { column: 0, descending: false },
  ]);
  assert.deepEqual(orderKeys("select a from (select a from t order by a) s", ["a"]), []);
  assert.deepEqual(orderKeys("select a from t where b = 'order by a' -- order by a", ["a"]), []);
  assert.equal(orderKeys("select a from t order by b", ["a"]), null);
  assert.equal(orderKeys("select a from t order by a + 1", ["a"]), null);
});
