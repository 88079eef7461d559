/**
 * Pays for the first statements before they are asked for. A browser compiles a function of a
 * module when it is first called, quickly and badly, and well only once it has been busy for a
 * while; so idle time runs, over a small database in memory, the constructs that reports and
 * dashboards are made of.
 */

import type { Core } from "./core-module.js";
import { Session } from "./core.js";
import { decodingOf } from "./decode.js";
import { Statement } from "./statement.js";

/** The small database's budget; it holds about a megabyte. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/** How long statements of others may have to wait. */
const SLICE_MS = 8;

/** Everything is asked so many times, of twice as many rows each time. */
const ROUNDS = 3;

const TABLES = [
  `CREATE TABLE item (k INTEGER, name TEXT, kind TEXT, size INTEGER, cost DECIMAL(12,2), note TEXT)
   WITH (storage = 'column')`,
  `CREATE TABLE shop (k INTEGER, name TEXT, city TEXT, phone TEXT, budget DECIMAL(12,2), note TEXT)
   WITH (storage = 'column')`,
  `CREATE TABLE sale (k INTEGER, item_k INTEGER, shop_k INTEGER, day DATE, sent DATE, price DECIMAL(12,2),
     amount DECIMAL(12,2), discount DECIMAL(12,2), state TEXT, mode TEXT, note TEXT) WITH (storage = 'column')`,
];

const ROWS = [
  `INSERT INTO item SELECT i, 'item ' || i, CASE i % 4 WHEN 0 THEN 'large red box' WHEN 1 THEN 'small red box'
     WHEN 2 THEN 'large blue bag' ELSE 'small bag' END, i % 50, i * 1.25, 'note ' || i * 7919 % 2000 || ' of an item'
   FROM generate_series(1, 2000) AS numbers (i)`,
  `INSERT INTO shop SELECT i, 'shop ' || i, CASE i % 6 WHEN 0 THEN 'Oslo' WHEN 1 THEN 'Lima' WHEN 2 THEN 'Rome'
     WHEN 3 THEN 'Bern' WHEN 4 THEN 'Cairo' ELSE 'Delhi' END, 10 + i % 15 || '-555-' || i, i % 900 * 1.5,
     'note ' || i * 7919 % 1100 || ' of a shop'
   FROM generate_series(1, 1100) AS numbers (i)`,
  `INSERT INTO sale SELECT i / 4, 1 + i * 7919 % 2000, 1 + i * 31 % 1100, make_date(2022 + i % 3, 1 + i % 12, 1 + i % 28),
     make_date(2022 + i % 3, 1 + i * 5 % 12, 1 + i * 3 % 28), i * 17 % 90000 * 0.25, 1 + i % 50, i % 11 * 0.01,
     CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'sent' END,
     CASE i % 5 WHEN 0 THEN 'air' WHEN 1 THEN 'rail' WHEN 2 THEN 'road' ELSE 'sea' END, 'note ' || i * 7919 % 20000 || ' of a sale'
   FROM generate_series(1, 8000) AS numbers (i)`,
];

/** Copies are cheaper to make than rows, and are chunks of their own to decode. */
const MORE_ROWS = "INSERT INTO sale SELECT * FROM sale";

