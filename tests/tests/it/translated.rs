//! Chalice and SPL through the command: their errors are told at their own lines.

use std::path::Path;

use sil_tests::binaries::{self, Scratch};
use sil_tests::sample::{lines, of_type, timeless};

#[test]
fn errors_of_chalice_are_replayed_if_asked_for() {
    let text = "class Cell { var x: int; var next: Cell;\n\
         method m(n: int) requires acc(x) && acc(next) && (next != null ==> acc(next.x))\n\
         {\n  assert next != null && n == 7081 ==> next.x != 3301;\n}\n\
         method weak() requires acc(x) ensures acc(x) { x := 1; }\n\
         method caller() requires acc(x)\n{\n  call weak();\n  assert x == 1;\n}\n\
         method open(s: seq<int>)\n  requires forall i: int :: i >= 0 && i * i <= 16 ==> i in s\n{\n  assert |s| > 4;\n}\n\
         method beside(s: seq<int>)\n{\n  assert |s| != 40; assert |s| != 1;\n} }\n";
    let scratch = Scratch::new(&[("a.chalice", text.as_bytes())]);
    let found = timeless(&scratch.silicon(&["a.chalice", "--message-format", "json", "--replay"]));
    let replays: Vec<_> = found.iter().filter_map(|line| line.get("replay")).collect();
    assert_eq!(replays.len(), 5, "{found:?}");
    // No start has as many elements. That something else goes wrong on the same line is no replay
    // of it.
    assert_eq!(replays[3]["verdict"], "none", "{replays:?}");
    assert_eq!(replays[4]["verdict"], "whole", "{replays:?}");
    assert_eq!(replays[0]["verdict"], "whole");
    assert!(replays[0]["start"].as_str().expect("a text").contains("n = 7081"), "{replays:?}");
    assert_eq!(replays[1]["verdict"], "contract");
    let blamed =
        serde_json::json!([{ "contract": "method", "name": "Cell.weak", "line": 6, "used": 9 }]);
    assert_eq!(replays[1]["blame"], blamed, "{replays:?}");
    assert_eq!(replays[2]["verdict"], "none");
    let plain = timeless(&scratch.silicon(&["a.chalice", "--message-format", "json"]));
    assert!(plain.iter().all(|line| line.get("replay").is_none()), "{plain:?}");
    // So are those of direct execution.
    let direct = ["a.chalice", "--message-format", "json", "--replay", "--direct"];
    let direct = timeless(&scratch.silicon(&direct));
    let verdicts: Vec<_> =
        direct.iter().filter_map(|line| line.get("replay")).map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["whole", "contract", "none", "none", "whole"], "{direct:?}");
    // The message leads to the run.
    let people = scratch.silicon(&["a.chalice", "--replay"]).stdout;
    assert!(people.contains("not reproduced: none of"), "{people}");
    assert!(
        people.contains("the postcondition of Cell.weak (line 6, used in line 9) allows it"),
        "{people}"
    );
    let commands: Vec<_> = people.split("chalice-run ").skip(1).collect();
    assert_eq!(commands.len(), 3, "{people}");
    let lines = ["a.chalice:4:3", "a.chalice:10:3", "a.chalice:19:21"];
    for (command, line) in commands.iter().zip(lines) {
        let arguments: Vec<_> =
            command.lines().next().unwrap_or_default().split_whitespace().collect();
        let run = binaries::run("chalice-run", &arguments, scratch.path(), b"");
        assert_eq!(run.code, Some(1), "{run:#?}");
        assert!(run.stderr.contains("assert.failed:assertion.false"), "{run:#?}");
        assert!(run.stderr.contains(line), "{run:#?}");
    }
}

