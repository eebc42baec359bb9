//! A solver of Z3, and the formulas that it has been told.

use std::cell::Cell;
use std::time::{Duration, Instant};

use z3::ast::Bool;
use z3::{Context, Translate};

use super::log::Log;
use super::raw::{self, Kernel, Satisfiability, Setting};
use super::translate::Translator;
use super::{
    Answer, Budget, EAGER_THRESHOLD, Limit, MODELS, ProverError, ProverOptions, SETTINGS,
    SolverKind, WITH_BACKEND_SORTS, Workspace,
};
use crate::terms::{Term, Terms};

/// Another way to search for the proof of an obligation that the first try left open, in a new
/// kernel.
///
/// Where many triggers match, the instances that Z3 makes are a matter of luck. With other choices
/// it finds some of the proofs that it missed. Z3 also treats formulas of the outermost scope
/// differently (it simplifies more).
struct Retry {
    /// The settings of Z3 that differ from those of the first try.
    settings: &'static [(&'static str, Setting)],
    /// The cost up to which Z3 makes an instance at once. An instance costs the more, the more
    /// instances lead to it.
    eager_threshold: u32,
    /// Tells the kernel everything in one scope.
    is_flat: bool,
    concerns: Concerns,
    steps: u32,
    /// 0: such a try is hopeless.
    steps_after_giving_up: u32,
}

/// The obligations for which a [`Retry`] is of use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Concerns {
    Everything,
    /// Products and quotients of variables, where the first try came to an end.
    Nonlinear,
    /// Permission amounts that are quotients of variables, and products where the first try gave
    /// up.
    Fractions,
}

impl Retry {
    /// The time for a retry. Z3 4.8.12 does not count all its steps, so the limit on steps may not
    /// end it.
    const MILLISECONDS: u32 = 20_000;

    /// The steps of the first try after which retries begin.
    const BEFORE_THE_REST: u32 = 20_000_000;

    /// The threshold that finds at once some late findings of the first try, such as a value at
    /// the end of a chain of 22 definitions.
    const FAR: u32 = 100;

    /// The threshold that makes few instances. Axioms about products make so many of each other
    /// that an obligation of 24,000,000 steps takes 1,000,000 with it.
    const NEAR: u32 = 5;

    /// The most steps of a first try behind which the same arithmetic is tried again.
    ///
    /// PERFORMANCE: an obligation that fails costs all tries. Where an order of instances came to
    /// an end without a proof, another order was seen to find the proof behind 1,000 to 7,000 steps
    /// (3 proofs in 1,400 programs). Behind more than 20,000 steps, further tries took a fifth of
    /// Z3's time, for nothing.
    const FEW_STEPS: u64 = 20_000;

    /// The steps that a retry with the same arithmetic may take beyond those of the first try.
    const MORE_THAN_FIRST: u64 = 50_000;

    /// Returns the steps to spend after `answer`, which took `spent`; 0: a try is not worth it.
    fn steps_after(&self, answer: Answer, spent: u64, translator: &Translator) -> u32 {
        let gave_up = matches!(answer, Answer::GaveUp(_));
        let is_of_use = match self.concerns {
            Concerns::Everything => gave_up || spent <= Self::FEW_STEPS,
            Concerns::Nonlinear => translator.is_nonlinear && !translator.has_fractions,
            Concerns::Fractions => translator.has_fractions || translator.is_nonlinear && gave_up,
        };
        match (is_of_use, gave_up) {
            (false, _) => 0,
            (true, true) => self.steps_after_giving_up,
            (true, false) if self.concerns == Concerns::Everything => {
                self.steps.min((spent + Self::MORE_THAN_FIRST) as u32)
            }
            (true, false) => self.steps,
        }
    }
}

