//! Our verifier beside another one, the oracle, on the same files: whole process against whole process, and against the
//! times that the oracle needs once it is warm.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use silicon::report::{Asked, Questions, Statistics, Subject};
use silicon::session::{Input, Session, Task};

use crate::pipe::Commands;

/// How to compare.
pub struct Settings {
    /// The command of the oracle; a file is appended to its words.
    pub oracle: Option<String>,
    /// Records of warm runs of the oracle, one JSON object a line: `path`, and `wall_ms` or `warm_ms`.
    pub warm: Vec<PathBuf>,
    /// Each of our runs is repeated this often; the median counts.
    pub runs: usize,
}

/// What was measured of one file, in milliseconds.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Measured {
    pub file: String,
    pub members: usize,
    /// Our whole process, as a user starts it.
    pub ours: f64,
    /// The oracle's whole process.
    pub cold: Option<f64>,
    /// The oracle in a process that has verified other files before.
    pub warm: Option<f64>,
    /// Our whole process on one thread, and on two.
    pub threads: Option<(f64, f64)>,
    pub questions: Questions,
    /// Those that reach the prover, by what they are about.
    pub subjects: BTreeMap<Subject, Asked>,
    /// The first questions of provers.
    pub waking: Asked,
}

/// A file is big enough to be spread over threads if it has this many members.
const MANY_MEMBERS: usize = 8;

/// Measures every file.
pub fn measure(files: &[PathBuf], settings: &Settings) -> Result<Vec<Measured>> {
    let commands = Commands::build()?;
    let warm = warm_times(&settings.warm)?;
    files
        .iter()
        .map(|file| {
            one(file, settings, &commands, &warm).with_context(|| file.display().to_string())
        })
        .collect()
}

fn one(
    file: &Path,
    settings: &Settings,
    commands: &Commands,
    warm: &BTreeMap<PathBuf, f64>,
) -> Result<Measured> {
    let (members, statistics) = statistics(file);
    let process = |threads: &[&str]| -> Result<Duration> {
        let mut command = Command::new(commands.silicon());
        time(command.args(threads).arg(file))
    };
    let mut measured = Measured {
        file: file.display().to_string(),
        members,
        ours: median_of(settings.runs, || process(&[]))?,
        questions: statistics.questions,
        subjects: statistics.subjects,
        waking: statistics.waking,
        warm: fs::canonicalize(file).ok().and_then(|path| warm.get(&path).copied()),
        ..Measured::default()
    };
    if members >= MANY_MEMBERS {
        let one = median_of(settings.runs, || process(&["-j", "1"]))?;
        let two = median_of(settings.runs, || process(&["-j", "2"]))?;
        measured.threads = Some((one, two));
    }
    if let Some(oracle) = &settings.oracle {
        let mut words = oracle.split_whitespace();
        let mut command = Command::new(words.next().context("an empty command")?);
        measured.cold = Some(milliseconds(time(command.args(words).arg(file))?));
    }
    Ok(measured)
}

/// The number of members, and what they ask.
fn statistics(file: &Path) -> (usize, Statistics) {
    let session = Session { task: Task::Verify, ..Session::default() };
    let outcome = session.run(&Input::file(file));
    let mut statistics = Statistics::default();
    for member in &outcome.members {
        statistics.add(&member.statistics);
    }
    (outcome.members.len(), statistics)
}

/// From start to end of a process, whatever it has to say.
fn time(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{} does not start", command.get_program().display()))?;
    Ok(start.elapsed())
}

fn median_of(runs: usize, mut run: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let times: Result<Vec<f64>> = (0..runs.max(1)).map(|_| run().map(milliseconds)).collect();
    median(times?).context("at least one run")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The value in the middle, the mean of the two in the middle if there is no such one.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// The oracle's warm times by file. Paths in a record are relative to its folder, or absolute.
fn warm_times(records: &[PathBuf]) -> Result<BTreeMap<PathBuf, f64>> {
    let mut times = BTreeMap::new();
    for record in records {
        let text = fs::read_to_string(record).with_context(|| record.display().to_string())?;
        let folder = record.parent().unwrap_or(Path::new(""));
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let (path, time) =
                warm_time(line).with_context(|| format!("{}:{}", record.display(), number + 1))?;
            // Files that are not there any more are of no interest.
            if let Ok(path) = fs::canonicalize(folder.join(path)) {
                times.insert(path, time);
            }
        }
    }
    if !records.is_empty() {
        ensure!(!times.is_empty(), "the records name no file that exists");
    }
    Ok(times)
}

fn warm_time(line: &str) -> Result<(String, f64)> {
    let record: serde_json::Value = serde_json::from_str(line)?;
    let path = record["path"].as_str().context("no `path`")?;
    let time = record["wall_ms"].as_f64().or_else(|| record["warm_ms"].as_f64());
    let Some(time) = time else { bail!("neither `wall_ms` nor `warm_ms`") };
    Ok((path.to_owned(), time))
}

