//! The prover: asks Z3 whether assumptions imply a goal.
//!
//! Only this module knows Z3. A [`Prover`] has a solver of its own, belongs to one arena of terms,
//! and stays on the thread that made it. Provers that are used one after the other may share a
//! [`Workspace`].
//!
//! An answer depends only on what the prover was told. Limits are counted in Z3's own steps. The
//! wall-clock limit is a safety net whose answer is "gave up". Z3 suspends all limits while it
//! instantiates quantifiers before its first decision.
//!
//! Invariants
//! - Scopes and assumptions reach Z3 when a question is asked, in order. A scope without questions
//!   costs nothing.
//! - Axioms (of theories, and those given by [`Prover::add_axiom`]) hold in every scope from the
//!   moment they are known. Z3 is told them in the scope of that moment. When that scope is left,
//!   Z3 is told them again before the next question.
//! - Every call into Z3 is checked (SOUNDNESS: a lost assertion could turn into a wrong proof).

mod backend;
mod log;
mod matching;
pub mod profile;
mod raw;
mod snapshots;
mod solver;
#[cfg(test)]
mod tests;
mod translate;
mod workspace;

use std::io::Write;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use thiserror::Error;

use self::raw::Setting;
pub use self::raw::SolverKind;
use self::solver::Solver;
pub use self::workspace::Workspace;
pub use crate::tableau::Outcome;
use crate::tableau::Tableau;
use crate::terms::{Term, Terms};

/// Returns the version of Z3 that answers.
pub fn version() -> &'static str {
    z3::full_version()
}

/// A failure of the prover: never an answer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProverError {
    #[error("the prover reports: {0}")]
    Solver(String),
    /// The solver ran out of memory, and its knowledge is lost.
    #[error("the prover needs more memory than there is")]
    OutOfMemory,
    #[error("ill-sorted term {0}")]
    IllSorted(String),
    #[error("`{text}` cannot be used as SMT-LIB text: {problem}")]
    Backend { text: String, problem: String },
}

/// The limits of a question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Budget {
    /// Steps of Z3 (`rlimit`), counted from the start of the question; 0 is no limit.
    pub resources: u32,
    /// Conflicts of Z3's search; 0 is no limit. A kernel that stops because of them goes on with
    /// other questions, unlike one that stops because of the other limits.
    pub conflicts: u32,
    /// Wall-clock time; 0 is no limit.
    pub milliseconds: u32,
}

impl Budget {
    /// For questions whose answer only saves work: is this an alias, is that side feasible? The
    /// budget is small enough to do without a clock: arming Z3's timer costs as much as an easy
    /// question (55 of 130 µs).
    ///
    /// PERFORMANCE: telling a new kernel everything again costs more than most questions. With 20
    /// conflicts nearly all questions end before the limit on steps spoils the kernel.
    pub const CHECK: Budget = Budget { resources: 100_000, conflicts: 20, milliseconds: 0 };
    /// For proof obligations.
    pub const OBLIGATION: Budget =
        Budget { resources: 100_000_000, conflicts: 0, milliseconds: 600_000 };
}

/// The limit that ended a question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    Resources,
    /// The safety net: the answer may differ on a faster machine.
    Time,
    /// The limit on the memory of all questions that are asked at the same time: the answer may
    /// differ with fewer threads.
    Memory,
}

/// The answer to a question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    Proved,
    /// Refuted, or undecided by instantiation of quantifiers.
    NotProved,
    GaveUp(Limit),
}

impl Answer {
    /// Tells whether the goal was proved; every other answer is "no".
    pub(crate) fn is_proved(self) -> bool {
        self == Answer::Proved
    }
}

/// The purpose of a question. Each purpose is counted apart, and tried differently.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueryKind {
    /// Has to be proved, or an error is reported.
    Obligation,
    /// Its answer only saves work.
    Check,
}

/// The cost of one kind of question so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct QueryStatistics {
    pub asked: u64,
    pub proved: u64,
    pub gave_up: u64,
    pub time: Duration,
}

/// Counts by kind of question.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    kinds: [QueryStatistics; 2],
}

impl Statistics {
    pub fn of(&self, kind: QueryKind) -> QueryStatistics {
        self.kinds[kind as usize]
    }

    fn record(&mut self, kind: QueryKind, answer: Answer, time: Duration) {
        let entry = &mut self.kinds[kind as usize];
        entry.asked += 1;
        entry.proved += u64::from(answer.is_proved());
        entry.gave_up += u64::from(matches!(answer, Answer::GaveUp(_)));
        entry.time += time;
    }
}

