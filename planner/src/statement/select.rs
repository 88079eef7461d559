//! SELECT, VALUES and what stands on them.

use super::Session;
use crate::convert::{Converter, Scope};
use crate::logical::{Id, Rel};
use crate::physical::plan_query;
use crate::text::normalize::normalize;
use crate::text::{Source, shown_name};
use gingham_plan::{OutputColumn, Query, SqlError};
use gingham_types::SqlType;
use sqlparser::ast;

/// A query bound and converted: the relation, its columns and their names.
pub(super) struct Bound {
    pub(super) rel: Rel,
    pub(super) ids: Vec<Id>,
    pub(super) names: Vec<String>,
}

impl Session<'_> {
    /// Plans a query.
    pub(super) fn select(&self, query: ast::Query, source: &Source) -> Result<Query, SqlError> {
        let mut converter = Converter::new(self.binder.catalog, source);
        let bound = self.bind(query, &mut converter, source)?;
        let (rel, ids) = converter.settle(bound.rel, bound.ids)?;
        self.finish(converter, Bound { rel, ids, ..bound })
    }

    /// Binds and converts a query.
    pub(super) fn bind(
        &self,
        mut query: ast::Query,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<Bound, SqlError> {
        normalize(&mut query)?;
        let plan = self.binder.query(query, source)?;
        let converted = converter.query(&plan)?;
        let names = plan.schema().fields().iter().map(|f| shown_name(f.name()).to_owned()).collect();
        Ok(Bound { rel: converted.rel, ids: converted.ids, names })
    }

    /// Plans a converted query.
    pub(super) fn finish(&self, mut converter: Converter<'_>, bound: Bound) -> Result<Query, SqlError> {
        let Bound { rel, ids, names } = bound;
        let columns =
            ids.iter().zip(names).map(|(id, name)| OutputColumn { name, ty: converter.columns.ty(*id) }).collect();
        let output = plan_query(&mut converter, rel, &ids, self.setting)?;
        // A parameter whose context says nothing is text.
        let settled = |ty: &SqlType| if *ty == SqlType::Null { SqlType::Text } else { *ty };
        Ok(Query {
            root: output.root,
            columns,
            subqueries: output.subqueries,
            ctes: output.ctes,
            parameters: converter.parameters.iter().map(settled).collect(),
            filter_count: output.filter_count,
            slot_count: output.slot_count,
        })
    }

    /// Converts an expression over the columns of `scope`, without subqueries that need a relation.
    pub(super) fn expression(
        &self,
        mut expr: ast::Expr,
        scope: &Scope,
        converter: &mut Converter<'_>,
        source: &Source,
    ) -> Result<gingham_plan::Expr, SqlError> {
        normalize(&mut expr)?;
        let bound = self.binder.expression(expr, &scope.schema, source)?;
        converter.expression(&bound, scope)
    }
}
