/** DuckDB in this process, one thread. */

import { DuckDBInstance } from "@duckdb/node-api";

export class DuckDb {
  name = "duckdb";

  /** @param {string} path of the database file */
  static async open(path = ":memory:") {
    const peer = new DuckDb();
    peer.instance = await DuckDBInstance.create(path, { threads: "1" });
    peer.connection = await peer.instance.connect();
    return peer;
  }

  /**
   * Runs one statement.
   * @returns {Promise<{types: string[], rows: unknown[][], changes: number} | {error: {message: string}}>}
   */
  async run(sql) {
    try {
      const result = await this.connection.runAndReadAll(sql);
      return { types: result.columnTypes().map(String), rows: result.getRowsJson(), changes: result.rowsChanged };
    } catch (error) {
      return { error: { message: String(error.message ?? error) } };
    }
  }

  async close() {
    this.connection.closeSync();
    this.instance.closeSync();
  }
}
