//! Reading test runners' closing lines.

use std::fmt;

/// Tests by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Did what they should.
    pub(crate) passed: u64,
    /// Did not, or did not end.
    pub(crate) failed: u64,
    /// Were not run.
    pub(crate) skipped: u64,
}

impl Counts {
    /// One check, by whether it succeeded.
    pub(crate) fn one(passed: bool) -> Self {
        Self { passed: passed.into(), failed: (!passed).into(), skipped: 0 }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 { write!(f, ", {} skipped", self.skipped) } else { Ok(()) }
    }
}

/// Adds up the closing lines in a runner's output: those of cargo's own harness,
/// nextest, Node.js (TAP and spec), and the plain `N passed, N failed`.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    counts: Counts,
    seen: bool,
}

impl Reader {
    /// Takes one line of output.
    pub(crate) fn line(&mut self, line: &str) {
        let line = without_colours(line);
        if let Some(found) = counts_in(line.trim_end()) {
            self.counts = self.counts.plus(found);
            self.seen = true;
        }
    }

    /// The counts after a runner that ended well or not. A runner that failed has a
    /// failed test even if it could not count; one that ended well without counting is
    /// one test.
    pub(crate) fn finish(self, success: bool) -> Counts {
        match (success, self.seen) {
            (true, true) => self.counts,
            (true, false) => Counts::one(true),
            (false, _) => Counts { failed: self.counts.failed.max(1), ..self.counts },
        }
    }
}

/// The counts in a closing line. Only nextest indents its own; what else is indented is
/// the output of a test that it repeats.
fn counts_in(line: &str) -> Option<Counts> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return phrases(rest.split_once(". ")?.1);
    }
    if let Some((_, rest)) = line.trim_start().strip_prefix("Summary [").and_then(|rest| rest.split_once(" run: ")) {
        return phrases(rest);
    }
    if let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        let (word, number) = rest.split_once(' ')?;
        let number = number.parse().ok()?;
        return match word {
            "pass" => Some(Counts { passed: number, ..Counts::default() }),
            "fail" | "cancelled" => Some(Counts { failed: number, ..Counts::default() }),
            "skipped" | "todo" => Some(Counts { skipped: number, ..Counts::default() }),
            _ => None,
        };
    }
    let plain = line.split_once(": ").map_or(line, |(word, rest)| if word.contains(' ') { line } else { rest });
    let starts_with_number = plain.split_once(' ').is_some_and(|(number, _)| number.parse::<u64>().is_ok());
    if starts_with_number && plain.contains(" passed, ") && plain.contains(" failed") { phrases(plain) } else { None }
}

/// `3 passed (1 slow), 2 failed; 1 ignored`: number and word, then the next.
fn phrases(text: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut any = false;
    for phrase in text.split([',', ';']) {
        let mut words = phrase.split_whitespace();
        let Some(number) = words.next().and_then(|number| number.parse::<u64>().ok()) else { continue };
        match (words.next(), words.next()) {
            (Some("passed"), _) => counts.passed += number,
            (Some("failed"), _) | (Some("timed"), Some("out")) | (Some("exec"), Some("failed")) => {
                counts.failed += number;
            }
            (Some("skipped" | "ignored"), _) => counts.skipped += number,
            _ => continue,
        }
        any = true;
    }
    any.then_some(counts)
}

/// A line without terminal escape sequences.
fn without_colours(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str, success: bool) -> (u64, u64, u64) {
        let mut reader = Reader::default();
        output.lines().for_each(|line| reader.line(line));
        let counts = reader.finish(success);
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn cargos_own_harness_is_added_up() {
        let output = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
                      test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1s";
        assert_eq!(read(output, false), (15, 2, 1));
    }

    #[test]
    fn nextest_is_read_with_and_without_colours() {
        assert_eq!(read("     Summary [   0.9s] 12 tests run: 12 passed (1 slow), 3 skipped", true), (12, 0, 3));
        let failing =
            "     Summary [   0.9s] 12/14 tests run: 9 passed, 1 failed, 1 timed out, 1 exec failed, 0 skipped";
        assert_eq!(read(failing, false), (9, 3, 0));
        let repeated = format!("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n{failing}");
        assert_eq!(read(&repeated, false), (9, 3, 0));
        let coloured = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.9s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(read(coloured, true), (1, 0, 0));
    }

    #[test]
    fn nodes_runner_is_read_in_both_forms() {
        assert_eq!(
            read("# tests 4\n# suites 0\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0", false),
            (3, 1, 0)
        );
        assert_eq!(read("ℹ tests 4\nℹ pass 4\nℹ fail 0\nℹ duration_ms 12.5", true), (4, 0, 0));
    }

    #[test]
    fn the_plain_line_is_read_and_prose_is_not() {
        assert_eq!(read("22 passed, 0 failed", true), (22, 0, 0));
        assert_eq!(read("tpch: 21 passed, 1 failed, 2 skipped", false), (21, 1, 2));
        assert_eq!(read("the 5 that passed, and 2 that failed", true), (1, 0, 0));
    }

    #[test]
    fn a_runner_that_counts_nothing_is_one_test() {
        assert_eq!(read("", true), (1, 0, 0));
        assert_eq!(read("error: could not compile", false), (0, 1, 0));
        assert_eq!(read("3 passed, 0 failed", false), (3, 1, 0));
    }
}
