//! Two ways from a Chalice program to its verdicts: translated to SIL, and executed directly.
//!
//! Only members that both ways can verify are compared; what direct execution has no rule for is
//! counted. Both run in this process on one thread, and a time is that of the engine, without the
//! front ends.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use silicon::report::Verdict;
use silicon::session::{Input, MemberOutcome, Session, Task};

use crate::samples::median;

/// One file, by both ways.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Row {
    pub file: String,
    /// All members of the file.
    pub members: usize,
    /// The members that direct execution has rules for.
    pub supported: usize,
    /// The supported members on which the ways agree.
    pub agreeing: usize,
    pub translated: Cost,
    pub direct: Cost,
}

/// The cost of the members that both ways verify.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Cost {
    /// The median of the runs.
    pub milliseconds: f64,
    /// Questions that reach the solver.
    pub questions: u64,
}

impl Row {
    /// How many times longer the translated program takes; `None`: nothing is compared.
    fn factor(&self) -> Option<f64> {
        let is_measured = self.supported > 0 && self.direct.milliseconds > 0.0;
        is_measured.then(|| self.translated.milliseconds / self.direct.milliseconds)
    }

    fn is_whole(&self) -> bool {
        self.supported == self.members
    }
}

/// Verifies each file by both ways, `runs` times after once that is not counted.
///
/// # Errors
/// There is nothing to compare.
pub fn measure(files: &[PathBuf], runs: usize) -> Result<Vec<Row>> {
    let rows: Vec<Row> = files.iter().filter_map(|file| row(file, runs)).collect();
    ensure!(!rows.is_empty(), "no Chalice program that both ways accept");
    Ok(rows)
}

/// `None`: one way does not accept the file.
fn row(file: &Path, runs: usize) -> Option<Row> {
    let mut row = Row { file: file.display().to_string(), ..Row::default() };
    let (mut translated_times, mut direct_times) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let (translated, direct) = (members(file, false), members(file, true));
        let pairs: Vec<_> = direct
            .iter()
            .filter(|member| member.verdict != Verdict::Unsupported)
            .filter_map(|member| {
                let is_it = |other: &&MemberOutcome| {
                    (other.kind, &other.name) == (member.kind, &member.name)
                };
                Some((translated.iter().find(is_it)?, member))
            })
            .collect();
        row.members = direct.len();
        row.supported = pairs.len();
        row.agreeing = pairs.iter().filter(|(one, other)| one.verdict == other.verdict).count();
        let cost = |members: &mut dyn Iterator<Item = &MemberOutcome>| {
            members.fold((0.0, 0), |(time, questions), member| {
                let of_member = &member.statistics;
                let milliseconds = of_member.time.as_secs_f64() * 1000.0;
                (time + milliseconds, questions + of_member.questions.by_prover)
            })
        };
        let of_translated = cost(&mut pairs.iter().map(|(translated, _)| *translated));
        let of_direct = cost(&mut pairs.iter().map(|(_, direct)| *direct));
        row.translated.questions = of_translated.1;
        row.direct.questions = of_direct.1;
        if run > 0 {
            translated_times.push(of_translated.0);
            direct_times.push(of_direct.0);
        }
    }
    row.translated.milliseconds = median(translated_times).unwrap_or_default();
    row.direct.milliseconds = median(direct_times).unwrap_or_default();
    (row.members > 0).then_some(row)
}

/// A member that takes longer is not worth the wait.
const MEMBER_LIMIT: Duration = Duration::from_secs(10);

fn members(file: &Path, direct: bool) -> Vec<MemberOutcome> {
    let mut session = Session { task: Task::Verify, direct, ..Session::default() };
    session.options.threads = 1;
    session.options.member_time_limit = Some(MEMBER_LIMIT);
    session.run(&Input::file(file)).members
}

/// Where the bars of the histogram begin.
const BARS: [f64; 7] = [0.0, 0.5, 0.8, 1.0, 1.25, 1.6, 2.5];

