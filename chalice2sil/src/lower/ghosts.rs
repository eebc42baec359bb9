//! Assignments to ghost constants.

use chalice::program::ghosts::is_foreseen;
use chalice::program::{Expr, OutVariable};
use findings::{ErrorId, Pattern, Reason};
use sil::syntax as s;

use super::Body;
use super::annotations::{Annotate, renamed, said};
use crate::build::*;

impl Body<'_, '_> {
    /// Assigns a ghost constant. If it may have had the value before, what is known of it is known
    /// of the value, too.
    ///
    /// SOUNDNESS: to assume that it has had any value from the start would be a contradiction where
    /// the value depends on what it was, or is an object made since.
    pub(super) fn assign_constant(
        &mut self,
        name: &str,
        flag: &str,
        source: &Expr,
        value: s::Expr,
    ) {
        self.check_unassigned(flag);
        let is_foreseen =
            self.method.is_some_and(|method| self.lowering.facts.methods[method].ghosts_stay_apart)
                && is_foreseen(self.program(), source);
        self.emit(if is_foreseen {
            inhale(eq(var(name), value))
                .with(renamed(ErrorId::InhaleFailed, ErrorId::AssignmentFailed))
        } else {
            assign(var(name), value)
        });
        // Not before: the value may ask whether the constant is assigned, which it is not yet.
        self.emit_plain(assign(var(flag), truth(true)));
    }

    /// The ghost constants among these variables are assigned.
    pub(super) fn note_constants(&mut self, outs: &[OutVariable]) {
        for out in outs {
            if let Some(flag) = self.assigned.get(&out.local).cloned() {
                self.note_constant(&flag);
            }
        }
    }

    /// A ghost constant is assigned, which it must not have been before.
    pub(super) fn note_constant(&mut self, flag: &str) {
        self.check_unassigned(flag);
        self.emit_plain(assign(var(flag), truth(true)));
    }

    fn check_unassigned(&mut self, flag: &str) {
        self.emit(
            assert(not(var(flag)))
                .with(renamed(
                    (ErrorId::AssertFailed, Reason::AssertionFalse),
                    (ErrorId::AssignmentFailed, Reason::ConstAssignedTwice),
                ))
                .with(said(Pattern::ANY, "a constant can be assigned only once")),
        );
    }
}
