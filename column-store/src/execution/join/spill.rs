//! Joins whose build side does not fit memory.
//!
//! Both sides are divided by a hash of the keys into parts, which go to temporary space
//! and are joined one after the other; a part that is still too large is divided again.
//!
//! Where that cannot help (no keys, most rows of one key) or does not tell enough (NOT IN
//! must know every NULL of the build side) the build side is joined chunk by chunk: as
//! many of its rows as fit are joined with the whole probe side, whose rows go to
//! temporary space with what is known of them so far (whether they have had a match,
//! whether IN is unknown), then the next rows with those, and so on. What the kind of
//! join says of probe rows is said in the last pass, of build rows at the end of each.

use super::build::BuildRows;
use super::publish::bounds_filter;
use super::spec::Spec;
use super::{JoinOperator, Part, Phase, Probe};
use crate::Result;
use crate::execution::keys::{Bounds, KeyColumn, KeyWords};
use crate::execution::spill::{LEVELS_MAX, Partitions, Run, RunReader, RunWriter, block_bytes, row_hashes};
use crate::execution::stage::Stage;
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Data, Dictionary, Vector};
use gingham_types::SqlType;
use std::sync::Arc;

/// Rows moved to temporary space in one slice of work.
const SLICE_BATCHES: usize = 16;

/// Where the rows of a side come from.
pub(super) enum Side {
    Input(Stage),
    /// A part of it.
    Part(RunReader),
    /// Probe rows with two more columns: matched, unknown.
    Flagged(RunReader),
}

impl Side {
    pub(super) fn next(&mut self) -> Result<Step> {
        match self {
            Self::Input(stage) => stage.next(),
            Self::Part(reader) | Self::Flagged(reader) => Ok(reader.next()?.map_or(Step::Finished, Step::Batch)),
        }
    }

    /// Takes off what is known of probe rows from earlier chunks.
    pub(super) fn split_flags(&self, mut batch: Batch) -> (Batch, Option<(Vec<bool>, Vec<bool>)>) {
        if !matches!(self, Self::Flagged(_)) {
            return (batch, None);
        }
        let mut flags = || match batch.columns.pop().map(Arc::unwrap_or_clone) {
            Some(Vector { data: Data::Boolean(flags), .. }) => flags,
            _ => vec![false; batch.rows],
        };
        let (unknown, matched) = (flags(), flags());
        (batch, Some((matched, unknown)))
    }
}

/// A part of both sides that waits to be joined.
pub(super) struct Task {
    build: Run,
    probe: Run,
    part: Part,
}

/// The progress of a join chunk by chunk.
#[derive(Default)]
pub(super) struct Chunks {
    /// Where probe rows go; `None` in the last pass.
    kept: Option<RunWriter>,
}

/// The progress of dividing.
pub(super) struct Divide {
    /// Build rows in memory that have been given back, and their keys' strings.
    given_back: usize,
    strings: Vec<Option<Arc<Dictionary>>>,
    partitions: Partitions,
    /// Bounds of the build side's keys.
    bounds: Vec<Bounds>,
    /// The build side's parts, once they are complete.
    runs: Option<Vec<Run>>,
}

impl JoinOperator {
    pub(super) fn advance_build(&mut self) -> Result<()> {
        let rows = match self.pending.take() {
            Some(rows) => rows,
            None => match next_build_rows(&mut self.build_side, &self.spec)? {
                Step::Batch(rows) => rows,
                Step::Working => return Ok(()),
                Step::Finished => {
                    if let Some(chunks) = &mut self.chunks {
                        chunks.kept = None;
                    }
                    self.seal();
                    return Ok(());
                }
            },
        };
        if self.build.has_room(rows.rows)? || self.build.rows() == 0 {
            return self.build.take(&rows);
        }
        self.pending = Some(rows);
        let divides =
            self.spec.can_divide() && self.chunks.is_none() && !self.part.skewed && self.part.level < LEVELS_MAX;
        if divides {
            let strings = self.build.begin_giving_back();
            let partitions = Partitions::new(&self.build.memory, self.part.level)?;
            let bounds = vec![Bounds { min: i64::MAX, max: i64::MIN, nulls: false }; strings.len()];
            self.phase = Phase::Divide(Box::new(Divide { given_back: 0, strings, partitions, bounds, runs: None }));
            return Ok(());
        }
        let bytes = block_bytes(self.build.memory.bytes_available());
        let kept = RunWriter::new(self.build.memory.temp(bytes)?, bytes);
        self.chunks = Some(Chunks { kept: Some(kept) });
        self.seal();
        Ok(())
    }

    /// All build rows of this part or chunk are there.
    fn seal(&mut self) {
        let is_whole = self.part.level == 0 && self.chunks.is_none();
        self.build.seal(&self.spec, is_whole);
        self.phase = Phase::Insert;
    }

    /// Moves more rows to their parts.
    pub(super) fn advance_divide(&mut self) -> Result<()> {
        let Phase::Divide(mut divide) = std::mem::replace(&mut self.phase, Phase::Done) else {
            return Ok(());
        };
        if divide.runs.is_none() {
            self.divide_build(&mut divide)?;
        } else if self.divide_probe(&mut divide)? {
            return Ok(());
        }
        self.phase = Phase::Divide(divide);
        Ok(())
    }

