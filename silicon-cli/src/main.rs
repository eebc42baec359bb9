//! The `silicon` command: from arguments to a session, from outcomes to standard output and the
//! exit code.
//!
//! The library `silicon` verifies. Only this crate meets terminals, processes, and files other than
//! programs.

mod about;
mod args;
mod cache;
mod cluster;
mod commands;
mod dump;
mod format;
mod jvm;
mod merge;
mod reports;
mod run;
mod saved;
mod serve;
mod signals;
mod stability;
mod state;
mod supervise;
mod viper_server;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind as ClapErrorKind;

use commands::{About, Cli, Command};
use silicon::explain::{self, reference};
use silicon::session::input::Language;
use silicon_lsp::{Ending, Setup, Transport};

/// Wrong use of the command line.
const USAGE: u8 = 2;
/// A client of the language server is gone without a farewell, as its protocol has it.
const FAULT_OF_THE_CLIENT: u8 = 1;
/// A defect of this program.
const INTERNAL: u8 = 70;

/// Parses the arguments, does what they ask for, and says how it went.
fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(problem) => {
            complain(&format!("error: {problem}"));
            return ExitCode::from(USAGE);
        }
    };
    let args = match Cli::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => return usage(error),
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

/// Returns the arguments in our words, those of the configuration file first. `Err`: what is wrong
/// with them.
fn arguments() -> Result<Vec<OsString>, String> {
    let given: Vec<OsString> = std::env::args_os().collect();
    if let Some(started) = viper_server::arguments(&given) {
        return started.and_then(args::config::with_file);
    }
    let arguments = args::config::with_file(given)?;
    if !args::reference_flags::are_wanted(&arguments) {
        return Ok(arguments);
    }
    let translated = args::reference_flags::translate(arguments)?;
    if !translated.without_effect.is_empty() {
        let flags = translated.without_effect.join(", ");
        complain(&format!("warning: without effect here: {flags}"));
    }
    Ok(translated.arguments)
}

fn answer(cli: Cli) -> anyhow::Result<u8> {
    let mut args = cli.args;
    if let Some(command) = cli.command {
        return match command {
            Command::Stability(asked) => stability::run(&asked),
            Command::Merge(asked) => merge::run(&asked),
            Command::Cache(asked) => cache::run(&asked),
            Command::Cluster(asked) => cluster::run(asked),
            Command::Lsp { worker: true, cache, .. } => {
                // Without its place the worker remembers what it verifies itself.
                let answers = cache.open().ok().flatten().unwrap_or_default();
                silicon_lsp::serve(viper_server::read, answers)
            }
            Command::Lsp { worker: false, cache, port } => {
                cache.open()?;
                let setup = Setup { reader: viper_server::read, cache: cache.arguments() };
                let transport = port.map_or(Transport::Stdio, Transport::Port);
                Ok(match silicon_lsp::run(transport, setup)? {
                    Ending::Asked => 0,
                    Ending::Fault(why) => {
                        complain(&format!("error: {why}"));
                        FAULT_OF_THE_CLIENT
                    }
                })
            }
            Command::Fmt(asked) => format::run(&asked),
            Command::Serve(asked) => serve::run(&asked),
            Command::Jvm(asked) => jvm::run(&asked),
            Command::About(about) => tell(about),
        };
    }
    if args.print_config {
        write!(io::stdout(), "{}", args.configuration())?;
        return Ok(0);
    }
    if let Some(complaint) = args.complaint() {
        complain(&format!("error: {complaint}"));
        return Ok(USAGE);
    }
    if let Some(complaint) = args::meant::complaint(&args.inputs) {
        return Ok(refuse(&complaint));
    }
    for note in args.notes() {
        complain(&format!("note: {note}"));
    }
    if args.save.is_some() || args.presentation.is_for_others() {
        let checkout = saved::Checkout::here()?;
        args.inputs.iter_mut().for_each(|input| *input = checkout.relative(input));
    }
    match (args.dump, &args.state) {
        (Some(what), _) => dump::dump(&args, what),
        (None, Some(lines)) => state::show(&args, lines),
        (None, None) => run::run(&args),
    }
}

/// Prints something that is about this command, and not about a program.
fn tell(command: About) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    match command {
        About::Completions { shell } => {
            text = manual::completions::<Cli>(shell);
        }
        About::Explain { id: None } => text = explain::page().into_bytes(),
        About::Explain { id: Some(id) } => {
            let names = [
                (Language::Sil, "sil", "SIL"),
                (Language::Chalice, "chalice", "Chalice"),
                (Language::Spl, "spl", "SPL"),
            ];
            if let Some((language, ..)) = names.iter().find(|(_, name, _)| *name == id) {
                io::stdout().write_all(reference::page(*language).as_bytes())?;
                return Ok(0);
            }
            let (rows, advice) = (explain::rows(&id), explain::advice(&id));
            let before = text.len();
            for (language, _, title) in names {
                for form in reference::forms_with(language, &id) {
                    writeln!(text, "{} ({title})\n    {}", form.written, form.meaning)?;
                }
            }
            if rows.is_empty() && text.len() == before {
                let meant = explain::question(&id);
                complain(&format!(
                    "error: no such id or word: `{id}`{meant} (see silicon explain, and silicon \
                     explain sil, chalice or spl)"
                ));
                return Ok(USAGE);
            }
            for row in rows {
                writeln!(text, "{}: {}", row.id, row.meaning)?;
            }
            if !advice.is_empty() {
                writeln!(text, "\n{advice}")?;
            }
        }
        About::Man => text = manual::page::<Cli>()?,
    }
    io::stdout().write_all(&text)?;
    Ok(0)
}

/// Help and version are answers; everything else that clap says is a complaint.
fn usage(mut error: clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion);
    args::meant::improve(&mut error);
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

/// Says what is wrong with how this command is used; the exit code for that.
fn refuse(problem: &str) -> u8 {
    complain(&format!("error: {problem}"));
    USAGE
}

/// Writes to standard error, which may be closed.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
