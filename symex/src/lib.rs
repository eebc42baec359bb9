//! Symbolic execution with permissions: one [`Engine`] verifies one member.
//!
//! The rules are those of Schwerhoff 2011 (*Symbolic Execution for Chalice*, chapter 3) as refined
//! since by Müller, Schwerhoff and Summers 2016, in direct style: a rule is a method that returns a
//! `Result`, and where the thesis passes a continuation twice we ask [`Engine::branch`], which
//! answers for this run; the driver runs the statement again for the other answer (see
//! [`run::explore`]).
//!
//! In reading order: [`state`] (what a rule reads and changes), [`run`] (decisions), [`findings`]
//! (what is said of a failed obligation), [`knowledge`] (questions about the path),
//! [`quantifiers`], [`permission`], [`consolidation`] (what is learnt before an obligation fails),
//! [`rules`], [`members`]. Each of these names those before it and no others.
//!
//! Beside them stand what a run is given ([`options`], [`observer`]) and what it gives
//! ([`report`]).

mod apart;
pub mod clock;
pub mod consolidation;
pub mod findings;
pub mod knowledge;
pub mod members;
pub mod observer;
pub mod options;
pub mod permission;
pub mod quantifiers;
pub mod report;
pub mod rules;
pub mod run;
pub mod state;
pub mod whole;

pub use self::findings::incidents::Watch;
pub use self::run::explore::Explore;
pub use self::state::mode::View;

use std::any::Any;
use std::sync::OnceLock;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::plugins::termination::Instrumented;
use sil::program::{DomainId, FieldId, FunctionId, PredicateId, Program, Type};
use sil::source::{Sources, Span};
use smt::prover::{Prover, ProverError, ProverOptions, Workspace};
use smt::terms::{Term, Terms};

use self::clock::Until;
use self::findings::blame::Blame;
use self::findings::evaluated::Evaluated;
use self::findings::incidents::Incidents;
use self::findings::log::Log;
use self::knowledge::domain::Domains;
use self::knowledge::functions::FunctionTable;
use self::knowledge::goals;
use self::knowledge::symbols;
use self::knowledge::type_patterns::TypePatterns;
use self::observer::Observer;
use self::options::{GivenUp, Join, Options};
use self::permission::quantified;
use self::report::{Finding, Statistics};
use self::run::explore::Run;
use self::run::scopes::Knowledge;
use self::state::mode::{Gathered, Mode};
use self::state::{Frame, Here};
use self::whole::Facts;

/// Why a run stops before its end. `?` passes it on; only [`Explore`] and the drivers look inside.
///
/// A failed obligation is no reason to stop: it is reported, assumed where that can be, and the run
/// goes on.
#[derive(Debug)]
pub enum Stop {
    /// The path condition is contradictory: nothing is left to show.
    Infeasible,
    /// A construct the engine does not know; the member is not verified.
    Unsupported { span: Span, what: String },
    /// The wall-clock limit of the member, never reported as verified.
    OutOfTime,
    /// The observer wants no more.
    Cancelled,
    /// The member is not to be tried; why.
    GivenUp(String),
    /// There are more paths, or more questions, than this attempt was to have: another one may get
    /// on.
    TooMuch,
    /// The solver failed.
    Broken(String),
}

impl From<ProverError> for Stop {
    fn from(error: ProverError) -> Self {
        match error {
            ProverError::OutOfMemory => Self::GivenUp(error.to_string()),
            ProverError::Solver(_) | ProverError::IllSorted(_) | ProverError::Backend { .. } => {
                Self::Broken(error.to_string())
            }
        }
    }
}

/// How far an attempt to verify a member goes before another one is made; `None`: to the end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits {
    /// Paths of a method.
    pub paths: Option<u64>,
    /// Questions.
    pub questions: Option<u64>,
    /// Those that reach the prover.
    pub by_prover: Option<u64>,
}

/// The shared data of all members of one program.
pub struct Context<'p> {
    pub program: &'p Program,
    pub sources: &'p Sources,
    pub options: &'p Options,
    pub given_up: &'p [GivenUp],
    pub observer: &'p dyn Observer,
    /// Axioms of the functions verified so far.
    pub functions: FunctionTable,
    /// The failure of the body of each predicate checked so far.
    pub ill_formed_predicates: FxHashMap<PredicateId, OnceLock<bool>>,
    /// The program with its termination checks, if it has any.
    pub termination: Option<&'p Instrumented>,
    /// The program as the rules of another language than SIL read it, if one is executed:
    /// `program` is the table of its declarations then.
    pub own: Option<&'p (dyn Any + Send + Sync)>,
    pub above: Above,
    /// Which axioms of domains are of use for which types.
    pub types: TypePatterns,
}

