//! The shared part of the commands that translate a language to SIL: inputs, outputs, messages and
//! exit codes.

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

/// The exit code if the command line asks for what makes no sense.
const WRONG_USE: u8 = 2;

/// The exit code if an input is no program or cannot be read, or an output cannot be written.
const INPUT_ERROR: u8 = 3;

/// The request of a user to a command.
pub struct Request<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// The inputs; `-` is standard input.
    pub inputs: &'a [PathBuf],
    /// Where the results go, if not to standard output: a file, or a directory.
    pub output: Option<&'a Path>,
    /// The end of the names of files in that directory.
    pub extension: &'a str,
}

/// The result of translating one input.
pub struct Translated {
    /// The text to write: nothing if there is no result, or if the request asks for none.
    pub text: Option<String>,
    /// Is the input a program?
    pub is_fine: bool,
}

impl Request<'_> {
    /// Translates each input with `translate`, and writes the results. What fails with one input is
    /// said, and the others still get their result.
    pub fn carry_out(&self, translate: impl Fn(&Path) -> Result<Translated>) -> ExitCode {
        let planned = match self.planned() {
            Ok(planned) => planned,
            Err(problem) => {
                let _ = writeln!(io::stderr(), "{}: {problem}", self.command);
                return ExitCode::from(WRONG_USE);
            }
        };
        let mut is_fine = true;
        for (input, target) in planned {
            let written = translate(input).and_then(|Translated { text, is_fine }| {
                match (text, target) {
                    (None, _) => {}
                    (Some(text), None) => print(&text)?,
                    (Some(text), Some(target)) => self.write(&target, &text)?,
                }
                Ok(is_fine)
            });
            is_fine &= written.unwrap_or_else(|error| {
                let _ = writeln!(io::stderr(), "{}: {error:#}", self.command);
                false
            });
        }
        if is_fine { ExitCode::SUCCESS } else { ExitCode::from(INPUT_ERROR) }
    }

    /// Each input, once, with the file that its result goes to.
    ///
    /// # Errors
    /// Standard input is named twice, or a result would replace an input or another result.
    fn planned(&self) -> Result<Vec<(&Path, Option<PathBuf>)>, String> {
        if self.inputs.iter().filter(|input| is_stdin(input)).count() > 1 {
            return Err("standard input can be read only once".to_owned());
        }
        let mut planned: Vec<(&Path, Option<PathBuf>)> = Vec::new();
        for input in self.inputs {
            if planned.iter().any(|(other, _)| other == input) {
                continue;
            }
            let target = self.target(input);
            if let Some(target) = &target {
                let shown = target.display();
                if self.inputs.iter().any(|input| is_same(input, target)) {
                    return Err(format!("{shown} is an input: it is not written over"));
                }
                let is_taken = |(_, other): &&(_, Option<PathBuf>)| other.as_ref() == Some(target);
                if let Some((other, _)) = planned.iter().find(is_taken) {
                    let (one, other) = (other.display(), input.display());
                    return Err(format!("{one} and {other} would both be written to {shown}"));
                }
            }
            planned.push((input, target));
        }
        Ok(planned)
    }

    /// Returns the file that the result of an input goes to: the output, or, if that is a directory
    /// or there are several inputs, a file below it that has the input's name and the extension.
    fn target(&self, input: &Path) -> Option<PathBuf> {
        let output = self.output?;
        if self.inputs.len() == 1 && !output.is_dir() {
            return Some(output.to_owned());
        }
        let stem = input.file_stem().filter(|_| !is_stdin(input)).unwrap_or("stdin".as_ref());
        let mut name = stem.to_owned();
        name.push(".");
        name.push(self.extension);
        Some(output.join(name))
    }

    /// Writes to a file. The directory of several is made if it is not there.
    fn write(&self, target: &Path, text: &str) -> Result<()> {
        if let Some(directory) = self.output.filter(|_| self.inputs.len() > 1) {
            fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        }
        fs::write(target, text).with_context(|| target.display().to_string())
    }
}

fn is_stdin(input: &Path) -> bool {
    input == Path::new("-")
}

/// Do two paths name one file that is there? Standard input is none.
fn is_same(input: &Path, other: &Path) -> bool {
    let there = |path: &Path| fs::canonicalize(path).ok();
    !is_stdin(input) && there(input).is_some_and(|input| there(other) == Some(input))
}

/// Shows findings on standard error, in colours if it is a terminal.
pub fn show(texts: &Texts, found: &[Message]) {
    let is_plain = std::env::var_os("NO_COLOR").is_some() || !io::stderr().is_terminal();
    let colours = if is_plain { Colours::Never } else { Colours::Always };
    for message in found {
        let _ = writeln!(io::stderr(), "{}", human(message, texts, colours).trim_end());
    }
}

/// Writes to standard output; a reader that has enough and closes the pipe is no error.
fn print(output: &str) -> Result<()> {
    match io::stdout().write_all(output.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}
