//! Expressions that stand where a statement starts, before a syntax error.
//!
//! The reference fails at the first token of what is no statement. The grammar reads such an
//! expression as the target of an assignment, and pest may fail behind it or inside of it; here its
//! start is found again.

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
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let mut starts = Vec::new();
    let (mut braces, mut others) = (0usize, 0usize);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let is_inside = braces > 0 && others == 0;
        let mut width = 1;
        match byte {
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b')' | b']' => others = others.saturating_sub(1),
            b'(' | b'[' => {
                // Only spaces may stand between a name and its arguments.
                let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
                if byte == b'(' && is_inside && !before.is_some_and(|&byte| is_word(byte)) {
                    starts.push((at, braces));
                }
                others += 1;
            }
            b'"' => {
                let rest = &bytes[at + 1..];
                width =
                    rest.iter().position(|&byte| byte == b'"').map_or(bytes.len(), |end| end + 2);
            }
            _ if is_word(byte) => {
                width =
                    bytes[at..].iter().position(|&byte| !is_word(byte)).unwrap_or(bytes.len() - at);
                if is_inside && WORDS.contains(&&text[at..at + width]) {
                    starts.push((at, braces));
                }
            }
            _ => {}
        }
        at += width;
    }
    starts
}

/// The words that expressions start with. Not `domain`: members start with it, too, and the
/// reference tells of both.
const WORDS: [&str; 24] = [
    "acc",
    "applying",
    "asserting",
    "epsilon",
    "exists",
    "false",
    "forall",
    "forperm",
    "let",
    "Map",
    "Multiset",
    "new",
    "none",
    "null",
    "old",
    "perm",
    "range",
    "result",
    "Seq",
    "Set",
    "true",
    "unfolding",
    "wildcard",
    "write",
];

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
