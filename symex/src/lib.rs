//! Symbolic execution with permissions: one [`Engine`] verifies one member.
//!
//! The rules are those of Schwerhoff 2011 (*Symbolic Execution for Chalice*, chapter 3) as refined
//! since by Müller, Schwerhoff and Summers 2016, in direct style. A rule is a method that returns a
//! `Result`. Where the thesis passes a continuation twice, a rule asks [`Engine::branch`], which
//! answers for this run. The driver runs the statement again for the other answer (see
//! [`run::explore`]).
//!
//! An engine has four [`layers`]: the receiver of a method says what the method can touch.
//!
//! In reading order: [`state`] (the state that rules read and change), [`run`] (decisions),
//! [`findings`] (reports of failed obligations), [`knowledge`] (questions about the path),
//! [`quantifiers`], [`permission`], [`consolidation`] (learning before an obligation fails),
//! [`rules`], [`members`]. Each of these names those before it and no others.
//!
//! Beside them stand the inputs of a run ([`options`], [`observer`]) and its results ([`report`]).

mod apart;
pub mod clock;
pub mod consolidation;
pub mod findings;
pub mod knowledge;
mod layers;
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
pub use self::layers::{Agreement, Caches, Configuration, Made, Path, Symbols};
pub use self::run::explore::Explore;
pub use self::state::mode::View;

use std::any::Any;
use std::sync::OnceLock;

use derive_more::{Deref, DerefMut};
use rustc_hash::{FxHashMap, FxHashSet};
use sil::plugins::termination::Instrumented;
use sil::program::{DomainId, FieldId, FunctionId, LocalId, PredicateId, Program, Type};
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
use self::knowledge::type_patterns::TypePatterns;
use self::observer::Observer;
use self::options::{GivenUp, Join, Options};
use self::report::{Finding, Statistics};
use self::run::explore::Run;
use self::run::scopes::Knowledge;
use self::state::mode::{Gathered, Mode};
use self::state::{Frame, Here};
use self::whole::Facts;

/// The reason why a run stops before its end. `?` passes it on; only [`Explore`] and the drivers
/// look inside.
///
/// A failed obligation is no reason to stop. It is reported, assumed if possible, and the run goes
/// on.
#[derive(Debug)]
pub enum Stop {
    /// The path condition is contradictory: nothing is left to show.
    Infeasible,
    /// The engine does not know a construct; the member is not verified.
    Unsupported { span: Span, what: String },
    /// The wall-clock limit of the member is over. The member is never reported as verified.
    OutOfTime,
    /// The observer wants no more.
    Cancelled,
    /// The member is not to be tried, for this reason.
    GivenUp(String),
    /// This attempt has too many paths or questions. Another attempt may succeed.
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

/// The limits of an attempt to verify a member, before another attempt is made; `None` is no limit.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits {
    /// Paths of a method.
    pub paths: Option<u64>,
    /// Questions.
    pub questions: Option<u64>,
    /// Questions that reach the prover.
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
    /// The program in another language than SIL, if one is executed. Then `program` is the table of
    /// its declarations.
    pub own: Option<&'p (dyn Any + Send + Sync)>,
    pub above: Above,
    /// The use of domain axioms for types.
    pub types: TypePatterns,
}

impl<'p> Context<'p> {
    /// Makes the context before any member has been verified.
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

/// The results for other members on which this member depends. Other results may or may not be
/// known by now, so they are not used.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'p> {
    pub functions: &'p FxHashSet<FunctionId>,
    /// Functions of the recursion group being verified, whose contracts have been checked.
    pub contracts: &'p [FunctionId],
    /// The functions among `contracts` whose bodies have been checked.
    pub definitions: &'p [FunctionId],
    pub predicates: &'p FxHashSet<PredicateId>,
    /// The questions about the program as a whole.
    pub facts: &'p Facts<'p>,
}

/// The reading of permission amounts (trap T8: both sides of a function's contract use the same
/// reading).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Amounts {
    #[default]
    Exact,
    /// Every positive amount is as good as any other. This is the reading of functions and their
    /// preconditions, where nothing is taken away. For a heap it means that sums of its amounts
    /// tell nothing, such as while the body of a predicate is checked, or a function that the body
    /// applies.
    SomeOrNone,
}

impl Amounts {
    /// Returns the reading that says less.
    pub(crate) fn weaker(self, other: Self) -> Self {
        if self == Self::Exact { other } else { self }
    }
}

