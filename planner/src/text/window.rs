//! OVER clauses before binding: named windows inlined, default frames written out, and
//! EXCLUDE, which the parser does not know, carried past it.
//!
//! An EXCLUDE clause is cut out of the tokens and put into the window's name behind a
//! NUL; from there it goes into the partition as a constant key that no text can spell,
//! and the converter finds it there.

use super::folded;
use gingham_plan::{FrameExclusion, SqlError};
use sqlparser::ast::{
    CastKind, DataType, Expr, NamedWindowDefinition, NamedWindowExpr, Value, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Named windows that refer to each other.
const NAMES_MAX: usize = 64;
/// Stands before the kind of exclusion.
const MARK: char = '\0';

/// What a marked constant excludes.
pub(crate) fn exclusion_of(text: &str) -> Option<FrameExclusion> {
    Some(match text.strip_prefix(MARK)? {
        "current" => FrameExclusion::CurrentRow,
        "group" => FrameExclusion::Group,
        "ties" => FrameExclusion::Ties,
        _ => FrameExclusion::NoOthers,
    })
}

/// The tokens with EXCLUDE clauses moved into their windows' names.
pub(super) fn mark_exclusions(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let word = |at: usize| match tokens.get(at).map(|t| &t.token) {
        Some(Token::Word(Word { value, quote_style: None, .. })) => value.to_ascii_lowercase(),
        _ => String::new(),
    };
    let mut marked: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    // Where the parentheses around open in `marked`.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let ends_frame = at > 0 && matches!(word(at - 1).as_str(), "row" | "preceding" | "following");
        let (kind, length) = match (word(at + 1).as_str(), word(at + 2).as_str()) {
            ("current", "row") => ("current", 3),
            ("no", "others") => ("none", 3),
            ("group", _) => ("group", 2),
            ("ties", _) => ("ties", 2),
            _ => ("", 0),
        };
        let closes = length > 0 && tokens.get(at + length).is_some_and(|t| t.token == Token::RParen);
        if word(at) == "exclude"
            && ends_frame
            && closes
            && let Some(start) = open.last().copied()
        {
            let named = match marked.get_mut(start + 1).map(|t| &mut t.token) {
                Some(Token::Word(Word { value, keyword: Keyword::NoKeyword, .. })) => {
                    value.push(MARK);
                    value.push_str(kind);
                    true
                }
                _ => false,
            };
            if !named {
                let name = Word { value: format!("{MARK}{kind}"), quote_style: None, keyword: Keyword::NoKeyword };
                marked.insert(start + 1, TokenWithSpan { token: Token::Word(name), span: token.span });
            }
            at += length;
            continue;
        }
        match token.token {
            Token::LParen => open.push(marked.len()),
            Token::RParen => {
                open.pop();
            }
            _ => {}
        }
        marked.push(token.clone());
        at += 1;
    }
    marked
}

/// Makes `over` a specification without names, with its frame.
pub(super) fn inline(over: &mut WindowType, windows: &[NamedWindowDefinition]) -> Result<(), SqlError> {
    let mut spec = match over {
        WindowType::NamedWindow(name) => named(&folded(name), windows, 0)?,
        WindowType::WindowSpec(spec) => resolved(spec.clone(), windows, 0)?,
    };
    if spec.window_frame.is_none() && !spec.order_by.is_empty() {
        spec.window_frame = Some(WindowFrame {
            units: WindowFrameUnits::Range,
            start_bound: WindowFrameBound::Preceding(None),
            end_bound: Some(WindowFrameBound::CurrentRow),
        });
    }
    *over = WindowType::WindowSpec(spec);
    Ok(())
}

fn named(name: &str, windows: &[NamedWindowDefinition], depth: usize) -> Result<WindowSpec, SqlError> {
    let mut found = windows.iter().filter(|NamedWindowDefinition(own, _)| folded(own) == name);
    let (Some(NamedWindowDefinition(_, definition)), None, true) = (found.next(), found.next(), depth < NAMES_MAX)
    else {
        let what =
            if windows.iter().any(|w| folded(&w.0) == name) { "is defined more than once" } else { "does not exist" };
        return Err(SqlError::new("42704", format!("window {name} {what}")));
    };
    match definition {
        NamedWindowExpr::NamedWindow(other) => named(&folded(other), windows, depth + 1),
        NamedWindowExpr::WindowSpec(spec) => resolved(spec.clone(), windows, depth + 1),
    }
}

/// A specification with what it takes from the window it names.
fn resolved(mut spec: WindowSpec, windows: &[NamedWindowDefinition], depth: usize) -> Result<WindowSpec, SqlError> {
    let Some(name) = spec.window_name.take() else { return Ok(spec) };
    let folded = folded(&name);
    let (base, mark) = folded.split_once(MARK).unwrap_or((&folded, ""));
    if !base.is_empty() {
        let base_spec = named(base, windows, depth)?;
        let refuse = |what: &str| Err(SqlError::new("42P20", format!("cannot override {what} of window {base}")));
        if !spec.partition_by.is_empty() {
            return refuse("the PARTITION BY clause");
        }
        if !spec.order_by.is_empty() && !base_spec.order_by.is_empty() {
            return refuse("the ORDER BY clause");
        }
        if base_spec.window_frame.is_some() {
            return refuse("the frame");
        }
        spec.partition_by = base_spec.partition_by;
        if spec.order_by.is_empty() {
            spec.order_by = base_spec.order_by;
        }
    }
    if !mark.is_empty() {
        // A cast, for plain constants are dropped from the partition.
        let value = Value::SingleQuotedString(format!("{MARK}{mark}"));
        spec.partition_by.push(Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(Expr::value(value)),
            data_type: DataType::Text,
            array: false,
            format: None,
        });
    }
    Ok(spec)
}
