//! What can go wrong in this crate, split by what the caller can do about it.

use crate::check::Difference;
use crate::queries::QueryNumber;
use std::fmt;
use std::path::PathBuf;

/// An error of generation, loading or checking.
#[derive(Debug)]
pub enum Error {
    /// A scale factor that is not a number above 0 and at most [`crate::ScaleFactor::MAX`].
    ScaleFactor(String),
    /// A query number outside 1 to 22, or a list of them that does not read.
    Query(String),
    /// No answers are known at this scale factor.
    NoAnswers(String),
    /// An answer that does not parse: the answer file or the generator crate is damaged.
    Answer {
        /// Whose answer it is.
        query: QueryNumber,
        /// The line, from 1, the header included.
        line: usize,
        /// What was expected and what was found.
        message: String,
    },
    /// A file could not be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder or a database that holds data of another scale factor or layout.
    OtherData {
        /// Where it was found.
        place: String,
        /// What was asked for.
        expected: String,
        /// What it holds.
        found: String,
    },
    /// A batch that Arrow refuses: a broken invariant of this crate.
    Arrow(String),
    /// The database under test refused a statement or a batch.
    Target {
        /// The statement, or what was being loaded.
        doing: String,
        /// What the database said.
        message: String,
    },
    /// The database under test answered, and wrongly.
    Difference {
        /// Which question.
        query: QueryNumber,
        /// Where the answers part.
        difference: Difference,
    },
}

impl Error {
    /// An error of the file system at `path`.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// An error of the database under test while `doing` something.
    pub(crate) fn target(doing: impl Into<String>) -> impl FnOnce(String) -> Self {
        let doing = doing.into();
        move |message| Self::Target { doing, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScaleFactor(text) => write!(
                f,
                "scale factor {text:?} is not a number above 0 and at most {}",
                crate::ScaleFactor::MAX.value()
            ),
            Self::Query(text) => write!(f, "{text:?} is not a query number from 1 to 22"),
            Self::NoAnswers(scale) => {
                write!(f, "no answers are known at scale factor {scale}; they are at 0.01, 0.1 and 1")
            }
            Self::Answer { query, line, message } => write!(f, "answer of {query}, line {line}: {message}"),
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::OtherData { place, expected, found } => {
                write!(f, "{place} holds {found}, not {expected}; name another place or remove it")
            }
            Self::Arrow(message) => write!(f, "batch refused by Arrow: {message}"),
            Self::Target { doing, message } => write!(f, "{doing}: {message}"),
            Self::Difference { query, difference } => write!(f, "{query}: {difference}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
