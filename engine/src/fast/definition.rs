//! Definitions of the usual shapes.
//!
//! ```text
//! CREATE TABLE [IF NOT EXISTS] t (column type option …, … [, key, …]) [WITH (storage = word)]
//! CREATE [UNIQUE] INDEX [IF NOT EXISTS] i ON t (column [ASC|DESC], …)
//! DROP TABLE [IF EXISTS] t, …
//! DROP INDEX [IF EXISTS] i
//! ```
//! An option is `[NOT] NULL`, `PRIMARY KEY`, `UNIQUE`, `DEFAULT` with a literal,
//! `AUTOINCREMENT` or `GENERATED … AS IDENTITY`; a key is `[CONSTRAINT name] (PRIMARY KEY |
//! UNIQUE) (column, …)`. What is made of them is what the planner makes of them, to the
//! letter; whatever it would refuse is declined here.

use super::lexer::Token;
use super::parser::{Operand, Parser};
use gingham_plan::{ColumnDefinition, CreateTable, Expr, Generated, Statement, Storage, StoredExpr};
use gingham_types::{SqlType, Value, cast};

/// Words that begin something else than a column in a list of columns.
const NOT_COLUMNS: [&str; 7] = ["check", "constraint", "exclude", "foreign", "like", "primary", "unique"];

/// Words that are values where an expression may stand, as it may in a key's list.
const NOT_KEYS: [&str; 12] = [
    "current_catalog",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "false",
    "localtime",
    "localtimestamp",
    "session_user",
    "trim",
    "true",
    "user",
];

/// Most options of a column: the planner has a bound too.
const OPTIONS_MAX: usize = 16;

#[derive(Debug, PartialEq)]
pub(super) struct NewIndex {
    pub(super) name: String,
    pub(super) table: String,
    /// Columns, and whether descending.
    pub(super) columns: Vec<(String, bool)>,
    pub(super) unique: bool,
    pub(super) if_not_exists: bool,
}

