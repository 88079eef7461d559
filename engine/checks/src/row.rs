//! Rows and keys: any bytes for a table of any columns.

use crate::base::Bytes;
use gingham_row_store::key::{KeyColumn, KeyLayout};
use gingham_row_store::row::RowLayout;
use gingham_types::SqlType;

fn types(data: &mut Bytes<'_>) -> Vec<SqlType> {
    let known = [
        SqlType::Boolean,
        SqlType::Integer,
        SqlType::BigInt,
        SqlType::Double,
        SqlType::decimal(15, 2),
        SqlType::decimal(38, 10),
        SqlType::Text,
        SqlType::Blob,
        SqlType::Date,
        SqlType::Timestamp,
    ];
    let count = usize::from(data.byte()) % 12 + 1;
    (0..count).map(|_| known[usize::from(data.byte()) % known.len()]).collect()
}

/// The first bytes choose the columns, the rest is a row, and a key. What reads as a row
/// is written and read back as the same.
pub fn check(data: &[u8]) {
    let mut data = Bytes(data);
    let types = types(&mut data);
    let layout = RowLayout::new(&types);
    if let Ok(reader) = layout.reader(data.0) {
        for (column, _) in types.iter().enumerate() {
            let _ = (reader.is_null(column), reader.int(column), reader.double(column), reader.boolean(column));
            let _ = (reader.decimal(column), reader.bytes(column), reader.text(column), reader.value(column));
        }
    }
    if let Ok(values) = layout.decode_all(data.0) {
        let mut written = Vec::new();
        // A value may be out of its column's range only if the row was not written here.
        if layout.encode(&values, &mut written).is_ok() {
            let again = layout.decode_all(&written).expect("a row just written reads");
            assert_eq!(format!("{values:?}"), format!("{again:?}"), "a row reads back as another");
        }
    }
    let layout = KeyLayout::new(types.iter().map(|ty| KeyColumn::new(*ty)).collect());
    let _ = layout.encoded_bytes(data.0);
    if let Ok((values, bytes)) = layout.decode(data.0) {
        assert!(bytes <= data.0.len(), "a key is longer than its bytes");
        let mut written = Vec::new();
        if layout.encode(&values, &mut written).is_ok() {
            let (again, _) = layout.decode(&written).expect("a key just written reads");
            assert_eq!(format!("{values:?}"), format!("{again:?}"), "a key reads back as another");
        }
    }
}
