//! Spaces between tokens of a line.

use crate::structure::{Inside, Role, Structure};
use front::tokens::{Kind, Token};

/// Tells whether there is a space before a token, where `is_written` says whether the author has
/// one.
pub(crate) fn is_wanted(
    tokens: &[Token<'_>],
    structure: &Structure<'_>,
    at: usize,
    is_written: bool,
) -> bool {
    let Some(before) = at.checked_sub(1) else { return is_written };
    let (left, right) = (tokens[before], tokens[at]);
    if left.is_comment() || right.is_comment() {
        return is_written;
    }
    match (left.text, right.text) {
        // Chalice has double brackets, too.
        ("[", "[") | ("]", "]") => return is_written,
        (_, "," | ";" | ")" | "]") | ("(" | "[" | "@" | "#", _) => return false,
        ("," | ";", _) => return true,
        ("..", _) | (_, "..") => return is_written,
        (".", _) | (_, ".") => return false,
        _ => {}
    }
    if let Some(wanted) = beside_brace(structure, before, at) {
        return wanted;
    }
    let is_apart = |at: usize| is_set_apart(tokens, structure, at);
    if is_apart(before) || is_apart(at) {
        // Two signs may be one for a parser: they stay as they are.
        let may_be_one = left.kind == Kind::Sign
            && right.kind == Kind::Sign
            && !is_bracket(left.text)
            && !is_bracket(right.text)
            && !matches!(right.text, "!" | "-" | "|");
        return !may_be_one || is_written;
    }
    match (left.kind, right.kind) {
        (_, Kind::Sign) if right.text == ":" => false,
        (Kind::Sign, _) if left.text == ":" => true,
        (Kind::Sign, _) if is_prefix(tokens, structure, before) => {
            (right.kind == Kind::Sign && !is_bracket(right.text) || right.text == "in")
                && is_written
        }
        (Kind::Word, Kind::Sign) if right.text == "(" => {
            before_parenthesis(structure, left.text).unwrap_or(is_written)
        }
        (Kind::Sign, Kind::Word | Kind::Number | Kind::Quoted) if left.text == ")" => true,
        (Kind::Word | Kind::Number | Kind::Quoted, Kind::Word | Kind::Number | Kind::Quoted) => {
            true
        }
        _ => is_written,
    }
}

fn is_bracket(text: &str) -> bool {
    matches!(text, "(" | ")" | "[" | "]" | "{" | "}" | "," | ";")
}

/// Decides beside a brace of a block or a body.
fn beside_brace(structure: &Structure<'_>, before: usize, at: usize) -> Option<bool> {
    let is_block = |inside: Inside| inside != Inside::Part;
    match (structure.roles[before], structure.roles[at]) {
        (Role::Open { partner, inside }, _) if is_block(inside) => Some(partner != at),
        (_, Role::Close { inside, .. } | Role::Open { inside, .. }) if is_block(inside) => {
            Some(true)
        }
        (Role::Close { inside, .. }, _) if is_block(inside) => Some(true),
        _ => None,
    }
}

/// Tells whether a token has a space on both sides: an operator of several characters, or a part
/// of `c ? a : b`.
fn is_set_apart(tokens: &[Token<'_>], structure: &Structure<'_>, at: usize) -> bool {
    let Token { kind, text, .. } = tokens[at];
    kind == Kind::Sign
        && (text.len() > 1 && text.is_ascii() || text == "?" || structure.chooses[at])
}

/// Tells whether a sign stands before its only operand.
fn is_prefix(tokens: &[Token<'_>], structure: &Structure<'_>, at: usize) -> bool {
    match tokens[at].text {
        "!" => true,
        "-" => {
            let before = tokens[..at].iter().rev().find(|token| !token.is_comment());
            before.is_none_or(|before| match before.kind {
                Kind::Sign => !matches!(before.text, ")" | "]" | "}" | "|" | ">" | "*"),
                Kind::Word => structure.words.goes_on(before.text),
                _ => false,
            })
        }
        _ => false,
    }
}

/// Decides between a word and a parenthesis; `None`: the author does.
fn before_parenthesis(structure: &Structure<'_>, word: &str) -> Option<bool> {
    let words = structure.words;
    if words.statements.contains(&word)
        || words.clauses.contains(&word)
        || words.operators.contains(&word)
        || word == "returns"
        || word == "elseif"
    {
        Some(true)
    } else if words.all().all(|known| known != word) {
        Some(false)
    } else {
        None
    }
}
