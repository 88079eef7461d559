// @ts-check
/**
 * What the page and an engine's worker say to each other: one request, one reply, and
 * acknowledgements of commits in between. Only types live here, so that the Node side can share
 * them without loading worker code.
 *
 * Every message carries `kind`, because some engines post messages of their own through the
 * worker's global `postMessage` (DuckDB reports progress that way); those are ignored.
 */

/**
 * @typedef {string | number | bigint | boolean | null} Cell a value as the engine gave it; dates
 *   as ISO strings, decimals as exact strings or numbers
 *
 * @typedef {object} StartArguments
 * @property {string} engine an engine's name, see adapters/engines.js
 * @property {string} database the database's name within the origin
 * @property {boolean} [relaxed] commits need not be flushed when they are acknowledged
 * @property {boolean} [complete] opening ends when any statement can run without waiting
 *
 * @typedef {object} StartResult
 * @property {string} version what the engine says it is
 * @property {number} importMs loading the adapter and the engine's JavaScript
 * @property {number} openMs loading the wasm and opening or creating the database
 *
 * @typedef {object} Durations
 * @property {number[]} samplesMs
 * @property {number} totalMs wall time around all of them
 *
 * @typedef {object} Repeated
 * @property {number} iterations
 * @property {number} totalMs
 *
 * @typedef {object} TableSource
 * @property {string} table
 * @property {string} createSql the CREATE TABLE statement
 * @property {{name: string, type: import("../tpch/schema.js").ColumnType}[]} columns
 * @property {"csv" | "arrow"} format
 * @property {string} url where the harness serves the data
 *
 * @typedef {object} QueryResult
 * @property {number} elapsedMs until every value was a JavaScript value
 * @property {string[]} columns
 * @property {Cell[][]} rows
 *
 * @typedef {object} LostCheck
 * @property {number} baseRows rows with a key of at most `lastBaseKey`
 * @property {number[]} missing for each range, how many of its keys are not there
 * @property {number} otherRows rows outside of all ranges, committed without being acknowledged
 *
 * @typedef {object} Methods every request a worker answers
 * @property {(argument: {writes: number, bytes: number}) => Promise<Durations>} flushBaseline
 *   bare write + flush into a preallocated OPFS file, without any engine
 * @property {(argument: {limitMs: number}) => Promise<{waitedMs: number}>} waitForRelease waits until
 *   no worker holds a file of the origin any more
 * @property {(argument: StartArguments) => Promise<StartResult>} start
 * @property {(argument: StartArguments) => Promise<StartResult & {firstRowMs: number}>} openToFirstRow
 * @property {(argument: {rows: number}) => Promise<{elapsedMs: number}>} bulkInsert
 * @property {(argument: {rows: number}) => Promise<{elapsedMs: number} | null>} bulkLoad null where the
 *   engine has no bulk interface
 * @property {(argument: {expected: number}) => Promise<Repeated>} countRows
 * @property {(argument: {rows: number, lookups: number, seed: number}) => Promise<{elapsedMs: number}>} pointLookups
 * @property {(argument: {rows: number, repeats: number}) => Promise<{samplesMs: number[]}>} scan
 * @property {(argument: {firstKey: number, transactions: number}) => Promise<Durations & {flushes: number, writtenBytes: number}>} durableInserts
 * @property {(argument: {firstKey: number, limit: number}) => Promise<{committed: number}>} commitUntilKilled
 *   commits one row after the other, sending an acknowledgement for each
 * @property {(argument: {lastBaseKey: number, ranges: {firstKey: number, acknowledged: number}[]}) => Promise<LostCheck>} checkLost
 * @property {(argument: {id: string}) => Promise<{elapsedMs: number}>} runBattery the battery of that
 *   name, with what it needs made before, outside the measured time
 * @property {(argument: TableSource) => Promise<{elapsedMs: number, rows: number}>} loadTable
 * @property {(argument: {}) => Promise<{elapsedMs: number}>} finishLoad makes what was loaded durable
 * @property {(argument: {sql: string}) => Promise<QueryResult>} query
 * @property {(argument: {}) => Promise<{wasmMemoryBytes: number}>} memory
 * @property {(argument: {}) => Promise<null>} close
 *
 * @typedef {keyof Methods} MethodName
 *
 * @typedef {{kind: "bench-request", id: number, method: MethodName, argument: unknown}} Request
 * @typedef {{kind: "bench-result", id: number, value: unknown}} ResultReply
 * @typedef {{kind: "bench-error", id: number, message: string}} ErrorReply
 * @typedef {{kind: "bench-acknowledged", key: number}} AcknowledgedReply
 * @typedef {ResultReply | ErrorReply | AcknowledgedReply} Reply
 */

export {};
