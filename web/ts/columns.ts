/**
 * Whole columns as the core module reads them, for `insertMany`. web/src/columns.rs is the twin.
 */

import { release_input, type Session } from "./core.js";
import { Codes, GinghamError } from "./errors.js";
import { reserveInput } from "./input.js";
import type { Memory } from "./memory.js";
import { bytesOf, dateMicros } from "./parameters.js";
import { utf8BytesMax } from "./text.js";
import type { ColumnData, Parameter } from "./values.js";

const Form = { nulls: 0, boolean: 1, int32: 2, int64: 3, double: 4, text: 5, blob: 6 } as const;
const encoder = new TextEncoder();

interface Layout {
  form: number;
  /** Bytes of one value, or of one length for texts and blobs. */
  valueBytes: number;
}

const LAYOUTS = {
  nulls: { form: Form.nulls, valueBytes: 0 },
  boolean: { form: Form.boolean, valueBytes: 1 },
  int32: { form: Form.int32, valueBytes: 4 },
  bigint: { form: Form.int64, valueBytes: 8 },
  // As ISO text, which the engine converts to DATE and to TIMESTAMP alike.
  date: { form: Form.text, valueBytes: 4 },
  double: { form: Form.double, valueBytes: 8 },
  text: { form: Form.text, valueBytes: 4 },
  blob: { form: Form.blob, valueBytes: 4 },
} as const satisfies Record<string, Layout>;

/** Hands `rows` values of `data`, from `start` on, to the session's next bulk insert. */
export function addColumn(
  session: Session,
  memory: Memory,
  name: string,
  data: ColumnData,
  start: number,
  rows: number,
): boolean {
  if (data instanceof BigInt64Array) return addBigints(session, memory, name, data.subarray(start, start + rows));
  if (isTypedArray(data)) return addNumbers(session, memory, name, data, start, rows);
  return addValues(session, memory, name, data.slice(start, start + rows));
}

/** Frees the input buffer, large after a bulk insert; the next writer has to reserve it anew. */
export function releaseInput(): void {
  release_input();
}

type NumberArray = Exclude<ColumnData, readonly Parameter[] | BigInt64Array>;

function isTypedArray(data: ColumnData): data is NumberArray {
  return ArrayBuffer.isView(data);
}

function addBigints(session: Session, memory: Memory, name: string, values: BigInt64Array): boolean {
  const address = reserveInput(values.byteLength);
  memory.refresh();
  memory.i64.set(values, address >> 3);
  return session.add_column(name, Form.int64, values.length, false, 0);
}

function addNumbers(
  session: Session,
  memory: Memory,
  name: string,
  data: NumberArray,
  start: number,
  rows: number,
): boolean {
  const values = data.subarray(start, start + rows);
  const wide = data instanceof Float64Array || data instanceof Float32Array;
  if (wide || data instanceof Uint32Array) {
    const address = reserveInput(rows * 8);
    memory.refresh();
    if (wide) memory.f64.set(values, address >> 3);
    else for (let row = 0; row < rows; row += 1) memory.i64[(address >> 3) + row] = BigInt(values[row]!);
    const layout = wide ? LAYOUTS.double : LAYOUTS.bigint;
    return session.add_column(name, layout.form, rows, false, 0);
  }
  const address = reserveInput(rows * 4);
  memory.refresh();
  memory.i32.set(values, address >> 2);
  return session.add_column(name, Form.int32, rows, false, 0);
}

