//! What CREATE TABLE declares beside keys: CHECK, FOREIGN KEY, generated columns.
//!
//! Their expressions and references may name any column of the table, so they are
//! collected while columns are read and resolved when all are known.

use super::create::Keys;
use super::stored::KnownColumn;
use super::{Session, at_name, column_of};
use crate::text::normalize::at;
use crate::text::{Source, folded, ident_at, object_name};
use gingham_plan::{
    CheckInfo, ColumnDefinition, ColumnInfo, ForeignAction, ForeignKeyInfo, Generated, SqlError, StoredExpr, TableId,
};
use gingham_types::SqlType;
use sqlparser::ast::{
    self, CheckConstraint, ColumnOption, ConstraintCharacteristics, ConstraintReferenceMatchKind, DeferrableInitial,
    ForeignKeyConstraint, GeneratedAs, Ident, ReferentialAction, SequenceOptions,
};
use std::collections::HashSet;

/// What has been read and not resolved yet.
#[derive(Default)]
pub(super) struct Declared<'a> {
    pub(super) checks: Vec<(Option<&'a Ident>, &'a CheckConstraint)>,
    /// With the ordinals of a column's REFERENCES; a table's FOREIGN KEY names its own.
    pub(super) foreign_keys: Vec<(Option<&'a Ident>, Option<usize>, &'a ForeignKeyConstraint)>,
    /// Generated columns by ordinal.
    pub(super) computed: Vec<(usize, &'a ast::Expr)>,
}

/// The constraints of a table, resolved.
pub(super) struct Resolved {
    pub(super) checks: Vec<CheckInfo>,
    pub(super) foreign_keys: Vec<ForeignKeyInfo>,
}

/// SERIAL and its like, which are types in name only.
pub(super) fn serial(ty: &ast::DataType) -> Option<SqlType> {
    let ast::DataType::Custom(name, arguments) = ty else { return None };
    let [part] = name.0.as_slice() else { return None };
    SqlType::named_serial(&folded(part.as_ident().filter(|_| arguments.is_empty())?))
}

/// Makes a column an identity column that takes numbers of the rows' own too.
pub(super) fn make_identity(definition: &mut ColumnDefinition, always: bool) -> Result<(), SqlError> {
    identity(definition, always, &[])
}

/// Reads `GENERATED …` of a column.
pub(super) fn generated<'a>(
    option: &'a ColumnOption,
    definition: &mut ColumnDefinition,
    ordinal: usize,
    declared: &mut Declared<'a>,
) -> Result<(), SqlError> {
    let ColumnOption::Generated { generated_as, sequence_options, generation_expr, .. } = option else {
        return Err(SqlError::internal("an option is not GENERATED"));
    };
    match generation_expr {
        None => {
            let always = *generated_as != GeneratedAs::ByDefault;
            identity(definition, always, sequence_options.as_deref().unwrap_or_default())
        }
        Some(expr) if *generated_as == GeneratedAs::ExpStored => {
            declared.computed.push((ordinal, expr));
            Ok(())
        }
        Some(expr) => Err(at(SqlError::unsupported("a generated column that is not STORED"), expr)),
    }
}

fn identity(definition: &mut ColumnDefinition, always: bool, options: &[SequenceOptions]) -> Result<(), SqlError> {
    if !definition.ty.is_integer() {
        let message = format!("column {} is {}: only INTEGER and BIGINT count", definition.name, definition.ty);
        return Err(SqlError::new("22023", message));
    }
    let (mut start, mut increment) = (1, 1);
    for option in options {
        match option {
            SequenceOptions::StartWith(expr, _) => start = number(expr)?,
            SequenceOptions::IncrementBy(expr, _) => increment = number(expr)?,
            other => return Err(SqlError::unsupported(format!("the identity option{other}"))),
        }
    }
    let fits = definition.ty == SqlType::BigInt || i32::try_from(start).is_ok();
    if increment < 1 || !fits {
        let message = "an identity column starts with a number of its type and increments by 1 or more";
        return Err(SqlError::new("22023", message));
    }
    definition.generated = Some(Generated::Identity { always, start, increment });
    definition.nullable = false;
    Ok(())
}

fn number(expr: &ast::Expr) -> Result<i64, SqlError> {
    let text = expr.to_string().replace([' ', '_'], "");
    text.parse().map_err(|_| at(SqlError::new("22023", format!("{expr} is not a BIGINT")), expr))
}

/// Refuses constraints that are not checked by the end of each statement.
pub(super) fn immediate(characteristics: Option<&ConstraintCharacteristics>, source: &Source) -> Result<(), SqlError> {
    let Some(asked) = characteristics else { return Ok(()) };
    if asked.enforced == Some(false) {
        return Err(at_name(SqlError::unsupported("NOT ENFORCED"), "enforced", source));
    }
    if asked.deferrable == Some(true) || asked.initially == Some(DeferrableInitial::Deferred) {
        let error = SqlError::unsupported("a DEFERRABLE constraint");
        let error = error.hint("constraints hold at the end of every statement; load parents before children");
        let word = if asked.deferrable == Some(true) { "deferrable" } else { "deferred" };
        return Err(at_name(error, word, source));
    }
    Ok(())
}

