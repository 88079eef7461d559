/** Importing rows from files, addresses and texts, piece by piece. */

import type { Core } from "./core-module.js";
import type { Session } from "./core.js";
import { Codes, GinghamError } from "./errors.js";
import type { ImportOptions, ImportProgress, ImportSource } from "./values.js";

/** Bytes of a text that are handed over at once. */
const PIECE_BYTES = 256 * 1024;

/** Pieces of bytes, and how many bytes there are in all, where that is known. */
interface Opened {
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  bytesTotal: number | undefined;
}

/**
 * Imports all rows of `source`, or none.
 *
 * @returns the rows imported
 */
export async function importRows(
  core: Core,
  session: Session,
  source: ImportSource,
  options: ImportOptions,
  progress: (progress: ImportProgress) => void,
): Promise<number> {
  const { pieces, bytesTotal } = await openSource(source);
  if (options.format === "arrow") {
    const stream = await wholeOf(pieces);
    const rows = core.call(() => session.insert_arrow(options.table, stream));
    if (rows < 0) throw core.failure();
    progress({ rows, bytes: stream.length, bytesTotal: stream.length });
    return rows;
  }
  const { table, header = true, null: nullText = "", columns } = options;
  const begun = core.call(() => session.import_csv(table, header, delimiterOf(options), nullText, columns));
  if (begun === undefined) throw core.failure();
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      // A piece of a stream may be megabytes, and the module has it once more.
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        const part = piece.subarray(at, at + PIECE_BYTES);
        if (!core.call(() => begun.push(part))) throw core.failure();
      }
      bytes += piece.length;
      progress({ rows: core.call(() => begun.rows()), bytes, bytesTotal });
    }
    const rows = core.call(() => begun.finish());
    if (rows < 0) throw core.failure();
    return rows;
  } catch (error) {
    // The error that led here is the one to tell.
    core.call(() => begun.abort());
    throw error;
  } finally {
    core.call(() => begun.free());
  }
}

function delimiterOf(options: ImportOptions): number {
  const delimiter = options.delimiter ?? ",";
  const code = delimiter.charCodeAt(0);
  if (delimiter.length === 1 && code < 128 && !"\"\r\n".includes(delimiter)) return code;
  throw new GinghamError({ code: Codes.parameter, message: `${JSON.stringify(delimiter)} is no delimiter` });
}

async function openSource(source: ImportSource): Promise<Opened> {
  if (typeof source === "string") return { pieces: encoded(source), bytesTotal: undefined };
  if (source instanceof Uint8Array) return { pieces: [source], bytesTotal: source.length };
  if (source instanceof Blob) return { pieces: streamed(source.stream()), bytesTotal: source.size };
  const response = await fetch(source).catch((error: unknown) => {
    throw new GinghamError({ code: Codes.io, message: `${source.href} could not be read: ${String(error)}` });
  });
  if (!response.ok || response.body === null) {
    throw new GinghamError({ code: Codes.io, message: `${source.href} could not be read: status ${response.status}` });
  }
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  // With an encoding the length is that of the encoded bytes.
  const isPlain = response.headers.get("content-encoding") === null && Number.isFinite(length);
  return { pieces: streamed(response.body), bytesTotal: isPlain ? length : undefined };
}

function* encoded(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE_BYTES);
    // A pair of surrogates is one character.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    yield encoder.encode(text.slice(at, end));
    at = end;
  }
}

async function* streamed(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function wholeOf(pieces: Opened["pieces"]): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  return list.length === 1 ? list[0]! : new Uint8Array(await new Blob(list as BlobPart[]).arrayBuffer());
}
