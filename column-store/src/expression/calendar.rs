//! EXTRACT, DATE_TRUNC and their kin.

use super::error;
use super::scalar_binary::MICROS_PER_DAY;
use crate::Result;
use gingham_plan::DateField;
use gingham_types::{Value, civil_from_days, days_from_civil};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// EXTRACT over one value.
pub(crate) fn extract_value(field: DateField, value: &Value) -> Result<Value> {
    match value {
        Value::Date(days) => Ok(Value::Int(extract_date(field, i64::from(*days)))),
        Value::Timestamp(micros) => Ok(Value::Int(extract_timestamp(field, *micros))),
        other => Err(error::internal(format!("EXTRACT from {}", other.sql_type()))),
    }
}

/// DATE_TRUNC over one value.
pub(crate) fn truncate_value(field: DateField, value: &Value) -> Result<Value> {
    let failed = error::date_out_of_range;
    match value {
        Value::Date(days) => {
            i32::try_from(truncate_date(field, i64::from(*days))).map(Value::Date).map_err(|_| failed())
        }
        Value::Timestamp(micros) => truncate_timestamp(field, *micros).map(Value::Timestamp).ok_or_else(failed),
        other => Err(error::internal(format!("DATE_TRUNC of {}", other.sql_type()))),
    }
}

/// How many bounds of a unit are between two values, for units that follow each other.
pub(crate) fn difference(field: DateField, from: &Value, to: &Value) -> Result<Value> {
    let unit = |value: &Value| {
        let micros = match value {
            Value::Date(days) => i64::from(*days) * MICROS_PER_DAY,
            Value::Timestamp(micros) => *micros,
            other => return Err(error::internal(format!("DATE_DIFF of {}", other.sql_type()))),
        };
        let days = micros.div_euclid(MICROS_PER_DAY);
        let (year, month, _) = civil_from_days(days);
        let months = year * 12 + i64::from(month) - 1;
        Ok(match field {
            DateField::Year => year,
            DateField::Quarter => months.div_euclid(3),
            DateField::Month => months,
            DateField::Week => monday(days).div_euclid(7),
            DateField::Hour => micros.div_euclid(3600 * MICROS_PER_SECOND),
            DateField::Minute => micros.div_euclid(60 * MICROS_PER_SECOND),
            DateField::Second | DateField::Epoch => micros.div_euclid(MICROS_PER_SECOND),
            DateField::Day | DateField::DayOfWeek | DateField::DayOfYear => days,
        })
    };
    Ok(Value::Int(unit(to)? - unit(from)?))
}

/// The day of these numbers.
pub(crate) fn make_date(year: i64, month: i64, day: i64) -> Result<Value> {
    let none = || error::invalid_argument("22008", format!("there is no day {year}-{month}-{day}"));
    let (Ok(month), Ok(day_number)) = (u32::try_from(month), u32::try_from(day)) else { return Err(none()) };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day_number) || !(-4800..=294_000).contains(&year) {
        return Err(none());
    }
    let days = days_from_civil(year, month, day_number);
    // A day past the month's end would be one of the next month.
    if civil_from_days(days) != (year, month, day_number) {
        return Err(none());
    }
    i32::try_from(days).map(Value::Date).map_err(|_| none())
}

/// The year of a day, in 32-bit arithmetic that a loop over a column vectorizes, for
/// days within some 2.9 million of 1970 (Neri and Schneider, "Euclidean affine functions
/// and their application to calendar algorithms", 2022).
#[inline]
pub(crate) fn year_of(days: i32) -> i64 {
    const ERAS: i64 = 20;
    let shifted = i64::from(days) + 719_468 + 146_097 * ERAS;
    if !(0..1 << 29).contains(&shifted) {
        return civil_from_days(i64::from(days)).0;
    }
    let quarters = 4 * shifted as u32 + 3;
    let century = quarters / 146_097;
    let in_century = (quarters % 146_097) | 3;
    let product = 2_939_745 * u64::from(in_century);
    let year_of_century = (product >> 32) as u32;
    let day_of_year = (product as u32) / 2_939_745 / 4;
    // January and February belong to the year before, counted from March.
    let year = i64::from(100 * century + year_of_century) + i64::from(day_of_year >= 306);
    year - 400 * ERAS
}

