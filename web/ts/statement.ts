/** Prepared statements. */

import type { Core } from "./core-module.js";
import type { Cursor, Prepared } from "./core.js";
import { batchRevision, type Decoding } from "./decode.js";
import { Codes, GinghamError } from "./errors.js";
import { appendArrays, appendColumns, decodeBatch, firstArray, RowShape } from "./rows.js";
import type { Column, NamedParameters, Parameter, Row, SqlValue } from "./values.js";

/** The address that says a call failed; see web/src/prepared.rs. */
const FAILED = 1;

/** What `run` gives. */
export interface RunResult {
  /** Rows inserted, updated or deleted. */
  changes: number;
}

/** A whole result, column by column. */
export interface ColumnarResult {
  fields: Column[];
  /** One array of values a column. */
  columns: SqlValue[][];
  rows: number;
  /** Rows inserted, updated or deleted. */
  changes: number;
}

/** Values for a statement's parameters: in order, as one array, or by name in one object. */
export type Parameters = readonly Parameter[] | readonly [readonly Parameter[]] | readonly [NamedParameters];

/** What a statement needs of its database. */
export interface StatementContext {
  readonly core: Core;
  readonly decoding: Decoding;
  /** Called after a statement that may have committed. */
  committed(): void;
}

/** A statement that is prepared once and run many times. It is freed with its last reference. */
export class Statement<T = Row> {
  readonly #context: StatementContext;
  readonly #prepared: Prepared;
  readonly #parameterCount: number;
  readonly #raw: boolean;
  readonly #positions = new Map<string, number>();
  #columns: Column[] | undefined;
  #shape: RowShape | undefined;
  #revision = 0;

  /** Use `Database.prepare`. */
  constructor(context: StatementContext, prepared: Prepared, raw: boolean) {
    this.#context = context;
    this.#prepared = prepared;
    this.#raw = raw;
    this.#parameterCount = prepared.parameter_count();
  }

