//! Makes the run of a disagreement smaller before somebody has to read it: what it starts with,
//! then its schedule.
//!
//! A run is a list of decisions, those for its start first. Each is replaced by smaller ones, from
//! the first on, as long as the run still goes wrong in the same way; smaller decisions are fewer
//! objects, smaller numbers and earlier threads.

use chalice_run::code::Code;
use chalice_run::generate::{Bounds, Found, Order, StartText, Starts};
use chalice_run::machine::{Config, Machine};
use chalice_run::run::{Outcome, Scheduling, run};

/// The number of runs that are tried.
const TRIALS: u32 = 2_000;

/// A run that goes wrong.
pub(super) struct Wrong {
    /// The state it starts in, in words.
    pub(super) start: String,
    /// The start that leads to it again.
    pub(super) again: StartText,
}

/// The smallest run that was found to go wrong as `is_same` says, which the given one does.
pub(super) fn smaller(
    code: &Code,
    method: u32,
    config: &Config,
    given: Wrong,
    is_same: impl Fn(&Machine<'_>, &Outcome) -> bool,
) -> Wrong {
    let mut smallest = given;
    let mut left = TRIALS;
    let mut attempt = |decisions: Vec<u32>, smallest: &mut Wrong| {
        left = left.saturating_sub(1);
        let text = StartText { decisions, integers: smallest.again.integers.clone() };
        let starts = Starts::new(code, method, config.clone(), Bounds::default(), Order::All);
        let mut starts = starts.from_text(&text);
        starts.patience = 1;
        let Found::Start(mut machine) = starts.next_start() else { return left > 0 };
        let start = machine.start_text();
        let outcome = run(&mut machine, &Scheduling::First);
        let again = starts.text_of(&machine);
        let size = |text: &StartText| (text.decisions.len(), text.decisions.clone());
        if size(&again) < size(&smallest.again) && is_same(&machine, &outcome) {
            *smallest = Wrong { start, again };
        }
        left > 0
    };
    loop {
        let before = smallest.again.decisions.clone();
        let half = before[..before.len() / 2].to_vec();
        let mut goes_on = attempt(half, &mut smallest);
        let mut at = 0;
        while goes_on && at < smallest.again.decisions.len() {
            for decisions in less_at(&smallest.again.decisions, at) {
                goes_on = goes_on && attempt(decisions, &mut smallest);
            }
            at += 1;
        }
        if !goes_on || smallest.again.decisions == before {
            return smallest;
        }
    }
}

/// The highest number of decisions that may belong to the one before them, as the
/// elements behind a length.
const OWN: usize = 4;

/// Decisions of which one is smaller, perhaps without one of those behind it.
fn less_at(decisions: &[u32], at: usize) -> Vec<Vec<u32>> {
    let decision = decisions[at];
    let mut all: Vec<u32> = vec![0, decision / 2, decision.saturating_sub(1)];
    all.retain(|less| *less < decision);
    all.dedup();
    let mut found = Vec::new();
    for less in all {
        let mut smaller = decisions.to_vec();
        smaller[at] = less;
        found.push(smaller.clone());
        for own in (at + 1..smaller.len()).take(OWN) {
            let mut shorter = smaller.clone();
            shorter.remove(own);
            found.push(shorter);
        }
    }
    found
}
