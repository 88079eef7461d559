import assert from "node:assert/strict";
import { test } from "node:test";
import { shrink } from "../check/shrink.js";
import { Queries } from "../generate/query.js";
import { createSql, generateSchema, insertSql, plainCreateSql } from "../generate/schema.js";
import { DuckDb } from "../peers/duckdb.js";
import { Sqlite } from "../peers/sqlite.js";
import { Random } from "../random.js";
import { Unsupported, querySql } from "../render.js";
import { difference } from "../check/compare.js";
import { isToleratedPeerError } from "../dialects.js";

test("a seed gives the same tables and queries again", () => {
  const write = () => {
    const random = new Random(7);
    const tables = generateSchema(random);
    const queries = Array.from({ length: 20 }, () => querySql(new Queries(random.fork(), tables).query(), "gingham"));
    return [...tables.flatMap((table) => [createSql(table), ...insertSql(table)]), ...queries];
  };
  assert.deepEqual(write(), write());
});

test("the peers understand what is generated and agree where both have answers", async () => {
  let [answered, agreed] = [0, 0];
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const tables = generateSchema(random.fork(), { large: 0 });
    const [duckdb, sqlite] = [await DuckDb.open(), await Sqlite.open()];
    for (const [peer, dialect] of [[duckdb, "duckdb"], [sqlite, "sqlite"]]) {
      const statements = tables.flatMap((table) => [plainCreateSql(table, dialect), ...insertSql(table)]);
      for (const sql of statements) assert.equal((await peer.run(sql)).error, undefined, sql);
    }
    for (let i = 0; i < 20; i++) {
      const query = new Queries(random.fork(), tables).query();
      const theirs = await duckdb.run(querySql(query, "duckdb"));
      if (theirs.error) {
        assert.ok(isToleratedPeerError("duckdb", theirs.error.message), theirs.error.message);
        continue;
      }
      answered++;
      try {
        const others = await sqlite.run(querySql(query, "sqlite"));
        if (others.error) assert.ok(isToleratedPeerError("sqlite", others.error.message), others.error.message);
        else {
          assert.equal(difference(theirs, { types: [], rows: others.rows }), null, querySql(query, "duckdb"));
          agreed++;
        }
      } catch (error) {
        if (!(error instanceof Unsupported)) throw error;
      }
    }
    await duckdb.close();
    await sqlite.close();
  }
  assert.ok(answered > 150 && agreed > 30, `${answered} answered, ${agreed} by both`);
});

test("shrinking gives up on a fault that does not show", async () => {
  const reproducer = { tables: [], changes: [], query: null };
  const fault = { isLike: () => false, kind: "rows" };
  const { reproducer: small } = await shrink("true", reproducer, fault, { attemptsMax: 3 });
  assert.deepEqual(small, reproducer);
});
