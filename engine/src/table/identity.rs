//! Identity columns: the greatest number a table has had, and the next one.
//!
//! It is kept in the schema tree under `s` + table id, eight bytes big endian, so that
//! it commits and rolls back with the rows. Numbers that rows bring of their own count,
//! so that the next one is never taken. A transaction writes it once, when it ends or
//! something may go back to here.

use super::TableState;
use crate::error::{Error, Result};
use crate::schema::{SCHEMA_TREE, Table};
use gingham_plan::{Generated, SqlError, TableId};
use gingham_row_store::{Read, Transaction};
use gingham_types::{SqlType, Value};

/// What a transaction knows of a table's numbers.
#[derive(Clone, Copy)]
pub(super) struct Sequence {
    /// The greatest number so far; `None` before the first.
    last: Option<i64>,
    /// Whether it is not in the tree yet.
    is_new: bool,
}

fn key(table: TableId) -> [u8; 5] {
    let [a, b, c, d] = table.0.to_be_bytes();
    [b's', a, b, c, d]
}

/// The greatest number that `table` has had, as stored.
pub(crate) fn last_number(read: &impl Read, table: TableId) -> Result<Option<i64>> {
    match read.get(SCHEMA_TREE, &key(table))? {
        None => Ok(None),
        Some(bytes) => match <[u8; 8]>::try_from(&bytes[..]) {
            Ok(bytes) => Ok(Some(i64::from_be_bytes(bytes))),
            Err(_) => Err(Error::Corrupt("the number of an identity column does not have eight bytes".into())),
        },
    }
}

/// Forgets the numbers of a table that goes.
pub(super) fn forget(transaction: &mut Transaction, table: TableId) -> Result<()> {
    transaction.delete(SCHEMA_TREE, &key(table))?;
    Ok(())
}

/// Writes what the tree does not have yet.
pub(super) fn write(transaction: &mut Transaction, table: TableId, state: &mut TableState) -> Result<()> {
    if let Some(Sequence { last: Some(last), is_new: is_new @ true }) = &mut state.sequence {
        transaction.put(SCHEMA_TREE, &key(table), &last.to_be_bytes())?;
        *is_new = false;
    }
    Ok(())
}

fn sequence<'s>(transaction: &Transaction, table: &Table, state: &'s mut TableState) -> Result<&'s mut Sequence> {
    if state.sequence.is_none() {
        state.sequence = Some(Sequence { last: last_number(transaction, table.id())?, is_new: false });
    }
    state.sequence.as_mut().ok_or_else(|| SqlError::internal("a sequence is missing").into())
}

/// The identity column of a table: ordinal, first number, increment.
pub(crate) fn column(table: &Table) -> Option<(usize, i64, i64)> {
    table.record.columns.iter().enumerate().find_map(|(ordinal, column)| match column.generated {
        Some(Generated::Identity { start, increment, .. }) => Some((ordinal, start, increment)),
        _ => None,
    })
}

/// Gives a new row the next number, unless it brings one.
pub(super) fn number(
    transaction: &Transaction,
    table: &Table,
    state: &mut TableState,
    row: &mut [Value],
) -> Result<()> {
    let Some((ordinal, start, increment)) = column(table) else { return Ok(()) };
    if !row[ordinal].is_null() {
        return note(transaction, table, state, row);
    }
    let sequence = sequence(transaction, table, state)?;
    let next = sequence.last.map_or(Some(start), |last| last.checked_add(increment));
    let ty = table.record.columns[ordinal].ty;
    match next.filter(|next| ty == SqlType::BigInt || i32::try_from(*next).is_ok()) {
        Some(next) => {
            *sequence = Sequence { last: Some(next), is_new: true };
            row[ordinal] = Value::Int(next);
            Ok(())
        }
        None => {
            let message = format!(
                "column \"{}\" of table \"{}\" has given out every {ty}",
                table.record.columns[ordinal].name, table.record.name
            );
            Err(SqlError::new("22003", message).into())
        }
    }
}

/// Remembers the number that a row brings.
pub(super) fn note(transaction: &Transaction, table: &Table, state: &mut TableState, row: &[Value]) -> Result<()> {
    let Some((ordinal, start, increment)) = column(table) else { return Ok(()) };
    let Value::Int(given) = row[ordinal] else { return Ok(()) };
    let sequence = sequence(transaction, table, state)?;
    if given > sequence.last.unwrap_or(start.saturating_sub(increment)) {
        *sequence = Sequence { last: Some(given), is_new: true };
    }
    Ok(())
}
