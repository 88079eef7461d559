//! Rows that an operator keeps and gives to temporary space sorted, when it has to.

use super::external::{External, Merged};
use super::full::SPILLED_ROWS_MIN;
use super::order::Entry;
use super::{Key, Layout, sorted_rows};
use crate::Result;
use crate::execution::columns::ColumnStore;
use crate::execution::memory::Reservation;
use crate::execution::spill::{Run, RunWriter, block_bytes};
use crate::vector::{BATCH_ROWS, Batch};
use gingham_types::SqlType;

/// Kept rows, read back in their order. Rows equal in every key stay in the order in
/// which they came.
#[derive(Debug)]
pub(crate) struct SortedRuns {
    layout: Layout,
    store: ColumnStore,
    spilled: Vec<Run>,
    reading: Option<Reading>,
}

#[derive(Debug)]
enum Reading {
    /// Rows of the store in order, and how many have been read.
    Kept(Vec<u32>, usize),
    Merged(Box<External>),
}

impl SortedRuns {
    pub(crate) fn new(types: Vec<SqlType>, keys: Vec<Key>) -> Self {
        let store = ColumnStore::new(&types);
        Self { layout: Layout { types, keys }, store, spilled: Vec::new(), reading: None }
    }

    /// Bytes held, with those that sorting takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.reading {
            Some(Reading::Merged(external)) => external.memory_bytes(),
            _ => self.store.memory_bytes() + self.store.rows() * size_of::<Entry>(),
        }
    }

    /// Bytes that this many rows more may add, text aside.
    pub(crate) fn growth_bytes(&self, added: usize) -> usize {
        let grown = self.store.grown_bytes(added).saturating_sub(self.store.memory_bytes());
        grown + added * size_of::<Entry>()
    }

    /// Keeps the rows of a batch that `rows` names.
    pub(crate) fn append(&mut self, batch: &Batch, rows: &[u32]) -> Result<()> {
        self.store.append(batch, Some(rows))
    }

    /// Gives what is kept to temporary space.
    ///
    /// # Errors
    /// Out of memory where there is none; errors of the file system.
    pub(crate) fn spill(&mut self, memory: &Reservation) -> Result<()> {
        if self.store.rows() == 0 {
            return Ok(());
        }
        let mut store = std::mem::replace(&mut self.store, ColumnStore::new(&self.layout.types));
        store.freeze();
        let block = block_bytes(memory.bytes_available());
        let row_bytes = store.memory_bytes() / store.rows();
        let rows = (block / row_bytes.max(1)).clamp(SPILLED_ROWS_MIN, BATCH_ROWS);
        let mut writer = RunWriter::new(memory.temp(block)?, block);
        for numbers in sorted_rows(&store, &self.layout.keys).chunks(rows) {
            writer.push(&store.gather(numbers), None, memory)?;
        }
        self.spilled.push(writer.finish(memory)?);
        Ok(())
    }

    /// There are no more rows: begins to read.
    pub(crate) fn begin(&mut self, memory: &Reservation) -> Result<()> {
        if self.spilled.is_empty() {
            self.store.freeze();
            self.reading = Some(Reading::Kept(sorted_rows(&self.store, &self.layout.keys), 0));
            return Ok(());
        }
        self.spill(memory)?;
        let runs = std::mem::take(&mut self.spilled);
        self.reading = Some(Reading::Merged(Box::new(External::new(runs, &self.layout, memory)?)));
        Ok(())
    }

    /// The next rows in order.
    pub(crate) fn next(&mut self, memory: &Reservation) -> Result<Option<Batch>> {
        match &mut self.reading {
            None => Ok(None),
            Some(Reading::Kept(sorted, next)) => {
                let rows = &sorted[*next..(*next + BATCH_ROWS).min(sorted.len())];
                *next += rows.len();
                Ok((!rows.is_empty()).then(|| self.store.gather(rows)))
            }
            Some(Reading::Merged(external)) => loop {
                match external.next(BATCH_ROWS, &self.layout, memory)? {
                    Merged::Batch(batch) => return Ok(Some(batch)),
                    Merged::Working => {}
                    Merged::Finished => return Ok(None),
                }
            },
        }
    }
}
