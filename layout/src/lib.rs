//! The layout of programs in SIL, Chalice and SPL.
//!
//! [`edits`] decides on the blanks between tokens and on nothing else: tokens and comments stay as
//! they are, in their order. So the program stays the same. Three steps decide:
//!
//! 1. `structure` pairs brackets, and tells blocks of statements from braces in expressions.
//! 2. `breaks` keeps the author's line breaks and adds those that every program has: clauses of
//!    contracts have lines of their own, as have statements of a block that has several lines.
//! 3. `indentation` and `spaces` fill the gaps.
//!
//! Each step reads tokens and breaks only, and breaks are never taken away (but for blank lines).
//! So a second run finds nothing to do. Lines are not wrapped: where a long line ends is the
//! author's choice.

mod breaks;
mod indentation;
mod spaces;
mod structure;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

pub use front::Language;
use front::behind_mark;
use front::tokens::{Kind, Token, tokens};

use structure::Structure;

/// Blanks to be put in the place of others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The old blanks, in bytes of the text.
    pub range: Range<usize>,
    pub blanks: String,
}

/// Why a text has no layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A bracket, at this offset, has no partner.
    Unbalanced(usize),
    /// The result would not have the tokens of the text: a defect of this crate.
    Changed,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbalanced(_) => f.write_str("a bracket has no partner"),
            Self::Changed => f.write_str("the layout would change the program"),
        }
    }
}

/// Returns the text in its layout.
///
/// # Errors
/// See [`Problem`].
pub fn format(text: &str, language: Language) -> Result<String, Problem> {
    edits(text, language).map(|edits| apply(text, &edits))
}

/// Returns the changes that give a text its layout, in order; none where it has it.
///
/// # Errors
/// See [`Problem`].
pub fn edits(text: &str, language: Language) -> Result<Vec<Edit>, Problem> {
    let found = tokens(text, language);
    let structure = Structure::new(&found, language)?;
    let breaks = breaks::breaks(text, &found, &structure);
    let gaps = gaps(text, &found, &structure, &breaks);
    let mut at = text.len() - behind_mark(text).len();
    let mut edits = Vec::new();
    let ends = found.iter().map(|token| (token.start, token.end()));
    for ((start, end), blanks) in ends.chain([(text.len(), text.len())]).zip(gaps) {
        if text[at..start] != blanks {
            edits.push(Edit { range: at..start, blanks });
        }
        at = end;
    }
    if is_same(text, &apply(text, &edits), language) { Ok(edits) } else { Err(Problem::Changed) }
}

/// Returns the text after changes, which are in order.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for Edit { range, blanks } in edits {
        result += &text[at..range.start];
        result += blanks;
        at = range.end;
    }
    result + &text[at..]
}

/// Returns the blanks before each token, and behind the last one.
fn gaps(
    text: &str,
    tokens: &[Token<'_>],
    structure: &Structure<'_>,
    breaks: &[usize],
) -> Vec<String> {
    let indents = indentation::indents(tokens, structure, breaks);
    let line_end = line_end(text);
    let mut gaps = Vec::with_capacity(tokens.len() + 1);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| tokens[before]);
        let old = &text[before.map_or(0, |token| token.end())..token.start];
        let is_first = before.is_none();
        // Options in the first line of a program count only where they stand.
        if is_first && token.text.contains("chalice-parameter=") {
            gaps.push(behind_mark(old).to_owned());
        } else if is_first || breaks[at] > 0 {
            gaps.push(line_end.repeat(breaks[at]) + &" ".repeat(indents[at]));
        } else if token.kind == Kind::LineComment {
            gaps.push(" ".repeat(old.chars().count().max(1)));
        } else {
            let is_wanted = spaces::is_wanted(tokens, structure, at, !old.is_empty());
            gaps.push(if is_wanted { " " } else { "" }.to_owned());
        }
    }
    gaps.push(if tokens.is_empty() { "" } else { line_end }.to_owned());
    gaps
}

/// Returns the end of the first line, which that of the others becomes, too.
fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Tells whether two texts have the same tokens, and line breaks where these have a meaning: SIL
/// reads a name and a parenthesis on the next line as two things.
fn is_same(old: &str, new: &str, language: Language) -> bool {
    let (before, after) = (tokens(old, language), tokens(new, language));
    let is_broken = |text: &str, all: &[Token<'_>], at: usize| {
        text[all[at - 1].end()..all[at].start].contains('\n')
    };
    before.len() == after.len()
        && before.iter().zip(&after).enumerate().all(|(at, (one, other))| {
            let may_be_call = at > 0 && one.text == "(" && before[at - 1].kind == Kind::Word;
            one.text == other.text
                && (!may_be_call || is_broken(old, &before, at) == is_broken(new, &after, at))
        })
}
