//! What a predicate on a text column accepts, and whether it can accept anything
//! between two bounds.

use crate::text_search::{begins, ends, find_all};
use gingham_plan::BinaryOp;
use memchr::memmem::Finder;
use std::cmp::Ordering;

/// A two-valued test of strings that are not NULL, by bytes.
#[derive(Clone, Debug)]
pub(crate) enum TextTest {
    Never,
    Always,
    /// `value op constant`; the operator is a comparison.
    Compare(BinaryOp, Vec<u8>),
    In(TextSet),
    Like(Pattern),
    /// The first so many characters pass.
    Prefix(usize, Box<TextTest>),
    Not(Box<TextTest>),
    All(Vec<TextTest>),
    Any(Vec<TextTest>),
}

/// Some strings.
#[derive(Clone, Debug)]
pub(crate) struct TextSet {
    /// Ascending.
    values: Vec<Vec<u8>>,
    /// The same packed, where there are few and all are short: comparing with each then
    /// costs less than a binary search.
    packed: Vec<u64>,
}

/// Sets of up to this many strings are compared one by one.
const PACKED_MAX: usize = 16;

/// A LIKE pattern whose only wildcard is `%`.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    prefix: Vec<u8>,
    middle: Vec<Finder<'static>>,
    /// `None` without any `%`: then the prefix is all of the text.
    suffix: Option<Vec<u8>>,
}

/// The first `count` characters of a text, or all it has.
fn first_characters(text: &[u8], count: usize) -> &[u8] {
    if let Some(first) = text.get(..count)
        && first.is_ascii()
    {
        return first;
    }
    let begins_character = |byte: &u8| *byte & 0xC0 != 0x80;
    let begun = text.iter().enumerate().filter(|(_, byte)| begins_character(byte));
    &text[..begun.map(|(at, _)| at).nth(count).unwrap_or(text.len())]
}

/// Whether `ordering` satisfies a comparison.
pub(crate) const fn satisfies(op: BinaryOp, ordering: Ordering) -> bool {
    match op {
        BinaryOp::Equal => ordering.is_eq(),
        BinaryOp::NotEqual => ordering.is_ne(),
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessOrEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        BinaryOp::GreaterOrEqual => ordering.is_ge(),
        _ => false,
    }
}

/// The bytes of a short string and their number.
fn pack(text: &[u8]) -> Option<u64> {
    let bytes = text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    (text.len() < 8).then_some((text.len() as u64) << 56 | bytes)
}

impl TextSet {
    /// A set of these.
    pub(crate) fn new(mut values: Vec<Vec<u8>>) -> Self {
        values.sort_unstable();
        values.dedup();
        let few = values.len() <= PACKED_MAX;
        let packed = values.iter().map(|value| pack(value).filter(|_| few)).collect::<Option<Vec<u64>>>();
        Self { values, packed: packed.unwrap_or_default() }
    }

    fn contains(&self, text: &[u8]) -> bool {
        if self.packed.is_empty() {
            return self.values.binary_search_by(|value| value.as_slice().cmp(text)).is_ok();
        }
        text.len() < 8 && pack(text).is_some_and(|text| self.packed.iter().fold(false, |found, v| found | (*v == text)))
    }
}

impl Pattern {
    /// The pattern, if it has no `_` and no escaped character.
    pub(crate) fn new(pattern: &str, escape: Option<char>) -> Option<Self> {
        if pattern.contains('_') || escape.is_some_and(|escape| pattern.contains(escape)) {
            return None;
        }
        let mut runs = pattern.split('%');
        let prefix = runs.next().unwrap_or_default().as_bytes().to_vec();
        let suffix = runs.next_back().map(|run| run.as_bytes().to_vec());
        let middle = runs.filter(|run| !run.is_empty()).map(|run| Finder::new(run).into_owned()).collect();
        Some(Self { prefix, middle, suffix })
    }

    fn matches(&self, text: &[u8]) -> bool {
        let Some(suffix) = &self.suffix else { return text == self.prefix };
        if text.len() < self.prefix.len() + suffix.len() || !begins(text, &self.prefix) || !ends(text, suffix) {
            return false;
        }
        find_all(&self.middle, &text[self.prefix.len()..text.len() - suffix.len()])
    }

