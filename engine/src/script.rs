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
    if text.starts_with("/*") { block_comment_bytes(text).unwrap_or(text.len()) } else { 0 }
}

/// Bytes of the block comment at the start of `text`; `None` if it is not closed. Block
/// comments nest, as in PostgreSQL.
pub(crate) fn block_comment_bytes(text: &str) -> Option<usize> {
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
    (depth == 0).then_some(at)
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
pub(crate) fn dollar_tag(text: &str) -> Option<&str> {
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
    fn pieces_know_where_they_start() {
        let pieces: Vec<Piece<'_>> = split("a;\n  é; b;\nc d\n e").collect();
        let places: Vec<(u32, u32)> = pieces.iter().map(|p| (p.line, p.column)).collect();
        assert_eq!(places, [(1, 1), (2, 3), (2, 6), (3, 1)]);
        assert_eq!(pieces[2].position((1, 1)), (2, 6));
        assert_eq!(pieces[3].position((2, 2)), (4, 2));
    }
}
