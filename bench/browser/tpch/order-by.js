// @ts-check
/** Reads from a query by which of its result columns the rows are ordered. */

/** @typedef {{column: number, descending: boolean}} OrderKey */

/**
 * @param {string} sql
 * @param {readonly string[]} columns names of the result's columns
 * @returns {OrderKey[] | null} [] where the query does not order; null where it orders by something
 *   that is no result column, so that only the rows' exact order can be compared
 */
export function orderKeys(sql, columns) {
  const clause = outermostOrderBy(withoutCommentsAndStrings(sql).toLowerCase());
  if (clause === null) return [];
  /** @type {OrderKey[]} */
  const keys = [];
  for (const item of splitAtCommas(clause)) {
    const match = /^([a-z_0-9.]+)(?:\s+(asc|desc))?(?:\s+nulls\s+(?:first|last))?$/.exec(item.trim());
    if (match === null) return null;
    const name = (match[1] ?? "").split(".").pop() ?? "";
    const column = /^\d+$/.test(name) ? Number(name) - 1 : columns.findIndex((other) => other.toLowerCase() === name);
    if (column < 0 || column >= columns.length) return null;
    keys.push({ column, descending: match[2] === "desc" });
  }
  return keys;
}

/**
 * @param {string} sql lower case
 * @returns {string | null} what follows the last ORDER BY outside of parentheses, up to LIMIT
 */
function outermostOrderBy(sql) {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < sql.length; at += 1) {
    if (sql[at] === "(") depth += 1;
    else if (sql[at] === ")") depth -= 1;
    else if (depth === 0 && /^\border\s+by\b/.test(sql.slice(at, at + 16)) && !/\w/.test(sql[at - 1] ?? " ")) {
      start = at + (/^order\s+by/.exec(sql.slice(at))?.[0].length ?? 0);
    }
  }
  if (start < 0) return null;
  return (sql.slice(start).split(/\b(?:limit|fetch|offset)\b|;/)[0] ?? "").trim();
}

/** @param {string} clause */
function splitAtCommas(clause) {
  /** @type {string[]} */
  const items = [];
  let depth = 0;
  let item = "";
  for (const character of clause) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) {
      items.push(item);
      item = "";
    } else {
      item += character;
    }
  }
  return [...items, item];
}

/** @param {string} sql */
function withoutCommentsAndStrings(sql) {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (found) => (found.startsWith("'") ? "''" : " "));
}
