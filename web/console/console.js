// @ts-check
/** The console: one database in OPFS, hosted by a worker through `connect`. */

import { connect } from "../dist/index.js";
import { clearError, highlight, showError } from "./editor.js";
import { showResults } from "./results.js";
import { offerTpch } from "./tpch.js";

/** @typedef {import("../dist/index.js").Client} Client */

const NAME = new URLSearchParams(location.search).get("db") ?? "console";
const WELCOME = `-- Both stores behind one SQL. Ctrl+Enter runs everything, or what is selected.
CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body TEXT, at DATE);
INSERT OR REPLACE INTO notes VALUES (1, 'cloth woven of rows and columns', '2026-01-31');
SELECT * FROM notes WHERE id = 1;`;

/**
 * @param {string} id
 * @returns {any}
 */
const element = (id) => document.getElementById(id);

const editor = /** @type {HTMLTextAreaElement} */ (element("sql"));

/** @param {Client} db */
async function run(db) {
  const selected = editor.value.slice(editor.selectionStart, editor.selectionEnd);
  const offset = selected.trim() === "" ? 0 : editor.selectionStart;
  const sql = selected.trim() === "" ? editor.value : selected;
  clearError();
  element("run").disabled = true;
  element("timing").textContent = "running…";
  const start = performance.now();
  try {
    const results = await db.exec(sql, { rows: "array" });
    const elapsed = performance.now() - start;
    element("timing").textContent = `${formatMs(elapsed)} with the way to the worker and back`;
    showResults(element("results"), results);
    await showPlan(db, sql);
    await showTables(db);
  } catch (error) {
    element("timing").textContent = formatMs(performance.now() - start);
    element("results").replaceChildren();
    element("plan").hidden = true;
    element("routes").replaceChildren();
    showError(/** @type {any} */ (error), offset);
  } finally {
    element("run").disabled = false;
  }
}

/**
 * Shows which store each table of the last query was read from.
 *
 * @param {Client} db
 * @param {string} sql
 */
async function showPlan(db, sql) {
  const last = /** @type {string} */ (sql.trim().replace(/;\s*$/, "").split(";").at(-1));
  const routes = element("routes");
  routes.replaceChildren();
  element("plan").hidden = true;
  if (!/^(\s|--.*\n)*(select|with|values|from)\b/i.test(last)) return;
  const explained = await db.exec(`EXPLAIN ${last}`, { rows: "array" }).catch(() => undefined);
  const lines = explained?.[0]?.rows.map((row) => /** @type {any} */ (row).join(" ")) ?? [];
  if (lines.length === 0) return;
  element("plan").querySelector("pre").textContent = lines.join("\n");
  element("plan").hidden = false;
  for (const line of lines) {
    const scan = /Scan (.+?) route=(row|column)/.exec(line);
    if (scan === null) continue;
    const chip = document.createElement("span");
    chip.className = `route ${scan[2]}`;
    chip.textContent = `${scan[1]} → ${scan[2]} store`;
    chip.title = line.trim();
    routes.append(chip);
  }
}

/** @param {Client} db */
async function showTables(db) {
  const [tables] = await db.exec("SHOW TABLES", { rows: "array" });
  const names = (tables?.rows ?? []).map((row) => String(/** @type {any} */ (row)[0]));
  element("no-tables").hidden = names.length > 0;
  element("tables").replaceChildren(
    ...names.map((name) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.title = `SELECT * FROM ${name} LIMIT 100`;
      button.onclick = () => {
        setSql(`SELECT * FROM "${name.replaceAll('"', '""')}" LIMIT 100`);
        void run(db);
      };
      item.append(button);
      return item;
    }),
  );
}

/** @param {string} sql */
function setSql(sql) {
  editor.value = sql;
  editor.setSelectionRange(0, 0);
  clearError();
}

/** @param {number} ms */
function formatMs(ms) {
  return ms < 10 ? `${ms.toFixed(2)} ms` : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

async function start() {
  const state = element("state");
  element("database").textContent = `${NAME} · OPFS`;
  editor.value = WELCOME;
  highlight();
  const began = performance.now();
  try {
    const db = await connect(NAME);
    state.textContent = `open in ${formatMs(performance.now() - began)}`;
    /** @type {any} */ (globalThis).db = db; // For the browser's own console.
    element("run").onclick = () => run(db);
    editor.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!element("run").disabled) void run(db);
    });
    offerTpch(db, { setSql, changed: () => showTables(db), report: (text) => (state.textContent = text) });
    await showTables(db);
  } catch (error) {
    state.textContent = "not open";
    state.className = "failed";
    element("run").disabled = true;
    showError(/** @type {any} */ (error), 0);
  }
}

void start();