/// The figures that are wanted of a verifier, with the bars they are held against, and the slowest files.
pub fn report(measured: &[Measured]) -> String {
    let mut text = format!("{} files\n", measured.len());
    let mut line = |what: &str, figures: String| {
        let _ = writeln!(text, "{what:<28} {figures}");
    };
    let cold: Vec<(f64, f64)> = measured.iter().filter_map(|m| Some((m.ours, m.cold?))).collect();
    if let Some(ratio) = median(cold.iter().map(|(ours, oracle)| oracle / ours).collect()) {
        let ours = median(cold.iter().map(|pair| pair.0).collect()).unwrap_or_default();
        let oracle = median(cold.iter().map(|pair| pair.1).collect()).unwrap_or_default();
        line(
            "cold, median ratio",
            format!(
                "{ratio:.1} (bar 30): {ours:.1} ms, oracle {oracle:.1} ms, {} files",
                cold.len()
            ),
        );
    }
    let warm: Vec<(f64, f64)> = measured.iter().filter_map(|m| Some((m.ours, m.warm?))).collect();
    let (ours, oracle) = warm.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    if oracle > 0.0 {
        line(
            "warm, ratio of sums",
            format!(
                "{:.3} (bar 0.7): {ours:.0} ms, oracle {oracle:.0} ms, {} files",
                ours / oracle,
                warm.len()
            ),
        );
    }
    let mut questions = Questions::default();
    measured.iter().for_each(|one| questions.add(&one.questions));
    line(
        "answered without prover",
        format!(
            "{:.1} % (bar 70) of {}: {} by form, {} by facts, {} by the prover",
            100.0 * questions.share_without_prover(),
            questions.asked(),
            questions.by_form,
            questions.by_facts,
            questions.by_prover
        ),
    );
    let (mut subjects, mut waking) = (BTreeMap::<Subject, Asked>::new(), Asked::default());
    for one in measured {
        for (&subject, &asked) in &one.subjects {
            subjects.entry(subject).or_default().add(asked);
        }
        waking.add(one.waking);
    }
    line("to the prover", silicon::output::subjects_in_words(&subjects, waking));
    let threads: Vec<(f64, f64)> = measured.iter().filter_map(|one| one.threads).collect();
    if let Some(speed_up) = median(threads.iter().map(|(one, two)| one / two).collect()) {
        let (one, two) = threads.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        line(
            "two threads, speed-up",
            format!(
                "{speed_up:.2} in the median (bar 1.6), {:.2} of sums, {} files",
                one / two,
                threads.len()
            ),
        );
    }
    let mut slowest: Vec<&Measured> = measured.iter().collect();
    slowest.sort_by(|a, b| b.ours.total_cmp(&a.ours));
    text.push_str("\nslowest files, and the prover's share (of all threads)\n");
    for one in slowest.into_iter().take(10) {
        let prover = milliseconds(one.questions.prover_time);
        let _ = writeln!(text, "{:>9.1} ms {prover:>9.1} ms  {}", one.ours, one.file);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn records_of_both_kinds_are_read() {
        let batch = r#"{"key":"|a","path":"/b/a.vpr","verdict":"verified","wall_ms":12.5}"#;
        assert_eq!(warm_time(batch).expect("a record"), ("/b/a.vpr".to_owned(), 12.5));
        let reference = r#"{"path": "a.vpr", "warm_ms": 3}"#;
        assert_eq!(warm_time(reference).expect("a record"), ("a.vpr".to_owned(), 3.0));
        assert!(warm_time(r#"{"path": "a.vpr"}"#).is_err());
        assert!(warm_time("no JSON").is_err());
    }

    #[test]
    fn a_report_has_a_line_for_what_was_measured() {
        let questions = Questions { by_form: 6, by_facts: 1, by_prover: 3, ..Questions::default() };
        let asked = |count| Asked { count, time: Duration::from_millis(5) };
        let mut one = Measured {
            file: "a.vpr".into(),
            members: 9,
            ours: 10.0,
            cold: Some(400.0),
            warm: Some(20.0),
            threads: Some((18.0, 10.0)),
            questions,
            subjects: [(Subject::Amounts, asked(2)), (Subject::Values, asked(1))].into(),
            waking: asked(1),
        };
        let text = report(&[one.clone()]);
        assert!(text.contains("40.0 (bar 30)") && text.contains("0.500 (bar 0.7)"), "{text}");
        assert!(text.contains("2 about amounts in 5"), "{text}");
        assert!(text.contains("70.0 % (bar 70) of 10") && text.contains("1.80 in"), "{text}");
        (one.cold, one.warm, one.threads) = (None, None, None);
        let text = report(&[one]);
        assert!(!text.contains("cold") && !text.contains("warm") && text.contains("a.vpr"));
    }
}
