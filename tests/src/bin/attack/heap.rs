//! Attacks the verifier with methods that a run goes through to `assert false`.
//!
//! `cargo run --release -p sil-tests --bin attack -- heap --count 1000` makes methods at random
//! (`sil_tests::attack`) and lists those that are accepted, made small. Exit code: 0 if there is
//! none and no defect, 1 otherwise.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use sil_tests::attack::judge::{Fate, Limits, judge};
use sil_tests::attack::{Attack, generate, in_order, shrink};
use sil_tests::plant::lot;
use silicon::options::Join;

use super::lots::Lots;

/// Attacks the verifier with methods that a run goes through to `assert false`.
#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    lots: Lots,
    /// Leave out as many of the first ones
    #[arg(long, default_value_t = 0)]
    skip: usize,
    /// When branches of a method are merged: auto, always or never
    #[arg(long, default_value = "auto", value_parser = ["auto", "always", "never"])]
    join: String,
    /// Write what is accepted or a defect into this directory, as it was made and made small
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Write every program into the directory
    #[arg(long, requires = "write")]
    all: bool,
    /// List what was reported besides the probes, too
    #[arg(long)]
    incomplete: bool,
}

/// How often what is not proved is left out, so that what follows is judged by itself.
const REPAIRS: usize = 3;

/// The fate of a program.
struct Done {
    fate: Fate,
    /// As it was made.
    made: String,
    /// Without what was not proved.
    text: String,
    /// The small form of an accepted program.
    small: Option<String>,
    /// The errors besides the probes, with their statements, which were then left out.
    unproved: Vec<(String, String)>,
}

pub(super) fn run_command(args: &Options) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &args.write {
        std::fs::create_dir_all(directory).context("cannot make the directory for programs")?;
    }
    let numbers = args.skip..args.skip + args.lots.count;
    let done = in_order(numbers, args.lots.jobs, |index| attack(index, args));
    let defect = |defect| Done {
        fate: Fate::Defect(defect),
        made: String::new(),
        text: String::new(),
        small: None,
        unproved: Vec::new(),
    };
    let done: Vec<(usize, Done)> =
        (args.skip..).zip(done.into_iter().map(|one| one.unwrap_or_else(defect))).collect();
    Ok(if show(&done, args)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn attack(index: usize, args: &Options) -> Done {
    let join = match &*args.join {
        "always" => Join::Always,
        "never" => Join::Never,
        _ => Join::Auto,
    };
    let member = args.lots.timeout();
    let limits = Limits { obligation: 2_000_000, member, join };
    let mut attack: Attack = generate(lot(args.lots.seed, "heap", "", index));
    let mut text = attack.text();
    let made = text.clone();
    let mut fate = judge(&attack, limits);
    let mut unproved = Vec::new();
    for _ in 0..REPAIRS {
        let (Fate::Incomplete(others) | Fate::Hidden(others)) = &fate else { break };
        unproved.extend(others.iter().map(|(line, id)| {
            let at = text.lines().nth(*line as usize - 1).unwrap_or_default();
            (id.clone(), at.trim().to_owned())
        }));
        let lines: Vec<u32> = others.iter().map(|(line, _)| *line).collect();
        attack = attack.without(&lines);
        text = attack.text();
        fate = judge(&attack, limits);
    }
    let accepted = |attack: &Attack| matches!(judge(attack, limits), Fate::Accepted(_));
    let small = matches!(fate, Fate::Accepted(_)).then(|| shrink(&attack, accepted).text());
    Done { fate, made, text, small, unproved }
}

/// Prints what is accepted and totals; whether all is well.
fn show(done: &[(usize, Done)], args: &Options) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unproved: BTreeMap<String, usize> = BTreeMap::new();
    let mut repaired = 0;
    for (index, one) in done {
        *totals.entry(one.fate.name()).or_default() += 1;
        let bad = matches!(one.fate, Fate::Accepted(_) | Fate::Defect(_));
        match &one.fate {
            Fate::Accepted(lines) => {
                writeln!(out, "ACCEPTED {index}: lines {lines:?}")?;
                if let Some(small) = &one.small {
                    writeln!(out, "{small}")?;
                }
            }
            Fate::Defect(what) => writeln!(out, "DEFECT {index}: {what}")?,
            Fate::Reached | Fate::Undecided | Fate::Incomplete(_) | Fate::Hidden(_) => {}
        }
        repaired += usize::from(one.fate == Fate::Reached && !one.unproved.is_empty());
        for (id, statement) in &one.unproved {
            *unproved.entry(id.clone()).or_default() += 1;
            if args.incomplete {
                writeln!(out, "incomplete {index}: {id} {statement}")?;
            }
        }
        if let Some(directory) = &args.write
            && (bad || args.all)
        {
            let path = directory.join(format!("{}-{index:06}.sil", args.lots.seed));
            let text = if bad { &one.text } else { &one.made };
            std::fs::write(path, text).context("cannot write a program")?;
            if let Some(small) = &one.small {
                let path = directory.join(format!("{}-{index:06}-small.sil", args.lots.seed));
                std::fs::write(path, small).context("cannot write a program")?;
            }
        }
    }
    writeln!(out, "{} programs", done.len())?;
    for (name, count) in &totals {
        writeln!(out, "{name:<12} {count:>7}")?;
    }
    writeln!(out, "of those reached, {repaired} after what was not proved was left out")?;
    if !unproved.is_empty() {
        writeln!(out, "true in the run and not proved:")?;
        for (id, count) in &unproved {
            writeln!(out, "{id:<50} {count:>7}")?;
        }
    }
    Ok(!done.iter().any(|(_, one)| matches!(one.fate, Fate::Accepted(_) | Fate::Defect(_))))
}
