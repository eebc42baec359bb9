//! An open document: its text, the answer of the front end, and the progress of its verification.
//!
//! Invariant: `run` is about the present version. An edit takes it away, so nothing of it can be
//! shown afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lsp_types::{
    CodeLens, Command, Diagnostic, DiagnosticSeverity, InlayHint, InlayHintLabel, NumberOrString,
    Position, Range, TextDocumentContentChangeEvent,
};
use rustc_hash::FxHashMap;
use silicon::options::GivenUp;
use silicon::report::{MemberKind, Verdict};
use silicon::session::Input;
use silicon::session::input::Language;

use crate::analysis::{Analysis, Request};
use crate::positions::Text;
use crate::protocol::{Done, Event, Found, Job, Planned};
use crate::server::Followed;

pub(crate) struct Document {
    pub(crate) uri: String,
    /// The path, for messages and imports.
    pub(crate) name: String,
    pub(crate) version: i32,
    pub(crate) text: Text,
    pub(crate) analysis: Option<Arc<Analysis>>,
    pub(crate) run: Option<Run>,
    /// The arguments of its runs, and the follower of the present run.
    pub(crate) arguments: String,
    pub(crate) followed: Option<Followed>,
    /// Files that findings were shown in.
    pub(crate) shown_in: Vec<String>,
    /// The members as the client was told of them last, of whatever version.
    told: FxHashMap<Id, Told>,
}

/// A member of a document.
type Id = (MemberKind, String);

