//! Random statements over tables with random indexes, against a table without any: every
//! way of reading must give the same rows after the same changes.
//!
//! `GINGHAM_SEED=<seed>` replays one seed, `GINGHAM_THOROUGH=1` plays many.

use gingham::{Connection, Database, Options, Value};

/// Every index there may be.
const INDEXES: [&str; 12] = [
    "INDEX @_a ON @ (a)",
    "INDEX @_ab ON @ (a, b DESC)",
    "INDEX @_ba ON @ (b, a)",
    "INDEX @_d ON @ (d DESC)",
    "INDEX @_dk ON @ (d, k DESC)",
    "INDEX @_e ON @ (e, a)",
    "UNIQUE INDEX @_ak ON @ (a, k)",
    "INDEX @_low ON @ (lower(b), d)",
    "INDEX @_sum ON @ (a + k)",
    "INDEX @_some ON @ (b) WHERE a > 2",
    "INDEX @_true ON @ (d, b) WHERE e",
    "UNIQUE INDEX @_there ON @ (k DESC) WHERE b IS NOT NULL",
];

/// Tables with indexes; `p` has none.
const TABLES: [(&str, &str); 3] = [("r", "row"), ("h", "hybrid"), ("c", "column")];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }

    fn constant(&mut self, column: &str) -> String {
        match column {
            "k" => self.below(90).to_string(),
            "a" => self.below(7).to_string(),
            "b" => format!("'{}'", self.pick(&["", "a", "A", "ab", "aB", "abc", "b", "ba", "ÿ"])),
            _ => format!("{}.{}", self.below(5) as i64 - 2, self.below(2) * 5),
        }
    }

    fn atom(&mut self) -> String {
        let column = self.pick(&["k", "a", "a", "b", "b", "d"]);
        let (one, two, three) = (self.constant(column), self.constant(column), self.constant(column));
        match self.below(14) {
            0..=2 => format!("{column} = {one}"),
            3 => format!("{column} IN ({one}, {two}, {three})"),
            4 => format!("{column} BETWEEN {one} AND {two}"),
            5 => format!("b LIKE '{}%'", self.pick(&["a", "ab", "A", "b", "x"])),
            6 => format!("{column} IS {}NULL", self.pick(&["", "NOT "])),
            7 => self.pick(&["e", "NOT e", "e = true"]).to_owned(),
            8 => format!("lower(b) = {}", self.constant("b")),
            9 => format!("a + k > {}", self.below(90)),
            10 => format!("{column} <> {one}"),
            _ => format!("{column} {} {one}", self.pick(&["<", "<=", ">", ">="])),
        }
    }

    fn condition(&mut self) -> String {
        let atoms: Vec<String> = (0..=self.below(3)).map(|_| self.atom()).collect();
        atoms.join(" AND ")
    }

    fn row(&mut self, key: u64) -> String {
        let mut value = |column: &str| if self.below(6) == 0 { "NULL".to_owned() } else { self.constant(column) };
        let (a, b, d) = (value("a"), value("b"), value("d"));
        let e = self.pick(&["true", "false", "NULL"]);
        format!("({key}, {a}, {b}, {d}, {e})")
    }

    /// A query, `@` standing for the table; whether its rows are in order.
    fn query(&mut self) -> (String, bool) {
        let condition = self.condition();
        // An alias keeps the statement from the fast path.
        let from = self.pick(&["@", "@ AS x"]);
        let direction = self.pick(&["", " DESC"]);
        match self.below(8) {
            0 => (format!("SELECT count(*) FROM {from} WHERE {condition}"), true),
            1 => {
                let (column, function) = (self.pick(&["k", "a", "b", "d"]), self.pick(&["min", "max"]));
                (format!("SELECT {function}({column}) FROM {from} WHERE {condition}"), true)
            }
            2 => (format!("SELECT min(a), max(a) FROM {from}"), true),
            3 => {
                let limit = self.below(6);
                (format!("SELECT k FROM {from} WHERE {condition} ORDER BY k{direction} LIMIT {limit}"), true)
            }
            4 => {
                let column = self.pick(&["a", "b", "d"]);
                let nulls = self.pick(&["", "", " NULLS FIRST", " NULLS LAST"]);
                let order = format!("{column}{direction}{nulls}");
                (
                    format!("SELECT {column} FROM {from} WHERE {condition} ORDER BY {order} LIMIT {}", self.below(9)),
                    true,
                )
            }
            5 => {
                let order = format!("a{direction}, b{}", self.pick(&["", " DESC"]));
                (format!("SELECT a, b FROM {from} ORDER BY {order} LIMIT {}", self.below(20)), true)
            }
            6 => {
                let column = self.pick(&["k", "a"]);
                (format!("SELECT x.k, y.k FROM @ x JOIN @ y ON y.{column} = x.a WHERE x.k < {}", self.below(20)), false)
            }
            _ => (format!("SELECT k, a, b, d, e FROM {from} WHERE {condition}"), false),
        }
    }

    fn change(&mut self, next_key: &mut u64) -> String {
        match self.below(5) {
            0 => format!("DELETE FROM @ WHERE {} AND k % 3 = {}", self.condition(), self.below(3)),
            1 => format!("DELETE FROM @ WHERE k BETWEEN {0} AND {0} + 2", self.below(90)),
            2 => format!(
                "UPDATE @ SET a = {}, b = {} WHERE {}",
                self.constant("a"),
                self.constant("b"),
                self.condition()
            ),
            3 => format!("UPDATE @ SET d = d + 0.5, e = NOT e WHERE {}", self.condition()),
            _ => {
                let rows: Vec<String> = (0..8).map(|offset| self.row(*next_key + offset)).collect();
                *next_key += 8;
                format!("INSERT INTO @ VALUES {}", rows.join(", "))
            }
        }
    }
}

