//! Runs the verifier on suites of programs and compares with what they announce.
//!
//! `cargo run --release -p sil-tests --bin attack -- conformance DIR` lists every program below a
//! directory, sorted by path, so that two runs can be compared with `diff`. Exit code: 0 if nothing
//! is missing, 1 otherwise.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use sil_tests::conformance::process::{self, Ending};
use sil_tests::conformance::{Case, Class, Judgement, cases, judge, listing, totals};
use sil_tests::observation;
use silicon::options::Join;
use silicon::session::Task;

/// Compares the verifier's answers with what suites of programs announce.
#[derive(Args)]
pub(super) struct Options {
    /// Directories of programs, or single programs
    #[arg(value_name = "DIR", required_unless_present = "one")]
    directories: Vec<PathBuf>,
    /// Print one JSON object a file instead of the listing
    #[arg(long)]
    json: bool,
    /// Files verified at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    jobs: usize,
    /// Seconds that a file may take
    #[arg(long, default_value_t = 60.0)]
    timeout: f64,
    /// The name we run under: sil (has to be right), silicon (known differences of the reference
    /// apply)
    #[arg(long, default_value = "sil")]
    name: String,
    /// Only files whose path contains this (repeatable: any of them)
    #[arg(long)]
    only: Vec<String>,
    /// Stop after the front end: what is announced for it only is compared
    #[arg(long)]
    check: bool,
    /// Show times, too
    #[arg(long)]
    times: bool,
    /// Take for granted that receivers of quantified permissions differ where they are inhaled
    #[arg(long, hide = true)]
    assume_injectivity_on_inhale: bool,
    /// Say nothing behind what is certainly false
    #[arg(long, hide = true)]
    assume_failures: bool,
    /// When branches of a method are merged: auto, always or never
    #[arg(long, default_value = "auto", value_parser = ["auto", "always", "never"])]
    join: String,
    /// Verify this one file and answer on standard output
    #[arg(long, hide = true)]
    one: Option<PathBuf>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.one {
        let task = if args.check { Task::Check } else { Task::Verify };
        let join = match &*args.join {
            "always" => Join::Always,
            "never" => Join::Never,
            _ => Join::Auto,
        };
        let mut session = observation::session_for(path, task, join);
        session.options.assume_injectivity_on_inhale |= args.assume_injectivity_on_inhale;
        session.options.assume_failures |= args.assume_failures;
        let observation = observation::observe(path, &session);
        let answer = serde_json::to_string(&observation)?;
        writeln!(io::stdout(), "{answer}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    for directory in &args.directories {
        all.extend(cases(directory, &args.name)?);
    }
    if !args.only.is_empty() {
        all.retain(|case| {
            let path = case.path.display().to_string();
            args.only.iter().any(|part| path.contains(part))
        });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let results = run(&all, args)?;
    show(&results, args)?;
    let missing = results.iter().any(|(judgement, _)| judgement.class == Class::Missing);
    Ok(if missing || results.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Judges every case; the results are in the order of the cases.
fn run(cases: &[Case], args: &Options) -> anyhow::Result<Vec<(Judgement, Duration)>> {
    let jobs = match args.jobs {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        jobs => jobs,
    };
    let mut options = vec!["--join", &args.join];
    if args.check {
        options.push("--check");
    }
    let timeout = Duration::from_secs_f64(args.timeout);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs.min(cases.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    let started = Instant::now();
                    let options = [&options, case.announced.options()].concat();
                    let ending = process::run(&case.path, &options, timeout)
                        .unwrap_or_else(|error| Ending::Crash(format!("{error:#}")));
                    let result = (index, (judge(case, &ending), started.elapsed()));
                    results.lock().expect("no thread panics with the lock").push(result);
                }
            });
        }
    });
    let mut results = results.into_inner()?;
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

fn show(results: &[(Judgement, Duration)], args: &Options) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        for (judgement, time) in results {
            let mut value = serde_json::to_value(judgement)?;
            if args.times {
                value["time_ms"] = (time.as_millis() as u64).into();
            }
            writeln!(out, "{value}")?;
        }
        return Ok(());
    }
    let missing = results.iter().filter(|(judgement, _)| judgement.class == Class::Missing);
    for (judgement, _) in missing {
        writeln!(out, "MISSING {} {}", judgement.path, judgement.missing.join(", "))?;
    }
    for (judgement, time) in results {
        let time =
            if args.times { format!("{:>8.2}s ", time.as_secs_f64()) } else { String::new() };
        writeln!(out, "{time}{}", listing(judgement))?;
    }
    let judgements: Vec<Judgement> =
        results.iter().map(|(judgement, _)| judgement.clone()).collect();
    writeln!(out, "{}", totals(&judgements))?;
    Ok(())
}
