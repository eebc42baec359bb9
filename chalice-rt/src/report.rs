//! The command that an emitted program is.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::world::{Finding, Program, Verdict, run};

/// Runs a program, and reports what came of it.
pub fn main(program: &'static Program) -> ExitCode {
    let outcome = run(program, true);
    if let Some(finding) = &outcome.finding {
        let _ = writeln!(io::stderr(), "{}", text(program, finding));
    }
    for (name, value) in &outcome.results {
        if outcome.finding.is_none() && !value.to_string().is_empty() {
            let _ = writeln!(io::stdout(), "{name} = {value}");
        }
    }
    ExitCode::from(match outcome.finding.map(|finding| finding.verdict) {
        None => 0,
        Some(Verdict::Failed | Verdict::Deadlock) => 1,
        Some(Verdict::Bounded | Verdict::Stopped) => 4,
        Some(Verdict::Error) => 70,
    })
}

/// Returns a finding as a line, in the short form of `chalice-run`.
pub fn text(program: &Program, finding: &Finding) -> String {
    let Finding { id, at, message, .. } = finding;
    let file = program.files.get(usize::from(at.file)).copied().unwrap_or_default();
    format!("{file}:{}:{}: error[{id}]: {message}", at.line, at.column)
}
