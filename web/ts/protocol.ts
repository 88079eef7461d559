/**
 * What the client on a page and the worker that hosts the database say to each other: one union
 * of requests, each with the result that answers it.
 */

import type { ErrorDetails } from "./errors.js";
import type { CompiledModules } from "./modules.js";
import type {
  Column,
  ColumnData,
  ImportOptions,
  ImportProgress,
  ImportSource,
  OpenOptions,
  Parameter,
  SqlValue,
} from "./values.js";

/** Values for a statement's parameters, in order or by name. */
export type QueryParameters = readonly Parameter[] | Readonly<Record<string, Parameter>>;

/** A result as it travels: columns are quicker to clone than rows. */
export interface WireResult {
  fields: Column[];
  columns: SqlValue[][];
  rows: number;
  changes: number;
}

/** Every call, by its name: what it takes and what it gives. */
export interface Calls {
  /** `modules`: what an earlier worker of the page has compiled. */
  open: { argument: { name: string; options: OpenOptions; modules: CompiledModules | undefined }; result: undefined };
  query: { argument: { sql: string; parameters: QueryParameters }; result: WireResult };
  exec: { argument: { sql: string }; result: WireResult[] };
  arrow: { argument: { sql: string; parameters: QueryParameters }; result: Uint8Array };
  insertMany: { argument: { table: string; columns: Record<string, ColumnData> }; result: { changes: number } };
  insertArrow: { argument: { table: string; stream: Uint8Array }; result: { changes: number } };
  /** `address`: the source is one to fetch. */
  import: {
    argument: { source: Exclude<ImportSource, URL>; address: boolean; options: ImportOptions };
    result: { changes: number };
  };
  begin: { argument: { depth: number }; result: undefined };
  commit: { argument: { depth: number }; result: undefined };
  rollback: { argument: { depth: number }; result: undefined };
  export: { argument: undefined; result: Uint8Array };
  ready: { argument: undefined; result: undefined };
  close: { argument: undefined; result: undefined };
}

/** The name of a call. */
export type CallName = keyof Calls;

/** A request: one member of the union for each call. */
export type Request = {
  [Name in CallName]: { id: number; call: Name; argument: Calls[Name]["argument"] };
}[CallName];

/** News of a request that is not answered yet. */
export interface Progress {
  id: number;
  progress: ImportProgress;
}

/** What the worker has compiled, for the page to keep: it goes to the page's next workers. */
export interface Compiled {
  compiled: CompiledModules;
}

/** The answer to the request of the same id. */
export type Reply =
  | { id: number; ok: true; result: Calls[CallName]["result"] }
  | { id: number; ok: false; error: ErrorDetails };
