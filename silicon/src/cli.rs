//! The command line: from arguments to a session, from outcomes to standard output and the exit code.

mod args;
mod dump;
mod progress;
mod reports;
mod run;
mod silicon_flags;

use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::error::ErrorKind as ClapErrorKind;
use clap::{CommandFactory, Parser};

use args::{Args, Command};

/// Wrong use of the command line.
const USAGE: u8 = 2;
/// A defect of this program.
const INTERNAL: u8 = 70;

/// Parses the arguments, does what they ask for, and says how it went.
pub(crate) fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match catch_unwind(AssertUnwindSafe(|| answer(args))) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => trouble(&error),
        Err(_) => {
            complain("error: internal error, please report it with the message above");
            ExitCode::from(INTERNAL)
        }
    }
}

fn answer(args: Args) -> anyhow::Result<u8> {
    if let Some(Command::Completions { shell }) = args.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Args::command(), "silicon", &mut script);
        io::stdout().write_all(&script)?;
        return Ok(0);
    }
    if args.print_config {
        write!(io::stdout(), "{}", args.configuration())?;
        return Ok(0);
    }
    if let Some(complaint) = args.complaint() {
        complain(&format!("error: {complaint}"));
        return Ok(USAGE);
    }
    for note in args.notes() {
        complain(&format!("note: {note}"));
    }
    match args.dump {
        Some(what) => dump::dump(&args, what),
        None => run::run(&args),
    }
}

/// Help and version are answers; everything else that clap says is a complaint.
fn usage(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion);
    // A closed pipe is no reason to complain about.
    let _ = error.print();
    ExitCode::from(if asked { 0 } else { USAGE })
}

/// The exit code that shells show for a program that writes into a closed pipe.
const BROKEN_PIPE: u8 = 141;

/// Whoever reads our output may stop reading: no reason to complain, but verdicts were lost.
fn trouble(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe);
    if broken_pipe {
        return ExitCode::from(BROKEN_PIPE);
    }
    complain(&format!("error: {error:#}"));
    ExitCode::from(INTERNAL)
}

/// Writes to standard error, which may be closed.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
