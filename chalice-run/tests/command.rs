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
          = 50% of C#1.x is with thread 0, C.main
          = 50% of C#1.x is with nobody any more: C.half has left it behind
          = in thread 0, C.main
          = c = C#1
          = after 4 steps

        note: permission was left behind to 1 locations, the first is C#1.x
        C.main: failed (4 steps, 3 checks)
    "]].assert_eq(&failed.stderr);
    let json = run_on(text, &["--message-format", "json"]);
    let untimed = json.stdout.split(",\"time_ms\"").next().unwrap_or_default().to_owned();
    expect_test::expect![[r#"
        {"end":{"column":57,"line":3},"file":"<stdin>","held":[{"amount":"50%","holder":"thread 0, C.main","location":"C#1.x","since":null},{"amount":"50%","holder":"nobody any more: C.half has left it behind","location":"C#1.x","since":null}],"id":"assignment.failed:insufficient.permission","message":"no permission to write: 100% of C#1.x is needed","notes":[],"schedule":"-","severity":"error","start":{"column":49,"line":3},"step":4,"thread":{"forked":null,"method":"C.main","path":"0"},"type":"check","v":1,"values":[{"name":"c","value":"C#1"}]}
        {"checks":3,"complete":true,"entry":"C.main","file":"<stdin>","inputs":0,"leaked":["C#1.x"],"results":[],"schedule":"-","schedules":1,"seed":0,"skipped":0,"start":null,"steps":4"#]].assert_eq(&untimed);
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
