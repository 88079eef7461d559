// @ts-check
/**
 * The eight TPC-H tables: columns in the standard's order, with the types that every engine's
 * CREATE TABLE and every loader uses. Keys fit 32 bits up to scale factor 300.
 */

/** @typedef {"integer" | "decimal" | "date" | "text"} ColumnType */

/**
 * @typedef {object} Table
 * @property {string} name
 * @property {{name: string, type: ColumnType}[]} columns
 */

/** SQL types; TPC-H's money and rates all fit DECIMAL(15,2), its texts need no length. */
const SQL_TYPES = Object.freeze({ integer: "INTEGER", decimal: "DECIMAL(15,2)", date: "DATE", text: "TEXT" });

/** @type {Record<string, string>} one letter a column: i integer, n decimal, d date, t text */
const COLUMNS = {
  region: "r_regionkey i, r_name t, r_comment t",
  nation: "n_nationkey i, n_name t, n_regionkey i, n_comment t",
  supplier:
    "s_suppkey i, s_name t, s_address t, s_nationkey i, s_phone t, s_acctbal n, s_comment t",
  customer:
    "c_custkey i, c_name t, c_address t, c_nationkey i, c_phone t, c_acctbal n, c_mktsegment t, c_comment t",
  part:
    "p_partkey i, p_name t, p_mfgr t, p_brand t, p_type t, p_size i, p_container t, p_retailprice n, p_comment t",
  partsupp: "ps_partkey i, ps_suppkey i, ps_availqty i, ps_supplycost n, ps_comment t",
  orders:
    "o_orderkey i, o_custkey i, o_orderstatus t, o_totalprice n, o_orderdate d, o_orderpriority t, o_clerk t, o_shippriority i, o_comment t",
  lineitem:
    "l_orderkey i, l_partkey i, l_suppkey i, l_linenumber i, l_quantity n, l_extendedprice n, l_discount n, l_tax n, l_returnflag t, l_linestatus t, l_shipdate d, l_commitdate d, l_receiptdate d, l_shipinstruct t, l_shipmode t, l_comment t",
};

/** @type {Record<string, ColumnType>} */
const LETTERS = { i: "integer", n: "decimal", d: "date", t: "text" };

/** The tables, small ones first. @type {readonly Table[]} */
export const TABLES = Object.freeze(
  Object.entries(COLUMNS).map(([name, list]) => ({ name, columns: list.split(", ").map(parseColumn) })),
);

/**
 * @param {Table} table
 * @returns {string} its CREATE TABLE statement, without storage options or keys
 */
export function createTableSql(table) {
  const columns = table.columns.map(({ name, type }) => `${name} ${SQL_TYPES[type]} NOT NULL`);
  return `CREATE TABLE ${table.name} (${columns.join(", ")})`;
}

/**
 * @param {string} text such as "r_regionkey i"
 * @returns {{name: string, type: ColumnType}}
 */
function parseColumn(text) {
  const [name, letter] = text.split(" ");
  const type = LETTERS[letter ?? ""];
  if (name === undefined || type === undefined) throw new Error(`bad column ${JSON.stringify(text)}`);
  return { name, type };
}
