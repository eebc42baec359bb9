//! How a failed obligation is reported: what the user was doing, and what could not be shown.

use indexmap::map::Entry;
use rustc_hash::FxHashSet;
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::engine::Engine;
use crate::report::{Finding, Severity, Step, full_id};

/// Whether an expression's own obligations (divisors, indices, permission to read, preconditions) are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Definedness {
    Checked,
    /// The contract was checked at its declaration, in the most general state: its uses are not (trap T17). What is
    /// undefined has an arbitrary value.
    Trusted,
    /// Nothing at all is checked: the precondition of an application inside a trusted expression, which is known to
    /// hold. Permission that is not found stands for an arbitrary value.
    Silent,
}

/// What the user was doing: the error id and where it is reported. The failing check adds the [`Reason`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blame {
    pub(crate) error: &'static str,
    pub(crate) span: Span,
    pub(crate) definedness: Definedness,
    /// The contract clause whose use failed, if it stands elsewhere.
    pub(crate) clause: Option<Span>,
}

impl Blame {
    pub(crate) fn new(error: &'static str, span: Span) -> Self {
        Self { error, span, definedness: Definedness::Checked, clause: None }
    }

    /// For the use of a contract that was checked where it is declared.
    pub(crate) fn trusted(self) -> Self {
        match self.definedness {
            Definedness::Checked => Self { definedness: Definedness::Trusted, ..self },
            Definedness::Trusted | Definedness::Silent => self,
        }
    }

    /// For the part of a contract that its own check has not seen: the other reading of `[a, b]`.
    pub(crate) fn checked(self) -> Self {
        match self.definedness {
            Definedness::Trusted => Self { definedness: Definedness::Checked, ..self },
            Definedness::Checked | Definedness::Silent => self,
        }
    }

    pub(crate) fn clause(self, clause: Span) -> Self {
        Self { clause: Some(clause), ..self }
    }

    /// For what is known to hold.
    pub(crate) fn silent(self) -> Self {
        Self { definedness: Definedness::Silent, ..self }
    }

    pub(crate) fn is_trusted(self) -> bool {
        self.definedness != Definedness::Checked
    }

    pub(crate) fn is_silent(self) -> bool {
        self.definedness == Definedness::Silent
    }

    /// Whether it is a clause of a contract that is being checked where it is declared.
    pub(crate) fn is_of_contract(self) -> bool {
        self.error == "not.wellformed"
    }

    /// Whether it is the precondition of a function that is applied.
    pub(crate) fn is_of_application(self) -> bool {
        self.error == "application.precondition"
    }

    /// Whether it is the body of a function that is being checked where it is declared.
    pub(crate) fn is_of_body(self) -> bool {
        self.error == BODY && !self.is_trusted()
    }
}

/// Evidence that something has been reported, which finding it is. Only [`Engine::report`] makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    finding: usize,
}

impl Reported {
    /// The index among the findings.
    pub(crate) fn index(self) -> usize {
        self.finding
    }
}

/// Values that stand for something whose absence has been reported: what fails because of them is no news.
///
/// SOUNDNESS: a failure that mentions one is not reported, so there is none without evidence of a report; when the member
/// ends it is checked that one is left (see [`Engine::leaves_failures_open`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct Tainted {
    values: FxHashSet<Term>,
    /// Whether something has been left out since it follows from what has been reported.
    relies_on_report: bool,
}

impl Tainted {
    pub(crate) fn insert(&mut self, value: Term, _: Reported) {
        self.values.insert(value);
        self.rely_on_report();
    }

    /// Notes that something is not looked at, or not reported, because of what has been reported before.
    pub(crate) fn rely_on_report(&mut self) {
        self.relies_on_report = true;
    }

    /// From here on, failures that mention these values are reported, too.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }

    /// Whether a formula speaks about one of the values.
    pub(crate) fn occurs_in(&self, terms: &Terms, formula: Term) -> bool {
        !self.values.is_empty() && self.values.iter().any(|&value| terms.contains(formula, value))
    }
}

/// The body of a function is not defined.
pub(crate) const BODY: &str = "function.not.wellformed";

/// What could not be shown (Viper language reference, section 14.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    AssertionFalse,
    InsufficientPermission,
    /// Only of programs that ask for it (`@src.receivers`): in Viper it is insufficient permission.
    ReceiverNull,
    DivisionByZero,
    NegativePermission,
    NotInjective,
    HavocNotInjective,
    PermissionNotPositive,
    LabelNotReached,
    IndexNegative,
    IndexTooLarge,
    KeyMissing,
    WandNotFound,
    RefutationTrue,
}

impl Reason {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::AssertionFalse => "assertion.false",
            Self::InsufficientPermission => "insufficient.permission",
            Self::ReceiverNull => "receiver.null",
            Self::DivisionByZero => "division.by.zero",
            Self::NegativePermission => "negative.permission",
            Self::NotInjective => "qp.not.injective",
            Self::HavocNotInjective => "quasihavocall.not.injective",
            Self::PermissionNotPositive => "permission.not.positive",
            Self::LabelNotReached => "labelled.state.not.reached",
            Self::IndexNegative => "seq.index.negative",
            Self::IndexTooLarge => "seq.index.length",
            Self::KeyMissing => "map.key.contains",
            Self::WandNotFound => "wand.not.found",
            Self::RefutationTrue => "refutation.true",
        }
    }

    /// `what` is the reason node in the user's words.
    fn words(self, what: &str) -> String {
        match self {
            Self::AssertionFalse => format!("`{what}` might not hold"),
            Self::InsufficientPermission => {
                format!("there might be insufficient permission to `{what}`")
            }
            Self::ReceiverNull => format!("a receiver in `{what}` might be null"),
            Self::DivisionByZero => format!("the divisor `{what}` might be zero"),
            Self::HavocNotInjective => {
                format!("`{what}` might be the same for different values")
            }
            Self::NotInjective => {
                format!("the receiver of `{what}` might be the same for different values")
            }
            Self::NegativePermission => format!("the permission amount `{what}` might be negative"),
            Self::PermissionNotPositive => {
                format!("the permission amount `{what}` might not be positive")
            }
            Self::LabelNotReached => format!("the state of `{what}` might not have been reached"),
            Self::IndexNegative => format!("the index `{what}` might be negative"),
            Self::IndexTooLarge => {
                format!("the index `{what}` might exceed the length of the sequence")
            }
            Self::WandNotFound => format!("the magic wand `{what}` might not be held"),
            Self::KeyMissing => format!("the map might not contain the key `{what}`"),
            Self::RefutationTrue => format!("`{what}` holds on every path that leads here"),
        }
    }
}