const QUESTIONS = [
  `SELECT state, mode, sum(amount), sum(price), sum(price * (1 - discount)) AS net, sum(price * (1 - discount) * (1 + discount)),
     avg(amount), avg(price), count(*), min(day), max(note)
   FROM sale WHERE day <= DATE '2024-12-01' - INTERVAL '60' DAY GROUP BY state, mode ORDER BY state, mode`,
  `SELECT sum(price * discount) FROM sale WHERE day >= DATE '2022-03-01' AND day < DATE '2022-03-01' + INTERVAL '1' YEAR
     AND discount BETWEEN 0.02 AND 0.08 AND amount < 24`,
  `SELECT sale.k, sum(price * (1 - discount)) AS net, day FROM shop JOIN sale ON shop.k = sale.shop_k JOIN item ON item.k = sale.item_k
   WHERE city = 'Rome' AND day < DATE '2023-06-15' AND sent > DATE '2022-06-15' GROUP BY sale.k, day ORDER BY net DESC, day LIMIT 10`,
  `SELECT shop.name, item.name, cost FROM item, shop, sale WHERE item.k = sale.item_k AND shop.k = sale.shop_k AND size = 15
     AND kind LIKE '%box' AND city = 'Lima' AND price = (SELECT min(price) FROM sale AS other, shop AS place
       WHERE other.item_k = item.k AND place.k = other.shop_k AND place.city = 'Lima') ORDER BY cost DESC, shop.name LIMIT 100`,
  `SELECT mode, count(*) FROM sale WHERE day >= DATE '2023-01-01' AND EXISTS (SELECT * FROM sale AS other
     WHERE other.k = sale.k AND other.day < other.sent) GROUP BY mode ORDER BY mode`,
  `SELECT shop.name, count(*) AS n FROM shop, sale, item WHERE shop.k = sale.shop_k AND item.k = sale.item_k AND sale.state = 'paid'
     AND sale.sent > sale.day AND EXISTS (SELECT * FROM sale AS o WHERE o.k = sale.k AND o.shop_k <> sale.shop_k)
     AND NOT EXISTS (SELECT * FROM sale AS o WHERE o.k = sale.k AND o.shop_k <> sale.shop_k AND o.sent > o.day)
   GROUP BY shop.name ORDER BY n DESC, shop.name LIMIT 100`,
  `SELECT n, count(*) FROM (SELECT shop.k, count(sale.k) AS n FROM shop LEFT JOIN sale ON shop.k = sale.shop_k
     AND sale.note NOT LIKE '%1%of%' GROUP BY shop.k) AS counts GROUP BY n ORDER BY 2 DESC, n DESC`,
  `SELECT kind, size, count(DISTINCT shop_k) AS shops FROM sale, item WHERE item.k = sale.item_k AND kind <> 'small bag'
     AND name NOT LIKE 'thing%' AND size IN (3, 9, 14, 19, 23, 36, 45, 49) AND shop_k NOT IN (SELECT k FROM shop WHERE note LIKE '%77%of%')
   GROUP BY kind, size ORDER BY shops DESC, kind, size`,
  `SELECT 100.00 * sum(CASE WHEN kind LIKE 'large%' THEN price * (1 - discount) ELSE 0 END) / sum(price * (1 - discount))
   FROM sale, item WHERE sale.item_k = item.k AND day >= DATE '2023-09-01' AND day < DATE '2023-09-01' + INTERVAL '1' MONTH`,
  `WITH totals (shop_k, total) AS (SELECT shop_k, sum(price * (1 - discount)) FROM sale WHERE day >= DATE '2023-01-01' GROUP BY shop_k)
   SELECT k, name, city, total FROM shop, totals WHERE k = shop_k AND total = (SELECT max(total) FROM totals) ORDER BY k`,
  `SELECT shop.name, shop.k, sale.k, day, sum(amount) FROM shop, sale WHERE shop.k = sale.shop_k
     AND sale.k IN (SELECT k FROM sale GROUP BY k HAVING sum(amount) > 120) GROUP BY shop.name, shop.k, sale.k, day ORDER BY day, 1 LIMIT 100`,
  `SELECT sum(price * (1 - discount)) FROM sale, item WHERE item.k = sale.item_k AND mode IN ('air', 'rail') AND (
     (kind = 'large red box' AND amount BETWEEN 1 AND 11 AND size BETWEEN 1 AND 5) OR
     (kind IN ('small red box', 'small bag') AND amount >= 10 AND amount <= 20 AND size BETWEEN 1 AND 15))`,
  `SELECT substring(phone FROM 1 FOR 2) AS area, count(*), sum(budget) FROM shop WHERE substring(phone FROM 1 FOR 2) IN ('11', '13', '17')
     AND budget > (SELECT avg(budget) FROM shop WHERE budget > 0.00 AND substring(phone FROM 1 FOR 2) IN ('11', '13'))
     AND NOT EXISTS (SELECT * FROM sale WHERE sale.shop_k = shop.k AND amount > 49) GROUP BY area ORDER BY area`,
  `SELECT here, there, y, sum(volume) FROM (SELECT s1.city AS here, s2.city AS there, extract(YEAR FROM day) AS y,
       price * (1 - discount) - cost * amount AS volume FROM shop AS s1, sale, item, shop AS s2
     WHERE s1.k = sale.shop_k AND item.k = sale.item_k AND s2.k = item.size + 1 AND item.name LIKE '%1%'
       AND ((s1.city = 'Oslo' AND s2.city = 'Bern') OR (s1.city = 'Bern' AND s2.city = 'Oslo'))
       AND day BETWEEN DATE '2022-01-01' AND DATE '2023-12-31') AS moved GROUP BY here, there, y ORDER BY here, there, y DESC`,
  `SELECT y, sum(CASE WHEN city = 'Cairo' THEN volume ELSE 0 END) / sum(volume) FROM (SELECT extract(YEAR FROM day) AS y, city,
     price * (1 - discount) AS volume FROM sale JOIN shop ON shop.k = sale.shop_k) AS volumes GROUP BY y ORDER BY y`,
  `SELECT item_k, sum(cost * amount) AS value FROM sale, item WHERE item.k = sale.item_k GROUP BY item_k
   HAVING sum(cost * amount) > (SELECT sum(cost * amount) * 0.0001 FROM sale, item WHERE item.k = sale.item_k) ORDER BY value DESC`,
  `SELECT sum(price) / 7.0 FROM sale, item WHERE item.k = sale.item_k AND kind = 'small red box'
     AND amount < (SELECT 0.2 * avg(amount) FROM sale AS other WHERE other.item_k = item.k)`,
  `SELECT name, city FROM shop WHERE k IN (SELECT shop_k FROM sale WHERE item_k IN (SELECT k FROM item WHERE name LIKE 'item 1%')
     AND amount > (SELECT 0.5 * sum(size) FROM item WHERE item.k = sale.item_k AND item.size = sale.shop_k)) ORDER BY name`,
  `SELECT mode, sum(CASE WHEN state = 'open' OR state = 'paid' THEN 1 ELSE 0 END), sum(CASE WHEN state <> 'open' AND state <> 'paid'
     THEN 1 ELSE 0 END) FROM sale WHERE day < sent AND mode IN ('sea', 'road') GROUP BY mode ORDER BY mode`,
  `SELECT date_trunc('month', day) AS month, count(*), sum(price), count(DISTINCT item_k) FROM sale GROUP BY month ORDER BY month`,
  `SELECT * FROM (SELECT shop_k, day, price, row_number() OVER (PARTITION BY shop_k ORDER BY price DESC) AS place FROM sale) AS ranked
   WHERE place <= 2 ORDER BY price DESC, shop_k LIMIT 20`,
];

/** All statements of the warm-up, in order: each can be run. */
export function warmUpStatements(): string[] {
  const again = [MORE_ROWS, ...QUESTIONS];
  return [...TABLES, ...ROWS, ...QUESTIONS, ...Array.from({ length: ROUNDS - 1 }, () => again).flat()];
}

/** Runs the warm-up, a few statements a task so that those of others come between. */
export async function warmUp(core: Core): Promise<void> {
  const session = core.call(() => Session.open("", undefined, undefined, false, undefined, MEMORY_BYTES));
  if (session === undefined) throw core.failure();
  const context = { core, decoding: decodingOf({}), committed: () => {} };
  try {
    let started = Number.NEGATIVE_INFINITY;
    for (const sql of warmUpStatements()) {
      if (performance.now() - started > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve));
        started = performance.now();
      }
      const prepared = core.call(() => session.prepare(sql));
      if (prepared === undefined) throw core.failure();
      try {
        new Statement(context, prepared, false).columnar();
      } finally {
        core.call(() => prepared.free());
      }
    }
  } finally {
    core.call(() => session.close());
    core.call(() => session.free());
  }
}
