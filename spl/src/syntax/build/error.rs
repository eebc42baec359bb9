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
    // What goes on with a name or call is no news.
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
fn keyword(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::k_array => "Array",
        Rule::k_array_cell => "ArrayCell",
        Rule::k_assert => "assert",
        Rule::k_assume => "assume",
        Rule::k_auto => "auto",
        Rule::k_axiom => "axiom",
        Rule::k_bool => "Bool",
        Rule::k_byte => "Byte",
        Rule::k_byte2int => "byte2int",
        Rule::k_choose => "choose",
        Rule::k_comment => "comment",
        Rule::k_const => "const",
        Rule::k_datatype => "datatype",
        Rule::k_define => "define",
        Rule::k_else => "else",
        Rule::k_emp => "emp",
        Rule::k_ensures => "ensures",
        Rule::k_exists => "exists",
        Rule::k_false => "false",
        Rule::k_fold => "fold",
        Rule::k_forall => "forall",
        Rule::k_free => "free",
        Rule::k_function => "function",
        Rule::k_ghost => "ghost",
        Rule::k_havoc => "havoc",
        Rule::k_if => "if",
        Rule::k_implicit => "implicit",
        Rule::k_in => "in",
        Rule::k_include => "include",
        Rule::k_int => "Int",
        Rule::k_int2byte => "int2byte",
        Rule::k_invariant => "invariant",
        Rule::k_lemma => "lemma",
        Rule::k_loc => "Loc",
        Rule::k_map => "Map",
        Rule::k_matching => "matching",
        Rule::k_new => "new",
        Rule::k_noinst => "noinst",
        Rule::k_null => "null",
        Rule::k_options => "options",
        Rule::k_or => "or",
        Rule::k_pattern => "pattern",
        Rule::k_predicate => "predicate",
        Rule::k_procedure => "procedure",
        Rule::k_pure => "pure",
        Rule::k_requires => "requires",
        Rule::k_return => "return",
        Rule::k_returns => "returns",
        Rule::k_set => "Set",
        Rule::k_split => "split",
        Rule::k_struct => "struct",
        Rule::k_subsetof => "subsetof",
        Rule::k_true => "true",
        Rule::k_type => "type",
        Rule::k_unfold => "unfold",
        Rule::k_unfolding => "unfolding",
        Rule::k_var => "var",
        Rule::k_while => "while",
        Rule::k_with => "with",
        Rule::k_without => "without",
        Rule::k_yields => "yields",
        _ => return None,
    })
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
        Rule::WHITESPACE
        | Rule::COMMENT
        | Rule::nested
        | Rule::decl
        | Rule::stmt
        | Rule::else_if
        | Rule::ends
        | Rule::operand
        | Rule::suffix
        | Rule::atom
        | Rule::letter
        | Rule::ident_char
        | Rule::reserved => return None,
        // Keywords are shown as they are written.
        Rule::k_array
        | Rule::k_array_cell
        | Rule::k_assert
        | Rule::k_assume
        | Rule::k_auto
        | Rule::k_axiom
        | Rule::k_bool
        | Rule::k_byte
        | Rule::k_byte2int
        | Rule::k_choose
        | Rule::k_comment
        | Rule::k_const
        | Rule::k_datatype
        | Rule::k_define
        | Rule::k_else
        | Rule::k_emp
        | Rule::k_ensures
        | Rule::k_exists
        | Rule::k_false
        | Rule::k_fold
        | Rule::k_forall
        | Rule::k_free
        | Rule::k_function
        | Rule::k_ghost
        | Rule::k_havoc
        | Rule::k_if
        | Rule::k_implicit
        | Rule::k_in
        | Rule::k_include
        | Rule::k_int
        | Rule::k_int2byte
        | Rule::k_invariant
        | Rule::k_lemma
        | Rule::k_loc
        | Rule::k_map
        | Rule::k_matching
        | Rule::k_new
        | Rule::k_noinst
        | Rule::k_null
        | Rule::k_options
        | Rule::k_or
        | Rule::k_pattern
        | Rule::k_predicate
        | Rule::k_procedure
        | Rule::k_pure
        | Rule::k_requires
        | Rule::k_return
        | Rule::k_returns
        | Rule::k_set
        | Rule::k_split
        | Rule::k_struct
        | Rule::k_subsetof
        | Rule::k_true
        | Rule::k_type
        | Rule::k_unfold
        | Rule::k_unfolding
        | Rule::k_var
        | Rule::k_while
        | Rule::k_with
        | Rule::k_without
        | Rule::k_yields => return None,
    })
}
