//! The bytes of row groups: every number that is written, in one place.
//!
//! A row group is one extent with the chunks of its columns, and one record (its
//! metadata) that the engine keeps in a B+tree. Integers are little endian; `varint` is
//! LEB128, `zigzag` a varint of the zigzag form. Checksums are XXH3-64.
//!
//! ## Metadata record
//!
//! | bytes | type | meaning |
//! |---|---|---|
//! | 1 | u8 | version, [`META_VERSION`] |
//! | 24 | extent | where the chunks are (the row store's extent reference) |
//! | 4 | u32 | rows, 1 to [`GROUP_ROWS_LIMIT`] |
//! | 8 | u64 | row id of the first row |
//! | varint, n | bytes | the owner's tag: opaque, may be empty |
//! | varint | | number of columns, then for each: |
//! | · varint | | offset of the chunk in the extent, divided by [`CHUNK_ALIGNMENT`] |
//! | · varint | | bytes of the chunk |
//! | · 8 | u64 | checksum of those bytes |
//! | · 1 | u8 | encoding of the values, for statistics and EXPLAIN |
//! | · varint | | NULLs |
//! | · varint | | estimated distinct values |
//! | · value | | least value, or none |
//! | · value | | greatest value, or none |
//! | · varint, n | bytes | distinct sketch (see below) |
//! | 8 | u64 | checksum of everything before |
//!
//! Bounds of TEXT and BLOB are cut to [`BOUND_BYTES_MAX`] bytes: the least one down, the
//! greatest one up, so that all values lie between them.
//!
//! ## Value
//!
//! One tag byte, then: 0 none; 1 false; 2 true; 3 INTEGER/BIGINT, zigzag; 4 DOUBLE, its
//! 8 bytes; 5 DECIMAL, scale (1 byte) and 16 bytes; 6 TEXT, varint length and bytes;
//! 7 BLOB, likewise; 8 DATE, zigzag; 9 TIMESTAMP, zigzag.
//!
//! ## Distinct sketch
//!
//! HyperLogLog with 2^[`SKETCH_BITS`] registers. First byte 0: then 2 bytes for every
//! register that is not zero, `register << 6 | rank`. First byte 1: all registers,
//! packed in 6 bits each, four to three bytes. Empty: no values.
//!
//! ## Chunk
//!
//! | bytes | type | meaning |
//! |---|---|---|
//! | 1 | u8 | kind: 0 all NULL, 1 integers, 2 doubles, 3 wide decimals, 4 dictionary text, 5 plain text |
//! | 1 | u8 | 1 if a NULL bitmap follows, else 0 |
//! | 2 | u16 | zero |
//! | 4 | u32 | rows |
//! | rows/8 | bits | if there is one: bit set where the value is not NULL, low bit first |
//! | | | the values, by kind |
//!
//! * Integers (BOOLEAN, INTEGER, BIGINT, DATE, TIMESTAMP, DECIMAL that fits): one
//!   integer stream of as many values as rows.
//! * Doubles: one byte `digits`, then one integer stream. With `digits` up to
//!   [`SCALED_DIGITS_MAX`] a value is the integer divided by `10^digits`; with
//!   [`ORDERED_DOUBLE`] the integer is the bits of the double in total order (see
//!   `encoding::double`). NaN has one form. With [`DOUBLE_EXCEPTIONS`] added to the digits
//!   there follow, before the stream: varint exceptions, at least one, an integer stream of
//!   their rows (ascending), and one of their bits in total order; what the stream has in
//!   those rows means nothing. (Since version 2 of the metadata.)
//! * Wide decimals: 16 bytes `base`, one byte 0 and one integer stream of distances from
//!   the base; or one byte 1 and 16 bytes a value.
//! * Dictionary text: varint number of entries, a string block with the entries, sorted
//!   and distinct, and one integer stream of codes.
//! * Plain text: a string block with one entry a row.
//!
//! A string block: an integer stream of lengths, varint bytes of all strings together,
//! one byte 0 and those bytes; or one byte 1, varint bytes of an LZ4 block, and that.
//!
//! ## Integer stream
//!
//! One byte encoding, then
//!
//! | encoding | contents |
//! |---|---|
//! | 0 constant | 8 bytes: the value |
//! | 1 frame | 8 bytes base, 8 bytes factor, 8 bytes greatest code, packed codes: `base + code × factor` |
//! | 2 run length | varint runs, stream of the runs' values, stream of the runs' lengths |
//! | 3 dictionary | varint entries, stream of the entries (ascending), packed codes |
//! | 4 delta | 8 bytes first value, 8 bytes least delta, 8 bytes least value, 8 bytes greatest value, 8 bytes greatest code, packed codes `delta - least delta` of all but the first |
//!
//! Streams inside a stream are constant or frame only. Packed codes: 1 byte width in
//! bits (0 to 64), then see `bits`.

/// Version of the metadata record that is written …
pub(crate) const META_VERSION: u8 = 2;

/// … and the oldest that is read: its chunks have no exceptions of doubles.
pub(crate) const META_VERSION_MIN: u8 = 1;

/// Most rows of a group that is written. 64 Ki keep a decoded column in the second-level
/// cache and let zone maps cut the 6M rows of TPC-H SF 1 into 92 pieces.
pub const GROUP_ROWS_MAX: usize = 65_536;

/// Most rows of a group that is read: room to grow without a new version.
pub const GROUP_ROWS_LIMIT: usize = 131_072;

/// A group is full when its text takes this many bytes, whatever its rows.
pub const GROUP_TEXT_BYTES_MAX: usize = 64 << 20;

/// Chunks begin at multiples of this many bytes.
pub(crate) const CHUNK_ALIGNMENT: usize = 8;

/// Most columns of a group.
pub(crate) const COLUMNS_MAX: usize = 4096;

/// Bounds of text are cut to this many bytes.
pub(crate) const BOUND_BYTES_MAX: usize = 40;

/// Binary logarithm of a distinct sketch's registers: a standard error of 4.6 %.
pub(crate) const SKETCH_BITS: u32 = 9;

/// Most decimal digits after the point of doubles kept as integers.
pub(crate) const SCALED_DIGITS_MAX: u8 = 9;

/// In the place of the digits: the integers are ordered bits.
pub(crate) const ORDERED_DOUBLE: u8 = 255;

/// Added to the digits of doubles some of which are kept apart.
pub(crate) const DOUBLE_EXCEPTIONS: u8 = 128;