/// 428C9 for a value of one's own in a column whose values the database makes.
pub(super) fn refuse_value(column: &ColumnInfo) -> Result<(), SqlError> {
    let (what, hint) = match &column.generated {
        Some(Generated::Identity { always: true, .. }) => {
            ("GENERATED ALWAYS AS IDENTITY", "leave it out, or declare it GENERATED BY DEFAULT")
        }
        Some(Generated::Stored(_)) => ("computed from others", "leave it out"),
        _ => return Ok(()),
    };
    Err(SqlError::new("428C9", format!("column {} takes no value: it is {what}", column.name)).hint(hint))
}

impl Session<'_> {
    /// Resolves what was declared for the table `name`; generated columns go into `columns`.
    pub(super) fn resolve(
        &self,
        declared: &Declared<'_>,
        name: &str,
        columns: &mut [ColumnDefinition],
        keys: &Keys<'_>,
        source: &Source,
    ) -> Result<Resolved, SqlError> {
        let identities = columns.iter().filter(|c| matches!(c.generated, Some(Generated::Identity { .. })));
        if let Some(second) = identities.skip(1).map(|c| &c.name).next() {
            let error = SqlError::unsupported("a second identity column");
            return Err(at_name(error, second, source));
        }
        self.resolve_computed(declared, name, columns, source)?;
        let known = known(columns);
        let mut taken = HashSet::new();
        let given = declared.checks.iter().map(|(name, _)| name);
        for name in given.chain(declared.foreign_keys.iter().map(|(name, ..)| name)).flatten() {
            if !taken.insert(folded(name)) {
                let error = SqlError::new("42710", format!("constraint {} is declared twice", name.value));
                return Err(ident_at(error, Some(name)));
            }
        }
        let mut resolved = Resolved { checks: Vec::new(), foreign_keys: Vec::new() };
        for (given, check) in &declared.checks {
            if check.enforced == Some(false) {
                return Err(at_name(SqlError::unsupported("NOT ENFORCED"), "enforced", source));
            }
            let condition = self.stored_condition(&check.expr, name, &known, "a CHECK", source)?;
            let read = condition.columns();
            let column = if let [only] = read[..] { format!("_{}", columns[only].name) } else { String::new() };
            let name = named(*given, format!("{name}{column}_check"), &mut taken);
            resolved.checks.push(CheckInfo { name, condition });
        }
        for (given, ordinal, key) in &declared.foreign_keys {
            let mut key = self.foreign_key(*ordinal, key, name, columns, keys, source)?;
            let names: Vec<&str> = key.columns.iter().map(|c| columns[*c].name.as_str()).collect();
            key.name = named(*given, format!("{name}_{}_fkey", names.join("_")), &mut taken);
            resolved.foreign_keys.push(key);
        }
        Ok(resolved)
    }

    fn resolve_computed(
        &self,
        declared: &Declared<'_>,
        name: &str,
        columns: &mut [ColumnDefinition],
        source: &Source,
    ) -> Result<(), SqlError> {
        let mut computed: Vec<(usize, StoredExpr)> = Vec::with_capacity(declared.computed.len());
        for (ordinal, expr) in &declared.computed {
            let column = &columns[*ordinal];
            if column.default.is_some() || column.generated.is_some() {
                let error = SqlError::syntax(format!("column {} has its value from two places", column.name));
                return Err(at_name(error, &column.name, source));
            }
            let stored = self.stored_as(expr, column.ty, name, &known(columns), "a generated column", source)?;
            if stored.columns().iter().any(|read| declared.computed.iter().any(|(other, _)| other == read)) {
                let error = SqlError::new("42P17", "a generated column cannot be computed from a generated column");
                return Err(at(error, *expr));
            }
            computed.push((*ordinal, stored));
        }
        for (ordinal, stored) in computed {
            columns[ordinal].generated = Some(Generated::Stored(stored));
        }
        let doubled = |c: &&ColumnDefinition| c.default.is_some() && c.generated.is_some();
        match columns.iter().find(doubled) {
            Some(column) => {
                let error = SqlError::syntax(format!("column {} has both a DEFAULT and an identity", column.name));
                Err(at_name(error, &column.name, source))
            }
            None => Ok(()),
        }
    }

    fn foreign_key(
        &self,
        ordinal: Option<usize>,
        key: &ForeignKeyConstraint,
        table: &str,
        columns: &[ColumnDefinition],
        keys: &Keys<'_>,
        source: &Source,
    ) -> Result<ForeignKeyInfo, SqlError> {
        immediate(key.characteristics.as_ref(), source)?;
        if matches!(key.match_kind, Some(ConstraintReferenceMatchKind::Full | ConstraintReferenceMatchKind::Partial)) {
            return Err(at_name(SqlError::unsupported("MATCH FULL and MATCH PARTIAL"), "match", source));
        }
        let own = ordinals(&key.columns, &|name| columns.iter().position(|c| c.name == name), table)?;
        let own = ordinal.map_or(own, |ordinal| vec![ordinal]);
        let parent_name = object_name(&key.foreign_table)?;
        let (parent, parent_columns) = if parent_name == table {
            let given = ordinals(&key.referred_columns, &|name| columns.iter().position(|c| c.name == name), table)?;
            let given = if given.is_empty() { keys.primary.clone() } else { given };
            let is_key = same(&keys.primary, &given) || keys.unique.iter().any(|unique| same(unique, &given));
            check_key(&given, is_key, &parent_name, source)?;
            (TableId::NEW, given)
        } else {
            let (_, info) = self.table(&key.foreign_table, source)?;
            let given = key.referred_columns.iter().map(|c| column_of(info, &folded(c), source));
            let given = given.collect::<Result<Vec<usize>, _>>()?;
            let given = if given.is_empty() { info.primary_key.clone() } else { given };
            check_key(&given, info.has_key(&given), &parent_name, source)?;
            check_types(&own, columns, &given.iter().map(|c| info.columns[*c].ty).collect::<Vec<_>>(), source)?;
            (info.id, given)
        };
        if parent == TableId::NEW {
            let types: Vec<SqlType> = parent_columns.iter().map(|c| columns[*c].ty).collect();
            check_types(&own, columns, &types, source)?;
        }
        let (on_delete, on_update) = (action(key.on_delete.as_ref()), action(key.on_update.as_ref()));
        let changes = |action| !matches!(action, ForeignAction::NoAction | ForeignAction::Restrict);
        let computed = own.iter().find(|c| matches!(columns[**c].generated, Some(Generated::Stored(_))));
        if let Some(column) = computed
            && (changes(on_update) || (changes(on_delete) && on_delete != ForeignAction::Cascade))
        {
            let error = SqlError::new("42P17", "a foreign key's action cannot change a generated column");
            return Err(at_name(error, &columns[*column].name, source));
        }
        Ok(ForeignKeyInfo { name: String::new(), columns: own, parent, parent_columns, on_delete, on_update })
    }
}

