//! The findings of verification, independent of their output.

mod counterexample;
mod negation;
pub mod shown;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

pub use counterexample::{
    Applied, Counterexample, Forgotten, HeapPlace, Held, Location, Named, PartValue, Share, Shown,
    ShownApplied, Value, Variable,
};
pub use findings::full_id;
pub use findings::{ErrorId, Reason};
use indexmap::IndexMap;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::{Deserialize, Serialize};
pub use sil::render::Severity;
use sil::source::{Name, Span};

/// The outcome for one program, members in source order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub members: Vec<MemberReport>,
}

/// The outcome for one member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberReport {
    pub kind: MemberKind,
    pub name: String,
    pub span: Span,
    pub verdict: Verdict,
    /// In the order in which execution met them, without duplicates.
    pub findings: Vec<Finding>,
    /// The places taken without proof, each with its words: no body, or a trusted construct.
    pub trusted: Vec<(Span, String)>,
    pub statistics: Statistics,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum MemberKind {
    Method,
    Function,
    Predicate,
    Domain,
}

impl MemberKind {
    /// Returns the word for the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Function => "function",
            Self::Predicate => "predicate",
            Self::Domain => "domain",
        }
    }
}

/// The verdict on a member. Nothing but `Verified` counts as verified.
///
/// Ordered by weight: the heaviest of several verdicts is the verdict on the whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Verdict {
    Verified,
    /// A limit was hit: "gave up".
    Inconclusive,
    /// The member uses a construct that the engine does not know yet.
    Unsupported,
    Failed,
    /// A defect of the verifier, caught at the member.
    Error,
}

impl Verdict {
    /// All verdicts, from the lightest to the heaviest.
    pub const ALL: [Self; 5] =
        [Self::Verified, Self::Inconclusive, Self::Unsupported, Self::Failed, Self::Error];

    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Inconclusive => "inconclusive",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Error => "error",
        }
    }
}

/// A failed obligation, or a warning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    /// The user's action.
    pub error: ErrorId,
    /// The obligation that could not be shown.
    pub reason: Option<Reason>,
    /// The words for a SIL program; the origin of the span has a front end's own words.
    pub message: String,
    /// The place of the error.
    pub span: Span,
    /// The sub-expression that could not be shown.
    pub reason_span: Option<Span>,
    /// Further places, each with its relation to the failure.
    pub related: Vec<(Span, String)>,
    /// The implementation of the method in which it was found, if there are several. All but one
    /// may meet a contract.
    pub implementation: Option<Within>,
    /// The branch conditions that led here.
    pub path: Vec<Step>,
    /// A state in which the obligation may fail, where one was asked for.
    pub counterexample: Option<Counterexample>,
    /// The missing permission, if there are words for it.
    pub shortfall: Option<Shortfall>,
    /// The receiver that might be null, as the user would write it.
    pub receiver: Option<String>,
}

/// One of several implementations of a method.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Within {
    pub index: usize,
    pub name: Option<Name>,
    pub span: Span,
}

impl Within {
    /// Returns the words for the implementation: by its name, or as the first, the second, ….
    pub fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("implementation `{name}`"),
            None => format!("implementation {}", self.index + 1),
        }
    }
}

/// Permission that is missing, in the words of the program. Names of a front end replace those in
/// the SIL text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shortfall {
    /// The location, as in `cell.value` or `list(node.next)`.
    pub location: String,
    /// The needed amount.
    pub needed: Amount,
    /// The amount that is certainly held.
    pub held: Amount,
    /// Tells whether `held` is the whole amount. Otherwise more may be held, of locations that may
    /// be others.
    pub is_all: bool,
    /// A held instance of a predicate that may have the permission inside.
    pub inside: Option<String>,
}

/// An amount of permission in a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Amount {
    /// Any amount but none.
    Some,
    Known(BigRational),
    /// The amount as the user would write it.
    Written(String),
    /// An amount without words in the program.
    Nameless,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Some => f.write_str("some"),
            Self::Known(amount) if amount.is_zero() => f.write_str("none"),
            Self::Known(amount) if amount.is_one() => f.write_str("write"),
            // Whole numbers have no denominator here.
            Self::Known(amount) => amount.fmt(f),
            Self::Nameless => f.write_str("an unknown amount"),
            Self::Written(amount) => f.write_str(amount),
        }
    }
}

