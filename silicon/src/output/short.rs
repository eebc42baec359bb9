//! One line an error, and one for what a file relies on.

use std::io::{self, Write};

use sil::render::{self, Message};

use super::trusted;
use crate::session::{Diagnostic, Outcome};

pub(super) fn verdicts(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    match trusted(outcome) {
        Some(trusted) => writeln!(to, "{}: {trusted}", outcome.file),
        None => Ok(()),
    }
}

pub(super) fn findings(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    for diagnostic in outcome.diagnostics.iter().filter(|one| !one.is_known) {
        to.write_all(line(diagnostic).as_bytes())?;
    }
    Ok(())
}

/// Returns the line of a finding.
pub(super) fn line(diagnostic: &Diagnostic) -> String {
    let message = Message { text: diagnostic.sentence(), ..diagnostic.message.clone() };
    render::short(&message)
}
