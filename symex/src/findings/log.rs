//! The findings of the verification of a member, and its cost.
//!
//! Rules write here and cannot read: everything inside is private to this file. A rule that depends
//! on earlier findings asks ([`Engine::recall`]). The journal keeps the question and its answer, so
//! that a repeated run gets the answer of the first time (trap T16). Incidents of an evaluation are
//! answers of that evaluation, and no reading of the log ([`super::incidents`]).

#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::FxHashSet;
use sil::source::Span;
use smt::prover::QueryKind;
use smt::terms::{Term, Terms};

use crate::findings::blame::{ErrorId, Reason, contradiction};
use crate::report::{
    Cost, Counterexample, Finding, FindingKey, Means, Severity, Shortfall, Statistics, Subject,
    Within,
};
use crate::{Engine, Limits, Outcome, Path, Stop};

/// The findings and the cost.
#[derive(Debug, Default)]
pub struct Log {
    findings: IndexMap<FindingKey, Finding>,
    /// The remarks on a member that is verified.
    warnings: Vec<Finding>,
    /// Tells whether an obligation hit a limit.
    gave_up: bool,
    pub(super) tainted: Tainted,
    /// The expressions below a quantifier that are not defined for all values.
    undefined: FxHashSet<Span>,
    /// The clauses that are ill-formed only where they have to be proved.
    ill_formed_otherwise: FxHashSet<Span>,
    /// The clauses with an application whose precondition fails.
    misapplied: FxHashSet<Span>,
    /// The locations without permission, each with the statement that was reported.
    lacking: FxHashSet<(Span, Term)>,
    /// The `refute` statements that some path has refuted.
    refuted: FxHashSet<RefuteKey>,
    statistics: Statistics,
    /// The construct in execution, for the counts of questions.
    construct: &'static str,
    /// The place of that construct.
    place: Span,
    /// The implementation of the method that is executed, of several.
    within: Option<Within>,
    /// The number of merges of states.
    merges: u64,
}

/// A `refute` statement: its place, and its formula. Statements made by one use of a macro share
/// their place.
pub type RefuteKey = (Span, Span);

/// Evidence that something has been reported. Only [`Log::report`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct Reported {
    /// The index of the finding.
    finding: usize,
    has_counterexample: bool,
    has_shortfall: bool,
}

impl Reported {
    /// Tells whether the finding has no counterexample yet.
    pub(crate) fn wants_counterexample(self) -> bool {
        !self.has_counterexample
    }

    /// Tells whether the finding does not say yet which permission is missing.
    pub(crate) fn wants_shortfall(self) -> bool {
        !self.has_shortfall
    }
}

/// Values that stand for something missing. The lack has been reported, so failures because of
/// these values are no news.
///
/// SOUNDNESS: a failure that mentions such a value is not reported. Each value needs evidence of a
/// report, and at the end of the member a report has to be left (see
/// [`Log::leaves_failures_open`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Tainted {
    values: FxHashSet<Term>,
    /// Tells whether some failure has been left out because it follows from a report.
    relies_on_report: bool,
}

/// A question about what has been found so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Recalled<'a> {
    /// Something has been found.
    AnyFinding,
    /// Something was refuted, not only given up.
    AnyError,
    /// An error was found after this moment.
    ErrorSince(Mark),
    /// An obligation hit a limit.
    GaveUp,
    /// An obligation with the same error, reason, place and clause was refuted. A clause that
    /// failed in its other reading only has not failed in its own.
    Failed {
        error: ErrorId,
        reason: Reason,
        at: Span,
        clause: Option<Span>,
        in_other_reading: bool,
    },
    /// A clause of a contract is not well-formed. A clause whose other reading alone is ill-formed
    /// does not count.
    IllFormed(Span),
    /// A clause is not well-formed for one of some reasons.
    IllFormedBecause(Span, &'a [Reason]),
    /// A function is applied in a clause without its precondition.
    Misapplied(Span),
    /// A formula speaks about a value whose absence has been reported.
    Tainted(Term),
    /// Some path has refuted a `refute` statement.
    Refuted(RefuteKey),
    /// The statement that is being executed has been reported for the lack of permission to a
    /// location.
    Lacking(Term),
}

