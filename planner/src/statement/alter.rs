//! ALTER TABLE: one change at a time.

use super::constraint::Declared;
use super::create::Keys;
use super::stored::KnownColumn;
use super::{Session, at_name, column_of};
use crate::text::{self, Source, folded, object_name};
use gingham_plan::{
    AlterTable, Alteration, CheckInfo, ColumnDefinition, ColumnInfo, Generated, SpecialIndex, SqlError, Statement,
    StoredExpr, TableInfo,
};
use sqlparser::ast::{self, AlterTableOperation, Ident, RenameTableNameKind, VisitMut, VisitorMut, visit_relations};
use std::ops::ControlFlow;

impl Session<'_> {
    pub(super) fn alter_table(&self, alter: ast::AlterTable, source: &Source) -> Result<Statement, SqlError> {
        let [operation] = alter.operations.as_slice() else {
            return Err(SqlError::unsupported("more than one change in ALTER TABLE").hint("use a statement for each"));
        };
        let (_, table) = match self.table(&alter.name, source) {
            Err(error) if alter.if_exists && error.code == "42P01" => return Ok(Statement::AlterTable(None)),
            found => found?,
        };
        let change = match operation {
            AlterTableOperation::RenameTable { table_name: RenameTableNameKind::To(name) } => {
                self.check_views(table, source)?;
                let name = object_name(name)?;
                self.check_free(&name, false, source)?;
                Alteration::Rename(name)
            }
            AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
                self.check_views(table, source)?;
                self.rename_column(table, old_column_name, new_column_name, source)?
            }
            AlterTableOperation::AddColumn { if_not_exists, column_def, column_position: None, .. } => {
                if *if_not_exists && table.column(&folded(&column_def.name)).is_some() {
                    return Ok(Statement::AlterTable(None));
                }
                self.add_column(table, column_def, source)?
            }
            AlterTableOperation::DropColumn { column_names, if_exists, drop_behavior, .. } => {
                let [name] = column_names.as_slice() else {
                    return Err(SqlError::unsupported("DROP COLUMN of several columns"));
                };
                if matches!(drop_behavior, Some(ast::DropBehavior::Cascade)) {
                    return Err(at_name(SqlError::unsupported("CASCADE"), "cascade", source));
                }
                if *if_exists && table.column(&folded(name)).is_none() {
                    return Ok(Statement::AlterTable(None));
                }
                self.check_views(table, source)?;
                self.drop_column(table, name, source)?
            }
            other => {
                let words: Vec<String> = other.to_string().split(' ').take(2).map(str::to_owned).collect();
                return Err(SqlError::unsupported(format!("ALTER TABLE … {}", words.join(" "))));
            }
        };
        Ok(Statement::AlterTable(Some(AlterTable { table: table.id, change })))
    }

    /// 2BP01 if a view's text names the table: the text would no longer say what it did.
    fn check_views(&self, table: &TableInfo, source: &Source) -> Result<(), SqlError> {
        for view in &self.binder.catalog.views {
            let text = Source::read(&view.sql)?;
            let query = text::parse(&text.tokens, |parser| parser.parse_query())?;
            let named = visit_relations(&query, |name| match object_name(name) {
                Ok(name) if name == table.name => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
            if named.is_break() {
                let error = SqlError::new("2BP01", format!("view {} reads table {}", view.name, table.name));
                return Err(at_name(error.hint("drop the view, and create it again afterwards"), &table.name, source));
            }
        }
        Ok(())
    }

    fn rename_column(
        &self,
        table: &TableInfo,
        old: &Ident,
        new: &Ident,
        source: &Source,
    ) -> Result<Alteration, SqlError> {
        let ordinal = column_of(table, &folded(old), source)?;
        let name = folded(new);
        check_new(table, &name, new)?;
        let mut columns = table.columns.clone();
        columns[ordinal].name.clone_from(&name);
        for column in &mut columns {
            if let Some(Generated::Stored(stored)) = &mut column.generated {
                rename_in(stored, &folded(old), new)?;
            }
        }
        let mut checks: Vec<CheckInfo> = table.checks.clone();
        checks.iter_mut().try_for_each(|check| rename_in(&mut check.condition, &folded(old), new))?;
        let mut special: Vec<Option<SpecialIndex>> = table.indexes.iter().map(|index| index.special.clone()).collect();
        let mut stored = special.iter_mut().flatten().flat_map(SpecialIndex::stored_mut);
        stored.try_for_each(|stored| rename_in(stored, &folded(old), new))?;
        drop(stored);
        Ok(Alteration::Describe { columns, checks, special })
    }

    fn add_column(
        &self,
        table: &TableInfo,
        definition: &ast::ColumnDef,
        source: &Source,
    ) -> Result<Alteration, SqlError> {
        check_new(table, &folded(&definition.name), &definition.name)?;
        let mut keys = Keys::default();
        let ordinal = table.columns.len();
        let column = self.column(definition, ordinal, &mut keys, source)?;
        let declared: Declared<'_> = std::mem::take(&mut keys.declared);
        let refused = if !keys.primary.is_empty() {
            Some("PRIMARY KEY")
        } else if !keys.unique.is_empty() {
            Some("UNIQUE")
        } else if !declared.foreign_keys.is_empty() {
            Some("REFERENCES")
        } else if column.generated.is_some() || !declared.computed.is_empty() {
            Some("GENERATED")
        } else {
            None
        };
        if let Some(what) = refused {
            let error = SqlError::unsupported(format!("ADD COLUMN … {what}"));
            return Err(at_name(error, &definition.name.value, source));
        }
        let mut known: Vec<KnownColumn<'_>> = table.columns.iter().map(KnownColumn::of).collect();
        known.push(KnownColumn { name: &column.name, ty: column.ty, nullable: true });
        let mut checks = Vec::new();
        for (given, check) in &declared.checks {
            if check.enforced == Some(false) {
                return Err(at_name(SqlError::unsupported("NOT ENFORCED"), "enforced", source));
            }
            let condition = self.stored_condition(&check.expr, &table.name, &known, "a CHECK", source)?;
            let base = given.map_or_else(|| format!("{}_{}_check", table.name, column.name), folded);
            let taken = |name: &str| {
                let mut all = table.checks.iter().chain(&checks).map(|c: &CheckInfo| &c.name);
                all.any(|n| n == name) || table.foreign_keys.iter().any(|k| k.name == name)
            };
            if given.is_some() && taken(&base) {
                let error = SqlError::new("42710", format!("constraint {base} exists already"));
                return Err(at_name(error, &base, source));
            }
            let mut name = base.clone();
            for number in 1.. {
                if !taken(&name) {
                    break;
                }
                name = format!("{base}{number}");
            }
            checks.push(CheckInfo { name, condition });
        }
        let ColumnDefinition { name, ty, nullable, default, generated } = column;
        Ok(Alteration::AddColumn { column: ColumnInfo { name, ty, nullable, default, generated }, checks })
    }

    fn drop_column(&self, table: &TableInfo, name: &Ident, source: &Source) -> Result<Alteration, SqlError> {
        let ordinal = column_of(table, &folded(name), source)?;
        let depends = |what: String| {
            let error = SqlError::new("2BP01", format!("{what} needs column {}", folded(name)));
            Err(text::ident_at(error, Some(name)))
        };
        if table.columns.len() == 1 {
            return Err(text::ident_at(SqlError::new("42601", "a table has at least one column"), Some(name)));
        }
        if table.primary_key.contains(&ordinal) {
            return depends("the primary key".into());
        }
        if let Some(index) = table.indexes.iter().find(|index| index.columns_read().contains(&ordinal)) {
            return depends(format!("index {}", index.name));
        }
        if let Some(check) = table.checks.iter().find(|c| c.condition.columns().contains(&ordinal)) {
            return depends(format!("CHECK {}", check.name));
        }
        if let Some(key) = table.foreign_keys.iter().find(|k| k.columns.contains(&ordinal)) {
            return depends(format!("FOREIGN KEY {}", key.name));
        }
        for column in &table.columns {
            if let Some(Generated::Stored(stored)) = &column.generated
                && stored.columns().contains(&ordinal)
            {
                return depends(format!("generated column {}", column.name));
            }
        }
        Ok(Alteration::DropColumn(ordinal))
    }
}

/// 42701 if the table has a column of the name.
fn check_new(table: &TableInfo, name: &str, ident: &Ident) -> Result<(), SqlError> {
    if table.column(name).is_none() {
        return Ok(());
    }
    let error = SqlError::new("42701", format!("column {name} of table {} exists already", table.name));
    Err(text::ident_at(error, Some(ident)))
}

/// Writes a stored expression's text with a column's new name.
fn rename_in(stored: &mut StoredExpr, old: &str, new: &Ident) -> Result<(), SqlError> {
    struct Rename<'n> {
        old: &'n str,
        new: &'n Ident,
    }
    impl VisitorMut for Rename<'_> {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
            let name = match expr {
                ast::Expr::Identifier(name) => Some(name),
                ast::Expr::CompoundIdentifier(names) => names.last_mut(),
                _ => None,
            };
            if let Some(name) = name.filter(|name| folded(name) == self.old) {
                *name = self.new.clone();
            }
            ControlFlow::Continue(())
        }
    }
    let source = Source::read(&stored.sql)?;
    let mut expr = text::parse(&source.tokens, |parser| parser.parse_expr())?;
    let _ = expr.visit(&mut Rename { old, new });
    stored.sql = expr.to_string();
    Ok(())
}
