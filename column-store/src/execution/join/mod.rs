//! Joins: by hash or array over equal keys, and nested loops where there are none.
//!
//! One input, the build side, is read whole and kept; the other is streamed past it. For
//! every probe batch candidate pairs are made, a bounded number at a time; the residual
//! thins them; what is left marks rows as matched and, where the kind asks for it, is
//! put out. What has to be said of unmatched probe rows is said at the end of their
//! batch, and of build rows after the last batch.
//!
//! A build side that does not fit memory is divided, and the probe side with it, or it
//! is joined chunk by chunk: [`spill`].

mod build;
mod pairs;
mod publish;
mod spec;
mod spill;
mod table;

use super::coalesce::Coalescer;
use super::columns::{Column, NO_ROW};
use super::stage::{Operator, Site};
use crate::Result;
use crate::expression::Selection;
use crate::source::Step;
use crate::vector::{BATCH_ROWS, Batch, Data, Vector};
use build::Build;
use gingham_plan::{BuildSide, Join, JoinKind};
use pairs::{Candidates, Cursor, Pairs};
use spec::{Condition, Origin, Spec};
use spill::{Chunks, Divide, Side, Task};
use std::collections::VecDeque;
use std::sync::Arc;

/// A join.
pub(crate) struct JoinOperator {
    spec: Spec,
    build_side: Side,
    probe_side: Side,
    build: Build,
    phase: Phase,
    probe: Option<Probe>,
    /// Whether there was a probe row, and one whose first key is NULL: for null-aware
    /// joins that preserve the build side.
    probe_seen: bool,
    probe_null: bool,
    output: Coalescer,
    ready: VecDeque<Batch>,
    /// Build rows for which there was no memory.
    pending: Option<Batch>,
    /// The part of the sides being joined, and those that wait.
    part: Part,
    tasks: Vec<Task>,
    /// While the build side is joined chunk by chunk.
    chunks: Option<Chunks>,
}

/// Which part of the sides is being joined.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// How often they have been divided.
    level: u32,
    /// Dividing has not helped: most rows have one key.
    skewed: bool,
}

enum Phase {
    Build,
    /// Dividing both sides.
    Divide(Box<Divide>),
    Insert,
    Probe,
    /// Putting out build rows, from this one on.
    Drain(usize),
    Done,
}

/// A probe batch in progress.
struct Probe {
    batch: Batch,
    cursor: Cursor,
    /// Whether a row has had a match.
    matched: Vec<bool>,
    /// For null-aware joins: whether the first key is NULL, and whether IN is unknown.
    key_null: Vec<bool>,
    unknown: Vec<bool>,
    /// Whether the pairs are those that decide what is unknown.
    deciding_nulls: bool,
}

impl JoinOperator {
    pub(crate) fn new(site: &Site<'_>, join: &Join) -> Result<Self> {
        let spec = Spec::new(site, join)?;
        let (build, probe) = if join.build == BuildSide::Left { (0, 1) } else { (1, 0) };
        Ok(Self {
            build: Build::new(&spec, site.reservation()),
            output: Coalescer::new(spec.output_types.clone()),
            spec,
            build_side: Side::Input(site.input(build)),
            probe_side: Side::Input(site.input(probe)),
            pending: None,
            part: Part::default(),
            tasks: Vec::new(),
            chunks: None,
            phase: Phase::Build,
            probe: None,
            probe_seen: false,
            probe_null: false,
            ready: VecDeque::new(),
        })
    }

    fn advance(&mut self) -> Result<()> {
        match &self.phase {
            Phase::Build => self.advance_build()?,
            Phase::Divide(_) => self.advance_divide()?,
            Phase::Insert => {
                if self.build.insert_more() {
                    // Nothing can come of the probe side: it need not be read.
                    let pointless = self.build.rows() == 0 && !self.spec.preserves_probe();
                    self.phase = if pointless { Phase::Done } else { Phase::Probe };
                }
            }
            Phase::Probe => self.advance_probe()?,
            Phase::Drain(from) => {
                let from = *from;
                self.drain(from)?;
            }
            Phase::Done => {}
        }
        Ok(())
    }

    fn advance_probe(&mut self) -> Result<()> {
        let Some(mut probe) = self.probe.take() else {
            match self.probe_side.next()? {
                Step::Batch(batch) => self.probe = self.begin(batch)?,
                Step::Working => {}
                Step::Finished => {
                    self.phase = if self.spec.drains_build() { Phase::Drain(0) } else { Phase::Done };
                }
            }
            return Ok(());
        };
        // Who has a match already needs no other, unless every pair is put out.
        let decided = !self.spec.emits_pairs() && !self.spec.build_is_left;
        let pairs = probe.cursor.next(probe.batch.rows, &self.build, decided.then_some(&probe.matched[..]));
        if pairs.probe.is_empty() {
            return self.end_of_pairs(probe);
        }
        if probe.deciding_nulls {
            let pairs = self.thin(&probe.batch, pairs, self.spec.rest.as_ref())?;
            let (flags, rows) = if self.spec.build_is_left {
                (&mut self.build.unknown, &pairs.build)
            } else {
                (&mut probe.unknown, &pairs.probe)
            };
            for row in rows {
                flags[*row as usize] = true;
            }
        } else {
            let pairs = self.thin(&probe.batch, pairs, self.spec.residual.as_ref())?;
            self.match_pairs(&mut probe, &pairs)?;
        }
        self.probe = Some(probe);
        Ok(())
    }

