//! Compares a result with an answer.
//!
//! Rows are compared in order where the query's ORDER BY determines it: the answer's
//! rows fall into runs that agree in all sort keys, and the result must have the rows of
//! each run at the run's positions, in any order among themselves.

mod cell;
mod difference;

pub use difference::Difference;

use crate::answers::Answer;
use crate::shape::{ResultColumn, ResultKind, Shape};
use crate::target::ResultSet;
use gingham_types::Value;
use std::ops::Range;

/// Whether `result` is the answer.
///
/// # Errors
/// The first difference.
pub fn check(answer: &Answer, result: &ResultSet) -> Result<(), Difference> {
    let shape = Shape::of(answer.query);
    check_columns(shape, result)?;
    let comparison = Comparison { shape, expected: &answer.rows, found: &result.rows, padded: answer.padded };
    let rows = comparison.check_rows();
    let (expected, found) = (answer.rows.len(), result.rows.len());
    if expected == found {
        return rows;
    }
    let first = rows.err().unwrap_or_else(|| comparison.first_row_without_a_partner());
    Err(Difference::RowCount { expected, found, first: Box::new(first) })
}

fn check_columns(shape: &Shape, result: &ResultSet) -> Result<(), Difference> {
    let expected = shape.columns.len();
    let widths = std::iter::once(result.columns.len()).chain(result.rows.iter().map(Vec::len));
    if let Some(found) = widths.into_iter().find(|width| *width != expected) {
        return Err(Difference::ColumnCount { expected, found });
    }
    for (column, (_, found)) in shape.columns.iter().zip(&result.columns) {
        if !cell::type_fits(column.kind, *found) {
            let expected = describe(column.kind);
            return Err(Difference::ColumnType { column: column.name.to_owned(), expected, found: *found });
        }
    }
    Ok(())
}

const fn describe(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::Text => "text",
        ResultKind::Date => "a date",
        ResultKind::Integer => "an integer",
        ResultKind::Exact => "an exact decimal",
        ResultKind::Approximate => "a number",
    }
}

struct Comparison<'a> {
    shape: &'static Shape,
    expected: &'a [Vec<Value>],
    found: &'a [Vec<Value>],
    padded: bool,
}

impl Comparison<'_> {
    /// Compares as many rows as both sides have.
    fn check_rows(&self) -> Result<(), Difference> {
        let mut start = 0;
        while start < self.expected.len() {
            let end = self.end_of_run(start);
            self.check_run(start..end)?;
            start = end;
        }
        Ok(())
    }

    /// The end of the run of rows that agree with row `start` in all sort keys.
    fn end_of_run(&self, start: usize) -> usize {
        let same_keys =
            |row: &Vec<Value>| self.shape.sort_keys.iter().all(|key| row[*key] == self.expected[start][*key]);
        let rest = &self.expected[start..];
        start + rest.iter().position(|row| !same_keys(row)).unwrap_or(rest.len())
    }

    /// Pairs the found rows of a run with expected ones. A result cut short is compared
    /// as far as it goes: each of its rows must have a partner.
    fn check_run(&self, run: Range<usize>) -> Result<(), Difference> {
        let mut partners: Vec<usize> = run.clone().collect();
        for row in run.start..run.end.min(self.found.len()) {
            match partners.iter().position(|partner| self.first_difference(*partner, row).is_none()) {
                Some(position) => {
                    partners.remove(position);
                }
                None => return Err(self.value_difference(partners[0], row)),
            }
        }
        Ok(())
    }

    /// The first column in which an expected and a found row differ.
    fn first_difference(&self, expected: usize, found: usize) -> Option<usize> {
        let differs = |(position, column): (usize, &ResultColumn)| {
            let (expected, found) = (&self.expected[expected][position], &self.found[found][position]);
            (!cell::value_matches(column.kind, expected, found, self.padded)).then_some(position)
        };
        self.shape.columns.iter().enumerate().find_map(differs)
    }

    fn value_difference(&self, expected: usize, found: usize) -> Difference {
        let position = self.first_difference(expected, found).unwrap_or(0);
        Difference::Value {
            row: found + 1,
            column: self.shape.columns[position].name.to_owned(),
            expected: quote(&self.expected[expected][position]),
            found: quote(&self.found[found][position]),
        }
    }

    fn first_row_without_a_partner(&self) -> Difference {
        let row = self.expected.len().min(self.found.len());
        match self.expected.get(row) {
            Some(expected) => Difference::MissingRow { row: row + 1, expected: print_row(expected) },
            None => Difference::UnexpectedRow { row: row + 1, found: print_row(&self.found[row]) },
        }
    }
}

/// A value for a message; text in quotes, so that blanks show.
fn quote(value: &Value) -> String {
    if let Value::Text(text) = value { format!("{text:?}") } else { value.to_string() }
}

fn print_row(row: &[Value]) -> String {
    row.iter().map(quote).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
