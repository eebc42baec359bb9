//! All that a user learns about one file.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use sil::render::{Message, Place, Severity, Texts};
use sil::source::{LineColumn, Name};

use super::follow::Member;
use super::graph::Graph;
use super::replay::Replay;
use super::shard::Dealt;
use symex::report::{Cost, Counterexample, DECLARED_HERE, MemberKind, Statistics, Verdict};

/// The result for one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// As given by the user.
    pub file: String,
    pub verdict: FileVerdict,
    /// Sorted by place and id, without duplicates.
    pub diagnostics: Vec<Diagnostic>,
    /// In source order.
    pub members: Vec<MemberOutcome>,
    /// The unproved assumptions of the verdict, in the user's words.
    pub trusted: Vec<String>,
    /// The texts that diagnostics point into.
    pub texts: Texts,
    pub time: Duration,
    /// A Chalice program was executed directly, without a translation.
    pub is_direct: bool,
    /// The members of all shards, in source order; empty if they were not dealt to shards.
    pub dealt: Vec<Dealt>,
}

/// The verdict on a file, or on a run of several; ordered by weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum FileVerdict {
    /// No member was selected: nothing is known.
    NothingSelected,
    /// Accepted by the front end; verification was not asked for.
    Checked,
    Verified,
    /// The program declares nothing, so nothing can be wrong with it.
    Empty,
    /// A limit was hit or a construct is not supported.
    Inconclusive,
    Failed,
    InputError,
    Error,
}

/// A finding at the place where its author looks for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    pub message: Message,
    /// For translated programs: where it is in the SIL text.
    pub generated: Option<(LineColumn, LineColumn)>,
    pub member: Option<String>,
    /// The part that could not be shown, where it is another.
    pub reason: Option<Place>,
    /// The part of the place that could not be shown, where no finding tells it apart: what is
    /// written, of an assignment.
    pub part: Option<Place>,
    /// The sequence or map of an index or key that might not be one of it.
    pub subject: Option<Place>,
    /// The permission that is missing, where that has words.
    pub missing: Option<Missing>,
    /// The finding follows from what is wrong where that part stands.
    pub is_consequence: bool,
    /// The branch conditions that lead there.
    pub path: Vec<String>,
    /// Where each of them stands, and whether it holds as it is written there.
    pub steps: Vec<(Place, bool)>,
    /// A state in which it may go wrong, where one was asked for.
    pub counterexample: Option<Counterexample>,
    /// The result of running it, where that was asked for.
    pub replay: Option<Replay>,
    /// An earlier run had it, too: see [`crate::output::Baseline`].
    pub is_known: bool,
}

/// Permission that is missing, in the words of the program's author.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Missing {
    /// As in `cell.value` or `list(node.next)`.
    pub location: String,
    /// Any permission suffices, so half of it is enough.
    pub is_some: bool,
}

/// The result for one member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberOutcome {
    pub kind: MemberKind,
    pub name: String,
    pub verdict: Verdict,
    pub place: Place,
    pub trusted: Vec<String>,
    pub statistics: Statistics,
    /// Where the solver was at work, the place that took most steps first; in the order of the text
    /// where they took the same.
    pub obligations: Vec<Obligation>,
    /// The control flow of a method's implementations, where that was asked for.
    pub graphs: Vec<Graph>,
}

/// A place in a member, and what the questions that came up there have cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Obligation {
    pub place: Place,
    /// The kind of the statement or clause there, as in `assert`.
    pub kind: String,
    pub cost: Cost,
}

impl FileVerdict {
    /// As written in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingSelected => "nothing-selected",
            Self::Checked => "checked",
            Self::Verified => "verified",
            Self::Empty => "empty",
            Self::Inconclusive => "inconclusive",
            Self::Failed => "failed",
            Self::InputError => "input-error",
            Self::Error => "error",
        }
    }

    /// Returns the exit code of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Checked | Self::Verified | Self::Empty => 0,
            Self::Failed => 1,
            Self::NothingSelected => 2,
            Self::InputError => 3,
            Self::Inconclusive => 4,
            Self::Error => 70,
        }
    }

    /// Returns the verdict on members that were selected: they are verified only if each is, and
    /// there is one.
    pub(super) fn of_members(members: &[MemberOutcome]) -> Self {
        let worst = members.iter().map(|member| member.verdict).max();
        match worst {
            None => Self::NothingSelected,
            Some(Verdict::Verified) => Self::Verified,
            Some(Verdict::Inconclusive | Verdict::Unsupported) => Self::Inconclusive,
            Some(Verdict::Failed) => Self::Failed,
            Some(Verdict::Error) => Self::Error,
        }
    }
}

