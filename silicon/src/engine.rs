//! The symbolic-execution engine: one [`Engine`] verifies one member.
//!
//! The rules are those of Schwerhoff 2011 (*Symbolic Execution for Chalice*, chapter 3) as refined by the
//! reference engine, in direct style: a rule is a method that returns a `Result`, and where the thesis passes a
//! continuation twice we ask [`Engine::branch`], which answers for this run; the driver runs the statement again
//! for the other answer (see [`explore`]).
//!
//! In reading order: [`state`] (what a rule reads and changes), [`run`] (decisions), [`knowledge`] (facts and questions to the
//! prover), [`findings`] (how a failed obligation is reported), [`permission`] (the heap), [`quantifiers`], [`consolidation`] (what is
//! learnt before an obligation fails), [`rules`], [`members`].

pub(crate) mod consolidation;
pub(crate) mod findings;
pub(crate) mod knowledge;
pub(crate) mod members;
pub(crate) mod permission;
pub(crate) mod quantifiers;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod state;

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Instant;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::plugins::termination::Instrumented;
use sil::program::{DomainId, FunctionId, PredicateId, Program, Type};
use sil::source::{Sources, Span};
use smt::facts::Facts;
use smt::prover::{Prover, ProverError, ProverOptions, Workspace};
use smt::terms::{Symbol, Term, Terms};

use crate::engine::consolidation::nesting;
use crate::engine::findings::blame;
use crate::engine::knowledge::symbols;
use crate::engine::members::function;
use crate::engine::members::function::FunctionTable;
use crate::engine::permission::{heap, quantified};
use crate::engine::quantifiers::goals;
use crate::engine::rules::{eval, wands};
use crate::engine::run::explore::{Explorer, Scope};
use crate::engine::run::parts::Sharing;
use crate::engine::state::State;
use crate::options::{Join, Options};
use crate::report::{Finding, Statistics};

/// Why a run stops before its end. `?` passes it on; only [`explore`] and the drivers look inside.
///
/// A failed obligation is no reason to stop: it is reported, assumed, and the run goes on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The path condition is contradictory: nothing is left to show.
    Infeasible,
    /// A construct the engine does not know; the member is not verified.
    Unsupported { span: Span, what: String },
    /// The wall-clock limit of the member, never reported as verified.
    OutOfTime,
    /// There are more paths, or more questions, than this attempt was to have: another one may get on.
    TooMuch,
    /// The solver failed.
    Broken(String),
}

impl From<ProverError> for Stop {
    fn from(error: ProverError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// How far an attempt to verify a member goes before another one is made; `None`: to the end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Limits {
    /// Paths of a method.
    pub(crate) paths: Option<u64>,
    /// Questions.
    pub(crate) questions: Option<u64>,
    /// Those that reach the prover.
    pub(crate) by_prover: Option<u64>,
}

/// What all members of one program share.
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) sources: &'p Sources,
    pub(crate) options: &'p Options,
    /// Fields and predicates that occur as triggers.
    pub(crate) trigger_resources: std::collections::BTreeSet<heap::Resource>,
    /// Axioms of the functions verified so far.
    pub(crate) functions: FunctionTable,
    /// Predicates whose instances may hold instances of themselves.
    pub(crate) recursive_predicates: FxHashSet<PredicateId>,
    /// Functions that are applied in bodies of predicates, there or by such functions.
    pub(crate) functions_in_bodies: FxHashSet<FunctionId>,
    /// Predicates in whose bodies something is asserted inside of an expression, there or in an instance opened there.
    pub(crate) asserting_predicates: FxHashSet<PredicateId>,
    /// Of the predicates checked so far, whether their bodies failed.
    pub(crate) ill_formed_predicates: FxHashMap<PredicateId, OnceLock<bool>>,
    /// Whether applying a magic wand may change values.
    pub(crate) scripts_may_write: bool,
    /// Whether what a function knows of its precondition is what its callers show: see [`function::contracts_have_one_reading`].
    pub(crate) contracts_have_one_reading: bool,
    /// The program with its termination checks, if it has any.
    pub(crate) termination: Option<&'p Instrumented>,
}

