//! What the commands that translate a language to SIL share: inputs, outputs, messages and exit codes.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::ValueEnum;
use sil::print::Form;
use sil::render::{Colours, Message, Texts, human};

/// How bodies are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PrintedForm {
    Graph,
    Structured,
}

impl From<PrintedForm> for Form {
    fn from(form: PrintedForm) -> Self {
        match form {
            PrintedForm::Graph => Self::Graph,
            PrintedForm::Structured => Self::Structured,
        }
    }
}

/// The exit code if an input is no program or cannot be read, or an output cannot be written.
const INPUT_ERROR: u8 = 3;

/// Translates each input with `translate`, which says whether the input is a program. What fails with one input is said,
/// and the others still get their result.
pub fn each_input(
    command: &str,
    inputs: &[PathBuf],
    mut translate: impl FnMut(&Path) -> Result<bool>,
) -> ExitCode {
    let mut is_fine = true;
    for input in inputs {
        match translate(input) {
            Ok(translated) => is_fine &= translated,
            Err(error) => {
                is_fine = false;
                let _ = writeln!(io::stderr(), "{command}: {error:#}");
            }
        }
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::from(INPUT_ERROR) }
}

/// Shows findings on standard error, in colours if it is a terminal.
pub fn show(texts: &Texts, found: &[Message]) {
    let is_plain = std::env::var_os("NO_COLOR").is_some() || !io::stderr().is_terminal();
    let colours = if is_plain { Colours::Never } else { Colours::Always };
    for message in found {
        let _ = writeln!(io::stderr(), "{}", human(message, texts, colours).trim_end());
    }
}

/// Writes to standard output.
///
/// # Errors
/// What cannot be written; a reader that has enough and closes the pipe is no error.
pub fn print(output: &str) -> Result<()> {
    match io::stdout().write_all(output.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

/// Writes what became of `input` to the file `target`; if that is a directory or there are several inputs, to a file
/// below it that has the input's name and the extension.
///
/// # Errors
/// What cannot be written.
pub fn write(
    target: &Path,
    input: &Path,
    is_one_of_several: bool,
    extension: &str,
    output: &str,
) -> Result<()> {
    let target = if is_one_of_several || target.is_dir() {
        fs::create_dir_all(target).with_context(|| target.display().to_string())?;
        let stem = input.file_stem().filter(|_| input != Path::new("-"));
        target.join(stem.unwrap_or("stdin".as_ref())).with_extension(extension)
    } else {
        target.to_owned()
    };
    fs::write(&target, output).with_context(|| target.display().to_string())
}
