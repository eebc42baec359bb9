//! Rules that are the same in every language: produce(σ, s, A) and consume(σ, A) (Schwerhoff 2011,
//! sections 3.6 and 3.7), and opening and closing instances of predicates (section 3.10).
//!
//! A [`Language`] takes its assertions apart and gives their parts a meaning.
//!
//! Expressions are evaluated in σ's own heap, as it was when a consume started. Permissions are
//! taken from `Here::consuming`, the h that consume' threads through.
//!
//! Invariants
//! - On success the rest plus the taken permission is the incoming heap, as permission sums.
//! - The snapshot of a consume has the shape that `produce` expects for the same assertion.

use std::ops::DerefMut;
use std::rc::Rc;

use sil::program::PredicateId;
use sil::source::Span;
use smt::terms::{Term, Terms, grow_stack};

use crate::findings::blame::{Blame, unsupported_at};
use crate::rules::assertion::{Assertions, Form, conjuncts};
use crate::rules::shape::assembled;
use crate::state::Frame;
use crate::state::heap::{Chunk, Resource};
use crate::{Engine, Explore, Reading, Stop, View};

/// The evaluated form of an access.
pub struct Accessed {
    pub places: Vec<(Resource, Vec<Term>)>,
    /// The amount of each place.
    pub amount: Term,
    pub at: Span,
}

/// The rules of a language that the rules here need.
pub trait Language<'p>: Assertions<Expr: 'p> + View<'p> + DerefMut<Target = Engine<'p>> {
    type Access<'e>: Copy;
    type Own<'e>;

    /// Tells whether costs of a consume are counted by clause.
    const NAMES_CLAUSES: bool;

    fn form(assertion: &Self::Expr) -> Form<'_, Self::Expr, Self::Access<'_>, Self::Own<'_>>;

    fn eval(&mut self, expr: &Self::Expr, blame: Blame) -> Result<Term, Stop>;

    /// Returns the locations of an access, and the amount of each.
    fn accessed(
        &mut self,
        assertion: &Self::Expr,
        access: Self::Access<'_>,
        blame: Blame,
    ) -> Result<Accessed, Stop>;

    fn produce_pure(&mut self, assertion: &Self::Expr, blame: Blame) -> Result<(), Stop>;

    /// Shows an assertion without permission.
    fn consume_pure(&mut self, assertion: &Self::Expr, blame: Blame) -> Result<(), Stop>;

    fn produce_own(
        &mut self,
        assertion: &Self::Expr,
        own: Self::Own<'_>,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop>;

    fn consume_own(
        &mut self,
        assertion: &Self::Expr,
        own: Self::Own<'_>,
        blame: Blame,
    ) -> Result<Term, Stop>;

    /// Learns the consequences of an access that has been produced.
    fn gained(&mut self, _: Self::Access<'_>, _: &Accessed) -> Result<(), Stop> {
        Ok(())
    }

    /// Tells whether trusted clauses are read in the heap around them, too.
    fn frames_itself(&self) -> bool {
        false
    }

    /// Returns a snapshot of clauses that another rule will take apart.
    fn checked_snapshot(&mut self, _: &[(&Self::Expr, &Self::Expr)], snapshot: Term) -> Term {
        snapshot
    }

    /// Returns the body of a predicate, if it has one.
    fn body(&self, predicate: PredicateId) -> Option<&'p Self::Expr>;

    /// Makes the frame of a body, where the formals have their values and amounts are scaled.
    fn body_frame(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
    ) -> Result<Frame<'p>, Stop>;

    /// Returns the blame for the body of a predicate, of which this amount of an instance is used.
    fn body_blame(&mut self, predicate: PredicateId, amount: Term, blame: Blame) -> Blame;

    /// Produces the conjuncts of all clauses, left to right; `blame` gives each clause its error.
    /// `snapshot` is s, the source of the values of the locations. With `None`, each location gets
    /// a fresh value of its own.
    fn produce_all<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Self::Expr>,
        snapshot: Option<Term>,
        blame: impl Fn(&Self::Expr) -> Blame,
    ) -> Result<(), Stop>
    where
        Self::Expr: 'e,
    {
        let conjuncts = conjuncts::<Self>(clauses);
        let is_trusted = || conjuncts.iter().all(|(clause, _)| blame(clause).is_trusted());
        if !self.frames_itself() || self.frame.without_own.is_some() || !is_trusted() {
            return self.produce_conjuncts(&conjuncts, snapshot, blame);
        }
        self.frame.without_own = Some(self.here.heap.clone());
        let result = self.produce_conjuncts(&conjuncts, snapshot, blame);
        self.frame.without_own = None;
        result
    }

