//! One line an error.

use std::io::{self, Write};

use sil::render;

use crate::session::Outcome;

pub(super) fn outcome(outcome: &Outcome, to: &mut dyn Write) -> io::Result<()> {
    for diagnostic in &outcome.diagnostics {
        to.write_all(render::short(&diagnostic.message).as_bytes())?;
    }
    Ok(())
}