impl<'p> Context<'p> {
    /// Before any member has been verified.
    pub(crate) fn new(
        program: &'p Program,
        sources: &'p Sources,
        options: &'p Options,
        termination: Option<&'p Instrumented>,
    ) -> Self {
        let predicates = program.predicates.iter();
        Self {
            trigger_resources: quantified::touch::trigger_resources(program),
            program,
            sources,
            options,
            functions: FunctionTable::new(program),
            recursive_predicates: nesting::recursive_predicates(program),
            functions_in_bodies: function::functions_in_bodies(program),
            asserting_predicates: nesting::asserting_predicates(program),
            ill_formed_predicates: predicates.map(|(id, _)| (id, OnceLock::new())).collect(),
            scripts_may_write: wands::scripts_may_write(program),
            contracts_have_one_reading: function::contracts_have_one_reading(program),
            termination,
        }
    }
}

/// What has been shown of other members that this one may build on: what it depends on. All else may or may not be known
/// by now, so nothing is made of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visible<'p> {
    pub(crate) functions: &'p FxHashSet<FunctionId>,
    /// Functions of which only the contract has been checked: those of the recursion group being verified.
    pub(crate) contracts: &'p [FunctionId],
    pub(crate) predicates: &'p FxHashSet<PredicateId>,
}

/// How permission amounts are read (trap T8: both sides of a function's contract use the same reading).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Amounts {
    #[default]
    Exact,
    /// Every positive amount is as good as any other. In functions and their preconditions, where nothing is taken away;
    /// and of a heap: what its amounts are in sum tells nothing, also while the body of a predicate is checked, or a
    /// function that one applies.
    SomeOrNone,
}

impl Amounts {
    /// The one of two readings that says less.
    pub(crate) fn weaker(self, other: Self) -> Self {
        if self == Self::Exact { other } else { self }
    }
}

/// Which side of `[a, b]` is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    Inhale,
    Exhale,
}

/// A consume did not find what it asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    /// `None`: nobody was to be told.
    pub(crate) reported: Option<blame::Reported>,
}

