//! What a disjunction says for certain.

use crate::convert::fold;
use crate::logical::{IdSet, conjuncts, disjuncts, uses_only};
use gingham_plan::{BinaryOp, Expr};

/// Most disjuncts that are looked at.
const DISJUNCTS_MAX: usize = 32;

/// Splits `(a AND b) OR (a AND c)` into `a` and `b OR c`. `None` if nothing is shared.
pub(super) fn hoist(predicate: &Expr) -> Option<Vec<Expr>> {
    let branches = branches(predicate)?;
    let (first, rest) = branches.split_first()?;
    let shared: Vec<Expr> = first.iter().filter(|c| rest.iter().all(|b| b.contains(c))).cloned().collect();
    if shared.is_empty() {
        return None;
    }
    let remainders = branches
        .into_iter()
        .map(|branch| Expr::all(branch.into_iter().filter(|c| !shared.contains(c)).collect::<Vec<_>>()))
        .reduce(or)?;
    let mut result = shared;
    result.extend(conjuncts(remainders));
    Some(result)
}

/// What `predicate` implies of the columns in `available` alone, if every disjunct says
/// something of them.
pub(super) fn implied(predicate: &Expr, available: &IdSet) -> Option<Expr> {
    let branches = branches(predicate)?;
    if branches.len() < 2 {
        return None;
    }
    let mut parts = Vec::with_capacity(branches.len());
    for branch in branches {
        let own: Vec<Expr> = branch.into_iter().filter(|c| uses_only(c, available)).collect();
        if own.is_empty() {
            return None;
        }
        parts.push(own.into_iter().reduce(|a, b| Expr::boolean(BinaryOp::And, a, b))?);
    }
    parts.into_iter().reduce(or)
}

fn branches(predicate: &Expr) -> Option<Vec<Vec<Expr>>> {
    if !matches!(predicate, Expr::Binary { op: BinaryOp::Or, .. }) {
        return None;
    }
    let branches = disjuncts(predicate);
    if branches.len() > DISJUNCTS_MAX {
        return None;
    }
    Some(branches.into_iter().map(|b| conjuncts(b.clone())).collect())
}

fn or(left: Expr, right: Expr) -> Expr {
    fold(Expr::boolean(BinaryOp::Or, left, right))
}
