//! Syntax errors of the grammar in the user's words.

use std::collections::BTreeSet;

use hints::syntax;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::Rule;
use super::hint::hint;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// Returns the diagnostic for an error of the generated parser in `text`, which has no comments.
pub(super) fn of_pest(file: FileId, pest: &Error<Rule>, text: &str) -> Diagnostic {
    let at = match pest.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let positives = match &pest.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { message } => {
            let message = format!("the program is nested too deeply ({message})");
            return super::error(message, Span::new(file, at, at));
        }
    };
    let at = at + (text[at..].len() - text[at..].trim_start().len());
    let expected = expected(positives);
    let hint = hint(text, at, syntax::token(&text[at..]), &expected);
    let (message, place) = syntax::message(text, at, &hint, &syntax::listed(&expected));
    let error = super::error(message, Span::new(file, place.start, place.end));
    match hint.unclosed {
        Some((bracket, remark)) => {
            error.with_related(Span::new(file, bracket, bracket + 1), remark)
        }
        None => error,
    }
}

/// Lists the fitting forms, in the most general words that say enough.
fn expected(rules: &[Rule]) -> Vec<String> {
    let names: BTreeSet<String> = rules.iter().map(|&rule| name(rule)).collect();
    for general in ["a statement", "a declaration", "an expression"] {
        if names.contains(general) {
            return vec![general.to_owned()];
        }
    }
    if names.contains("an operator") {
        return vec!["an operator or the end of the expression".to_owned()];
    }
    // The ways to go on with a name or call are no news.
    let continuations = ["a selection", "an index", "arguments", "an annotation"];
    names.into_iter().filter(|name| !continuations.contains(&&**name)).collect()
}

/// Returns the name of a rule in messages.
fn name(rule: Rule) -> String {
    match keyword(rule) {
        Some(keyword) => format!("`{keyword}`"),
        None => words(rule).unwrap_or("something else").to_owned(),
    }
}

/// Returns the keyword that a rule is.
fn keyword(rule: Rule) -> Option<String> {
    format!("{rule:?}").strip_prefix("k_").map(str::to_owned)
}

/// Returns the words for a rule that is not a keyword; none for rules that are never shown.
fn words(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::EOI => "the end of the file",
        Rule::program
        | Rule::include_decl
        | Rule::options_decl
        | Rule::axiom_decl
        | Rule::type_decl
        | Rule::datatype_decl
        | Rule::struct_decl
        | Rule::const_decl
        | Rule::define_decl
        | Rule::procedure_decl
        | Rule::lemma_decl
        | Rule::predicate_decl
        | Rule::function_decl
        | Rule::global_decl => "a declaration",
        Rule::type_value => "`=`",
        Rule::constructor => "a constructor",
        Rule::field_decl => "a field",
        Rule::body | Rule::block => "a body",
        Rule::returns => "`returns`",
        Rule::params | Rule::param => "parameters",
        Rule::contract => "a contract",
        Rule::modifiers => "`pure`",
        Rule::formal | Rule::ident | Rule::names | Rule::variable | Rule::bound => "a name",
        Rule::type_expr | Rule::builtin | Rule::collection | Rule::map_type => "a type",
        Rule::decl_stmt
        | Rule::assume
        | Rule::assert
        | Rule::free
        | Rule::havoc
        | Rule::split
        | Rule::return_stmt
        | Rule::fold
        | Rule::unfold
        | Rule::choose
        | Rule::while_stmt
        | Rule::simple => "a statement",
        Rule::if_stmt | Rule::if_arm => "`if`",
        Rule::else_branch => "`else`",
        Rule::initial | Rule::assigned | Rule::updated => "`:=`",
        Rule::invariant => "an invariant",
        Rule::annotation => "an annotation",
        Rule::generator => "`matching`",
        Rule::matched => "a term",
        Rule::pattern => "`pattern`",
        Rule::comment => "`comment`",
        Rule::noinst => "`noinst`",
        Rule::op | Rule::arms => "an operator",
        Rule::select => "a selection",
        Rule::index => "an index",
        Rule::arguments => "arguments",
        Rule::int => "a number",
        Rule::char => "a character",
        Rule::string => "a text in quotes",
        Rule::quantifier => "a quantifier",
        Rule::expr
        | Rule::exprs
        | Rule::tier
        | Rule::prefix
        | Rule::postfix
        | Rule::paren
        | Rule::name
        | Rule::constant
        | Rule::new
        | Rule::set
        | Rule::set_of
        | Rule::byte_of
        | Rule::comprehension
        | Rule::quantified
        | Rule::unfolding => "an expression",
        // Keywords are shown as they are written. The rest consists of rules with words.
        _ => return None,
    })
}
