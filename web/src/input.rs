//! The buffer through which JavaScript hands in parameters and columns.
//!
//! JavaScript asks for room with [`reserve_input`], writes into the module's memory at
//! the address it gets, and then calls a function that reads the buffer. Nothing is
//! copied on the way in but what a [`Value`] or a vector has to own.
//!
//! Parameters are slots of 16 bytes, little-endian, ts/parameters.ts being the twin:
//!
//! | offset | size | meaning |
//! |---|---|---|
//! | 0 | 4 | kind, one of [`kind`] |
//! | 4 | 4 | bytes of text, blob or decimal digits |
//! | 8 | 8 | the value: `i64`, `f64`, or the `u32` offset in the buffer of the bytes |

use gingham::{SqlError, Value};
use gingham_types::parse_decimal;
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

/// Bytes of one parameter slot.
const SLOT_BYTES: usize = 16;

/// What a parameter slot holds.
mod kind {
    pub(super) const NULL: u32 = 0;
    pub(super) const BOOLEAN: u32 = 1;
    pub(super) const INT: u32 = 2;
    pub(super) const DOUBLE: u32 = 3;
    pub(super) const TEXT: u32 = 4;
    pub(super) const BLOB: u32 = 5;
    pub(super) const TIMESTAMP: u32 = 6;
    pub(super) const DECIMAL: u32 = 7;
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes the buffer at least `bytes` long and gives its address, a multiple of eight,
/// or 0 if memory has no room for it: then there is no buffer. The address holds until
/// the next call.
#[wasm_bindgen]
pub fn reserve_input(bytes: u32) -> u32 {
    INPUT.with_borrow_mut(|input| match grow(input, bytes as usize) {
        Some(()) => (input.as_ptr().expose_provenance() + padding(input)) as u32,
        None => 0,
    })
}

fn grow(input: &mut Vec<u8>, bytes: usize) -> Option<()> {
    // Eight more bytes leave room to start at a multiple of eight.
    let wanted = bytes.checked_add(8)?;
    if input.len() >= wanted {
        return Some(());
    }
    // What the buffer holds is of no use any more: freed first, it makes room.
    *input = Vec::new();
    let usual = wanted.checked_next_power_of_two().unwrap_or(wanted);
    if input.try_reserve_exact(usual).is_err() {
        input.try_reserve_exact(wanted).ok()?;
    }
    input.resize(input.capacity(), 0);
    Some(())
}

/// Gives back the memory of a buffer that a bulk load has made large.
#[wasm_bindgen]
pub fn release_input() {
    INPUT.set(Vec::new());
}

/// Bytes to skip so that the buffer starts at a multiple of eight.
fn padding(input: &[u8]) -> usize {
    input.as_ptr().expose_provenance().wrapping_neg() % 8
}

/// Reads the buffer, from the address that JavaScript was given.
pub(crate) fn with_input<T>(body: impl FnOnce(&[u8]) -> T) -> T {
    INPUT.with_borrow(|input| body(&input[padding(input).min(input.len())..]))
}

/// Replaces `parameters` by the `count` slots at the start of the buffer.
pub(crate) fn read_parameters(count: u32, parameters: &mut Vec<Value>) -> Result<(), SqlError> {
    parameters.clear();
    with_input(|input| {
        for index in 0..count as usize {
            let slot = slice(input, index * SLOT_BYTES, SLOT_BYTES)?;
            parameters.push(read_slot(input, slot)?);
        }
        Ok(())
    })
}

fn read_slot(input: &[u8], slot: &[u8]) -> Result<Value, SqlError> {
    let word = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
    let eight: [u8; 8] = slot[8..16].try_into().expect("eight bytes");
    let bytes = || slice(input, word(8) as usize, word(4) as usize);
    Ok(match word(0) {
        kind::NULL => Value::Null,
        kind::BOOLEAN => Value::Boolean(word(8) != 0),
        kind::INT => Value::Int(i64::from_le_bytes(eight)),
        kind::DOUBLE => Value::Double(f64::from_le_bytes(eight)),
        kind::TEXT => Value::Text(text(bytes()?)?),
        kind::BLOB => Value::Blob(bytes()?.to_vec()),
        kind::TIMESTAMP => Value::Timestamp(i64::from_le_bytes(eight)),
        kind::DECIMAL => {
            let digits = text(bytes()?)?;
            let (unscaled, scale) = parse_decimal(&digits)
                .ok_or_else(|| SqlError::new("22003", format!("{digits} has more than 38 digits")))?;
            Value::Decimal { unscaled, scale }
        }
        other => return Err(malformed(format!("parameter kind {other}"))),
    })
}

/// `bytes` bytes at `offset`, or an error where JavaScript and this module disagree.
pub(crate) fn slice(input: &[u8], offset: usize, bytes: usize) -> Result<&[u8], SqlError> {
    offset
        .checked_add(bytes)
        .and_then(|end| input.get(offset..end))
        .ok_or_else(|| malformed(format!("{bytes} bytes at {offset} of {}", input.len())))
}

fn text(bytes: &[u8]) -> Result<String, SqlError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| malformed("text that is not UTF-8".into()))
}

/// The two halves of the package are of different versions, or one of them is wrong.
pub(crate) fn malformed(what: String) -> SqlError {
    SqlError::internal(format!("the input buffer holds {what}"))
}