/// The options of a prover.
///
/// The plain kernel is the default. On a session of 900 easy questions over sequences it needs 2 to
/// 4 % less time than the combined solver, with the same answers and the same count of steps.
/// Leaving models out makes no difference.
pub struct ProverOptions {
    pub solver: SolverKind,
    /// The place for a script that replays the session, but for other tries at a question.
    pub smt_log: Option<Box<dyn Write>>,
    /// Keeps states for [`Prover::values`].
    pub models: bool,
    /// The seed by which Z3 decides; 0 for the usual way. With another seed symbols have other
    /// names. The same formulas hold, but the search for a proof goes another way.
    pub variation: u32,
}

impl Default for ProverOptions {
    fn default() -> Self {
        ProverOptions { solver: SolverKind::Simple, smt_log: None, models: false, variation: 0 }
    }
}

/// Z3's options. Instantiation follows triggers only, never models of quantifiers.
///
/// COMPLETENESS: Z3 4.8.12 misses matches of triggers with several patterns that it looks for while
/// it searches; 4.8.7 finds them. So Z3 looks for all but one of them when the search comes to an
/// end. With 2, 10 or 1000 of them it missed proofs about updated sequences that it finds with one.
/// Without any, some programs take longer.
const SETTINGS: [(&str, Setting); 8] = [
    ("auto_config", Setting::Bool(false)),
    ("mbqi", Setting::Bool(false)),
    ("case_split", Setting::Uint(3)),
    ("delay_units", Setting::Bool(true)),
    ("qi.max_multi_patterns", Setting::Uint(1)),
    ("arith.solver", Setting::Uint(2)),
    ("random_seed", Setting::Uint(0)),
    ("model", Setting::Bool(false)),
];

/// Options for models of goals that cannot be proved.
const MODELS: [(&str, Setting); 1] = [("model", Setting::Bool(true))];

/// Options for sorts of the prover.
///
/// PERFORMANCE: with the order of case splits that is best otherwise, Z3 4.8.12 gets lost among the
/// bits of numbers of a fixed size. The question which of two floating-point numbers is smaller
/// takes it more than 10 s, not 0.1.
const WITH_BACKEND_SORTS: [(&str, Setting); 1] = [("case_split", Setting::Uint(1))];

/// Z3's default of the threshold, for [`raw::Kernel::new`].
///
/// PERFORMANCE: with 100 in the first try, obligations that fail take twice as long, some ten
/// times.
const EAGER_THRESHOLD: u32 = 10;

/// One scope of assumptions.
#[derive(Default)]
struct Scope {
    /// Tells whether Z3 has the scope.
    open: bool,
    /// Assumptions that Z3 has not been told.
    queue: Vec<Term>,
}

/// Assumptions in nested scopes, and questions about them.
pub struct Prover {
    workspace: Workspace,
    /// The options of the solver, until it is made.
    options: ProverOptions,
    /// For questions that take few steps.
    tableau: Tableau,
    /// The solver, made for the first question that the tableau does not answer. Many members have
    /// none.
    solver: Option<Solver>,
    scopes: Vec<Scope>,
    /// Axioms given by the user, each added once.
    added: FxHashSet<Term>,
    /// Axioms of the user that are still to be translated.
    untranslated: Vec<Term>,
    statistics: Statistics,
}

impl Prover {
    /// Returns a prover with a workspace of its own.
    pub fn new(options: ProverOptions) -> Result<Prover, ProverError> {
        Prover::within(&Workspace::new(), options)
    }

    /// Returns a prover in a workspace; the provers before it must be gone.
    pub fn within(workspace: &Workspace, options: ProverOptions) -> Result<Prover, ProverError> {
        let has_log = options.smt_log.is_some();
        let mut prover = Prover {
            workspace: workspace.clone(),
            options,
            tableau: Tableau::default(),
            solver: None,
            scopes: vec![Scope { open: true, queue: Vec::new() }],
            added: FxHashSet::default(),
            untranslated: Vec::new(),
            statistics: Statistics::default(),
        };
        if has_log {
            prover.start()?;
        }
        Ok(prover)
    }

    /// Makes the solver, if there is none yet.
    fn start(&mut self) -> Result<(), ProverError> {
        if self.solver.is_none() {
            let options = std::mem::take(&mut self.options);
            self.solver = Some(Solver::new(&self.workspace, options)?);
        }
        Ok(())
    }

    /// Opens a scope. The matching [`Prover::pop`] forgets what is assumed in it.
    pub fn push(&mut self) {
        self.scopes.push(Scope::default());
        self.tableau.push();
    }

    /// Leaves the innermost scope.
    pub fn pop(&mut self) -> Result<(), ProverError> {
        assert!(self.scopes.len() > 1, "pop without push");
        let scope = self.scopes.pop().expect("more than one");
        self.tableau.pop();
        if let Some(solver) = &mut self.solver
            && scope.open
        {
            solver.close_scope()?;
        }
        Ok(())
    }

    /// Returns the number of scopes opened and not left.
    pub fn depth(&self) -> usize {
        self.scopes.len() - 1
    }

