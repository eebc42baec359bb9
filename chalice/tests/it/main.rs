//! Tests of the language from outside.

mod options;
mod reference;
mod refinement;
mod resolve;
mod syntax;
