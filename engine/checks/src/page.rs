//! Pages whose checksums are right and whose contents are not, as only a crafted file
//! has them: what is read may be wrong then, but nothing panics, hangs or asks for more
//! memory than the file could hold.

use crate::base::{Bytes, base, log_range, read};
use gingham_row_store::format::{self, PAGE_BYTES, page};

/// The data pages of the base are changed, sealed anew, and read. Each change is a page,
/// an offset in it and bytes to write there.
pub fn check(data: &[u8]) {
    let (sound, _) = base();
    let mut file = sound.clone();
    let first = log_range(sound).end / PAGE_BYTES;
    let pages = sound.len() / PAGE_BYTES - first;
    let mut data = Bytes(data);
    while !data.is_empty() {
        let number = first + usize::from(data.byte()) % pages;
        let at = page::KIND + place(data.number()) % (PAGE_BYTES - page::KIND);
        let count = usize::from(data.byte()) % 24 + 1;
        let bytes = data.take(count.min(PAGE_BYTES - at));
        let target = &mut file[number * PAGE_BYTES..(number + 1) * PAGE_BYTES];
        target[at..at + bytes.len()].copy_from_slice(bytes);
        seal(target, number as u32);
    }
    // Whatever is found or not, it is found again.
    assert_eq!(read(&file), read(&file), "a file gives one answer");
}

/// Half of all changes go to the header and the slots behind it.
fn place(number: usize) -> usize {
    if number.is_multiple_of(2) { number / 2 } else { number / 2 % 40 }
}

fn seal(target: &mut [u8], number: u32) {
    let mut whole = [0; PAGE_BYTES];
    whole.copy_from_slice(target);
    format::set_u64(target, page::CHECKSUM, format::page_checksum(&whole, number));
}
