//! Every plan refers only to what it has, with the types it says, whatever the text.

#[allow(dead_code)]
mod support;
#[path = "support/check.rs"]
mod validity;

use gingham_plan::{PlanRequest, Planner, RouteSetting, Statement};
use gingham_planner::SqlPlanner;
use std::fs;
use std::path::PathBuf;
use validity::check;

fn queries() -> Vec<String> {
    let mut queries: Vec<String> = (1..=22)
        .map(|number| {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../tpch/queries/q{number:02}.sql"));
            fs::read_to_string(path).expect("the query is there").trim().trim_end_matches(';').to_owned()
        })
        .collect();
    let more = [
        "SELECT o_orderkey, (SELECT count(*) + max(l_tax) FROM lineitem WHERE l_orderkey = o_orderkey) FROM orders",
        "SELECT o_custkey IN (SELECT nullif(c_custkey, 5) FROM customer WHERE c_nationkey < o_shippriority) FROM orders",
        "SELECT n_name, r.* FROM nation LEFT JOIN (SELECT r_regionkey AS k, r_name FROM region) r ON k = n_regionkey ORDER BY 1, r_name DESC LIMIT 3",
        "SELECT c_name FROM customer FULL JOIN orders ON c_custkey = o_custkey WHERE coalesce(o_totalprice, 0) < 10 OR c_name IS NULL",
        "SELECT a.n_name, b.n_name FROM nation a, nation b WHERE a.n_regionkey < b.n_regionkey AND a.n_name || b.n_name LIKE '%x%'",
        "SELECT x, sum(y) FROM (SELECT 1 AS x, 2.5 AS y UNION ALL SELECT n_nationkey, n_regionkey FROM nation UNION ALL SELECT NULL, NULL) u GROUP BY x HAVING count(*) > $1",
        "SELECT DISTINCT o_orderstatus, count(DISTINCT o_custkey) FILTER (WHERE o_totalprice > 5) FROM orders GROUP BY 1 ORDER BY 2 DESC",
        "SELECT c_name, t.k, t.n FROM customer, LATERAL (SELECT o_orderstatus AS k, count(*) AS n FROM orders WHERE o_custkey = c_custkey GROUP BY 1 LIMIT 2) t",
        "WITH a AS (SELECT l_suppkey AS s, sum(l_tax) AS t FROM lineitem GROUP BY 1) SELECT x.s, y.t FROM a x JOIN a y ON x.t = y.t WHERE x.s <> (SELECT max(s) FROM a)",
        "SELECT 1 FROM orders o WHERE o_totalprice > ALL (SELECT 1) OR EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey > o.o_orderkey)",
        "SELECT o_orderkey FROM orders WHERE o_custkey IN (SELECT o_shippriority) AND o_totalprice > (SELECT o_totalprice + 1)",
        "SELECT o_orderkey FROM orders WHERE o_custkey IN (SELECT o_shippriority FROM region GROUP BY o_shippriority)",
        "SELECT extract(year FROM o_orderdate) AS y, avg(o_totalprice), stddev(o_shippriority) FROM orders WHERE o_orderdate BETWEEN $1 AND date '1995-01-01' + interval '1 month' GROUP BY y ORDER BY y",
        "SELECT o_custkey, rank() OVER w, sum(o_totalprice) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES), count(*) OVER (PARTITION BY o_orderstatus) FROM orders WHERE o_orderdate > $1 WINDOW w AS (PARTITION BY o_custkey ORDER BY o_orderdate DESC) QUALIFY rank() OVER w < 3 ORDER BY 1, 2 LIMIT 5",
        "SELECT avg(o_totalprice) OVER (ORDER BY o_orderdate RANGE BETWEEN INTERVAL '7 days' PRECEDING AND INTERVAL '1 month' FOLLOWING), lag(o_totalprice, 2, 0) OVER (ORDER BY o_orderkey) FROM orders",
        "SELECT n_regionkey, n_name, grouping(n_regionkey, n_name), count(*), avg(n_nationkey), string_agg(n_comment, ',' ORDER BY n_nationkey) FROM nation GROUP BY ROLLUP (n_regionkey, n_name) HAVING count(*) > 1 ORDER BY 3",
        "SELECT n_regionkey, sum(n_nationkey), rank() OVER (PARTITION BY grouping(n_regionkey) ORDER BY sum(n_nationkey)) FROM nation GROUP BY CUBE (n_regionkey)",
        "WITH RECURSIVE t(k, d) AS (SELECT n_nationkey, 0 FROM nation WHERE n_regionkey = 1 UNION SELECT n_nationkey, d + 1 FROM t JOIN nation ON n_regionkey = k WHERE d < 3) SELECT k, max(d) FROM t GROUP BY k ORDER BY 1",
        "SELECT DISTINCT ON (o_custkey) o_custkey, o_orderkey FROM orders ORDER BY o_custkey, o_totalprice DESC",
        "SELECT n_regionkey FROM nation INTERSECT ALL SELECT r_regionkey FROM region EXCEPT ALL SELECT 1",
        "SELECT s.n, count(o_orderkey) FROM generate_series(1, 12) s(n) LEFT JOIN orders ON extract(month FROM o_orderdate) = s.n GROUP BY 1",
    ];
    queries.extend(more.map(str::to_owned));
    queries
}