/// Methods whose errors need a state at a loop that no run leads to: the callee never gives the
/// number that they need, and nothing says later what it would have been.
const BEHIND_LOOPS: &str = "class Cell {
  var value: int; var next: Cell;
  predicate valid { acc(value) && acc(next) && (next != null ==> next.valid) }
  function sum(): int requires valid { unfolding valid in value + (next == null ? 0 : next.sum()) }
  method five() returns (r: int) { r := 5 }
  method weak() requires acc(value) ensures acc(value) {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) invariant acc(value) && old(value) <= value { i := i + 1; }
    assert b != 63505 || value != 797 + old(value);
  }
  method nested() requires acc(value) {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) invariant acc(value) && 0 <= i {
      i := i + 1; var j := 0;
      while (j < 3) invariant acc(value) && 0 <= j {
        j := j + 1; assert b != 63505 || value != 777; } } }
  method folded() requires valid {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) invariant valid && 0 <= i { i := i + 1; assert b != 63505 || sum() != 3; } }
  method reads(c: Cell) requires rd(value) && c != null && acc(c.value, 40) {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) invariant rd(value) && rd(c.value) { i := i + 1; assert b != 63505 || value == c.value; } }
  method calls() requires acc(value) {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) invariant acc(value) {
      i := i + 1; call a := five(); assert b != 63505 || a == 5; } }
";

/// Methods with a loop whose counterexample is no state, or says too little of one.
const NOT_BEHIND_LOOPS: &str = "  method unreal(s: seq<int>) {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    assume b == 63505 ==> forall j: int :: 0 <= j && j * j <= 3000 ==> j in s;
    while (i < 9) invariant b == 63505 ==> forall j: int :: 0 <= j && j * j <= 3000 ==> j in s
    { i := i + 1; }
    assert b != 63505 || |s| > 53; }
  method around() requires valid {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) { i := i + 1; assert b != 63505; } }
  method locks() {
    var a: int; call a := five(); var b := 3 * a + 1; a := 0; var i := 0;
    while (i < 9) { i := i + 1; assert b != 63505; }
    var o := new Cell; share o; }
}
";

#[test]
fn errors_behind_loops_are_replayed_from_the_loop_on() {
    let text = [BEHIND_LOOPS, NOT_BEHIND_LOOPS].concat();
    let scratch = Scratch::new(&[("a.chalice", text.as_bytes())]);
    let found = timeless(&scratch.silicon(&["a.chalice", "--message-format", "json", "--replay"]));
    let replay = |method: &str| {
        let is_it = |line: &&serde_json::Value| {
            line["member"] == method && line["id"] == "assert.failed:assertion.false"
        };
        let line = found.iter().find(is_it).unwrap_or_else(|| panic!("{method}: {found:#?}"));
        (&line["replay"], &line["counterexample"]["forgotten"])
    };
    let loops = [
        ("Cell.weak", 8),
        ("Cell.nested", 15),
        ("Cell.folded", 19),
        ("Cell.reads", 22),
        ("Cell.calls", 25),
    ];
    for (method, line) in loops {
        let (replay, forgotten) = replay(method);
        assert_eq!(replay["verdict"], "segment", "{method}: {replay:#}");
        assert_eq!(
            (&replay["line"], &forgotten["line"]),
            (&line.into(), &line.into()),
            "{replay:#}"
        );
        let own = serde_json::json!(
            { "contract": "loop", "name": method, "line": line, "used": line });
        assert_eq!(replay["blame"][0], own, "{replay:#}");
        let start = replay["start"].as_str().expect("a text");
        assert!(start.contains("b = 63505"), "{start}");
        // The message leads to the run.
        let again = replay["again"].as_str().expect("a text");
        let arguments: Vec<_> = again.split(' ').collect();
        let run = binaries::run("chalice-run", &arguments, scratch.path(), b"");
        assert_eq!(run.code, Some(1), "{again}\n{run:#?}");
        assert!(run.stderr.contains("assert.failed:assertion.false"), "{run:#?}");
        // In a state that is allowed and does no harm, nothing fails there, and nothing has passed.
        let harmless = again.split(" --start").next().expect("there is one").replace("63505", "16");
        let arguments: Vec<_> = harmless.split(' ').collect();
        let run = binaries::run("chalice-run", &arguments, scratch.path(), b"");
        assert_eq!(run.code, Some(4), "{harmless}\n{run:#?}");
        assert!(run.stderr.contains("skipped: what comes before the loop"), "{run:#?}");
    }
    let (weak, _) = replay("Cell.weak");
    assert!(
        weak["start"].as_str().expect("a text").contains("old(Cell#start:1.value) = "),
        "{weak:#}"
    );
    // The callee does not return it either, but its contract allows it.
    let (calls, _) = replay("Cell.calls");
    assert_eq!(calls["blame"].as_array().map(Vec::len), Some(2), "{calls:#}");
    let reasons = [
        (
            "Cell.unreal",
            "the solver's state there is none, as `b == 63505 ==> forall j: int :: 0 <= j && j * j <= 3000 ==> \
             j in s` does not hold in it",
        ),
        ("Cell.around", "more is held there than the solver's state describes"),
        ("Cell.locks", "the method uses locks or their order"),
    ];
    for (method, why) in reasons {
        let (replay, _) = replay(method);
        assert_eq!(replay["verdict"], "none", "{method}: {replay:#}");
        assert_eq!(replay["segment"]["why"], why, "{method}");
    }
    let people = scratch.silicon(&["a.chalice", "--replay"]).stdout;
    assert!(
        people.contains("; the invariant of the loop in line 8 allows it; run it again with"),
        "{people}"
    );
    assert!(
        people.contains("; not from line 30 on: the solver's state there is none, as `b =="),
        "{people}"
    );
}

