//! Times programs: `cargo run --release -p sil-benches -- [FILES|DIRS…]`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use sil_benches::measure::{self, Run};
use sil_benches::pipe::Commands;
use sil_benches::samples::{Row, Way};
use sil_benches::{emitted, growth, running, table, thesis, ways, works};
use silicon::options::Options;
use silicon::session::input::{self, Input, Language};
use silicon::session::on_large_stack;

/// Times the ways from a program to its verdict, phase by phase.
#[derive(Parser, Debug)]
#[command(name = "sil-benches", version)]
struct Args {
    /// Programs and directories of programs [default: the examples, and the Chalice and SPL
    /// programs of the corpus]
    #[arg(value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,

    /// Measure each way this many times, after one run that is not counted
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,

    /// Worker threads of the verifier, 0 for one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Measure the procedures of the table of GRASShopper's symbolic executor instead, each as a
    /// process of its own, and show its times beside ours: a directory with `basic.spl`,
    /// `frame.spl`, `func.spl`, `list.spl` and `treeset.spl`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_pipe", "csv"])]
    thesis: Option<PathBuf>,

    /// Measure Chalice programs by two ways instead, translated and executed directly, and count
    /// the members on which both agree
    #[arg(
        long,
        value_enum,
        value_name = "WAYS",
        conflicts_with_all = ["thesis", "running", "no_pipe"]
    )]
    compare: Option<Compared>,

    /// Measure instead how fast Chalice programs run with every permission checked
    #[arg(long, conflicts_with_all = ["no_pipe", "csv"])]
    running: bool,

    /// Show the table of another work instead, ours beside theirs, for the programs of it that are
    /// below the inputs; nothing is built. syxc: Schwerhoff 2011, table 3; runtime: Hegi 2013,
    /// section 5; quantified: Müller, Schwerhoff and Summers 2016, figure 8
    #[arg(long, value_enum, value_name = "WORK", conflicts_with_all = ["no_pipe", "csv"])]
    work: Option<Work>,

    /// Measure instead what checks cost in emitted Chalice programs, built in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_pipe", "csv"])]
    emitted: Option<PathBuf>,

    /// Measure instead how the cost of generated programs grows with their size
    #[arg(long, conflicts_with_all = ["no_pipe", "csv"])]
    growth: bool,

    /// Do not run the two commands as processes
    #[arg(long)]
    no_pipe: bool,

    /// Write the numbers to a file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Take only every N-th program
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
}

/// Tables of other works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Work {
    Syxc,
    Runtime,
    Quantified,
}

/// Ways that are put beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Compared {
    #[value(name = "translated,direct")]
    TranslatedAndDirect,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.running {
        write!(io::stdout().lock(), "{}", running::table())?;
        return Ok(());
    }
    if args.growth {
        write!(io::stdout().lock(), "{}", growth::table(640, 20.0))?;
        return Ok(());
    }
    if let Some(folder) = &args.emitted {
        write!(io::stdout().lock(), "{}", emitted::table(folder, args.runs.into())?)?;
        return Ok(());
    }
    if let Some(work) = args.work {
        let (commands, runs) = (Commands::beside()?, args.runs.into());
        let table = match work {
            Work::Syxc => works::syxc(&args.inputs, &commands, runs)?,
            Work::Runtime => works::runtime(&args.inputs, &commands)?,
            Work::Quantified => works::quantified(&args.inputs, &commands, runs)?,
        };
        write!(io::stdout().lock(), "{table}")?;
        return Ok(());
    }
    if let Some(directory) = &args.thesis {
        let rows = thesis::measure(directory, &Commands::beside()?, args.runs.into())?;
        write!(io::stdout().lock(), "{}", thesis::table(&rows))?;
        return Ok(());
    }
    let programs: Vec<_> =
        programs(&args.inputs).into_iter().step_by(usize::from(args.every)).collect();
    if let Some(Compared::TranslatedAndDirect) = args.compare {
        let files = programs.into_iter().map(|(_, file)| file);
        let is_chalice = |file: &PathBuf| Input::file(file).language() == Language::Chalice;
        let rows = ways::measure(&files.filter(is_chalice).collect::<Vec<_>>(), args.runs.into())?;
        write!(io::stdout().lock(), "{}", ways::table(&rows))?;
        return write(args.csv.as_deref(), &ways::csv(&rows));
    }
    let commands = (!args.no_pipe && programs.iter().any(|(_, one)| is_translated(one)))
        .then(Commands::build)
        .transpose()?;
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for (group, program) in &programs {
        match row(&args, commands.as_ref(), group, program) {
            Ok(row) => rows.push(row),
            Err(problem) => problems.push(format!("{}: {problem:#}", program.display())),
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if args.threads == 0 { cores } else { args.threads };
    let mut out = io::stdout().lock();
    write!(out, "{}", table::table(&rows, args.runs.into(), threads, cores))?;
    for problem in &problems {
        writeln!(io::stderr(), "not measured: {problem}")?;
    }
    write(args.csv.as_deref(), &table::csv(&rows))?;
    if rows.is_empty() {
        bail!("nothing was measured");
    }
    Ok(())
}

/// Writes a text to a file, if there is one.
fn write(file: Option<&Path>, text: &str) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    fs::write(file, text).with_context(|| file.display().to_string())
}

