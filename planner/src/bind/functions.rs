//! Function names as datafusion-sql needs them: stubs with a name and a rough type.

use super::types::{from_arrow, to_arrow};
use crate::convert::arithmetic_type;
use arrow_schema::{DataType, Field};
use datafusion_common::{Column, Result, TableReference};
use datafusion_expr::expr::{AggregateFunctionParams, ScalarFunction, WindowFunctionParams};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawWindowExpr};
use datafusion_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, TypeSignature, Volatility,
};
use gingham_plan::BinaryOp;
use gingham_types::SqlType;
use sqlparser::ast::BinaryOperator;
use std::collections::HashMap;
use std::sync::Arc;

/// What a stub claims to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Returns {
    Boolean,
    Integer,
    BigInt,
    Double,
    Text,
    Date,
    Timestamp,
    /// The type of the first argument that is not NULL.
    First,
    /// The type of the second argument (`date_trunc`).
    Second,
    /// As the operator.
    Operator(BinaryOp),
}

const SCALARS: &[(&str, Returns)] = &[
    ("abs", Returns::First),
    ("ceil", Returns::First),
    ("ceiling", Returns::First),
    ("floor", Returns::First),
    ("round", Returns::First),
    ("trunc", Returns::First),
    ("sign", Returns::Integer),
    ("sqrt", Returns::Double),
    ("exp", Returns::Double),
    ("ln", Returns::Double),
    ("log", Returns::Double),
    ("log10", Returns::Double),
    ("power", Returns::Double),
    ("pow", Returns::Double),
    ("mod", Returns::First),
    ("length", Returns::Integer),
    ("char_length", Returns::Integer),
    ("character_length", Returns::Integer),
    ("octet_length", Returns::Integer),
    ("lower", Returns::Text),
    ("upper", Returns::Text),
    ("trim", Returns::Text),
    ("btrim", Returns::Text),
    ("ltrim", Returns::Text),
    ("rtrim", Returns::Text),
    ("replace", Returns::Text),
    ("substring", Returns::Text),
    ("substr", Returns::Text),
    ("strpos", Returns::Integer),
    ("instr", Returns::Integer),
    ("left", Returns::Text),
    ("right", Returns::Text),
    ("repeat", Returns::Text),
    ("reverse", Returns::Text),
    ("lpad", Returns::Text),
    ("rpad", Returns::Text),
    ("starts_with", Returns::Boolean),
    ("concat", Returns::Text),
    ("coalesce", Returns::First),
    ("ifnull", Returns::First),
    ("nullif", Returns::First),
    ("greatest", Returns::First),
    ("least", Returns::First),
    ("extract", Returns::BigInt),
    ("date_part", Returns::BigInt),
    ("date_trunc", Returns::Second),
    ("year", Returns::BigInt),
    ("quarter", Returns::BigInt),
    ("month", Returns::BigInt),
    ("week", Returns::BigInt),
    ("day", Returns::BigInt),
    ("hour", Returns::BigInt),
    ("minute", Returns::BigInt),
    ("second", Returns::BigInt),
    ("date", Returns::First),
    ("dayofweek", Returns::BigInt),
    ("dayofyear", Returns::BigInt),
    ("epoch", Returns::BigInt),
    ("date_add", Returns::First),
    ("date_sub", Returns::First),
    ("date_diff", Returns::BigInt),
    ("datediff", Returns::BigInt),
    ("make_date", Returns::Date),
    ("strftime", Returns::Text),
    ("to_char", Returns::Text),
    ("dayname", Returns::Text),
    ("monthname", Returns::Text),
    ("split_part", Returns::Text),
    ("initcap", Returns::Text),
    ("chr", Returns::Text),
    ("ascii", Returns::Integer),
    ("now", Returns::Timestamp),
    ("current_timestamp", Returns::Timestamp),
    ("localtimestamp", Returns::Timestamp),
    ("current_date", Returns::Date),
    ("typeof", Returns::Text),
    ("pg_typeof", Returns::Text),
];

