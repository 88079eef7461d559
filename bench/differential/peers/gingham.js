/** Gingham's shell as a child process that is talked to line by line. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Gingham {
  name = "gingham";

  /**
   * @param {string} binary path of the shell
   * @param {number} timeoutMs after which a statement counts as hanging
   */
  static async open(binary, timeoutMs = 60000) {
    const peer = new Gingham();
    peer.timeoutMs = timeoutMs;
    peer.child = spawn(binary, ["--format", "jsonl"], { stdio: ["pipe", "pipe", "pipe"] });
    peer.waiting = null;
    peer.noise = "";
    peer.ended = false;
    peer.child.stderr.on("data", (chunk) => (peer.noise = (peer.noise + chunk).slice(-4000)));
    // Writing to a shell that has died is reported by its exit.
    peer.child.stdin.on("error", () => {});
    createInterface({ input: peer.child.stdout }).on("line", (line) => peer.settle(() => JSON.parse(line)));
    peer.child.on("close", (code, signal) => {
      peer.ended = true;
      peer.settle(() => ({ error: { code: "CRASH", message: `the shell ended (${signal ?? code}): ${peer.noise.trim()}` } }));
    });
    return peer;
  }

  settle(result) {
    const waiting = this.waiting;
    this.waiting = null;
    waiting?.(result());
  }

  /** Runs one statement; an error has `code`, which is CRASH or HANG beside SQLSTATEs. */
  run(sql) {
    if (this.ended) return Promise.resolve({ error: { code: "CRASH", message: "the shell has ended" } });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting = null;
        this.ended = true;
        this.child.kill("SIGKILL");
        resolve({ error: { code: "HANG", message: `no answer in ${this.timeoutMs} ms` } });
      }, this.timeoutMs);
      this.waiting = (result) => {
        clearTimeout(timer);
        resolve(result);
      };
      this.child.stdin.write(`${sql};\n`);
    });
  }

  async close() {
    if (this.ended) return;
    const closed = new Promise((resolve) => this.child.once("close", resolve));
    this.child.stdin.end();
    await closed;
  }
}
