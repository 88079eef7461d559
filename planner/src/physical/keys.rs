//! Access through a key: what the filters say of its leading columns.

use super::implication::{implied, implies};
use crate::logical::{IdSet, columns_of, conjuncts, uses_only};
use gingham_plan::{BinaryOp, Expr, IndexId, KeyBound, RowAccess, StoredExpr, TableInfo};
use gingham_types::{SqlType, Value};

/// Most keys that lists are multiplied out to; a single list may be longer.
const KEYS_MAX: usize = 1024;

/// The primary key or an index, its columns as the filters name them.
pub(super) struct Key {
    /// `None` is the primary key.
    pub(super) index: Option<IndexId>,
    /// For EXPLAIN.
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
    pub(super) unique: bool,
    /// What is true of the rows that have an entry …
    conditions: Vec<Expr>,
    /// … and the filters that imply it.
    implying: Vec<Expr>,
}

/// One column of a key.
pub(super) struct Part {
    pub(super) expr: Expr,
    pub(super) descending: bool,
    pub(super) nullable: bool,
}

/// The filters that restrict a walk along a key, and where they lead.
pub(super) struct KeyAccess {
    pub(super) access: RowAccess,
    /// The filters that the access makes true.
    pub(super) used: Vec<Expr>,
    /// Those, and the filters that imply what an index of some rows is about: they say how
    /// many rows there are.
    pub(super) narrowing: Vec<Expr>,
    /// Leading columns that are fixed.
    pub(super) fixed: usize,
    /// Rows at the most, where the key is unique and wholly given.
    pub(super) points: Option<usize>,
}

/// All keys of a table that the rows satisfying `filters` can be found by; `column` gives
/// an ordinal's expression in the filters.
pub(super) fn keys(table: &TableInfo, filters: &[Expr], column: &dyn Fn(usize) -> Expr) -> Vec<Key> {
    let part = |ordinal: usize, descending| Part {
        expr: column(ordinal),
        descending,
        nullable: table.columns[ordinal].nullable,
    };
    let mut keys = Vec::with_capacity(table.indexes.len() + 1);
    if !table.primary_key.is_empty() {
        keys.push(Key {
            index: None,
            name: "the primary key".to_owned(),
            parts: table.primary_key.iter().map(|ordinal| part(*ordinal, false)).collect(),
            unique: true,
            conditions: Vec::new(),
            implying: Vec::new(),
        });
    }
    for index in &table.indexes {
        let (parts, conditions) = match &index.special {
            None => {
                (index.columns.iter().map(|(ordinal, descending)| part(*ordinal, *descending)).collect(), Vec::new())
            }
            Some(special) => {
                let conditions = special.predicate.as_ref().map(|p| conjuncts(over(p, column))).unwrap_or_default();
                if !conditions.iter().all(|condition| implied(condition, filters)) {
                    continue;
                }
                let special_part = |(key, descending): &(StoredExpr, bool)| match key.column() {
                    Some(ordinal) => part(ordinal, *descending),
                    None => Part { expr: over(key, column), descending: *descending, nullable: true },
                };
                (special.keys.iter().map(special_part).collect(), conditions)
            }
        };
        let name = format!("index {}", index.name);
        let implying = filters.iter().filter(|f| conditions.iter().any(|c| implies(f, c))).cloned().collect();
        keys.push(Key { index: Some(index.id), name, parts, unique: index.unique, conditions, implying });
    }
    keys
}

/// A stored expression over the columns as the filters name them.
fn over(stored: &StoredExpr, column: &dyn Fn(usize) -> Expr) -> Expr {
    let mut expr = stored.expr.clone();
    expr.visit_mut(&mut |e| {
        if let Expr::Column { index, .. } = e {
            *e = column(*index);
        }
    });
    expr
}

impl Key {
    /// The walk that `filters` restrict this key to; `own` are the table's columns. With
    /// no restriction at all, everything in key order.
    pub(super) fn access(&self, filters: &[Expr], own: &IdSet) -> KeyAccess {
        let mut prefixes: Vec<Vec<Expr>> = vec![Vec::new()];
        // What an index of some rows is about needs no further look.
        let mut used: Vec<Expr> = filters.iter().filter(|filter| self.conditions.contains(filter)).cloned().collect();
        let mut listed = false;
        let (mut lower, mut upper) = (None, None);
        let mut fixed = 0;
        for part in &self.parts {
            let mut bounds = Bounds::default();
            filters.iter().for_each(|filter| bounds.read(filter, &part.expr, own));
            if let Some((value, filter)) = bounds.equal {
                prefixes.iter_mut().for_each(|prefix| prefix.push(value.clone()));
                used.push(filter);
            } else if let Some((list, filter)) = bounds.list
                && (fixed == 0 || prefixes.len() * list.len() <= KEYS_MAX)
            {
                let extended = |prefix: &Vec<Expr>| {
                    let prefix = prefix.clone();
                    list.iter().map(move |value| prefix.iter().chain([value]).cloned().collect()).collect::<Vec<_>>()
                };
                prefixes = prefixes.iter().flat_map(extended).collect();
                used.push(filter);
                listed = true;
            } else {
                if !listed {
                    for (bound, filter) in bounds.lower.iter().chain(&bounds.upper) {
                        let _: &KeyBound = bound;
                        if !used.contains(filter) {
                            used.push(filter.clone());
                        }
                    }
                    lower = bounds.lower.map(|(bound, _)| bound);
                    upper = bounds.upper.map(|(bound, _)| bound);
                }
                break;
            }
            fixed += 1;
        }
        let index = self.index;
        let whole = self.unique && fixed == self.parts.len();
        let points = whole.then_some(prefixes.len());
        let access = match prefixes.pop() {
            Some(equal) if prefixes.is_empty() && !listed && !whole => {
                RowAccess::Range { index, equal, lower, upper, reverse: false, not_null: false }
            }
            last => {
                prefixes.extend(last);
                RowAccess::Keys { index, keys: prefixes }
            }
        };
        let mut narrowing = used.clone();
        narrowing.extend(self.implying.iter().filter(|filter| !used.contains(filter)).cloned());
        KeyAccess { access, used, narrowing, fixed, points }
    }
}