/// The state of a member as a client was told it, and the time that its verification took.
type Told = (&'static str, Option<u64>);

/// The verification of one version.
#[derive(Default)]
pub(crate) struct Run {
    /// The number of the job; 0: it has to wait.
    pub(crate) job: u64,
    members: Vec<Member>,
    /// The positions of members.
    positions: FxHashMap<Id, usize>,
    found: BTreeMap<Id, Vec<Found>>,
    /// All findings together, once the run is done.
    complete: Option<Vec<Found>>,
    /// How often a worker ended meanwhile; how often nobody was being verified then; and who is.
    pub(crate) ends: u32,
    idle_ends: u32,
    running: Vec<(MemberKind, String)>,
    pub(crate) given_up: Vec<GivenUp>,
    /// Why this version is not verified any more. A run with it never gets a verdict.
    trouble: Option<String>,
    /// The user stopped the run; what was found stays.
    pub(crate) is_stopped: bool,
}

struct Member {
    planned: Planned,
    state: State,
}

/// How far the verification of a member is.
enum State {
    Queued,
    Running,
    /// The user stopped the run.
    Stopped,
    Done(Done),
}

/// The highest number of workers that may end with a version before its members are verified one at
/// a time, and before the one that is being verified is given up.
const ENDS_TOGETHER: u32 = 1;
const ENDS_ALONE: u32 = 3;
/// So many may end while no member is being verified, as when the text is loaded: nobody can be
/// given up for it. One more than with a member: that a few end by chance costs no verdict.
const IDLE_ENDS: u32 = ENDS_ALONE + 1;

impl Document {
    pub(crate) fn new(uri: String, version: i32, text: String) -> Self {
        let name = crate::convert::path_of(&uri);
        let text = Text::new(text);
        let (analysis, run, shown_in) = (None, None, Vec::new());
        let (arguments, followed) = (String::new(), None);
        let told = FxHashMap::default();
        Self { uri, name, version, text, analysis, run, arguments, followed, shown_in, told }
    }

    pub(crate) fn language(&self) -> Language {
        Input::text(self.name.as_str(), "").language()
    }

    pub(crate) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            let mut text = self.text.text.to_string();
            match change.range {
                Some(range) => text.replace_range(self.text.offsets(range), &change.text),
                None => text = change.text,
            }
            self.text = Text::new(text);
        }
        self.version = version;
        self.forget();
    }

    /// The text of this version was another one than was thought.
    pub(crate) fn replace(&mut self, text: String) {
        self.text = Text::new(text);
        self.forget();
    }

    /// Nothing that was known of the text, or of the files that it imports, is known any more.
    pub(crate) fn forget(&mut self) {
        self.analysis = None;
        self.run = None;
    }

    pub(crate) fn request(&self) -> Request {
        Request {
            uri: self.uri.clone(),
            version: self.version,
            name: self.name.clone(),
            language: self.language(),
            text: self.text.clone(),
        }
    }

    /// Returns the front end's answer about the present version.
    pub(crate) fn current(&self) -> Option<&Arc<Analysis>> {
        self.analysis.as_ref().filter(|analysis| analysis.version == self.version)
    }

    /// Tells whether no more news comes about the present version, unless somebody asks for some.
    pub(crate) fn is_settled(&self) -> bool {
        let is_over = |run: &Run| run.is_complete() || run.is_stopped || run.failure().is_some();
        self.current().is_some() && self.run.as_ref().is_none_or(is_over)
    }

    pub(crate) fn job(&self, number: u64) -> Option<Job> {
        let run = self.run.as_ref()?;
        Some(Job {
            number,
            name: self.name.clone(),
            uri: self.uri.clone(),
            text: self.text.text.to_string(),
            is_alone: run.ends > ENDS_TOGETHER,
            arguments: self.arguments.clone(),
            given_up: run.given_up.clone(),
        })
    }

    /// Returns all that is known of the present version.
    pub(crate) fn found(&self) -> Vec<Found> {
        let front_end = self.current().map_or(&[][..], |analysis| &analysis.found);
        match &self.run {
            Some(Run { complete: Some(all), .. }) => all.clone(),
            Some(run) => {
                let trouble = run.trouble.iter().map(|why| self.trouble(why));
                let found = front_end.iter().chain(run.found.values().flatten());
                found.cloned().chain(trouble).collect()
            }
            None => front_end.to_vec(),
        }
    }

    /// Makes a finding at the start of the text: the reason that keeps the text from being
    /// verified.
    fn trouble(&self, why: &str) -> Found {
        let diagnostic = Diagnostic {
            severity: Some(DiagnosticSeverity::ERROR),
            code: Some(NumberOrString::String("internal".to_owned())),
            source: Some("silicon".to_owned()),
            message: format!("not verified: {why}"),
            ..Diagnostic::default()
        };
        Found { uri: self.uri.clone(), diagnostic }
    }

    /// Makes a lens above the declaration of each member. A member of which nothing is known in
    /// this version has no lens.
    pub(crate) fn lenses(&self) -> Vec<CodeLens> {
        let Some(run) = &self.run else { return Vec::new() };
        let lens = |member: &Member| {
            let range = member.planned.range?;
            let start = Range::new(range.start, range.start);
            let (title, arguments) = (member.words(), Some(vec![self.uri.clone().into()]));
            let command = Command { title, command: "silicon.verify".to_owned(), arguments };
            Some(CodeLens { range: start, command: Some(command), data: None })
        };
        run.members.iter().filter_map(lens).collect()
    }

    /// The same beside the first line of each declaration in a range.
    pub(crate) fn hints(&self, range: Range) -> Vec<InlayHint> {
        let (Some(run), Some(analysis)) = (&self.run, self.current()) else { return Vec::new() };
        let hint = |member: &Member| {
            let line = member.planned.range?.start.line;
            let end = Position::new(line, u32::MAX);
            let position = analysis.text.position(analysis.text.offset(end));
            (range.start <= position && position <= range.end).then(|| InlayHint {
                position,
                label: InlayHintLabel::String(member.words()),
                kind: None,
                text_edits: None,
                tooltip: None,
                padding_left: Some(true),
                padding_right: None,
                data: None,
            })
        };
        run.members.iter().filter_map(hint).collect()
    }

    /// Returns the verdict on the member with that name.
    pub(crate) fn verdict(&self, name: &str) -> Option<String> {
        let members = &self.run.as_ref()?.members;
        members
            .iter()
            .find(|it| it.planned.id == name || it.planned.name == name)
            .map(Member::words)
    }

    /// Returns the members for who shows them in a list.
    pub(crate) fn members(&self) -> serde_json::Value {
        self.listed(self.run.as_ref().map_or(&[][..], |run| &run.members))
    }

    /// Returns the news for a client that keeps what it was told: the members whose state differs,
    /// and those that are gone. `stale`: nothing is known of the present version yet, and nothing is news.
    pub(crate) fn changed_members(&mut self) -> serde_json::Value {
        let known = self.run.as_ref().filter(|run| run.is_complete() || !run.members.is_empty());
        let is_news = |member: &&Member| {
            let new = member.state.told();
            let old = self.told.insert(member.id(), new);
            // A recalled verdict is no news.
            old.is_none_or(|old| old.0 != new.0 || new.1.is_some() && old.1 != new.1)
        };
        let members = known.into_iter().flat_map(|run| &run.members);
        let changed: Vec<&Member> = members.filter(is_news).collect();
        let is_gone = |id: &Id| known.is_some_and(|run| !run.positions.contains_key(id));
        let gone: BTreeSet<Id> =
            self.told.extract_if(|id, _| is_gone(id)).map(|(id, _)| id).collect();
        let mut news = self.listed(changed);
        let gone =
            gone.iter().map(|(kind, id)| serde_json::json!({ "kind": kind.name(), "id": id }));
        news["gone"] = gone.collect();
        news["stale"] = known.is_none().into();
        news
    }

    fn listed<'a>(&self, members: impl IntoIterator<Item = &'a Member>) -> serde_json::Value {
        let trouble = self.run.as_ref().and_then(|run| run.trouble.as_deref());
        let member = |member: &Member| {
            let Planned { kind, id, name, range } = &member.planned;
            let done = match &member.state {
                State::Done(done) => Some(done),
                State::Queued | State::Running | State::Stopped => None,
            };
            serde_json::json!({
                "kind": kind.name(),
                "id": id,
                "name": name,
                "range": range,
                "state": member.state.name(),
                "ms": done.map(|done| done.milliseconds),
                "recalled": done.map(|done| done.is_recalled),
            })
        };
        let members: Vec<_> = members.into_iter().map(member).collect();
        serde_json::json!({
            "uri": self.uri,
            "version": self.version,
            "members": members,
            "complete": self.run.as_ref().is_some_and(Run::is_complete),
            "trouble": trouble,
        })
    }
}