impl Outcome {
    pub(super) fn empty(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            verdict: FileVerdict::NothingSelected,
            diagnostics: Vec::new(),
            members: Vec::new(),
            trusted: Vec::new(),
            texts: Texts::default(),
            time: Duration::ZERO,
            is_direct: false,
            dealt: Vec::new(),
        }
    }

    /// Makes the outcome of an input about which there is only one thing to say: `text`, with an
    /// id.
    pub fn without_members(file: &str, verdict: FileVerdict, id: &str, text: String) -> Self {
        let mut diagnostic = super::whole_file(file, id, text);
        // As of a member that is given up.
        if verdict == FileVerdict::Inconclusive {
            diagnostic.message.severity = Severity::Warning;
        }
        Self { verdict, diagnostics: vec![diagnostic], ..Self::empty(file) }
    }

    /// Adds what is wrong with the work on the file as a whole.
    pub fn add_defect(&mut self, defect: Outcome) {
        self.verdict = self.verdict.max(defect.verdict);
        self.diagnostics.extend(defect.diagnostics);
        self.sort();
    }

    /// Tells whether the verdict says more than those on the members do.
    pub fn is_about_file(&self) -> bool {
        self.members.is_empty() || self.verdict != FileVerdict::of_members(&self.members)
    }

    /// Returns the verdict, if nothing were wrong with members about which every finding is known
    /// from an earlier run. Who compares runs asks for it; it proves nothing.
    pub fn news(&self) -> FileVerdict {
        let is_open = matches!(self.verdict, FileVerdict::Failed | FileVerdict::Inconclusive);
        if !is_open || !self.diagnostics.iter().any(|one| one.is_known) {
            return self.verdict;
        }
        let has_news = |member: Option<&String>| {
            let mut of_it = self.diagnostics.iter().filter(|one| one.member.as_ref() == member);
            of_it.any(|one| !one.is_known)
        };
        // An error of the file as a whole.
        if self.is_about_file() && has_news(None) {
            return self.verdict;
        }
        let is_told = |member: &MemberOutcome| {
            self.diagnostics.iter().any(|one| one.member.as_ref() == Some(&member.name))
        };
        let is_new = |member: &&MemberOutcome| has_news(Some(&member.name)) || !is_told(member);
        let open = self.members.iter().filter(|member| member.verdict != Verdict::Verified);
        let open: Vec<MemberOutcome> = open.filter(is_new).cloned().collect();
        if open.is_empty() { FileVerdict::Verified } else { FileVerdict::of_members(&open) }
    }

    /// Returns how many diagnostics are errors.
    pub fn errors(&self) -> usize {
        let is_error = |d: &&Diagnostic| d.message.severity == Severity::Error;
        self.diagnostics.iter().filter(is_error).count()
    }

    /// Returns how many members have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.members.iter().filter(|member| member.verdict == verdict).count()
    }

    /// Adds what is known of a member; to be called in source order, and [`Self::complete`] at the
    /// end.
    pub fn add(&mut self, member: MemberOutcome, diagnostics: Vec<Diagnostic>) {
        self.members.push(member);
        self.diagnostics.extend(diagnostics);
    }

    /// Adds findings, in the order of their places.
    pub fn found(&mut self, found: Vec<Diagnostic>) {
        self.diagnostics.extend(found);
        self.sort();
    }

    /// Draws the conclusions, once all members have been added.
    pub fn complete(&mut self) {
        if !self.members.is_empty() {
            self.verdict = FileVerdict::of_members(&self.members);
        }
        self.sort();
    }

    /// Brings the diagnostics into the order of their places and drops what would be said twice.
    pub(super) fn sort(&mut self) {
        sort(&mut self.diagnostics);
    }
}

/// Makes diagnostics of a front end's messages, in the order of the places, without duplicates.
pub fn in_order(messages: Vec<Message>) -> Vec<Message> {
    let mut diagnostics = messages.into_iter().map(Diagnostic::of).collect();
    sort(&mut diagnostics);
    diagnostics.into_iter().map(|one| one.message).collect()
}

/// By place and id; what would be said twice is dropped, in other words if it only follows from
/// what is said there, or if the two are one thing for the user: found at one place of the
/// translation, and told by one id; or about one location.
pub(super) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| a.order().cmp(&b.order()));
    let is_same_place = |a: &Diagnostic, b: &Diagnostic| {
        let ((file, start, id, ..), (other, other_start, other_id, ..)) = (a.order(), b.order());
        (file, start, id) == (other, other_start, other_id)
    };
    diagnostics.dedup_by(|a, b| a.order() == b.order());
    // Findings of one place and id are neighbours.
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for group in std::mem::take(diagnostics).chunk_by(is_same_place) {
        let is_said = group.iter().any(|one| !one.is_consequence);
        let mut told = FxHashSet::default();
        let mut missing = FxHashSet::default();
        let is_new = |one: &&Diagnostic| {
            let location = one.missing.as_ref().map(|missing| missing.location.clone());
            !(is_said && one.is_consequence)
                && one.generated.is_none_or(|at| told.insert(at))
                && location.is_none_or(|location| missing.insert(location))
        };
        kept.extend(group.iter().filter(is_new).cloned());
    }
    let lacking: FxHashSet<_> =
        kept.iter().filter_map(|one| one.part_of(":insufficient.permission")).collect();
    let is_told: Vec<bool> = kept
        .iter()
        .map(|one| one.part_of(":assertion.false").is_some_and(|part| lacking.contains(&part)))
        .collect();
    let mut is_told = is_told.into_iter();
    kept.retain(|_| !is_told.next().expect("one for each"));
    *diagnostics = kept;
}

