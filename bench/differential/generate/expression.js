/**
 * Random expressions of a wanted type over a scope.
 *
 * A scope is a list of leaves: nodes that may be used anywhere (columns; after grouping,
 * group keys and aggregates). `outer` leaves make a subquery correlated. Literals are
 * drawn close to what columns hold, so that predicates are neither always true nor never.
 */

import { BIGINT, BOOLEAN, DATE, DOUBLE, EXACT, INTEGER, TEXT, TIMESTAMP, decimal, isTime, sameType } from "../types.js";
import { oneValue } from "./values.js";

const COMPARISONS = [[6, "="], [2, "<>"], [2, "<"], [2, "<="], [2, ">"], [2, ">="], [0.7, "IS DISTINCT FROM"], [0.7, "IS NOT DISTINCT FROM"]];
const PATTERNS = ["%a%", "a%", "%e", "_b%", "%", "", "a_c", "%pp%le%", "customer#0000000%", "1%", "%\u00e9%", "%it's%", "____"];

export class Expressions {
  /**
   * @param {object[]} leaves nodes with `kind` and `type`
   * @param {object} options `outer`: leaves of enclosing queries; `subquery`: makes
   *   queries, or none may be used
   */
  constructor(random, leaves, { outer = [], subquery = null } = {}) {
    this.random = random;
    this.leaves = leaves;
    this.outer = outer;
    this.subquery = subquery;
  }

  /** A leaf that passes; an outer one now and then; undefined if there is none. */
  leaf(passes) {
    const outer = this.outer.filter(passes);
    if (outer.length > 0 && this.random.chance(0.25)) return this.random.pick(outer);
    const inner = this.leaves.filter(passes);
    return inner.length > 0 ? this.random.pick(inner) : undefined;
  }

  literal(type, shape) {
    if (this.random.chance(0.04)) return { kind: "literal", value: null, type };
    return { kind: "literal", value: oneValue(this.random, type, shape ?? "few"), type };
  }

  /** A literal to compare with `node`: one of its values more often than not. */
  literalNear(node, type) {
    const isKnown = node.samples?.length > 0 && sameType(node.type, type);
    if (isKnown && this.random.chance(0.65)) return { kind: "literal", value: this.random.pick(node.samples), type };
    return this.literal(type, node.shape);
  }

  /** Any expression of exactly this type. */
  ofType(type, depth) {
    const { random } = this;
    if (type.name === "boolean" && depth > 0) return this.predicate(depth);
    const leaf = random.chance(depth > 0 ? 0.35 : 0.85) && this.leaf((each) => sameType(each.type, type));
    if (leaf) return leaf;
    if (depth <= 0) return this.leaf((each) => sameType(each.type, type)) ?? this.literal(type);
    const common = random.weighted([
      [2, () => this.conditional(type, depth)],
      [1, () => this.coalesced(type, depth)],
      [1, () => this.call("nullif", [this.ofType(type, depth - 1), this.ofType(type, depth - 1)], type)],
      [type.name === "boolean" ? 0 : 0.7, () => this.call(random.pick(["greatest", "least"]), [this.ofType(type, depth - 1), this.ofType(type, depth - 1)], type)],
      [this.subquery ? 1 : 0, () => this.subquery.scalar(type, this) ?? this.literal(type)],
      [1, () => this.literal(type)],
    ]);
    const own = OWN[type.name];
    return own && random.chance(0.6) ? (random.weighted(own(this, type, depth)))() : common();
  }

  call(name, list, type) {
    return { kind: "call", name, arguments: list, type };
  }

  conditional(type, depth) {
    const branches = Array.from({ length: this.random.integer(1, 2) }, () => ({
      when: this.predicate(depth - 1),
      then: this.ofType(type, depth - 1),
    }));
    const otherwise = this.random.chance(0.8) ? this.ofType(type, depth - 1) : null;
    return { kind: "case", branches, otherwise, type };
  }

  coalesced(type, depth) {
    return this.call("coalesce", [this.ofType(type, depth - 1), this.ofType(type, depth - 1)], type);
  }

  binary(op, left, right, type) {
    return { kind: "binary", op, left, right, type };
  }

  /** `left / right` that is NULL, not an error, for 0. */
  divided(op, type, depth) {
    const right = this.call("nullif", [this.ofType(type, depth - 1), { kind: "literal", value: type.name === "bigint" ? 0n : 0, type }], type);
    return this.binary(op, this.ofType(type, depth - 1), right, type);
  }

  cast(argument, type) {
    return { kind: "cast", argument, type };
  }

