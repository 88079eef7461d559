/**
 * Random queries over a schema: joins of every kind, derived tables, CTEs, subqueries,
 * grouping, set operations, order and limits.
 *
 * A query carries `types`, its output columns'. Sizes are estimated from above, so that
 * no join multiplies rows without end.
 */

import { APPROXIMATE, BIGINT, BOOLEAN, DOUBLE, EXACT, INTEGER, decimal, sameType } from "../types.js";
import { Expressions } from "./expression.js";
import { windowFunction } from "./window.js";

/** Rows that the joins of one query may give, from above. */
const JOINED_ROWS_MAX = 40000;

/** Past so many rows a query is mostly summed up: printing and reading rows takes most of the time. */
const PRINTED_ROWS_MAX = 1500;

/** Times a correlated subquery may be repeated, times its rows. */
const CORRELATED_ROWS_MAX = 200000;

/** What may not be there yet, each with a query that fails with 0A000 where it is not. */
export const FEATURES = {
  windows: "SELECT sum(x) OVER (ORDER BY x) FROM (VALUES (1)) AS v(x)",
  groupingSets: "SELECT count(*) FROM (VALUES (1)) AS v(x) GROUP BY ROLLUP (x)",
};

export class Queries {
  /** @param {Set<string>} features what FEATURES names and Gingham has */
  constructor(random, tables, features = new Set(Object.keys(FEATURES))) {
    this.features = features;
    this.random = random;
    this.tables = tables;
    this.aliases = 0;
    this.ctes = [];
  }

  /** A whole query. */
  query() {
    const { random } = this;
    this.aliases = 0;
    this.ctes = [];
    const ctes = [];
    while (random.chance(0.12) && ctes.length < 2) {
      const name = `w${ctes.length}`;
      const query = this.named(this.select({ depth: 1 }));
      ctes.push({ name, query });
      this.ctes.push({ name, columns: query.items.map(({ alias }, i) => ({ name: alias, type: query.types[i] })), rows: query.rows });
    }
    let query = random.chance(0.12) ? this.setOperation() : this.select({ depth: 2 });
    if (query.rows > PRINTED_ROWS_MAX && !random.chance(0.02)) query = this.summary(query);
    query = { ...query, ctes };
    this.addOrder(query);
    return query;
  }

  /** A query's rows counted and cut down to a few numbers a column. */
  summary(query) {
    (query.kind === "set" ? [query.left, query.right] : [query]).forEach((side) => this.named(side));
    const columns = query.types.map((type, i) => ({ name: `x${i}`, type }));
    const { relation, leaves } = this.relationOf({ kind: "derived", query }, columns, query.rows);
    const aggregate = (name, argument, type, distinct = false) => ({ kind: "aggregate", name, argument, type, distinct, filter: null });
    const items = leaves.flatMap((leaf) => {
      const extremes = leaf.type.name === "boolean" ? [] : [aggregate("min", leaf, leaf.type), aggregate("max", leaf, leaf.type)];
      const distinct = leaf.type.name === "approximate" ? [] : [aggregate("count", leaf, BIGINT, true)];
      return [aggregate("count", leaf, BIGINT), ...extremes, ...distinct];
    });
    const expressions = [aggregate("count", null, BIGINT), ...items];
    return { kind: "select", from: relation, items: expressions.map((expression) => ({ expression })), groupBy: [], types: expressions.map(({ type }) => type), rows: 1 };
  }

