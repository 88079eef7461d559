// @ts-check
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseRange, startServer } from "../harness/server.js";

const root = mkdtempSync(join(tmpdir(), "gingham-server-test-"));
mkdirSync(join(root, "site", "sub"), { recursive: true });
writeFileSync(join(root, "secret.txt"), "secret");
writeFileSync(join(root, "site", "index.html"), "<p>hi</p>");
writeFileSync(join(root, "site", "a.wasm"), Uint8Array.of(0, 97, 115, 109));
writeFileSync(join(root, "site", "sub", "digits.csv"), "0123456789");
writeFileSync(join(root, "site", "empty.txt"), "");
const server = await startServer({ mounts: { "/": join(root, "site"), "/deep/": join(root, "site", "sub") } });
after(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
const get = (path, options) => fetch(server.origin + path, options);

test("files, their types, and a folder's index", async () => {
  const wasm = await get("/a.wasm");
  assert.equal(wasm.headers.get("content-type"), "application/wasm");
  assert.deepEqual(new Uint8Array(await wasm.arrayBuffer()), Uint8Array.of(0, 97, 115, 109));
  assert.equal(await (await get("/?x=1")).text(), "<p>hi</p>");
  assert.equal(await (await get("/empty.txt")).text(), "");
});

test("the longest mount wins", async () => {
  assert.equal(await (await get("/deep/digits.csv")).text(), "0123456789");
});

test("nothing outside of a mount is served", async () => {
  // fetch would tidy such paths up before sending them.
  for (const path of ["/../secret.txt", "/%2e%2e/secret.txt", "/sub/..%2f..%2fsecret.txt", "/%00", "/%zz"]) {
    const status = await new Promise((resolve, reject) => {
      request(server.origin, { path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    assert.equal(status, 404, path);
  }
});

test("ranges, as DuckDB asks for them", async () => {
  const part = await get("/sub/digits.csv", { headers: { Range: "bytes=2-4" } });
  assert.deepEqual([part.status, part.headers.get("content-range"), await part.text()], [206, "bytes 2-4/10", "234"]);
  const head = await get("/sub/digits.csv", { method: "HEAD", headers: { Range: "bytes=0-" } });
  assert.deepEqual([head.status, head.headers.get("content-length")], [206, "10"]);
  assert.equal((await get("/sub/digits.csv", { headers: { Range: "bytes=10-" } })).status, 416);
  assert.deepEqual(parseRange("bytes=-3", 10), { first: 7, last: 9 });
  assert.equal(parseRange("bytes=0-1,4-5", 10), undefined);
});

test("revalidation and refusal", async () => {
  const etag = (await get("/a.wasm")).headers.get("etag") ?? "";
  assert.equal((await get("/a.wasm", { headers: { "If-None-Match": etag } })).status, 304);
  assert.equal((await get("/a.wasm", { method: "POST" })).status, 405);
  assert.equal((await get("/none")).status, 404);
  assert.ok(server.missing.includes("/none"));
  assert.ok(server.served.some(({ path }) => path === "/a.wasm"));
});

test("a mount that does not end in a slash is refused", async () => {
  await assert.rejects(startServer({ mounts: { "/x": root } }), /must start and end/);
});
