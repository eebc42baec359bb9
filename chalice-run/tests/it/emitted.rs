//! Emitted programs: what comes of them is what comes of the interpreter.
//!
//! All runs of the programs beside this test, and of the examples, are emitted as modules of one
//! program, with and without checks; the compiler builds it and the runtime once. Some folders are
//! left to `.ci/full`, which asks for them with `CHALICE_RUN_EMITS_ALL`: of these, only what is
//! refused is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chalice_run::choices::Choices;
use chalice_run::code::Code;
use chalice_run::emit;
use chalice_run::entry;
use chalice_run::machine::{Config, Machine, Undefined};
use chalice_run::run::{Failure, Outcome, Scheduling, Verdict, random_values, run};
use chalice_run::sources::Sources;

use crate::programs::{programs, wanted};

/// Words of a request that emitted programs know nothing of.
const OTHERS: [&str; 7] = ["everywhere", "thread", "starts", "scope", "seed", "discard", "none"];

/// Ends that emitted programs have and the interpreter does not: for values that they do not keep
/// or foresee.
const END_EARLY: [&str; 2] = ["stopped constant.unforeseen", "bounded bound"];

/// Folders of programs that cost most.
const COSTLY: [&str; 3] = ["constructs", "reference", "traps"];

/// Is a program built and run here?
fn is_built(path: &Path) -> bool {
    let is_costly = path.iter().any(|part| COSTLY.iter().any(|costly| part == *costly));
    !is_costly || std::env::var_os("CHALICE_RUN_EMITS_ALL").is_some()
}

/// The outcome of a run as a line: verdict, id and place.
fn told(verdict: Verdict, failure: Option<&Failure>, sources: &Sources) -> String {
    let Some(failure) = failure else { return verdict.as_str().to_owned() };
    let place = sources.place(failure.span.start);
    format!("{} {} {}:{}", verdict.as_str(), failure.id, place.line, place.column)
}

/// The results and the output of a run that has passed.
fn yielded(outcome: &Outcome, output: &[String]) -> String {
    let plain = |value: &str| value.parse::<i64>().is_ok() || value == "true" || value == "false";
    let results = outcome.results.iter().filter(|(_, value)| plain(value));
    let results: Vec<_> = results.map(|(name, value)| format!("{name} = {value}")).collect();
    format!(" {results:?} {output:?}")
}

/// Collects the outcomes of a start under several schedules: the system may choose any of them.
fn outcomes(start: &Machine<'_>, sources: &Sources) -> BTreeSet<String> {
    let seeds = (0..10).map(Scheduling::Seed);
    let all = seeds.chain([Scheduling::First, Scheduling::RoundRobin(1)]);
    all.map(|scheduling| {
        let mut machine = start.clone();
        machine.choices = Choices::new(Vec::new(), random_values(1));
        let outcome = run(&mut machine, &scheduling);
        let mut line = told(outcome.verdict, outcome.failure.as_ref(), sources);
        if outcome.verdict == Verdict::Passed {
            line.push_str(&yielded(&outcome, &machine.output));
        }
        line
    })
    .collect()
}

/// The failures that a program announces, up to the column: a schedule of the system may lead to
/// one that no schedule above does.
fn announced(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let ids = text.split_once("// fails: ").map_or("", |(_, ids)| ids);
        all.extend(ids.split(", ").map(|id| format!("failed {id} {line}:")));
    }
    all
}

/// A program with all modules, and what may come of each of their starts.
#[derive(Default)]
struct Emitted {
    modules: Vec<String>,
    expected: Vec<(String, usize, usize, BTreeSet<String>)>,
    refused: BTreeMap<String, BTreeSet<String>>,
}

impl Emitted {
    /// Notes the parts that are refused.
    fn is_emitted(&mut self, start: &Machine<'_>, sources: &Sources, code: &Code) -> bool {
        let Err(refusal) = emit::module(sources, code, &[start]) else { return true };
        let place = sources.place(refusal.span.start);
        let file = Path::new(&place.file).file_stem().unwrap_or_default();
        let place = format!("{}:{}", file.to_string_lossy(), place.line);
        self.refused.entry(refusal.what.to_owned()).or_default().insert(place);
        false
    }