impl Parser<'_> {
    fn if_not_exists(&mut self) -> Option<bool> {
        let present = self.take_word("if");
        if present {
            self.word("not")?;
            self.word("exists")?;
        }
        Some(present)
    }

    /// What follows DROP.
    pub(super) fn drop_object(&mut self) -> Option<Statement> {
        let is_table = self.take_word("table");
        if !is_table {
            self.word("index")?;
        }
        let if_exists = self.take_word("if");
        if if_exists {
            self.word("exists")?;
        }
        if is_table {
            return Some(Statement::DropTable { names: self.list(Self::name)?, if_exists });
        }
        Some(Statement::DropIndex { name: self.name()?, if_exists })
    }

    /// `(item, …)`
    fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.symbol("(")?;
        let items = self.list(item)?;
        self.symbol(")")?;
        Some(items)
    }

    /// A column in a list in which expressions may stand.
    fn key_column(&mut self) -> Option<String> {
        let is_value = NOT_KEYS.iter().any(|word| self.at_word(word));
        if is_value { None } else { self.name() }
    }

    pub(super) fn create_index(&mut self, unique: bool) -> Option<NewIndex> {
        let if_not_exists = self.if_not_exists()?;
        if self.at_word("concurrently") {
            return None;
        }
        let name = self.name()?;
        self.word("on")?;
        let table = self.name()?;
        let columns = self.parenthesized(|parser| Some((parser.key_column()?, parser.descends())))?;
        Some(NewIndex { name, table, columns, unique, if_not_exists })
    }

    pub(super) fn create_table(&mut self) -> Option<CreateTable> {
        let if_not_exists = self.if_not_exists()?;
        let mut table = CreateTable {
            name: self.name()?,
            if_not_exists,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            storage: Storage::Hybrid,
            sort_by: Vec::new(),
            source: None,
        };
        let mut keys = Vec::new();
        self.parenthesized(|parser| match parser.key()? {
            Some(key) => {
                keys.push(key);
                Some(())
            }
            None => parser.column(&mut table),
        })?;
        // A key may stand before its columns. Columns with UNIQUE come first.
        for (is_primary, names) in keys {
            let ordinal = |name: &String| table.columns.iter().position(|c| c.name == *name);
            let ordinals = names.iter().map(ordinal).collect::<Option<Vec<usize>>>()?;
            if (1..ordinals.len()).any(|at| ordinals[..at].contains(&ordinals[at])) {
                return None;
            }
            if is_primary {
                set_primary(&mut table, ordinals)?;
            } else {
                table.unique.push(ordinals);
            }
        }
        for ordinal in &table.primary_key {
            table.columns[*ordinal].nullable = false;
        }
        if table.columns.iter().filter(|c| c.generated.is_some()).count() > 1 {
            return None;
        }
        if self.take_word("with") {
            table.storage = self.parenthesized(Self::storage)?.pop()?;
        }
        (!table.columns.is_empty()).then_some(table)
    }

    /// `storage = word`, which is the only option of its list.
    fn storage(&mut self) -> Option<Storage> {
        self.word("storage")?;
        self.symbol("=")?;
        let word = match self.next()? {
            Token::Name(word, _) | Token::Literal(Value::Text(word)) => word.to_ascii_lowercase(),
            _ => return None,
        };
        let is_last = matches!(self.tokens, [Token::Symbol(")")]);
        let storages = [Storage::Hybrid, Storage::Row, Storage::Column];
        storages.into_iter().find(|storage| is_last && storage.name() == word)
    }

    /// A key of the table, and whether it is the primary one; `Some(None)` where a column
    /// stands.
    #[allow(clippy::option_option, reason = "the outer one is that of every rule of the grammar")]
    fn key(&mut self) -> Option<Option<(bool, Vec<String>)>> {
        let is_named = self.take_word("constraint");
        if is_named {
            self.name()?;
        }
        let is_primary = self.take_word("primary");
        if is_primary {
            self.word("key")?;
        } else if !self.take_word("unique") {
            return (!is_named).then_some(None);
        }
        Some(Some((is_primary, self.parenthesized(Self::key_column)?)))
    }

    fn column(&mut self, table: &mut CreateTable) -> Option<()> {
        if NOT_COLUMNS.iter().any(|word| self.at_word(word)) {
            return None;
        }
        let name = self.name()?;
        if table.columns.iter().any(|column| column.name == name) {
            return None;
        }
        let ordinal = table.columns.len();
        let (ty, is_serial) = self.column_type()?;
        let mut column = ColumnDefinition { name, ty, nullable: true, default: None, generated: None };
        if is_serial {
            make_identity(&mut column, false)?;
        }
        for _ in 0..OPTIONS_MAX {
            if matches!(self.tokens.first(), Some(Token::Symbol("," | ")"))) {
                let has_two_sources = column.default.is_some() && column.generated.is_some();
                table.columns.push(column);
                return (!has_two_sources).then_some(());
            }
            let Token::Name(word, false) = self.next()? else { return None };
            match word.as_str() {
                "null" => {}
                "not" => {
                    self.word("null")?;
                    column.nullable = false;
                }
                "primary" => {
                    self.word("key")?;
                    set_primary(table, vec![ordinal])?;
                }
                "unique" => table.unique.push(vec![ordinal]),
                "default" => column.default = Some(self.default(ty)?),
                "autoincrement" | "auto_increment" => make_identity(&mut column, false)?,
                "generated" => {
                    let always = self.take_word("always");
                    if !always {
                        self.word("by")?;
                        self.word("default")?;
                    }
                    self.word("as")?;
                    self.word("identity")?;
                    make_identity(&mut column, always)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// A type that a column can have, and whether its name says that the column counts.
    fn column_type(&mut self) -> Option<(SqlType, bool)> {
        let Token::Name(word, false) = self.next()? else { return None };
        if let Some(ty) = SqlType::named_serial(word) {
            return Some((ty, true));
        }
        if SqlType::is_decimal_name(word) {
            let digits = if self.take_symbol("(") { Some(self.digits()?) } else { None };
            return Some((SqlType::named_decimal(digits)?, false));
        }
        if matches!(word.as_str(), "varchar" | "char") && self.take_symbol("(") {
            self.count()?;
            self.symbol(")")?;
        }
        let is_double = word == "double" && self.take_word("precision");
        Some((SqlType::named(if is_double { "double precision" } else { word })?, false))
    }

    /// The rest of `(precision [, scale])`.
    fn digits(&mut self) -> Option<(u64, i64)> {
        let precision = self.count()?;
        let scale = if self.take_symbol(",") { self.count()? } else { 0 };
        self.symbol(")")?;
        Some((precision, i64::try_from(scale).ok()?))
    }

    /// A literal as a column's DEFAULT, if an INSERT would take it for the column.
    fn default(&mut self, ty: SqlType) -> Option<StoredExpr> {
        let is_negative = matches!(self.tokens.first(), Some(Token::Symbol("-")));
        let Operand::Literal(value) = self.operand()? else { return None };
        let (sql, fits) = match &value {
            Value::Null => ("NULL".to_owned(), true),
            Value::Boolean(_) => (value.to_string(), ty == SqlType::Boolean),
            // How quotes in quotes are shown is the planner's business.
            Value::Text(text) => (format!("'{text}'"), !text.contains('\'')),
            number => (number.to_string(), ty.is_numeric()),
        };
        // -0 is not what it was written as.
        let is_faithful = fits && sql.starts_with('-') == is_negative;
        is_faithful.then_some(StoredExpr { expr: Expr::literal(cast(&value, ty).ok()?, ty), sql })
    }

    fn count(&mut self) -> Option<u64> {
        match self.next()? {
            Token::Literal(Value::Int(count)) => u64::try_from(*count).ok(),
            _ => None,
        }
    }
}

fn set_primary(table: &mut CreateTable, ordinals: Vec<usize>) -> Option<()> {
    let is_first = table.primary_key.is_empty();
    table.primary_key = ordinals;
    is_first.then_some(())
}

fn make_identity(column: &mut ColumnDefinition, always: bool) -> Option<()> {
    column.generated = Some(Generated::Identity { always, start: 1, increment: 1 });
    column.nullable = false;
    column.ty.is_integer().then_some(())
}

#[cfg(all(test, feature = "planner"))]
mod tests;
