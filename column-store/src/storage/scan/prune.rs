//! What the bounds of chunks say about a predicate before any chunk is read.

use super::kernel::number;
use super::predicate::{Predicate, Test};
use crate::source::KeyFilter;
use crate::storage::meta::{ChunkMeta, RowGroupMeta};
use gingham_plan::BinaryOp;
use gingham_types::Value;

/// Keys that a pruning check looks for in a join filter's bitmap, 64 at a time.
const BITMAP_WORDS_MAX: usize = 1 << 14;

/// What is known about the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// No row passes.
    Never,
    /// Every row passes.
    Always,
    /// About this part of them passes.
    Perhaps(f64),
}

/// What the metadata says about a predicate.
pub(crate) fn verdict(predicate: &Predicate, group: &RowGroupMeta) -> Verdict {
    match predicate {
        Predicate::Column { column, test, on_null } => match group.columns.get(*column) {
            Some(chunk) => of_test(chunk, group.rows, test, *on_null),
            None => Verdict::Perhaps(0.5),
        },
        Predicate::Pair { left, op, right } => match (group.columns.get(*left), group.columns.get(*right)) {
            (Some(left), Some(right)) => of_pair(left, *op, right, group.rows),
            _ => Verdict::Perhaps(0.5),
        },
        Predicate::Mapped { .. } => Verdict::Perhaps(0.3),
    }
}

fn of_test(chunk: &ChunkMeta, rows: u32, test: &Test, on_null: bool) -> Verdict {
    if chunk.nulls == rows {
        return if on_null { Verdict::Always } else { Verdict::Never };
    }
    let null_passes = on_null && chunk.nulls > 0;
    let one_value = 1.0 / f64::from(chunk.distinct_estimate.max(1));
    match test {
        Test::Numbers(set) => {
            let Some((min, max)) = numbers(chunk) else { return Verdict::Perhaps(0.5) };
            if !set.meets(min, max) && !null_passes {
                return Verdict::Never;
            }
            if set.covers(min, max) && (chunk.nulls == 0 || on_null) {
                return Verdict::Always;
            }
            let span = max as f64 - min as f64 + 1.0;
            let part: f64 = set
                .ranges()
                .iter()
                .filter(|(low, high)| *low <= max && *high >= min)
                .map(|(low, high)| (((*high).min(max) as f64 - (*low).max(min) as f64 + 1.0) / span).max(one_value))
                .sum();
            Verdict::Perhaps(part.clamp(0.0, 1.0))
        }
        Test::Text(test) => match (chunk.min.as_ref().and_then(bytes), chunk.max.as_ref().and_then(bytes)) {
            (Some(min), Some(max)) if !test.can_match_between(min, max) && !null_passes => Verdict::Never,
            _ => Verdict::Perhaps(one_value.max(0.1)),
        },
    }
}

fn of_pair(left: &ChunkMeta, op: BinaryOp, right: &ChunkMeta, rows: u32) -> Verdict {
    if left.nulls == rows || right.nulls == rows {
        return Verdict::Never;
    }
    let (Some((a_min, a_max)), Some((b_min, b_max))) = (numbers(left), numbers(right)) else {
        return Verdict::Perhaps(0.5);
    };
    let (never, always) = match op {
        BinaryOp::Less => (a_min >= b_max, a_max < b_min),
        BinaryOp::LessOrEqual => (a_min > b_max, a_max <= b_min),
        BinaryOp::Greater => (a_max <= b_min, a_min > b_max),
        BinaryOp::GreaterOrEqual => (a_max < b_min, a_min >= b_max),
        BinaryOp::Equal => (a_max < b_min || a_min > b_max, false),
        _ => (false, a_max < b_min || a_min > b_max),
    };
    match (never, always) {
        (true, _) => Verdict::Never,
        (_, true) if left.nulls == 0 && right.nulls == 0 => Verdict::Always,
        _ => Verdict::Perhaps(0.5),
    }
}

fn numbers(chunk: &ChunkMeta) -> Option<(i128, i128)> {
    chunk.min.as_ref().and_then(number).zip(chunk.max.as_ref().and_then(number))
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Text(text) => Some(text.as_bytes()),
        Value::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

/// Whether some row of a chunk may have a key that a join's filter lets pass.
pub(crate) fn may_join(filter: &KeyFilter, chunk: &ChunkMeta, rows: u32) -> bool {
    match filter {
        KeyFilter::Nothing => false,
        KeyFilter::Everything => true,
        _ if chunk.nulls == rows => false,
        KeyFilter::Integers { min, max, bits } => {
            if !is_key(chunk.min.as_ref()) {
                return true;
            }
            let Some((low, high)) = numbers(chunk) else { return true };
            let (low, high) = (low.max(i128::from(*min)), high.min(i128::from(*max)));
            low <= high && {
                let distance = |key: i128| (key as i64).wrapping_sub(*min) as u64;
                bits.as_ref().is_none_or(|bits| bits.may_contain_any(distance(low), distance(high), BITMAP_WORDS_MAX))
            }
        }
        KeyFilter::Texts(texts) => match (chunk.min.as_ref().and_then(bytes), chunk.max.as_ref().and_then(bytes)) {
            (Some(min), Some(max)) => {
                let first = texts.partition_point(|text| text.as_slice() < min);
                texts.get(first).is_some_and(|text| text.as_slice() <= max)
            }
            _ => true,
        },
    }
}

/// Whether bounds are of a type whose integers are join keys.
fn is_key(bound: Option<&Value>) -> bool {
    matches!(bound, Some(Value::Int(_) | Value::Date(_) | Value::Timestamp(_) | Value::Decimal { .. }))
}