/// The retries, the most promising first.
///
/// They come from 34 combinations of seeds, `case_split`, `delay_units`, `relevancy`,
/// `restart_strategy`, `phase_selection` and thresholds. Together these prove what was left open in
/// three programs (updated maps, a partition, an insertion sort) for the fewest steps.
const RETRIES: &[Retry] = &[
    // Z3's newer solver for arithmetic knows more of products and quotients of variables, and is
    // slower otherwise (11 times, on the public suite). Fractions need its decision procedure for
    // polynomials over the reals. Neither the limit on steps nor the clock stops that procedure, so
    // other obligations, such as those about scaled bodies of predicates, do without it.
    Retry {
        settings: &[("arith.solver", Setting::Uint(6))],
        eager_threshold: Retry::NEAR,
        is_flat: false,
        concerns: Concerns::Fractions,
        steps: 2_000_000,
        steps_after_giving_up: 12_000_000,
    },
    Retry {
        settings: &[("delay_units", Setting::Bool(false))],
        eager_threshold: Retry::FAR,
        is_flat: true,
        concerns: Concerns::Everything,
        steps: 2_000_000,
        steps_after_giving_up: 4_000_000,
    },
    Retry {
        settings: &[("delay_units", Setting::Bool(false)), ("case_split", Setting::Uint(0))],
        eager_threshold: Retry::FAR,
        is_flat: false,
        concerns: Concerns::Everything,
        steps: 1_000_000,
        steps_after_giving_up: 0,
    },
    // Steps become the more expensive the longer this try goes on: 2,000,000 take 10 s.
    Retry {
        settings: &[("arith.solver", Setting::Uint(6)), ("arith.nl.nra", Setting::Bool(false))],
        eager_threshold: Retry::FAR,
        is_flat: true,
        concerns: Concerns::Nonlinear,
        steps: 700_000,
        steps_after_giving_up: 0,
    },
];

/// An axiom that holds in every scope.
struct Axiom {
    formula: Bool,
    /// The number of scopes when Z3 was told; `None` while Z3 does not know it.
    told: Option<usize>,
}

/// Z3 takes longer than this for [`STEPS_OF_SCOPE`] steps. So steps are counted only where a scope
/// took so long to open. The steps decide, on any machine.
const LONG: Duration = Duration::from_millis(20);

/// The steps of opening a scope after which kernels are told everything in one scope.
///
/// PERFORMANCE: no limit ends the instances that Z3 makes when a scope is opened. Where quantifiers
/// match the instances of others, each scope takes more steps than the one before. In one scope,
/// the question makes these instances, and the question has limits.
const STEPS_OF_SCOPE: u64 = 1_000_000;

/// The part of Z3's reason that names the limit on conflicts.
const CONFLICTS: &str = "max-conflicts";

/// Z3's name of its steps: one count for everything that uses a context.
const STEPS: &str = "rlimit count";

/// Scopes with formulas, and questions about them.
///
/// SOUNDNESS: a kernel that was stopped by steps, time or memory is not asked another question. Z3
/// 4.8.12 stops in the middle of its work, and was seen to crash on the next question, also in
/// another scope. The limit on conflicts stops a search in good order.
pub(super) struct Solver {
    context: Context,
    translator: Translator,
    kernel: Kernel,
    kind: SolverKind,
    /// See [`ProverOptions::models`].
    models: bool,
    /// The formulas of each scope, the outermost first.
    scopes: Vec<Vec<Bool>>,
    /// Tells whether the kernel misses changes. It is replaced before the next question.
    is_spent: bool,
    /// From this number of scopes on, kernels are told everything in one: see [`STEPS_OF_SCOPE`].
    flat_from: Option<usize>,
    /// Tells whether the kernel was made for [`Translator::has_backend_sorts`].
    expects_backend_sorts: bool,
    axioms: Vec<Axiom>,
    /// Tells whether Z3 does not know some axiom.
    untold: bool,
    budget: Option<Budget>,
    /// The steps that the context had counted when this solver was made.
    steps_of_others: u64,
    /// The steps that retries took in contexts of their own.
    steps_of_retries: u64,
    /// The steps at the latest count.
    counted: Cell<u64>,
}

