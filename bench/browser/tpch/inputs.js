// @ts-check
/** The TPC-H suite's inputs on the Node side: the 22 queries and the generated tables. */

import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DATA_FOLDER, QUERIES_FOLDER, REPOSITORY } from "../paths.js";
import { TABLES } from "./schema.js";

/** @typedef {{name: string, sql: string}} Query */

const QUERY_COUNT = 22;
/** Q11's fraction at scale factor 1, as its file has it. */
const FRACTION_AT_ONE = "0.0001";

/**
 * @param {number} scaleFactor on which only Q11's fraction depends
 * @param {string | null} folder null: the repository's tpch/queries
 * @returns {Query[]} q01 … q22, one statement each, without a semicolon
 */
export function readQueries(scaleFactor, folder) {
  return Array.from({ length: QUERY_COUNT }, (_, index) => {
    const name = `q${String(index + 1).padStart(2, "0")}`;
    const file = join(folder ?? QUERIES_FOLDER, `${name}.sql`);
    if (!existsSync(file)) throw new Error(`the query ${file} is missing`);
    const text = readFileSync(file, "utf8").trim().replace(/;$/, "");
    const fraction = (Number(FRACTION_AT_ONE) / scaleFactor).toFixed(10);
    return { name, sql: name === "q11" ? text.replace(FRACTION_AT_ONE, fraction) : text };
  });
}

/**
 * @typedef {object} TableFiles
 * @property {string} folder
 * @property {"csv" | "arrow"} format
 */

/** @param {number} scaleFactor */
export function tablesFolder(scaleFactor) {
  return join(DATA_FOLDER, `sf${scaleFactor}`);
}

/**
 * Looks for the tables' files, written by `gingham-tpch --sf N --csv bench/.data/sfN` (which
 * `cargo xtask bench tpch` runs by itself): {table}.csv with a header, or {table}.arrow, an Arrow
 * IPC stream.
 *
 * @param {string} folder
 * @param {"csv" | "arrow" | null} wanted null: Arrow where every table has it, else CSV
 * @returns {TableFiles}
 */
export function locateTables(folder, wanted) {
  const lacking = (/** @type {string} */ format) =>
    TABLES.map(({ name }) => `${name}.${format}`).filter((file) => !existsSync(join(folder, file)));
  const format = wanted ?? (lacking("arrow").length === 0 ? "arrow" : "csv");
  const missing = lacking(format);
  if (missing.length === 0) return { folder, format };
  const place = relative(REPOSITORY, folder);
  throw new Error(`${place} lacks ${missing.join(", ")}: run cargo xtask tpch --sf N --csv ${place}`);
}
