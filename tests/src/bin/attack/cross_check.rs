//! Compares what the verifier proves of Chalice programs with what happens when they run.
//!
//! `cargo run --release -p sil-tests --bin attack -- cross-check --starts 1000 DIR` runs each
//! method of the programs below `DIR` from starts made of its precondition
//! (`sil_tests::cross_check`). Exit code: 0 if no verified method fails, 1 otherwise.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sil_tests::attack::in_order;
use sil_tests::cross_check::{Limits, Totals, compare, programs};

/// Runs what the verifier has verified, and looks for failures.
#[derive(Args)]
pub(super) struct Options {
    /// Starts of each method
    #[arg(long, default_value_t = 100)]
    starts: u64,
    /// Chooses values and schedules
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Programs compared at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    jobs: usize,
    /// Statements that a thread may execute
    #[arg(long, default_value_t = 20_000)]
    steps: u64,
    /// Contradictions in a row that end the search for a start
    #[arg(long, default_value_t = 20_000)]
    patience: u32,
    /// Run each start under all schedules that matter, with so many steps that threads can notice
    #[arg(long, value_name = "STEPS")]
    schedules: Option<u64>,
    /// List the announced errors that no run shows, too
    #[arg(long)]
    open: bool,
    /// Programs, and directories of programs
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let Options { starts, seed, steps, patience, .. } = *args;
    let limits = Limits { starts, seed, steps, patience, visible: args.schedules };
    let files: Vec<PathBuf> = args.paths.iter().flat_map(|path| programs(path)).collect();
    let results = in_order(0..files.len(), args.jobs, |index| compare(&files[index], limits));
    let mut out = io::stdout().lock();
    let mut totals = Totals::default();
    let mut bad = 0;
    for (path, result) in files.iter().zip(results) {
        let path = path.display();
        let comparison = match result {
            Ok(comparison) => comparison?,
            Err(defect) => {
                bad += 1;
                writeln!(out, "DEFECT {path}: {defect}")?;
                continue;
            }
        };
        for one in &comparison.disagreements {
            bad += 1;
            let (line, id, method) = (one.line, &one.id, &one.method);
            writeln!(out, "DISAGREEMENT {path}:{line} {id} in {method}: {}", one.message)?;
            writeln!(out, "  started {}", one.start)?;
            if let Some(again) = &one.again {
                writeln!(out, "  run it again with chalice-run {path} {again}")?;
            }
        }
        for one in comparison.not_reproduced.iter().filter(|_| args.open) {
            writeln!(out, "open {path}:{} {}", one.line, one.id)?;
        }
        totals.add(&comparison.totals);
    }
    write_totals(&mut out, files.len(), bad, &totals)?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_totals(out: &mut impl Write, files: usize, bad: u64, totals: &Totals) -> io::Result<()> {
    let Totals { methods, verified, with_inputs, verified_with_inputs, .. } = totals;
    writeln!(out, "files {files}, methods {methods}, with inputs {with_inputs}")?;
    writeln!(out, "verified methods {verified}, with inputs {verified_with_inputs}")?;
    writeln!(out, "runs {}, by contract {}", totals.runs, totals.runs_by_contract)?;
    if totals.explored.0 > 0 {
        let ((starts, schedules), (programs, whole)) = (totals.explored, totals.threaded);
        writeln!(out, "schedules {schedules} of {starts} starts")?;
        writeln!(out, "programs with threads {programs}, all schedules within the bounds {whole}")?;
    }
    for (end, count) in &totals.ends {
        writeln!(out, "  {end}: {count}")?;
    }
    writeln!(out, "disagreements {bad}")?;
    writeln!(
        out,
        "announced and executable {}, reproduced {}",
        totals.executable, totals.reproduced
    )?;
    for (why, count) in &totals.skipped {
        writeln!(out, "skipped, {why}: {count}")?;
    }
    Ok(())
}
