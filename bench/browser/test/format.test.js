// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatQuantity, formatRatio, markdownTable, significant } from "../report/format.js";

test("three significant digits, never an exponent", () => {
  assert.equal(significant(0), "0");
  assert.equal(significant(1234.5), "1235");
  assert.equal(significant(12.345), "12.3");
  assert.equal(significant(1.2345), "1.23");
  assert.equal(significant(0.0123456), "0.0123");
  assert.equal(significant(-1.5), "-1.50");
});

test("quantities get a unit of a fitting size", () => {
  assert.equal(formatQuantity(2.5, "us"), "2.50 µs");
  assert.equal(formatQuantity(1500, "us"), "1.50 ms");
  assert.equal(formatQuantity(0.02, "ms"), "20.0 µs");
  assert.equal(formatQuantity(12_345, "ms"), "12.3 s");
  assert.equal(formatQuantity(512, "bytes"), "512 B");
  assert.equal(formatQuantity(2048, "bytes"), "2.00 KiB");
  assert.equal(formatQuantity(34_242_586, "bytes"), "32.7 MiB");
});

test("ratios say how many times the base", () => {
  assert.equal(formatRatio(30, 10), "3.00×");
  assert.equal(formatRatio(5, 10), "0.500×");
  assert.equal(formatRatio(5, 0), "–");
});

test("a table lines up and escapes bars", () => {
  assert.equal(
    markdownTable(["", "A"], [["x|y", "1"], ["µ", "22"]]),
    ["|      |   A |", "|------|----:|", "| x\\|y |   1 |", "| µ    |  22 |"].join("\n"),
  );
});
