//! Whether one value of a result is the answer's.
//!
//! The standard (clause 2.1.3.5) is lenient: sums within $100, averages and ratios
//! within 1 %. Here a value must agree to the last digit that the answer prints, which
//! for sums of decimals is every digit at the small scale factors and cents at 1.

use crate::shape::ResultKind;
use gingham_types::{SqlType, Value, compare_values, power_of_ten};
use std::cmp::Ordering;

/// Digits after the point that an average or a ratio must have at least, if the answer
/// has more: two more than the two to which the standard rounds.
const APPROXIMATE_SCALE_MIN: u8 = 4;
/// How far two sums of the same doubles may differ because of the order of adding.
const DOUBLE_RELATIVE_ERROR: f64 = 1e-12;

/// Whether a column of this type can hold results of this kind.
pub(super) fn type_fits(kind: ResultKind, found: SqlType) -> bool {
    match kind {
        ResultKind::Text => found == SqlType::Text,
        ResultKind::Date => found == SqlType::Date,
        ResultKind::Integer | ResultKind::Exact => found.as_decimal().is_some(),
        ResultKind::Approximate => found.is_numeric(),
    }
}

/// Whether `found` is the `expected` value. With `padded`, the answer's text has lost
/// its trailing blanks, so they do not count.
pub(super) fn value_matches(kind: ResultKind, expected: &Value, found: &Value, padded: bool) -> bool {
    match (expected, found) {
        (Value::Null, Value::Null) => true,
        (Value::Text(e), Value::Text(f)) if padded => e.trim_end() == f.trim_end(),
        (Value::Text(e), Value::Text(f)) => e == f,
        (Value::Date(e), Value::Date(f)) => e == f,
        _ => match (kind, Number::of(expected), Number::of(found)) {
            (ResultKind::Integer, Some(e), Some(f)) => e.equals(&f),
            (ResultKind::Exact, Some(e), Some(f)) => e.equals_as_printed(&f),
            (ResultKind::Approximate, Some(e), Some(f)) => e.is_near(&f),
            _ => false,
        },
    }
}

/// A number and, if it is exact, its digits after the point.
struct Number<'a> {
    value: &'a Value,
    /// `(unscaled, scale)`; `None` for a DOUBLE.
    exact: Option<(i128, u8)>,
}

impl<'a> Number<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        let exact = match value {
            Value::Int(v) => Some((i128::from(*v), 0)),
            Value::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
            Value::Double(_) => None,
            _ => return None,
        };
        Some(Self { value, exact })
    }

    fn equals(&self, found: &Self) -> bool {
        found.exact.is_some() && compare_values(self.value, found.value) == Ordering::Equal
    }

    /// Within half a unit of the answer's last digit: equal once what was found is
    /// rounded to it. Exactly half a unit may round either way; the standard's answer to
    /// Q9 prints 42698382.8550 as 42698382.85.
    fn equals_as_printed(&self, found: &Self) -> bool {
        match (self.exact, found.exact) {
            (Some((expected, printed)), Some((unscaled, scale))) if scale > printed => {
                let within = |unit: i128| {
                    let twice = unscaled.checked_sub(expected.checked_mul(unit)?)?.checked_mul(2)?;
                    Some(twice.unsigned_abs() <= unit.unsigned_abs())
                };
                power_of_ten(scale - printed).and_then(within).unwrap_or(false)
            }
            _ => self.equals(found),
        }
    }

    /// Equal to the last digit that both sides have: within half a unit of the answer's
    /// last digit, and a unit of the found one's because division may round or cut.
    fn is_near(&self, found: &Self) -> bool {
        let Some((_, printed)) = self.exact else { return false };
        let mut tolerance = unit(printed) / 2.0 + DOUBLE_RELATIVE_ERROR * self.as_double().abs();
        if let Some((_, scale)) = found.exact {
            if scale < printed.min(APPROXIMATE_SCALE_MIN) {
                return false;
            }
            tolerance += unit(scale);
        }
        // A NaN is near nothing: the comparison is false.
        (self.as_double() - found.as_double()).abs() <= tolerance
    }

    fn as_double(&self) -> f64 {
        match (self.value, self.exact) {
            (Value::Double(v), _) => *v,
            (_, Some((unscaled, scale))) => unscaled as f64 / 10f64.powi(i32::from(scale)),
            (_, None) => f64::NAN,
        }
    }
}

/// One unit of the digit at `scale` after the point.
fn unit(scale: u8) -> f64 {
    10f64.powi(-i32::from(scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_types::parse_decimal;

    fn decimal(text: &str) -> Value {
        let (unscaled, scale) = parse_decimal(text).expect("a decimal");
        Value::Decimal { unscaled, scale }
    }

    fn matches(kind: ResultKind, expected: &str, found: &Value) -> bool {
        value_matches(kind, &decimal(expected), found, false)
    }

    #[test]
    fn exact_numbers_agree_to_the_printed_digit() {
        let exact = |expected, found| matches(ResultKind::Exact, expected, &decimal(found));
        assert!(exact("53758257134.87", "53758257134.8700"));
        assert!(exact("53758257134.87", "53758257134.8651"));
        assert!(exact("53758257134.87", "53758257134.8750"));
        assert!(!exact("53758257134.87", "53758257134.8751"));
        assert!(!exact("53758257134.87", "53758257134.8649"));
        assert!(!exact("1", "99999999999999999999999999999999999.999"));
        assert!(!exact("53758257134.8700", "53758257134.8701"));
        assert!(!exact("505822441.4861", "505822441.49"));
        assert!(exact("305.00", "305"));
        assert!(exact("-3.45", "-3.450"));
        assert!(!matches(ResultKind::Exact, "305.00", &Value::Double(305.0)));
        assert!(!matches(ResultKind::Exact, "305.00", &Value::Null));
    }

    #[test]
    fn integers_are_equal_whatever_their_type() {
        assert!(matches(ResultKind::Integer, "1995", &Value::Int(1995)));
        assert!(matches(ResultKind::Integer, "1995", &decimal("1995")));
        assert!(!matches(ResultKind::Integer, "1995", &decimal("1995.1")));
        assert!(!matches(ResultKind::Integer, "1995", &Value::Double(1995.0)));
    }

    #[test]
    fn averages_agree_to_the_digits_both_have() {
        let near = |expected, found: Value| matches(ResultKind::Approximate, expected, &found);
        assert!(near("25.575154611454693", Value::Double(25.575_154_611_454_69)));
        assert!(near("25.575154611454693", decimal("25.575154")));
        assert!(near("25.575154611454693", decimal("25.575155")));
        assert!(!near("25.575154611454693", decimal("25.575156")));
        assert!(!near("25.575154611454693", decimal("25.58")));
        assert!(!near("25.575154611454693", Value::Double(25.5751)));
        assert!(!near("25.575154611454693", Value::Double(f64::NAN)));
        assert!(near("0.03", decimal("0.034436")));
        assert!(!near("0.03", decimal("0.035100")));
        assert!(near("38273.13", Value::Double(38_273.129_734)));
    }

    #[test]
    fn trailing_blanks_count_unless_the_answer_is_padded() {
        let (expected, found) = (Value::Text(" final".into()), Value::Text(" final ".into()));
        assert!(value_matches(ResultKind::Text, &expected, &found, true));
        assert!(!value_matches(ResultKind::Text, &expected, &found, false));
        let trimmed = Value::Text("final".into());
        assert!(!value_matches(ResultKind::Text, &expected, &trimmed, true));
    }
}
