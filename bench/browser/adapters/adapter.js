// @ts-check
/**
 * The peer adapter: the one interface through which a suite talks to an engine. An adapter runs
 * inside the engine's own dedicated worker and speaks SQL and prepared statements only, by the
 * quickest way the engine's published package offers.
 *
 * Guarantees that every adapter gives:
 * - `exec`, `run` and `query` either do all they were asked or throw.
 * - When `run` of a writing statement outside BEGIN … COMMIT, followed by `afterCommit`, has
 *   returned, the engine claims that the commit is durable, unless it was opened `relaxed`.
 * - Values arrive as JavaScript values: integers as number or bigint, text as string, dates as
 *   "YYYY-MM-DD", decimals as an exact string or a number, SQL NULL as null.
 * - After `close`, another worker can open the database at once.
 *
 * A method may answer at once or by a promise; suites only await what is a promise, so that a
 * synchronous engine is not charged for a microtask a row.
 */

/**
 * @template T
 * @typedef {T | Promise<T>} MaybePromise
 */

/** @typedef {import("../worker/protocol.js").Cell} Cell */

/**
 * @typedef {object} Statement a prepared statement
 * @property {(parameters: Cell[]) => MaybePromise<void>} run executes it, dropping any rows
 * @property {(parameters: Cell[]) => MaybePromise<Cell | undefined>} value the first column of the
 *   first row, undefined where there is no row
 * @property {(parameters: Cell[]) => MaybePromise<Cell[][]>} columns every value of the result, column
 *   by column
 * @property {() => MaybePromise<void>} finalize
 *
 * @typedef {object} Relation a whole result
 * @property {string[]} names
 * @property {Cell[][]} columns one array a column
 *
 * @typedef {object} OpenOptions
 * @property {string} variant how the engine is set up, from engines.js
 * @property {string} database a name without path or ending
 * @property {boolean} complete opening waits for everything that is loaded in the background
 * @property {boolean} relaxed commits are atomic but need not be flushed when they are acknowledged
 *
 * @typedef {object} Adapter
 * @property {string} version
 * @property {(sql: string) => MaybePromise<void>} exec one statement without parameters
 * @property {(sql: string) => MaybePromise<Statement>} prepare
 * @property {(sql: string) => MaybePromise<Relation>} query prepares, runs, reads everything
 * @property {() => MaybePromise<void>} afterCommit what this set-up does after each commit
 * @property {((table: string, keys: Int32Array, values: string[]) => MaybePromise<void>) | null} bulkLoad
 *   fills t(k, v) through the engine's own bulk interface, durably; null where it has none
 * @property {(source: import("../worker/protocol.js").TableSource) => MaybePromise<void>} loadTable
 *   creates a table and fills it from a served file
 * @property {() => MaybePromise<void>} finishLoad makes everything loaded so far durable
 * @property {() => MaybePromise<void>} close
 */

export {};
