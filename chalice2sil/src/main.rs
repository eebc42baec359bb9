//! The `chalice2sil` command.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use chalice2sil::explain::explained;
use chalice2sil::{messages, translate_text};
use clap::{Parser, ValueEnum, ValueHint};
use sil::print::Form;
use sil::render::{Colours, Message, Severity, Texts, human};

const EXAMPLES: &str = "\
Examples:
  chalice2sil program.chalice                     print the translation
  chalice2sil program.chalice | silicon -         verify it, report at program.chalice
  chalice2sil --form structured a.chalice -o a.vpr  plain Viper, for any Viper verifier
  chalice2sil *.chalice -o out                    each program to a file below a directory

Exit codes:
  0 translated   2 wrong use   3 input error";

/// Translates Chalice programs to SIL.
#[derive(Parser, Debug)]
#[command(name = "chalice2sil", version, after_help = EXAMPLES)]
struct Args {
    /// Programs, or - for one on standard input
    #[arg(value_name = "FILE|-", required = true, value_hint = ValueHint::FilePath)]
    inputs: Vec<PathBuf>,

    /// Bodies as graphs of blocks, or structured, which is plain Viper
    #[arg(long, value_enum, value_name = "FORM", default_value = "graph")]
    form: PrintedForm,

    /// Show each line of the program above what it became
    #[arg(long)]
    explain: bool,

    /// Write to a file; with several programs, to files below a directory
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Parse, resolve and type check only
    #[arg(long)]
    check: bool,

    /// What is printed: the translation, the Chalice program as it was understood, or its text in one layout
    #[arg(long, value_enum, value_name = "WHAT", default_value = "sil")]
    emit: Emit,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PrintedForm {
    Graph,
    Structured,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Emit {
    Ast,
    Chalice,
    Sil,
}

const INPUT_ERROR: u8 = 3;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut is_fine = true;
    for input in &args.inputs {
        match translate_one(&args, input) {
            Ok(translated) => is_fine &= translated,
            Err(error) => {
                is_fine = false;
                let _ = writeln!(io::stderr(), "chalice2sil: {error:#}");
            }
        }
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::from(INPUT_ERROR) }
}

/// Is the input a program, and is what was asked for written?
fn translate_one(args: &Args, input: &Path) -> Result<bool> {
    let (name, text) = read(input)?;
    let form = match args.form {
        PrintedForm::Graph => Form::Graph,
        PrintedForm::Structured => Form::Structured,
    };
    let (output, found) = if args.check {
        let (program, found) = messages::check(&name, &text);
        (program.map(|_| String::new()), found)
    } else if args.emit == Emit::Ast {
        let (program, found) = messages::check(&name, &text);
        (program.map(|program| format!("{program:#?}\n")), found)
    } else if args.emit == Emit::Chalice {
        let (_, found) = messages::check(&name, &text);
        let parsed = chalice::syntax::parse(&text).ok();
        (parsed.map(|program| chalice::syntax::print::print(&program)), found)
    } else {
        translate_text(&name, &text, form)
    };
    show(&name, &text, &found);
    let Some(output) = output else { return Ok(false) };
    let output = if args.explain && args.emit == Emit::Sil && !args.check {
        explained(&output, &chalice::SourceFile::new(name, text))
    } else {
        output
    };
    if !args.check {
        write(args, input, &output)?;
    }
    Ok(found.iter().all(|message| message.severity != Severity::Error))
}

fn read(input: &Path) -> Result<(String, String)> {
    if input == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("standard input")?;
        let text = String::from_utf8(bytes).context("standard input is not UTF-8")?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let name = input.display().to_string();
    let bytes = fs::read(input).with_context(|| name.clone())?;
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok((name, text))
}

fn show(name: &str, text: &str, found: &[Message]) {
    let mut texts = Texts::default();
    texts.add(sil::source::SourceFile::new(name, text));
    let is_plain = std::env::var_os("NO_COLOR").is_some() || !io::stderr().is_terminal();
    let colours = if is_plain { Colours::Never } else { Colours::Always };
    for message in found {
        let _ = writeln!(io::stderr(), "{}", human(message, &texts, colours).trim_end());
    }
}

fn write(args: &Args, input: &Path, output: &str) -> Result<()> {
    let Some(target) = &args.output else {
        return match io::stdout().write_all(output.as_bytes()) {
            // A reader that has enough closes the pipe: its right.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("standard output")
            }
            _ => Ok(()),
        };
    };
    let is_directory = args.inputs.len() > 1 || target.is_dir();
    let target = if is_directory {
        fs::create_dir_all(target).with_context(|| target.display().to_string())?;
        let stem =
            input.file_stem().filter(|_| input != Path::new("-")).unwrap_or("stdin".as_ref());
        let extension = match args.emit {
            Emit::Ast => "ast",
            Emit::Chalice => "chalice",
            Emit::Sil => "sil",
        };
        target.join(stem).with_extension(extension)
    } else {
        target.clone()
    };
    fs::write(&target, output).with_context(|| target.display().to_string())
}