fn run(connection: &mut Connection, sql: &str, context: &str) -> Vec<String> {
    let rows = connection.execute(sql, &[]).and_then(|mut rows| rows.collect_values());
    let rows: Vec<Vec<Value>> = rows.unwrap_or_else(|error| panic!("{context}: {sql}: {error}"));
    rows.iter().map(|row| format!("{row:?}")).collect()
}

fn play(seed: u64) {
    let context = format!("seed {seed}");
    let mut random = Random(seed);
    let mut connection = Database::memory(Options::default()).expect("opens").connect();
    let c = &mut connection;
    let columns = "(k INTEGER PRIMARY KEY, a INTEGER, b TEXT, d DECIMAL(6, 1), e BOOLEAN)";
    for (name, storage) in TABLES.into_iter().chain([("p", "row")]) {
        run(c, &format!("CREATE TABLE {name} {columns} WITH (storage = '{storage}')"), &context);
    }
    let chosen: Vec<&str> = INDEXES.into_iter().filter(|_| random.below(2) == 0).collect();
    let (early, late) = chosen.split_at(chosen.len() / 2);
    let create = |c: &mut Connection, list: &[&str]| {
        for (index, (name, _)) in list.iter().flat_map(|i| TABLES.iter().map(move |t| (i, t))) {
            run(c, &format!("CREATE {}", index.replace('@', name)), &context);
        }
    };
    create(c, early);
    let mut next_key = 0;
    for round in 0..10 {
        if round == 3 {
            create(c, late);
        }
        let change = if round < 3 {
            let rows: Vec<String> = (0..15).map(|offset| random.row(next_key + offset)).collect();
            next_key += 15;
            format!("INSERT INTO @ VALUES {}", rows.join(", "))
        } else {
            random.change(&mut next_key)
        };
        for name in ["r", "h", "c", "p"] {
            run(c, &change.replace('@', name), &context);
        }
        for _ in 0..8 {
            let (query, is_ordered) = random.query();
            let sorted = |mut rows: Vec<String>| {
                if !is_ordered {
                    rows.sort();
                }
                rows
            };
            run(c, "SET route = 'row'", &context);
            let expected = sorted(run(c, &query.replace('@', "p"), &context));
            for route in ["row", "auto", "column"] {
                run(c, &format!("SET route = '{route}'"), &context);
                for (name, _) in TABLES {
                    let query = query.replace('@', name);
                    let found = sorted(run(c, &query, &context));
                    assert!(
                        found == expected,
                        "{context}, route {route}: {query}\n{found:#?}\n{expected:#?}\n{chosen:#?}"
                    );
                }
            }
        }
        run(c, "SET route = 'auto'", &context);
    }
    assert_eq!(run(c, "PRAGMA integrity_check", &context), ["[Text(\"ok\")]"], "{context}");
}

#[test]
fn indexes_never_change_a_result() {
    match std::env::var("GINGHAM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => play(seed),
        None if std::env::var_os("GINGHAM_THOROUGH").is_some() => (1..=200).for_each(play),
        None => (1..=6).for_each(play),
    }
}
