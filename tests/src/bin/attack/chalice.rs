//! Attacks both ways of verifying Chalice with programs that are run.
//!
//! `cargo run --release -p sil-tests --bin attack -- chalice --count 1000` makes programs at random
//! (`sil_tests::attack::chalice`), verifies each one translated and directly, runs its methods, and
//! lists verified methods that fail, made small. Exit code: 0 if there is none and no defect, 1
//! otherwise.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use sil_tests::attack::chalice::{program, smaller};
use sil_tests::attack::in_order;
use sil_tests::cross_check::{Disagreement, Limits, Totals, compare_with};
use sil_tests::observation::{Observation, observe_text, session};
use sil_tests::plant::lot;
use silicon::session::{Session, Task};

use super::lots::Lots;

/// Attacks both ways of verifying Chalice with programs that are run.
#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    lots: Lots,
    /// Leave out as many of the first ones
    #[arg(long, default_value_t = 0)]
    skip: usize,
    /// Starts of each method
    #[arg(long, default_value_t = 20)]
    starts: u64,
    /// Write every program into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// The name of each program.
const NAME: &str = "attack.chalice";

/// The two ways to verify a program.
const WAYS: [(&str, bool); 2] = [("translated", false), ("direct", true)];

/// The result for a program on one way.
struct Done {
    totals: Totals,
    /// The fault in words, and the program made small.
    wrong: Option<(String, String)>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let numbers = args.skip..args.skip + args.lots.count;
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).context("cannot make the directory for programs")?;
        for index in numbers.clone() {
            let path = directory.join(format!("{}-{index:05}.chalice", args.lots.seed));
            std::fs::write(path, made(args, index)).context("cannot write a program")?;
        }
    }
    let done = in_order(numbers, args.lots.jobs, |index| WAYS.map(|way| attack(index, way, args)));
    let mut out = io::stdout().lock();
    let mut totals = Totals::default();
    let mut bad = 0;
    for (index, done) in (args.skip..).zip(done) {
        let done = match done {
            Ok(done) => done,
            Err(defect) => {
                bad += 1;
                writeln!(out, "DEFECT {index}: {defect}")?;
                continue;
            }
        };
        for Done { totals: of_one, wrong } in done {
            totals.add(&of_one);
            if let Some((what, program)) = wrong {
                bad += 1;
                writeln!(out, "{index}: {what}\n{program}")?;
            }
        }
    }
    let Totals { methods, verified, verified_with_inputs, runs, .. } = totals;
    writeln!(out, "methods {methods}, verified {verified}, of these run {verified_with_inputs}")?;
    writeln!(out, "runs {runs}, wrong {bad}")?;
    for (why, count) in &totals.skipped {
        writeln!(out, "skipped, {why}: {count}")?;
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn made(args: &Options, index: usize) -> String {
    program(lot(args.lots.seed, "chalice", "", index))
}

fn attack(index: usize, (way, is_direct): (&str, bool), args: &Options) -> Done {
    let mut session = Session { direct: is_direct, ..session(Task::Verify) };
    session.options.member_time_limit = Some(args.lots.timeout());
    let starts = args.starts;
    let limits =
        Limits { starts, seed: args.lots.seed, steps: 2_000, patience: 1_000, visible: None };
    let judged = |text: &str| {
        let observation = observe_text(NAME, text, &session);
        let comparison = compare_with(NAME, text.to_owned(), &observation, limits);
        (wrong(&observation, &comparison.disagreements), comparison.totals)
    };
    let text = made(args, index);
    let (found, totals) = judged(&text);
    let wrong = found.map(|what| {
        let small = smaller(&text, |text| judged(text).0.is_some());
        (format!("{way}: {what}"), small)
    });
    Done { totals, wrong }
}

/// Returns the fault of an answer in words.
fn wrong(observation: &Observation, disagreements: &[Disagreement]) -> Option<String> {
    if observation.is_broken() {
        return Some("the verifier broke".to_owned());
    }
    let Disagreement { method, line, id, message, start, .. } = disagreements.first()?;
    Some(format!("{id} in {method}, line {line}: {message}; started {start}"))
}
