/** The one error class of the package. */

/** What an error carries beside its message. */
export interface ErrorDetails {
  /** SQLSTATE, five characters. */
  code: string;
  message: string;
  /** Line of the cause in the SQL text, from 1. */
  line?: number | undefined;
  /** Column of the cause in its line, from 1, in characters. */
  column?: number | undefined;
  /** What to do about it. */
  hint?: string | undefined;
}

/** Codes that the package itself gives, beside those of the engine. */
export const Codes = Object.freeze({
  /** The module trapped: a bug, or memory ran out. The worker has to be started anew. */
  crashed: "XX000",
  /** Memory ran out. */
  outOfMemory: "53200",
  /** Another tab, worker or connection has the database open. */
  locked: "55006",
  /** The database, statement or connection was closed. */
  closed: "08003",
  /** The browser lacks what the call needs, or it is not available where the call was made. */
  unsupported: "0A000",
  /** A value of a type that SQL does not have, or too few or too many parameters. */
  parameter: "22023",
  /** A file or module could not be read. */
  io: "58030",
  /** The quota or the device is full. */
  full: "53100",
  /** The call was interrupted before it was known to be done. */
  interrupted: "57P01",
});

/** An error of the database: a faulty statement, a full quota, a damaged file. */
export class GinghamError extends Error {
  /** SQLSTATE, five characters. */
  readonly code: string;
  /** Line of the cause in the SQL text, from 1. */
  readonly line: number | undefined;
  /** Column of the cause in its line, from 1, in characters. */
  readonly column: number | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(details: ErrorDetails, options?: ErrorOptions) {
    super(details.message, options);
    this.name = "GinghamError";
    this.code = details.code;
    this.line = details.line;
    this.column = details.column;
    this.hint = details.hint;
  }

  /** The error as plain data, which can be posted to another thread. */
  toJSON(): ErrorDetails {
    const { code, message, line, column, hint } = this;
    return { code, message, line, column, hint };
  }
}

/** Any exception as a `GinghamError`, so that callers see one class. */
export function toGinghamError(error: unknown, code: string = Codes.crashed): GinghamError {
  if (error instanceof GinghamError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new GinghamError({ code, message }, { cause: error });
}
