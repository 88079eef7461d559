//! Grouping and aggregates.
//!
//! Every batch is turned into group numbers ([`GroupTable`]) and then folded into the
//! state of its groups ([`Accumulators`]); the input is not kept but for the functions
//! that need it whole ([`collected`]).
//!
//! When memory runs out the table is full: rows of its groups are folded as before, and
//! rows of others go to temporary space, divided by the hash of their keys. Once the
//! table's groups have been put out, each part is grouped in its turn, by the same rule.
//! A group is thus in one table with all of its rows, in their order. Distinct sets that
//! do not fit do the same with values ([`distinct`]); rows that functions keep are what is
//! given to temporary space first, sorted ([`collected`]).

mod accumulators;
mod collected;
mod combinations;
mod dependents;
mod distinct;
mod extremes;
mod moments;
mod ordered;
mod output;
mod runs;
mod sums;

use super::context::Scope;
use super::group_table::{GroupTable, NO_GROUP};
use super::keys::{KeyColumn, KeyWords, text_vector};
use super::memory::Reservation;
use super::spill::{LEVELS_MAX, Partitions, Run, RunReader, row_hashes};
use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::EvaluatorSet;
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Dictionary, Vector};
pub(crate) use accumulators::Accumulators;
use combinations::Combinations;
use dependents::{Dependents, is_dependent};
pub(crate) use extremes::double_order;
use gingham_plan::{AggregateCall, Expr};
use gingham_types::SqlType;
pub(crate) use output::{exact_results, moment_result};
use std::rc::Rc;
use std::sync::Arc;

/// Estimates above this many groups do not size anything before the groups exist.
const GROUPS_EXPECTED_MAX: f64 = 4_000_000.0;

/// Which group each row of a batch is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Groups<'a> {
    /// All rows in group 0.
    One,
    /// A group number a row.
    Numbers(&'a [u32]),
    /// The first row of each run of rows of one group, and its number: [`runs`].
    Runs(&'a [u32], &'a [u32]),
}

impl Groups<'_> {
    /// The group of a row.
    #[inline]
    pub(crate) fn of(self, row: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Numbers(numbers) => numbers[row] as usize,
            Self::Runs(starts, numbers) => numbers[starts.partition_point(|start| *start as usize <= row) - 1] as usize,
        }
    }
}

/// Bytes that a full table may still grow by: longer strings in MIN and MAX.
const FULL_GROWTH_BYTES_MIN: usize = 1 << 20;

/// Bytes of joined strings that are put out at a time: one, however long, or several.
const STRINGS_BYTES: u64 = 64 << 10;

/// Groups its whole input, then puts out a row a group.
pub(crate) struct AggregateOperator {
    scope: Rc<Scope>,
    calls: Vec<AggregateCall>,
    input: Input,
    input_types: Vec<SqlType>,
    key_expressions: EvaluatorSet,
    key_types: Vec<SqlType>,
    keys: Vec<KeyColumn>,
    table: GroupTable,
    /// Texts of groups that are found by their other keys.
    dependents: Option<Dependents>,
    combinations: Combinations,
    accumulators: Accumulators,
    memory: Reservation,
    /// Bytes at which there was no more memory.
    full: Option<usize>,
    /// Rows of groups that a full table does not have.
    rest: Option<Partitions>,
    level: u32,
    waiting: Vec<(Run, u32)>,
    output: Option<Output>,
}

/// Where rows come from.
enum Input {
    Stage(Stage),
    Part(RunReader),
    Finished,
}

/// Progress of the output.
struct Output {
    next: usize,
    groups: usize,
    /// For each text key, its strings.
    dictionaries: Vec<Option<Arc<Dictionary>>>,
}

impl AggregateOperator {
    pub(crate) fn new(site: &Site<'_>, groups: &[Expr], calls: &[AggregateCall], estimate: f64) -> Result<Self> {
        let runtime = site.scope.runtime();
        let key_types: Vec<SqlType> = groups.iter().map(Expr::ty).collect();
        let expected = if estimate.is_finite() { estimate.clamp(0.0, GROUPS_EXPECTED_MAX) as usize } else { 0 };
        let memory = site.reservation();
        let (keys, dependents, table) = tables(&key_types, expected, &memory);
        Ok(Self {
            scope: Rc::clone(site.scope),
            calls: calls.to_vec(),
            input: Input::Stage(site.input(0)),
            input_types: site.node.inputs().first().map(|input| input.types()).unwrap_or_default(),
            key_expressions: EvaluatorSet::new(groups, &runtime)?,
            key_types,
            keys,
            table,
            dependents,
            combinations: Combinations::default(),
            accumulators: Accumulators::new(calls, &runtime)?,
            memory,
            full: None,
            rest: None,
            level: 0,
            waiting: Vec::new(),
            output: None,
        })
    }

