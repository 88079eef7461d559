/** Decoded columns put together as rows. */

import { batchColumns, batchRows, decodeColumn, decodeFirst, type Decoding } from "./decode.js";
import type { Memory } from "./memory.js";
import type { Column, Row, SqlValue } from "./values.js";

/** What rows of one statement look like. */
export class RowShape {
  readonly names: readonly string[];
  readonly #template: Row;

  constructor(columns: readonly Column[]) {
    this.names = columns.map((column) => column.name);
    this.#template = {};
    for (const name of this.names) {
      // Defined, not assigned: a column may be called __proto__.
      Object.defineProperty(this.#template, name, { value: null, writable: true, enumerable: true, configurable: true });
    }
  }

  /** The first row of the batch at `table`, by column name. */
  firstObject(memory: Memory, table: number, how: Decoding): Row {
    // A copy of the template has all its properties at once, which keeps one shape for all rows.
    const row = { ...this.#template };
    const { names } = this;
    for (let column = 0; column < names.length; column += 1) {
      row[names[column]!] = decodeFirst(memory, table, column, how);
    }
    return row;
  }

  /** Appends the rows of a batch, by column name. */
  appendObjects(rows: Row[], columns: readonly SqlValue[][], count: number): void {
    const { names } = this;
    for (let index = 0; index < count; index += 1) {
      const row = { ...this.#template };
      for (let column = 0; column < names.length; column += 1) row[names[column]!] = columns[column]![index]!;
      rows.push(row);
    }
  }
}

/** The first row of the batch at `table` as an array. */
export function firstArray(memory: Memory, table: number, how: Decoding): SqlValue[] {
  const width = batchColumns(memory, table);
  const row = new Array<SqlValue>(width);
  for (let column = 0; column < width; column += 1) row[column] = decodeFirst(memory, table, column, how);
  return row;
}

/** Appends the rows of a batch as arrays. */
export function appendArrays(rows: SqlValue[][], columns: readonly SqlValue[][], count: number): void {
  const width = columns.length;
  if (width === 1) {
    for (const value of columns[0]!) rows.push([value]);
    return;
  }
  if (width === 2) {
    const [first, second] = columns as [SqlValue[], SqlValue[]];
    for (let index = 0; index < count; index += 1) rows.push([first[index]!, second[index]!]);
    return;
  }
  for (let index = 0; index < count; index += 1) {
    const row = new Array<SqlValue>(width);
    for (let column = 0; column < width; column += 1) row[column] = columns[column]![index]!;
    rows.push(row);
  }
}

/** All columns of the batch at `table`. */
export function decodeBatch(memory: Memory, table: number, how: Decoding): { columns: SqlValue[][]; rows: number } {
  const width = batchColumns(memory, table);
  const columns = new Array<SqlValue[]>(width);
  for (let column = 0; column < width; column += 1) columns[column] = decodeColumn(memory, table, column, how);
  return { columns, rows: batchRows(memory, table) };
}

/** Appends the values of a batch's columns to those before them. */
export function appendColumns(all: readonly SqlValue[][], batch: readonly SqlValue[][]): void {
  batch.forEach((values, index) => {
    const target = all[index]!;
    for (const value of values) target.push(value);
  });
}