/// Findings that were shown before the verdict of their file, by the file and start of their
/// places: all that decides whether two findings say one thing twice is at one such place.
#[derive(Default)]
pub struct Shown(FxHashMap<(Name, LineColumn), Vec<Diagnostic>>);

impl Shown {
    /// Returns the findings that were shown at the place of another one.
    pub fn beside(&self, one: &Diagnostic) -> &[Diagnostic] {
        let place = &one.message.place;
        self.0.get(&(place.file.clone(), place.start)).map_or(&[], Vec::as_slice)
    }

    /// Tells whether a finding was shown as it is.
    pub fn contains(&self, one: &Diagnostic) -> bool {
        self.beside(one).contains(one)
    }

    /// Adds a finding.
    pub fn add(&mut self, one: Diagnostic) {
        let place = &one.message.place;
        self.0.entry((place.file.clone(), place.start)).or_default().push(one);
    }
}

impl MemberOutcome {
    /// Makes the outcome of a member that was not verified to the end, and the diagnostic that says
    /// so.
    pub fn given_up(member: Member, why: &str, time: Duration) -> (Self, Diagnostic) {
        let Member { kind, name, place, .. } = member;
        let given_up = Message::error("timeout.error", format!("gave up: {why}"), place.clone());
        let message = Message { severity: Severity::Warning, ..given_up };
        let diagnostic = Diagnostic { member: Some(name.clone()), ..Diagnostic::of(message) };
        let verdict = Verdict::Inconclusive;
        let statistics = Statistics { time, ..Statistics::default() };
        let (trusted, obligations, graphs) = Default::default();
        (Self { kind, name, verdict, place, trusted, statistics, obligations, graphs }, diagnostic)
    }
}

impl Diagnostic {
    /// Returns a finding that belongs to no member.
    pub(super) fn of(message: Message) -> Self {
        Self {
            message,
            generated: None,
            member: None,
            reason: None,
            part: None,
            subject: None,
            missing: None,
            is_consequence: false,
            path: Vec::new(),
            steps: Vec::new(),
            counterexample: None,
            replay: None,
            is_known: false,
        }
    }

    /// Returns the message with the main mark on the part that could not be shown, and the
    /// statement or clause around it as a further place.
    pub fn marked(&self) -> Message {
        let mut message = self.message.clone();
        let Some(part) = self.reason.as_ref().or(self.part.as_ref()) else { return message };
        // Where the part stands tells where the clause is.
        let is_around = |place: &Place| {
            place.file == part.file && place.start <= part.start && part.end <= place.end
        };
        message.notes.retain(|(place, text)| text != DECLARED_HERE || !is_around(place));
        let whole = &message.place;
        let is_inside =
            part.file == whole.file && whole.start <= part.start && part.end <= whole.end;
        let is_used = message.notes.iter().any(|(_, text)| text == sil::source::map::USED_HERE);
        if !is_inside && !is_used {
            return message;
        }
        message.notes.retain(|(place, _)| place != part);
        // Marks over several lines hide what is inside.
        if is_inside && whole != part && whole.start.line == whole.end.line {
            message.notes.insert(0, (whole.clone(), String::new()));
        }
        message.place = part.clone();
        message
    }

    /// Returns the text of the message, with a state in which it goes wrong: for tools that show the
    /// text and nothing else.
    pub fn sentence(&self) -> String {
        let text = &self.message.text;
        match &self.counterexample {
            Some(counterexample) => format!("{text}; {}", counterexample.words().join("; ")),
            None => text.clone(),
        }
    }

    /// Returns, for a translated program, the statement, the error and the part of the program that
    /// the error is about, if the error has this reason. A part that lacks permission is one error,
    /// whatever else the translation says of it.
    fn part_of(&self, reason: &str) -> Option<(Place, String, Place)> {
        let error = self.message.id.strip_suffix(reason)?;
        self.generated?;
        Some((self.message.place.clone(), error.to_owned(), self.reason.clone()?))
    }

    fn order(&self) -> (&str, LineColumn, &str, LineColumn, &str) {
        let Message { place, id, text, .. } = &self.message;
        (&place.file, place.start, id, place.end, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(text: &str, generated: Option<u32>) -> Diagnostic {
        let at = |line| LineColumn { line, column: 1 };
        let place = Place { file: "a.chalice".into(), start: at(1), end: at(2) };
        let message = Message::error("assert.failed:assertion.false", text, place);
        let generated = generated.map(|line| (at(line), at(line)));
        Diagnostic { generated, ..Diagnostic::of(message) }
    }

    fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<String> {
        sort(&mut diagnostics);
        diagnostics.into_iter().map(|one| one.message.text).collect()
    }

    #[test]
    fn one_place_of_the_translation_is_told_once_by_one_id() {
        let two = |first, second| sorted(vec![diagnostic("b", first), diagnostic("a", second)]);
        assert_eq!(two(Some(7), Some(7)), ["a"]);
        assert_eq!(two(Some(7), Some(8)), ["a", "b"]);
        assert_eq!(two(None, None), ["a", "b"]);
    }
}
