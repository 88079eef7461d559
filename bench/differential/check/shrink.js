/**
 * Makes a reproducer small while it still shows its fault: statements, tables, clauses,
 * expressions, rows, columns, keys.
 *
 * Every candidate is tried on a database of its own. Candidates that make no sense (a
 * column whose table is gone) fail everywhere and so show no fault: nothing has to be
 * valid by construction.
 */

import { applyChange } from "./changes.js";
import { Session } from "./session.js";

/**
 * @param {{tables: object[], changes: object[], query: object | null}} reproducer
 * @returns {Promise<{reproducer: object, fault: object, attempts: number}>}
 */
export async function shrink(binary, reproducer, fault, { attemptsMax = 500, secondsMax = 90 } = {}) {
  const state = { best: reproducer, fault, attempts: 0, deadline: Date.now() + secondsMax * 1000 };
  const isOver = () => state.attempts >= attemptsMax || Date.now() > state.deadline;
  const accept = async (candidate) => {
    if (isOver()) return false;
    state.attempts++;
    const found = await tryOut(binary, candidate);
    if (!fault.isLike(found)) return false;
    state.best = candidate;
    state.fault = found;
    return true;
  };
  for (let round = 0; round < 3 && !isOver(); round++) {
    const before = state.attempts;
    let improved = false;
    for (const pass of [shrinkChanges, shrinkTables, shrinkQuery, shrinkRows, shrinkColumns]) {
      improved = (await pass(state, accept)) || improved;
    }
    if (!improved || state.attempts === before) break;
  }
  return { reproducer: state.best, fault: state.fault, attempts: state.attempts };
}

/** Runs a reproducer on a fresh database; the fault it shows, or null. */
export async function tryOut(binary, { tables, changes, query, chunk }) {
  const session = await Session.open(binary, tables, { timeoutMs: 20000 });
  try {
    const loading = await session.load(chunk);
    if (loading) return loading;
    for (const change of changes) {
      const fault = await applyChange(session, change);
      if (fault) return fault;
    }
    return query ? await session.check(query) : null;
  } catch {
    // A candidate that cannot even be written.
    return null;
  } finally {
    await session.close();
  }
}

/** Removes parts of a list, halves first; `build` makes a candidate of what is left. */
async function shrinkList(list, build, accept) {
  let [left, improved] = [list, false];
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length; ) {
      const without = [...left.slice(0, from), ...left.slice(from + size)];
      if (await accept(build(without))) {
        left = without;
        improved = true;
      } else {
        from += size;
      }
    }
  }
  return improved;
}

async function shrinkChanges(state, accept) {
  const { best } = state;
  if (best.changes.length === 0) return false;
  let improved = await shrinkList(best.changes, (changes) => ({ ...state.best, changes }), accept);
  for (let i = 0; i < state.best.changes.length; i++) {
    const change = state.best.changes[i];
    const put = (other) => ({ ...state.best, changes: state.best.changes.with(i, other) });
    if (change.transaction && (await accept(put({ ...change, transaction: null })))) improved = true;
    improved = (await shrinkList(state.best.changes[i].steps, (steps) => put({ ...state.best.changes[i], steps }), accept)) || improved;
    for (let step = 0; step < state.best.changes[i].steps.length; step++) {
      improved = (await shrinkNode(() => state.best.changes[i].steps[step], (node) => put({ ...state.best.changes[i], steps: state.best.changes[i].steps.with(step, node) }), accept)) || improved;
    }
  }
  return improved;
}

const shrinkTables = (state, accept) => shrinkList(state.best.tables, (tables) => ({ ...state.best, tables }), accept);

const shrinkQuery = (state, accept) =>
  state.best.query ? shrinkNode(() => state.best.query, (query) => ({ ...state.best, query }), accept) : false;

/** Takes the first smaller variant that shows the fault until none does. */
async function shrinkNode(current, build, accept) {
  let improved = false;
  for (let again = true; again; ) {
    again = false;
    for (const variant of variants(current())) {
      if (await accept(build(variant))) {
        again = improved = true;
        break;
      }
    }
  }
  return improved;
}