/// What the filters say of one key column, each with its filter.
#[derive(Default)]
struct Bounds {
    equal: Option<(Expr, Expr)>,
    list: Option<(Vec<Expr>, Expr)>,
    lower: Option<(KeyBound, Expr)>,
    upper: Option<(KeyBound, Expr)>,
}

impl Bounds {
    fn read(&mut self, filter: &Expr, part: &Expr, own: &IdSet) {
        let constant = |e: &Expr| {
            let mut used = IdSet::default();
            columns_of(e, &mut used);
            !used.intersects(own)
        };
        match filter {
            Expr::InList { expr, list, negated: false }
                if **expr == *part && list.iter().all(|e| uses_only(e, &IdSet::default())) =>
            {
                self.list.get_or_insert_with(|| (list.clone(), filter.clone()));
            }
            Expr::Like { expr, pattern, escape, negated: false, ignore_case: false } if **expr == *part => {
                self.like(pattern, *escape, filter);
            }
            // A condition on a BOOLEAN is its own comparison.
            Expr::Not(inner) if **inner == *part => self.truth(false, filter),
            _ if *filter == *part => self.truth(true, filter),
            Expr::Binary { op, left, right, .. } => {
                let (op, value) = if **left == *part && constant(right) {
                    (*op, right)
                } else if **right == *part && constant(left) {
                    (op.swapped(), left)
                } else {
                    return;
                };
                let bound = |inclusive| (KeyBound { value: (**value).clone(), inclusive }, filter.clone());
                match op {
                    BinaryOp::Equal => {
                        self.equal.get_or_insert_with(|| ((**value).clone(), filter.clone()));
                    }
                    BinaryOp::Greater => tighter(&mut self.lower, bound(false), true),
                    BinaryOp::GreaterOrEqual => tighter(&mut self.lower, bound(true), true),
                    BinaryOp::Less => tighter(&mut self.upper, bound(false), false),
                    BinaryOp::LessOrEqual => tighter(&mut self.upper, bound(true), false),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn truth(&mut self, value: bool, filter: &Expr) {
        let value = Expr::literal(Value::Boolean(value), SqlType::Boolean);
        self.equal.get_or_insert_with(|| (value, filter.clone()));
    }

    /// `LIKE 'abc%'`: what begins with the text before the first wildcard.
    fn like(&mut self, pattern: &Expr, escape: Option<char>, filter: &Expr) {
        let Expr::Literal { value: Value::Text(pattern), ty } = pattern else { return };
        let mut prefix = String::new();
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                c if Some(c) == escape => match rest.next() {
                    Some(literal) => prefix.push(literal),
                    None => return,
                },
                '%' | '_' => break,
                c => prefix.push(c),
            }
        }
        if prefix.is_empty() {
            return;
        }
        let bound = |text: String, inclusive| {
            (KeyBound { value: Expr::literal(Value::Text(text), *ty), inclusive }, filter.clone())
        };
        if let Some(end) = text_after(&prefix) {
            tighter(&mut self.upper, bound(end, false), false);
        }
        tighter(&mut self.lower, bound(prefix, true), true);
    }
}

/// The least text above every one that begins with `prefix`; `None` if there is none.
fn text_after(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        // The code points between are no characters.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            end.push(next);
            return Some(end);
        }
    }
    None
}

/// Keeps the tighter of two bounds where both are constants; the first otherwise.
fn tighter(slot: &mut Option<(KeyBound, Expr)>, new: (KeyBound, Expr), lower: bool) {
    let replaces = match slot {
        None => true,
        Some((old, _)) => match (&old.value, &new.0.value) {
            (Expr::Literal { value: a, .. }, Expr::Literal { value: b, .. }) => {
                let order = gingham_types::compare_values(b, a);
                let stricter = if lower { order.is_gt() } else { order.is_lt() };
                stricter || (order.is_eq() && !new.0.inclusive)
            }
            _ => false,
        },
    };
    if replaces {
        *slot = Some(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_after_a_prefix_is_the_next_one() {
        for (prefix, after) in [("abc", Some("abd")), ("a\u{10ffff}", Some("b")), ("\u{d7ff}", Some("\u{e000}"))] {
            assert_eq!(text_after(prefix).as_deref(), after);
        }
        assert_eq!(text_after("\u{10ffff}"), None);
    }
}
