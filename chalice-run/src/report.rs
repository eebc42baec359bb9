//! The reports on a run, for people and for programs. Nothing is computed here.

pub mod human;
pub mod json;
pub mod names;
pub mod trace;

use std::collections::BTreeMap;

use chalice::Span;

use crate::run::{Leaks, Outcome, Verdict};

/// The summary at the end.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The file.
    pub file: String,
    /// The entry.
    pub entry: String,
    /// The worst outcome; the events are those of all runs.
    pub outcome: Outcome,
    /// The parts that could not be executed.
    pub skipped: BTreeMap<(Span, &'static str), u64>,
    /// How many schedules were run.
    pub schedules: u64,
    /// Were these all that matter?
    pub complete: bool,
    /// How many starts were run.
    pub inputs: u64,
    /// The seed.
    pub seed: u64,
    /// Permission that nobody can use any more.
    pub leaks: Leaks,
    /// Where values that nobody gave were used, if that was noted.
    pub unset: std::collections::BTreeSet<Span>,
    /// The assumptions, in words.
    pub granted: Vec<String>,
    /// The last steps of the threads, for people, if something went wrong.
    pub steps: String,
    /// How the failing start came to be, if it was generated.
    pub start: Option<String>,
    /// The state at the head of a loop that the run started in, as [`crate::generate::HeadText`]
    /// writes it.
    pub from: Option<String>,
}

impl Summary {
    /// Returns the exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self.outcome.verdict {
            Verdict::Failed | Verdict::Deadlock => 1,
            Verdict::Error => 70,
            Verdict::Bounded | Verdict::Stopped | Verdict::Discarded => 4,
            Verdict::Passed if self.skipped.is_empty() && self.complete => 0,
            Verdict::Passed => 4,
        }
    }
}
