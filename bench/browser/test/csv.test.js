// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvReader } from "../tpch/csv.js";

/**
 * @param {string} text
 * @param {number} step the length of the pieces that it arrives in
 */
function read(text, step = text.length || 1) {
  /** @type {string[][]} */
  const records = [];
  const reader = new CsvReader((fields) => records.push(fields));
  for (let at = 0; at < text.length; at += step) reader.push(text.slice(at, at + step));
  reader.end();
  return records;
}

const TRICKY = 'a,b\r\n1,"x, ""y"""\n2,\n,"two\nlines"\n"",last';
const EXPECTED = [["a", "b"], ["1", 'x, "y"'], ["2", ""], ["", "two\nlines"], ["", "last"]];

test("quotes, doubled quotes, line ends inside quotes, empty fields, no last line end", () => {
  assert.deepEqual(read(TRICKY), EXPECTED);
});

test("where the pieces are cut makes no difference", () => {
  for (let step = 1; step < TRICKY.length; step += 1) assert.deepEqual(read(TRICKY, step), EXPECTED, `step ${step}`);
});

test("nothing is no record", () => assert.deepEqual(read(""), []));

test("malformed quotes are errors", () => {
  assert.throws(() => read('1,"open\n'), /unterminated quote/);
  assert.throws(() => read('1,"x"y\n'), /after a closing quote/);
});
