//! The catalog and the functions as datafusion-sql asks for them.

use super::error::{TABLE_NOT_FOUND, translate};
use super::functions::Functions;
use super::source::{SeriesHandle, WorkHandle};
use super::types::{from_sql, to_arrow};
use crate::text::{self, Source, normalize::normalize};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, Result, TableReference};
use datafusion_expr::logical_plan::LogicalPlan;
use datafusion_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion_expr::{AggregateUDF, Expr, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF};
use datafusion_sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use gingham_plan::{Catalog, SqlError, TableInfo};
use sqlparser::ast;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// The name under which the target of UPDATE and DELETE is bound: the table and its
/// locator column. No SQL text can spell it.
pub(crate) const TARGET: &str = "\0target";
/// The locator's name in [`TARGET`].
pub(crate) const LOCATOR: &str = "\0locator";
/// Views within views.
const VIEW_DEPTH_MAX: usize = 16;

/// How identifiers, numbers and NULLs read.
pub(crate) fn parser_options() -> ParserOptions {
    ParserOptions::new()
        .with_parse_float_as_decimal(true)
        .with_enable_ident_normalization(true)
        .with_map_string_types_to_utf8view(false)
        .with_collect_spans(true)
        .with_default_null_ordering(NullOrdering::NullsMax)
}

/// A table as a scan in the logical plan refers to it.
#[derive(Debug)]
pub(crate) struct TableHandle {
    /// Position in `Catalog::tables`.
    pub(crate) table: usize,
    schema: SchemaRef,
}

impl TableSource for TableHandle {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A view: its query, bound.
struct ViewHandle {
    plan: LogicalPlan,
    schema: SchemaRef,
}

impl TableSource for ViewHandle {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        Some(Cow::Borrowed(&self.plan))
    }
}

/// Table handles, kept while the catalog's version stays.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    version: Option<u64>,
    handles: HashMap<String, Arc<TableHandle>>,
}

impl Tables {
    /// Forgets everything if `catalog` is another than last time.
    pub(crate) fn refresh(&mut self, catalog: &Catalog) {
        if self.version != Some(catalog.version) {
            self.handles.clear();
            self.version = Some(catalog.version);
        }
    }
}

#[derive(Debug)]
struct SqlTypes;

impl TypePlanner for SqlTypes {
    fn plan_type(&self, sql_type: &ast::DataType) -> Result<Option<DataType>> {
        match from_sql(sql_type) {
            Ok(ty) => Ok(Some(to_arrow(ty))),
            Err(error) => Err(DataFusionError::External(Box::new(error))),
        }
    }
}

