//! Questions about the current path: obligations, optimisation checks, decisions.

use std::time::{Duration, Instant};

use sil::source::Span;
use smt::prover::{self, Budget, Outcome, QueryKind};
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::findings::log::{Recalled, Reported};
use crate::knowledge::subject;
use crate::options;
use crate::report::{Asked, Cost, Means, Severity};
use crate::run::explore::Answer;
use crate::{Configuration, Engine, Path, Stop, Symbols};

/// The answer to a question before the solver is asked.
enum Native {
    Answered(Answer),
    /// The question that is left.
    Left(Term),
}

impl Engine<'_> {
    /// Tells whether a formula speaks about a value whose absence has been reported.
    pub fn is_tainted(&mut self, formula: Term) -> Result<bool, Stop> {
        self.recall(Recalled::Tainted(formula))
    }

    /// Tells whether a goal fails only because of tainted values. Such a goal mentions a tainted
    /// value, and holds on all ways without taints.
    pub(crate) fn fails_by_taint(&mut self, goal: Term) -> Result<bool, Stop> {
        if !self.is_tainted(goal)? || !self.survives_failures() {
            return self.is_tainted(goal);
        }
        let is_tainted = self.has_taints();
        let goal = self.terms.or([is_tainted, goal]);
        Ok(self.ask_obligation(goal)? == Answer::Yes)
    }

    /// Reports an obligation that did not get the answer yes.
    pub fn fail(&mut self, answer: Answer, blame: Blame, reason: Reason, at: Span) -> Reported {
        self.fail_at(Terms::FALSE, answer, blame, reason, at)
    }

    /// Reports a goal, given as a formula, that did not get the answer yes.
    pub(crate) fn fail_at(
        &mut self,
        goal: Term,
        answer: Answer,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Reported {
        let severity = match answer {
            Answer::GaveUp => {
                self.log.give_up();
                Severity::Warning
            }
            _ => Severity::Error,
        };
        let reported = self.report(blame, reason, at, severity);
        if self.context.options.counterexample
            && self.run.is_live()
            && reported.wants_counterexample()
        {
            let encoded = self.encoded();
            let state = self.counterexample(goal, at, encoded);
            self.log.add_counterexample(reported, state);
        }
        reported
    }

    /// Assumes an obligation that has failed, so that its consequences are not reported as well.
    /// Does not assume it where this would end the path, since all later errors would be hidden.
    /// Tells whether the obligation is assumed. If not, the caller taints the values that depend on
    /// it, and the path is in doubt.
    ///
    /// SOUNDNESS: a report comes first, so that the member is not verified.
    pub(crate) fn assume_failed(&mut self, fact: Term) -> Result<bool, Stop> {
        let contrary = self.terms.not(fact);
        if self.survives_failures()
            && (fact == Terms::FALSE || self.ask_quick(contrary)? == Answer::Yes)
        {
            self.incidents.unassumed = true;
            let doubt = self.doubt();
            self.assume(doubt)?;
            return Ok(false);
        }
        self.assume(fact)?;
        Ok(true)
    }

    /// Assumes a fact that is produced, even if it has failed where it was consumed.
    pub fn assume_produced(&mut self, fact: Term) -> Result<(), Stop> {
        if self.frame.assertion.has_failed {
            return self.assume_failed(fact).map(|_| ());
        }
        self.assume(fact)
    }

    /// Ends the ways that are in doubt, at the end of a contract's scope. The contract owed there
    /// depends on a failure that could not be assumed. Earlier checks do not.
    pub fn end_doubtful(&mut self) -> Result<(), Stop> {
        let in_doubt = self.unless_in_doubt(Terms::FALSE)?;
        let sure = self.terms.not(in_doubt);
        self.assume(sure)
    }

    /// Weakens the claim of a contract: it need not hold on the ways that are in doubt.
    ///
    /// SOUNDNESS: an error has been reported, so that the member is not verified.
    pub(crate) fn unless_in_doubt(&mut self, claim: Term) -> Result<Term, Stop> {
        if !self.survives_failures() || !self.recall(Recalled::AnyError)? {
            return Ok(claim);
        }
        self.log.rely_on_report();
        let doubt = self.doubt();
        Ok(self.terms.or([doubt, claim]))
    }

    /// Decides whether `goal` follows, with all means: the known facts, the prover, and the prover
    /// with the consequences of the heap's shape.
    pub(crate) fn obligation(&mut self, goal: Term) -> Result<Answer, Stop> {
        if self.is_known(goal) {
            return Ok(Answer::Yes);
        }
        // A contradiction would have implied the goal that failed before. Another order of
        // instances shows one by luck only.
        if goal == Terms::FALSE && self.knowledge.has_failed {
            return self.query(goal, QueryKind::Check);
        }
        let goal = self.opened(goal);
        let mut answer = self.query(goal, QueryKind::Obligation)?;
        if answer != Answer::Yes && (self.setting.above.consolidation)(self)? {
            if self.is_known(goal) {
                return Ok(Answer::Yes);
            }
            answer = self.query(goal, QueryKind::Obligation)?;
        }
        if answer != Answer::Yes && !self.mode.is_apart && self.tell_far_functions() {
            answer = self.query(goal, QueryKind::Obligation)?;
        }
        if answer == Answer::No
            && let Some(compared) = self.with_compared_arguments(goal)
        {
            answer = self.query(compared, QueryKind::Obligation)?;
        }
        if answer == Answer::No
            && !self.mode.is_apart
            && let Some(unrolled) = self.with_unrolled(goal)?
        {
            answer = self.query(unrolled, QueryKind::Obligation)?;
        }
        // Apart from the path, nothing has been asked.
        self.knowledge.has_failed = answer != Answer::Yes && !self.mode.is_apart;
        Ok(answer)
    }

    /// Asks an optimisation check. A wrong no costs completeness only.
    pub fn check(&mut self, goal: Term) -> Result<bool, Stop> {
        match self.terms.as_bool(goal) {
            Some(value) => {
                self.count(Means::Form);
                Ok(value)
            }
            None => Ok(self.ask_quick(goal)? == Answer::Yes),
        }
    }

    /// Tells whether a formula has been assumed as it is.
    pub(crate) fn is_assumed(&mut self, formula: Term) -> Result<bool, Stop> {
        self.noted(("assumed", formula), |engine| engine.knowledge.known.contains(&formula))
    }

    /// Asks for an answer at little cost. Only after "gave up" may greater effort help.
    pub(crate) fn quick(&mut self, goal: Term) -> Result<Answer, Stop> {
        if self.is_known(goal) {
            return Ok(Answer::Yes);
        }
        // If the path is dead the prover would say yes to these goals, too. The obligations on the
        // path find that out.
        if self.is_refuted(goal) || self.knowledge.facts.leaves_open(&self.terms, goal) {
            self.count(Means::Facts);
            return Ok(Answer::No);
        }
        self.query(goal, QueryKind::Check)
    }

    /// Tells whether the path condition is contradictory, as far as a quick check shows it.
    pub fn seems_dead(&mut self) -> Result<bool, Stop> {
        Ok(self.ask_quick(Terms::FALSE)? == Answer::Yes)
    }

    /// Tells whether the path condition is contradictory, asked with the means of an obligation.
    pub fn is_dead(&mut self) -> Result<bool, Stop> {
        Ok(self.ask_obligation(Terms::FALSE)? == Answer::Yes)
    }

    fn query(&mut self, goal: Term, kind: QueryKind) -> Result<Answer, Stop> {
        if self.mode.is_apart {
            return Ok(Answer::No);
        }
        self.go_on()?;
        self.tell_domains()?;
        let goal = match self.natively(goal, kind)? {
            Native::Answered(answer) => return Ok(answer),
            Native::Left(goal) => goal,
        };
        // The question if the path is dead is another one with each fact.
        if kind == QueryKind::Obligation || goal == Terms::FALSE {
            return self.put(goal, kind);
        }
        if let Some(answer) = self.knowledge.checked(&self.terms, goal) {
            self.count(Means::Facts);
            return Ok(answer);
        }
        let answer = self.put(goal, kind)?;
        self.knowledge.note_checked(goal, answer);
        Ok(answer)
    }

    /// Puts a question to the prover.
    fn put(&mut self, goal: Term, kind: QueryKind) -> Result<Answer, Stop> {
        let started = Instant::now();
        let steps_before = self.prover.resources_used();
        let is_first = !self.prover.is_awake();
        self.remark(kind)?;
        let answer = self.ask_prover(goal, kind)?;
        let time = started.elapsed();
        let steps = self.prover.resources_used().saturating_sub(steps_before);
        self.count(Means::Prover(time));
        if self.run.is_live() {
            let subject = subject::of(&self.terms, goal, &self.domains.symbols);
            let hardest = if kind == QueryKind::Obligation { steps } else { 0 };
            let cost = Cost { asked: Asked { count: 1, time }, steps, hardest };
            self.log.count_asked(subject, cost, is_first);
        }
        if answer == prover::Answer::GaveUp(prover::Limit::Time) {
            // Perhaps the time of the member has run out.
            self.go_on()?;
        }
        Ok(answer.into())
    }

    /// Decides a condition for this run. Another run takes the other way.
    pub fn branch(&mut self, condition: Term) -> Result<bool, Stop> {
        if let Some(value) = self.terms.as_bool(condition) {
            self.count(Means::Form);
            return Ok(value);
        }
        let negation = self.terms.not(condition);
        if self.check(condition)? {
            self.assume(condition)?;
            return Ok(true);
        }
        if self.check(negation)? {
            self.assume(negation)?;
            return Ok(false);
        }
        Ok(self.choose(&[Some(condition), Some(negation)])? == 0)
    }
}