/// Returns a line a file that has supported members, and what that comes to.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:>9} {:>8} {:>14} {:>14} {:>7}  file\n",
        "supported", "agreeing", "translated", "direct", "factor"
    );
    for row in rows {
        let Some(factor) = row.factor() else { continue };
        let Row { file, members, supported, agreeing, translated, direct } = row;
        let cost = |of: &Cost| format!("{:.1} ms/{}", of.milliseconds, of.questions);
        let _ = writeln!(
            text,
            "{:>9} {agreeing:>8} {:>14} {:>14} {factor:>7.2}  {file}",
            format!("{supported}/{members}"),
            cost(translated),
            cost(direct),
        );
    }
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (members, supported) = (sum(|row| row.members), sum(|row| row.supported));
    let _ = writeln!(
        text,
        "{supported} of {members} members in {} files supported, {} agree",
        rows.len(),
        sum(|row| row.agreeing)
    );
    text += &factors("files with a supported member", rows.iter().filter_map(Row::factor));
    let whole = rows.iter().filter(|row| row.is_whole());
    text += &factors("files supported as a whole", whole.filter_map(Row::factor));
    text += "the thesis about Chalice2SIL (seed 003): mean 1.77, median 1.70, from 1.00 to 5.02\n";
    text
}

/// How many times longer translated programs take: mean, median, range, and how they spread.
fn factors(of: &str, factors: impl Iterator<Item = f64>) -> String {
    let factors: Vec<f64> = factors.collect();
    if factors.is_empty() {
        return format!("{of}: none\n");
    }
    let logarithms = factors.iter().map(|factor| factor.ln()).sum::<f64>();
    let mean = (logarithms / factors.len() as f64).exp();
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = factors.iter().copied().fold(0.0, f64::max);
    let count = factors.len();
    let mut text = String::new();
    let median = median(factors.clone()).unwrap_or_default();
    let _ = writeln!(
        text,
        "{of}: {count}; geometric mean {mean:.2}, median {median:.2}, from {least:.2} to {most:.2}"
    );
    for (index, &from) in BARS.iter().enumerate() {
        let to = BARS.get(index + 1).copied().unwrap_or(f64::INFINITY);
        let share = factors.iter().filter(|&&factor| from <= factor && factor < to).count();
        let _ = writeln!(text, "  {from:>5.2} {:<40} {share}", "#".repeat(share * 40 / count));
    }
    text
}

/// Returns the numbers behind the table.
pub fn csv(rows: &[Row]) -> String {
    let mut text = "file,members,supported,agreeing,translated_ms,translated_questions,direct_ms,direct_questions\n".to_owned();
    for Row { file, members, supported, agreeing, translated, direct } in rows {
        let name = file.replace('"', "\"\"");
        let _ = writeln!(
            text,
            "\"{name}\",{members},{supported},{agreeing},{},{},{},{}",
            translated.milliseconds, translated.questions, direct.milliseconds, direct.questions
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(supported: usize, translated: f64, direct: f64) -> Row {
        let cost = |milliseconds| Cost { milliseconds, questions: 3 };
        Row {
            file: "a.chalice".to_owned(),
            members: 2,
            supported,
            agreeing: supported,
            translated: cost(translated),
            direct: cost(direct),
        }
    }

    #[test]
    fn factors_are_those_of_files_that_are_compared() {
        let rows = [row(2, 4.0, 1.0), row(2, 1.0, 1.0), row(1, 9.0, 1.0), row(0, 0.0, 0.0)];
        let table = table(&rows);
        for line in [
            "5 of 8 members in 4 files supported, 5 agree",
            "files with a supported member: 3; geometric mean 3.30, median 4.00, from 1.00 to 9.00",
            "files supported as a whole: 2; geometric mean 2.00, median 2.50, from 1.00 to 4.00",
        ] {
            assert!(table.contains(line), "{line}: {table}");
        }
        assert_eq!(csv(&rows).lines().count(), 5);
    }

    #[test]
    fn both_ways_are_measured() {
        let file = std::env::temp_dir().join(format!("sil-ways-{}.chalice", std::process::id()));
        let text = "class C { var x: int; method m() requires acc(x); { x := 1; assert x == 1; } }";
        std::fs::write(&file, text).expect("a temporary file can be written");
        let rows = measure(std::slice::from_ref(&file), 1).expect("it is accepted");
        let _ = std::fs::remove_file(&file);
        assert_eq!((rows[0].members, rows[0].supported, rows[0].agreeing), (1, 1, 1));
    }
}
