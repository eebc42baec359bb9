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
mod operands;
mod overload;
mod scope;
mod statements;
mod unify;

use crate::diagnostics::{Code, Diagnostic};
use crate::program::{Member, Program};
use crate::syntax;
use adts::Selectors;
use context::{Facts, Shared};
use indexmap::IndexMap;
use names::Globals;

/// Resolves a program whose imports, macros and plugins are expanded.
///
/// `None` if there are type errors. Wrong labels are consistency errors (as in the reference), so a
/// program with wrong labels is returned, for its other consistency errors to be found; it must not
/// be verified.
pub fn resolve(tree: &syntax::Program, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
    let mut resolution = Resolution::of(tree);
    for member in &tree.members {
        resolution.member(member);
    }
    resolution.finish(diagnostics)
}

/// A program of which the signatures are resolved, and the members up to some place.
pub(crate) struct Resolution {
    globals: Globals,
    selectors: Selectors,
    facts: Facts,
    program: Program,
    /// How many entries of the program's order are done.
    done: usize,
    errors: Vec<Diagnostic>,
    label_errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Resolution {
    /// Resolves the signatures. Bodies and contracts may be missing, but whether a predicate has a
    /// body, and a function a precondition, has to show.
    pub(crate) fn of(tree: &syntax::Program) -> Self {
        let mut errors = Vec::new();
        let globals = Globals::declare(tree, &mut errors);
        let selectors = Selectors::of(tree, &globals);
        let (program, facts) = members::signatures(tree, &globals, &mut errors);
        let (label_errors, warnings) = (Vec::new(), Vec::new());
        Self { globals, selectors, facts, program, done: 0, errors, label_errors, warnings }
    }

    /// Resolves the contract and the body of the next member and completes the program by them;
    /// returns which it is. All members of the tree come in its order; fields are complete from the
    /// start.
    pub(crate) fn member(&mut self, written: &syntax::Member) -> Option<Member> {
        if !members::has_body(written) {
            return None;
        }
        let next =
            self.program.order[self.done..].iter().position(|id| !matches!(id, Member::Field(_)));
        self.done += next? + 1;
        let member = self.program.order[self.done - 1];
        // The table grows while the rest of the program is looked at.
        let mut origins = std::mem::take(&mut self.program.origins);
        let mut shared = Shared {
            globals: &self.globals,
            selectors: &self.selectors,
            program: &self.program,
            facts: &self.facts,
            diagnostics: &mut self.errors,
            taken: IndexMap::new(),
            warnings: &mut self.warnings,
            label_errors: &mut self.label_errors,
            origins: &mut origins,
        };
        let resolved = members::resolve_member(&mut shared, member, &written.kind);
        shared.report_taken();
        self.program.origins = origins;
        resolved?.complete(member, &mut self.program);
        Some(member)
    }

    /// Returns the program as far as it is resolved.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Tells whether no error was found so far, but for labels.
    pub(crate) fn is_well_typed(&self) -> bool {
        self.errors.is_empty()
    }

    /// Takes what [`Self::member`] has added to a member out of the program.
    pub(crate) fn forget(&mut self, member: Member) {
        members::reduce_to_signature(member, &mut self.program);
    }

    /// Reports what was found; the program, unless there are type errors.
    pub(crate) fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
        let Self { program, mut errors, label_errors, mut warnings, .. } = self;
        let well_typed = errors.is_empty();
        if well_typed {
            errors = label_errors;
        }
        errors.append(&mut warnings);
        errors.sort_by_key(|error| {
            (error.span.file, error.span.start, error.code != Code::TypecheckerError)
        });
        // The locals of several members may clash with one global name that is declared behind
        // them.
        errors.dedup_by(|later, earlier| {
            later.code == earlier.code
                && later.span == earlier.span
                && later.message == earlier.message
        });
        diagnostics.append(&mut errors);
        well_typed.then_some(program)
    }
}
