//! Giving and receiving what an assertion speaks of.
//!
//! One operation, seen from two sides: what one holder gives another receives, so nothing can be
//! received that was not given. As in the verifier's exhale, what an assertion says of values is
//! judged in the state before anything moves; then come the amounts that the giver may choose, then
//! exact ones, added up by location.

use std::collections::BTreeSet;

use chalice::Span;
use chalice_rt::flaw::Flaw;
use front::grow_stack;
use rustc_hash::FxHashMap;

use crate::amount::{Amount, Kappa, Sign};
use crate::code::{Access, Expr, Kind, LevelSide, Target};
use crate::fault::{Fault, Res, Trouble, reference_or_null};
use crate::heap::{Holder, Loc, Part};
use crate::machine::{COMMON, Evaluator, Folding, OldState, World};
use crate::value::{Ref, Value};

mod settle;

/// The treatment of an assertion's permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One gives it to another.
    Give,
    /// One takes it from where it was kept for it: what the assertion says was checked when it was
    /// given.
    Receive,
    /// The permission must be there, and stays.
    Check,
}

/// A transfer: its giver, its receiver, and the permissions that an assertion asks for.
#[derive(Debug, Clone)]
pub(crate) struct Transfer {
    /// The giver.
    pub(crate) from: Holder,
    /// The receiver.
    pub(crate) to: Holder,
    /// The treatment of the permissions.
    pub(crate) mode: Mode,
    /// The factor of amounts.
    pub(crate) scale: Option<Amount>,
    /// A read fraction that is chosen now, so that it fits.
    pub(crate) fresh: Option<Kappa>,
    /// Does each amount stand for the part of it that readers of a monitor get?
    pub(crate) for_readers: bool,
    /// Is it about another thread's locks, of which nothing is said to whom it is given?
    pub(crate) foreign: bool,
    /// Is it what others have left behind since the state that `old` means, in any number of steps?
    pub(crate) since_others: bool,
    demands: Vec<Demand>,
    credits: Vec<(Ref, i64)>,
    clause: Option<Span>,
    /// Instances of which the content is asked for just now, where folding is ignored.
    expanded: Vec<(Ref, u32)>,
}

/// Permission to one location that an assertion asks for.
type Demand = chalice_rt::settle::Demand<Loc, Span>;

/// The moved permissions and credits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moved {
    /// Permission.
    pub(crate) amounts: Vec<(Loc, Amount)>,
    /// Credits.
    pub(crate) credits: Vec<(Ref, i64)>,
}

impl Transfer {
    /// From one to another.
    pub(crate) fn give(from: Holder, to: Holder) -> Self {
        Self {
            from,
            to,
            mode: Mode::Give,
            scale: None,
            fresh: None,
            for_readers: false,
            foreign: false,
            since_others: false,
            demands: Vec::new(),
            credits: Vec::new(),
            clause: None,
            expanded: Vec::new(),
        }
    }

    /// From where it was kept.
    pub(crate) fn receive(from: Holder, to: Holder) -> Self {
        Self { mode: Mode::Receive, ..Self::give(from, to) }
    }

    /// Returns a transfer that asks for the permission and leaves it.
    pub(crate) fn check(from: Holder) -> Self {
        Self { mode: Mode::Check, ..Self::give(from, from) }
    }

    /// With a read fraction that is chosen now.
    #[must_use]
    pub(crate) fn inexact(mut self, fresh: Kappa) -> Self {
        self.fresh = Some(fresh);
        self
    }

    /// Returns the locations that it asks for, and how much of each.
    pub(crate) fn demanded(self) -> impl Iterator<Item = (Loc, Amount)> {
        self.demands.into_iter().map(|demand| (demand.loc, demand.amount))
    }

    /// Does it ask for permission or credits?
    pub(crate) fn asks(&self) -> bool {
        !self.demands.is_empty() || !self.credits.is_empty()
    }

    /// Returns how much it asks for so far, as a place to come back to.
    pub(crate) fn asked(&self) -> usize {
        self.demands.len()
    }

    /// Drops what was asked for since `from`, where it has been asked for before by the same words.
    pub(crate) fn ask_once(&mut self, from: usize, known: &mut FxHashMap<(Span, Loc), Amount>) {
        let mut at = from;
        while let Some(demand) = self.demands.get(at) {
            let key = (demand.span, demand.loc);
            if known.get(&key).is_some_and(|amount| demand.star || *amount == demand.amount) {
                self.demands.remove(at);
            } else {
                known.insert(key, demand.amount.clone());
                at += 1;
            }
        }
    }

