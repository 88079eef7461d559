// @ts-check
/** The batteries' samples as one Markdown table: a row a battery, a column an engine. */

import { BATTERIES } from "../worker/batteries.js";
import { formatQuantity, formatRatio, markdownTable } from "./format.js";
import { median } from "./statistics.js";

/**
 * @typedef {object} BatteriesEngine
 * @property {string} name
 * @property {string} title
 * @property {{elapsedMs: Record<string, number>}[]} samples one a repetition
 */

/**
 * Medians over the repetitions.
 *
 * @param {BatteriesEngine} engine
 * @returns {Record<string, number | null>} milliseconds by the battery's id
 */
export function summarizeBatteries({ samples }) {
  const middle = (/** @type {string} */ id) => {
    const values = samples.map(({ elapsedMs }) => elapsedMs[id]).filter((value) => value !== undefined);
    return values.length === 0 ? null : median(values);
  };
  return Object.fromEntries(BATTERIES.map(({ id }) => [id, middle(id)]));
}

/**
 * @param {readonly BatteriesEngine[]} engines
 * @returns {string} with a last column that says how far Gingham is ahead of the best peer
 */
export function batteriesTable(engines) {
  const summaries = engines.map(summarizeBatteries);
  const own = summaries[engines.findIndex(({ name }) => name === "gingham")];
  const peers = summaries.filter((summary) => summary !== own);
  const rows = BATTERIES.map(({ id, title }) => {
    const base = own?.[id] ?? null;
    const cells = summaries.map((summary) => {
      const value = summary[id] ?? null;
      if (value === null) return "–";
      return formatQuantity(value, "ms") + (base === null || summary === own ? "" : ` (${formatRatio(value, base)})`);
    });
    const others = peers.map((summary) => summary[id] ?? null).filter((value) => value !== null);
    return [title, ...cells, base === null || others.length === 0 ? "–" : formatRatio(Math.min(...others), base)];
  });
  return markdownTable(["", ...engines.map(({ title }) => title), "ahead"], rows);
}
