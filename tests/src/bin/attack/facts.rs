//! Attacks the verifier with the negations of ground facts of its theories.
//!
//! `cargo run --release -p sil-tests --bin attack -- facts --count 1000` makes facts at random
//! (`sil_tests::attack::facts`), lists those whose negation is shown, and counts those that are not
//! shown themselves. Exit code: 0 if no negation is shown and there is no defect, 1 otherwise.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use sil_tests::attack::facts::{Batch, FactFate, Theory};
use sil_tests::attack::in_order;
use sil_tests::attack::judge::Limits;
use sil_tests::plant::lot;
use silicon::options::Join;

use super::lots::Lots;

/// Attacks the verifier with the negations of ground facts of its theories.
#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    lots: Lots,
    /// Write what is accepted or a defect into this directory
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// List the facts that are not shown, too
    #[arg(long)]
    open: bool,
}

/// The number of facts that are in one program.
const SIZE: usize = 20;

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).context("cannot make the directory for programs")?;
    }
    let member = args.lots.timeout();
    let limits = Limits { obligation: 2_000_000, member, join: Join::Auto };
    let results = in_order(0..args.lots.count.div_ceil(SIZE), args.lots.jobs, |index| {
        let size = SIZE.min(args.lots.count - index * SIZE);
        let batch = Batch::new(lot(args.lots.seed, "facts", "", index), size);
        let fates = batch.judge(limits);
        (batch, fates)
    });
    let mut out = io::stdout().lock();
    let mut totals: BTreeMap<Theory, [usize; 4]> = BTreeMap::new();
    let mut bad = 0;
    for (index, result) in results.into_iter().enumerate() {
        let (batch, fates) = match result {
            Ok(result) => result,
            Err(defect) => {
                bad += 1;
                writeln!(out, "DEFECT {index}: {defect}")?;
                continue;
            }
        };
        for (number, (fact, fate)) in batch.facts.iter().zip(&fates).enumerate() {
            let counts = totals.entry(fact.theory).or_default();
            let (column, wrong) = match fate {
                FactFate::Proved => (0, false),
                FactFate::Open => (1, false),
                FactFate::Accepted(_) => (2, true),
                FactFate::Defect(_) => (3, true),
            };
            counts[column] += 1;
            if wrong || (args.open && *fate == FactFate::Open) {
                writeln!(out, "{fate:?} {index}.{number} {}: {}", fact.theory.name(), fact.claim)?;
            }
            if wrong {
                bad += 1;
                if let Some(directory) = &args.write {
                    let path =
                        directory.join(format!("{}-{index:05}-{number:02}.sil", args.lots.seed));
                    std::fs::write(path, batch.only(number).text())
                        .context("cannot write a program")?;
                }
            }
        }
    }
    writeln!(out, "{:<12} {:>8} {:>8} {:>8} {:>8}", "", "proved", "open", "accepted", "defect")?;
    for (theory, [proved, open, accepted, defect]) in &totals {
        writeln!(out, "{:<12} {proved:>8} {open:>8} {accepted:>8} {defect:>8}", theory.name())?;
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
