//! The 22 queries with the standard's validation parameters, as text.
//!
//! They are the files `queries/q01.sql` to `queries/q22.sql`, which the browser suites
//! read too. One parameter depends on the data: Q11's fraction is 0.0001 divided by the
//! scale factor. The file has the fraction of scale factor 1, written once.

use crate::Error;
use crate::scale::ScaleFactor;
use std::fmt;

/// The number of a query, 1 to 22.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryNumber(u8);

/// How many queries there are.
pub const QUERY_COUNT: usize = 22;

/// Q11's fraction at scale factor 1, as its file has it.
const FRACTION_AT_ONE: &str = "0.0001";

const TEXTS: [&str; QUERY_COUNT] = [
    include_str!("../queries/q01.sql"),
    include_str!("../queries/q02.sql"),
    include_str!("../queries/q03.sql"),
    include_str!("../queries/q04.sql"),
    include_str!("../queries/q05.sql"),
    include_str!("../queries/q06.sql"),
    include_str!("../queries/q07.sql"),
    include_str!("../queries/q08.sql"),
    include_str!("../queries/q09.sql"),
    include_str!("../queries/q10.sql"),
    include_str!("../queries/q11.sql"),
    include_str!("../queries/q12.sql"),
    include_str!("../queries/q13.sql"),
    include_str!("../queries/q14.sql"),
    include_str!("../queries/q15.sql"),
    include_str!("../queries/q16.sql"),
    include_str!("../queries/q17.sql"),
    include_str!("../queries/q18.sql"),
    include_str!("../queries/q19.sql"),
    include_str!("../queries/q20.sql"),
    include_str!("../queries/q21.sql"),
    include_str!("../queries/q22.sql"),
];

impl QueryNumber {
    /// The query of this number.
    ///
    /// # Errors
    /// [`Error::Query`] outside 1 to 22.
    pub fn new(number: u8) -> Result<Self, Error> {
        if (1..=QUERY_COUNT as u8).contains(&number) { Ok(Self(number)) } else { Err(Error::Query(number.to_string())) }
    }

    /// All 22 in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=QUERY_COUNT as u8).map(Self)
    }

    /// Reads a list such as `1,3,5-7`, in the order written.
    ///
    /// # Errors
    /// [`Error::Query`] for anything that is not a query number or a range of them.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (Self::parse(first)?, Self::parse(last)?);
            if first > last {
                return Err(Error::Query(part.to_owned()));
            }
            numbers.extend((first.0..=last.0).map(Self));
        }
        Ok(numbers)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let number = text.trim().parse().map_err(|_| Error::Query(text.to_owned()))?;
        Self::new(number)
    }

    /// The number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Position in lists of all queries, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize - 1
    }

    /// The query's text at a scale factor, one statement without a semicolon.
    pub fn sql(self, scale: ScaleFactor) -> String {
        let text = TEXTS[self.index()].trim_end();
        if self.0 == 11 { text.replace(FRACTION_AT_ONE, &fraction(scale)) } else { text.to_owned() }
    }
}

/// `Q1` to `Q22`.
impl fmt::Display for QueryNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Q{}", self.0)
    }
}

/// 0.0001 divided by the scale factor, with the ten digits after the point that the
/// standard's own query generator prints.
fn fraction(scale: ScaleFactor) -> String {
    format!("{:.10}", 0.0001 / scale.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fraction_of_query_11_depends_on_the_scale() {
        assert_eq!(TEXTS[10].matches(FRACTION_AT_ONE).count(), 1);
        let query = QueryNumber::new(11).expect("in range");
        assert!(query.sql(ScaleFactor::HUNDREDTH).contains(" * 0.0100000000\n"));
        assert!(query.sql(ScaleFactor::ONE).contains(" * 0.0001000000\n"));
        for query in QueryNumber::all().filter(|query| query.number() != 11) {
            assert_eq!(query.sql(ScaleFactor::HUNDREDTH), query.sql(ScaleFactor::ONE));
        }
    }

    #[test]
    fn every_file_holds_one_statement() {
        for query in QueryNumber::all() {
            let sql = query.sql(ScaleFactor::ONE);
            assert!(!sql.contains(';'), "{query}");
            assert!(sql.starts_with("select") || sql.starts_with("with"), "{query}");
        }
    }

    #[test]
    fn lists_read() {
        let numbers =
            |text| QueryNumber::parse_list(text).map(|list| list.iter().map(|q| q.number()).collect::<Vec<_>>());
        assert_eq!(numbers("1, 3,20-22").expect("valid"), [1, 3, 20, 21, 22]);
        for text in ["", "0", "23", "5-3", "1,,2", "x", "1-"] {
            assert!(matches!(numbers(text), Err(Error::Query(_))), "{text}");
        }
    }
}
