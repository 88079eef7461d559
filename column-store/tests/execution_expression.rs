//! Vector kernels against the row evaluator, on random expressions over random batches.

mod execution_support;

use execution_support::random::{Random, TYPES, rows};
use execution_support::same_value;
use execution_support::tables::MemoryTables;
use gingham_column_store::Error;
use gingham_column_store::expression::{
    Evaluator, EvaluatorSet, Predicates, Runtime, Selection, batch_from_rows, evaluate_row,
};
use gingham_column_store::source::{Step, Tables};
use gingham_column_store::vector::Batch;
use gingham_plan::{BinaryOp, DateField, Expr, Function, Node};
use gingham_types::{Interval, SqlType, Value, compare_values};

const DECIMAL: SqlType = SqlType::Decimal { precision: 12, scale: 2 };
const WIDE: SqlType = SqlType::Decimal { precision: 38, scale: 4 };

struct Generator<'a> {
    random: &'a mut Random,
    spread: i64,
    nulls: usize,
}

impl Generator<'_> {
    fn leaf(&mut self, ty: SqlType) -> Expr {
        let column = TYPES.iter().position(|t| *t == ty);
        match column {
            Some(index) if self.random.chance(75) => Expr::column(index, ty),
            _ => Expr::literal(self.random.value(ty, self.spread, self.nulls), ty),
        }
    }

    fn boxed(&mut self, ty: SqlType, depth: usize) -> Box<Expr> {
        Box::new(self.expr(ty, depth))
    }

    fn call(&mut self, function: Function, types: &[SqlType], ty: SqlType, depth: usize) -> Expr {
        Expr::Call { function, arguments: types.iter().map(|t| self.expr(*t, depth)).collect(), ty }
    }

    fn small(&mut self) -> Expr {
        Expr::literal(Value::Int(self.random.below(6) as i64 - 1), SqlType::BigInt)
    }

    fn binary(&mut self, op: BinaryOp, left: SqlType, right: SqlType, ty: SqlType, depth: usize) -> Expr {
        Expr::Binary { op, left: self.boxed(left, depth), right: self.boxed(right, depth), ty }
    }

    fn expr(&mut self, ty: SqlType, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.random.below(12) {
            0 | 1 => self.leaf(ty),
            2 => {
                let branches = (0..=self.random.below(2))
                    .map(|_| (self.expr(SqlType::Boolean, depth), self.expr(ty, depth)))
                    .collect();
                let otherwise = if self.random.chance(60) { Some(self.boxed(ty, depth)) } else { None };
                Expr::Case { branches, otherwise, ty }
            }
            3 => {
                let function =
                    *self.random.pick(&[Function::Coalesce, Function::NullIf, Function::Greatest, Function::Least]);
                self.call(function, &[ty, ty], ty, depth)
            }
            _ => self.typed(ty, depth),
        }
    }

    fn typed(&mut self, ty: SqlType, depth: usize) -> Expr {
        let arithmetic = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Modulo];
        let op = *self.random.pick(&arithmetic);
        match ty {
            SqlType::Boolean => self.boolean(depth),
            SqlType::Integer => match self.random.below(6) {
                0 => Expr::Negate(self.boxed(ty, depth)),
                1 => self.call(Function::Length, &[SqlType::Text], ty, depth),
                2 => self.call(Function::Position, &[SqlType::Text, SqlType::Text], ty, depth),
                3 => self.binary(BinaryOp::Subtract, SqlType::Date, SqlType::Date, ty, depth),
                4 => self.call(Function::Abs, &[ty], ty, depth),
                _ => self.binary(op, ty, ty, ty, depth),
            },
            SqlType::BigInt => match self.random.below(5) {
                0 => {
                    let fields = [
                        DateField::Year,
                        DateField::Quarter,
                        DateField::Month,
                        DateField::Week,
                        DateField::Day,
                        DateField::DayOfWeek,
                        DateField::DayOfYear,
                        DateField::Hour,
                        DateField::Minute,
                        DateField::Second,
                        DateField::Epoch,
                    ];
                    let field = *self.random.pick(&fields);
                    let from = *self.random.pick(&[SqlType::Date, SqlType::Timestamp]);
                    self.call(Function::Extract(field), &[from], ty, depth)
                }
                1 => {
                    let from = *self.random.pick(&[SqlType::Integer, SqlType::Boolean, DECIMAL, WIDE]);
                    self.cast(from, ty, depth)
                }
                _ => self.binary(op, ty, ty, ty, depth),
            },
            SqlType::Double => match self.random.below(6) {
                0 => {
                    let from = *self.random.pick(&[SqlType::Integer, SqlType::BigInt, DECIMAL, WIDE, SqlType::Text]);
                    self.cast(from, ty, depth)
                }
                1 => {
                    let functions = [
                        Function::Abs,
                        Function::Ceil,
                        Function::Floor,
                        Function::Round,
                        Function::Truncate,
                        Function::Sqrt,
                        Function::Ln,
                    ];
                    let function = *self.random.pick(&functions);
                    self.call(function, &[ty], ty, depth)
                }
                2 => Expr::Negate(self.boxed(ty, depth)),
                _ => self.binary(op, ty, ty, ty, depth),
            },
            SqlType::Decimal { precision, .. } => match (self.random.below(6), precision) {
                (0, _) => {
                    let from = *self.random.pick(&[SqlType::Integer, SqlType::BigInt, SqlType::Double, DECIMAL, WIDE]);
                    self.cast(from, ty, depth)
                }
                (1, _) => Expr::Negate(self.boxed(ty, depth)),
                (2, _) => {
                    let functions = [Function::Abs, Function::Ceil, Function::Floor, Function::Round];
                    let function = *self.random.pick(&functions);
                    self.call(function, &[ty], ty, depth)
                }
                (3, 38) => self.binary(BinaryOp::Multiply, DECIMAL, DECIMAL, ty, depth),
                (4, _) => {
                    let from = *self.random.pick(&[DECIMAL, WIDE]);
                    self.binary(BinaryOp::Divide, from, DECIMAL, ty, depth)
                }
                _ => {
                    let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Modulo]);
                    self.binary(op, ty, ty, ty, depth)
                }
            },
            SqlType::Text => self.text(depth),
            SqlType::Date | SqlType::Timestamp => match self.random.below(4) {
                0 if ty == SqlType::Date => self.binary(BinaryOp::Add, ty, SqlType::Integer, ty, depth),
                1 => {
                    let fields =
                        [DateField::Year, DateField::Quarter, DateField::Month, DateField::Week, DateField::Hour];
                    let field = *self.random.pick(&fields);
                    self.call(Function::DateTruncate(field), &[ty], ty, depth)
                }
                2 => {
                    let interval =
                        Interval { months: self.random.below(20) as i32 - 10, days: 3, micros: 86_400_000_001 };
                    let right = Box::new(Expr::literal(Value::Interval(interval), SqlType::Interval));
                    let op = *self.random.pick(&[BinaryOp::Add, BinaryOp::Subtract]);
                    Expr::Binary { op, left: self.boxed(ty, depth), right, ty }
                }
                _ if ty == SqlType::Timestamp => self.cast(SqlType::Date, ty, depth),
                _ => self.cast(SqlType::Timestamp, ty, depth),
            },
            other => self.leaf(other),
        }
    }

    fn cast(&mut self, from: SqlType, ty: SqlType, depth: usize) -> Expr {
        Expr::Cast { expr: self.boxed(from, depth), ty, lenient: self.random.chance(50) }
    }

    fn boolean(&mut self, depth: usize) -> Expr {
        let ty = *self.random.pick(&TYPES);
        match self.random.below(9) {
            0 => Expr::Not(self.boxed(SqlType::Boolean, depth)),
            1 => Expr::IsNull { expr: self.boxed(ty, depth), negated: self.random.chance(50) },
            2 => {
                let constants = self.random.chance(70);
                let list = (0..self.random.below(8))
                    .map(|_| {
                        if constants {
                            Expr::literal(self.random.value(ty, self.spread, self.nulls), ty)
                        } else {
                            self.expr(ty, 0)
                        }
                    })
                    .collect();
                Expr::InList { expr: self.boxed(ty, depth), list, negated: self.random.chance(50) }
            }
            3 => {
                let patterns = ["%", "", "green", "g%", "%tea", "%special%requests%", "_", "%e_", "\\%%", "%€"];
                let pattern = if self.random.chance(80) {
                    Expr::literal(Value::Text((*self.random.pick(&patterns)).into()), SqlType::Text)
                } else {
                    self.expr(SqlType::Text, 0)
                };
                Expr::Like {
                    expr: self.boxed(SqlType::Text, depth),
                    pattern: Box::new(pattern),
                    escape: Some('\\'),
                    negated: self.random.chance(50),
                    ignore_case: self.random.chance(30),
                }
            }
            4 | 5 => {
                let op = *self.random.pick(&[BinaryOp::And, BinaryOp::Or]);
                self.binary(op, SqlType::Boolean, SqlType::Boolean, SqlType::Boolean, depth)
            }
            6 => self.call(Function::StartsWith, &[SqlType::Text, SqlType::Text], SqlType::Boolean, depth),
            _ => {
                let ops = [
                    BinaryOp::Equal,
                    BinaryOp::NotEqual,
                    BinaryOp::Less,
                    BinaryOp::LessOrEqual,
                    BinaryOp::Greater,
                    BinaryOp::GreaterOrEqual,
                    BinaryOp::IsDistinctFrom,
                    BinaryOp::IsNotDistinctFrom,
                ];
                let op = *self.random.pick(&ops);
                self.binary(op, ty, ty, SqlType::Boolean, depth)
            }
        }
    }

    fn text(&mut self, depth: usize) -> Expr {
        let first = self.expr(SqlType::Text, depth);
        self.text_call(first, depth)
    }

    fn text_call(&mut self, first: Expr, depth: usize) -> Expr {
        let ty = SqlType::Text;
        let literal = |text: &str| Expr::literal(Value::Text(text.into()), SqlType::Text);
        let (function, rest) = match self.random.below(14) {
            0 => (Function::Upper, vec![]),
            1 => (Function::Lower, vec![]),
            2 => (Function::Trim, vec![]),
            3 => (Function::TrimStart, vec![literal("gas")]),
            4 => (Function::Replace, vec![literal("e"), literal("EE")]),
            5 => (Function::Substring, vec![self.small()]),
            6 => (Function::Substring, vec![self.small(), self.small()]),
            7 => (Function::Left, vec![self.small()]),
            8 => (Function::Right, vec![self.small()]),
            9 => (Function::Repeat, vec![self.small()]),
            10 => (Function::Reverse, vec![]),
            11 => (Function::PadStart, vec![self.small(), literal("xy")]),
            12 => (Function::ConcatAll, vec![self.expr(ty, depth)]),
            _ => {
                let right = self.boxed(ty, depth);
                return Expr::Binary { op: BinaryOp::Concat, left: Box::new(first), right, ty };
            }
        };
        let mut arguments = vec![first];
        arguments.extend(rest);
        Expr::Call { function, arguments, ty }
    }
}

