//! What is kept about a row group outside its extent. Byte tables: [`super::format`].

use super::bytes::{Reader, corrupt, put_bytes, put_value, put_varint};
use super::format::{CHUNK_ALIGNMENT, COLUMNS_MAX, GROUP_ROWS_LIMIT, META_VERSION, META_VERSION_MIN};
use super::sketch::DistinctSketch;
use crate::Result;
use gingham_row_store::{EXTENT_REFERENCE_BYTES, Extent};
use gingham_types::Value;
use xxhash_rust::xxh3::xxh3_64;

/// One row group: where its chunks are and what is known of them. Plain data; the
/// engine stores [`RowGroupMeta::encode`] as a record and keeps the decoded form.
#[derive(Clone, Debug, PartialEq)]
pub struct RowGroupMeta {
    /// Rows, deleted ones included.
    pub rows: u32,
    /// Row id of the first row; the others follow without gaps.
    pub first_row_id: u64,
    /// Where the chunks are.
    pub extent: Extent,
    /// Whatever the owner wants to remember with the group.
    pub tag: Vec<u8>,
    /// One for each column of the table at the time of writing.
    pub columns: Vec<ChunkMeta>,
}

/// One chunk: a column of a row group.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkMeta {
    /// Where it begins in the extent; a multiple of eight bytes.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u32,
    /// XXH3-64 of its bytes.
    pub checksum: u64,
    /// How its values are encoded.
    pub encoding: Encoding,
    /// NULLs.
    pub nulls: u32,
    /// Estimated distinct non-NULL values; exact for dictionaries and constants.
    pub distinct_estimate: u32,
    /// A value that no value is less than; `None` if all are NULL or it is not known.
    /// The least value itself, but for long text.
    pub min: Option<Value>,
    /// A value that no value is greater than, as `min`.
    pub max: Option<Value>,
    /// Lets distinct counts of several chunks be merged.
    pub sketch: DistinctSketch,
}

/// How the values of a chunk are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Encoding {
    /// One value, or nothing but NULL.
    Constant = 0,
    /// Bit-packed distances from the least value.
    Frame = 1,
    /// Values and how often they repeat.
    RunLength = 2,
    /// Bit-packed codes of a sorted list of the distinct values.
    Dictionary = 3,
    /// Bit-packed differences between neighbours.
    Delta = 4,
    /// As they are.
    Plain = 5,
    /// Strings one after the other, compressed with LZ4.
    Compressed = 6,
}

impl Encoding {
    /// The name shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Frame => "frame of reference",
            Self::RunLength => "run length",
            Self::Dictionary => "dictionary",
            Self::Delta => "delta",
            Self::Plain => "plain",
            Self::Compressed => "lz4",
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        use Encoding::*;
        [Constant, Frame, RunLength, Dictionary, Delta, Plain, Compressed].get(number as usize).copied()
    }
}

impl RowGroupMeta {
    /// The record's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![META_VERSION];
        out.extend_from_slice(&self.extent.encode());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.first_row_id.to_le_bytes());
        put_bytes(&mut out, &self.tag);
        put_varint(&mut out, self.columns.len() as u64);
        for column in &self.columns {
            put_varint(&mut out, column.offset / CHUNK_ALIGNMENT as u64);
            put_varint(&mut out, u64::from(column.bytes));
            out.extend_from_slice(&column.checksum.to_le_bytes());
            out.push(column.encoding as u8);
            put_varint(&mut out, u64::from(column.nulls));
            put_varint(&mut out, u64::from(column.distinct_estimate));
            put_value(&mut out, column.min.as_ref());
            put_value(&mut out, column.max.as_ref());
            column.sketch.encode(&mut out);
        }
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Reads what [`RowGroupMeta::encode`] wrote.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] if the bytes are damaged or of a newer version.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let (content, checksum) =
            bytes.split_last_chunk::<8>().ok_or_else(|| corrupt("row group metadata ends early"))?;
        if content.first().is_some_and(|version| !(META_VERSION_MIN..=META_VERSION).contains(version)) {
            let message = format!("row group metadata has version {}, not {META_VERSION} or less", content[0]);
            return Err(corrupt(message));
        }
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(corrupt("row group metadata fails its checksum"));
        }
        Self::decode_content(content)
    }

    fn decode_content(content: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        reader.u8()?;
        let extent = Extent::decode(&reader.array::<EXTENT_REFERENCE_BYTES>()?)
            .ok_or_else(|| corrupt("row group metadata has no extent"))?;
        let rows = reader.u32()?;
        if rows == 0 || rows as usize > GROUP_ROWS_LIMIT {
            return Err(corrupt(format!("a row group of {rows} rows")));
        }
        let first_row_id = reader.u64()?;
        let tag = reader.prefixed()?.to_vec();
        let count = reader.count(COLUMNS_MAX)?;
        let mut columns = Vec::with_capacity(count.min(reader.remaining()));
        for _ in 0..count {
            columns.push(ChunkMeta::decode(&mut reader, rows, extent.bytes)?);
        }
        if reader.remaining() > 0 {
            return Err(corrupt("row group metadata goes on after its end"));
        }
        Ok(Self { rows, first_row_id, extent, tag, columns })
    }
}

impl ChunkMeta {
    fn decode(reader: &mut Reader<'_>, rows: u32, extent_bytes: u64) -> Result<Self> {
        let offset = reader.varint()?.saturating_mul(CHUNK_ALIGNMENT as u64);
        let bytes = u32::try_from(reader.varint()?).map_err(|_| corrupt("a chunk of over 4 GiB"))?;
        if offset.saturating_add(u64::from(bytes)) > extent_bytes {
            return Err(corrupt("a chunk reaches past its extent"));
        }
        let checksum = reader.u64()?;
        let number = reader.u8()?;
        let encoding = Encoding::from_number(number).ok_or_else(|| corrupt(format!("encoding {number}")))?;
        let nulls = reader.count(rows as usize)? as u32;
        let distinct_estimate = reader.count(u32::MAX as usize)? as u32;
        let min = reader.value()?;
        let max = reader.value()?;
        let sketch = DistinctSketch::decode(reader)?;
        Ok(Self { offset, bytes, checksum, encoding, nulls, distinct_estimate, min, max, sketch })
    }
}