#[test]
fn plans_are_consistent() {
    let catalog = support::tpch();
    for sql in queries() {
        for route in [RouteSetting::Auto, RouteSetting::Row, RouteSetting::Column] {
            match support::plan_routed(&catalog, &sql, route) {
                Ok(Statement::Query(query)) => check(&query),
                Ok(other) => panic!("{sql}: {other:?}"),
                Err(error) => assert_eq!(error.code, "0A000", "{sql}: {error}"),
            }
        }
    }
}

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Texts that are nearly SQL are refused, or planned consistently; nothing panics.
/// `SEED=…` replays a failure, `ROUNDS=…` looks for longer.
#[test]
fn damaged_text_is_refused_or_planned() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let first = number("SEED", 1);
    let catalog = support::tpch();
    let queries: Vec<Vec<String>> = queries().iter().map(|q| words(q)).collect();
    let mut planner = SqlPlanner::new();
    let mut planned = 0;
    for seed in first..first + number("ROUNDS", 400) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut words = queries[random.below(queries.len())].clone();
        for _ in 0..=random.below(3) {
            let at = random.below(words.len());
            match random.below(4) {
                0 => {
                    words.remove(at);
                }
                1 => {
                    let other = random.below(words.len());
                    words.swap(at, other);
                }
                2 => {
                    let word = words[random.below(words.len())].clone();
                    words[at] = word;
                }
                _ => {
                    let donor = &queries[random.below(queries.len())];
                    words.insert(at, donor[random.below(donor.len())].clone());
                }
            }
            if words.is_empty() {
                words.push("SELECT".to_owned());
            }
        }
        let sql = words.join(" ");
        match planner.plan(&PlanRequest { sql: &sql, catalog: &catalog, route: RouteSetting::Auto }) {
            Ok(Statement::Query(query)) => {
                let checked = std::panic::catch_unwind(|| check(&query));
                assert!(checked.is_ok(), "SEED={seed} gives an inconsistent plan of\n{sql}");
                planned += 1;
            }
            Ok(_) => {}
            Err(error) => assert_ne!(error.code, "XX000", "SEED={seed}: {error}\n{sql}"),
        }
    }
    assert!(planned > 0 || first != 1, "some damage is harmless");
}

/// Words, numbers, strings and signs of a text.
fn words(sql: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quoted = false;
    let mut joined = false;
    for character in sql.chars() {
        let part = quoted || character.is_alphanumeric() || character == '_' || character == '\'';
        if part && joined {
            words.last_mut().expect("a word is open").push(character);
        } else if !character.is_whitespace() {
            words.push(character.to_string());
        }
        quoted ^= character == '\'';
        joined = part;
    }
    words
}
