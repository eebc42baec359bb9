//! States that are kept, and what assertions say of them: `eval(o.acquire, ..)`, `eval(o.release,
//! ..)`, `eval(tk.fork o.m(..), ..)`.
//!
//! A state is kept as the heap that was there. What a contract tells of a state that the method has
//! not seen makes a heap with as much in it as was told.
//!
//! SOUNDNESS
//! - Whoever tells of a state has shown it of a state of that thread. Permissions told of it are
//!   what was held at least, of each location by itself: they are never added up, and nothing
//!   follows from their sums ([`Heap::inexact`]).
//! - A state is that of an object: where names may stand for one object or two, both cases are
//!   looked at.
//! - What calls and loops may have acquired or left is not known any more afterwards.

use chalice::program::walk::each_stmt;
use chalice::program::{Access, Block, EvalState, Expr, ExprKind, PermissionKind, StmtKind};
use smt::terms::{Sort, Term, Terms};

use crate::{Chalice, Direct, Threads, span};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::run::explore::Answer;
use symex::state::heap::{Chunk, Heap, Resource};
use symex::state::thread::{Kept, Memory, Moments};
use symex::{Explore, Stop, View};

/// The kind of event at which a state was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    Acquired,
    Left,
    Forked,
}

/// A state that may be meant, after the condition under which it is.
type Candidate = (Term, Kept);

impl Threads<'_, '_> {
    /// Returns the present state, as one of those that are kept.
    fn present(&self, of: Term, level: Option<Term>) -> Kept {
        Kept { of, heap: self.here.heap.clone(), is_own: true, level }
    }

    /// Makes a state of which nothing is known.
    fn unknown_moment(&mut self, of: Term) -> Kept {
        let sort = self.level_sort();
        let level = self.fresh("level", sort);
        let heap = Heap::inexact();
        Kept { of, heap, is_own: false, level: Some(level) }
    }

    /// Notes that an object has been acquired in the present state.
    pub(crate) fn note_acquired(&mut self, object: Term) {
        let kept = self.present(object, None);
        self.frame.thread.memory.acquired.push(kept);
    }

    /// Notes that an object is left in the present state, with a level.
    pub(crate) fn note_left(&mut self, object: Term, level: Term) {
        let kept = self.present(object, Some(level));
        self.frame.thread.memory.left.push(kept);
    }

    /// Forgets the states that others may have replaced: a call, or the rounds of a loop. They may
    /// have acquired or released the objects in `listed`.
    pub(crate) fn forget_moments(&mut self, may_unlock: bool, listed: &[Term]) {
        if may_unlock {
            let memory = &mut self.frame.thread.memory;
            memory.acquired.clear();
            memory.outdated = memory.left.all().len();
        }
        for &object in listed {
            let kept = self.unknown_moment(object);
            self.frame.thread.memory.acquired.push(kept);
        }
    }

    /// Forgets all states, where nothing is known of what happened before.
    pub(crate) fn forget_all_moments(&mut self) {
        self.frame.thread.memory = Memory::default();
    }

    /// Returns the states that may be the one meant, the last one first. Each is the one meant if
    /// its condition holds and no condition before it does.
    fn candidates(&mut self, moment: Moment, of: Term) -> Result<Vec<Candidate>, Stop> {
        let mut found = Vec::new();
        if moment == Moment::Forked
            && let Some(heap) = self.heap_of_fork(of)?
        {
            return Ok(vec![(Terms::TRUE, Kept { of, heap, is_own: true, level: None })]);
        }
        let (states, first) = states(&mut self.frame.thread.memory, moment);
        let states = states.clone();
        for kept in states.all()[first..].iter().rev() {
            let is_it = self.terms.identical(kept.of, of);
            if self.check(is_it)? {
                found.push((Terms::TRUE, kept.clone()));
                return Ok(found);
            }
            let is_not = self.terms.not(is_it);
            if !self.check(is_not)? {
                found.push((is_it, kept.clone()));
            }
        }
        let unknown = self.unknown_moment(of);
        found.push((Terms::TRUE, unknown));
        Ok(found)
    }

