//! What the front ends of all languages of the project share: source texts and places in them, findings about them,
//! and room for recursion over deeply nested programs.
//!
//! Offsets count bytes; lines and columns count from 1, and columns count characters. Each language has spans of its own
//! (those of SIL know where a translated node comes from, those of Chalice know no file), so that a [`Diagnostic`] leaves
//! their type open.

mod diagnostic;
mod inputs;
mod sources;
mod stack;
mod trivia;

pub use diagnostic::{Code, Diagnostic};
pub use inputs::{NotUtf8, decode, read_bounded, read_input};
pub use sources::{BYTE_ORDER_MARK, FileId, LineColumn, SourceFile, Sources, Span};
pub use stack::{grow_stack, with_large_stack};
pub use trivia::Trivia;
