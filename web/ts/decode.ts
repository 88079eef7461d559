/**
 * Result batches as JavaScript values, read in place from the core module's memory.
 * web/src/output.rs describes the table of a batch and is the twin of this file.
 */

import type { Memory } from "./memory.js";
import { readAscii, readText } from "./text.js";
import { formatDate, formatTimestamp } from "./times.js";
import type { SqlValue, ValueOptions } from "./values.js";

const HEADER_WORDS = 4;
const COLUMN_WORDS = 8;

const Form = { boolean: 1, int32: 2, int64: 3, int128: 4, double: 5, text: 6, blob: 7 } as const;
const Type = { bigint: 3, decimal: 5, date: 8, timestamp: 9 } as const;

/** ASCII of so few bytes is read entry by entry: the decoder's call costs as much as they all. */
const FEW_BYTES = 256;

const TWO_32 = 4294967296;
/** Numbers of up to 15 digits read back exactly from a double. */
const EXACT_DIGITS = 15;
const EXACT_UNSCALED_MAX = 10 ** EXACT_DIGITS;
const DAY_MS = 86_400_000;

/** How values are decoded, settled once for a database. */
export interface Decoding {
  readonly bigintAlways: boolean;
  readonly decimal: "auto" | "string" | "number";
  readonly dates: boolean;
}

/** The options of `Database.open` with their defaults. */
export function decodingOf(options: ValueOptions): Decoding {
  return {
    bigintAlways: options.bigint === "always",
    decimal: options.decimal ?? "auto",
    dates: options.date === "date",
  };
}

/** Rows in the batch at `table`. */
export function batchRows(memory: Memory, table: number): number {
  return memory.u32[table >> 2]!;
}

/** Columns in the batch at `table`. */
export function batchColumns(memory: Memory, table: number): number {
  return memory.u32[(table >> 2) + 1]!;
}

/** Grows when the statement's column names or types have changed since its last batch. */
export function batchRevision(memory: Memory, table: number): number {
  return memory.u32[(table >> 2) + 2]!;
}

/** One column of a batch. */
export function decodeColumn(memory: Memory, table: number, column: number, how: Decoding): SqlValue[] {
  const word = (table >> 2) + HEADER_WORDS + column * COLUMN_WORDS;
  const rows = batchRows(memory, table);
  const values = decodeValues(memory, word, rows, how);
  const validity = memory.u32[word + 2]!;
  if (validity !== 0) {
    for (let row = 0; row < rows; row += 1) if (memory.u8[validity + row] === 0) values[row] = null;
  }
  return values;
}

/** The value of one column in the first row of a batch. */
export function decodeFirst(memory: Memory, table: number, column: number, how: Decoding): SqlValue {
  const { u32 } = memory;
  const word = (table >> 2) + HEADER_WORDS + column * COLUMN_WORDS;
  const validity = u32[word + 2]!;
  if (validity !== 0 && memory.u8[validity] === 0) return null;
  const address = u32[word + 1]!;
  const type = u32[word + 7]! & 0xff;
  // Without an array for the one value, nor a function to make it.
  switch (u32[word]) {
    case Form.text:
      if (u32[word + 5] !== 1) break;
      return readText(memory, address, u32[word + 3]!, u32[(u32[word + 4]! >> 2) + 1]!);
    case Form.int32:
      return type === Type.date ? toDate(memory.i32[address >> 2]!, how) : memory.i32[address >> 2]!;
    case Form.int64:
      if (type === Type.timestamp) return toTimestamp(memory.i64[address >> 3]!, how);
      if (type === Type.decimal) return toDecimal64(memory, address >> 3, u32[word + 7]! >> 8, how);
      return toBigint(memory, address >> 3, how);
    case Form.double:
      return memory.f64[address >> 3]!;
    case Form.boolean:
      return memory.u8[address] !== 0;
  }
  return decodeValues(memory, word, 1, how)[0]!;
}

function decodeValues(memory: Memory, word: number, rows: number, how: Decoding): SqlValue[] {
  const { u32 } = memory;
  const address = u32[word + 1]!;
  const type = u32[word + 7]! & 0xff;
  const scale = u32[word + 7]! >> 8;
  switch (u32[word]) {
    case Form.int32: {
      const at = address >> 2;
      if (type === Type.date) return fill(rows, (row) => toDate(memory.i32[at + row]!, how));
      return integers(memory.i32, at, rows);
    }
    case Form.double:
      return doubles(memory.f64, address >> 3, rows);
    case Form.text:
      return decodeText(memory, word, rows);
    case Form.boolean:
      return fill(rows, (row) => memory.u8[address + row] !== 0);
    case Form.int64: {
      const at = address >> 3;
      if (type === Type.timestamp) return fill(rows, (row) => toTimestamp(memory.i64[at + row]!, how));
      if (type === Type.decimal) return fill(rows, (row) => toDecimal64(memory, at + row, scale, how));
      return fill(rows, (row) => toBigint(memory, at + row, how));
    }
    case Form.int128:
      return fill(rows, (row) => toDecimal(readInt128(memory, (address >> 3) + row * 2), scale, how));
    case Form.blob:
      return decodeBlobs(memory, word, rows);
    default:
      throw new Error(`the core module gave the column form ${u32[word]}`);
  }
}