    /// Whether a text matches of which `rest` follows the first occurrence of the first
    /// part of the middle; for patterns without a prefix.
    fn matches_after_first(&self, rest: &[u8]) -> bool {
        let (Some(suffix), Some(middle)) = (&self.suffix, self.middle.get(1..)) else { return false };
        rest.len() >= suffix.len() && ends(rest, suffix) && find_all(middle, &rest[..rest.len() - suffix.len()])
    }

    fn can_match_between(&self, min: &[u8], max: &[u8]) -> bool {
        let prefix = &self.prefix;
        // Something begins with the prefix unless all values are less than it, or all
        // are greater than everything that begins with it.
        max >= prefix.as_slice() && (min <= prefix.as_slice() || min.starts_with(prefix))
    }

    /// A string that every match contains, if searching many texts at once for it pays, and
    /// whether it is the first of the middle and of the pattern.
    fn needle(&self) -> Option<(&Finder<'static>, bool)> {
        // After the first part only the others have to be looked for.
        let first = self.middle.first().filter(|finder| self.prefix.is_empty() && finder.needle().len() >= 4);
        if let Some(first) = first {
            return Some((first, true));
        }
        let longest = self.middle.iter().max_by_key(|finder| finder.needle().len());
        longest.filter(|finder| finder.needle().len() >= 2).map(|finder| (finder, false))
    }
}

