/**
 * Runs changes in Gingham and judges them by a DuckDB database without keys: what Gingham
 * refuses must have violated something there, what it accepts must not have.
 */

import { isToleratedError } from "../dialects.js";
import { changeSql } from "../generate/change.js";
import { Unsupported } from "../render.js";
import { plainLiteral } from "../types.js";
import { difference } from "./compare.js";
import { Fault, ROUTES, severity } from "./session.js";

/** Tables with more rows are compared by aggregates. */
const WHOLE_ROWS_MAX = 20000;

/** Applies a change everywhere; a fault, or null. */
export async function applyChange(session, change) {
  const { gingham, duckdb } = session;
  if (change.transaction) {
    const { error } = await gingham.run("BEGIN");
    if (error) return new Fault(severity(error), `BEGIN: ${error.message}`, { code: error.code });
  }
  const done = [];
  for (const step of change.steps) {
    if (step.kind === "query") {
      const fault = await withPeerAt(session, done, () => session.check(step.query));
      if (fault) return fault;
      continue;
    }
    const ours = await gingham.run(changeSql(step, "gingham"));
    const fault = await withPeerAt(session, done, () => judgeStep(session, step, ours));
    if (fault === NEITHER) continue;
    if (fault) return fault;
    if (!ours.error) done.push(step);
    if (!change.transaction) await settle(session, done.splice(0));
  }
  if (change.transaction) {
    const { error } = await gingham.run(change.transaction);
    if (error) return new Fault(severity(error), `${change.transaction}: ${error.code} ${error.message}`, { code: error.code });
    if (change.transaction === "COMMIT") await settle(session, done);
  }
  return compareTables(session, new Set(change.steps.filter(({ table }) => table).map(({ table }) => table)));
}

/** A statement that only Gingham refused, for a reason that is let pass. */
const NEITHER = new Fault("none", "");

/** Runs `action` while DuckDB has what the transaction has done so far, and then not any more. */
async function withPeerAt(session, done, action) {
  await session.duckdb.run("BEGIN");
  for (const step of done) await session.duckdb.run(changeSql(step, "duckdb"));
  const sqlite = session.sqlite;
  // SQLite has only what is committed.
  if (done.length > 0) session.sqlite = null;
  try {
    return await action();
  } finally {
    session.sqlite = sqlite;
    await session.duckdb.run("ROLLBACK");
  }
}

async function judgeStep(session, step, ours) {
  const sql = changeSql(step, "gingham");
  if (ours.error && severity(ours.error) !== "error") {
    return new Fault(severity(ours.error), `${ours.error.code} ${ours.error.message}`, { code: ours.error.code, sql });
  }
  const theirs = await session.duckdb.run(changeSql(step, "duckdb"));
  if (theirs.error) {
    // Also a value that the peer cannot compute: leave both without it.
    if (ours.error) return null;
    return new Fault("peer", `duckdb: ${theirs.error.message}`, { sql });
  }
  const violated = await violation(session, step.table);
  if (ours.error) {
    if (violated.includes(ours.error.code) || isToleratedError(ours.error)) return NEITHER;
    const what = violated.length > 0 ? `the peer finds ${violated}` : "the peer finds nothing wrong";
    return new Fault("error", `${ours.error.code} ${ours.error.message}, but ${what}`, { code: ours.error.code, sql });
  }
  if (violated.length > 0) return new Fault("rows", `a violation of ${violated} was not noticed`, { shape: violated[0], sql });
  if (step.returning) {
    const differs = difference(ours, theirs);
    return differs ? new Fault("rows", `RETURNING: ${differs}`, { shape: "returning", sql }) : null;
  }
  if (ours.changes !== theirs.changes) {
    return new Fault("rows", `${ours.changes} changes, not ${theirs.changes}`, { shape: "changes", sql });
  }
  return null;
}

