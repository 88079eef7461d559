//! A whole file that is damaged, or is none.

use crate::base::{Bytes, base, read};
use gingham_row_store::Error;

/// With an even first byte the rest is damage to a sound file: pairs of where and what,
/// and maybe an end that is cut off. What is read is right or an error. With an odd one
/// the rest is the file.
pub fn check(data: &[u8]) {
    let (sound, content) = base();
    let mut data = Bytes(data);
    if data.byte() % 2 == 1 {
        match read(data.0) {
            Ok(found) => assert!(found.is_empty(), "bytes that are no file have contents"),
            Err(error) => assert_typed(&error),
        }
        return;
    }
    let mut file = sound.clone();
    if data.byte() == 1 {
        let length = (data.number() << 4) % sound.len();
        // An empty file is a new database.
        file.truncate(length.max(1));
    }
    while !data.is_empty() {
        let at = (data.number() << 8 | usize::from(data.byte())) % sound.len();
        if let Some(byte) = file.get_mut(at) {
            *byte ^= data.byte();
        }
    }
    match read(&file) {
        Ok(found) => assert!(found == *content, "a damaged file reads as another"),
        Err(error) => assert_typed(&error),
    }
}

/// That what is wrong is said to be wrong with the file.
fn assert_typed(error: &Error) {
    let typed = matches!(error, Error::Corrupt { .. } | Error::NotADatabase | Error::NewerVersion { .. });
    assert!(typed, "damage is reported as {error:?}");
}
