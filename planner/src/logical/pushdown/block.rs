//! A block while it is gathered, and the distribution of its predicates.

use super::disjunction::{hoist, implied};
use super::{any_rejects, boolean_type, literal_true, never, push};
use crate::logical::{Columns, Dependent, Id, IdSet, Rel, columns_of, push_conjuncts, push_new, substitute, uses_only};
use gingham_plan::{BinaryOp, Expr, JoinKind};
use std::collections::HashMap;

/// Inputs, predicates and dependent joins so far, outermost predicates first.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) inputs: Vec<Rel>,
    predicates: Vec<Expr>,
    /// Innermost first: a dependent may use what those before it add.
    pub(super) dependents: Vec<Dependent>,
    /// Computed columns, outermost first.
    definitions: Vec<(Id, Expr)>,
}

impl Gathered {
    /// Adds a conjunct that holds for the block's rows.
    pub(super) fn add(&mut self, predicate: Expr) {
        let mut list = Vec::new();
        push_conjuncts(predicate, &mut list);
        for conjunct in list {
            match hoist(&conjunct) {
                Some(parts) => parts.into_iter().for_each(|part| self.add(part)),
                None => {
                    if !literal_true(&conjunct) {
                        push_new(conjunct, &mut self.predicates);
                    }
                }
            }
        }
    }

    /// Notes computed columns. What was gathered above may use them.
    pub(super) fn define(&mut self, expressions: Vec<(Id, Expr)>) {
        let map: HashMap<Id, Expr> = expressions.iter().cloned().collect();
        for (_, expr) in &mut self.definitions {
            substitute(expr, &map);
        }
        let predicates = std::mem::take(&mut self.predicates);
        for mut predicate in predicates {
            substitute(&mut predicate, &map);
            self.add(predicate);
        }
        for dependent in &mut self.dependents {
            dependent.on.iter_mut().for_each(|p| substitute(p, &map));
        }
        self.definitions.extend(expressions);
    }

    /// Adds a dependent join below those gathered so far.
    pub(super) fn add_dependent(
        &mut self,
        kind: JoinKind,
        right: Rel,
        on: Vec<Expr>,
        null_aware: bool,
        mark: Option<Id>,
    ) {
        self.dependents.insert(0, Dependent { kind, right, on, null_aware, mark });
    }

    /// Whether rows whose columns in `nulls` are all NULL are dropped above.
    pub(super) fn rejects(&self, nulls: &IdSet) -> bool {
        any_rejects(&self.predicates, nulls)
    }

    /// Distributes the predicates and builds the relation.
    pub(super) fn finish(mut self, columns: &Columns) -> Rel {
        self.derive(columns);
        let outputs: Vec<IdSet> = self.inputs.iter().map(Rel::outputs).collect();
        let mut all = IdSet::default();
        outputs.iter().for_each(|o| all.union(o));
        for dependent in &self.dependents {
            if dependent.kind == JoinKind::Left {
                dependent.right.outputs_into(&mut all);
            }
            all.extend(dependent.mark);
        }
        let mut own: Vec<Vec<Expr>> = vec![Vec::new(); self.inputs.len()];
        let mut joining = Vec::new();
        let mut constant = Vec::new();
        let mut empty = false;
        for predicate in self.predicates {
            empty |= never(&predicate);
            let mut used = IdSet::default();
            columns_of(&predicate, &mut used);
            let used: IdSet = used.iter().filter(|id| all.contains(*id)).collect();
            if used.is_empty() {
                constant.push(predicate);
            } else if let Some(input) = outputs.iter().position(|o| used.is_subset(o)) {
                own[input].push(predicate);
            } else {
                joining.push(predicate);
            }
        }
        if empty {
            all.extend(self.definitions.iter().map(|(id, _)| *id));
            return Rel::Values { rows: Vec::new(), columns: all.iter().collect() };
        }
        let dependents: Vec<Dependent> =
            self.dependents.into_iter().map(|d| finish_dependent(d, &all, columns)).collect();
        let mut inputs: Vec<Rel> =
            self.inputs.into_iter().zip(own).map(|(input, predicates)| push(input, predicates, columns)).collect();
        // Conditions without columns are checked once, below everything, where there is one input.
        let single = inputs.len() == 1 && dependents.is_empty() && joining.is_empty();
        let rel = match inputs.pop() {
            Some(input) if single => input,
            Some(input) => {
                inputs.push(input);
                Rel::Block { inputs, predicates: joining, dependents }
            }
            None => Rel::one_row(),
        };
        rel.filter(constant).extend(self.definitions)
    }

