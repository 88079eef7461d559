// @ts-check
/**
 * Deadlines: every wait in the harness and the suites goes through here, so that a browser
 * that stops answering becomes a named error and never a hang.
 */

/** A wait that took longer than it may. */
export class DeadlineError extends Error {
  /**
   * @param {string} what what was waited for, as a noun phrase
   * @param {number} limitMs
   */
  constructor(what, limitMs) {
    super(`${what} took longer than ${limitMs} ms`);
    this.name = "DeadlineError";
  }
}

/**
 * Waits for `work`, at most `limitMs`. The work itself is not cancelled: the caller closes what
 * it runs in.
 *
 * @template T
 * @param {Promise<T>} work
 * @param {number} limitMs
 * @param {string} what what is waited for, for the error
 * @returns {Promise<T>}
 */
export async function withDeadline(work, limitMs, what) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const expiry = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(what, limitMs)), limitMs);
  });
  // A late failure of abandoned work must not end the process as an unhandled rejection.
  work.catch(() => {});
  try {
    return await /** @type {Promise<T>} */ (Promise.race([work, expiry]));
  } finally {
    clearTimeout(timer);
  }
}
