//! The tables of the works that this project follows, ours beside theirs: whole processes of the
//! commands on the programs of a table, which are looked for by name.
//!
//! The table of GRASShopper's procedures is in [`crate::thesis`], the comparison of two ways in
//! [`crate::ways`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use silicon::session::input;

use crate::pipe::Commands;
use crate::samples::Mean;

/// Seconds of Syxc and of Chalice's verifier with conditions (Schwerhoff 2011, table 3).
pub const SYXC: [(&str, f64, f64); 10] = [
    ("RockBand", 1.04, 3.04),
    ("PetersonsAlgorithm", 137.80, 6.59),
    ("OwickiGries", 1.22, 2.66),
    ("linkedlist", 2.02, 2.61),
    ("prog1", 1.04, 2.60),
    ("prog4", 1.02, 2.51),
    ("swap", 0.88, 2.24),
    ("cell", 1.68, 3.32),
    ("LoopLockChange", 1.38, 2.94),
    ("prog2", 1.02, 2.54),
];

/// Program, verdict of the verifier, verdict of the run, and whether the thesis calls that right
/// (Hegi 2013, section 5).
pub const RUNTIME: [(&str, bool, bool, bool); 25] = [
    ("AssociationList", false, false, true),
    ("AVLTree.iterative", true, true, true),
    ("AVLTree.nokeys", true, true, true),
    ("BackgroundComputation", true, true, true),
    ("cell", false, true, false),
    ("CopyLessMessagePassing", true, true, true),
    ("CopyLessMessagePassing-with-ack", true, true, true),
    ("CopyLessMessagePassing-with-ack2", true, true, true),
    ("dining-philosophers", true, true, true),
    ("FictionallyDisjointCells", true, true, true),
    ("ForkJoin", true, false, false),
    ("HandOverHand", true, true, true),
    ("iterator", true, false, false),
    ("iterator2", true, false, false),
    ("linkedlist", true, true, true),
    ("OwickiGries", true, true, true),
    ("PetersonsAlgorithm", true, true, true),
    ("ProdConsChannel", true, false, false),
    ("Sieve", true, true, true),
    ("Solver", true, true, true),
    ("swap", true, true, true),
    ("RockBand", false, true, true),
    ("TreeOfWorker", true, true, true),
    ("UnboundedThreads", false, false, false),
    ("nestedRecursive", false, true, true),
];

/// Seconds for problems about arrays and graphs (Müller, Schwerhoff and Summers 2016, figure 8).
pub const QUANTIFIED: [(&str, f64); 9] = [
    ("arraylist", 1.93),
    ("quickselect", 2.51),
    ("binary_search", 0.31),
    ("graph_copy", 1.81),
    ("graph_marking", 1.71),
    ("longest_common_prefix", 0.19),
    ("max_by_elimination", 0.50),
    ("max_standard", 0.24),
    ("parallel_replace", 0.27),
];

/// Returns the first program below a folder that has a name, but for signs between words.
fn find(programs: &[PathBuf], name: &str) -> Option<PathBuf> {
    let plain = |text: &str| text.replace('-', "_").to_lowercase();
    let is_it = |path: &&PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        plain(&stem) == plain(name) && !path.iter().any(|part| part == "harness")
    };
    programs.iter().find(is_it).cloned()
}

/// Returns the first program of a folder `harness` that starts a program: their names begin alike.
fn harness(programs: &[PathBuf], name: &str) -> Option<PathBuf> {
    let is_it = |path: &&PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_alike =
            stem == name || name.strip_prefix(&*stem).is_some_and(|rest| rest.starts_with('-'));
        is_alike && path.iter().any(|part| part == "harness")
    };
    programs.iter().find(is_it).cloned()
}

/// Runs a command quietly: its exit code.
fn code(command: &Path, arguments: &[&Path]) -> Result<i32> {
    let status = Command::new(command)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{} does not start", command.display()))?;
    status.code().context("it was ended by a signal")
}

/// Returns the times of `silicon`, and its verdict.
fn verified(commands: &Commands, arguments: &[&Path], runs: usize) -> Result<(Mean, &'static str)> {
    let mut times = Vec::new();
    let mut verdict = "";
    for run in 0..=runs {
        let begun = Instant::now();
        verdict = match code(&commands.silicon(), arguments)? {
            0 => "verified",
            1 => "failed",
            _ => "no verdict",
        };
        if run > 0 {
            times.push(begun.elapsed());
        }
    }
    Ok((Mean::of(times), verdict))
}

fn programs(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().flat_map(|folder| input::programs_below(folder)).collect()
}

