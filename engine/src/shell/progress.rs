//! Where a script that comes line by line stands.

use crate::script::dollar_tag;

/// Reads a script line by line and knows after each whether a statement is open: what a
/// reader of a pipe must know before it runs what has come so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    inside: Inside,
    /// Whether something other than comments and blanks came after the last semicolon.
    open: bool,
}

/// What hides semicolons where the last line ended.
#[derive(Debug, Default)]
enum Inside {
    #[default]
    Nothing,
    Quote(char),
    /// A block comment, and how deep.
    Comment(usize),
    /// A dollar quote, by its tag.
    Dollar(String),
}

impl Progress {
    /// Takes the next line, line feed included if it has one.
    pub(super) fn line(&mut self, line: &str) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let bytes = match &mut self.inside {
                Inside::Nothing => self.outside(first, rest),
                Inside::Quote(quote) => {
                    let quote = *quote;
                    self.closed_after(rest.find(quote).map(|at| at + 1))
                }
                Inside::Dollar(tag) => {
                    let end = rest.find(tag.as_str()).map(|at| at + tag.len());
                    self.closed_after(end)
                }
                Inside::Comment(depth) => match rest.as_bytes() {
                    [b'/', b'*', ..] => {
                        *depth += 1;
                        Some(2)
                    }
                    [b'*', b'/', ..] if *depth == 1 => self.closed_after(Some(2)),
                    [b'*', b'/', ..] => {
                        *depth -= 1;
                        Some(2)
                    }
                    _ => Some(first.len_utf8()),
                },
            };
            rest = bytes.map_or("", |bytes| &rest[bytes..]);
        }
    }

    /// Whether every statement so far has its semicolon.
    pub(super) const fn is_complete(&self) -> bool {
        !self.open && matches!(self.inside, Inside::Nothing)
    }

    /// Takes what is outside of quotes and comments: how many bytes, `None` for the rest
    /// of the line.
    fn outside(&mut self, first: char, rest: &str) -> Option<usize> {
        if rest.starts_with("--") {
            return None;
        }
        if rest.starts_with("/*") {
            self.inside = Inside::Comment(1);
            return Some(2);
        }
        self.open = first != ';' && (self.open || !first.is_whitespace());
        match first {
            '\'' | '"' => self.inside = Inside::Quote(first),
            '$' => {
                if let Some(tag) = dollar_tag(rest) {
                    self.inside = Inside::Dollar(tag.to_owned());
                    return Some(tag.len());
                }
            }
            _ => {}
        }
        Some(first.len_utf8())
    }

    /// Leaves a quote or comment if its end was found.
    fn closed_after(&mut self, end: Option<usize>) -> Option<usize> {
        if end.is_some() {
            self.inside = Inside::Nothing;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_ends_at_semicolons_outside_quotes_and_comments() {
        let complete = |script: &str| {
            let mut progress = Progress::default();
            script.split_inclusive('\n').for_each(|line| progress.line(line));
            progress.is_complete()
        };
        for closed in [
            "",
            "\n -- nothing\n",
            "select 1;",
            "select 1; -- done; x\n",
            "select 1; /* a\n;/* b */ c\n */\n",
            "select ';\n;'\n, $$ ;\n$ $$;\n",
            "select $t$ ;\n$$ ; $t$;",
            "select $1;",
            "select 'it''s';",
        ] {
            assert!(complete(closed), "{closed:?}");
        }
        for open in [
            "select 1\n",
            "select 1; select 2",
            "select ';\n",
            "select 1 /* ;\n /* */ ;\n",
            "select $$;\n",
            "select $t$ $$;\n",
            "select 'it''s;\n",
        ] {
            assert!(!complete(open), "{open:?}");
        }
    }
}
