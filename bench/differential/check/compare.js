/**
 * Whether two results are the same rows: typed, in order only where the query has one,
 * floating point within a tolerance.
 */

/** Relative difference that sums of doubles in different orders may have. */
const TOLERANCE = 1e-9;

const FAMILIES = [
  [/^BOOLEAN/i, "boolean"],
  [/^(DOUBLE|FLOAT|REAL)/i, "double"],
  [/^(DECIMAL|NUMERIC|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)/i, "exact"],
  [/^(VARCHAR|TEXT)/i, "text"],
  [/^DATE/i, "date"],
  [/^TIMESTAMP/i, "timestamp"],
  [/^INTERVAL/i, "interval"],
  // DuckDB: the type of a bare NULL, which prints as INTEGER elsewhere.
  [/^("?NULL"?|SQLNULL)/i, "null"],
];

/** The family a type's name belongs to: values of one family compare. */
export const family = (name) => FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? name.toLowerCase();

/**
 * A cell in canonical form: null, a boolean, a string (text, times, exact numbers without
 * trailing zeros), or `{approximate}`.
 */
function canonical(value, kind, grain) {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case "boolean":
      return value === true || value === 1 || value === "true";
    case "double":
      return { approximate: Number(String(value).replace(/^(-?)inf(inity)?$/i, "$1Infinity")), grain };
    case "exact":
      return exactText(String(value));
    case "date":
      return astronomical(String(value));
    case "timestamp":
      return astronomical(String(value)).replace("T", " ").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
    default:
      return String(value);
  }
}

/** DuckDB's years before Christ as Gingham counts them: 1 BC is the year 0. */
const astronomical = (text) => text.replace(/^(\d+)(.*) \(BC\)$/, (_, year, rest) => `${year === "0001" ? "" : "-"}${String(Number(year) - 1).padStart(4, "0")}${rest}`).replace(/^-0*(?=\d{3}-)/, "-");

/** The last digit of a DECIMAL that is compared with a DOUBLE: an average rounded to its scale. */
function grain(type, kind) {
  const scale = kind === "double" ? /^DECIMAL\(\d+, ?(\d+)\)/i.exec(type)?.[1] : undefined;
  return scale === undefined ? 0 : 10 ** -Number(scale);
}

function exactText(text) {
  if (/e/i.test(text)) return exactText(BigInt(Number(text)).toString());
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return short === "-0" || short === "" ? "0" : short;
}

const isApproximate = (cell) => cell !== null && typeof cell === "object";

/** Sorts rows by their exact cells, then by their doubles: close rows come to lie side by side. */
function sorted(rows) {
  const key = (row) => row.map((cell) => (cell === null ? "\u0000" : isApproximate(cell) ? "" : `${cell}`)).join("\u0001");
  const doubles = (row) => row.filter(isApproximate).map((cell) => cell.approximate);
  const compare = (a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1;
    const at = a.doubles.findIndex((value, i) => value !== b.doubles[i]);
    return at < 0 ? 0 : a.doubles[at] - b.doubles[at];
  };
  return rows.map((row) => ({ row, key: key(row), doubles: doubles(row) })).sort(compare).map(({ row }) => row);
}

function sameCell(a, b) {
  if (a === null || b === null) return a === b;
  if (typeof a !== "object") return a === b;
  const [x, y] = [a.approximate, b.approximate];
  if (Object.is(x, y) || x === y) return true;
  return Math.abs(x - y) <= Math.max(a.grain ?? 0, b.grain ?? 0) + TOLERANCE * Math.max(1, Math.abs(x), Math.abs(y));
}

/**
 * Compares a peer's result with Gingham's.
 * @param {{types: string[], rows: unknown[][]}} ours
 * @param {{types: string[], rows: unknown[][]}} theirs a peer without types takes ours
 * @param {number[]} order ordinals, from 1, of the columns that the rows are ordered by
 * @returns {string | null} what differs
 */
export function difference(ours, theirs, order = []) {
  const kinds = [];
  for (let i = 0; i < ours.types.length; i++) {
    const mine = family(ours.types[i]);
    const other = theirs.types.length > 0 ? family(theirs.types[i]) : mine;
    const areNumbers = [mine, other].every((kind) => kind === "exact" || kind === "double");
    if (mine !== other && !areNumbers && mine !== "null" && other !== "null") {
      return `column ${i + 1} is ${ours.types[i]}, not ${theirs.types[i]}`;
    }
    kinds.push(mine !== other && areNumbers ? "double" : mine);
  }
  if (ours.rows.length !== theirs.rows.length) return `${ours.rows.length} rows, not ${theirs.rows.length}`;
  const grains = ours.types.map((type, i) => (theirs.types[i] ? grain(type, kinds[i]) : 0));
  const convert = (rows) => rows.map((row) => row.map((value, i) => canonical(value, kinds[i], grains[i])));
  const [mine, other] = [convert(ours.rows), convert(theirs.rows)];
  for (let row = 0; order.length > 0 && row < mine.length; row++) {
    for (const ordinal of order) {
      if (!sameCell(mine[row][ordinal - 1], other[row][ordinal - 1])) {
        return `row ${row + 1} in order has ${show(mine[row][ordinal - 1])} in column ${ordinal}, not ${show(other[row][ordinal - 1])}`;
      }
    }
  }
  return multisetDifference(mine, other);
}

function multisetDifference(mine, other) {
  const [a, b] = [sorted(mine), sorted(other)];
  const at = a.findIndex((row, i) => !row.every((cell, column) => sameCell(cell, b[i][column])));
  return at < 0 || closeMatch(mine, other) ? null : `row ${showRow(a[at])} instead of ${showRow(b[at])}`;
}

/** Pairs rows one by one: of two doubles that are close either may sort first. */
function closeMatch(mine, other) {
  if (mine.length > 300 || !mine.some((row) => row.some(isApproximate))) return false;
  const left = [...other];
  return mine.every((row) => {
    const at = left.findIndex((candidate) => candidate.every((cell, column) => sameCell(row[column], cell)));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

const show = (cell) => (cell !== null && typeof cell === "object" ? String(cell.approximate) : JSON.stringify(cell));
const showRow = (row) => `(${row.map(show).join(", ")})`;
