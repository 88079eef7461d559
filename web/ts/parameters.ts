/**
 * Parameters as the core module reads them: slots of 16 bytes at the start of the input buffer,
 * the bytes of texts and blobs after them. web/src/input.rs is the twin.
 */

import { Codes, GinghamError } from "./errors.js";
import { reserveInput } from "./input.js";
import type { Memory } from "./memory.js";
import { utf8BytesMax, writeText } from "./text.js";
import type { Parameter } from "./values.js";

const SLOT_BYTES = 16;
const TWO_32 = 4294967296;

const Kind = { null: 0, boolean: 1, int: 2, double: 3, text: 4, blob: 5, timestamp: 6, decimal: 7 } as const;

/** Room that no ordinary statement exceeds, so that its size is checked without being counted. */
const USUAL_BYTES = 64 * 1024;
const BIGINT_MIN = -(2n ** 63n);
const BIGINT_MAX = 2n ** 63n - 1n;
const MICROS_PER_MS = 1000;

/** Writes parameters into the input buffer. */
export class ParameterWriter {
  readonly #memory: Memory;
  #address = 0;
  #capacity = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /**
   * Writes `parameters`, one slot each.
   *
   * @returns how many there are
   */
  write(parameters: readonly Parameter[]): number {
    const count = parameters.length;
    const memory = this.#memory;
    const bytes = count * SLOT_BYTES + payloadBytesMax(parameters);
    if (bytes > this.#capacity) this.#reserve(bytes);
    memory.refresh();
    const { u32, i32 } = memory;
    let at = count * SLOT_BYTES;
    for (let index = 0; index < count; index += 1) {
      const value = parameters[index];
      const slot = this.#address + index * SLOT_BYTES;
      // Most are small integers. Zero may be -0, which is no integer.
      if (typeof value === "number" && (value | 0) === value && value !== 0) {
        u32[slot >> 2] = Kind.int;
        i32[(slot >> 2) + 2] = value;
        i32[(slot >> 2) + 3] = value >> 31;
      } else {
        at = this.#writeSlot(memory, slot, at, value);
      }
    }
    return count;
  }

  /** The buffer's address has changed, or it was freed. */
  forget(): void {
    this.#capacity = 0;
  }

  #reserve(bytes: number): void {
    const capacity = Math.max(bytes, USUAL_BYTES);
    // A reservation that fails leaves no buffer behind.
    this.#capacity = 0;
    this.#address = reserveInput(capacity);
    this.#capacity = capacity;
  }

  /** @returns where the next payload goes, as an offset in the buffer */
  #writeSlot(memory: Memory, slot: number, at: number, value: Parameter): number {
    const { u32, i32 } = memory;
    const word = slot >> 2;
    switch (typeof value) {
      case "number":
        if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
          u32[word] = Kind.int;
          i32[word + 2] = value | 0;
          i32[word + 3] = Math.floor(value / TWO_32);
        } else {
          u32[word] = Kind.double;
          memory.f64[slot >> 3 | 1] = value;
        }
        return at;
      case "string":
        return this.#writeText(memory, word, at, Kind.text, value);
      case "boolean":
        u32[word] = Kind.boolean;
        u32[word + 2] = value ? 1 : 0;
        return at;
      case "bigint":
        if (value < BIGINT_MIN || value > BIGINT_MAX) {
          return this.#writeText(memory, word, at, Kind.decimal, value.toString());
        }
        u32[word] = Kind.int;
        memory.i64[slot >> 3 | 1] = value;
        return at;
      case "undefined":
        u32[word] = Kind.null;
        return at;
    }
    if (value === null) {
      u32[word] = Kind.null;
      return at;
    }
    if (value instanceof Date) {
      u32[word] = Kind.timestamp;
      memory.i64[slot >> 3 | 1] = BigInt(dateMicros(value));
      return at;
    }
    const blob = bytesOf(value);
    u32[word] = Kind.blob;
    u32[word + 1] = blob.length;
    u32[word + 2] = at;
    memory.u8.set(blob, this.#address + at);
    return at + blob.length;
  }

  #writeText(memory: Memory, word: number, at: number, kind: number, text: string): number {
    const bytes = writeText(memory, this.#address + at, text);
    memory.u32[word] = kind;
    memory.u32[word + 1] = bytes;
    memory.u32[word + 2] = at;
    return at + bytes;
  }
}

function payloadBytesMax(parameters: readonly Parameter[]): number {
  let bytes = 0;
  for (let index = 0; index < parameters.length; index += 1) {
    const value = parameters[index];
    if (typeof value === "number") continue;
    if (typeof value === "string") bytes += utf8BytesMax(value.length);
    // Forty digits and a sign are more than a DECIMAL has; longer ones are refused by the engine.
    else if (typeof value === "bigint") bytes += 64 + decimalDigitsMax(value);
    else if (typeof value === "object" && value !== null && !(value instanceof Date)) bytes += bytesOf(value).length;
  }
  return bytes;
}

function decimalDigitsMax(value: bigint): number {
  return value >= BIGINT_MIN && value <= BIGINT_MAX ? 0 : value.toString().length;
}

/** Microseconds since 1970 of a date. */
export function dateMicros(date: Date): number {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new GinghamError({ code: Codes.parameter, message: "an invalid Date is no SQL value" });
  return ms * MICROS_PER_MS;
}

/** The bytes of a value that is a BLOB. */
export function bytesOf(value: object): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const name = value.constructor?.name ?? "object";
  throw new GinghamError({
    code: Codes.parameter,
    message: `a value of type ${name} is no SQL value`,
    hint: "pass null, boolean, number, bigint, string, Uint8Array or Date",
  });
}
