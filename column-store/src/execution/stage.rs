//! One node of the plan while it runs.
//!
//! A stage is made with its parent and starts when it is first asked for rows: only
//! then does it run the scalar subqueries that its node names, replace parameters,
//! slots and subqueries by their values, and build its operator. A scan below a join
//! therefore opens after the join has published its dynamic filters, and what is never
//! asked for never runs.

use super::context::Scope;
use super::memory::Reservation;
use super::{
    aggregate, apply, cte, expand, filter, join, limit, project, recursive, scan, series, sort, union, values, window,
};
use crate::Result;
use crate::expression::error;
use crate::source::Step;
use gingham_plan::{Expr, Node, Query, Route, RowAccess, explain};
use std::rc::Rc;

/// A running operator. `next` does a bounded slice of work; a batch it puts out has at
/// least one row; after `Finished` it is not asked again.
pub(crate) trait Operator {
    fn next(&mut self) -> Result<Step>;
}

/// One of a query's operator trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Root,
    Cte(usize),
    Subquery(usize),
}

/// A node's position: which tree, the way down from its root, and its number in the
/// order of [`explain::walk`].
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tree: Tree,
    path: Vec<usize>,
    pub(crate) number: usize,
}

impl Place {
    pub(crate) const fn root(tree: Tree) -> Self {
        Self { tree, path: Vec::new(), number: 0 }
    }

    /// The node here.
    pub(crate) fn node<'q>(&self, query: &'q Query) -> Result<&'q Node> {
        let root = match self.tree {
            Tree::Root => Some(&query.root),
            Tree::Cte(index) => query.ctes.get(index),
            Tree::Subquery(index) => query.subqueries.get(index),
        };
        let found =
            root.and_then(|root| self.path.iter().try_fold(root, |node, step| node.inputs().get(*step).copied()));
        found.ok_or_else(|| error::internal("a place outside the plan"))
    }

    /// The place of input number `index` of `node`, which is here.
    pub(crate) fn input(&self, node: &Node, index: usize) -> Self {
        let mut before = 0;
        for input in node.inputs().into_iter().take(index) {
            explain::walk(input, &mut |_| before += 1);
        }
        let mut path = self.path.clone();
        path.push(index);
        Self { tree: self.tree, path, number: self.number + 1 + before }
    }
}

enum State {
    New,
    Running(Box<dyn Operator>),
    Finished,
}

/// A node with its progress.
pub(crate) struct Stage {
    scope: Rc<Scope>,
    place: Place,
    state: State,
}

impl Stage {
    pub(crate) const fn new(scope: Rc<Scope>, place: Place) -> Self {
        Self { scope, place, state: State::New }
    }

    /// The next step of the operator. After `Finished`, `Finished` again.
    pub(crate) fn next(&mut self) -> Result<Step> {
        let context = Rc::clone(&self.scope.context);
        context.options.cancel.check()?;
        if matches!(self.state, State::Finished) {
            return Ok(Step::Finished);
        }
        let start_ms = context.now_ms();
        let step = self.advance()?;
        let time_ms = context.now_ms() - start_ms;
        context.record(&self.place, |node| {
            node.time_ms += time_ms;
            if let Step::Batch(batch) = &step {
                node.rows += batch.rows as u64;
                node.batches += 1;
            }
        });
        Ok(step)
    }

    fn advance(&mut self) -> Result<Step> {
        if matches!(self.state, State::New) {
            let query = Rc::clone(&self.scope.context);
            let node = self.place.node(&query.query)?;
            if !self.scope.advance_subqueries(node)? {
                return Ok(Step::Working);
            }
            self.state = State::Running(build(&self.scope, &self.place, node)?);
            query.record(&self.place, |node| node.starts += 1);
        }
        let State::Running(operator) = &mut self.state else {
            return Ok(Step::Finished);
        };
        let step = operator.next()?;
        if matches!(step, Step::Finished) {
            // Frees what the operator holds while the rest of the query goes on.
            self.state = State::Finished;
        }
        Ok(step)
    }
}

/// What a node needs to become an operator.
pub(crate) struct Site<'a> {
    pub(crate) scope: &'a Rc<Scope>,
    pub(crate) node: &'a Node,
    pub(crate) place: &'a Place,
}

