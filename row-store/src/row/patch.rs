//! An encoded row with some columns changed, the rest copied as it is.

use super::{NARROW_END_BYTES, RowLayout, RowReader, encode_fixed, fixed_bytes, has_end, mismatch};
use crate::{Error, Result};
use gingham_types::{SqlType, Value};

impl RowLayout {
    /// Appends the row in `bytes` to `out` with the values of some columns replaced.
    ///
    /// # Errors
    /// As [`RowLayout::encode`] and [`RowLayout::reader`]; `out` is then as it was.
    pub fn patch(&self, bytes: &[u8], changes: &[(usize, Value)], out: &mut Vec<u8>) -> Result<()> {
        let row = self.reader(bytes)?;
        let start = out.len();
        // A row from before a column was added does not have it.
        let has_all = changes.iter().all(|(column, _)| *column < row.columns);
        let patched = if has_all { self.patch_parts(bytes, &row, changes, out) } else { Ok(false) };
        let result = match patched {
            Ok(true) => Ok(()),
            Ok(false) => {
                out.truncate(start);
                self.encode_anew(&row, changes, out)
            }
            Err(error) => Err(error),
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Every value read and written again.
    fn encode_anew(&self, row: &RowReader<'_>, changes: &[(usize, Value)], out: &mut Vec<u8>) -> Result<()> {
        let mut values = (0..self.types.len()).map(|column| row.value(column)).collect::<Result<Vec<_>>>()?;
        for (column, value) in changes {
            *values.get_mut(*column).ok_or_else(|| Error::InvalidRow(format!("there is no column {column}")))? =
                value.clone();
        }
        self.encode(&values, out)
    }

    /// Copies the parts of the row and changes the copies; `false`, with something written
    /// to `out`, if the row's ends would be of another width.
    fn patch_parts(
        &self,
        bytes: &[u8],
        row: &RowReader<'_>,
        changes: &[(usize, Value)],
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let fixed_at = out.len() + bytes.len() - row.variable.len() - row.fixed.len();
        let nulls_at = fixed_at - row.nulls.len();
        out.extend_from_slice(&bytes[..bytes.len() - row.variable.len()]);
        let mut moves_ends = false;
        for (column, value) in changes {
            let (place, bit) = (&self.places[*column], 1 << (column % 8));
            let nulls = &mut out[nulls_at + column / 8];
            *nulls = if value.is_null() { *nulls | bit } else { *nulls & !bit };
            if has_end(place.sql_type) {
                moves_ends = true;
                continue;
            }
            let at = fixed_at + place.offset as usize + place.ends as usize * row.end_bytes;
            if value.is_null() {
                out[at..at + fixed_bytes(place.sql_type) as usize].fill(0);
                continue;
            }
            let end = out.len();
            encode_fixed(place.sql_type, value, out)?;
            out.copy_within(end.., at);
            out.truncate(end);
        }
        if !moves_ends {
            out.extend_from_slice(row.variable);
            return Ok(true);
        }
        self.patch_contents(row, changes, fixed_at, out)
    }

    /// The variable part anew, and where each content in it ends.
    fn patch_contents(
        &self,
        row: &RowReader<'_>,
        changes: &[(usize, Value)],
        fixed_at: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let variable_at = out.len();
        let (mut from, mut copied) = (0, 0);
        for (column, place) in self.places[..row.columns].iter().enumerate().filter(|(_, p)| has_end(p.sql_type)) {
            let end = row.end(place);
            if let Some((_, value)) = changes.iter().find(|(changed, _)| *changed == column) {
                out.extend_from_slice(&row.variable[copied..from]);
                out.extend_from_slice(content(place.sql_type, value)?);
                copied = end;
            }
            from = end;
            let new_end = out.len() - variable_at + (end - copied);
            let at = fixed_at + place.offset as usize + place.ends as usize * row.end_bytes;
            if row.end_bytes == NARROW_END_BYTES {
                let Ok(narrow) = u16::try_from(new_end) else { return Ok(false) };
                out[at..at + 2].copy_from_slice(&narrow.to_le_bytes());
            } else {
                let wide = u32::try_from(new_end).map_err(|_| Error::TooLarge("row"))?;
                out[at..at + 4].copy_from_slice(&wide.to_le_bytes());
            }
        }
        out.extend_from_slice(&row.variable[copied..from]);
        // What is short enough for narrow ends is always kept with them.
        Ok((out.len() - variable_at > usize::from(u16::MAX)) == (row.end_bytes != NARROW_END_BYTES))
    }
}

fn content(sql_type: SqlType, value: &Value) -> Result<&[u8]> {
    match (sql_type, value) {
        (SqlType::Text, Value::Text(text)) => Ok(text.as_bytes()),
        (SqlType::Blob, Value::Blob(bytes)) => Ok(bytes),
        (_, Value::Null) => Ok(&[]),
        _ => Err(mismatch(sql_type, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::value_and_type;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_patched_row_is_the_row_encoded_anew(
            row in prop::collection::vec((value_and_type(), value_and_type(), any::<bool>()), 1..20),
            kept in 1usize..20,
        ) {
            let types: Vec<SqlType> = row.iter().map(|(old, ..)| old.0).collect();
            let layout = RowLayout::new(&types);
            let mut values: Vec<Value> = row.iter().map(|(old, ..)| old.1.clone()).collect();
            let kept = kept.min(values.len());
            let mut old = Vec::new();
            layout.encode(&values[..kept], &mut old).expect("fits");
            values[kept..].fill(Value::Null);
            let changes: Vec<(usize, Value)> = row
                .iter()
                .enumerate()
                .filter(|(_, (_, _, changed))| *changed)
                .map(|(column, (old, new, _))| (column, if old.0 == new.0 { new.1.clone() } else { Value::Null }))
                .collect();
            let mut patched = vec![9];
            layout.patch(&old, &changes, &mut patched).expect("fits");
            for (column, value) in &changes {
                values[*column] = value.clone();
            }
            prop_assert_eq!(layout.decode_all(&patched[1..]).expect("reads back"), values);
        }
    }
}
