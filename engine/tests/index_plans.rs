//! Which way keys and indexes are used: EXPLAIN's scans, by statement and route.

use gingham::{Connection, Database, Options, Value};

/// `r` (row) and `h` (hybrid): 20 000 rows; `k` the key, `u` unique, `g` one of 100, `name`
/// `name…`, `g` and `k` indexed together; `s` has 30 rows.
fn database() -> Connection {
    let database = Database::memory(Options::default()).expect("opens");
    let mut connection = database.connect();
    let mut run = |sql: &str| {
        connection.execute(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    run("CREATE TABLE digits (d INTEGER)");
    run("INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    for (name, storage) in [("r", "row"), ("h", "hybrid")] {
        run(&format!(
            "CREATE TABLE {name} (k INTEGER PRIMARY KEY, u BIGINT, g INTEGER NOT NULL, name TEXT, pad TEXT) \
             WITH (storage = '{storage}')"
        ));
        run(&format!(
            "INSERT INTO {name} SELECT n, n * 3, n % 100, 'name' || n, 'padding padding' FROM (
                SELECT a.d * 10000 + b.d * 1000 + c.d * 100 + d.d * 10 + e.d AS n
                FROM digits a, digits b, digits c, digits d, digits e WHERE a.d < 2) AS numbers"
        ));
        run(&format!("CREATE UNIQUE INDEX {name}_u ON {name} (u)"));
        run(&format!("CREATE INDEX {name}_g ON {name} (g, u DESC)"));
        run(&format!("CREATE INDEX {name}_name ON {name} (name)"));
    }
    run("CREATE TABLE s (k INTEGER PRIMARY KEY, u BIGINT, g INTEGER)");
    run("INSERT INTO s SELECT k, u, g FROM r WHERE k < 30");
    connection
}

fn lines(connection: &mut Connection, route: &str, sql: &str) -> Vec<String> {
    connection.execute(&format!("SET route = '{route}'"), &[]).expect("sets");
    let mut rows = connection.execute(&format!("EXPLAIN {sql}"), &[]).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let rows = rows.collect_values().expect("explains");
    rows.iter()
        .map(|row| match &row[0] {
            Value::Text(line) => line.clone(),
            other => panic!("{other}"),
        })
        .collect()
}

/// The routes of the scans, without columns and estimates.
fn routes(lines: &[String]) -> Vec<String> {
    let route = |line: &String| {
        let (_, rest) = line.split_once("Scan ")?;
        let (table, rest) = rest.split_once(" route=")?;
        Some(format!("{table} {}", rest.split_once(" columns=")?.0))
    };
    lines.iter().filter_map(route).collect()
}

#[track_caller]
fn check(connection: &mut Connection, sql: &str, expected: &[&str]) {
    for route in ["row", "auto"] {
        let lines = lines(connection, route, sql);
        assert_eq!(routes(&lines), expected, "{sql} (route {route}):\n{}", lines.join("\n"));
    }
}

#[track_caller]
fn check_without_sort(connection: &mut Connection, sql: &str, expected: &[&str]) {
    check(connection, sql, expected);
    let lines = lines(connection, "auto", sql);
    assert!(!lines.iter().any(|line| line.contains("Sort") || line.contains("TopK")), "{sql}:\n{}", lines.join("\n"));
}

#[test]
fn conditions_find_their_key() {
    let c = &mut database();
    for t in ["r", "h"] {
        let expect = |route: &str| format!("{t} {}", route.replace('@', t));
        for (condition, route) in [
            ("k = 5", "row primary key keys=1"),
            ("u = 15", "row index @_u keys=1"),
            ("k IN (1, 5, 9)", "row primary key keys=3"),
            ("u IN (3, 6)", "row index @_u keys=2"),
            ("k > 10 AND k <= 20", "row primary key > 10 <= 20"),
            ("u BETWEEN 30 AND 60", "row index @_u >= 30 <= 60"),
            ("g = 7 AND u > 59000", "row index @_g = (7) > 59000"),
            ("g = 7 AND u IN (21, 321)", "row index @_g keys=2"),
            ("g IN (7, 8) AND u = 21", "row index @_u keys=1"),
            ("name LIKE 'name199%'", "row index @_name >= 'name199' < 'name19:'"),
            ("name LIKE 'name%99' AND g = 99 AND u = 297", "row index @_u keys=1"),
        ] {
            check(c, &format!("SELECT pad FROM {t} WHERE {condition}"), &[&expect(route)]);
        }
        // Entries that have every column are all that is read.
        check(c, &format!("SELECT k, u FROM {t} WHERE u < 90"), &[&expect("row index @_u < 90 only")]);
        check(
            c,
            &format!("SELECT name FROM {t} WHERE name LIKE 'name19%' AND k > 5"),
            &[&expect("row index @_name >= 'name19' < 'name1:' only")],
        );
    }
}

#[test]
fn keys_deliver_order() {
    let c = &mut database();
    for t in ["r", "h"] {
        let expect = |route: &str| format!("{t} {}", route.replace('@', t));
        for (sql, route) in [
            ("SELECT pad FROM @ ORDER BY k LIMIT 5", "row full"),
            ("SELECT pad FROM @ ORDER BY k DESC LIMIT 5", "row full descending"),
            ("SELECT pad FROM @ WHERE k > 100 ORDER BY k LIMIT 5", "row primary key > 100"),
            ("SELECT pad FROM @ WHERE k < 100 ORDER BY k DESC LIMIT 5", "row primary key < 100 descending"),
            ("SELECT pad FROM @ ORDER BY u LIMIT 5", "row index @_u"),
            ("SELECT pad FROM @ ORDER BY u DESC LIMIT 5", "row index @_u descending"),
            ("SELECT pad FROM @ WHERE g = 3 ORDER BY u DESC LIMIT 5", "row index @_g = (3)"),
            ("SELECT pad FROM @ WHERE g = 3 ORDER BY u LIMIT 5", "row index @_g = (3) descending"),
            ("SELECT pad FROM @ ORDER BY g, u DESC LIMIT 5", "row index @_g"),
            ("SELECT pad FROM @ ORDER BY g DESC, u LIMIT 5", "row index @_g descending"),
            ("SELECT name FROM @ WHERE g <> 5 ORDER BY name LIMIT 3", "row index @_name"),
        ] {
            check_without_sort(c, &sql.replace('@', t), &[&expect(route)]);
        }
        for sql in ["SELECT pad FROM @ ORDER BY u NULLS FIRST LIMIT 5", "SELECT pad FROM @ ORDER BY g, u LIMIT 5"] {
            let lines = lines(c, "auto", &sql.replace('@', t));
            assert!(lines[0].contains("TopK") || lines.iter().any(|l| l.contains("TopK")), "{sql}: {lines:?}");
        }
    }
}

#[test]
fn extremes_are_the_ends_of_a_key() {
    let c = &mut database();
    for t in ["r", "h"] {
        let expect = |route: &str| format!("{t} {}", route.replace('@', t));
        check(c, &format!("SELECT min(k) AS m FROM {t}"), &[&expect("row primary key")]);
        check(c, &format!("SELECT max(u) AS m FROM {t}"), &[&expect("row index @_u not NULL descending only")]);
        check(
            c,
            &format!("SELECT min(u), max(u) FROM {t} WHERE g = 4"),
            &[&expect("row index @_g = (4) not NULL descending only"), &expect("row index @_g = (4) not NULL only")],
        );
    }
}

#[test]
fn joins_look_up_few_keys() {
    let c = &mut database();
    for t in ["r", "h"] {
        let looked_up = |route: &str| format!("{t} {}", route.replace('@', t));
        for (sql, route) in [
            ("SELECT @.pad FROM s JOIN @ ON @.k = s.k", "row primary key keys of f0"),
            ("SELECT @.pad FROM s JOIN @ ON @.u = s.u", "row index @_u keys of f0"),
            ("SELECT s.k, @.pad FROM s LEFT JOIN @ ON @.u = s.u", "row index @_u keys of f0"),
            ("SELECT pad FROM @ WHERE k IN (SELECT g FROM s)", "row primary key keys of f0"),
        ] {
            let sql = sql.replace('@', t);
            for route_setting in ["row", "auto"] {
                let lines = lines(c, route_setting, &sql);
                let expected = looked_up(route);
                assert!(
                    routes(&lines).contains(&expected),
                    "{sql} ({route_setting}): {}\n{expected}",
                    lines.join("\n")
                );
            }
            // The same rows as without.
            let mut found = Vec::new();
            for route in ["row", "auto", "column"] {
                c.execute(&format!("SET route = '{route}'"), &[]).expect("sets");
                let mut rows = c.execute(&sql, &[]).expect("runs").collect_values().expect("reads");
                rows.sort_by_key(|row| format!("{row:?}"));
                found.push(rows);
            }
            assert_eq!(found[0].len(), 30);
            assert!(found[0] == found[1] && found[1] == found[2], "{sql}");
        }
    }
}

#[test]
fn short_statements_agree_with_planned_ones() {
    let c = &mut database();
    for t in ["r", "h"] {
        for sql in [
            "SELECT k, name FROM @ WHERE u = 300",
            "SELECT k, name FROM @ WHERE g = 42",
            "SELECT k FROM @ WHERE g = 42 AND u > 30000",
            "SELECT u FROM @ WHERE k IN (9, 3, 3, 70000)",
            "SELECT u FROM @ WHERE u IN (9, 3, 4)",
            "SELECT k FROM @ WHERE g = 5 ORDER BY u LIMIT 7",
            "SELECT k FROM @ WHERE g = 5 ORDER BY u DESC LIMIT 7",
            "SELECT k FROM @ WHERE u >= 600 ORDER BY u LIMIT 7",
            "SELECT count(*) FROM @",
            "SELECT count(*) FROM @ WHERE k > 12345",
            "SELECT count(*) FROM @ WHERE g = 7",
            "SELECT count(*) FROM @ WHERE g = 7 AND u <= 3000",
            "SELECT max(k) FROM @",
            "SELECT min(u) FROM @",
            "SELECT max(u) FROM @ WHERE g = 99",
            "SELECT min(k) FROM @ WHERE k > 500",
            "SELECT max(name) FROM @",
        ] {
            let sql = sql.replace('@', t);
            // An alias is no small shape.
            let planned = sql.replacen(&format!("FROM {t}"), &format!("FROM {t} AS {t}"), 1);
            c.execute("SET route = 'auto'", &[]).expect("sets");
            let mut short = c.execute(&sql, &[]).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let (columns, short) = (short.columns().to_vec(), short.collect_values().expect("reads"));
            let mut by_plan = c.execute(&planned, &[]).unwrap_or_else(|e| panic!("{planned}: {e}"));
            assert_eq!(columns, by_plan.columns(), "{sql}");
            let sorted = |mut rows: Vec<Vec<Value>>| {
                if !sql.contains("ORDER") {
                    rows.sort_by_key(|row| format!("{row:?}"));
                }
                rows
            };
            assert_eq!(sorted(short), sorted(by_plan.collect_values().expect("reads")), "{sql}");
        }
    }
}

#[test]
fn expressions_and_conditions_find_their_index() {
    let c = &mut database();
    for t in ["r", "h"] {
        for sql in [
            "CREATE INDEX @_lower ON @ (lower(name), u)",
            "CREATE INDEX @_few ON @ (u) WHERE g >= 95",
            "CREATE INDEX @_some ON @ (pad, k) WHERE g = 7 AND name IS NOT NULL",
        ] {
            c.execute(&sql.replace('@', t), &[]).expect("creates");
        }
        let expect = |route: &str| format!("{t} {}", route.replace('@', t));
        for (condition, route) in [
            ("lower(name) = 'name77'", "row index @_lower = ('name77')"),
            ("lower(name) = 'name77' AND u > 5", "row index @_lower = ('name77') > 5"),
            ("lower(name) LIKE 'name77%'", "row index @_lower >= 'name77' < 'name78'"),
            ("lower(name) IN ('name1', 'name2')", "row index @_lower keys=2"),
            ("g > 95 AND u < 900", "row index @_few < 900"),
            ("g IN (96, 97) AND u < 900", "row index @_few < 900"),
        ] {
            check(c, &format!("SELECT pad FROM {t} WHERE {condition}"), &[&expect(route)]);
        }
        for condition in ["upper(name) = 'NAME77'", "g > 90 AND u + 0 < 900", "g = 7 AND pad = 'x'"] {
            let lines = lines(c, "row", &format!("SELECT pad FROM {t} WHERE {condition}"));
            let route = routes(&lines).remove(0);
            assert!(
                !["lower", "few", "some"].iter().any(|i| route.contains(&format!("{t}_{i}"))),
                "{condition}: {route}"
            );
        }
        check(
            c,
            &format!("SELECT k FROM {t} WHERE pad = 'x' AND g = 7 AND name > 'a'"),
            &[&expect("row index @_some = ('x')")],
        );
        check(
            c,
            &format!("SELECT max(k) AS m FROM {t} WHERE pad = 'x' AND g = 7 AND name IS NOT NULL"),
            &[&expect("row index @_some = ('x') descending")],
        );
    }
    let sql = c.schema_sql(Some("r")).expect("describes").join("\n");
    for line in [
        "CREATE INDEX r_lower ON r ((lower(name)), u);",
        "CREATE INDEX r_few ON r (u) WHERE g >= 95;",
        "CREATE INDEX r_some ON r (pad, k) WHERE g = 7 AND name IS NOT NULL;",
    ] {
        assert!(sql.contains(line), "{line}\n{sql}");
    }
}
