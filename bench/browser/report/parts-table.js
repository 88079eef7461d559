// @ts-check
/** Where the time of each step goes: a table of shares, and the dearest functions. */

import { PARTS } from "../profile/parts.js";
import { markdownTable } from "./format.js";

/** What the bench itself does around the statements is no part of them. */
const OWN_PARTS = PARTS.filter((part) => part !== "bench");
const FUNCTIONS_SHOWN = 12;
const NAME_CHARACTERS = 110;

/**
 * @param {readonly import("../profile/collect.js").Step[]} steps
 * @returns {string}
 */
export function partsTable(steps) {
  const rows = steps.map(({ title, parts }) => {
    const total = ownMs(parts);
    const shares = OWN_PARTS.map((part) => (total === 0 ? "–" : `${Math.round((100 * (parts.get(part) ?? 0)) / total)} %`));
    return [title, `${total.toFixed(1)} ms`, ...shares];
  });
  return markdownTable(["", "sampled", ...OWN_PARTS], rows);
}

/**
 * @param {import("../profile/collect.js").Step} step
 * @returns {string[]} a line for each of the dearest functions
 */
export function dearestFunctions({ title, parts, functions }) {
  const total = ownMs(parts);
  const own = [...functions].filter(([name]) => !name.startsWith("bench: "));
  const dearest = own.sort(([, a], [, b]) => b - a).slice(0, FUNCTIONS_SHOWN);
  return [
    `${title}:`,
    ...dearest.map(([name, ms]) => `  ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${name.slice(0, NAME_CHARACTERS)}`),
  ];
}

/** @param {import("../profile/collect.js").Step["parts"]} parts */
function ownMs(parts) {
  return OWN_PARTS.reduce((sum, part) => sum + (parts.get(part) ?? 0), 0);
}
