//! Moments as text by a format of the kind of C's `strftime`.

use super::calendar::{extract_timestamp, iso_week};
use super::scalar_binary::MICROS_PER_DAY;
use gingham_plan::DateField;
use gingham_types::civil_from_days;
use std::fmt::Write;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Writes a moment. A percent sign before a letter that means nothing stands for itself.
pub(crate) fn format(micros: i64, format: &str) -> String {
    let days = micros.div_euclid(MICROS_PER_DAY);
    let (year, month, day) = civil_from_days(days);
    let field = |field| extract_timestamp(field, micros);
    let hour = field(DateField::Hour);
    let (minute, second) = (field(DateField::Minute), field(DateField::Second));
    let month_name = MONTHS[(month as usize + 11) % 12];
    let weekday = field(DateField::DayOfWeek);
    let day_name = DAYS[weekday as usize % 7];
    let fraction = micros.rem_euclid(1_000_000);
    let mut text = String::with_capacity(format.len() + 16);
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let written = match characters.next() {
            Some('Y') => write!(text, "{year:04}"),
            Some('y') => write!(text, "{:02}", year.rem_euclid(100)),
            Some('m') => write!(text, "{month:02}"),
            Some('d') => write!(text, "{day:02}"),
            Some('e') => write!(text, "{day:2}"),
            Some('H') => write!(text, "{hour:02}"),
            Some('I') => write!(text, "{:02}", (hour + 11) % 12 + 1),
            Some('M') => write!(text, "{minute:02}"),
            Some('S') => write!(text, "{second:02}"),
            Some('f') => write!(text, "{fraction:06}"),
            Some('g') => write!(text, "{:03}", fraction / 1000),
            Some('p') => write!(text, "{}", if hour < 12 { "AM" } else { "PM" }),
            Some('j') => write!(text, "{:03}", field(DateField::DayOfYear)),
            Some('b' | 'h') => write!(text, "{}", &month_name[..3]),
            Some('B') => write!(text, "{month_name}"),
            Some('a') => write!(text, "{}", &day_name[..3]),
            Some('A') => write!(text, "{day_name}"),
            Some('w') => write!(text, "{weekday}"),
            Some('u') => write!(text, "{}", (weekday + 6) % 7 + 1),
            Some('V') => write!(text, "{:02}", iso_week(days)),
            Some('q') => write!(text, "{}", field(DateField::Quarter)),
            Some('s') => write!(text, "{}", field(DateField::Epoch)),
            Some('F') => write!(text, "{year:04}-{month:02}-{day:02}"),
            Some('T') => write!(text, "{hour:02}:{minute:02}:{second:02}"),
            Some('%') => write!(text, "%"),
            Some(other) => write!(text, "%{other}"),
            None => write!(text, "%"),
        };
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }
    text
}
