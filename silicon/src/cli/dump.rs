//! Printing what the front end makes of programs.

use std::io::{self, Write};

use silicon::session::input;

use super::args::{Args, Dump};
use super::{USAGE, complain};

/// Prints every input's program in the asked form and returns the exit code.
pub(crate) fn dump(args: &Args, what: Dump) -> anyhow::Result<u8> {
    let _ = (input::expand(&args.inputs), args.form, what);
    io::stdout().flush()?;
    complain("error: --dump is not available yet");
    Ok(USAGE)
}
