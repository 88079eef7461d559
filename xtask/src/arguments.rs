//! The arguments of one command: options are taken out by name, and what is left at
//! the end is an error.

use crate::failure::{Failure, Result};

/// The command line after the command's name.
#[derive(Debug)]
pub(crate) struct Arguments {
    rest: Vec<String>,
}

impl Arguments {
    /// Arguments in the order given.
    pub(crate) fn new(rest: Vec<String>) -> Self {
        Self { rest }
    }

    /// Whether the flag was given; takes it out, however often it is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|argument| argument != name);
        self.rest.len() < before
    }

    /// The value of `name VALUE` or `name=VALUE`, which stays where it is.
    pub(crate) fn peek(&self, name: &str) -> Result<Option<&str>> {
        for (index, argument) in self.rest.iter().enumerate() {
            if argument == name {
                let value = self.rest.get(index + 1).filter(|value| !value.starts_with("--"));
                return value
                    .map(|value| Some(value.as_str()))
                    .ok_or_else(|| Failure::usage(format!("{name} wants a value")));
            }
            if let Some(value) = argument.strip_prefix(name).and_then(|tail| tail.strip_prefix('=')) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Takes the words that are no options.
    pub(crate) fn words(&mut self) -> Vec<String> {
        let (options, words) = std::mem::take(&mut self.rest).into_iter().partition(|word| word.starts_with('-'));
        self.rest = options;
        words
    }

    /// Everything that is left, for a program that reads its own arguments. A first
    /// `--` only ends this program's own options.
    pub(crate) fn pass_on(mut self) -> Vec<String> {
        if self.rest.first().is_some_and(|first| first == "--") {
            self.rest.remove(0);
        }
        self.rest
    }

    /// Refuses what no one has taken.
    pub(crate) fn finish(self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(argument) => Err(Failure::usage(format!("unknown argument `{argument}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn flags_are_taken_and_the_rest_is_refused() {
        let mut line = arguments("--check --chekc");
        assert!(line.flag("--check"));
        assert!(!line.flag("--long"));
        assert_eq!(line.finish().map_err(|failure| failure.exit_code()), Err(2));
    }

    #[test]
    fn values_stand_after_a_space_or_an_equals_sign() {
        assert_eq!(arguments("--sf 0.1 --check").peek("--sf").ok(), Some(Some("0.1")));
        assert_eq!(arguments("--sf=1").peek("--sf").ok(), Some(Some("1")));
        assert_eq!(arguments("--sfx 1").peek("--sf").ok(), Some(None));
        assert!(arguments("--sf --check").peek("--sf").is_err());
    }

    #[test]
    fn words_are_told_from_options() {
        let mut line = arguments("rust --fast web");
        assert_eq!(line.words(), ["rust", "web"]);
        assert!(line.flag("--fast"));
        assert!(line.finish().is_ok());
    }

    #[test]
    fn the_first_double_dash_is_not_passed_on() {
        assert_eq!(arguments("-- --help").pass_on(), ["--help"]);
        assert_eq!(arguments("m0 -- x").pass_on(), ["m0", "--", "x"]);
    }
}