impl Path<'_> {
    /// Makes failures because of this value no news, on the ways that lead here.
    pub fn taint(&mut self, value: Term, reported: Reported) -> Result<(), Stop> {
        self.log.taint(value, reported);
        if self.survives_failures() {
            let is_tainted = self.has_taints();
            self.assume(is_tainted)?;
        }
        Ok(())
    }

    /// Tells whether the path goes on where a failure cannot be assumed. A quantifier's body that
    /// is not defined for all values ends the path in any case, and so does a function's body.
    ///
    /// COMPLETENESS: in programs made of Chalice and SPL, checks at the end of a method are
    /// statements, which would report the consequences of earlier errors.
    fn survives_failures(&self) -> bool {
        self.mode.bound.is_empty()
            && !self.setting.is_function
            && !self.context.options.assume_failures
            && self.tells_parts()
    }

    /// Tells whether the facts say that a formula holds.
    fn is_known(&mut self, goal: Term) -> bool {
        let yes = self.knowledge.facts.is_contradictory()
            || self.knowledge.known.contains(&goal)
            || self.knowledge.facts.known(&self.terms, goal) == Some(true)
            || {
                let reduced = self.knowledge.facts.reduce(&mut self.symbols.terms, goal);
                reduced != goal && self.knowledge.facts.known(&self.terms, reduced) == Some(true)
            };
        if yes {
            self.count(Means::Facts);
        }
        yes
    }

    /// Tells whether the facts say that a formula does not hold.
    fn is_refuted(&mut self, goal: Term) -> bool {
        self.knowledge.facts.known(&self.terms, goal) == Some(false) || {
            let reduced = self.knowledge.facts.reduce(&mut self.symbols.terms, goal);
            reduced != goal && self.knowledge.facts.known(&self.terms, reduced) == Some(false)
        }
    }

    /// Checks that the limits on time, paths and questions leave room for more.
    pub fn go_on(&self) -> Result<(), Stop> {
        if !self.log.is_within(self.setting.limits) {
            return Err(Stop::TooMuch);
        }
        if self.setting.until.is_over() {
            return Err(Stop::OutOfTime);
        }
        if self.context.observer.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        Ok(())
    }

    /// Asks the prover within the time that the member has left. Z3 looks at the clock, but the
    /// limit of a member is about work. So a question that other processes have held up is asked
    /// again.
    fn ask_prover(&mut self, goal: Term, kind: QueryKind) -> Result<prover::Answer, Stop> {
        loop {
            let budget = match kind {
                QueryKind::Obligation => self.obligation_budget(),
                QueryKind::Check => Budget::CHECK,
            };
            let started = Instant::now();
            let answer = self.prover.check(&mut self.symbols.terms, goal, kind, budget)?;
            let given = Duration::from_millis(budget.milliseconds.into());
            let is_held_up = answer == prover::Answer::GaveUp(prover::Limit::Time)
                && started.elapsed() >= given
                && budget.milliseconds < Budget::OBLIGATION.milliseconds;
            if !is_held_up || self.go_on().is_err() {
                return Ok(answer);
            }
        }
    }

    /// Returns the answer of the tableau to a question, or the question that is left.
    fn natively(&mut self, goal: Term, kind: QueryKind) -> Result<Native, Stop> {
        if self.context.options.native == options::Native::Off {
            return Ok(Native::Left(goal));
        }
        let answer = match self.prover.check_without_solver(&mut self.symbols.terms, goal, kind) {
            Outcome::Proved => Answer::Yes,
            Outcome::Open => Answer::No,
            Outcome::Left(left) => return Ok(Native::Left(left)),
            Outcome::Unknown => return Ok(Native::Left(goal)),
        };
        self.count(Means::Facts);
        if answer == Answer::Yes && self.context.options.native == options::Native::Checked {
            let budget = self.obligation_budget();
            let found =
                self.prover.check(&mut self.symbols.terms, goal, QueryKind::Obligation, budget)?;
            if found == prover::Answer::NotProved {
                let goal = self.terms.display(goal);
                return Err(Stop::Broken(format!("proved natively, and not by Z3: {goal}")));
            }
        }
        Ok(Native::Answered(answer))
    }

    /// Counts a question that is asked for the first time.
    pub(crate) fn count(&mut self, means: Means) {
        if self.run.is_live() {
            self.log.count(means);
        }
    }
}

