//! The grammar of the small shapes.
//!
//! ```text
//! SELECT (* | column, … | count(*) | (count | sum | min | max)(column), …) FROM t
//!     [WHERE c op v AND …] [ORDER BY c [ASC|DESC]] [LIMIT v]
//! INSERT INTO t [(column, …)] VALUES (v, …), …
//! UPDATE t SET column = v | column ± v, … WHERE c op v AND …
//! DELETE FROM t WHERE c op v AND …
//! CREATE TABLE, CREATE INDEX, DROP: see `definition`
//! BEGIN | COMMIT | ROLLBACK
//! ```
//! `op` is `= < <= > >=`, BETWEEN or IN (v, …), `v` a literal or parameter.

use super::definition::NewIndex;
use super::lexer::{Token, tokens};
use gingham_plan::{CreateTable, Statement};
use gingham_types::Value;

/// A statement of a small shape, names not yet looked up.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    Select(Select),
    Insert {
        table: String,
        columns: Vec<String>,
        rows: Vec<Vec<Operand>>,
    },
    Update {
        table: String,
        assignments: Vec<(String, Assignment)>,
        conditions: Vec<Condition>,
    },
    Delete {
        table: String,
        conditions: Vec<Condition>,
    },
    CreateTable(CreateTable),
    CreateIndex(NewIndex),
    /// DROP, which needs no names looked up.
    Drop(Statement),
    Begin,
    Commit,
    Rollback,
}

#[derive(Debug, PartialEq)]
pub(super) struct Select {
    pub(super) columns: Columns,
    pub(super) table: String,
    pub(super) conditions: Vec<Condition>,
    /// Column, and whether descending.
    pub(super) order: Option<(String, bool)>,
    pub(super) limit: Option<Operand>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Columns {
    All,
    Calls(Vec<Call>),
    Named(Vec<String>),
}

/// An aggregate function of a column; of none it is `count(*)`.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) function: Function,
    pub(super) column: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Count,
    Sum,
    Min,
    Max,
}

impl Function {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Literal(Value),
    Parameter(usize),
}

/// The right side of `SET column = …`.
#[derive(Debug, PartialEq)]
pub(super) enum Assignment {
    Value(Operand),
    /// `other + v`, or with `true` `other - v`.
    Add(String, bool, Operand),
}

#[derive(Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) column: String,
    pub(super) comparison: Comparison,
    /// One, but for IN.
    pub(super) operands: Vec<Operand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

/// Words that cannot be column or table names here.
const RESERVED: [&str; 32] = [
    "all", "and", "as", "between", "by", "case", "cast", "cross", "default", "delete", "distinct", "exists", "from",
    "group", "having", "in", "inner", "insert", "into", "is", "join", "left", "limit", "not", "null", "on", "or",
    "order", "select", "union", "values", "where",
];

/// First words of the small shapes.
const STATEMENTS: [&str; 9] = ["select", "insert", "update", "delete", "create", "drop", "begin", "commit", "rollback"];

pub(super) fn parse(sql: &str) -> Option<Shape> {
    // A look at the first word spares tokenizing what cannot match.
    let first = sql.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    if !STATEMENTS.iter().any(|word| first.eq_ignore_ascii_case(word)) {
        return None;
    }
    let tokens = tokens(sql)?;
    let mut parser = Parser { tokens: &tokens };
    let shape = parser.statement()?;
    parser.tokens.is_empty().then_some(shape)
}

pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token],
}