/// Verifies one member. σ of the papers is [`Engine::state`], π is spread over `scopes`.
pub(crate) struct Engine<'p> {
    pub(crate) context: &'p Context<'p>,
    pub(crate) program: &'p Program,
    pub(crate) visible: Visible<'p>,
    pub(crate) terms: Terms,
    pub(crate) prover: Prover,
    pub(crate) state: State<'p>,
    /// The tree of facts, from the root to where the current run is. Mirrors the solver's stack.
    pub(crate) scopes: Vec<Scope>,
    /// All facts and literals of `scopes`, split into conjuncts.
    pub(crate) known: FxHashSet<Term>,
    /// The same, and what follows without the prover.
    pub(crate) facts: Facts,
    /// The explorations in progress, innermost last.
    pub(crate) explorers: Vec<Explorer>,
    /// Variables of the quantifiers around the expression being evaluated: fresh symbols are functions of them.
    pub(crate) bound: Vec<Term>,
    /// The functions of domains that have been applied.
    pub(crate) domain_symbols: FxHashSet<Symbol>,
    /// What the type parameters of a domain stand for while its axioms are evaluated.
    pub(crate) type_arguments: FxHashMap<sil::source::Name, sil::program::Type>,
    /// Whether something is evaluated that is kept for all paths (see [`apart`]).
    pub(crate) is_apart: bool,
    /// How many axioms of domains are being evaluated, one because of the other.
    pub(crate) axioms_in_progress: usize,
    /// Instances of domains whose axioms the prover has not been told.
    pub(crate) untold_domains: VecDeque<(DomainId, Vec<Type>)>,
    /// How deep types may be nested in instances of domains that axioms ask for.
    pub(crate) type_depth: usize,
    /// The applications met so far in the bodies of the quantifiers around, for their triggers.
    pub(crate) applications: Vec<eval::applications::Application>,
    /// Definitions of maps met so far in the bodies of the quantifiers around.
    pub(crate) met_below: Vec<Term>,
    /// Whether a trigger is being evaluated.
    pub(crate) in_trigger: bool,
    /// Whether an evaluation learns from the heaps it comes to.
    pub(crate) learns_inside: bool,
    /// Whether what is asserted inside of expressions is not shown now, but later (see [`Self::verify_predicate`]).
    pub(crate) leaves_out_assertions: bool,
    /// How many fields have been read without permission.
    pub(crate) unread: usize,
    /// Of the application whose precondition is being consumed: what was not there.
    pub(crate) missing: Option<Missing>,
    /// Terms of triggers met so far that are not defined where they are written.
    pub(crate) undefined_triggers: usize,
    /// The variables for what is not defined in a trigger, where there are to be any.
    pub(crate) trigger_holes: Option<Vec<Term>>,
    /// Applications of program functions to their limited variants, for triggers.
    pub(crate) limited: FxHashMap<Term, Term>,
    /// How the quantified formulas met so far came about.
    pub(crate) quantifiers: FxHashMap<Term, goals::Noted>,
    pub(crate) emitted: symbols::Emitted,
    /// The symbols of the functions met so far.
    pub(crate) function_symbols: FxHashMap<FunctionId, symbols::FunctionSymbols>,
    pub(crate) tables: quantified::Tables,
    /// The structures of the wands met so far, with the sorts of their holes.
    pub(crate) wands: IndexMap<String, Vec<smt::terms::Sort>>,
    /// The heaps that `old` inside of wands refers to.
    pub(crate) heaps_in_wands: Vec<heap::Heap>,
    /// What the left-hand sides of the packages in progress give, innermost last.
    pub(crate) roots: Vec<Term>,
    /// Definitions of symbols made since the innermost package began.
    pub(crate) definitions: Vec<wands::Definition>,
    /// What is known of the wands packaged, by their values.
    pub(crate) agreements: FxHashMap<Term, wands::Agreement>,
    /// Set while a function is verified: functions of its own recursion group are used limited.
    pub(crate) recursion_group: FxHashSet<FunctionId>,
    /// Set while the body of a function is evaluated for its definition, if sides that are never taken may be left out.
    pub(crate) is_defining: bool,
    /// Predicate instances unfolded on this path of a function body: (snapshot, arguments, predicate).
    pub(crate) unfolded: Vec<(sil::program::PredicateId, Vec<Term>, Term)>,
    /// Values that stand for something whose absence has been reported: what fails because of them is no news.
    pub(crate) tainted: blame::Tainted,
    /// The `refute` statements that some path has refuted.
    pub(crate) refuted: FxHashSet<(Span, Span)>,
    pub(crate) findings: IndexMap<(String, Span), Finding>,
    /// How often an obligation has failed, on any path.
    pub(crate) failures: usize,
    /// What was evaluated where a quantifier turned out not to be defined for all values.
    pub(crate) undefined: FxHashSet<Span>,
    /// Whether a contract is being checked as those read it who have to prove it.
    pub(crate) in_other_reading: bool,
    /// The clauses that are ill-formed in that reading only.
    pub(crate) ill_formed_otherwise: FxHashSet<Span>,
    /// What is worth saying of a member that is verified.
    pub(crate) warnings: Vec<Finding>,
    /// Where an obligation hit the resource limit.
    pub(crate) gave_up: bool,
    /// When states are merged where ways meet.
    pub(crate) join: Join,
    /// Whether the paths of a method are followed one by one all the same.
    pub(crate) one_by_one: bool,
    /// Whether the conditionals of assertions are merged in the step that is being run.
    pub(crate) joins: bool,
    /// How often states have been merged.
    pub(crate) merges: u64,
    /// Facts that define a new symbol: some value of it makes them true on every path.
    pub(crate) defining: FxHashSet<Term>,
    pub(crate) statistics: Statistics,
    /// What is being executed, as questions are counted.
    pub(crate) construct: &'static str,
    pub(crate) deadline: Option<Instant>,
    /// How far this attempt goes.
    pub(crate) limits: Limits,
    /// Where others help with the member.
    pub(crate) sharing: Option<Sharing<'p>>,
    /// Whether the step that is being run has come to a decision where other alternatives are left to others.
    pub(crate) has_turned: bool,
}