    /// Adds what follows from equalities and disjunctions.
    fn derive(&mut self, columns: &Columns) {
        let classes = classes(&self.predicates);
        let mut derived: Vec<Expr> = Vec::new();
        // Two members of one class in one input are equal there.
        let outputs: Vec<IdSet> = self.inputs.iter().map(Rel::outputs).collect();
        for class in &classes {
            for output in &outputs {
                let mut members = class.iter().filter(|id| output.contains(**id));
                if let Some(first) = members.next() {
                    for other in members {
                        derived.push(Expr::boolean(BinaryOp::Equal, columns.expr(*first), columns.expr(*other)));
                    }
                }
            }
        }
        for predicate in &self.predicates {
            let mut used = IdSet::default();
            columns_of(predicate, &mut used);
            let mut ids = used.iter();
            if let (Some(id), None) = (ids.next(), ids.next())
                && boolean_type(predicate)
                && let Some(class) = classes.iter().find(|c| c.contains(&id))
            {
                for other in class.iter().filter(|o| **o != id && outputs.iter().any(|set| set.contains(**o))) {
                    let mut copy = predicate.clone();
                    substitute(&mut copy, &HashMap::from([(id, columns.expr(*other))]));
                    derived.push(copy);
                }
            }
        }
        for predicate in &self.predicates {
            let mut used = IdSet::default();
            columns_of(predicate, &mut used);
            for output in outputs.iter().filter(|o| used.intersects(o) && !used.is_subset(o)) {
                derived.extend(implied(predicate, output));
            }
        }
        // What an equality says of the left side of a dependent join, it says of the right.
        for dependent in &mut self.dependents {
            if dependent.null_aware {
                continue;
            }
            let right = dependent.right.outputs();
            let mut more = Vec::new();
            for condition in &dependent.on {
                let Expr::Binary { op: BinaryOp::Equal, left, right: other, .. } = condition else { continue };
                let (Expr::Column { index: a, .. }, Expr::Column { index: b, .. }) = (&**left, &**other) else {
                    continue;
                };
                let (outside, inside) = if right.contains(*b) { (*a, *b) } else { (*b, *a) };
                if !right.contains(inside) || right.contains(outside) {
                    continue;
                }
                for predicate in &self.predicates {
                    let mut used = IdSet::default();
                    columns_of(predicate, &mut used);
                    if used.contains(outside) && used.iter().count() == 1 {
                        let mut copy = predicate.clone();
                        substitute(&mut copy, &HashMap::from([(outside, columns.expr(inside))]));
                        more.push(copy);
                    }
                }
            }
            for predicate in more {
                if !dependent.on.contains(&predicate) {
                    dependent.on.push(predicate);
                }
            }
        }
        derived.into_iter().for_each(|p| self.add(p));
    }
}

/// Pushes what a dependent join's condition says of its right side alone into it.
fn finish_dependent(dependent: Dependent, all: &IdSet, columns: &Columns) -> Dependent {
    let Dependent { kind, right, on, null_aware, mark } = dependent;
    let outputs = right.outputs();
    let mut below = Vec::new();
    let mut kept = Vec::new();
    for (index, predicate) in on.into_iter().enumerate() {
        let own = uses_only_of(&predicate, &outputs, all);
        // The first condition of NOT IN is what its NULL rule is about.
        if own && !(null_aware && index == 0) { below.push(predicate) } else { kept.push(predicate) }
    }
    Dependent { kind, right: push(right, below, columns), on: kept, null_aware, mark }
}

/// Whether `predicate` uses columns of `own`, and none of `all` beside them.
fn uses_only_of(predicate: &Expr, own: &IdSet, all: &IdSet) -> bool {
    let mut used = IdSet::default();
    columns_of(predicate, &mut used);
    let local: IdSet = used.iter().filter(|id| all.contains(*id) || own.contains(*id)).collect();
    uses_only(predicate, own) || (!local.is_empty() && local.is_subset(own))
}

/// Classes of columns that the predicates equate.
pub(crate) fn classes(predicates: &[Expr]) -> Vec<Vec<Id>> {
    let mut classes: Vec<Vec<Id>> = Vec::new();
    for predicate in predicates {
        let Expr::Binary { op: BinaryOp::Equal, left, right, .. } = predicate else { continue };
        let (Expr::Column { index: a, .. }, Expr::Column { index: b, .. }) = (&**left, &**right) else { continue };
        let find = |id: &Id| classes.iter().position(|c| c.contains(id));
        match (find(a), find(b)) {
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => {
                let (keep, gone) = (x.min(y), x.max(y));
                let moved = classes.swap_remove(gone);
                classes[keep].extend(moved);
            }
            (Some(x), None) => classes[x].push(*b),
            (None, Some(y)) => classes[y].push(*a),
            (None, None) => classes.push(vec![*a, *b]),
        }
    }
    classes
}
