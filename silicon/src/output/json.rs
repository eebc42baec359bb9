//! For scripts: one JSON object a line; for every file its diagnostics, its members and itself,
//! then the run.
//!
//! The times are the only fields in which two runs over the same input differ.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use sil::render::Place;
use sil::source::LineColumn;

use super::{HARDEST, Summary, milliseconds};
use crate::expectations::{Difference, Output};
use crate::session::follow::{Member, StateAt};
use crate::session::replay::Replay;
use crate::session::{Diagnostic, MemberOutcome, Obligation, Outcome};
use symex::report::shown::Contents;
use symex::report::{Asked, Counterexample, Questions, Shown, Verdict};

/// The version of this format; a change that breaks readers raises it.
const VERSION: u32 = 1;

pub(super) fn verdicts(outcome: &Outcome, statistics: bool, to: &mut dyn Write) -> io::Result<()> {
    for one in &outcome.members {
        member(one, &outcome.file, statistics, to)?;
    }
    file(outcome, to)
}

/// Writes the members of a file of which there will be an outcome.
pub fn members(file: &str, members: &[Member], to: &mut dyn Write) -> io::Result<()> {
    let members = members.iter().map(PlannedMember::of).collect();
    line("members", &MembersLine { file, members }, to)
}

/// Writes a finding.
pub fn diagnostic(diagnostic: &Diagnostic, to: &mut dyn Write) -> io::Result<()> {
    line("diagnostic", &DiagnosticLine::of(diagnostic), to)
}

/// Writes the outcome of a member.
pub fn member(
    member: &MemberOutcome,
    file: &str,
    statistics: bool,
    to: &mut dyn Write,
) -> io::Result<()> {
    line("member", &MemberLine::of(member, file, statistics), to)
}

/// Writes the outcome of a file, without its findings and members.
pub fn file(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    line(
        "file",
        &FileLine {
            file: &outcome.file,
            verdict: outcome.verdict.name(),
            members: outcome.members.len(),
            verified: outcome.count(Verdict::Verified),
            errors: outcome.errors(),
            trusted: &outcome.trusted,
            time_ms: milliseconds(outcome.time),
        },
        to,
    )
}

pub(super) fn findings(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    outcome.diagnostics.iter().try_for_each(|one| diagnostic(one, to))
}

/// Writes the sums over a run.
pub fn summary(summary: &Summary, to: &mut dyn Write) -> io::Result<()> {
    line(
        "run",
        &RunLine {
            verdict: summary.verdict().name(),
            files: summary.files,
            members: summary.members,
            verified: summary.verified,
            errors: summary.errors,
            interrupted: summary.interrupted,
            time_ms: milliseconds(summary.time),
        },
        to,
    )
}

pub(super) fn expectation(
    outcome: &Outcome,
    is_met: bool,
    differences: &[(String, Difference)],
    to: &mut dyn Write,
) -> io::Result<()> {
    line(
        "expectation",
        &ExpectationLine {
            file: &outcome.file,
            met: is_met,
            missing: announced(differences, |difference| &difference.missing),
            extra: announced(differences, |difference| &difference.extra),
            stale: announced(differences, |difference| &difference.stale),
        },
        to,
    )
}

fn announced(
    differences: &[(String, Difference)],
    pick: fn(&Difference) -> &Vec<Output>,
) -> Vec<AnnouncedObject<'_>> {
    let mut all = Vec::new();
    for (file, difference) in differences {
        let outputs = pick(difference).iter();
        all.extend(outputs.map(|one| AnnouncedObject { file, line: one.line, id: &one.id }));
    }
    all
}

/// Writes the state in which a path comes to a statement.
pub fn state(state: &StateAt, to: &mut dyn Write) -> io::Result<()> {
    let StateAt { place, path, contents } = state;
    line("state", &StateLine { place, path, state: contents }, to)
}

#[derive(Serialize)]
struct StateLine<'a> {
    #[serde(flatten)]
    place: &'a Place,
    path: &'a [String],
    state: &'a Contents,
}

/// The line that compares a file with its announcements.
#[derive(Serialize)]
struct ExpectationLine<'a> {
    file: &'a str,
    met: bool,
    missing: Vec<AnnouncedObject<'a>>,
    extra: Vec<AnnouncedObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<AnnouncedObject<'a>>,
}

#[derive(Serialize)]
struct AnnouncedObject<'a> {
    file: &'a str,
    line: u32,
    id: &'a str,
}

/// A line of the output.
#[derive(Serialize)]
struct Line<'a, T> {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

fn line(kind: &'static str, content: &impl Serialize, to: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, &Line { v: VERSION, kind, content })?;
    to.write_all(b"\n")
}

#[derive(Serialize)]
struct Range {
    start: LineColumn,
    end: LineColumn,
}

/// A condition on a path, where it stands.
#[derive(Serialize)]
struct Step<'a> {
    #[serde(flatten)]
    place: &'a Place,
    holds: bool,
}

impl<'a> Step<'a> {
    fn of((place, holds): &'a (Place, bool)) -> Self {
        Self { place, holds: *holds }
    }
}

#[derive(Serialize)]
struct Note<'a> {
    #[serde(flatten)]
    place: &'a Place,
    message: &'a str,
}

