//! The `spl2sil` command.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum, ValueHint};
use sil::render::{Message, Severity, Texts};
use spl::{Dialect, FileSystem, Settings};
use spl2sil::{Options, translate_text};
use translator::{PrintedForm, Request, Translated, show};

const EXAMPLES: &str = "\
Examples:
  spl2sil program.spl                       print the translation
  spl2sil program.spl | silicon -           verify it, report at program.spl
  spl2sil --form structured a.spl -o a.vpr  plain Viper, for any Viper verifier
  spl2sil *.spl -o out                      each program to a file below a directory

Exit codes:
  0 translated   2 wrong use   3 input error";

/// Translates SPL programs, those of GRASShopper, to SIL.
#[derive(Parser, Debug)]
#[command(name = "spl2sil", version, after_help = EXAMPLES)]
struct Args {
    /// Programs, or - for one on standard input
    #[arg(value_name = "FILE|-", required = true, value_hint = ValueHint::FilePath)]
    inputs: Vec<PathBuf>,

    /// Bodies as graphs of blocks, or structured, which is plain Viper
    #[arg(long, value_enum, value_name = "FORM", default_value = "graph")]
    form: PrintedForm,

    /// Write to a file; with several programs, to files below a directory
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Parse, resolve and type check only, and say which dialect each program has
    #[arg(long, conflicts_with_all = ["output", "emit"])]
    check: bool,

    /// The printed text: the translation, or the SPL program as it was understood
    #[arg(long, value_enum, value_name = "WHAT", default_value = "sil")]
    emit: Emit,

    /// The meaning of the text: permission to objects (classic), to fields (field), or the meaning
    /// of the program's own marks
    #[arg(long, value_enum, value_name = "DIALECT", default_value = "auto")]
    dialect: DialectChoice,

    /// Report what a procedure leaves behind, in the field dialect, too; in the classic dialect it
    /// always is an error
    #[arg(long)]
    leaks: bool,

    /// Take for granted that lemmas and functions end where no measure is found
    #[arg(long)]
    assume_termination: bool,

    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,

    /// Where included files are, if not beside the file that includes them
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    base: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Emit {
    Ast,
    Sil,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum DialectChoice {
    Auto,
    Classic,
    ClassicParts,
    Field,
}

fn main() -> ExitCode {
    let args: Args = manual::parse();
    let request = Request {
        command: "spl2sil",
        inputs: &args.inputs,
        output: args.output.as_deref(),
        extension: match args.emit {
            Emit::Ast => "ast",
            Emit::Sil => "sil",
        },
    };
    request.carry_out(|input| translate_one(&args, input))
}

/// Makes the result that the arguments ask for from an input.
fn translate_one(args: &Args, input: &Path) -> Result<Translated> {
    let (name, text) = front::read_input(input)?;
    let settings = Settings { dialect: dialect(args.dialect), base: args.base.clone() };
    let options = Options { leaks: args.leaks, assume_termination: args.assume_termination };
    let (output, mut found, sources) = if args.check || args.emit == Emit::Ast {
        let checked = spl::check(&name, &text, &settings, &FileSystem);
        let found = checked.findings.iter();
        let found: Vec<_> = found.map(|one| Message::of(&checked.sources, one)).collect();
        let output = checked.program.map(|program| {
            if args.check {
                format!("{name}: {} dialect\n", program.dialect.name())
            } else {
                format!("{program:#?}\n")
            }
        });
        (output, found, checked.sources)
    } else {
        let translated =
            translate_text(&name, &text, &settings, options, &FileSystem, args.form.into());
        (translated.text, translated.messages, translated.originals)
    };
    if args.strict {
        found.iter_mut().for_each(|message| message.severity = Severity::Error);
    }
    show(&Texts::of(&sources), &found);
    let is_fine = found.iter().all(|message| message.severity != Severity::Error);
    Ok(Translated { text: output.filter(|_| is_fine), is_fine })
}

fn dialect(choice: DialectChoice) -> Option<Dialect> {
    match choice {
        DialectChoice::Auto => None,
        DialectChoice::Classic => Some(Dialect::Classic),
        DialectChoice::ClassicParts => Some(Dialect::ClassicParts),
        DialectChoice::Field => Some(Dialect::Field),
    }
}
