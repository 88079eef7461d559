//! The way to the rows of a small shape: a walk along the primary key or an index that the
//! conditions describe completely.

use super::parser::{Comparison, Condition};
use super::program::{Argument, argument};
use crate::access::{AccessRanges, KeyRange, value_range};
use crate::error::Result;
use crate::schema::Table;
use gingham_types::Value;

/// Ranges of one key.
#[derive(Debug)]
pub(crate) struct Path {
    /// The index by its position; `None` is the primary key.
    pub(super) index: Option<usize>,
    /// Values of the leading columns.
    equal: Vec<Argument>,
    /// Any of these is the value of the next column; none at all is no condition.
    list: Vec<Argument>,
    /// Ends of the next column.
    ends: [Option<(Argument, bool)>; 2],
    pub(super) reverse: bool,
    /// The next column is not NULL.
    not_null: bool,
    /// At most one row.
    pub(super) is_point: bool,
}

/// What the result has to be like, beyond the conditions.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted {
    /// Rows in the order of this column, perhaps descending.
    pub(super) order: Option<(usize, bool)>,
    /// Rows where that column is NULL are not wanted.
    pub(super) not_null: bool,
    /// Whether an index is worth walking without any condition.
    pub(super) whole_index: bool,
}

/// The best key for the conditions; `None` if no key covers them all.
#[inline(never)]
pub(super) fn find(table: &Table, conditions: &[Condition], wanted: Wanted) -> Option<Path> {
    let mut best: Option<(usize, Path)> = None;
    let primary: Vec<(usize, bool)> = table.record.primary_key.iter().map(|column| (*column, false)).collect();
    let primary = (!table.has_row_id()).then_some((None, primary.as_slice(), true));
    // Whether a special index has all the rows is for the planner to find out.
    let is_plain = |index: &gingham_plan::IndexInfo| !index.name.is_empty() && index.special.is_none();
    let named = table.indexes.iter().enumerate().filter(|(_, index)| is_plain(&index.info));
    let secondary = named.map(|(position, index)| (Some(position), index.info.columns.as_slice(), index.info.unique));
    for (index, columns, unique) in primary.into_iter().chain(secondary) {
        let Some(mut path) = along(table, columns, conditions, wanted) else { continue };
        path.index = index;
        path.is_point = unique && path.equal.len() == columns.len();
        if index.is_some() && conditions.is_empty() && !wanted.whole_index {
            continue;
        }
        // A whole unique key, then the key with most columns fixed, then the one declared first.
        let rank = path.equal.len() + if path.is_point { 1 << 16 } else { 0 };
        if best.as_ref().is_none_or(|(least, _)| rank > *least) {
            best = Some((rank, path));
        }
    }
    best.map(|(_, path)| path)
}

/// The path along one key, if the conditions and the order are about its leading columns.
fn along(table: &Table, columns: &[(usize, bool)], conditions: &[Condition], wanted: Wanted) -> Option<Path> {
    let mut path = Path::everything();
    let mut met = 0;
    let mut order = wanted.order;
    for (ordinal, descending) in columns {
        let definition = &table.record.columns[*ordinal];
        let mut own = conditions.iter().filter(|c| c.column == definition.name).peekable();
        let is_ordered = order.is_some_and(|(column, _)| column == *ordinal);
        let operand = |condition: &Condition| argument(condition.operands.first()?.clone(), definition.ty);
        match own.peek() {
            Some(condition) if condition.comparison == Comparison::Equal => {
                path.equal.push(operand(condition)?);
                met += 1;
                // All rows have the same value there.
                if is_ordered {
                    order = None;
                }
                continue;
            }
            Some(condition) if condition.comparison == Comparison::In => {
                let value = |operand: &super::parser::Operand| argument(operand.clone(), definition.ty);
                path.list = condition.operands.iter().map(value).collect::<Option<_>>()?;
                met += 1;
            }
            _ => {
                for condition in own {
                    let (end, inclusive) = match condition.comparison {
                        Comparison::Equal | Comparison::In => return None,
                        Comparison::Less => (1, false),
                        Comparison::LessOrEqual => (1, true),
                        Comparison::Greater => (0, false),
                        Comparison::GreaterOrEqual => (0, true),
                    };
                    if path.ends[end].is_some() {
                        return None;
                    }
                    path.ends[end] = Some((operand(condition)?, inclusive));
                    met += 1;
                }
            }
        }
        if is_ordered && path.list.is_empty() {
            let backwards = order.is_some_and(|(_, backwards)| backwards);
            path.reverse = backwards != *descending;
            path.not_null = wanted.not_null && definition.nullable;
            order = None;
        }
        break;
    }
    (met == conditions.len() && order.is_none()).then_some(path)
}

impl Path {
    /// All rows in key order.
    pub(super) const fn everything() -> Self {
        Self {
            index: None,
            equal: Vec::new(),
            list: Vec::new(),
            ends: [None, None],
            reverse: false,
            not_null: false,
            is_point: false,
        }
    }

    /// The ranges to read, in order and without repeats.
    pub(super) fn ranges(&self, table: &Table, parameters: &[Value]) -> Result<Vec<KeyRange>> {
        let layout = self.index.map_or(&table.key_layout, |position| &table.indexes[position].layout);
        let mut equal =
            self.equal.iter().map(|a| Ok(a.compared(parameters)?.into_owned())).collect::<Result<Vec<Value>>>()?;
        let mut ranges = Vec::with_capacity(self.list.len().max(1));
        if self.list.is_empty() {
            let end = |end: &Option<(Argument, bool)>| -> Result<Option<(Value, bool)>> {
                end.as_ref().map(|(a, inclusive)| Ok((a.compared(parameters)?.into_owned(), *inclusive))).transpose()
            };
            let ends = [end(&self.ends[0])?, end(&self.ends[1])?];
            ranges.extend(value_range(layout, &equal, ends, self.not_null)?);
        }
        for argument in &self.list {
            equal.push(argument.compared(parameters)?.into_owned());
            ranges.extend(value_range(layout, &equal, [None, None], false)?);
            equal.pop();
        }
        crate::access::sort_ranges(&mut ranges);
        Ok(ranges)
    }

    /// The walk to hand to a scan.
    pub(super) fn access(&self, table: &Table, parameters: &[Value]) -> Result<AccessRanges> {
        let tree = self.index.map_or(table.rows_tree(), |position| table.indexes[position].tree);
        let ranges = self.ranges(table, parameters)?;
        Ok(AccessRanges { tree, index: self.index, ranges, reverse: self.reverse, lookup: None })
    }
}
