//! Abstract read permissions: what `rd` stands for (Heule, Leino, Müller and Summers 2011).
//!
//! Every method, call and loop has one unknown amount, so small that whoever reads can let others read. It is bounded
//! above only, by positive amounts: below the amount of the context, and below what is held of each location that it is asked of.
//!
//! SOUNDNESS: so some amount meets all bounds, whatever is held. A bound is assumed of an amount that has been chosen for this use alone.

use chalice::program::{Expr, ExprKind, PermissionKind};
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::is_pure;
use crate::engine::findings::blame::{Blame, ErrorId};
use crate::engine::{Engine, Stop};

/// An amount is so many times smaller than that of its context.
const FACTOR: i64 = 1000;

impl Engine<'_> {
    /// What `rd` stands for where the state is, if for anything.
    pub(super) fn direct_fraction(&self) -> Option<Term> {
        self.state.store.get(self.direct().fraction)
    }

    /// Chooses a new amount, below that of the context or, where there is none, below a hundredth.
    pub(super) fn direct_choose_fraction(&mut self, context: Option<Term>) -> Result<Term, Stop> {
        let fraction = self.fresh("rd", Sort::PERM);
        let positive = self.terms.lt(Terms::NONE, fraction);
        self.assume(positive)?;
        let above = match context {
            Some(context) => context,
            None => self.terms.fraction(1, 100),
        };
        let factor = self.terms.fraction(FACTOR, 1);
        let product = self.terms.mul(factor, fraction);
        let bounded = self.terms.lt(product, above);
        self.assume(bounded)?;
        self.state.store.set(self.direct().fraction, fraction);
        Ok(fraction)
    }

    /// The amount is smaller than what is held of each location that clauses ask `rd` of.
    pub(super) fn direct_bound<'e>(
        &mut self,
        fraction: Term,
        clauses: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), Stop> {
        clauses
            .into_iter()
            .try_for_each(|clause| grow_stack(|| self.direct_bound_in(fraction, clause)))
    }

    fn direct_bound_in(&mut self, fraction: Term, assertion: &Expr) -> Result<(), Stop> {
        if is_pure(assertion) {
            return Ok(());
        }
        // What is not defined here is told where the assertion is given away.
        let at = super::span(assertion.span);
        let blame = Blame::new(ErrorId::CallFailed, at).silent();
        match &assertion.kind {
            ExprKind::And(parts) => self.direct_bound(fraction, parts),
            ExprKind::Implies { guard, body } => {
                let guard = self.direct_eval(guard, blame)?;
                self.direct_bound_under(guard, fraction, body)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.direct_eval(condition, blame)?;
                let negation = self.terms.not(condition);
                self.direct_bound_under(condition, fraction, then)?;
                self.direct_bound_under(negation, fraction, otherwise)
            }
            ExprKind::Access(access) if access.amount.kind == PermissionKind::AbstractRead => {
                let (resource, arguments) = self.direct_location(access, blame)?;
                let heap = self.state.heap.clone();
                let held = self.held_in(&heap, resource, &arguments);
                let some = self.terms.lt(Terms::NONE, held);
                let less = self.terms.lt(fraction, held);
                let fact = self.terms.implies(some, less);
                self.assume(fact)
            }
            _ => Ok(()),
        }
    }

    fn direct_bound_under(&mut self, guard: Term, fraction: Term, body: &Expr) -> Result<(), Stop> {
        self.under(guard, |engine| {
            engine.direct_bound_in(fraction, body)?;
            Ok(Terms::TRUE)
        })?;
        Ok(())
    }
}
