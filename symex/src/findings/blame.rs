//! The words of a failed obligation: the user's action, and the claim that could not be shown.

use sil::source::Span;

use crate::findings::log::{Recalled, Reported};
use crate::report::{DECLARED_HERE, Finding, Severity, Step};
pub use crate::report::{ErrorId, Reason};
use crate::{Engine, Stop, Symbols};

/// The treatment of an expression's own obligations (divisors, indices, permission to read,
/// preconditions).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definedness {
    Checked,
    /// The contract was checked at its declaration, in the most general state, so its uses are not
    /// (trap T17). An undefined expression has an arbitrary value.
    Trusted,
    /// Nothing at all is checked. An example is the precondition of an application inside a trusted
    /// expression, which is known to hold. Permission that is not found stands for an arbitrary
    /// value.
    Silent,
}

/// The user's action: the error id, and the place of the report. The failing check adds the
/// [`Reason`].
#[derive(Clone, Copy, Debug)]
pub struct Blame {
    pub error: ErrorId,
    pub span: Span,
    pub definedness: Definedness,
    /// The contract clause whose use failed, if it stands elsewhere.
    pub clause: Option<Span>,
    /// The error for missing permission, if it is another one.
    pub lacking: Option<ErrorId>,
    /// Words for the error, if its own do not tell the user's action.
    pub words: Option<&'static str>,
}

impl Blame {
    /// Blames an error at a place; definedness is checked.
    pub fn new(error: ErrorId, span: Span) -> Self {
        let definedness = Definedness::Checked;
        Self { error, span, definedness, clause: None, lacking: None, words: None }
    }

    /// Blames the use of a contract that was checked at its declaration.
    pub fn trusted(self) -> Self {
        match self.definedness {
            Definedness::Checked => Self { definedness: Definedness::Trusted, ..self },
            Definedness::Trusted | Definedness::Silent => self,
        }
    }

    /// Blames the part of a contract that its own check has not seen: the other reading of `[a,
    /// b]`.
    pub(crate) fn checked(self) -> Self {
        match self.definedness {
            Definedness::Trusted => Self { definedness: Definedness::Checked, ..self },
            Definedness::Checked | Definedness::Silent => self,
        }
    }

    /// Adds the clause of the contract whose use failed.
    pub fn clause(self, clause: Span) -> Self {
        Self { clause: Some(clause), ..self }
    }

    /// Sets other words than those of the error.
    pub fn saying(self, words: &'static str) -> Self {
        Self { words: Some(words), ..self }
    }

    /// Blames nobody, for claims that are known to hold.
    pub fn silent(self) -> Self {
        Self { definedness: Definedness::Silent, ..self }
    }

    /// Tells whether definedness is taken for granted.
    pub fn is_trusted(self) -> bool {
        self.definedness != Definedness::Checked
    }

    /// Tells whether everything is known to hold.
    pub fn is_silent(self) -> bool {
        self.definedness == Definedness::Silent
    }

    /// Tells whether the blame is for a clause of a contract that is being checked where it is
    /// declared.
    pub fn is_of_contract(self) -> bool {
        self.error == ErrorId::NotWellformed
    }

    /// Tells whether the blame is for the precondition of a function that is applied.
    pub(crate) fn is_of_application(self) -> bool {
        self.error == ErrorId::ApplicationPrecondition
    }

    /// Tells whether the blame is for a clause of a contract that is given to somebody else.
    pub(crate) fn is_owed(self) -> bool {
        matches!(
            self.error,
            ErrorId::CallPrecondition
                | ErrorId::PostconditionViolated
                | ErrorId::InvariantNotEstablished
                | ErrorId::InvariantNotPreserved
        )
    }

    /// Tells whether the blame is for the body of a function that is being checked where it is
    /// declared.
    pub fn is_of_body(self) -> bool {
        self.error == ErrorId::FunctionNotWellformed && !self.is_trusted()
    }
}

/// Returns the beginning of a long text, enough to recognise it.
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
    pub fn report(
        &mut self,
        blame: Blame,
        reason: Reason,
        at: Span,
        severity: Severity,
    ) -> Reported {
        self.incidents.failed = true;
        let what = self.context.sources.text(at).unwrap_or("this").to_owned();
        let what = shortened(&what.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut message = blame.words.unwrap_or(blame.error.words()).to_owned();
        if !reason.words().is_empty() {
            message = format!("{message}: {}", reason.words().replace("%e", &what));
        }
        if severity == Severity::Warning {
            message = format!("gave up: {message}");
        }
        let related =
            blame.clause.into_iter().map(|clause| (clause, DECLARED_HERE.to_owned())).collect();
        let finding = Finding {
            severity,
            reason_span: (at != blame.span).then_some(at),
            related,
            path: self.here.path.iter().map(|step| self.path_step(step)).collect(),
            ..Finding::warning(blame.error, Some(reason), blame.span, message)
        };
        let (in_other_reading, tells_parts) = (self.mode.in_other_reading, self.tells_parts());
        self.log.report(finding, in_other_reading, tells_parts)
    }

    /// Reports a statement, block or member that smoke detection has found, at its first line,
    /// since it may be long. `reason`: the cause, if it is known.
    pub fn report_unreachable(&mut self, span: Span, reason: Option<&str>) {
        let text = self.context.sources.text(span).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().trim_end();
        let words = line.trim_end_matches('{').trim_end();
        let end = span.start + u32::try_from(line.len()).unwrap_or_default();
        let message = match reason {
            Some(reason) => format!("unreachable: {reason}"),
            None if words.is_empty() => "unreachable: no execution gets to the end of this".into(),
            None if words.starts_with("method") => {
                format!("unreachable: no execution gets to the end of `{words}`")
            }
            None => format!("unreachable: no execution gets past `{words}`"),
        };
        let short = Span { end: end.min(span.end), ..span };
        let blame = Blame::new(ErrorId::RefuteFailed, short);
        let reported = self.report(blame, Reason::RefutationTrue, short, Severity::Error);
        self.log.reword(reported, message);
    }

    /// Tells whether an obligation with the same error, reason and place was refuted before, so
    /// that it is the same finding.
    pub fn has_failed(&mut self, blame: Blame, reason: Reason) -> Result<bool, Stop> {
        let Blame { error, span: at, clause, .. } = blame;
        let clause = clause.filter(|_| self.tells_parts());
        let in_other_reading = self.mode.in_other_reading;
        self.recall(Recalled::Failed { error, reason, at, clause, in_other_reading })
    }
}

impl Symbols<'_> {
    /// Tells whether the program is the one that its author wrote. Then reports name the parts of
    /// statements.
    pub(crate) fn tells_parts(&self) -> bool {
        self.context.own.is_none() && !self.program.origins.is_annotated
    }

    pub(super) fn path_step(&self, &(condition, taken): &(Span, bool)) -> Step {
        let text = self.context.sources.text(condition).unwrap_or("?");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Step { condition, text, taken }
    }
}

/// Returns the warning that `what`, which a member says at `at`, is contradictory.
pub fn contradiction(at: Span, what: &str) -> Finding {
    let message = format!("{what} is contradictory, so that everything is verified");
    Finding::warning(ErrorId::VerifierWarning, None, at, message)
}

/// The name of a contradictory loop invariant, for [`contradiction`].
pub const INVARIANT: &str = "the loop invariant";

/// Stops at a construct that the engine does not know.
pub fn unsupported_at<T>(span: Span, what: &str) -> Result<T, Stop> {
    Err(Stop::Unsupported { span, what: what.to_owned() })
}
