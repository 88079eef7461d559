/** What the core module asks of JavaScript; web/src/host.rs is the twin. */

import type { PlannerModule } from "./planner-module.js";

/** The object that the core module is started with. */
export class Host {
  readonly #planner: PlannerModule;
  /** What the module said just before it trapped. */
  panic: string | undefined;

  constructor(planner: PlannerModule) {
    this.#planner = planner;
  }

  /** @throws a string, which the core module makes an SQL error of */
  setCatalog(catalog: Uint8Array): void {
    textual(() => this.#planner.setCatalog(catalog));
  }

  /** @throws a string, which the core module makes an SQL error of */
  plan(sql: string, route: number): Uint8Array {
    return textual(() => this.#planner.plan(sql, route));
  }

  /** Monotonic milliseconds. */
  now(): number {
    return performance.now();
  }

  /** Takes down the message of a panic. */
  panicked(message: string): void {
    this.panic = message;
  }
}

function textual<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    // A plain string crosses into wasm without being taken apart there.
    throw error instanceof Error ? error.message : String(error);
  }
}
