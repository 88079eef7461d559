// @ts-check
/**
 * An incremental reader of comma-separated text (RFC 4180): fields may be quoted, a quote inside
 * is doubled, records end with LF or CRLF. Lines without a quote take a fast path.
 */

/** Reads records from text that arrives in pieces. */
export class CsvReader {
  /** @type {(fields: string[]) => void} */
  #onRecord;
  /** Text from the start of the record that is not complete yet. */
  #rest = "";

  /** @param {(fields: string[]) => void} onRecord called for each record, in order */
  constructor(onRecord) {
    this.#onRecord = onRecord;
  }

  /** @param {string} text */
  push(text) {
    const all = this.#rest === "" ? text : this.#rest + text;
    let start = 0;
    for (;;) {
      const end = recordEnd(all, start);
      if (end < 0) break;
      this.#emit(all.slice(start, end));
      start = end + 1;
    }
    this.#rest = all.slice(start);
  }

  /** The text is over: a last record may lack its line end. */
  end() {
    if (this.#rest !== "") this.#emit(this.#rest);
    this.#rest = "";
  }

  /** @param {string} line */
  #emit(line) {
    const record = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (record !== "") this.#onRecord(record.includes('"') ? splitQuoted(record) : record.split(","));
  }
}

/**
 * @param {string} text
 * @param {number} start
 * @returns {number} the position of the line feed that ends the record, or -1
 */
function recordEnd(text, start) {
  const feed = text.indexOf("\n", start);
  if (feed < 0) return -1;
  const quote = text.indexOf('"', start);
  if (quote < 0 || quote > feed) return feed;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) quoted = !quoted;
    else if (code === 0x0a && !quoted) return at;
  }
  return -1;
}

/**
 * @param {string} record
 * @returns {string[]}
 */
function splitQuoted(record) {
  /** @type {string[]} */
  const fields = [];
  let at = 0;
  for (;;) {
    if (record[at] === '"') {
      let field = "";
      for (;;) {
        const close = record.indexOf('"', at + 1);
        if (close < 0) throw new Error(`unterminated quote in CSV record ${JSON.stringify(record)}`);
        field += record.slice(at + 1, close);
        at = close + 1;
        if (record[at] !== '"') break;
        field += '"';
      }
      fields.push(field);
      if (at < record.length && record[at] !== ",") {
        throw new Error(`text after a closing quote in CSV record ${JSON.stringify(record)}`);
      }
    } else {
      const comma = record.indexOf(",", at);
      const end = comma < 0 ? record.length : comma;
      fields.push(record.slice(at, end));
      at = end;
    }
    if (at >= record.length) return fields;
    at += 1;
  }
}
