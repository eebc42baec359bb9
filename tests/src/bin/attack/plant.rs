//! Plants errors in verified members and lists those that are not noticed.
//!
//! `cargo run -p sil-tests --bin attack -- plant DIR` tries every error that `sil_tests::plant`
//! knows in every verified member of the programs below a directory. With `--way direct` or `--way
//! translated` the text of Chalice programs is changed, and the other of these two is asked about
//! what survives. Exit code: 0 if there is no suspect, 1 otherwise.

mod planted;
mod show;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context;
use clap::{Args, ValueEnum};
use sil_tests::plant::{self, Fate, Kind};
use silicon::session::{input, on_large_stack};

use planted::Planted;

/// Plants errors in verified members and lists those that are not noticed.
#[derive(Args)]
pub(super) struct Options {
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
    /// The target of planted errors, and their judge
    #[arg(long, value_enum, default_value_t = Way::Engine)]
    way: Way,
    /// Ask another verifier about survivors: the command gets a file, and exits with 0 if that
    /// verifies
    #[arg(long, value_name = "CMD")]
    oracle: Option<String>,
    /// Write every mutant into this directory, and their fates into `index.txt`
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// The target of planted errors, and their judge.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// SIL programs, and translations; the engine
    Engine,
    /// Chalice programs; their translation, and direct execution about survivors
    Translated,
    /// Chalice programs; direct execution, and their translation about survivors
    Direct,
}

/// A program that errors are planted into.
struct File {
    name: String,
    planted: Planted,
}

/// Some of the errors of one member.
struct Job {
    file: usize,
    /// Index into the members of the file.
    member: usize,
    /// Indices into the member's mutants.
    numbers: Vec<usize>,
}

/// The fate of the mutants of a job.
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
    /// The other verifier's answer about a survivor.
    oracle: Option<bool>,
    written: Option<String>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let files = files(args);
    let jobs = jobs(&files, args);
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).context("cannot make the directory for mutants")?;
    }
    let done = run(&files, &jobs, args);
    let suspects = show::show(&files, &jobs, &done, args)?;
    Ok(if suspects { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The programs that the front ends accept.
fn files(args: &Options) -> Vec<File> {
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
            if let Some(planted) = Planted::read(&path, args.way) {
                files.push(File { name: name.display().to_string(), planted });
            }
        }
    }
    files
}

/// All errors, or those that are drawn, by member.
fn jobs(files: &[File], args: &Options) -> Vec<Job> {
    let mut drawn: Vec<(u64, usize, usize, usize)> = Vec::new();
    let mut members = Vec::new();
    for (file, one) in files.iter().enumerate() {
        for member in 0..one.planted.members() {
            let name = one.planted.name(member);
            if args.member.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            let index = members.len();
            members.push((file, member));
            for (number, kind) in one.planted.kinds(member).into_iter().enumerate() {
                if args.kind.is_empty() || args.kind.contains(&kind) {
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
fn run(files: &[File], jobs: &[Job], args: &Options) -> Vec<Done> {
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
                    let done = on_large_stack(|| file.planted.judge(job, index, args))
                        .unwrap_or_else(|defect| Done::Defect(defect.to_string()));
                    results.lock().expect("no thread panics with the lock").push((index, done));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, done)| done).collect()
}