    fn produce_conjuncts(
        &mut self,
        conjuncts: &[(&Self::Expr, &Self::Expr)],
        snapshot: Option<Term>,
        blame: impl Fn(&Self::Expr) -> Blame,
    ) -> Result<(), Stop> {
        let parts = conjuncts.iter().filter(|(_, conjunct)| Self::has_part(conjunct)).count();
        let mut rest = self.rest(snapshot, parts)?;
        for (clause, conjunct) in conjuncts {
            let own = if Self::has_part(conjunct) { self.next_part(&mut rest)? } else { None };
            let blame = blame(clause);
            self.with_own_wildcards(|view| {
                grow_stack(|| view.produce_conjunct(conjunct, own, blame))
            })?;
        }
        Ok(())
    }

    fn produce_conjunct(
        &mut self,
        assertion: &Self::Expr,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        match Self::form(assertion) {
            Form::Pure => {
                self.assume_unit(snapshot)?;
                self.produce_pure(assertion, blame)
            }
            Form::All(_) => self.produce_all([assertion], snapshot, |_| blame),
            Form::If { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                self.either(condition, |view, holds| {
                    match if holds { Some(then) } else { otherwise } {
                        Some(side) => view.produce_all([side], snapshot, |_| blame)?,
                        None => view.assume_unit(snapshot)?,
                    }
                    Ok(Terms::TRUE)
                })?;
                Ok(())
            }
            Form::Let { variable, value, body } => {
                let value = self.eval(value, blame)?;
                self.frame.store.set(variable, value);
                self.produce_all([body], snapshot, |_| blame)
            }
            Form::Access(access) => {
                let accessed = self.accessed(assertion, access, blame)?;
                let mut rest = self.rest(snapshot, accessed.places.len())?;
                for (resource, arguments) in &accessed.places {
                    let own = self.next_part(&mut rest)?;
                    self.produce_location(*resource, arguments.clone(), accessed.amount, own)?;
                }
                self.gained(access, &accessed)
            }
            Form::Own(own) => self.produce_own(assertion, own, snapshot, blame),
        }
    }