/// Syxc's table: seconds of both verifiers of the time, and of both ways of ours.
///
/// # Errors
/// A command does not start, or no program is there.
pub fn syxc(folders: &[PathBuf], commands: &Commands, runs: usize) -> Result<String> {
    let programs = programs(folders);
    let mut text = format!(
        "{:<22} {:>9} {:>9} {:>13} {:>13}\n",
        "program", "Syxc", "Chalice", "ours, direct", "translated"
    );
    let mut count = 0;
    for (name, syxc, chalice) in SYXC {
        let Some(file) = find(&programs, name) else {
            let _ = writeln!(text, "{name:<22} {syxc:>7.2} s {chalice:>7.2} s  not there");
            continue;
        };
        count += 1;
        let (direct, _) = verified(commands, &[Path::new("--direct"), &file], runs)?;
        let (translated, verdict) = verified(commands, &[&file], runs)?;
        let (direct, translated) = (direct.mean / 1000.0, translated.mean / 1000.0);
        let _ = writeln!(
            text,
            "{name:<22} {syxc:>7.2} s {chalice:>7.2} s {direct:>11.3} s {translated:>11.3} s  {verdict}"
        );
    }
    ensure!(count > 0, "none of the programs is there");
    Ok(text)
}

/// Returns the table of runtime checking: what the verifier and a run say, theirs and ours.
///
/// # Errors
/// A command does not start, or no program is there.
pub fn runtime(folders: &[PathBuf], commands: &Commands) -> Result<String> {
    let programs = programs(folders);
    let mut text = format!(
        "{:<34} {:<9} {:<9} {:<5}   {:<10} ours, run\n",
        "program", "verifier", "run", "right", "ours"
    );
    let said = |passed: bool| if passed { "succeeds" } else { "fails" };
    let mut count = 0;
    for (name, verifier, run, is_right) in RUNTIME {
        let right = if is_right { "yes" } else { "no" };
        let _ = write!(text, "{name:<34} {:<9} {:<9} {right:<5}   ", said(verifier), said(run));
        let started = harness(&programs, name);
        let Some(file) = find(&programs, name).or_else(|| started.clone()) else {
            text.push_str("not there\n");
            continue;
        };
        count += 1;
        let (_, verdict) = verified(commands, &[&file], 0)?;
        let mut arguments = vec![file.as_path()];
        if let Some(started) = started.as_ref().filter(|started| **started != file) {
            arguments.extend([Path::new("--with"), started]);
        }
        let run = match code(&commands.runner(), &arguments)? {
            0 => "passed",
            1 => "failed",
            2 => "has no start",
            4 => "no failure, not all was checked",
            _ => "no verdict",
        };
        let _ = writeln!(text, "{verdict:<10} {run}");
    }
    ensure!(count > 0, "none of the programs is there");
    Ok(text)
}

/// Returns the table of quantified permission: seconds, theirs and ours.
///
/// # Errors
/// A command does not start, or no program is there.
pub fn quantified(folders: &[PathBuf], commands: &Commands, runs: usize) -> Result<String> {
    let programs = programs(folders);
    let mut text = format!("{:<24} {:>8} {:>10}\n", "program", "theirs", "ours");
    let mut count = 0;
    for (name, theirs) in QUANTIFIED {
        let Some(file) = find(&programs, name) else {
            let _ = writeln!(text, "{name:<24} {theirs:>6.2} s  not there");
            continue;
        };
        count += 1;
        let (ours, verdict) = verified(commands, &[&file], runs)?;
        let ours = ours.mean / 1000.0;
        let _ = writeln!(text, "{name:<24} {theirs:>6.2} s {ours:>8.3} s  {verdict}");
    }
    ensure!(count > 0, "none of the programs is there");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name() {
        let paths =
            ["a/swap.chalice", "h/harness/swap.chalice", "b/graph-copy.vpr", "h/harness/A.chalice"];
        let all: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        assert_eq!(find(&all, "swap"), Some(all[0].clone()));
        assert_eq!(find(&all, "graph_copy"), Some(all[2].clone()));
        assert_eq!(find(&all, "sw"), None);
        assert_eq!(harness(&all, "swap"), Some(all[1].clone()));
        assert_eq!(harness(&all, "A-with-ack"), Some(all[3].clone()));
        assert_eq!(harness(&all, "AB"), None);
    }

    /// As the thesis itself counts (section 5.2): six of its rows say "No".
    #[test]
    fn the_table_of_runs_is_whole() {
        assert_eq!(RUNTIME.iter().filter(|(.., is_right)| !is_right).count(), 6);
    }
}
