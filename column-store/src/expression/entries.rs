//! Functions of text, computed once a dictionary entry where that pays.

use crate::Result;
use crate::vector::{Dictionary, TextVector};
use std::cell::RefCell;
use std::sync::Arc;

/// Rows below which a dictionary larger than the rows is not gone through.
const ROWS_MIN: usize = 256;

/// How many times its rows a batch's dictionary may have entries, if it is a row group's
/// own: the batches that follow share it.
const ENTRIES_PER_ROW_MAX: usize = 32;

/// Whether going through all entries is no more work than going through the rows, of
/// this batch and of those likely to follow with the same dictionary.
pub(crate) fn entries_pay(text: &TextVector) -> bool {
    let (rows, entries) = (text.len(), text.dictionary.len());
    entries <= rows || (text.dictionary.distinct() && rows >= ROWS_MIN && entries <= rows * ENTRIES_PER_ROW_MAX)
}

/// The results over the entries of the dictionary seen last.
#[derive(Debug)]
pub(crate) struct EntryMemo<T>(RefCell<Option<Known<T>>>);

type Known<T> = (Arc<Dictionary>, Arc<Vec<T>>);

impl<T> Default for EntryMemo<T> {
    fn default() -> Self {
        Self(RefCell::new(None))
    }
}

impl<T: Copy + Default> EntryMemo<T> {
    /// `f` of every row that is not NULL, once an entry if that pays. An error of an
    /// entry counts only if a row needs it: then all is computed row by row.
    pub(crate) fn map(
        &self,
        text: &TextVector,
        validity: Option<&[bool]>,
        f: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<Vec<T>> {
        if let Some(table) = self.table(text, &f) {
            return Ok(text.codes.iter().map(|code| table[*code as usize]).collect());
        }
        match validity {
            None => (0..text.len()).map(|row| f(text.bytes(row))).collect(),
            Some(valid) => {
                (0..text.len()).map(|row| if valid[row] { f(text.bytes(row)) } else { Ok(T::default()) }).collect()
            }
        }
    }

    fn table(&self, text: &TextVector, f: impl Fn(&[u8]) -> Result<T>) -> Option<Arc<Vec<T>>> {
        let mut memo = self.0.borrow_mut();
        if let Some((_, table)) = memo.as_ref().filter(|(known, _)| Arc::ptr_eq(known, &text.dictionary)) {
            return Some(Arc::clone(table));
        }
        if !entries_pay(text) {
            return None;
        }
        let entries = text.dictionary.len() as u32;
        let table: Vec<T> = (0..entries).map(|code| f(text.dictionary.get(code))).collect::<Result<_>>().ok()?;
        let table = Arc::new(table);
        *memo = Some((Arc::clone(&text.dictionary), Arc::clone(&table)));
        Some(table)
    }
}

/// A dictionary made from another entry by entry, for the dictionary seen last.
#[derive(Debug, Default)]
pub(crate) struct DictionaryMemo(RefCell<Option<(Arc<Dictionary>, Arc<Dictionary>)>>);

impl DictionaryMemo {
    /// The text whose entries are `f` of this text's, which never fails.
    pub(crate) fn map(
        &self,
        text: &TextVector,
        f: impl Fn(&[u8], &mut Dictionary) -> Result<()>,
    ) -> Result<Option<TextVector>> {
        let mut memo = self.0.borrow_mut();
        let made = match &*memo {
            Some((from, made)) if Arc::ptr_eq(from, &text.dictionary) => Arc::clone(made),
            _ if entries_pay(text) => {
                let mut made = Dictionary::default();
                for code in 0..text.dictionary.len() as u32 {
                    f(text.dictionary.get(code), &mut made)?;
                }
                let made = Arc::new(made);
                *memo = Some((Arc::clone(&text.dictionary), Arc::clone(&made)));
                made
            }
            _ => return Ok(None),
        };
        Ok(Some(TextVector { codes: text.codes.clone(), dictionary: made }))
    }
}
