//! Source text to parse tree.
//!
//! In this order: [`scan`] blanks out comments, cuts the text into members and measures how deep it
//! nests; pest recognises each member (`grammar.pest`); [`build`] makes the tree. Members are cut
//! apart first because that is how a syntax error in one of them leaves the others alone; it also
//! keeps pest's token queue small. Behind an error the next word that a member can start with is
//! taken for the start of one, though it stands inside of the broken one.
//!
//! Where errors are reported is as in the reference, since tests announce errors by their lines.
//!
//! Invariants
//! - No input makes this overflow the stack: text nested deeper than [`MAX_NESTING`] is refused
//!   before pest sees it, and a tree deeper than [`MAX_DEPTH`] (chains such as `a + b + …`) is
//!   refused while it is built.
//! - Time is linear in the text: every rule of the grammar decides without trying two ways over the
//!   same text. What is read again because of errors is bounded by [`MAX_RECOVERIES`].

mod build;
mod errors;
mod hints;
mod misplaced;
mod scan;

use pest::Parser as _;
use pest::error::Error;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::syntax;

use build::Builder;
pub(crate) use build::not_simple;
use errors::Failure;
pub(crate) use hints::unknown_word;
use scan::Chunk;

/// How deep brackets and prefix forms (`forall`, `let`, `unfolding`, …) may nest.
pub const MAX_NESTING: usize = 2_000;

/// How deep a tree may become in all: nesting, plus the operators of chains (`&&` and `||` count
/// once per chain), so that later stages may recurse over it.
pub const MAX_DEPTH: usize = 12_000;

/// The recogniser that pest makes of the grammar.
///
/// In a module of its own, since the generated code has public items without documentation.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "parser/grammar.pest"]
    pub(super) struct Grammar;
}

use grammar::{Grammar, Rule};

/// Parses one file.
///
/// Errors go to `diagnostics` (`parser.error`, with warnings as `parser.warning`); a member with an
/// error is left out, the others are kept.
pub fn parse(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> syntax::Program {
    let mut program = syntax::Program::default();
    parse_each(file, text, diagnostics, |member| program.members.push(member));
    program
}

/// The same, but members are handed to `take` one at a time, in order: the tree of one is gone
/// before the next one is read if `take` does not keep it.
pub(crate) fn parse_each(
    file: FileId,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
    mut take: impl FnMut(syntax::Member),
) {
    let scan = scan::scan(text);
    for (at, message) in &scan.errors {
        diagnostics.push(Diagnostic::new(
            Code::ParserError,
            Span::new(file, *at, *at + 1),
            *message,
        ));
    }
    let mut builder = Builder::new(file, diagnostics);
    let mut recoveries = 0;
    // The next one last.
    let mut pending: Vec<Chunk> = scan.chunks.into_iter().rev().collect();
    while let Some(chunk) = pending.pop() {
        if let Some(at) = chunk.too_deep {
            builder.error(
                Span::new(file, at, at + 1),
                format!("the text nests deeper than {MAX_NESTING} levels here"),
            );
            continue;
        }
        let Err(failure) = on_large_stack(chunk.nesting, || {
            parse_chunk(&chunk, pending.last(), &scan.text, &mut builder, &mut take)
        }) else {
            continue;
        };
        let at = failure.start;
        // A comment without an end takes the rest of the file with it, and was reported.
        if !(failure.is_at_end && pending.is_empty() && !scan.errors.is_empty()) {
            builder.failure(failure);
        }
        // As in the reference, whatever looks like a member goes on being one, though it may stand
        // inside of the member with the error.
        let from = at.max(chunk.start + 1);
        if recoveries < MAX_RECOVERIES
            && let Some(start) = scan::next_member(&scan.text, from, chunk.end)
        {
            recoveries += 1;
            pending.extend(scan::cut(&scan.text, start, chunk.end).into_iter().rev());
        }
    }
}

/// How often parsing goes on inside of a member with a syntax error. Each time reads the rest of
/// the member again.
const MAX_RECOVERIES: usize = 100;

/// Stack for one level of nesting, in pest and in the builder together. Measured: 6 KB unoptimised.
const STACK_PER_LEVEL: usize = 16 * 1024;

/// Runs `work` with the stack that text nested `nesting` deep can need.
fn on_large_stack<T>(nesting: usize, work: impl FnOnce() -> T) -> T {
    let needed = (nesting + 32) * STACK_PER_LEVEL;
    stacker::maybe_grow(needed, needed, work)
}

/// Parses the members of one chunk of the (blanked) text, normally just one. `next` is the chunk
/// behind it.
fn parse_chunk(
    chunk: &Chunk,
    next: Option<&Chunk>,
    text: &str,
    builder: &mut Builder<'_>,
    take: &mut impl FnMut(syntax::Member),
) -> Result<(), Failure> {
    let piece = &text[chunk.start..chunk.end];
    builder.start_chunk(chunk.start);
    match Grammar::parse(Rule::members, piece) {
        Ok(pairs) => {
            builder.members(pairs, take);
            Ok(())
        }
        Err(error) => Err(failure(&error, chunk, next, text)),
    }
}

/// Describes the error of parsing a chunk, with its place in the file. An error at the end of the
/// chunk is about the next text of the file.
fn failure(error: &Error<Rule>, chunk: &Chunk, next: Option<&Chunk>, text: &str) -> Failure {
    let piece = &text[chunk.start..chunk.end];
    let mut failure = errors::describe(error, piece);
    if let Some(start) = misplaced::misplaced_expression(piece, failure.start) {
        failure = errors::no_statement(piece, start);
    } else if failure.is_at_end
        && let Some(next) = next
    {
        // If annotations may stand there, the text behind them is unexpected; otherwise they are.
        let longer = &text[chunk.start..next.head.max(next.start)];
        failure.start = longer.len();
        failure.end = longer.len();
        if let Err(error) = Grammar::parse(Rule::members, longer) {
            let found = errors::describe(&error, longer);
            if !found.is_at_end {
                failure = found;
            }
        }
    } else if failure.is_at_end {
        // The reference points at the last byte, be it of a comment.
        let last = (chunk.start..text.len()).rev().find(|at| text.is_char_boundary(*at));
        failure.start = last.unwrap_or(chunk.start) - chunk.start;
        failure.end = text.len() - chunk.start;
    }
    failure.start += chunk.start;
    failure.end += chunk.start;
    if let Some((bracket, _)) = &mut failure.unclosed {
        *bracket += chunk.start;
    }
    failure
}
