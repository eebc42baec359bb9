//! The command as it is used: what it prints, and its exit codes.

use std::io::Write;
use std::process::{Command, Stdio};

const LOCKED: &str = "class Cell { var x: int;
  invariant acc(x);
  method add(n: int) requires rd(mu) && waitlevel << mu ensures rd(mu)
  {
    acquire this;
    x := x + n;
    release this;
  }
  method main()
  {
    var c := new Cell { x := 1 };
    share c;
    fork t := c.add(2);
    call c.add(3);
    join t;
    acquire c;
    assert c.x == 6;
    unshare c;
  }
  method wrong(n: int) requires 0 <= n
  {
    assert n != 2;
  }
  method endless() { while (true) { } }
  method quantified(n: int) { assert forall i: int :: i * i >= 0; }
  method leaks() { var c := new Cell; c.x := 1; }
}
";

#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run_on(text: &str, arguments: &[&str]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_chalice-run"))
        .arg("-")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that does not read closes the pipe: its right.
    let _ = child.stdin.take().expect("it is a pipe").write_all(text.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    Run {
        code: output.status.code().expect("it is not killed"),
        stdout: String::from_utf8(output.stdout).expect("it writes UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("it writes UTF-8"),
    }
}

fn run(arguments: &[&str]) -> Run {
    run_on(LOCKED, arguments)
}

#[test]
fn exit_codes_say_what_came_of_it() {
    for (arguments, code) in [
        (&["--entry", "Cell.main"][..], 0),
        (&["--entry", "Cell.main", "--schedules", "all"], 0),
        (&["--entry", "Cell.wrong", "--", "2"], 1),
        (&["--entry", "Cell.wrong", "--", "1"], 0),
        (&["--entry", "Cell.wrong", "--generate", "--scope", "1,3,1,1"], 1),
        (&["--entry", "Cell.leaks"], 0),
        (&["--entry", "Cell.leaks", "--leaks", "error"], 1),
        (&["--entry", "Cell.nowhere"], 2),
        (&["--entry", "Cell.wrong", "--", "2", "3"], 2),
        (&["--entry", "Cell.main", "--schedule", "x"], 2),
        (&["--entry", "Cell.main", "--schedule", "99.99.99"], 2),
        (&["--entry", "Cell.leaks", "--schedule", "-"], 0),
        (&["--entry", "Cell.leaks", "--schedule", "0"], 2),
        (&["--entry", "Cell.main", "--schedule", "0", "--schedules", "all"], 2),
        (&["--entry", "Cell.leaks", "--schedule", "0", "--generate"], 2),
        (&["--start", "0"], 2),
        (&["--entry", "Cell.wrong", "--start", "0.x"], 2),
        (&["--nonsense"], 2),
        (&["--entry", "Cell.endless", "--steps", "100"], 4),
        (&["--entry", "Cell.endless", "--seconds", "0"], 4),
        (&["--entry", "Cell.quantified", "--", "1"], 4),
        (&["--entry", "Cell.main", "--schedules", "1"], 4),
        (&["--generate", "--seconds", "0"], 4),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}{}", run.stdout, run.stderr);
    }
    let rejected = run_on("class C { method m() { x := 1 } }", &[]);
    assert_eq!(rejected.code, 3);
    assert!(rejected.stderr.contains("error"), "{}", rejected.stderr);
}

#[test]
fn a_loop_that_goes_round_is_told_from_a_long_one() {
    let endless = run(&["--entry", "Cell.endless"]);
    assert!(endless.stderr.contains("the run was ended: this loop does not end"), "{endless:?}");
    assert!(endless.stderr.contains("Cell.endless: bounded ("), "{endless:?}");
    let circles = include_str!("../programs/loops/circles.chalice");
    for (entry, words) in [
        ("Loop.still", "this loop does not end"),
        ("Loop.circle", "this loop does not end"),
        ("Loop.writes_the_same", "this loop does not end"),
        ("Loop.counts", "the run was ended: steps"),
        ("Loop.counts_in_the_heap", "the run was ended: steps"),
    ] {
        let ended = run_on(circles, &["--entry", entry, "--steps", "9000"]);
        assert_eq!(ended.code, 4, "{ended:?}");
        assert!(ended.stderr.contains(words), "{entry}: {ended:?}");
    }
}