/// Returns the programs to measure, each with the name of its group: its folder.
fn programs(inputs: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut programs = Vec::new();
    if inputs.is_empty() {
        programs = input::programs_below(&root.join("examples"));
        programs.extend(
            input::programs_below(&root.join("tests/corpus"))
                .into_iter()
                .filter(|p| is_translated(p)),
        );
    }
    for input in inputs {
        if input.is_dir() {
            programs.extend(input::programs_below(input));
        } else {
            programs.push(input.clone());
        }
    }
    let group = |program: &Path| {
        let folder = program.parent().unwrap_or(Path::new(""));
        folder.strip_prefix(&root).unwrap_or(folder).display().to_string()
    };
    programs.into_iter().map(|program| (group(&program), program)).collect()
}

/// Is it a program that is translated to SIL?
fn is_translated(program: &Path) -> bool {
    Input::file(program).language() != Language::Sil
}

/// Measures one program.
fn row(args: &Args, commands: Option<&Commands>, group: &str, program: &Path) -> Result<Row> {
    let text = fs::read_to_string(program).context("cannot be read")?;
    let path = program.display().to_string();
    let mut options = Options::default();
    options.threads = args.threads;
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let mut row = Row { group: group.to_owned(), name, ..Row::default() };
    let runs = args.runs.into();
    let language = Input::file(program).language();
    let sil_text = if language != Language::Sil {
        let (translated, verdict) = repeat(runs, || match language {
            Language::Spl => measure::spl(&path, &text, &options),
            Language::Chalice | Language::Sil => measure::chalice(&path, &text, &options),
        })?;
        row.set_phases(&translated);
        row.set_total(Way::Translated, translated.iter().map(Run::total));
        row.verdict = verdict;
        if let Some(commands) = commands {
            commands.time(program, args.threads)?;
            let times: io::Result<Vec<_>> =
                (0..runs).map(|_| commands.time(program, args.threads)).collect();
            row.set_total(Way::Pipe, times?);
        }
        let translation = match language {
            Language::Spl => measure::spl_translation(&path, &text),
            Language::Chalice | Language::Sil => measure::translation(&path, &text),
        };
        translation.map_err(anyhow::Error::msg)?
    } else {
        text
    };
    let (runs, verdict) = repeat(runs, || measure::sil(&path, &sil_text, &options))?;
    if language == Language::Sil {
        row.set_phases(&runs);
        row.verdict = verdict;
    }
    row.set_total(Way::Text, runs.iter().map(Run::total));
    Ok(row)
}

/// `count` runs after one to warm up, and their verdict.
fn repeat(
    count: usize,
    mut run: impl FnMut() -> measure::Measured + Send,
) -> Result<(Vec<Run>, &'static str)> {
    let runs = on_large_stack(|| {
        let (_, verdict) = run()?;
        let runs: Result<Vec<Run>, String> =
            (0..count).map(|_| run().map(|(run, _)| run)).collect();
        Ok::<_, String>((runs?, verdict))
    });
    runs?.map_err(anyhow::Error::msg)
}
