/** An open database in this worker. */

import { addColumn, releaseInput } from "./columns.js";
import { loadCore, type Core } from "./core-module.js";
import { Session, type Script } from "./core.js";
import { decodingOf } from "./decode.js";
import { Codes, GinghamError } from "./errors.js";
import { importRows } from "./import.js";
import { deleteFiles, openFiles, type OpenFiles } from "./opfs.js";
import { appendColumns, decodeBatch } from "./rows.js";
import { Statement, type ColumnarResult, type StatementContext } from "./statement.js";
import type {
  ColumnData,
  ImportOptions,
  ImportProgress,
  ImportSource,
  OpenOptions,
  Row,
  StorageKind,
} from "./values.js";

/** Rows that one bulk insert hands over at once. */
const CHUNK_ROWS = 128 * 1024;
/** UTF-16 units of one text column that are handed over at once. */
const CHUNK_CHARACTERS = 16 * 1024 * 1024;
/** How long a commit in relaxed mode may wait to be flushed. */
const RELAXED_DELAY_MS = 100;

/** An open database. All methods but `open`, `delete` and `ready` are synchronous. */
export class Database {
  /** The name that it was opened by. */
  readonly name: string;
  readonly #core: Core;
  readonly #session: Session;
  readonly #files: OpenFiles | undefined;
  readonly #context: StatementContext;
  #closed = false;
  #depth = 0;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;

  private constructor(name: string, core: Core, session: Session, files: OpenFiles | undefined, options: OpenOptions) {
    this.name = name;
    this.#core = core;
    this.#session = session;
    this.#files = files;
    const relaxed = options.durability === "relaxed" && files !== undefined;
    const committed = relaxed ? () => this.#flushSoon() : () => {};
    this.#context = { core, decoding: decodingOf(options), committed };
  }

  /**
   * Opens the database of a name, creating it if there is none. Storage `"opfs"` needs a
   * dedicated worker, and one worker at a time can have a database open.
   *
   * @throws GinghamError 55006 if it is open elsewhere, XX001 if it is damaged
   */
  static async open(name: string, options: OpenOptions = {}): Promise<Database> {
    const storage = options.storage ?? "opfs";
    const core = loadCore();
    core.catch(() => {}); // Awaited below; a failure to open the files may come first.
    const files = await openStorage(name, storage);
    try {
      return Database.#openOver(await core, name, files, options);
    } catch (error) {
      files?.release();
      throw error;
    }
  }

  /** Removes the database of a name from OPFS. No error if there is none. */
  static delete(name: string): Promise<void> {
    return deleteFiles(name);
  }

