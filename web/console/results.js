// @ts-check
/** Results as tables. */

/** @typedef {import("../dist/index.js").QueryResult<any>} Result */

/** Rows that are shown; the rest is counted. */
const ROWS_SHOWN = 500;
/** Characters of one value that are shown. */
const CHARACTERS_SHOWN = 300;

/**
 * @param {HTMLElement} target
 * @param {Result[]} results one a statement
 */
export function showResults(target, results) {
  target.replaceChildren(...results.map(resultElement).filter((item) => item !== undefined));
  if (results.length === 0) target.replaceChildren(paragraph("There was nothing to run."));
}

/** @param {Result} result */
function resultElement(result) {
  const box = document.createElement("div");
  box.className = "result";
  if (result.fields.length === 0) {
    box.append(paragraph(result.changes === 1 ? "1 row changed" : `${group(result.changes)} rows changed`));
    return box;
  }
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  scroll.append(tableElement(result));
  const shown = Math.min(result.rows.length, ROWS_SHOWN);
  const count = result.rows.length === 1 ? "1 row" : `${group(result.rows.length)} rows`;
  box.append(scroll, paragraph(shown < result.rows.length ? `${count}, the first ${ROWS_SHOWN} shown` : count));
  return box;
}

/** @param {Result} result */
function tableElement({ fields, rows }) {
  const numeric = fields.map(({ type }) => /^(INTEGER|BIGINT|DOUBLE|DECIMAL)/.test(type));
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  fields.forEach(({ name, type }, index) => {
    const cell = document.createElement("th");
    const small = document.createElement("small");
    small.textContent = type.toLowerCase();
    cell.append(name, small);
    if (numeric[index]) cell.className = "number";
    head.append(cell);
  });
  const body = table.createTBody();
  for (const row of rows.slice(0, ROWS_SHOWN)) {
    const line = body.insertRow();
    row.forEach((/** @type {unknown} */ value, /** @type {number} */ index) => {
      const cell = line.insertCell();
      cell.textContent = shown(value);
      if (value === null) cell.className = "null";
      else if (numeric[index]) cell.className = "number";
    });
  }
  return table;
}

/** @param {unknown} value */
function shown(value) {
  if (value === null) return "NULL";
  const text =
    value instanceof Uint8Array
      ? `\\x${Array.from(value.subarray(0, CHARACTERS_SHOWN), (byte) => byte.toString(16).padStart(2, "0")).join("")}`
      : String(value);
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)}…` : text;
}

/** @param {string} text */
function paragraph(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

/** @param {number} count */
function group(count) {
  return count.toLocaleString("en-US");
}
