//! What the machinery for quantified permissions is worth: verification without our triggers and without memoised
//! summaries beside verification as it is (Müller, Schwerhoff and Summers 2016, section 6, figures 8 and 9), and how time
//! grows with the number of disjoint parts of an array.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use silicon::options::Options;

use crate::generate;

/// One way to verify: its options, and its time and errors for a file.
const WAYS: [&str; 3] = ["as it is", "without memoisation", "without triggers"];

/// What was measured of one program.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    pub file: String,
    /// The lines that are neither blank nor comments.
    pub lines: usize,
    pub ways: [Outcome; WAYS.len()],
}

/// How one way ended.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Outcome {
    pub time: Duration,
    /// Ids and lines of what was reported.
    pub findings: Vec<(String, Option<u32>)>,
}

/// Verifies a file in every way, each `runs` times after one that is not counted; the median counts.
pub fn measure(file: &Path, runs: usize, options: &Options) -> Result<Measured> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let plain = options.clone();
    let ways = [
        plain.clone(),
        Options { without_memoised_summaries: true, ..plain.clone() },
        Options { without_own_triggers: true, ..plain },
    ];
    let name = file.display().to_string();
    let [plain, others @ ..] = ways.map(|options| outcome(&name, &text, runs, &options));
    let [without_memoisation, without_triggers] = others;
    let lines = text.lines().filter(is_code).count();
    Ok(Measured { file: name, lines, ways: [plain?, without_memoisation?, without_triggers?] })
}

fn outcome(name: &str, text: &str, runs: usize, options: &Options) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut times = Vec::with_capacity(runs);
    for run in 0..=runs.max(1) {
        let start = Instant::now();
        let loaded = sil::load::load_text(name, text);
        let program = loaded.program.with_context(|| format!("{name} is no program"))?;
        let report = silicon::verify(&program, &loaded.sources, options);
        if run > 0 {
            times.push(start.elapsed());
        }
        let findings = report.members.iter().flat_map(|member| &member.findings);
        outcome.findings = findings
            .map(|finding| {
                let line = loaded.sources.range(finding.span).map(|(start, _)| start.line);
                (finding.full_id(), line)
            })
            .collect();
    }
    times.sort();
    outcome.time = times[times.len() / 2];
    Ok(outcome)
}

/// A line a file, and a summary of the whole: how many files say something else, and how the times differ.
pub fn table(measured: &[Measured]) -> String {
    let mut text = format!("{:>7} {:>9}", "lines", "ms");
    for way in &WAYS[1..] {
        let _ = write!(text, " {way:>20}");
    }
    text.push_str("  file\n");
    for Measured { file, lines, ways } in measured {
        let [plain, others @ ..] = ways;
        let _ = write!(text, "{lines:>7} {:>9.1}", milliseconds(plain.time));
        for other in others {
            let note = if other.findings == plain.findings { "" } else { "≠ " };
            let percent = format!("{note}{:+.1} %", change(plain.time, other.time));
            let _ = write!(text, " {percent:>20}");
        }
        let _ = writeln!(text, "  {file}");
    }
    for (index, way) in WAYS.iter().enumerate() {
        let time = |one: &Measured| one.ways[index].time;
        let total: Duration = measured.iter().map(time).sum();
        let longest = measured.iter().map(time).max().unwrap_or_default();
        let base: Duration = measured.iter().map(|one| one.ways[0].time).sum();
        let differ = measured.iter().filter(|one| one.ways[index].findings != one.ways[0].findings);
        let _ = writeln!(
            text,
            "{way:<20} {:>10.1} ms in all ({:+.1} %), {:>8.1} ms at most, {} of {} files differ",
            milliseconds(total),
            change(base, total),
            milliseconds(longest),
            differ.count(),
            measured.len()
        );
    }
    text
}

/// The numbers of parts that an array is divided into.
const PARTS: [usize; 5] = [2, 4, 8, 16, 32];

/// Times of [`generate::segments`], and the exponent with which they grow from one size to the next.
pub fn growth(runs: usize, options: &Options) -> Result<String> {
    let mut text = String::from("array segments handed to calls and back\n");
    let mut before: Option<(usize, Duration)> = None;
    for parts in PARTS {
        let Outcome { time, findings } =
            outcome("segments.sil", &generate::segments(parts), runs, options)?;
        let _ = write!(text, "{parts:>4} parts {:>10.1} ms", milliseconds(time));
        if let Some((fewer, faster)) = before {
            let exponent = (time.as_secs_f64() / faster.as_secs_f64()).ln()
                / (parts as f64 / fewer as f64).ln();
            let _ = write!(text, "   n^{exponent:.2}");
        }
        let _ = writeln!(text, "{}", if findings.is_empty() { "" } else { "   not verified" });
        before = Some((parts, time));
    }
    Ok(text)
}

/// By how many percent a time is longer.
fn change(base: Duration, other: Duration) -> f64 {
    100.0 * (other.as_secs_f64() / base.as_secs_f64() - 1.0)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Where programs with quantified permissions are.
pub fn default_inputs(root: &Path) -> Vec<PathBuf> {
    vec![root.join("examples/viper/qp"), root.join("tests/corpus/quantified")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(milliseconds: u64, findings: &[(&str, u32)]) -> Outcome {
        let findings = findings.iter().map(|&(id, line)| (id.to_owned(), Some(line))).collect();
        Outcome { time: Duration::from_millis(milliseconds), findings }
    }

    #[test]
    fn a_table_tells_times_and_which_files_differ() {
        let measured = Measured {
            file: "a.vpr".into(),
            lines: 12,
            ways: [
                outcome(100, &[]),
                outcome(150, &[]),
                outcome(80, &[("assert.failed:assertion.false", 3)]),
            ],
        };
        let text = table(&[measured]);
        assert!(text.contains("+50.0 %") && text.contains("≠ -20.0 %"), "{text}");
        assert!(text.contains("1 of 1 files differ") && text.contains("0 of 1"), "{text}");
    }
}
