//! Plants errors in verified members and lists those that are not noticed.
//!
//! `cargo run -p sil-tests --bin plant -- DIR` tries every error that `sil_tests::plant` knows in every verified member
//! of the programs below a directory. Exit code: 0 if there is no suspect, 1 otherwise.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use sil::load::Assumptions;
use sil::print::Form;
use sil::program::{Member, Program};
use sil::source::Span;
use sil_tests::plant::{self, Fate, Kind, Limits, Mutant};
use silicon::session::place::Places;
use silicon::session::{Input, input, load, name_and_span, on_large_stack};

/// Plants errors in verified members and lists those that are not noticed.
#[derive(Parser)]
struct Args {
    /// Directories of programs, or single programs
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Members worked on at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    jobs: usize,
    /// Seconds that one verification may take
    #[arg(long, default_value_t = 10.0)]
    timeout: f64,
    /// Only files whose path contains this (repeatable: any of them)
    #[arg(long)]
    only: Vec<String>,
    /// Only this member
    #[arg(long)]
    member: Option<String>,
    /// Only errors of this kind (repeatable: any of them)
    #[arg(long)]
    kind: Vec<Kind>,
    /// Try this many errors only, drawn from all
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Which ones are drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Ask another verifier about survivors: the command gets a file, and exits with 0 if that verifies
    #[arg(long, value_name = "CMD")]
    oracle: Option<String>,
    /// Write every mutant as a Viper program into this directory, and their fates into `index.txt`
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// A program, and how its places are shown.
struct File {
    name: String,
    loaded: load::Loaded,
    program: Program,
}

/// Some of the errors of one member.
struct Job {
    file: usize,
    member: Member,
    /// Indices into the member's mutants.
    numbers: Vec<usize>,
}

/// What became of the mutants of a job.
enum Done {
    /// The member does not verify as it is.
    NotVerified,
    Fates(Vec<Tried>),
    Defect(String),
}

struct Tried {
    kind: Kind,
    line: u32,
    fate: Fate,
    /// The line of the cause.
    cause_line: Option<u32>,
    /// What the other verifier says about a survivor.
    oracle: Option<bool>,
    must_fail: bool,
    written: Option<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let files = files(&args);
    let jobs = jobs(&files, &args);
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).context("cannot make the directory for mutants")?;
    }
    let done = run(&files, &jobs, &args);
    let suspects = show(&files, &jobs, &done, &args)?;
    Ok(if suspects { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The programs that the front ends accept.
fn files(args: &Args) -> Vec<File> {
    let mut files = Vec::new();
    for directory in &args.directories {
        let paths = if directory.is_dir() {
            input::programs_below(directory)
        } else {
            vec![directory.clone()]
        };
        for path in paths {
            let shown = path.display().to_string();
            if !args.only.is_empty() && !args.only.iter().any(|part| shown.contains(part)) {
                continue;
            }
            let name = path.strip_prefix(directory).unwrap_or(&path);
            let name = if name.as_os_str().is_empty() { &path } else { name };
            files.extend(read(&path, name.display().to_string()));
        }
    }
    files
}

fn read(path: &Path, name: String) -> Option<File> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut loaded = on_large_stack(|| {
        load::load(&Input::file(path), text.as_str().into(), Assumptions::default())
    })
    .ok()?;
    let program = loaded.program.take()?;
    Some(File { name, loaded, program })
}

/// All errors, or those that are drawn, by member.
fn jobs(files: &[File], args: &Args) -> Vec<Job> {
    let mut drawn: Vec<(u64, usize, usize, usize)> = Vec::new();
    let mut members = Vec::new();
    for (file, one) in files.iter().enumerate() {
        for &member in &one.program.order {
            let (name, _) = name_and_span(&one.program, member);
            if args.member.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            let index = members.len();
            members.push((file, member));
            for (number, mutant) in plant::mutants(&one.program, member).iter().enumerate() {
                if args.kind.is_empty() || args.kind.contains(&mutant.kind) {
                    let lot = plant::lot(args.seed, &one.name, name, number);
                    drawn.push((lot, file, index, number));
                }
            }
        }
    }
    if let Some(size) = args.sample {
        drawn.sort_unstable();
        drawn.truncate(size);
    }
    let mut of_member: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (_, _, index, number) in drawn {
        of_member.entry(index).or_default().push(number);
    }
    of_member
        .into_iter()
        .map(|(index, mut numbers)| {
            numbers.sort_unstable();
            let (file, member) = members[index];
            Job { file, member, numbers }
        })
        .collect()
}

/// Does every job; the results are in the order of the jobs.
fn run(files: &[File], jobs: &[Job], args: &Args) -> Vec<Done> {
    let threads = match args.jobs {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        jobs => jobs,
    };
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    let file = &files[job.file];
                    let done = on_large_stack(|| try_mutants(file, job, index, args))
                        .unwrap_or_else(Done::Defect);
                    results.lock().expect("no thread panics with the lock").push((index, done));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, done)| done).collect()
}

fn try_mutants(file: &File, job: &Job, index: usize, args: &Args) -> Done {
    let limits = Limits { obligation: 5_000_000, member: Duration::from_secs_f64(args.timeout) };
    let sources = &file.loaded.sources;
    let slice = plant::slice(&file.program, job.member);
    if plant::verifies(&slice, sources, job.member, limits) != Some(true) {
        return Done::NotVerified;
    }
    let texts = file.loaded.texts();
    let places = Places::new(&file.program, sources, &texts);
    let line = |span: Span| places.of(span).start.line;
    let mutants = plant::mutants(&slice, job.member);
    let fates = job.numbers.iter().map(|&number| {
        let mutant = &mutants[number];
        let fate = plant::judge(&slice, sources, job.member, mutant, limits);
        let survives = matches!(fate, Fate::Suspect | Fate::MayVerify | Fate::Unreachable(_));
        let oracle = match &args.oracle {
            Some(command) if survives => ask(command, &file.program, mutant, index, number),
            _ => None,
        };
        let written = args.write.as_ref().map(|directory| {
            let name = format!("{index:05}-{number:03}.vpr");
            write(&file.program, mutant, &directory.join(&name));
            name
        });
        let cause_line = match &fate {
            Fate::Unreachable(cause) => Some(line(cause.span)),
            _ => None,
        };
        Tried {
            kind: mutant.kind,
            line: line(mutant.span),
            fate,
            cause_line,
            oracle,
            must_fail: mutant.must_fail(),
            written,
        }
    });
    Done::Fates(fates.collect())
}

