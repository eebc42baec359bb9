//! Source text to parse tree (sections 1 and 3-5 of the Viper language reference, and SIL's graph form).
//!
//! In this order: [`scan`] blanks out comments, cuts the text into members and measures how deep it nests; pest
//! recognises each member (`grammar.pest`); [`build`] makes the tree. Members are cut apart first because that is
//! how a syntax error in one of them leaves the others alone; it also keeps pest's token queue small.
//!
//! Invariants
//! - No input makes this overflow the stack: text nested deeper than [`MAX_NESTING`] is refused before pest sees
//!   it, and a tree deeper than [`MAX_DEPTH`] (chains such as `a + b + …`) is refused while it is built.
//! - Time is linear in the text: every rule of the grammar decides without trying two ways over the same text.

mod build;
mod errors;
mod scan;

use pest::Parser as _;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::syntax;

use build::Builder;
pub(crate) use build::not_simple;
use scan::Chunk;

/// How deep brackets and prefix forms (`forall`, `let`, `unfolding`, …) may nest.
pub const MAX_NESTING: usize = 2_000;

/// How deep a tree may become in all: nesting, plus the operators of chains (`&&` and `||` count once per chain),
/// so that later stages may recurse over it.
pub const MAX_DEPTH: usize = 12_000;

/// The recogniser that pest makes of the grammar.
///
/// In a module of its own, since the generated code has public items without documentation.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "grammar.pest"]
    pub(super) struct Grammar;
}

use grammar::{Grammar, Rule};

/// Parses one file.
///
/// Errors go to `diagnostics` (`parser.error`, with warnings as `parser.warning`); a member with an error is left
/// out, the others are kept.
pub fn parse(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> syntax::Program {
    let scan = scan::scan(text);
    for (at, message) in &scan.errors {
        diagnostics.push(Diagnostic::new(
            Code::ParserError,
            Span::new(file, *at, *at + 1),
            *message,
        ));
    }
    let mut builder = Builder::new(file, diagnostics);
    let mut program = syntax::Program::default();
    for chunk in &scan.chunks {
        if let Some(at) = chunk.too_deep {
            builder.error(
                Span::new(file, at, at + 1),
                format!("the text nests deeper than {MAX_NESTING} levels here"),
            );
            continue;
        }
        on_large_stack(chunk.nesting, || {
            parse_chunk(chunk, &scan.text, &mut builder, &mut program.members);
        });
    }
    program
}

/// Stack for one level of nesting, in pest and in the builder together. Measured: 6 KB unoptimised.
const STACK_PER_LEVEL: usize = 16 * 1024;

/// Runs `work` with the stack that text nested `nesting` deep can need.
fn on_large_stack<T>(nesting: usize, work: impl FnOnce() -> T) -> T {
    let needed = (nesting + 32) * STACK_PER_LEVEL;
    stacker::maybe_grow(needed, needed, work)
}

/// Parses the members of one chunk of the (blanked) text, normally just one.
fn parse_chunk(
    chunk: &Chunk,
    text: &str,
    builder: &mut Builder<'_>,
    members: &mut Vec<syntax::Member>,
) {
    let piece = &text[chunk.start..chunk.end];
    builder.start_chunk(chunk.start);
    match Grammar::parse(Rule::members, piece) {
        Ok(pairs) => builder.members(pairs, members),
        Err(error) => {
            let (start, end, message) = errors::describe(&error, piece);
            builder.error_at(start, end, message);
        }
    }
}

#[cfg(test)]
mod tests;
