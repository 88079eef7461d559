//! What LIKE asks of a text, shared by tests of chunks and of single values.

use memchr::memmem::Finder;

/// As `starts_with` and `ends_with`, which compare even nothing by a call, and with a
/// masked load from wherever nothing is: that takes hundreds of cycles.
pub(crate) fn begins(text: &[u8], prefix: &[u8]) -> bool {
    prefix.is_empty() || text.starts_with(prefix)
}

/// See [`begins`].
pub(crate) fn ends(text: &[u8], suffix: &[u8]) -> bool {
    suffix.is_empty() || text.ends_with(suffix)
}

/// Whether a text has all of these strings, one after the other.
pub(crate) fn find_all(finders: &[Finder<'_>], text: &[u8]) -> bool {
    let mut rest = text;
    finders.iter().all(|finder| match finder.find(rest) {
        Some(at) => {
            rest = &rest[at + finder.needle().len()..];
            true
        }
        None => false,
    })
}
