/**
 * What must hold whatever a peer says: the rows of a query are those where a condition
 * is true, those where it is false and those where it is NULL (TLP).
 */

import { Expressions } from "../generate/expression.js";
import { relationLeaves } from "../generate/query.js";
import { BOOLEAN } from "../types.js";
import { querySql } from "../render.js";
import { difference } from "./compare.js";
import { Fault } from "./session.js";

/** Splits a query without groups, DISTINCT and LIMIT by a condition; a fault, or null. */
export async function partitionFault(session, query, random) {
  const isPlain = query.kind === "select" && !query.groupBy && !query.distinct && query.limit == null && query.from;
  if (!isPlain) return null;
  const condition = new Expressions(random, relationLeaves(query.from)).predicate(2);
  // A window sees the rows that the condition leaves, and so another one in each part.
  if (hasWindow(query.items) || hasWindow(query.qualify)) return null;
  const whole = await session.gingham.run(querySql({ ...query, where: null, orderBy: null }, "gingham"));
  if (whole.error) return null;
  const parts = [condition, { kind: "not", argument: condition, type: BOOLEAN }, { kind: "null-test", argument: condition, negated: false, type: BOOLEAN }];
  const rows = [];
  for (const where of parts) {
    const part = await session.gingham.run(querySql({ ...query, where, orderBy: null }, "gingham"));
    if (part.error) return null;
    rows.push(...part.rows);
  }
  const differs = difference({ types: whole.types, rows }, whole);
  if (!differs) return null;
  return new Fault("rows", `the parts where ${"p, NOT p, p IS NULL"} are not the whole: ${differs}`, { shape: "partition", partition: true, sql: parts.map((where) => querySql({ ...query, where, orderBy: null }, "gingham")).join(";\n") });
}

/** Whether a window function is in an expression, or in one of a list. */
function hasWindow(node) {
  if (node === null || typeof node !== "object") return false;
  return node.kind === "window" || Object.values(node).some(hasWindow);
}
