//! Tests of the language from outside.

mod includes;
mod options;
mod reference;
mod resolve;
mod syntax;
