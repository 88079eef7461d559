/** Random INSERT, UPDATE and DELETE statements, and transactions of them. */

import { plainLiteral } from "../types.js";
import { expressionSql, querySql } from "../render.js";
import { Expressions } from "./expression.js";
import { oneValue } from "./values.js";

export class Changes {
  constructor(random, tables, queries) {
    this.random = random;
    this.tables = tables;
    this.queries = queries;
  }

  /**
   * Some statements, in a transaction or each for itself.
   * @returns {{steps: object[], transaction: null | "COMMIT" | "ROLLBACK"}} each step is a
   *   statement, or a query that runs between them
   */
  change() {
    const { random } = this;
    const inTransaction = random.chance(0.35);
    const steps = Array.from({ length: inTransaction ? random.integer(1, 5) : 1 }, () => this.statement());
    if (!inTransaction) return { steps, transaction: null };
    if (random.chance(0.5)) steps.splice(random.integer(1, steps.length), 0, { kind: "query", query: this.queries.query() });
    return { steps, transaction: random.chance(0.7) ? "COMMIT" : "ROLLBACK" };
  }

  statement() {
    const { random } = this;
    const table = random.pick(this.tables);
    const returning = random.chance(0.2) ? random.sample(table.columns.map(({ name }) => name), random.integer(1, 3)) : null;
    return { ...this.statementOn(table), returning };
  }

  statementOn(table) {
    const { random } = this;
    return random.weighted([
      [4, () => this.insert(table)],
      [table.size < 2000 ? 1 : 0, () => this.insertQuery(table)],
      [4, () => this.update(table)],
      [3, () => ({ kind: "delete", table, where: this.condition(table, 0.97) })],
    ])();
  }

  insert(table) {
    const { random } = this;
    const count = random.weighted([[5, 1], [4, random.integer(2, 20)], [1, random.integer(1100, 1500)]]);
    let next = random.integer(-50, 4000);
    const value = (column) => {
      if (!column.notNull && random.chance(column.nulls)) return null;
      // Keys that are free more often than not.
      const isKey = table.primaryKey?.[0] === column.name || table.primaryKey?.[1] === column.name;
      if (isKey && (count > 20 || random.chance(0.7))) return keyValue(column.type, next++);
      return oneValue(random, column.type, column.shape);
    };
    return { kind: "insert", table, rows: Array.from({ length: count }, () => table.columns.map(value)) };
  }

  /** The rows of a query without joins, so that a statement stays small. */
  insertQuery(table) {
    const query = this.queries.select({ depth: 0, wanted: table.columns.map(({ type }) => type), single: true, rowsMax: 2000 });
    return { kind: "insert-query", table, query };
  }

  update(table) {
    const { random } = this;
    const columns = random.sample(table.columns, random.integer(1, 2));
    const expressions = this.expressions(table);
    const set = columns.map((column) => ({ name: column.name, expression: expressions.ofType(column.type, random.integer(0, 2)) }));
    return { kind: "update", table, set, where: this.condition(table, 0.9) };
  }

  expressions(table) {
    const leaves = table.columns.map(({ name, type, shape, samples }) => ({ kind: "column", table: table.name, name, type, shape, samples }));
    return new Expressions(this.random, leaves);
  }

  condition(table, probability) {
    return this.random.chance(probability) ? this.expressions(table).predicate(this.random.integer(0, 1)) : null;
  }
}

function keyValue(type, number) {
  switch (type.name) {
    case "bigint":
      return BigInt(number);
    case "text":
      return `key ${number}`;
    case "date":
      return new Date((20000 + number) * 86400000).toISOString().slice(0, 10);
    case "timestamp":
      return new Date((20000 + number) * 86400000).toISOString().slice(0, 19).replace("T", " ");
    case "boolean":
      return number % 2 === 0;
    case "decimal":
      return `${number}.25`;
    default:
      return number;
  }
}

/** A statement in a dialect. */
export function changeSql(step, dialect) {
  return statementSql(step, dialect) + (step.returning ? ` RETURNING ${step.returning.join(", ")}` : "");
}

function statementSql(step, dialect) {
  const where = step.where ? ` WHERE ${expressionSql(step.where, dialect)}` : "";
  switch (step.kind) {
    case "insert": {
      const types = step.table.columns.map(({ type }) => type);
      const tuples = step.rows.map((row) => `(${row.map((value, i) => plainLiteral(value, types[i])).join(", ")})`);
      return `INSERT INTO ${step.table.name} VALUES ${tuples.join(", ")}`;
    }
    case "insert-query":
      return `INSERT INTO ${step.table.name} ${querySql(step.query, dialect)}`;
    case "update":
      return `UPDATE ${step.table.name} SET ${step.set.map(({ name, expression }) => `${name} = ${expressionSql(expression, dialect)}`).join(", ")}${where}`;
    default:
      return `DELETE FROM ${step.table.name}${where}`;
  }
}
