//! Decisions, runs and scopes: a rule runs once for each way its decisions can go.
//!
//! A rule that splits the execution asks [`Engine::branch`]. The innermost [`Explorer`] answers: it
//! takes the first alternative, opens a scope for it, and remembers the others. At the end of the
//! run it goes back to the last decision that has an alternative left, opens that scope, and runs
//! the same code again from the start. The journal has all answers of the prover and all fresh
//! symbols up to the decision. Nothing is proved or assumed again, since the scopes below the
//! decision are still there (trap T16).
//!
//! Invariants
//! - A run is a function of the state at its start and of the journal. The journal keeps each
//!   question beside its answer. A run with another question has another reason for it, which is a
//!   defect: the member is not verified.
//! - While any explorer replays ([`Run::is_live`] is false), neither facts nor the solver change.

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod trees;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use smt::prover;
use smt::terms::{Sort, Term};

use crate::run::merge::Guarded;
use crate::run::ways::product;
use crate::state::heap::Heap;
use crate::{Engine, Path, Stop, View};

/// The explorations in progress.
#[derive(Default)]
pub struct Run {
    /// The explorers, innermost last.
    pub explorers: Vec<Explorer>,
    /// The heaps that `old` means inside of wands.
    pub heaps_in_wands: Vec<Heap>,
}

impl Run {
    /// Tells whether the present event happens for the first time.
    pub(crate) fn is_live(&self) -> bool {
        self.explorers.iter().all(|explorer| explorer.cursor == explorer.journal.len())
    }
}

/// A question of a run to the outside, and the answer.
#[derive(Clone, Copy, Debug)]
struct Entry {
    question: Question,
    got: Got,
}

/// A question of a run to the outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Does a goal follow? `Obligation` asks with all means, `Quick` with cheap ones.
    Obligation(Term),
    Quick(Term),
    /// A question about the engine's own records, by its digest.
    Record(u64),
    /// A symbol, by the digest of its name and sort.
    Fresh(u64),
    /// The choice of a way, by the digest of the alternatives.
    Decision(u64),
}

/// The answer to a question.
#[derive(Clone, Copy, Debug)]
enum Got {
    Answer(Answer),
    /// The search for the answer has shown that the path is contradictory.
    Contradiction,
    Fresh(Term),
    /// The index of the alternative taken.
    Decision(usize),
}

/// Returns a number that stands for the contents of a question.
fn digest(about: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    about.hash(&mut hasher);
    hasher.finish()
}

/// Stops a run that asks another question than the one it replays.
fn diverged<T>() -> Result<T, Stop> {
    Err(Stop::Broken("a run diverged from its journal".to_owned()))
}

/// The answer to a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Yes,
    No,
    /// A limit was hit; counts as no.
    GaveUp,
}

impl From<prover::Answer> for Answer {
    fn from(answer: prover::Answer) -> Self {
        match answer {
            prover::Answer::Proved => Answer::Yes,
            prover::Answer::NotProved => Answer::No,
            prover::Answer::GaveUp(_) => Answer::GaveUp,
        }
    }
}

/// A place where the run could have gone another way.
#[derive(Debug)]
struct Decision {
    /// Its position in the journal.
    at: usize,
    /// The depth of `scopes` before it.
    depth: usize,
    /// Tells whether the enclosing explorers were live. Only then are there scopes.
    live: bool,
    literal: Option<Term>,
    untried: VecDeque<(usize, Option<Term>)>,
    /// The number of all alternatives, tried or not.
    alternatives: u64,
}

/// One exploration in progress.
#[derive(Debug, Default)]
pub struct Explorer {
    journal: Vec<Entry>,
    cursor: usize,
    decisions: Vec<Decision>,
    /// Facts of scopes already left, each with the literals that led to it; `None` if the facts are
    /// not needed.
    released: Option<Vec<Guarded>>,
}

impl Explorer {
    /// Makes an explorer for a driver that does not join paths.
    pub fn without_facts() -> Self {
        Self::default()
    }

    /// Tells whether a run could have gone another way.
    pub fn has_decisions(&self) -> bool {
        !self.decisions.is_empty()
    }

    /// Returns the number of ways, if each has the decisions of this one.
    pub fn ways(&self) -> u64 {
        self.decisions.iter().map(|decision| decision.alternatives).fold(1, product)
    }
}

/// The end of one run of [`Explore::explore`].
pub struct End<T> {
    /// The literals of its decisions.
    pub literals: Vec<Term>,
    pub value: T,
}

