//! Syntax errors of the grammar in the user's words.

use std::collections::BTreeSet;

use pest::error::{Error, ErrorVariant, InputLocation};

use super::Rule;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// How many expected things a message lists.
const LISTED: usize = 6;

/// The diagnostic for an error of the generated parser.
pub(super) fn of_pest(pest: &Error<Rule>) -> Diagnostic {
    let span = match pest.location {
        InputLocation::Pos(at) => Span::at(at),
        InputLocation::Span((start, end)) => Span::new(start, end),
    };
    let message = match &pest.variant {
        ErrorVariant::ParsingError { positives, .. } => expected(positives),
        ErrorVariant::CustomError { message } => {
            format!("the program is nested too deeply ({message})")
        }
    };
    super::error(message, span)
}

fn expected(rules: &[Rule]) -> String {
    let names: BTreeSet<String> = rules.iter().map(|&rule| name(rule)).collect();
    let count = names.len();
    match count {
        0 => "syntax error".to_owned(),
        1..=LISTED => {
            format!("syntax error: expected {}", names.into_iter().collect::<Vec<_>>().join(", "))
        }
        _ => "syntax error: nothing that fits here begins like this".to_owned(),
    }
}

/// What a rule is called in messages.
fn name(rule: Rule) -> String {
    let name = format!("{rule:?}");
    if let Some(keyword) = name.strip_prefix("k_") {
        return format!("`{keyword}`");
    }
    match rule {
        Rule::EOI => "the end of the file",
        Rule::ident => "a name",
        Rule::class_decl => "a class",
        Rule::channel_decl => "a channel",
        Rule::expr
        | Rule::postfix
        | Rule::prefix
        | Rule::paren
        | Rule::name
        | Rule::constant
        | Rule::exprs => "an expression",
        Rule::int => "a number",
        Rule::string => "a string",
        Rule::op | Rule::arms => "an operator",
        Rule::select | Rule::all_fields | Rule::back_suffix | Rule::state => "a selection",
        Rule::index | Rule::elements | Rule::open_bracket => "an index",
        Rule::arguments => "arguments",
        Rule::type_expr | Rule::builtin | Rule::collection | Rule::token_type => "a type",
        Rule::block | Rule::function_body | Rule::pattern => "a body",
        Rule::requires | Rule::ensures | Rule::lockchange => "a specification clause",
        Rule::rhs => "a right-hand side",
        Rule::formals => "parameters",
        _ => return format!("a {}", name.replace('_', " ")),
    }
    .to_owned()
}
