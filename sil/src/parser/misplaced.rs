//! Expressions that stand where a statement starts, before a syntax error.
//!
//! The reference fails at the first token of what is no statement. The grammar reads such an
//! expression as the target of an assignment, and pest may fail behind it or inside of it; here its
//! start is found again.

use front::tokens::tokens;
use front::{Language, Words};
use pest::Parser as _;

use super::Rule;
use super::grammar::Grammar;

/// How many places before the failure are looked at: each costs reading the member once more.
const MAX_PLACES: usize = 4;

/// Returns where before `at`, the place of pest's failure in `piece`, a statement starts with an
/// expression that is no target.
pub(super) fn misplaced_expression(piece: &str, at: usize) -> Option<usize> {
    let at = at.min(piece.len());
    let starts = expression_starts(&piece[..at]);
    let last = &starts[starts.len().saturating_sub(MAX_PLACES)..];
    let found = last.iter().find(|&&(start, braces)| {
        starts_statement(&piece[..start], braces) && !is_field_access(&piece[start..at])
    });
    found.map(|&(start, _)| start)
}

/// Places outside of parentheses and square brackets, but inside of so many braces, where an
/// expression starts that is neither a name nor a call.
fn expression_starts(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut starts = Vec::new();
    let (mut braces, mut others) = (0usize, 0usize);
    for token in tokens(text, Language::Sil) {
        let is_inside = braces > 0 && others == 0;
        match token.text {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            ")" | "]" => others = others.saturating_sub(1),
            "(" | "[" => {
                // Only spaces may stand between a name and its arguments.
                let before = text[..token.start].trim_end_matches([' ', '\t']);
                if token.text == "(" && is_inside && !before.ends_with(is_word) {
                    starts.push((token.start, braces));
                }
                others += 1;
            }
            word if is_inside && starts_expression(word) => starts.push((token.start, braces)),
            _ => {}
        }
    }
    starts
}

/// Tells whether expressions start with a word. `domain` is left out: members start with it, too,
/// and the reference tells of both.
fn starts_expression(word: &str) -> bool {
    let words = Words::of(Language::Sil);
    words.expressions.contains(&word)
        || words.constants.contains(&word) && word != "lhs"
        || matches!(word, "Map" | "Multiset" | "Seq" | "Set")
}

/// Tells whether the text before is a member up to the end of a statement.
fn starts_statement(before: &str, braces: usize) -> bool {
    let closed = format!("{before}{}", "}".repeat(braces));
    Grammar::parse(Rule::members, &closed).is_ok()
}

/// Tells whether the text starts with a field access, such as `old(x).f`.
fn is_field_access(text: &str) -> bool {
    Grammar::parse(Rule::target, text).is_ok_and(|mut targets| {
        let last = targets.next().and_then(|target| target.into_inner().last());
        last.is_some_and(|part| part.as_rule() == Rule::field_suffix)
    })
}