/// Runs inside of explorations and scopes.
pub trait Explore<'p>: View<'p> {
    /// Runs `run` once for every way its decisions can go, each time from the present state, and
    /// restores that state. Learnt facts stay, guarded by the literals on which they depend.
    /// Infeasible paths are left out.
    fn explore<T>(
        &mut self,
        run: impl FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<Vec<End<T>>, Stop> {
        let (paths, facts) = self.explore_apart(run)?;
        self.core().assume_guarded(facts)?;
        Ok(paths)
    }

    /// Explores like [`Explore::explore`], and returns the learnt facts instead of assuming them.
    fn explore_apart<T>(
        &mut self,
        mut run: impl FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<(Vec<End<T>>, Vec<Guarded>), Stop> {
        let (at_start, mode) = (self.core().state(), self.core().mode.clone());
        let depth = self.core().knowledge.scopes.len();
        self.core()
            .run
            .explorers
            .push(Explorer { released: Some(Vec::new()), ..Explorer::default() });
        let mut paths = Vec::new();
        let outcome = loop {
            match run(self) {
                Ok(value) => paths.push(End { literals: self.core().literals(), value }),
                Err(Stop::Infeasible) => {}
                Err(stop) => break Err(stop),
            }
            self.core().set_state(at_start.clone());
            self.core().mode.clone_from(&mode);
            match self.core().backtrack() {
                Ok(true) => {}
                Ok(false) => break Ok(paths),
                Err(stop) => break Err(stop),
            }
        };
        let explorer = self.core().run.explorers.pop().expect("pushed above");
        self.core().set_state(at_start);
        let paths = match outcome {
            Ok(paths) => paths,
            Err(stop) => {
                self.core().pop_to(depth)?;
                return Err(stop);
            }
        };
        debug_assert_eq!(
            self.core().knowledge.scopes.len(),
            depth,
            "every decision closed its scope"
        );
        Ok((paths, explorer.released.unwrap_or_default()))
    }

    /// Explores like [`Explore::explore`], and joins the values of the paths into one term.
    fn join(&mut self, run: impl FnMut(&mut Self) -> Result<Term, Stop>) -> Result<Term, Stop> {
        let mut paths = self.explore(run)?;
        // The last path needs no condition: one of the feasible paths is taken.
        let Some(last) = paths.pop() else { return Err(Stop::Infeasible) };
        Ok(paths.into_iter().rev().fold(last.value, |otherwise, path| {
            let condition = self.core().terms.and(path.literals);
            self.core().terms.ite(condition, path.value, otherwise)
        }))
    }

    /// Evaluates under a guard. Learnt facts stay in the form `guard ⇒ fact` (trap T6: there is no
    /// other way to assume something that holds under a condition only). Returns `None` if the
    /// guard cannot hold.
    fn under(
        &mut self,
        guard: Term,
        mut run: impl FnMut(&mut Self) -> Result<Term, Stop>,
    ) -> Result<Option<Term>, Stop> {
        match self.core().terms.as_bool(guard) {
            Some(true) => return run(self).map(Some),
            Some(false) => return Ok(None),
            None => {}
        }
        let (result, facts) = self.scoped(Some(guard), |engine| engine.join(&mut run))?;
        for fact in facts {
            let fact = self.core().terms.implies(guard, fact);
            self.core().assume(fact)?;
        }
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Infeasible) => {
                // This is known, or assumed after a report. Expressions beside this one may rely on
                // it.
                let cannot = self.core().terms.not(guard);
                self.core().assume(cannot)?;
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Runs in a scope of its own, and returns the facts learnt there.
    fn scoped<T>(
        &mut self,
        literal: Option<Term>,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<(Result<T, Stop>, Vec<Term>), Stop> {
        if !self.core().run.is_live() {
            return Ok((run(self), Vec::new()));
        }
        let depth = self.core().knowledge.scopes.len();
        self.core().push(literal)?;
        let result = run(self);
        let mut facts = Vec::new();
        if self.core().knowledge.scopes.len() > depth {
            facts = std::mem::take(&mut self.core().knowledge.scopes[depth].facts);
        }
        self.core().pop_to(depth)?;
        Ok((result, facts))
    }

    /// Runs `run` for both truths of a condition. Where states are merged, both runs happen here
    /// and now. Elsewhere `run` gets the truth that this run of the statement assumes.
    fn either(
        &mut self,
        condition: Term,
        mut run: impl FnMut(&mut Self, bool) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        let in_package = self.core().here.may_transfer() || !self.core().mode.roots.is_empty();
        if !self.core().mode.joins || in_package || self.core().terms.as_bool(condition).is_some() {
            let holds = self.core().branch(condition)?;
            return run(self, holds);
        }
        let (paths, facts) = self.explore_apart(|view| {
            let holds = view.core().branch(condition)?;
            view.core().settle(condition, holds);
            let value = run(view, holds)?;
            Ok((view.core().state(), value))
        })?;
        self.core().merge_paths(paths, facts)
    }
}

impl<'p, V: View<'p>> Explore<'p> for V {}

impl Path<'_> {
    /// Returns the alternative that this run takes. `alternatives`: the literal that holds in each.
    /// At most one alternative without a literal may go on to where ways meet (see
    /// [`crate::run::merge`]).
    pub fn choose(&mut self, alternatives: &[Option<Term>]) -> Result<usize, Stop> {
        let live = self.run.is_live();
        let depth = self.knowledge.scopes.len();
        let question = Question::Decision(digest(alternatives));
        let explorer =
            self.run.explorers.last_mut().expect("decisions are made inside an exploration");
        if let Some(entry) = explorer.journal.get(explorer.cursor) {
            let Got::Decision(taken) = entry.got else { return diverged() };
            explorer.cursor += 1;
            return if entry.question == question { Ok(taken) } else { diverged() };
        }
        let mut untried: VecDeque<_> = alternatives.iter().copied().enumerate().collect();
        let (taken, literal) = untried.pop_front().expect("there is an alternative");
        let explorer = self.innermost();
        let at = explorer.journal.len();
        explorer.decisions.push(Decision {
            at,
            depth,
            live,
            literal,
            untried,
            alternatives: alternatives.len() as u64,
        });
        explorer.journal.push(Entry { question, got: Got::Decision(taken) });
        explorer.cursor += 1;
        if live {
            self.push(literal)?;
        }
        Ok(taken)
    }

    /// Goes back to the last decision with an alternative left, and takes it. Returns `false` if
    /// there is none.
    pub fn backtrack(&mut self) -> Result<bool, Stop> {
        self.go_on()?;
        loop {
            let Some(decision) = self.innermost().decisions.last_mut() else { return Ok(false) };
            let (at, depth, live) = (decision.at, decision.depth, decision.live);
            let next = decision.untried.pop_front();
            if live {
                self.release(depth);
                self.pop_to(depth)?;
            }
            let explorer = self.innermost();
            let Some((taken, literal)) = next else {
                explorer.decisions.pop();
                continue;
            };
            explorer.decisions.last_mut().expect("looked at above").literal = literal;
            explorer.journal.truncate(at + 1);
            explorer.journal[at].got = Got::Decision(taken);
            explorer.cursor = 0;
            if live {
                self.push(literal)?;
            }
            return Ok(true);
        }
    }

    /// Returns the difference of the current path since there were `depth` scopes: its literals,
    /// and the facts that no earlier path has handed out.
    pub fn leave_for_merge(&mut self, depth: usize) -> (Vec<Term>, Vec<Guarded>) {
        let mut literals = Vec::new();
        let mut facts = Vec::new();
        for index in depth..self.knowledge.scopes.len() {
            literals.extend(self.knowledge.scopes[index].literal);
            let guard = self.terms.and(literals.iter().copied());
            let own = std::mem::take(&mut self.knowledge.scopes[index].facts);
            facts.extend(own.into_iter().map(|fact| (guard, fact)));
        }
        (literals, facts)
    }

    /// Moves the facts of the scopes above `depth` to the explorer, under the literals of its own
    /// scopes.
    fn release(&mut self, depth: usize) {
        if self.innermost().released.is_none() {
            return;
        }
        let base = self.innermost().decisions[0].depth;
        let mut released = Vec::new();
        let literals: Vec<_> =
            self.knowledge.scopes[base..].iter().map(|scope| scope.literal).collect();
        for index in depth..self.knowledge.scopes.len() {
            let guard = self.terms.and(literals[..=index - base].iter().copied().flatten());
            let facts = std::mem::take(&mut self.knowledge.scopes[index].facts);
            released.extend(facts.into_iter().map(|fact| (guard, fact)));
        }
        self.innermost().released.get_or_insert_default().append(&mut released);
    }

    fn innermost(&mut self) -> &mut Explorer {
        self.run.explorers.last_mut().expect("inside an exploration")
    }

    fn literals(&self) -> Vec<Term> {
        let explorer = self.run.explorers.last().expect("inside an exploration");
        explorer.decisions.iter().filter_map(|decision| decision.literal).collect()
    }

    /// Returns the replayed journal's answer to a question, and copies it to the explorations
    /// inside that one.
    fn replayed(&mut self, question: Question) -> Result<Option<Got>, Stop> {
        let is_replaying = |explorer: &Explorer| explorer.cursor < explorer.journal.len();
        let Some(replaying) = self.run.explorers.iter().rposition(is_replaying) else {
            return Ok(None);
        };
        let explorer = &mut self.run.explorers[replaying];
        let entry = explorer.journal[explorer.cursor];
        explorer.cursor += 1;
        for inner in &mut self.run.explorers[replaying + 1..] {
            inner.journal.push(entry);
            inner.cursor += 1;
        }
        if entry.question == question { Ok(Some(entry.got)) } else { diverged() }
    }

    fn record(&mut self, question: Question, got: Got) {
        let entry = Entry { question, got };
        for explorer in &mut self.run.explorers {
            explorer.journal.push(entry);
            explorer.cursor += 1;
        }
    }

    /// Makes a fresh symbol, a function of the quantified variables around (trap T15). Replayed
    /// runs get the same one.
    pub fn fresh(&mut self, hint: &str, sort: Sort) -> Term {
        self.symbol(hint, sort, |path| {
            if path.mode.bound.is_empty() {
                return path.terms.fresh(hint, sort);
            }
            let bound = path.mode.bound.clone();
            let sorts: Vec<_> = bound.iter().map(|&variable| path.terms.sort(variable)).collect();
            let symbol = path.terms.fresh_function(hint, &sorts, sort);
            path.terms.apply(symbol, &bound)
        })
    }

    /// Makes a new object: see [`smt::terms::Terms::fresh_object`]. Panics below a quantifier,
    /// where no statement stands. There the object would be another one for each value.
    pub(crate) fn fresh_object(&mut self, hint: &str) -> Term {
        assert!(self.mode.bound.is_empty(), "a new object below a quantifier");
        self.symbol(hint, Sort::REF, |path| path.terms.fresh_object(hint))
    }

    /// Makes a fresh variable for a quantifier.
    pub fn fresh_variable(&mut self, hint: &str, sort: Sort) -> Term {
        self.symbol(hint, sort, |path| path.terms.fresh_variable(hint, sort))
    }

    /// Makes a symbol. A replayed run gets the symbol of the first run. Panics where a run diverges
    /// from its journal, which is a defect.
    fn symbol(&mut self, hint: &str, sort: Sort, make: impl FnOnce(&mut Self) -> Term) -> Term {
        let question = Question::Fresh(digest((hint, sort)));
        match self.replayed(question) {
            Ok(Some(Got::Fresh(term))) => term,
            Ok(None) => {
                let term = make(self);
                self.record(question, Got::Fresh(term));
                term
            }
            _ => panic!("a run diverged from its journal at a new symbol"),
        }
    }
}

impl Engine<'_> {
    /// Asks whether a goal follows, with all means ([`Engine::obligation`]). A replayed run gets
    /// the answer of the first run.
    pub fn ask_obligation(&mut self, goal: Term) -> Result<Answer, Stop> {
        self.ask(Question::Obligation(goal), |engine| engine.obligation(goal))
    }

    /// Asks whether a goal follows, at little cost ([`Engine::quick`]).
    pub(crate) fn ask_quick(&mut self, goal: Term) -> Result<Answer, Stop> {
        self.ask(Question::Quick(goal), |engine| engine.quick(goal))
    }

    /// Asks a question about the engine's own records, such as earlier failures; `about` identifies
    /// the question. Replayed runs get the first answer (trap T16).
    pub(crate) fn noted(
        &mut self,
        about: impl Hash,
        question: impl FnOnce(&Self) -> bool,
    ) -> Result<bool, Stop> {
        let answer = self.ask(Question::Record(digest(about)), |engine| {
            Ok(if question(engine) { Answer::Yes } else { Answer::No })
        })?;
        Ok(answer == Answer::Yes)
    }

    fn ask(
        &mut self,
        question: Question,
        answer: impl FnOnce(&mut Self) -> Result<Answer, Stop>,
    ) -> Result<Answer, Stop> {
        match self.replayed(question)? {
            Some(Got::Answer(answer)) => Ok(answer),
            Some(Got::Contradiction) => Err(Stop::Infeasible),
            Some(_) => diverged(),
            None => {
                let outcome = answer(self);
                match outcome {
                    Ok(answer) => self.record(question, Got::Answer(answer)),
                    Err(Stop::Infeasible) => self.record(question, Got::Contradiction),
                    // No run is replayed after these.
                    Err(_) => {}
                }
                outcome
            }
        }
    }
}
