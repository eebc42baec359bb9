//! How fast Chalice programs run with every permission checked: statements, calls and schedules a second.
//!
//! The programs are written here, so that the numbers of two releases are about the same work.

use std::fmt::Write as _;
use std::time::Instant;

use chalice_run::code::Code;
use chalice_run::entry;
use chalice_run::explore::{Limits, explore};
use chalice_run::machine::{Config, Machine};
use chalice_run::run::{Scheduling, Verdict, run};
use chalice_run::sources::Sources;

/// A loop over a field, with an invariant that gives and takes it each time.
const LOOP: &str = "class C { var x: int
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
const CALLS: &str = "class C { var x: int
  method up(n: int) requires acc(x) && 0 <= n ensures acc(x) && 0 <= n { x := n }
  method main(n: int) requires acc(x) {
    var i := 0;
    while (i < n) invariant acc(x) && 0 <= i { call up(i); i := i + 1 }
  }
}";

/// Four threads that take a common lock 12 times each: some 50 visible steps, and many orders.
const LOCKS: &str = "class C { var x: int
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

/// The numbers, a line each.
pub fn table() -> String {
    let mut text = String::new();
    for (name, program, arguments) in [("loop", LOOP, "100000"), ("calls", CALLS, "200000")] {
        let code = code(program);
        let mut machine = start(&code, arguments);
        let began = Instant::now();
        let outcome = run(&mut machine, &Scheduling::First);
        let seconds = began.elapsed().as_secs_f64();
        assert_eq!(outcome.verdict, Verdict::Passed, "{:?}", outcome.failure);
        let (steps, checks) = (outcome.counts.steps as f64, outcome.counts.checks as f64);
        let _ = writeln!(
            text,
            "{name:<10} {:>8.2} M statements/s {:>8.2} M checks/s",
            steps / seconds / 1e6,
            checks / seconds / 1e6
        );
    }
    let code = code(LOCKS);
    let machine = start(&code, "1");
    let began = Instant::now();
    let limits = Limits { schedules: 5_000, preemptions: None, keep_going: false, deadline: None };
    let explored = explore(&machine, limits);
    let seconds = began.elapsed().as_secs_f64();
    let _ = writeln!(
        text,
        "schedules  {:>8.0} a second, of 52 visible steps",
        explored.schedules as f64 / seconds
    );
    text
}

fn code(text: &str) -> Code {
    let sources = Sources::new(vec![("benchmark".to_owned(), text.to_owned())]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    Code::new(program, sources.options())
}

fn start<'c>(code: &'c Code, argument: &str) -> Machine<'c> {
    let config = Config { steps: u64::MAX, ..Config::default() };
    let method = code.method("C.main").expect("each has this method");
    entry::start(code, method, &config, &[argument.to_owned()]).expect("it can be started")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_programs_run() {
        let table = super::table();
        assert_eq!(table.lines().count(), 3);
    }
}