/// Returns an amount in words that suit every language.
pub fn in_percent(amount: &BigRational) -> String {
    let percent = amount * BigInt::from(100);
    match percent.floor().to_integer() {
        _ if percent.is_zero() => "none".to_owned(),
        whole if percent.is_integer() => format!("{whole}%"),
        whole if whole.is_zero() => "less than 1%".to_owned(),
        whole => format!("more than {whole}%"),
    }
}

impl Shortfall {
    /// Describes the needed and the held amount.
    pub fn amounts(&self, in_words: impl Fn(&Amount) -> String) -> String {
        let is_held = if self.is_all { "held" } else { "known to be held" };
        let inside = self.inside.as_ref();
        let hint = inside.map(|it| format!("; `{it}` may have it, `unfold` it first"));
        let (needed, held) = (in_words(&self.needed), in_words(&self.held));
        format!("{needed} needed, {held} {is_held}{}", hint.unwrap_or_default())
    }
}

/// The words of a note at the clause of a contract that is used elsewhere.
pub const DECLARED_HERE: &str = "declared here";

/// A branch that a path took.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The place of the condition.
    pub condition: Span,
    /// The condition as written in the SIL program.
    pub text: String,
    /// Tells whether the condition held.
    pub taken: bool,
}

impl Step {
    /// Returns the words for the fact on the path, given those of the condition.
    pub fn words(&self, condition: String) -> String {
        if self.taken { condition } else { negation::negated(&condition, &self.text) }
    }
}

/// The key of a finding: see [`Finding::key`].
pub(crate) type FindingKey = (ErrorId, Option<Reason>, Span, Option<Span>, Option<usize>);

impl Finding {
    /// Makes a finding that has no more than its message.
    pub fn warning(error: ErrorId, reason: Option<Reason>, span: Span, message: String) -> Self {
        Self {
            severity: Severity::Warning,
            error,
            reason,
            message,
            span,
            reason_span: None,
            related: Vec::new(),
            implementation: None,
            path: Vec::new(),
            counterexample: None,
            shortfall: None,
            receiver: None,
        }
    }

    /// Returns the key that tells findings of one member apart. `by_part`: the key has the part of
    /// the statement that failed.
    pub fn key(&self, by_part: bool) -> FindingKey {
        let implementation = self.implementation.as_ref().map(|within| within.index);
        let part = self.part().filter(|_| by_part);
        (self.error, self.reason, self.span, part, implementation)
    }

    /// Returns the part of a statement that has failed, if parts are told: missing permission, and
    /// clauses of a contract that stands elsewhere.
    fn part(&self) -> Option<Span> {
        match self.reason {
            Some(Reason::InsufficientPermission) => self.reason_span,
            _ => {
                let own = self.implementation.as_ref().map(|within| within.span);
                let first = self.related.first().map(|&(clause, _)| clause);
                first.filter(|clause| Some(*clause) != own)
            }
        }
    }

    /// Returns `error:reason`, or just `error` without a reason.
    pub fn full_id(&self) -> String {
        full_id(self.error, self.reason)
    }

    /// Takes note of a finding about the same obligation on another path. The first finding stays,
    /// but an error replaces a warning.
    pub fn meet(&mut self, other: Finding) {
        if (self.severity, other.severity) == (Severity::Warning, Severity::Error) {
            *self = other;
        }
    }
}

/// The means that answered a question of the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// By the form of the formula: simplified, it is a literal.
    Form,
    /// By the facts of the path.
    Facts,
    /// By the solver, in this time.
    Prover(Duration),
}

/// The subject of a question. Of several subjects, the first in this order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Subject {
    /// A contradiction among the known facts.
    Contradiction,
    /// Amounts of permission.
    Amounts,
    /// Functions of domains.
    Domains,
    /// Sequences, sets, multisets and maps.
    Collections,
    /// Parts of snapshots, and functions of the program.
    Snapshots,
    References,
    /// Anything else.
    Values,
}

impl Subject {
    /// Returns the words for the subject.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contradiction => "contradictions",
            Self::Amounts => "amounts",
            Self::Domains => "domains",
            Self::Collections => "collections",
            Self::Snapshots => "snapshots",
            Self::References => "references",
            Self::Values => "values",
        }
    }
}

/// Questions that reached the solver.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Asked {
    pub count: u64,
    pub time: Duration,
}

impl Asked {
    /// Adds the questions of another place.
    pub fn add(&mut self, other: Asked) {
        self.count += other.count;
        self.time += other.time;
    }
}

