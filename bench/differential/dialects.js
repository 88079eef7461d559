/**
 * Every known difference between the dialects, one entry each, with its reason. Nothing
 * else is let pass: what is not here and differs is a fault.
 */

import { typeSql } from "./types.js";

/** How an expression is written where a dialect says the same thing in other words. */
export const REWRITES = {
  duckdb: {
    binary: (node, sql) => {
      const written = (op) => `(${sql(node.left)} ${op} ${sql(node.right)})`;
      // DuckDB's / on integers gives a DOUBLE; its // is what / is in PostgreSQL and Gingham.
      if (node.op === "/" && isWhole(node.left) && isWhole(node.right)) return written("//");
      // DuckDB makes an INTEGER of text || NULL.
      return node.op === "||" ? `CAST(${written("||")} AS VARCHAR)` : undefined;
    },
    // DuckDB's DATE ± INTERVAL and date_trunc of a DATE are TIMESTAMPs, Gingham's are DATEs.
    shift: (node, sql) => {
      const amount = `INTERVAL '${Math.abs(node.amount)}' ${node.unit}`;
      const text = `(${sql(node.argument)} ${node.amount < 0 ? "-" : "+"} ${amount})`;
      return node.type.name === "date" ? `CAST(${text} AS DATE)` : text;
    },
    call: (node, sql) =>
      node.name === "date_trunc" && node.type.name === "date"
        ? `CAST(date_trunc(${node.arguments.map(sql).join(", ")}) AS DATE)`
        : undefined,
  },
  sqlite: {
    // SQLite keeps decimals in binary floating point: no exact answers to compare with.
    column: (node, _, { unsupported }) => (node.type.name === "decimal" ? unsupported("DECIMAL") : undefined),
    literal: (node, _, { unsupported }) => (node.type.name === "decimal" ? unsupported("DECIMAL") : undefined),
    // SQLite casts by affinity, which keeps what does not fit; only widening means the same.
    cast: (node, sql, { unsupported }) => {
      const pair = `${node.argument.type.name} ${node.type.name}`;
      if (pair === "integer bigint" || pair === "boolean integer") return sql(node.argument);
      if (pair === "integer double" || pair === "bigint double") return `CAST(${sql(node.argument)} AS REAL)`;
      if (pair === "integer text" || pair === "bigint text") return `CAST(${sql(node.argument)} AS TEXT)`;
      return unsupported(`CAST to ${typeSql(node.type)}`);
    },
    // Dates are text there: no arithmetic, and a time of day is not added by comparison.
    shift: (_, __, { unsupported }) => unsupported("INTERVAL"),
    extract: (_, __, { unsupported }) => unsupported("extract"),
    binary: (node, sql, { unsupported }) => {
      const types = [node.left.type.name, node.right.type.name];
      if (types.includes("date") && (types.includes("timestamp") || !isComparison(node.op))) unsupported("date arithmetic");
      // Past 64 bits SQLite goes on in floating point; % casts its operands to integers.
      if (node.op === "%" && types.includes("double")) unsupported("% of DOUBLE");
      return undefined;
    },
    "in-list": mixedTimes,
    between: mixedTimes,
    call: (node, sql, { unsupported }) => SQLITE_CALLS[node.name]?.(node.arguments.map(sql), node) ?? unsupported(node.name),
    aggregate: (node, _, { unsupported }) =>
      ["count", "sum", "min", "max", "avg"].includes(node.name) ? undefined : unsupported(node.name),
  },
};

function mixedTimes(node, _, { unsupported }) {
  const types = [node.argument, ...(node.list ?? [node.low, node.high])].map((each) => each.type.name);
  if (types.includes("date") && types.includes("timestamp")) unsupported("DATE beside TIMESTAMP");
  return undefined;
}

const isWhole = (node) => node.type.name === "integer" || node.type.name === "bigint";
const isComparison = (op) => ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"].includes(op);

/** SQLite's names for functions with the same meaning. */
const SQLITE_CALLS = {
  abs: ([x]) => `abs(${x})`,
  coalesce: (list) => `coalesce(${list.join(", ")})`,
  nullif: ([x, y]) => `nullif(${x}, ${y})`,
  length: ([x]) => `length(${x})`,
  strpos: ([x, y]) => `instr(${x}, ${y})`,
  trim: ([x]) => `trim(${x})`,
  replace: (list) => `replace(${list.join(", ")})`,
  substring: (list) => `substr(${list.join(", ")})`,
  // SQLite's greatest is max of several, which is NULL if one is: PostgreSQL ignores NULLs.
  greatest: undefined,
};

/** Gingham's errors about values that are no fault when a peer has an answer. */
export const TOLERATED_ERRORS = [
  { code: "22003", reason: "DuckDB computes sums and products in wider types (HUGEINT) and SQLite in floating point; Gingham refuses what its result type cannot hold" },
  { code: "22008", reason: "DuckDB's dates reach far beyond the year 9999, where Gingham's end" },
];

/** What peers refuse and Gingham answers. */
export const TOLERATED_PEER_ERRORS = [
  { peer: "duckdb", pattern: /Overflow in|Out of Range|out of range|overflow/i, reason: "Gingham's result type is wider, or it does not compute the expression for rows that a filter drops" },
  { peer: "duckdb", pattern: /Could not (convert|cast)|Failed to cast|Conversion Error/i, reason: "the peer evaluates a cast for rows that a filter drops" },
  { peer: "duckdb", pattern: /Unsupported join type for flattening correlated subquery/, reason: "DuckDB cannot correlate through some outer joins" },
  { peer: "duckdb", pattern: /must appear in the GROUP BY clause/, reason: "DuckDB rewrites IN and OR before it looks for them among the grouping keys" },
  { peer: "duckdb", pattern: /^INTERNAL Error/, reason: "a fault of DuckDB's own" },
  { peer: "sqlite", pattern: /HAVING clause on a non-aggregate query/, reason: "SQLite wants an aggregate beside HAVING, PostgreSQL does not" },
  { peer: "sqlite", pattern: /integer overflow/i, reason: "SQLite's sum() is 64 bits wide, Gingham's of BIGINT has 38 digits" },
];

/** Whether an error of Gingham's, where a peer answers, is a known difference. */
export const isToleratedError = (error) => TOLERATED_ERRORS.some(({ code }) => code === error.code);

/** Whether a peer's error, where Gingham answers, is a known difference. */
export const isToleratedPeerError = (peer, message) =>
  TOLERATED_PEER_ERRORS.some((entry) => entry.peer === peer && entry.pattern.test(message));
