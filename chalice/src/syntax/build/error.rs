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
    match keyword(rule) {
        Some(keyword) => format!("`{keyword}`"),
        None => words(rule).unwrap_or("something else").to_owned(),
    }
}

/// The keyword that a rule is.
fn keyword(rule: Rule) -> Option<String> {
    format!("{rule:?}").strip_prefix("k_").map(str::to_owned)
}

/// The words for a rule that is not a keyword; none for rules that are never shown.
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
        Rule::requires | Rule::ensures | Rule::lockchange => "a specification clause",
        Rule::returns => "results",
        Rule::formals => "parameters",
        Rule::formal | Rule::ident | Rule::names | Rule::outs => "a name",
        Rule::type_expr | Rule::builtin | Rule::collection | Rule::token_type => "a type",
        Rule::block | Rule::function_body | Rule::pattern | Rule::state_body => "a body",
        Rule::pattern_keep | Rule::any => "`_`",
        Rule::pattern_any => "`*`",
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
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Rule, keyword, words};

    /// A rule without words would be shown under its name in the grammar.
    #[test]
    fn what_can_be_shown_has_words() {
        let silent = [
            Rule::WHITESPACE,
            Rule::COMMENT,
            Rule::member,
            Rule::spec,
            Rule::pattern_part,
            Rule::stmt,
            Rule::else_if,
            Rule::operand,
            Rule::suffix,
            Rule::argument,
            Rule::atom,
            Rule::domain,
            Rule::ident_char,
            Rule::soft,
            Rule::reserved,
        ];
        let wordless: Vec<_> = Rule::all_rules()
            .iter()
            .filter(|&&rule| keyword(rule).is_none() && words(rule).is_none())
            .collect();
        assert_eq!(wordless, silent.iter().collect::<Vec<_>>());
    }
}
