//! Printing what the front end makes of programs.

use std::io::{self, Write};

use sil::print::Form;
use sil::program::Program;
use silicon::session::{FileVerdict, load_program};

use super::args::{Args, Dump};
use super::{USAGE, complain};

/// Prints every input's program in the asked form and returns the exit code.
///
/// Prints programs on standard output, and the messages of the front end on standard error.
pub(crate) fn dump(args: &Args, what: Dump) -> anyhow::Result<u8> {
    let inputs = args.programs();
    if inputs.is_empty() {
        complain("error: no program found");
        return Ok(USAGE);
    }
    let mut worst = FileVerdict::NothingSelected;
    for input in &inputs {
        let (text, outcome) = load_program(input, |program| text(program, what, args.form()));
        let mut findings = Vec::new();
        args.format().findings(&outcome, &mut findings)?;
        io::stderr().write_all(&findings)?;
        if let Some(text) = text {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
        worst = worst.max(outcome.verdict);
    }
    Ok(worst.exit_code())
}

fn text(program: &Program, what: Dump, form: Form) -> String {
    match what {
        Dump::Ast => format!("{program:#?}\n"),
        Dump::Cfg => sil::cfg::to_dot(program),
        Dump::Sil => sil::print::program(program, form),
    }
}