/// A field of a day.
pub(crate) fn extract_date(field: DateField, days: i64) -> i64 {
    match field {
        DateField::Year => civil_from_days(days).0,
        DateField::Quarter => i64::from(civil_from_days(days).1 - 1) / 3 + 1,
        DateField::Month => i64::from(civil_from_days(days).1),
        DateField::Week => iso_week(days),
        DateField::Day => i64::from(civil_from_days(days).2),
        // 1970-01-01 was a Thursday.
        DateField::DayOfWeek => (days + 4).rem_euclid(7),
        DateField::DayOfYear => days - days_from_civil(civil_from_days(days).0, 1, 1) + 1,
        DateField::Hour | DateField::Minute | DateField::Second => 0,
        DateField::Epoch => days * 86_400,
    }
}

/// A field of a moment.
pub(crate) fn extract_timestamp(field: DateField, micros: i64) -> i64 {
    let time = micros.rem_euclid(MICROS_PER_DAY) / MICROS_PER_SECOND;
    match field {
        DateField::Hour => time / 3600,
        DateField::Minute => time / 60 % 60,
        DateField::Second => time % 60,
        DateField::Epoch => micros.div_euclid(MICROS_PER_SECOND),
        _ => extract_date(field, micros.div_euclid(MICROS_PER_DAY)),
    }
}

/// Weeks begin on Monday; week 1 has the year's first Thursday (ISO 8601).
pub(super) fn iso_week(days: i64) -> i64 {
    let thursday = monday(days) + 3;
    (thursday - days_from_civil(civil_from_days(thursday).0, 1, 1)) / 7 + 1
}

pub(super) fn monday(days: i64) -> i64 {
    days - (days + 3).rem_euclid(7)
}

/// The first day of the unit that a day is in.
fn truncate_date(field: DateField, days: i64) -> i64 {
    let (year, month, _) = civil_from_days(days);
    match field {
        DateField::Year => days_from_civil(year, 1, 1),
        DateField::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
        DateField::Month => days_from_civil(year, month, 1),
        DateField::Week => monday(days),
        _ => days,
    }
}

fn truncate_timestamp(field: DateField, micros: i64) -> Option<i64> {
    let unit = match field {
        DateField::Hour => 3600 * MICROS_PER_SECOND,
        DateField::Minute => 60 * MICROS_PER_SECOND,
        DateField::Second | DateField::Epoch => MICROS_PER_SECOND,
        DateField::Day | DateField::DayOfWeek | DateField::DayOfYear => MICROS_PER_DAY,
        _ => return truncate_date(field, micros.div_euclid(MICROS_PER_DAY)).checked_mul(MICROS_PER_DAY),
    };
    micros.div_euclid(unit).checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_types::{parse_date, parse_timestamp};

    #[test]
    fn expression_fields_of_dates() {
        for (text, field, expected) in [
            ("2024-02-29", DateField::Year, 2024),
            ("2024-02-29", DateField::Quarter, 1),
            ("2024-12-30", DateField::Week, 1),
            ("2021-01-03", DateField::Week, 53),
            ("2024-02-25", DateField::DayOfWeek, 0),
            ("2024-12-31", DateField::DayOfYear, 366),
            ("1970-01-02", DateField::Epoch, 86_400),
        ] {
            let days = parse_date(text).expect("valid");
            assert_eq!(extract_date(field, i64::from(days)), expected, "{field:?} of {text}");
        }
    }

    #[test]
    fn expression_years_agree_with_the_calendar() {
        for days in (-4_000_000..4_000_000).step_by(13).chain([i32::MIN, i32::MAX, -2_921_940, -719_468]) {
            assert_eq!(year_of(days), civil_from_days(i64::from(days)).0, "day {days}");
        }
        for days in 0..366 * 8 {
            assert_eq!(year_of(days), civil_from_days(i64::from(days)).0, "day {days}");
        }
    }

    #[test]
    fn expression_truncation_of_timestamps() {
        let at = |text| parse_timestamp(text).expect("valid");
        for (field, expected) in [
            (DateField::Year, "2024-01-01"),
            (DateField::Quarter, "2024-04-01"),
            (DateField::Week, "2024-05-06"),
            (DateField::Hour, "2024-05-08 07:00:00"),
        ] {
            assert_eq!(truncate_timestamp(field, at("2024-05-08 07:08:09.5")), Some(at(expected)), "{field:?}");
        }
        assert_eq!(truncate_timestamp(DateField::Hour, at("1969-12-31 23:30")), Some(at("1969-12-31 23:00")));
    }
}
