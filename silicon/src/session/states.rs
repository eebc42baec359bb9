//! The states before a line, one for each path.

use std::sync::{Mutex, PoisonError};

use super::follow::{Follower, StateAt};
use super::{Input, Lines, Outcome, Session};
use symex::options::Join;
use symex::report::shown::{Contents, HeldPermission, NamedValue};

/// The states seen so far.
struct Seen<'a> {
    lines: &'a Lines,
    states: Mutex<Vec<StateAt>>,
}

impl Follower for Seen<'_> {
    fn wants_states(&self) -> Option<&Lines> {
        Some(self.lines)
    }

    fn reached(&self, state: StateAt) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        // A path shows the first statement of several on the line.
        let is_later =
            |earlier: &StateAt| earlier.path == state.path && earlier.place != state.place;
        if !states.iter().any(is_later) {
            states.push(state);
        }
    }
}

/// Verifies the members on the lines along each path, and gives the states in which paths come to a
/// statement there, in the order in which one thread meets them. The outcome is that of these
/// members.
pub fn states_at(session: &Session, input: &Input, lines: &Lines) -> (Outcome, Vec<StateAt>) {
    let mut session = Session { at: vec![lines.clone()], ..session.clone() };
    session.options.join = Join::Never;
    session.options.threads = 1;
    let seen = Seen { lines, states: Mutex::default() };
    let outcome = session.run_with(input, &seen);
    (outcome, seen.states.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl StateAt {
    /// Renders the state for people: each title with its lines, without empty titles.
    pub fn sections(&self) -> Vec<(&'static str, Vec<String>)> {
        let Self { place: _, path, contents } = self;
        let Contents { variables, held, facts, other_facts } = contents;
        let variable = |NamedValue { name, value }: &NamedValue| match value {
            Some(value) => format!("{name} == {value}"),
            None => name.clone(),
        };
        let portion = |HeldPermission { location, amount, value }: &HeldPermission| {
            let amount = amount.as_deref().unwrap_or("…");
            let value = value.iter().map(|value| format!(" && {location} == {value}"));
            format!("acc({location}, {amount}){}", value.collect::<String>())
        };
        let mut known = facts.clone();
        if *other_facts > 0 {
            known.push(format!("and {other_facts} more"));
        }
        let mut sections = vec![
            ("where", path.clone()),
            ("variables", variables.iter().map(variable).collect()),
            ("held", held.iter().map(portion).collect()),
            ("known", known),
        ];
        sections.retain(|(_, lines)| !lines.is_empty());
        sections
    }
}
