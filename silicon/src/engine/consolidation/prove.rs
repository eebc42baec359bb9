//! Proof obligations of rules: asked, asked again with what is learnt, reported where they fail,
//! and assumed.

use sil::program::Expr;
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::engine::findings::blame::{Blame, Reason};
use crate::engine::run::explore::Answer;
use crate::engine::{Engine, Stop};
use crate::report::Means;

impl Engine<'_> {
    /// A proof obligation. Where it fails it is reported and assumed, so that what depends on it is
    /// not reported too.
    pub(crate) fn prove(
        &mut self,
        goal: Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        if goal == Terms::TRUE {
            self.count(Means::Form);
            return Ok(());
        }
        let answer = self.obligation_with_instances(goal)?;
        self.conclude(goal, answer, blame, reason, at)
    }

    /// The same, of a condition that is asserted. `goal`: its value; `again` evaluates it once
    /// more.
    pub(crate) fn prove_condition(
        &mut self,
        condition: &Expr,
        goal: Term,
        blame: Blame,
        again: impl FnOnce(&mut Self) -> Result<Term, Stop>,
    ) -> Result<(), Stop> {
        let reason = Reason::AssertionFalse;
        if goal == Terms::TRUE {
            self.count(Means::Form);
            return Ok(());
        }
        // Where a condition of the same statement has failed before, on this path or another, it
        // would be the same finding, and it is assumed in any case. But what fails below a
        // quantifier ends the path.
        if self.mode.bound.is_empty() && self.has_failed(blame, reason)? {
            self.log.rely_on_report();
            self.note_failure();
            return self.assume(goal);
        }
        let mut answer = self.obligation_with_instances(goal)?;
        if answer == Answer::No && self.learn_inside(condition, again)? {
            answer = self.ask_obligation(goal)?;
        }
        self.conclude(goal, answer, blame, reason, condition.span)
    }

    /// Reports an obligation that did not get the answer yes, and assumes it.
    fn conclude(
        &mut self,
        goal: Term,
        answer: Answer,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        if answer != Answer::Yes && !self.is_tainted(goal)? {
            self.fail_at(goal, answer, blame, reason, at);
            if reason == Reason::NegativePermission || blame.is_of_body() {
                self.mark_unframed(blame)?;
            }
        }
        self.assume(goal)
    }

    /// An obligation that is tried again with what the instances in the heap tell together.
    fn obligation_with_instances(&mut self, goal: Term) -> Result<Answer, Stop> {
        let answer = self.ask_obligation(goal)?;
        if answer == Answer::No && self.learn_from_instances()? {
            return self.ask_obligation(goal);
        }
        Ok(answer)
    }

    /// An obligation on the definedness of an expression: not checked where the expression is
    /// trusted.
    pub(crate) fn prove_defined(
        &mut self,
        goal: Term,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<(), Stop> {
        if blame.is_trusted() { Ok(()) } else { self.prove(goal, blame, reason, at) }
    }
}