    /// Decides which of the candidates is meant on this path.
    fn decide_moment(&mut self, candidates: Vec<Candidate>) -> Result<Kept, Stop> {
        for (is_it, kept) in candidates {
            if self.branch(is_it)? {
                return Ok(kept);
            }
        }
        Err(Stop::Infeasible)
    }

    /// Tells whether so much of a location was held in the state of the question.
    fn was_held(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        amount: Term,
        adds_up: bool,
    ) -> Result<bool, Stop> {
        let claim = self.holding(resource, arguments, Some(amount), adds_up);
        self.check(claim)
    }

    /// Makes the claim that so much of a location is held. Without an amount, the claim is that
    /// some is held.
    fn holding(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        amount: Option<Term>,
        adds_up: bool,
    ) -> Term {
        let heap = self.here.heap.clone();
        if adds_up {
            let held = self.held_in(&heap, resource, arguments);
            return match amount {
                Some(amount) => self.terms.le(amount, held),
                None => self.terms.lt(Terms::NONE, held),
            };
        }
        let mut any = Vec::new();
        for chunk in heap.of(resource) {
            let mut all: Vec<Term> = chunk
                .arguments
                .iter()
                .zip(arguments)
                .map(|(&one, &other)| self.terms.identical(one, other))
                .collect();
            all.push(match amount {
                Some(amount) => self.terms.le(amount, chunk.amount),
                None => self.terms.lt(Terms::NONE, chunk.amount),
            });
            any.push(self.terms.and(all));
        }
        self.terms.or(any)
    }

    /// Returns the heap in which an object was acquired, as far as the heap is known.
    pub(crate) fn heap_of_acquire(&mut self, object: Term) -> Result<Heap, Stop> {
        let candidates = self.candidates(Moment::Acquired, object)?;
        Ok(self.decide_moment(candidates)?.heap)
    }
}

/// Returns the states of a kind, and the position of the first that is still known.
fn states(memory: &mut Memory, moment: Moment) -> (&mut Moments, usize) {
    match moment {
        Moment::Acquired => (&mut memory.acquired, 0),
        Moment::Left => (&mut memory.left, memory.outdated),
        Moment::Forked => (&mut memory.forked, 0),
    }
}

/// Keeps a state as that of its object, in place of the state known so far.
fn keep(memory: &mut Memory, moment: Moment, kept: Kept) {
    let (states, first) = states(memory, moment);
    let known = states.all()[first..].iter().rposition(|other| other.of == kept.of);
    match known {
        Some(position) => states.set(first + position, kept),
        None => states.push(kept),
    }
}

impl Chalice<'_, '_> {
    /// Returns the level that an object had when it was last left.
    pub(crate) fn level_left(&mut self, object: Term) -> Result<Term, Stop> {
        let candidates = self.threads.candidates(Moment::Left, object)?;
        let sort = self.threads.level_sort();
        self.in_candidates(&candidates, &mut |chalice, kept| {
            Ok(kept.level.unwrap_or_else(|| chalice.fresh("level", sort)))
        })
    }

    /// Returns the kind of state that is meant, and its object or token.
    fn moment(&mut self, state: &EvalState, blame: Blame) -> Result<(Moment, Term), Stop> {
        let (moment, of) = match state {
            EvalState::Acquire(object) => (Moment::Acquired, object),
            EvalState::Release(object) => (Moment::Left, object),
            EvalState::Fork { token, .. } => (Moment::Forked, token),
        };
        Ok((moment, self.eval(of, blame)?))
    }

