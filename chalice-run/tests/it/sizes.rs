//! Runs that are large: deep recursion, many threads, many iterations, collections that grow.
//!
//! Each ends with a claim about what it has computed. Where something took time that grows with the
//! square of the size, the suite would not end; nothing is timed.

use chalice_run::code::Code;
use chalice_run::entry;
use chalice_run::machine::Config;
use chalice_run::run::{Outcome, Scheduling, Verdict, run};
use chalice_run::sources::Sources;

const LISTS: &str = "class Node { var next: Node; var v: int;
  predicate valid { acc(next) && acc(v) && (next != null ==> next.valid) }
  function len(): int requires valid { unfolding valid in next == null ? 1 : 1 + next.len() }
  method count() returns (r: int) requires valid ensures valid {
    unfold valid;
    r := 0;
    if (next != null) { call r := next.count(); }
    r := r + 1;
    fold valid;
  }
  method main(n: int) returns (r: int) {
    var i := 0; var list: Node := null;
    while (i < n) invariant list != null ==> list.valid {
      var one := new Node { next := list, v := i };
      fold one.valid;
      list := one;
      i := i + 1;
    }
    assert list.len() == n;
    call r := list.count();
    assert r == n;
  }
}";

/// At each depth somebody holds a part of one location, with a read fraction of its own.
const SHARES: &str = "class Shared { var x: int;
  method drop() requires rd(x) { }
  method split(n: int) returns (r: int) requires rd(x) ensures rd(x) {
    r := 0;
    if (n > 0) { call r := split(n - 1); }
    r := r + 1;
  }
  method spend(n: int) returns (r: int) requires rd(x) {
    call drop();
    r := 0;
    if (n > 0) { call r := spend(n - 1); }
    r := r + 1;
  }
  method main(n: int) returns (r: int) {
    var s := new Shared;
    call r := s.split(n);
    assert r == n + 1;
    call r := s.spend(n);
  }
}";

const THREADS: &str = "class Worker { var x: int;
  method work() requires acc(x) ensures acc(x) && x == 1 { x := 1; }
  method apart(n: int) returns (r: int) {
    var i := 0; var last: Worker := null; var tk: token<Worker.work>;
    while (i < n) invariant i > 0 ==> tk != null && acc(tk.joinable) && tk.joinable && last != null
        && eval(tk.fork last.work(), true) {
      var one := new Worker; last := one;
      fork tk := one.work();
      i := i + 1;
    }
    join tk;
    r := last.x;
  }
  method chain(n: int) { if (n > 0) { fork t := this.chain(n - 1); join t; } }
}
class Counter { var x: int;
  invariant acc(x);
  method once() requires rd(mu) && waitlevel << mu ensures rd(mu) { acquire this; x := x + 1; release this; }
  method main(n: int) returns (r: int) {
    var c := new Counter { x := 0 };
    share c;
    var i := 0;
    while (i < n) invariant rd*(c.mu) && waitlevel << c.mu { fork c.once(); i := i + 1; }
    acquire c; r := c.x; release c;
  }
}";

const LOOPS: &str = "class C { var x: int;
  method main(n: int) returns (r: int) requires acc(x) {
    r := 0; x := 0;
    while (r < n) invariant acc(x) && x == r { x := x + 1; r := r + 1; }
    assert x == n;
  }
  method sequences(n: int) returns (r: int) {
    r := 0; var s: seq<int> := []; var t: seq<int> := [];
    while (r < n) invariant |s| == r && |t| == r { s := s ++ [r]; t := [r] ++ t; r := r + 1; }
    assert s == [0..n] && (forall i in [0..n] :: t[i] == n - 1 - i);
    while (|s| > 1) { s := s[1..]; t := t[..|t| - 1]; }
    assert s == t && s == [n - 1];
  }
  method sets(n: int) returns (r: int) {
    r := 0; var s: set<int> := {};
    while (r < n) { s := s + {r}; r := r + 1; }
    assert |s| == n && n - 1 in s && n !in s;
    while (|s| > 1) { s := s - {r}; r := r - 1; }
    assert s == {0};
  }
}";

/// Both append and take for ever.
const ENDLESS: &str = "class Queue { var contents: seq<int>;
  invariant acc(contents);
  method put() requires rd(mu) && waitlevel << mu {
    while (true) invariant rd(mu) && waitlevel << mu {
      acquire this; contents := contents ++ [1]; release this;
    }
  }
  method get() requires rd(mu) && waitlevel << mu {
    while (true) invariant rd(mu) && waitlevel << mu {
      acquire this; if (|contents| > 0) { contents := contents[1..]; } release this;
    }
  }
  method main(n: int) {
    var q := new Queue { contents := [] };
    share q;
    fork q.put(); fork q.get();
  }
}";

fn run_with(text: &str, entry: &str, n: u32) -> Outcome {
    let sources = Sources::new(vec![("a".to_owned(), text.to_owned())]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    let code = Code::new(program, sources.options());
    let method = code.method(entry).expect("there is such a method");
    let config = Config { steps: 20_000_000, visible_steps: 100_000, ..Config::default() };
    let mut machine = entry::start(&code, method, &config, &[n.to_string()]).expect("it starts");
    run(&mut machine, &Scheduling::First)
}

fn passes(text: &str, entry: &str, n: u32, result: Option<u32>) {
    let outcome = run_with(text, entry, n);
    assert_eq!(outcome.verdict, Verdict::Passed, "{entry}: {:?}", outcome.failure);
    let result = result.map(|result| ("r".to_owned(), result.to_string()));
    assert_eq!(outcome.results.first(), result.as_ref(), "{entry}");
}

#[test]
fn functions_and_methods_recurse_over_long_lists() {
    passes(LISTS, "Node.main", 100_000, Some(100_000));
}

#[test]
fn many_may_hold_a_part_of_one_location() {
    passes(SHARES, "Shared.main", 50_000, Some(50_001));
}

#[test]
fn there_may_be_many_threads() {
    passes(THREADS, "Worker.apart", 10_000, Some(1));
    passes(THREADS, "Worker.chain", 10_000, None);
    // All of them hold a part of one location, and wait for one lock; the first to run sees what
    // none has counted.
    passes(THREADS, "Counter.main", 2_000, Some(0));
}

#[test]
fn loops_may_have_many_iterations() {
    passes(LOOPS, "C.main", 1_000_000, Some(1_000_000));
}

#[test]
fn collections_may_grow() {
    passes(LOOPS, "C.sequences", 100_000, Some(100_000));
    passes(LOOPS, "C.sets", 100_000, Some(0));
}

#[test]
fn what_never_ends_comes_to_its_bound() {
    let outcome = run_with(ENDLESS, "Queue.main", 0);
    assert_eq!(outcome.verdict, Verdict::Bounded, "{:?}", outcome.failure);
    assert!(outcome.counts.visible >= 100_000, "{:?}", outcome.counts);
}