/// Aggregates, and the window functions that are none: `convert` tells them apart.
const AGGREGATES: &[(&str, Returns)] = &[
    ("count", Returns::BigInt),
    ("sum", Returns::First),
    ("avg", Returns::First),
    ("mean", Returns::First),
    ("min", Returns::First),
    ("max", Returns::First),
    ("bool_and", Returns::Boolean),
    ("every", Returns::Boolean),
    ("bool_or", Returns::Boolean),
    ("var_samp", Returns::Double),
    ("variance", Returns::Double),
    ("var_pop", Returns::Double),
    ("stddev_samp", Returns::Double),
    ("stddev", Returns::Double),
    ("stddev_pop", Returns::Double),
    ("string_agg", Returns::Text),
    ("group_concat", Returns::Text),
    ("median", Returns::Double),
    ("quantile", Returns::First),
    ("quantile_cont", Returns::Double),
    ("percentile_cont", Returns::Double),
    ("quantile_disc", Returns::First),
    ("percentile_disc", Returns::First),
    ("mode", Returns::First),
    ("any_value", Returns::First),
    ("arg_min", Returns::First),
    ("arg_max", Returns::First),
    ("min_by", Returns::First),
    ("max_by", Returns::First),
    ("count_if", Returns::BigInt),
    ("countif", Returns::BigInt),
    ("approx_count_distinct", Returns::BigInt),
    ("covar_pop", Returns::Double),
    ("covar_samp", Returns::Double),
    ("corr", Returns::Double),
    ("grouping", Returns::Integer),
    ("row_number", Returns::BigInt),
    ("rank", Returns::BigInt),
    ("dense_rank", Returns::BigInt),
    ("percent_rank", Returns::Double),
    ("cume_dist", Returns::Double),
    ("ntile", Returns::Integer),
    ("lag", Returns::First),
    ("lead", Returns::First),
    ("first", Returns::First),
    ("last", Returns::First),
    ("nth", Returns::First),
];

/// Names by which datafusion-sql looks for window functions of its own: their stubs go
/// by shorter ones.
const ALIASES: &[(&str, &str)] = &[("first_value", "first"), ("last_value", "last"), ("nth_value", "nth")];

fn signature() -> Signature {
    Signature::one_of(vec![TypeSignature::VariadicAny, TypeSignature::Nullary], Volatility::Immutable)
}

fn return_type(returns: Returns, arguments: &[DataType]) -> DataType {
    let at = |index: usize| arguments.get(index).and_then(from_arrow).unwrap_or(SqlType::Null);
    match returns {
        Returns::Boolean => DataType::Boolean,
        Returns::Integer => DataType::Int32,
        Returns::BigInt => DataType::Int64,
        Returns::Double => DataType::Float64,
        Returns::Text => DataType::Utf8,
        Returns::Date => DataType::Date32,
        Returns::Timestamp => to_arrow(SqlType::Timestamp),
        Returns::First => arguments.iter().find(|t| !t.is_null()).cloned().unwrap_or(DataType::Null),
        Returns::Second => to_arrow(at(1)),
        Returns::Operator(op) if op.is_comparison() => DataType::Boolean,
        // A pair of types without an operator is refused by `convert`, where its position is known.
        Returns::Operator(op) => arithmetic_type(op, at(0), at(1)).map_or(DataType::Null, to_arrow),
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ScalarStub {
    name: &'static str,
    returns: Returns,
    signature: Signature,
}

impl ScalarUDFImpl for ScalarStub {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(return_type(self.returns, arguments))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        datafusion_common::internal_err!("{} is a name without an implementation", self.name)
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AggregateStub {
    name: &'static str,
    returns: Returns,
    signature: Signature,
}

impl AggregateUDFImpl for AggregateStub {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(return_type(self.returns, arguments))
    }

    /// With the casts, which names leave out by default: `sum(x)` and `sum(CAST(x AS BIGINT))`
    /// are two columns and need two names.
    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.display_name(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.window_function_display_name(params)
    }

    fn supports_within_group_clause(&self) -> bool {
        matches!(self.name, "percentile_cont" | "percentile_disc" | "mode")
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        datafusion_common::internal_err!("{} is a name without an implementation", self.name)
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<arrow_schema::FieldRef>> {
        Ok(Vec::new())
    }
}

/// Every function and operator by name.
#[derive(Debug)]
pub(crate) struct Functions {
    scalars: HashMap<&'static str, Arc<ScalarUDF>>,
    aggregates: HashMap<&'static str, Arc<AggregateUDF>>,
    planners: Vec<Arc<dyn ExprPlanner>>,
}

impl Functions {
    pub(crate) fn new() -> Self {
        let scalar =
            |name, returns| Arc::new(ScalarUDF::new_from_impl(ScalarStub { name, returns, signature: signature() }));
        let aggregate = |(name, returns): (&'static str, Returns)| {
            let stub = AggregateStub { name, returns, signature: signature() };
            (name, Arc::new(AggregateUDF::new_from_impl(stub)))
        };
        let scalars: HashMap<_, _> = SCALARS.iter().map(|(name, returns)| (*name, scalar(*name, *returns))).collect();
        let operators: HashMap<_, _> =
            OPERATORS.iter().map(|op| (*op, scalar(op.symbol(), Returns::Operator(*op)))).collect();
        let syntax = Syntax { operators, scalars: scalars.clone() };
        Self {
            scalars,
            aggregates: AGGREGATES.iter().copied().map(aggregate).collect(),
            planners: vec![Arc::new(syntax)],
        }
    }

    pub(crate) fn scalar(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.scalars.get(name).cloned()
    }

    pub(crate) fn aggregate(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
        self.aggregates.get(name).cloned()
    }

    pub(crate) fn planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    /// Whether a name is an aggregate's, or that of a window function.
    pub(crate) fn is_aggregate(name: &str) -> bool {
        AGGREGATES.iter().any(|(own, _)| name.eq_ignore_ascii_case(own))
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        SCALARS.iter().chain(AGGREGATES).map(|(name, _)| *name)
    }
}

const OPERATORS: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Modulo,
    BinaryOp::Concat,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessOrEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterOrEqual,
];

/// Turns operators and SQL's special call forms into calls of stubs.
#[derive(Debug)]
struct Syntax {
    operators: HashMap<BinaryOp, Arc<ScalarUDF>>,
    scalars: HashMap<&'static str, Arc<ScalarUDF>>,
}

impl Syntax {
    fn call(&self, name: &str, arguments: Vec<Expr>) -> PlannerResult<Vec<Expr>> {
        match self.scalars.get(name) {
            Some(function) => {
                PlannerResult::Planned(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), arguments)))
            }
            None => PlannerResult::Original(arguments),
        }
    }
}

