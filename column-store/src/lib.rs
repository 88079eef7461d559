//! The columnar half of Gingham: row groups on disk and vectorized execution.
//!
//! * [`vector`]: the form in which columns travel between operators;
//! * `storage`: encodings, row groups, statistics and the columnar scan;
//! * `expression`: typed expressions over batches;
//! * `execution`: the operators of a [`gingham_plan::Query`] and the loop that runs them.
//!
//! It knows no SQL text, and of the row store only extents and their durability. Arrow
//! is the form at the border ([`vector`] converts), not inside operators: columns stay
//! narrow integers and dictionary codes as long as possible.

pub mod error;
pub mod execution;
pub mod expression;
mod key_bits;
pub mod source;
pub mod storage;
mod text_search;
pub mod vector;

pub use error::{Error, Result};