/**
 * A loop, since `Array.from` goes by way of an iterator: four numbers take it 1.2 µs and a loop
 * 0.02, two thousand 89 µs and 10.
 */
function integers(i32: Int32Array, at: number, rows: number): SqlValue[] {
  const values = new Array<SqlValue>(rows);
  for (let row = 0; row < rows; row += 1) values[row] = i32[at + row]!;
  return values;
}

/** Apart from `integers`, so that arrays made here and there each keep to one kind of elements. */
function doubles(f64: Float64Array, at: number, rows: number): SqlValue[] {
  const values = new Array<SqlValue>(rows);
  for (let row = 0; row < rows; row += 1) values[row] = f64[at + row]!;
  return values;
}

function fill(rows: number, valueOf: (row: number) => SqlValue): SqlValue[] {
  const values = new Array<SqlValue>(rows);
  for (let row = 0; row < rows; row += 1) values[row] = valueOf(row);
  return values;
}

function decodeText(memory: Memory, word: number, rows: number): SqlValue[] {
  const { u32 } = memory;
  const entries = u32[word + 5]!;
  const offsets = u32[word + 4]! >> 2;
  const address = u32[word + 1]!;
  const bytes = u32[word + 3]!;
  const units = u32[offsets + entries]!;
  if (entries === 1) return byCode(memory, word, rows, [readText(memory, address, bytes, units)]);
  const strings = new Array<string>(entries);
  let start = u32[offsets]!;
  if (bytes === units && bytes <= FEW_BYTES) {
    for (let entry = 0; entry < entries; entry += 1) {
      const end = u32[offsets + entry + 1]!;
      strings[entry] = readAscii(memory.u8, address + start, address + end);
      start = end;
    }
    return byCode(memory, word, rows, strings);
  }
  const text = readText(memory, address, bytes, units);
  for (let entry = 0; entry < entries; entry += 1) {
    const end = u32[offsets + entry + 1]!;
    strings[entry] = text.slice(start, end);
    start = end;
  }
  return byCode(memory, word, rows, strings);
}

function decodeBlobs(memory: Memory, word: number, rows: number): SqlValue[] {
  const { u32 } = memory;
  const bytes = u32[word + 1]!;
  const offsets = u32[word + 4]! >> 2;
  const codes = u32[word + 6]! >> 2;
  // Each row gets bytes of its own, since a caller may change them.
  return fill(rows, (row) => {
    const entry = offsets + (codes === 0 ? row : u32[codes + row]!);
    return memory.u8.slice(bytes + u32[entry]!, bytes + u32[entry + 1]!);
  });
}

function byCode(memory: Memory, word: number, rows: number, entries: SqlValue[]): SqlValue[] {
  const codes = memory.u32[word + 6]! >> 2;
  if (codes === 0) {
    entries.length = rows;
    return entries;
  }
  const { u32 } = memory;
  return fill(rows, (row) => entries[u32[codes + row]!]!);
}

function toBigint(memory: Memory, at: number, how: Decoding): SqlValue {
  if (how.bigintAlways) return memory.i64[at]!;
  const value = memory.i32[at * 2 + 1]! * TWO_32 + memory.u32[at * 2]!;
  return Number.isSafeInteger(value) ? value : memory.i64[at]!;
}

function toDecimal64(memory: Memory, at: number, scale: number, how: Decoding): SqlValue {
  if (how.decimal === "auto") {
    const unscaled = memory.i32[at * 2 + 1]! * TWO_32 + memory.u32[at * 2]!;
    // Both operands are exact, so the quotient is the double nearest to the decimal.
    if (unscaled < EXACT_UNSCALED_MAX && unscaled > -EXACT_UNSCALED_MAX && scale <= 22) return unscaled / 10 ** scale;
  }
  return toDecimal(memory.i64[at]!, scale, how);
}

function toDecimal(unscaled: bigint, scale: number, how: Decoding): SqlValue {
  const text = formatDecimal(unscaled, scale);
  if (how.decimal === "number") return Number(text);
  if (how.decimal === "string") return text;
  const small = unscaled < EXACT_UNSCALED_MAX && unscaled > -EXACT_UNSCALED_MAX;
  return small ? Number(text) : text;
}

/** `unscaled / 10^scale` as text, always with `scale` digits after the point. */
export function formatDecimal(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const sign = unscaled < 0n ? "-" : "";
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function readInt128(memory: Memory, at: number): bigint {
  return (memory.i64[at + 1]! << 64n) | BigInt.asUintN(64, memory.i64[at]!);
}

function toDate(days: number, how: Decoding): SqlValue {
  return how.dates ? new Date(days * DAY_MS) : formatDate(days);
}

function toTimestamp(micros: bigint, how: Decoding): SqlValue {
  return how.dates ? new Date(Number(micros / 1000n)) : formatTimestamp(micros);
}
