/** SQLite as WebAssembly in this process, in memory. */

import initialize from "@sqlite.org/sqlite-wasm";

let module;

export class Sqlite {
  name = "sqlite";

  static async open() {
    module ??= await initialize({ print: () => {}, printErr: () => {} });
    const peer = new Sqlite();
    peer.database = new module.oo1.DB(":memory:");
    // LIKE compares exactly in PostgreSQL, DuckDB and Gingham.
    peer.database.exec("PRAGMA case_sensitive_like = ON");
    return peer;
  }

  /** Runs one statement; see DuckDb. */
  async run(sql) {
    try {
      const rows = this.database.exec({ sql, returnValue: "resultRows", rowMode: "array" });
      return { types: [], rows, changes: this.database.changes() };
    } catch (error) {
      return { error: { message: String(error.message ?? error) } };
    }
  }

  async close() {
    this.database.close();
  }
}
