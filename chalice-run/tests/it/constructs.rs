//! Every construct of Chalice is in a program that runs well, and in a line that goes wrong.
//!
//! The test `programs` checks the announcements of the programs below `programs`; this file only
//! checks that they leave nothing out. A new construct has no name here, and this file does not
//! compile until it gets one.

mod walk;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chalice_run::sources::Sources;

use walk::{ALL, Walk};

/// The constructs that cannot go wrong by themselves, or that are not executed.
const NEVER_WRONG: &[&str] = &["block"];

/// The constructs that nothing executes: runs that come to them stop.
const NOT_EXECUTED: &[&str] = &["wait", "signal", "signal forall"];

/// The constructs in programs that run, by how the programs end.
#[derive(Default)]
struct Covered {
    /// In a method that passes, or declared beside one.
    passes: BTreeSet<&'static str>,
    /// In a line that fails.
    fails: BTreeSet<&'static str>,
    /// In a method whose run stops.
    stops: BTreeSet<&'static str>,
}

fn cover(path: &Path, covered: &mut Covered) {
    let text = fs::read_to_string(path).expect("the program can be read");
    let sources = Sources::new(vec![(path.display().to_string(), text.clone())]);
    let program = sources.check().0.expect("it is a program");
    let runs = text.lines().filter_map(|line| line.strip_prefix("// run "));
    let runs: Vec<(&str, &str)> = runs
        .filter_map(|run| {
            let (what, verdict) = run.rsplit_once(':')?;
            Some((what.split([' ', '(']).next()?, verdict.trim()))
        })
        .collect();
    let is_wrong =
        |line: usize| text.lines().nth(line - 1).is_some_and(|at| at.contains("// fails:"));
    let Covered { passes, fails, stops } = covered;
    let mut wrong = |name, span| {
        if is_wrong(sources.line(span)) {
            fails.insert(name);
        }
    };
    let mut walk = Walk { visit: &mut wrong, program: &program };
    walk.declarations();
    program.methods.values().for_each(|method| walk.method(method));
    if runs.iter().any(|(_, verdict)| *verdict == "passed") {
        let mut pass = |name, _| {
            passes.insert(name);
        };
        Walk { visit: &mut pass, program: &program }.declarations();
    }
    for method in program.methods.values() {
        let name = format!("{}.{}", program.classes[method.class].name, method.name);
        for (_, verdict) in runs.iter().filter(|(run, _)| *run == name) {
            let ends = match *verdict {
                "passed" => &mut *passes,
                "stopped" => &mut *stops,
                _ => continue,
            };
            let mut visit = |name, _| {
                ends.insert(name);
            };
            Walk { visit: &mut visit, program: &program }.method(method);
        }
    }
}

fn cover_folder(folder: &Path, covered: &mut Covered) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { cover_folder(&path, covered) } else { cover(&path, covered) }
    }
}

#[test]
fn every_construct_runs_well_and_goes_wrong() {
    let mut covered = Covered::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    cover_folder(&folder, &mut covered);
    let missing = |found: &BTreeSet<&str>, but: &[&str]| -> Vec<&str> {
        let wanted = ALL.iter().filter(|name| !but.contains(name));
        wanted.filter(|name| !found.contains(*name)).copied().collect()
    };
    let passes = missing(&covered.passes, NOT_EXECUTED);
    let fails = missing(&covered.fails, &[NOT_EXECUTED, NEVER_WRONG].concat());
    let stops: Vec<_> = NOT_EXECUTED.iter().filter(|name| !covered.stops.contains(*name)).collect();
    assert!(
        passes.is_empty() && fails.is_empty() && stops.is_empty(),
        "in no run that passes: {passes:?}\nin no line that fails: {fails:?}\nin no run that stops: {stops:?}"
    );
}
