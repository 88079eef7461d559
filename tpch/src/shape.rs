//! What each query returns: its columns, how closely each is known, and the order of its rows.

use crate::queries::{QUERY_COUNT, QueryNumber};

/// How a column of a result is compared with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Text, equal byte for byte.
    Text,
    /// A date, equal.
    Date,
    /// A key, a year or a count, equal.
    Integer,
    /// A stored decimal or a sum of decimals: an exact number, to the last digit the
    /// answer prints. A DOUBLE is not accepted for it.
    Exact,
    /// An average or a ratio: to the last digit that both sides print.
    Approximate,
}

/// A column of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its name in messages: the query's own where it gives one.
    pub name: &'static str,
    /// How it is compared.
    pub kind: ResultKind,
}

/// The shape of a query's result.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The columns in order.
    pub columns: &'static [ResultColumn],
    /// Positions in `columns` of the ORDER BY. Rows equal in all of them may come in any order.
    pub sort_keys: &'static [usize],
}

impl Shape {
    /// The shape of the result of `query`.
    pub fn of(query: QueryNumber) -> &'static Self {
        &SHAPES[query.index()]
    }
}

const fn text(name: &'static str) -> ResultColumn {
    ResultColumn { name, kind: ResultKind::Text }
}

const fn date(name: &'static str) -> ResultColumn {
    ResultColumn { name, kind: ResultKind::Date }
}

const fn integer(name: &'static str) -> ResultColumn {
    ResultColumn { name, kind: ResultKind::Integer }
}

const fn exact(name: &'static str) -> ResultColumn {
    ResultColumn { name, kind: ResultKind::Exact }
}

const fn approximate(name: &'static str) -> ResultColumn {
    ResultColumn { name, kind: ResultKind::Approximate }
}

const SHAPES: [Shape; QUERY_COUNT] = [
    Shape {
        columns: &[
            text("l_returnflag"),
            text("l_linestatus"),
            exact("sum_qty"),
            exact("sum_base_price"),
            exact("sum_disc_price"),
            exact("sum_charge"),
            approximate("avg_qty"),
            approximate("avg_price"),
            approximate("avg_disc"),
            integer("count_order"),
        ],
        sort_keys: &[0, 1],
    },
    Shape {
        columns: &[
            exact("s_acctbal"),
            text("s_name"),
            text("n_name"),
            integer("p_partkey"),
            text("p_mfgr"),
            text("s_address"),
            text("s_phone"),
            text("s_comment"),
        ],
        sort_keys: &[0, 2, 1, 3],
    },
    Shape {
        columns: &[integer("l_orderkey"), exact("revenue"), date("o_orderdate"), integer("o_shippriority")],
        sort_keys: &[1, 2],
    },
    Shape { columns: &[text("o_orderpriority"), integer("order_count")], sort_keys: &[0] },
    Shape { columns: &[text("n_name"), exact("revenue")], sort_keys: &[1] },
    Shape { columns: &[exact("revenue")], sort_keys: &[] },
    Shape {
        columns: &[text("supp_nation"), text("cust_nation"), integer("l_year"), exact("revenue")],
        sort_keys: &[0, 1, 2],
    },
    Shape { columns: &[integer("o_year"), approximate("mkt_share")], sort_keys: &[0] },
    Shape { columns: &[text("nation"), integer("o_year"), exact("sum_profit")], sort_keys: &[0, 1] },
    Shape {
        columns: &[
            integer("c_custkey"),
            text("c_name"),
            exact("revenue"),
            exact("c_acctbal"),
            text("n_name"),
            text("c_address"),
            text("c_phone"),
            text("c_comment"),
        ],
        sort_keys: &[2],
    },
    Shape { columns: &[integer("ps_partkey"), exact("value")], sort_keys: &[1] },
    Shape { columns: &[text("l_shipmode"), integer("high_line_count"), integer("low_line_count")], sort_keys: &[0] },
    Shape { columns: &[integer("c_count"), integer("custdist")], sort_keys: &[1, 0] },
    Shape { columns: &[approximate("promo_revenue")], sort_keys: &[] },
    Shape {
        columns: &[integer("s_suppkey"), text("s_name"), text("s_address"), text("s_phone"), exact("total_revenue")],
        sort_keys: &[0],
    },
    Shape {
        columns: &[text("p_brand"), text("p_type"), integer("p_size"), integer("supplier_cnt")],
        sort_keys: &[3, 0, 1, 2],
    },
    Shape { columns: &[approximate("avg_yearly")], sort_keys: &[] },
    Shape {
        columns: &[
            text("c_name"),
            integer("c_custkey"),
            integer("o_orderkey"),
            date("o_orderdate"),
            exact("o_totalprice"),
            exact("sum(l_quantity)"),
        ],
        sort_keys: &[4, 3],
    },
    Shape { columns: &[exact("revenue")], sort_keys: &[] },
    Shape { columns: &[text("s_name"), text("s_address")], sort_keys: &[0] },
    Shape { columns: &[text("s_name"), integer("numwait")], sort_keys: &[1, 0] },
    Shape { columns: &[text("cntrycode"), integer("numcust"), exact("totacctbal")], sort_keys: &[0] },
];