/// What the verification of a member found.
pub(crate) struct Outcome {
    pub(crate) findings: Vec<Finding>,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) gave_up: bool,
    pub(crate) statistics: Statistics,
}

impl<'p> Engine<'p> {
    /// `log` receives what the prover is told.
    pub(crate) fn new(
        context: &'p Context<'p>,
        visible: Visible<'p>,
        workspace: &Workspace,
        log: Option<Box<dyn std::io::Write>>,
    ) -> Result<Self, Stop> {
        let options = context.options;
        let untriggered = options.without_own_triggers.then_some(quantified::QUANTIFIERS);
        let options_of_prover = ProverOptions {
            smt_log: log,
            untriggered,
            models: options.counterexample,
            ..ProverOptions::default()
        };
        let limit = options.member_time_limit.map(|limit| Instant::now() + limit);
        let mut engine = Self {
            context,
            program: context.program,
            visible,
            terms: Terms::new(),
            prover: Prover::within(workspace, options_of_prover)?,
            state: State::new(state::no_locals()),
            scopes: vec![Scope::default()],
            known: FxHashSet::default(),
            facts: Facts::new(),
            construct: "contract",
            explorers: Vec::new(),
            bound: Vec::new(),
            type_arguments: FxHashMap::default(),
            is_apart: false,
            axioms_in_progress: 0,
            untold_domains: VecDeque::new(),
            type_depth: 0,
            applications: Vec::new(),
            met_below: Vec::new(),
            in_trigger: false,
            learns_inside: false,
            leaves_out_assertions: false,
            unread: 0,
            missing: None,
            undefined_triggers: 0,
            trigger_holes: None,
            limited: FxHashMap::default(),
            quantifiers: FxHashMap::default(),
            emitted: symbols::Emitted::default(),
            function_symbols: FxHashMap::default(),
            tables: quantified::Tables::default(),
            wands: IndexMap::new(),
            heaps_in_wands: Vec::new(),
            roots: Vec::new(),
            definitions: Vec::new(),
            agreements: FxHashMap::default(),
            recursion_group: FxHashSet::default(),
            is_defining: false,
            domain_symbols: FxHashSet::default(),
            unfolded: Vec::new(),
            tainted: blame::Tainted::default(),
            refuted: FxHashSet::default(),
            findings: IndexMap::new(),
            failures: 0,
            undefined: FxHashSet::default(),
            in_other_reading: false,
            ill_formed_otherwise: FxHashSet::default(),
            warnings: Vec::new(),
            gave_up: false,
            join: options.join,
            one_by_one: false,
            joins: false,
            merges: 0,
            defining: FxHashSet::default(),
            statistics: Statistics::default(),
            limits: Limits::default(),
            sharing: None,
            has_turned: false,
            deadline: limit.into_iter().chain(options.deadline).min(),
        };
        engine.use_foreign_axioms()?;
        Ok(engine)
    }

    /// Whether a predicate's body failed its own check: then its uses are checked like any assertion.
    pub(crate) fn is_ill_formed_predicate(&self, predicate: PredicateId) -> bool {
        let checked = self.context.ill_formed_predicates.get(&predicate);
        self.visible.predicates.contains(&predicate)
            && checked.and_then(OnceLock::get).copied().unwrap_or(false)
    }

    pub(crate) fn finish(self) -> Outcome {
        Outcome {
            findings: self.findings.into_values().collect(),
            warnings: self.warnings,
            gave_up: self.gave_up,
            statistics: self.statistics,
        }
    }
}
