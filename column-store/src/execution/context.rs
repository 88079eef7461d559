//! What the operators of one running query share.

use super::cte::SharedCte;
use super::memory::{MemoryBudget, Reservation, Tally};
use super::profile::{NodeProfile, Profile};
use super::stage::{Place, Stage, Tree};
use crate::expression::{Runtime, error};
use crate::source::{Cancel, FilterCell, Step, Tables};
use crate::vector::Batch;
use crate::{Error, Result};
use gingham_plan::{Node, Query, SqlError, WorkId, explain};
use gingham_types::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A clock: milliseconds since any fixed moment.
pub type Clock = Rc<dyn Fn() -> f64>;

/// How a query is to run.
#[derive(Clone)]
pub struct Options {
    /// Parameter values, cast to [`Query::parameters`].
    pub parameters: Vec<Value>,
    /// When the statement began, if there is a clock.
    pub now: Option<Value>,
    /// Memory that its operators may hold.
    pub memory: Rc<MemoryBudget>,
    /// Measures operators when given.
    pub clock: Option<Clock>,
    /// Stops the query.
    pub cancel: Rc<Cancel>,
}

impl Default for Options {
    /// No parameters, no bound on memory, no clock.
    fn default() -> Self {
        Self {
            parameters: Vec::new(),
            now: None,
            memory: Rc::new(MemoryBudget::new(u64::MAX)),
            clock: None,
            cancel: Rc::new(Cancel::default()),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("parameters", &self.parameters)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// One running query.
pub(crate) struct Context {
    pub(crate) query: Arc<Query>,
    pub(crate) tables: Rc<dyn Tables>,
    pub(crate) options: Options,
    subqueries: Vec<RefCell<Subquery>>,
    pub(crate) ctes: Vec<SharedCte>,
    /// The last round's rows of each recursive expression that runs.
    pub(crate) works: RefCell<BTreeMap<WorkId, Rc<Vec<Batch>>>>,
    pub(crate) profile: RefCell<Profile>,
    /// What the operators hold, tree by tree as in the profile.
    tallies: [Vec<Vec<Rc<Tally>>>; 3],
}

/// A scalar subquery's progress.
enum Subquery {
    New,
    Running(Box<Stage>, Option<Value>),
    /// Its value, or while it is being advanced nothing.
    Done(Option<Value>),
}

impl Context {
    pub(crate) fn new(query: Arc<Query>, tables: Rc<dyn Tables>, options: Options) -> Self {
        let profile = Profile::new(&query);
        options.memory.set_aside(memory_users(&query) + 1);
        Self {
            subqueries: query.subqueries.iter().map(|_| RefCell::new(Subquery::New)).collect(),
            ctes: query.ctes.iter().map(|_| SharedCte::new(&options.memory)).collect(),
            works: RefCell::default(),
            tallies: [
                tallies(&profile.ctes),
                tallies(&profile.subqueries),
                tallies(std::slice::from_ref(&profile.root)),
            ],
            profile: RefCell::new(profile),
            query,
            tables,
            options,
        }
    }

    /// The share of memory of the operator at a place.
    pub(crate) fn reservation(&self, place: &Place) -> Reservation {
        let list = match place.tree {
            Tree::Cte(index) => self.tallies[0].get(index),
            Tree::Subquery(index) => self.tallies[1].get(index),
            Tree::Root => self.tallies[2].first(),
        };
        let tally = list.and_then(|list| list.get(place.number)).map(Rc::clone).unwrap_or_default();
        Reservation::new(&self.options.memory, &tally)
    }

    /// The counts of every operator so far.
    pub(crate) fn measured(&self) -> Profile {
        let mut profile = self.profile.borrow().clone();
        let [ctes, subqueries, root] = &self.tallies;
        let lists = profile.ctes.iter_mut().zip(ctes).chain(profile.subqueries.iter_mut().zip(subqueries));
        for (nodes, tallies) in lists.chain([&mut profile.root].into_iter().zip(root)) {
            for (node, tally) in nodes.iter_mut().zip(tallies) {
                node.memory_bytes = tally.peak.get();
                node.spilled_bytes = tally.spilled.get();
            }
        }
        profile
    }

    pub(crate) fn now_ms(&self) -> f64 {
        self.options.clock.as_ref().map_or(0.0, |clock| clock())
    }

    /// Adds to the counts of a node.
    pub(crate) fn record(&self, place: &Place, add: impl FnOnce(&mut NodeProfile)) {
        let mut profile = self.profile.borrow_mut();
        let list = match place.tree {
            Tree::Root => Some(&mut profile.root),
            Tree::Cte(index) => profile.ctes.get_mut(index),
            Tree::Subquery(index) => profile.subqueries.get_mut(index),
        };
        if let Some(node) = list.and_then(|list| list.get_mut(place.number)) {
            add(node);
        }
    }
}

fn tallies(lists: &[Vec<NodeProfile>]) -> Vec<Vec<Rc<Tally>>> {
    lists.iter().map(|list| list.iter().map(|_| Rc::default()).collect()).collect()
}

/// Operators that keep rows, common table expressions included.
fn memory_users(query: &Query) -> usize {
    let mut users = query.ctes.len();
    for root in query.ctes.iter().chain(&query.subqueries).chain([&query.root]) {
        explain::walk(root, &mut |node| {
            let keeps_none = matches!(
                node,
                Node::Scan(_)
                    | Node::Values { .. }
                    | Node::Filter { .. }
                    | Node::Project { .. }
                    | Node::Limit { .. }
                    | Node::Union { .. }
                    | Node::Cte { .. }
                    | Node::Expand { .. }
                    | Node::Series { .. }
                    | Node::Work { .. }
            );
            users += usize::from(!keeps_none);
        });
    }
    users
}

/// Where a part of the query runs: the context, the outer values bound around it, and
/// the dynamic filters that its joins and scans share. Each run of an apply's subplan
/// has a scope of its own, for its joins publish other keys.
pub(crate) struct Scope {
    pub(crate) context: Rc<Context>,
    pub(crate) slots: Vec<Option<Value>>,
    pub(crate) filters: Vec<Arc<FilterCell>>,
}

impl Scope {
    pub(crate) fn root(context: Rc<Context>) -> Rc<Self> {
        let slots = vec![None; context.query.slot_count as usize];
        Self::with_slots(context, slots)
    }

    /// A scope with fresh filters.
    pub(crate) fn with_slots(context: Rc<Context>, slots: Vec<Option<Value>>) -> Rc<Self> {
        let filters = (0..context.query.filter_count).map(|_| Arc::default()).collect();
        Rc::new(Self { context, slots, filters })
    }

    /// The constants of expressions that run here. The subqueries they name have run:
    /// see [`Scope::advance_subqueries`].
    pub(crate) fn runtime(&self) -> Runtime {
        let value = |s: &RefCell<Subquery>| match &*s.borrow() {
            Subquery::Done(value) => value.clone(),
            _ => None,
        };
        Runtime {
            parameters: self.context.options.parameters.clone(),
            slots: self.slots.clone(),
            subqueries: self.context.subqueries.iter().map(value).collect(),
            now: self.context.options.now.clone(),
        }
    }

    /// Advances the first subquery that `node` names and that has no value yet; `true`
    /// when there is none.
    pub(crate) fn advance_subqueries(&self, node: &Node) -> Result<bool> {
        let mut indexes = Vec::new();
        for expr in super::stage::expressions(node) {
            expr.visit(&mut |e| {
                if let gingham_plan::Expr::Subquery { index, .. } = e {
                    indexes.push(*index);
                }
            });
        }
        for index in indexes {
            let cell = self.context.subqueries.get(index);
            let cell = cell.ok_or_else(|| error::internal(format!("there is no subquery {index}")))?;
            if !self.advance_subquery(cell, index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn advance_subquery(&self, cell: &RefCell<Subquery>, index: usize) -> Result<bool> {
        let (mut stage, value) = match cell.replace(Subquery::Done(None)) {
            Subquery::Done(Some(value)) => {
                cell.replace(Subquery::Done(Some(value)));
                return Ok(true);
            }
            Subquery::Done(None) => return Err(error::internal(format!("subquery {index} needs itself"))),
            Subquery::New => {
                let scope = Self::root(Rc::clone(&self.context));
                (Box::new(Stage::new(scope, Place::root(Tree::Subquery(index)))), None)
            }
            Subquery::Running(stage, value) => (stage, value),
        };
        let next = match stage.next()? {
            Step::Working => Subquery::Running(stage, value),
            Step::Finished => Subquery::Done(Some(value.unwrap_or(Value::Null))),
            Step::Batch(batch) => {
                if value.is_some() || batch.rows > 1 {
                    return Err(more_than_one_row());
                }
                let value = single_value(&batch, &self.context.query.subqueries[index])?;
                Subquery::Running(stage, Some(value))
            }
        };
        let done = matches!(next, Subquery::Done(_));
        cell.replace(next);
        Ok(done)
    }
}

/// The value of a batch of one row and one column.
pub(crate) fn single_value(batch: &Batch, node: &Node) -> Result<Value> {
    match (batch.columns.first(), node.types().first()) {
        (Some(column), Some(ty)) => Ok(column.value(0, *ty)),
        _ => Err(error::internal("a scalar subquery without a column")),
    }
}

/// 21000.
pub(crate) fn more_than_one_row() -> Error {
    Error::Sql(SqlError::new("21000", "more than one row returned by a subquery used as an expression"))
}
