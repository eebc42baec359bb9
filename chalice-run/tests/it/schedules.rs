//! Only orders of steps that others can notice are explored. That nothing is lost by it is compared
//! here with threads that may be interrupted at each statement.

use std::collections::BTreeSet;

use chalice_run::code::Code;
use chalice_run::entry;
use chalice_run::machine::Config;
use chalice_run::run::Verdict;
use chalice_run::run::explore::{Explored, Limits, explore};
use chalice_run::sources::Sources;

const TEXT: &str = "class C { var x: int; var y: int;
  invariant acc(x);

  method adds(n: int) requires rd(mu) && waitlevel << mu ensures rd(mu)
  { acquire this; x := x + n; release this; }
  method doubles() requires rd(mu) && waitlevel << mu ensures rd(mu)
  { acquire this; x := x * 2; release this; }
  // Both orders are possible, and the results differ.
  method order() {
    var c := new C { x := 1 }; share c;
    fork a := c.adds(1); fork b := c.doubles();
    join a; join b;
    acquire c;
    assert c.x != 3;
    assert c.x != 4;
    assert c.x == 3 || c.x == 4;
    unshare c;
  }

  // A read in between gives any of three values.
  method twice() requires rd(mu) && waitlevel << mu ensures rd(mu)
  { acquire this; x := 1; release this; acquire this; x := 2; release this; }
  method middle() {
    var c := new C { x := 0 }; share c;
    fork a := c.twice();
    acquire c;
    assert c.x != 0; assert c.x != 1; assert c.x != 2;
    release c;
    join a;
  }

  // Nobody may write what others read, whoever is first.
  method writes() requires acc(y, 50) ensures acc(y, 50) { y := 1; }
  method race() {
    var c := new C;
    fork a := c.writes(); fork b := c.writes();
    join a; join b;
  }

  // The first thread waits for the other one, or not.
  method both(o: C) requires o != null && rd(mu) && rd(o.mu) ensures rd(mu) && rd(o.mu)
  { acquire this; acquire o; release o; release this; }
  method circle() {
    var c := new C; share c; var d := new C; share d;
    fork a := c.both(d); fork b := d.both(c);
    join a; join b;
  }

  // Two read at a time, one writes.
  method reads() requires rd(mu) && waitlevel << mu ensures rd(mu)
  { rd acquire this; assert x != 5; rd release this; }
  method readers() {
    var c := new C { x := 0 }; share c;
    fork a := c.reads(); fork b := c.reads();
    acquire c; c.x := 5; release c;
    join a; join b;
  }

  // Only the owner of the permission goes on.
  method gives() requires acc(y) ensures acc(y) && y == 2 { y := 2; }
  method joined() {
    var c := new C { y := 1 };
    fork a := c.gives();
    join a;
    assert c.y == 2;
  }
}
channel Numbers(n: int);
class P {
  method sends(c: Numbers, n: int) requires c != null ensures credit(c) { send c(n); }
  // The first message is one of two.
  method main() {
    var c := new Numbers;
    fork a := sends(c, 1); fork b := sends(c, 2);
    join a; join b; var one: int; var two: int;
    receive one := c; receive two := c;
    assert one != 1; assert one != 2; assert one + two == 3;
  }
  method takes(c: Numbers) requires c != null && credit(c) && rd(c.mu) && waitlevel << c.mu ensures rd(c.mu)
  { var n: int; receive n := c; assert n != 2; }
  // Either of two gets the second message.
  method two() {
    var c := new Numbers;
    fork a := takes(c); fork b := takes(c);
    send c(1); send c(2);
    join a; join b;
  }
  method waits(c: Numbers, d: Numbers)
    requires c != null && d != null && credit(c) && rd(c.mu) && waitlevel << c.mu && waitlevel << d.mu
    ensures rd(c.mu)
  { var n: int; receive n := c; send d(n); }
  // Nobody begins.
  method starved() {
    var c := new Numbers; var d := new Numbers;
    fork a := waits(c, d); fork b := waits(d, c);
    join a; join b;
  }
}";

fn explored(code: &Code, entry: &str, everywhere: bool) -> Explored {
    let method = code.method(entry).expect("there is such a method");
    let config = Config {
        preempt_everywhere: everywhere,
        keep_going: true,
        visible_steps: 200,
        ..Config::default()
    };
    let machine = entry::start(code, method, &config, &[]).expect("it starts");
    let limits = Limits { schedules: 60_000, preemptions: None, keep_going: true, deadline: None };
    explore(&machine, limits)
}

#[test]
fn interruptions_everywhere_show_nothing_else() {
    let text = format!("// chalice-parameter=-noDeadlockChecks\n{TEXT}");
    let sources = Sources::new(vec![("a".to_owned(), text)]);
    let (program, found) = sources.check();
    let program = program.unwrap_or_else(|| panic!("{found:?}"));
    let code = Code::new(program, sources.options());
    let cases: [(&str, &[&str]); 9] = [
        ("C.order", &["assert.failed:assertion.false"; 2]),
        ("C.middle", &["assert.failed:assertion.false"; 3]),
        ("C.race", &["assignment.failed:insufficient.permission"]),
        ("C.circle", &["deadlock"]),
        ("C.readers", &["assert.failed:assertion.false"]),
        ("C.joined", &[]),
        ("P.main", &["assert.failed:assertion.false"; 2]),
        ("P.two", &["assert.failed:assertion.false"]),
        ("P.starved", &["deadlock"]),
    ];
    for (entry, expected) in cases {
        let few = explored(&code, entry, false);
        let all = explored(&code, entry, true);
        let ids: Vec<_> = few.failures.keys().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, expected, "{entry}: {:?}", few.failures);
        assert!(all.schedules < 60_000, "{entry}: not all were seen");
        assert!(few.schedules <= all.schedules, "{entry}: more orders than there are");
        assert!(few.failures.keys().eq(all.failures.keys()), "{entry}: {:?}", all.failures);
        let verdicts =
            |explored: &Explored| explored.verdicts.keys().copied().collect::<BTreeSet<Verdict>>();
        assert_eq!(verdicts(&few), verdicts(&all), "{entry}");
    }
}
