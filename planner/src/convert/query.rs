//! The state of a conversion: columns, shared parts, parameters and outer scopes.

use crate::logical::{Columns, Id, Rel};
use crate::text::Source;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{Column, DFSchemaRef};
use datafusion_expr::logical_plan::LogicalPlan;
use gingham_plan::{Catalog, SqlError};
use gingham_types::SqlType;
use std::collections::HashMap;
use std::sync::Arc;

/// The columns that names resolve to: a schema and the number of each of its fields.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) schema: DFSchemaRef,
    pub(crate) ids: Vec<Id>,
}

impl Scope {
    /// The number of a column, if the schema has it.
    pub(crate) fn find(&self, column: &Column) -> Option<Id> {
        self.schema.maybe_index_of_column(column).and_then(|index| self.ids.get(index).copied())
    }
}

/// A converted plan: the relation and the number of each of the plan's fields.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) rel: Rel,
    pub(crate) ids: Vec<Id>,
}

/// How often a subplan that stands under an alias is referred to, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) references: usize,
    pub(crate) cte: Option<usize>,
    /// Refers to outer columns, or is too simple to be worth keeping.
    pub(crate) inline: bool,
}

/// A common table expression that is computed once.
#[derive(Debug)]
pub(crate) struct SharedCte {
    pub(crate) rel: Rel,
    pub(crate) ids: Vec<Id>,
}

/// Converts logical plans of one statement.
pub(crate) struct Converter<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) source: &'a Source,
    pub(crate) columns: Columns,
    /// Uncorrelated scalar subqueries with the column that is the value.
    pub(crate) subqueries: Vec<(Rel, Id)>,
    pub(crate) ctes: Vec<SharedCte>,
    pub(crate) parameters: Vec<SqlType>,
    pub(super) shared: HashMap<*const LogicalPlan, Shared>,
    pub(super) outer: Vec<Scope>,
    /// The recursive expressions around, innermost last, and how many there have been.
    pub(super) recursions: Vec<Recursion>,
    pub(super) works: u32,
}

/// A recursive common table expression whose recursive term is being converted.
pub(crate) struct Recursion {
    pub(super) name: String,
    pub(super) work: u32,
    pub(super) types: Vec<SqlType>,
}

impl<'a> Converter<'a> {
    pub(crate) fn new(catalog: &'a Catalog, source: &'a Source) -> Self {
        Self {
            catalog,
            source,
            columns: Columns::default(),
            subqueries: Vec::new(),
            ctes: Vec::new(),
            parameters: vec![SqlType::Null; source.parameter_count],
            shared: HashMap::new(),
            outer: Vec::new(),
            recursions: Vec::new(),
            works: 0,
        }
    }

    /// Converts a whole query.
    pub(crate) fn query(&mut self, plan: &LogicalPlan) -> Result<Converted, SqlError> {
        self.count_references(plan)?;
        self.relation(plan)
    }

    /// Counts how often each aliased subplan occurs. datafusion-sql puts the same `Arc`
    /// wherever a common table expression is named.
    fn count_references(&mut self, plan: &LogicalPlan) -> Result<(), SqlError> {
        let shared = &mut self.shared;
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::SubqueryAlias(alias) = node {
                let entry = shared.entry(Arc::as_ptr(&alias.input)).or_default();
                entry.references += 1;
                if entry.references > 1 {
                    return Ok(TreeNodeRecursion::Jump);
                }
                entry.inline = is_simple(&alias.input);
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map(|_| ())
        .map_err(|error| SqlError::internal(error.to_string()))
    }

    /// Remembers the type that its context gave a parameter.
    pub(crate) fn note_parameters(&mut self, expr: &gingham_plan::Expr) {
        let parameters = &mut self.parameters;
        expr.visit(&mut |e| {
            if let gingham_plan::Expr::Parameter { index, ty } = e
                && let Some(known) = parameters.get_mut(*index)
                && *known == SqlType::Null
            {
                *known = *ty;
            }
        });
    }

    /// The error at the position of a name or literal of the text, unless it has one.
    pub(crate) fn locate(&self, error: SqlError, text: &str) -> SqlError {
        match self.source.find(text) {
            Some((line, column)) => error.at(line, column),
            None => error,
        }
    }
}

/// Whether reading a subplan again costs no more than keeping its rows: no join,
/// aggregate or sort.
fn is_simple(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => true,
        LogicalPlan::Projection(p) => is_simple(&p.input),
        LogicalPlan::SubqueryAlias(a) => is_simple(&a.input),
        LogicalPlan::Filter(f) => is_simple(&f.input),
        _ => false,
    }
}
