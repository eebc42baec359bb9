//! A Chalice or SPL program is verified alike on every way: directly, through a pipe, and from a
//! file of SIL.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sil_tests::binaries::{self, Scratch};
use silicon::session::input::programs_below;

/// The programs of the corpus and the examples that are written in a language, relative to the
/// workspace.
fn programs(root: &Path, language: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["tests/corpus", "examples"] {
        for path in programs_below(&root.join(folder).join(language)) {
            if path.extension().is_some_and(|extension| extension == language) {
                let relative = path.strip_prefix(root).expect("it is in the workspace");
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// How a warning of a front end is told on standard error.
const WARNING: &str = "warning[typechecker.warning]";

/// Splits off the warnings of the front end: in one process they are told with the verdicts, else
/// by the translator.
fn with_warnings_apart(diagnostics: Vec<Value>) -> (Vec<Value>, usize) {
    let all = diagnostics.len();
    let others: Vec<Value> =
        diagnostics.into_iter().filter(|one| one["id"] != "typechecker.warning").collect();
    let warnings = all - others.len();
    (others, warnings)
}

/// Returns a run's findings at each place, without times and names of SIL files.
fn diagnostics(run: &binaries::Run) -> Vec<Value> {
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["type"] == "diagnostic").collect()
}

#[test]
fn chalice_programs_are_judged_alike_on_every_way() {
    are_judged_alike_on_every_way("chalice2sil", "chalice", 30);
}

#[test]
fn spl_programs_are_judged_alike_on_every_way() {
    are_judged_alike_on_every_way("spl2sil", "spl", 10);
}

/// Compares the ways of a part of the programs, each time the same; `WAYS_EVERY=1`: of all.
fn are_judged_alike_on_every_way(translator: &str, language: &str, at_least: usize) {
    let every = std::env::var("WAYS_EVERY").ok().and_then(|it| it.parse().ok()).unwrap_or(4);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let scratch = Scratch::empty();
    let mut compared = 0;
    for program in programs(root, language).into_iter().step_by(every) {
        let name = program.to_str().expect("names of programs are UTF-8");
        let translated = binaries::run(translator, &[name], root, b"");
        if translated.code != Some(0) {
            continue;
        }
        let direct = binaries::run("silicon", &["--message-format", "json", name], root, b"");
        let text = translated.stdout.as_bytes();
        let piped = binaries::run("silicon", &["--message-format", "json", "-"], root, text);
        let file = scratch.path().join("program.sil");
        std::fs::write(&file, text).expect("the scratch directory can be written");
        let file = file.to_str().expect("the path is UTF-8");
        let read = binaries::run("silicon", &["--message-format", "json", file], root, b"");
        let (verdicts, warnings) = with_warnings_apart(diagnostics(&direct));
        assert_eq!(warnings, translated.stderr.matches(WARNING).count(), "{name}: warnings");
        assert_eq!(verdicts, diagnostics(&piped), "{name}, through a pipe");
        assert_eq!(verdicts, diagnostics(&read), "{name}, from a file");
        assert_eq!(direct.code, piped.code, "{name}");
        compared += 1;
    }
    assert!(compared > at_least, "only {compared} programs were compared");
}