/// Answers datafusion-sql's questions during one statement.
pub(crate) struct Binder<'a> {
    pub(crate) catalog: &'a Arc<Catalog>,
    functions: &'a Functions,
    options: &'a ConfigOptions,
    tables: RefCell<&'a mut Tables>,
    /// The target of UPDATE or DELETE, bound as [`TARGET`].
    target: Cell<Option<usize>>,
    views: RefCell<HashMap<String, Arc<ViewHandle>>>,
    view_depth: Cell<usize>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        catalog: &'a Arc<Catalog>,
        functions: &'a Functions,
        options: &'a ConfigOptions,
        tables: &'a mut Tables,
    ) -> Self {
        tables.refresh(catalog);
        Self {
            catalog,
            functions,
            options,
            tables: RefCell::new(tables),
            target: Cell::new(None),
            views: RefCell::default(),
            view_depth: Cell::new(0),
        }
    }

    /// Makes [`TARGET`] mean a table.
    pub(crate) fn set_target(&self, table: usize) {
        self.target.set(Some(table));
    }

    /// Binds a query to a logical plan.
    pub(crate) fn query(&self, query: ast::Query, source: &Source) -> Result<LogicalPlan, SqlError> {
        SqlToRel::new_with_options(self, parser_options())
            .sql_statement_to_plan(ast::Statement::Query(Box::new(query)))
            .map_err(|error| translate(error, self.catalog, source))
    }

    /// Binds an expression over the columns of `schema`.
    pub(crate) fn expression(
        &self,
        expr: ast::Expr,
        schema: &datafusion_common::DFSchema,
        source: &Source,
    ) -> Result<Expr, SqlError> {
        SqlToRel::new_with_options(self, parser_options())
            .sql_to_expr(expr, schema, &mut PlannerContext::new())
            .map_err(|error| translate(error, self.catalog, source))
    }

    fn table(&self, name: &str) -> Option<Arc<TableHandle>> {
        if let Some(handle) = self.tables.borrow().handles.get(name) {
            return Some(Arc::clone(handle));
        }
        let table = self.catalog.tables.iter().position(|t| t.name == name)?;
        let handle = Arc::new(TableHandle { table, schema: schema(&self.catalog.tables[table], false) });
        self.tables.borrow_mut().handles.insert(name.to_owned(), Arc::clone(&handle));
        Some(handle)
    }

    fn view(&self, name: &str) -> Result<Option<Arc<ViewHandle>>> {
        if let Some(view) = self.views.borrow().get(name) {
            return Ok(Some(Arc::clone(view)));
        }
        let Some(view) = self.catalog.view(name) else { return Ok(None) };
        let depth = self.view_depth.get();
        let external = |error: SqlError| DataFusionError::External(Box::new(error));
        if depth >= VIEW_DEPTH_MAX {
            let message = format!("view {name} refers to views more than {VIEW_DEPTH_MAX} deep");
            return Err(external(SqlError::new("54001", message)));
        }
        self.view_depth.set(depth + 1);
        let bound = self.view_plan(&view.sql, &view.columns).map_err(|mut error| {
            // The position is one in the view's text, not in the statement's.
            error.position = None;
            error.message = format!("in view {name}: {}", error.message);
            external(error)
        });
        self.view_depth.set(depth);
        let plan = bound?;
        let schema = Arc::new(plan.schema().as_arrow().clone());
        let handle = Arc::new(ViewHandle { plan, schema });
        self.views.borrow_mut().insert(name.to_owned(), Arc::clone(&handle));
        Ok(Some(handle))
    }

    fn view_plan(&self, sql: &str, columns: &[String]) -> Result<LogicalPlan, SqlError> {
        let source = Source::read(sql)?;
        let mut query = text::parse(&source.tokens, |parser| parser.parse_query())?;
        normalize(&mut query)?;
        let plan = self.query(*query, &source)?;
        if columns.is_empty() {
            return Ok(plan);
        }
        let fields = plan.schema().columns();
        if fields.len() != columns.len() {
            let message = format!("the view names {} columns and its query gives {}", columns.len(), fields.len());
            return Err(SqlError::new("42601", message));
        }
        let renamed = fields.into_iter().zip(columns).map(|(column, name)| Expr::Column(column).alias(name));
        datafusion_expr::LogicalPlanBuilder::from(plan)
            .project(renamed.collect::<Vec<_>>())
            .and_then(|builder| builder.build())
            .map_err(|error| translate(error, self.catalog, &source))
    }
}

/// A table's columns as Arrow fields, the locator after them if asked for.
fn schema(table: &TableInfo, locator: bool) -> SchemaRef {
    let field = |c: &gingham_plan::ColumnInfo| Field::new(&c.name, to_arrow(c.ty), c.nullable);
    let mut fields: Vec<Field> = table.columns.iter().map(field).collect();
    fields.extend(locator.then(|| Field::new(LOCATOR, DataType::Binary, false)));
    Arc::new(Schema::new(fields))
}

impl ContextProvider for Binder<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let not_found = || DataFusionError::Plan(format!("{TABLE_NOT_FOUND}{name}"));
        if name.catalog().is_some() || !matches!(name.schema(), None | Some("main" | "public")) {
            return Err(not_found());
        }
        if name.table() == TARGET {
            let Some(table) = self.target.get() else { return Err(not_found()) };
            return Ok(Arc::new(TableHandle { table, schema: schema(&self.catalog.tables[table], true) }));
        }
        if let Some(table) = self.table(name.table()) {
            return Ok(table);
        }
        match self.view(name.table())? {
            Some(view) => Ok(view),
            None => Err(not_found()),
        }
    }

    fn get_table_function_source(&self, name: &str, arguments: Vec<Expr>) -> Result<Arc<dyn TableSource>> {
        if name == "generate_series" {
            return Ok(Arc::new(SeriesHandle::new(arguments)));
        }
        Err(DataFusionError::External(Box::new(SqlError::unsupported(format!("the table function {name}")))))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(Arc::new(WorkHandle { name: name.to_owned(), schema }))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.functions.planners()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(SqlTypes))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.functions.scalar(name)
    }

    fn get_higher_order_meta(&self, _: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.functions.aggregate(name)
    }

    fn get_window_meta(&self, _: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn get_variable_field(&self, _: &[String]) -> Option<FieldRef> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.options
    }

    fn udf_names(&self) -> Vec<String> {
        Functions::names().map(str::to_owned).collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}
