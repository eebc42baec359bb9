//! Ghost constants, and what may be said of one before it is assigned.
//!
//! A ghost constant that is assigned late may be read before, as what it will be: so a method
//! speaks of its own outcome ahead of time. That is sound only where the value assigned does not
//! depend on the constant. Guards, arguments and assignments to what is no ghost do not read
//! ghosts, as the resolver sees to; what is left is looked at here.

use chalice::program::{
    Block, Bounds, Expr, ExprKind, FieldRef, MethodId, OutVariable, Program, Rhs, StmtKind, Type,
};
use findings::{ErrorId, Pattern, Reason};
use sil::syntax as s;

use super::Body;
use super::annotations::{Annotate, renamed, said};
use super::facts::Facts;
use crate::build::*;
use crate::walk::{each_stmt, is_impure, rhs_of};

/// Does `e` itself read ghost variables or fields? Functions it applies are another question.
fn mentions_ghost(program: &Program, e: &Expr) -> bool {
    e.any(&mut |part| match &part.kind {
        ExprKind::Local(local) => program.locals[*local].is_ghost,
        ExprKind::FieldRead { field: FieldRef::Declared(field), .. } => {
            program.fields[*field].is_ghost
        }
        _ => false,
    })
}

/// The methods of which nothing that is executed depends on ghost state. It would through functions
/// that read it, or may, as they have no body; through specification statements and assumptions
/// that tell of it, or of permissions, for what a predicate says may be about both; through levels
/// chosen by it, and pointers back; and where ghosts say how many credits are given, for
/// `waitlevel` is what debts make of it: so wherever a method has to do with credits.
///
/// SOUNDNESS: ghost fields carry values of ghosts from one method to others; where there are none,
/// what a method does with its ghosts depends on its own alone, so that ghosts of other methods
/// still stay apart.
pub(crate) fn stay_apart(program: &Program, facts: &Facts) -> Vec<MethodId> {
    let functions_read = program.functions.values().any(|function| match &function.body {
        Some(body) => mentions_ghost(program, body),
        None => !function.requires.is_empty(),
    });
    let moves_credits = facts.methods.values().any(|method| method.credits);
    let shares_ghosts = program.fields.values().any(|field| field.is_ghost);
    if functions_read && shares_ghosts
        || moves_credits
        || program.fields.values().any(|field| field.is_tracked)
    {
        return Vec::new();
    }
    let mut apart: Vec<_> = program.methods.iter().map(|(id, _)| id).collect();
    let all = apart.len();
    apart.retain(|&id| stays_apart(program, &program.methods[id].body));
    if shares_ghosts && apart.len() < all {
        apart.clear();
    }
    apart
}

/// Does nothing that the statements of a method do depend on ghosts?
fn stays_apart(program: &Program, body: &Block) -> bool {
    let bounds_read = |bounds: &Bounds| {
        bounds.lower.iter().chain(&bounds.upper).any(|bound| mentions_ghost(program, bound))
    };
    let mut apart = true;
    each_stmt(body, &mut |stmt| {
        apart &= match &stmt.kind {
            StmtKind::Assume(fact) | StmtKind::Specification { post: fact, .. } => {
                !is_impure(fact) && !mentions_ghost(program, fact)
            }
            StmtKind::Share { bounds, .. } | StmtKind::Reorder { bounds, .. } => {
                !bounds_read(bounds)
            }
            _ => !matches!(rhs_of(stmt),
                Some(Rhs::NewChannel { bounds, .. }) if bounds_read(bounds)),
        };
    });
    apart
}

/// May a ghost constant that is assigned `value` have had that value from its declaration on?
///
/// SOUNDNESS: which value of this kind it gets, and whether it does, is the same whatever the
/// constant was before, in methods whose ghosts [`stay_apart`]. So of each execution there is one
/// in which it was just that. Not so of references: objects made since are unlike all that was
/// there before.
pub(crate) fn is_foreseen(program: &Program, value: &Expr) -> bool {
    matches!(value.ty, Type::Int | Type::Bool) && !mentions_ghost(program, value)
}

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