impl<'p> Context<'p> {
    /// Before any member has been verified.
    pub fn new(
        program: &'p Program,
        sources: &'p Sources,
        options: &'p Options,
        observer: &'p dyn Observer,
        termination: Option<&'p Instrumented>,
        above: Above,
    ) -> Self {
        let predicates = program.predicates.iter();
        Self {
            program,
            sources,
            options,
            given_up: &[],
            observer,
            functions: FunctionTable::new(program),
            ill_formed_predicates: predicates.map(|(id, _)| (id, OnceLock::new())).collect(),
            termination,
            own: None,
            above,
            types: TypePatterns::new(program),
        }
    }
}

/// The results for other members that this member may build on: those that it depends on. All
/// others may or may not be known by now, so they are not used.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'p> {
    pub functions: &'p FxHashSet<FunctionId>,
    /// Functions of the recursion group being verified, whose contracts have been checked.
    pub contracts: &'p [FunctionId],
    /// Those of them whose bodies have been checked.
    pub definitions: &'p [FunctionId],
    pub predicates: &'p FxHashSet<PredicateId>,
    /// The questions about the program as a whole.
    pub facts: &'p Facts<'p>,
}

/// How permission amounts are read (trap T8: both sides of a function's contract use the same
/// reading).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Amounts {
    #[default]
    Exact,
    /// Every positive amount is as good as any other. In functions and their preconditions, where
    /// nothing is taken away; and of a heap: what its amounts are in sum tells nothing, also while
    /// the body of a predicate is checked, or a function that one applies.
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
pub enum Reading {
    Inhale,
    Exhale,
}

