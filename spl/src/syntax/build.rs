//! From the generated parser's pairs to the parsed tree.
//!
//! The builder decides the questions that the grammar leaves open: precedence, and the targets of
//! assignments. Its errors are syntax errors like those of the grammar.

mod decl;
mod error;
mod expr;
mod hint;
mod operators;
mod stmt;

use front::{Trivia, blank_mark, grow_stack, with_large_stack};
use pest::Parser as _;
use pest::iterators::Pair;

use super::scan::scan;
use super::{Ident, Program, TREE_LIMIT, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// Reads a whole file.
///
/// # Errors
/// The first syntax error, with [`Code::ParserError`].
pub fn parse(file: FileId, text: &str) -> Result<Program, Diagnostic> {
    if u32::try_from(text.len()).is_err() {
        return Err(error("the file is larger than 4 GiB", Span { file, ..Span::default() }));
    }
    let text = &*blank_mark(text);
    let trivia = scan(file, text)?;
    with_large_stack(|| {
        let mut pairs = Grammar::parse(Rule::program, text)
            .map_err(|e| error::of_pest(file, &e, &trivia.blanked(text)))?;
        let program = pairs.next().expect("the rule for programs yields one pair");
        Builder { file, trivia, depth: 0, opens_predicates: false }.program(program)
    })
}

mod grammar {
    /// The parser generated from the grammar.
    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/grammar.pest"]
    pub(super) struct Grammar;
}
use grammar::{Grammar, Rule};

/// The result of a building step; a failure is a syntax error.
type Built<T> = Result<T, Diagnostic>;

struct Builder {
    file: FileId,
    trivia: Trivia,
    /// Length of the path from the root to the node being built.
    depth: usize,
    /// Has a `fold`, `unfold` or `unfolding` been built?
    opens_predicates: bool,
}

fn error(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::new(Code::ParserError, span, message)
}

impl Builder {
    /// Returns where a pair is, without the trivia after it.
    fn span(&self, pair: &Pair<Rule>) -> Span {
        let span = pair.as_span();
        let trimmed = self.trivia.trim(span.start()..span.end());
        Span::new(self.file, trimmed.start, trimmed.end)
    }

    /// Builds something `links` nodes further from the root.
    fn deeper<T>(
        &mut self,
        links: usize,
        span: Span,
        step: impl FnOnce(&mut Self) -> Built<T>,
    ) -> Built<T> {
        self.depth += links;
        if self.depth > TREE_LIMIT {
            return Err(error(format!("too complex: more than {TREE_LIMIT} nested parts"), span));
        }
        let built = grow_stack(|| step(self));
        self.depth -= links;
        built
    }

    fn ident(&self, pair: &Pair<Rule>) -> Ident {
        Ident { name: pair.as_str().to_owned(), span: self.span(pair) }
    }

    /// Returns all names directly in a pair.
    fn idents(&self, pair: Pair<Rule>) -> Vec<Ident> {
        pair.into_inner().filter(|p| p.as_rule() == Rule::ident).map(|p| self.ident(&p)).collect()
    }

    /// Returns a text in quotes: a backslash stands before the character that is meant, or names
    /// one.
    fn text(&self, pair: &Pair<Rule>) -> Text {
        let mut value = String::new();
        let quoted = pair.as_str();
        let mut characters = quoted[1..quoted.len() - 1].chars();
        while let Some(character) = characters.next() {
            value.push(match character {
                '\\' => match characters.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('b') => '\u{8}',
                    Some(other) => other,
                    None => '\\',
                },
                other => other,
            });
        }
        Text { value, span: self.span(pair) }
    }
}

/// Returns the parts of a pair that have content.
fn parts(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pair.into_inner().filter(|part| !is_token(part.as_rule()))
}

/// Is this keyword directly in the pair?
fn has(pair: &Pair<Rule>, keyword: Rule) -> bool {
    pair.clone().into_inner().any(|part| part.as_rule() == keyword)
}

/// Returns the next part of a construct in which the grammar demands one.
fn take<'s>(parts: &mut impl Iterator<Item = Pair<'s, Rule>>) -> Pair<'s, Rule> {
    parts.next().expect("the grammar demands this part")
}

/// Keywords; they stand together in the grammar.
fn is_token(rule: Rule) -> bool {
    (Rule::k_Array..=Rule::k_yields).contains(&rule) || rule == Rule::EOI
}