impl State {
    fn told(&self) -> Told {
        let new = match self {
            Self::Done(done) if !done.is_recalled => Some(done.milliseconds.to_bits()),
            _ => None,
        };
        (self.name(), new)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Done(done) => done.verdict.name(),
        }
    }
}

impl Member {
    fn id(&self) -> Id {
        (self.planned.kind, self.planned.id.clone())
    }

    fn words(&self) -> String {
        let State::Done(done) = &self.state else {
            return match self.state {
                State::Running => "⟳ verifying".to_owned(),
                State::Stopped => "■ stopped".to_owned(),
                _ => "… waiting".to_owned(),
            };
        };
        let time = format!("{:.0} ms", done.milliseconds);
        let errors = match done.errors {
            1 => "1 error".to_owned(),
            errors => format!("{errors} errors"),
        };
        match done.verdict {
            Verdict::Verified => format!("✓ verified, {time}"),
            Verdict::Failed => format!("✗ {errors}, {time}"),
            Verdict::Inconclusive => format!("? gave up, {time}"),
            Verdict::Unsupported => "? not supported".to_owned(),
            Verdict::Error => "! internal error".to_owned(),
        }
    }
}

impl Run {
    /// Takes note of what the worker says of this job.
    pub(crate) fn hear(&mut self, event: Event) {
        match event {
            Event::Planned { members, .. } => {
                let member = |planned| Member { planned, state: State::Queued };
                self.members = members.into_iter().map(member).collect();
                let id = |member: &Member| (member.planned.kind, member.planned.id.clone());
                let ids = self.members.iter().map(id);
                self.positions = ids.enumerate().map(|(index, id)| (id, index)).collect();
            }
            Event::Started { kind, id, .. } => {
                if let Some(member) = self.member(kind, &id) {
                    member.state = State::Running;
                }
                self.running.push((kind, id));
            }
            Event::Ended { kind, id, .. } => {
                self.running.retain(|one| *one != (kind, id.clone()));
            }
            Event::Finished { id, kind, done, found, .. } => {
                if let Some(member) = self.member(kind, &id) {
                    member.state = State::Done(done);
                }
                self.found.insert((kind, id), found);
            }
            Event::Done { found, .. } => self.complete = found,
            // These events belong to no run.
            Event::States { .. } | Event::Tried { .. } => {}
        }
    }

