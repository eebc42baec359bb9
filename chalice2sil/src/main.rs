//! The `chalice2sil` command.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use chalice::SourceFile;
use chalice2sil::explain::explained;
use chalice2sil::{messages, translate_text};
use clap::{Parser, ValueEnum, ValueHint};
use layout::Language;
use sil::render::{Severity, Texts};
use translator::{PrintedForm, Request, Translated, show};

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

    /// An option of Chalice beside those in the first line of a program, as -noTermination
    /// (repeatable)
    #[arg(
        long = "chalice-parameter",
        value_name = "OPTION",
        allow_hyphen_values = true,
        value_parser = chalice::options::parse
    )]
    parameters: Vec<String>,

    /// Show each line of the program above what it became
    #[arg(long, conflicts_with = "emit")]
    explain: bool,

    /// Write to a file; with several programs, to files below a directory
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Parse, resolve and type check only
    #[arg(long, conflicts_with_all = ["output", "emit", "explain"])]
    check: bool,

    /// The printed text: the translation, the Chalice program as it was understood, or its text in
    /// one layout
    #[arg(long, value_enum, value_name = "WHAT", default_value = "sil")]
    emit: Emit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Emit {
    Ast,
    Chalice,
    Sil,
}

fn main() -> ExitCode {
    let args: Args = manual::parse();
    let request = Request {
        command: "chalice2sil",
        inputs: &args.inputs,
        output: args.output.as_deref(),
        extension: match args.emit {
            Emit::Ast => "ast",
            Emit::Chalice => "chalice",
            Emit::Sil => "sil",
        },
    };
    request.carry_out(|input| translate_one(&args, input))
}

/// Makes the result that the arguments ask for from an input.
fn translate_one(args: &Args, input: &Path) -> Result<Translated> {
    let (name, text) = front::read_input(input)?;
    let (output, found) = if args.check {
        (None, messages::check(&name, &text).1)
    } else if args.emit == Emit::Ast {
        let (program, found) = messages::check(&name, &text);
        (program.map(|program| format!("{program:#?}\n")), found)
    } else if args.emit == Emit::Chalice {
        let (_, found) = messages::check(&name, &text);
        let is_read = chalice::syntax::parse(&text).is_ok();
        let laid_out = is_read.then(|| layout::format(&text, Language::Chalice)).transpose();
        (laid_out.map_err(|problem| anyhow!("{problem}"))?, found)
    } else {
        translate_text(&name, &text, &args.parameters, args.form.into())
    };
    let mut texts = Texts::default();
    texts.add(SourceFile::new(name.as_str(), text.as_str()));
    show(&texts, &found);
    let output = if args.explain {
        output.map(|output| explained(&output, &SourceFile::new(name, text)))
    } else {
        output
    };
    let is_fine = found.iter().all(|message| message.severity != Severity::Error);
    Ok(Translated { text: output, is_fine })
}
