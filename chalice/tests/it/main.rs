//! Tests of the language from outside.

mod options;
mod print;
mod reference;
mod refinement;
mod resolve;
mod syntax;
