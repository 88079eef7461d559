//! Round trips of every encoding, the choice among them, and damaged bytes.

use super::{decode, encode};
use crate::storage::column::Column;
use crate::storage::meta::Encoding;
use crate::storage::scan::materialize::{RowSet, materialize};
use gingham_types::{SqlType, Value};

/// SplitMix64: a seed replays a failure.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

fn column(ty: SqlType, values: &[Value]) -> Column {
    let mut column = Column::new(ty);
    for value in values {
        column.append_value(value).expect("a value of the type");
    }
    column.fill_front().expect("a well-formed column");
    column
}

fn encoded(ty: SqlType, values: &[Value]) -> (Vec<u8>, super::Encoded) {
    let mut bytes = Vec::new();
    let encoded = encode(&column(ty, values), &mut bytes);
    (bytes, encoded)
}

fn read(bytes: &[u8], ty: SqlType, rows: usize) -> crate::Result<Vec<Value>> {
    let chunk = decode(bytes, ty, rows)?;
    let vector = materialize(&chunk, &RowSet::Range(0..rows));
    Ok((0..rows).map(|row| vector.value(row, ty)).collect())
}

/// Equality that tells apart zeros and knows NaN.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    }
}

fn check(ty: SqlType, values: &[Value], what: &str) -> Encoding {
    let (bytes, encoded) = encoded(ty, values);
    let back = read(&bytes, ty, values.len()).expect(what);
    for (row, (wanted, found)) in values.iter().zip(&back).enumerate() {
        assert!(same(wanted, found), "{what}, {}: row {row} is {found:?}, not {wanted:?}", encoded.encoding.name());
    }
    let compare = gingham_types::compare_values;
    for value in values.iter().filter(|value| !value.is_null()) {
        assert!(encoded.min.as_ref().is_none_or(|min| compare(min, value).is_le()), "{what}: {value:?} below");
        assert!(encoded.max.as_ref().is_none_or(|max| compare(max, value).is_ge()), "{what}: {value:?} above");
    }
    encoded.encoding
}

fn integers(count: usize, value: impl Fn(i64) -> i64) -> Vec<Value> {
    (0..count as i64).map(|row| Value::Int(value(row))).collect()
}