#[derive(Serialize)]
struct DiagnosticLine<'a> {
    file: &'a str,
    severity: &'static str,
    id: &'a str,
    message: &'a str,
    start: LineColumn,
    end: LineColumn,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<&'a str>,
    /// The part that could not be shown, which may be all of it; none where the id has no reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a Place>,
    notes: Vec<Note<'a>>,
    path: &'a [String],
    /// Where each condition of the path stands.
    steps: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<&'a Replay>,
    /// Tells whether an earlier run had it, too (`--baseline`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
}

impl<'a> DiagnosticLine<'a> {
    fn of(diagnostic: &'a Diagnostic) -> Self {
        let message = &diagnostic.message;
        Self {
            file: &message.place.file,
            severity: message.severity.name(),
            id: &message.id,
            message: &message.text,
            start: message.place.start,
            end: message.place.end,
            generated: diagnostic.generated.map(|(start, end)| Range { start, end }),
            member: diagnostic.member.as_deref(),
            reason: message.id.contains(':').then(|| {
                let narrower = diagnostic.reason.as_ref().or(diagnostic.part.as_ref());
                narrower.unwrap_or(&message.place)
            }),
            subject: diagnostic.subject.as_ref(),
            notes: message.notes.iter().map(|(place, message)| Note { place, message }).collect(),
            path: &diagnostic.path,
            steps: diagnostic.steps.iter().map(Step::of).collect(),
            counterexample: diagnostic.counterexample.as_ref().map(Counterexample::shown),
            replay: diagnostic.replay.as_ref(),
            known: diagnostic.is_known,
        }
    }
}

/// The members of a file that are going to be verified.
#[derive(Serialize)]
struct MembersLine<'a> {
    file: &'a str,
    members: Vec<PlannedMember<'a>>,
}

#[derive(Serialize)]
struct PlannedMember<'a> {
    kind: &'static str,
    name: &'a str,
    #[serde(flatten)]
    place: &'a Place,
}

impl<'a> PlannedMember<'a> {
    fn of(Member { kind, name, place, .. }: &'a Member) -> Self {
        Self { kind: kind.name(), name, place }
    }
}

#[derive(Serialize)]
struct MemberLine<'a> {
    file: &'a str,
    kind: &'static str,
    name: &'a str,
    verdict: &'static str,
    time_ms: f64,
    prover_ms: f64,
    queries: u64,
    paths: u64,
    /// Tells whether an earlier run has done the work, at this cost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<QuestionsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constructs: Option<BTreeMap<&'a str, QuestionsObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<BTreeMap<&'static str, AskedObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waking: Option<AskedObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    obligations: Option<Vec<ObligationObject<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instances: Option<&'a BTreeMap<String, u64>>,
}

/// Where the solver was at work, and what that cost.
#[derive(Serialize)]
struct ObligationObject<'a> {
    kind: &'a str,
    #[serde(flatten)]
    place: &'a Place,
    questions: u64,
    steps: u64,
    prover_ms: f64,
}

impl<'a> ObligationObject<'a> {
    fn of(obligation: &'a Obligation) -> Self {
        let Obligation { place, kind, cost } = obligation;
        Self {
            kind,
            place,
            questions: cost.asked.count,
            steps: cost.steps,
            prover_ms: milliseconds(cost.asked.time),
        }
    }
}

/// How the questions of a member, or of one construct in it, were answered.
#[derive(Serialize)]
struct QuestionsObject {
    by_form: u64,
    by_facts: u64,
    by_prover: u64,
    prover_ms: f64,
}

/// Questions that reached the solver.
#[derive(Serialize)]
struct AskedObject {
    count: u64,
    ms: f64,
}

impl AskedObject {
    fn of(asked: Asked) -> Self {
        Self { count: asked.count, ms: milliseconds(asked.time) }
    }
}

impl QuestionsObject {
    fn of(questions: &Questions) -> Self {
        Self {
            by_form: questions.by_form,
            by_facts: questions.by_facts,
            by_prover: questions.by_prover,
            prover_ms: milliseconds(questions.prover_time),
        }
    }
}

impl<'a> MemberLine<'a> {
    fn of(member: &'a MemberOutcome, file: &'a str, statistics: bool) -> Self {
        let measured = &member.statistics;
        Self {
            file,
            kind: member.kind.name(),
            name: &member.name,
            verdict: member.verdict.name(),
            time_ms: milliseconds(measured.time),
            prover_ms: milliseconds(measured.questions.prover_time),
            queries: measured.questions.by_prover,
            paths: measured.paths,
            cached: measured.is_cached,
            questions: statistics.then(|| QuestionsObject::of(&measured.questions)),
            constructs: statistics.then(|| {
                let constructs = measured.constructs.iter();
                constructs.map(|(name, of)| (&**name, QuestionsObject::of(of))).collect()
            }),
            subjects: statistics.then(|| {
                let subjects = measured.subjects.iter();
                subjects.map(|(subject, &asked)| (subject.name(), AskedObject::of(asked))).collect()
            }),
            waking: statistics.then(|| AskedObject::of(measured.waking)),
            obligations: statistics.then(|| {
                member.obligations.iter().take(HARDEST).map(ObligationObject::of).collect()
            }),
            instances: (statistics && !measured.instances.is_empty())
                .then_some(&measured.instances),
        }
    }
}

#[derive(Serialize)]
struct FileLine<'a> {
    file: &'a str,
    verdict: &'static str,
    members: usize,
    verified: usize,
    errors: usize,
    trusted: &'a [String],
    time_ms: f64,
}

#[derive(Serialize)]
struct RunLine {
    verdict: &'static str,
    files: usize,
    members: usize,
    verified: usize,
    errors: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    time_ms: f64,
}