    fn member(&mut self, kind: MemberKind, id: &str) -> Option<&mut Member> {
        self.members.get_mut(*self.positions.get(&(kind, id.to_owned()))?)
    }

    /// The worker has ended, and what it was doing has to be done again, if there is no trouble.
    /// Whoever was alone when several ended is given up.
    pub(crate) fn interrupted(&mut self) {
        self.ends += 1;
        self.job = 0;
        self.found.clear();
        for member in &mut self.members {
            member.state = State::Queued;
        }
        let running = std::mem::take(&mut self.running);
        let is_given_up = |(kind, name): &(MemberKind, String)| {
            self.given_up.iter().any(|one| one.kind == *kind && one.name == *name)
        };
        if running.iter().all(is_given_up) {
            self.idle_ends += 1;
            if self.idle_ends == IDLE_ENDS {
                self.fail("the process that verifies it ended while it loaded it".to_owned());
            }
        }
        if self.ends > ENDS_ALONE {
            let why = "the process that verifies it ended".to_owned();
            self.given_up.extend(running.into_iter().map(|(kind, name)| GivenUp {
                kind,
                name,
                is_defect: true,
                why: why.clone(),
                time: Duration::ZERO,
            }));
        }
    }

    /// Gives this version up. What was found of it is not known to be all, and no verdict stays.
    pub(crate) fn fail(&mut self, why: String) {
        self.members.clear();
        self.positions.clear();
        self.found.clear();
        self.complete = None;
        self.trouble = Some(why);
    }

    /// Why this version is not verified any more.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Ends the run. What has been found stays, and no verdict on the text is made of it.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
        self.job = 0;
        self.running.clear();
        for member in &mut self.members {
            if !matches!(member.state, State::Done(_)) {
                member.state = State::Stopped;
            }
        }
    }

    /// Members that are done, and all.
    pub(crate) fn progress(&self) -> (usize, usize) {
        let is_done = |member: &&Member| matches!(member.state, State::Done(_));
        (self.members.iter().filter(is_done).count(), self.members.len())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: &str) -> Event {
        Event::Started { job: 1, kind: MemberKind::Method, id: id.to_owned() }
    }

    #[test]
    fn a_text_that_ends_workers_while_it_is_loaded_is_given_up() {
        let mut run = Run::default();
        for _ in 1..IDLE_ENDS {
            run.interrupted();
            assert!(run.failure().is_none(), "that may be chance");
        }
        run.interrupted();
        assert!(run.failure().is_some());
    }

    #[test]
    fn a_member_that_ends_workers_is_given_up_and_others_are_not() {
        let mut run = Run::default();
        for _ in 0..=ENDS_ALONE {
            assert!(run.given_up.is_empty());
            run.hear(started("m"));
            run.interrupted();
        }
        let names: Vec<_> = run.given_up.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["m"]);
        assert!(run.failure().is_none());
        // Being given up does not help: then there is no use in going on.
        for _ in 0..IDLE_ENDS {
            assert!(run.failure().is_none());
            run.hear(started("m"));
            run.interrupted();
        }
        assert!(run.failure().is_some());
    }
}
