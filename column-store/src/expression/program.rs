//! Compiled expressions.
//!
//! A [`Program`] is an expression whose constants are known and whose patterns and sets
//! are prepared. Parts that occur more than once among the expressions compiled
//! together are computed once a batch.

use super::entries::{DictionaryMemo, EntryMemo};
use super::frame::Frame;
use super::in_list::ConstantSet;
use super::like::Matcher;
use super::operand::Operand;
use super::runtime::Runtime;
use super::{arithmetic, cast, comparison, conditional, error, function, in_list, logic, text};
use crate::Result;
use gingham_plan::{BinaryOp, DateField, Expr, Function};
use gingham_types::{SqlType, Value};
use std::rc::Rc;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) ty: SqlType,
    /// Whether evaluation succeeds whatever the values, so that it may also run over
    /// rows that need not be looked at.
    pub(super) infallible: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Column(usize),
    Constant(Value),
    Shared(usize),
    Arithmetic { op: BinaryOp, left: Box<Program>, right: Box<Program> },
    Comparison { op: BinaryOp, left: Box<Program>, right: Box<Program>, memo: EntryMemo<bool> },
    Concat { left: Box<Program>, right: Box<Program> },
    Connective { and: bool, left: Box<Program>, right: Box<Program> },
    Not(Box<Program>),
    Negate(Box<Program>),
    IsNull { operand: Box<Program>, negated: bool },
    InSet { operand: Box<Program>, set: ConstantSet, negated: bool, memo: EntryMemo<bool> },
    InList { operand: Box<Program>, list: Vec<Program>, negated: bool, memo: EntryMemo<bool> },
    Like { operand: Box<Program>, matcher: Matcher, negated: bool, memo: EntryMemo<bool> },
    LikeEach { operand: Box<Program>, pattern: Box<Program>, escape: Option<char>, ignore_case: bool, negated: bool },
    Case { branches: Vec<(Program, Program)>, otherwise: Option<Box<Program>> },
    Coalesce(Vec<Program>),
    Cast { operand: Box<Program>, lenient: bool },
    Text { operand: Box<Program>, function: Function, rest: Vec<Value>, memo: DictionaryMemo },
    Measure { operand: Box<Program>, function: Function, rest: Vec<Value>, memo: EntryMemo<i32> },
    Extract { operand: Box<Program>, field: DateField },
    Call { function: Function, arguments: Vec<Program> },
}

/// Compiles expressions that will be evaluated together.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    /// Parts that occur more than once, with the slots they have.
    repeated: Vec<(Expr, Option<usize>)>,
    pub(super) shared: Vec<Rc<Program>>,
}

impl Compiler {
    /// Compiles bound expressions.
    pub(crate) fn compile_all(&mut self, expressions: &[Expr], runtime: &Runtime) -> Result<Vec<Program>> {
        let bound = expressions.iter().map(|e| runtime.bind(e)).collect::<Result<Vec<Expr>>>()?;
        self.find_repeated(&bound);
        bound.iter().map(|e| self.compile(e)).collect()
    }

    /// Finds parts that occur more than once. Lists of expressions are short; past some
    /// size comparing all with all is not worth it.
    fn find_repeated(&mut self, expressions: &[Expr]) {
        const PARTS_MAX: usize = 256;
        let mut parts: Vec<(&Expr, bool)> = Vec::new();
        for expression in expressions {
            let mut pending = vec![expression];
            while let Some(expr) = pending.pop() {
                let children = expr.children();
                if children.is_empty() {
                    continue;
                }
                if parts.len() >= PARTS_MAX {
                    return;
                }
                if let Some((_, repeated)) = parts.iter_mut().find(|(known, _)| *known == expr) {
                    // What is below is shared with it.
                    *repeated = true;
                } else {
                    parts.push((expr, false));
                    pending.extend(children);
                }
            }
        }
        self.repeated = parts.into_iter().filter(|(_, repeated)| *repeated).map(|(e, _)| (e.clone(), None)).collect();
    }

    fn compile(&mut self, expr: &Expr) -> Result<Program> {
        let Some(at) = self.repeated.iter().position(|(known, _)| known == expr) else {
            return self.compile_new(expr);
        };
        let slot = if let Some(slot) = self.repeated[at].1 {
            slot
        } else {
            let program = self.compile_new(expr)?;
            self.shared.push(Rc::new(program));
            self.repeated[at].1 = Some(self.shared.len() - 1);
            self.shared.len() - 1
        };
        let infallible = self.shared[slot].infallible;
        Ok(Program { ty: expr.ty(), infallible, kind: Kind::Shared(slot) })
    }

    fn boxed(&mut self, expr: &Expr) -> Result<Box<Program>> {
        self.compile(expr).map(Box::new)
    }

    fn list(&mut self, list: &[Expr]) -> Result<Vec<Program>> {
        list.iter().map(|e| self.compile(e)).collect()
    }

