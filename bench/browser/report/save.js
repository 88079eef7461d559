// @ts-check
/** Writing results as JSON. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RESULTS_FOLDER } from "../paths.js";

/**
 * Saves under bench/results as DATE-PLACE-LABEL.json; an existing file is never replaced, a
 * second one of the day gets a number.
 *
 * @param {string} label
 * @param {{date: string}} result
 * @param {string} [place] where it was measured
 * @returns {string} the file
 */
export function saveResult(label, result, place = "chromium") {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : `-${number}`;
    const file = join(RESULTS_FOLDER, `${result.date.slice(0, 10)}-${place}-${label}${suffix}.json`);
    try {
      writeJson(file, result, "wx");
      return file;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

/**
 * @param {string} file
 * @param {unknown} value
 * @param {"w" | "wx"} [flag]
 */
export function writeJson(file, value, flag = "w") {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, roundMeasurements, 1)}\n`, { flag });
}

/**
 * A page's clock ticks every 0.1 ms; the digits past a microsecond are noise of the conversion.
 *
 * @param {string} _key
 * @param {unknown} value
 */
function roundMeasurements(_key, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1e6) / 1e6 : value;
}