const CHALICE_FAILS: &str = "class C {\n  var f: int;\n  method m()\n    requires acc(f)\n  {\n    f := 1;\n    assert f == 2;\n  }\n}\n";

#[test]
fn chalice_is_verified_alike_in_process_and_through_a_pipe() {
    let scratch = Scratch::new(&[("c.chalice", CHALICE_FAILS.as_bytes())]);
    let direct = scratch.silicon(&["--message-format", "json", "c.chalice"]);
    assert_eq!(direct.code, Some(1), "{direct:#?}");
    let failures = lines(&direct);
    let failures = of_type(&failures, "diagnostic");
    assert_eq!(failures.len(), 1, "{direct:#?}");
    assert_eq!(failures[0]["id"], "assert.failed:assertion.false");
    assert_eq!(failures[0]["start"]["line"], 7);
    assert!(failures[0]["generated"]["start"]["line"].is_number());
    for form in ["graph", "structured"] {
        let translated =
            binaries::run("chalice2sil", &["--form", form, "c.chalice"], scratch.path(), b"");
        assert_eq!(translated.code, Some(0), "{translated:#?}");
        let piped = binaries::run(
            "silicon",
            &["--message-format", "json", "-"],
            scratch.path(),
            translated.stdout.as_bytes(),
        );
        assert_eq!(piped.code, Some(1), "{piped:#?}");
        let piped = lines(&piped);
        let piped = of_type(&piped, "diagnostic");
        for field in ["file", "id", "message", "start", "end"] {
            assert_eq!(piped[0][field], failures[0][field], "{form}");
        }
    }
}

/// An error of an invariant is told of the invariant; its consequence for an acquire is not.
#[test]
fn what_follows_from_another_error_is_not_said() {
    let program = "class C {\n  var f: int;\n  invariant f > 0;\n  \
        method m() requires rd(mu) && waitlevel << mu { acquire this; release this; }\n}\n";
    let scratch = Scratch::new(&[("c.chalice", program.as_bytes())]);
    let run = scratch.silicon(&["--message-format", "json", "c.chalice"]);
    let failures = lines(&run);
    let failures = of_type(&failures, "diagnostic");
    assert_eq!(failures.len(), 1, "{run:#?}");
    assert_eq!(failures[0]["id"], "not.wellformed:insufficient.permission");
    assert_eq!(failures[0]["start"]["line"], 3);
}

#[test]
fn texts_are_quoted_from_the_program_that_was_written() {
    let scratch = Scratch::new(&[("c.chalice", CHALICE_FAILS.as_bytes())]);
    let run = scratch.silicon(&["c.chalice"]);
    assert!(
        run.stdout.contains("c.chalice:7:") && run.stdout.contains("assert f == 2;"),
        "{run:#?}"
    );
}

