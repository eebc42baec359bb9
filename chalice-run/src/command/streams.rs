//! The streams of the command.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Writes to standard output. A reader that has enough closes the pipe: its right.
///
/// # Errors
/// Any other trouble.
pub(super) fn out(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

/// Writes to standard error, if that is there.
pub(super) fn err(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