  /** Both sides have the same exact types; sums and averages stay out. */
  setOperation() {
    const { random } = this;
    const left = this.select({ depth: 1, plain: true });
    const right = random.chance(0.2) ? this.select({ depth: 1, plain: true, wanted: left.types }) : this.select({ depth: 1, wanted: left.types });
    const op = random.pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "UNION"]);
    return { kind: "set", op, left: this.named(left), right: this.named(right), types: left.types, rows: left.rows + right.rows };
  }

  /** Gives every item a name. */
  named(query) {
    query.items.forEach((item, i) => (item.alias = `x${i}`));
    return query;
  }

  /**
   * One SELECT.
   * @param {object} options `depth` of nested queries; `wanted` output types; `outer`
   *   leaves; `plain`: only exact outputs; `rowsMax` of its joins
   */
  select({ depth, wanted = null, outer = [], plain = false, rowsMax = JOINED_ROWS_MAX, single = false }) {
    const { random } = this;
    const source = this.source(depth, rowsMax, single, outer);
    const subquery = depth > 0 ? new Subqueries(this, depth - 1, source.rows) : null;
    const base = new Expressions(random, source.leaves, { outer, subquery });
    const query = { kind: "select", from: source.relation, items: [], rows: source.rows };
    if (random.chance(0.55)) query.where = base.predicate(random.integer(0, 2));
    let output = base;
    if (random.chance(0.4)) output = this.addGroups(query, base, plain);
    else if (random.chance(0.12)) query.distinct = true;
    const outputs = wanted ?? Array.from({ length: random.integer(1, 4) }, () => null);
    query.items = outputs.map((type) => ({ expression: this.item(output, type, plain || query.distinct) }));
    if (query.groupBy?.length === 0) {
      // Without an aggregate it would not group, and a HAVING would be an error.
      const aggregate = output.leaves[0];
      if (wanted) query.having = { kind: "binary", op: "OR", left: query.having ?? { kind: "literal", value: true, type: BOOLEAN }, right: { kind: "null-test", argument: aggregate, negated: false, type: BOOLEAN }, type: BOOLEAN };
      else query.items[0].expression = aggregate;
      query.rows = 1;
    }
    query.types = query.items.map(({ expression }) => expression.type);
    return query;
  }

  item(expressions, type, exactOnly) {
    const depth = this.random.integer(0, 2);
    if (type) return expressions.ofType(type, depth);
    const leaf = expressions.leaf((each) => each.type.name === "approximate" || each.type.name === "exact");
    if (leaf && !exactOnly && this.random.chance(0.6)) return leaf;
    if (this.features.has("windows") && this.random.chance(0.08)) {
      const window = windowFunction(this.random, new Expressions(this.random, expressions.leaves), exactOnly);
      if (window) return window;
    }
    if (this.random.chance(0.1)) return expressions.ofType(BOOLEAN, 2);
    return expressions.ofType(expressions.someType(), depth);
  }

  /** GROUP BY with keys and aggregates; what may follow it sees only those. */
  addGroups(query, base, plain) {
    const { random } = this;
    const keys = [];
    const count = random.weighted([[2, 0], [5, 1], [3, 2], [1, 3]]);
    for (let i = 0; i < count; i++) {
      const leaf = random.chance(0.75) ? random.pick(base.leaves) : this.keyExpression(base);
      if (leaf && leaf.type.name !== "approximate") keys.push(leaf);
    }
    query.groupBy = keys;
    if (keys.length > 0 && this.features.has("groupingSets") && random.chance(0.12)) {
      query.grouping = random.weighted([[2, "ROLLUP"], [1, "CUBE"], [2, keys.map(() => keys.map(() => random.chance(0.5)))]]);
    }
    const quiet = new Expressions(random, base.leaves);
    const aggregates = Array.from({ length: random.integer(keys.length === 0 ? 1 : 0, 3) }, () => this.aggregate(quiet, plain));
    const grouped = new Expressions(random, [...keys, ...aggregates]);
    if (random.chance(0.3)) query.having = grouped.predicate(1);
    return grouped;
  }

  /** An expression with a column in it: a constant would be an ordinal or an error. */
  keyExpression(base) {
    const quiet = new Expressions(this.random, base.leaves);
    for (let attempt = 0; attempt < 5; attempt++) {
      const expression = quiet.ofType(quiet.someType(), 2);
      if (expression.kind !== "literal" && mentionsColumn(expression)) return expression;
    }
    return this.random.pick(base.leaves);
  }

  aggregate(base, plain) {
    const { random } = this;
    const filter = random.chance(0.2) ? base.predicate(1) : null;
    const make = (name, argument, type, distinct = false) => ({ kind: "aggregate", name, argument, type, distinct, filter });
    const some = (passes) => base.leaf(passes);
    const isCalm = (leaf) => leaf.shape !== "extreme";
    const numeric = some((leaf) => ["integer", "bigint", "decimal"].includes(leaf.type.name));
    const calm = some((leaf) => leaf.type.name === "integer" && isCalm(leaf));
    const double = some((leaf) => leaf.type.name === "double" && isCalm(leaf));
    const type = base.someType();
    const distinct = random.chance(0.2);
    return random.weighted([
      [2, () => make("count", null, BIGINT)],
      [2, () => make("count", base.ofType(type, 1), BIGINT, distinct)],
      [3, () => make(random.pick(["min", "max"]), base.ofType(type, 1), type)],
      [numeric ? 3 : 0, () => make("sum", random.chance(0.7) ? numeric : base.ofType(numeric.type, 1), EXACT, distinct)],
      [calm ? 2 : 0, () => make("sum", base.binary("*", calm, base.literal(INTEGER), INTEGER), EXACT)],
      [!plain && numeric ? 1.5 : 0, () => make("avg", numeric, APPROXIMATE, distinct)],
      [!plain && double ? 1.5 : 0, () => make(random.pick(["sum", "avg"]), double, APPROXIMATE, distinct)],
      [!plain && calm ? 0.7 : 0, () => make(random.pick(["stddev_samp", "var_pop", "stddev_pop", "var_samp"]), calm, APPROXIMATE)],
      [0.5, () => make(random.pick(["bool_and", "bool_or"]), base.predicate(0), BOOLEAN)],
    ])();
  }

  /** FROM: relations joined in some tree. */
  source(depth, rowsMax, single, outer) {
    const { random } = this;
    const count = single ? 1 : random.weighted([[4, 1], [5, 2], [3, 3], [1, 4]]);
    let joined = this.relation(depth, rowsMax);
    for (let i = 1; i < count; i++) {
      const right = random.chance(0.1) && depth > 0 ? this.source(depth - 1, rowsMax, false, outer) : this.relation(depth, rowsMax);
      joined = this.join(joined, right, rowsMax) ?? joined;
    }
    return joined;
  }

  relation(depth, rowsMax) {
    const { random } = this;
    if (this.ctes.length > 0 && random.chance(0.5)) {
      const cte = random.pick(this.ctes);
      return this.relationOf({ kind: "table", name: cte.name }, cte.columns, cte.rows);
    }
    if (depth > 0 && random.chance(0.12)) {
      const query = this.named(this.select({ depth: depth - 1, rowsMax }));
      if (random.chance(0.2)) this.addLimit(query);
      const columns = query.items.map(({ alias }, i) => ({ name: alias, type: query.types[i] }));
      return this.relationOf({ kind: "derived", query }, columns, query.rows);
    }
    const fitting = this.tables.filter((table) => table.size <= rowsMax || rowsMax === JOINED_ROWS_MAX);
    const table = random.pick(fitting.length > 0 ? fitting : this.tables);
    return this.relationOf({ kind: "table", name: table.name, table }, table.columns, table.size);
  }

  relationOf(relation, columns, rows) {
    const alias = `r${this.aliases++}`;
    const leaves = columns.map(({ name, type, shape, samples }) => ({ kind: "column", table: alias, name, type, shape, samples }));
    return { relation: { ...relation, alias, columns }, leaves, rows: Math.max(rows, 1) };
  }

  join(left, right, rowsMax) {
    const { random } = this;
    const leaves = [...left.leaves, ...right.leaves];
    const product = left.rows * right.rows;
    const key = this.keyJoin(left, right);
    if (product > rowsMax && !key) return null;
    const rows = product > rowsMax ? Math.max(left.rows, right.rows) : product;
    if (product <= rowsMax && product < 20000 && random.chance(0.08)) {
      return { relation: { kind: "join", join: "CROSS", left: left.relation, right: right.relation }, leaves, rows };
    }
    const join = random.weighted([[5, "INNER"], [4, "LEFT"], [2, "RIGHT"], [2, "FULL"]]);
    let on;
    if (key && (product > rowsMax || random.chance(0.3))) on = key;
    else on = this.equalities(left, right) ?? new Expressions(random, leaves).predicate(1);
    if (product <= rowsMax && random.chance(0.1)) on = new Expressions(random, leaves).predicate(1);
    if (random.chance(0.25)) on = binary("AND", on, new Expressions(random, leaves).predicate(random.integer(0, 1)));
    return { relation: { kind: "join", join, left: left.relation, right: right.relation, on }, leaves, rows };
  }

  /** Equality with a one-column primary key, which cannot multiply rows. */
  keyJoin(left, right) {
    const isKey = (side, leaf) => side.relation.kind === "table" && side.relation.table?.primaryKey?.length === 1 && leaf.name === side.relation.table.primaryKey[0];
    const pairs = left.leaves.flatMap((a) => right.leaves.filter((b) => sameType(a.type, b.type) && (isKey(left, a) || isKey(right, b))).map((b) => [a, b]));
    return pairs.length > 0 ? binary("=", ...this.random.pick(pairs)) : null;
  }

  equalities(left, right) {
    const { random } = this;
    const areComparable = (a, b) => (a.name === b.name && a.name !== "approximate") || (random.chance(0.3) && [a, b].every((t) => ["integer", "bigint", "decimal", "double"].includes(t.name)));
    const pairs = left.leaves.flatMap((a) => right.leaves.filter((b) => areComparable(a.type, b.type)).map((b) => [a, b]));
    if (pairs.length === 0) return null;
    const op = random.weighted([[8, "="], [1, "<"], [1, ">="], [0.5, "IS NOT DISTINCT FROM"]]);
    const first = binary(op, ...random.pick(pairs));
    return random.chance(0.2) ? binary("AND", first, binary("=", ...random.pick(pairs))) : first;
  }

  /** ORDER BY some of the outputs, or all of them and a LIMIT: only then is it total. */
  addOrder(query) {
    const { random } = this;
    if (random.chance(0.5)) return;
    const isTotal = !query.types.some((type) => type.name === "approximate");
    if (isTotal && random.chance(0.6)) return this.addLimit(query);
    query.orderBy = random.sample(this.keys(query).filter(({ type }) => type.name !== "approximate"), random.integer(1, 3));
  }

  addLimit(query) {
    if (query.types.some((type) => type.name === "approximate")) return;
    query.orderBy = this.random.shuffled(this.keys(query));
    query.limit = this.random.weighted([[1, 0], [3, 1], [4, this.random.integer(2, 12)], [1, 5000]]);
    if (this.random.chance(0.25)) query.offset = this.random.integer(1, 9);
  }

  keys(query) {
    return query.types.map((type, i) => ({
      ordinal: i + 1,
      type,
      descending: this.random.chance(0.4),
      nulls: this.random.chance(0.3) ? this.random.pick(["FIRST", "LAST"]) : null,
    }));
  }
}