/// Referring columns have the types of those they refer to; integers may differ in width.
fn check_types(
    own: &[usize],
    columns: &[ColumnDefinition],
    parent: &[SqlType],
    source: &Source,
) -> Result<(), SqlError> {
    if own.len() != parent.len() {
        let message = format!("a foreign key of {} columns refers to {}", own.len(), parent.len());
        return Err(at_name(SqlError::new("42830", message), "references", source));
    }
    for (column, ty) in own.iter().map(|c| &columns[*c]).zip(parent) {
        if column.ty != *ty && !(column.ty.is_integer() && ty.is_integer()) {
            let message = format!("column {} is {} and refers to a column of type {ty}", column.name, column.ty);
            return Err(at_name(SqlError::new("42804", message), &column.name, source));
        }
    }
    Ok(())
}

fn known(columns: &[ColumnDefinition]) -> Vec<KnownColumn<'_>> {
    columns.iter().map(|c| KnownColumn { name: &c.name, ty: c.ty, nullable: true }).collect()
}

/// The name given, or `base` with the first number that is free.
fn named(given: Option<&Ident>, base: String, taken: &mut HashSet<String>) -> String {
    if let Some(name) = given {
        return folded(name);
    }
    let mut name = base.clone();
    let mut number = 0;
    while !taken.insert(name.clone()) {
        number += 1;
        name = format!("{base}{number}");
    }
    name
}

fn action(action: Option<&ReferentialAction>) -> ForeignAction {
    match action {
        None | Some(ReferentialAction::NoAction) => ForeignAction::NoAction,
        Some(ReferentialAction::Restrict) => ForeignAction::Restrict,
        Some(ReferentialAction::Cascade) => ForeignAction::Cascade,
        Some(ReferentialAction::SetNull) => ForeignAction::SetNull,
        Some(ReferentialAction::SetDefault) => ForeignAction::SetDefault,
    }
}

fn same(key: &[usize], columns: &[usize]) -> bool {
    !key.is_empty() && key.len() == columns.len() && key.iter().all(|c| columns.contains(c))
}

fn check_key(columns: &[usize], is_key: bool, table: &str, source: &Source) -> Result<(), SqlError> {
    if is_key {
        return Ok(());
    }
    let error = if columns.is_empty() {
        SqlError::new("42830", format!("table {table} has no primary key to refer to"))
    } else {
        SqlError::new("42830", format!("no primary or unique key of table {table} has exactly these columns"))
    };
    Err(at_name(error, "references", source))
}

fn ordinals(names: &[Ident], position: &dyn Fn(&str) -> Option<usize>, table: &str) -> Result<Vec<usize>, SqlError> {
    let mut found = Vec::with_capacity(names.len());
    for ident in names {
        let name = folded(ident);
        let error = match position(&name) {
            Some(ordinal) if !found.contains(&ordinal) => {
                found.push(ordinal);
                continue;
            }
            Some(_) => SqlError::new("42701", format!("column {name} is in the key twice")),
            None => SqlError::new("42703", format!("column {name} of table {table} does not exist")),
        };
        return Err(ident_at(error, Some(ident)));
    }
    Ok(found)
}