const SKIPPED = new Set(["type", "types", "columns", "table", "shape", "ctes", "rows"]);
const DROPPABLE = ["where", "having", "limit", "offset", "distinct", "filter", "otherwise", "groupBy", "orderBy", "negated", "returning", "grouping", "frame"];
const LISTS = ["partition", "order", "items", "groupBy", "orderBy", "list", "branches", "arguments", "set", "rows", "ctes"];
const SCALARS = { boolean: true, integer: 1, bigint: 1n, double: 1, text: "a", date: "2020-01-01", timestamp: "2020-01-01 00:00:00" };

/** Smaller forms of a node, the boldest first. */
function* variants(node) {
  if (node === null || typeof node !== "object" || Array.isArray(node)) return;
  if (node.kind === "set") yield* [node.left, node.right].map((side) => ({ ...side, ctes: node.ctes }));
  if (node.kind === "join") yield* [node.left, node.right];
  if (node.type && node.kind !== "literal") {
    yield* children(node).filter((child) => child.type?.name === node.type.name);
    if (node.type.name in SCALARS && node.kind !== "column") yield { kind: "literal", value: SCALARS[node.type.name], type: node.type };
  }
  for (const name of DROPPABLE) if (node[name]) yield { ...node, [name]: name === "frame" ? "" : null };
  for (const name of LISTS) {
    const list = node[name];
    if (!Array.isArray(list) || (name === "arguments" && node.name !== "coalesce")) continue;
    const least = name === "partition" || name === "order" || name === "ctes" || name === "groupBy" || name === "orderBy" ? 0 : 1;
    for (let i = 0; list.length > least && i < list.length; i++) yield withoutElement(node, name, i);
  }
  for (const [name, child] of Object.entries(node)) {
    if (SKIPPED.has(name) && !(name === "ctes" && Array.isArray(child))) continue;
    if (Array.isArray(child)) {
      for (let i = 0; i < child.length; i++) for (const variant of variants(child[i])) yield { ...node, [name]: child.with(i, variant) };
    } else {
      for (const variant of variants(child)) yield { ...node, [name]: variant };
    }
  }
}

/** A list without one element; an output that goes takes its place in ORDER BY along. */
function withoutElement(node, name, index) {
  const copy = { ...node, [name]: node[name].toSpliced(index, 1) };
  if (name === "items") {
    copy.types = node.types.toSpliced(index, 1);
    copy.orderBy = node.orderBy
      ?.filter(({ ordinal }) => ordinal !== index + 1)
      .map((key) => (key.ordinal > index + 1 ? { ...key, ordinal: key.ordinal - 1 } : key));
  }
  return copy;
}

function children(node) {
  return Object.entries(node)
    .filter(([name]) => !SKIPPED.has(name))
    .flatMap(([, child]) => (Array.isArray(child) ? child.flatMap((each) => (each?.kind ? [each] : Object.values(each ?? {}))) : [child]))
    .filter((child) => child !== null && typeof child === "object" && child.kind);
}

async function shrinkRows(state, accept) {
  let improved = false;
  for (let i = 0; i < state.best.tables.length; i++) {
    const put = (rows) => ({ ...state.best, tables: state.best.tables.with(i, { ...state.best.tables[i], rows }) });
    improved = (await shrinkList(state.best.tables[i].rows, put, accept)) || improved;
  }
  return improved;
}

async function shrinkColumns(state, accept) {
  let improved = false;
  for (let i = 0; i < state.best.tables.length; i++) {
    const table = () => state.best.tables[i];
    const put = (changed) => accept({ ...state.best, tables: state.best.tables.with(i, { ...table(), ...changed }) });
    const tries = [
      () => table().indexes.length > 0 && put({ indexes: [] }),
      () => table().unique.length > 0 && put({ unique: [] }),
      () => table().primaryKey && put({ primaryKey: null }),
      () => table().storage !== "row" && put({ storage: "row" }),
    ];
    for (const attempt of tries) improved = (await attempt()) || improved;
    for (let at = table().columns.length - 1; at >= 0 && table().columns.length > 1; at--) {
      const without = { columns: table().columns.toSpliced(at, 1), rows: table().rows.map((row) => row.toSpliced(at, 1)) };
      improved = (await put(without)) || improved;
      const column = table().columns[at];
      if (column?.notNull) improved = (await put({ columns: table().columns.with(at, { ...column, notNull: false }) })) || improved;
    }
  }
  return improved;
}
