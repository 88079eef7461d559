/**
 * Random window functions that have one answer.
 *
 * What depends on the order of peers (row numbers, neighbours, ROWS frames) is ordered by
 * every leaf, so that rows left in any order are equal; what does not, by anything.
 */

import { APPROXIMATE, BIGINT, EXACT, INTEGER } from "../types.js";

/** More leaves than this make no readable ORDER BY. */
const LEAVES_MAX = 8;

const RANKS = ["rank", "dense_rank"];
const SHARES = ["percent_rank", "cume_dist"];
const NEIGHBOURS = ["lag", "lead"];
const ENDS = ["first_value", "last_value"];
const EXCLUSIONS = [[6, ""], [1, " EXCLUDE CURRENT ROW"], [1, " EXCLUDE GROUP"], [1, " EXCLUDE TIES"]];

/**
 * A window function over the leaves of `expressions`, or null if there is none.
 * @param {object} expressions without subqueries
 * @param {boolean} plain only exact outputs
 */
export function windowFunction(random, expressions, plain) {
  const leaves = expressions.leaves.filter(({ type }) => type.name !== "approximate");
  if (leaves.length === 0 || leaves.length !== expressions.leaves.length) return null;
  const partition = random.sample(leaves, random.weighted([[3, 0], [4, 1], [1, 2]]));
  const isTotal = leaves.length <= LEAVES_MAX && random.chance(0.6);
  const order = (isTotal ? random.shuffled(leaves) : random.sample(leaves, random.integer(0, 2))).map((expression) => ({
    expression,
    descending: random.chance(0.4),
    nulls: random.chance(0.3) ? random.pick(["FIRST", "LAST"]) : null,
  }));
  const call = isTotal && random.chance(0.5) ? orderedCall(random, expressions, leaves) : aggregateCall(random, expressions, leaves, plain, order.length > 0);
  if (plain && call.type.name === "exact") return null;
  const frame = call.framed ? frameOf(random, isTotal, order) : "";
  return { kind: "window", ...call, partition, order, frame };
}

/** Functions whose answer depends on the order of all rows. */
function orderedCall(random, expressions, leaves) {
  const number = (value) => ({ kind: "literal", value, type: INTEGER });
  const value = random.pick(leaves);
  return random.weighted([
    [2, { name: "row_number", arguments: [], type: BIGINT }],
    [1, { name: "ntile", arguments: [number(random.integer(1, 5))], type: BIGINT }],
    [2, { name: random.pick(NEIGHBOURS), arguments: [value, ...(random.chance(0.5) ? [number(random.integer(0, 3))] : [])], type: value.type }],
    [2, { name: random.pick(ENDS), arguments: [value], type: value.type, framed: true }],
    [1, { name: "nth_value", arguments: [value, number(random.integer(1, 3))], type: value.type, framed: true }],
  ]);
}

function aggregateCall(random, expressions, leaves, plain, isOrdered) {
  const value = random.pick(leaves);
  const filter = random.chance(0.15) ? expressions.predicate(0) : null;
  const sums = ["integer", "bigint", "decimal"].includes(value.type.name);
  return random.weighted([
    [isOrdered ? 2 : 0, { name: random.pick(RANKS), arguments: [], type: BIGINT }],
    [isOrdered && !plain ? 0.7 : 0, { name: random.pick(SHARES), arguments: [], type: APPROXIMATE }],
    [1, { name: "count", arguments: [], star: true, type: BIGINT, filter, framed: true }],
    [1, { name: "count", arguments: [value], type: BIGINT, filter, framed: true }],
    [value.type.name === "boolean" ? 0 : 2, { name: random.pick(["min", "max"]), arguments: [value], type: value.type, filter, framed: true }],
    [sums ? 3 : 0, { name: "sum", arguments: [value], type: EXACT, filter, framed: true }],
    [sums && !plain && value.shape !== "extreme" ? 1 : 0, { name: "avg", arguments: [value], type: APPROXIMATE, filter, framed: true }],
  ]);
}

/** A frame: of rows only in a total order, of values only over one number. */
function frameOf(random, isTotal, order) {
  if (random.chance(0.35)) return "";
  const isNumber = order.length === 1 && ["integer", "bigint"].includes(order[0].expression.type.name) && order[0].expression.shape !== "extreme";
  const mode = random.weighted([[isTotal ? 3 : 0, "ROWS"], [1, "RANGE"], [order.length > 0 ? 1 : 0, "GROUPS"]]);
  const offsets = mode === "ROWS" || mode === "GROUPS" || isNumber;
  const bounds = ["UNBOUNDED PRECEDING", ...(offsets ? [`${random.integer(0, 3)} PRECEDING`] : []), "CURRENT ROW", ...(offsets ? [`${random.integer(0, 3)} FOLLOWING`] : []), "UNBOUNDED FOLLOWING"];
  const from = random.integer(0, bounds.length - 2);
  const to = random.integer(Math.max(from, 1), bounds.length - 1);
  return ` ${mode} BETWEEN ${bounds[from]} AND ${bounds[to]}${random.weighted(EXCLUSIONS)}`;
}
