//! How fast Chalice programs run with every permission checked: statements, calls and schedules a
//! second.
//!
//! The programs are written here or are examples, so that the numbers of two releases are about the
//! same work. Times are those that the thread has used, as others may use the machine meanwhile.

use std::fmt::Write as _;

use chalice_run::code::Code;
use chalice_run::entry;
use chalice_run::machine::{Config, Machine};
use chalice_run::run::explore::{Limits, explore};
use chalice_run::run::{Scheduling, Verdict, run};
use chalice_run::sources::Sources;

/// A loop over a field, with an invariant that gives and takes it each time.
pub(crate) const LOOP: &str = "class C { var x: int
  method main(n: int) requires acc(x) {
    var i := 0; x := 0;
    while (i < n) invariant acc(x) {
      x := x + 1; x := x + i; x := x - i; x := x * 2; x := x - x / 2; x := x + 3;
      if (x > 1000) { x := 0 }
      i := i + 1
    }
  }
}";

/// Calls with a contract of two conjuncts.
pub(crate) const CALLS: &str = "class C { var x: int
  method up(n: int) requires acc(x) && 0 <= n ensures acc(x) && 0 <= n { x := n }
  method main(n: int) requires acc(x) {
    var i := 0;
    while (i < n) invariant acc(x) && 0 <= i { call up(i); i := i + 1 }
  }
}";

/// Four threads that take a common lock 12 times each: some 50 visible steps, and many orders.
pub(crate) const LOCKS: &str = "class C { var x: int
  invariant acc(x)
  method work(n: int) requires rd(mu) && waitlevel << mu ensures rd(mu) {
    var i := 0;
    while (i < 12) invariant rd(mu) && waitlevel << mu { acquire this; x := x + 1; release this; i := i + 1 }
  }
  method main(n: int) {
    var c := new C; share c;
    fork a := c.work(n); fork b := c.work(n); fork d := c.work(n); fork e := c.work(n);
    join a; join b; join d; join e
  }
}";

/// Examples of which all orders are looked at, up to the bounds that the command has.
const EXPLORED: [(&str, &str, &str); 3] = [
    ("ring buffer", "Desk.main", include_str!("../../examples/chalice/ring_buffer.chalice")),
    (
        "philosophers",
        "Table.main",
        include_str!("../../examples/chalice/dining_philosophers.chalice"),
    ),
    (
        "Peterson",
        "Peterson.main",
        include_str!("../../examples/chalice/petersons_algorithm.chalice"),
    ),
];

/// How many schedules of an example are run, and how many visible steps each may have.
const BOUNDS: (u64, u64) = (10_000, 200);

/// Returns the numbers, a line each.
pub fn table() -> String {
    table_within(BOUNDS.0)
}

fn table_within(most: u64) -> String {
    let mut text = String::new();
    for (name, program, arguments) in [("loop", LOOP, "100000"), ("calls", CALLS, "200000")] {
        let code = code(program);
        let mut machine = start(&code, "C.main", &[arguments], &Config::default());
        machine.config.steps = u64::MAX;
        let (seconds, outcome) = timed(|| run(&mut machine, &Scheduling::First));
        assert_eq!(outcome.verdict, Verdict::Passed, "{:?}", outcome.failure);
        let (steps, checks) = (outcome.counts.steps as f64, outcome.counts.checks as f64);
        let _ = writeln!(
            text,
            "{name:<10} {:>8.2} M statements/s {:>8.2} M checks/s",
            steps / seconds / 1e6,
            checks / seconds / 1e6
        );
    }
    let locks = code(LOCKS);
    let machine = start(&locks, "C.main", &["1"], &Config::default());
    let (seconds, explored) = timed(|| explore(&machine, limits(most.min(5_000))));
    let _ = writeln!(
        text,
        "schedules  {:>8.0} a second, of 52 visible steps",
        explored.schedules as f64 / seconds
    );
    for (name, entry, program) in EXPLORED {
        let code = code(program);
        let config = Config { visible_steps: BOUNDS.1, ..Config::default() };
        let machine = start(&code, entry, &[], &config);
        let (seconds, explored) = timed(|| explore(&machine, limits(most)));
        let worst = explored.worst.map(|worst| worst.verdict);
        assert!(matches!(worst, Some(Verdict::Passed | Verdict::Bounded)), "{name}: {worst:?}");
        let whole = if explored.complete { "all that matter" } else { "as many as allowed" };
        let _ = writeln!(
            text,
            "{name:<12} {:>6} schedules, {whole}: {seconds:.3} s",
            explored.schedules
        );
    }
    text
}

fn limits(schedules: u64) -> Limits {
    Limits { schedules, preemptions: None, keep_going: false, deadline: None }
}

/// Runs `work`, and returns the seconds that this thread worked, with the result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let began = now();
    let yielded = work();
    (now() - began, yielded)
}

pub(crate) fn code(text: &str) -> Code {
    let sources = Sources::new(vec![("benchmark".to_owned(), text.to_owned())]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    Code::new(program, sources.options())
}

pub(crate) fn start<'c>(
    code: &'c Code,
    name: &str,
    arguments: &[&str],
    config: &Config,
) -> Machine<'c> {
    let method = code.method(name).expect("each has this method");
    let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
    entry::start(code, method, config, &arguments).expect("it can be started")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_programs_run() {
        let table = super::table_within(300);
        assert_eq!(table.lines().count(), 6);
    }
}
