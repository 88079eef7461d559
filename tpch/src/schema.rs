//! The eight tables: their columns, their keys and the DDL that creates them.
//!
//! Keys are INTEGER at every scale factor that [`ScaleFactor`](crate::ScaleFactor)
//! admits. The standard's CHAR and VARCHAR columns are TEXT without trailing blanks.

use std::fmt::{self, Write as _};
use std::str::FromStr;

/// One of the eight tables of TPC-H.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Five regions.
    Region,
    /// Twenty-five nations.
    Nation,
    /// 10,000 suppliers times the scale factor.
    Supplier,
    /// 150,000 customers times the scale factor.
    Customer,
    /// 200,000 parts times the scale factor.
    Part,
    /// Four suppliers a part.
    PartSupp,
    /// 1,500,000 orders times the scale factor.
    Orders,
    /// One to seven lines an order, four on average.
    LineItem,
}

/// The type of a column, of the four that TPC-H needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// `INTEGER`.
    Integer,
    /// `DECIMAL(15,2)`.
    Decimal,
    /// `DATE`.
    Date,
    /// `TEXT`.
    Text,
}

/// Digits in all of a decimal column.
pub const DECIMAL_PRECISION: u8 = 15;
/// Digits after the point of a decimal column.
pub const DECIMAL_SCALE: u8 = 2;

/// A column: its name and its type. No column of TPC-H holds NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, in lower case.
    pub name: &'static str,
    /// The type.
    pub column_type: ColumnType,
}

/// Where a table's rows are kept: the `storage` option of CREATE TABLE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// In the row store, with a columnar copy that follows.
    #[default]
    Hybrid,
    /// In the row store alone.
    Row,
    /// In the column store, with keys indexed in the row store.
    Column,
}

/// Whether the tables declare their primary keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimaryKeys {
    /// As the standard has them.
    #[default]
    Declared,
    /// None: nothing to check or to index while loading.
    Omitted,
}

impl Table {
    /// All tables, small ones first.
    pub const ALL: [Self; 8] = [
        Self::Region,
        Self::Nation,
        Self::Supplier,
        Self::Customer,
        Self::Part,
        Self::PartSupp,
        Self::Orders,
        Self::LineItem,
    ];

    /// The table's name in SQL and in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Region => "region",
            Self::Nation => "nation",
            Self::Supplier => "supplier",
            Self::Customer => "customer",
            Self::Part => "part",
            Self::PartSupp => "partsupp",
            Self::Orders => "orders",
            Self::LineItem => "lineitem",
        }
    }

    /// The columns, in the standard's order.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Region => REGION,
            Self::Nation => NATION,
            Self::Supplier => SUPPLIER,
            Self::Customer => CUSTOMER,
            Self::Part => PART,
            Self::PartSupp => PARTSUPP,
            Self::Orders => ORDERS,
            Self::LineItem => LINEITEM,
        }
    }

    /// The columns of the primary key.
    pub const fn primary_key(self) -> &'static [&'static str] {
        match self {
            Self::Region => &["r_regionkey"],
            Self::Nation => &["n_nationkey"],
            Self::Supplier => &["s_suppkey"],
            Self::Customer => &["c_custkey"],
            Self::Part => &["p_partkey"],
            Self::PartSupp => &["ps_partkey", "ps_suppkey"],
            Self::Orders => &["o_orderkey"],
            Self::LineItem => &["l_orderkey", "l_linenumber"],
        }
    }

    /// The CREATE TABLE statement.
    pub fn create_sql(self, storage: Storage, keys: PrimaryKeys) -> String {
        let mut sql = format!("CREATE TABLE {} (", self.name());
        for (position, column) in self.columns().iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(sql, "{separator}{} {} NOT NULL", column.name, column.column_type);
        }
        if keys == PrimaryKeys::Declared {
            let _ = write!(sql, ", PRIMARY KEY ({})", self.primary_key().join(", "));
        }
        let _ = write!(sql, ") WITH (storage = '{storage}')");
        sql
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("INTEGER"),
            Self::Decimal => write!(f, "DECIMAL({DECIMAL_PRECISION},{DECIMAL_SCALE})"),
            Self::Date => f.write_str("DATE"),
            Self::Text => f.write_str("TEXT"),
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hybrid => "hybrid",
            Self::Row => "row",
            Self::Column => "column",
        })
    }
}

