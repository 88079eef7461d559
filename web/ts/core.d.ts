/**
 * The surface of the core wasm module, as web/src/bindings.rs exports it. wasm-bindgen writes
 * core.js and declarations of its own beside the built package; this file is what the package's
 * source is checked against, so that it can be read and checked without building wasm.
 */

import type { SyncAccessHandle } from "./opfs.js";
import type { Host } from "./host.js";

/** The exports that wasm itself has. */
export interface CoreExports {
  readonly memory: WebAssembly.Memory;
}

/** Instantiates the module. */
export default function initialize(options: {
  module_or_path: WebAssembly.Module | Response | Promise<Response> | URL;
}): Promise<CoreExports>;

/** Hands in what the module needs of JavaScript. Called once, first. */
export function start(host: Host): void;

/** The address of at least `bytes` writable bytes, a multiple of eight; 0 if memory has no room. */
export function reserve_input(bytes: number): number;
/** Frees the input buffer. */
export function release_input(): void;

/** The error of the last call that said it failed. */
export function take_failure(): Failure | undefined;

/** An SQL error; positions are 0 where unknown. */
export class Failure {
  private constructor();
  free(): void;
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly hint: string | undefined;
}

/** One open database with its connection. */
export class Session {
  private constructor();
  free(): void;
  /** Opens a database in memory (no handles) or over open OPFS handles. */
  static open(
    name: string,
    names: string[] | undefined,
    handles: SyncAccessHandle[] | undefined,
    relaxed: boolean,
    cacheBytes: number | undefined,
    memoryBytes: number | undefined,
  ): Session | undefined;
  prepare(sql: string): Prepared | undefined;
  /** Runs a script; with `keep`, the results of every statement are kept for reading. */
  execute(sql: string, keep: boolean): Script | undefined;
  in_transaction(): boolean;
  /** Reads the column in the input buffer and adds it to the next bulk insert. */
  add_column(name: string, form: number, rows: number, nulls: boolean, bytes: number): boolean;
  /** Inserts the columns added since the last insert; rows, or -1 on failure. */
  insert_columns(table: string): number;
  /** Forgets the columns added. */
  drop_columns(): void;
  /** Inserts an Arrow IPC stream; rows, or -1 on failure. */
  insert_arrow(table: string, stream: Uint8Array): number;
  /** Begins an import of CSV; `delimiter` is a byte. */
  import_csv(
    table: string,
    header: boolean,
    delimiter: number,
    nullText: string,
    columns: string[] | undefined,
  ): Import | undefined;
  checkpoint(): boolean;
  flush(): boolean;
  /** The file's bytes after a checkpoint. */
  export(): Uint8Array | undefined;
  close(): boolean;
}

/** Statements that run once so that the browser has compiled what first ones need. */
export class WarmUp {
  private constructor();
  free(): void;
  /** Opens a database in memory. */
  static begin(): WarmUp | undefined;
  /** Runs the next statement over it; false if it was the last. */
  step(): boolean;
}

/** A CSV text on its way into a table. */
export class Import {
  private constructor();
  free(): void;
  /** Takes the next piece of the text. */
  push(bytes: Uint8Array): boolean;
  /** Rows read so far. */
  rows(): number;
  /** Makes the rows visible; how many there were, or -1 on failure. */
  finish(): number;
  /** Gives up; nothing of the import stays. */
  abort(): boolean;
}

/**
 * A prepared statement. `parameters` counts slots in the input buffer. Addresses are those of a
 * batch's table (see web/src/output.rs): 0 is no row, 1 a failure.
 */
export class Prepared {
  private constructor();
  free(): void;
  column_count(): number;
  column_name(index: number): string;
  column_type(index: number): string;
  returns_rows(): boolean;
  parameter_count(): number;
  /** The index of a named parameter, or -1. */
  parameter_index(name: string): number;
  /** Runs the statement and gives its first batch; the rest is dropped. */
  first(parameters: number): number;
  /** Runs the statement and gives its first batch; `next` gives the others. */
  begin(parameters: number): number;
  next(): number;
  /** Rows that the last `begin` changed. */
  changes(): number;
  /** Drops what `begin` left. */
  finish(): void;
  /** Runs the statement for a cursor of its own. */
  cursor(parameters: number): Cursor | undefined;
  /** Runs the statement; rows changed, or -1 on failure. */
  run(parameters: number): number;
  /** Runs the statement; the result as an Arrow IPC stream. */
  arrow(parameters: number): Uint8Array | undefined;
}

/** An open result that does not hold up its statement. */
export class Cursor {
  private constructor();
  free(): void;
  next(): number;
}

/** The kept results of a script, one after the other. */
export class Script {
  private constructor();
  free(): void;
  /** Moves to the next statement's result; false after the last. */
  advance(): boolean;
  column_count(): number;
  column_name(index: number): string;
  column_type(index: number): string;
  /** The next batch of the current result. */
  next(): number;
  changes(): number;
}
