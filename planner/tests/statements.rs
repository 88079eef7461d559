//! Every kind of statement, and what is refused.

#[allow(dead_code)]
mod support;

use gingham_plan::{
    Catalog, ColumnInfo, Conflict, Expr, IndexId, IndexInfo, Node, Route, RouteSetting, RowAccess, Statement, Storage,
    StoredExpr, TableId, TableInfo, TableStatistics, ViewInfo,
};
use gingham_types::{SqlType, Value};
use std::sync::Arc;
use support::{plan, plan_routed, query, text};

fn column(name: &str, ty: SqlType, nullable: bool) -> ColumnInfo {
    ColumnInfo { name: name.into(), ty, nullable, default: None, generated: None }
}

/// `t(a INTEGER PRIMARY KEY, b TEXT DEFAULT 'x', c DECIMAL(10,2), d DATE, e BIGINT UNIQUE)` and `u(k BIGINT, v DOUBLE)`.
fn catalog() -> Arc<Catalog> {
    let mut t = TableInfo {
        id: TableId(7),
        name: "t".into(),
        columns: vec![
            column("a", SqlType::Integer, false),
            column("b", SqlType::Text, true),
            column("c", SqlType::decimal(10, 2), true),
            column("d", SqlType::Date, true),
            column("e", SqlType::BigInt, true),
        ],
        primary_key: vec![0],
        storage: Storage::Hybrid,
        indexes: vec![IndexInfo {
            id: IndexId(3),
            name: "t_e".into(),
            columns: vec![(4, false)],
            unique: true,
            special: None,
        }],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        statistics: TableStatistics { rows: 100_000, row_groups: 1, rows_uncopied: 0, columns: Vec::new() },
    };
    let x = Expr::literal(Value::Text("x".into()), SqlType::Text);
    t.columns[1].default = Some(StoredExpr { expr: x, sql: "'x'".into() });
    let u = TableInfo {
        id: TableId(8),
        name: "u".into(),
        columns: vec![column("k", SqlType::BigInt, true), column("v", SqlType::Double, true)],
        primary_key: Vec::new(),
        storage: Storage::Row,
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        statistics: TableStatistics { rows: 10, ..TableStatistics::default() },
    };
    let view = ViewInfo { name: "w".into(), columns: vec!["x".into()], sql: "SELECT a FROM t WHERE a < 10".into() };
    Arc::new(Catalog { version: 1, tables: vec![t, u], views: vec![view] })
}