    /// Consumes the conjuncts of all clauses, left to right, and leaves the rest in σ's heap.
    /// Returns the snapshot of the taken permission.
    fn consume_all<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Self::Expr>,
        blame: impl Fn(&Self::Expr) -> Blame,
    ) -> Result<Term, Stop>
    where
        Self::Expr: 'e,
    {
        let (snapshot, left) = self.consuming_heap(|view| view.consume_parts(clauses, blame));
        self.here.heap = left;
        snapshot
    }

    /// Consumes like [`Language::consume_all`], from the heap that is being consumed already.
    fn consume_parts<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Self::Expr>,
        blame: impl Fn(&Self::Expr) -> Blame,
    ) -> Result<Term, Stop>
    where
        Self::Expr: 'e,
    {
        let conjuncts = conjuncts::<Self>(clauses);
        let consume = |view: &mut Self| view.consume_conjuncts(&conjuncts, blame);
        let snapshot =
            self.exchanging(|core| &mut core.frame.assertion.reading, Reading::Exhale, consume).0?;
        let is_kept = self.frame.assertion.keeps_snapshots;
        Ok(if is_kept { self.checked_snapshot(&conjuncts, snapshot) } else { snapshot })
    }

    fn consume_conjuncts(
        &mut self,
        conjuncts: &[(&Self::Expr, &Self::Expr)],
        blame: impl Fn(&Self::Expr) -> Blame,
    ) -> Result<Term, Stop> {
        let mut parts = Vec::with_capacity(conjuncts.len());
        for (clause, conjunct) in conjuncts {
            let blame = blame(clause);
            if Self::NAMES_CLAUSES && !blame.is_of_application() {
                self.log.enter_part(blame.span);
            }
            let part = self
                .with_own_wildcards(|view| grow_stack(|| view.consume_conjunct(conjunct, blame)))?;
            if Self::has_part(conjunct) {
                parts.push(part);
            }
        }
        Ok(assembled(&mut self.terms, parts))
    }

    /// Consumes an assertion while another one is being consumed.
    fn consume_side(&mut self, side: &Self::Expr, blame: Blame) -> Result<Term, Stop> {
        self.consume_conjuncts(&conjuncts::<Self>([side]), |_| blame)
    }

    fn consume_conjunct(&mut self, assertion: &Self::Expr, blame: Blame) -> Result<Term, Stop> {
        match Self::form(assertion) {
            Form::Pure => {
                if !blame.is_silent() {
                    self.consume_pure(assertion, blame)?;
                }
                Ok(self.terms.unit())
            }
            Form::All(_) => self.consume_side(assertion, blame),
            Form::If { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                self.either(condition, |view, holds| {
                    match if holds { Some(then) } else { otherwise } {
                        Some(side) => view.consume_side(side, blame),
                        None => Ok(view.terms.unit()),
                    }
                })
            }
            Form::Let { variable, value, body } => {
                let value = self.eval(value, blame)?;
                self.frame.store.set(variable, value);
                self.consume_side(body, blame)
            }
            Form::Access(access) => {
                let Accessed { places, amount, at } = self.accessed(assertion, access, blame)?;
                let mut parts = Vec::with_capacity(places.len());
                for (resource, arguments) in places {
                    parts.push(self.consume_location(resource, arguments, amount, at, blame)?);
                }
                Ok(assembled(&mut self.terms, parts))
            }
            Form::Own(own) => self.consume_own(assertion, own, blame),
        }
    }

    /// Runs in the body of an instance.
    fn in_body<T>(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut frame = self.body_frame(predicate, arguments, amount)?;
        Rc::make_mut(&mut frame.assertion.bodies).push(predicate);
        self.in_frame(frame, run).0
    }

    /// Closes an instance with a known amount: gives its body away, and adds the instance.
    fn close(
        &mut self,
        predicate: PredicateId,
        arguments: Vec<Term>,
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let Some(body) = self.body(predicate) else {
            return unsupported_at(at, "`fold` of an abstract predicate");
        };
        let blame = self.body_blame(predicate, amount, blame);
        self.remember_heap();
        let before = self.here.heap.clone();
        let snapshot = self.in_body(predicate, &arguments, amount, |view| {
            view.frame.assertion.keeps_snapshots = true;
            view.consume_all([body], |_| blame)
        })?;
        self.note_enclosed(&before)?;
        self.note_instance(predicate, &arguments, snapshot, amount)?;
        self.assume_trigger(predicate, &arguments, snapshot)?;
        self.add_chunk(Resource::Predicate(predicate), Chunk { arguments, value: snapshot, amount })
    }

    /// Opens an instance with a known amount: takes the instance, and produces its body.
    fn open(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let Some(snapshot) = self.take_instance(predicate, arguments, amount, at, blame)? else {
            return Ok(());
        };
        self.note_instance(predicate, arguments, snapshot, amount)?;
        let Some(body) = self.body(predicate) else {
            return unsupported_at(at, "`unfold` of an abstract predicate");
        };
        let before = self.here.heap.clone();
        let blame = self.body_blame(predicate, amount, blame);
        self.in_body(predicate, arguments, amount, |view| {
            // SOUNDNESS: the amount is fixed by now. A use of the body's own permissions must not
            // constrain it further (trap T9a), since it would have to be smaller than itself.
            view.frame.assertion.constrainable = Rc::default();
            view.produce_all([body], Some(snapshot), |_| blame)
        })?;
        self.note_opened(&before, predicate, arguments, snapshot)?;
        self.compare_with_younger(&before)?;
        self.assume_trigger(predicate, arguments, snapshot)
    }
}
