//! The commands from outside: exit codes, formats, standard input and output.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use sil_tests::binaries::{self, Run, Scratch};

const VERIFIES: &str = "method m(x: Int)\n  requires 0 < x\n{\n  assert x != 0\n}\n";
const FAILS: &str = "method m(x: Int)\n{\n  assert x != 0\n}\n";
const ILL_TYPED: &str = "method m(x: Int)\n{\n  assert x\n}\n";

fn programs() -> Scratch {
    Scratch::new(&[
        ("good.sil", VERIFIES.as_bytes()),
        ("bad.vpr", FAILS.as_bytes()),
        ("ill.sil", ILL_TYPED.as_bytes()),
        ("latin.sil", b"method m()\n{ var \xe4: Int }\n"),
        ("empty.sil", b""),
        ("comments.vpr", b"// nothing\n/* to verify */\n"),
        ("fields.sil", b"field f: Int\n"),
        ("macros.vpr", b"define twice(x) (x + x)\n"),
        ("importing.vpr", b"import \"macros.vpr\"\n"),
        ("class.chalice", b"class C { }\n"),
        ("empty.chalice", b"// nothing\n"),
        ("struct.spl", b"struct S { var x: Int; }\n"),
        ("empty.spl", b""),
        ("notes.txt", b"no program"),
    ])
}

fn lines(run: &Run) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"));
    run.stdout.lines().map(parse).collect()
}