fn ok(sql: &str) -> Statement {
    plan(&catalog(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Code, position and hint of the error.
fn refused(sql: &str) -> (String, Option<(u32, u32)>, Option<String>, String) {
    match plan(&catalog(), sql) {
        Err(error) => (error.code.into_owned(), error.position, error.hint, error.message),
        Ok(statement) => panic!("{sql} is planned: {statement:?}"),
    }
}

#[test]
fn a_point_lookup_reads_one_key() {
    let query = query(&catalog(), "SELECT b FROM t WHERE a = $1");
    assert_eq!(query.parameters, [SqlType::Integer]);
    let Node::Scan(scan) = &query.root else { panic!("{query:?}") };
    let Route::Row(RowAccess::Keys { index: None, keys }) = &scan.route else { panic!("{:?}", scan.route) };
    assert_eq!(keys, &[vec![Expr::Parameter { index: 0, ty: SqlType::Integer }]]);
}

#[test]
fn an_index_finds_rows_and_ranges_are_bounded() {
    let scan = |sql: &str| match query(&catalog(), sql).root {
        Node::Scan(scan) => scan.route,
        other => panic!("{other:?}"),
    };
    assert!(matches!(scan("SELECT a FROM t WHERE e = 5"), Route::Row(RowAccess::Keys { index: Some(IndexId(3)), .. })));
    assert!(matches!(
        scan("SELECT b FROM t WHERE a IN (1, 2, 3)"),
        Route::Row(RowAccess::Keys { index: None, keys }) if keys.len() == 3
    ));
    assert!(matches!(scan("SELECT b FROM t WHERE a = 1 AND b = 'y'"), Route::Row(RowAccess::Keys { index: None, .. })));
    assert_eq!(scan("SELECT c FROM t WHERE c > 1"), Route::Column);
}

#[test]
fn routes_can_be_forced() {
    let catalog = catalog();
    for (setting, expected) in [(RouteSetting::Row, false), (RouteSetting::Column, true)] {
        let Ok(Statement::Query(query)) = plan_routed(&catalog, "SELECT sum(c) FROM t", setting) else { panic!() };
        assert_eq!(text(&catalog, &query).contains("route=column"), expected);
    }
    let Ok(Statement::Query(query)) = plan_routed(&catalog, "SELECT v FROM u", RouteSetting::Column) else { panic!() };
    assert!(text(&catalog, &query).contains("route=row"), "a row table has no columns to read");
}

#[test]
fn insert_fills_casts_and_defaults() {
    let Statement::Insert(insert) = ok("INSERT INTO t (a, d, c) VALUES (1, '2024-02-29', 1.005), ($1, $2, NULL)")
    else {
        panic!()
    };
    let Node::Values { rows, types } = &insert.source.root else { panic!("{:?}", insert.source.root) };
    assert_eq!(types.len(), 5);
    let literal = |value, ty| Expr::literal(value, ty);
    assert_eq!(rows[0][0], literal(Value::Int(1), SqlType::Integer));
    assert_eq!(rows[0][1], literal(Value::Text("x".into()), SqlType::Text));
    assert_eq!(rows[0][2], literal(Value::Decimal { unscaled: 101, scale: 2 }, SqlType::decimal(10, 2)));
    assert_eq!(rows[0][3], literal(Value::Date(19_782), SqlType::Date));
    assert_eq!(insert.source.parameters, [SqlType::Integer, SqlType::Date]);
    assert_eq!(insert.conflict, Conflict::Abort);
}

#[test]
fn insert_knows_what_to_do_with_conflicts() {
    let conflict = |sql: &str| match ok(sql) {
        Statement::Insert(insert) => insert.conflict,
        other => panic!("{other:?}"),
    };
    assert_eq!(conflict("INSERT OR REPLACE INTO t (a) VALUES (1)"), Conflict::Replace);
    assert_eq!(conflict("INSERT OR IGNORE INTO t (a) VALUES (1)"), Conflict::Ignore);
    assert_eq!(conflict("INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING"), Conflict::Ignore);
    let update = conflict(
        "INSERT INTO t (a, e) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET e = excluded.e + t.e, b = DEFAULT WHERE e < 5",
    );
    let Conflict::Update { target, assignments, condition } = update else { panic!("{update:?}") };
    assert_eq!(target, [0]);
    assert_eq!(assignments[0].1.to_string(), "(#9 + #4)");
    assert_eq!(condition.map(|c| c.to_string()).as_deref(), Some("(#4 < 5)"));
    assert_eq!(refused("INSERT INTO t (a) VALUES (1) ON CONFLICT (b) DO NOTHING").0, "42P10");
}

#[test]
fn insert_from_a_query_and_returning() {
    let Statement::Insert(insert) = ok("INSERT INTO t (a, c) SELECT k, v FROM u RETURNING a, c * 2 AS twice, *") else {
        panic!()
    };
    assert_eq!(insert.source.root.types()[2], SqlType::decimal(10, 2));
    let names: Vec<&str> = insert.returning.iter().map(|(c, _)| c.name.as_str()).collect();
    assert_eq!(names, ["a", "twice", "a", "b", "c", "d", "e"]);
    assert!(matches!(ok("INSERT INTO t DEFAULT VALUES"), Statement::Insert(_)));
    assert!(matches!(ok("INSERT INTO t SELECT * FROM t WHERE a > 5"), Statement::Insert(_)));
}

#[test]
fn update_puts_out_whole_rows_and_the_locator() {
    let Statement::Update(update) =
        ok("UPDATE t AS x SET c = c + 1, d = '2024-01-01', b = $1 WHERE x.a = 5 RETURNING x.c")
    else {
        panic!()
    };
    let types = update.source.root.types();
    assert_eq!(types.len(), 6);
    assert_eq!(types[2], SqlType::decimal(10, 2));
    assert_eq!(types[5], SqlType::Blob);
    assert_eq!(update.source.parameters, [SqlType::Text]);
    let plan = text(&catalog(), &update.source);
    assert!(plan.contains("primary key keys=1"), "{plan}");
    assert!(plan.contains("DATE '2024-01-01'"), "{plan}");
    assert!(matches!(
        ok("UPDATE t SET c = (SELECT max(v) FROM u WHERE u.k = t.a) WHERE a IN (SELECT k FROM u)"),
        Statement::Update(_)
    ));
}

#[test]
fn delete_reads_keys_only() {
    let Statement::Delete(delete) = ok("DELETE FROM t WHERE d < '2020-01-01'") else { panic!() };
    assert_eq!(delete.source.root.types().len(), 6);
    let plan = text(&catalog(), &delete.source);
    assert!(plan.contains("columns=[a, e]"), "{plan}");
    assert!(matches!(ok("DELETE FROM t"), Statement::Delete(_)));
}

#[test]
fn tables_are_created() {
    let Statement::CreateTable(create) =
        ok("CREATE TABLE IF NOT EXISTS \"New\" (id INT PRIMARY KEY, n NUMERIC, p DECIMAL(12,4) NOT NULL DEFAULT 1.5, \
         s VARCHAR(20), f REAL, ts TIMESTAMP, UNIQUE (s, f)) WITH (storage = 'column')")
    else {
        panic!()
    };
    assert_eq!(create.name, "New");
    assert_eq!(create.storage, Storage::Column);
    assert_eq!(create.primary_key, [0]);
    assert!(!create.columns[0].nullable);
    assert_eq!(create.columns[1].ty, SqlType::decimal(18, 3));
    assert_eq!(create.unique, [vec![3, 4]]);
    let default = Value::Decimal { unscaled: 15_000, scale: 4 };
    let stored = create.columns[2].default.as_ref().map(|d| (&d.expr, d.sql.as_str()));
    assert_eq!(stored, Some((&Expr::literal(default, SqlType::decimal(12, 4)), "1.5")));
    let Statement::CreateTable(create) = ok("CREATE TABLE n AS SELECT a, b || 'x' AS bx FROM t") else { panic!() };
    assert_eq!(create.columns[1].name, "bx");
    assert_eq!(create.storage, Storage::Hybrid);
    assert!(create.source.is_some());
}

#[test]
fn other_statements() {
    assert!(
        matches!(ok("CREATE UNIQUE INDEX i ON t (b, c DESC)"), Statement::CreateIndex(i) if i.columns == [(1, false), (2, true)] && i.unique)
    );
    assert!(
        matches!(ok("CREATE VIEW v AS SELECT a FROM t"), Statement::CreateView { sql, .. } if sql == "SELECT a FROM t")
    );
    assert!(
        matches!(ok("DROP TABLE IF EXISTS t, u"), Statement::DropTable { names, if_exists: true } if names.len() == 2)
    );
    assert!(matches!(ok("DROP INDEX t_e"), Statement::DropIndex { .. }));
    assert!(matches!(ok("DROP VIEW w"), Statement::DropView { .. }));
    assert_eq!(ok("BEGIN"), Statement::Begin { read_only: false });
    assert_eq!(ok("BEGIN TRANSACTION READ ONLY"), Statement::Begin { read_only: true });
    assert_eq!(ok("START TRANSACTION READ ONLY;"), Statement::Begin { read_only: true });
    assert_eq!(ok("commit"), Statement::Commit);
    assert_eq!(ok("END"), Statement::Commit);
    assert_eq!(ok("ROLLBACK"), Statement::Rollback);
    assert_eq!(ok("SAVEPOINT Sp"), Statement::Savepoint("sp".into()));
    assert_eq!(ok("RELEASE SAVEPOINT sp"), Statement::Release("sp".into()));
    assert_eq!(ok("ROLLBACK TO SAVEPOINT sp"), Statement::RollbackTo("sp".into()));
    assert_eq!(ok("SET route = Row"), Statement::Set { name: "route".into(), value: Value::Text("row".into()) });
    assert_eq!(
        ok("SET durability TO 'relaxed'"),
        Statement::Set { name: "durability".into(), value: Value::Text("relaxed".into()) }
    );
    assert_eq!(ok("PRAGMA cache_size = -200"), Statement::Set { name: "cache_size".into(), value: Value::Int(-200) });
    assert_eq!(ok("PRAGMA integrity_check"), Statement::Show { name: "integrity_check".into() });
    assert_eq!(ok("SHOW route"), Statement::Show { name: "route".into() });
    assert_eq!(ok("CHECKPOINT;"), Statement::Checkpoint);
    assert_eq!(ok("vacuum"), Statement::Vacuum);
    assert!(matches!(ok("EXPLAIN ANALYZE SELECT 1"), Statement::Explain { analyze: true, .. }));
    assert!(matches!(ok("EXPLAIN DELETE FROM t"), Statement::Explain { analyze: false, .. }));
    assert!(
        matches!(ok("DESCRIBE t"), Statement::Query(q) if matches!(&q.root, Node::Values { rows, .. } if rows.len() == 5))
    );
    assert!(
        matches!(ok("SHOW TABLES"), Statement::Query(q) if matches!(&q.root, Node::Values { rows, .. } if rows.len() == 3))
    );
    assert!(matches!(ok("DESCRIBE w"), Statement::Query(_)));
}

#[test]
fn names_and_conveniences() {
    let names = |sql: &str| query(&catalog(), sql).columns.into_iter().map(|c| c.name).collect::<Vec<_>>();
    assert_eq!(names("SELECT a, a, t.A + 1, count(*) FROM t GROUP BY ALL"), ["a", "a", "t.A + 1", "count(*)"]);
    assert_eq!(names("SELECT * EXCLUDE (b, c), a FROM t"), ["a", "d", "e", "a"]);
    assert_eq!(names("SELECT x FROM w"), ["x"]);
    assert_eq!(names("SELECT \"a\" AS \"A b\" FROM T"), ["A b"]);
    assert_eq!(names("VALUES (1, 'a'), (2, NULL)"), ["column1", "column2"]);
    assert_eq!(query(&catalog(), "SELECT :x + a, ?, $1 FROM t").parameters.len(), 2);
    assert_eq!(
        query(&catalog(), "SELECT ? || b FROM t LIMIT ? OFFSET ?").parameters,
        [SqlType::Text, SqlType::BigInt, SqlType::BigInt]
    );
}

#[test]
fn types_follow_the_rules() {
    let types = |sql: &str| query(&catalog(), sql).columns.into_iter().map(|c| c.ty).collect::<Vec<_>>();
    assert_eq!(
        types(
            "SELECT a + 1, a + e, c * a, c / 3, c + 1, v * c, a / 2, d - d, d + 1, avg(c) FROM t, u GROUP BY a, e, c, v, d"
        ),
        [
            SqlType::Integer,
            SqlType::BigInt,
            SqlType::decimal(20, 2),
            SqlType::decimal(38, 6),
            SqlType::decimal(11, 2),
            SqlType::Double,
            SqlType::Integer,
            SqlType::Integer,
            SqlType::Date,
            SqlType::decimal(38, 6),
        ]
    );
    assert_eq!(
        types("SELECT NULL, CASE WHEN true THEN 1 ELSE 2.5 END, coalesce(NULL, 1)"),
        [SqlType::Text, SqlType::decimal(11, 1), SqlType::Integer]
    );
    assert_eq!(types("SELECT 1e3, 1.5, -3000000000"), [SqlType::Double, SqlType::decimal(2, 1), SqlType::BigInt]);
    assert_eq!(types("SELECT a FROM t UNION ALL SELECT k FROM u UNION ALL SELECT NULL"), [SqlType::BigInt]);
    assert_eq!(
        types("SELECT sum(a), sum(e), sum(c), count(*) FROM t"),
        [SqlType::BigInt, SqlType::decimal(38, 0), SqlType::decimal(38, 2), SqlType::BigInt]
    );
}

#[test]
fn errors_have_code_position_and_hint() {
    let (code, position, hint, _) = refused("SELECT aa\nFROM t");
    assert_eq!((code.as_str(), position), ("42703", Some((1, 8))));
    assert_eq!(hint.as_deref(), Some("did you mean a?"));
    let (code, position, ..) = refused("SELECT a FROM\n  tt");
    assert_eq!((code.as_str(), position), ("42P01", Some((2, 3))));
    assert_eq!(refused("SELECT t.x FROM t").0, "42703");
    assert_eq!(refused("SELECT z.a FROM t").0, "42P01");
    assert_eq!(refused("SELECT a FROM t, t AS s").0, "42702");
    assert_eq!(refused("SELECT sqr(a) FROM t").0, "42883");
    assert_eq!(refused("SELECT b + 1 FROM t").0, "42883");
    assert_eq!(refused("SELECT a FROM t WHERE b = 1").0, "42883");
    assert_eq!(
        refused("SELECT a FROM t WHERE d > 'soon'"),
        ("22P02".into(), Some((1, 27)), None, "'soon' is not a valid DATE".into())
    );
    assert_eq!(refused("SELECT a FROM t WHERE a").0, "42804");
    assert_eq!(refused("SELECT a, count(*) FROM t").0, "42803");
    assert_eq!(refused("SELECT a FROM t WHERE a > (SELECT sum(t.a))").0, "42803");
    assert_eq!(refused("SELECT a FROM t UNION SELECT b FROM t").0, "42804");
    let (code, position, ..) = refused("SELECT a FROM t WHERE");
    assert_eq!((code.as_str(), position.is_some()), ("42601", true));
    assert_eq!(refused("SELEC 1").0, "42601");
    assert_eq!(refused("SELECT 1 SELECT 2").0, "42601");
    assert_eq!(refused("").0, "42601");
    assert_eq!(refused("CREATE TABLE t (a INT)").0, "42P07");
    assert_eq!(refused("INSERT INTO t (a, zz) VALUES (1, 2)").0, "42703");
    assert_eq!(refused("INSERT INTO t (a) VALUES (1, 2)").0, "42601");
    assert_eq!(refused("INSERT INTO t (d) VALUES (1)").0, "42804");
    assert_eq!(refused("UPDATE t SET q = 1").0, "42703");
}

#[test]
fn what_is_not_supported_says_so() {
    for sql in [
        "SELECT a FROM t FOR UPDATE",
        "ALTER TABLE t ADD COLUMN z INT UNIQUE",
        "UPDATE t SET a = 1 FROM u",
        "SELECT * FROM t RIGHT JOIN u USING (k)",
    ] {
        let (code, ..) = refused(sql);
        assert!(code == "0A000" || (code == "42703" && sql.contains("USING")), "{sql}: {code}");
    }
}

#[test]
fn stored_expressions_have_a_depth() {
    // A chain of OR is balanced; one of + is not, and brackets add to it.
    let long = vec!["a + 0 = 1"; 3_900].join(" OR ");
    ok(&format!("CREATE TABLE z (b BOOLEAN DEFAULT ({}))", long.replace('a', "1")));
    let sums = |levels: usize, each: usize| {
        format!("{}a{} > 0", "(".repeat(levels), format!("{})", " + 1".repeat(each)).repeat(levels))
    };
    for levels in [1, 5, 30] {
        ok(&format!("SELECT a FROM t WHERE {}", sums(levels, 96 / levels)));
        assert_eq!(refused(&format!("SELECT a FROM t WHERE {}", sums(levels, 120 / levels))).0, "54001");
    }
    for (condition, fits) in [(long, true), (sums(5, 9), true), (sums(30, 3), false)] {
        for sql in [
            format!("CREATE TABLE z (a INT, CHECK ({condition}))"),
            format!("CREATE TABLE z (a INT, b BOOLEAN GENERATED ALWAYS AS ({condition}) STORED)"),
            format!("CREATE INDEX z ON t (a) WHERE {condition}"),
            format!("CREATE INDEX z ON t (({condition}))"),
        ] {
            if fits {
                ok(&sql);
            } else {
                assert_eq!(refused(&sql).0, "54001", "{sql}");
            }
        }
    }
}

#[test]
fn joins_have_a_number_of_relations() {
    let joins = |kind: &str, count: usize| {
        let joined: String = (1..count).map(|i| format!(" {kind} JOIN t AS t{i} ON t{i}.a = t0.a")).collect();
        format!("SELECT count(*) FROM t AS t0{joined}")
    };
    for kind in ["INNER", "LEFT"] {
        ok(&joins(kind, 60));
        for count in [64, 66, 150] {
            assert_eq!(refused(&joins(kind, count)).0, "54001", "{kind} {count}");
        }
    }
}

#[test]
fn hostile_text_is_an_error_and_not_a_crash() {
    let catalog = catalog();
    let repeat = |s: &str, n: usize| s.repeat(n);
    let texts = [
        format!("SELECT {}1{}", repeat("(", 5_000), repeat(")", 5_000)),
        format!("SELECT {}1", repeat("-(", 3_000)),
        format!("SELECT {}1", repeat("NOT ", 3_000)),
        format!("SELECT 1{}", repeat(" + 1", 100_000)),
        format!("SELECT a FROM t WHERE a = 0{}", repeat(" OR a = 1", 100_000)),
        format!("SELECT 1{}", repeat(" UNION SELECT 1", 10_000)),
        format!("SELECT * FROM {}t", repeat("(SELECT * FROM ", 500)),
        format!("SELECT CASE {} END", repeat("WHEN true THEN CASE ", 2_000)),
        // Where these fail, the parser tries again at every level.
        format!("SELECT {}t !", repeat("CAST(", 12)),
        format!("SELECT {}t !", repeat("NOT (", 38)),
        format!("SELECT * FROM {}t !", repeat("((SELECT * FROM ", 11)),
        format!("SELECT {}t !", repeat("INTERVAL (", 38)),
        repeat("\u{0}", 50),
        "SELECT '\u{1F600}' || \"".into(),
        "SELECT $0".into(),
        "SELECT ?99999999999".into(),
        format!("SELECT 1e{}", repeat("9", 400)),
        format!("SELECT {}", repeat("9", 400)),
        "SELECT date '9999999-01-01', interval '99999999999 years'".into(),
    ];
    // One mebibyte, as a wasm module has.
    // Frames of unoptimized code are several times larger.
    let stack_bytes = if cfg!(debug_assertions) { 16 << 20 } else { 1 << 20 };
    let thread = std::thread::Builder::new().stack_size(stack_bytes).spawn(move || {
        for sql in texts {
            let _ = plan(&catalog, &sql);
        }
        let list: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        assert!(plan(&catalog, &format!("SELECT a FROM t WHERE a IN ({})", list.join(","))).is_ok());
        let chain: Vec<String> = (0..3_000).map(|i| format!("a <> {i}")).collect();
        assert!(plan(&catalog, &format!("SELECT a FROM t WHERE {}", chain.join(" AND "))).is_ok());
    });
    thread.expect("the thread starts").join().expect("nothing overflows or panics");
}
