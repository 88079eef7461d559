//! Rust source with everything but code blanked out, so that a rule can look for words
//! without meeting them in comments and strings. Lengths and lines stay as they were.

/// Blanks comments and the contents of string and character literals.
pub(super) fn without_text(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut output = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => line_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_comment_end(bytes, at),
            b'"' => string_end(bytes, at + 1),
            b'r' | b'b' | b'c' if !is_word(output.last().copied()) => prefixed_string_end(bytes, at),
            b'\'' => character_end(bytes, at),
            _ => at,
        };
        if end == at {
            output.push(bytes[at]);
            at += 1;
        } else {
            output.extend(bytes[at..end].iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }));
            at = end;
        }
    }
    String::from_utf8_lossy(&output).into_owned()
}

/// Blanks the items under `#[cfg(test)]` in code without text.
pub(super) fn without_tests(code: &str) -> String {
    let mut bytes = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(found) = find_from(&bytes, from, b"#[cfg(test)]") {
        let end = item_end(&bytes, found + b"#[cfg(test)]".len());
        bytes[found..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        from = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether `word` is in the line and is not part of a longer word.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let bytes = line.as_bytes();
        let before = at.checked_sub(1).map(|before| bytes[before]);
        !is_word(before) && !is_word(bytes.get(at + word.len()).copied())
    })
}

fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn find_from(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    find_from(bytes, from, b"\n").unwrap_or(bytes.len())
}

fn block_comment_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// After the closing quote of a string whose contents start at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `c"…"`, `b'…'`; `from` if it is none of them.
fn prefixed_string_end(bytes: &[u8], from: usize) -> usize {
    let letters = bytes[from..].iter().take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let after = from + letters;
    let hashes = bytes[after..].iter().take_while(|byte| **byte == b'#').count();
    let is_raw = bytes[from..after].contains(&b'r');
    match bytes.get(after + hashes) {
        Some(b'"') if letters <= 2 && is_raw => {
            let closing = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
            find_from(bytes, after + hashes + 1, &closing).map_or(bytes.len(), |at| at + closing.len())
        }
        Some(b'"') if letters == 1 && hashes == 0 => string_end(bytes, after + 1),
        Some(b'\'') if letters == 1 && bytes[from] == b'b' && hashes == 0 => character_end(bytes, after),
        _ => from,
    }
}

/// After a character literal; `from` if the quote starts a lifetime.
fn character_end(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from + 1..];
    if rest.first() == Some(&b'\\') {
        return rest.iter().skip(2).position(|&byte| byte == b'\'').map_or(bytes.len(), |at| from + 1 + 2 + at + 1);
    }
    let text = String::from_utf8_lossy(&rest[..rest.len().min(5)]).into_owned();
    let width = text.chars().next().map_or(0, char::len_utf8);
    if rest.get(width) == Some(&b'\'') { from + 1 + width + 1 } else { from }
}

/// After the item that starts at `from`: its closing brace or semicolon.
fn item_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *byte == b'}' {
                    let closing = bytes[at + 1..].iter().position(|byte| !byte.is_ascii_whitespace());
                    // A `use` with a list of names.
                    return match closing {
                        Some(next) if bytes[at + 1 + next] == b';' => at + 1 + next + 1,
                        _ => at + 1,
                    };
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(source: &str) -> String {
        let code = without_text(source);
        assert_eq!((code.len(), code.lines().count()), (source.len(), source.lines().count()));
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blank() {
        assert_eq!(visible("a // todo!()\nb /* x /* y */ z */ c"), "a b c");
        assert_eq!(visible(r#"f("unsafe \" // x", 1)"#), "f( , 1)");
        assert_eq!(visible("f(r#\"a \"b\" c\"#, br\"x\", b\"y\", b'z')"), "f( , , , )");
        assert_eq!(visible(r"f('a', '\'', '\u{1F600}', '√')"), "f( , , , )");
    }

    #[test]
    fn lifetimes_and_names_are_code() {
        assert_eq!(
            visible("fn f<'a>(r: &'a str, b: u8) -> &'static str"),
            "fn f<'a>(r: &'a str, b: u8) -> &'static str"
        );
        assert_eq!(visible("br#type"), "br#type");
    }

    #[test]
    fn items_for_tests_are_blank() {
        let code = "fn a() {}\n#[cfg(test)]\nuse x::{y, z};\nfn b() {}\n#[cfg(test)]\nmod tests {\n fn c() { {} }\n}\nfn d() {}";
        let kept = without_tests(code);
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>().join(" "), "fn a() {} fn b() {} fn d() {}");
    }

    #[test]
    fn words_end_where_names_end() {
        assert!(has_word("unsafe {", "unsafe"));
        assert!(!has_word("allow(unsafe_code)", "unsafe"));
    }
}