impl Solver {
    pub(super) fn new(
        workspace: &Workspace,
        options: ProverOptions,
    ) -> Result<Solver, ProverError> {
        let context = workspace.tools().context.clone();
        let settings = settings(false, options.models, options.variation);
        let kernel = Kernel::new(&context, options.solver, &settings, EAGER_THRESHOLD)?;
        let steps_of_others = kernel.statistic(STEPS);
        let mut log = Log::new(options.smt_log);
        log.header(&SETTINGS);
        log.settings(&seed(options.variation));
        let translator = Translator::new(workspace, log, options.variation);
        Ok(Solver {
            context,
            translator,
            kernel,
            kind: options.solver,
            models: options.models,
            scopes: vec![Vec::new()],
            is_spent: false,
            flat_from: None,
            expects_backend_sorts: false,
            axioms: Vec::new(),
            untold: false,
            budget: None,
            steps_of_others,
            steps_of_retries: 0,
            counted: Cell::default(),
        })
    }

    /// Returns the steps that Z3 has counted since this solver was made.
    pub(super) fn resources_used(&self) -> u64 {
        let steps = self.kernel.statistic(STEPS).saturating_sub(self.steps_of_others);
        let steps = steps + self.steps_of_retries;
        self.counted.set(steps);
        steps
    }

    /// See [`super::Prover::values`].
    pub(super) fn values(
        &mut self,
        terms: &mut Terms,
        formula: Term,
        constants: &[Term],
        budget: Budget,
    ) -> Result<Option<Vec<String>>, ProverError> {
        let formula = self.translate(terms, formula)?;
        let mut asts = Vec::with_capacity(constants.len());
        for &constant in constants {
            let ast = raw::enter(&self.context, || self.translator.value(terms, constant))?;
            asts.push(ast);
        }
        self.collect_axioms(terms)?;
        self.tell_axioms()?;
        self.open_scope()?;
        self.assert(&formula)?;
        let values = match self.ask_once(budget) {
            Ok(Answer::Proved) => Ok(None),
            Ok(_) => Ok(self.kernel.values(&asts)),
            Err(error) => Err(error),
        };
        self.close_scope()?;
        values
    }

    pub(super) fn add_axioms(
        &mut self,
        terms: &mut Terms,
        axioms: Vec<Term>,
    ) -> Result<(), ProverError> {
        self.translator.axioms.extend(axioms);
        self.collect_axioms(terms)
    }

    pub(super) fn translate(&mut self, terms: &mut Terms, term: Term) -> Result<Bool, ProverError> {
        let formula = raw::enter(&self.context, || self.translator.formula(terms, term))?;
        self.collect_axioms(terms)?;
        Ok(formula)
    }

    /// Translates new axioms, and those that their operators bring in.
    fn collect_axioms(&mut self, terms: &mut Terms) -> Result<(), ProverError> {
        loop {
            let new = self.translator.take_axioms();
            if new.is_empty() {
                return Ok(());
            }
            for axiom in new {
                let formula = raw::enter(&self.context, || self.translator.formula(terms, axiom))?;
                self.axioms.push(Axiom { formula, told: None });
                self.untold = true;
            }
        }
    }

    pub(super) fn tell_axioms(&mut self) -> Result<(), ProverError> {
        if !std::mem::take(&mut self.untold) {
            return Ok(());
        }
        for index in 0..self.axioms.len() {
            if self.axioms[index].told.is_none() {
                self.axioms[index].told = Some(self.scopes.len());
                let formula = self.axioms[index].formula.clone();
                self.assert(&formula)?;
            }
        }
        Ok(())
    }

    pub(super) fn assert(&mut self, formula: &Bool) -> Result<(), ProverError> {
        self.scopes.last_mut().expect("the outermost is never closed").push(formula.clone());
        if self.is_spent { Ok(()) } else { self.tell(formula) }
    }

