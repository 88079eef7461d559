/** DuckDB in this process, with the tables loaded from CSV. */

import { join } from "node:path";
import { DuckDb as Peer } from "../differential/peers/duckdb.js";
import { createTableSql, TABLES } from "../browser/tpch/schema.js";

export class DuckDb {
  name = "duckdb";

  /**
   * @param {string} path of the database file
   * @param {string} data folder with lineitem.csv and so on
   */
  static async open(path, data) {
    const engine = new DuckDb();
    engine.peer = await Peer.open(path);
    for (const table of TABLES) {
      await engine.must(createTableSql(table));
      await engine.must(`COPY ${table.name} FROM '${join(data, `${table.name}.csv`).replaceAll("'", "''")}' (HEADER)`);
    }
    await engine.must("CHECKPOINT");
    return engine;
  }

  async must(sql) {
    const result = await this.peer.run(sql);
    if (result.error) throw new Error(`duckdb: ${result.error.message}`);
    return result;
  }

  /**
   * The time covers planning, execution, and having every row in this process, not
   * turning rows into JavaScript values.
   *
   * @returns {Promise<{ms: number, columns: string[], rows: unknown[][]}>}
   */
  async answer({ sql }) {
    const started = performance.now();
    const result = await this.peer.connection.runAndReadAll(sql);
    const ms = performance.now() - started;
    return { ms, columns: result.columnNames(), rows: result.getRowsJson() };
  }

  async version() {
    return (await this.must("SELECT version()")).rows[0][0];
  }

  async close() {
    await this.peer.close();
  }
}