impl Site<'_> {
    /// Input number `index` as a stage.
    pub(crate) fn input(&self, index: usize) -> Stage {
        Stage::new(Rc::clone(self.scope), self.place.input(self.node, index))
    }

    /// The node's share of memory.
    pub(crate) fn reservation(&self) -> Reservation {
        self.scope.context.reservation(self.place)
    }
}

fn build(scope: &Rc<Scope>, place: &Place, node: &Node) -> Result<Box<dyn Operator>> {
    let site = Site { scope, node, place };
    Ok(match node {
        Node::Scan(scan) => Box::new(scan::ScanOperator::new(&site, scan)?),
        Node::Values { rows, types } => Box::new(values::ValuesOperator::new(&site, rows, types)),
        Node::Filter { predicates, columns, .. } => Box::new(filter::FilterOperator::new(&site, predicates, columns)?),
        Node::Project { expressions, .. } => Box::new(project::ProjectOperator::new(&site, expressions)?),
        Node::Aggregate { groups, aggregates, rows, .. } => {
            Box::new(aggregate::AggregateOperator::new(&site, groups, aggregates, *rows)?)
        }
        Node::Join(join) => Box::new(join::JoinOperator::new(&site, join)?),
        Node::Window(window) => Box::new(window::WindowOperator::new(&site, window)?),
        Node::Expand { keys, sets, .. } => Box::new(expand::ExpandOperator::new(&site, keys, sets)?),
        Node::Recursive(recursive) => Box::new(recursive::RecursiveOperator::new(&site, recursive)),
        Node::Work { work, columns, .. } => Box::new(recursive::WorkOperator::new(&site, *work, columns)?),
        Node::Series { start, stop, step } => Box::new(series::SeriesOperator::new(&site, [start, stop, step])?),
        Node::Apply(apply) => Box::new(apply::ApplyOperator::new(&site, apply)),
        Node::Sort { keys, limit, offset, .. } => {
            Box::new(sort::SortNode::new(&site, keys, limit.as_ref(), offset.as_ref())?)
        }
        Node::Limit { limit, offset, .. } => {
            Box::new(limit::LimitOperator::new(&site, limit.as_ref(), offset.as_ref())?)
        }
        Node::Union { inputs } => Box::new(union::UnionOperator::new(&site, inputs.len())),
        Node::Cte { id, columns, .. } => Box::new(cte::CteOperator::new(&site, id.0 as usize, columns)?),
    })
}

/// The expressions of a node itself, not of its inputs.
pub(crate) fn expressions(node: &Node) -> Vec<&Expr> {
    match node {
        Node::Scan(scan) => {
            let mut list: Vec<&Expr> = scan.filters.iter().collect();
            match &scan.route {
                Route::Column | Route::Row(RowAccess::Full { .. }) => {}
                Route::Row(RowAccess::Range { equal, lower, upper, .. }) => {
                    list.extend(equal);
                    list.extend(lower.iter().chain(upper).map(|bound| &bound.value));
                }
                Route::Row(RowAccess::Keys { keys, .. }) => list.extend(keys.iter().flatten()),
                Route::Row(RowAccess::Lookup { equal, .. }) => list.extend(equal),
            }
            list
        }
        Node::Values { rows, .. } => rows.iter().flatten().collect(),
        Node::Filter { predicates, .. } => predicates.iter().collect(),
        Node::Project { expressions, .. } => expressions.iter().collect(),
        Node::Aggregate { groups, aggregates, .. } => {
            let calls = aggregates.iter().flat_map(|call| call.argument.iter().chain(&call.filter));
            groups.iter().chain(calls).collect()
        }
        Node::Join(join) => join.left_keys.iter().chain(&join.right_keys).chain(&join.residual).collect(),
        Node::Window(window) => window.expressions().collect(),
        Node::Sort { keys, limit, offset, .. } => keys.iter().map(|key| &key.expr).chain(limit).chain(offset).collect(),
        Node::Limit { limit, offset, .. } => limit.iter().chain(offset).collect(),
        Node::Expand { keys, .. } => keys.iter().collect(),
        Node::Series { start, stop, step } => vec![start, stop, step],
        Node::Apply(_) | Node::Union { .. } | Node::Cte { .. } | Node::Recursive(_) | Node::Work { .. } => Vec::new(),
    }
}
