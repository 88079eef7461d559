// @ts-check
/** Numbers and tables as people read them. */

/** @typedef {"ms" | "us" | "bytes" | "count"} Unit */

/**
 * @param {number} value in `unit`
 * @param {Unit} unit
 * @returns {string} three significant digits and a unit of a fitting size
 */
export function formatQuantity(value, unit) {
  if (unit === "count") return significant(value);
  if (unit === "bytes") {
    if (value < 1024) return `${value} B`;
    return value < 1 << 20 ? `${significant(value / 1024)} KiB` : `${significant(value / (1 << 20))} MiB`;
  }
  const ms = unit === "us" ? value / 1000 : value;
  if (ms >= 10_000) return `${significant(ms / 1000)} s`;
  return ms < 0.1 ? `${significant(ms * 1000)} µs` : `${significant(ms)} ms`;
}

/**
 * @param {number} value
 * @param {number} base
 * @returns {string} how many times `base` the value is, such as "3.2×"
 */
export function formatRatio(value, base) {
  return base > 0 ? `${significant(value / base)}×` : "–";
}

/**
 * @param {number} value
 * @returns {string} three significant digits, never in exponent form
 */
export function significant(value) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  if (magnitude >= 2) return value.toFixed(0);
  return value.toFixed(Math.min(2 - magnitude, 6));
}

/**
 * A Markdown table whose columns also line up as plain text.
 *
 * @param {readonly string[]} header
 * @param {readonly (readonly string[])[]} rows
 * @returns {string}
 */
export function markdownTable(header, rows) {
  const cells = [header, ...rows].map((row) => header.map((_, index) => (row[index] ?? "").replaceAll("|", "\\|")));
  const widths = header.map((_, index) => Math.max(3, ...cells.map((row) => [...(row[index] ?? "")].length)));
  const line = (/** @type {readonly string[]} */ row) =>
    `| ${row.map((cell, index) => pad(cell, widths[index] ?? 0, index > 0)).join(" | ")} |`;
  const rule = `|${widths.map((width, index) => (index > 0 ? `${"-".repeat(width + 1)}:` : "-".repeat(width + 2))).join("|")}|`;
  const [first, ...rest] = cells.map(line);
  return [first, rule, ...rest].join("\n");
}

/**
 * @param {string} text
 * @param {number} width
 * @param {boolean} right
 */
function pad(text, width, right) {
  const space = " ".repeat(width - [...text].length);
  return right ? space + text : text + space;
}