/// The lines of a run without what may differ between two runs.
fn timeless(run: &Run) -> Vec<Value> {
    let mut lines = lines(run);
    for line in &mut lines {
        let fields = line.as_object_mut().expect("each line is an object");
        fields.retain(|name, _| !name.ends_with("_ms"));
    }
    lines
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

#[test]
fn exit_codes_say_what_happened() {
    let scratch = programs();
    for (arguments, code) in [
        (&["good.sil"][..], 0),
        (&["bad.vpr"], 1),
        (&["bad.vpr", "good.sil"], 1),
        (&["--check", "bad.vpr"], 0),
        (&["ill.sil"], 3),
        (&["--check", "ill.sil"], 3),
        (&["latin.sil"], 3),
        (&["missing.sil"], 3),
        (&["good.sil", "bad.vpr", "ill.sil"], 3),
        (&["empty.sil"], 2),
        (&["--compat", "silicon", "empty.sil"], 0),
        (&["comments.vpr"], 2),
        (&["fields.sil"], 0),
        (&["fields.sil", "--member", "*"], 2),
        (&["empty.sil", "--member", "*"], 2),
        (&["empty.sil", "--exclude", "m"], 2),
        (&["empty.sil", "--at", "empty.sil:1"], 2),
        (&["good.sil", "--exclude", "*"], 2),
        (&["empty.sil", "good.sil"], 2),
        (&["good.sil", "empty.sil", "comments.vpr"], 2),
        (&["empty.sil", "bad.vpr"], 1),
        (&["empty.sil", "good.sil", "--member", "m"], 0),
        (&["--compat", "silicon", "empty.sil", "good.sil"], 0),
        (&["macros.vpr"], 0),
        (&["importing.vpr"], 0),
        (&["class.chalice"], 0),
        (&["empty.chalice"], 2),
        (&["struct.spl"], 0),
        (&["empty.spl"], 2),
        (&["class.chalice", "macros.vpr", "good.sil"], 0),
        (&["class.chalice", "--member", "*"], 0),
        (&["good.sil", "--member", "nobody"], 2),
        (&["good.sil", "--at", "good.sil:99"], 2),
        (&["good.sil", "--at", "good.sil:4"], 0),
    ] {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
    }
}

#[test]
fn wrong_use_is_refused() {
    let scratch = programs();
    for arguments in [
        &[][..],
        &["--no-such-option", "good.sil"],
        &["-j", "many", "good.sil"],
        &["-j", "100000", "good.sil"],
        &["--message-format", "xml", "good.sil"],
        &["--report", "sarif", "good.sil"],
        &["--report", "pdf=x", "good.sil"],
        &["--report", "sarif=no/such/directory/x", "good.sil"],
        &["--member-limit", "-1", "good.sil"],
        &["--at", "good.sil", "good.sil"],
        &["--form", "graph", "good.sil"],
        &["--compat", "carbon", "good.sil"],
        &["--compat", "silicon", "--message-format", "json", "good.sil"],
        &["--join", "sometimes", "good.sil"],
        &["--exhaleMode=3", "good.sil"],
        &["--exhaleMode", "--alternativeFunctionVerificationOrder", "good.sil"],
        &["-", "-"],
    ] {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
        assert!(run.stdout.is_empty() && run.stderr.contains("error"), "{arguments:?}: {run:#?}");
    }
    let empty = Scratch::new(&[("notes.txt", b"")]);
    assert_eq!(empty.silicon(&["."]).code, Some(2));
}

#[test]
fn flags_of_the_reference_verifier_are_known() {
    let scratch = programs();
    let order = "--alternativeFunctionVerificationOrder";
    for (arguments, note) in [
        (&["--assumeInjectivityOnInhale", "--exhaleMode=2", order][..], None),
        (&["--compat", "silicon", "--exhaleMode", "2", order], None),
        (&["--exhaleMode=0"], Some("note: --exhaleMode=0 has no effect")),
        (&["--compat", "silicon", "--exhaleMode", "1"], Some("note: --exhaleMode=1 has no effect")),
    ] {
        for (file, code) in [("good.sil", 0), ("bad.vpr", 1)] {
            let run = scratch.silicon(&[arguments, &[file]].concat());
            assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
            let notes: Vec<&str> = run.stderr.lines().collect();
            assert_eq!(notes.len(), usize::from(note.is_some()), "{arguments:?}: {run:#?}");
            assert!(
                notes.iter().zip(note).all(|(line, start)| line.starts_with(start)),
                "{run:#?}"
            );
        }
    }
}

#[test]
fn questions_about_the_command_are_answered() {
    let scratch = programs();
    for (arguments, part) in [
        (&["--version"][..], "Z3"),
        (&["--help"], "Exit codes"),
        (&["-h"], "--message-format"),
        (&["--print-config", "-j", "3"], "--threads 3"),
        (&["--print-config", "--at", "a.sil:3"], "--at a.sil:3-3"),
        (&["--print-config", "--language", "spl"], "--language spl"),
        (&["--print-config", "--stdin-filename", "a.sil"], "--stdin-filename a.sil"),
        (&["--print-config", "--report", "junit=a.xml"], "--report junit=a.xml"),
        (&["--print-config", "--includeMethods", "m"], "--includeMethods m"),
        (&["completions", "bash"], "_silicon"),
    ] {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:#?}");
        assert!(run.stdout.contains(part) && run.stderr.is_empty(), "{arguments:?}: {run:#?}");
    }
}

#[test]
fn json_tells_the_part_that_could_not_be_shown() {
    let text = "method m(n: Int) {\n  assert n == n &&\n    n > 0\n}\n";
    let scratch = Scratch::new(&[("part.sil", text.as_bytes())]);
    let run = scratch.silicon(&["--message-format", "json", "part.sil"]);
    let expected = serde_json::json!({
        "file": "part.sil",
        "start": { "line": 3, "column": 5 },
        "end": { "line": 3, "column": 10 },
    });
    assert_eq!(lines(&run)[0]["reason"], expected, "{run:#?}");
}

#[test]
fn json_has_its_shape() {
    let scratch = programs();
    let run = scratch.silicon(&["--message-format", "json", "bad.vpr", "ill.sil", "good.sil"]);
    let lines = lines(&run);
    assert!(lines.iter().all(|line| line["v"] == 1));
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    let expected = ["diagnostic", "member", "file", "diagnostic", "file", "member", "file", "run"];
    assert_eq!(kinds, expected, "{run:#?}");

    let failure = &lines[0];
    assert_eq!(failure["file"], "bad.vpr");
    assert_eq!(failure["severity"], "error");
    assert_eq!(failure["id"], "assert.failed:assertion.false");
    assert_eq!(failure["start"], serde_json::json!({ "line": 3, "column": 10 }));
    assert_eq!(failure["end"], serde_json::json!({ "line": 3, "column": 16 }));
    assert_eq!(failure["member"], "m");
    assert!(failure["notes"].is_array() && failure["path"].is_array());
    assert!(failure["reason"].is_null(), "it is the same place: {failure}");

    let member = &lines[1];
    assert_eq!((&member["kind"], &member["name"]), (&"method".into(), &"m".into()));
    assert_eq!(member["verdict"], "failed");
    for number in ["time_ms", "prover_ms", "queries", "paths"] {
        assert!(member[number].is_number(), "{number}");
    }
    let verdicts: Vec<&Value> =
        of_type(&lines, "file").iter().map(|file| &file["verdict"]).collect();
    assert_eq!(verdicts, ["failed", "input-error", "verified"]);
    assert_eq!(lines[3]["id"], "typechecker.error");
    let all = &lines[7];
    assert_eq!(all["verdict"], "input-error");
    assert_eq!((&all["files"], &all["members"]), (&3.into(), &2.into()));
    assert_eq!((&all["verified"], &all["errors"]), (&1.into(), &2.into()));
}

#[test]
fn the_reference_verifier_is_imitated() {
    let scratch = Scratch::new(&[
            ("good.vpr", VERIFIES.as_bytes()),
            ("ill.vpr", ILL_TYPED.as_bytes()),
            (
                "bad.vpr",
                b"field f: Int\npredicate P(x: Ref) { acc(x.f) }\nmethod m(x: Ref, s: Seq[Int])\n\
                  ensures  s[0] == 1\n{\n  x.f :=\n    3\n}\nmethod k(x: Ref)\n{\n  fold acc(P(x), write)\n}\n",
            ),
        ],
    );
    let good = scratch.silicon(&["--compat", "silicon", "good.vpr"]);
    assert_eq!(good.code, Some(0));
    let text: Vec<&str> = good.stdout.lines().collect();
    assert_eq!(text[0], format!("Silicon {}", env!("CARGO_PKG_VERSION")));
    let words = "Silicon finished verification successfully in ";
    let time = text[1].strip_prefix(words).and_then(|rest| rest.strip_suffix("s."));
    let time = time.unwrap_or_else(|| panic!("{text:?}"));
    assert!(time.parse::<f64>().is_ok() && time.split('.').nth(1).is_some_and(|it| it.len() == 2));

    let all = ["--numberOfErrorsToReport", "0"];
    let bad = scratch.silicon(&[&["--compat", "silicon", "bad.vpr"], &all[..]].concat());
    assert_eq!(bad.code, Some(1));
    let text: Vec<&str> = bad.stdout.lines().skip(1).collect();
    assert!(text[0].starts_with("Silicon found 3 errors in "), "{text:?}");
    let wellformed =
        "Contract might not be well-formed. Index 0 into s might exceed sequence length.";
    assert_eq!(
        &text[1..],
        [
            format!("  [0] {wellformed} (bad.vpr@4.10--4.19)"),
            "  [1] Assignment might fail. There might be insufficient permission to access x.f \
             (bad.vpr@6.3--7.6)"
                .to_owned(),
            "  [2] Folding P(x) might fail. There might be insufficient permission to access x.f \
             (bad.vpr@11.3--11.24)"
                .to_owned(),
        ]
    );

    let ill = scratch.silicon(&["--compat", "silicon", "ill.vpr"]);
    assert_eq!(ill.code, Some(1));
    assert!(ill.stdout.contains("Silicon found 1 error in "), "{ill:#?}");
    assert!(ill.stdout.contains("(ill.vpr@3.10--3.11)"), "{ill:#?}");
}

#[test]
fn errors_come_with_states_if_asked_for() {
    let program = "field f: Int\nfield n: Ref\npredicate P(x: Ref, i: Int)\n\
         method m(x: Ref, i: Int, s: Seq[Bool])\n  requires acc(x.f, 1/2) && acc(x.n) && P(x.n, i)\n\
         requires x.f == 7 && x.n == null && i == -3 && s == Seq(true, false)\n{\n  assert i > 0\n}\n";
    let scratch = Scratch::new(&[("bad.vpr", program.as_bytes())]);
    let run = |extra: &[&str]| {
        scratch.silicon(&[&["bad.vpr", "--message-format", "json"], extra].concat())
    };
    let plain = timeless(&run(&["--counterexample", "--no-counterexample"]));
    assert!(plain[0].get("counterexample").is_none(), "{plain:?}");
    let with = timeless(&run(&["--counterexample"]));
    let expected = serde_json::json!({
        "variables": [
            { "name": "x", "value": "ref1" },
            { "name": "i", "value": "-3" },
            { "name": "s", "value": "Seq(true, false)" },
        ],
        "heap": [
            { "location": "ref1.f", "amount": "1/2", "value": "7" },
            { "location": "ref1.n", "amount": "write", "value": "null" },
            { "location": "P(null, -3)", "amount": "write" },
        ],
    });
    assert_eq!(with[0]["counterexample"], expected);
    // Nothing else changes.
    let mut without = with.clone();
    without[0].as_object_mut().expect("an object").remove("counterexample");
    for line in &mut without {
        line.as_object_mut().expect("an object").remove("queries");
    }
    let mut plain = plain;
    for line in &mut plain {
        line.as_object_mut().expect("an object").remove("queries");
    }
    assert_eq!(without, plain);
    let people = scratch.silicon(&["bad.vpr", "--counterexample"]);
    assert!(people.stdout.contains("for instance where x = ref1, i = -3"), "{people:#?}");
}

#[test]
fn states_show_no_variables_of_termination_checks() {
    let program = "import <decreases/int.vpr>\nmethod m(i: Int) returns (r: Int)\n  ensures true\n  decreases i if r > 3\n\
         {\n  r := 3\n  while (r > 0) decreases r { r := r - 1 }\n  assert i > 0\n}\n";
    let scratch = Scratch::new(&[("bad.vpr", program.as_bytes())]);
    let found =
        timeless(&scratch.silicon(&["bad.vpr", "--message-format", "json", "--counterexample"]));
    let variables = found[0]["counterexample"]["variables"].as_array().expect("a list");
    let names: Vec<_> = variables.iter().map(|one| one["name"].as_str()).collect();
    assert_eq!(names, [Some("i"), Some("r")], "{found:?}");
}

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
    // No start has as many elements. That something else goes wrong on the same line is no replay of it.
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
    // What is said leads to the run.
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

#[test]
fn errors_and_time_can_be_limited() {
    let text = "method m(x: Int, y: Int)\n{\n  assert x > 0\n  assert y > 0\n}\n";
    let scratch = Scratch::new(&[("a.sil", text.as_bytes())]);
    let errors = |arguments: &[&str]| scratch.silicon(arguments).stdout.lines().count();
    assert_eq!(errors(&["--message-format", "short", "a.sil"]), 2);
    assert_eq!(errors(&["--message-format", "short", "--errors-per-member", "1", "a.sil"]), 1);
    let run = scratch.silicon(&["--message-format", "short", "--time-limit", "0.000001", "a.sil"]);
    assert_eq!(run.code, Some(4), "{run:#?}");
    assert!(run.stdout.contains("timeout.error"), "{run:#?}");
}

#[test]
fn the_first_error_of_a_member_is_the_first_that_execution_meets() {
    let text = "method m(x: Int, y: Int)\n  ensures y > 0\n{\n  assert x > 1\n  assert x > 2\n}\n";
    let scratch = Scratch::new(&[("a.vpr", text.as_bytes())]);
    let lines = |limit| {
        let run =
            scratch.silicon(&["--message-format", "short", "--errors-per-member", limit, "a.vpr"]);
        run.stdout.lines().filter_map(|line| line.split(':').nth(1)?.parse().ok()).collect()
    };
    let (one, two): (Vec<u32>, Vec<u32>) = (lines("1"), lines("2"));
    assert_eq!((one, two), (vec![4], vec![4, 5]));
}

#[test]
fn what_options_take_for_granted_is_named() {
    let text = "field f: Int\nfunction at(i: Int): Ref\n\
         method m(n: Int)\n  requires forall i: Int :: 0 <= i && i < n ==> acc(at(i).f)\n{\n}\n";
    let scratch = Scratch::new(&[("a.vpr", text.as_bytes())]);
    assert_eq!(scratch.silicon(&["a.vpr"]).code, Some(1));
    for option in ["--assume-injectivity-on-inhale", "--assumeInjectivityOnInhale"] {
        let run = scratch.silicon(&["a.vpr", option, "--assume-termination"]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        let trusted = run.stdout.lines().find(|line| line.contains("trusted:")).expect("named");
        assert!(trusted.contains("--assume-injectivity-on-inhale"), "{trusted}");
        assert!(trusted.contains("function at terminates"), "{trusted}");
        assert!(trusted.contains("--assume-termination"), "{trusted}");
    }
}

#[test]
fn every_output_names_what_is_trusted() {
    let text = "field f: Int\nfunction at(i: Int): Ref\n  ensures result != null\n\
         method m(n: Int)\n  requires forall i: Int :: 0 <= i && i < n ==> acc(at(i).f)\n{\n}\n";
    let scratch = Scratch::new(&[("a.vpr", text.as_bytes()), ("b.vpr", b"field g: Int\n")]);
    let arguments =
        ["--assumeInjectivityOnInhale", "--report", "sarif=r.sarif", "--report", "junit=r.xml"];
    let option =
        "that receivers of inhaled quantified permissions differ (--assume-injectivity-on-inhale)";
    let function = "the postconditions of function at (no body)";
    for (format, line) in [
        (&["--message-format", "human"][..], format!("  trusted: {option}, {function}")),
        (&["--message-format", "short"], format!("a.vpr: trusted: {option}, {function}")),
        (&["--compat", "silicon"], format!("trusted: {option}, {function}")),
    ] {
        let run = scratch.silicon(&[&["a.vpr"], format, &arguments].concat());
        assert_eq!(run.code, Some(0), "{run:#?}");
        let found = run.stdout.lines().filter(|one| one.contains("trusted")).collect::<Vec<_>>();
        assert_eq!(found, [line], "{run:#?}");
        let junit = fs::read_to_string(scratch.path().join("r.xml")).expect("a report");
        for trusted in [option, function] {
            let property = format!("<property name=\"trusted\" value=\"{trusted}\"/>");
            assert_eq!(junit.matches(&property).count(), 1, "{junit}");
        }
        let sarif = fs::read_to_string(scratch.path().join("r.sarif")).expect("a report");
        let sarif: Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
        let invocation = &sarif["runs"][0]["invocations"][0];
        let named = invocation["toolExecutionNotifications"].as_array().expect("a list");
        let texts: Vec<&Value> = named.iter().map(|one| &one["message"]["text"]).collect();
        assert_eq!(texts, [&format!("trusted: {option}"), &format!("trusted: {function}")]);
        let place = &named[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a.vpr");
    }
    // Where nothing is trusted, nothing is said.
    for format in [&["--message-format", "short"][..], &["--compat", "silicon"]] {
        let run = scratch.silicon(&[&["b.vpr"], format].concat());
        assert!(run.code == Some(0) && !run.stdout.contains("trusted"), "{run:#?}");
    }
}

#[test]
fn what_the_solver_is_asked_can_be_kept() {
    let scratch = programs();
    let run = scratch.silicon(&["--smt-log", "logs/here", "bad.vpr"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let log = fs::read_to_string(scratch.path().join("logs/here/m.smt2")).expect("a log");
    assert!(log.contains("(check-sat)"), "{log}");
    // Each question says what it is for: `assert x != 0` stands there, by itself.
    let (mut said, mut asked) = (None, Vec::new());
    for line in log.lines() {
        match line.strip_prefix("; ") {
            Some(words) if words.contains(" at ") => said = Some(words),
            _ if line == "(check-sat)" => asked.push(said),
            _ => {}
        }
    }
    assert!(!asked.is_empty() && asked.iter().all(Option::is_some), "{log}");
    assert!(asked.contains(&Some("obligation of assert at bad.vpr:3:10")), "{log}");
    let run = scratch.silicon(&["--smt-log", "logs/many", "bad.vpr", "good.sil"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(scratch.path().join("logs/many/good.sil/m.smt2").is_file());
    // Two files of which one directory would have the name.
    let scratch = Scratch::new(&[("d/e.sil", FAILS), ("d_e.sil", FAILS)]);
    let run = scratch.silicon(&["--smt-log", "logs", "d_e.sil", "d/e.sil"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    for (directory, file) in [("d_e.sil", "d_e.sil"), ("d_e.sil-2", "d/e.sil")] {
        let log = scratch.read(&format!("logs/{directory}/m.smt2"));
        assert!(log.contains(&format!("assert at {file}:3:10")), "{log}");
    }
}

/// A method with more places than are listed; lines 3 to 10 have an obligation each that reaches the solver.
const MANY_PLACES: &str = "method m(a: Int, b: Int) returns (c: Int)
{
  c := a * b
  assert c + a == a * (b + 1)
  assert c + 2 * a == a * (b + 2)
  assert c + 3 * a == a * (b + 3)
  assert c + 4 * a == a * (b + 4)
  assert c + 5 * a == a * (b + 5)
  assert c + 6 * a == a * (b + 6)
  c := 7 / (a * a + 1)
}
";

#[test]
fn what_costs_most_is_listed() {
    let scratch = Scratch::new(&[("a.vpr", MANY_PLACES.as_bytes())]);
    let listed = |threads: &str| {
        let run = scratch.silicon(&["--stats", "--message-format", "json", "-j", threads, "a.vpr"]);
        let lines = lines(&run);
        let [member] = of_type(&lines, "member")[..] else { panic!("{run:#?}") };
        let mut listed = member["obligations"].as_array().expect("a list").clone();
        for one in &mut listed {
            one.as_object_mut().expect("an object").remove("prover_ms").expect("it took time");
        }
        listed
    };
    let one_thread = listed("1");
    assert_eq!(one_thread, listed("2"));
    assert_eq!(one_thread.len(), 5);
    let steps = |one: &Value| one["steps"].as_u64().expect("a number");
    assert!(one_thread.is_sorted_by_key(|one| std::cmp::Reverse(steps(one))), "{one_thread:#?}");
    for one in &one_thread {
        let (line, kind) = (one["start"]["line"].as_u64(), one["kind"].as_str());
        let expected = if line == Some(10) { "assignment" } else { "assert" };
        assert!((Some(4)..=Some(10)).contains(&line) && kind == Some(expected), "{one:#}");
        assert!(steps(one) > 0 && one["questions"] == 1 && one["file"] == "a.vpr", "{one:#}");
    }
    let run = scratch.silicon(&["--stats", "a.vpr"]);
    let at: Vec<&str> = run.stdout.lines().filter(|line| line.contains(" steps, ")).collect();
    assert_eq!(at.len(), 5, "{run:#?}");
    for (line, one) in at.iter().zip(&one_thread) {
        let kind = one["kind"].as_str().expect("a text");
        let start = format!("    a.vpr:{}: {kind}: 1 to the prover, ", one["start"]["line"]);
        assert!(line.starts_with(&start), "{line}");
    }
}

#[test]
fn standard_input_is_sil() {
    let scratch = programs();
    for (text, code) in [(VERIFIES, 0), (FAILS, 1), (ILL_TYPED, 3), ("", 2)] {
        let run = binaries::run(
            "silicon",
            &["-", "--message-format", "short"],
            scratch.path(),
            text.as_bytes(),
        );
        assert_eq!(run.code, Some(code), "{text}: {run:#?}");
        if code == 1 {
            assert!(run.stdout.starts_with("<stdin>:3:10: error[assert.failed:assertion.false]"));
        }
    }
    let run = binaries::run("silicon", &["-"], scratch.path(), b"\xff\xfe");
    assert_eq!(run.code, Some(3), "{run:#?}");
}

#[test]
fn bytes_that_are_no_text_are_pointed_at() {
    let run = programs().silicon(&["--message-format", "json", "latin.sil"]);
    let lines = lines(&run);
    assert_eq!(lines[0]["id"], "parser.error");
    assert_eq!(lines[0]["start"], serde_json::json!({ "line": 2, "column": 7 }));
}

#[test]
fn people_read_how_much_was_verified_and_trusted() {
    let text = "method abstract(x: Int)\n  ensures x > 0\n\nmethod m()\n{\n  inhale 1 < 2\n  assert false\n}\n";
    let scratch = Scratch::new(&[("a.sil", text.as_bytes())]);
    let run = scratch.silicon(&["a.sil"]);
    assert!(run.stdout.contains("  assert false") && run.stdout.contains("^^^^^"), "{run:#?}");
    assert!(run.stdout.contains("of 2 members verified"), "{run:#?}");
    assert!(run.stdout.contains("trusted: the contract of method abstract"), "{run:#?}");
    assert!(!run.stdout.contains('\u{1b}') && run.stderr.is_empty(), "{run:#?}");
    assert!(!run.stdout.contains("inhale in method"), "{run:#?}");
    let audit = scratch.silicon(&["a.sil", "--audit"]);
    assert!(audit.stdout.contains("inhale in method m (a.sil:6)"), "{audit:#?}");
    let coloured = scratch.silicon(&["a.sil", "--color", "always"]);
    assert!(coloured.stdout.contains('\u{1b}'), "{coloured:#?}");
}

#[test]
fn a_directory_stands_for_its_programs() {
    let scratch = Scratch::new(&[
        ("d/b.sil", VERIFIES.as_bytes()),
        ("d/a/c.vpr", VERIFIES.as_bytes()),
        ("d/readme.md", b"no program"),
    ]);
    let run = scratch.silicon(&["--message-format", "json", "d"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let lines = lines(&run);
    let files: Vec<&Value> = of_type(&lines, "file").iter().map(|file| &file["file"]).collect();
    assert_eq!(files, ["d/a/c.vpr", "d/b.sil"]);
}

#[test]
fn reports_are_written_beside_any_format() {
    let scratch = programs();
    let run = scratch.silicon(&[
        "bad.vpr",
        "good.sil",
        "ill.sil",
        "--report",
        "sarif=r.sarif",
        "--report",
        "junit=r.xml",
    ]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    let sarif = fs::read_to_string(scratch.path().join("r.sarif")).expect("a report");
    let sarif: Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["ruleId"], "assert.failed:assertion.false");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "bad.vpr");
    assert_eq!(place["region"]["startLine"], 3);
    let junit = fs::read_to_string(scratch.path().join("r.xml")).expect("a report");
    assert!(junit.starts_with("<?xml") && junit.contains("<testsuite name=\"good.sil\""));
    assert!(junit.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{junit}");
}

#[test]
fn reports_are_not_written_over_programs() {
    let importing = b"import \"good.sil\"\n";
    let library = b"field g: Int\n";
    let scratch = Scratch::new(&[
        ("good.sil", VERIFIES.as_bytes()),
        ("main.sil", importing),
        ("old.xml", b"old"),
        ("library", library),
        ("fields.sil", b"import \"library\"\nmethod n() { }\n"),
        ("only.sil", b"import \"library\"\n"),
    ]);
    let path = |name: &str| scratch.path().join(name);
    fs::hard_link(path("good.sil"), path("linked.xml")).expect("can be linked");
    #[cfg(unix)]
    std::os::unix::fs::symlink("good.sil", path("symbolic.xml")).expect("can be linked");
    for (arguments, code) in [
        (&["good.sil", "--report", "sarif=good.sil"][..], 2),
        (&["good.sil", "--report", "sarif=./good.sil"], 2),
        (&[".", "--report", "junit=good.sil"], 2),
        (&["good.sil", "--report", "junit=linked.xml"], 2),
        #[cfg(unix)]
        (&["good.sil", "--report", "junit=symbolic.xml"], 2),
        (&["good.sil", "--report", "junit=old.xml", "--report", "sarif=./old.xml"], 2),
        (&["good.sil", "--report", "junit=new.xml", "--report", "sarif=new.xml"], 2),
        (&["missing.sil", "--report", "junit=missing.sil"], 2),
        (&["main.sil", "--report", "junit=good.sil"], 2),
        (&["--check", "main.sil", "--report", "sarif=good.sil"], 2),
        (&["-", "--stdin-filename", "good.sil", "--report", "sarif=good.sil"], 2),
    ] {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains("cannot write"), "{arguments:?}: {run:#?}");
        let text = fs::read_to_string(path("good.sil")).expect("is still there");
        assert_eq!(text, VERIFIES, "{arguments:?}");
        assert!(!path("missing.sil").exists());
    }
    // Which files are imported, under names like any other, is known at the end only.
    for arguments in [
        &["fields.sil"][..],
        &["--check", "fields.sil"],
        &["fields.sil", "--member", "nobody"],
        &["only.sil"],
        &["good.sil", "only.sil"],
    ] {
        for report in ["junit=library", "sarif=./library"] {
            let run = scratch.silicon(&[arguments, &["--report", report]].concat());
            assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
            assert!(run.stderr.contains("part of a program"), "{arguments:?}: {run:#?}");
            assert_eq!(fs::read(path("library")).expect("is still there"), library);
        }
    }
    assert_eq!(fs::read_to_string(path("old.xml")).expect("is still there"), "old");
    let run = scratch.silicon(&["good.sil", "--report", "junit=old.xml"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(fs::read_to_string(path("old.xml")).expect("a report").starts_with("<?xml"));
}

/// A program that declares nothing does what it announces, and was probably lost.
#[test]
fn announcements_of_an_empty_program_are_not_met() {
    let announced = FAILS.replacen("  assert", "  //:: ExpectedOutput(assert.failed)\n  assert", 1);
    let scratch = Scratch::new(&[
        ("empty.sil", b"".as_slice()),
        ("good.sil", VERIFIES.as_bytes()),
        ("bad.vpr", FAILS.as_bytes()),
    ]);
    fs::write(scratch.path().join("fails.vpr"), announced).expect("can be written");
    for (arguments, code, met) in [
        (&["good.sil", "fails.vpr"][..], 0, "2 of 2"),
        (&["empty.sil", "good.sil"], 2, ""),
        (&["empty.sil", "fails.vpr"], 2, "1 of 2"),
        (&["fails.vpr", "empty.sil"], 2, "1 of 2"),
        (&["empty.sil", "bad.vpr"], 1, "0 of 2"),
    ] {
        let run = scratch.silicon(&[&["--expect"], arguments].concat());
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains(met), "{arguments:?}: {run:#?}");
        let json =
            scratch.silicon(&[&["--expect", "--message-format", "json"], arguments].concat());
        for line in of_type(&lines(&json), "expectation") {
            let is_met = line["file"] == "good.sil" || line["file"] == "fails.vpr";
            assert_eq!(line["met"], is_met, "{json:#?}");
        }
    }
}

/// Members that wait for each other: chains of functions, predicates and methods that need them, with and without errors.
fn chains() -> String {
    let mut text = "field f: Int\n".to_owned();
    for i in 0..12 {
        // Every third function starts a chain of its own.
        let value = if i % 3 == 0 { "x".to_owned() } else { format!("step{}(x) + 1", i - 1) };
        text += &format!(
            "function step{i}(x: Int): Int\n  ensures result >= x\n{{ {value} }}\n\
             predicate P{i}(r: Ref) {{ acc(r.f) && step{i}(r.f) > 0 }}\n\
             method use{i}(r: Ref)\n  requires P{i}(r)\n  ensures P{i}(r)\n{{\n\
             \x20 unfold P{i}(r)\n  assert step{i}(r.f) <= r.f + {}\n  r.f := r.f + 1\n\
             \x20 fold P{i}(r)\n}}\n",
            i % 3 - i / 9
        );
    }
    text
}

/// A program with a method that is verified in several parts.
const IN_PARTS: &[u8] = include_bytes!("../corpus/branches/parts_of_one_method.vpr");

#[test]
fn a_large_method_is_verified_in_parts() {
    let scratch = Scratch::new(&[("f.vpr", IN_PARTS)]);
    let errors = |threads: &str| {
        let arguments = ["--smt-log", "logs", "--message-format", "short", "-j", threads, "f.vpr"];
        let run = scratch.silicon(&arguments);
        assert_eq!(run.code, Some(1), "{run:#?}");
        let part = scratch.path().join("logs/many_ways.part0.smt2");
        assert!(fs::read_to_string(part).expect("a log").contains("(check-sat)"));
        run.stdout.lines().filter(|line| line.contains("error[")).count()
    };
    assert_eq!(errors("1"), 5);
    assert_eq!(errors("2"), 5);
}

/// On the first path the assertion is too much for so few steps, on the second it fails for sure.
#[test]
fn what_one_path_gives_up_another_may_refute() {
    let text = "method m(b: Bool, x: Int, y: Int, z: Int)
  requires x > 0 && y > 0 && z > 0
  requires b ==> x * x * x * y + y * y * y * z == z * z * z * x + 7
{
  if (b) { assume x * y * z > 1000 } else { assume x == 1 }
  assert y == 1
}
";
    let scratch = Scratch::new(&[("f.sil", text.as_bytes())]);
    let arguments = ["--limit", "20000", "--join", "never", "--message-format", "short", "f.sil"];
    let run = scratch.silicon(&arguments);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stdout.contains("f.sil:6:10: error[assert.failed:assertion.false]"), "{run:#?}");
    assert!(!run.stdout.contains("gave up"), "{run:#?}");
}

#[test]
fn the_number_of_threads_does_not_show() {
    let mut many = String::new();
    for i in 0..20 {
        let body = format!("assert x != {i}\n  assert x < {i}");
        many.push_str(&format!("method m{i}(x: Int)\n{{\n  {body}\n}}\n"));
    }
    let scratch = Scratch::new(&[
        ("a.sil", many.as_bytes()),
        ("b.sil", FAILS.as_bytes()),
        ("c.sil", VERIFIES.as_bytes()),
        ("d.sil", ILL_TYPED.as_bytes()),
        ("e.sil", chains().as_bytes()),
        ("f.vpr", IN_PARTS),
    ]);
    let run = |threads: &str, files: &[&str]| {
        let arguments = [&["--message-format", "json", "-j", threads], files].concat();
        timeless(&scratch.silicon(&arguments))
    };
    let all = ["a.sil", "b.sil", "c.sil", "d.sil", "e.sil", "f.vpr"];
    for files in [&["a.sil"][..], &["e.sil"], &all] {
        let alone = run("1", files);
        assert!(alone.len() > 20);
        assert_eq!(alone, run("2", files));
        assert_eq!(alone, run("8", files));
    }
    let human = |threads: &str| scratch.silicon(&["-j", threads, "."]).stdout;
    assert_eq!(human("1"), human("8"));
}

#[test]
fn a_reader_who_leaves_is_no_reason_to_complain() {
    let scratch = programs();
    let mut child = Command::new(binaries::path("silicon"))
        .args(["bad.vpr", "ill.sil"])
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("silicon starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("silicon ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_ne!(output.status.code(), Some(0));
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

/// What an invariant lacks is said of the invariant; that who acquires the object cannot have it only follows.
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

/// One graph for Graphviz, each body a cluster of its own, each loop a cluster inside it.
#[test]
fn graphs_are_dumped_for_graphviz() {
    let program = "method m(n: Int) returns (i: Int)\n{\n  i := 0\n  while (i < n) invariant i <= n { i := i + 1 }\n}\n\
                   method abstract(n: Int)\nmethod k(b: Bool) { if (b) { goto end } assert b label end }\n";
    let scratch = Scratch::new(&[("g.sil", program.as_bytes())]);
    let run = scratch.silicon(&["--dump", "cfg", "g.sil"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let text = run.stdout.as_str();
    assert!(text.starts_with("digraph program {\n") && text.ends_with("}\n"), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
    for part in [
        "label=\"method m\";",
        "i := 0\\l",
        "while (i < n)\\linvariant i <= n\\l\", shape=hexagon",
        "[label=next, style=dashed];",
        "label=\"method k\";",
        "branch (b)\\l",
        "[label=true];",
        "[label=false];",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("abstract"), "a method without a body has no graph:\n{text}");
    // Names of nodes are unique: each is defined once.
    let mut nodes: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" [label=\"") && !line.contains("->"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let count = nodes.len();
    nodes.sort_unstable();
    nodes.dedup();
    assert!(count >= 7 && nodes.len() == count, "{text}");
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
