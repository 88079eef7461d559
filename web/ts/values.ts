/** SQL values as JavaScript values, and the options that say how. */

/** A value that SQL gives. */
export type SqlValue = null | boolean | number | bigint | string | Uint8Array | Date;

/** A value that a parameter takes; `undefined` is NULL. */
export type Parameter = SqlValue | undefined | ArrayBuffer;

/** A row by column name. Of columns with the same name the last one wins; see `raw`. */
export type Row = Record<string, SqlValue>;

/** Parameters by name, without their `:` or `$`. */
export type NamedParameters = Readonly<Record<string, Parameter>>;

/** How values arrive in JavaScript. */
export interface ValueOptions {
  /** BIGINT: a number where that is exact and a bigint elsewhere (`"auto"`), or always a bigint. */
  bigint?: "auto" | "always";
  /**
   * DECIMAL: a number where that is exact, which is up to 15 digits, and a string elsewhere
   * (`"auto"`); always a string; or always a number, rounded where it must be.
   */
  decimal?: "auto" | "string" | "number";
  /**
   * DATE and TIMESTAMP: ISO 8601 strings, exact to the microsecond (`"iso"`), or `Date` objects
   * in UTC, exact to the millisecond (`"date"`).
   */
  date?: "iso" | "date";
}

/** A result column. */
export interface Column {
  name: string;
  /** The SQL type, as `DECIMAL(15,2)`. */
  type: string;
}

/** Where a database is kept. */
export type StorageKind = "opfs" | "idb" | "memory";

/** When a commit is acknowledged. */
export type Durability = "strict" | "relaxed";

/** How a database is opened. */
export interface OpenOptions extends ValueOptions {
  /** `"opfs"`, the origin private file system, by default. */
  storage?: StorageKind;
  /**
   * `"strict"`, the default: a commit returns when it is on the device. `"relaxed"`: it returns
   * at once and is on the device within 100 ms; still atomic and in order.
   */
  durability?: Durability;
  /** Memory for pages of the row store, in bytes. */
  cacheBytes?: number;
  /** Memory of the database, in bytes: 1 GiB by default. Statements that need more spill to OPFS. */
  memoryBytes?: number;
}

/** Where rows to import come from: the text itself, a file, bytes, or the address to fetch. */
export type ImportSource = string | Blob | Uint8Array | URL;

/** What is imported, and into which table. */
export interface ImportOptions {
  table: string;
  /** `"csv"`, the default, or `"arrow"`: an Arrow IPC stream. */
  format?: "csv" | "arrow";
  /** CSV: whether the first line names the columns; true by default. */
  header?: boolean;
  /** CSV: the character between fields, in ASCII; a comma by default. */
  delimiter?: string;
  /** CSV: what a field without quotes has for NULL; nothing by default. */
  null?: string;
  /** CSV: the columns of the fields, where they are not the header's or all of the table's. */
  columns?: string[];
}

/** How far an import has come. */
export interface ImportProgress {
  rows: number;
  bytes: number;
  /** All bytes, where known. */
  bytesTotal: number | undefined;
}

/** An array that `insertMany` takes for a column. */
export type ColumnData =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | readonly Parameter[];
