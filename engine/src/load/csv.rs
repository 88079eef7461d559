//! CSV (RFC 4180) as fields and records, from pieces of any size.
//!
//! Fields in quotes may have delimiters, line breaks and doubled quotes. Lines end with
//! LF, CRLF or CR. Lines without a character are no records, and a byte order mark at the
//! beginning is no text.

use super::{at, text};
use crate::error::Result;
use gingham_plan::SqlError;

/// A field may have so many bytes.
const FIELD_BYTES_MAX: usize = 256 << 20;

/// A field's text without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// The field and, where it stands in the text as it is, what follows it.
    pub(super) rest: &'a [u8],
    /// How much of that is the field.
    pub(super) length: usize,
    pub(super) quoted: bool,
    /// Whether the text is known to be ASCII.
    pub(super) is_ascii: bool,
    /// Where it begins, as [`Sink`] counts.
    pub(super) place: (u64, u64),
}

impl<'a> Field<'a> {
    pub(super) fn text(&self) -> &'a [u8] {
        &self.rest[..self.length]
    }
}

/// Who is told what the parser finds. Places are line and column (in bytes), both from 1.
pub(super) trait Sink {
    /// The next field of the record.
    fn field(&mut self, field: Field<'_>) -> Result<()>;
    /// The end of the record, and where it is.
    fn end(&mut self, place: (u64, u64)) -> Result<()>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing of the line has been read.
    #[default]
    LineStart,
    FieldStart,
    Unquoted,
    Quoted,
    /// After a quote inside quotes: the end of them, or half of a doubled one.
    Quote,
}

#[derive(Debug, Default)]
pub(super) struct Parser {
    delimiter: u8,
    state: State,
    field: Vec<u8>,
    quoted: bool,
    /// Whether the last line ended with CR, so that a LF belongs to it.
    after_return: bool,
    /// Bytes of a byte order mark seen at the beginning of the text.
    mark: usize,
    line: u64,
    column: u64,
    /// Where the field begins.
    start: (u64, u64),
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Parser {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, line: 1, column: 1, ..Self::default() }
    }

