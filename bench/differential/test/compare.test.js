import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "../check/compare.js";

const result = (types, ...rows) => ({ types, rows });

test("rows are compared without order unless there is one", () => {
  const ours = result(["INTEGER"], [1], [2]);
  assert.equal(difference(ours, result(["INTEGER"], [2], [1])), null);
  assert.match(difference(ours, result(["INTEGER"], [2], [1]), [1]), /in order/);
  assert.match(difference(ours, result(["INTEGER"], [2], [2])), /instead of/);
  assert.match(difference(ours, result(["INTEGER"], [2])), /2 rows, not 1/);
});

test("exact numbers are equal whatever their scale, and not nearly equal", () => {
  const ours = result(["DECIMAL(38,2)"], ["1.50"]);
  assert.equal(difference(ours, result(["DECIMAL(9,1)"], ["1.5"])), null);
  assert.notEqual(difference(ours, result(["DECIMAL(9,9)"], ["1.500000001"])), null);
  assert.notEqual(difference(result(["BIGINT"], ["9007199254740993"]), result(["BIGINT"], ["9007199254740992"])), null);
});

test("doubles may differ in their last digits, rounded averages in the last of their scale", () => {
  assert.equal(difference(result(["DOUBLE"], [0.1 + 0.2]), result(["DOUBLE"], [0.3])), null);
  assert.notEqual(difference(result(["DOUBLE"], [0.3001]), result(["DOUBLE"], [0.3])), null);
  assert.equal(difference(result(["DECIMAL(38,6)"], ["0.333333"]), result(["DOUBLE"], [1 / 3])), null);
  assert.notEqual(difference(result(["DECIMAL(38,6)"], ["0.333300"]), result(["DOUBLE"], [1 / 3])), null);
});

test("NULL is no other value and types of other families differ", () => {
  assert.notEqual(difference(result(["TEXT"], [null]), result(["VARCHAR"], [""])), null);
  assert.notEqual(difference(result(["TEXT"], ["1"]), result(["INTEGER"], [1])), null);
  assert.equal(difference(result(["TIMESTAMP"], ["2024-01-01T00:00:00"]), result(["TIMESTAMP"], ["2024-01-01 00:00:00"])), null);
  assert.equal(difference(result(["BOOLEAN"], [true]), result([], [1])), null);
});
