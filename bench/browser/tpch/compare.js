// @ts-check
/**
 * Compares two engines' results of one query, in the spirit of TPC-H's validation rules
 * (specification, clause 2.1.3.5): text, counts and whole numbers exactly; other numbers within
 * one part in 10^9, or, since averages and ratios are only reported to the hundredth, within 0.01
 * as long as that is within one percent. Where the query orders its rows they must come in that
 * order, with ties in any order.
 */

import { orderKeys } from "./order-by.js";

/** @typedef {import("../worker/protocol.js").Cell} Cell */
/** @typedef {{columns: string[], rows: Cell[][]}} Result */

const RELATIVE_TOLERANCE = 1e-9;
const ABSOLUTE_TOLERANCE = 0.01;
const ABSOLUTE_TOLERANCE_SHARE = 0.01;

/**
 * @param {string} sql the query, for its ORDER BY
 * @param {Result} left
 * @param {Result} right
 * @returns {string | null} what differs, or null where nothing does
 */
export function compareResults(sql, left, right) {
  if (left.columns.length !== right.columns.length) {
    return `${left.columns.length} columns against ${right.columns.length}`;
  }
  if (left.rows.length !== right.rows.length) return `${left.rows.length} rows against ${right.rows.length}`;
  const keys = orderKeys(sql, left.columns);
  for (const [side, result] of /** @type {const} */ ([["left", left], ["right", right]])) {
    const unordered = keys === null ? -1 : firstUnordered(result.rows, keys);
    if (unordered >= 0) return `the ${side} result is out of order at row ${unordered + 1}`;
  }
  for (let start = 0; start < left.rows.length; ) {
    const end = keys === null ? start + 1 : tieEnd(left.rows, start, keys);
    const difference = compareGroup(left.rows, right.rows, start, end);
    if (difference !== null) return difference;
    start = end;
  }
  return null;
}

/**
 * @param {Cell} left
 * @param {Cell} right
 * @returns {boolean}
 */
export function cellsEqual(left, right) {
  if (left === null || right === null) return left === right;
  const [leftText, rightText] = [String(left), String(right)];
  if (leftText === rightText) return true;
  const [leftNumber, rightNumber] = [numberOf(leftText), numberOf(rightText)];
  if (leftNumber === null || rightNumber === null) return false;
  if (isWhole(leftText) && isWhole(rightText)) return BigInt(leftText) === BigInt(rightText);
  const difference = Math.abs(leftNumber - rightNumber);
  const magnitude = Math.max(Math.abs(leftNumber), Math.abs(rightNumber));
  if (difference <= RELATIVE_TOLERANCE * magnitude) return true;
  return difference <= ABSOLUTE_TOLERANCE && difference <= ABSOLUTE_TOLERANCE_SHARE * magnitude;
}

/**
 * Matches rows start…end of both sides with each other, in any order.
 *
 * @param {Cell[][]} left
 * @param {Cell[][]} right
 * @param {number} start
 * @param {number} end
 * @returns {string | null}
 */
function compareGroup(left, right, start, end) {
  /** @type {Set<number>} */
  const unmatched = new Set();
  for (let index = start; index < end; index += 1) unmatched.add(index);
  for (let index = start; index < end; index += 1) {
    const row = left[index] ?? [];
    // Mostly the row is at the same place on the other side.
    const candidates = unmatched.has(index) ? [index, ...unmatched] : [...unmatched];
    const match = candidates.find((candidate) => rowsEqual(row, right[candidate] ?? []));
    if (match === undefined) {
      return `row ${index + 1}: ${JSON.stringify(row)} against ${JSON.stringify(right[index])}`;
    }
    unmatched.delete(match);
  }
  return null;
}

/**
 * @param {Cell[]} left
 * @param {Cell[]} right
 */
function rowsEqual(left, right) {
  return left.every((cell, index) => cellsEqual(cell, right[index] ?? null));
}

/**
 * @param {Cell[][]} rows
 * @param {number} start
 * @param {readonly import("./order-by.js").OrderKey[]} keys
 * @returns {number} the end of the run of rows that tie with row `start`
 */
function tieEnd(rows, start, keys) {
  const first = rows[start] ?? [];
  let end = start + 1;
  while (end < rows.length && keys.every(({ column }) => cellsEqual(first[column] ?? null, rows[end]?.[column] ?? null))) {
    end += 1;
  }
  return end;
}

/**
 * @param {Cell[][]} rows
 * @param {readonly import("./order-by.js").OrderKey[]} keys
 * @returns {number} the first row that should have come earlier, or -1
 */
function firstUnordered(rows, keys) {
  for (let index = 1; index < rows.length; index += 1) {
    for (const { column, descending } of keys) {
      const [before, after] = [rows[index - 1]?.[column] ?? null, rows[index]?.[column] ?? null];
      if (cellsEqual(before, after)) continue;
      if (isBefore(before, after) === descending) return index;
      break;
    }
  }
  return -1;
}

/**
 * @param {Cell} left
 * @param {Cell} right
 * @returns {boolean} whether `left` sorts before `right` in ascending order; text by code units, as
 *   UTF-8 bytes do for TPC-H's ASCII, and NULL last
 */
function isBefore(left, right) {
  if (left === null || right === null) return right === null;
  const [leftNumber, rightNumber] = [numberOf(String(left)), numberOf(String(right))];
  if (leftNumber !== null && rightNumber !== null) return leftNumber < rightNumber;
  return String(left) < String(right);
}

/** @param {string} text */
function numberOf(text) {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** @param {string} text */
function isWhole(text) {
  return /^-?\d+$/.test(text);
}
