/** Gingham as gingham-tpch in conversation: it makes the data itself and times its own queries. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Gingham {
  name = "gingham";

  /**
   * @param {string} tool gingham-tpch
   * @param {string} path of the database file
   * @param {number} scaleFactor
   */
  static async open(tool, path, scaleFactor) {
    const engine = new Gingham();
    const options = ["--converse", "--storage", "column", "--sf", String(scaleFactor), "--db", path];
    engine.child = spawn(tool, options, { stdio: ["pipe", "pipe", "inherit"] });
    // Writing to a program that has died is reported by the end of its output.
    engine.child.stdin.on("error", () => {});
    engine.lines = createInterface({ input: engine.child.stdout })[Symbol.asyncIterator]();
    await engine.line();
    return engine;
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error("gingham-tpch has ended");
    const line = JSON.parse(value);
    if (line.error) throw new Error(`gingham: ${line.error}`);
    return line;
  }

  /** @returns {Promise<{ms: number, columns: string[], rows: (string | null)[][]}>} */
  async answer({ number }) {
    this.child.stdin.write(`${number}\n`);
    return await this.line();
  }

  async close() {
    const closed = new Promise((resolve) => this.child.once("close", resolve));
    this.child.stdin.end();
    await closed;
  }
}
