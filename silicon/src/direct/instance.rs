//! Instances of predicates: fold, unfold, unfolding (Schwerhoff 2011, section 3.10), and shares of them.

use std::rc::Rc;

use chalice::program::{Access, AccessTarget, Expr};
use sil::program::PredicateId;
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use super::{renumbered, span};
use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::state::Store;
use crate::engine::state::heap::{Chunk, Resource};
use crate::engine::{Engine, Stop};

/// An expression opens an instance inside of instances of the same predicate so often; behind that, nothing is said.
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
        let amount = self.direct_amount(access)?;
        let body = &self.direct().tree.predicates[renumbered(predicate)].body;
        self.remember_heap();
        let snapshot = self.direct_in_body(predicate, receiver, amount, |engine| {
            engine.state.assertion.keeps_snapshots = true;
            engine.direct_consume_all([body], |_| blame.trusted())
        })?;
        self.assume_trigger(predicate, &[receiver], snapshot)?;
        let chunk = Chunk { arguments: vec![receiver], value: snapshot, amount };
        self.add_chunk(Resource::Predicate(predicate), chunk)
    }

    /// An instance is given away, and its body is there.
    pub(super) fn direct_unfold(&mut self, access: &Access, blame: Blame) -> Result<(), Stop> {
        let (predicate, receiver) = self.direct_instance(access, blame)?;
        let amount = self.direct_amount(access)?;
        self.direct_open(predicate, &[receiver], amount, span(access.span), blame)
    }

    /// The value of an expression where an instance is open.
    pub(super) fn direct_unfolding(
        &mut self,
        access: &Access,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (predicate, receiver) = self.direct_instance(access, blame)?;
        let amount = self.direct_amount(access)?;
        let amount = match self.state.assertion.scale {
            Some(scale) => self.terms.mul(scale, amount),
            None => amount,
        };
        let around = self.state.assertion.bodies.iter().filter(|&&outer| outer == predicate);
        if around.count() >= DEPTH {
            let sort = self.direct_sort(&body.ty);
            return Ok(self.fresh("beyond", sort));
        }
        self.join(|engine| {
            engine.state.consuming = None;
            engine.state.result_of = None;
            engine.direct_open(predicate, &[receiver], amount, span(access.span), blame)?;
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
    ///
    /// SOUNDNESS: where an expression is trusted and there is no instance all the same, nothing is produced.
    pub(super) fn direct_open(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let resource = Resource::Predicate(predicate);
        let snapshot = match self.take_location(resource, arguments, amount)? {
            Some(snapshot) => snapshot,
            None if blame.is_trusted() => return Ok(()),
            None => {
                let left = self.left();
                self.fail_permission(&left, resource, arguments, Some(amount), blame, at)?;
                self.drop_aliases(resource, arguments)?;
                self.fresh("missing", Sort::SNAP)
            }
        };
        let Some(&receiver) = arguments.first() else { return Ok(()) };
        self.gathered.unfolded.push((predicate, arguments.to_vec(), snapshot));
        self.assume_trigger(predicate, arguments, snapshot)?;
        let body = &self.direct().tree.predicates[renumbered(predicate)].body;
        self.direct_in_body(predicate, receiver, amount, |engine| {
            engine.direct_produce_all([body], Some(snapshot), |_| blame.trusted())
        })
    }

    /// Runs where `this` is the object of an instance and amounts are shares of it; what happens to the heap stays.
    fn direct_in_body<T>(
        &mut self,
        predicate: PredicateId,
        receiver: Term,
        amount: Term,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let direct = self.direct();
        let mut state = self.state.clone();
        Rc::make_mut(&mut state.assertion.bodies).push(predicate);
        state.store = Store::new(&direct.locals);
        state.store.set(direct.this, receiver);
        match self.state.store.get(direct.whole) {
            Some(whole) => state.store.set(direct.whole, whole),
            None => state.assertion.scale = (amount != Terms::WRITE).then_some(amount),
        }
        let (result, inner) = self.in_state(state, run);
        self.state.heap = inner.heap;
        self.state.consuming = inner.consuming;
        result
    }
}