  /** A type that a leaf has, or a common one. */
  someType() {
    const usable = this.leaves.filter((leaf) => leaf.type.name !== "approximate" && leaf.type.name !== "exact");
    if (usable.length > 0 && this.random.chance(0.9)) return this.random.pick(usable).type;
    return this.random.pick([INTEGER, BIGINT, TEXT, DATE, decimal(9, 2)]);
  }

  /** A type whose values compare with those of `type`. */
  comparable(type) {
    if (this.random.chance(0.8)) return type;
    if (isTime(type)) return this.random.pick([DATE, TIMESTAMP]);
    if (["integer", "bigint", "decimal", "double"].includes(type.name)) {
      return this.random.pick([INTEGER, BIGINT, decimal(9, 2), decimal(12, 2), DOUBLE]);
    }
    return type;
  }

  /** A condition: NULL, true or false. */
  predicate(depth) {
    const { random } = this;
    const deeper = depth > 0 ? 1 : 0;
    return random.weighted([
      [6, () => this.comparison(depth)],
      [3 * deeper, () => this.binary(random.pick(["AND", "OR"]), this.predicate(depth - 1), this.predicate(depth - 1), BOOLEAN)],
      [0.8 * deeper, () => ({ kind: "not", argument: this.predicate(depth - 1), type: BOOLEAN })],
      [1.2, () => ({ kind: "null-test", argument: this.operand(this.someType(), depth), negated: random.chance(0.5), type: BOOLEAN })],
      [1, () => this.between(depth)],
      [1.5, () => this.inList(depth)],
      [1.2, () => this.like(depth)],
      [0.6, () => this.leaf((each) => each.type.name === "boolean") ?? this.comparison(depth)],
      [0.1, () => this.literal(BOOLEAN)],
      [this.subquery ? 2.5 : 0, () => this.subquery.predicate(this) ?? this.comparison(depth)],
    ])();
  }

  operand(type, depth) {
    return this.random.chance(0.7) ? this.ofType(type, 0) : this.ofType(type, depth - 1);
  }

  comparison(depth) {
    const exact = this.random.chance(0.3) && this.leaf((each) => each.type.name === "exact");
    if (exact) return this.binary(this.random.weighted(COMPARISONS), exact, this.literal(INTEGER), BOOLEAN);
    const type = this.someType();
    const left = this.leaf((each) => sameType(each.type, type)) ?? this.operand(type, depth);
    const other = this.comparable(type);
    const right = this.random.chance(0.45) ? this.literalNear(left, other) : this.operand(other, depth);
    const sides = this.random.chance(0.8) ? [left, right] : [right, left];
    return this.binary(this.random.weighted(COMPARISONS), ...sides, BOOLEAN);
  }

  between(depth) {
    const type = this.someType();
    const argument = this.operand(type, depth);
    const bound = () => (this.random.chance(0.7) ? this.literalNear(argument, type) : this.operand(type, depth));
    const [low, high] = [bound(), bound()];
    return { kind: "between", argument, low, high, negated: this.random.chance(0.25), type: BOOLEAN };
  }

  inList(depth) {
    const type = this.someType();
    const length = this.random.weighted([[5, this.random.integer(1, 4)], [1, 12]]);
    const argument = this.operand(type, depth);
    const list = Array.from({ length }, () => (this.random.chance(0.9) ? this.literalNear(argument, type) : this.operand(type, 0)));
    return { kind: "in-list", argument, list, negated: this.random.chance(0.3), type: BOOLEAN };
  }

  like(depth) {
    const pattern = { kind: "literal", value: this.random.pick(PATTERNS), type: TEXT };
    return { kind: "like", argument: this.operand(TEXT, depth), pattern, negated: this.random.chance(0.25), type: BOOLEAN };
  }
}

const number = (value) => ({ kind: "literal", value, type: INTEGER });

