//! Random numbers and values from a printed seed.

use gingham_types::{Interval, SqlType, Value};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// A value of a type: `spread` bounds how many different ones there are. Now and
    /// then an extreme one.
    pub fn value(&mut self, ty: SqlType, spread: i64, nulls_percent: usize) -> Value {
        if self.chance(nulls_percent) {
            return Value::Null;
        }
        let extreme = spread > 1000 && self.chance(2);
        let small = self.between(-spread / 2, spread / 2);
        match ty {
            SqlType::Null => Value::Null,
            SqlType::Boolean => Value::Boolean(self.chance(50)),
            SqlType::Integer if extreme => Value::Int(*self.pick(&[i64::from(i32::MIN), i64::from(i32::MAX), 0])),
            SqlType::BigInt if extreme => Value::Int(*self.pick(&[i64::MIN, i64::MAX, i64::MIN + 1, 0])),
            SqlType::Integer | SqlType::BigInt => Value::Int(small),
            SqlType::Double if extreme => {
                Value::Double(*self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, 5e-324]))
            }
            SqlType::Double => Value::Double(small as f64 / 4.0),
            SqlType::Decimal { precision, scale } => {
                let bound = 10i128.pow(u32::from(precision)) - 1;
                let unscaled =
                    if extreme { *self.pick(&[bound, -bound, 0, 1]) } else { i128::from(small).clamp(-bound, bound) };
                Value::Decimal { unscaled, scale }
            }
            SqlType::Text => Value::Text(Self::text(small)),
            SqlType::Blob => Value::Blob(Self::text(small).into_bytes()),
            SqlType::Date => Value::Date(if extreme { *self.pick(&[-700_000, 2_000_000]) } else { small as i32 * 3 }),
            SqlType::Timestamp => Value::Timestamp(if extreme { -1 } else { small * 3_600_000_123 }),
            SqlType::Interval => {
                Value::Interval(Interval { months: small as i32 % 3, days: small as i32 % 5, micros: small })
            }
        }
    }

    fn text(number: i64) -> String {
        let words = ["", "a", "b", "green", "GREEN tea", "é€", "special requests", "%_x", "the special old requests"];
        let word = words[number.unsigned_abs() as usize % words.len()];
        if number.unsigned_abs() < words.len() as u64 { word.to_owned() } else { format!("{word}{number}") }
    }
}

/// The types that columns have.
pub const TYPES: [SqlType; 10] = [
    SqlType::Boolean,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::Double,
    SqlType::Decimal { precision: 12, scale: 2 },
    SqlType::Decimal { precision: 38, scale: 4 },
    SqlType::Text,
    SqlType::Blob,
    SqlType::Date,
    SqlType::Timestamp,
];

/// Random rows.
pub fn rows(
    random: &mut Random,
    types: &[SqlType],
    count: usize,
    spread: i64,
    nulls_percent: usize,
) -> Vec<Vec<Value>> {
    (0..count).map(|_| types.iter().map(|ty| random.value(*ty, spread, nulls_percent)).collect()).collect()
}
