// @ts-check
/** The command line: what was asked for, or a UsageError that says what is wrong with it. */

import { ENGINES, engineByName } from "./adapters/engines.js";

export const USAGE = `usage: node bench/browser/run.js m0|batteries|tpch [options]

  --engines LIST    comma separated: ${ENGINES.map((engine) => engine.name).join(", ")}
                    (default: all that take part in the suite)
  --repeat N        repetitions, engines interleaved, medians reported (m0, batteries: 3; tpch: 1)
  --rows N          rows of the M0 table (100000)
  --sf N            TPC-H scale factor (0.1); data is read from bench/.data/sfN
  --input FORMAT    csv or arrow (default: arrow where every table has a .arrow file, else csv)
  --storage KIND    Gingham's tables in TPC-H: column (default, made for bulk loads), hybrid or row
  --queries FOLDER  q01.sql … q22.sql (default: tpch/queries)
  --save [LABEL]    write bench/results/DATE-chromium-LABEL.json (labels: M0, batteries; M3 at --sf 0.1; M7 at 1 and 10)
  --profile         m0, batteries: Gingham alone under Chromium's profiler; prints which part of a statement takes
                    which share of each step, instead of times (cargo xtask wasm --names gives functions names)
  --json PATH       write the same JSON to PATH
`;

/** Rows and repetitions; the M0 suite's own keys begin at ten million. */
const COUNT_MAX = 5_000_000;

/** @typedef {import("./adapters/engines.js").Suite} Suite */

/** @type {readonly Suite[]} */
const SUITES = ["m0", "batteries", "tpch"];

/** The command line was wrong: exit code 2. */
export class UsageError extends Error {}

/**
 * @typedef {object} Options
 * @property {Suite} suite
 * @property {import("./adapters/engines.js").Engine[]} engines
 * @property {number} repeat
 * @property {number} rows
 * @property {number} scaleFactor
 * @property {"csv" | "arrow" | null} input
 * @property {string} storage
 * @property {string | null} queriesFolder
 * @property {string | null} saveLabel
 * @property {string | null} jsonPath
 * @property {boolean} profile
 */

/**
 * @param {readonly string[]} words the arguments after the script's name
 * @returns {Options | "help"}
 */
export function parseOptions(words) {
  if (words.includes("--help") || words.includes("-h")) return "help";
  const [word, ...rest] = words;
  const suite = SUITES.find((known) => known === word);
  if (suite === undefined) {
    throw new UsageError(word === undefined ? "no suite given" : `unknown suite ${JSON.stringify(word)}`);
  }
  const profile = rest.includes(PROFILE);
  if (profile && suite === "tpch") throw new UsageError("--profile is for m0 and batteries");
  const values = readOptions(rest.filter((given) => given !== PROFILE));
  const scaleFactor = positiveNumber(values, "--sf", 0.1);
  return {
    suite,
    engines: parseEngines(suite, profile ? "gingham" : values.get("--engines")),
    repeat: positiveInteger(values, "--repeat", suite === "tpch" ? 1 : 3),
    rows: positiveInteger(values, "--rows", 100_000),
    scaleFactor,
    input: oneOf(values, "--input", ["csv", "arrow"]),
    storage: oneOf(values, "--storage", ["hybrid", "row", "column"]) ?? "column",
    queriesFolder: values.get("--queries") ?? null,
    saveLabel: values.has("--save") ? checkLabel(values.get("--save") || defaultLabel(suite, scaleFactor)) : null,
    jsonPath: values.get("--json") ?? null,
    profile,
  };
}

/**
 * The milestone that a suite belongs to.
 *
 * @param {Suite} suite
 * @param {number} scaleFactor
 */
export function defaultLabel(suite, scaleFactor) {
  if (suite === "m0") return "M0";
  if (suite === "batteries") return "batteries";
  if (scaleFactor === 0.1) return "M3";
  return scaleFactor === 1 || scaleFactor === 10 ? "M7" : `TPCH-SF${scaleFactor}`;
}

/** The one option that never has a value. */
const PROFILE = "--profile";

const VALUE_OPTIONS = ["--engines", "--repeat", "--rows", "--sf", "--input", "--storage", "--queries", "--json"];

/**
 * @param {readonly string[]} words
 * @returns {Map<string, string>} "--save" without a label gives ""
 */
function readOptions(words) {
  /** @type {Map<string, string>} */
  const values = new Map();
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    const name = equals < 0 ? word : word.slice(0, equals);
    if (name !== "--save" && !VALUE_OPTIONS.includes(name)) throw new UsageError(`unknown option ${JSON.stringify(word)}`);
    if (values.has(name)) throw new UsageError(`${name} is given twice`);
    const next = words[index + 1];
    if (equals >= 0) {
      values.set(name, word.slice(equals + 1));
    } else if (next !== undefined && !next.startsWith("--")) {
      values.set(name, next);
      index += 1;
    } else if (name === "--save") {
      values.set(name, "");
    } else {
      throw new UsageError(`${name} needs a value`);
    }
  }
  return values;
}

/**
 * @param {Suite} suite
 * @param {string | undefined} list
 */
function parseEngines(suite, list) {
  if (list === undefined) return ENGINES.filter((engine) => engine.suites.includes(suite));
  const names = list.split(",").map((name) => name.trim());
  return [...new Set(names)].map((name) => {
    const engine = engineByName(name);
    if (engine === undefined) {
      throw new UsageError(`unknown engine ${JSON.stringify(name)}; known: ${ENGINES.map((known) => known.name).join(", ")}`);
    }
    if (!engine.suites.includes(suite)) throw new UsageError(`${name} takes no part in ${suite}`);
    return engine;
  });
}

/**
 * @template {string} C
 * @param {Map<string, string>} values
 * @param {string} name
 * @param {readonly C[]} choices
 * @returns {C | null} null where the option is not given
 */
function oneOf(values, name, choices) {
  const value = values.get(name);
  if (value === undefined) return null;
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw new UsageError(`${name} is one of ${choices.join(", ")}, not ${JSON.stringify(value)}`);
  return choice;
}

/** @param {string} label becomes part of a file's name */
function checkLabel(label) {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(label)) return label;
  throw new UsageError(`the label ${JSON.stringify(label)} may only have letters, digits, ".", "_" and "-"`);
}

/**
 * @param {Map<string, string>} values
 * @param {string} name
 * @param {number} fallback
 */
function positiveNumber(values, name, fallback) {
  const text = values.get(name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new UsageError(`${name} must be a positive number, not ${JSON.stringify(text)}`);
}

/**
 * @param {Map<string, string>} values
 * @param {string} name
 * @param {number} fallback
 */
function positiveInteger(values, name, fallback) {
  const value = positiveNumber(values, name, fallback);
  if (Number.isInteger(value) && value <= COUNT_MAX) return value;
  throw new UsageError(`${name} must be a whole number of at most ${COUNT_MAX.toLocaleString("en")}`);
}
