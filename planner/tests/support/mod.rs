//! The TPC-H catalog at scale factor 1, as the engine would describe it after a load.

use gingham_plan::{
    Catalog, ColumnInfo, ColumnStatistics, IndexInfo, PlanRequest, Planner, Query, RouteSetting, SqlError, Statement,
    Storage, TableId, TableInfo, TableStatistics, explain,
};
use gingham_planner::SqlPlanner;
use gingham_types::{SqlType, Value, parse_date};
use std::sync::Arc;

/// What is known of a column: type, distinct values, least and greatest value.
enum Range {
    /// Whole numbers.
    Int(i64, i64),
    /// Hundredths.
    Money(i128, i128),
    /// Dates.
    Dates(&'static str, &'static str),
    /// Text.
    Text,
}

fn column(name: &str, distinct: u64, range: Range) -> (ColumnInfo, ColumnStatistics) {
    let cents = |v| Value::Decimal { unscaled: v, scale: 2 };
    let date = |text| parse_date(text).map(Value::Date);
    let (ty, min, max, bytes) = match range {
        Range::Int(a, b) => (SqlType::Integer, Some(Value::Int(a)), Some(Value::Int(b)), 4.0),
        Range::Money(a, b) => (SqlType::decimal(15, 2), Some(cents(a)), Some(cents(b)), 4.0),
        Range::Dates(a, b) => (SqlType::Date, date(a), date(b), 2.0),
        Range::Text => (SqlType::Text, None, None, 16.0),
    };
    let info = ColumnInfo { name: name.to_owned(), ty, nullable: false, default: None, generated: None };
    (info, ColumnStatistics { min, max, nulls: 0, distinct, bytes_mean: bytes })
}

fn table(id: u32, name: &str, rows: u64, key: &[usize], columns: Vec<(ColumnInfo, ColumnStatistics)>) -> TableInfo {
    let (columns, statistics) = columns.into_iter().unzip();
    TableInfo {
        id: TableId(id),
        name: name.to_owned(),
        columns,
        primary_key: key.to_vec(),
        storage: Storage::Hybrid,
        indexes: Vec::<IndexInfo>::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        statistics: TableStatistics {
            rows,
            row_groups: rows.div_ceil(122_880) as u32,
            rows_uncopied: 0,
            columns: statistics,
        },
    }
}

