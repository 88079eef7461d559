/**
 * Queries as SQL text in one of three dialects: `gingham`, `duckdb` or `sqlite`. Where
 * one meaning is written differently, the rewriting is in dialects.js with its reason.
 */

import { REWRITES } from "./dialects.js";
import { typeSql, typedLiteral } from "./types.js";

/** Thrown for what a dialect cannot say. */
export class Unsupported extends Error {}

/** An expression as SQL. */
export function expressionSql(node, dialect) {
  const sql = (child) => expressionSql(child, dialect);
  const rewrite = REWRITES[dialect]?.[node.kind];
  if (rewrite) {
    const text = rewrite(node, sql, { query: (query) => querySql(query, dialect), unsupported });
    if (text !== undefined) return text;
  }
  const not = node.negated ? "NOT " : "";
  switch (node.kind) {
    case "column":
      return `${node.table}.${node.name}`;
    case "literal":
      return typedLiteral(node.value, node.type, dialect);
    case "binary":
      return `(${sql(node.left)} ${node.op} ${sql(node.right)})`;
    case "negative":
      return `(- ${sql(node.argument)})`;
    case "not":
      return `(NOT ${sql(node.argument)})`;
    case "null-test":
      return `(${sql(node.argument)} IS ${not}NULL)`;
    case "between":
      return `(${sql(node.argument)} ${not}BETWEEN ${sql(node.low)} AND ${sql(node.high)})`;
    case "in-list":
      return `(${sql(node.argument)} ${not}IN (${node.list.map(sql).join(", ")}))`;
    case "like":
      return `(${sql(node.argument)} ${not}LIKE ${sql(node.pattern)})`;
    case "case": {
      const branches = node.branches.map(({ when, then }) => ` WHEN ${sql(when)} THEN ${sql(then)}`);
      const otherwise = node.otherwise ? ` ELSE ${sql(node.otherwise)}` : "";
      return `CASE${node.operand ? ` ${sql(node.operand)}` : ""}${branches.join("")}${otherwise} END`;
    }
    case "cast":
      return `CAST(${sql(node.argument)} AS ${typeSql(node.type)})`;
    case "call":
      return `${node.name}(${node.arguments.map(sql).join(", ")})`;
    case "extract":
      return `extract(${node.field} FROM ${sql(node.argument)})`;
    case "shift":
      return `(${sql(node.argument)} ${node.amount < 0 ? "-" : "+"} INTERVAL '${Math.abs(node.amount)}' ${node.unit})`;
    case "aggregate": {
      const argument = node.argument ? (node.distinct ? "DISTINCT " : "") + sql(node.argument) : "*";
      const filter = node.filter ? ` FILTER (WHERE ${sql(node.filter)})` : "";
      return `${node.name}(${argument})${filter}`;
    }
    case "window": {
      const parts = [];
      if (node.partition.length > 0) parts.push(`PARTITION BY ${node.partition.map(sql).join(", ")}`);
      if (node.order.length > 0) parts.push(`ORDER BY ${node.order.map((key) => sql(key.expression) + direction(key, dialect)).join(", ")}`);
      const filter = node.filter ? ` FILTER (WHERE ${sql(node.filter)})` : "";
      return `${node.name}(${node.star ? "*" : node.arguments.map(sql).join(", ")})${filter} OVER (${parts.join(" ")}${node.frame})`;
    }
    case "exists":
      return `(${not}EXISTS (${querySql(node.query, dialect)}))`;
    case "in-query":
      return `(${sql(node.argument)} ${not}IN (${querySql(node.query, dialect)}))`;
    case "scalar":
      return `(${querySql(node.query, dialect)})`;
    default:
      throw new Error(`no such expression: ${node.kind}`);
  }
}

function unsupported(what) {
  throw new Unsupported(what);
}

/** A query as SQL, without a semicolon. */
export function querySql(query, dialect) {
  const withs = (query.ctes ?? []).map(({ name, query }) => `${name} AS (${querySql(query, dialect)})`);
  const prefix = withs.length > 0 ? `WITH ${withs.join(", ")} ` : "";
  return prefix + bodySql(query, dialect) + tailSql(query, dialect);
}

function bodySql(query, dialect) {
  if (query.kind === "set") {
    const operand = (side) => {
      const text = querySql(side, dialect);
      return dialect === "sqlite" ? `SELECT * FROM (${text})` : `(${text})`;
    };
    return `${operand(query.left)} ${query.op} ${operand(query.right)}`;
  }
  const sql = (node) => expressionSql(node, dialect);
  const items = query.items.map(({ expression, alias }) => sql(expression) + (alias ? ` AS ${alias}` : ""));
  let text = `SELECT ${query.distinct ? "DISTINCT " : ""}${items.join(", ")}`;
  if (query.from) text += ` FROM ${relationSql(query.from, dialect)}`;
  if (query.where) text += ` WHERE ${sql(query.where)}`;
  if (query.groupBy?.length > 0) text += ` GROUP BY ${groupingSql(query, sql, dialect)}`;
  if (query.having) text += ` HAVING ${sql(query.having)}`;
  return text;
}

/** The keys, or the sets of them. */
function groupingSql({ groupBy, grouping }, sql, dialect) {
  const keys = groupBy.map(sql);
  if (!grouping) return keys.join(", ");
  if (dialect === "sqlite") unsupported("grouping sets");
  if (typeof grouping === "string") return `${grouping} (${keys.join(", ")})`;
  const sets = grouping.map((chosen) => `(${keys.filter((_, i) => chosen[i]).join(", ")})`);
  return `GROUPING SETS (${[`(${keys.join(", ")})`, ...sets].join(", ")})`;
}

/** What follows a sort key. Only Gingham gets to use its own default for NULLs: the greatest value. */
function direction({ descending, nulls }, dialect) {
  const place = nulls ?? (descending ? "FIRST" : "LAST");
  return `${descending ? " DESC" : ""}${dialect !== "gingham" || nulls ? ` NULLS ${place}` : ""}`;
}

function tailSql(query, dialect) {
  let text = "";
  if (query.orderBy?.length > 0) {
    text += ` ORDER BY ${query.orderBy.map((key) => key.ordinal + direction(key, dialect)).join(", ")}`;
  }
  if (query.limit != null) text += ` LIMIT ${query.limit}`;
  if (query.offset) text += ` OFFSET ${query.offset}`;
  return text;
}

function relationSql(relation, dialect) {
  switch (relation.kind) {
    case "table":
      return `${relation.name} AS ${relation.alias}`;
    case "derived":
      return `(${querySql(relation.query, dialect)}) AS ${relation.alias}`;
    default: {
      const left = relationSql(relation.left, dialect);
      let right = relationSql(relation.right, dialect);
      if (relation.right.kind === "join") right = `(${right})`;
      if (relation.join === "CROSS") return `${left} CROSS JOIN ${right}`;
      return `${left} ${relation.join} JOIN ${right} ON ${expressionSql(relation.on, dialect)}`;
    }
  }
}
