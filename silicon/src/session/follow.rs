//! Following what becomes of an input while it goes on, in its author's names and places.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use sil::render::Place;
use sil::source::Span;

use super::graph::Bodies;
use super::input::Lines;
use super::replay::Replayer;
use super::{Diagnostic, MemberOutcome, Outcome, Session};
use crate::session::place::Places;
use symex::observer::{Observer, Planned};
use symex::report::shown::{Contents, ShownState};
use symex::report::{MemberKind, MemberReport};

/// A member of which there will be an outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    pub kind: MemberKind,
    /// Its name in the SIL program, which tells it from all others of its kind.
    pub id: String,
    /// The author's name of the member.
    pub name: String,
    pub place: Place,
}

/// The state in which a path comes to a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateAt {
    /// Where the statement stands.
    pub place: Place,
    /// The conditions that led there, as their author wrote them.
    pub path: Vec<String>,
    /// The state there, in the names of the SIL program.
    pub contents: Contents,
}

/// A listener that hears of the progress on an input, and may end the work: the counterpart of
/// [`Observer`] for sessions.
///
/// Like there, the methods are called on the threads that verify, and the outcome does not depend
/// on what they do.
pub trait Follower: Sync {
    /// The front end is through. The outcome is what is known before any member is verified: its
    /// diagnostics are those of the front end, and the verdict is what it stays if there are no
    /// members. [`Outcome::add`] and [`Outcome::complete`] make of it, and of what
    /// [`Follower::finished`] gets, what [`Session::run`] returns.
    fn loaded(&self, _outcome: &Outcome, _members: &[Member]) {}

    /// Work on a member begins: see [`Observer::started`]. `id` is that of [`Member`].
    fn started(&self, _kind: MemberKind, _id: &str, _until: Option<Instant>) {}

    /// The work that was [`Follower::started`] last on a member is over.
    fn ended(&self, _kind: MemberKind, _id: &str) {}

    /// Everything about a member is known.
    fn finished(&self, _id: &str, _member: &MemberOutcome, _diagnostics: &[Diagnostic]) {}

    /// Tells whether to tell answers.
    fn wants_answers(&self) -> bool {
        false
    }

    /// An answer is known: see [`Observer::answered`].
    fn answered(&self, _answer: &str) {}

    /// Returns the lines of which the states are wanted in which paths come to what stands there.
    fn wants_states(&self) -> Option<&Lines> {
        None
    }

    /// A path has come to something on [`Follower::wants_states`].
    fn reached(&self, _state: StateAt) {}

    /// Tells whether to stop: see [`Observer::is_cancelled`].
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody: runs to its end.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nobody;

impl Follower for Nobody {}

/// Hands on what the engine says, in the words of the program's author.
pub(super) struct Relay<'a> {
    pub(super) session: &'a Session,
    pub(super) places: &'a Places<'a>,
    /// The outcome before any member is verified.
    pub(super) outcome: &'a Outcome,
    pub(super) replayer: Option<&'a Replayer>,
    pub(super) bodies: Option<&'a Bodies<'a>>,
    pub(super) follower: &'a dyn Follower,
}

impl Observer for Relay<'_> {
    fn planned(&self, members: &[Planned]) {
        let member = |planned: &Planned| Member {
            kind: planned.kind,
            id: planned.name.clone(),
            name: self.places.name(planned.span, planned.name.clone()),
            place: self.places.of(planned.span),
        };
        let members: Vec<Member> = members.iter().map(member).collect();
        self.follower.loaded(self.outcome, &members);
    }

    fn started(&self, kind: MemberKind, name: &str, until: Option<Instant>) {
        self.follower.started(kind, name, until);
    }

    fn ended(&self, kind: MemberKind, name: &str) {
        self.follower.ended(kind, name);
    }

    fn finished(&self, report: &MemberReport) {
        let (member, diagnostics) =
            self.session.of_report(report.clone(), self.places, self.replayer, self.bodies);
        self.follower.finished(&report.name, &member, &diagnostics);
    }

    fn wants_answers(&self) -> bool {
        self.follower.wants_answers()
    }

    fn answered(&self, answer: &str) {
        self.follower.answered(answer);
    }

    fn wants_state(&self, at: Span) -> bool {
        self.follower.wants_states().is_some_and(|lines| lines.overlap(&self.places.of(at)))
    }

    fn reached(&self, state: ShownState) {
        let ShownState { at, path, contents } = state;
        let path = self.places.conditions(&path).into_iter().map(|(words, _)| words).collect();
        self.follower.reached(StateAt { place: self.places.of(at), path, contents });
    }

    fn is_cancelled(&self) -> bool {
        self.follower.is_cancelled()
    }
}
