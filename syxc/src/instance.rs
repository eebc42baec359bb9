//! Instances of predicates: fold, unfold, unfolding (Schwerhoff 2011, section 3.10), and shares of
//! them.

use std::rc::Rc;

use chalice::program::{Access, AccessTarget, Expr, ExprKind, PermissionKind};
use sil::program::PredicateId;
use smt::terms::{Term, Terms};

use super::{Chalice, Threads, renumbered, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::rules::language::Language;
use symex::state::heap::Resource;
use symex::{Explore, Stop};

impl Chalice<'_, '_> {
    /// Folds an instance: gives the body away, and adds the instance.
    pub(super) fn fold(&mut self, access: &Access, blame: Blame) -> Result<(), Stop> {
        self.threads.divides_nothing_counted(access)?;
        let (predicate, receiver) = self.instance(access, blame)?;
        let AccessTarget::Predicate { receiver: written, .. } = &access.target else {
            return unsupported_at(span(access.span), "an instance of no predicate");
        };
        let exists = self.terms.differs(receiver, Terms::NULL);
        self.prove(exists, blame, Reason::ReceiverNull, span(written.span))?;
        let direct = self.direct;
        let body = &direct.tree.predicates[renumbered(predicate)].body;
        let accesses = {
            let mut count = 0;
            body.for_each(&mut |part| count += i64::from(matches!(part.kind, ExprKind::Access(_))));
            count
        };
        let amount = self.traded(
            access,
            blame,
            |chalice, share| chalice.fold_fits(predicate, receiver, share, body),
            |chalice, share| {
                chalice.in_body(predicate, &[receiver], Terms::WRITE, |chalice| {
                    chalice.bound_by(share, accesses, body, |_| true)
                })
            },
        )?;
        self.in_body(predicate, &[receiver], amount, |chalice| chalice.move_credits([body], true))?;
        self.close(predicate, vec![receiver], amount, span(access.span), blame)
    }

    /// Unfolds an instance: gives it away, and adds the body.
    pub(super) fn unfold(&mut self, access: &Access, blame: Blame) -> Result<(), Stop> {
        self.threads.divides_nothing_counted(access)?;
        let (predicate, receiver) = self.instance(access, blame)?;
        let resource = Resource::Predicate(predicate);
        let heap = self.here.heap.clone();
        let held = self.held_in(&heap, resource, &[receiver]);
        let amount = self.traded(
            access,
            blame,
            |chalice, share| Ok(chalice.terms.le(share, held)),
            |chalice, share| {
                let fact = chalice.threads.leaves_fraction(share, held)?;
                chalice.assume(fact)
            },
        )?;
        self.open(predicate, &[receiver], amount, span(access.span), blame)?;
        let body = &self.direct.tree.predicates[renumbered(predicate)].body;
        self.in_body(predicate, &[receiver], amount, |chalice| chalice.move_credits([body], false))
    }

    /// Returns the value of an expression while an instance is open.
    pub(super) fn unfolding(
        &mut self,
        access: &Access,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (predicate, receiver) = self.instance(access, blame)?;
        if self.frame.assertion.is_deep_inside(predicate) {
            let sort = self.threads.sort(&body.ty);
            return Ok(self.fresh("beyond", sort));
        }
        self.join(|chalice| {
            chalice.here.consuming = None;
            chalice.frame.result_of = None;
            // Any amount will do if the source does not give a number.
            let is_open =
                matches!(access.amount.kind, PermissionKind::AbstractRead | PermissionKind::Star);
            let amount = if is_open {
                chalice.wildcard()?
            } else {
                chalice.positive(&access.amount, blame)?
            };
            let amount = chalice.times_scale(amount)?;
            chalice.open(predicate, &[receiver], amount, span(access.span), blame)?;
            // SOUNDNESS: inside, portions are as large as the amount, which must not become smaller
            // any more (trap T9a).
            chalice.frame.assertion.constrainable = Rc::default();
            chalice.eval(body, blame)
        })
    }

    pub(super) fn instance(
        &mut self,
        access: &Access,
        blame: Blame,
    ) -> Result<(PredicateId, Term), Stop> {
        match &access.target {
            AccessTarget::Predicate { receiver, predicate } => {
                Ok((renumbered(*predicate), self.eval(receiver, blame)?))
            }
            _ => unsupported_at(span(access.span), "an instance of no predicate"),
        }
    }

    /// Makes the claim that the held permissions suffice for a share of an instance.
    fn fold_fits(
        &mut self,
        predicate: PredicateId,
        receiver: Term,
        share: Term,
        body: &Expr,
    ) -> Result<Term, Stop> {
        let heap = self.here.heap.clone();
        self.in_body(predicate, &[receiver], share, |chalice| {
            chalice.claims(body, &mut |chalice, access, places| {
                if access.amount.kind == PermissionKind::Star {
                    return Ok(Terms::TRUE);
                }
                let blame = Blame::new(ErrorId::FoldFailed, span(access.span)).silent();
                // SOUNDNESS: the amount is shown not to be negative where it is given away. This is
                // not assumed before.
                let amount = chalice.amount_of(&access.amount, blame)?;
                let amount = chalice.times_scale(amount)?;
                let mut all = Vec::new();
                for (resource, arguments) in places {
                    let held = chalice.held_in(&heap, *resource, arguments);
                    all.push(chalice.terms.le(amount, held));
                }
                Ok(chalice.terms.and(all))
            })
        })
    }
}

impl Threads<'_, '_> {
    /// Shows that no counting permission is divided where an instance is made or opened.
    ///
    /// SOUNDNESS: a share of a counting permission is none, and would let others read.
    fn divides_nothing_counted(&mut self, access: &Access) -> Result<(), Stop> {
        if !self.direct.tree.divides_counted(access) {
            return Ok(());
        }
        let words = "a share of a predicate with counting permissions cannot be taken";
        let blame = Blame::new(ErrorId::NotSupported, span(access.span)).saying(words);
        self.prove(Terms::FALSE, blame, Reason::EpsilonScaling, span(access.span))
    }
}
