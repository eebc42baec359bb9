//! Measurements as a table for people and as CSV for programs.

use std::fmt::Write;

use crate::measure::Phase;
use crate::samples::{Mean, Row, Way};

/// The columns of phases, narrow enough for a terminal.
const COLUMNS: [(&str, &[Phase]); 6] = [
    ("Chalice", &[Phase::ChaliceParse, Phase::ChaliceResolve]),
    ("ToSil", &[Phase::Translate, Phase::Print]),
    ("Parse", &[Phase::Parse]),
    ("Resolve", &[Phase::Resolve]),
    ("Verify", &[Phase::Verify]),
    ("Prover", &[Phase::Prover]),
];

/// Returns a table: programs as rows, in milliseconds, with a line of sums and what a reader has to
/// know about the run.
pub fn table(rows: &[Row], runs: usize, threads: usize, cores: usize) -> String {
    let group = width(rows, "Group", |row| &row.group);
    let name = width(rows, "Name", |row| &row.name);
    let mut text = format!("{:group$}  {:name$}", "Group", "Name");
    for (heading, _) in COLUMNS {
        let _ = write!(text, " {heading:>8}");
    }
    for way in ["Pipe", "Direct", "Text"] {
        let _ = write!(text, " {way:>8} {:>6}", "StdDev");
    }
    text.push_str("  Queries  Verdict\n");
    for row in rows {
        let _ = write!(text, "{:group$}  {:name$}", row.group, row.name);
        line(&mut text, row);
        let _ = writeln!(text, " {:>8}  {}", row.queries, row.verdict);
    }
    let sum = sum(rows);
    let _ = write!(text, "{:group$}  {:name$}", "", "all");
    line(&mut text, &sum);
    let _ = writeln!(text, " {:>8}", sum.queries);
    let _ = writeln!(
        text,
        "\nMilliseconds, means of {runs} runs; {threads} threads on {cores} cores; prover {:.0} % of verification.",
        share(&sum)
    );
    let _ = writeln!(
        text,
        "Pipe: both commands as processes. Direct: Chalice in one process. Text: the SIL text in one process.\n\
         Phases are those of Direct (Chalice) or Text (SIL). Verify includes Prover; Prover adds up all threads."
    );
    text
}

fn width(rows: &[Row], heading: &str, of: impl Fn(&Row) -> &String) -> usize {
    rows.iter().map(|row| of(row).chars().count()).chain([heading.len()]).max().unwrap_or(0)
}

fn line(text: &mut String, row: &Row) {
    for (_, phases) in COLUMNS {
        let _ = write!(text, " {:>8.1}", row.sum(phases));
    }
    for way in Way::ALL {
        match row.total(way) {
            Some(Mean { mean, deviation }) => {
                let _ = if deviation.is_nan() {
                    write!(text, " {mean:>8.1} {:>6}", "")
                } else {
                    write!(text, " {mean:>8.1} {deviation:>6.1}")
                };
            }
            None => {
                let _ = write!(text, " {:>8} {:>6}", "-", "-");
            }
        }
    }
}

/// Returns the sums of the columns. A sum has no meaningful deviation.
fn sum(rows: &[Row]) -> Row {
    let mut sum = Row::default();
    for row in rows {
        for phase in Phase::ALL {
            sum.phases[phase as usize].mean += row.phase(phase);
        }
        for way in Way::ALL {
            if let Some(total) = row.total(way) {
                let entry =
                    sum.totals[way as usize].get_or_insert(Mean { mean: 0.0, deviation: f64::NAN });
                entry.mean += total.mean;
            }
        }
        sum.queries += row.queries;
        sum.paths += row.paths;
    }
    sum
}

fn share(sum: &Row) -> f64 {
    let verify = sum.phase(Phase::Verify);
    if verify > 0.0 { 100.0 * sum.phase(Phase::Prover) / verify } else { 0.0 }
}

/// One line a program; empty cells where a way does not exist for it.
pub fn csv(rows: &[Row]) -> String {
    let mut text = "group,name,verdict,queries,paths".to_owned();
    for phase in Phase::ALL {
        let _ = write!(text, ",{}_ms,{}_sd", phase.name(), phase.name());
    }
    for way in Way::ALL {
        let _ = write!(text, ",{}_ms,{}_sd", way.name(), way.name());
    }
    text.push('\n');
    for row in rows {
        let (group, name) = (cell(&row.group), cell(&row.name));
        let _ = write!(text, "{group},{name},{},{},{}", row.verdict, row.queries, row.paths);
        for Mean { mean, deviation } in row.phases {
            let _ = write!(text, ",{mean:.3},{deviation:.3}");
        }
        for total in row.totals {
            match total {
                Some(Mean { mean, deviation }) => {
                    let _ = write!(text, ",{mean:.3},{deviation:.3}");
                }
                None => text.push_str(",,"),
            }
        }
        text.push('\n');
    }
    text
}

/// Returns a cell that may contain anything, as RFC 4180 has it.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let mut chalice = Row {
            group: "examples/chalice".into(),
            name: "counter".into(),
            verdict: "verified",
            queries: 7,
            paths: 2,
            ..Row::default()
        };
        chalice.phases[Phase::Verify as usize] = Mean { mean: 20.0, deviation: 1.0 };
        chalice.phases[Phase::Prover as usize] = Mean { mean: 5.0, deviation: 0.5 };
        chalice.totals = [10.0, 20.0, 30.0].map(|mean| Some(Mean { mean, deviation: 0.25 }));
        let mut sil = Row { name: "a,\"b\"".into(), verdict: "failed", ..Row::default() };
        sil.totals[Way::Text as usize] = Some(Mean { mean: 2.5, deviation: 0.0 });
        vec![chalice, sil]
    }

    #[test]
    fn tables_have_a_line_a_program_and_a_sum() {
        let text = table(&rows(), 3, 1, 2);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("Group") && lines[0].ends_with("Verdict"));
        assert!(lines[1].contains("counter") && lines[1].ends_with("verified"), "{text}");
        assert!(lines[2].contains(" - "), "{text}");
        assert!(lines[3].contains("all") && lines[3].contains("32.5"), "{text}");
        assert!(text.contains("means of 3 runs; 1 threads on 2 cores; prover 25 %"), "{text}");
        // Columns are aligned.
        assert_eq!(lines[1].find("  verified"), lines[2].find("  failed"));
    }

    #[test]
    fn csv_has_as_many_cells_in_every_line() {
        let text = csv(&rows());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let cells = |line: &str| line.replace("\"a,\"\"b\"\"\"", "name").matches(',').count();
        assert_eq!(cells(lines[0]), cells(lines[1]));
        assert_eq!(cells(lines[0]), cells(lines[2]));
        assert!(lines[1].starts_with("examples/chalice,counter,verified,7,2,"), "{text}");
        assert!(lines[2].starts_with(",\"a,\"\"b\"\"\",failed,"), "{text}");
        assert!(lines[2].ends_with(",,,,,2.500,0.000"), "{text}");
    }

    #[test]
    fn no_program_is_no_trouble() {
        assert!(table(&[], 1, 1, 1).contains("prover 0 %"));
        assert_eq!(csv(&[]).lines().count(), 1);
    }
}