/// Opens an instance of a predicate.
type Unfold = fn(&mut Engine<'_>, PredicateId, &[Term], Term, Span, Blame) -> Result<(), Stop>;

/// The rules above that lower rooms need and do not name.
#[derive(Clone, Copy)]
pub struct Above {
    /// Learns from the heap before an obligation fails; whether anything was new.
    pub consolidation: fn(&mut Engine<'_>) -> Result<bool, Stop>,
    /// Tells the prover the axioms of an instance of a domain.
    pub axioms: fn(&mut Engine<'_>, DomainId, &[Type]) -> Result<(), Stop>,
    /// Opens an instance of a predicate: its arguments, the amount, and how it is blamed.
    pub unfold: Unfold,
    /// The fields of which an instance of a predicate may hold a part, itself; none if it must not
    /// be opened beside others.
    pub fields_in: fn(&mut Engine<'_>, PredicateId) -> Option<Vec<FieldId>>,
    /// The words for a constant that stands for an amount; none where those of the program will do.
    pub amounts: Option<fn(&str) -> Option<&'static str>>,
}

/// How a member is verified. Set before it begins.
pub struct Setting<'p> {
    pub(crate) above: Above,
    pub(crate) visible: Visible<'p>,
    /// Set while a function is verified: functions of its own recursion group are used limited.
    pub recursion_group: FxHashSet<FunctionId>,
    /// The verified member is a function.
    pub is_function: bool,
    /// When states are merged where ways meet.
    pub join: Join,
    /// The paths of a method are followed one by one all the same.
    pub one_by_one: bool,
    /// How far this attempt goes.
    pub limits: Limits,
    pub until: Until,
}

/// The knowledge about the left-hand side and the footprint of a wand together, where both hold.
///
/// SOUNDNESS: of one that is given away nothing is known, and nothing is said before the wand is
/// applied: facts about the left-hand side do not leave the package otherwise (trap T10d).
#[derive(Debug)]
pub struct Agreement {
    /// The left-hand side they speak about.
    pub root: Term,
    pub facts: Vec<Term>,
}

/// The symbols and tables made of the program so far. An entry is the same whichever path made it,
/// and a run that is repeated finds the entries that it made before.
#[derive(Debug, Default)]
pub struct Made {
    /// Applications of program functions to their limited variants, for triggers.
    pub(crate) limited: FxHashMap<Term, Term>,
    /// How the quantified formulas met so far came about.
    pub(crate) quantifiers: FxHashMap<Term, goals::Noted>,
    /// Facts that define a new symbol: some value of it makes them true on every path.
    pub(crate) defining: FxHashSet<Term>,
    /// Symbols for quantified permissions.
    pub(crate) quantified: quantified::Tables,
    /// The structures of the wands met so far, with the sorts of their holes.
    pub wands: IndexMap<String, Vec<smt::terms::Sort>>,
    /// The knowledge about the packaged wands, by their values.
    pub agreements: FxHashMap<Term, Agreement>,
}

/// Tables that save work and change no answer.
#[derive(Debug, Default)]
pub struct Caches {
    /// The symbols of the functions met so far.
    pub function_symbols: FxHashMap<FunctionId, symbols::FunctionSymbols>,
}

/// Verifies one member. Its fields are grouped by who may change them.
pub struct Engine<'p> {
    /// The shared data of all members, and the settings of this one: nothing changes them while a
    /// member is verified.
    pub context: &'p Context<'p>,
    pub program: &'p Program,
    pub setting: Setting<'p>,
    pub terms: Terms,
    /// σ of the papers, in two halves, and the mode of evaluation: rules change them, the explorer
    /// puts them back, all together.
    pub frame: Frame<'p>,
    pub here: Here,
    pub mode: Mode,
    /// The finds that the evaluation in progress leaves to its caller, and to no other.
    pub gathered: Gathered,
    incidents: Incidents,
    /// The values of expressions, for counterexamples.
    evaluated: Evaluated,
    /// The knowledge about the path, π of the papers, and the prover that knows the same.
    pub knowledge: Knowledge,
    pub prover: Prover,
    pub domains: Domains,
    pub made: Made,
    /// The explorations in progress.
    pub run: Run<'p>,
    /// The findings and the cost: rules write the log and cannot read it.
    pub log: Log,
    pub caches: Caches,
}

/// The result of the verification of a member.
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub warnings: Vec<Finding>,
    pub gave_up: bool,
    /// Failures may have been left out because of a finding that is not there any more: a defect.
    pub leaves_failures_open: bool,
    pub statistics: Statistics,
}

impl<'p> Engine<'p> {
    /// `log` receives what the prover is told.
    pub fn new(
        context: &'p Context<'p>,
        visible: Visible<'p>,
        workspace: &Workspace,
        log: Option<Box<dyn std::io::Write>>,
    ) -> Result<Self, Stop> {
        let options = context.options;
        let options_of_prover = ProverOptions {
            smt_log: log,
            models: options.counterexample,
            variation: options.variation,
            ..ProverOptions::default()
        };
        let setting = Setting {
            above: context.above,
            visible,
            recursion_group: FxHashSet::default(),
            is_function: false,
            join: options.join,
            one_by_one: false,
            limits: Limits::default(),
            until: Until::new(options.member_time_limit, options.deadline),
        };
        let mut engine = Self {
            context,
            program: context.program,
            setting,
            terms: Terms::new(),
            frame: Frame::new(state::no_locals()),
            here: Here::default(),
            mode: Mode::default(),
            gathered: Gathered::default(),
            incidents: Incidents::default(),
            evaluated: Evaluated::default(),
            knowledge: Knowledge::default(),
            prover: Prover::within(workspace, options_of_prover)?,
            domains: Domains::default(),
            made: Made::default(),
            run: Run::default(),
            log: Log::default(),
            caches: Caches::default(),
        };
        engine.log.enter("contract", Span::default());
        engine.use_foreign_axioms();
        Ok(engine)
    }

    /// Tells whether a predicate's body failed its own check: then its uses are checked like any
    /// assertion.
    pub fn is_ill_formed_predicate(&self, predicate: PredicateId) -> bool {
        let checked = self.context.ill_formed_predicates.get(&predicate);
        self.setting.visible.predicates.contains(&predicate)
            && checked.and_then(OnceLock::get).copied().unwrap_or(false)
    }

    /// Tells whether states have been merged: for the drivers of the engine.
    pub fn has_merged(&self) -> bool {
        self.log.has_merged()
    }

    /// Returns the findings and the cost.
    pub fn finish(mut self) -> Outcome {
        if let Some((domain, what)) = self.axioms_left_out() {
            self.log.relate(domain, &what);
        }
        self.log.close()
    }
}