impl ExprPlanner for Syntax {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        _: &datafusion_common::DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let op = match expr.op {
            BinaryOperator::Plus => BinaryOp::Add,
            BinaryOperator::Minus => BinaryOp::Subtract,
            BinaryOperator::Multiply => BinaryOp::Multiply,
            BinaryOperator::Divide => BinaryOp::Divide,
            BinaryOperator::Modulo => BinaryOp::Modulo,
            BinaryOperator::StringConcat => BinaryOp::Concat,
            BinaryOperator::Eq => BinaryOp::Equal,
            BinaryOperator::NotEq => BinaryOp::NotEqual,
            BinaryOperator::Lt => BinaryOp::Less,
            BinaryOperator::LtEq => BinaryOp::LessOrEqual,
            BinaryOperator::Gt => BinaryOp::Greater,
            BinaryOperator::GtEq => BinaryOp::GreaterOrEqual,
            _ => return Ok(PlannerResult::Original(expr)),
        };
        match self.operators.get(&op) {
            Some(function) => {
                let call = ScalarFunction::new_udf(Arc::clone(function), vec![expr.left, expr.right]);
                Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
            }
            None => Ok(PlannerResult::Original(expr)),
        }
    }

    fn plan_position(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(self.call("strpos", arguments))
    }

    fn plan_extract(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(self.call("extract", arguments))
    }

    fn plan_substring(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(self.call("substring", arguments))
    }

    /// `o.k` where the query has a column `o`, of which `k` would be a part. There are no
    /// such types: it is the column of a table of a query around, or of none. Which, and
    /// of what type, the converter finds out.
    fn plan_compound_identifier(
        &self,
        field: &Field,
        _: Option<&TableReference>,
        parts: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let [name] = parts else { return Ok(PlannerResult::Original(Vec::new())) };
        let column = Column::new(Some(TableReference::bare(field.name().as_str())), name);
        let unknown = Arc::new(Field::new(name, DataType::Null, true));
        Ok(PlannerResult::Planned(Expr::OuterReferenceColumn(unknown, column)))
    }

    fn plan_aggregate(&self, mut expr: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        if expr.func.name() == "count" && !expr.distinct {
            count_rows(&mut expr.args);
        }
        Ok(PlannerResult::Original(expr))
    }

    fn plan_window(&self, mut expr: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        if expr.func_def.name() == "count" && !expr.distinct {
            count_rows(&mut expr.args);
        }
        Ok(PlannerResult::Original(expr))
    }
}

/// COUNT(*) and COUNT(1) count rows: one spelling lets them be found equal.
fn count_rows(arguments: &mut Vec<Expr>) {
    #[expect(deprecated)]
    let every_row = |e: &Expr| matches!(e, Expr::Wildcard { .. }) || matches!(e, Expr::Literal(v, _) if !v.is_null());
    if arguments.len() <= 1 && arguments.iter().all(every_row) {
        *arguments = vec![datafusion_expr::lit(1i64)];
    }
}