    /// Starts on a probe batch; `None` when it is already dealt with.
    fn begin(&mut self, batch: Batch) -> Result<Option<Probe>> {
        let rows = batch.rows;
        let (batch, flags) = self.probe_side.split_flags(batch);
        let (words, findable) = self.build.probe_words(&self.spec, &batch)?;
        let key_null = match words.valid.first() {
            Some(Some(valid)) if self.spec.null_aware => valid.iter().map(|v| !v).collect(),
            _ => vec![false; if self.spec.null_aware { rows } else { 0 }],
        };
        let (matched, unknown) = flags.unwrap_or_else(|| (vec![false; rows], vec![false; rows]));
        self.probe_seen = true;
        self.probe_null |= key_null.contains(&true);
        let candidates = match &self.build.table {
            None => Candidates::All,
            Some(table) => Candidates::Heads(table.heads(&words, findable.unwrap_or_else(|| vec![true; rows]))),
        };
        let mut probe = Probe {
            matched,
            unknown: if self.spec.null_aware { unknown } else { Vec::new() },
            key_null,
            cursor: Cursor::new(Candidates::All),
            deciding_nulls: false,
            batch,
        };
        // Without a residual the first build row of the key decides for all of them.
        if let (Candidates::Heads(heads), None, false) = (&candidates, &self.spec.residual, self.spec.emits_pairs()) {
            if self.spec.build_is_left {
                self.match_chains(heads);
            } else {
                for (matched, head) in probe.matched.iter_mut().zip(heads) {
                    *matched |= *head != 0;
                }
            }
            self.end_of_pairs(probe)?;
            return Ok(self.probe.take());
        }
        probe.cursor = Cursor::new(candidates);
        Ok(Some(probe))
    }

    /// Marks all build rows of these chains. A chain is marked as a whole.
    fn match_chains(&mut self, heads: &[u32]) {
        let Some(table) = &self.build.table else {
            return;
        };
        for head in heads {
            let mut at = *head;
            while at != 0 && !self.build.matched[at as usize - 1] {
                self.build.matched[at as usize - 1] = true;
                at = table.next(at - 1);
            }
        }
    }

    /// The pairs for which a condition is true.
    fn thin(&self, batch: &Batch, pairs: Pairs, condition: Option<&Condition>) -> Result<Pairs> {
        let Some(condition) = condition else {
            return Ok(pairs);
        };
        let columns = condition.columns.iter().map(|origin| self.column(*origin, batch, &pairs)).collect();
        let candidates = Batch { columns, rows: pairs.probe.len() };
        Ok(match condition.predicates.select(&candidates)? {
            Selection::All => pairs,
            Selection::Rows(kept) => pairs.pick(&kept),
        })
    }

    /// One column over pairs of rows.
    fn column(&self, origin: Origin, batch: &Batch, pairs: &Pairs) -> Arc<Vector> {
        match origin {
            Origin::Probe(column) => Arc::new(batch.columns[column].gather(&pairs.probe)),
            Origin::Build(column) => Arc::new(self.build.store.columns[column].gather(&pairs.build)),
            Origin::Mark => Arc::new(Vector::new(Data::Boolean(vec![true; pairs.probe.len()]))),
        }
    }

    /// Notes matches and puts out pairs.
    fn match_pairs(&mut self, probe: &mut Probe, pairs: &Pairs) -> Result<()> {
        pairs.probe.iter().for_each(|row| probe.matched[*row as usize] = true);
        if !self.build.matched.is_empty() {
            pairs.build.iter().for_each(|row| self.build.matched[*row as usize] = true);
        }
        if self.spec.emits_pairs() && !pairs.probe.is_empty() {
            // A batch of which every row matches once passes its columns on.
            let whole = pairs.probe.len() == probe.batch.rows
                && pairs.probe.iter().enumerate().all(|(at, row)| at == *row as usize);
            let columns = self.spec.output.iter().map(|origin| match origin {
                Origin::Probe(column) if whole => Arc::clone(&probe.batch.columns[*column]),
                origin => self.column(*origin, &probe.batch, pairs),
            });
            let batch = Batch { columns: columns.collect(), rows: pairs.probe.len() };
            self.put_out(batch)?;
        }
        Ok(())
    }