const binary = (op, left, right) => ({ kind: "binary", op, left, right, type: BOOLEAN });

function mentionsColumn(node) {
  if (node === null || typeof node !== "object") return false;
  if (node.kind === "column") return true;
  return Object.entries(node).some(([name, child]) => name !== "type" && mentionsColumn(child));
}

/** Makes subqueries inside one SELECT's expressions. */
class Subqueries {
  constructor(queries, depth, outerRows) {
    this.queries = queries;
    this.depth = depth;
    this.rowsMax = Math.max(1, Math.floor(CORRELATED_ROWS_MAX / outerRows));
  }

  select(expressions, options) {
    const { random } = this.queries;
    const outer = random.chance(0.6) ? [...expressions.leaves.filter((leaf) => leaf.kind === "column"), ...expressions.outer] : [];
    const query = this.queries.select({ depth: this.depth, outer, rowsMax: Math.min(this.rowsMax, 400), ...options });
    if (outer.length > 0 && random.chance(0.7)) this.correlate(query, outer);
    return query;
  }

  /** Adds a comparison with an outer column, an equality more often than not. */
  correlate(query, outer) {
    const { random } = this.queries;
    const inner = relationLeaves(query.from);
    const pairs = inner.flatMap((a) => outer.filter((b) => sameType(a.type, b.type)).map((b) => [a, b]));
    if (pairs.length === 0) return;
    const op = random.weighted([[6, "="], [1, "<"], [1, ">"], [1, "<>"], [0.5, "IS NOT DISTINCT FROM"]]);
    const condition = binary(op, ...random.pick(pairs));
    query.where = query.where ? binary("AND", query.where, condition) : condition;
  }