    /// Evaluates `eval(state, body)` where the body says nothing of permission. Of a fork the value
    /// says, too, that the thread was started so.
    pub(crate) fn eval_state(
        &mut self,
        whole: &Expr,
        state: &EvalState,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let claim = match state {
            EvalState::Fork { .. } => self.claims_fork(whole, state, blame)?,
            EvalState::Acquire(_) | EvalState::Release(_) => Terms::TRUE,
        };
        if matches!(body.kind, ExprKind::Bool(true)) {
            return Ok(claim);
        }
        let value = self.under(claim, |chalice| {
            let (moment, of) = chalice.moment(state, blame)?;
            let candidates = chalice.threads.candidates(moment, of)?;
            chalice.in_candidates(&candidates, &mut |chalice, kept| {
                chalice.value_then(kept, body, blame)
            })
        })?;
        match (claim, value) {
            (Terms::TRUE, Some(value)) => Ok(value),
            (claim, Some(value)) => Ok(self.terms.and([claim, value])),
            (_, None) => Ok(Terms::FALSE),
        }
    }

    /// Evaluates an expression in a kept state. A location that was not held there ends no path,
    /// because nothing that follows depends on its value.
    fn value_then(&mut self, kept: &Kept, body: &Expr, blame: Blame) -> Result<Term, Stop> {
        let mut eval = |chalice: &mut Self| chalice.eval(body, blame);
        self.in_heap(kept.heap.clone(), |chalice| chalice.join(&mut eval))
    }

    /// Evaluates an expression in the told state before a fork, for the values of `old` there.
    pub(crate) fn told_of_fork(&mut self, token: Term, body: &Expr) -> Result<Option<Term>, Stop> {
        let candidates = self.threads.candidates(Moment::Forked, token)?;
        let Some((Terms::TRUE, kept)) = candidates.first() else { return Ok(None) };
        let blame = Blame::new(ErrorId::JoinFailed, span(body.span)).silent();
        self.value_then(kept, body, blame).map(Some)
    }

    /// Learns a contract's statement about a state.
    pub(crate) fn learn_of_state(
        &mut self,
        whole: &Expr,
        state: &EvalState,
        body: &Expr,
        blame: Blame,
    ) -> Result<(), Stop> {
        if let EvalState::Fork { .. } = state {
            let claim = self.claims_fork(whole, state, blame)?;
            self.assume(claim)?;
        }
        let (moment, of) = self.moment(state, blame)?;
        let candidates = self.threads.candidates(moment, of)?;
        let mut kept = match candidates.into_iter().next() {
            Some((Terms::TRUE, kept)) => kept,
            _ => self.threads.unknown_moment(of),
        };
        let outer = std::mem::replace(&mut self.here.heap, kept.heap.clone());
        let learnt = self.each_part(body, Expr::is_impure, blame, &mut |chalice, part| {
            chalice.learn_then(part, kept.is_own, blame)
        });
        kept.heap = std::mem::replace(&mut self.here.heap, outer);
        learnt?;
        if !kept.is_own {
            keep(&mut self.frame.thread.memory, moment, kept);
        }
        Ok(())
    }

    /// Learns one part of a statement about a state.
    fn learn_then(&mut self, assertion: &Expr, is_own: bool, blame: Blame) -> Result<(), Stop> {
        match &assertion.kind {
            ExprKind::Access(access) => {
                let amount = self.told(access, blame)?;
                for (resource, arguments) in self.locations(access, blame)? {
                    if is_own || self.threads.was_held(resource, &arguments, amount, false)? {
                        continue;
                    }
                    let known = self.lookup(resource, &arguments, blame.silent())?;
                    let value = match known {
                        Some(value) => value,
                        None => {
                            let sort = self.resource_sort(resource);
                            let name = self.resource_name(resource);
                            self.fresh(&name, sort)
                        }
                    };
                    self.add_chunk(resource, Chunk { arguments, value, amount })?;
                }
                Ok(())
            }
            _ => {
                let fact = self.eval(assertion, blame)?;
                self.assume(fact)
            }
        }
    }