    /// Assumes a formula in the innermost scope.
    pub fn assume(&mut self, formula: Term) {
        if formula != Terms::TRUE {
            self.scopes.last_mut().expect("at least one scope").queue.push(formula);
            self.tableau.assume(formula);
        }
    }

    /// Adds a formula that holds in every scope, also after the present ones are left. Adding it
    /// again does nothing.
    pub fn add_axiom(&mut self, formula: Term) {
        if formula != Terms::TRUE && self.added.insert(formula) {
            // The axiom is translated when there is something to ask.
            self.untranslated.push(formula);
            self.tableau.add_axiom(formula);
        }
    }

    /// Answers the question in few steps, without Z3: see [`crate::tableau`]. Only
    /// [`QueryKind::Check`] may build on an answer [`Outcome::Open`].
    pub fn check_without_solver(
        &mut self,
        terms: &mut Terms,
        goal: Term,
        kind: QueryKind,
    ) -> Outcome {
        self.tableau.ask(terms, goal, kind == QueryKind::Obligation)
    }

    /// Asks whether the assumptions imply the goal.
    pub fn check(
        &mut self,
        terms: &mut Terms,
        goal: Term,
        kind: QueryKind,
        budget: Budget,
    ) -> Result<Answer, ProverError> {
        if goal == Terms::TRUE {
            return Ok(Answer::Proved);
        }
        let start = Instant::now();
        let answer = self.put(terms, goal, |solver| match kind {
            QueryKind::Obligation => solver.ask_thoroughly(budget),
            QueryKind::Check => solver.ask(budget),
        })?;
        self.statistics.record(kind, answer, start.elapsed());
        Ok(answer)
    }

    /// Writes a comment into the log of the solver, if there is a log.
    pub fn remark(&mut self, words: impl FnOnce() -> String) -> Result<(), ProverError> {
        if self.options.smt_log.is_some() {
            self.start()?;
        }
        if let Some(solver) = &mut self.solver {
            solver.remark(words);
        }
        Ok(())
    }

    /// Puts a question to the solver. Where memory does not suffice, the next prover gets another
    /// workspace.
    fn put<T>(
        &mut self,
        terms: &mut Terms,
        goal: Term,
        ask: impl FnOnce(&mut Solver) -> Result<T, ProverError>,
    ) -> Result<T, ProverError> {
        let answer = self.put_here(terms, goal, ask);
        if matches!(answer, Err(ProverError::OutOfMemory)) {
            self.workspace.wear_out();
        }
        answer
    }

    fn put_here<T>(
        &mut self,
        terms: &mut Terms,
        goal: Term,
        ask: impl FnOnce(&mut Solver) -> Result<T, ProverError>,
    ) -> Result<T, ProverError> {
        let solver = self.tell(terms)?;
        if goal == Terms::FALSE {
            return ask(solver);
        }
        let negated = terms.not(goal);
        let negated = solver.translate(terms, negated)?;
        solver.tell_axioms()?;
        solver.open_scope()?;
        solver.assert(&negated)?;
        let answer = ask(solver);
        let closed = solver.close_scope();
        // The first error has the cause.
        answer.and_then(|answer| closed.map(|()| answer))
    }

    /// Returns the values of constants in some state in which the assumptions and `formula` hold,
    /// as Z3 writes them; `None` if it has none to offer. Where there are quantifiers, the state
    /// may violate some of them.
    ///
    /// Only a prover that was made with [`ProverOptions::models`] has states to offer.
    pub fn values(
        &mut self,
        terms: &mut Terms,
        formula: Term,
        constants: &[Term],
        budget: Budget,
    ) -> Result<Option<Vec<String>>, ProverError> {
        self.tell(terms)?.values(terms, formula, constants, budget)
    }

    /// Tells whether the solver has been made. The first question pays for making it.
    pub fn is_awake(&self) -> bool {
        self.solver.is_some()
    }

    /// Returns the counts of questions so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the steps that Z3 has counted for this prover; none before its first question.
    pub fn resources_used(&self) -> u64 {
        self.solver.as_ref().map_or(0, Solver::resources_used)
    }

    /// Tells Z3 everything in the queues.
    fn tell(&mut self, terms: &mut Terms) -> Result<&mut Solver, ProverError> {
        self.start()?;
        let solver = self.solver.as_mut().expect("just made");
        solver.add_axioms(terms, std::mem::take(&mut self.untranslated))?;
        for scope in &mut self.scopes {
            let queue = std::mem::take(&mut scope.queue);
            let mut formulas = Vec::with_capacity(queue.len());
            for formula in queue {
                formulas.push(solver.translate(terms, formula)?);
            }
            // Axioms come first, so that they are told as far out as possible.
            solver.tell_axioms()?;
            if !scope.open {
                solver.open_scope()?;
                scope.open = true;
            }
            for formula in &formulas {
                solver.assert(formula)?;
            }
        }
        Ok(solver)
    }
}