  predicate(expressions) {
    const { random } = this.queries;
    const negated = random.chance(0.4);
    if (random.chance(0.5)) return { kind: "exists", query: this.select(expressions, {}), negated, type: BOOLEAN };
    if (random.chance(0.6)) {
      const type = expressions.someType();
      const query = this.select(expressions, { wanted: [type] });
      return { kind: "in-query", argument: expressions.ofType(type, 0), query, negated, type: BOOLEAN };
    }
    const type = random.pick([INTEGER, BIGINT, DOUBLE, decimal(9, 2), expressions.someType()]);
    const scalar = this.scalar(type, expressions);
    return scalar && binary(random.pick(["=", "<", ">", "<>"]), expressions.ofType(type, 0), scalar);
  }

  /** A subquery of one row: an aggregate without groups. */
  scalar(type, expressions) {
    const { random } = this.queries;
    const query = this.select(expressions, { wanted: [type], single: random.chance(0.6) });
    delete query.groupBy;
    delete query.having;
    delete query.distinct;
    const base = new Expressions(random, relationLeaves(query.from));
    const argument = base.ofType(type, 1);
    const useCount = type.name === "bigint" && random.chance(0.5);
    const name = type.name === "boolean" ? "bool_or" : random.pick(["min", "max"]);
    const aggregate = useCount
      ? { kind: "aggregate", name: "count", argument: random.chance(0.5) ? null : argument, type, distinct: false, filter: null }
      : { kind: "aggregate", name, argument, type, distinct: false, filter: null };
    query.items = [{ expression: aggregate }];
    if (random.chance(0.2)) query.items[0].expression = { kind: "call", name: "coalesce", arguments: [aggregate, base.literal(type)], type };
    query.groupBy = [];
    query.types = [type];
    return { kind: "scalar", query, type };
  }
}

/** The columns of a FROM clause as leaves. */
export function relationLeaves(relation) {
  if (!relation) return [];
  if (relation.kind === "join") return [...relationLeaves(relation.left), ...relationLeaves(relation.right)];
  return relation.columns.map(({ name, type, shape, samples }) => ({ kind: "column", table: relation.alias, name, type, shape, samples }));
}
