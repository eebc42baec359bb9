//! Name resolution and typing: from the parse tree to the resolved program.
//!
//! Everything that is wrong is reported, once; what is wrong takes part in no further error.

mod adts;
mod assignments;
mod build;
mod calls;
mod context;
mod graphs;
mod infer;
mod inference;
mod members;
mod names;
mod overload;
mod scope;
mod statements;
#[cfg(test)]
pub(crate) mod tests;
mod unify;

use crate::diagnostics::{Code, Diagnostic};
use crate::program::Program;
use crate::syntax;
use adts::Selectors;
use context::Shared;
use indexmap::IndexMap;
use names::Globals;

/// Resolves a program whose imports, macros and plugins are expanded.
///
/// `None` if there are type errors. Wrong labels are consistency errors (as in the reference), so a program with
/// wrong labels is returned, for its other consistency errors to be found; it must not be verified.
pub fn resolve(tree: &syntax::Program, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
    let (mut errors, mut label_errors, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let globals = Globals::declare(tree, &mut errors);
    let selectors = Selectors::of(tree, &globals);
    let (mut program, facts) = members::signatures(tree, &globals, &mut errors);
    let mut origins = std::mem::take(&mut program.origins);
    let resolved = members::bodies(
        tree,
        &mut Shared {
            globals: &globals,
            selectors: &selectors,
            program: &program,
            facts: &facts,
            diagnostics: &mut errors,
            taken: IndexMap::new(),
            warnings: &mut warnings,
            label_errors: &mut label_errors,
            origins: &mut origins,
        },
    );
    for (member, resolved) in resolved {
        resolved.complete(member, &mut program);
    }
    program.origins = origins;
    let well_typed = errors.is_empty();
    if well_typed {
        errors = label_errors;
    }
    errors.append(&mut warnings);
    errors.sort_by_key(|error| {
        (error.span.file, error.span.start, error.code != Code::TypecheckerError)
    });
    // The locals of several members may clash with one global name that is declared behind them.
    errors.dedup_by(|later, earlier| {
        later.code == earlier.code && later.span == earlier.span && later.message == earlier.message
    });
    diagnostics.append(&mut errors);
    well_typed.then_some(program)
}
