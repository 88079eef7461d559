//! The scale factor: how much data there is. 1 is about 1 GB of text.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A scale factor above 0 and at most [`ScaleFactor::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct ScaleFactor(f64);

impl ScaleFactor {
    /// The largest scale factor whose sparse order keys (the last is 6,000,000 times the
    /// scale factor) and other keys all fit INTEGER, with room to spare.
    pub const MAX: Self = Self(300.0);
    /// The scale factor of quick tests: 86,805 rows in all.
    pub const HUNDREDTH: Self = Self(0.01);
    /// The scale factor of the browser's demonstration.
    pub const TENTH: Self = Self(0.1);
    /// The scale factor of the standard's validation answers.
    pub const ONE: Self = Self(1.0);

    /// A scale factor of `value`.
    ///
    /// # Errors
    /// [`Error::ScaleFactor`] outside the range.
    pub fn new(value: f64) -> Result<Self, Error> {
        if value > 0.0 && value <= Self::MAX.0 { Ok(Self(value)) } else { Err(Error::ScaleFactor(value.to_string())) }
    }

    /// The factor as a number.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for ScaleFactor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let value: f64 = text.trim().parse().map_err(|_| Error::ScaleFactor(text.to_owned()))?;
        Self::new(value).map_err(|_| Error::ScaleFactor(text.to_owned()))
    }
}

/// The shortest decimal form: `0.01`, `1`, `10`; folders are named after it.
impl fmt::Display for ScaleFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_factors_read_and_print() {
        for (text, printed) in [("0.01", "0.01"), ("1", "1"), ("1.0", "1"), ("10", "10"), (" 0.10", "0.1")] {
            assert_eq!(text.parse::<ScaleFactor>().expect("in range").to_string(), printed);
        }
        for text in ["0", "-1", "301", "NaN", "inf", "one", ""] {
            assert!(matches!(text.parse::<ScaleFactor>(), Err(Error::ScaleFactor(t)) if t == text), "{text}");
        }
    }
}
