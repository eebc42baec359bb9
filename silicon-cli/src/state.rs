//! The state on each path to a line: `--state FILE:LINE`.

use std::io::{self, Write};

use silicon::output::{Format, json};
use silicon::session::follow::StateAt;
use silicon::session::states::states_at;
use silicon::session::{FileVerdict, Input, Lines};

use super::args::Args;
use super::{USAGE, complain};

/// So many paths are shown; others are counted, unless all are asked for.
const PATHS: usize = 8;

/// Verifies the members on the lines along each path, prints the states, and returns the exit code.
pub(crate) fn show(args: &Args, lines: &Lines) -> anyhow::Result<u8> {
    let session = args.session();
    let mut inputs = args.programs();
    if inputs.is_empty() {
        inputs = vec![Input::file(lines.file())];
    }
    let mut states = Vec::new();
    for input in &inputs {
        let (mut outcome, reached) = states_at(&session, input, lines);
        states.extend(reached);
        // Only errors of the program stay; failed proofs are no matter here.
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
    if states.is_empty() {
        let is_there = inputs.iter().any(|input| lines.is_of(&input.name));
        let why = if is_there { "" } else { ": no program has that name" };
        complain(&format!("error: no path comes to a statement at {lines}{why}"));
        return Ok(USAGE);
    }
    let shown = if args.all { states.len() } else { states.len().min(PATHS) };
    let mut text = Vec::new();
    for (index, state) in states.iter().take(shown).enumerate() {
        if matches!(args.format(), Format::Json { .. }) {
            json::state(state, &mut text)?;
        } else {
            people(index + 1, states.len(), state, &mut text)?;
        }
    }
    let more = states.len() - shown;
    if more > 0 {
        complain(&format!("note: {more} more paths come there (--all shows them)"));
    }
    io::stdout().write_all(&text)?;
    Ok(0)
}

fn people(number: usize, all: usize, state: &StateAt, out: &mut Vec<u8>) -> io::Result<()> {
    let place = &state.place;
    let (line, column) = (place.start.line, place.start.column);
    writeln!(out, "path {number} of {all} to {}:{line}:{column}", place.file)?;
    for (title, lines) in state.sections() {
        writeln!(out, "  {title}:")?;
        lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    Ok(())
}
