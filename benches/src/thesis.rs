//! The procedures that the thesis about symbolic execution for GRASShopper was measured with,
//! beside its times (E. Cox, *Symbolic Execution of GRASShopper Programs*, 2021, section 4.3).

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::pipe::Commands;
use crate::samples::Mean;

/// File, procedure, its milliseconds in the thesis, and whether it is right. Four procedures that
/// the thesis takes for verified are wrong.
pub const PROCEDURES: [(&str, &str, u32, bool); 26] = [
    ("basic", "assign", 38, true),
    ("basic", "assign2", 19, true),
    ("basic", "loop0", 18, true),
    ("basic", "loop1", 347, true),
    ("basic", "pure1", 17, true),
    ("basic", "pure2", 18, true),
    ("basic", "pure_swap", 16, true),
    ("basic", "assume1", 16, true),
    ("basic", "if1", 33, true),
    ("basic", "if2", 27, true),
    ("basic", "old1", 338, true),
    ("frame", "foo_heap", 93, true),
    ("frame", "bar_heap", 215, true),
    ("func", "add_nodes", 857, true),
    ("func", "add_nodes_double_1", 807, false),
    ("list", "unfold_lseg", 285, true),
    ("list", "fold_left", 272, true),
    ("list", "empty_list", 191, true),
    ("list", "append", 807, true),
    ("list", "append_loop", 288, false),
    ("list", "remove_first", 241, true),
    ("list", "reverse", 330, false),
    ("treeset", "traverse", 243, true),
    ("treeset", "insert", 677, false),
    ("treeset", "rotate_left", 243, true),
    ("treeset", "rotate_right", 242, true),
];

/// The result for a procedure.
pub struct Row {
    pub file: &'static str,
    pub procedure: &'static str,
    /// Milliseconds in the thesis.
    pub thesis: u32,
    /// Whole processes.
    pub ours: Mean,
    pub is_verified: bool,
    /// Is it as it should be?
    pub is_right: bool,
}

/// Verifies each procedure whose file is there `runs` times, after once that is not counted.
///
/// # Errors
/// No file is there, or a run ends with neither verdict.
pub fn measure(directory: &Path, commands: &Commands, runs: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (file, procedure, thesis, is_correct) in PROCEDURES {
        let path = directory.join(file).with_extension("spl");
        if !path.is_file() {
            continue;
        }
        let mut times = Vec::new();
        let mut is_verified = false;
        for run in 0..=runs {
            let start = Instant::now();
            let status = Command::new(commands.silicon())
                .arg(&path)
                .args(["--member", procedure])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .context("silicon does not start")?;
            if run > 0 {
                times.push(start.elapsed());
            }
            ensure!(
                matches!(status.code(), Some(0 | 1)),
                "{file}:{procedure} has no verdict: {status}"
            );
            is_verified = status.success();
        }
        rows.push(Row {
            file,
            procedure,
            thesis,
            ours: Mean::of(times),
            is_verified,
            is_right: is_verified == is_correct,
        });
    }
    ensure!(!rows.is_empty(), "{} has none of the thesis' programs", directory.display());
    Ok(rows)
}

/// Returns a line a procedure, and the sums.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<28} {:>8} {:>14}  verdict\n", "procedure", "thesis", "ours");
    for row in rows {
        let name = format!("{}:{}", row.file, row.procedure);
        let verdict = if row.is_verified { "verified" } else { "failed" };
        let mark = if row.is_right { "" } else { " (wrong)" };
        let Mean { mean, deviation } = row.ours;
        let _ = writeln!(
            text,
            "{name:<28} {:>5} ms {mean:>5.0} ± {deviation:>2.0} ms  {verdict}{mark}",
            row.thesis
        );
    }
    let thesis: u32 = rows.iter().map(|row| row.thesis).sum();
    let ours: f64 = rows.iter().map(|row| row.ours.mean).sum();
    let verified = rows.iter().filter(|row| row.is_verified).count();
    let _ = writeln!(
        text,
        "{:<28} {thesis:>5} ms {ours:>5.0} ms       {verified} verified, {} failed",
        format!("sum of {} of {}", rows.len(), PROCEDURES.len()),
        rows.len() - verified
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_wrong_verdicts_are_shown() {
        let row = |procedure, is_verified| Row {
            file: "basic",
            procedure,
            thesis: 38,
            ours: Mean { mean: 4.0, deviation: 1.0 },
            is_verified,
            is_right: is_verified,
        };
        let text = table(&[row("assign", true), row("assign2", false)]);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].starts_with("basic:assign ") && lines[1].ends_with("verified"), "{text}");
        assert!(lines[2].ends_with("failed (wrong)"), "{text}");
        assert!(lines[3].contains("76 ms") && lines[3].contains("1 verified, 1 failed"), "{text}");
    }

    #[test]
    fn the_thesis_has_22_right_procedures_of_26() {
        assert_eq!(PROCEDURES.iter().filter(|(.., is_right)| *is_right).count(), 22);
        assert_eq!(PROCEDURES.iter().map(|(_, _, time, _)| time).sum::<u32>(), 6_678);
    }
}