    /// Returns the amount that was held at least where an access is told; with `rd`, some positive
    /// amount.
    fn told(&mut self, access: &Access, blame: Blame) -> Result<Term, Stop> {
        match access.amount.kind {
            PermissionKind::AbstractRead | PermissionKind::Star => {
                let some = self.fresh("told", Sort::PERM);
                let positive = self.terms.lt(Terms::NONE, some);
                self.assume(positive)?;
                Ok(some)
            }
            _ => self.amount(&access.amount, blame),
        }
    }

    /// Shows a contract's statement about a state.
    pub(crate) fn show_of_state(
        &mut self,
        whole: &Expr,
        state: &EvalState,
        body: &Expr,
        blame: Blame,
    ) -> Result<(), Stop> {
        if let EvalState::Fork { .. } = state {
            let claim = self.claims_fork(whole, state, blame)?;
            self.prove(claim, blame, Reason::AssertionFalse, span(whole.span))?;
        }
        let (moment, of) = self.moment(state, blame)?;
        let candidates = self.threads.candidates(moment, of)?;
        let kept = self.threads.decide_moment(candidates)?;
        let outer = std::mem::replace(&mut self.here.heap, kept.heap.clone());
        // SOUNDNESS: a heap to consume from is set, so that amounts are shown not to be negative.
        let consuming = self.here.consuming.replace(kept.heap);
        let shown = self.each_part(body, Expr::is_impure, blame, &mut |chalice, part| {
            chalice.show_then(part, kept.is_own, blame)
        });
        self.here.consuming = consuming;
        self.here.heap = outer;
        shown
    }

    /// Shows one part of a statement about a state.
    fn show_then(&mut self, assertion: &Expr, adds_up: bool, blame: Blame) -> Result<(), Stop> {
        match &assertion.kind {
            ExprKind::Access(access) => {
                let at = span(access.span);
                let is_some = matches!(
                    access.amount.kind,
                    PermissionKind::AbstractRead | PermissionKind::Star
                );
                let amount = if is_some { None } else { Some(self.amount(&access.amount, blame)?) };
                for (resource, arguments) in self.locations(access, blame)? {
                    let claim = self.threads.holding(resource, &arguments, amount, adds_up);
                    if self.ask_obligation(claim)? != Answer::Yes {
                        let heap = self.here.heap.clone();
                        let reported = self.report_permission(blame, at)?;
                        self.tell_shortfall(reported, &heap, resource, &arguments, amount);
                    }
                }
                Ok(())
            }
            _ => {
                let claim = self.join(|chalice| chalice.eval(assertion, blame))?;
                self.prove(claim, blame, Reason::AssertionFalse, span(assertion.span))
            }
        }
    }

    /// Evaluates in the state that is meant, whichever of the candidates it is.
    fn in_candidates(
        &mut self,
        candidates: &[Candidate],
        value: &mut dyn FnMut(&mut Self, &Kept) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        let Some(((is_it, kept), rest)) = candidates.split_first() else {
            return Err(Stop::Infeasible);
        };
        let is_not = self.terms.not(*is_it);
        let own = self.under(*is_it, |chalice| value(chalice, kept))?;
        if rest.is_empty() {
            return own.ok_or(Stop::Infeasible);
        }
        let other = self.under(is_not, |chalice| chalice.in_candidates(rest, value))?;
        match (own, other) {
            (Some(own), Some(other)) => Ok(self.terms.ite(*is_it, own, other)),
            (Some(only), None) | (None, Some(only)) => Ok(only),
            (None, None) => Err(Stop::Infeasible),
        }
    }
}

impl Direct {
    /// Tells whether statements may leave or share an object.
    pub(crate) fn may_unlock(&self, block: &Block) -> bool {
        let mut may = false;
        each_stmt(block, &mut |stmt| {
            may |= match &stmt.kind {
                StmtKind::Release { .. }
                | StmtKind::Lock { .. }
                | StmtKind::Downgrade(_)
                | StmtKind::Unshare(_)
                | StmtKind::Share { .. } => true,
                StmtKind::Call { method, .. } => self.locking.method(*method).may_unlock,
                _ => false,
            };
        });
        may
    }
}
