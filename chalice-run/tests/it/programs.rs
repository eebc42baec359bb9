//! Programs that say what becomes of them when they are run.
//!
//! A line `// run C.m: verdict` starts a method; between name and colon there may be arguments in
//! parentheses and the words `all` (every schedule that matters), `everywhere` (threads may be
//! interrupted at each statement), `thread` (the thread view), `starts` (a hundred generated
//! starts), `scope` (all small starts), `seed` (values that nobody chose by a seed), `discard` and
//! `leaks`. The verdict `none` says that no start was found within the bounds. What goes wrong
//! stands beside the line it is reported at, as `// fails: id`. `// prints: text` is a line that
//! every run of the file writes, `// result: name = value` what every run of it returns.

use std::fs;
use std::path::{Path, PathBuf};

use chalice_run::choices::Choices;
use chalice_run::code::Code;
use chalice_run::entry::{self, NoStart};
use chalice_run::generate::{Bounds, Found, Order, Starts};
use chalice_run::machine::{Assume, Config, Machine, Undefined, View};
use chalice_run::run::explore::{Limits, explore};
use chalice_run::run::{Failure, Scheduling, Verdict, random_values, run};
use chalice_run::sources::Sources;

/// The request of a line.
pub(crate) struct Wanted<'t> {
    pub(crate) method: &'t str,
    pub(crate) arguments: Vec<String>,
    words: Vec<&'t str>,
    pub(crate) verdict: &'t str,
}

impl Wanted<'_> {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    fn config(&self) -> Config {
        Config {
            view: if self.has("thread") { View::Thread } else { View::Method },
            undefined: if self.has("seed") { Undefined::Choose } else { Undefined::Zero },
            assume: if self.has("discard") { Assume::Discard } else { Assume::Check },
            steps: 20_000,
            visible_steps: if self.has("all") { 60 } else { 2_000 },
            leaks_fail: self.has("leaks"),
            preempt_everywhere: self.has("everywhere"),
            check_conservation: true,
            ..Config::default()
        }
    }
}

pub(crate) fn wanted(line: &str) -> Wanted<'_> {
    let (what, verdict) = line.rsplit_once(':').expect("a verdict follows a colon");
    let (what, arguments) = match (what.find('('), what.rfind(')')) {
        (Some(open), Some(close)) => {
            let arguments = what[open + 1..close].split(';').map(str::trim).map(str::to_owned);
            (format!("{} {}", &what[..open], &what[close + 1..]), arguments.collect())
        }
        _ => (what.to_owned(), Vec::new()),
    };
    let first = what.split_whitespace().next().expect("a method").len();
    let words = line[..line.rfind(':').unwrap()].split_whitespace().collect::<Vec<_>>();
    let method = &line[..first];
    let words = words.into_iter().skip(1).collect();
    Wanted { method, arguments, words, verdict: verdict.trim() }
}

/// The result of a run, and of those that it stands for.
struct Seen {
    verdict: String,
    failure: Option<Failure>,
    output: Vec<String>,
    results: Vec<(String, String)>,
}

fn seen(code: &Code, wanted: &Wanted<'_>) -> Seen {
    let method = code.method(wanted.method).unwrap_or_else(|| panic!("no {}", wanted.method));
    let config = wanted.config();
    if wanted.has("starts") || wanted.has("scope") {
        return of_starts(code, wanted, method, config);
    }
    let mut machine = match entry::start(code, method, &config, &wanted.arguments) {
        Ok(machine) => machine,
        Err(NoStart::NotFound(_)) => {
            let verdict = "none".to_owned();
            return Seen { verdict, failure: None, output: Vec::new(), results: Vec::new() };
        }
        Err(refused) => panic!("{}: {refused:?}", wanted.method),
    };
    machine.choices = Choices::new(Vec::new(), random_values(1));
    if wanted.has("all") {
        let limits =
            Limits { schedules: 5_000, preemptions: None, keep_going: false, deadline: None };
        let explored = explore(&machine, limits);
        let worst = explored.worst.expect("a schedule was run");
        let is_whole = explored.complete
            || worst.verdict == Verdict::Failed
            || worst.verdict == Verdict::Deadlock;
        let skipped = !explored.skipped.is_empty();
        let verdict = verdict(worst.verdict, skipped || !is_whole);
        let (failure, results) = (worst.failure, worst.results);
        return Seen { verdict, failure, output: explored.output, results };
    }
    once(machine)
}

