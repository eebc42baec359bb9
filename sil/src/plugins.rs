//! Features that are reduced to the rest of the language.
//!
//! Some are desugared on the parse tree, after macros and before names are resolved ([`desugar`]);
//! those that need types work on the resolved program ([`termination`], [`smoke`]).

use crate::diagnostics::Diagnostic;
use crate::source::Sources;
use crate::syntax::Program;

pub mod adt;
pub mod assumed_termination;
mod epsilon;
pub mod predicate_instance;
pub mod smoke;
pub mod termination;

/// Desugars all plugins that work on the parse tree. Files of the standard library that they need
/// are added to `sources` and to the program.
pub fn desugar(program: &mut Program, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) {
    adt::desugar(program, sources, diagnostics);
    predicate_instance::desugar(program);
    epsilon::desugar(program, sources, diagnostics);
}