/// Seeds to try: `count` of them, or the one in GINGHAM_SEED to replay a failure.
fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("GINGHAM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..count,
    }
}

/// Batches of one table with a column of every type, in the forms that scans give.
fn batches(random: &mut Random, spread: i64, nulls: usize) -> Vec<Batch> {
    let mut tables = MemoryTables::new(random.next());
    let size = *random.pick(&[1, 10, 300, 700]);
    tables.add(0, &TYPES, rows(random, &TYPES, size, spread, nulls));
    let Node::Scan(scan) = tables.scan(0) else { panic!("a scan") };
    let mut source = tables.open(&scan, &[]).expect("opens");
    let mut batches = Vec::new();
    loop {
        match source.next().expect("reads") {
            Step::Batch(batch) => batches.push(batch),
            Step::Working => {}
            Step::Finished => return batches,
        }
    }
}

fn row_of(batch: &Batch, row: usize) -> Vec<Value> {
    batch.columns.iter().zip(TYPES).map(|(column, ty)| column.value(row, ty)).collect()
}

fn code(error: &Error) -> String {
    match error {
        Error::Sql(error) => error.code.to_string(),
        other => other.to_string(),
    }
}

#[test]
fn expression_kernels_agree_with_the_row_evaluator() {
    for seed in seeds(1200) {
        let mut random = Random(seed);
        let spread = *random.pick(&[4, 30, 5000]);
        let nulls = *random.pick(&[0, 0, 20]);
        let batches = batches(&mut random, spread, nulls);
        let ty = *random.pick(&TYPES);
        let depth = 1 + random.below(3);
        let expr = Generator { random: &mut random, spread, nulls }.expr(ty, depth);
        let Ok(evaluator) = Evaluator::new(&expr, &Runtime::default()) else { continue };
        for batch in batches.iter().take(4) {
            let expected: Vec<Result<Value, Error>> =
                (0..batch.rows).map(|row| evaluate_row(&expr, &row_of(batch, row))).collect();
            let codes: Vec<String> = expected.iter().filter_map(|v| v.as_ref().err()).map(code).collect();
            match evaluator.evaluate(batch) {
                Err(error) => {
                    assert!(codes.contains(&code(&error)), "seed {seed}: {expr} gives {error}, rows give {codes:?}");
                }
                Ok(vector) => {
                    assert!(codes.is_empty(), "seed {seed}: {expr} gives no error, rows give {codes:?}");
                    assert_eq!(vector.len(), batch.rows, "seed {seed}: {expr}");
                    for (row, expected) in expected.into_iter().enumerate() {
                        let (actual, expected) = (vector.value(row, ty), expected.expect("checked"));
                        assert!(
                            same_value(&actual, &expected),
                            "seed {seed}: {expr} over {:?} gives {actual:?}, not {expected:?}",
                            row_of(batch, row)
                        );
                    }
                }
            }
        }
    }
}

