//! The additions of the original verifier's options. `-defaults`: predicates of `this` that a
//! contract mentions are open in its body. `-checkLeaks`: methods and rounds of loops leave no
//! permission behind.

use chalice::program::{Access, AccessTarget, Expr, ExprKind, Program};
use sil::source::Span;
use smt::terms::{Terms, grow_stack};

use super::{Chalice, Statements, Threads, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason};

/// Collects the predicates of `this` that a clause mentions without a condition.
fn own_predicates(clause: &Expr, found: &mut Vec<Access>) {
    match &clause.kind {
        ExprKind::And(parts) => {
            parts.iter().for_each(|part| grow_stack(|| own_predicates(part, found)));
        }
        ExprKind::Access(access) if is_own(access) => found.push((**access).clone()),
        _ => {}
    }
}

/// Tells whether an access is to a predicate of `this`.
pub(super) fn is_own(access: &Access) -> bool {
    matches!(&access.target, AccessTarget::Predicate { receiver, .. }
        if matches!(receiver.kind, ExprKind::This))
}

/// Opens in the bodies of functions the predicates of `this` that their preconditions mention.
pub(super) fn open_in_functions(tree: &mut Program) {
    for function in tree.functions.values_mut() {
        let mut own = Vec::new();
        function.requires.iter().for_each(|clause| own_predicates(clause, &mut own));
        let Some(body) = function.body.take() else { continue };
        function.body = Some(own.into_iter().rev().fold(body, |body, access| {
            let (ty, span) = (body.ty.clone(), body.span);
            let kind = ExprKind::Unfolding { access: Box::new(access), body: Box::new(body) };
            Expr { kind, ty, span }
        }));
    }
}

impl Statements<'_, '_> {
    /// Opens the predicates of `this` in the precondition, at the start of a body.
    pub(super) fn open_own(&mut self, requires: &[Expr]) -> Result<(), Stop> {
        requires.iter().try_for_each(|clause| {
            let at = span(clause.span);
            self.each_own(clause, at, &mut |chalice, access| {
                chalice.unfold(access, Blame::new(ErrorId::UnfoldFailed, at))
            })
        })
    }

    /// Closes the predicates of `this` in the postcondition, at the end of a body.
    pub(super) fn close_own(&mut self, ensures: &[Expr]) -> Result<(), Stop> {
        ensures.iter().try_for_each(|clause| {
            let at = span(clause.span);
            self.each_own(clause, at, &mut |chalice, access| {
                chalice.fold(access, Blame::new(ErrorId::PostconditionViolated, at))
            })
        })
    }

    fn each_own(
        &mut self,
        clause: &Expr,
        at: Span,
        visit: &mut dyn FnMut(&mut Chalice<'_, '_>, &Access) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::NotWellformed, at).trusted();
        self.each_part(clause, speaks_of_own, blame, &mut |chalice, part| match &part.kind {
            ExprKind::Access(access) if is_own(access) => visit(chalice, access),
            _ => Ok(()),
        })
    }
}

impl Threads<'_, '_> {
    /// Shows that no permission is left once a contract has been given away, if the program asks
    /// for this check. Tokens may be left.
    pub(super) fn prove_no_leak(&mut self, reason: Reason, at: Span) -> Result<(), Stop> {
        if !self.direct.options.check_leaks {
            return Ok(());
        }
        let blame = Blame::new(ErrorId::LeakFailed, at).trusted();
        let heap = self.here.heap.clone();
        for (resource, chunks) in heap.resources() {
            if resource == self.direct.joinable() {
                continue;
            }
            for chunk in chunks {
                let nothing = self.terms.le(chunk.amount, Terms::NONE);
                self.prove(nothing, blame, reason, at)?;
            }
        }
        Ok(())
    }
}

fn speaks_of_own(clause: &Expr) -> bool {
    clause.any(&mut |part| matches!(&part.kind, ExprKind::Access(access) if is_own(access)))
}