/// A statement that took permission which is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taker {
    pub(crate) at: Span,
    /// The statement opened the instance.
    pub(crate) is_opened: bool,
}

/// A moment in the life of a log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark(usize);

/// The findings made while earlier findings were put aside. They are told only if they are added to
/// the log.
#[derive(Default, Debug)]
pub struct Found {
    findings: IndexMap<FindingKey, Finding>,
    gave_up: bool,
}

impl Found {
    /// Tells whether nothing was found and nothing given up.
    pub fn is_nothing(&self) -> bool {
        self.findings.is_empty() && !self.gave_up
    }

    /// Tells whether something was given up.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Tells whether something was found.
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Returns the findings, in the order in which they were made.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values()
    }

    /// Drops all findings but those that `keep` wants.
    pub fn retain(&mut self, mut keep: impl FnMut(&Finding) -> bool) {
        self.findings.retain(|_, finding| keep(finding));
    }
}

impl Log {
    /// Records a failed obligation. The same obligation is recorded once, see [`Finding::meet`].
    /// `by_part`: parts of a statement are told apart.
    pub(crate) fn report(
        &mut self,
        mut finding: Finding,
        in_other_reading: bool,
        by_part: bool,
    ) -> Reported {
        if let Some(within) = &self.within {
            finding.implementation = Some(within.clone());
            finding.related.push((within.span, "in this implementation".to_owned()));
        }
        if finding.error == ErrorId::NotWellformed {
            if !in_other_reading {
                self.ill_formed_otherwise.remove(&finding.span);
            } else if !self.is_ill_formed(finding.span) {
                self.ill_formed_otherwise.insert(finding.span);
            }
        }
        let index = match self.findings.entry(finding.key(by_part)) {
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
        let finding = &self.findings[index];
        let has_counterexample = finding.counterexample.is_some();
        let has_shortfall = finding.shortfall.is_some();
        Reported { finding: index, has_counterexample, has_shortfall }
    }

    /// Adds a state in which a reported obligation may fail.
    pub(crate) fn add_counterexample(&mut self, to: Reported, state: Option<Counterexample>) {
        self.findings[to.finding].counterexample = state;
    }

    /// Adds the missing permission, and the statements that took it.
    pub(crate) fn add_shortfall(&mut self, to: Reported, shortfall: Shortfall, takers: &[Taker]) {
        let finding = &mut self.findings[to.finding];
        for taker in takers.iter().filter(|taker| taker.at != finding.span) {
            let location = &shortfall.location;
            let what = if taker.is_opened {
                format!("`{location}` was unfolded here")
            } else {
                format!("permission to `{location}` was given away here")
            };
            finding.related.push((taker.at, what));
        }
        finding.shortfall = Some(shortfall);
    }

    /// Sets other words for a finding.
    pub(crate) fn reword(&mut self, reported: Reported, message: String) {
        self.findings[reported.finding].message = message;
    }

    /// Names the receiver that might be null. The name from the first path stays.
    pub(crate) fn name_receiver(&mut self, reported: Reported, name: String) {
        self.findings[reported.finding].receiver.get_or_insert(name);
    }

    /// Adds the findings that were made apart, as far as they are news.
    pub fn add(&mut self, found: Found) {
        for (key, finding) in found.findings {
            self.findings.entry(key).or_insert(finding);
        }
        self.gave_up |= found.gave_up;
    }

    /// Warns that claims of a member about its start are contradictory, so that nothing is left to
    /// show. Does nothing if there is an error.
    pub fn warn_of_contradiction(&mut self, at: Span, what: &str) {
        if self.findings.is_empty() {
            self.warnings.push(contradiction(at, what));
        }
    }

    /// Adds a possible reason to all failures.
    pub(crate) fn relate(&mut self, at: Span, what: &str) {
        for finding in self.findings.values_mut() {
            finding.related.push((at, what.to_owned()));
        }
    }

    /// Notes that an obligation hit a limit.
    pub fn give_up(&mut self) {
        self.gave_up = true;
    }

    /// Makes failures because of this value no news.
    pub fn taint(&mut self, value: Term, _: Reported) {
        self.tainted.values.insert(value);
        self.rely_on_report();
    }

    /// Notes that a failure is not reported since it depends on a reported one. Returns evidence
    /// for taints of its consequences.
    pub fn rely_on_earlier_report(&mut self) -> Reported {
        self.rely_on_report();
        let finding = self.findings.len().saturating_sub(1);
        Reported { finding, has_counterexample: true, has_shortfall: true }
    }

    /// Notes that a rule skips a check or a report because of an earlier report.
    pub fn rely_on_report(&mut self) {
        self.tainted.relies_on_report = true;
    }

    /// Forgets the tainted values. Failures that mention them are reported from here on.
    pub(crate) fn forget_taints(&mut self) {
        self.tainted.values.clear();
    }

    /// Notes that a quantifier in a clause is not defined for all values.
    pub(crate) fn note_undefined(&mut self, clause: Span) {
        self.undefined.insert(clause);
    }

    /// Notes that the precondition of an application in a clause fails.
    pub fn note_misapplied(&mut self, clause: Span) {
        self.misapplied.insert(clause);
    }

    /// Notes that the statement that is being executed has been reported for the lack of permission
    /// to a location.
    pub(crate) fn note_lacking(&mut self, location: Term) {
        self.lacking.insert((self.place, location));
    }

    /// Notes that some path has refuted a `refute` statement.
    pub fn note_refuted(&mut self, statement: RefuteKey) {
        self.refuted.insert(statement);
    }

    /// Sets the construct that is executed from here on, and its place, for the count of questions.
    pub fn enter(&mut self, construct: &'static str, place: Span) {
        self.construct = construct;
        self.place = place;
    }

    /// Goes on in one of several implementations of a method, or in none.
    pub fn enter_implementation(&mut self, within: Option<Within>) {
        self.within = within;
    }

    /// Sets the part of the construct that is shown from here on.
    pub(crate) fn enter_part(&mut self, place: Span) {
        self.place = place;
    }

    pub(crate) fn count(&mut self, means: Means) {
        self.statistics.count(self.construct, means);
    }

    /// Counts a question that reached the solver, by its subject.
    pub(crate) fn count_asked(&mut self, subject: Subject, cost: Cost, is_first: bool) {
        self.statistics.count_asked((self.place, self.construct), subject, cost, is_first);
    }

    /// Counts a path of a method.
    pub fn count_path(&mut self) {
        self.statistics.paths += 1;
    }

    pub(crate) fn count_merge(&mut self) {
        self.merges += 1;
    }

    /// Returns the present moment, for later questions about newer findings.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.findings.len())
    }

