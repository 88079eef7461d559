//! Random numbers that a seed replays.

pub(crate) use gingham_row_store::vfs::fault::Random;