/// The first words of a message, by error id.
fn heading(error: &str) -> &'static str {
    match error {
        "assert.failed" => "assert might fail",
        "not.wellformed" => "contract might not be well-formed",
        "postcondition.violated" => "postcondition might not hold",
        "exhale.failed" => "exhale might fail",
        "inhale.failed" => "inhale might fail",
        "assignment.failed" => "assignment might fail",
        "call.precondition" => "the precondition of the method might not hold",
        "refute.failed" => "refute failed",
        "call.failed" => "method call might fail",
        "application.precondition" => "the precondition of the function might not hold",
        "if.failed" => "conditional statement might fail",
        "while.failed" => "loop might fail",
        "invariant.not.established" => "loop invariant might not hold on entry",
        "invariant.not.preserved" => "loop invariant might not be preserved",
        "fold.failed" => "fold might fail",
        "unfold.failed" => "unfold might fail",
        "function.not.wellformed" => "function might not be well-formed",
        "package.failed" => "package might fail",
        "apply.failed" => "apply might fail",
        "quasihavoc.failed" | "quasihavocall.failed" => "quasihavoc might fail",
        "wand.not.wellformed" => "magic wand might not be well-formed",
        "predicate.not.wellformed" => "predicate might not be well-formed",
        _ => "verification might fail",
    }
}

/// A long text up to where it is clear what is meant.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

impl Engine<'_> {
    /// Records a failed obligation. The same obligation is recorded once, see
    /// [`Finding::meet`].
    pub(crate) fn report(
        &mut self,
        blame: Blame,
        reason: Reason,
        at: Span,
        severity: Severity,
    ) -> Reported {
        self.failures += 1;
        if blame.is_of_contract() {
            if !self.in_other_reading {
                self.ill_formed_otherwise.remove(&blame.span);
            } else if !self.was_ill_formed_at(blame.span) {
                self.ill_formed_otherwise.insert(blame.span);
            }
        }
        let what = self.context.sources.text(at).unwrap_or("this").to_owned();
        let what = shortened(&what.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut message = format!("{}: {}", heading(blame.error), reason.words(&what));
        if severity == Severity::Warning {
            message = format!("gave up: {message}");
        }
        let related =
            blame.clause.into_iter().map(|clause| (clause, "declared here".to_owned())).collect();
        let finding = Finding {
            severity,
            error: blame.error,
            reason: Some(reason.id()),
            message,
            span: blame.span,
            reason_span: (at != blame.span).then_some(at),
            related,
            path: self.state.path.iter().map(|step| self.path_step(step)).collect(),
            counterexample: None,
        };
        let finding = match self.findings.entry((finding.full_id(), blame.span)) {
            Entry::Occupied(mut known) => {
                known.get_mut().meet(finding);
                known.index()
            }
            Entry::Vacant(entry) => {
                let index = entry.index();
                entry.insert(finding);
                index
            }
        };
        Reported { finding }
    }

    /// Whether failures may have been left out because of a finding that is not there any more: a defect.
    pub(crate) fn leaves_failures_open(&self) -> bool {
        self.tainted.relies_on_report && self.findings.is_empty()
    }

    /// Whether an obligation was refuted before that has the same error, reason and place: it would be the same finding.
    /// But where a clause failed in its other reading only, this would be the first time in its own.
    pub(crate) fn has_failed(&self, blame: Blame, reason: Reason) -> bool {
        let only_otherwise =
            !self.in_other_reading && self.ill_formed_otherwise.contains(&blame.span);
        if self.findings.is_empty() || only_otherwise {
            return false;
        }
        let id = full_id(blame.error, Some(reason.id()));
        let known = self.findings.get(&(id, blame.span));
        known.is_some_and(|finding| finding.severity == Severity::Error)
    }

    /// Warns that what a member says about its start is contradictory, so that nothing is left to show. Not where an
    /// error says more.
    pub(crate) fn warn_of_contradiction(&mut self, at: Span, what: &str) {
        if !self.findings.is_empty() {
            return;
        }
        self.warnings.push(contradiction(at, what));
    }

    fn path_step(&self, &(condition, taken): &(Span, bool)) -> Step {
        let text = self.context.sources.text(condition).unwrap_or("?");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Step { condition, text, taken }
    }
}

/// The warning that what a member says at `at`, which is `what`, is contradictory.
pub(crate) fn contradiction(at: Span, what: &str) -> Finding {
    Finding {
        severity: Severity::Warning,
        error: "verifier.warning",
        reason: None,
        message: format!("{what} is contradictory, so that everything is verified"),
        span: at,
        reason_span: None,
        related: Vec::new(),
        path: Vec::new(),
        counterexample: None,
    }
}

/// What is contradictory where no state meets the invariant of a loop.
pub(crate) const INVARIANT: &str = "the loop invariant";
