//! From the generated parser's pairs to the parsed tree.
//!
//! The builder decides the questions that the grammar leaves open: precedence, the call of a chain
//! that a statement is about, places of wildcards. Its errors are syntax errors like those of the
//! grammar.

mod decl;
mod error;
mod expr;
mod hint;
mod operators;
mod recover;
mod stmt;

use front::{Trivia, blank_mark, grow_stack, with_large_stack};
use pest::Parser as _;
use pest::iterators::Pair;

use super::scan::scan;
use super::{Ident, Program, TREE_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// How many syntax errors are reported: to find the next one, the file is read again without the
/// broken member.
const MOST_ERRORS: usize = 20;

/// Reads a whole file.
///
/// # Errors
/// The syntax errors, at most one a member, with [`Code::ParserError`], in source order; there is
/// at least one.
pub fn parse(text: &str) -> Result<Program, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![error("the file is larger than 4 GiB", Span::default())]);
    }
    let text = &*blank_mark(text);
    let mut trivia = scan(text).map_err(|error| vec![error])?;
    with_large_stack(|| {
        let first = match attempt(text, &mut trivia) {
            Ok((program, errors)) if errors.is_empty() => return Ok(program),
            Ok((_, errors)) => return Err(errors),
            Err(first) => first,
        };
        let text = trivia.blanked(text);
        let mut errors = vec![error::of_pest(&first, &text)];
        let mut rest = recover::without_member(&text, error::place(&first), 0);
        while let Some(recovered) = rest.take() {
            match attempt(&recovered.text, &mut trivia) {
                Ok((_, found)) => errors.extend(found),
                Err(next) => {
                    let at = error::place(&next);
                    if at < recovered.end || at >= text.trim_end().len() {
                        break;
                    }
                    errors.push(error::of_pest(&next, &recovered.text));
                    if errors.len() < MOST_ERRORS {
                        rest = recover::without_member(&recovered.text, at, recovered.end);
                    }
                }
            }
        }
        errors.sort_by_key(|error| error.span.start);
        Err(errors)
    })
}

/// Reads a text that fits the grammar; the builder may find errors even then. It takes the trivia.
fn attempt(
    text: &str,
    trivia: &mut Trivia,
) -> Result<(Program, Vec<Diagnostic>), Box<pest::error::Error<Rule>>> {
    let mut pairs = Grammar::parse(Rule::program, text)?;
    let program = pairs.next().expect("the rule for programs yields one pair");
    let trivia = std::mem::take(trivia);
    let builder = Builder { trivia, depth: 0, wildcards: Vec::new(), errors: Vec::new() };
    Ok(builder.program(program))
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
    trivia: Trivia,
    /// Length of the path from the root to the node being built.
    depth: usize,
    /// Places of `[*]` and `.*` not yet claimed by an accessibility assertion.
    wildcards: Vec<Span>,
    /// The errors of the members that could not be built.
    errors: Vec<Diagnostic>,
}

fn error(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::new(Code::ParserError, span, message)
}

impl Builder {
    /// Returns where a pair is, without the trivia after it.
    fn span(&self, pair: &Pair<Rule>) -> Span {
        let span = pair.as_span();
        let trimmed = self.trivia.trim(span.start()..span.end());
        Span::new(trimmed.start, trimmed.end)
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

/// Keywords and delimiters; they stand together in the grammar.
fn is_token(rule: Rule) -> bool {
    (Rule::bar..=Rule::k_while).contains(&rule) || rule == Rule::EOI
}
