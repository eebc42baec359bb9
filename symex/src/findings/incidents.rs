//! The incidents of an evaluation, as its answer.
//!
//! An incident is met by a rule deep inside and matters to one far outside: that something failed,
//! that a field could not be read. Who wants to know runs the evaluation with [`Watch::watched`].
//! A run that is repeated meets the same incidents again, so nothing of this is journalled.

use crate::View;
use crate::findings::log::{Found, Reported};

/// The incidents.
#[derive(Clone, Copy, Default, Debug)]
pub struct Incidents {
    /// An obligation failed, whether it was news or not.
    pub failed: bool,
    /// An obligation failed that could not be assumed.
    pub unassumed: bool,
    /// A field was read without permission.
    pub unread: bool,
    /// A term of a trigger is not defined where it is written.
    pub undefined_trigger: bool,
    /// A consume did not find what it asked for; the last one.
    pub missing: Option<Missing>,
}

/// A consume did not find what it asked for.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// The error that says so; `None`: nobody was to be told.
    pub reported: Option<Reported>,
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

/// Hears what comes up while something runs.
pub trait Watch<'p>: View<'p> {
    /// Runs something, and says what came up. Those who watch outside hear of it, too.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let (result, seen) =
            self.exchanging(|engine| &mut engine.incidents, Incidents::default(), run);
        self.core().incidents.include(seen);
        (result, seen)
    }

    /// The same for the precondition of an application: what is not there is between the
    /// application and those who asked for it, so that each application speaks for itself.
    fn watched_precondition<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let (result, seen) =
            self.exchanging(|engine| &mut engine.incidents, Incidents::default(), run);
        self.core().incidents.include(Incidents { missing: None, ..seen });
        (result, seen)
    }

    /// Runs with an empty list of findings, and yields what has been found apart.
    fn finding_apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Found) {
        let outer = self.core().log.exchange(Found::default());
        let result = run(self);
        (result, self.core().log.exchange(outer))
    }

    /// Runs something of which no value is met outside, and of which not all is reported: what is
    /// tainted there is not tainted afterwards.
    fn with_own_taints<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let tainted = self.core().log.tainted.clone();
        self.exchanging(|engine| &mut engine.log.tainted, tainted, run).0
    }
}

impl<'p, V: View<'p>> Watch<'p> for V {}
