/**
 * `gingham/sync`: the database inside a dedicated worker, all calls but `open` synchronous.
 *
 * ```ts
 * import { Database } from "gingham/sync";
 * const db = await Database.open("shop", { storage: "opfs" });
 * db.exec("CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v TEXT)");
 * db.prepare("INSERT INTO t VALUES (?, ?)").run(1, "one");
 * db.prepare("SELECT v FROM t WHERE k = ?").get(1); // { v: "one" }
 * db.close();
 * ```
 */

export { Database } from "./database.js";
export { Statement, type ColumnarResult, type Parameters, type RunResult } from "./statement.js";
export { GinghamError, type ErrorDetails } from "./errors.js";
export type {
  Column,
  ColumnData,
  Durability,
  ImportOptions,
  ImportProgress,
  ImportSource,
  NamedParameters,
  OpenOptions,
  Parameter,
  Row,
  SqlValue,
  StorageKind,
  ValueOptions,
} from "./values.js";
export { version } from "./version.js";
