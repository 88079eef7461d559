/**
 * The planner module: fetched and compiled in the background once a database is open, so that
 * neither opening nor statements of the fast path wait for it. A statement that needs it sooner
 * loads it on the spot, which only a worker may do.
 */

import initialize, { initSync, plan, set_catalog, warm_up } from "./planner.js";

const MODULE_URL = new URL("./planner_bg.wasm", import.meta.url);

/** The planner of this worker. */
export class PlannerModule {
  #ready = false;
  #loading: Promise<void> | undefined;

  /** Starts loading, unless that was done; settles when the planner can plan without delay. */
  load(): Promise<void> {
    this.#loading ??= this.#loadInBackground().catch((error: unknown) => {
      this.#loading = undefined;
      throw new Error(`the planner could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    });
    return this.#loading;
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

  async #loadInBackground(): Promise<void> {
    const module = await compile(MODULE_URL);
    // A statement may have loaded it meanwhile; a second instance would not have its catalog.
    if (!this.#ready) {
      await initialize({ module_or_path: module });
      this.#ready = true;
    }
    await this.#warmUp();
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
    if (typeof document !== "undefined") {
      throw new Error("the planner is not loaded yet, and a page may not wait for it");
    }
    initSync({ module: new WebAssembly.Module(fetchNow(MODULE_URL)) });
    this.#ready = true;
  }
}

async function compile(url: URL): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname} was answered with ${response.status}`);
  // Streaming needs the right content type, which not every server sends.
  if (response.headers.get("Content-Type")?.startsWith("application/wasm") === true) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

function fetchNow(url: URL): ArrayBuffer {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200 && request.status !== 0) {
    throw new Error(`${url.pathname} was answered with ${request.status}`);
  }
  return request.response as ArrayBuffer;
}
