//! What the first statements would pay for, paid before anybody waits for one.
//!
//! A browser compiles a function of a module when it is first called: the first plan takes a hundred
//! times as long as later ones, and the first query over column storage half of its time. So statements
//! of usual shapes run once over a small database in memory: when `ready` is asked for, or when a worker
//! has had no statement for a moment.

use crate::host::clock;
use crate::prepared::{FAILED, Prepared};
use crate::session::Session;
use gingham::{Clock, Database, Options};
use wasm_bindgen::prelude::wasm_bindgen;

/// What dashboards ask: ranges, groups, joins of several kinds, subqueries, dates, texts, the
/// greatest of a kind; and what apps do to rows. How often, and what: a function is optimized
/// once it has gone over some hundred thousand rows, or has been called some thousand times.
const STATEMENTS: [(u32, &[&str]); 13] = [
    (
        1,
        &[
            "SELECT 1 AS one WHERE 1 < 2",
            "CREATE TABLE dim (k INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER) WITH (storage = 'column')",
            "CREATE TABLE fact (k INTEGER PRIMARY KEY, d INTEGER NOT NULL, day DATE NOT NULL, price DECIMAL(15,2) NOT NULL, \
         rate DECIMAL(15,2) NOT NULL, flag TEXT NOT NULL, note TEXT) WITH (storage = 'column')",
            "INSERT INTO fact WITH n (x) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)), \
             m (n) AS (SELECT a.x + 10 * b.x + 100 * c.x + 1000 * d.x FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c CROSS JOIN n AS d) \
             SELECT 2 * n + n % 3 % 2, n / 4 % 500, CAST('2024-0' || (1 + n % 9) || '-1' || (n % 10) AS DATE), n % 10 + 0.25, \
             n / 10 % 10 * 0.01, CASE WHEN n % 10 < 5 THEN 'a' ELSE 'b' END, 'note ' || (n / 100 % 10) FROM m ORDER BY n",
            "INSERT INTO dim SELECT DISTINCT d, 'name ' || d, d % 7 FROM fact",
        ],
    ),
    (
        40,
        &[
            "SELECT sum(price * rate) FROM fact WHERE day >= DATE '2024-01-02' AND day < DATE '2024-01-02' + INTERVAL '1' MONTH \
         AND rate BETWEEN 0.01 AND 0.05 AND k < 9000",
        ],
    ),
    (
        20,
        &[
            "SELECT flag, note, count(*), sum(price), sum(price * (1 - rate)), sum(price * (1 - rate) * (1 + rate)), avg(price), \
         avg(d), min(day), max(k) FROM fact WHERE day <= DATE '2024-09-01' GROUP BY flag, note ORDER BY flag, note",
        ],
    ),
    (
        8,
        &["SELECT f.d, sum(f.price * (1 - f.rate)) AS total, x.name FROM dim AS x, fact AS f, dim AS y \
         WHERE x.k = f.d AND y.k = x.k AND x.size = 3 AND f.note LIKE '%1' AND f.day < DATE '2024-05-01' \
         GROUP BY f.d, x.name ORDER BY total DESC, f.d LIMIT 10"],
    ),
    (
        8,
        &[
            "SELECT x.size, count(DISTINCT f.d) FROM dim AS x LEFT OUTER JOIN fact AS f ON x.k = f.d AND f.note NOT LIKE '%1%2%' \
         WHERE substring(x.name FROM 1 FOR 1) IN ('n', 'm') GROUP BY x.size HAVING count(f.k) >= 0 ORDER BY 2 DESC",
        ],
    ),
    (
        4,
        &["SELECT extract(year FROM f.day) AS y, sum(CASE WHEN f.flag = 'a' THEN f.price ELSE 0 END) / sum(f.price) \
         FROM fact AS f JOIN dim AS x ON f.d = x.k \
         WHERE f.price < (SELECT 2 * avg(price) FROM fact AS g WHERE g.d = f.d) \
         AND EXISTS (SELECT 1 FROM fact AS h WHERE h.d = f.d AND h.k <> f.k AND h.k < 100) \
         AND NOT EXISTS (SELECT 1 FROM fact AS i WHERE i.k = f.k AND i.rate > 5) \
         AND f.k IN (SELECT k FROM fact WHERE rate > 0.01 GROUP BY k HAVING sum(price) > 1) GROUP BY extract(year FROM f.day)"],
    ),
    (
        1,
        &[
            "CREATE TABLE item (k INTEGER PRIMARY KEY, a INTEGER, v TEXT)",
            "INSERT INTO item SELECT k, d, note || k FROM fact WHERE k < 4000",
            "INSERT INTO item VALUES (100001, 1, 'one')",
            "CREATE INDEX item_a ON item (a)",
        ],
    ),
    (3000, &["SELECT v FROM item WHERE k = 9"]),
    (300, &["SELECT k, v FROM item WHERE a = 7", "SELECT count(*), sum(k) FROM item WHERE a >= 7 AND a < 9"]),
    (8, &["SELECT k, v FROM item ORDER BY v LIMIT 20"]),
    (
        300,
        &[
            "UPDATE item SET v = 'new' WHERE k = 9",
            "DELETE FROM item WHERE k = 100001",
            "INSERT INTO item VALUES (100001, 1, 'one')",
        ],
    ),
    (8, &["UPDATE item SET a = a + 1 WHERE k < 500"]),
    (1, &["DELETE FROM item WHERE k % 2 = 0"]),
];

