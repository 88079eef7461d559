//! Files are whole, quoted where they must be, and written once.

use super::*;
use crate::generate::TextColumn;
use std::path::PathBuf;

/// A folder of its own for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gingham-tpch-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_written_once_and_whole() {
    let folder = Folder::new("csv");
    let scale = ScaleFactor::HUNDREDTH;
    let written = write_csv(&folder.0, scale, |_| {}).expect("an empty folder");
    assert!(written.iter().all(|(_, written)| *written == Written::Now));

    let text = fs::read_to_string(folder.0.join("lineitem.csv")).expect("written");
    assert_eq!(text.lines().count(), 1 + 60_175);
    assert!(text.starts_with(
        "l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,\
         l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,l_comment\n\
         1,1552,93,1,17.00,24710.35,0.04,0.02,N,O,1996-03-13,1996-02-12,1996-03-22,DELIVER IN PERSON,TRUCK,\
         egular courts above the\n"
    ));
    let text = fs::read_to_string(folder.0.join("supplier.csv")).expect("written");
    assert!(
        text.contains("\n1,Supplier#000000001,\" N kD4on9OM Ipw3,gf0JBoQDd7tgrzrddZ\",17,27-918-335-1736,5755.94,")
    );

    fs::remove_file(folder.0.join("nation.csv")).expect("written");
    let again = write_csv(&folder.0, scale, |_| {}).expect("the same folder");
    let now: Vec<Table> =
        again.into_iter().filter(|(_, written)| *written == Written::Now).map(|(table, _)| table).collect();
    assert_eq!(now, [Table::Nation]);
    let mut names: Vec<String> = fs::read_dir(&folder.0)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "customer.csv",
            "lineitem.csv",
            "nation.csv",
            "orders.csv",
            "part.csv",
            "partsupp.csv",
            "region.csv",
            "scale-factor",
            "supplier.csv"
        ]
    );
}

#[test]
fn a_folder_of_another_scale_factor_is_refused() {
    let folder = Folder::new("csv-other");
    fs::create_dir_all(&folder.0).expect("a temporary folder");
    fs::write(folder.0.join(SCALE_FILE), "10\n").expect("a writable folder");
    let error = write_csv(&folder.0, ScaleFactor::HUNDREDTH, |_| {}).expect_err("another scale factor");
    assert!(matches!(&error, Error::OtherData { found, .. } if found == "scale factor 10"), "{error}");
    assert!(!folder.0.join("region.csv").exists());
}

#[test]
fn fields_are_quoted_where_they_must_be() {
    let mut texts = TextColumn::new();
    for text in [" plain ", "a,b", "say \"x\"", "two\nlines", ""] {
        texts.push(text);
    }
    let batch = Batch {
        table: Table::Region,
        first_row: 0,
        columns: vec![ColumnData::Decimal(vec![-5, 0, 123_456, -100, 7]), ColumnData::Text(texts)],
    };
    let mut out = Vec::new();
    write_batch(&mut out, &batch).expect("memory");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "-0.05, plain \n0.00,\"a,b\"\n1234.56,\"say \"\"x\"\"\"\n-1.00,\"two\nlines\"\n0.07,\n"
    );
}
