//! Cuts a script into statements without parsing them.
//!
//! Knows only what hides a semicolon: quotes, dollar quotes and comments. Each
//! statement keeps where it starts, so that errors can be given in the script's lines.

/// One statement of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text, without surrounding white space, comments before it, and semicolon.
    pub sql: &'a str,
    /// Line of its first character, from 1.
    pub line: u32,
    /// Column of its first character, from 1, in characters.
    pub column: u32,
}

impl Piece<'_> {
    /// A position in this statement as a position in the script.
    pub fn position(&self, (line, column): (u32, u32)) -> (u32, u32) {
        if line <= 1 { (self.line, self.column + column.saturating_sub(1)) } else { (self.line + line - 1, column) }
    }
}

/// The statements of a script, in order. An unterminated quote or comment runs to the
/// end, where the parser will name it.
pub fn split(script: &str) -> impl Iterator<Item = Piece<'_>> {
    Splitter { script, at: 0, line: 1, column: 1 }
}

/// Reads a script line by line and knows after each whether a statement is open: what a
/// reader of a pipe must know before it runs what has come so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
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
    pub(crate) fn line(&mut self, line: &str) {
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
    pub(crate) const fn is_complete(&self) -> bool {
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

struct Splitter<'a> {
    script: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Splitter<'a> {
    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    /// Moves over `bytes` bytes of text, keeping count of lines and columns.
    fn advance(&mut self, bytes: usize) {
        for character in self.script[self.at..self.at + bytes].chars() {
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.at += bytes;
    }
}

impl<'a> Iterator for Splitter<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            match blank_bytes(self.rest()) {
                0 if self.rest().starts_with(';') => self.advance(1),
                0 => break,
                bytes => self.advance(bytes),
            }
        }
        if self.rest().is_empty() {
            return None;
        }
        let (line, column) = (self.line, self.column);
        let text = self.rest();
        let mut end = 0;
        while let Some(character) = text[end..].chars().next() {
            if character == ';' {
                break;
            }
            end += token_bytes(&text[end..]);
        }
        self.advance(end);
        Some(Piece { sql: text[..end].trim_end(), line, column })
    }
}

/// Bytes of white space or of one comment at the start of `text`; 0 if there is neither.
pub(crate) fn blank_bytes(text: &str) -> usize {
    let white = text.len() - text.trim_start().len();
    if white > 0 {
        return white;
    }
    if text.starts_with("--") {
        return text.find('\n').map_or(text.len(), |at| at + 1);
    }
    if text.starts_with("/*") { block_comment_bytes(text) } else { 0 }
}

/// Block comments nest, as in PostgreSQL.
fn block_comment_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (2, 1);
    while at < bytes.len() && depth > 0 {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"*/" => {
                depth -= 1;
                at += 2;
            }
            b"/*" => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    at
}

/// Bytes of what starts here and may hide a semicolon, or of one character.
fn token_bytes(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    match first {
        '\'' | '"' => text[1..].find(first).map_or(text.len(), |at| at + 2),
        '-' | '/' => blank_bytes(text).max(1),
        '$' => dollar_quote_bytes(text),
        _ => first.len_utf8(),
    }
}

/// `$tag$ … $tag$`, or one character when it is a parameter like `$1`.
fn dollar_quote_bytes(text: &str) -> usize {
    let Some(tag) = dollar_tag(text) else { return 1 };
    text[tag.len()..].find(tag).map_or(text.len(), |at| at + 2 * tag.len())
}

/// The `$tag$` that `text` starts with.
fn dollar_tag(text: &str) -> Option<&str> {
    let after = text.strip_prefix('$')?;
    let length = after.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let is_tag = after[length..].starts_with('$') && !after.starts_with(|c: char| c.is_numeric());
    is_tag.then(|| &text[..length + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<&str> {
        split(script).map(|p| p.sql).collect()
    }

    #[test]
    fn semicolons_in_quotes_and_comments_do_not_cut() {
        assert_eq!(texts("a ';' b; c \";\" -- ; x\n d; /* ; /* ; */ ; */ e"), ["a ';' b", "c \";\" -- ; x\n d", "e"]);
        assert_eq!(
            texts("select 'it''s;'; $$ ; $$; $t$ ; $$ ; $t$ x;select $1;"),
            ["select 'it''s;'", "$$ ; $$", "$t$ ; $$ ; $t$ x", "select $1"]
        );
        assert_eq!(texts(" ;; -- nothing\n ; "), Vec::<&str>::new());
        assert_eq!(texts("'open; quote"), ["'open; quote"]);
    }

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

    #[test]
    fn pieces_know_where_they_start() {
        let pieces: Vec<Piece<'_>> = split("a;\n  é; b;\nc d\n e").collect();
        let places: Vec<(u32, u32)> = pieces.iter().map(|p| (p.line, p.column)).collect();
        assert_eq!(places, [(1, 1), (2, 3), (2, 6), (3, 1)]);
        assert_eq!(pieces[2].position((1, 1)), (2, 6));
        assert_eq!(pieces[3].position((2, 2)), (4, 2));
    }
}
