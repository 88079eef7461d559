/** Faults as sqllogictest files that Gingham's own suite can run. */

import { createSql, indexSql, insertSql } from "../generate/schema.js";
import { querySql } from "../render.js";
import { family } from "./compare.js";

const LETTERS = { boolean: "I", double: "R", text: "T", date: "T", timestamp: "T" };

/** The letter of a column's type as Gingham's runner names it. */
const letter = (type) => (/^DECIMAL/i.test(type) ? "R" : LETTERS[family(type)] ?? "I");

/** A cell as Gingham's runner prints it. */
function cell(value, type) {
  if (value === null || value === undefined) return "NULL";
  if (value === "") return "(empty)";
  if (family(type) === "timestamp") return String(value).replace("T", " ");
  return String(value);
}

/**
 * A self-contained file.
 * @param {{tables: object[], history: string[], query: object | null}} reproducer
 * @param {object} fault with `expected` (the peer's result) and `detail`
 */
export function sltText({ tables, history, query }, fault, title) {
  const blocks = [`# ${title}`];
  const statement = (sql) => blocks.push(`statement ok\n${sql}`);
  for (const table of tables) [createSql(table), ...insertSql(table, 200), ...indexSql(table)].forEach(statement);
  history.forEach(statement);
  if (query) blocks.push(queryBlock(query, fault.expected));
  return `${blocks.join("\n\n")}\n`;
}

function queryBlock(query, expected) {
  const sql = querySql(query, "gingham");
  if (!expected || expected.error) return `# No peer has an answer: ${expected?.error?.message?.split("\n")[0] ?? ""}\nstatement ok\n${sql}`;
  const { rows } = expected;
  const types = expected.types.length > 0 ? expected.types : query.types.map(({ name }) => name);
  const lines = rows.map((row) => row.map((value, i) => cell(value, types[i])).join(" "));
  const isTotal = query.orderBy?.length === query.types.length;
  return `query ${types.map(letter).join("")}${isTotal ? "" : " rowsort"}\n${sql}\n----\n${(isTotal ? lines : lines.sort()).join("\n")}`;
}