impl TextTest {
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Compare(op, value) => satisfies(*op, text.cmp(value)),
            Self::In(set) => set.contains(text),
            Self::Like(pattern) => pattern.matches(text),
            Self::Prefix(characters, test) => test.matches(first_characters(text, *characters)),
            Self::Not(test) => !test.matches(text),
            Self::All(tests) => tests.iter().all(|test| test.matches(text)),
            Self::Any(tests) => tests.iter().any(|test| test.matches(text)),
        }
    }

    /// `false` only if no string from `min` to `max` passes.
    pub(crate) fn can_match_between(&self, min: &[u8], max: &[u8]) -> bool {
        match self {
            Self::Never => false,
            // Bounds may have been cut within a character.
            Self::Always | Self::Prefix(..) => true,
            Self::Compare(op, value) => {
                let value = value.as_slice();
                match op {
                    BinaryOp::Equal => min <= value && value <= max,
                    BinaryOp::NotEqual => !(min == value && max == value),
                    BinaryOp::Less => min < value,
                    BinaryOp::LessOrEqual => min <= value,
                    BinaryOp::Greater => max > value,
                    BinaryOp::GreaterOrEqual => max >= value,
                    _ => true,
                }
            }
            Self::In(set) => set.values.iter().any(|value| min <= value.as_slice() && value.as_slice() <= max),
            Self::Like(pattern) => pattern.can_match_between(min, max),
            // Equal bounds were not cut: all values are that one.
            Self::Not(test) => min != max || !test.matches(min),
            Self::All(tests) => tests.iter().all(|test| test.can_match_between(min, max)),
            Self::Any(tests) => tests.iter().any(|test| test.can_match_between(min, max)),
        }
    }

    /// Rough cost of testing one string, in nanoseconds.
    pub(crate) fn cost(&self) -> f64 {
        match self {
            Self::Never | Self::Always => 0.0,
            Self::Compare(..) => 5.0,
            Self::In(set) => 5.0 + 2.0 * set.values.len() as f64,
            Self::Like(pattern) if pattern.middle.is_empty() => 5.0,
            Self::Like(_) => 25.0,
            Self::Prefix(_, test) => 5.0 + test.cost(),
            Self::Not(test) => test.cost(),
            Self::All(tests) | Self::Any(tests) => tests.iter().map(Self::cost).sum(),
        }
    }

    /// Tests strings that lie one after the other: `mask` at `index` becomes 0 where the
    /// text from `offsets[index]` to `offsets[index + 1]` fails. A search for a substring
    /// goes over all of them in one pass, which spares starting it for each.
    pub(crate) fn mask(&self, offsets: &[u32], bytes: &[u8], mask: &mut [u8]) {
        let text = |index: usize| &bytes[offsets[index] as usize..offsets[index + 1] as usize];
        let (pattern, negated) = match self {
            Self::Like(pattern) => (pattern, false),
            Self::Not(inner) => match &**inner {
                Self::Like(pattern) => (pattern, true),
                _ => return self.mask_each(text, mask),
            },
            _ => return self.mask_each(text, mask),
        };
        let Some((finder, is_first)) = pattern.needle() else { return self.mask_each(text, mask) };
        let mut found = vec![0u8; mask.len()];
        let (mut index, mut from) = (0, offsets[0] as usize);
        let end = offsets[mask.len()] as usize;
        while let Some(at) = finder.find(&bytes[from..end]) {
            let at = from + at;
            // Most texts have no match: the next one that does is near.
            while offsets[index + 1] as usize <= at {
                index += 1;
            }
            let text_end = offsets[index + 1] as usize;
            let after = at + finder.needle().len();
            if after <= text_end {
                found[index] = u8::from(if is_first {
                    pattern.matches_after_first(&bytes[after..text_end])
                } else {
                    pattern.matches(text(index))
                });
                from = text_end;
            } else {
                from = at + 1;
            }
        }
        for (mask, found) in mask.iter_mut().zip(&found) {
            *mask &= found ^ u8::from(negated);
        }
    }

    fn mask_each<'a>(&self, text: impl Fn(usize) -> &'a [u8], mask: &mut [u8]) {
        for (index, mask) in mask.iter_mut().enumerate() {
            *mask &= u8::from(*mask != 0 && self.matches(text(index)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(pattern: &str) -> TextTest {
        TextTest::Like(Pattern::new(pattern, None).expect("no underscore"))
    }

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, yes, no) in [
            ("abc", "abc", "abcd"),
            ("ab%", "abc", "xabc"),
            ("%bc", "abc", "abcd"),
            ("%b%", "abc", "ac"),
            ("%ab%ab%", "xabab", "xab"),
            ("a%a", "aba", "a"),
            ("", "", "a"),
            ("%special%requests%", "a special case of requests", "requests special"),
        ] {
            assert!(like(pattern).matches(yes.as_bytes()), "{pattern} {yes}");
            assert!(!like(pattern).matches(no.as_bytes()), "{pattern} {no}");
        }
        assert!(Pattern::new("a_c", None).is_none());
        assert!(Pattern::new("a\\%c", Some('\\')).is_none());
    }

    #[test]
    fn one_pass_over_many_texts_agrees_with_each() {
        let texts = ["xgreen", "gre", "en green", "", "green", "gr", "een", "greengreen", "g"];
        let mut offsets = vec![0u32];
        let bytes: Vec<u8> = texts.concat().into_bytes();
        for text in texts {
            offsets.push(offsets[offsets.len() - 1] + text.len() as u32);
        }
        for test in [
            like("%green%"),
            TextTest::Not(Box::new(like("%green%"))),
            like("%green%green%"),
            like("g%e%n"),
            like("%green%een"),
            like("%gre%n"),
            like("%gree%green%"),
        ] {
            let mut mask = vec![1u8; texts.len()];
            test.mask(&offsets, &bytes, &mut mask);
            let each: Vec<u8> = texts.iter().map(|t| u8::from(test.matches(t.as_bytes()))).collect();
            assert_eq!(mask, each, "{test:?}");
        }
    }

    #[test]
    fn bounds_exclude_only_what_cannot_match() {
        let range = |test: &TextTest| test.can_match_between(b"BRASS", b"PROMO ANODIZED");
        assert!(range(&like("PROMO%")));
        assert!(!range(&like("PROMX%")));
        assert!(!range(&like("A%")));
        assert!(range(&like("BR%")));
        assert!(!range(&TextTest::Compare(BinaryOp::Less, b"B".to_vec())));
        assert!(!range(&TextTest::In(TextSet::new(vec![b"A".to_vec(), b"Z".to_vec()]))));
    }

    #[test]
    fn sets_of_short_and_of_long_strings_hold_what_is_in_them() {
        for values in [vec!["b", "", "ab", "ab\0", "1234567"], vec!["12345678", "b", "a"]] {
            let set = TextSet::new(values.iter().map(|value| value.as_bytes().to_vec()).collect());
            for text in ["", "a", "b", "ab", "ab\0", "\0ab", "1234567", "12345678", "123456789"] {
                assert_eq!(set.contains(text.as_bytes()), values.contains(&text), "{text:?} in {values:?}");
            }
        }
    }

    #[test]
    fn a_prefix_has_characters_not_bytes() {
        for (text, count, first) in [
            ("abc", 2, "ab"),
            ("abc", 0, ""),
            ("ab", 5, "ab"),
            ("äöü", 2, "äö"),
            ("aäb", 2, "aä"),
            ("ä", 1, "ä"),
            ("", 1, ""),
        ] {
            assert_eq!(first_characters(text.as_bytes(), count), first.as_bytes(), "{text} {count}");
        }
    }
}