/// The mutant as a Viper program.
fn write(program: &Program, mutant: &Mutant, path: &Path) {
    let text = sil::print::program(&mutant.program(program), Form::Structured);
    if let Err(error) = std::fs::write(path, text) {
        eprintln!("cannot write {}: {error}", path.display());
    }
}

/// Whether the other verifier accepts the mutant; `None` if it gives no answer.
fn ask(
    command: &str,
    program: &Program,
    mutant: &Mutant,
    index: usize,
    number: usize,
) -> Option<bool> {
    let name = format!("plant-{}-{index}-{number}.vpr", std::process::id());
    let path = std::env::temp_dir().join(name);
    write(program, mutant, &path);
    let words: Vec<&str> = command.split_whitespace().collect();
    let (first, rest) = words.split_first()?;
    let status = Command::new(first)
        .args(rest)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Left behind, it is a file in the directory for such files.
    let _ = std::fs::remove_file(&path);
    match status.ok()?.code()? {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}

/// Prints survivors and totals; whether there is a suspect.
fn show(files: &[File], jobs: &[Job], done: &[Done], args: &Args) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    let mut index_file = String::new();
    let mut totals: BTreeMap<Kind, Totals> = BTreeMap::new();
    let (mut suspects, mut not_verified) = (false, 0);
    for (job, done) in jobs.iter().zip(done) {
        let file = &files[job.file];
        let (member, _) = name_and_span(&file.program, job.member);
        let fates = match done {
            Done::NotVerified => {
                not_verified += 1;
                continue;
            }
            Done::Defect(what) => {
                suspects = true;
                writeln!(out, "DEFECT  {} {member}: {what}", file.name)?;
                continue;
            }
            Done::Fates(fates) => fates,
        };
        for tried in fates {
            let word = totals.entry(tried.kind).or_default().count(tried);
            suspects |= word == SUSPECT;
            let place = format!("{}:{} {member}", file.name, tried.line);
            let mut line = format!("{word:<12} {:<22} {place}", tried.kind.name());
            if let (Fate::Unreachable(cause), Some(at)) = (&tried.fate, tried.cause_line) {
                line.push_str(&format!("  [{}, line {at}]", cause.words));
            }
            match tried.oracle {
                Some(true) => line.push_str("  [the other verifier agrees]"),
                Some(false) => line.push_str("  [the other verifier rejects it]"),
                None => {}
            }
            if let Some(name) = &tried.written {
                index_file.push_str(&format!("{name} {line}\n"));
            }
            if word != KILLED && word != UNDECIDED {
                writeln!(out, "{line}")?;
            }
        }
    }
    writeln!(out, "\n{:<22} planted  killed undecided unreachable may-verify suspect", "kind")?;
    for (kind, totals) in &totals {
        writeln!(out, "{:<22} {totals}", kind.name())?;
    }
    let mut sum = Totals::default();
    totals.values().for_each(|one| sum.add(one));
    writeln!(out, "{:<22} {sum}", "all")?;
    writeln!(
        out,
        "{} members, {not_verified} more do not verify as they are",
        jobs.len() - not_verified
    )?;
    if let Some(directory) = &args.write {
        std::fs::write(directory.join("index.txt"), index_file)
            .context("cannot write the index")?;
    }
    Ok(suspects)
}

const KILLED: &str = "killed";
const UNDECIDED: &str = "undecided";
const SUSPECT: &str = "SUSPECT";

#[derive(Default)]
struct Totals {
    killed: usize,
    undecided: usize,
    unreachable: usize,
    may_verify: usize,
    suspect: usize,
}

impl Totals {
    /// The word for what became of a mutant.
    ///
    /// What another verifier rejects is a suspect, whatever we think of it.
    fn count(&mut self, tried: &Tried) -> &'static str {
        let rejected = tried.oracle == Some(false);
        let (counter, word) = match &tried.fate {
            Fate::Killed => (&mut self.killed, KILLED),
            Fate::Undecided => (&mut self.undecided, UNDECIDED),
            _ if rejected => (&mut self.suspect, SUSPECT),
            Fate::Unreachable(cause) if !cause.suspicious => (&mut self.unreachable, "unreachable"),
            Fate::MayVerify => (&mut self.may_verify, "may-verify"),
            Fate::Unreachable(_) | Fate::Suspect => (&mut self.suspect, SUSPECT),
        };
        debug_assert!(tried.must_fail || tried.fate != Fate::Suspect);
        *counter += 1;
        word
    }

    fn add(&mut self, other: &Self) {
        self.killed += other.killed;
        self.undecided += other.undecided;
        self.unreachable += other.unreachable;
        self.may_verify += other.may_verify;
        self.suspect += other.suspect;
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let planted =
            self.killed + self.undecided + self.unreachable + self.may_verify + self.suspect;
        write!(
            f,
            "{planted:>7} {:>7} {:>9} {:>11} {:>10} {:>7}",
            self.killed, self.undecided, self.unreachable, self.may_verify, self.suspect
        )
    }
}
