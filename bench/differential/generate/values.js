/**
 * Columns of values in the shapes that storage has an encoding or a fast path for:
 * constant, runs, sorted, dense, few distinct ones, skewed, wide, extreme.
 */

const WORDS = ["", "a", "A", "ab", "abc", "b%", "_x", "é", "zebra", "Zebra", "apple", "apple pie", " lead", "tail ", "it's", "日本", "a\\b", "null", "0", "12"];

const SHAPES = [
  [2, "constant"],
  [4, "few"],
  [3, "dense"],
  [2, "sorted"],
  [2, "descending"],
  [2, "runs"],
  [3, "skewed"],
  [3, "wide"],
  [1, "extreme"],
];

/** A shape for a column of this type. */
export const pickShape = (random, type) =>
  type.name === "boolean" ? random.pick(["constant", "few", "runs", "skewed"]) : random.weighted(SHAPES);

/** `count` values, NULL with the probability `nulls`. */
export function columnValues(random, type, shape, count, nulls) {
  const numbers = shapeNumbers(random, shape, count);
  const toValue = converter(random, type, shape);
  return numbers.map((number) => (nulls > 0 && random.chance(nulls) ? null : toValue(number)));
}

/** `count` different values in random or rising order; fewer if the type has fewer. */
export function distinctValues(random, type, count) {
  const toValue = converter(random, type, "dense");
  const start = random.integer(-20, 50);
  const step = random.weighted([[3, 1], [1, 3], [1, 17]]);
  const values = [...new Set(Array.from({ length: count }, (_, i) => toValue(start + i * step)))];
  return random.chance(0.6) ? values : random.shuffled(values);
}

/** A value that the column's shape could have or is close to one. */
export function oneValue(random, type, shape) {
  const number = shape === "extreme" && random.chance(0.4) ? NaN : random.integer(-12, 60);
  return converter(random, type, Number.isNaN(number) ? "extreme" : "few")(Number.isNaN(number) ? random.integer(0, 9) : number);
}

/** Small integers in the pattern of a shape; each type gives them a meaning. */
function shapeNumbers(random, shape, count) {
  const base = random.integer(-10, 40);
  const spread = random.weighted([[2, 2], [3, 5], [2, 12], [1, 40]]);
  let current = base;
  const one = {
    constant: () => base,
    few: () => base + random.integer(0, spread),
    dense: (i) => base + i,
    sorted: () => (current += random.chance(0.5) ? 0 : random.integer(0, spread)),
    descending: () => (current -= random.integer(0, 2)),
    runs: () => (random.chance(0.05) ? (current = base + random.integer(0, spread)) : current),
    skewed: () => base + Math.floor(spread * 4 * random.fraction() ** 4),
    wide: () => random.integer(-100000, 100000),
    extreme: () => random.integer(0, 9),
  }[shape];
  return Array.from({ length: count }, (_, i) => one(i));
}

/** What turns a small integer into a value of the type. */
function converter(random, type, shape) {
  if (shape === "extreme") return (number) => extreme(random, type, number);
  switch (type.name) {
    case "boolean":
      return (number) => number % 2 === 0;
    case "integer": {
      const offset = random.weighted([[6, 0], [1, 1000000], [1, -70000]]);
      return (number) => number + offset;
    }
    case "bigint": {
      const offset = random.weighted([[6, 0n], [1, 3000000000n], [1, -5000000000000n]]);
      return (number) => BigInt(number) + offset;
    }
    case "double":
      // Quarters: sums and products of a few stay exact.
      return (number) => number / random.pick([1, 1, 2, 4]);
    case "decimal":
      return (number) => decimalText(BigInt(number) * BigInt(random.pick([1, 1, 1, 10, 7])), type);
    case "date": {
      const step = random.weighted([[3, 1], [1, 30]]);
      return (number) => dateText(19000 + number * step);
    }
    case "timestamp": {
      const step = random.weighted([[2, 86400], [2, 3607], [1, 0.000001], [1, 1]]);
      return (number) => timestampText(1700000000, number * step);
    }
    default:
      return textConverter(random);
  }
}

function textConverter(random) {
  const kind = random.weighted([[5, "words"], [2, "prefix"], [2, "digits"], [1, "long"], [1, "mixed"]]);
  const word = (number) => WORDS[Math.abs(number) % WORDS.length];
  const forms = {
    words: word,
    prefix: (number) => `customer#${String(Math.abs(number)).padStart(9, "0")}`,
    digits: (number) => String(number),
    long: (number) => word(number).padEnd(3, "x").repeat(30) + number,
    mixed: (number) => word(number) + (number % 3 === 0 ? "" : word(number >> 2)),
  };
  return forms[kind];
}

/** The value `unscaled` / 10^scale as text, cut to the type's precision. */
export function decimalText(unscaled, type) {
  const limit = 10n ** BigInt(type.precision);
  let digits = unscaled % limit;
  const sign = digits < 0n ? "-" : "";
  if (digits < 0n) digits = -digits;
  if (type.scale === 0) return sign + digits;
  const padded = String(digits).padStart(type.scale + 1, "0");
  return `${sign}${padded.slice(0, -type.scale)}.${padded.slice(-type.scale)}`;
}

/** Days since 1970 as a date. */
export const dateText = (days) => new Date((days % DATE_DAYS_MAX) * 86400000).toISOString().slice(0, 10);

/** Ordinary dates stay within this many days of 1970. */
const DATE_DAYS_MAX = 200000;

/** Seconds since 1970, whole ones and a rest with microseconds, as a timestamp. */
export function timestampText(seconds, rest) {
  const whole = Math.floor(rest);
  const micros = Math.round((rest - whole) * 1e6);
  const text = new Date((seconds + whole) * 1000).toISOString().slice(0, 19).replace("T", " ");
  return micros === 0 ? text : `${text}.${String(micros).padStart(6, "0")}`;
}

/** Values at the edges of a type; ten a type, some of them ordinary. */
function extreme(random, type, number) {
  const edges = {
    boolean: [true, false],
    integer: [2147483647, -2147483648, 2147483646, 0, -1, 1, 65536, 32768],
    bigint: [9223372036854775807n, -9223372036854775808n, 9007199254740993n, -9007199254740993n, 0n, -1n, 4294967296n, 1n],
    double: [1e300, -1e300, 1e-300, 0, -0.5, 0.1, 9007199254740993, -1e15, 123456.789],
    date: ["0200-01-01", "9999-12-31", "1970-01-01", "1969-12-31", "2000-02-29", "1900-03-01"],
    timestamp: ["1970-01-01 00:00:00", "1969-12-31 23:59:59.999999", "9999-12-31 23:59:59", "2000-02-29 12:00:00.000001", "1600-01-01 00:00:00"],
    text: ["", "\u{10FFFF}", "a\u0301", "\t", "x".repeat(300), "'", "\"", "\\", "%", "\n"],
  }[type.name] ?? decimalEdges(type);
  return number < edges.length ? edges[number] : random.pick(edges);
}

function decimalEdges(type) {
  const limit = 10n ** BigInt(type.precision) - 1n;
  return [limit, -limit, 0n, 1n, -1n, limit / 2n].map((unscaled) => decimalText(unscaled, type));
}
