//! Integer streams: what most columns, the lengths of strings and codes become.
//!
//! One pass profiles the values, which gives the exact size of every encoding but the
//! dictionary; a sample tells whether trying that is worth while.

use super::{delta, dictionary, frame, run_length};
use crate::Result;
use crate::storage::bits::{packed_bytes, width_of};
use crate::storage::bytes::{Reader, corrupt};
use crate::storage::chunk::{CodeMap, CodedIntegers, Codes};
use crate::storage::meta::Encoding;

pub(super) const CONSTANT: u8 = 0;
pub(super) const FRAME: u8 = 1;
pub(super) const RUN_LENGTH: u8 = 2;
pub(super) const DICTIONARY: u8 = 3;
pub(super) const DELTA: u8 = 4;

/// Another encoding than the frame must be this much smaller: the frame unpacks fastest.
const ADVANTAGE_PERCENT: usize = 90;

/// A decoded stream.
#[derive(Clone, Debug)]
pub(crate) enum IntegerValues {
    Constant(i64),
    Coded(CodedIntegers),
    Wide(Vec<i64>),
}

impl IntegerValues {
    /// The values themselves.
    pub(crate) fn to_vec(&self, count: usize) -> Vec<i64> {
        fn map<T: Copy + Into<u32>>(codes: &[T], map: &CodeMap) -> Vec<i64> {
            codes.iter().map(|code| map.value((*code).into())).collect()
        }
        match self {
            Self::Constant(value) => vec![*value; count],
            Self::Coded(coded) => match &coded.codes {
                Codes::U8(codes) => map(codes, &coded.map),
                Codes::U16(codes) => map(codes, &coded.map),
                Codes::U32(codes) => map(codes, &coded.map),
            },
            Self::Wide(values) => values.clone(),
        }
    }
}

/// What one pass over the values tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) min: i64,
    pub(super) max: i64,
    /// Greatest common divisor of the distances from the least value; 1 for a constant.
    pub(super) factor: u64,
    pub(super) runs: usize,
    pub(super) run_max: usize,
    /// Bounds of the differences between neighbours; only if no difference overflows.
    pub(super) deltas: Option<(i64, i64)>,
}

impl Profile {
    pub(super) fn of(values: &[i64]) -> Self {
        let first = values.first().copied().unwrap_or_default();
        let (mut min, mut max) = (first, first);
        let (mut runs, mut run, mut run_max) = (1, 1, 1);
        let (mut delta_min, mut delta_max) = (i64::MAX, i64::MIN);
        for pair in values.windows(2) {
            min = min.min(pair[1]);
            max = max.max(pair[1]);
            let delta = pair[1].wrapping_sub(pair[0]);
            delta_min = delta_min.min(delta);
            delta_max = delta_max.max(delta);
            runs += usize::from(delta != 0);
            run = if delta == 0 { run + 1 } else { 1 };
            run_max = run_max.max(run);
        }
        let deltas_fit = i64::try_from(max.abs_diff(min)).is_ok() && values.len() > 1;
        Self {
            min,
            max,
            factor: common_factor(values, first),
            runs,
            run_max,
            deltas: deltas_fit.then_some((delta_min, delta_max)),
        }
    }

    /// The greatest code of the frame.
    pub(super) const fn code_max(&self) -> u64 {
        self.max.abs_diff(self.min) / self.factor
    }
}

/// The greatest common divisor of all distances from `first`, given up at 1.
fn common_factor(values: &[i64], first: i64) -> u64 {
    let mut factor = 0u64;
    for value in values {
        let distance = value.abs_diff(first);
        if factor == 0 || !distance.is_multiple_of(factor) {
            let (mut a, mut b) = (factor, distance);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            factor = a;
            if factor == 1 {
                break;
            }
        }
    }
    // A factor has to fit its signed field; such spans gain nothing from one anyway.
    if factor == 0 || factor > i64::MAX as u64 { 1 } else { factor }
}

/// How a stream was encoded, and what was found out for that.
pub(super) struct Encoded {
    pub(super) encoding: Encoding,
    /// The distinct values, if they were looked for.
    pub(super) distinct: Option<Vec<i64>>,
    pub(super) min: i64,
    pub(super) max: i64,
}

/// Appends `values` in the encoding that takes the fewest bytes.
pub(super) fn encode(values: &[i64], out: &mut Vec<u8>) -> Encoded {
    let profile = Profile::of(values);
    let (min, max) = (profile.min, profile.max);
    if min == max {
        let encoding = encode_simple_profiled(values, &profile, out);
        return Encoded { encoding, distinct: Some(vec![min]), min, max };
    }
    let width = width_of(profile.code_max());
    let frame_bytes = frame::HEADER_BYTES + packed_bytes(values.len(), width);
    let mut best = (frame_bytes * ADVANTAGE_PERCENT / 100, Encoding::Frame);
    let runs_bytes = 2 * frame::HEADER_BYTES
        + packed_bytes(profile.runs, width)
        + packed_bytes(profile.runs, width_of(profile.run_max as u64));
    if runs_bytes < best.0 {
        best = (runs_bytes, Encoding::RunLength);
    }
    if let Some((delta_min, delta_max)) = profile.deltas {
        let bytes = delta::HEADER_BYTES + packed_bytes(values.len() - 1, width_of(delta_max.abs_diff(delta_min)));
        if bytes < best.0 {
            best = (bytes, Encoding::Delta);
        }
    }
    if let Some(found) = dictionary::find(values, width, best.0) {
        dictionary::write(&found, out);
        return Encoded { encoding: Encoding::Dictionary, distinct: Some(found.into_entries()), min, max };
    }
    match best.1 {
        Encoding::RunLength => run_length::write(values, profile.runs, out),
        Encoding::Delta => delta::write(values, &profile, out),
        _ => frame::write(values, &profile, out),
    }
    Encoded { encoding: best.1, distinct: None, min, max }
}

/// Appends `values` as a constant or a frame: for streams inside streams.
pub(super) fn encode_simple(values: &[i64], out: &mut Vec<u8>) -> Encoding {
    encode_simple_profiled(values, &Profile::of(values), out)
}

fn encode_simple_profiled(values: &[i64], profile: &Profile, out: &mut Vec<u8>) -> Encoding {
    if profile.min == profile.max {
        out.push(CONSTANT);
        out.extend_from_slice(&profile.min.to_le_bytes());
        Encoding::Constant
    } else {
        frame::write(values, profile, out);
        Encoding::Frame
    }
}

/// Reads a stream of `count` values, at least one.
pub(super) fn decode(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    let mut ahead = *reader;
    match ahead.u8()? {
        RUN_LENGTH => {
            *reader = ahead;
            run_length::read(reader, count)
        }
        DICTIONARY => {
            *reader = ahead;
            dictionary::read(reader, count)
        }
        DELTA => {
            *reader = ahead;
            delta::read(reader, count)
        }
        _ => decode_simple(reader, count),
    }
}

/// Reads a stream that is a constant or a frame.
pub(super) fn decode_simple(reader: &mut Reader<'_>, count: usize) -> Result<IntegerValues> {
    match reader.u8()? {
        CONSTANT => Ok(IntegerValues::Constant(reader.i64()?)),
        FRAME => frame::read(reader, count),
        number => Err(corrupt(format!("an integer stream of encoding {number}"))),
    }
}