fn verdict(verdict: Verdict, is_partial: bool) -> String {
    let words = verdict.as_str();
    if verdict == Verdict::Passed && is_partial { format!("{words} in part") } else { words.into() }
}

fn once(mut machine: Machine<'_>) -> Seen {
    let start = machine.clone();
    let mut noting = machine.clone();
    let outcome = run(&mut machine, &Scheduling::First);
    // The same decisions lead to the same end.
    let mut again = start;
    let script = chalice_run::choices::parse_schedule(&outcome.schedule).expect("a schedule");
    again.choices = Choices::new(script, random_values(99));
    assert_eq!(run(&mut again, &Scheduling::Seed(5)), outcome, "a replay differs");
    // Noting what nobody gave a value changes nothing else.
    if noting.config.undefined == Undefined::Zero {
        noting.config.undefined = Undefined::Report;
        let noted = run(&mut noting, &Scheduling::First);
        assert_eq!((noted.verdict, noted.counts), (outcome.verdict, outcome.counts));
        assert_eq!(
            noted.failure.map(|one| one.id),
            outcome.failure.as_ref().map(|one| one.id.clone())
        );
    }
    Seen {
        verdict: verdict(outcome.verdict, !machine.skipped.is_empty()),
        failure: outcome.failure,
        output: machine.output,
        results: outcome.results,
    }
}

fn of_starts(code: &Code, wanted: &Wanted<'_>, method: u32, config: Config) -> Seen {
    let config = Config { undefined: Undefined::Choose, ..config };
    let small = Bounds { objects: 2, integers: 1, length: 2, depth: 2 };
    let bounds = if wanted.has("scope") { small } else { Bounds::default() };
    let order = if wanted.has("scope") { Order::All } else { Order::Random(3) };
    let mut starts = Starts::new(code, method, config, bounds, order);
    let mut is_partial = false;
    loop {
        let machine = match starts.next_start() {
            Found::Start(machine) => *machine,
            Found::Exhausted if starts.found > 0 => break,
            _ => {
                let verdict = "none".to_owned();
                return Seen { verdict, failure: None, output: Vec::new(), results: Vec::new() };
            }
        };
        let mut machine = machine;
        let outcome = run(&mut machine, &Scheduling::Seed(starts.found));
        is_partial |= !machine.skipped.is_empty();
        if !matches!(outcome.verdict, Verdict::Passed | Verdict::Discarded) {
            let verdict = outcome.verdict.as_str().to_owned();
            let (failure, output) = (outcome.failure, machine.output);
            return Seen { verdict, failure, output, results: outcome.results };
        }
        if order == Order::Random(3) && starts.found == 100 {
            break;
        }
        starts.go_on(&machine);
    }
    let verdict = verdict(Verdict::Passed, is_partial);
    Seen { verdict, failure: None, output: Vec::new(), results: Vec::new() }
}

fn after<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    line.split_once(mark).map(|(_, rest)| rest.trim())
}

