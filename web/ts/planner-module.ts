/**
 * The planner module: fetched and compiled in the background once a database is open, so that
 * neither opening nor statements of the fast path wait for it. A statement that needs it sooner
 * loads it on the spot, which only a worker may do.
 */

import { loadModule, loadModuleNow, presentModule } from "./modules.js";
import initialize, { initSync, plan, set_catalog, warm_up } from "./planner.js";

/** The planner of this worker. */
export class PlannerModule {
  #ready = false;
  #instantiating: Promise<void> | undefined;
  #loading: Promise<void> | undefined;
  /** What `unlessNeeded` watches; undefined outside it. */
  #needed: boolean | undefined;

  /** Starts loading, unless that was done; settles when the planner can plan without delay. */
  load(): Promise<void> {
    this.#loading ??= this.instantiated()
      .then(() => this.#warmUp())
      .catch((error: unknown) => {
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

  async #instantiate(): Promise<void> {
    const module = await loadModule("planner");
    // A statement may have loaded it meanwhile; a second instance would not have its catalog.
    if (this.#ready) return;
    await initialize({ module_or_path: module });
    this.#ready = true;
  }

  /** Pays for the first plans before they are asked for, a task at a time so that statements come between. */
  async #warmUp(): Promise<void> {
    for (let step = 0; ; step += 1) {
      await new Promise((resolve) => setTimeout(resolve));
      if (!warm_up(step)) return;
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
  }
}
