//! The right answers: at scale factors 0.01 and 0.1 from the files under `answers/`, at
//! scale factor 1 from the generator's crate, which carries the standard's own, but for
//! four that are under `answers/` too because the crate's are wrong or say little (see
//! `answers/README.md`).
//!
//! The files are `|`-separated. The header gives each column's name, how it is compared
//! ([`ResultKind`]) and `sorted` where the query orders by it; `\N` is NULL. The
//! standard's answers are padded to columns and print two digits after the point.

use crate::Error;
use crate::queries::{QUERY_COUNT, QueryNumber};
use crate::scale::ScaleFactor;
use crate::shape::{ResultKind, Shape};
use gingham_types::{Value, parse_date, parse_decimal};
use tpchgen::q_and_a::QueryAndAnswer;

/// NULL in an answer file.
const NULL: &str = "\\N";
/// The separator of columns, which no text of TPC-H contains.
const SEPARATOR: char = '|';

/// The right result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The query.
    pub query: QueryNumber,
    /// The rows in the query's order, with a value for each column of its [`Shape`].
    /// Numbers have the digits that the answer prints.
    pub rows: Vec<Vec<Value>>,
    /// Whether text has lost its trailing blanks.
    pub padded: bool,
}

impl Answer {
    /// Whether the answers are known at a scale factor.
    pub fn known_at(scale: ScaleFactor) -> bool {
        scale == ScaleFactor::ONE || files(scale).is_some()
    }

    /// The answer of `query` at a scale factor.
    ///
    /// # Errors
    /// [`Error::NoAnswers`] where none is known; [`Error::Answer`] if it is damaged.
    pub fn of(query: QueryNumber, scale: ScaleFactor) -> Result<Self, Error> {
        if scale == ScaleFactor::ONE {
            if let Some((_, text)) = ONE.iter().find(|(number, _)| *number == query.number()) {
                return Self::parse(query, text);
            }
            let standard = QueryAndAnswer::new(i32::from(query.number()), scale.value());
            let standard = standard.map_err(|_| Error::NoAnswers(scale.to_string()))?;
            return Self::parse_standard(query, standard.answer());
        }
        let files = files(scale).ok_or_else(|| Error::NoAnswers(scale.to_string()))?;
        Self::parse(query, files[query.index()])
    }

    /// Reads an answer file.
    ///
    /// # Errors
    /// [`Error::Answer`] where the header or a value is not the query's.
    pub fn parse(query: QueryNumber, text: &str) -> Result<Self, Error> {
        let header = header(Shape::of(query));
        let mut lines = text.lines().enumerate();
        match lines.next() {
            Some((_, found)) if found == header => {}
            found => {
                let message = format!("expected the header {header:?}, found {:?}", found.map(|(_, line)| line));
                return Err(Error::Answer { query, line: 1, message });
            }
        }
        let rows = lines.map(|(index, line)| parse_row(query, index + 1, line, own_value)).collect::<Result<_, _>>()?;
        Ok(Self { query, rows, padded: false })
    }

    /// Reads an answer as the standard prints it: padded, under a header of names cut to
    /// the columns' widths.
    fn parse_standard(query: QueryNumber, text: &str) -> Result<Self, Error> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).skip(1);
        let rows =
            lines.map(|(index, line)| parse_row(query, index + 1, line, standard_value)).collect::<Result<_, _>>()?;
        Ok(Self { query, rows, padded: true })
    }
}

/// The first line of a query's answer file.
fn header(shape: &Shape) -> String {
    let cell = |(position, column): (usize, &crate::shape::ResultColumn)| {
        let kind = match column.kind {
            ResultKind::Text => "text",
            ResultKind::Date => "date",
            ResultKind::Integer => "integer",
            ResultKind::Exact => "exact",
            ResultKind::Approximate => "approximate",
        };
        let sorted = if shape.sort_keys.contains(&position) { " sorted" } else { "" };
        format!("{} {kind}{sorted}", column.name)
    };
    shape.columns.iter().enumerate().map(cell).collect::<Vec<_>>().join("|")
}

type ParseValue = fn(ResultKind, &str) -> Option<Value>;

fn parse_row(query: QueryNumber, line: usize, text: &str, parse_value: ParseValue) -> Result<Vec<Value>, Error> {
    let columns = Shape::of(query).columns;
    let cells: Vec<&str> = text.split(SEPARATOR).collect();
    if cells.len() != columns.len() {
        let message = format!("expected {} columns, found {}", columns.len(), cells.len());
        return Err(Error::Answer { query, line, message });
    }
    let value = |(column, cell): (&crate::shape::ResultColumn, &&str)| {
        parse_value(column.kind, cell).ok_or_else(|| {
            let message = format!("column {}: {cell:?} does not read as {:?}", column.name, column.kind);
            Error::Answer { query, line, message }
        })
    };
    columns.iter().zip(&cells).map(value).collect()
}

