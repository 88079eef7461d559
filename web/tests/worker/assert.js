// @ts-check
/** The few assertions that cases in a browser need. */

/**
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} [what]
 */
export function equal(actual, expected, what = "value") {
  const [a, e] = [show(actual), show(expected)];
  if (a !== e) throw new Error(`${what}: got ${a}, expected ${e}`);
}

/**
 * @param {unknown} condition
 * @param {string} what
 */
export function ok(condition, what) {
  if (!condition) throw new Error(what);
}

/**
 * Expects `body` to fail with a GinghamError of these properties.
 *
 * @param {() => unknown} body
 * @param {{code: string, line?: number, column?: number, message?: RegExp, hint?: RegExp}} expected
 */
export async function fails(body, expected) {
  let error;
  try {
    await body();
  } catch (caught) {
    error = /** @type {any} */ (caught);
  }
  ok(error !== undefined, `nothing failed; expected ${expected.code}`);
  ok(error.name === "GinghamError", `expected a GinghamError, got ${error.stack ?? error}`);
  equal(error.code, expected.code, `code of "${error.message}"`);
  if (expected.line !== undefined) equal(error.line, expected.line, `line of "${error.message}"`);
  if (expected.column !== undefined) equal(error.column, expected.column, `column of "${error.message}"`);
  if (expected.message) ok(expected.message.test(error.message), `message ${error.message}`);
  if (expected.hint) ok(expected.hint.test(error.hint ?? ""), `hint ${error.hint}`);
  return error;
}

/**
 * A value as text that tells types apart.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function show(value) {
  if (value === null || value === undefined || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Date) return `Date(${value.toISOString()})`;
  if (value instanceof Uint8Array) return `bytes(${Array.from(value).join()})`;
  if (Array.isArray(value)) return `[${value.map(show).join()}]`;
  const entries = Object.entries(/** @type {object} */ (value)).map(([key, item]) => `${key}:${show(item)}`);
  return `{${entries.join()}}`;
}