    fn add_program(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("the program can be read");
        let sources = Sources::new(vec![(path.display().to_string(), text.clone())]);
        let Some(program) = sources.check().0 else { return };
        let code = Code::new(program, sources.options());
        let lines = text.lines().filter_map(|line| line.strip_prefix("// run "));
        let mut runs: Vec<_> = lines.map(wanted).collect();
        if runs.is_empty() && entry::entry(&code, None, false).is_ok() {
            runs.push(wanted("main: passed"));
        }
        runs.retain(|one| !OTHERS.iter().any(|word| one.has(word)));
        for checks in [true, false] {
            let mut starts = Vec::new();
            for one in &runs {
                let method = code.method(one.method);
                let method = method.map_or_else(|| entry::entry(&code, None, false), Ok);
                let method = method.expect("there is such a method");
                let config = Config {
                    undefined: Undefined::Zero,
                    leaks_fail: one.has("leaks"),
                    checks,
                    visible_steps: 2_000,
                    ..Config::default()
                };
                // Without checks, what does not fail with them is enough.
                let is_asked = checks || one.verdict == "passed";
                let start = entry::start(&code, method, &config, &one.arguments);
                let Some(start) = start.ok().filter(|_| is_asked) else { continue };
                if !self.is_emitted(&start, &sources, &code) || !is_built(path) {
                    continue;
                }
                let mut expected = outcomes(&start, &sources);
                if one.verdict != "passed" {
                    expected.extend(announced(&text));
                }
                // A program that does not end in the interpreter does not end at all.
                if !expected.iter().any(|line| line.starts_with("bounded")) {
                    let name = format!("{}: {} {checks}", path.display(), one.method);
                    self.expected.push((name, self.modules.len(), starts.len(), expected));
                    starts.push(start);
                }
            }
            if !starts.is_empty() {
                let starts: Vec<_> = starts.iter().collect();
                let module = emit::module(&sources, &code, &starts);
                self.modules.push(module.expect("each of them alone is emitted"));
            }
        }
    }

    /// Builds all of it, and returns a line for each module.
    fn run(&self, folder: &Path) -> String {
        let package = emit::package("all", self.main());
        for (path, text) in &package.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        for (at, module) in self.modules.iter().enumerate() {
            fs::write(folder.join(format!("src/p{at}.rs")), module).expect("a file");
        }
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let build = |arguments: &[&str]| {
            let status = Command::new(&rustc)
                .current_dir(folder)
                .args(["--edition", "2024", "-C", "debuginfo=0", "-L", "."])
                .args(arguments)
                .status();
            assert!(status.expect("the compiler starts").success(), "{arguments:?}");
        };
        let runtime = "chalice-rt/src/lib.rs";
        build(&["--crate-name", "chalice_rt", "--crate-type", "rlib", runtime]);
        let with = "chalice_rt=libchalice_rt.rlib";
        build(&["--crate-name", "all", "--extern", with, "-o", "all", "src/program.rs"]);
        let output = Command::new(folder.join("all")).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8(output.stdout).expect("it writes UTF-8")
    }