    /// Takes bytes and tells `sink` what they complete.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<()> {
        let is_ascii = bytes.is_ascii();
        let mut rest = bytes;
        while let Some(byte) = rest.first().copied() {
            if self.mark < BYTE_ORDER_MARK.len() {
                if byte == BYTE_ORDER_MARK[self.mark] {
                    self.mark += 1;
                    rest = &rest[1..];
                    continue;
                }
                self.mark = BYTE_ORDER_MARK.len();
            }
            let taken = match self.state {
                State::LineStart | State::FieldStart => self.plain_fields(rest, is_ascii, sink)?,
                State::Unquoted => self.inside(&rest[..text::find(rest, [self.delimiter, b'\n', b'\r'])])?,
                State::Quoted => self.inside(&rest[..text::find(rest, [b'"', b'\n', b'\n'])])?,
                State::Quote => 0,
            };
            if taken == 0 {
                self.byte(byte, sink)?;
            }
            rest = &rest[taken.max(1)..];
        }
        Ok(())
    }

    /// Takes fields without quotes that are there to their ends, and with them most of most
    /// texts, from where they are. How many bytes that were.
    fn plain_fields(&mut self, bytes: &[u8], is_ascii: bool, sink: &mut impl Sink) -> Result<usize> {
        let delimiter = self.delimiter;
        let mut at = 0;
        for place in text::Places::new(bytes, [delimiter, b'\n', b'\r']) {
            let (rest, end) = (&bytes[at..], bytes[place]);
            let length = place - at;
            let skips = length == 0 && self.state == State::LineStart && end != delimiter;
            if skips || rest[0] == b'"' {
                break;
            }
            let (line, column) = (self.line, self.column);
            sink.field(Field { rest, length, quoted: false, is_ascii, place: (line, column) })?;
            at = place + 1;
            self.after_return = false;
            self.column += length as u64 + 1;
            if end == delimiter {
                self.state = State::FieldStart;
            } else {
                sink.end((line, column + length as u64))?;
                self.next_line(end);
            }
        }
        Ok(at)
    }

    /// Takes bytes inside of a field that end nothing; how many.
    fn inside(&mut self, bytes: &[u8]) -> Result<usize> {
        self.append(bytes)?;
        self.column += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.field.len() + bytes.len() > FIELD_BYTES_MAX {
            return Err(at(SqlError::new("54000", "a field has more than 256 MiB"), self.start.0, self.start.1));
        }
        self.field.extend_from_slice(bytes);
        Ok(())
    }

    fn byte(&mut self, byte: u8, sink: &mut impl Sink) -> Result<()> {
        let (line, column) = (self.line, self.column);
        self.column += 1;
        let after_return = std::mem::take(&mut self.after_return);
        if after_return && byte == b'\n' && self.state == State::LineStart {
            self.column = 1;
            return Ok(());
        }
        match (self.state, byte) {
            (State::Quoted, b'"') => self.state = State::Quote,
            (State::Quoted, _) => {
                self.append(&[byte])?;
                if byte == b'\n' {
                    (self.line, self.column) = (line + 1, 1);
                }
            }
            (State::Quote, b'"') => {
                self.append(b"\"")?;
                self.state = State::Quoted;
            }
            (State::LineStart, b'\n' | b'\r') => self.next_line(byte),
            (_, b'\n' | b'\r') => {
                self.end_field((line, column), sink)?;
                sink.end((line, column))?;
                self.next_line(byte);
            }
            (_, _) if byte == self.delimiter => {
                self.end_field((line, column), sink)?;
                self.state = State::FieldStart;
            }
            (State::LineStart | State::FieldStart, b'"') => {
                self.start = (line, column);
                self.quoted = true;
                self.state = State::Quoted;
            }
            (State::LineStart | State::FieldStart, _) => {
                self.start = (line, column);
                self.append(&[byte])?;
                self.state = State::Unquoted;
            }
            // A quote in the middle of a field is text, as spreadsheets write it.
            (State::Unquoted, _) => self.append(&[byte])?,
            (State::Quote, _) => {
                let message = "a quoted field goes on after its closing quote";
                let error = SqlError::new("22P04", message).hint("write a quote inside quotes twice");
                return Err(at(error, line, column));
            }
        }
        Ok(())
    }

    fn next_line(&mut self, end: u8) {
        self.state = State::LineStart;
        self.after_return = end == b'\r';
        self.line += 1;
        self.column = 1;
    }

    fn end_field(&mut self, here: (u64, u64), sink: &mut impl Sink) -> Result<()> {
        if matches!(self.state, State::LineStart | State::FieldStart) {
            self.start = here;
        }
        let is_ascii = self.field.is_ascii();
        let (rest, length) = (&self.field[..], self.field.len());
        sink.field(Field { rest, length, quoted: self.quoted, is_ascii, place: self.start })?;
        self.field.clear();
        self.quoted = false;
        Ok(())
    }

    /// The text has ended: a last line need not have an end of its own.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) -> Result<()> {
        match self.state {
            State::LineStart => Ok(()),
            State::Quoted => {
                let error = SqlError::new("22P04", "a quoted field has no end");
                Err(at(error, self.start.0, self.start.1))
            }
            _ => {
                let here = (self.line, self.column);
                self.end_field(here, sink)?;
                self.state = State::LineStart;
                sink.end(here)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records as `field|field`, quoted ones in brackets.
    #[derive(Default)]
    struct Records {
        done: String,
        fields: Vec<String>,
    }

    impl Sink for Records {
        fn field(&mut self, field: Field<'_>) -> Result<()> {
            assert!(!field.is_ascii || field.text().is_ascii());
            let text = String::from_utf8_lossy(field.text()).replace('\n', "␤");
            self.fields.push(if field.quoted { format!("[{text}]") } else { text });
            Ok(())
        }

        fn end(&mut self, _: (u64, u64)) -> Result<()> {
            self.done += &self.fields.join("|");
            self.done += "\n";
            self.fields.clear();
            Ok(())
        }
    }

    /// The records, or the error.
    fn parse(text: &str, piece: usize) -> String {
        let mut records = Records::default();
        let mut parser = Parser::new(b',');
        let pieces = text.as_bytes().chunks(piece);
        let result = pieces
            .map(|piece| parser.push(piece, &mut records))
            .find(Result::is_err)
            .unwrap_or_else(|| parser.finish(&mut records));
        match result {
            Ok(()) => records.done,
            Err(error) => error.to_sql_error().message,
        }
    }

    #[test]
    fn csv_is_read_in_pieces_of_any_size() {
        let cases = [
            ("a,b\n1,2\n", "a|b\n1|2\n"),
            ("a,b\r\n1,\r\n,2", "a|b\n1|\n|2\n"),
            ("\u{feff}a\rb\r\n\r\n\nc", "a\nb\nc\n"),
            ("\"a \"\"b\"\"\",\"x,\ny\"\n\"\",", "[a \"b\"]|[x,␤y]\n[]|\n"),
            ("a\"b,c\n", "a\"b|c\n"),
            ("", ""),
            ("a\n\"open\nx", "line 2, column 1: a quoted field has no end"),
            ("a\n1,\"b\"c\n", "line 2, column 6: a quoted field goes on after its closing quote"),
        ];
        for (text, expected) in cases {
            for piece in 1..=text.len().max(1) {
                assert_eq!(parse(text, piece), expected, "{text:?} in pieces of {piece}");
            }
        }
    }
}
