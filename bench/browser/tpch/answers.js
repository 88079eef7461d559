// @ts-check
/** The known right results, tpch/answers/sf{N}/q{NN}.txt; their README describes the form. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ANSWERS_FOLDER } from "../paths.js";

/** @typedef {import("./compare.js").Result} Result */

/**
 * @param {number} scaleFactor
 * @param {string} query such as "q01"
 * @returns {Result | null} null where the repository has no answer for that scale factor
 */
export function readAnswer(scaleFactor, query) {
  const file = join(ANSWERS_FOLDER, `sf${scaleFactor}`, `${query}.txt`);
  return existsSync(file) ? parseAnswer(readFileSync(file, "utf8")) : null;
}

/**
 * @param {string} text a header of "name kind [sorted]", then the rows
 * @returns {Result}
 */
export function parseAnswer(text) {
  const [header = "", ...lines] = text.replace(/\n$/, "").split("\n");
  const columns = header.split("|").map((column) => column.split(" ")[0] ?? "");
  const rows = lines.map((line) => line.split("|").map((cell) => (cell === "\\N" ? null : cell)));
  return { columns, rows };
}
