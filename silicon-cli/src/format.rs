//! `silicon fmt`: the layout of programs.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, ValueHint};
use silicon::output::Format;
use silicon::session::format::layout;
use silicon::session::input::{self, Input, Language, Source};

use crate::args::Dialect;
use crate::complain;
use crate::reports::write_whole;

/// Some program does not have its layout.
const DIFFERS: u8 = 1;

const EXIT_CODES: &str = "\
Exit codes:
  0 all programs have their layout, now   1 with --check: some does not   2 wrong use
  3 input error: unreadable, or no program";

/// Lay programs out: indentation, spaces, and line breaks between clauses and statements. Comments
/// and the breaks of long lines stay as they are
#[derive(Parser, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Fmt {
    /// Programs, directories of programs, or - for standard input, which is printed
    #[arg(value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath, required = true)]
    inputs: Vec<PathBuf>,

    /// Change nothing, and name the programs that do not have their layout
    #[arg(long)]
    check: bool,

    /// The language of all programs, whatever their names say
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    language: Option<Dialect>,

    /// The name of standard input in messages; its end says which language the text is in
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<String>,

    /// How errors are shown
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: Shown,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug)]
enum Shown {
    Human,
    Short,
}

/// Lays out all programs, and returns the exit code: the first of 70, 3, 1 and 0 that applies.
pub(crate) fn run(asked: &Fmt) -> anyhow::Result<u8> {
    let mut code = 0;
    for mut input in input::expand(&asked.inputs) {
        if let (Source::Stdin, Some(name)) = (&input.source, &asked.stdin_filename) {
            input.name = input::harmless(name);
        }
        input.language = asked.language.map(Language::from);
        code = code.max(asked.lay_out(&input)?);
    }
    for directory in input::without_programs(&asked.inputs) {
        complain(&format!("error: no program found in {}", directory.display()));
        code = code.max(crate::USAGE);
    }
    Ok(code)
}

impl Fmt {
    fn lay_out(&self, input: &Input) -> anyhow::Result<u8> {
        let layout = match layout(input) {
            Ok(layout) => layout,
            Err(outcome) => {
                let format = match self.message_format {
                    Shown::Human => Format::plain(),
                    Shown::Short => Format::Short,
                };
                let mut findings = Vec::new();
                format.findings(&outcome, &mut findings)?;
                io::stderr().write_all(&findings)?;
                return Ok(outcome.verdict.exit_code());
            }
        };
        let differs = !layout.edits.is_empty();
        let mut stdout = io::stdout().lock();
        match input.path() {
            _ if self.check => {
                if differs {
                    writeln!(stdout, "{}", input.name)?;
                    return Ok(DIFFERS);
                }
            }
            None => stdout.write_all(layout.formatted().as_bytes())?,
            Some(path) if differs => write_whole(path, &layout.formatted())
                .with_context(|| format!("cannot write {}", path.display()))?,
            Some(_) => {}
        }
        Ok(0)
    }
}
