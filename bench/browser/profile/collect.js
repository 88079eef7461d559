// @ts-check
/** Profiles of a suite's steps, added up: milliseconds by part, and by function. */

import { PARTS, partOf } from "./parts.js";

/** What the profiler calls the time in which nothing of the worker ran. */
const IDLE = "(idle)";

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {Map<import("./parts.js").Part, number>} parts milliseconds
 * @property {Map<string, number>} functions milliseconds by "part: name"
 */

/** Adds up what the profiler saw, step by step. */
export class Profiles {
  /** @type {Map<string, Step>} */
  #steps = new Map();

  /** Steps in the order in which they first came. */
  get steps() {
    return [...this.#steps.values()];
  }

  /**
   * @param {string} title
   * @param {import("../harness/profiler.js").Profile} profile
   */
  add(title, profile) {
    let step = this.#steps.get(title);
    if (step === undefined) {
      step = { title, parts: new Map(PARTS.map((part) => [part, 0])), functions: new Map() };
      this.#steps.set(title, step);
    }
    addProfile(step, profile);
  }
}

/**
 * @param {Step} step
 * @param {import("../harness/profiler.js").Profile} profile
 */
function addProfile({ parts, functions }, { nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === IDLE) return;
    // A sample stands for the time until the next one.
    const ms = (timeDeltas[index + 1] ?? 0) / 1000;
    const part = partOf(frame);
    parts.set(part, (parts.get(part) ?? 0) + ms);
    const name = `${part}: ${frame.functionName || "(anonymous)"}`;
    functions.set(name, (functions.get(name) ?? 0) + ms);
  });
}
