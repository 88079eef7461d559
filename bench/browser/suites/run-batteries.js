// @ts-check
/** Runs the batteries: engines interleaved over the repetitions, then the table and the record. */

import { batteriesTable, summarizeBatteries } from "../report/batteries-table.js";
import { measureBatteries } from "./batteries.js";
import { inTurn } from "./in-turn.js";

/** @typedef {import("../options.js").Options} Options */

/**
 * @param {Options} options
 * @param {{vendorFolder: string, note: (text: string) => void, profiles?: import("./session.js").Profiles | undefined}} tools
 */
export async function runBatteries(options, { vendorFolder, note, profiles }) {
  const engines = await inTurn(options, note, (engine, step) => measureBatteries(engine, { vendorFolder, profiles, note: step }));
  return {
    table: batteriesTable(engines),
    notes: [
      `Medians of ${options.repeat} repetition(s); less is better everywhere. "Ahead" is the best peer's time by Gingham's.`,
      "Relaxed: Gingham and PGlite as they call it, SQLite with synchronous=OFF (TRUNCATE) or NORMAL (WAL); DuckDB never flushes.",
    ],
    failures: engines.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: ${failure}`])),
    record: engines.map((engine) => ({
      name: engine.name,
      version: engine.samples[0]?.version ?? null,
      setUp: options.engines.find(({ name }) => name === engine.name)?.setUp ?? null,
      failure: engine.failure,
      summary: summarizeBatteries(engine),
      samples: engine.samples,
    })),
    browserVersion: engines.flatMap((engine) => engine.samples)[0]?.browserVersion ?? "unknown",
  };
}