function addValues(session: Session, memory: Memory, name: string, given: readonly Parameter[]): boolean {
  const found = layoutOf(name, given);
  const layout = found === LAYOUTS.date ? LAYOUTS.text : found;
  const values = found === LAYOUTS.date ? given.map((value) => (value == null ? null : isoText(value as Date))) : given;
  const rows = values.length;
  const hasNulls = values.includes(null) || values.includes(undefined);
  const validityAt = padded(rows * layout.valueBytes);
  const bytesAt = validityAt + (hasNulls ? padded(rows) : 0);
  const joined = layout === LAYOUTS.text ? joinText(values) : "";
  const blobs = layout === LAYOUTS.blob ? values.map((value) => (value == null ? EMPTY : bytesOf(value as object))) : [];
  const blobBytes = blobs.reduce((sum, blob) => sum + blob.length, 0);
  const capacity = bytesAt + utf8BytesMax(joined.length) + blobBytes;
  const address = reserveInput(capacity);
  memory.refresh();
  if (hasNulls) writeValidity(memory, address + validityAt, values);
  writeValues(memory, address, layout, values, blobs);
  let bytes = blobBytes;
  if (layout === LAYOUTS.text) {
    const target = memory.u8.subarray(address + bytesAt, address + capacity);
    bytes = encoder.encodeInto(joined, target).written;
  }
  let at = address + bytesAt;
  for (const blob of blobs) {
    memory.u8.set(blob, at);
    at += blob.length;
  }
  return session.add_column(name, layout.form, rows, hasNulls, bytes);
}

const EMPTY = new Uint8Array(0);

function isoText(date: Date): string {
  dateMicros(date); // Refuses an invalid one.
  return date.toISOString();
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

function joinText(values: readonly Parameter[]): string {
  return values.map((value) => value ?? "").join("");
}

function writeValidity(memory: Memory, address: number, values: readonly Parameter[]): void {
  values.forEach((value, row) => {
    memory.u8[address + row] = value == null ? 0 : 1;
  });
}

function writeValues(
  memory: Memory,
  address: number,
  layout: Layout,
  values: readonly Parameter[],
  blobs: readonly Uint8Array[],
): void {
  const { i32, u32, u8, f64, i64 } = memory;
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] ?? null;
    switch (layout) {
      case LAYOUTS.boolean:
        u8[address + row] = value === true ? 1 : 0;
        break;
      case LAYOUTS.int32:
        i32[(address >> 2) + row] = (value as number | null) ?? 0;
        break;
      case LAYOUTS.bigint:
        i64[(address >> 3) + row] = BigInt((value as number | bigint | null) ?? 0);
        break;
      case LAYOUTS.double:
        f64[(address >> 3) + row] = Number(value ?? 0);
        break;
      case LAYOUTS.text:
        u32[(address >> 2) + row] = value === null ? 0 : (value as string).length;
        break;
      case LAYOUTS.blob:
        u32[(address >> 2) + row] = blobs[row]!.length;
        break;
      default:
        break;
    }
  }
}

/** The one layout that holds every value, or an error that names the first that does not fit. */
function layoutOf(name: string, values: readonly Parameter[]): Layout {
  let found: keyof typeof LAYOUTS = "nulls";
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row];
    if (value == null) continue;
    const own = ownLayout(value);
    if (found === own || found === "nulls") found = own;
    else if (NUMERIC.has(found) && NUMERIC.has(own)) found = widest(found, own);
    else {
      throw new GinghamError({
        code: Codes.parameter,
        message: `column ${name} has values of different types: ${found} before row ${row}, ${own} there`,
      });
    }
  }
  return LAYOUTS[found];
}

const NUMERIC: ReadonlySet<string> = new Set(["int32", "bigint", "double"]);

function widest(a: keyof typeof LAYOUTS, b: keyof typeof LAYOUTS): keyof typeof LAYOUTS {
  return a === "double" || b === "double" ? "double" : "bigint";
}

function ownLayout(value: NonNullable<Parameter>): keyof typeof LAYOUTS {
  switch (typeof value) {
    case "number":
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) return "double";
      return (value | 0) === value ? "int32" : "bigint";
    case "bigint":
      if (BigInt.asIntN(64, value) !== value) {
        throw new GinghamError({ code: "22003", message: `${value} is out of range for BIGINT` });
      }
      return "bigint";
    case "string":
      return "text";
    case "boolean":
      return "boolean";
    default:
      return value instanceof Date ? "date" : "blob";
  }
}