/// The solver's cost of the questions at one place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Cost {
    pub asked: Asked,
    /// Z3's steps for all questions. They do not depend on the load of the machine.
    pub steps: u64,
    /// The steps of the most expensive obligation. Questions that only save work have a limit of
    /// their own.
    pub hardest: u64,
}

impl Cost {
    /// Adds the cost of another place.
    pub fn add(&mut self, other: Cost) {
        self.asked.add(other.asked);
        self.steps += other.steps;
        self.hardest = self.hardest.max(other.hardest);
    }
}

/// Counts of questions, by the means that answered them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Questions {
    pub by_form: u64,
    pub by_facts: u64,
    /// Questions that reached the solver.
    pub by_prover: u64,
    /// The time spent in the solver.
    pub prover_time: Duration,
}

impl Questions {
    /// Returns the number of all questions.
    pub fn asked(&self) -> u64 {
        self.by_form + self.by_facts + self.by_prover
    }

    /// Returns the share answered without the solver; all of them if none was asked.
    pub fn share_without_prover(&self) -> f64 {
        match self.asked() {
            0 => 1.0,
            asked => (self.by_form + self.by_facts) as f64 / asked as f64,
        }
    }

    fn count(&mut self, means: Means) {
        match means {
            Means::Form => self.by_form += 1,
            Means::Facts => self.by_facts += 1,
            Means::Prover(time) => {
                self.by_prover += 1;
                self.prover_time += time;
            }
        }
    }

    /// Adds the questions of another run.
    pub fn add(&mut self, other: &Questions) {
        self.by_form += other.by_form;
        self.by_facts += other.by_facts;
        self.by_prover += other.by_prover;
        self.prover_time += other.prover_time;
    }
}

/// The cost of the work on a member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    pub time: Duration,
    pub questions: Questions,
    /// Questions by the construct that was executed.
    pub constructs: BTreeMap<Cow<'static, str>, Questions>,
    /// Questions that reached the solver, by subject.
    pub subjects: BTreeMap<Subject, Asked>,
    /// The first questions of solvers, counted above as well. They pay for making the solver and
    /// for telling it the axioms.
    pub waking: Asked,
    /// Paths followed to their end.
    pub paths: u64,
    /// Tells whether an earlier run did the work, at this cost.
    #[serde(default)]
    pub is_cached: bool,
    /// The numbers of instances that the solver made of each quantifier, by its name, if they were
    /// asked for. Quantifiers of the program are named by their place, as in `quant@3.12`. Others
    /// are named after the subject of their axiom.
    pub instances: BTreeMap<String, u64>,
    /// The questions that reached the solver, by place and construct; the default span is no place.
    #[serde(skip)]
    pub places: IndexMap<(Span, Cow<'static, str>), Cost>,
    /// The place and the construct of the last work.
    #[serde(skip)]
    pub last: Option<(Span, &'static str)>,
}

impl Statistics {
    /// Counts a question that came up at `construct`.
    pub fn count(&mut self, construct: &'static str, means: Means) {
        self.questions.count(means);
        self.constructs.entry(construct.into()).or_default().count(means);
    }

    /// Counts a question that reached the solver, with its place and construct. `is_first`: the
    /// solver had to be made.
    pub(crate) fn count_asked(
        &mut self,
        at: (Span, &'static str),
        subject: Subject,
        cost: Cost,
        is_first: bool,
    ) {
        self.places.entry((at.0, at.1.into())).or_default().add(cost);
        self.subjects.entry(subject).or_default().add(cost.asked);
        if is_first {
            self.waking.add(cost.asked);
        }
    }

    /// Adds the statistics of another part of the work.
    pub fn add(&mut self, other: &Statistics) {
        self.time += other.time;
        self.is_cached &= other.is_cached;
        self.paths += other.paths;
        self.questions.add(&other.questions);
        for (construct, questions) in &other.constructs {
            self.constructs.entry(construct.clone()).or_default().add(questions);
        }
        for (&subject, &asked) in &other.subjects {
            self.subjects.entry(subject).or_default().add(asked);
        }
        self.waking.add(other.waking);
        for (quantifier, count) in &other.instances {
            *self.instances.entry(quantifier.clone()).or_default() += count;
        }
        for (at, &cost) in &other.places {
            self.places.entry(at.clone()).or_default().add(cost);
        }
        self.last = other.last.or(self.last);
    }
}