impl Symbols<'_> {
    /// Makes the proposition that some value is tainted. As a fact the proposition stays with the
    /// ways that lead to the taint, wherever they are joined with others.
    fn has_taints(&mut self) -> Term {
        let symbol = self.terms.declare_fresh("tainted@", &[], Sort::BOOL);
        self.terms.apply(symbol, &[])
    }

    /// Returns the budget of a proof obligation, with no more time than the member has left.
    fn obligation_budget(&self) -> Budget {
        let whole = Budget::OBLIGATION.milliseconds;
        // Whole seconds, rounded up: a new limit for Z3 costs time.
        let left = self.setting.until.left();
        let left = left.map_or(u64::MAX, |left| (left.as_secs() + 1).saturating_mul(1000));
        Budget {
            resources: self.context.options.obligation_limit,
            conflicts: 0,
            milliseconds: u32::try_from(left).map_or(whole, |left| left.min(whole)),
        }
    }
}

impl Configuration<'_> {
    /// Makes the proposition that some failure could not be assumed, since the method or the
    /// iteration of a loop began. As a fact the proposition stays with the ways that lead here,
    /// wherever they are joined with others.
    fn doubt(&mut self) -> Term {
        let name = format!("doubt@{}", self.here.framed.len());
        let symbol = self.terms.declare_fresh(&name, &[], Sort::BOOL);
        self.terms.apply(symbol, &[])
    }
}
