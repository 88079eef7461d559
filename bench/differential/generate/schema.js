/** Random tables: columns, keys, indexes, storage and rows. */

import { BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, decimal, plainLiteral, typeSql } from "../types.js";
import { columnValues, distinctValues, pickShape } from "./values.js";

const COLUMN_TYPES = [
  [6, () => INTEGER],
  [3, () => BIGINT],
  [2, () => DOUBLE],
  [3, (random) => random.pick([decimal(4, 1), decimal(9, 2), decimal(12, 2), decimal(18, 4), decimal(18, 0), decimal(25, 3), decimal(38, 6)])],
  [4, () => TEXT],
  [2, () => DATE],
  [1, () => TIMESTAMP],
  [1, () => BOOLEAN],
];

/** Types whose values serve as keys. */
const KEY_TYPES = [[8, INTEGER], [3, BIGINT], [3, TEXT], [1, DATE], [1, decimal(9, 2)]];

const STORAGES = [[3, "hybrid"], [2, "row"], [3, "column"]];

/** Rows of a table; sizes past 4096 have columnar copies, past 65536 several row groups. */
const SIZES = [
  [6, () => 0],
  [15, (random) => random.integer(1, 5)],
  [45, (random) => random.integer(6, 40)],
  [22, (random) => random.integer(41, 400)],
  [9, (random) => random.integer(4100, 9000)],
];

/** A table of more than one row group. */
const LARGE_SIZE = (random) => random.integer(66000, 140000);

/**
 * One to five tables.
 * @returns {{name: string, storage: string, columns: object[], primaryKey: string[] | null,
 *   unique: string[][], indexes: object[], rows: unknown[][]}[]}
 */
export function generateSchema(random, { large = 0.02 } = {}) {
  const count = random.weighted([[2, 1], [4, 2], [4, 3], [2, 4], [1, 5]]);
  const withLarge = random.chance(large);
  return Array.from({ length: count }, (_, i) => generateTable(random, `t${i}`, withLarge && i === 0));
}

function generateTable(random, name, isLarge) {
  const size = isLarge ? LARGE_SIZE(random) : random.weighted(SIZES)(random);
  const hasKey = random.chance(0.6);
  const columns = Array.from({ length: random.integer(hasKey ? 0 : 1, 6) }, (_, i) => {
    const type = random.weighted(COLUMN_TYPES)(random);
    const nulls = random.weighted([[4, 0], [4, 0.15], [1, 0.7], [0.3, 1]]);
    return { name: `c${i}`, type, shape: pickShape(random, type), nulls, notNull: nulls === 0 && random.chance(0.4) };
  });
  const table = { name, storage: random.weighted(STORAGES), columns, primaryKey: null, unique: [], indexes: [], rows: [] };
  const vectors = columns.map((column) => columnValues(random, column.type, column.shape, size, column.nulls));
  if (hasKey) addKey(random, table, vectors, size);
  const rows = Math.min(size, ...vectors.map((vector) => vector.length));
  table.size = rows;
  table.rows = Array.from({ length: rows }, (_, row) => vectors.map((vector) => vector[row]));
  addIndexes(random, table);
  // For literals that a column does hold.
  columns.forEach((column, i) => {
    column.samples = Array.from({ length: 8 }, () => (rows > 0 ? vectors[i][random.integer(0, rows - 1)] : null)).filter((value) => value !== null);
  });
  return table;
}

/** A primary key of one column in front, or of that and another one. */
function addKey(random, table, vectors, size) {
  const type = random.weighted(KEY_TYPES);
  table.columns.unshift({ name: "k", type, shape: "dense", nulls: 0, notNull: true });
  vectors.unshift(distinctValues(random, type, size));
  table.primaryKey = ["k"];
  const other = table.columns.find((column) => column.notNull && column.name !== "k");
  if (other && random.chance(0.3)) table.primaryKey = random.shuffled(["k", other.name]);
}

function addIndexes(random, table) {
  const names = table.columns.map((column) => column.name);
  const count = random.weighted([[5, 0], [3, 1], [1, 2]]);
  for (let i = 0; i < count; i++) {
    const chosen = random.sample(names, random.weighted([[3, 1], [2, 2], [1, 3]]));
    const columns = chosen.map((name) => ({ name, descending: random.chance(0.25) }));
    table.indexes.push({ name: `${table.name}_i${i}`, columns });
  }
  // A second key over columns that happen to have no duplicates.
  const candidate = random.pick(names);
  if (random.chance(0.15) && table.rows.length < 5000 && !hasDuplicates(table, [candidate])) table.unique.push([candidate]);
}

/** Whether rows have equal values that are not NULL in these columns. */
export function hasDuplicates(table, names) {
  const ordinals = names.map((name) => table.columns.findIndex((column) => column.name === name));
  const seen = new Set();
  for (const row of table.rows) {
    const key = ordinals.map((ordinal) => row[ordinal]);
    if (key.includes(null)) continue;
    const text = key.map(String).join("\u0000");
    if (seen.has(text)) return true;
    seen.add(text);
  }
  return false;
}

/** CREATE TABLE with keys and storage. */
export function createSql(table) {
  const parts = table.columns.map((column) => `${column.name} ${typeSql(column.type)}${column.notNull ? " NOT NULL" : ""}`);
  if (table.primaryKey) parts.push(`PRIMARY KEY (${table.primaryKey.join(", ")})`);
  for (const names of table.unique) parts.push(`UNIQUE (${names.join(", ")})`);
  return `CREATE TABLE ${table.name} (${parts.join(", ")}) WITH (storage = '${table.storage}')`;
}

/** CREATE TABLE for the peers: columns and nothing else, so that they refuse no row. */
export function plainCreateSql(table, dialect) {
  const type = (column) => (dialect === "sqlite" ? SQLITE_AFFINITY[column.type.name] : typeSql(column.type));
  return `CREATE TABLE ${table.name} (${table.columns.map((column) => `${column.name} ${type(column)}`).join(", ")})`;
}

const SQLITE_AFFINITY = { boolean: "INTEGER", integer: "INTEGER", bigint: "INTEGER", double: "REAL", decimal: "TEXT", text: "TEXT", date: "TEXT", timestamp: "TEXT" };

/** The CREATE INDEX statements. */
export const indexSql = (table) =>
  table.indexes.map(({ name, columns }) => {
    const keys = columns.map((column) => column.name + (column.descending ? " DESC" : ""));
    return `CREATE INDEX ${name} ON ${table.name} (${keys.join(", ")})`;
  });

/** INSERT statements of up to `rowsMax` rows each. */
export function insertSql(table, rowsMax = 2000) {
  const types = table.columns.map((column) => column.type);
  const tuple = (row) => `(${row.map((value, i) => plainLiteral(value, types[i])).join(", ")})`;
  const statements = [];
  for (let from = 0; from < table.rows.length; from += rowsMax) {
    statements.push(`INSERT INTO ${table.name} VALUES ${table.rows.slice(from, from + rowsMax).map(tuple).join(", ")}`);
  }
  return statements;
}