#[test]
fn the_smallest_encoding_is_chosen() {
    let mut random = Random(1);
    let noise: Vec<i64> = (0..10_000).map(|_| random.below(1 << 20) as i64).collect();
    let sparse: Vec<i64> = (0..200).map(|_| random.next() as i64 >> 8).collect();
    let picks: Vec<usize> = (0..10_000).map(|_| random.below(200) as usize).collect();
    let big = SqlType::BigInt;
    assert_eq!(check(big, &integers(10_000, |_| 7), "constant"), Encoding::Constant);
    assert_eq!(check(big, &integers(10_000, |row| noise[row as usize]), "noise"), Encoding::Frame);
    assert_eq!(check(big, &integers(10_000, |row| 5_000_000 + row), "sequence"), Encoding::Delta);
    assert_eq!(check(big, &integers(10_000, |row| noise[(row / 100) as usize]), "runs"), Encoding::RunLength);
    assert_eq!(check(big, &integers(10_000, |row| sparse[picks[row as usize]]), "sparse"), Encoding::Dictionary);
    let text = |value: &dyn Fn(usize) -> String| (0..10_000).map(|row| Value::Text(value(row))).collect::<Vec<_>>();
    let modes = ["AIR", "FOB", "MAIL", "RAIL"];
    assert_eq!(check(SqlType::Text, &text(&|_| "same".into()), "same text"), Encoding::Constant);
    assert_eq!(check(SqlType::Text, &text(&|row| modes[picks[row] % 4].into()), "modes"), Encoding::Dictionary);
    assert_eq!(check(SqlType::Text, &text(&|row| format!("Customer#{row:09}")), "names"), Encoding::Compressed);
    let unique = text(&|row| format!("{:x}", (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    assert_eq!(check(SqlType::Text, &unique, "hashes"), Encoding::Plain);
}

#[test]
fn a_common_factor_narrows_codes() {
    let mut random = Random(2);
    let quantity = SqlType::decimal(15, 2);
    let values: Vec<Value> =
        (0..4096).map(|_| Value::Decimal { unscaled: i128::from(random.below(50) + 1) * 100, scale: 2 }).collect();
    check(quantity, &values, "quantities");
    let (bytes, _) = encoded(quantity, &values);
    assert!(bytes.len() < 4096 * 6 / 8 + 64, "{} bytes", bytes.len());
}

/// Value generators by shape, over all types.
fn values(ty: SqlType, shape: u64, count: usize, random: &mut Random) -> Vec<Value> {
    let scale = if let SqlType::Decimal { scale, .. } = ty { scale } else { 0 };
    let wide = matches!(ty, SqlType::Decimal { precision, .. } if precision > 18);
    let from = |raw: i128, random: &mut Random| match ty {
        SqlType::Boolean => Value::Boolean(raw & 1 == 1),
        SqlType::Integer => Value::Int(i64::from(raw as i32)),
        SqlType::BigInt => Value::Int(raw as i64),
        SqlType::Date => Value::Date(raw as i32),
        SqlType::Timestamp => Value::Timestamp(raw as i64),
        SqlType::Decimal { .. } if wide => Value::Decimal { unscaled: raw, scale },
        SqlType::Decimal { .. } => Value::Decimal { unscaled: i128::from(raw as i64), scale },
        SqlType::Double => Value::Double(match random.below(3) {
            0 => f64::from_bits(raw as u64),
            1 => raw as f64 / 100.0,
            _ => raw as f64,
        }),
        SqlType::Blob => Value::Blob(raw.to_be_bytes()[(raw as usize & 15)..].to_vec()),
        _ => Value::Text(format!("{raw}").repeat((raw as usize & 3) + usize::from(raw.trailing_zeros() >= 10) * 50)),
    };
    (0..count)
        .map(|row| {
            let raw = match shape % 8 {
                0 => 42,
                1 => row as i128 * 3,
                2 => i128::from(random.below(20)) - 5,
                3 => i128::from(random.next() as i64),
                4 => {
                    [i128::from(i64::MIN), i128::from(i64::MAX), i128::MIN, i128::MAX, 0, -1][random.below(6) as usize]
                }
                5 => row as i128 / 50,
                6 => i128::from(random.next() as i64) * i128::from(random.next() as i64),
                _ => i128::from(random.below(300)) * 1_000_000_007,
            };
            let null = match shape / 8 % 3 {
                0 => false,
                1 => random.below(10) < 9 || row < 3,
                _ => random.below(10) == 0,
            };
            if null { Value::Null } else { from(raw, random) }
        })
        .collect()
}

const TYPES: [SqlType; 10] = [
    SqlType::Boolean,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::Date,
    SqlType::Timestamp,
    SqlType::decimal(15, 2),
    SqlType::decimal(38, 4),
    SqlType::Double,
    SqlType::Text,
    SqlType::Blob,
];

#[test]
fn all_shapes_of_all_types_round_trip() {
    for ty in TYPES {
        for shape in 0..24 {
            for count in [1, 2, 100, 1024, 3000] {
                let seed = shape * 31 + count as u64;
                let values = values(ty, shape, count, &mut Random(seed));
                check(ty, &values, &format!("{ty}, shape {shape}, {count} rows, seed {seed}"));
            }
        }
    }
}

/// Doubles of every kind, whose bits come back; of a NaN, that it is one.
#[test]
fn extreme_doubles_round_trip_among_decimals() {
    let extremes = [
        f64::NAN,
        f64::from_bits(0x7ff8_dead_beef_0001),
        f64::from_bits(0xfff0_0000_0000_0001),
        -0.0,
        0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(0x000f_ffff_ffff_ffff),
        f64::MAX,
        f64::MIN,
        9_007_199_254_740_993.0,
        0.1 + 0.2,
        1.0 / 3.0,
        1e-9,
        1e22,
    ];
    let mut random = Random(4);
    for rare in [0, 2, 7, 8, 9, 50, 1000] {
        for count in [1, 2, 9, 100, 1024, 5000] {
            let value = |random: &mut Random| match rare {
                0 => extremes[random.below(extremes.len() as u64) as usize],
                _ if random.below(rare) == 0 => extremes[random.below(extremes.len() as u64) as usize],
                _ => random.below(1_000_000) as f64 / 100.0 - 500.0,
            };
            let values: Vec<Value> = (0..count)
                .map(|_| if random.below(20) == 0 { Value::Null } else { Value::Double(value(&mut random)) })
                .collect();
            check(SqlType::Double, &values, &format!("one extreme in {rare}, {count} rows"));
        }
    }
}

#[test]
fn decimals_with_a_few_exceptions_stay_narrow() {
    let mut random = Random(5);
    let price = |random: &mut Random| random.below(100_000) as f64 / 100.0;
    let values: Vec<Value> =
        (0..10_000).map(|row| Value::Double(if row % 100 == 3 { f64::NAN } else { price(&mut random) })).collect();
    let (bytes, _) = encoded(SqlType::Double, &values);
    // 17 bits a price, and about three bytes an exception, all of which are equal.
    assert!(bytes.len() < 10_000 * 17 / 8 + 400, "{} bytes", bytes.len());
}

/// The bytes of doubles as version 2 writes them: what is on disk must stay readable.
#[test]
fn doubles_are_read_as_they_were_written() {
    let values: Vec<Value> =
        (0..16).map(|row| Value::Double(if row == 5 { 1.0 / 3.0 } else { f64::from(row) / 4.0 })).collect();
    let golden: &[u8] = &[
        2, 0, 0, 0, 16, 0, 0, 0, 130, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 85, 85, 85, 85, 85, 85, 213, 63, 1, 0, 0, 0, 0,
        0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 4, 16, 50, 68, 118, 152, 186, 220, 254,
    ];
    let (bytes, _) = encoded(SqlType::Double, &values);
    assert_eq!(bytes, golden);
    assert_eq!(read(golden, SqlType::Double, 16).expect("reads"), values);
}

#[test]
fn nothing_but_null_takes_a_header() {
    for ty in TYPES {
        let values = vec![Value::Null; 1000];
        assert_eq!(check(ty, &values, "nulls"), Encoding::Constant);
        assert_eq!(encoded(ty, &values).0.len(), 8);
    }
}

#[test]
fn long_bounds_are_cut_outwards() {
    let text = |c: &str| Value::Text(c.repeat(100));
    let (_, meta) = encoded(SqlType::Text, &[text("m"), text("a"), text("z")]);
    assert_eq!(meta.min, Some(Value::Text("a".repeat(40))));
    assert_eq!(meta.max, Some(Value::Text(format!("{}{{", "z".repeat(39)))));
    let (_, meta) = encoded(SqlType::Text, &[text("\u{10ffff}")]);
    assert_eq!(meta.max, None);
    let (_, meta) = encoded(SqlType::Blob, &[Value::Blob(vec![255; 100]), Value::Blob(vec![7; 100])]);
    assert_eq!((meta.min, meta.max), (Some(Value::Blob(vec![7; 40])), None));
}

/// Without the checksum that guards them: any bytes give values or an error.
#[test]
fn damaged_chunks_never_panic() {
    let mut random = Random(3);
    for ty in TYPES {
        for shape in 0..24 {
            let (bytes, _) = encoded(ty, &values(ty, shape, 1500, &mut Random(shape)));
            for _ in 0..100 {
                let mut damaged = bytes.clone();
                for _ in 0..=random.below(3) {
                    // Headers decide more than values: hit them more often.
                    let end = if random.below(2) == 0 { damaged.len().min(64) } else { damaged.len() };
                    let at = random.below(end as u64) as usize;
                    damaged[at] ^= 1 << random.below(8);
                }
                if random.below(4) == 0 {
                    damaged.truncate(random.below(damaged.len() as u64) as usize);
                }
                let _ = read(&damaged, ty, 1500);
            }
        }
    }
}
