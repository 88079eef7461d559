//! The dialect: PostgreSQL's grammar without its custom operators, so that `?` is a
//! parameter, and with the conveniences that do not conflict with it.

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

/// What `sqlparser` is told to accept.
#[derive(Debug, Default)]
pub(crate) struct GinghamDialect {
    base: PostgreSqlDialect,
}

macro_rules! as_postgres {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            self.base.$name()
        })*
    };
}

impl Dialect for GinghamDialect {
    /// The parser asks for PostgreSQL by type where a flag does not exist.
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.base.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        self.base.is_delimited_identifier_start(character)
    }

    fn is_identifier_start(&self, character: char) -> bool {
        self.base.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        self.base.is_identifier_part(character)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        self.base.is_reserved_for_identifier(keyword)
    }

    fn is_custom_operator_part(&self, _: char) -> bool {
        false
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        self.base.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        self.base.prec_value(precedence)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        self.base.parse_prefix(parser)
    }

    as_postgres!(
        supports_unicode_string_literal,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_nested_comments,
        supports_string_escape_constant,
        supports_numeric_literal_underscores,
        supports_notnull_operator,
        supports_interval_options,
        supports_insert_table_alias,
        supports_comma_separated_trim,
    );

    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_in_empty_list(&self) -> bool {
        true
    }
}