/// A side of `[a, b]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    Inhale,
    Exhale,
}

/// Opens an instance of a predicate.
type Unfold =
    fn(&mut Engine<'_>, PredicateId, &[Term], Term, bool, Span, Blame) -> Result<(), Stop>;

/// The rules above that lower rooms need and do not name.
#[derive(Clone, Copy)]
pub struct Above {
    /// Learns from the heap before an obligation fails. Tells whether any fact was new.
    pub consolidation: fn(&mut Engine<'_>) -> Result<bool, Stop>,
    /// Tells the prover the axioms of an instance of a domain.
    pub axioms: fn(&mut Engine<'_>, DomainId, &[Type]) -> Result<(), Stop>,
    /// Opens an instance of a predicate. The parameters are its arguments, the amount, whether the
    /// ways through the body are merged in any case, the place, and the blame.
    pub unfold: Unfold,
    /// Returns the fields of which an instance of a predicate may hold a part itself; `None` if the
    /// instance must not be opened beside others.
    pub fields_in: fn(&mut Engine<'_>, PredicateId) -> Option<Vec<FieldId>>,
    /// Tells whether the body of a predicate mentions permission to a field of a formal argument.
    pub holds: fn(&Program, PredicateId, LocalId, FieldId) -> bool,
    /// Returns the words for a constant that stands for an amount; `None` if the program's words
    /// will do.
    pub amounts: Option<fn(&str) -> Option<&'static str>>,
}

/// The settings for the verification of a member, made before it begins.
pub struct Setting<'p> {
    pub(crate) above: Above,
    pub(crate) visible: Visible<'p>,
    /// The recursion group of the verified function, if it is one. Its functions are used limited.
    pub recursion_group: FxHashSet<FunctionId>,
    /// Tells whether the verified member is a function.
    pub is_function: bool,
    /// The condition for merging states where ways meet.
    pub join: Join,
    /// Tells whether the paths of a method are followed one by one nevertheless.
    pub one_by_one: bool,
    /// The limits of this attempt.
    pub limits: Limits,
    pub until: Until,
}

/// Verifies one member: the uppermost of the [`layers`].
#[derive(Deref, DerefMut)]
pub struct Engine<'p> {
    #[deref]
    #[deref_mut]
    pub config: Configuration<'p>,
    /// The incidents of the evaluation in progress.
    pub incidents: Incidents,
    /// The values of expressions, for counterexamples.
    evaluated: Evaluated,
}

/// The result of the verification of a member.
pub struct Outcome {
    pub findings: Vec<Finding>,
    pub warnings: Vec<Finding>,
    pub gave_up: bool,
    /// Tells whether failures have been left out because of a finding that is gone: a defect.
    pub leaves_failures_open: bool,
    pub statistics: Statistics,
}

impl<'p> Engine<'p> {
    /// Makes an engine. `log` receives the input of the prover.
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
        let symbols = Symbols {
            context,
            program: context.program,
            setting,
            terms: Terms::new(),
            domains: Domains::default(),
            made: Made::default(),
            caches: Caches::default(),
        };
        let path = Path {
            symbols,
            knowledge: Knowledge::default(),
            prover: Prover::within(workspace, options_of_prover)?,
            run: Run::default(),
            mode: Mode::default(),
            gathered: Gathered::default(),
            log: Log::default(),
        };
        let mut engine = Self {
            config: Configuration {
                path,
                frame: Frame::new(state::no_locals()),
                here: Here::default(),
            },
            incidents: Incidents::default(),
            evaluated: Evaluated::default(),
        };
        engine.log.enter("contract", Span::default());
        engine.use_foreign_axioms();
        Ok(engine)
    }

    /// Returns the findings and the cost.
    pub fn finish(mut self) -> Outcome {
        if let Some((domain, what)) = self.axioms_left_out() {
            self.log.relate(domain, &what);
        }
        self.config.path.log.close()
    }
}

impl Symbols<'_> {
    /// Tells whether a predicate's body failed its own check. Then its uses are checked like any
    /// assertion.
    pub fn is_ill_formed_predicate(&self, predicate: PredicateId) -> bool {
        let checked = self.context.ill_formed_predicates.get(&predicate);
        self.setting.visible.predicates.contains(&predicate)
            && checked.and_then(OnceLock::get).copied().unwrap_or(false)
    }
}

impl Path<'_> {
    /// Tells whether states have been merged: for the drivers of the engine.
    pub fn has_merged(&self) -> bool {
        self.log.has_merged()
    }
}
