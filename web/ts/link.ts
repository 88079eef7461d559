/**
 * The client's end of the worker protocol. Every call is answered: by the worker, or with an
 * error when the worker fails or is stopped.
 */

import { Codes, GinghamError } from "./errors.js";
import type { CompiledModules } from "./modules.js";
import type { CallName, Calls, Compiled, Progress, Reply, Request } from "./protocol.js";
import type { ImportProgress } from "./values.js";

interface Waiting {
  resolve(result: unknown): void;
  reject(error: GinghamError): void;
  progress(progress: ImportProgress): void;
}

/** A worker and the calls it owes answers to. */
export class Link {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #ended: GinghamError | undefined;

  /** `compiled` is told of modules that the worker has compiled. */
  constructor(worker: Worker, compiled: (modules: CompiledModules) => void) {
    this.#worker = worker;
    worker.addEventListener("message", (event: MessageEvent<Reply | Progress | Compiled>) => {
      if ("compiled" in event.data) compiled(event.data.compiled);
      else this.#receive(event.data);
    });
    worker.addEventListener("error", (event) => {
      this.end(new GinghamError({ code: Codes.interrupted, message: `the database's worker failed: ${event.message}` }));
    });
    worker.addEventListener("messageerror", () => {
      this.end(new GinghamError({ code: Codes.interrupted, message: "an answer of the database's worker was unreadable" }));
    });
  }

  /** Sends a call and waits for its answer; `progress` is told of what comes before it. */
  call<Name extends CallName>(
    call: Name,
    argument: Calls[Name]["argument"],
    progress: (progress: ImportProgress) => void = () => {},
  ): Promise<Calls[Name]["result"]> {
    const { promise, resolve, reject } = withResolvers<Calls[Name]["result"]>();
    if (this.#ended !== undefined) {
      reject(this.#ended);
      return promise;
    }
    const id = this.#nextId;
    this.#nextId += 1;
    this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, progress });
    try {
      this.#worker.postMessage({ id, call, argument } as Request);
    } catch (error) {
      // A value that cannot be cloned, such as a function among the parameters.
      this.#waiting.delete(id);
      const message = error instanceof Error ? error.message : String(error);
      reject(new GinghamError({ code: Codes.parameter, message }, { cause: error }));
    }
    return promise;
  }

  /** Stops the worker; calls that wait, and all later ones, are rejected with `error`. */
  end(error: GinghamError): void {
    this.#ended ??= error;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #receive(reply: Reply | Progress): void {
    const waiting = this.#waiting.get(reply.id);
    if ("progress" in reply) return waiting?.progress(reply.progress);
    this.#waiting.delete(reply.id);
    if (reply.ok) waiting?.resolve(reply.result);
    else waiting?.reject(new GinghamError(reply.error));
  }
}

interface Resolvers<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: GinghamError): void;
}

function withResolvers<T>(): Resolvers<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: GinghamError) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
