/**
 * SQL types as plain objects, and values as JavaScript holds them: BOOLEAN as boolean,
 * INTEGER and DOUBLE as number, BIGINT as bigint, DECIMAL as a string of digits with its
 * scale, TEXT as string, DATE and TIMESTAMP as ISO strings with a space, NULL as null.
 */

export const BOOLEAN = { name: "boolean" };
export const INTEGER = { name: "integer" };
export const BIGINT = { name: "bigint" };
export const DOUBLE = { name: "double" };
export const TEXT = { name: "text" };
export const DATE = { name: "date" };
export const TIMESTAMP = { name: "timestamp" };
/** A number that engines compute to different last digits: output only, compared with tolerance. */
export const APPROXIMATE = { name: "approximate" };
/** An exact number whose precision engines choose differently (a sum): output and grouping only. */
export const EXACT = { name: "exact" };

export const decimal = (precision, scale) => ({ name: "decimal", precision, scale });

export const isNumeric = (type) => ["integer", "bigint", "double", "decimal", "approximate", "exact"].includes(type.name);
export const isInteger = (type) => type.name === "integer" || type.name === "bigint";
export const isText = (type) => type.name === "text";
export const isTime = (type) => type.name === "date" || type.name === "timestamp";

/** Whether two types are the same, precision and scale included. */
export const sameType = (a, b) => a.name === b.name && a.precision === b.precision && a.scale === b.scale;

/** The name in SQL, which Gingham and DuckDB share. */
export function typeSql(type) {
  return type.name === "decimal" ? `DECIMAL(${type.precision},${type.scale})` : type.name.toUpperCase();
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/** A value as an element of VALUES, where the column's type converts it. */
export function plainLiteral(value, type) {
  if (value === null) return "NULL";
  switch (type.name) {
    case "boolean":
      return value ? "TRUE" : "FALSE";
    case "text":
    case "date":
    case "timestamp":
      return quoted(value);
    case "double":
      return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}.0` : doubleText(value);
    default:
      return String(value);
  }
}

const doubleText = (value) => {
  const text = String(value);
  return text.includes(".") || !text.includes("e") ? text : text.replace("e", ".0e");
};

/** A value as an expression that has exactly this type in each dialect. */
export function typedLiteral(value, type, dialect) {
  if (dialect === "sqlite") return value === null ? "NULL" : plainLiteral(value, type);
  if (value === null) return `CAST(NULL AS ${typeSql(type)})`;
  switch (type.name) {
    case "boolean":
    case "text":
      return plainLiteral(value, type);
    case "integer":
      return value >= 0 ? String(value) : value === -2147483648 ? "CAST('-2147483648' AS INTEGER)" : `(${value})`;
    case "date":
    case "timestamp":
      return `${type.name.toUpperCase()} ${quoted(value)}`;
    default:
      return `CAST(${quoted(String(value))} AS ${typeSql(type)})`;
  }
}
