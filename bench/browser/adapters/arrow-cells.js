// @ts-check
/** Turning Arrow vectors, DuckDB's only kind of result, into plain JavaScript values. */

/** @typedef {import("./adapter.js").Cell} Cell */

/**
 * Type numbers of the Arrow format (`Type` in Schema.fbs as apache-arrow numbers it); spelled out
 * so that this module needs no copy of apache-arrow at run time.
 */
const TYPE_DECIMAL = 7;
const TYPE_DATE = 8;
const TYPE_TIMESTAMP = 10;

/**
 * @param {import("apache-arrow").Vector} vector
 * @returns {Cell[]} every value: integers as number or bigint, decimals as exact strings, dates and
 *   timestamps in ISO form, text as string, NULL as null
 */
export function columnCells(vector) {
  const convert = converter(vector.type);
  /** @type {Cell[]} */
  const cells = new Array(vector.length);
  for (let index = 0; index < cells.length; index += 1) {
    const value = vector.get(index);
    cells[index] = value === null || convert === null ? value : convert(value);
  }
  return cells;
}

/**
 * @param {import("apache-arrow").Vector} vector
 * @param {number} index
 * @returns {Cell} one value, as `columnCells` gives it
 */
export function cellAt(vector, index) {
  const convert = converter(vector.type);
  const value = vector.get(index);
  return value === null || convert === null ? value : convert(value);
}

/**
 * @param {import("apache-arrow").DataType} type
 * @returns {((value: unknown) => Cell) | null} null where the vector already gives the cell
 */
function converter(type) {
  const typeId = /** @type {number} */ (type.typeId);
  if (typeId === TYPE_DECIMAL) {
    const { scale } = /** @type {import("apache-arrow").Decimal} */ (type);
    return (value) => decimalText(/** @type {Uint32Array} */ (value), scale);
  }
  if (typeId === TYPE_DATE) return (value) => new Date(Number(value)).toISOString().slice(0, 10);
  if (typeId === TYPE_TIMESTAMP) return (value) => new Date(Number(value)).toISOString();
  return null;
}

/**
 * @param {Uint32Array} words a two's complement integer, least significant word first
 * @param {number} scale digits after the point
 * @returns {string}
 */
export function decimalText(words, scale) {
  let unscaled = 0n;
  for (let index = words.length - 1; index >= 0; index -= 1) {
    unscaled = (unscaled << 32n) | BigInt(words[index] ?? 0);
  }
  unscaled = BigInt.asIntN(32 * words.length, unscaled);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const point = digits.length - scale;
  const sign = unscaled < 0n ? "-" : "";
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
