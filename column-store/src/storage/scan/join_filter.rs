//! Joins' filters made ready for one chunk.

use super::kernel::{Kernel, Prepared};
use super::predicate::Test;
use super::ranges::RangeSet;
use super::text_test::{TextSet, TextTest};
use crate::source::{KeyBits, KeyFilter};
use crate::storage::chunk::{Chunk, CodedIntegers, Values};
use gingham_types::SqlType;
use std::sync::Arc;

/// A bitmap is turned into a table of codes when there are this many rows a code.
const ROWS_PER_CODE_MIN: usize = 4;

/// The filter for the rows of a chunk; `None` if it lets everything pass or says nothing
/// of such a column. NULL keys match nothing.
pub(crate) fn prepare(filter: &KeyFilter, chunk: &Chunk) -> Option<Prepared> {
    let kernel = match filter {
        KeyFilter::Nothing => Kernel::Never,
        KeyFilter::Everything => return None,
        KeyFilter::Integers { min, max, bits } => {
            if !has_integer_keys(chunk) {
                return None;
            }
            let range = Kernel::of_test(&Test::Numbers(RangeSet::between((*min).into(), (*max).into())), chunk);
            match (bits, range) {
                (Some(bits), Kernel::Always | Kernel::CodeRange(..) | Kernel::Ranges(_)) => {
                    of_bits(*min, *max, bits, chunk)
                }
                (_, range) => range,
            }
        }
        KeyFilter::Texts(texts) => {
            if !matches!(chunk.ty, SqlType::Text | SqlType::Blob) {
                return None;
            }
            Kernel::of_test(&Test::Text(Arc::new(TextTest::In(TextSet::new(texts.to_vec())))), chunk)
        }
    };
    let passes_all = matches!(kernel, Kernel::Always) && !chunk.has_nulls();
    (!passes_all).then_some(Prepared { kernel, on_null: false })
}

fn has_integer_keys(chunk: &Chunk) -> bool {
    let ty = matches!(
        chunk.ty,
        SqlType::Integer | SqlType::BigInt | SqlType::Date | SqlType::Timestamp | SqlType::Decimal { .. }
    );
    ty && !matches!(chunk.values, Values::Decimals(_))
}

fn of_bits(min: i64, max: i64, bits: &Arc<KeyBits>, chunk: &Chunk) -> Kernel {
    let by_bit = Kernel::Bits { min, max, bits: Arc::clone(bits) };
    match &chunk.values {
        Values::Coded(CodedIntegers { map, code_max, .. }) if *code_max as usize * ROWS_PER_CODE_MIN < chunk.rows => {
            let filter = KeyFilter::Integers { min, max, bits: Some(Arc::clone(bits)) };
            Kernel::of_table((0..=*code_max).map(|code| u8::from(filter.may_contain(map.value(code)))).collect())
        }
        _ => by_bit,
    }
}
