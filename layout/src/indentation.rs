//! The columns in which lines begin.

use front::Language;

use crate::structure::{Inside, Role, Structure};
use front::tokens::{Kind, Token};

/// Columns of a step to the right.
const STEP: usize = 2;

/// An open bracket.
struct Level {
    /// The column of what closes it.
    closing: usize,
    /// The column of what stands in it.
    content: usize,
    /// The column of the statement or declaration that is being read.
    item: usize,
    /// The line is in a clause of the item's contract.
    is_in_clause: bool,
}

impl Level {
    fn new(closing: usize, content: usize) -> Self {
        Self { closing, content, item: content, is_in_clause: false }
    }
}

/// Returns the column of each token that a line begins with; 0 for others.
pub(crate) fn indents(
    tokens: &[Token<'_>],
    structure: &Structure<'_>,
    breaks: &[usize],
) -> Vec<usize> {
    let mut indents = vec![0; tokens.len()];
    let mut levels = vec![Level::new(0, 0)];
    let mut line = 0;
    let mut before: Option<usize> = None;
    for at in 0..tokens.len() {
        let is_first = at == 0 || breaks[at] > 0;
        let Some(level) = levels.last_mut() else { return indents };
        if is_first {
            // A comment stands where what it is about stands.
            let next = (at..tokens.len()).find(|&next| !tokens[next].is_comment());
            line = match next.map(|next| (next, structure.roles[next])) {
                None => level.content,
                Some((next, Role::Close { .. })) if next == at => level.closing,
                Some((_, Role::Close { .. })) => level.content,
                Some((next, role)) if structure.level(next) == Inside::Block => {
                    let has_begun = before
                        .is_some_and(|before| structure.around[before] == structure.around[next]);
                    let is_brace =
                        matches!(role, Role::Open { inside: Inside::Block | Inside::Body, .. })
                            && tokens[next].text == "{";
                    if before.is_some_and(|before| ends_annotation(tokens, structure, before)) {
                        // The subject of an annotation stands below it.
                        let least = if level.is_in_clause { level.item + 2 * STEP } else { 0 };
                        line.max(least)
                    } else if role == Role::Clause {
                        level.item + STEP
                    } else if is_brace && has_begun && !is_over(tokens, structure, before) {
                        level.item
                    } else if before.is_some_and(|before| goes_on(tokens, structure, before, next))
                    {
                        level.item + if level.is_in_clause { 2 * STEP } else { STEP }
                    } else {
                        if next == at {
                            level.item = level.content;
                            level.is_in_clause = false;
                        }
                        level.content
                    }
                }
                Some(_) => level.content,
            };
            indents[at] = line;
        }
        if tokens[at].is_comment() {
            continue;
        }
        match structure.roles[at] {
            Role::Clause => level.is_in_clause = true,
            Role::Open { inside, .. } => {
                let is_of_item = inside != Inside::Part;
                let closing = if is_of_item { level.item } else { line };
                levels.push(Level::new(closing, closing + STEP));
            }
            Role::Close { inside, .. } => {
                levels.pop();
                if let Some(level) = levels.last_mut()
                    && inside != Inside::Part
                {
                    level.is_in_clause = false;
                }
            }
            Role::Plain => {}
        }
        before = Some(at);
    }
    indents
}

/// Tells whether a statement or declaration certainly ends with a token.
fn is_over(tokens: &[Token<'_>], structure: &Structure<'_>, before: Option<usize>) -> bool {
    before.is_none_or(|before| {
        tokens[before].text == ";"
            || matches!(
                structure.roles[before],
                Role::Close { inside: Inside::Block | Inside::Body, .. }
            )
    })
}

/// Tells whether a line that begins with `next` goes on with what `before` is the end of.
fn goes_on(tokens: &[Token<'_>], structure: &Structure<'_>, before: usize, next: usize) -> bool {
    if structure.around[before] != structure.around[next] {
        return false;
    }
    let (last, first) = (tokens[before], tokens[next]);
    let words = structure.words;
    let cannot_begin = match first.kind {
        Kind::Sign => !matches!(first.text, "(" | "[" | "{" | "@" | "!" | "#"),
        Kind::Word => {
            words.operators.contains(&first.text)
                || matches!(
                    first.text,
                    "returns" | "above" | "below" | "between" | "interpretation"
                )
        }
        _ => false,
    };
    // In Chalice, a pattern may be all that is not written.
    let is_pattern = structure.language == Language::Chalice && first.text == "*";
    if cannot_begin && !is_pattern && last.text != ";" {
        return true;
    }
    match last.kind {
        Kind::Sign => match last.text {
            ")" => is_header(tokens, structure, before) && !words.begins(first.text),
            "]" | "}" | ";" | "|" | ">" | "~" => false,
            "*" => {
                let earlier = before.checked_sub(1).map_or("", |earlier| tokens[earlier].text);
                !matches!(earlier, "." | "decreases" | "replaces" | ";" | "}")
            }
            _ => true,
        },
        Kind::Word => {
            let is_name_of_macro =
                before > 0 && tokens[before - 1].text == "define" && !words.begins(first.text);
            is_name_of_macro || words.goes_on(last.text)
        }
        _ => false,
    }
}

/// Tells whether a parenthesis closes an annotation, as in `@key.part("…")`.
fn ends_annotation(tokens: &[Token<'_>], structure: &Structure<'_>, close: usize) -> bool {
    let Role::Close { partner: open, .. } = structure.roles[close] else { return false };
    let is_key = |token: &&Token<'_>| token.kind == Kind::Word || token.text == ".";
    structure.language == Language::Sil
        && tokens[..open].iter().rev().find(|token| !is_key(token)).is_some_and(|it| it.text == "@")
}

/// Tells whether a parenthesis closes the condition of a statement, or the parameters of a macro:
/// something has to follow.
fn is_header(tokens: &[Token<'_>], structure: &Structure<'_>, close: usize) -> bool {
    let Role::Close { partner: open, .. } = structure.roles[close] else { return false };
    let word = |back: usize| open.checked_sub(back).map_or("", |at| tokens[at].text);
    matches!(word(1), "if" | "while" | "elseif") || word(2) == "define"
}
