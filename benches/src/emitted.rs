//! The cost of checks at run time: programs of the machine's benchmark, emitted with and without
//! checks, beside the interpreter.
//!
//! The thesis about runtime checking (Hegi 2013, section 5) tells verdicts and no times, so there
//! are no others to show beside ours.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use chalice_run::emit;
use chalice_run::machine::Config;
use chalice_run::run::{Scheduling, Verdict, run};
use chalice_run::sources::Sources;

use crate::running::{CALLS, LOCKS, LOOP, code, start, timed};
use crate::samples::Mean;

/// Name, text and argument of each program.
const PROGRAMS: [(&str, &str, &str); 3] =
    [("loop", LOOP, "1000000"), ("calls", CALLS, "1000000"), ("locks", LOCKS, "1")];

/// The times of a program with and without checks.
struct Row {
    name: &'static str,
    /// Emitted, in milliseconds: without checks, and with all.
    emitted: [Mean; 2],
    /// Interpreted, in milliseconds.
    interpreted: [f64; 2],
}

/// Builds the programs in a folder of their own, and runs each `runs` times.
///
/// # Errors
/// There is no cargo, or something does not run.
pub fn table(folder: &Path, runs: usize) -> Result<String> {
    let mut modules = Vec::new();
    let mut interpreted = Vec::new();
    for (_, text, argument) in PROGRAMS {
        let code = code(text);
        let sources = Sources::new(vec![("benchmark".to_owned(), text.to_owned())]);
        for checks in [false, true] {
            let config = Config { checks, steps: u64::MAX, ..Config::default() };
            let mut machine = start(&code, "C.main", &[argument], &config);
            let module = emit::module(&sources, &code, &[&machine]);
            modules.push(module.map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?);
            // For comparison only: without checks it may stop at each statement.
            machine.config.preempt_everywhere = false;
            machine.config.visible_steps = u64::MAX;
            let (seconds, outcome) = timed(|| run(&mut machine, &Scheduling::First));
            ensure!(outcome.verdict == Verdict::Passed, "{:?}", outcome.failure);
            interpreted.push(seconds * 1000.0);
        }
    }
    build(folder, &modules)?;
    let command = folder.join("target/release/chalice-emitted");
    let mut rows = Vec::new();
    for (at, (name, ..)) in PROGRAMS.into_iter().enumerate() {
        let emitted = [time(&command, 2 * at, runs)?, time(&command, 2 * at + 1, runs)?];
        let interpreted = [interpreted[2 * at], interpreted[2 * at + 1]];
        rows.push(Row { name, emitted, interpreted });
    }
    Ok(shown(&rows))
}

/// Builds one program that runs the module of a number, and prints its nanoseconds.
fn build(folder: &Path, modules: &[String]) -> Result<()> {
    let names: Vec<_> = (0..modules.len()).map(|at| format!("p{at}")).collect();
    let declared: String =
        names.iter().fold(String::new(), |text, name| text + "mod " + name + ";\n");
    let all: Vec<_> = names.iter().map(|name| format!("&{name}::PROGRAMS[0]")).collect();
    let main = format!(
        "{declared}
        use chalice_rt::world::{{Program, run}};
        fn main() {{
            let all: [&'static Program; {}] = [{}];
            let at: usize = std::env::args().nth(1).and_then(|at| at.parse().ok()).unwrap_or(0);
            let begun = std::time::Instant::now();
            let outcome = run(all[at], false);
            assert!(outcome.finding.is_none(), \"{{:?}}\", outcome.finding);
            println!(\"{{}}\", begun.elapsed().as_nanos());
        }}",
        all.len(),
        all.join(", ")
    );
    for (path, text) in emit::package("emitted", String::new()).files {
        write(&folder.join(path), &text)?;
    }
    write(&folder.join("src/main.rs"), &main)?;
    for (name, module) in names.iter().zip(modules) {
        write(&folder.join(format!("src/{name}.rs")), module)?;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = folder.join("target");
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(folder)
        .status()
        .context("cargo does not start")?;
    ensure!(status.success(), "the emitted programs cannot be built");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// Returns the time of a program, as it measures it itself.
fn time(command: &Path, at: usize, runs: usize) -> Result<Mean> {
    let mut times = Vec::new();
    for run in 0..=runs {
        let output = Command::new(command).arg(at.to_string()).output().context("it starts")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let nanoseconds = String::from_utf8_lossy(&output.stdout).trim().parse()?;
        if run > 0 {
            times.push(Duration::from_nanos(nanoseconds));
        }
    }
    Ok(Mean::of(times))
}

fn shown(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<8} {:>16} {:>16} {:>7}   {:>13} {:>13}\n",
        "program", "emitted, none", "all checks", "factor", "interpreted", "all checks"
    );
    for Row { name, emitted: [none, all], interpreted } in rows {
        let factor = all.mean / none.mean;
        let mean = |of: &Mean| format!("{:.2} ± {:.2} ms", of.mean, of.deviation);
        let _ = writeln!(
            text,
            "{name:<8} {:>16} {:>16} {factor:>7.1}   {:>10.1} ms {:>10.1} ms",
            mean(none),
            mean(all),
            interpreted[0],
            interpreted[1]
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_how_much_longer_checks_take() {
        let mean = |mean| Mean { mean, deviation: 0.25 };
        let emitted = [mean(2.0), mean(9.0)];
        let text = shown(&[Row { name: "loop", emitted, interpreted: [40.0, 60.0] }]);
        let row = text.lines().nth(1).unwrap_or_default();
        assert!(row.starts_with("loop") && row.contains(" 4.5 "), "{text}");
        assert!(row.contains("2.00 ± 0.25 ms") && row.ends_with("60.0 ms"), "{text}");
    }
}
