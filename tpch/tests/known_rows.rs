//! The generated rows are those of the standard's generator, here as published for
//! scale factor 1, in its own `|`-separated form.

use gingham_tpch::{Batch, ColumnData, ScaleFactor, Table, batches};
use gingham_types::format_date;

/// The first rows at scale factor 1. The standard's files have the quantity without its
/// digits after the point.
const FIRST_ROWS: [(Table, &[&str]); 8] = [
    (
        Table::Region,
        &[
            "0|AFRICA|lar deposits. blithely final packages cajole. regular waters are final requests. regular accounts are according to |",
        ],
    ),
    (
        Table::Nation,
        &[
            "0|ALGERIA|0| haggle. carefully final deposits detect slyly agai|",
            "1|ARGENTINA|1|al foxes promise slyly according to the regular accounts. bold requests alon|",
        ],
    ),
    (
        Table::Supplier,
        &[
            "1|Supplier#000000001| N kD4on9OM Ipw3,gf0JBoQDd7tgrzrddZ|17|27-918-335-1736|5755.94|each slyly above the careful|",
        ],
    ),
    (
        Table::Customer,
        &[
            "1|Customer#000000001|IVhzIApeRb ot,c,E|15|25-989-741-2988|711.56|BUILDING|to the even, regular platelets. regular, ironic epitaphs nag e|",
        ],
    ),
    (
        Table::Part,
        &[
            "1|goldenrod lavender spring chocolate lace|Manufacturer#1|Brand#13|PROMO BURNISHED COPPER|7|JUMBO PKG|901.00|ly. slyly ironi|",
        ],
    ),
    (
        Table::PartSupp,
        &[
            "1|2|3325|771.64|, even theodolites. regular, final theodolites eat after the carefully pending foxes. furiously regular deposits sleep slyly. carefully bold realms above the ironic dependencies haggle careful|",
        ],
    ),
    (Table::Orders, &["1|36901|O|173665.47|1996-01-02|5-LOW|Clerk#000000951|0|nstructions sleep furiously among |"]),
    (
        Table::LineItem,
        &[
            "1|155190|7706|1|17.00|21168.23|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular courts above the|",
            "1|67310|7311|2|36.00|45983.16|0.09|0.06|N|O|1996-04-12|1996-02-28|1996-04-20|TAKE BACK RETURN|MAIL|ly final dependencies: slyly bold |",
            "1|63700|3701|3|8.00|13309.60|0.10|0.02|N|O|1996-01-29|1996-03-05|1996-01-31|TAKE BACK RETURN|REG AIR|riously. regular, express dep|",
        ],
    ),
];

#[test]
fn first_rows_at_scale_factor_one_are_the_published_ones() {
    for (table, rows) in FIRST_ROWS {
        let batch = batches(table, ScaleFactor::ONE, rows.len()).next().expect("every table has rows");
        for (row, expected) in rows.iter().enumerate() {
            assert_eq!(print_row(&batch, row), *expected, "{table}");
        }
    }
}

/// Order keys are sparse: eight of every thirty-two numbers.
#[test]
fn order_keys_are_sparse_and_fit_integer_at_the_largest_scale() {
    let batch = batches(Table::Orders, ScaleFactor::MAX, 16).next().expect("orders");
    let ColumnData::Int32(keys) = &batch.columns[0] else { panic!("keys are INTEGER") };
    assert_eq!(keys[..], [1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 64]);
    let last = tpchgen::generators::OrderGenerator::make_order_key(450_000_000);
    assert!(i32::try_from(last).is_ok(), "{last}");
}

fn print_row(batch: &Batch, row: usize) -> String {
    let cell = |column: &ColumnData| match column {
        ColumnData::Int32(values) => values[row].to_string(),
        ColumnData::Decimal(values) => format!("{}.{:02}", values[row] / 100, values[row] % 100),
        ColumnData::Date(values) => format_date(values[row]),
        ColumnData::Text(values) => values.get(row).to_owned(),
    };
    batch.columns.iter().map(|column| cell(column) + "|").collect()
}
