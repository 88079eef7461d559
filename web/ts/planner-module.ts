/**
 * The planner module: fetched and compiled in the background from when a database is opened, so that
 * neither opening nor statements of the fast path wait for it. What first statements would pay for
 * (web/src/warm_up.rs) runs on the worker's own thread and waits for a moment without statements. A
 * statement that needs the module sooner loads it on the spot, which only a worker may do.
 */

import { loadModule, loadModuleNow, presentModule } from "./modules.js";
import initialize, { initSync, plan, set_catalog } from "./planner.js";

/** A worker that has had no statement for so long is idle: a person pauses, a program does not. */
const IDLE_MS = 1000;

/** The planner of this worker. */
export class PlannerModule {
  #ready = false;
  #instantiating: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  /** Somebody waits for it: nothing is put off any more. */
  #urgent = false;
  /** Ends a wait for idle time. */
  #wake: () => void = () => {};
  /** Ends a download that is of no use any more. */
  readonly #download = new AbortController();
  /** What `unlessNeeded` watches; undefined outside it. */
  #needed: boolean | undefined;
  readonly #warmUpStep: () => boolean;

  /** `warmUpStep` runs a part of what warms the modules up; false if it was the last. */
  constructor(warmUpStep: () => boolean) {
    this.#warmUpStep = warmUpStep;
  }

  /** Loads it now, unless that was done; settles when the planner can plan without delay. */
  load(): Promise<void> {
    this.#urgent = true;
    this.#wake();
    return this.loadWhenIdle(() => 0);
  }

  /** As `load`, the last of it once no statements come for a moment; `calls` counts those there were. */
  loadWhenIdle(calls: () => number): Promise<void> {
    this.#loading ??= this.#loadInBackground(calls).catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Starts loading, unless that was done; settles when the planner can plan. */
  instantiated(): Promise<void> {
    this.#instantiating ??= this.#instantiate().catch((error: unknown) => {
      this.#instantiating = undefined;
      throw new Error(`the planner could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    });
    return this.#instantiating;
  }

  /**
   * Runs `body` as long as it can do without a planner that would have to be loaded on the spot.
   *
   * @returns undefined where it could not; then `body` has failed for the want of the planner
   */
  unlessNeeded<T>(body: () => T): T | undefined {
    this.#needed = false;
    try {
      return body();
    } catch (error) {
      if (this.#needed) return undefined;
      throw error;
    } finally {
      this.#needed = undefined;
    }
  }

  /** Replaces the catalog that statements are planned against. */
  setCatalog(catalog: Uint8Array): void {
    this.#loadNow();
    set_catalog(catalog);
  }

  /** Plans one statement. */
  plan(sql: string, route: number): Uint8Array {
    this.#loadNow();
    return plan(sql, route);
  }

  async #loadInBackground(calls: () => number): Promise<void> {
    await this.instantiated();
    await this.#idle(calls, IDLE_MS);
    await this.#warmUp(calls);
  }

  async #instantiate(): Promise<void> {
    let module: WebAssembly.Module;
    try {
      module = await loadModule("planner", this.#download.signal);
    } catch (error) {
      if (this.#ready) return;
      throw error;
    }
    // A statement may have loaded it meanwhile; a second instance would not have its catalog.
    if (this.#ready) return;
    // In a worker at once, so that no statement comes between; a page may not.
    if (typeof document === "undefined") initSync({ module });
    else await initialize({ module_or_path: module });
    this.#ready = true;
  }

  /** A task at a time, so that statements come between. */
  async #warmUp(calls: () => number): Promise<void> {
    do await this.#idle(calls, 0);
    while (this.#warmUpStep());
  }

  /** Waits until no statement has come for `ms`, and where one has, for longer. */
  async #idle(calls: () => number, ms: number): Promise<void> {
    for (let wait = ms; ; wait = IDLE_MS) {
      if (this.#urgent) return nextTask();
      const before = calls();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, wait);
      });
      if (this.#urgent || calls() === before) return;
    }
  }

  #loadNow(): void {
    if (this.#ready) return;
    if (this.#needed !== undefined && presentModule("planner") === undefined) {
      this.#needed = true;
      throw new Error("the planner is not loaded yet");
    }
    if (typeof document !== "undefined") {
      throw new Error("the planner is not loaded yet, and a page may not wait for it");
    }
    initSync({ module: loadModuleNow("planner") });
    this.#ready = true;
    this.#download.abort();
  }
}

/** Lets the tasks that wait run first. A timer that follows another is put off by milliseconds, a message is not. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (): void => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