fn check(path: &Path) {
    let text = fs::read_to_string(path).expect("the program can be read");
    let name = path.display().to_string();
    let sources = Sources::new(vec![(name.clone(), text.clone())]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{name}: {found:?}"));
    let code = Code::new(program, sources.options());
    let lines: Vec<_> = text.lines().collect();
    let mut runs = 0;
    let mut reported = Vec::new();
    for line in &lines {
        let Some(line) = line.strip_prefix("// run ") else { continue };
        runs += 1;
        let wanted = wanted(line);
        let seen = seen(&code, &wanted);
        let failure = seen.failure.as_ref();
        let place = failure.map(|failure| (sources.line(failure.span), failure.id.clone()));
        assert_eq!(seen.verdict, wanted.verdict, "{name}: {line}: {place:?} {failure:?}");
        if matches!(wanted.verdict, "failed" | "deadlock") {
            let (at, id) = place.expect("what fails has a place");
            let expected = after(lines[at - 1], "// fails:");
            let is_expected = expected.is_some_and(|all| all.split(", ").any(|one| one == id));
            assert!(is_expected, "{name}:{at}: {line}: {id} is not expected: {failure:?}");
            reported.push((at, id));
        }
        if wanted.verdict == "passed" {
            let printed: Vec<_> =
                lines.iter().filter_map(|line| line.strip_prefix("// prints: ")).collect();
            assert!(printed.is_empty() || printed == seen.output, "{name}: {:?}", seen.output);
            for result in lines.iter().filter_map(|line| line.strip_prefix("// result: ")) {
                let has =
                    seen.results.iter().any(|(name, value)| format!("{name} = {value}") == result);
                assert!(has, "{name}: {line}: {:?}", seen.results);
            }
        }
    }
    assert!(runs > 0, "{name}: nothing is run");
    for (at, line) in lines.iter().enumerate() {
        for id in after(line, "// fails:").into_iter().flat_map(|all| all.split(", ")) {
            let is_reported = reported.contains(&(at + 1, id.to_owned()));
            assert!(is_reported, "{name}:{}: {id} was not reported", at + 1);
        }
    }
}

pub(crate) fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            programs(&entry, found);
        } else {
            found.push(entry);
        }
    }
}

#[test]
fn programs_run_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut found = Vec::new();
    programs(&folder, &mut found);
    assert!(found.len() > 20);
    // All that are wrong are told, not only the first.
    let wrong: Vec<_> = found
        .iter()
        .filter(|program| std::panic::catch_unwind(|| check(program)).is_err())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Orders that matter are run once each: those of steps about one lock, and no others.
#[test]
fn each_order_that_matters_is_run_once() {
    let text = "class L { var x: int
      invariant acc(x)
      method once() requires rd(mu) && waitlevel << mu { acquire this; x := x + 1; release this }
      method twice() requires rd(mu) && waitlevel << mu { call once(); acquire this; release this }
      method four() { var c := new L; share c; fork c.once(); fork c.once(); fork c.once(); fork c.once() }
      method apart() {
        var c := new L; share c; var d := new L; share d; var e := new L; share e;
        fork c.once(); fork d.once(); fork e.once()
      }
    }";
    let text = text.replace(
        "requires rd(mu) && waitlevel << mu {",
        "requires acc(mu, 10) && waitlevel << mu ensures acc(mu, 10) {",
    );
    let sources = Sources::new(vec![("orders".to_owned(), text)]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    let code = Code::new(program, sources.options());
    let limits = Limits { schedules: 1_000, preemptions: None, keep_going: false, deadline: None };
    for (method, orders) in [("L.four", 24), ("L.apart", 1)] {
        let method = code.method(method).expect("there is such a method");
        let machine = entry::start(&code, method, &Config::default(), &[]).expect("it starts");
        let explored = explore(&machine, limits);
        assert_eq!(explored.worst.expect("one was run").verdict, Verdict::Passed);
        assert_eq!((explored.schedules, explored.complete), (orders, true));
        // Without reduction, at most as many interruptions as there are threads reach all orders,
        // too.
        let bounded =
            Limits { schedules: 100_000, preemptions: Some(8), keep_going: false, deadline: None };
        assert!(explore(&machine, bounded).schedules >= orders);
    }
}