    pub(crate) fn has_merged(&self) -> bool {
        self.merges > 0
    }

    /// Tells whether limits leave room for more. No other rule depends on these numbers.
    pub(crate) fn is_within(&self, Limits { paths, questions, by_prover }: Limits) -> bool {
        let Statistics { paths: followed, questions: spent, .. } = &self.statistics;
        paths.is_none_or(|limit| *followed <= limit)
            && questions.is_none_or(|limit| spent.asked() <= limit)
            && by_prover.is_none_or(|limit| spent.by_prover < limit)
    }

    /// Tells whether failures have been left out because of a finding that is gone: a defect.
    pub(crate) fn leaves_failures_open(&self) -> bool {
        self.tainted.relies_on_report && self.findings.is_empty()
    }

    /// Returns the final contents of the log.
    pub(crate) fn close(self) -> Outcome {
        Outcome {
            leaves_failures_open: self.leaves_failures_open(),
            findings: self.findings.into_values().collect(),
            warnings: self.warnings,
            gave_up: self.gave_up,
            statistics: Statistics { last: Some((self.place, self.construct)), ..self.statistics },
        }
    }

    fn answer(&self, terms: &Terms, question: Recalled<'_>) -> bool {
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        match question {
            Recalled::AnyFinding => !self.findings.is_empty(),
            Recalled::AnyError => self.findings.values().any(is_error),
            Recalled::ErrorSince(Mark(before)) => self.findings.values().skip(before).any(is_error),
            Recalled::GaveUp => self.gave_up,
            Recalled::Failed { error, reason, at, clause, in_other_reading } => {
                let only_otherwise = !in_other_reading && self.ill_formed_otherwise.contains(&at);
                let within = self.within.as_ref().map(|within| within.index);
                let known = self.findings.get(&(error, Some(reason), at, clause, within));
                !only_otherwise && known.is_some_and(is_error)
            }
            Recalled::IllFormed(clause) => self.is_ill_formed(clause),
            Recalled::IllFormedBecause(clause, reasons) => {
                self.reasons_of_ill_formed(clause).any(|found| reasons.contains(&found))
            }
            Recalled::Misapplied(clause) => self.findings.values().any(|finding| {
                finding.error == ErrorId::ApplicationPrecondition && clause.contains(finding.span)
            }),
            Recalled::Tainted(formula) => {
                let mut values = self.tainted.values.iter();
                values.any(|&value| terms.contains(formula, value))
            }
            Recalled::Refuted(statement) => self.refuted.contains(&statement),
            Recalled::Lacking(location) => self.lacking.contains(&(self.place, location)),
        }
    }

