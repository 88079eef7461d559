/**
 * The core module: loaded once a worker, shared by its databases. It is built to abort on a
 * panic, so an exception that escapes from it means that its memory may be half changed: the
 * module is dead from then on, and every later call says so.
 */

import initialize, { start, take_failure, WarmUp } from "./core.js";
import { Codes, GinghamError } from "./errors.js";
import { Host } from "./host.js";
import { Memory } from "./memory.js";
import { loadModule } from "./modules.js";
import { ParameterWriter } from "./parameters.js";
import { PlannerModule } from "./planner-module.js";

/** The loaded module and what calls into it share. */
export class Core {
  readonly memory: Memory;
  readonly parameters: ParameterWriter;
  readonly planner: PlannerModule;
  readonly #host: Host;
  /** Calls into the module so far, modulo 2^31: whether it grows tells whether statements come. */
  calls = 0;
  /** Set once the module has trapped. */
  #crash: GinghamError | undefined;

  constructor(memory: WebAssembly.Memory, planner: PlannerModule, host: Host) {
    this.memory = new Memory(memory);
    this.parameters = new ParameterWriter(this.memory);
    this.planner = planner;
    this.#host = host;
  }

  /** Refuses calls into a dead module; comes before every call. */
  assertAlive(): void {
    this.calls = (this.calls + 1) & 0x7fffffff;
    if (this.#crash !== undefined) throw this.#crash;
  }

  /** Runs `body`, which calls into the module and nothing else. */
  call<T>(body: () => T): T {
    this.assertAlive();
    try {
      return body();
    } catch (error) {
      throw this.crashed(error);
    }
  }

  /** Takes down that an exception has escaped from the module; the error to throw. */
  crashed(error: unknown): GinghamError {
    if (error instanceof GinghamError) return error;
    const panic = this.#host.panic;
    const message = error instanceof Error ? error.message : String(error);
    this.#crash ??= new GinghamError(
      {
        code: panic === undefined ? Codes.outOfMemory : Codes.crashed,
        message:
          panic === undefined
            ? `the database engine stopped, most likely for want of memory: ${message}`
            : `the database engine stopped on a broken invariant: ${panic}`,
        hint: "start a new worker and open the database there; committed data is safe",
      },
      { cause: error },
    );
    return this.#crash;
  }

  /** The error of the call that just said it failed. */
  failure(): GinghamError {
    const failure = this.call(take_failure);
    if (failure === undefined) return new GinghamError({ code: Codes.crashed, message: "a call failed without an error" });
    const { code, message, line, column, hint } = failure;
    failure.free();
    const position = line === 0 ? {} : { line, column };
    return new GinghamError({ code, message, hint, ...position });
  }
}

let loading: Promise<Core> | undefined;

/** Loads the core module, once. */
export function loadCore(): Promise<Core> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new GinghamError({ code: Codes.io, message: `the core module could not be loaded: ${reason}` }, { cause: error });
  });
  return loading;
}

async function load(): Promise<Core> {
  const { memory } = await initialize({ module_or_path: await loadModule("core") });
  const planner: PlannerModule = new PlannerModule(() => warmUpStep(core));
  const host = new Host(planner);
  start(host);
  const core: Core = new Core(memory, planner, host);
  return core;
}

let warmUp: WarmUp | undefined;

/** Runs the next of the statements that warm the modules up; false if it was the last. */
function warmUpStep(core: Core): boolean {
  warmUp ??= core.call(() => WarmUp.begin());
  if (warmUp === undefined) {
    // No memory for it is no reason for statements to fail: they are slower at first.
    core.failure();
    return false;
  }
  const running = warmUp;
  const more = core.call(() => running.step());
  if (!more) {
    core.call(() => running.free());
    warmUp = undefined;
  }
  return more;
}