/// After so many milliseconds a step begins no further statement: those of an app may have to wait for it.
const STEP_MS: u64 = 5;

/// The database that they run over, and which of them is next.
#[wasm_bindgen]
pub struct WarmUp {
    session: Session,
    clock: Clock,
    group: usize,
    runs: u32,
    /// In the group.
    position: usize,
    prepared: Vec<Prepared>,
}

#[wasm_bindgen]
impl WarmUp {
    /// Opens the database in memory. Without a result, see `take_failure`.
    pub fn begin() -> Option<Self> {
        // Columns are decoded anew for each query, as for the first of a database.
        let options = Options { chunk_cache_bytes_max: 0, ..Session::options() };
        let session = Session::new(Database::memory(options))?;
        Some(Self { session, clock: clock(), group: 0, runs: 0, position: 0, prepared: Vec::new() })
    }

    /// Goes on with the statements for a moment; `false` if there are no more.
    pub fn step(&mut self) -> bool {
        let start = (self.clock)();
        while let Some((runs, statements)) = STATEMENTS.get(self.group) {
            if let Some(sql) = statements.get(self.position) {
                self.run(sql);
                self.position += 1;
            } else {
                (self.runs, self.position) = (self.runs + 1, 0);
                if self.runs == *runs {
                    (self.group, self.runs) = (self.group + 1, 0);
                    self.prepared.clear();
                }
            }
            if (self.clock)() - start > STEP_MS {
                break;
            }
        }
        self.group < STATEMENTS.len()
    }
}

impl WarmUp {
    /// Runs a statement to its end. Whether it can be run is for the tests to say.
    fn run(&mut self, sql: &str) {
        if self.position == self.prepared.len() {
            self.prepared.extend(self.session.prepare(sql));
        }
        let Some(prepared) = self.prepared.get_mut(self.position) else { return };
        let mut table = prepared.begin(0);
        while table > FAILED {
            table = prepared.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::STATEMENTS;
    use gingham::{Database, Options};

    #[test]
    fn what_warms_up_can_be_run() {
        let database = Database::memory(Options::default()).expect("in memory");
        let mut connection = database.connect();
        // What is repeated has to leave room for itself.
        let twice = STATEMENTS.iter().flat_map(|(runs, statements)| statements.repeat((*runs).min(2) as usize));
        for sql in twice {
            let mut rows = connection.execute(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let values = rows.collect_values().unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(rows.columns().is_empty(), values.is_empty(), "{sql} gives {} rows", values.len());
        }
    }
}
