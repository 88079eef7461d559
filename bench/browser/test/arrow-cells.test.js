// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { DateDay, Decimal, Int64, vectorFromArray } from "apache-arrow";
import { columnCells, decimalText } from "../adapters/arrow-cells.js";

test("decimals are exact, whatever their sign and scale", () => {
  assert.equal(decimalText(Uint32Array.of(12_345, 0, 0, 0), 2), "123.45");
  assert.equal(decimalText(Uint32Array.of(5, 0, 0, 0), 2), "0.05");
  assert.equal(decimalText(Uint32Array.of(7, 0, 0, 0), 0), "7");
  const minusFive = Uint32Array.of(0xfffffffb, 0xffffffff, 0xffffffff, 0xffffffff);
  assert.equal(decimalText(minusFive, 2), "-0.05");
  assert.equal(decimalText(Uint32Array.of(0, 0, 1, 0), 4), "1844674407370955.1616");
});

test("columns become plain values", () => {
  assert.deepEqual(columnCells(vectorFromArray([1n, null], new Int64())), [1n, null]);
  assert.deepEqual(columnCells(vectorFromArray([new Date("1998-09-02")], new DateDay())), ["1998-09-02"]);
  assert.deepEqual(columnCells(vectorFromArray(["é", null, ""])), ["é", null, ""]);
  const decimals = vectorFromArray([Uint32Array.of(150, 0, 0, 0)], new Decimal(2, 15, 128));
  assert.deepEqual(columnCells(decimals), ["1.50"]);
});