/** Operators and functions of each type, with weights. */
const OWN = {
  integer: (e, type, depth) => [
    [3, () => e.binary(e.random.pick(["+", "-", "*"]), e.ofType(type, depth - 1), e.ofType(type, depth - 1), type)],
    [1, () => e.divided(e.random.pick(["/", "%"]), type, depth)],
    [0.7, () => ({ kind: "negative", argument: e.ofType(type, depth - 1), type })],
    [0.7, () => e.call("abs", [e.ofType(type, depth - 1)], type)],
    [1, () => e.call("length", [e.ofType(TEXT, depth - 1)], type)],
    [0.5, () => e.call("strpos", [e.ofType(TEXT, depth - 1), e.literal(TEXT)], type)],
    [0.6, () => e.binary("-", e.ofType(DATE, depth - 1), e.ofType(DATE, depth - 1), type)],
    [0.5, () => e.cast(e.ofType(BOOLEAN, depth - 1), type)],
    [0.5, () => e.cast(e.ofType(decimal(9, 2), depth - 1), type)],
    [0.3, () => e.call("sign", [e.ofType(e.random.pick([INTEGER, DOUBLE, decimal(9, 2)]), depth - 1)], type)],
  ],
  bigint: (e, type, depth) => [
    [2, () => e.binary(e.random.pick(["+", "-", "*"]), e.ofType(type, depth - 1), e.ofType(INTEGER, depth - 1), type)],
    [1, () => e.divided(e.random.pick(["/", "%"]), type, depth)],
    [1, () => e.cast(e.ofType(INTEGER, depth - 1), type)],
    [1, () => ({ kind: "extract", field: e.random.pick(["year", "month", "day", "quarter", "week"]), argument: e.ofType(DATE, depth - 1), type })],
    [0.7, () => ({ kind: "extract", field: e.random.pick(["hour", "minute", "second"]), argument: e.ofType(TIMESTAMP, depth - 1), type })],
  ],
  double: (e, type, depth) => [
    [2, () => e.binary(e.random.pick(["+", "-", "*"]), e.ofType(type, depth - 1), e.ofType(type, depth - 1), type)],
    [1, () => e.cast(e.ofType(e.random.pick([INTEGER, BIGINT]), depth - 1), type)],
    [1, () => e.call(e.random.pick(["abs", "floor", "ceil", "trunc"]), [e.ofType(type, depth - 1)], type)],
    [1, () => e.binary(e.random.pick(["+", "-"]), e.ofType(type, depth - 1), e.ofType(INTEGER, depth - 1), type)],
  ],
  decimal: (e, type, depth) => [
    [1, () => e.cast(e.ofType(e.random.pick([INTEGER, BIGINT, decimal(9, 2), decimal(12, 2)]), depth - 1), type)],
    [1, () => e.cast(e.binary(e.random.pick(["+", "-", "*"]), e.ofType(decimal(9, 2), depth - 1), e.ofType(decimal(4, 1), depth - 1), EXACT), type)],
    [0.5, () => e.call("abs", [e.ofType(type, depth - 1)], type)],
  ],
  text: (e, type, depth) => [
    [1.5, () => e.binary("||", e.ofType(type, depth - 1), e.ofType(type, depth - 1), type)],
    [1, () => e.call(e.random.pick(["lower", "upper", "trim"]), [e.ofType(type, depth - 1)], type)],
    [1, () => e.call("substring", [e.ofType(type, depth - 1), number(e.random.integer(1, 4)), number(e.random.integer(0, 5))], type)],
    [0.7, () => e.call(e.random.pick(["left", "right"]), [e.ofType(type, depth - 1), number(e.random.integer(0, 4))], type)],
    [0.7, () => e.call("replace", [e.ofType(type, depth - 1), { kind: "literal", value: e.random.pick(["a", "ap", "0", "é"]), type: TEXT }, e.literal(TEXT)], type)],
    [0.5, () => e.call("concat", [e.ofType(type, depth - 1), e.ofType(type, depth - 1)], type)],
    [1, () => e.cast(e.ofType(e.random.pick([INTEGER, BIGINT, DATE, decimal(9, 2), BOOLEAN]), depth - 1), type)],
    [0.3, () => e.call(e.random.pick(["lpad", "rpad"]), [e.ofType(type, depth - 1), number(e.random.integer(0, 9)), { kind: "literal", value: "xy", type: TEXT }], type)],
  ],
  date: (e, type, depth) => [
    [1, () => ({ kind: "shift", argument: e.ofType(type, depth - 1), amount: e.random.integer(-40, 40), unit: e.random.pick(["DAY", "MONTH", "YEAR"]), type })],
    [1, () => e.call("date_trunc", [{ kind: "literal", value: e.random.pick(["month", "year", "quarter", "week"]), type: TEXT }, e.ofType(type, depth - 1)], type)],
    [1, () => e.binary(e.random.pick(["+", "-"]), e.ofType(type, depth - 1), e.literal(INTEGER), type)],
    [0.5, () => e.cast(e.ofType(TIMESTAMP, depth - 1), type)],
  ],
  timestamp: (e, type, depth) => [
    [1, () => ({ kind: "shift", argument: e.ofType(type, depth - 1), amount: e.random.integer(-400, 400), unit: e.random.pick(["DAY", "HOUR", "MINUTE", "SECOND"]), type })],
    [1, () => e.call("date_trunc", [{ kind: "literal", value: e.random.pick(["month", "day", "hour", "minute"]), type: TEXT }, e.ofType(type, depth - 1)], type)],
    [1, () => e.cast(e.ofType(DATE, depth - 1), type)],
  ],
};
