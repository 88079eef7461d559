// @ts-check
/** Arrow streams in and out, read and written by Apache Arrow's own JavaScript. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import { TestWorker, withTestPage } from "./support/session.js";

test("Arrow", { timeout: 300_000 }, async (t) => {
  await withTestPage(async ({ page }) => {
    const worker = await TestWorker.spawn(page);

    await t.test("results are streams that others read", async () => {
      const bytes = await worker.call(
        "storage.js",
        "arrow",
        `CREATE TABLE t (k INTEGER PRIMARY KEY, b BIGINT, d DOUBLE, s TEXT, f BOOLEAN, x BLOB, day DATE, p DECIMAL(15,2));
         INSERT INTO t VALUES (1, 9007199254740993, 0.5, 'ñandú 😀', true, '\\x00ff', '1970-01-11', 12.50),
           (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
         SELECT * FROM t ORDER BY k`,
      );
      const table = tableFromIPC(Uint8Array.from(bytes));
      assert.deepEqual(
        table.schema.fields.map((field) => `${field.name} ${field.type}`),
        ["k Int32", "b Int64", "d Float64", "s Utf8", "f Bool", "x Binary", "day Date32<DAY>", "p Decimal[15e+2]"],
      );
      assert.equal(table.numRows, 2);
      const [one, two] = table.toArray().map((row) => row?.toJSON());
      assert.equal(one.b, 9007199254740993n);
      assert.deepEqual([one.k, one.d, one.s, one.f], [1, 0.5, "ñandú 😀", true]);
      assert.deepEqual(Array.from(one.x), [0, 255]);
      assert.equal(Number(one.day), 10 * 86_400_000);
      assert.equal(one.p[0], 1250);
      assert.deepEqual(Object.values(two), [2, null, null, null, null, null, null, null]);
    });

    await t.test("an empty result is a stream without rows", async () => {
      const bytes = await worker.call("storage.js", "arrow", "CREATE TABLE t (k INTEGER); SELECT k FROM t");
      const table = tableFromIPC(Uint8Array.from(bytes));
      assert.deepEqual([table.numRows, table.schema.fields.length], [0, 1]);
    });

    await t.test("streams are inserted by column name", async () => {
      const stream = tableToIPC(tableFromArrays({ v: [1.5, 2.5], k: Int32Array.of(1, 2) }), "stream");
      const create = "CREATE TABLE t (k INTEGER PRIMARY KEY, v DOUBLE, w TEXT DEFAULT 'w')";
      const { changes, rows } = await worker.call("storage.js", "insertArrow", create, Array.from(stream));
      assert.equal(changes, 2);
      assert.deepEqual(rows, [["1", "1.5", "w"], ["2", "2.5", "w"]]);
    });

    await t.test("texts come with dictionaries too", async () => {
      const stream = tableToIPC(tableFromArrays({ k: Int32Array.of(1, 2, 3), w: ["red", "blue", "red"] }), "stream");
      const create = "CREATE TABLE t (k INTEGER PRIMARY KEY, w TEXT)";
      const { rows } = await worker.call("storage.js", "insertArrow", create, Array.from(stream));
      assert.deepEqual(rows, [["1", "red"], ["2", "blue"], ["3", "red"]]);
    });

    await t.test("bytes that are no stream are refused", async () => {
      const create = "CREATE TABLE t (k INTEGER PRIMARY KEY)";
      const whole = tableToIPC(tableFromArrays({ k: Int32Array.of(1, 2, 3) }), "stream");
      const cut = Array.from(whole.subarray(0, whole.length - 20));
      for (const stream of [[], [1, 2, 3], Array(64).fill(255), cut]) {
        const { error, rows } = await worker.call("storage.js", "insertArrow", create, stream);
        assert.equal(error?.name, "GinghamError", `${stream.length} bytes: ${JSON.stringify({ error, rows })}`);
        assert.match(error.code, /^22P03$/);
        assert.deepEqual(rows, []);
      }
    });

    await worker.terminate();
  });
});
