//! Likely intentions behind a mistaken text, for the messages of every language of the project.
//!
//! Nothing here decides whether a text is correct: it is asked when an error is known. Offsets
//! count bytes. Texts are given without their comments, which are replaced by white space.

pub mod brackets;
pub mod slips;
pub mod spelling;
pub mod syntax;
