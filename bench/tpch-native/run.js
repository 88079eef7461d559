/**
 * TPC-H natively, Gingham beside DuckDB, each on one thread and in a database file:
 *
 *     node run.js --tool PATH --data FOLDER --scratch FOLDER [--sf N] [--repeat N] [--queries 1,6] [--save [LABEL]]
 *
 * `--tool` is the program gingham-tpch, `--data` has the tables as CSV for DuckDB, and
 * database files are made anew in `--scratch`. The engines take turns query by query, so
 * that a busy minute hits both; a first pass that is not counted warms both; results are
 * compared in it. Exit 1 if an engine failed or results differ.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeCommit, describeMachine, loadAverage } from "../browser/report/machine.js";
import { saveResult } from "../browser/report/save.js";
import { readAnswer } from "../browser/tpch/answers.js";
import { compareResults } from "../browser/tpch/compare.js";
import { readQueries } from "../browser/tpch/inputs.js";
import { DuckDb } from "./duckdb.js";
import { Gingham } from "./gingham.js";
import { nativeTable, summarize } from "./table.js";

const args = process.argv.slice(2);
// The label is optional, which parseArgs does not know.
const saveAt = args.indexOf("--save");
const save = saveAt >= 0;
const label = save && args[saveAt + 1] && !args[saveAt + 1].startsWith("--") ? args[saveAt + 1] : "tpch";
if (save) args.splice(saveAt, label === args[saveAt + 1] ? 2 : 1);
const { values: options } = parseArgs({
  args,
  options: {
    tool: { type: "string" },
    data: { type: "string" },
    scratch: { type: "string" },
    sf: { type: "string", default: "1" },
    repeat: { type: "string", default: "5" },
    queries: { type: "string" },
  },
});
const { tool, data, scratch } = options;
const scaleFactor = Number(options.sf);
const repeat = Number(options.repeat);
const numbers = options.queries?.split(",").map(Number);
const known = (number) => Number.isInteger(number) && number >= 1 && number <= 22;
if (!tool || !data || !scratch || !(scaleFactor > 0) || !(Number.isInteger(repeat) && repeat > 0) || numbers?.some((number) => !known(number))) {
  console.error("usage: node run.js --tool PATH --data FOLDER --scratch FOLDER [--sf N] [--repeat N] [--queries 1,6] [--save [LABEL]]");
  process.exit(2);
}

const note = (text) => process.stderr.write(`${text}\n`);
rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });
const date = new Date().toISOString();
const loadBefore = loadAverage();
note("loading");
const engines = [
  await Gingham.open(tool, join(scratch, "gingham.db"), scaleFactor),
  await DuckDb.open(join(scratch, "duckdb.db"), data),
];
const queries = readQueries(scaleFactor, null)
  .map((query, index) => ({ ...query, number: index + 1, ms: { gingham: [], duckdb: [] }, verdict: "equal" }))
  .filter(({ number }) => !numbers || numbers.includes(number));

const failures = [];
for (const query of queries) {
  const results = [];
  for (const engine of engines) results.push(await engine.answer(query));
  const answer = readAnswer(scaleFactor, query.name);
  const difference = compareResults(query.sql, results[0], results[1]);
  const wrong = answer && engines.map((engine, at) => [engine.name, compareResults(query.sql, answer, results[at])]).find(([, text]) => text);
  if (answer) query.verdict = wrong ? "WRONG" : "right";
  if (wrong) failures.push(`${query.name}: ${wrong[0]} differs from the answer: ${wrong[1]}`);
  else if (difference) {
    query.verdict = "DIFFERENT";
    failures.push(`${query.name}: ${difference}`);
  }
}
for (let pass = 0; pass < repeat; pass++) {
  note(`pass ${pass + 1} of ${repeat}`);
  for (const query of queries) {
    // Who goes first alternates, for it finds the other's data in the processor's caches.
    const order = (pass + query.number) % 2 === 0 ? engines : [...engines].reverse();
    for (const engine of order) query.ms[engine.name].push((await engine.answer(query)).ms);
  }
}
const versions = { duckdb: await engines[1].version() };
for (const engine of engines) await engine.close();
rmSync(scratch, { recursive: true, force: true });

const machine = describeMachine();
const loads = { before: loadBefore, after: loadAverage() };
console.log(`\n${nativeTable(queries)}\n`);
console.log("Derived from TPC-H: queries and data follow it, but these figures are not comparable with published TPC-H results.");
console.log(
  `Scale factor ${scaleFactor}, one thread each, database files, warm; medians of ${repeat} with the engines in turn. DuckDB ${versions.duckdb}; ` +
    `${machine.cpu}; load average ${loads.before} before, ${loads.after} after.`,
);
for (const failure of failures) console.log(`FAILED ${failure}`);
if (save) {
  const result = {
    suite: "tpch-native",
    date,
    ...describeCommit(),
    machine: { ...machine, loadAverage: loads },
    versions,
    options: { scaleFactor, repeat },
    failures,
    summary: summarize(queries),
    queries: queries.map(({ name, verdict, ms }) => ({ name, verdict, ms })),
  };
  console.log(`saved ${saveResult(label, result, "native")}`);
}
process.exit(failures.length > 0 ? 1 : 0);
