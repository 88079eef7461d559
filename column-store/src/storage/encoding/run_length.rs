//! Run length: each run's value and length. For sorted and clustered columns.

use super::integer::{IntegerValues, RUN_LENGTH, decode_simple, encode_simple};
use crate::Result;
use crate::storage::bytes::{Reader, corrupt, put_varint, reserve};
use crate::storage::chunk::{CodedIntegers, Codes};

/// Appends `values`, which have `runs` runs.
pub(super) fn write(values: &[i64], runs: usize, out: &mut Vec<u8>) {
    let (mut run_values, mut lengths) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for run in values.chunk_by(|a, b| a == b) {
        run_values.push(run[0]);
        lengths.push(run.len() as i64);
    }
    out.push(RUN_LENGTH);
    put_varint(out, run_values.len() as u64);
    encode_simple(&run_values, out);
    encode_simple(&lengths, out);
}

/// Reads what [`write`] wrote after the encoding's number; codes are those of the runs.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    let runs = reader.count(count)?;
    let values = decode_simple(reader, runs)?;
    let lengths = decode_simple(reader, runs)?.to_vec(runs);
    let expanded = match values {
        IntegerValues::Constant(value) => IntegerValues::Constant(value),
        IntegerValues::Coded(CodedIntegers { codes, map, code_max }) => {
            let codes = match codes {
                Codes::U8(codes) => Codes::U8(expand(&codes, &lengths, count)?),
                Codes::U16(codes) => Codes::U16(expand(&codes, &lengths, count)?),
                Codes::U32(codes) => Codes::U32(expand(&codes, &lengths, count)?),
            };
            IntegerValues::Coded(CodedIntegers { codes, map, code_max })
        }
        IntegerValues::Wide(values) => IntegerValues::Wide(expand(&values, &lengths, count)?),
    };
    Ok(expanded)
}

fn expand<T: Copy>(values: &[T], lengths: &[i64], count: usize) -> Result<Vec<T>> {
    let mut out = reserve(count)?;
    for (value, length) in values.iter().zip(lengths) {
        let length = usize::try_from(*length).ok().filter(|length| *length <= count - out.len());
        let length = length.ok_or_else(|| corrupt("runs are longer than their column"))?;
        out.resize(out.len() + length, *value);
    }
    if out.len() == count { Ok(out) } else { Err(corrupt("runs are shorter than their column")) }
}