/// The examples that the manual tells newcomers to run.
#[test]
fn the_examples_do_what_the_manual_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let run = binaries::run("silicon", &["examples/sil"], root, b"");
    assert_eq!(run.code, Some(0), "{run:#?}");
    // The first command of the manual; what the other examples announce is checked with the corpus.
    let run = binaries::run("silicon", &["examples/chalice/counter.chalice"], root, b"");
    assert_eq!(run.code, Some(0), "{run:#?}");
}

const SPL: &str = "include \"lib/cell.spl\"\nprocedure m(c: Cell)\n  requires cell(c)\n{\n  unfold cell(c);\n  assert c.value == 1;\n}\n";

const SPL_CELL: &str = "struct Cell { var value: Int; }\npredicate cell(c: Cell) { acc(c.value) }\nprocedure lose(c: Cell)\n  requires cell(c)\n  ensures !(c == c)\n{ }\n";

#[test]
fn spl_is_verified_with_what_it_includes_and_errors_are_told_where_they_are() {
    let scratch = Scratch::new(&[("m.spl", SPL.as_bytes()), ("lib/cell.spl", SPL_CELL.as_bytes())]);
    let direct = scratch.silicon(&["--message-format", "json", "m.spl"]);
    assert_eq!(direct.code, Some(1), "{direct:#?}");
    let direct = lines(&direct);
    let direct = of_type(&direct, "diagnostic");
    let places: Vec<_> =
        direct.iter().map(|one| (one["file"].as_str(), one["start"]["line"].as_u64())).collect();
    assert_eq!(places, [(Some("lib/cell.spl"), Some(5)), (Some("m.spl"), Some(6))]);
    for form in ["graph", "structured"] {
        let translated = binaries::run("spl2sil", &["--form", form, "m.spl"], scratch.path(), b"");
        assert_eq!(translated.code, Some(0), "{translated:#?}");
        let text = translated.stdout.as_bytes();
        let piped =
            binaries::run("silicon", &["--message-format", "json", "-"], scratch.path(), text);
        let piped = lines(&piped);
        let piped = of_type(&piped, "diagnostic");
        for field in ["file", "id", "message", "start", "end"] {
            for (piped, direct) in piped.iter().zip(&direct) {
                assert_eq!(piped[field], direct[field], "{form}");
            }
        }
    }
    let checked = binaries::run("spl2sil", &["--check", "m.spl"], scratch.path(), b"");
    assert_eq!(checked.stdout, "m.spl: field dialect\n");
}

#[test]
fn what_an_spl_program_leaves_behind_is_an_error_when_asked_for() {
    let program = "struct C { var f: Int; }\npredicate p(c: C) { acc(c.f) }\nprocedure field(c: C) requires acc(c.f) ensures emp { }\nprocedure instance(c: C) requires p(c) { }\nprocedure kept(c: C) requires p(c) ensures p(c) { unfold p(c); fold p(c); }\npredicate q() { emp }\nprocedure one() requires q() { }\nprocedure none() requires q() ensures q() { }\n";
    let scratch = Scratch::new(&[("c.spl", program.as_bytes())]);
    let lines_of_errors = |options: &[&str]| {
        let arguments = [options, &["c.spl"]].concat();
        let translated = binaries::run("spl2sil", &arguments, scratch.path(), b"");
        let text = translated.stdout.as_bytes();
        let run =
            binaries::run("silicon", &["--message-format", "json", "-"], scratch.path(), text);
        let run = lines(&run);
        let found = of_type(&run, "diagnostic");
        found
            .iter()
            .map(|one| (one["id"].to_string(), one["start"]["line"].as_u64()))
            .collect::<Vec<_>>()
    };
    assert_eq!(lines_of_errors(&[]), []);
    let leak = || "\"postcondition.violated:leak\"".to_owned();
    assert_eq!(lines_of_errors(&["--leaks"]), [3, 4, 7].map(|line| (leak(), Some(line))));
}
