//! Line breaks: those of the author, and those that every program has.

use crate::structure::{Inside, Role, Structure};
use front::tokens::{Kind, Token};

/// Returns the number of line breaks before each token: none, one, or two for a blank line.
pub(crate) fn breaks(text: &str, tokens: &[Token<'_>], structure: &Structure<'_>) -> Vec<usize> {
    let mut breaks = written(text, tokens, structure);
    let force = |breaks: &mut Vec<usize>, at: usize| breaks[at] = breaks[at].max(1);
    for (at, role) in structure.roles.iter().enumerate() {
        if at > 0 && (*role == Role::Clause || structure.behind_clauses[at]) {
            force(&mut breaks, at);
        }
    }
    // Inner blocks come first, since a break in one is a break in all around it.
    let mut has_lines = vec![false; tokens.len()];
    for (at, role) in structure.roles.iter().enumerate() {
        let Role::Close { partner: open, inside } = *role else { continue };
        has_lines[open] = breaks[open + 1..=at].iter().any(|&number| number > 0);
        if has_lines[open] && inside != Inside::Part {
            force(&mut breaks, at);
            let first = behind_comments(tokens, &breaks, open + 1);
            force(&mut breaks, first);
        }
    }
    let mut before: Option<usize> = None;
    for at in 0..tokens.len() {
        if tokens[at].is_comment() {
            continue;
        }
        let is_apart = structure.around[at].is_none_or(|open| has_lines[open]);
        if let Some(before) = before
            && is_apart
            && structure.level(at) == Inside::Block
            && ends(tokens, structure, before, at)
        {
            let first = behind_comments(tokens, &breaks, before + 1);
            force(&mut breaks, first);
        }
        before = Some(at);
    }
    breaks
}

/// Returns the breaks in the text, no two blank lines together, and none beside a brace.
fn written(text: &str, tokens: &[Token<'_>], structure: &Structure<'_>) -> Vec<usize> {
    let is_block = |role: &Role| match role {
        Role::Open { inside, .. } | Role::Close { inside, .. } => *inside != Inside::Part,
        _ => false,
    };
    let mut end = 0;
    let mut breaks = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let written = text[end..token.start].matches('\n').count();
        let is_beside_brace = at > 0
            && (matches!(structure.roles[at - 1], Role::Open { .. })
                && is_block(&structure.roles[at - 1])
                || matches!(structure.roles[at], Role::Close { .. })
                    && is_block(&structure.roles[at]));
        let most = match at {
            0 => 0,
            _ if is_beside_brace => 1,
            _ => 2,
        };
        breaks.push(written.min(most));
        end = token.end();
    }
    breaks
}

/// Returns the first token from `at` on that is no comment at the end of the line before it.
fn behind_comments(tokens: &[Token<'_>], breaks: &[usize], at: usize) -> usize {
    let mut first = at;
    while tokens.get(first).is_some_and(|token| token.kind == Kind::LineComment)
        && breaks[first] == 0
    {
        first += 1;
    }
    first.min(tokens.len() - 1)
}

/// Tells whether a statement or declaration ends behind `before`, and another begins at `at`.
fn ends(tokens: &[Token<'_>], structure: &Structure<'_>, before: usize, at: usize) -> bool {
    if matches!(structure.roles[at], Role::Close { .. }) || tokens[at].text == ";" {
        return false;
    }
    match structure.roles[before] {
        Role::Close { inside: Inside::Block | Inside::Body, .. } => {
            tokens[at].kind == Kind::Word && structure.words.begins(tokens[at].text)
        }
        _ => tokens[before].text == ";",
    }
}
