//! Proof obligations of rules. They are asked, asked again with learnt facts, reported where they
//! fail, and assumed where the path stays alive.

use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::findings::blame::{Blame, ErrorId, Reason};
use crate::findings::log::Reported;
use crate::report::Means;
use crate::run::explore::Answer;
use crate::{Engine, Stop};

impl Engine<'_> {
    /// Proves an obligation. One that fails is reported and, if possible, assumed, so that its
    /// consequences are not reported too.
    pub fn prove(
        &mut self,
        goal: Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        self.conclude_asked(goal, blame, reason, at).map(|_| ())
    }

    /// Proves a property of a value, and returns the value. If the value cannot have the property,
    /// returns another one that has it, so that its consequences are not reported.
    pub fn prove_of(
        &mut self,
        value: Term,
        property: impl Fn(&mut Terms, Term) -> Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<Term, Stop> {
        let goal = property(&mut self.terms, value);
        let Some(reported) = self.conclude_asked(goal, blame, reason, at)? else {
            return Ok(value);
        };
        let sort = self.terms.sort(value);
        let other = self.fresh("undefined", sort);
        self.taint(other, reported)?;
        let fits = property(&mut self.terms, other);
        self.assume_failed(fits)?;
        Ok(other)
    }

    /// Proves an obligation on the definedness of an expression, unless the expression is trusted.
    pub fn prove_defined(
        &mut self,
        goal: Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        if blame.is_trusted() { Ok(()) } else { self.prove(goal, blame, reason, at) }
    }

    /// Proves a property of a value as [`Self::prove_of`] does, unless the expression is trusted.
    pub fn prove_defined_of(
        &mut self,
        value: Term,
        property: impl Fn(&mut Terms, Term) -> Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<Term, Stop> {
        if blame.is_trusted() {
            return Ok(value);
        }
        self.prove_of(value, property, blame, reason, at)
    }

    /// Proves a condition that is asserted at a place. `goal` is its value. `looks_inside` tells
    /// whether it is about other heaps, too; then `again` evaluates it once more.
    pub fn prove_condition(
        &mut self,
        goal: Term,
        looks_inside: bool,
        at: Span,
        blame: Blame,
        again: impl FnOnce(&mut Self) -> Result<Term, Stop>,
    ) -> Result<(), Stop> {
        let reason = Reason::AssertionFalse;
        if goal == Terms::TRUE {
            self.count(Means::Form);
            return Ok(());
        }
        // A condition of the same statement that failed before, on this path or another, is the
        // same finding, and it is assumed in any case. A failure below a quantifier ends the path
        // instead.
        if self.mode.bound.is_empty() && self.has_failed(blame, reason)? {
            self.log.rely_on_report();
            self.incidents.failed = true;
            return self.assume_failed(goal).map(|_| ());
        }
        // An invariant that no state meets has failed at the entry of the loop, too.
        let at_entry = Blame { error: ErrorId::InvariantNotEstablished, ..blame };
        if goal == Terms::FALSE
            && blame.error == ErrorId::InvariantNotPreserved
            && self.has_failed(at_entry, reason)?
        {
            self.log.rely_on_report();
            self.incidents.failed = true;
            return Ok(());
        }
        let goal = if blame.is_owed() { self.unless_in_doubt(goal)? } else { goal };
        let mut answer = self.obligation_with_instances(goal)?;
        if answer == Answer::No && looks_inside && self.learn_inside(again)? {
            answer = self.ask_obligation(goal)?;
        }
        self.conclude(goal, answer, blame, reason, at).map(|_| ())
    }

    /// Asks for an obligation and [concludes](Self::conclude).
    fn conclude_asked(
        &mut self,
        goal: Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<Option<Reported>, Stop> {
        if goal == Terms::TRUE {
            self.count(Means::Form);
            return Ok(None);
        }
        let answer = self.obligation_with_instances(goal)?;
        self.conclude(goal, answer, blame, reason, at)
    }

    /// Assumes an obligation, after a report unless the answer was yes. Returns the report of an
    /// obligation that cannot be assumed.
    fn conclude(
        &mut self,
        goal: Term,
        answer: Answer,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<Option<Reported>, Stop> {
        if answer == Answer::Yes {
            self.assume(goal)?;
            return Ok(None);
        }
        let mut reported = None;
        if !self.fails_by_taint(goal)? {
            reported = Some(self.fail_at(goal, answer, blame, reason, at));
            if reason == Reason::NegativePermission || blame.is_of_body() {
                self.mark_unframed(blame)?;
            }
        } else {
            self.incidents.unassumed = true;
        }
        let is_assumed = self.assume_failed(goal)?;
        Ok(reported.filter(|_| !is_assumed))
    }

    /// Asks an obligation, and asks again with facts from the instances in the heap together.
    fn obligation_with_instances(&mut self, goal: Term) -> Result<Answer, Stop> {
        let answer = self.ask_obligation(goal)?;
        if answer == Answer::No && self.learn_from_instances()? {
            return self.ask_obligation(goal);
        }
        Ok(answer)
    }
}