    fn main(&self) -> String {
        let (mut modules, mut all) = (String::new(), String::new());
        for at in 0..self.modules.len() {
            let _ = writeln!(modules, "mod p{at};");
        }
        for (_, module, start, _) in &self.expected {
            let _ = write!(all, "&p{module}::PROGRAMS[{start}], ");
        }
        format!(
            "{modules}
            use chalice_rt::world::{{Program, run}};
            fn main() {{
                let all: [&'static Program; {}] = [{all}];
                for program in all {{
                    let outcome = run(program, false);
                    match outcome.finding {{
                        Some(found) => println!(
                            \"{{}} {{}} {{}}:{{}}\",
                            found.verdict.as_str(), found.id, found.at.line, found.at.column
                        ),
                        None => {{
                            let results = outcome.results.iter();
                            let results = results.map(|(name, value)| format!(\"{{name}} = {{value}}\"));
                            let plain = |line: &String| !line.ends_with(\"= \");
                            let results: Vec<_> = results.filter(plain).collect();
                            println!(\"passed {{results:?}} {{:?}}\", outcome.output);
                        }}
                    }}
                }}
            }}",
            self.expected.len()
        )
    }
}

#[test]
fn emitted_programs_do_what_the_interpreter_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<PathBuf> = Vec::new();
    programs(&root.join("tests/programs"), &mut found);
    programs(&root.join("../examples/chalice"), &mut found);
    let mut emitted = Emitted::default();
    found.retain(|path| path.extension().is_some_and(|one| one == "chalice"));
    found.iter().for_each(|path| emitted.add_program(path));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emitted");
    let output = emitted.run(&folder);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), emitted.expected.len(), "{output}");
    let mut wrong = String::new();
    let expected = std::mem::take(&mut emitted.expected);
    for ((name, _, _, expected), line) in expected.iter().zip(&lines) {
        // The last thread of a circle to wait depends on how fast threads are.
        let is_it = |one: &String| {
            let is_announced = one.ends_with(':') && line.starts_with(one.as_str());
            let is_deadlock = one.starts_with("deadlock") && line.starts_with("deadlock");
            one == line || is_announced || is_deadlock
        };
        if let Some(ended) = END_EARLY.iter().find(|ended| line.starts_with(**ended)) {
            let name = name.rsplit('/').next().unwrap_or_default().to_owned();
            emitted.refused.entry((*ended).to_owned()).or_default().insert(name);
        } else if !expected.iter().any(is_it) {
            let _ = writeln!(wrong, "{name}\n  emitted  {line}\n  expected {expected:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let failed = lines.iter().filter(|line| line.starts_with("failed")).count();
    assert!(failed > 80 && lines.len() > 200, "{failed} of {} fail", lines.len());
    let mut refused = String::new();
    for (what, places) in &emitted.refused {
        let places: Vec<_> = places.iter().map(String::as_str).collect();
        let _ = writeln!(refused, "{what}: {}", places.join(", "));
    }
    expect_test::expect_file!["./refused.txt"].assert_eq(&refused);
}

const COUNTED: &str = "class Counter { var n: int;
  method up() requires acc(n) ensures acc(n) && n == old(n) + 1 { n := n + 1; }
  method main() returns (r: int) {
    var c := new Counter { n := 1 };
    fork t := c.up(); join t;
    r := c.n;
  }
  method early() returns (r: int) {
    var c := new Counter { n := 1 };
    fork t := c.up();
    r := c.n;
    join t;
  }
  method past() requires acc(n) { var c: Counter := this; assert old(c.n) == n; }
}
";

/// The command as it is used: what it writes is built by cargo, and does what the interpreter does.
#[test]
fn packages_are_built_by_cargo() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("package");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("counter.chalice");
    fs::write(&file, COUNTED).expect("a file");
    let emitted = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chalice-run"));
        command.current_dir(&folder).args(["counter.chalice", "--emit", "rust"]).args(arguments);
        command.output().expect("it starts")
    };
    for (arguments, code, stdout, stderr) in [
        (&[][..], 0, "r = 2\n", ""),
        (
            &["--entry", "Counter.early"],
            1,
            "",
            "counter.chalice:11:10: error[assignment.failed:insufficient.permission]",
        ),
    ] {
        let output = emitted(&[&["-o", "out"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.current_dir(folder.join("out")).args(["build", "--quiet", "--offline"]);
        build.arg("--target-dir").arg(folder.join("target"));
        assert!(build.status().expect("cargo starts").success());
        let run = Command::new(folder.join("target/debug/chalice-counter")).output();
        let run = run.expect("it starts");
        let words = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{run:?}");
        assert_eq!(String::from_utf8_lossy(&run.stdout), stdout);
        assert!(words.starts_with(stderr) && words.is_empty() == stderr.is_empty(), "{words}");
    }
    let refused = emitted(&["--entry", "Counter.past", "--message-format", "short"]);
    let words = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(4));
    assert_eq!(
        words,
        "counter.chalice:14:66: error[notsupported:feature.unsupported]: \
         old of what is no parameter cannot be emitted\n"
    );
    assert!(refused.stdout.is_empty());
}