impl FromStr for Storage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "hybrid" => Ok(Self::Hybrid),
            "row" => Ok(Self::Row),
            "column" => Ok(Self::Column),
            other => Err(format!("storage is hybrid, row or column, not {other:?}")),
        }
    }
}

const fn integer(name: &'static str) -> Column {
    Column { name, column_type: ColumnType::Integer }
}

const fn decimal(name: &'static str) -> Column {
    Column { name, column_type: ColumnType::Decimal }
}

const fn date(name: &'static str) -> Column {
    Column { name, column_type: ColumnType::Date }
}

const fn text(name: &'static str) -> Column {
    Column { name, column_type: ColumnType::Text }
}

const REGION: &[Column] = &[integer("r_regionkey"), text("r_name"), text("r_comment")];

const NATION: &[Column] = &[integer("n_nationkey"), text("n_name"), integer("n_regionkey"), text("n_comment")];

const SUPPLIER: &[Column] = &[
    integer("s_suppkey"),
    text("s_name"),
    text("s_address"),
    integer("s_nationkey"),
    text("s_phone"),
    decimal("s_acctbal"),
    text("s_comment"),
];

const CUSTOMER: &[Column] = &[
    integer("c_custkey"),
    text("c_name"),
    text("c_address"),
    integer("c_nationkey"),
    text("c_phone"),
    decimal("c_acctbal"),
    text("c_mktsegment"),
    text("c_comment"),
];

const PART: &[Column] = &[
    integer("p_partkey"),
    text("p_name"),
    text("p_mfgr"),
    text("p_brand"),
    text("p_type"),
    integer("p_size"),
    text("p_container"),
    decimal("p_retailprice"),
    text("p_comment"),
];

const PARTSUPP: &[Column] = &[
    integer("ps_partkey"),
    integer("ps_suppkey"),
    integer("ps_availqty"),
    decimal("ps_supplycost"),
    text("ps_comment"),
];

const ORDERS: &[Column] = &[
    integer("o_orderkey"),
    integer("o_custkey"),
    text("o_orderstatus"),
    decimal("o_totalprice"),
    date("o_orderdate"),
    text("o_orderpriority"),
    text("o_clerk"),
    integer("o_shippriority"),
    text("o_comment"),
];

const LINEITEM: &[Column] = &[
    integer("l_orderkey"),
    integer("l_partkey"),
    integer("l_suppkey"),
    integer("l_linenumber"),
    decimal("l_quantity"),
    decimal("l_extendedprice"),
    decimal("l_discount"),
    decimal("l_tax"),
    text("l_returnflag"),
    text("l_linestatus"),
    date("l_shipdate"),
    date("l_commitdate"),
    date("l_receiptdate"),
    text("l_shipinstruct"),
    text("l_shipmode"),
    text("l_comment"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ddl_names_storage_and_keys() {
        assert_eq!(
            Table::Nation.create_sql(Storage::Row, PrimaryKeys::Omitted),
            "CREATE TABLE nation (n_nationkey INTEGER NOT NULL, n_name TEXT NOT NULL, \
             n_regionkey INTEGER NOT NULL, n_comment TEXT NOT NULL) WITH (storage = 'row')"
        );
        assert_eq!(
            Table::PartSupp.create_sql(Storage::Column, PrimaryKeys::Declared),
            "CREATE TABLE partsupp (ps_partkey INTEGER NOT NULL, ps_suppkey INTEGER NOT NULL, \
             ps_availqty INTEGER NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment TEXT NOT NULL, \
             PRIMARY KEY (ps_partkey, ps_suppkey)) WITH (storage = 'column')"
        );
    }

    #[test]
    fn keys_are_columns_and_the_tables_have_61_columns() {
        for table in Table::ALL {
            for key in table.primary_key() {
                assert!(table.columns().iter().any(|column| column.name == *key), "{key}");
            }
        }
        assert_eq!(Table::ALL.iter().map(|table| table.columns().len()).sum::<usize>(), 61);
    }
}
