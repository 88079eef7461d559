//! Calendar arithmetic and ISO 8601 text for DATE, TIMESTAMP and INTERVAL.
//!
//! Day numbers follow Howard Hinnant's `days_from_civil` algorithms (proleptic
//! Gregorian calendar), exact over the whole range of `i32` days that has a
//! four-digit year or less than a million.

use crate::Interval;

pub(crate) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Years accepted in text and produced by arithmetic: far inside the range of `i32` days.
const YEAR_MAX: i64 = 999_999;

/// Days since 1970-01-01 of a civil date. `month` is 1 to 12.
pub const fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = divide(y, 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era as i64 - 719_468
}

/// `(year, month, day)` of a day number.
pub const fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let (era, day_of_era) = divide(days + 719_468, 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era as i64 + era * 400 + (month <= 2) as i64;
    (year, month, day)
}

/// Quotient, rounded down, and remainder. WebAssembly divides 32 bits by a constant with a
/// multiplication, and 64 bits with a division.
const fn divide(number: i64, by: u32) -> (i64, u32) {
    if number >= 0 && number <= u32::MAX as i64 {
        let number = number as u32;
        ((number / by) as i64, number % by)
    } else {
        (number.div_euclid(by as i64), number.rem_euclid(by as i64) as u32)
    }
}

const fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A day number moved by whole months, the day clipped to the month's last
/// (January 31 plus one month is the last of February). `None` out of range.
pub fn add_months(days: i32, months: i32) -> Option<i32> {
    let (year, month, day) = civil_from_days(i64::from(days));
    let index = year * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (index.div_euclid(12), index.rem_euclid(12) as u32 + 1);
    if year.abs() > YEAR_MAX {
        return None;
    }
    i32::try_from(days_from_civil(year, month, day.min(days_in_month(year, month)))).ok()
}

/// `YYYY-MM-DD`.
pub fn format_date(days: i32) -> String {
    let (year, month, day) = civil_from_days(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `YYYY-MM-DD HH:MM:SS[.ffffff]`.
pub fn format_timestamp(micros: i64) -> String {
    let (days, time) = (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let (seconds, fraction) = (time / 1_000_000, time % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    if fraction == 0 { text } else { format!("{text}.{fraction:06}").trim_end_matches('0').to_owned() }
}

/// Reads `YYYY-MM-DD`.
pub fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |r| (true, r));
    let mut parts = rest.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() < 4 {
        return None;
    }
    let (year, month, day) = (number(year)?, number(month)? as u32, number(day)? as u32);
    if year > YEAR_MAX || !(1..=12).contains(&month) {
        return None;
    }
    let year = if negative { -year } else { year };
    if day < 1 || day > days_in_month(year, month) {
        return None;
    }
    i32::try_from(days_from_civil(year, month, day)).ok()
}

/// Reads `YYYY-MM-DD[(T| )HH:MM[:SS[.f…]]][Z]`.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let days = i64::from(parse_date(date)?);
    let mut parts = time.split(':');
    let (hour, minute, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    if parts.next().is_some() {
        return None;
    }
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    if hour > 23 || minute > 59 || second > 59 || fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let micros = number(&format!("{fraction:0<9}"))? / 1000;
    Some(days * MICROS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros)
}

/// Reads `[+-]n unit …` such as `3 months 2 days` or `90 day`; `unit` stands in where
/// the text is a bare number (`INTERVAL '90' DAY`).
pub fn parse_interval(text: &str, unit: Option<&str>) -> Option<Interval> {
    let mut interval = Interval::default();
    let mut words = text.split_whitespace().peekable();
    let mut any = false;
    while let Some(amount) = words.next() {
        let amount: i64 = amount.parse().ok()?;
        let name = match words.next() {
            Some(name) => name,
            None => unit?,
        };
        let name = name.to_ascii_lowercase();
        let narrow = |factor: i64| amount.checked_mul(factor).and_then(|v| i32::try_from(v).ok());
        match name.trim_end_matches('s') {
            "year" => interval.months = interval.months.checked_add(narrow(12)?)?,
            "quarter" => interval.months = interval.months.checked_add(narrow(3)?)?,
            "month" | "mon" => interval.months = interval.months.checked_add(narrow(1)?)?,
            "week" => interval.days = interval.days.checked_add(narrow(7)?)?,
            "day" => interval.days = interval.days.checked_add(narrow(1)?)?,
            other => {
                let factor = match other {
                    "hour" => 3_600_000_000,
                    "minute" | "min" => 60_000_000,
                    "second" | "sec" => 1_000_000,
                    "millisecond" => 1_000,
                    "microsecond" => 1,
                    _ => return None,
                };
                interval.micros = interval.micros.checked_add(amount.checked_mul(factor)?)?;
            }
        }
        any = true;
    }
    any.then_some(interval)
}

/// An unsigned number of at most nine digits, nothing else.
fn number(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 9 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip_over_centuries() {
        for days in (-800_000..800_000).step_by(97) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
        }
        assert_eq!(parse_date("1970-01-01"), Some(0));
        assert_eq!(parse_date("1998-12-01").map(format_date).as_deref(), Some("1998-12-01"));
        assert_eq!(parse_date("2023-02-29"), None);
        assert_eq!(parse_date("2023-2"), None);
    }

    #[test]
    fn months_clip_to_the_last_day() {
        let january = parse_date("2024-01-31").expect("valid");
        assert_eq!(add_months(january, 1).map(format_date).as_deref(), Some("2024-02-29"));
        assert_eq!(add_months(january, -2).map(format_date).as_deref(), Some("2023-11-30"));
        assert_eq!(add_months(0, i32::MAX), None);
    }

    #[test]
    fn timestamps_keep_microseconds() {
        let text = "2024-05-06 07:08:09.01";
        assert_eq!(parse_timestamp(text).map(format_timestamp).as_deref(), Some(text));
        assert_eq!(parse_timestamp("2024-05-06T24:00"), None);
    }

    #[test]
    fn intervals_read_units() {
        assert_eq!(parse_interval("1 year 2 days", None), Some(Interval { months: 12, days: 2, micros: 0 }));
        assert_eq!(parse_interval("90", Some("day")), Some(Interval { months: 0, days: 90, micros: 0 }));
        assert_eq!(parse_interval("90", None), None);
        assert_eq!(parse_interval("", Some("day")), None);
    }
}