#[test]
fn a_function_that_goes_round_is_told_from_a_deep_one() {
    let text = include_str!("../programs/functions/functions_that_do_not_end.chalice");
    for (entry, words) in [
        ("C.circle", "a function applies itself to the same arguments for ever"),
        ("C.away", "the run was ended: a function does not end"),
    ] {
        let ended = run_on(text, &["--entry", entry]);
        assert_eq!(ended.code, 4, "{ended:?}");
        assert!(ended.stderr.contains(words), "{entry}: {ended:?}");
    }
}

#[test]
fn what_is_taken_for_granted_is_said() {
    let text = "external class Clock { method now() returns (r: int) { r := 5; } }
      class C { var x: int; function get(): int requires rd(x) { x } function one(): int { 1 }
      method asks() { var c := new Clock; var t: int; call t := c.now(); call t := c.now(); }
      method reads() requires acc(x) { assert get() == x; }
      method plain() { assert one() == 1; } }";
    let external = "note: Clock.now is external: its body is taken as written\n";
    let reads =
        "note: what C.get reads was not compared with the precondition: --check-functions does\n";
    let asks = run_on(text, &["--entry", "C.asks"]);
    assert_eq!((asks.code, asks.stderr.matches(external).count()), (0, 1), "{asks:?}");
    let unchecked = run_on(text, &["--entry", "C.reads"]);
    assert!(unchecked.stderr.contains(reads), "{unchecked:?}");
    for arguments in [&["--entry", "C.reads", "--check-functions"][..], &["--entry", "C.plain"]] {
        let silent = run_on(text, arguments);
        assert!(!silent.stderr.contains("note:"), "{silent:?}");
    }
    let json = run_on(text, &["--entry", "C.asks", "--message-format", "json"]).stdout;
    assert!(
        json.contains(r#""granted":["Clock.now is external: its body is taken as written"]"#),
        "{json}"
    );
}

#[test]
fn a_start_that_is_not_found_may_be_there() {
    let text =
        "class C { var x: int; method main() requires acc(x) && x * x == 1369 && x > 0 { } }";
    let unfound = run_on(text, &[]);
    let words = "chalice-run: no start within the bounds was found that satisfies the precondition of C.main\n";
    assert_eq!((unfound.code, unfound.stderr.as_str()), (4, words));
    let unfound = run_on(text, &["--generate", "--scope", "1,2,1,1"]);
    assert_eq!(unfound.code, 4);
    assert!(unfound.stderr.contains("none within the bounds"), "{}", unfound.stderr);
}

#[test]
fn a_schedule_has_to_fit() {
    let wrong = run(&["--entry", "Cell.main", "--schedule", "99"]);
    assert!(wrong.stderr.contains("decision 1 is 99, and there were 2"), "{}", wrong.stderr);
    let long = run(&["--entry", "Cell.leaks", "--schedule", "0.0"]);
    assert!(long.stderr.contains("it has 2 decisions, and the run took 0"), "{}", long.stderr);
}

#[test]
fn the_same_decisions_give_the_same_bytes() {
    for arguments in [
        &["--entry", "Cell.main", "--schedule", "seed:7", "--trace", "sync", "--show-state"][..],
        &["--generate", "--seed", "4", "--inputs", "20", "--keep-going"],
        &["--entry", "Cell.main", "--schedules", "all"],
    ] {
        let (one, two) = (run(arguments), run(arguments));
        assert_eq!((one.code, one.stdout, one.stderr), (two.code, two.stdout, two.stderr));
    }
}

#[test]
fn a_generated_start_is_run_again_as_it_was() {
    let found = run(&["--entry", "Cell.wrong", "--generate", "--message-format", "json"]);
    let line = |text: &str, kind: &str| -> serde_json::Value {
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
        let mut lines = lines.filter(|line: &serde_json::Value| line["type"] == kind);
        lines.next().expect("there is such a line")
    };
    let check = line(&found.stdout, "check");
    assert_eq!((found.code, check["id"].as_str()), (1, Some("assert.failed:assertion.false")));
    let start = check["schedule"].as_str().expect("a text");
    let again = run(&["--entry", "Cell.wrong", "--start", start, "--message-format", "json"]);
    assert_eq!((again.code, line(&again.stdout, "check")), (1, check));
}

#[test]
fn contracts_may_take_the_place_of_code() {
    let text = "class Cell { var x: int;
  method weak() requires acc(x) ensures acc(x) { x := 1; }
  method caller() requires acc(x) {
    call weak();
    assert x == 1;
  }
}
";
    let caller = ["--entry", "Cell.caller", "--generate", "--message-format", "json"];
    let found = |more: &[&str]| {
        let run = run_on(text, &[&caller[..], more].concat());
        let lines = run.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
        (run.code, lines.collect::<Vec<serde_json::Value>>())
    };
    assert_eq!(found(&[]).0, 0);
    let (code, lines) = found(&["--by-contract", "4"]);
    assert_eq!((code, lines[0]["id"].as_str()), (1, Some("assert.failed:assertion.false")));
    assert_eq!(lines[0]["start"]["line"], 5);
    let start = lines[0]["schedule"].as_str().expect("a text");
    let again = run_on(
        text,
        &["--entry", "Cell.caller", "--start", start, "--by-contract", "4:5", "--trace"],
    );
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("from what is around the program to Cell.caller"), "{again:?}");
    assert!(again.stderr.contains("skipped: code behind contracts"), "{again:?}");
    // A method that passes then is no proof that its code does.
    let text = text.replace("assert x == 1", "assert x == x");
    let passed = run_on(&text, &["--entry", "Cell.caller", "--generate", "--by-contract", "all"]);
    assert_eq!(passed.code, 4, "{passed:?}");
    let nowhere = run_on(&text, &["--entry", "Cell.caller", "--generate", "--by-contract", "5"]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
}