/// The operands of AND: a filter drops a row at the first that is not true, also where
/// AND itself, for NULL, would have to look at the next.
fn conjuncts_of(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary { op: BinaryOp::And, left, right, .. } => {
            let mut list = conjuncts_of(*left);
            list.extend(conjuncts_of(*right));
            list
        }
        other => vec![other],
    }
}

#[test]
fn expression_filters_agree_with_the_row_evaluator() {
    for seed in seeds(400) {
        let mut random = Random(seed);
        let spread = *random.pick(&[4, 30, 5000]);
        let batches = batches(&mut random, spread, 10);
        let conjuncts: Vec<Expr> = (0..=random.below(3))
            .map(|_| Generator { random: &mut random, spread, nulls: 5 }.expr(SqlType::Boolean, 2))
            .flat_map(conjuncts_of)
            .collect();
        let Ok(predicates) = Predicates::new(&conjuncts, &Runtime::default()) else { continue };
        for batch in batches.iter().take(3) {
            let holds = |row: usize| -> Result<bool, Error> {
                let values = row_of(batch, row);
                for conjunct in &conjuncts {
                    if evaluate_row(conjunct, &values)? != Value::Boolean(true) {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            let expected: Result<Vec<u32>, Error> = (0..batch.rows).try_fold(Vec::new(), |mut kept, row| {
                if holds(row)? {
                    kept.push(row as u32);
                }
                Ok(kept)
            });
            match (predicates.select(batch), expected) {
                (Ok(selection), Ok(expected)) => {
                    let actual = match selection {
                        Selection::All => (0..batch.rows as u32).collect(),
                        Selection::Rows(rows) => rows,
                    };
                    assert_eq!(actual, expected, "seed {seed}: {conjuncts:?}");
                }
                (Err(_), Err(_)) => {}
                (actual, expected) => panic!("seed {seed}: {conjuncts:?}: {actual:?} against {expected:?}"),
            }
        }
    }
}

/// Every operator over every pair of values at the edges of a type, as vector ⊕ vector,
/// vector ⊕ constant and constant ⊕ vector, alone and beside a harmless row.
#[test]
fn expression_arithmetic_at_the_edges() {
    let powers = (0..63).map(|bit| 1i64 << bit).flat_map(|v| [v, -v, v - 1, 1 - v]);
    let integers: Vec<i64> = powers.chain([i64::MIN, i64::MAX, 3, -7, 3_037_000_500]).collect();
    let decimal = |unscaled: i128| Value::Decimal { unscaled, scale: 0 };
    let wide = [10i128.pow(38) - 1, 1 - 10i128.pow(38), i128::from(i64::MAX) + 1, 10i128.pow(19), 0, 1, -1, 7];
    let narrow: Vec<i64> = integers.iter().copied().filter(|v| i32::try_from(*v).is_ok()).collect();
    let lists: [(SqlType, Vec<Value>); 3] = [
        (SqlType::Integer, narrow.into_iter().map(Value::Int).collect()),
        (SqlType::BigInt, integers.iter().copied().map(Value::Int).collect()),
        (
            SqlType::decimal(38, 0),
            wide.into_iter().chain(integers.iter().step_by(5).map(|v| i128::from(*v))).map(decimal).collect(),
        ),
    ];
    let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Modulo];
    for (ty, values) in lists {
        let one = values.iter().find(|v| compare_values(v, &Value::Int(1)).is_eq()).expect("one is there").clone();
        for op in ops {
            let expr = |left: Expr, right: Expr| Expr::Binary { op, left: Box::new(left), right: Box::new(right), ty };
            let column = |index| Expr::column(index, ty);
            let both = Evaluator::new(&expr(column(0), column(1)), &Runtime::default()).expect("compiles");
            for a in &values {
                let constant = |value: &Value| Expr::literal(value.clone(), ty);
                let first = Evaluator::new(&expr(constant(a), column(1)), &Runtime::default()).expect("compiles");
                for b in &values {
                    let expected = evaluate_row(&expr(column(0), column(1)), &[a.clone(), b.clone()]);
                    let batch = |rows: &[Vec<Value>]| batch_from_rows(rows, &[ty, ty]).expect("of the type");
                    let alone = batch(&[vec![a.clone(), b.clone()]]);
                    let beside = batch(&[vec![one.clone(), one.clone()], vec![a.clone(), b.clone()]]);
                    let at_null = batch(&[vec![a.clone(), b.clone()], vec![Value::Null, b.clone()]]);
                    let results = [
                        both.evaluate(&alone).map(|v| v.value(0, ty)),
                        both.evaluate(&beside).map(|v| v.value(1, ty)),
                        both.evaluate(&at_null).map(|v| v.value(0, ty)),
                        first.evaluate(&alone).map(|v| v.value(0, ty)),
                    ];
                    for result in results {
                        match (&result, &expected) {
                            (Ok(actual), Ok(expected)) if actual == expected => {}
                            (Err(actual), Err(expected)) if code(actual) == code(expected) => {}
                            _ => panic!("{a} {} {b}: {result:?} against {expected:?}", op.symbol()),
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn expression_parts_in_common_are_shared_and_right() {
    let integer = |index| Expr::column(index, SqlType::Integer);
    let sum = Expr::Binary {
        op: BinaryOp::Add,
        left: Box::new(integer(1)),
        right: Box::new(Expr::literal(Value::Int(1), SqlType::Integer)),
        ty: SqlType::Integer,
    };
    let product = Expr::Binary {
        op: BinaryOp::Multiply,
        left: Box::new(sum.clone()),
        right: Box::new(sum.clone()),
        ty: SqlType::Integer,
    };
    let mut random = Random(4);
    let batches = batches(&mut random, 100, 10);
    let list = [sum.clone(), product.clone(), sum];
    let set = EvaluatorSet::new(&list, &Runtime::default()).expect("compiles");
    for batch in &batches {
        let vectors = set.evaluate(batch).expect("small numbers");
        for (expr, vector) in list.iter().zip(&vectors) {
            for row in 0..batch.rows {
                let expected = evaluate_row(expr, &row_of(batch, row)).expect("small numbers");
                assert_eq!(vector.value(row, SqlType::Integer), expected);
            }
        }
    }
}

#[test]
fn expression_branches_guard_their_rows() {
    let x = || Box::new(Expr::column(1, SqlType::Integer));
    let zero = || Box::new(Expr::literal(Value::Int(0), SqlType::Integer));
    let one = || Box::new(Expr::literal(Value::Int(1), SqlType::Integer));
    let divide = Expr::Binary { op: BinaryOp::Divide, left: one(), right: x(), ty: SqlType::Integer };
    let nonzero = Expr::Binary { op: BinaryOp::NotEqual, left: x(), right: zero(), ty: SqlType::Boolean };
    let positive =
        Expr::Binary { op: BinaryOp::Greater, left: Box::new(divide.clone()), right: zero(), ty: SqlType::Boolean };
    let case = Expr::Case { branches: vec![(nonzero.clone(), divide.clone())], otherwise: None, ty: SqlType::Integer };
    let and = Expr::boolean(BinaryOp::And, nonzero, positive);
    let mut random = Random(6);
    for batch in batches(&mut random, 4, 10) {
        for guarded in [&case, &and] {
            let evaluator = Evaluator::new(guarded, &Runtime::default()).expect("compiles");
            evaluator.evaluate(&batch).expect("no row divides by zero");
        }
    }
    let batch = batches(&mut random, 4, 0).into_iter().max_by_key(|b| b.rows).expect("some");
    if (0..batch.rows).any(|row| row_of(&batch, row)[1] == Value::Int(0)) {
        let error = Evaluator::new(&divide, &Runtime::default()).expect("compiles").evaluate(&batch);
        assert!(matches!(error, Err(Error::Sql(e)) if e.code == "22012"));
    }
}
