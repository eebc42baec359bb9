//! Instances of predicates: fold, unfold, unfolding (Schwerhoff 2011, section 3.10), and shares of
//! them.

use std::rc::Rc;

use chalice::program::{Access, AccessTarget, Expr, ExprKind, PermissionKind};
use sil::program::PredicateId;
use sil::source::Span;
use smt::terms::{Term, Terms};

use super::{renumbered, span};
use crate::engine::findings::blame::{Blame, ErrorId, Reason};
use crate::engine::state::Frame;
use crate::engine::state::heap::{Chunk, Resource};
use crate::engine::{Engine, Stop};

/// An expression opens an instance inside of instances of the same predicate so often; behind that,
/// nothing is said.
const DEPTH: usize = 2;

impl Engine<'_> {
    /// The body is given away, and an instance is there.
    pub(super) fn direct_fold(&mut self, access: &Access, blame: Blame) -> Result<(), Stop> {
        let (predicate, receiver) = self.direct_instance(access, blame)?;
        let AccessTarget::Predicate { receiver: written, .. } = &access.target else {
            return self.unsupported_at(span(access.span), "an instance of no predicate");
        };
        let exists = self.terms.differs(receiver, Terms::NULL);
        self.prove(exists, blame, Reason::ReceiverNull, span(written.span))?;
        let direct = self.direct();
        let body = &direct.tree.predicates[renumbered(predicate)].body;
        let accesses = {
            let mut count = 0;
            body.for_each(&mut |part| count += i64::from(matches!(part.kind, ExprKind::Access(_))));
            count
        };
        let amount = self.direct_traded(
            access,
            blame,
            |engine, share| engine.direct_fold_fits(predicate, receiver, share, body),
            |engine, share| {
                engine.direct_in_body(predicate, receiver, Terms::WRITE, |engine| {
                    engine.direct_bound_by(share, accesses, body, |_| true)
                })
            },
        )?;
        self.remember_heap();
        let before = self.here.heap.clone();
        let snapshot = self.direct_in_body(predicate, receiver, amount, |engine| {
            engine.frame.assertion.keeps_snapshots = true;
            engine.direct_move_credits([body], true)?;
            engine.direct_consume_all([body], |_| blame.trusted())
        })?;
        self.note_enclosed(&before)?;
        self.note_instance(predicate, &[receiver], snapshot, amount)?;
        self.assume_trigger(predicate, &[receiver], snapshot)?;
        let chunk = Chunk { arguments: vec![receiver], value: snapshot, amount };
        self.add_chunk(Resource::Predicate(predicate), chunk)
    }

    /// An instance is given away, and its body is there.
    pub(super) fn direct_unfold(&mut self, access: &Access, blame: Blame) -> Result<(), Stop> {
        let (predicate, receiver) = self.direct_instance(access, blame)?;
        let resource = Resource::Predicate(predicate);
        let heap = self.here.heap.clone();
        let held = self.held_in(&heap, resource, &[receiver]);
        let amount = self.direct_traded(
            access,
            blame,
            |engine, share| Ok(engine.terms.le(share, held)),
            |engine, share| {
                let some = engine.terms.lt(Terms::NONE, held);
                let less = engine.terms.lt(share, held);
                let fact = engine.terms.implies(some, less);
                engine.assume(fact)
            },
        )?;
        self.direct_open(predicate, &[receiver], amount, span(access.span), blame)?;
        let body = &self.direct().tree.predicates[renumbered(predicate)].body;
        self.direct_in_body(predicate, receiver, amount, |engine| {
            engine.direct_move_credits([body], false)
        })
    }

    /// The value of an expression where an instance is open.
    pub(super) fn direct_unfolding(
        &mut self,
        access: &Access,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (predicate, receiver) = self.direct_instance(access, blame)?;
        let around = self.frame.assertion.bodies.iter().filter(|&&outer| outer == predicate);
        if around.count() >= DEPTH {
            let sort = self.direct_sort(&body.ty);
            return Ok(self.fresh("beyond", sort));
        }
        self.join(|engine| {
            engine.here.consuming = None;
            engine.frame.result_of = None;
            // Any amount will do where the source does not give a number.
            let is_open =
                matches!(access.amount.kind, PermissionKind::AbstractRead | PermissionKind::Star);
            let amount = if is_open {
                engine.wildcard()?
            } else {
                engine.direct_positive(&access.amount, blame)?
            };
            let amount = engine.direct_times_scale(amount)?;
            engine.direct_open(predicate, &[receiver], amount, span(access.span), blame)?;
            // SOUNDNESS: inside, portions are as large as the amount, which must not become smaller
            // any more (trap T9a).
            engine.frame.assertion.constrainable = Rc::default();
            engine.direct_eval(body, blame)
        })
    }

    pub(super) fn direct_instance(
        &mut self,
        access: &Access,
        blame: Blame,
    ) -> Result<(PredicateId, Term), Stop> {
        match &access.target {
            AccessTarget::Predicate { receiver, predicate } => {
                Ok((renumbered(*predicate), self.direct_eval(receiver, blame)?))
            }
            _ => self.unsupported_at(span(access.span), "an instance of no predicate"),
        }
    }

    /// Takes an instance and produces its body.
    pub(super) fn direct_open(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let Some(&receiver) = arguments.first() else { return Ok(()) };
        let Some(snapshot) = self.take_instance(predicate, arguments, amount, at, blame)? else {
            return Ok(());
        };
        self.note_instance(predicate, arguments, snapshot, amount)?;
        self.assume_trigger(predicate, arguments, snapshot)?;
        let body = &self.direct().tree.predicates[renumbered(predicate)].body;
        let before = self.here.heap.clone();
        self.direct_in_body(predicate, receiver, amount, |engine| {
            // SOUNDNESS: the amount is fixed by now (trap T9a).
            engine.frame.assertion.constrainable = Rc::default();
            engine.direct_produce_all([body], Some(snapshot), |_| blame.trusted())
        })?;
        self.note_opened(&before, predicate, arguments, snapshot)
    }

    /// Runs where `this` is the object of an instance and amounts are shares of it.
    fn direct_in_body<T>(
        &mut self,
        predicate: PredicateId,
        receiver: Term,
        amount: Term,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let direct = self.direct();
        let common = self.direct_common()?;
        let mut frame = Frame { store: self.direct_store(), ..self.frame.clone() };
        Rc::make_mut(&mut frame.assertion.bodies).push(predicate);
        frame.store.set(direct.this, receiver);
        frame.store.set(direct.fraction, common);
        if self.direct_whole().is_none() {
            frame.assertion.scale = (amount != Terms::WRITE).then_some(amount);
        }
        self.in_frame(frame, run).0
    }

    /// Shows that a share of an instance can be made of the held permissions.
    fn direct_fold_fits(
        &mut self,
        predicate: PredicateId,
        receiver: Term,
        share: Term,
        body: &Expr,
    ) -> Result<Term, Stop> {
        let heap = self.here.heap.clone();
        self.direct_in_body(predicate, receiver, share, |engine| {
            engine.direct_claims(body, &mut |engine, access| {
                if access.amount.kind == PermissionKind::Star {
                    return Ok(Terms::TRUE);
                }
                let blame = Blame::new(ErrorId::FoldFailed, span(access.span)).silent();
                // SOUNDNESS: that the amount is not negative is shown where it is given away, and
                // not assumed before.
                let amount = engine.direct_amount_of(&access.amount, blame)?;
                let amount = engine.direct_times_scale(amount)?;
                let mut all = Vec::new();
                for (resource, arguments) in engine.direct_locations(access, blame)? {
                    let held = engine.held_in(&heap, resource, &arguments);
                    all.push(engine.terms.le(amount, held));
                }
                Ok(engine.terms.and(all))
            })
        })
    }
}