  static #openOver(core: Core, name: string, files: OpenFiles | undefined, options: OpenOptions): Database {
    const { durability, cacheBytes, memoryBytes } = options;
    const relaxed = durability === "relaxed";
    const session = core.call(() =>
      Session.open(name, files?.names, files?.handles, relaxed, cacheBytes, memoryBytes),
    );
    if (session === undefined) throw core.failure();
    core.planner.loadWhenIdle(() => core.calls).catch(() => {});
    return new Database(name, core, session, files, options);
  }

  /**
   * Settles when every statement can run without waiting: when the planner is loaded, and the browser has compiled
   * what usual statements need, for which some run over a small database in memory. Without it both happen in pauses.
   */
  async ready(): Promise<void> {
    try {
      await this.#core.planner.load();
    } catch (error) {
      throw new GinghamError({ code: Codes.io, message: (error as Error).message }, { cause: error });
    }
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.#call(() => this.#session.in_transaction());
  }

  /** Whether the database is open. */
  get open(): boolean {
    return !this.#closed;
  }

  /** Runs any number of statements and drops their rows. The first that fails ends it. */
  exec(sql: string): void {
    this.#execute(sql, false).free();
    this.#context.committed();
  }

  /** Runs any number of statements and gives the result of each. */
  script(sql: string): ColumnarResult[] {
    const script = this.#execute(sql, true);
    this.#context.committed();
    try {
      const results: ColumnarResult[] = [];
      while (this.#call(() => script.advance())) results.push(this.#readResult(script));
      return results;
    } finally {
      script.free();
    }
  }

  /**
   * Prepares one statement, unless it needs the planner and that is not loaded.
   *
   * @internal
   */
  prepareAtOnce<T = Row>(sql: string): Statement<T> | undefined {
    return this.#core.planner.unlessNeeded(() => this.prepare<T>(sql));
  }

  /**
   * Settles when the planner has been loaded without disturbing statements.
   *
   * @internal
   */
  plannerInBackground(): Promise<void> {
    return this.#core.planner.loadWhenIdle(() => this.#core.calls);
  }

  /**
   * Settles when statements can be planned, though the first of them slowly.
   *
   * @internal
   */
  plannerLoaded(): Promise<void> {
    return this.#core.planner.instantiated();
  }

  /** Prepares one statement. */
  prepare<T = Row>(sql: string): Statement<T> {
    const prepared = this.#call(() => this.#session.prepare(sql));
    if (prepared === undefined) throw this.#core.failure();
    return new Statement<T>(this.#context, prepared, false);
  }

  /**
   * Inserts rows given as columns: by far the quickest way to insert many. All of them are
   * inserted, or none.
   *
   * @param columns arrays of one length by column name; the other columns get their defaults
   * @returns the rows inserted
   */
  insertMany(table: string, columns: Readonly<Record<string, ColumnData>>): { changes: number } {
    const entries = Object.entries(columns);
    const rows = entries[0]?.[1].length ?? 0;
    for (const [name, data] of entries) {
      if (data.length !== rows) {
        throw new GinghamError({
          code: Codes.parameter,
          message: `column ${name} has ${data.length} values where ${entries[0]?.[0]} has ${rows}`,
        });
      }
    }
    const first = chunkEnd(entries, 0, rows);
    if (first === rows) return { changes: this.#insertChunk(table, entries, 0, rows) };
    return this.transaction(() => {
      let changes = 0;
      for (let start = 0; start < rows; ) {
        const end = chunkEnd(entries, start, rows);
        changes += this.#insertChunk(table, entries, start, end);
        start = end;
      }
      return { changes };
    });
  }

  /** Inserts the rows of an Arrow IPC stream; its fields name the columns. */
  insertArrow(table: string, stream: Uint8Array): { changes: number } {
    const changes = this.#call(() => this.#session.insert_arrow(table, stream));
    if (changes < 0) throw this.#core.failure();
    this.#context.committed();
    return { changes };
  }

  /**
   * Imports the rows of a CSV text or an Arrow IPC stream, all or none, reading piece by piece.
   * Until it has settled, statements that change data run in its transaction.
   *
   * @param progress called after every piece
   * @returns the rows imported
   */
  async import(
    source: ImportSource,
    options: ImportOptions,
    progress: (progress: ImportProgress) => void = () => {},
  ): Promise<{ changes: number }> {
    const changes = await this.#call(() => importRows(this.#core, this.#session, source, options, progress));
    this.#context.committed();
    return { changes };
  }

  /**
   * Runs `body` in a transaction: committed when it returns, rolled back when it throws. Inside
   * another transaction it is a savepoint. `body` must not be asynchronous.
   *
   * @returns what `body` returned
   */
  transaction<T>(body: () => T): T {
    const nested = this.inTransaction;
    const savepoint = `gingham_${(this.#depth += 1)}`;
    try {
      this.exec(nested ? `SAVEPOINT ${savepoint}` : "BEGIN");
      let result: T;
      try {
        result = body();
        if (result instanceof Promise) throw asynchronousBody(result);
      } catch (error) {
        this.#undo(nested ? `ROLLBACK TO ${savepoint}; RELEASE ${savepoint}` : "ROLLBACK");
        throw error;
      }
      this.exec(nested ? `RELEASE ${savepoint}` : "COMMIT");
      return result;
    } finally {
      this.#depth -= 1;
    }
  }

  /** Writes everything to its place in the file and empties the log. */
  checkpoint(): void {
    if (!this.#call(() => this.#session.checkpoint())) throw this.#core.failure();
  }

  /** Makes commits of relaxed durability durable now. */
  flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (!this.#call(() => this.#session.flush())) throw this.#core.failure();
  }

  /** The database file's bytes, as of the last commit. */
  export(): Uint8Array {
    const bytes = this.#call(() => this.#session.export());
    if (bytes === undefined) throw this.#core.failure();
    return bytes;
  }

  /**
   * Makes everything durable and lets others have the database. An open transaction is rolled
   * back. Closing twice is no error.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#flushTimer);
    try {
      if (!this.#core.call(() => this.#session.close())) throw this.#core.failure();
    } finally {
      this.#files?.release();
    }
  }

  #call<T>(body: () => T): T {
    if (this.#closed) throw new GinghamError({ code: Codes.closed, message: "the database is closed" });
    return this.#core.call(body);
  }

  #execute(sql: string, keep: boolean): Script {
    const script = this.#call(() => this.#session.execute(sql, keep));
    if (script === undefined) throw this.#core.failure();
    return script;
  }

  #readResult(script: Script): ColumnarResult {
    const { memory } = this.#core;
    const fields = this.#call(() =>
      Array.from({ length: script.column_count() }, (_, index) => ({
        name: script.column_name(index),
        type: script.column_type(index),
      })),
    );
    const columns: ColumnarResult["columns"] = fields.map(() => []);
    let rows = 0;
    for (;;) {
      const table = this.#call(() => script.next());
      if (table === 0) return { fields, columns, rows, changes: this.#call(() => script.changes()) };
      memory.refresh();
      const batch = decodeBatch(memory, table, this.#context.decoding);
      appendColumns(columns, batch.columns);
      rows += batch.rows;
    }
  }

  #insertChunk(table: string, entries: readonly [string, ColumnData][], start: number, end: number): number {
    const rows = end - start;
    const { parameters, memory } = this.#core;
    let changes: number;
    try {
      for (const [name, data] of entries) {
        if (!this.#call(() => addColumn(this.#session, memory, name, data, start, rows))) throw this.#core.failure();
      }
      changes = this.#call(() => this.#session.insert_columns(table));
    } finally {
      this.#call(() => this.#session.drop_columns());
      this.#call(releaseInput);
      parameters.forget();
    }
    if (changes < 0) throw this.#core.failure();
    this.#context.committed();
    return changes;
  }

  #undo(sql: string): void {
    try {
      if (this.inTransaction) this.exec(sql);
    } catch {
      // The error that led here is the one to tell; a failed rollback has poisoned the handle.
    }
  }

  #flushSoon(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      if (this.#closed) return;
      // A failed flush poisons the handle, so that the next call tells.
      if (!this.#core.call(() => this.#session.flush())) console.error(this.#core.failure());
    }, RELAXED_DELAY_MS);
  }
}

function openStorage(name: string, storage: StorageKind): Promise<OpenFiles | undefined> {
  switch (storage) {
    case "opfs":
      return openFiles(name);
    case "memory":
      return Promise.resolve(undefined);
    default:
      return Promise.reject(
        new GinghamError({
          code: Codes.unsupported,
          message: `storage '${storage as string}' is not supported by this version`,
          hint: "use storage 'opfs' or 'memory'",
        }),
      );
  }
}

/** Where the chunk that starts at `start` ends, so that its texts stay within bounds. */
function chunkEnd(entries: readonly [string, ColumnData][], start: number, rows: number): number {
  let end = Math.min(rows, start + CHUNK_ROWS);
  for (const [, data] of entries) {
    if (!Array.isArray(data)) continue;
    let size = 0;
    for (let row = start; row < end; row += 1) {
      size += sizeOf((data as unknown[])[row]);
      // One value that is larger than a chunk may be is a chunk of its own.
      if (size > CHUNK_CHARACTERS) end = Math.max(row, start + 1);
    }
  }
  return end;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return value instanceof Uint8Array ? value.length : 0;
}

function asynchronousBody(promise: Promise<unknown>): GinghamError {
  promise.catch(() => {});
  return new GinghamError({
    code: Codes.parameter,
    message: "the body of a transaction must not be asynchronous",
    hint: "use connect() from the package 'gingham' for asynchronous transactions",
  });
}
