/**
 * One database in Gingham and its peers, and the questions put to all of them.
 *
 * Gingham's tables have keys, indexes and a storage; the peers' have neither, so that
 * they can judge whether a key was violated instead of having an opinion of their own.
 */

import { isToleratedError, isToleratedPeerError } from "../dialects.js";
import { createSql, indexSql, insertSql, plainCreateSql } from "../generate/schema.js";
import { DuckDb } from "../peers/duckdb.js";
import { Gingham } from "../peers/gingham.js";
import { Sqlite } from "../peers/sqlite.js";
import { Unsupported, querySql } from "../render.js";
import { difference } from "./compare.js";

export const ROUTES = ["row", "column", "auto"];

/** Faults by gravity, gravest first. */
export const GRAVITY = ["crash", "hang", "internal", "rows", "order", "error", "peer"];

/** A difference that should not be. */
export class Fault {
  constructor(kind, detail, more = {}) {
    this.kind = kind;
    this.detail = detail;
    Object.assign(this, more);
  }

  /** Whether another fault is of the same kind, for shrinking. */
  isLike(other) {
    return other !== null && this.kind === other.kind && this.code === other.code && this.shape === other.shape;
  }
}

export class Session {
  /** Opens all peers and loads the tables. */
  static async open(binary, tables, { withSqlite = true, timeoutMs } = {}) {
    const session = new Session();
    session.tables = tables;
    session.gingham = await Gingham.open(binary, timeoutMs);
    session.duckdb = await DuckDb.open();
    session.sqlite = withSqlite ? await Sqlite.open() : null;
    session.counts = { queries: 0, compared: 0, sqlite: 0, rows: 0, errors: 0, tolerated: 0, peerErrors: 0 };
    return session;
  }

  /** Creates and fills the tables; a fault if Gingham cannot. */
  async load(chunk = 2000) {
    for (const table of this.tables) {
      const statements = [createSql(table), ...insertSql(table, chunk)];
      // An index is made before the rows come or after.
      const indexes = indexSql(table);
      if (table.indexesFirst) statements.splice(1, 0, ...indexes);
      else statements.push(...indexes);
      for (const sql of statements) {
        const { error } = await this.gingham.run(sql);
        if (error) return new Fault(severity(error), `loading: ${error.code} ${error.message}`, { code: error.code, sql });
      }
      const peers = [[this.duckdb, "duckdb"], [this.sqlite, "sqlite"]].filter(([peer]) => peer);
      for (const [peer, dialect] of peers) {
        for (const sql of [plainCreateSql(table, dialect), ...insertSql(table)]) {
          const { error } = await peer.run(sql);
          if (error) return new Fault("peer", `${dialect}, loading: ${error.message}`, { sql });
        }
      }
    }
    return null;
  }

  /** Runs a query in Gingham on one route. */
  async onRoute(route, sql) {
    const { error } = await this.gingham.run(`SET route = '${route}'`);
    return error ? { error } : this.gingham.run(sql);
  }

  /** Runs a query everywhere; the gravest fault, or null. */
  async check(query, { routes = ROUTES } = {}) {
    this.counts.queries++;
    const sql = querySql(query, "gingham");
    const order = (query.orderBy ?? []).map(({ ordinal }) => ordinal);
    const theirs = await this.duckdb.run(querySql(query, "duckdb"));
    const answers = [];
    for (const route of routes) {
      const answer = await this.onRoute(route, sql);
      answers.push(answer);
      const fault = this.judge(answer, theirs, order);
      if (fault) return Object.assign(fault, { route, expected: theirs });
    }
    const disagreement = answers.findIndex((answer) => Boolean(answer.error) !== Boolean(answers[0].error));
    if (disagreement > 0) {
      const failed = answers.find((answer) => answer.error).error;
      const detail = `only some routes fail: ${failed.code} ${failed.message}`;
      // Which rows are computed for may differ with the order of joins; anything else may not.
      if (!isToleratedError(failed)) return new Fault("error", detail, { route: routes[disagreement], code: failed.code });
      this.counts.tolerated++;
    }
    return this.checkSqlite(query, answers.find((answer) => !answer.error), order);
  }

  async checkSqlite(query, ours, order) {
    if (!this.sqlite || !ours) return null;
    let sql;
    try {
      sql = querySql(query, "sqlite");
    } catch (error) {
      if (error instanceof Unsupported) return null;
      throw error;
    }
    const theirs = await this.sqlite.run(sql);
    if (theirs.error) {
      if (isToleratedPeerError("sqlite", theirs.error.message)) return null;
      return new Fault("peer", `sqlite: ${theirs.error.message}`, { peerSql: sql });
    }
    this.counts.sqlite++;
    const differs = difference(ours, theirs, order);
    return differs ? new Fault("rows", `SQLite disagrees: ${differs}`, { shape: "sqlite", expected: theirs, route: "auto", peerSql: sql }) : null;
  }

  judge(ours, theirs, order) {
    if (ours.error && severity(ours.error) !== "error") {
      return new Fault(severity(ours.error), `${ours.error.code} ${ours.error.message}`, { code: ours.error.code });
    }
    if (ours.error && theirs.error) {
      this.counts.errors++;
      return null;
    }
    if (ours.error) {
      if (isToleratedError(ours.error)) {
        this.counts.tolerated++;
        return null;
      }
      return new Fault("error", `${ours.error.code} ${ours.error.message}`, { code: ours.error.code, shape: wordsOf(ours.error.message) });
    }
    if (theirs.error) {
      if (isToleratedPeerError("duckdb", theirs.error.message)) {
        this.counts.peerErrors++;
        return null;
      }
      return new Fault("peer", `duckdb: ${theirs.error.message}`, { shape: wordsOf(theirs.error.message) });
    }
    this.counts.compared++;
    this.counts.rows += ours.rows.length;
    const differs = difference(ours, theirs, order);
    if (!differs) return null;
    return new Fault(differs.includes("in order") ? "order" : "rows", differs);
  }

  async close() {
    await this.gingham.close();
    await this.duckdb.close();
    await this.sqlite?.close();
  }
}

/** The gravity of one of Gingham's errors by its code. */
export function severity({ code }) {
  if (code === "CRASH") return "crash";
  if (code === "HANG") return "hang";
  return /^XX/.test(code) ? "internal" : "error";
}

/** A message without names and numbers, so that like errors look alike. */
const wordsOf = (message) => message.split("\n")[0].replaceAll(/"[^"]*"|'[^']*'|\d+|\b[a-z]\d+\b/g, "#").slice(0, 80);