#[test]
fn a_trace_says_what_moved_between_whom() {
    let trace = run(&["--entry", "Cell.main", "--trace", "sync"]);
    let expected = expect_test::expect![[r"
        2  0  12:5  share Cell#1: Cell#1.x (100%) from Cell.main to the monitor of Cell#1
        3  0  13:5  fork token<Cell.add>#2: Cell#1.mu (rd) from Cell.main to Cell.add
        5  0  5:5  acquire Cell#1: Cell#1.x (100%) from the monitor of Cell#1 to Cell.add
        7  0  7:5  release Cell#1: Cell#1.x (100%) from Cell.add to the monitor of Cell#1
        9  0.0  5:5  acquire Cell#1: Cell#1.x (100%) from the monitor of Cell#1 to Cell.add
        11  0.0  7:5  release Cell#1: Cell#1.x (100%) from Cell.add to the monitor of Cell#1
        13  0  15:5  join token<Cell.add>#2: Cell#1.mu (rd) from token<Cell.add>#2, until it is joined to Cell.main
        14  0  16:5  acquire Cell#1: Cell#1.x (100%) from the monitor of Cell#1 to Cell.main
        16  0  18:5  unshare Cell#1
        Cell.main: passed (17 steps, 16 checks)
    "]];
    expected.assert_eq(&trace.stderr);
}

/// Threads are columns, and what one has done before another goes on is an arrow.
#[test]
fn a_trace_for_programs_says_what_comes_before_what() {
    let arguments = ["--entry", "Cell.main", "--trace", "sync", "--message-format", "json"];
    for schedule in ["first", "seed:1", "seed:2", "seed:3", "seed:4"] {
        let trace = run(&[&arguments[..], &["--schedule", schedule]].concat()).stdout;
        assert!(trace.starts_with(r#"{"v":1,"type":"trace","step":"#), "{trace}");
        let last = trace.lines().last().expect("a line");
        assert!(last.starts_with(r#"{"v":1,"type":"run","file":"#), "{last}");
        assert!(last.split(',').next_back().is_some_and(|last| last.starts_with(r#""time_ms":"#)));
        let lines: Vec<serde_json::Value> =
            trace.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let clock = |line: &serde_json::Value, thread: usize| {
            line["clock"].get(thread).and_then(serde_json::Value::as_u64).unwrap_or(0)
        };
        let thread = |line: &serde_json::Value| usize::from(line["thread"] == "0.0");
        let mut handed_over = 0;
        for (at, release) in lines.iter().enumerate().filter(|(_, line)| line["op"] == "release") {
            let mut later = lines[at..].iter();
            let acquire = later.find(|line| line["op"] == "acquire").expect("main is the last");
            let releasing = thread(release);
            assert!(clock(release, releasing) > 0, "{release}");
            assert!(clock(acquire, releasing) >= clock(release, releasing), "{release}\n{acquire}");
            handed_over += usize::from(thread(acquire) != releasing);
            // A step before it does not know of it.
            let acquiring = thread(acquire);
            let knows = clock(release, acquiring) < clock(acquire, acquiring);
            assert!(knows, "{release}\n{acquire}");
        }
        assert!(handed_over > 0, "{trace}");
    }
}

/// A field is told with its own value, and not with that of the receiver that nobody has written.
#[test]
fn a_claim_that_fails_is_told_with_the_values_in_it() {
    let text = "class M { var x: int;
  method main() { var m := new M { x := 3 }; call m.dec(5); }
  method dec(n: int) requires acc(x) && n <= x ensures acc(x) { x := x - n; }
}
";
    let failed = run_on(text, &[]);
    assert!(failed.stderr.contains("= it does not hold where n = 5, x = 3\n"), "{failed:?}");
}

#[test]
fn what_goes_wrong_is_shown_with_who_holds_what() {
    let text = "class C { var x: int;
  method half(c: C) requires c != null && acc(c.x, 50) { }
  method main() { var c := new C; call half(c); c.x := 1 }
}
";
    let failed = run_on(text, &[]);
    expect_test::expect![[r"
        error[assignment.failed:insufficient.permission]: this step fails
          ┌─ <stdin>:3:49
          │
        3 │   method main() { var c := new C; call half(c); c.x := 1 }
          │                                                 ^^^^^^^^ no permission to write: 100% of C#1.x is needed
          │
          = no race: if permission is counted by thread, this schedule passes; a contract gives too little
          = 50% of C#1.x is with thread 0, C.main
          = 50% of C#1.x is with nobody any more: C.half has left it behind
          = in thread 0, C.main
          = c = C#1
          = after 4 steps

        note: permission was left behind to 1 location, the first is C#1.x
        C.main: failed (4 steps, 3 checks)
    "]].assert_eq(&failed.stderr);
    let json = run_on(text, &["--message-format", "json"]);
    let untimed = json.stdout.split(",\"time_ms\"").next().unwrap_or_default().to_owned();
    expect_test::expect![[r#"
        {"v":1,"type":"check","file":"<stdin>","severity":"error","id":"assignment.failed:insufficient.permission","message":"no permission to write: 100% of C#1.x is needed","start":{"column":49,"line":3},"end":{"column":57,"line":3},"thread":{"forked":null,"method":"C.main","path":"0"},"notes":[{"at":null,"message":"no race: if permission is counted by thread, this schedule passes; a contract gives too little"}],"values":[{"name":"c","value":"C#1"}],"held":[{"amount":"50%","holder":"thread 0, C.main","location":"C#1.x","since":null},{"amount":"50%","holder":"nobody any more: C.half has left it behind","location":"C#1.x","since":null}],"schedule":"-","step":4}
        {"v":1,"type":"run","file":"<stdin>","entry":"C.main","verdict":"failed","steps":4,"checks":3,"skipped":0,"schedules":1,"inputs":0,"complete":true,"seed":0,"schedule":"-","results":[],"leaked":["C#1.x"],"leaked_count":1,"start":null,"granted":[]"#]].assert_eq(&untimed);
}

#[test]
fn what_threads_did_last_is_shown_where_something_goes_wrong() {
    let text = "class C { var x: int;
  invariant acc(x);
  method adds() requires rd(mu) && waitlevel << mu ensures rd(mu)
  {
    acquire this;
    x := x + 1;
    release this;
  }
  method main()
  {
    var c := new C { x := 0 };
    share c;
    fork a := c.adds();
    acquire c;
    var seen := c.x;
    release c;
    join a;
    assert seen == 0;
  }
}
";
    let failed = run_on(text, &["--schedules", "all"]);
    expect_test::expect![[r"
        error[assert.failed:assertion.false]: assertion does not hold
           ┌─ <stdin>:18:5
           │
        18 │     assert seen == 0;
           │     ^^^^^^^^^^^^^^^^^
           │     │      │
           │     │      this part of it
           │     this does not hold
           │
           = in thread 0, C.main
           = c = C#1, a = token<C.adds>#2, seen = 1
           = after 12 steps; run it again with --schedule 1

        what threads did last that others can notice (step, thread, place):
          2  0  12:5  share C#1: C#1.x (100%) from C.main to the monitor of C#1
          3  0  13:5  fork token<C.adds>#2: C#1.mu (rd) from C.main to C.adds
          4  0.0  5:5  acquire C#1: C#1.x (100%) from the monitor of C#1 to C.adds
          6  0.0  7:5  release C#1: C#1.x (100%) from C.adds to the monitor of C#1
          8  0  14:5  acquire C#1: C#1.x (100%) from the monitor of C#1 to C.main
          10  0  16:5  release C#1: C#1.x (100%) from C.main to the monitor of C#1
          11  0  17:5  join token<C.adds>#2: C#1.mu (rd) from token<C.adds>#2, until it is joined to C.main

        C.main: failed (12 steps, 11 checks, 2 schedules, not all)
    "]].assert_eq(&failed.stderr);
    // A lock that is held by nobody who could let go of it.
    let text = "// chalice-parameter=-noDeadlockChecks
class C {
  method first(o: C) requires o != null && rd(mu) && rd(o.mu) { acquire this; acquire o; release o; release this; }
  method main() {
    var c := new C; share c; var d := new C; share d;
    fork c.first(d); fork d.first(c);
  }
}
";
    let failed = run_on(text, &["--schedules", "all", "--show-state"]);
    assert_eq!(failed.code, 1);
    expect_test::expect![[r"
        error[deadlock]: threads wait for ever
          ┌─ <stdin>:3:79
          │
        3 │   method first(o: C) requires o != null && rd(mu) && rd(o.mu) { acquire this; acquire o; release o; release this; }
          │                                                                               ^^^^^^^^^^
          │                                                                               │
          │                                                                               threads wait for each other
          │                                                                               thread 0.1 waits for the lock of C#1, held by thread 0.0
          │                                                                               thread 0.0 waits for the lock of C#2, held by thread 0.1
          │
          = in thread 0.0 (forked at 6:5), C.first
          = o = C#2
          = after 9 steps; run it again with --schedule 0.1

        what threads did last that others can notice (step, thread, place):
          2  0  5:21  share C#1
          4  0  5:46  share C#2
          5  0  6:5  fork token<C.first>#3: C#1.mu (rd) from C.main to C.first; C#2.mu (rd) from C.main to C.first
          6  0  6:22  fork token<C.first>#4: C#2.mu (rd) from C.main to C.first; C#1.mu (rd) from C.main to C.first
          8  0.0  3:65  acquire C#1
          9  0.1  3:65  acquire C#2

        note: trusted: that locks are acquired in an order without deadlocks (-noDeadlockChecks)
        C.main: deadlock (9 steps, 6 checks, 2 schedules, not all)
    "]].assert_eq(&failed.stderr);
    let state = run_on(text, &["--schedule", "0", "--show-state=9"]).stderr;
    expect_test::expect![[r"
        C#start:1
          C#start:1.mu = lockbottom  (100% what is around the program)
        C#1
          C#1.mu = a level  (100% - rd - rd nobody any more: C.main has left it behind, rd thread 0.0, C.first, rd thread 0.1, C.first)
        C#2
          C#2.mu = a level  (100% - rd - rd nobody any more: C.main has left it behind, rd thread 0.0, C.first, rd thread 0.1, C.first)
        token<C.first>#3
          token<C.first>#3.joinable = true  (100% nobody any more: C.main has left it behind)
        token<C.first>#4
          token<C.first>#4.joinable = true  (100% nobody any more: C.main has left it behind)
        thread 0 has ended
        thread 0.0 at 3:90
          holds C#1
          holds C#2
          in C.first: o = C#2
        thread 0.1 at 3:65
          in C.first: o = C#1
        note: permission was left behind to 2 locations, the first is C#1.mu
        note: trusted: that locks are acquired in an order without deadlocks (-noDeadlockChecks)
        C.main: passed (17 steps, 6 checks)
    "]].assert_eq(state.split("error").next().unwrap_or_default());
}

#[test]
fn the_state_is_shown_after_any_step() {
    let text =
        "class C { var x: int; method main() { var c := new C; c.x := 1; c.x := 2; c.x := 3 } }";
    let after = |step: &str| run_on(text, &[&format!("--show-state={step}")]).stderr;
    for (step, value) in [("2", "C#1.x = 1"), ("3", "C#1.x = 2"), ("9", "C#1.x = 3")] {
        assert!(after(step).contains(value), "{}", after(step));
    }
    assert!(run_on(text, &["--show-state"]).stderr.contains("C#1.x = 3"));
}

#[test]
fn colours_are_used_where_they_are_wanted() {
    let arguments = ["--entry", "Cell.wrong", "--color"];
    let run = |when: &'static str| run(&[&arguments[..], &[when, "--", "2"]].concat()).stderr;
    assert!(run("always").contains('\u{1b}'));
    assert!(!run("never").contains('\u{1b}'));
    assert_eq!(run("auto"), run("never"));
}

#[test]
fn folding_may_be_ignored() {
    let text = "class C { var x: int;
  predicate P { acc(x) }
  method use() requires P ensures P { x := 1 }
  method twice() { var c := new C; fold c.P; call c.use(); c.x := 2; call c.use() }
  method lacking() { var c := new C; call gives(c); fold c.P }
  method gives(c: C) requires c != null && acc(c.x, 1) { }
}
";
    let tracked = run_on(text, &["--entry", "C.twice"]);
    assert!(tracked.stderr.contains("assignment.failed:insufficient.permission"), "{tracked:?}");
    assert_eq!(run_on(text, &["--entry", "C.twice", "--fold", "ignore"]).code, 0);
    let thread = ["--entry", "C.twice", "--fold", "ignore", "--view", "thread"];
    assert_eq!(run_on(text, &thread).code, 0);
    let lacking = run_on(text, &["--entry", "C.lacking", "--fold", "ignore"]);
    assert_eq!(lacking.code, 1);
    assert!(lacking.stderr.contains("fold.failed:insufficient.permission"), "{lacking:?}");
}

#[test]
fn a_predicate_that_contains_itself_has_no_content() {
    let text = "class C { var next: C;
  predicate P { acc(next) && (next != null ==> next.P) }
  method main() { var c := new C; c.next := c; fold c.P }
}
";
    let run = run_on(text, &["--fold", "ignore"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("fold.failed:insufficient.permission"), "{run:?}");
}

#[test]
fn without_checks_nothing_passes() {
    let text = "class C { var x: int;
  invariant acc(x)
  method weak() ensures x == 7 { x := 1 }
  method main() returns (r: int) { var c := new C; share c; c.x := 2; call c.weak(); assert c.x == 5; r := c.x }
  method nothing() { var c: C; c := null; c.x := 1 }
  method once(c: C) { acquire c; c.x := c.x + 1; release c; release c }
}
";
    assert_eq!(run_on(text, &[]).code, 1);
    let free = run_on(text, &["--no-checks"]);
    assert_eq!(free.code, 4, "{free:?}");
    assert!(
        free.stderr.contains("r = 1") && free.stderr.contains("skipped: all checks"),
        "{free:?}"
    );
    assert_eq!(run_on(text, &["--no-checks", "--schedules", "all"]).code, 4);
    // A call that no program can make is wrong all the same.
    assert_eq!(run_on(text, &["--no-checks", "--entry", "C.nothing"]).code, 1);
}

#[test]
fn ghosts_may_be_left_out() {
    let text = "class C { var x: int; ghost var g: int;
  method main() { var c := new C; c.g := 1; ghost var k: int := c.g; assert c.g == 2 && c.x == 0 }
  method plain() { var c := new C; c.x := 1; assert c.x == 1 }
  method wrong() { var c := new C; c.g := 1; assert c.x == 3 && c.g == 1 }
  method decides() { var c := new C; assert c.g == 0 ==> acc(c.x) }
}
";
    assert_eq!(run_on(text, &["--entry", "C.main"]).code, 1);
    let without =
        text.replace("  method decides() { var c := new C; assert c.g == 0 ==> acc(c.x) }\n", "");
    let erased = run_on(&without, &["--entry", "C.main", "--erase-ghost"]);
    assert_eq!(erased.code, 4, "{erased:?}");
    assert!(erased.stderr.contains("ghost.erased") && !erased.stderr.contains("all checks"));
    let wrong = run_on(&without, &["--entry", "C.wrong", "--erase-ghost"]);
    assert!(wrong.stderr.contains("assert.failed:assertion.false"), "{wrong:?}");
    // Where ghosts decide who holds what, nothing can be checked without them.
    let undecided = run_on(text, &["--entry", "C.plain", "--erase-ghost"]);
    assert!(undecided.stderr.contains("all checks"), "{undecided:?}");
}

#[test]
fn what_old_reads_is_checked_if_asked_for() {
    let text = "class C { var x: int;
  method none(c: C) ensures c != null ==> old(c.x) == old(c.x) { }
  method some(c: C) requires c != null && rd(c.x) ensures rd(c.x) && c.x == old(c.x) { }
  predicate P { acc(x) }
  method folded(c: C) requires c != null && c.P ensures c.P && old(unfolding c.P in c.x) == 0 { }
  method main() { var c := new C; call some(c); call none(c) }
  method inside() { var c := new C; fold c.P; call folded(c) }
}
";
    assert_eq!(run_on(text, &[]).code, 0);
    let checked = run_on(text, &["--check-old"]);
    assert_eq!(checked.code, 1);
    assert!(
        checked.stderr.contains("postcondition.violated:insufficient.permission"),
        "{checked:?}"
    );
    assert_eq!(run_on(text, &["--check-old", "--entry", "C.inside"]).code, 0);
}

#[test]
fn the_use_of_what_nobody_gave_is_told() {
    let text = "class C { var x: int;
  method main() {
    var n: int;
    var copy := n;
    var c := new C;
    c.x := copy;
    if (c.x == 0) { }
    var m: int;
    m := 1;
    assert m == 1;
  }
  method yields() returns (r: int) { }
  method caller() { var r: int; call r := yields(); assert r == 0 }
}
";
    let plain = run_on(text, &["--undefined", "zero"]);
    assert!(!plain.stderr.contains("warning"), "{plain:?}");
    for arguments in [&[][..], &["--undefined", "report"], &["--schedules", "all"]] {
        let told = run_on(text, arguments);
        assert_eq!(told.code, 0);
        assert!(told.stderr.contains("<stdin>:7:9: warning"), "{told:?}");
        assert_eq!(told.stderr.matches("warning").count(), 1, "{told:?}");
    }
    let caller = run_on(text, &["--entry", "C.caller", "--undefined", "report"]);
    assert!(caller.stderr.contains("<stdin>:13:60: warning"), "{caller:?}");
    let json = run_on(text, &["--undefined", "report", "--message-format", "json"]);
    assert!(json.stdout.contains("\"type\":\"undefined\""), "{json:?}");
}

#[test]
fn a_run_goes_on_behind_asserts_if_wanted() {
    let text = "class C { method main() { assert 1 == 2; assert 2 == 2; assert 3 == 4 } }\n";
    let one = run_on(text, &[]);
    assert_eq!(one.stderr.matches("error[assert.failed:assertion.false]").count(), 1);
    let both = run_on(text, &["--keep-going"]);
    assert_eq!(both.code, 1);
    assert_eq!(both.stderr.matches("error[assert.failed:assertion.false]").count(), 2, "{both:?}");
}