impl<'a> Parser<'a> {
    pub(super) fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.tokens.first(), Some(Token::Name(name, false)) if name == word)
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    pub(super) fn word(&mut self, word: &str) -> Option<()> {
        self.take_word(word).then_some(())
    }

    pub(super) fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Symbol(s)) if *s == symbol);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> Option<()> {
        self.take_symbol(symbol).then_some(())
    }

    pub(super) fn name(&mut self) -> Option<String> {
        match self.next()? {
            Token::Name(name, true) => Some(name.clone()),
            Token::Name(name, false) if !RESERVED.contains(&name.as_str()) => Some(name.clone()),
            _ => None,
        }
    }

    pub(super) fn operand(&mut self) -> Option<Operand> {
        let negative = self.take_symbol("-");
        match self.next()? {
            Token::Parameter(position) if !negative => Some(Operand::Parameter(*position)),
            Token::Literal(value) => match (negative, value) {
                (false, value) => Some(Operand::Literal(value.clone())),
                (true, Value::Int(v)) => Some(Operand::Literal(Value::Int(-v))),
                (true, Value::Decimal { unscaled, scale }) => {
                    Some(Operand::Literal(Value::Decimal { unscaled: -unscaled, scale: *scale }))
                }
                _ => None,
            },
            Token::Name(name, false) if !negative => match name.as_str() {
                "null" => Some(Operand::Literal(Value::Null)),
                "true" => Some(Operand::Literal(Value::Boolean(true))),
                "false" => Some(Operand::Literal(Value::Boolean(false))),
                _ => None,
            },
            _ => None,
        }
    }

    /// `item, item, …`
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_symbol(",") {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn statement(&mut self) -> Option<Shape> {
        match self.next()? {
            Token::Name(word, false) => match word.as_str() {
                "select" => self.select().map(Shape::Select),
                "insert" => self.insert(),
                "update" => self.update(),
                "delete" => {
                    self.word("from")?;
                    let table = self.name()?;
                    Some(Shape::Delete { table, conditions: self.conditions()? })
                }
                "create" => {
                    let unique = self.take_word("unique");
                    match self.next()? {
                        Token::Name(word, false) if word == "index" => {
                            self.create_index(unique).map(Shape::CreateIndex)
                        }
                        Token::Name(word, false) if word == "table" && !unique => {
                            self.create_table().map(Shape::CreateTable)
                        }
                        _ => None,
                    }
                }
                "drop" => self.drop_object().map(Shape::Drop),
                "begin" => Some(Shape::Begin),
                "commit" => Some(Shape::Commit),
                "rollback" => Some(Shape::Rollback),
                _ => None,
            },
            _ => None,
        }
    }

    fn select(&mut self) -> Option<Select> {
        let columns = if self.take_symbol("*") {
            Columns::All
        } else if let [_, Token::Symbol("("), ..] = self.tokens {
            Columns::Calls(self.list(Self::call)?)
        } else {
            Columns::Named(self.list(Self::name)?)
        };
        self.word("from")?;
        let table = self.name()?;
        let conditions = if self.at_word("where") { self.conditions()? } else { Vec::new() };
        let order = if self.take_word("order") {
            self.word("by")?;
            Some((self.name()?, self.descends()))
        } else {
            None
        };
        let limit = if self.take_word("limit") { Some(self.operand()?) } else { None };
        Some(Select { columns, table, conditions, order, limit })
    }

    /// `[ASC|DESC]`
    pub(super) fn descends(&mut self) -> bool {
        self.take_word("desc") || {
            self.take_word("asc");
            false
        }
    }

    fn call(&mut self) -> Option<Call> {
        let Token::Name(word, false) = self.next()? else { return None };
        let all = [Function::Count, Function::Sum, Function::Min, Function::Max];
        let function = all.into_iter().find(|function| function.name() == word)?;
        self.symbol("(")?;
        let counts_rows = function == Function::Count && self.take_symbol("*");
        let column = if counts_rows { None } else { Some(self.name()?) };
        self.symbol(")")?;
        Some(Call { function, column })
    }

    fn insert(&mut self) -> Option<Shape> {
        self.word("into")?;
        let table = self.name()?;
        let columns = if self.take_symbol("(") {
            let columns = self.list(Self::name)?;
            self.symbol(")")?;
            columns
        } else {
            Vec::new()
        };
        self.word("values")?;
        let rows = self.list(|parser| {
            parser.symbol("(")?;
            let row = parser.list(Self::operand)?;
            parser.symbol(")")?;
            Some(row)
        })?;
        Some(Shape::Insert { table, columns, rows })
    }

    fn update(&mut self) -> Option<Shape> {
        let table = self.name()?;
        self.word("set")?;
        let assignments = self.list(|parser| {
            let column = parser.name()?;
            parser.symbol("=")?;
            let is_column = matches!(parser.tokens, [Token::Name(..), Token::Symbol("+" | "-"), ..]);
            let assignment = if is_column {
                let other = parser.name()?;
                let minus = parser.take_symbol("-");
                if !minus {
                    parser.symbol("+")?;
                }
                Assignment::Add(other, minus, parser.operand()?)
            } else {
                Assignment::Value(parser.operand()?)
            };
            Some((column, assignment))
        })?;
        Some(Shape::Update { table, assignments, conditions: self.conditions()? })
    }

    /// `WHERE condition AND …`
    fn conditions(&mut self) -> Option<Vec<Condition>> {
        self.word("where")?;
        let mut conditions = Vec::new();
        loop {
            let column = self.name()?;
            if self.take_word("between") {
                let from = self.operand()?;
                self.word("and")?;
                let to = self.operand()?;
                for (comparison, operand) in [(Comparison::GreaterOrEqual, from), (Comparison::LessOrEqual, to)] {
                    conditions.push(Condition { column: column.clone(), comparison, operands: vec![operand] });
                }
            } else if self.take_word("in") {
                self.symbol("(")?;
                let operands = self.list(Self::operand)?;
                self.symbol(")")?;
                conditions.push(Condition { column, comparison: Comparison::In, operands });
            } else {
                let comparison = match self.next()? {
                    Token::Symbol("=") => Comparison::Equal,
                    Token::Symbol("<") => Comparison::Less,
                    Token::Symbol("<=") => Comparison::LessOrEqual,
                    Token::Symbol(">") => Comparison::Greater,
                    Token::Symbol(">=") => Comparison::GreaterOrEqual,
                    _ => return None,
                };
                conditions.push(Condition { column, comparison, operands: vec![self.operand()?] });
            }
            if !self.take_word("and") {
                return Some(conditions);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shapes_are_recognized() {
        for sql in [
            "SELECT * FROM t WHERE k = ?",
            "select v from t where k between 1 and 5 order by k desc limit 3",
            "select count(*) from t",
            "select count(*) from t where k >= ? and k < ?",
            "select max(k) from t",
            "select count(*), sum(k), max(a), count(a) from t where k > 1",
            "update t set v = v + 1 where k <= 100 and k > 3",
            "create index i on t (a, b desc)",
            "create unique index if not exists i on t (a asc)",
            "select * from t where k in (1, ?, 3)",
            "delete from t where k between 1 and 2",
            "insert into t values (?, ?), (1, 'x')",
            "INSERT INTO t (a, b) VALUES (-1.5, null)",
            "update t set v = v + 1, w = ? where k = ?",
            "delete from t where k = :key",
            "BEGIN",
            "commit",
            "rollback",
        ] {
            assert!(parse(sql).is_some(), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_declined() {
        for sql in [
            "select a + 1 from t",
            "select * from t, u",
            "select * from t where a = 1 or b = 2",
            "select * from t where a = b",
            "select distinct a from t",
            "select max(a), b from t",
            "select sum(distinct a) from t",
            "select avg(a) from t",
            "create index on t (a)",
            "create index concurrently i on t (a)",
            "create index i on t (lower(a))",
            "create index i on t (a) where b = 1",
            "create table t (a integer check (a > 1))",
            "create unique table t (a integer)",
            "drop view v",
            "select * from t where a in ()",
            "select * from t where a in (select 1)",
            "select a from t group by a",
            "insert into t select 1",
            "insert into t values (1) returning a",
            "insert or replace into t values (1)",
            "delete from t",
            "update t set a = 1",
            "select * from t where k = 1 limit 1 offset 2",
            "selec 1",
            "",
            "begin read only",
        ] {
            assert_eq!(parse(sql), None, "{sql}");
        }
    }
}
