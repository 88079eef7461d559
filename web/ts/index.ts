/**
 * `gingham`: the database from anywhere on a page, asynchronous, hosted by a worker.
 *
 * ```ts
 * import { connect } from "gingham";
 * const db = await connect("shop");
 * const { rows } = await db.query("SELECT name FROM products WHERE price < ?", [10]);
 * await db.close();
 * ```
 */

import { Codes, GinghamError } from "./errors.js";
import { Link } from "./link.js";
import type { CompiledModules } from "./modules.js";
import type { QueryParameters, WireResult } from "./protocol.js";
import { RowShape } from "./rows.js";
import type {
  Column,
  ColumnData,
  ImportOptions,
  ImportProgress,
  ImportSource,
  OpenOptions,
  Row,
  SqlValue,
} from "./values.js";

export { GinghamError, type ErrorDetails } from "./errors.js";
export type { QueryParameters } from "./protocol.js";
export type {
  Column,
  ColumnData,
  Durability,
  ImportOptions,
  ImportProgress,
  ImportSource,
  OpenOptions,
  Parameter,
  Row,
  SqlValue,
  StorageKind,
  ValueOptions,
} from "./values.js";
export { version } from "./version.js";

/** The result of a statement. */
export interface QueryResult<T = Row> {
  rows: T[];
  /** The result columns. */
  fields: Column[];
  /** Rows inserted, updated or deleted. */
  changes: number;
}

/** How rows arrive. */
export interface QueryOptions {
  /** `"object"`, the default: by column name; `"array"`: in the order of `fields`. */
  rows?: "object" | "array";
}

/** What a connection and a transaction can both do. */
export interface Queryable {
  /** Runs one statement. */
  query<T = Row>(sql: string, parameters?: QueryParameters, options?: QueryOptions): Promise<QueryResult<T>>;
  /** Runs any number of statements; the result of each. The first that fails ends it. */
  exec<T = Row>(sql: string, options?: QueryOptions): Promise<QueryResult<T>[]>;
  /** Runs one statement; the result as an Arrow IPC stream. */
  arrow(sql: string, parameters?: QueryParameters): Promise<Uint8Array>;
  /** Inserts rows given as columns, all or none. */
  insertMany(table: string, columns: Record<string, ColumnData>): Promise<{ changes: number }>;
  /** Inserts the rows of an Arrow IPC stream, all or none. */
  insertArrow(table: string, stream: Uint8Array): Promise<{ changes: number }>;
  /**
   * Imports the rows of a CSV text or an Arrow IPC stream, all or none, reading piece by piece.
   * `progress` is called after every piece.
   */
  import(
    source: ImportSource,
    options: ImportOptions,
    progress?: (progress: ImportProgress) => void,
  ): Promise<{ changes: number }>;
  /**
   * Runs `body` in a transaction (inside another: a savepoint): committed when its promise is
   * fulfilled, rolled back when it is rejected. Only what is called on `tx` belongs to it; calls
   * on the connection wait until it has ended.
   */
  transaction<T>(body: (tx: Queryable) => Promise<T>): Promise<T>;
}

/** What the page's workers have compiled, for those that come. */
let compiled: CompiledModules | undefined;

/**
 * Connects to the database of a name, creating it if there is none. A worker of this page hosts
 * it; while another tab has it open, connecting fails with code 55006.
 */
export async function connect(name: string, options: OpenOptions = {}): Promise<Client> {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: `gingham:${name}` });
  const link = new Link(worker, (modules) => {
    compiled = modules;
  });
  try {
    await link.call("open", { name, options, modules: compiled });
  } catch (error) {
    link.end(closedError());
    throw error;
  }
  return new Client(name, link);
}

