//! Recursive common table expressions.

use crate::Node;
use gingham_types::SqlType;
use serde::{Deserialize, Serialize};

/// The rows that a recursive term reads: those of the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkId(pub u32);

/// Puts out the rows of `start`, then those of `step` over them, then those of `step`
/// over the rows that came last, until there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recursive {
    /// First rows.
    pub start: Node,
    /// Further rows; reads [`Node::Work`] of `work`. Columns as `start`.
    pub step: Node,
    /// Which rows of the last round `step` reads.
    pub work: WorkId,
    /// UNION: rows that have been put out are not put out again.
    pub distinct: bool,
    /// Column types.
    pub types: Vec<SqlType>,
}
