// @ts-check
/**
 * Cuts an Arrow IPC stream into streams of one record batch each, so that a table of any size
 * can be loaded without holding all of it. Follows the Arrow columnar format, "Encapsulated
 * message format": 0xFFFFFFFF, metadata length (i32), metadata (a flatbuffer), body.
 */

const CONTINUATION = 0xffffffff;
const HEADER_SCHEMA = 1;
const HEADER_DICTIONARY_BATCH = 2;
const HEADER_RECORD_BATCH = 3;
const END_OF_STREAM = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * @param {AsyncIterable<Uint8Array>} chunks the stream's bytes, cut anywhere
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>} complete streams: schema, dictionaries so far, one batch, end
 */
export async function* splitArrowStream(chunks) {
  const source = new ByteSource(chunks);
  /** @type {Uint8Array[]} */
  const preamble = [];
  for (;;) {
    const prefix = await source.take(8);
    if (prefix === undefined) return;
    const view = new DataView(prefix.buffer, prefix.byteOffset, 8);
    if (view.getUint32(0, true) !== CONTINUATION) throw new Error("not an Arrow IPC stream");
    const metadataBytes = view.getInt32(4, true);
    if (metadataBytes === 0) return;
    const metadata = await source.take(metadataBytes);
    if (metadata === undefined) throw new Error("an Arrow IPC stream ends inside a message");
    const { headerType, bodyBytes } = readMessage(metadata);
    const body = bodyBytes === 0 ? new Uint8Array(0) : await source.take(bodyBytes);
    if (body === undefined) throw new Error("an Arrow IPC stream ends inside a message body");
    const message = concatenate([prefix, metadata, body]);
    if (headerType === HEADER_SCHEMA || headerType === HEADER_DICTIONARY_BATCH) preamble.push(message);
    else if (headerType === HEADER_RECORD_BATCH) yield concatenate([...preamble, message, END_OF_STREAM]);
    else throw new Error(`unexpected Arrow message type ${headerType}`);
  }
}

/**
 * Reads the two facts that cutting needs from a Message flatbuffer.
 *
 * @param {Uint8Array} metadata
 * @returns {{headerType: number, bodyBytes: number}}
 */
function readMessage(metadata) {
  const view = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const table = view.getUint32(0, true);
  const vtable = table - view.getInt32(table, true);
  const vtableBytes = view.getUint16(vtable, true);
  const offsetOf = (/** @type {number} */ field) =>
    4 + 2 * field < vtableBytes ? view.getUint16(vtable + 4 + 2 * field, true) : 0;
  const headerOffset = offsetOf(1);
  const bodyOffset = offsetOf(3);
  return {
    headerType: headerOffset === 0 ? 0 : view.getUint8(table + headerOffset),
    bodyBytes: bodyOffset === 0 ? 0 : Number(view.getBigInt64(table + bodyOffset, true)),
  };
}

/** Bytes that arrive in pieces, taken in lengths of one's own choice. */
class ByteSource {
  /** @type {AsyncIterator<Uint8Array>} */
  #chunks;
  /** @type {Uint8Array[]} */
  #waiting = [];
  #waitingBytes = 0;

  /** @param {AsyncIterable<Uint8Array>} chunks */
  constructor(chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /**
   * @param {number} length
   * @returns {Promise<Uint8Array | undefined>} exactly `length` bytes, or undefined where the source
   *   ended before
   */
  async take(length) {
    while (this.#waitingBytes < length) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#waiting.push(next.value);
      this.#waitingBytes += next.value.byteLength;
    }
    const all = this.#waiting.length === 1 ? this.#waiting[0] : concatenate(this.#waiting);
    if (all === undefined) return new Uint8Array(0);
    const rest = all.subarray(length);
    this.#waiting = rest.byteLength === 0 ? [] : [rest];
    this.#waitingBytes = rest.byteLength;
    return all.subarray(0, length);
  }
}

/**
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array<ArrayBuffer>}
 */
function concatenate(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
