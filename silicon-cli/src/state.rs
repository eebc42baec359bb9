//! What is known on each path to a line: `--state FILE:LINE`.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use silicon::options::Join;
use silicon::output::Format;
use silicon::report::shown::{Contents, HeldPermission, NamedValue};
use silicon::session::follow::{Follower, StateAt};
use silicon::session::{FileVerdict, Input, Lines, Session};

use super::args::Args;
use super::{USAGE, complain};

/// So many paths are shown; others are counted.
const PATHS: usize = 8;

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
        // Of several statements on the line, a path shows the first it comes to.
        let is_later =
            |earlier: &StateAt| earlier.path == state.path && earlier.place != state.place;
        if !states.iter().any(is_later) {
            states.push(state);
        }
    }
}

/// Verifies the members on the lines along each path, prints the states, and returns the exit code.
pub(crate) fn show(args: &Args, lines: &Lines) -> anyhow::Result<u8> {
    let mut session = Session { at: vec![lines.clone()], ..args.session() };
    session.options.join = Join::Never;
    // The order in which paths are met is that of one thread.
    session.options.threads = 1;
    let mut inputs = args.programs();
    if inputs.is_empty() {
        inputs = vec![Input::file(lines.file())];
    }
    let seen = Seen { lines, states: Mutex::default() };
    for input in &inputs {
        let mut outcome = session.run_with(input, &seen);
        // What is wrong with the program; what does not hold in it is no matter here.
        outcome.diagnostics.retain(|one| one.member.is_none());
        let mut findings = Vec::new();
        args.format().findings(&outcome, &mut findings)?;
        io::stderr().write_all(&findings)?;
        if outcome.errors() > 0 {
            return Ok(outcome.verdict.exit_code());
        }
        if matches!(outcome.verdict, FileVerdict::Inconclusive) {
            complain("note: the verification was not finished: there may be more paths");
        }
    }
    let states = seen.states.into_inner().unwrap_or_else(PoisonError::into_inner);
    if states.is_empty() {
        complain(&format!("error: no path comes to a statement at {lines}"));
        return Ok(USAGE);
    }
    let more = states.len().saturating_sub(PATHS);
    let mut text = Vec::new();
    for (index, state) in states.iter().take(PATHS).enumerate() {
        if matches!(args.format(), Format::Json { .. }) {
            json(state, &mut text)?;
        } else {
            people(index + 1, states.len(), state, &mut text)?;
        }
    }
    if more > 0 {
        complain(&format!("note: {more} more paths come there"));
    }
    io::stdout().write_all(&text)?;
    Ok(0)
}

/// One object a line, as elsewhere.
fn json(state: &StateAt, out: &mut Vec<u8>) -> io::Result<()> {
    let StateAt { place, path, contents } = state;
    let object = serde_json::json!({
        "type": "state",
        "file": *place.file,
        "line": place.start.line,
        "column": place.start.column,
        "path": path,
        "state": contents,
    });
    writeln!(out, "{object}")
}

fn people(number: usize, all: usize, state: &StateAt, out: &mut Vec<u8>) -> io::Result<()> {
    let StateAt { place, path, contents } = state;
    let Contents { variables, held, facts, other_facts } = contents;
    let (line, column) = (place.start.line, place.start.column);
    writeln!(out, "path {number} of {all} to {}:{line}:{column}", place.file)?;
    let section = |out: &mut Vec<u8>, title: &str, lines: &[String]| {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {title}:")?;
        lines.iter().try_for_each(|line| writeln!(out, "    {line}"))
    };
    section(out, "where", path)?;
    let variable = |NamedValue { name, value }: &NamedValue| match value {
        Some(value) => format!("{name} == {value}"),
        None => name.clone(),
    };
    section(out, "variables", &variables.iter().map(variable).collect::<Vec<_>>())?;
    let portion = |HeldPermission { location, amount, value }: &HeldPermission| {
        let amount = amount.as_deref().unwrap_or("…");
        let value = value.iter().map(|value| format!(" && {location} == {value}"));
        format!("acc({location}, {amount}){}", value.collect::<String>())
    };
    section(out, "held", &held.iter().map(portion).collect::<Vec<_>>())?;
    let mut known = facts.clone();
    if *other_facts > 0 {
        known.push(format!("and {other_facts} more"));
    }
    section(out, "known", &known)
}