    fn is_ill_formed(&self, clause: Span) -> bool {
        !self.ill_formed_otherwise.contains(&clause)
            && (self.undefined.contains(&clause)
                || self.reasons_of_ill_formed(clause).next().is_some())
    }

    /// Lists the reasons why a clause is not well-formed. An application without its precondition
    /// is such a reason.
    fn reasons_of_ill_formed(&self, clause: Span) -> impl Iterator<Item = Reason> {
        let of_clause = move |finding: &&Finding| {
            finding.error == ErrorId::NotWellformed && finding.span == clause
        };
        let misapplied = self.misapplied.contains(&clause).then_some(Reason::AssertionFalse);
        let own = self.findings.values().filter(of_clause).filter_map(|finding| finding.reason);
        own.chain(misapplied)
    }

    /// Puts the findings aside, and takes up others that were put aside before.
    pub(super) fn exchange(&mut self, other: Found) -> Found {
        Found {
            findings: std::mem::replace(&mut self.findings, other.findings),
            gave_up: std::mem::replace(&mut self.gave_up, other.gave_up),
        }
    }
}

impl Engine<'_> {
    /// Answers a question about the findings so far: from the journal or, the first time, from the
    /// log.
    pub fn recall(&mut self, question: Recalled<'_>) -> Result<bool, Stop> {
        self.noted(question, |engine| engine.log.answer(&engine.terms, question))
    }
}

impl Path<'_> {
    /// Writes into the solver's log what the next question is for.
    pub(crate) fn remark(&mut self, kind: QueryKind) -> Result<(), Stop> {
        let question = match kind {
            QueryKind::Obligation => "obligation",
            QueryKind::Check => "question",
        };
        let Log { place, construct, .. } = self.log;
        let sources = self.context.sources;
        self.prover.remark(|| match sources.range(place) {
            Some((start, _)) => {
                let file = sources.file(place.file).name.escape_debug();
                format!("{question} of {construct} at {file}:{}:{}", start.line, start.column)
            }
            None => format!("{question} of {construct}"),
        })?;
        Ok(())
    }
}