    fn divide_build(&mut self, divide: &mut Divide) -> Result<()> {
        for _ in 0..SLICE_BATCHES {
            let end = (divide.given_back + BATCH_ROWS).min(self.build.rows());
            if divide.given_back == end {
                break;
            }
            let rows = self.build.give_back(&divide.strings, divide.given_back..end);
            divide.given_back = end;
            self.divide_build_rows(divide, &rows)?;
        }
        if divide.given_back < self.build.rows() {
            return Ok(());
        }
        if self.build.rows() > 0 {
            self.build.clear(&self.spec);
            divide.given_back = 0;
        }
        let rows = match self.pending.take() {
            Some(rows) => rows,
            None => match next_build_rows(&mut self.build_side, &self.spec)? {
                Step::Batch(rows) => rows,
                Step::Working => return Ok(()),
                Step::Finished => return self.end_of_build(divide),
            },
        };
        self.divide_build_rows(divide, &rows)
    }

    fn divide_build_rows(&self, divide: &mut Divide, rows: &BuildRows) -> Result<()> {
        let types = &self.spec.key_types;
        let keys = &rows.columns[..types.len()];
        for ((bounds, ty), vector) in divide.bounds.iter_mut().zip(types).zip(keys) {
            if !matches!(vector.data, Data::Text(_)) {
                let mut words = KeyWords::default();
                KeyColumn::new(*ty).encode(vector, true, &mut words)?;
                *bounds = bounds.union(Bounds::of(&words.words[0], words.valid[0].as_deref()));
            }
        }
        let hashes = row_hashes(keys, types, rows.rows)?;
        divide.partitions.push(rows, &hashes, None, |_| true, &self.build.memory)
    }

    /// Publishes what is known of the keys, and turns to the probe side.
    fn end_of_build(&self, divide: &mut Divide) -> Result<()> {
        let memory = &self.build.memory;
        let probe = Partitions::new(memory, self.part.level)?;
        divide.runs = Some(std::mem::replace(&mut divide.partitions, probe).finish(memory)?);
        if self.part.level == 0 {
            for (index, (bounds, ty)) in divide.bounds.iter().zip(&self.spec.key_types).enumerate() {
                if let Some(Some(cell)) = self.spec.publish.get(index) {
                    cell.publish(bounds_filter(*ty, *bounds, self.spec.null_equal.get(index) == Some(&true)));
                }
            }
        }
        Ok(())
    }

    /// `true` when the probe side is divided too: then its parts are tasks.
    fn divide_probe(&mut self, divide: &mut Divide) -> Result<bool> {
        let preserves = self.spec.preserves_probe();
        let build_rows: Vec<u64> = divide.runs.iter().flatten().map(Run::rows).collect();
        match self.probe_side.next()? {
            Step::Working => return Ok(false),
            Step::Batch(batch) => {
                let keys = self.spec.probe_keys.evaluate(&batch)?;
                let hashes = row_hashes(&keys, &self.spec.key_types, batch.rows)?;
                let wanted = |part: usize| preserves || build_rows[part] > 0;
                divide.partitions.push(&batch, &hashes, None, wanted, &self.build.memory)?;
                return Ok(false);
            }
            Step::Finished => {}
        }
        let memory = &self.build.memory;
        let empty = Partitions::new(memory, self.part.level)?;
        let probe = std::mem::replace(&mut divide.partitions, empty).finish(memory)?;
        let total: u64 = build_rows.iter().sum();
        let level = self.part.level + 1;
        for (build, probe) in divide.runs.take().unwrap_or_default().into_iter().zip(probe).rev() {
            let pointless = (build.rows() == 0 && !preserves) || (probe.rows() == 0 && !self.spec.drains_build());
            if !pointless {
                let skewed = build.rows() > total / 10 * 9;
                self.tasks.push(Task { build, probe, part: Part { level, skewed } });
            }
        }
        Ok(true)
    }

    /// Keeps a probe batch for the next chunk; `false` in the last pass.
    pub(super) fn keep_for_next_chunk(&mut self, probe: &Probe) -> Result<bool> {
        let Some(Chunks { kept: Some(kept) }) = &mut self.chunks else {
            return Ok(false);
        };
        let mut unknown = probe.unknown.clone();
        unknown.resize(probe.batch.rows, false);
        let mut batch = probe.batch.clone();
        for flags in [probe.matched.clone(), unknown] {
            batch.columns.push(Arc::new(Vector::new(Data::Boolean(flags))));
        }
        kept.push(&batch, None, &self.build.memory)?;
        Ok(true)
    }

    /// After the last row of a chunk or part: turns to the next one; `false` if there is none.
    pub(super) fn go_on(&mut self) -> Result<bool> {
        if let Some(kept) = self.chunks.as_mut().and_then(|chunks| chunks.kept.take()) {
            let mut types = self.spec.probe_types.clone();
            types.extend([SqlType::Boolean, SqlType::Boolean]);
            let run = kept.finish(&self.build.memory)?;
            self.probe_side = Side::Flagged(RunReader::new(run, &types));
        } else if let Some(task) = self.tasks.pop() {
            let types: Vec<SqlType> = self.spec.key_types.iter().chain(&self.spec.stored_types).copied().collect();
            self.build_side = Side::Part(RunReader::new(task.build, &types));
            self.probe_side = Side::Part(RunReader::new(task.probe, &self.spec.probe_types));
            self.part = task.part;
            self.chunks = None;
            (self.probe_seen, self.probe_null) = (false, false);
        } else {
            return Ok(false);
        }
        self.build.clear(&self.spec);
        self.phase = Phase::Build;
        Ok(true)
    }
}

/// The next rows of the build side: those of a part have their keys already.
fn next_build_rows(side: &mut Side, spec: &Spec) -> Result<Step> {
    match side {
        Side::Input(stage) => match stage.next()? {
            Step::Batch(batch) => spec.build_rows(&batch).map(Step::Batch),
            step => Ok(step),
        },
        part => part.next(),
    }
}