    fn tell(&mut self, formula: &Bool) -> Result<(), ProverError> {
        if self.translator.log.is_on() {
            self.translator.log.line(&format!("(assert {formula})"));
        }
        self.kernel.assert(formula)
    }

    pub(super) fn open_scope(&mut self) -> Result<(), ProverError> {
        self.scopes.push(Vec::new());
        if self.is_spent { Ok(()) } else { self.tell_scope(self.scopes.len() - 1) }
    }

    /// Opens a scope inside `around` others.
    fn tell_scope(&mut self, around: usize) -> Result<(), ProverError> {
        self.translator.log.line("(push 1)");
        let (start, before) = (Instant::now(), self.counted.get());
        self.kernel.push()?;
        if start.elapsed() > LONG && self.resources_used() - before > STEPS_OF_SCOPE {
            // The formulas told before take so long.
            self.flat_from = Some(around);
            self.is_spent = true;
        }
        Ok(())
    }

    /// Makes a kernel that knows the same.
    fn renew(&mut self) -> Result<(), ProverError> {
        let settings =
            settings(self.translator.has_backend_sorts, self.models, self.translator.variation);
        self.kernel = Kernel::new(&self.context, self.kind, &settings, EAGER_THRESHOLD)?;
        self.is_spent = false;
        self.translator.log.restart();
        if self.translator.has_backend_sorts && !self.expects_backend_sorts {
            self.translator.log.settings(&WITH_BACKEND_SORTS);
        }
        self.expects_backend_sorts = self.translator.has_backend_sorts;
        let is_flat = self.flat_from.is_some();
        let scopes = std::mem::take(&mut self.scopes);
        for (depth, scope) in scopes.iter().enumerate() {
            if depth > 0 && !is_flat {
                self.tell_scope(depth)?;
            }
            if self.is_spent {
                break;
            }
            for formula in scope {
                self.tell(formula)?;
            }
        }
        self.scopes = scopes;
        if self.is_spent { self.renew() } else { Ok(()) }
    }

    pub(super) fn close_scope(&mut self) -> Result<(), ProverError> {
        self.scopes.pop();
        if self.flat_from.is_some_and(|from| self.scopes.len() < from) {
            self.flat_from = None;
        }
        if !self.is_spent {
            self.translator.log.line("(pop 1)");
            self.kernel.pop()?;
        }
        for axiom in &mut self.axioms {
            if axiom.told.is_some_and(|scope| scope > self.scopes.len()) {
                axiom.told = None;
                self.untold = true;
            }
        }
        Ok(())
    }

    /// Asks with the small budget first, which does for most questions. Only the rest needs the
    /// clock.
    pub(super) fn ask(&mut self, budget: Budget) -> Result<Answer, ProverError> {
        if budget.milliseconds != 0
            && (budget.resources == 0 || budget.resources > Budget::CHECK.resources)
        {
            let answer = self.ask_once(Budget::CHECK)?;
            if answer != Answer::GaveUp(Limit::Resources) {
                return Ok(answer);
            }
        }
        self.ask_once(budget)
    }