    fn compile_new(&mut self, expr: &Expr) -> Result<Program> {
        let (kind, infallible) = match expr {
            Expr::Column { index, .. } => (Kind::Column(*index), true),
            Expr::Literal { value, .. } => (Kind::Constant(value.clone()), true),
            Expr::Parameter { .. } | Expr::Slot { .. } | Expr::Now | Expr::Subquery { .. } => {
                return Err(error::internal("a value that was not bound"));
            }
            Expr::Binary { op, left, right, .. } => self.binary(*op, left, right)?,
            Expr::Not(e) => {
                let operand = self.boxed(e)?;
                let infallible = operand.infallible;
                (Kind::Not(operand), infallible)
            }
            Expr::Negate(e) => (Kind::Negate(self.boxed(e)?), false),
            Expr::IsNull { expr, negated } => {
                let operand = self.boxed(expr)?;
                let infallible = operand.infallible;
                (Kind::IsNull { operand, negated: *negated }, infallible)
            }
            Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated)?,
            Expr::Like { expr, pattern, escape, negated, ignore_case } => {
                let operand = self.boxed(expr)?;
                match &**pattern {
                    Expr::Literal { value: Value::Text(pattern), .. } => {
                        let matcher = Matcher::new(pattern, *escape, *ignore_case)?;
                        let infallible = operand.infallible;
                        (Kind::Like { operand, matcher, negated: *negated, memo: EntryMemo::default() }, infallible)
                    }
                    pattern => {
                        let pattern = self.boxed(pattern)?;
                        let (escape, ignore_case, negated) = (*escape, *ignore_case, *negated);
                        (Kind::LikeEach { operand, pattern, escape, ignore_case, negated }, false)
                    }
                }
            }
            Expr::Case { branches, otherwise, .. } => {
                let branches = branches
                    .iter()
                    .map(|(condition, result)| Ok((self.compile(condition)?, self.compile(result)?)))
                    .collect::<Result<Vec<_>>>()?;
                let otherwise = otherwise.as_ref().map(|e| self.boxed(e)).transpose()?;
                let infallible = branches.iter().all(|(c, r)| c.infallible && r.infallible)
                    && otherwise.as_ref().is_none_or(|e| e.infallible);
                (Kind::Case { branches, otherwise }, infallible)
            }
            Expr::Cast { expr, lenient, ty } => {
                let operand = self.boxed(expr)?;
                let infallible = operand.infallible && (*lenient || cast::infallible(operand.ty, *ty));
                (Kind::Cast { operand, lenient: *lenient }, infallible)
            }
            Expr::Call { function, arguments, .. } => self.call(*function, arguments)?,
        };
        Ok(Program { ty: expr.ty(), infallible, kind })
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<(Kind, bool)> {
        let (left, right) = (self.boxed(left)?, self.boxed(right)?);
        let infallible = left.infallible && right.infallible;
        Ok(match op {
            BinaryOp::And | BinaryOp::Or => (Kind::Connective { and: op == BinaryOp::And, left, right }, infallible),
            BinaryOp::Concat => (Kind::Concat { left, right }, false),
            _ if op.is_comparison() || matches!(op, BinaryOp::IsDistinctFrom | BinaryOp::IsNotDistinctFrom) => {
                (Kind::Comparison { op, left, right, memo: EntryMemo::default() }, infallible)
            }
            _ => (Kind::Arithmetic { op, left, right }, false),
        })
    }

    fn in_list(&mut self, expr: &Expr, list: &[Expr], negated: bool) -> Result<(Kind, bool)> {
        let operand = self.boxed(expr)?;
        let infallible = operand.infallible;
        let constants: Option<Vec<&Value>> =
            list.iter().map(|e| if let Expr::Literal { value, .. } = e { Some(value) } else { None }).collect();
        if let Some(set) = constants.and_then(|values| ConstantSet::new(&values, operand.ty)) {
            return Ok((Kind::InSet { operand, set, negated, memo: EntryMemo::default() }, infallible));
        }
        let list = self.list(list)?;
        let infallible = infallible && list.iter().all(|e| e.infallible);
        Ok((Kind::InList { operand, list, negated, memo: EntryMemo::default() }, infallible))
    }