    fn memory_bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(KeyColumn::memory_bytes).sum();
        let texts = self.dependents.as_ref().map_or(0, Dependents::memory_bytes);
        keys + texts + self.table.memory_bytes() + self.accumulators.memory_bytes()
    }

    /// Asks for memory before this many rows are taken; without it the table is full.
    fn make_room(&mut self, rows: usize) -> Result<()> {
        let bytes = self.memory_bytes();
        if let Some(full) = self.full {
            let most = full + FULL_GROWTH_BYTES_MIN.max(full / 2);
            if bytes > most && self.accumulators.spill_collected(&self.memory)? < bytes - most {
                return self.memory.resize(self.memory_bytes());
            }
            self.memory.force(self.memory_bytes());
            return Ok(());
        }
        // Parts being written take an eighth.
        let wanted = |own: &Self| {
            let texts = own.dependents.as_ref().map_or(0, |texts| texts.growth_bytes(rows));
            let growth = own.table.growth_bytes(rows) + own.accumulators.growth_bytes(rows) + texts;
            (own.memory_bytes() + growth) / 8 * 9
        };
        let before = wanted(self);
        if self.memory.try_resize(before) {
            return Ok(());
        }
        self.memory.temp(before)?;
        // If rows that functions keep are most of it, the groups have room without them.
        let freed = self.accumulators.spill_collected(&self.memory)?;
        if freed > bytes / 2 && self.memory.try_resize(wanted(self)) {
            return Ok(());
        }
        let bytes = self.memory_bytes();
        self.fill_up(bytes)
    }

    /// From now on rows of groups that the table does not have are put aside.
    fn fill_up(&mut self, bytes: usize) -> Result<()> {
        if self.table.groups() > 0 {
            self.rest = Some(Partitions::new(&self.memory, self.level)?);
        }
        if self.rest.is_some() || (self.keys.is_empty() && self.accumulators.has_sets()) {
            self.accumulators.fill_up(&self.memory)?;
            self.full = Some(bytes);
        }
        self.memory.force(bytes);
        Ok(())
    }

    fn take(&mut self, batch: &Batch) -> Result<()> {
        self.make_room(batch.rows)?;
        if self.keys.is_empty() {
            self.accumulators.resize(1);
            return self.accumulators.update(batch, Groups::One, &self.memory);
        }
        let vectors = self.key_expressions.evaluate(batch)?;
        let combined = if self.rest.is_none() { self.combinations.of(&vectors, batch.rows) } else { None };
        if let Some(numbers) = combined.as_ref().and_then(|rows| self.combinations.groups(rows)) {
            return self.accumulators.update(batch, Groups::Numbers(&numbers), &self.memory);
        }
        if self.rest.is_none() {
            return self.fold(batch, &vectors, combined.as_deref());
        }
        let words = self.words(&vectors, batch.rows)?;
        self.fold_known(batch, &vectors, &words)
    }

    /// The keys that groups are found by as integers.
    fn words(&mut self, vectors: &[Arc<Vector>], rows: usize) -> Result<KeyWords> {
        let mut words = KeyWords { rows, ..KeyWords::default() };
        let all = self.dependents.is_none();
        for (key, vector) in self.keys.iter_mut().zip(vectors).filter(|(key, _)| all || !is_dependent(key)) {
            key.encode(vector, self.rest.is_none(), &mut words)?;
        }
        Ok(words)
    }

    /// Folds all rows into their groups, new ones among them.
    fn fold(&mut self, batch: &Batch, vectors: &[Arc<Vector>], combined: Option<&[u32]>) -> Result<()> {
        let starts = if combined.is_none() { runs::starts(vectors, batch.rows) } else { None };
        let firsts: Option<Vec<Arc<Vector>>> =
            starts.as_ref().map(|starts| vectors.iter().map(|vector| Arc::new(vector.gather(starts))).collect());
        let looked_up = firsts.as_deref().unwrap_or(vectors);
        let words = self.words(looked_up, starts.as_ref().map_or(batch.rows, Vec::len))?;
        if !self.table.is_ready_for(&words) {
            // Groups that came in order had no table so far; without memory for one, groups
            // that are not there yet go to temporary space.
            let bytes = self.memory_bytes();
            if !self.memory.try_resize(bytes + self.table.table_bytes(words.rows)) {
                self.fill_up(bytes)?;
                let words = self.words(vectors, batch.rows)?;
                return self.fold_known(batch, vectors, &words);
            }
        }
        let known = self.table.groups();
        let numbers = self.table.assign(&words)?;
        if let Some(dependents) = &mut self.dependents {
            dependents.append(looked_up, &numbers, known)?;
            if !dependents.disagreeing(looked_up, &numbers).is_empty() {
                self.accumulators.resize(self.table.groups());
                return if self.tell_texts_apart()? {
                    self.fold(batch, vectors, combined)
                } else {
                    let words = self.words(vectors, batch.rows)?;
                    self.fold_known(batch, vectors, &words)
                };
            }
        }
        if let Some(combined) = combined {
            self.combinations.note(combined, &numbers);
        }
        self.accumulators.resize(self.table.groups());
        let groups = starts.as_ref().map_or(Groups::Numbers(&numbers), |starts| Groups::Runs(starts, &numbers));
        self.accumulators.update(batch, groups, &self.memory)
    }

    /// From now on groups are found by all keys. `false` if there is no memory for that: then
    /// rows that have other texts than the group their other keys find are put aside.
    fn tell_texts_apart(&mut self) -> Result<bool> {
        let Some(mut dependents) = self.dependents.take() else { return Ok(true) };
        let groups = self.table.groups();
        // Strings with their look-up tables, and the keys of all groups twice for a while.
        let bytes = self.memory_bytes() + dependents.memory_bytes();
        let added = dependents.memory_bytes() * 2 + groups * (self.keys.len() * 32 + 64);
        if !self.memory.try_resize(bytes + added) {
            self.dependents = Some(dependents);
            self.fill_up(bytes)?;
            return Ok(false);
        }
        dependents.freeze();
        let mut words = KeyWords { rows: groups, ..KeyWords::default() };
        let mut column = 0;
        for (index, key) in self.keys.iter_mut().enumerate() {
            if let Some(texts) = dependents.vector(index, 0..groups) {
                key.encode(&texts, true, &mut words)?;
                continue;
            }
            for half in column..column + key.width() {
                let (list, valid) = self.table.words(half, 0..groups);
                words.words.push(list);
                words.valid.push(valid);
            }
            column += key.width();
        }
        let columns = self.keys.iter().map(KeyColumn::width).sum();
        self.table = GroupTable::new(columns, groups, self.memory.bytes_available());
        self.table.assign(&words)?;
        Ok(true)
    }

    /// Folds rows of groups that a full table has, and puts the others aside.
    fn fold_known(&mut self, batch: &Batch, vectors: &[Arc<Vector>], words: &KeyWords) -> Result<()> {
        let Some(rest) = &mut self.rest else { return Ok(()) };
        let mut numbers = self.table.find(words);
        if let Some(dependents) = &self.dependents {
            for row in dependents.disagreeing(vectors, &numbers) {
                numbers[row as usize] = NO_GROUP;
            }
        }
        let (known, others): (Vec<u32>, Vec<u32>) =
            (0..batch.rows as u32).partition(|row| numbers[*row as usize] != NO_GROUP);
        if !others.is_empty() {
            let hashes = row_hashes(vectors, &self.key_types, batch.rows)?;
            rest.push(batch, &hashes, Some(&others), |_| true, &self.memory)?;
        }
        if known.is_empty() {
            return Ok(());
        }
        let numbers: Vec<u32> = known.iter().map(|row| numbers[*row as usize]).collect();
        self.accumulators.update(&batch.gather(&known), Groups::Numbers(&numbers), &self.memory)
    }

    /// Takes more rows; `true` when all are in.
    fn take_more(&mut self) -> Result<bool> {
        let batch = match &mut self.input {
            Input::Stage(stage) => match stage.next()? {
                Step::Batch(batch) => Some(batch),
                Step::Working => return Ok(false),
                Step::Finished => None,
            },
            Input::Part(reader) => reader.next()?,
            Input::Finished => return self.fold_rest(),
        };
        if let Some(batch) = batch {
            self.take(&batch)?;
            return Ok(false);
        }
        self.input = Input::Finished;
        if let Some(rest) = self.rest.take() {
            let level = (self.level + 1).min(LEVELS_MAX);
            let runs = rest.finish(&self.memory)?.into_iter().rev().filter(|run| run.rows() > 0);
            self.waiting.extend(runs.map(|run| (run, level)));
        }
        Ok(!self.accumulators.has_rest())
    }

    /// Folds some of the values that distinct sets have put aside; `true` when that is done.
    fn fold_rest(&mut self) -> Result<bool> {
        let wanted = self.memory_bytes() + self.accumulators.growth_bytes(BATCH_ROWS);
        if !self.memory.try_resize(wanted) {
            if self.accumulators.spill_collected(&self.memory)? < wanted / 2 {
                self.accumulators.fill_up(&self.memory)?;
            }
            self.memory.force(self.memory_bytes());
        }
        self.accumulators.fold_rest(&self.memory)
    }

    /// Turns to the next part; `false` if there is none.
    fn next_part(&mut self) -> Result<bool> {
        let Some((run, level)) = self.waiting.pop() else {
            return Ok(false);
        };
        self.memory.force(0);
        (self.keys, self.dependents, self.table) = tables(&self.key_types, run.rows() as usize, &self.memory);
        self.accumulators = Accumulators::new(&self.calls, &self.scope.runtime())?;
        self.combinations.clear();
        self.input = Input::Part(RunReader::new(run, &self.input_types));
        (self.level, self.full) = (level, None);
        Ok(true)
    }

    fn begin_output(&mut self) -> Result<Output> {
        if self.keys.is_empty() {
            self.accumulators.resize(1);
        }
        self.accumulators.complete(&self.memory)?;
        self.memory.force(self.memory_bytes());
        let groups = if self.keys.is_empty() { 1 } else { self.table.groups() };
        if let Some(dependents) = &mut self.dependents {
            dependents.freeze();
        }
        let dictionaries = self.keys.iter_mut().map(KeyColumn::take_strings).collect();
        Ok(Output { next: 0, groups, dictionaries })
    }

    fn key_vectors(&self, output: &Output, range: &std::ops::Range<usize>) -> Vec<Arc<Vector>> {
        let mut column = 0;
        let mut vectors = Vec::with_capacity(self.keys.len());
        for (index, (key, dictionary)) in self.keys.iter().zip(&output.dictionaries).enumerate() {
            if let Some(texts) = self.dependents.as_ref().and_then(|texts| texts.vector(index, range.clone())) {
                vectors.push(Arc::new(texts));
                continue;
            }
            let (first, valid) = self.table.words(column, range.clone());
            let mut words = vec![first];
            words.extend((1..key.width()).map(|half| self.table.words(column + half, range.clone()).0));
            column += key.width();
            vectors.push(Arc::new(match dictionary {
                None => key.decode(&words, valid),
                Some(dictionary) => text_vector(&words[0], valid, dictionary),
            }));
        }
        vectors
    }
}