    /// Asks, and repeats in other ways a question that stays open.
    pub(super) fn ask_thoroughly(&mut self, budget: Budget) -> Result<Answer, ProverError> {
        let start = Instant::now();
        let time_left = || match budget.milliseconds {
            0 => u32::MAX,
            limit => u64::from(limit).saturating_sub(start.elapsed().as_millis() as u64) as u32,
        };
        let is_small = budget.resources != 0 && budget.resources <= Retry::BEFORE_THE_REST;
        let part = if is_small { budget.resources } else { Retry::BEFORE_THE_REST };
        let before = self.resources_used();
        let first = self.ask(Budget { resources: part, ..budget })?;
        let spent = self.resources_used() - before;
        // Other ways need as much memory.
        if matches!(first, Answer::Proved | Answer::GaveUp(Limit::Memory)) {
            return Ok(first);
        }
        let mut answer = first;
        let mut copy = None;
        for retry in RETRIES {
            let steps = retry.steps_after(first, spent, &self.translator);
            if steps == 0 {
                continue;
            }
            let resources = if is_small { steps.min(budget.resources) } else { steps };
            let milliseconds = Retry::MILLISECONDS.min(time_left());
            let again = if milliseconds > 0 {
                // PERFORMANCE: a context takes 1 ms, so most failing obligations do without.
                let copy = (retry.concerns != Concerns::Everything)
                    .then(|| copy.get_or_insert_with(|| Copied::of(&self.scopes)));
                self.retry(retry, copy, Budget { resources, conflicts: 0, milliseconds })?
            } else {
                Answer::GaveUp(Limit::Time)
            };
            match again {
                Answer::Proved => return Ok(again),
                // More time might have given a proof: this is no error of the program.
                Answer::GaveUp(Limit::Time) if first == Answer::NotProved => answer = again,
                // The retry came to an end with the same arithmetic. Where the first try got lost,
                // there is nothing to find.
                Answer::NotProved
                    if first == Answer::GaveUp(Limit::Resources)
                        && retry.concerns == Concerns::Everything =>
                {
                    answer = again;
                }
                _ => {}
            }
        }
        // Z3 numbers its terms by what came before, and at times gets lost because of it. So the
        // retries come before the rest of a large budget.
        if answer == Answer::GaveUp(Limit::Resources) && !is_small {
            return match time_left() {
                0 => Ok(Answer::GaveUp(Limit::Time)),
                milliseconds => self.ask(Budget { milliseconds, ..budget }),
            };
        }
        Ok(answer)
    }

    /// Asks a new kernel, in a context of its own if there is a copy of the formulas.
    fn retry(
        &mut self,
        retry: &Retry,
        copy: Option<&mut Copied>,
        budget: Budget,
    ) -> Result<Answer, ProverError> {
        let mut settings =
            settings(self.translator.has_backend_sorts, false, self.translator.variation);
        settings.extend(retry.settings);
        let is_apart = copy.is_some();
        let (context, scopes) = match copy {
            Some(Copied { context, scopes }) => {
                set_budget(context, budget);
                (&*context, &*scopes)
            }
            None => {
                self.set_budget(budget);
                (&self.context, &self.scopes)
            }
        };
        let kernel = Kernel::new(context, self.kind, &settings, retry.eager_threshold)?;
        let before = kernel.statistic(STEPS);
        let is_flat = retry.is_flat || self.flat_from.is_some();
        for (depth, scope) in scopes.iter().enumerate() {
            if depth > 0 && !is_flat {
                kernel.push()?;
            }
            for formula in scope {
                kernel.assert(formula)?;
            }
        }
        if self.translator.log.is_on() {
            let scopes = if is_flat { "one scope" } else { "the same scopes" };
            let Retry { settings, eager_threshold, .. } = retry;
            let line = format!(
                "; asked of another kernel, in {scopes}: {settings:?}, \
                 qi.eager_threshold {eager_threshold}"
            );
            self.translator.log.line(&line);
        }
        let start = Instant::now();
        let answer = kernel.check()?;
        if is_apart {
            self.steps_of_retries += kernel.statistic(STEPS).saturating_sub(before);
        }
        self.resources_used();
        Ok(match answer {
            Satisfiability::Unsat => Answer::Proved,
            Satisfiability::Sat => Answer::NotProved,
            Satisfiability::Unknown => unknown(&kernel.reason_unknown(), budget, start.elapsed()),
        })
    }

    /// Writes a comment into the log.
    pub(super) fn remark(&mut self, words: impl FnOnce() -> String) {
        if self.translator.log.is_on() {
            let words = words();
            self.translator.log.line(&format!("; {words}"));
        }
    }