    fn call(&mut self, function: Function, arguments: &[Expr]) -> Result<(Kind, bool)> {
        let constant = |e: &Expr| match e {
            Expr::Literal { value, .. } if !value.is_null() => Some(value.clone()),
            _ => None,
        };
        let Some((first, rest)) = arguments.split_first() else {
            return Ok((Kind::Call { function, arguments: Vec::new() }, false));
        };
        let rest: Option<Vec<Value>> = rest.iter().map(constant).collect();
        if let Some(rest) = rest {
            if let Function::Extract(field) = function {
                let operand = self.boxed(first)?;
                let infallible = operand.infallible;
                return Ok((Kind::Extract { operand, field }, infallible));
            }
            if text::is_measure(function, first.ty(), &rest) {
                let operand = self.boxed(first)?;
                let infallible = operand.infallible;
                return Ok((Kind::Measure { operand, function, rest, memo: EntryMemo::default() }, infallible));
            }
            if text::is_infallible(function, first.ty(), &rest) {
                let operand = self.boxed(first)?;
                let infallible = operand.infallible;
                return Ok((Kind::Text { operand, function, rest, memo: DictionaryMemo::default() }, infallible));
            }
        }
        let arguments = self.list(arguments)?;
        if function == Function::Coalesce {
            let infallible = arguments.iter().all(|e| e.infallible);
            return Ok((Kind::Coalesce(arguments), infallible));
        }
        Ok((Kind::Call { function, arguments }, false))
    }
}

impl Program {
    /// The value over the rows of a frame.
    pub(crate) fn evaluate(&self, frame: &Frame<'_>) -> Result<Operand> {
        let rows = frame.len();
        match &self.kind {
            Kind::Column(index) => {
                let column = frame.column(*index);
                column.map(Operand::Column).ok_or_else(|| error::internal(format!("there is no column {index}")))
            }
            Kind::Constant(value) => Ok(Operand::Constant(value.clone())),
            Kind::Shared(slot) => frame.shared(*slot),
            Kind::Arithmetic { op, left, right } => {
                let (a, b) = (left.evaluate(frame)?, right.evaluate(frame)?);
                if a.is_null() || b.is_null() {
                    return Ok(Operand::Constant(Value::Null));
                }
                arithmetic::arithmetic(*op, (&a, left.ty), (&b, right.ty), self.ty, rows)
            }
            Kind::Comparison { op, left, right, memo } => {
                let (a, b) = (left.evaluate(frame)?, right.evaluate(frame)?);
                if op.is_comparison() && (a.is_null() || b.is_null()) {
                    return Ok(Operand::Constant(Value::Null));
                }
                comparison::compare(*op, &a, &b, left.ty, rows, memo)
            }
            Kind::Concat { left, right } => {
                let (a, b) = (left.evaluate(frame)?, right.evaluate(frame)?);
                text::concat(&a, &b, rows)
            }
            Kind::Connective { and, left, right } => conditional::connective(*and, left, right, frame),
            Kind::Not(operand) => logic::not(&operand.evaluate(frame)?, rows),
            Kind::Negate(operand) => match operand.evaluate(frame)? {
                Operand::Constant(value) => super::scalar_binary::negate(&value, self.ty).map(Operand::Constant),
                vector @ Operand::Column(_) => arithmetic::negate(&vector, self.ty, rows),
            },
            Kind::IsNull { operand, negated } => Ok(logic::is_null(&operand.evaluate(frame)?, *negated)),
            Kind::InSet { operand, set, negated, memo } => {
                in_list::in_set(&operand.evaluate(frame)?, operand.ty, set, *negated, rows, memo)
            }
            Kind::InList { operand, list, negated, memo } => {
                let value = operand.evaluate(frame)?;
                let items = list.iter().map(|item| item.evaluate(frame)).collect::<Result<Vec<Operand>>>()?;
                in_list::in_list(&value, &items, operand.ty, *negated, rows, memo)
            }
            Kind::Like { operand, matcher, negated, memo } => {
                text::like(&operand.evaluate(frame)?, matcher, *negated, memo)
            }
            Kind::LikeEach { operand, pattern, escape, ignore_case, negated } => {
                let (a, b) = (operand.evaluate(frame)?, pattern.evaluate(frame)?);
                text::like_each(&a, &b, *escape, *ignore_case, *negated, rows)
            }
            Kind::Case { branches, otherwise } => conditional::case(branches, otherwise.as_deref(), self.ty, frame),
            Kind::Coalesce(list) => conditional::coalesce(list, self.ty, frame),
            Kind::Cast { operand, lenient } => {
                cast::cast_operand(operand.evaluate(frame)?, operand.ty, self.ty, *lenient, rows)
            }
            Kind::Text { operand, function, rest, memo } => {
                text::apply(&operand.evaluate(frame)?, *function, rest, memo)
            }
            Kind::Measure { operand, function, rest, memo } => {
                text::measure(&operand.evaluate(frame)?, *function, rest, memo, self.ty)
            }
            Kind::Extract { operand, field } => function::extract(&operand.evaluate(frame)?, *field),
            Kind::Call { function, arguments } => {
                let values = arguments.iter().map(|a| a.evaluate(frame)).collect::<Result<Vec<Operand>>>()?;
                let types: Vec<SqlType> = arguments.iter().map(|a| a.ty).collect();
                function::call(*function, &values, &types, self.ty, rows)
            }
        }
    }
}
