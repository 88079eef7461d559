// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Profiles } from "../profile/collect.js";
import { partOf } from "../profile/parts.js";
import { partsTable } from "../report/parts-table.js";

test("functions belong to parts", () => {
  const wasm = "http://localhost/web/dist/core_bg.wasm";
  const parts = [
    [wasm, "gingham_row_store::tree::read::locate", "tree"],
    [wasm, "gingham_row_store::log::Log::append", "log"],
    [wasm, "gingham::connection::Connection::run", "bind"],
    [wasm, "gingham_web::output::Output::show", "values out"],
    ["http://localhost/web/dist/parameters.js", "write", "parameters in"],
    ["http://localhost/bench/worker/m0.js", "pointLookups", "bench"],
    ["", "flush", "file"],
    ["", "(garbage collector)", "browser"],
  ];
  for (const [url, functionName, part] of parts) {
    assert.equal(partOf({ url: url ?? "", functionName: functionName ?? "" }), part, functionName);
  }
});

test("a sample stands for the time until the next", () => {
  const profiles = new Profiles();
  const nodes = [
    { id: 1, callFrame: { functionName: "flush", url: "" } },
    { id: 2, callFrame: { functionName: "write", url: "http://localhost/web/dist/parameters.js" } },
    { id: 3, callFrame: { functionName: "(idle)", url: "" } },
  ];
  profiles.add("commits", { nodes, samples: [1, 2, 3, 1], timeDeltas: [50, 3000, 1000, 9000] });
  const [step] = profiles.steps;
  assert.deepEqual([step?.parts.get("file"), step?.parts.get("parameters in")], [3, 1]);
  assert.match(partsTable(profiles.steps), /commits \| +4\.0 ms \| +25 %/);
});