fn tables(
    types: &[SqlType],
    expected: usize,
    memory: &Reservation,
) -> (Vec<KeyColumn>, Option<Dependents>, GroupTable) {
    let keys: Vec<KeyColumn> = types.iter().map(|ty| KeyColumn::new(*ty)).collect();
    let dependents = Dependents::new(&keys, types);
    let found_by = keys.iter().filter(|key| dependents.is_none() || !is_dependent(key));
    let columns = found_by.map(KeyColumn::width).sum();
    (keys, dependents, GroupTable::new(columns, expected, memory.bytes_available()))
}

impl Operator for AggregateOperator {
    fn next(&mut self) -> Result<Step> {
        let mut output = match self.output.take() {
            Some(output) => output,
            None if !self.take_more()? => return Ok(Step::Working),
            None => self.begin_output()?,
        };
        let range = output.next..(output.next + BATCH_ROWS).min(output.groups);
        if range.is_empty() {
            return Ok(if self.next_part()? { Step::Working } else { Step::Finished });
        }
        let range = range.start..range.start + self.accumulators.fitting(range.clone(), STRINGS_BYTES);
        output.next = range.end;
        let mut columns = self.key_vectors(&output, &range);
        columns.extend(self.accumulators.finish(range.clone(), &self.memory)?.into_iter().map(Arc::new));
        self.output = Some(output);
        Ok(Step::Batch(Batch::new(columns, range.len())))
    }
}
