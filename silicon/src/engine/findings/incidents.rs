//! The incidents of an evaluation, as its answer.
//!
//! An incident is met by a rule deep inside and matters to one far outside: that something failed,
//! that a field could not be read. Who wants to know runs the evaluation with [`Engine::watched`].
//! A run that is repeated meets the same incidents again, so nothing of this is journalled.

use crate::engine::Engine;
use crate::engine::findings::log::Reported;

/// The incidents.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Incidents {
    /// An obligation failed, whether it was news or not.
    pub(crate) failed: bool,
    /// An obligation failed that could not be assumed.
    pub(crate) unassumed: bool,
    /// A field was read without permission.
    pub(crate) unread: bool,
    /// A term of a trigger is not defined where it is written.
    pub(crate) undefined_trigger: bool,
    /// A consume did not find what it asked for; the last one.
    pub(crate) missing: Option<Missing>,
}

/// A consume did not find what it asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    /// `None`: nobody was to be told.
    pub(crate) reported: Option<Reported>,
}

impl Incidents {
    fn include(&mut self, other: Self) {
        self.failed |= other.failed;
        self.unassumed |= other.unassumed;
        self.unread |= other.unread;
        self.undefined_trigger |= other.undefined_trigger;
        self.missing = other.missing.or(self.missing);
    }
}

impl Engine<'_> {
    /// Runs something, and says what came up. Those who watch outside hear of it, too.
    pub(crate) fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let (result, seen) = self.watched_alone(run);
        self.incidents.include(seen);
        (result, seen)
    }

    /// The same for the precondition of an application: what is not there is between the
    /// application and those who asked for it, so that each application speaks for itself.
    pub(crate) fn watched_precondition<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> T,
    ) -> (T, Incidents) {
        let (result, seen) = self.watched_alone(run);
        self.incidents.include(Incidents { missing: None, ..seen });
        (result, seen)
    }

    fn watched_alone<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let outer = std::mem::take(&mut self.incidents);
        let result = run(self);
        let seen = std::mem::replace(&mut self.incidents, outer);
        (result, seen)
    }

    pub(crate) fn note_failure(&mut self) {
        self.incidents.failed = true;
    }

    pub(crate) fn note_unassumed(&mut self) {
        self.incidents.unassumed = true;
    }

    pub(crate) fn note_unread(&mut self) {
        self.incidents.unread = true;
    }

    pub(crate) fn note_undefined_trigger(&mut self) {
        self.incidents.undefined_trigger = true;
    }

    pub(crate) fn note_missing(&mut self, reported: Option<Reported>) {
        self.incidents.missing = Some(Missing { reported });
    }
}