fn own_value(kind: ResultKind, cell: &str) -> Option<Value> {
    if cell == NULL { Some(Value::Null) } else { value(kind, cell) }
}

/// Numbers are flush right, text is flush left.
fn standard_value(kind: ResultKind, cell: &str) -> Option<Value> {
    if kind == ResultKind::Text { value(kind, cell.trim_end()) } else { value(kind, cell.trim()) }
}

fn value(kind: ResultKind, cell: &str) -> Option<Value> {
    match kind {
        ResultKind::Text => Some(Value::Text(cell.to_owned())),
        ResultKind::Date => parse_date(cell).map(Value::Date),
        ResultKind::Integer => cell.parse().ok().map(Value::Int),
        ResultKind::Exact | ResultKind::Approximate => {
            parse_decimal(cell).map(|(unscaled, scale)| Value::Decimal { unscaled, scale })
        }
    }
}

/// The answer files of a scale factor.
fn files(scale: ScaleFactor) -> Option<&'static [&'static str; QUERY_COUNT]> {
    if scale == ScaleFactor::HUNDREDTH {
        Some(&HUNDREDTH)
    } else if scale == ScaleFactor::TENTH {
        Some(&TENTH)
    } else {
        None
    }
}

const HUNDREDTH: [&str; QUERY_COUNT] = [
    include_str!("../answers/sf0.01/q01.txt"),
    include_str!("../answers/sf0.01/q02.txt"),
    include_str!("../answers/sf0.01/q03.txt"),
    include_str!("../answers/sf0.01/q04.txt"),
    include_str!("../answers/sf0.01/q05.txt"),
    include_str!("../answers/sf0.01/q06.txt"),
    include_str!("../answers/sf0.01/q07.txt"),
    include_str!("../answers/sf0.01/q08.txt"),
    include_str!("../answers/sf0.01/q09.txt"),
    include_str!("../answers/sf0.01/q10.txt"),
    include_str!("../answers/sf0.01/q11.txt"),
    include_str!("../answers/sf0.01/q12.txt"),
    include_str!("../answers/sf0.01/q13.txt"),
    include_str!("../answers/sf0.01/q14.txt"),
    include_str!("../answers/sf0.01/q15.txt"),
    include_str!("../answers/sf0.01/q16.txt"),
    include_str!("../answers/sf0.01/q17.txt"),
    include_str!("../answers/sf0.01/q18.txt"),
    include_str!("../answers/sf0.01/q19.txt"),
    include_str!("../answers/sf0.01/q20.txt"),
    include_str!("../answers/sf0.01/q21.txt"),
    include_str!("../answers/sf0.01/q22.txt"),
];

const TENTH: [&str; QUERY_COUNT] = [
    include_str!("../answers/sf0.1/q01.txt"),
    include_str!("../answers/sf0.1/q02.txt"),
    include_str!("../answers/sf0.1/q03.txt"),
    include_str!("../answers/sf0.1/q04.txt"),
    include_str!("../answers/sf0.1/q05.txt"),
    include_str!("../answers/sf0.1/q06.txt"),
    include_str!("../answers/sf0.1/q07.txt"),
    include_str!("../answers/sf0.1/q08.txt"),
    include_str!("../answers/sf0.1/q09.txt"),
    include_str!("../answers/sf0.1/q10.txt"),
    include_str!("../answers/sf0.1/q11.txt"),
    include_str!("../answers/sf0.1/q12.txt"),
    include_str!("../answers/sf0.1/q13.txt"),
    include_str!("../answers/sf0.1/q14.txt"),
    include_str!("../answers/sf0.1/q15.txt"),
    include_str!("../answers/sf0.1/q16.txt"),
    include_str!("../answers/sf0.1/q17.txt"),
    include_str!("../answers/sf0.1/q18.txt"),
    include_str!("../answers/sf0.1/q19.txt"),
    include_str!("../answers/sf0.1/q20.txt"),
    include_str!("../answers/sf0.1/q21.txt"),
    include_str!("../answers/sf0.1/q22.txt"),
];

/// The answers at scale factor 1 that replace the crate's, by query number.
const ONE: [(u8, &str); 4] = [
    (8, include_str!("../answers/sf1/q08.txt")),
    (11, include_str!("../answers/sf1/q11.txt")),
    (14, include_str!("../answers/sf1/q14.txt")),
    (17, include_str!("../answers/sf1/q17.txt")),
];

#[cfg(test)]
mod tests;