    /// After the last pair of a batch: decides what is unknown, then puts out what the
    /// kind says of its rows.
    fn end_of_pairs(&mut self, mut probe: Probe) -> Result<()> {
        if self.spec.null_aware && !probe.deciding_nulls {
            if self.spec.rest.is_some() {
                probe.deciding_nulls = true;
                probe.cursor = Cursor::new(Candidates::Nulls(probe.key_null.clone()));
                self.probe = Some(probe);
                return Ok(());
            }
            if !self.spec.build_is_left && self.build.rows() > 0 {
                let build_null = !self.build.null_rows.is_empty();
                for (unknown, key_null) in probe.unknown.iter_mut().zip(&probe.key_null) {
                    *unknown |= *key_null || build_null;
                }
            }
        }
        if self.keep_for_next_chunk(&probe)? || (self.spec.kind != JoinKind::Full && self.spec.build_is_left) {
            return Ok(());
        }
        let rows = 0..probe.batch.rows as u32;
        let matched = |row: &u32| probe.matched[*row as usize];
        let unknown = |row: &u32| probe.unknown.get(*row as usize) == Some(&true);
        let kept: Vec<u32> = match self.spec.kind {
            JoinKind::Inner => return Ok(()),
            JoinKind::Left | JoinKind::Full => rows.filter(|row| !matched(row)).collect(),
            JoinKind::Semi => rows.filter(matched).collect(),
            JoinKind::Anti => rows.filter(|row| !matched(row) && !unknown(row)).collect(),
            JoinKind::Mark => rows.collect(),
        };
        if kept.is_empty() {
            return Ok(());
        }
        let mark = || mark_vector(&kept, &probe.matched, &probe.unknown);
        let whole = kept.len() == probe.batch.rows;
        let columns = self.spec.output.iter().map(|origin| match origin {
            Origin::Probe(column) if whole => Arc::clone(&probe.batch.columns[*column]),
            Origin::Probe(column) => Arc::new(probe.batch.columns[*column].gather(&kept)),
            Origin::Build(column) => Arc::new(self.build.store.columns[*column].gather(&vec![NO_ROW; kept.len()])),
            Origin::Mark => Arc::new(mark()),
        });
        let batch = Batch { columns: columns.collect(), rows: kept.len() };
        self.put_out(batch)
    }

    /// Puts out a slice of what the kind says of build rows.
    fn drain(&mut self, from: usize) -> Result<()> {
        let end = (from + BATCH_ROWS).min(self.build.rows());
        self.phase = if end == self.build.rows() { Phase::Done } else { Phase::Drain(end) };
        if self.spec.null_aware && self.spec.rest.is_none() && self.probe_seen {
            if self.probe_null {
                self.build.unknown[from..end].fill(true);
            }
            for row in &self.build.null_rows {
                self.build.unknown[*row as usize] = true;
            }
        }
        let build = &self.build;
        let matched = |row: &u32| build.matched[*row as usize];
        let unknown = |row: &u32| build.unknown.get(*row as usize) == Some(&true);
        let rows = from as u32..end as u32;
        let kept: Vec<u32> = match self.spec.kind {
            JoinKind::Inner => Vec::new(),
            JoinKind::Left | JoinKind::Full => rows.filter(|row| !matched(row)).collect(),
            JoinKind::Semi => rows.filter(matched).collect(),
            JoinKind::Anti => rows.filter(|row| !matched(row) && !unknown(row)).collect(),
            JoinKind::Mark => rows.collect(),
        };
        if kept.is_empty() {
            return Ok(());
        }
        let columns = self.spec.output.iter().map(|origin| match origin {
            Origin::Build(column) => Arc::new(build.store.columns[*column].gather(&kept)),
            Origin::Probe(column) => {
                Arc::new(Column::new(self.spec.probe_types[*column]).gather(&vec![NO_ROW; kept.len()]))
            }
            Origin::Mark => Arc::new(mark_vector(&kept, &build.matched, &build.unknown)),
        });
        let batch = Batch { columns: columns.collect(), rows: kept.len() };
        self.put_out(batch)
    }

    fn put_out(&mut self, batch: Batch) -> Result<()> {
        self.ready.extend(self.output.push(batch, None)?);
        Ok(())
    }
}

/// TRUE where matched, NULL where unknown, else FALSE.
fn mark_vector(rows: &[u32], matched: &[bool], unknown: &[bool]) -> Vector {
    let data: Vec<bool> = rows.iter().map(|row| matched[*row as usize]).collect();
    let valid: Vec<bool> =
        rows.iter().map(|row| matched[*row as usize] || unknown.get(*row as usize) != Some(&true)).collect();
    Vector { data: Data::Boolean(data), validity: if valid.iter().all(|v| *v) { None } else { Some(valid) } }
}

impl Operator for JoinOperator {
    fn next(&mut self) -> Result<Step> {
        if let Some(batch) = self.ready.pop_front() {
            return Ok(Step::Batch(batch));
        }
        if matches!(self.phase, Phase::Done) {
            if self.go_on()? {
                return Ok(Step::Working);
            }
            return Ok(self.output.finish().map_or(Step::Finished, Step::Batch));
        }
        self.advance()?;
        Ok(self.ready.pop_front().map_or(Step::Working, Step::Batch))
    }
}
