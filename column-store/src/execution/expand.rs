//! Grouping sets: every row once for each set.

use super::stage::{Operator, Site, Stage};
use crate::Result;
use crate::expression::EvaluatorSet;
use crate::source::Step;
use crate::vector::{Batch, Data, Vector};
use gingham_plan::Expr;
use gingham_types::{SqlType, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// Repeats its input for each set, with the keys that are in it.
pub(crate) struct ExpandOperator {
    input: Stage,
    input_types: Vec<SqlType>,
    key_types: Vec<SqlType>,
    keys: EvaluatorSet,
    sets: Vec<Vec<bool>>,
    /// Whether no row has come.
    empty: bool,
    ready: VecDeque<Batch>,
}

impl ExpandOperator {
    pub(crate) fn new(site: &Site<'_>, keys: &[Expr], sets: &[Vec<bool>]) -> Result<Self> {
        let mut input_types = site.node.types();
        input_types.truncate(input_types.len() - keys.len() - 1);
        Ok(Self {
            input: site.input(0),
            input_types,
            key_types: keys.iter().map(Expr::ty).collect(),
            keys: EvaluatorSet::new(keys, &site.scope.runtime())?,
            sets: sets.to_vec(),
            empty: true,
            ready: VecDeque::new(),
        })
    }

    /// The batch of one set; `keys` are those of the rows.
    fn of_set(&self, number: usize, batch: &Batch, keys: &[Arc<Vector>]) -> Batch {
        let mut columns = batch.columns.clone();
        for ((key, ty), inside) in keys.iter().zip(&self.key_types).zip(&self.sets[number]) {
            let null = || Arc::new(Vector::constant(&Value::Null, *ty, batch.rows));
            columns.push(if *inside { Arc::clone(key) } else { null() });
        }
        columns.push(Arc::new(Vector::new(Data::Int32(vec![number as i32; batch.rows]))));
        Batch::new(columns, batch.rows)
    }
}

impl Operator for ExpandOperator {
    fn next(&mut self) -> Result<Step> {
        if let Some(batch) = self.ready.pop_front() {
            return Ok(Step::Batch(batch));
        }
        match self.input.next()? {
            Step::Batch(batch) => {
                self.empty = false;
                let keys = self.keys.evaluate(&batch)?;
                for number in 0..self.sets.len() {
                    let expanded = self.of_set(number, &batch, &keys);
                    self.ready.push_back(expanded);
                }
            }
            Step::Working => {}
            Step::Finished if self.empty => {
                // The group of all rows exists without any.
                self.empty = false;
                let null = |ty: &SqlType| Arc::new(Vector::constant(&Value::Null, *ty, 1));
                let batch = Batch::new(self.input_types.iter().map(null).collect(), 1);
                let keys: Vec<Arc<Vector>> = self.key_types.iter().map(null).collect();
                for number in (0..self.sets.len()).filter(|number| !self.sets[*number].contains(&true)) {
                    let expanded = self.of_set(number, &batch, &keys);
                    self.ready.push_back(expanded);
                }
            }
            Step::Finished => return Ok(Step::Finished),
        }
        Ok(Step::Working)
    }
}
