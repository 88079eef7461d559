// @ts-check
/** The editor's error marks: a layer behind the text area repeats its text with the place marked. */

const editor = /** @type {HTMLTextAreaElement} */ (document.getElementById("sql"));
const backdrop = /** @type {HTMLElement} */ (document.getElementById("backdrop"));
const box = /** @type {HTMLElement} */ (document.getElementById("error"));

editor.addEventListener("input", clearError);
editor.addEventListener("scroll", () => {
  backdrop.scrollTop = editor.scrollTop;
});

/** Removes the mark and the message. */
export function clearError() {
  box.hidden = true;
  highlight();
}

/**
 * Marks a part of the text, or nothing.
 *
 * @param {number} [start]
 * @param {number} [end]
 */
export function highlight(start = 0, end = 0) {
  const text = editor.value;
  const mark = document.createElement("mark");
  mark.textContent = text.slice(start, end);
  // A last line feed is only shown when something follows it.
  backdrop.replaceChildren(text.slice(0, start), ...(end > start ? [mark] : []), `${text.slice(end)} `);
  backdrop.scrollTop = editor.scrollTop;
}

/**
 * Shows an error and where it is.
 *
 * @param {{message: string, code?: string, line?: number, column?: number, hint?: string}} error
 * @param {number} offset where in the text the SQL began that was run
 */
export function showError(error, offset) {
  const message = document.createElement("div");
  message.textContent = error.message;
  const where = document.createElement("div");
  where.className = "where";
  const place = error.line === undefined ? [] : [`line ${error.line}, column ${error.column}`];
  where.textContent = [...(error.code === undefined ? [] : [error.code]), ...place, ...(error.hint ? [error.hint] : [])].join(" · ");
  box.replaceChildren(message, where);
  box.hidden = false;
  if (error.line === undefined || error.column === undefined) return;
  const start = offset + position(editor.value.slice(offset), error.line, error.column);
  const word = /^(?:[\w.]+|"[^"]*"|'[^']*'|\s*\S)/.exec(editor.value.slice(start));
  highlight(start, start + (word?.[0].length ?? 1));
}

/**
 * @param {string} text
 * @param {number} line from 1
 * @param {number} column from 1, in characters
 */
function position(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, item) => sum + item.length + 1, 0);
  // Characters outside the basic plane are two units of a JavaScript string.
  return before + Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
}