    fn ask_once(&mut self, budget: Budget) -> Result<Answer, ProverError> {
        if self.is_spent || self.translator.has_backend_sorts && !self.expects_backend_sorts {
            self.renew()?;
        }
        self.set_budget(budget);
        self.kernel.limit_conflicts(budget.conflicts)?;
        self.translator.log.check(budget);
        let start = Instant::now();
        let answer = self.kernel.check()?;
        // The steps of the question must not count as those of a scope that is opened later.
        self.resources_used();
        // A kernel without scopes cannot forget what it was told for this question.
        self.is_spent = self.flat_from.is_some();
        Ok(match answer {
            Satisfiability::Unsat => Answer::Proved,
            Satisfiability::Sat => Answer::NotProved,
            Satisfiability::Unknown => {
                let reason = self.kernel.reason_unknown();
                if reason.contains(CONFLICTS) {
                    Answer::GaveUp(Limit::Resources)
                } else {
                    let answer = unknown(&reason, budget, start.elapsed());
                    self.is_spent |= matches!(answer, Answer::GaveUp(_));
                    answer
                }
            }
        })
    }

    /// Sets the limits, which Z3 counts from the start of a check.
    fn set_budget(&mut self, budget: Budget) {
        if self.budget == Some(budget) {
            return;
        }
        self.budget = Some(budget);
        set_budget(&mut self.context, budget);
    }
}

fn set_budget(context: &mut Context, budget: Budget) {
    let milliseconds = if budget.milliseconds == 0 { u32::MAX } else { budget.milliseconds };
    context.update_param_value("rlimit", &budget.resources.to_string());
    context.update_param_value("timeout", &milliseconds.to_string());
}

/// The formulas of all scopes, in a context of their own.
///
/// PERFORMANCE: Z3 numbers its terms by what came before, and its search among products depends on
/// these numbers. Where nothing came before, false claims about products are refuted 500 times
/// faster, and a proof that few numbers lead to is found with each seed.
struct Copied {
    context: Context,
    scopes: Vec<Vec<Bool>>,
}

impl Copied {
    fn of(scopes: &[Vec<Bool>]) -> Copied {
        let context = raw::new_context();
        let copy = |scope: &Vec<Bool>| scope.iter().map(|it| it.translate(&context)).collect();
        let scopes = scopes.iter().map(copy).collect();
        Copied { context, scopes }
    }
}

/// Returns the setting of [`ProverOptions::variation`].
fn seed(variation: u32) -> Vec<(&'static str, Setting)> {
    let seed = (variation != 0).then_some(("random_seed", Setting::Uint(variation)));
    seed.into_iter().collect()
}

/// Returns the settings of a kernel. Of two values for one setting, the later counts.
fn settings(
    with_backend_sorts: bool,
    models: bool,
    variation: u32,
) -> Vec<(&'static str, Setting)> {
    let mut settings = SETTINGS.to_vec();
    settings.extend(seed(variation));
    if with_backend_sorts {
        settings.extend(WITH_BACKEND_SORTS);
    }
    if models {
        settings.extend(MODELS);
    }
    settings
}

/// Interprets an `unknown` of Z3 by its reason. Some versions call both limits "canceled"; then the
/// clock tells which one it was. Z3 4.8.12 says a bare "unknown" when the limit is reached before
/// the search begins.
fn unknown(reason: &str, budget: Budget, time: Duration) -> Answer {
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    let limit = Duration::from_millis(budget.milliseconds.into());
    let is_late = budget.milliseconds != 0
        && (budget.resources == 0 || time + Duration::from_millis(1) >= limit);
    if says(&["timeout", "interrupted"]) || (is_late && says(&["canceled"])) {
        Answer::GaveUp(Limit::Time)
    } else if says(&["resource limit", "canceled"]) || reason == "unknown" {
        Answer::GaveUp(Limit::Resources)
    } else if says(&["memory", "memout"]) {
        Answer::GaveUp(Limit::Memory)
    } else {
        Answer::NotProved
    }
}
