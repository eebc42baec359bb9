//! The shared kit of the front ends: source texts and places in them, findings about them, the
//! keywords, tokens and forms of each language, and room for recursion over deeply nested programs.
//!
//! Offsets count bytes; lines and columns count from 1, and columns count characters. Each language
//! has spans of its own (those of SIL know where a translated node comes from, those of Chalice
//! know no file), so that a [`Diagnostic`] leaves their type open.

mod diagnostic;
mod infix;
mod inputs;
mod keywords;
mod language;
mod loader;
mod nesting;
pub mod reference;
mod sources;
mod stack;
pub mod tokens;
mod trivia;
mod words;

pub use diagnostic::{Code, Diagnostic};
pub use infix::{Chain, Infix};
pub use inputs::{NotUtf8, decode, read_bounded, read_input, read_named};
pub use keywords::Words;
pub use language::Language;
pub use loader::{FileSystem, Loader, NoFiles, normalised};
pub use nesting::Nesting;
pub use sources::{FileId, LineColumn, SourceFile, Sources, Span, behind_mark, blank_mark};
pub use stack::{grow_stack, with_large_stack};
pub use trivia::Trivia;
pub use words::counted;