/** Sends calls to the worker; `lane` says when a call may go. */
class Caller implements Queryable {
  protected readonly link: Link;
  readonly #depth: number;
  /** The end of the last transaction begun here, which later calls wait for. */
  #lane: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(link: Link, depth: number) {
    this.link = link;
    this.#depth = depth;
  }

  async query<T = Row>(sql: string, parameters: QueryParameters = [], options: QueryOptions = {}): Promise<QueryResult<T>> {
    await this.#turn();
    return toResult<T>(await this.link.call("query", { sql, parameters }), options);
  }

  async exec<T = Row>(sql: string, options: QueryOptions = {}): Promise<QueryResult<T>[]> {
    await this.#turn();
    return (await this.link.call("exec", { sql })).map((result) => toResult<T>(result, options));
  }

  async arrow(sql: string, parameters: QueryParameters = []): Promise<Uint8Array> {
    await this.#turn();
    return this.link.call("arrow", { sql, parameters });
  }

  async insertMany(table: string, columns: Record<string, ColumnData>): Promise<{ changes: number }> {
    await this.#turn();
    return this.link.call("insertMany", { table, columns });
  }

  async insertArrow(table: string, stream: Uint8Array): Promise<{ changes: number }> {
    await this.#turn();
    return this.link.call("insertArrow", { table, stream });
  }

  async import(
    source: ImportSource,
    options: ImportOptions,
    progress?: (progress: ImportProgress) => void,
  ): Promise<{ changes: number }> {
    await this.#turn();
    const address = source instanceof URL;
    return this.link.call("import", { source: address ? source.href : source, address, options }, progress);
  }

  async transaction<T>(body: (tx: Queryable) => Promise<T>): Promise<T> {
    const before = this.#lane;
    let leave!: () => void;
    this.#lane = new Promise((resolve) => {
      leave = resolve;
    });
    try {
      await before;
      this.#assertOpen();
      return await this.#runTransaction(body);
    } finally {
      leave();
    }
  }

  async #runTransaction<T>(body: (tx: Queryable) => Promise<T>): Promise<T> {
    const depth = this.#depth;
    await this.link.call("begin", { depth });
    const inner = new Caller(this.link, depth + 1);
    try {
      const result = await body(inner);
      await inner.end();
      await this.link.call("commit", { depth });
      return result;
    } catch (error) {
      await inner.end();
      // The error that led here is the one to tell.
      await this.link.call("rollback", { depth }).catch(() => {});
      throw error;
    }
  }

  /** Waits for what was begun here; later calls are refused. */
  protected async end(): Promise<void> {
    this.#ended = true;
    await this.#lane;
  }

  /** Waits until no transaction is open here. */
  async #turn(): Promise<void> {
    for (;;) {
      this.#assertOpen();
      const lane = this.#lane;
      await lane;
      if (lane === this.#lane) return;
    }
  }

  #assertOpen(): void {
    if (!this.#ended) return;
    throw this.#depth === 0
      ? closedError()
      : new GinghamError({ code: Codes.closed, message: "the transaction has ended" });
  }
}

/** A connection to a database; see `connect`. */
export class Client extends Caller {
  /** The name of the database. */
  readonly name: string;
  #closing: Promise<void> | undefined;

  /** Use `connect`. */
  constructor(name: string, link: Link) {
    super(link, 0);
    this.name = name;
  }

  /**
   * Settles when every kind of statement can run without loading anything, and when the browser has compiled
   * what usual ones need, for which some run over a small database in memory. Without it both happen in pauses.
   */
  async ready(): Promise<void> {
    await this.link.call("ready", undefined);
  }

  /** The database file's bytes, as of the last commit. */
  export(): Promise<Uint8Array> {
    return this.link.call("export", undefined);
  }

  /** Waits for what was begun, makes everything durable and ends the worker. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.end();
    try {
      await this.link.call("close", undefined);
    } finally {
      this.link.end(closedError());
    }
  }
}

function closedError(): GinghamError {
  return new GinghamError({ code: Codes.closed, message: "the database is closed" });
}

function toResult<T>(wire: WireResult, options: QueryOptions): QueryResult<T> {
  const { fields, columns, changes } = wire;
  if (options.rows === "array") {
    const rows = Array.from({ length: wire.rows }, (_, row) => columns.map((values): SqlValue => values[row]!));
    return { rows: rows as T[], fields, changes };
  }
  const rows: Row[] = [];
  new RowShape(fields).appendObjects(rows, columns, wire.rows);
  return { rows: rows as T[], fields, changes };
}