/// The eight tables.
pub(crate) fn tpch() -> Arc<Catalog> {
    use Range::{Dates, Int, Money, Text};
    let tables = vec![
        table(
            1,
            "region",
            5,
            &[0],
            vec![column("r_regionkey", 5, Int(0, 4)), column("r_name", 5, Text), column("r_comment", 5, Text)],
        ),
        table(
            2,
            "nation",
            25,
            &[0],
            vec![
                column("n_nationkey", 25, Int(0, 24)),
                column("n_name", 25, Text),
                column("n_regionkey", 5, Int(0, 4)),
                column("n_comment", 25, Text),
            ],
        ),
        table(
            3,
            "supplier",
            10_000,
            &[0],
            vec![
                column("s_suppkey", 10_000, Int(1, 10_000)),
                column("s_name", 10_000, Text),
                column("s_address", 10_000, Text),
                column("s_nationkey", 25, Int(0, 24)),
                column("s_phone", 10_000, Text),
                column("s_acctbal", 9_955, Money(-99_822, 999_972)),
                column("s_comment", 10_000, Text),
            ],
        ),
        table(
            4,
            "customer",
            150_000,
            &[0],
            vec![
                column("c_custkey", 150_000, Int(1, 150_000)),
                column("c_name", 150_000, Text),
                column("c_address", 150_000, Text),
                column("c_nationkey", 25, Int(0, 24)),
                column("c_phone", 150_000, Text),
                column("c_acctbal", 140_187, Money(-99_999, 999_999)),
                column("c_mktsegment", 5, Text),
                column("c_comment", 149_968, Text),
            ],
        ),
        table(
            5,
            "part",
            200_000,
            &[0],
            vec![
                column("p_partkey", 200_000, Int(1, 200_000)),
                column("p_name", 199_997, Text),
                column("p_mfgr", 5, Text),
                column("p_brand", 25, Text),
                column("p_type", 150, Text),
                column("p_size", 50, Int(1, 50)),
                column("p_container", 40, Text),
                column("p_retailprice", 20_899, Money(90_100, 209_899)),
                column("p_comment", 131_753, Text),
            ],
        ),
        table(
            6,
            "partsupp",
            800_000,
            &[0, 1],
            vec![
                column("ps_partkey", 200_000, Int(1, 200_000)),
                column("ps_suppkey", 10_000, Int(1, 10_000)),
                column("ps_availqty", 9_999, Int(1, 9_999)),
                column("ps_supplycost", 99_865, Money(100, 100_000)),
                column("ps_comment", 799_124, Text),
            ],
        ),
        table(
            7,
            "orders",
            1_500_000,
            &[0],
            vec![
                column("o_orderkey", 1_500_000, Int(1, 6_000_000)),
                column("o_custkey", 99_996, Int(1, 149_999)),
                column("o_orderstatus", 3, Text),
                column("o_totalprice", 1_464_556, Money(85_771, 55_528_516)),
                column("o_orderdate", 2_406, Dates("1992-01-01", "1998-08-02")),
                column("o_orderpriority", 5, Text),
                column("o_clerk", 1_000, Text),
                column("o_shippriority", 1, Int(0, 0)),
                column("o_comment", 1_482_071, Text),
            ],
        ),
        table(
            8,
            "lineitem",
            6_001_215,
            &[0, 3],
            vec![
                column("l_orderkey", 1_500_000, Int(1, 6_000_000)),
                column("l_partkey", 200_000, Int(1, 200_000)),
                column("l_suppkey", 10_000, Int(1, 10_000)),
                column("l_linenumber", 7, Int(1, 7)),
                column("l_quantity", 50, Money(100, 5_000)),
                column("l_extendedprice", 933_900, Money(90_100, 10_494_950)),
                column("l_discount", 11, Money(0, 10)),
                column("l_tax", 9, Money(0, 8)),
                column("l_returnflag", 3, Text),
                column("l_linestatus", 2, Text),
                column("l_shipdate", 2_526, Dates("1992-01-02", "1998-12-01")),
                column("l_commitdate", 2_466, Dates("1992-01-31", "1998-10-31")),
                column("l_receiptdate", 2_554, Dates("1992-01-04", "1998-12-31")),
                column("l_shipinstruct", 4, Text),
                column("l_shipmode", 7, Text),
                column("l_comment", 3_610_733, Text),
            ],
        ),
    ];
    Arc::new(Catalog { version: 1, tables, views: Vec::new() })
}

/// Plans one statement.
pub(crate) fn plan(catalog: &Arc<Catalog>, sql: &str) -> Result<Statement, SqlError> {
    plan_routed(catalog, sql, RouteSetting::Auto)
}

/// Plans one statement with a route setting.
pub(crate) fn plan_routed(catalog: &Arc<Catalog>, sql: &str, route: RouteSetting) -> Result<Statement, SqlError> {
    SqlPlanner::new().plan(&PlanRequest { sql, catalog, route })
}

/// Plans one query.
pub(crate) fn query(catalog: &Arc<Catalog>, sql: &str) -> Query {
    match plan(catalog, sql) {
        Ok(Statement::Query(query)) => query,
        other => panic!("{sql}\nis not a query: {other:?}"),
    }
}

/// A query's plan as EXPLAIN shows it.
pub(crate) fn explained(catalog: &Arc<Catalog>, sql: &str) -> String {
    text(catalog, &query(catalog, sql))
}

/// A planned query as EXPLAIN shows it.
pub(crate) fn text(catalog: &Catalog, query: &Query) -> String {
    let lines = explain::lines(query, &|id| catalog.table_by_id(id).cloned());
    lines.into_iter().map(|line| format!("{}{}\n", "  ".repeat(line.depth), line.text)).collect()
}
