//! Edits programs at random, and compares what is found with the answers of earlier runs with what
//! a fresh run finds.
//!
//! `cargo run --release -p sil-tests --bin attack -- edits --seed 1 --sequences 500 --edits 20 DIR`
//! takes the programs below a directory (`sil_tests::edits`). Each difference is shown with the
//! text. Exit code: 0 if there is none, 1 otherwise. What is `BESIDE` is no difference between the
//! two, but one from a run that keeps no answers.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use sil_tests::attack::in_order;
use sil_tests::edits::{self, Kept, Tally};
use sil_tests::plant::lot;
use silicon::session::Input;
use silicon::session::input::{Language, programs_below};

/// Edits programs at random, and compares what is found with answers of earlier runs with what a
/// fresh run finds.
#[derive(Args)]
pub(super) struct Options {
    /// Which edits are made
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many sequences of edits
    #[arg(long, default_value_t = 100)]
    sequences: usize,
    /// How long each is
    #[arg(long, default_value_t = 20)]
    edits: usize,
    /// Sequences at a time; 0: one per core
    #[arg(short = 'j', long, default_value_t = 0)]
    jobs: usize,
    /// Keep answers in a directory, as `silicon --cache` does, and damage some
    #[arg(long)]
    store: bool,
    /// Where programs to start from are
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    let mut programs = Vec::new();
    for path in args.directories.iter().flat_map(|directory| programs_below(directory)) {
        let text = std::fs::read_to_string(&path).context("cannot read a program")?;
        programs.push((path.display().to_string(), text));
    }
    anyhow::ensure!(!programs.is_empty(), "there are no programs");
    let is_sil = |name: &str| Input::text(name, "").language() == Language::Sil;
    let donors: Vec<_> = programs.iter().filter(|(name, _)| is_sil(name)).cloned().collect();
    let directory = tempfile::tempdir().context("cannot make a directory")?;
    let kept =
        if args.store { Kept::In(directory.path().to_owned()) } else { Kept::Here(Arc::default()) };
    let results = in_order(0..args.sequences, args.jobs, |number| {
        let seed = lot(args.seed, "edits", "", number);
        let (name, text) = &programs[seed as usize % programs.len()];
        let donors = if is_sil(name) { &donors[..] } else { &[] };
        edits::run(name, text, donors, seed, args.edits, &kept)
    });
    let mut out = io::stdout().lock();
    let (mut tally, mut defects) = (Tally::default(), 0);
    for (number, result) in results.into_iter().enumerate() {
        match result {
            Ok(one) => tally.add(one),
            Err(defect) => {
                defects += 1;
                writeln!(out, "DEFECT {number}: {defect}")?;
            }
        }
    }
    let Tally { compared, refused, recalled, members, differences, beside } = &tally;
    for difference in differences {
        writeln!(out, "DIFFERENT {difference}\n")?;
    }
    for difference in beside {
        writeln!(out, "BESIDE {difference}\n")?;
    }
    writeln!(
        out,
        "{compared} texts compared, {refused} refused by their front end; {recalled} of {members} members needed no work; \
         {} differences, {defects} defects; {} texts in which members change each other's findings if they share a solver",
        differences.len(),
        beside.len()
    )?;
    let is_fine = differences.is_empty() && defects == 0;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
