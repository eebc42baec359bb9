//! The incidents of an evaluation, as its answer.
//!
//! A rule deep inside meets an incident, such as a failure or a field that could not be read, and
//! the incident matters to a rule far outside. That rule runs the evaluation with
//! [`Watch::watched`]. A repeated run meets the same incidents again, so they are not journalled.

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
    /// The last consume that did not find its permission.
    pub missing: Option<Missing>,
}

/// A consume that did not find its permission.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// The error that says so; `None` if nothing was to be reported.
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

/// Hears of incidents while something runs.
pub trait Watch<'p>: View<'p> {
    /// Runs something, and returns its incidents. Outer watchers hear of them, too.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let (result, seen) =
            self.exchanging(|engine| &mut engine.incidents, Incidents::default(), run);
        self.core().incidents.include(seen);
        (result, seen)
    }

    /// Runs a precondition of an application, and returns its incidents. Outer watchers do not hear
    /// of missing permission, so that each application speaks for itself.
    fn watched_precondition<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Incidents) {
        let (result, seen) =
            self.exchanging(|engine| &mut engine.incidents, Incidents::default(), run);
        self.core().incidents.include(Incidents { missing: None, ..seen });
        (result, seen)
    }

    /// Runs with an empty list of findings, and returns the findings of the run apart.
    fn finding_apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Found) {
        let outer = self.core().log.exchange(Found::default());
        let result = run(self);
        (result, self.core().log.exchange(outer))
    }

    /// Runs something whose values do not occur outside. Its taints end with it.
    fn with_own_taints<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let tainted = self.core().log.tainted.clone();
        self.exchanging(|engine| &mut engine.log.tainted, tainted, run).0
    }
}

impl<'p, V: View<'p>> Watch<'p> for V {}
