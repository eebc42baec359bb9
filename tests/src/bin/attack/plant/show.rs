//! Prints survivors and totals.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::Context;
use sil_tests::plant::{Fate, Kind};

use super::{Done, File, Job, Options, Tried};

/// Prints survivors and totals; whether there is a suspect.
pub(super) fn show(
    files: &[File],
    jobs: &[Job],
    done: &[Done],
    args: &Options,
) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    let mut index_file = String::new();
    let mut totals: BTreeMap<Kind, Totals> = BTreeMap::new();
    let (mut suspects, mut not_verified) = (false, 0);
    for (job, done) in jobs.iter().zip(done) {
        let file = &files[job.file];
        let member = file.planted.name(job.member);
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
    /// A mutant that another verifier rejects is a suspect, in any case.
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