/** The SQLSTATEs of what the peer's table violates. */
async function violation({ duckdb }, table) {
  const found = [];
  const missing = table.columns.filter((column) => column.notNull || table.primaryKey?.includes(column.name));
  if (missing.length > 0) {
    const condition = missing.map(({ name }) => `${name} IS NULL`).join(" OR ");
    const { rows } = await duckdb.run(`SELECT count(*) FROM ${table.name} WHERE ${condition}`);
    if (Number(rows[0][0]) > 0) found.push("23502");
  }
  for (const key of [table.primaryKey, ...table.unique].filter(Boolean)) {
    const present = key.map((name) => `${name} IS NOT NULL`).join(" AND ");
    const sql = `SELECT 1 FROM ${table.name} WHERE ${present} GROUP BY ${key.join(", ")} HAVING count(*) > 1 LIMIT 1`;
    if ((await duckdb.run(sql)).rows.length > 0) found.push("23505");
  }
  return found;
}

/** Makes the peers do for good what Gingham has done. */
async function settle({ duckdb, sqlite, tables }, steps) {
  for (const step of steps) {
    await duckdb.run(changeSql(step, "duckdb"));
    if (!sqlite) continue;
    try {
      const { error } = await sqlite.run(changeSql(step, "sqlite"));
      if (!error) continue;
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
    await copyToSqlite(duckdb, sqlite, tables.find(({ name }) => name === step.table.name));
  }
}

/** Gives SQLite the table's rows as DuckDB has them, where it cannot say the statement. */
async function copyToSqlite(duckdb, sqlite, table) {
  const { rows } = await duckdb.run(`SELECT * FROM ${table.name}`);
  await sqlite.run(`DELETE FROM ${table.name}`);
  for (let from = 0; from < rows.length; from += 500) {
    const tuples = rows.slice(from, from + 500).map((row) => `(${row.map((value, i) => plainLiteral(value, table.columns[i].type)).join(", ")})`);
    await sqlite.run(`INSERT INTO ${table.name} VALUES ${tuples.join(", ")}`);
  }
}

/** Whether the tables hold the same rows on every route. */
export async function compareTables(session, tables) {
  for (const table of tables) {
    const counted = await session.duckdb.run(`SELECT count(*) FROM ${table.name}`);
    const columns = table.columns.map(({ name }) => name);
    // What the generator estimates with from here on.
    table.size = Number(counted.rows[0][0]);
    const isWhole = table.size <= WHOLE_ROWS_MAX;
    const totals = columns.flatMap((name) => [`count(${name})`, `count(DISTINCT ${name})`, `min(${name})`, `max(${name})`]);
    const sql = isWhole ? `SELECT * FROM ${table.name}` : `SELECT count(*), ${totals.join(", ")} FROM ${table.name}`;
    const theirs = await session.duckdb.run(sql);
    for (const route of ROUTES) {
      const ours = await session.onRoute(route, sql);
      if (ours.error) return new Fault(severity(ours.error), `${sql}: ${ours.error.message}`, { code: ours.error.code, route });
      const differs = difference(ours, theirs);
      if (differs) return new Fault("rows", `after a change, ${table.name}: ${differs}`, { shape: "contents", route, expected: theirs });
    }
  }
  const { error, rows } = await session.gingham.run("PRAGMA integrity_check");
  if (error || rows.some((row) => row[0] !== "ok")) {
    return new Fault("internal", `integrity_check: ${error?.message ?? JSON.stringify(rows)}`, { code: "integrity" });
  }
  return null;
}

/** The tables with the rows that DuckDB has now. */
export async function currentTables({ duckdb, tables }) {
  const current = [];
  for (const table of tables) {
    const { rows } = await duckdb.run(`SELECT * FROM ${table.name}`);
    const convert = (value, { name }) => {
      if (value === null) return null;
      if (name === "bigint") return BigInt(value);
      return name === "double" ? Number(value) : value;
    };
    current.push({ ...table, rows: rows.map((row) => row.map((value, i) => convert(value, table.columns[i].type))) });
  }
  return current;
}

