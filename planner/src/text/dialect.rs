//! The dialect: PostgreSQL's grammar without its custom operators, so that `?` is a
//! parameter, and with the conveniences that do not conflict with it.

use sqlparser::ast::{ColumnOption, Expr, GeneratedAs, SequenceOptions};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
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

    /// `IS [NOT] DISTINCT FROM`, whose right operand the parser would let reach over AND and OR.
    fn parse_infix(&self, parser: &mut Parser, left: &Expr, _: u8) -> Option<Result<Expr, ParserError>> {
        let negated = if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            false
        } else if parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]) {
            true
        } else {
            return None;
        };
        let left = Box::new(left.clone());
        Some(parser.parse_subexpr(self.prec_value(Precedence::Is)).map(|right| {
            let right = Box::new(right);
            if negated { Expr::IsNotDistinctFrom(left, right) } else { Expr::IsDistinctFrom(left, right) }
        }))
    }

    /// Identity columns, also by SQLite's and MySQL's words, their options in any order.
    fn parse_column_option(
        &self,
        parser: &mut Parser,
    ) -> Result<Option<Result<Option<ColumnOption>, ParserError>>, ParserError> {
        const ALWAYS: [Keyword; 4] = [Keyword::GENERATED, Keyword::ALWAYS, Keyword::AS, Keyword::IDENTITY];
        const BY_DEFAULT: [Keyword; 5] =
            [Keyword::GENERATED, Keyword::BY, Keyword::DEFAULT, Keyword::AS, Keyword::IDENTITY];
        let generated_as = if parser.parse_keywords(&ALWAYS) {
            GeneratedAs::Always
        } else if parser.parse_keywords(&BY_DEFAULT)
            || parser.parse_keyword(Keyword::AUTOINCREMENT)
            || parser.parse_keyword(Keyword::AUTO_INCREMENT)
        {
            GeneratedAs::ByDefault
        } else {
            return Ok(None);
        };
        Ok(Some(sequence_options(parser).map(|options| {
            Some(ColumnOption::Generated {
                generated_as,
                sequence_options: Some(options),
                generation_expr: None,
                generation_expr_mode: None,
                generated_keyword: true,
            })
        })))
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

/// `(START WITH n INCREMENT BY n)`, if it is there.
fn sequence_options(parser: &mut Parser) -> Result<Vec<SequenceOptions>, ParserError> {
    let mut options = Vec::new();
    if !parser.consume_token(&Token::LParen) {
        return Ok(options);
    }
    while !parser.consume_token(&Token::RParen) {
        options.push(if parser.parse_keyword(Keyword::START) {
            SequenceOptions::StartWith(number_after(parser, Keyword::WITH)?, true)
        } else if parser.parse_keyword(Keyword::INCREMENT) {
            SequenceOptions::IncrementBy(number_after(parser, Keyword::BY)?, true)
        } else {
            return parser.expected_ref("START WITH or INCREMENT BY", parser.peek_token_ref());
        });
    }
    Ok(options)
}

fn number_after(parser: &mut Parser, word: Keyword) -> Result<Expr, ParserError> {
    // The word is optional.
    let _ = parser.parse_keyword(word);
    parser.parse_expr()
}
