//! Syntax errors of the grammar in the user's words.

use std::collections::BTreeSet;

use hints::syntax;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::Rule;
use super::hint::hint;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Returns where an error of the generated parser is.
pub(super) fn place(pest: &Error<Rule>) -> usize {
    match pest.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    }
}

/// Returns the diagnostic for an error of the generated parser in `text`, which has no comments.
pub(super) fn of_pest(pest: &Error<Rule>, text: &str) -> Diagnostic {
    let at = place(pest);
    let positives = match &pest.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { message } => {
            let message = format!("the program is nested too deeply ({message})");
            return super::error(message, Span::at(at));
        }
    };
    let expected = expected(positives);
    let hint = hint(text, at, syntax::token(&text[at..]), &expected);
    let (message, place) = syntax::message(text, at, &hint, &expected);
    let error = super::error(message, Span::new(place.start, place.end));
    match hint.unclosed {
        Some((bracket, remark)) => error.with_related(Span::new(bracket, bracket + 1), remark),
        None => error,
    }
}

/// Lists the fitting forms, in the most general words that say enough; the text is empty if nothing
/// fits.
fn expected(rules: &[Rule]) -> String {
    let names: BTreeSet<String> = rules.iter().map(|&rule| name(rule)).collect();
    let has = |word: &str| names.contains(word);
    if has("a statement") {
        return "a statement".to_owned();
    }
    if has("a method") {
        return "a member of a class".to_owned();
    }
    if has("a class or channel") || has("a class") {
        return "a class or channel".to_owned();
    }
    if has("an expression") {
        return "an expression".to_owned();
    }
    if has("an operator") {
        return "an operator or the end of the expression".to_owned();
    }
    // The ways to go on with a name or call are no news.
    let continuations = ["a selection", "an index", "arguments"];
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !continuations.contains(name)).collect();
    match names[..] {
        [] if rules.is_empty() => String::new(),
        // Only a target of an assignment is not followed by operators.
        [] => "`:=`".to_owned(),
        _ => syntax::listed(&names),
    }
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
        Rule::program => "a class or channel",
        Rule::class_decl => "a class",
        Rule::channel_decl => "a channel",
        Rule::module => "`module`",
        Rule::refined => "`refines`",
        Rule::where_clause => "a where clause",
        Rule::field_decl => "a field",
        Rule::invariant_decl | Rule::loop_invariant => "an invariant",
        Rule::method_decl | Rule::refine_decl | Rule::transform_decl => "a method",
        Rule::condition_decl => "a condition variable",
        Rule::predicate_decl => "a predicate",
        Rule::function_decl => "a function",
        Rule::coupling_decl => "a coupling invariant",
        Rule::requires | Rule::ensures | Rule::lockchange | Rule::decreases => {
            "a specification clause"
        }
        Rule::returns => "results",
        Rule::formals => "parameters",
        Rule::formal | Rule::ident | Rule::names | Rule::outs => "a name",
        Rule::type_expr | Rule::builtin | Rule::collection | Rule::token_type => "a type",
        Rule::block | Rule::function_body | Rule::pattern | Rule::state_body => "a body",
        Rule::pattern_keep | Rule::any => "`_`",
        Rule::pattern_any | Rule::any_count => "`*`",
        Rule::any_rd => "`rd*`",
        Rule::pattern_if | Rule::if_arm | Rule::if_stmt => "`if`",
        Rule::pattern_else | Rule::else_branch => "`else`",
        Rule::pattern_while | Rule::while_stmt => "`while`",
        Rule::pattern_block | Rule::pattern_one => "`replaces`",
        Rule::decl | Rule::modifiers => "a declaration",
        Rule::initial => "`:=`",
        Rule::spec_tail => "`[`",
        Rule::assert
        | Rule::assume
        | Rule::call
        | Rule::fork
        | Rule::join
        | Rule::share
        | Rule::reorder
        | Rule::unshare
        | Rule::acquire
        | Rule::release
        | Rule::lock
        | Rule::rd_acquire
        | Rule::rd_release
        | Rule::rd_lock
        | Rule::downgrade
        | Rule::free
        | Rule::fold
        | Rule::unfold
        | Rule::send
        | Rule::receive
        | Rule::wait
        | Rule::signal_all
        | Rule::signal => "a statement",
        Rule::assign => "an assignment",
        Rule::lock_this | Rule::lock_open => "`[[`",
        Rule::lock_close => "`]]`",
        Rule::rhs => "a right-hand side",
        Rule::new_object => "`new`",
        Rule::initialisers | Rule::initialiser => "initial values",
        Rule::bounds | Rule::lower | Rule::upper => "bounds",
        Rule::op | Rule::arms => "an operator",
        Rule::index | Rule::elements | Rule::open_bracket => "an index",
        Rule::slice_to | Rule::slice_from | Rule::range_to => "`..`",
        Rule::select | Rule::all_fields | Rule::back_suffix | Rule::state | Rule::fork_state => {
            "a selection"
        }
        Rule::arguments => "arguments",
        Rule::back => "back pointers",
        Rule::int => "a number",
        Rule::string => "a string",
        Rule::expr
        | Rule::exprs
        | Rule::prefix
        | Rule::postfix
        | Rule::paren
        | Rule::name
        | Rule::constant
        | Rule::acc
        | Rule::rd_star
        | Rule::rd_holds
        | Rule::rd_call
        | Rule::rd_alone
        | Rule::old
        | Rule::unfolding
        | Rule::list
        | Rule::set
        | Rule::length
        | Rule::credit
        | Rule::holds
        | Rule::assigned
        | Rule::ite
        | Rule::eval
        | Rule::nil
        | Rule::empty
        | Rule::quantified => "an expression",
        Rule::quantifier => "a quantifier",
        Rule::domain_in | Rule::domain_type | Rule::domain_set => "a domain",
        Rule::bar => "`|`",
        // Keywords are shown as they are written. The rest consists of rules with words.
        _ => return None,
    })
}