    fn taken(&self, loc: Loc, before: usize) -> Amount {
        let same = self.demands[..before].iter().filter(|demand| demand.loc == loc);
        same.fold(Amount::NONE, |sum, demand| sum.plus(&demand.amount))
    }
}

impl Evaluator<'_> {
    /// Evaluates clauses, and moves what they ask for.
    pub(crate) fn move_all(
        &mut self,
        clauses: &[Expr],
        slots: &mut [Value],
        mut transfer: Transfer,
    ) -> Res<Moved> {
        self.collect_all(clauses, slots, &mut transfer)?;
        self.settle(transfer)
    }

    /// Moves what a postcondition or the invariants of a loop ask for. The debts that they name go
    /// with them.
    pub(crate) fn hand_over(
        &mut self,
        clauses: &[Expr],
        slots: &mut [Value],
        transfer: Transfer,
    ) -> Res<Moved> {
        self.scope.ignores_debts = true;
        let moved = self.move_all(clauses, slots, transfer);
        self.scope.ignores_debts = false;
        moved
    }

    /// Evaluates clauses, and notes what they ask for.
    pub(crate) fn collect_all(
        &mut self,
        clauses: &[Expr],
        slots: &mut [Value],
        transfer: &mut Transfer,
    ) -> Res<()> {
        if !self.config.checks {
            return Ok(());
        }
        for clause in clauses {
            transfer.clause = Some(clause.span);
            self.collect(clause, slots, transfer).map_err(|mut trouble| {
                if let Trouble::Fault(fault) = &mut *trouble {
                    fault.clause = fault.clause.or(Some(clause.span));
                }
                trouble
            })?;
        }
        transfer.clause = None;
        Ok(())
    }

    /// Evaluates an assertion, and notes what it asks for.
    pub(crate) fn collect(
        &mut self,
        e: &Expr,
        slots: &mut [Value],
        transfer: &mut Transfer,
    ) -> Res<()> {
        if e.is_pure && !matches!(e.kind, Kind::And(_)) {
            return self.claim(e, slots, transfer);
        }
        match &e.kind {
            Kind::And(parts) => {
                for part in parts {
                    grow_stack(|| self.collect(part, slots, transfer))?;
                }
                Ok(())
            }
            Kind::Implies(parts) => match self.known_truth(&parts.0, slots)? {
                Some(true) => grow_stack(|| self.collect(&parts.1, slots, transfer)),
                _ => Ok(()),
            },
            Kind::Conditional(parts) => match self.known_truth(&parts.0, slots)? {
                Some(true) => grow_stack(|| self.collect(&parts.1, slots, transfer)),
                Some(false) => grow_stack(|| self.collect(&parts.2, slots, transfer)),
                None => Ok(()),
            },
            Kind::Quantified(quantified) => {
                self.collect_quantified(quantified, e.span, slots, transfer)
            }
            Kind::Access(access) => self.demand(access, slots, transfer),
            Kind::Eval(_) => self.claim(e, slots, transfer),
            Kind::Credit { channel, amount } => {
                let channel = self.eval(channel, slots)?;
                let channel = reference_or_null(&channel, e.span, |channel| channel)?;
                let count = match amount {
                    // So many that their sums stay below what a machine counts.
                    Some(amount) => match self.eval(amount, slots)?.to_i64().map(i32::try_from) {
                        Some(Ok(count)) => i64::from(count),
                        _ => return Err(Box::new(Trouble::Bound("too many credits", e.span))),
                    },
                    None => 1,
                };
                transfer.credits.push((channel, count));
                Ok(())
            }
            // A disjunction of assertions about permission, for which nobody has a meaning.
            _ => {
                self.skip("assertion.unsupported", e.span);
                Ok(())
            }
        }
    }

    /// Returns the truth of a condition, unless it cannot be found out: then what depends on it is
    /// skipped.
    fn known_truth(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Option<bool>> {
        match self.truth(e, slots) {
            Ok(truth) => Ok(Some(truth)),
            Err(trouble) => match *trouble {
                Trouble::Unknown { what, span } => {
                    self.skip(what, span);
                    Ok(None)
                }
                other => Err(Box::new(other)),
            },
        }
    }

    /// Checks an assertion's claim about values.
    fn claim(&mut self, e: &Expr, slots: &mut [Value], transfer: &mut Transfer) -> Res<()> {
        self.counts.checks += 1;
        if transfer.foreign && self.speaks_of_locks(e) {
            return Ok(());
        }
        let truth = self.with_given(transfer, |machine| {
            machine.truth_in_any_order(&mut |machine| machine.known_truth(e, slots))
        });
        let truth = match truth {
            // A thread that has not seen the object before knows no earlier state to compare with.
            Err(trouble) if matches!(*trouble, Trouble::NoOldState(_)) => return Ok(()),
            other => other?,
        };
        if truth != Some(false) {
            return Ok(());
        }
        if self.granting {
            self.refuted = Some(e.span);
            return Err(Box::new(Trouble::Contradiction));
        }
        if transfer.since_others && e.any(&mut |part| matches!(part.kind, Kind::Old(_))) {
            return self.history_broken(e, slots);
        }
        if transfer.mode == Mode::Receive {
            let words = "what was given does not hold when it is received".to_owned();
            return Err(Box::new(Trouble::Inconsistent(words, e.span)));
        }
        let parts = self.with_given(transfer, |machine| machine.values_of_parts(e, slots));
        let fault = Fault::new(Flaw::False, e.span, &[]);
        Err(Fault { parts, ..fault }.into())
    }

    /// An invariant that compares two states held for each step that others have taken, and not for
    /// all of them: it says something that is not transitive. If it does not hold for no step at
    /// all, it is not reflexive.
    fn history_broken(&mut self, e: &Expr, slots: &mut [Value]) -> Res<()> {
        let old = std::mem::replace(&mut self.scope.old, OldState::Now);
        let holds_for_none = self.known_truth(e, slots);
        self.scope.old = old;
        let flaw = match holds_for_none? {
            Some(false) => Flaw::NotReflexive,
            _ => Flaw::NotTransitive,
        };
        Err(Fault::new(flaw, e.span, &[]).into())
    }

    /// Evaluates a part of an assertion: what was given before it in the same assertion is gone
    /// already.
    fn with_given<T>(
        &mut self,
        transfer: &mut Transfer,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if transfer.mode != Mode::Give || transfer.credits.is_empty() {
            return evaluate(self);
        }
        let given = (transfer.from, std::mem::take(&mut transfer.credits));
        let outer = std::mem::replace(&mut self.given, given);
        let result = evaluate(self);
        transfer.credits = std::mem::replace(&mut self.given, outer).1;
        result
    }

    /// Checks that the holder of the scope has what an access asks for.
    pub(crate) fn check_access(&mut self, access: &Access, slots: &mut [Value]) -> Res<()> {
        self.only_looking(|machine| {
            let mut check = Transfer::check(machine.scope.holder);
            machine.demand(access, slots, &mut check)?;
            machine.settle(check).map(|_| ())
        })
    }

    /// Asks for what a predicate stands for, instead of the instance.
    fn demand_content(
        &mut self,
        (object, predicate): (Ref, u32),
        amount: &Amount,
        span: Span,
        transfer: &mut Transfer,
    ) -> Res<()> {
        if transfer.expanded.contains(&(object, predicate)) {
            return Err(Fault::new(Flaw::ContainsItself, span, &[]).into());
        }
        let described = &self.code.predicates[predicate as usize];
        let mut slots = described.frame.initial.clone();
        slots[0] = Value::Ref(object);
        let outer = self.scope.clone();
        self.scope.kappa = COMMON;
        self.scope.old = OldState::Missing;
        let scale = transfer.scale.replace(amount.clone());
        transfer.expanded.push((object, predicate));
        let result = grow_stack(|| self.collect(&described.body, &mut slots, transfer));
        transfer.expanded.pop();
        transfer.scale = scale;
        self.scope = outer;
        result
    }

    fn demand(&mut self, access: &Access, slots: &mut [Value], transfer: &mut Transfer) -> Res<()> {
        self.counts.checks += 1;
        match &access.target {
            Target::Cell { receiver, cell } => {
                let object = self.eval(receiver, slots)?;
                let object = reference_or_null(&object, receiver.span, |object| object)?;
                let parts = [Part::Cell(*cell)];
                self.demand_parts(access, object, parts, slots, transfer)
            }
            Target::Predicate { receiver, predicate } => {
                let object = self.eval(receiver, slots)?;
                let object = reference_or_null(&object, receiver.span, |object| object)?;
                let parts = [Part::Predicate(*predicate)];
                self.demand_parts(access, object, parts, slots, transfer)
            }
            Target::AllFields { receiver, declared } => {
                let object = self.eval(receiver, slots)?;
                let object = reference_or_null(&object, receiver.span, |object| object)?;
                let parts = (1..=*declared).map(Part::Cell);
                self.demand_parts(access, object, parts, slots, transfer)
            }
            Target::Elements { elements, cells } => {
                for object in self.objects_of(elements, slots)? {
                    let parts = cells.clone().map(Part::Cell);
                    self.demand_parts(access, object, parts, slots, transfer)?;
                }
                Ok(())
            }
            Target::Predicates { elements, predicate } => {
                for object in self.objects_of(elements, slots)? {
                    let parts = [Part::Predicate(*predicate)];
                    self.demand_parts(access, object, parts, slots, transfer)?;
                }
                Ok(())
            }
        }
    }

    /// Returns the objects in a collection, each once. Nobody has permission to anything of null.
    fn objects_of(&mut self, elements: &Expr, slots: &mut [Value]) -> Res<BTreeSet<Ref>> {
        let collection = self.eval(elements, slots)?;
        let mut objects = BTreeSet::new();
        for element in collection.elements() {
            match element {
                Value::Ref(object) => {
                    objects.insert(object);
                }
                _ => {
                    return Err(Fault::new(Flaw::NullElement, elements.span, &[]).into());
                }
            }
        }
        Ok(objects)
    }

    fn demand_parts(
        &mut self,
        access: &Access,
        object: Ref,
        parts: impl IntoIterator<Item = Part>,
        slots: &mut [Value],
        transfer: &mut Transfer,
    ) -> Res<()> {
        if self.heap.get(object).is_none() {
            return Err(Fault::new(Flaw::NoObject, access.span, &[]).into());
        }
        let is_star = access.amount.has_star();
        let mut amount = self.amount(&access.amount, slots)?;
        match self.fractions.sign(&amount) {
            Sign::Positive => {}
            Sign::Zero => return Ok(()),
            Sign::Negative => {
                return Err(Fault::new(Flaw::NegativeAmount, access.span, &[&amount]).into());
            }
            Sign::Undetermined => {
                return Err(Fault::new(Flaw::PerhapsNegative, access.span, &[]).into());
            }
        }
        let mut inexact = access.amount.is_inexact(transfer.fresh == Some(self.scope.kappa));
        if let Some(scale) = &transfer.scale {
            amount = amount.times(scale).map_err(|_| {
                Box::<Trouble>::from(Fault::new(Flaw::Indivisible, access.span, &[]))
            })?;
            inexact |= transfer.fresh.is_some() && self.scope.kappa == COMMON;
        }
        let is_shared = transfer.for_readers && !is_star;
        let asked = if is_shared { amount.for_readers() } else { amount.clone() };
        for part in parts {
            if let (Part::Predicate(predicate), Folding::Ignore) = (part, self.config.folding) {
                let instance = (object, predicate);
                self.demand_content(instance, &amount, access.span, transfer)?;
                continue;
            }
            transfer.demands.push(Demand {
                loc: Loc { object, part },
                amount: asked.clone(),
                inexact: inexact && !is_shared,
                star: is_star,
                span: access.span,
                clause: transfer.clause,
            });
        }
        Ok(())
    }
}

impl World<'_> {
    /// Does an assertion say something of the locks of the thread in whose name it is evaluated, or
    /// of a recorded state?
    pub(crate) fn speaks_of_locks(&self, e: &Expr) -> bool {
        e.any(&mut |part| match &part.kind {
            Kind::Holds { .. } | Kind::Eval(_) => true,
            Kind::Apply { function, .. } => self.code.functions[*function as usize].asks_for_locks,
            _ => has_wait_level(part),
        })
    }
}

fn has_wait_level(e: &Expr) -> bool {
    let is_wait = |side: &LevelSide| matches!(side, LevelSide::Wait { .. });
    match &e.kind {
        Kind::Below(sides) | Kind::EqualLevels(_, sides) => is_wait(&sides.0) || is_wait(&sides.1),
        _ => false,
    }
}
