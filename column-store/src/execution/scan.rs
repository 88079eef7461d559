//! Scans: the tables' own sources with every bound a literal.

use super::context::Scope;
use super::stage::{Operator, Place, Site};
use crate::Result;
use crate::expression::{Runtime, error, evaluate_row_with};
use crate::source::{Source, SourceCounts, Step};
use gingham_plan::{Expr, KeyBound, Route, RowAccess, Scan};
use std::rc::Rc;
use std::sync::Arc;

/// Reads one table.
pub(crate) struct ScanOperator {
    source: Box<dyn Source>,
    scope: Rc<Scope>,
    place: Place,
    /// What has been added to the profile.
    counted: SourceCounts,
}

impl ScanOperator {
    pub(crate) fn new(site: &Site<'_>, scan: &Scan) -> Result<Self> {
        let bound = bind(scan, &site.scope.runtime())?;
        let filters = scan
            .dynamic_filters
            .iter()
            .map(|dynamic| {
                let cell = site.scope.filters.get(dynamic.filter.0 as usize);
                let cell = cell.ok_or_else(|| error::internal(format!("there is no filter {}", dynamic.filter.0)))?;
                Ok((*dynamic, Arc::clone(cell)))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            source: site.scope.context.tables.open(&bound, &filters)?,
            scope: Rc::clone(site.scope),
            place: site.place.clone(),
            counted: SourceCounts::default(),
        })
    }
}

impl Operator for ScanOperator {
    fn next(&mut self) -> Result<Step> {
        let step = self.source.next()?;
        let counts = self.source.counts();
        if counts != self.counted {
            let more = counts.with(self.counted, u64::wrapping_sub);
            self.scope.context.record(&self.place, |node| node.read = node.read.with(more, u64::wrapping_add));
            self.counted = counts;
        }
        Ok(step)
    }
}

/// The scan with parameters, slots and subqueries replaced by their values.
fn bind(scan: &Scan, runtime: &Runtime) -> Result<Scan> {
    let mut bound = scan.clone();
    for filter in &mut bound.filters {
        *filter = runtime.bind(filter)?;
    }
    if let Route::Row(access) = &mut bound.route {
        bind_access(access, runtime)?;
    }
    Ok(bound)
}

fn bind_access(access: &mut RowAccess, runtime: &Runtime) -> Result<()> {
    let literal = |expr: &mut Expr| -> Result<()> {
        let value = evaluate_row_with(expr, &[], runtime)?;
        *expr = Expr::Literal { value, ty: expr.ty() };
        Ok(())
    };
    match access {
        RowAccess::Full { .. } => Ok(()),
        RowAccess::Range { equal, lower, upper, .. } => {
            let bounds = lower.iter_mut().chain(upper).map(|bound: &mut KeyBound| &mut bound.value);
            equal.iter_mut().chain(bounds).try_for_each(literal)
        }
        RowAccess::Keys { keys, .. } => keys.iter_mut().flatten().try_for_each(literal),
    }
}