  /** The first row, or undefined if there is none. */
  get(...parameters: Parameters): T | undefined {
    const { core, decoding } = this.#context;
    const count = this.#bind(parameters);
    let table: number;
    try {
      table = this.#prepared.first(count);
    } catch (error) {
      throw core.crashed(error);
    }
    if (table <= FAILED) return this.#noRow(table);
    this.#context.committed();
    core.memory.refresh();
    if (this.#raw) return firstArray(core.memory, table, decoding) as T;
    return this.#shapeOf(table).firstObject(core.memory, table, decoding) as T;
  }

  /** All rows. */
  all(...parameters: Parameters): T[] {
    const rows: T[] = [];
    for (let table = this.#begin(parameters); table > FAILED; table = this.#next()) this.#append(rows, table);
    return rows;
  }

  /**
   * The rows one after the other, read as they are asked for. The statement may be run again
   * while they are being read.
   */
  iterate(...parameters: Parameters): IterableIterator<T> {
    const { core } = this.#context;
    const count = this.#bind(parameters);
    const cursor = core.call(() => this.#prepared.cursor(count));
    if (cursor === undefined) throw core.failure();
    return this.#rowsOf(cursor);
  }

  /** Runs the statement; rows that it gives are dropped. */
  run(...parameters: Parameters): RunResult {
    const { core } = this.#context;
    const count = this.#bind(parameters);
    let changes: number;
    try {
      changes = this.#prepared.run(count);
    } catch (error) {
      throw core.crashed(error);
    }
    if (changes < 0) throw core.failure();
    this.#context.committed();
    return { changes };
  }

  /** The same statement with rows as arrays, in the order of `columns`. */
  raw(): Statement<SqlValue[]> {
    return new Statement<SqlValue[]>(this.#context, this.#prepared, true);
  }

  /** The result columns; none for a statement without rows. */
  columns(): Column[] {
    return [...this.#readColumns()];
  }

  /** The result as an Arrow IPC stream. */
  arrow(...parameters: Parameters): Uint8Array {
    const { core } = this.#context;
    const count = this.#bind(parameters);
    const stream = core.call(() => this.#prepared.arrow(count));
    if (stream === undefined) throw core.failure();
    this.#context.committed();
    return stream;
  }

  /** The whole result, column by column: the quickest form to make and to post to another thread. */
  columnar(...parameters: Parameters): ColumnarResult {
    const { core, decoding } = this.#context;
    let columns: SqlValue[][] | undefined;
    let rows = 0;
    for (let table = this.#begin(parameters); table > FAILED; table = this.#next()) {
      this.#shapeOf(table);
      const batch = decodeBatch(core.memory, table, decoding);
      rows += batch.rows;
      if (columns === undefined) columns = batch.columns;
      else appendColumns(columns, batch.columns);
    }
    const fields = this.columns();
    columns ??= fields.map(() => []);
    return { fields, columns, rows, changes: this.#prepared.changes() };
  }

  #bind(parameters: Parameters): number {
    const { core } = this.#context;
    core.assertAlive();
    const first = parameters[0];
    const values =
      parameters.length === 1 && typeof first === "object" && first !== null
        ? this.#spread(first)
        : (parameters as readonly Parameter[]);
    if (values.length !== this.#parameterCount) {
      throw new GinghamError({
        code: Codes.parameter,
        message: `the statement takes ${this.#parameterCount} parameters and got ${values.length}`,
      });
    }
    return core.parameters.write(values);
  }

  /** A single argument may be an array of values, an object of named ones, or a value itself. */
  #spread(argument: object): readonly Parameter[] {
    if (Array.isArray(argument)) return argument as Parameter[];
    const prototype: unknown = Object.getPrototypeOf(argument);
    if (prototype !== Object.prototype && prototype !== null) return [argument as Parameter];
    const values = new Array<Parameter>(this.#parameterCount);
    for (const [name, value] of Object.entries(argument as NamedParameters)) values[this.#positionOf(name)] = value;
    for (let index = 0; index < values.length; index += 1) {
      if (!(index in values)) {
        throw new GinghamError({ code: Codes.parameter, message: `parameter ${index + 1} has no value` });
      }
    }
    return values;
  }

  /** Asks the module once for each name: a text takes longer to hand over than a row to find. */
  #positionOf(name: string): number {
    let position = this.#positions.get(name);
    if (position === undefined) {
      position = this.#context.core.call(() => this.#prepared.parameter_index(name));
      if (position < 0) {
        throw new GinghamError({ code: Codes.parameter, message: `the statement has no parameter named ${name}` });
      }
      this.#positions.set(name, position);
    }
    return position;
  }

  #noRow(table: number): undefined {
    if (table === FAILED) throw this.#context.core.failure();
    this.#context.committed();
    return undefined;
  }

  /** The first batch; 0 if there is none. */
  #begin(parameters: Parameters): number {
    const count = this.#bind(parameters);
    let table: number;
    try {
      table = this.#prepared.begin(count);
    } catch (error) {
      throw this.#context.core.crashed(error);
    }
    return this.#arrived(table);
  }

  /** The next batch of what `#begin` began; 0 after the last. */
  #next(): number {
    let table: number;
    try {
      table = this.#prepared.next();
    } catch (error) {
      throw this.#context.core.crashed(error);
    }
    return this.#arrived(table);
  }

  #arrived(table: number): number {
    if (table === FAILED) throw this.#context.core.failure();
    if (table === 0) this.#context.committed();
    else this.#context.core.memory.refresh();
    return table;
  }

  #append(rows: T[], table: number): void {
    const { core, decoding } = this.#context;
    // The shape is read first: asking for names calls the module, which may move its memory.
    const shape = this.#raw ? undefined : this.#shapeOf(table);
    const batch = decodeBatch(core.memory, table, decoding);
    if (shape === undefined) appendArrays(rows as SqlValue[][], batch.columns, batch.rows);
    else shape.appendObjects(rows as Row[], batch.columns, batch.rows);
  }

  *#rowsOf(cursor: Cursor): Generator<T, undefined> {
    const { core } = this.#context;
    try {
      for (;;) {
        const table = core.call(() => cursor.next());
        if (table === FAILED) throw core.failure();
        if (table === 0) return undefined;
        core.memory.refresh();
        const rows: T[] = [];
        this.#append(rows, table);
        yield* rows;
      }
    } finally {
      cursor.free();
      this.#context.committed();
    }
  }

  #shapeOf(table: number): RowShape {
    const revision = batchRevision(this.#context.core.memory, table);
    if (this.#shape === undefined || revision !== this.#revision) {
      this.#columns = undefined;
      this.#shape = new RowShape(this.#readColumns());
      this.#revision = revision;
      // Reading the names may have made the module's memory grow.
      this.#context.core.memory.refresh();
    }
    return this.#shape;
  }

  #readColumns(): Column[] {
    const prepared = this.#prepared;
    this.#columns ??= this.#context.core.call(() =>
      Array.from({ length: prepared.column_count() }, (_, index) => ({
        name: prepared.column_name(index),
        type: prepared.column_type(index),
      })),
    );
    return this.#columns;
  }
}
