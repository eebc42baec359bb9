//! The output of the command: lines of JSON, reports, states, costs, scripts, graphs.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sil_tests::binaries::{Scratch, path};
use sil_tests::sample::{FAILS, VERIFIES, endless, lines, of_type, programs, timeless};

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
fn json_tells_what_is_written_and_what_is_indexed() {
    let text = "field f: Int\nmethod m(x: Ref, s: Seq[Int], n: Map[Int, Int])\n{\n  \
                (x).f := 3\n  assert (s ++ s)[1] == n[7]\n}\n";
    let scratch = Scratch::new(&[("part.vpr", text.as_bytes())]);
    let run = scratch.silicon(&["--message-format", "json", "part.vpr"]);
    let lines = lines(&run);
    let columns = |id: &str, part: &str| {
        let found =
            lines.iter().find(|line| line["id"].as_str().is_some_and(|it| it.ends_with(id)));
        let place = &found.unwrap_or_else(|| panic!("{id}: {run:#?}"))[part];
        (place["start"]["column"].as_u64(), place["end"]["column"].as_u64())
    };
    assert_eq!(columns(":insufficient.permission", "reason"), (Some(3), Some(8)));
    assert_eq!(columns(":seq.index.length", "reason"), (Some(19), Some(20)));
    assert_eq!(columns(":seq.index.length", "subject"), (Some(10), Some(18)));
    assert_eq!(columns(":map.key.contains", "subject"), (Some(25), Some(26)));
}

#[test]
fn findings_are_told_before_the_end_and_in_order() {
    let first = "method first() { assert false }\nmethod second() { assert 1 > 2 }\n";
    let text = format!("{first}{}", endless());
    let scratch = Scratch::new(&[("a.vpr", text.as_bytes())]);
    for format in ["human", "short", "json"] {
        let mut process = Command::new(path("silicon"))
            .args(["--join=never", "--member-limit=0", "--message-format", format, "a.vpr"])
            .current_dir(scratch.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        let mut said = BufReader::new(process.stdout.take().expect("it is a pipe"));
        let mut text = String::new();
        while text.matches("assert.failed").count() < 2 {
            assert_ne!(said.read_line(&mut text).expect("it says something"), 0, "{text}");
        }
        kill_process(Pid::from_child(&process), Signal::TERM).expect("it is still at work");
        said.read_to_string(&mut text).expect("it says the rest");
        assert_eq!(process.wait().expect("it ends").code(), Some(143), "{text}");
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(at("`false`") < at("`1 > 2`"), "{text}");
        assert_eq!(text.matches("assert.failed").count(), 2, "each once: {text}");
    }
}

#[test]
fn one_place_that_members_share_is_told_once() {
    let text = "define claim(x) { assert x > 0\n}\nmethod a(x: Int) { claim(x) }\nmethod b(x: Int) { claim(x) }\n";
    let scratch = Scratch::new(&[("a.vpr", text.as_bytes())]);
    for format in ["human", "short", "json"] {
        let run = scratch.silicon(&["--message-format", format, "a.vpr"]);
        assert_eq!(run.stdout.matches("assert.failed:").count(), 1, "{run:#?}");
    }
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
    for edge in ["file", "start", "end"] {
        assert_eq!(failure["reason"][edge], failure[edge], "it is the same place: {failure}");
    }

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
    // The set of imported files, under names like any other, is known at the end only.
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

/// Errors that single paths have shown are shown: no other attempt could prove the method.
#[test]
fn what_fails_on_a_path_is_not_tried_once_more() {
    let method = |first: &str, last: &str| {
        let all = |form: fn(usize) -> String| (0..7).map(form).collect::<Vec<_>>().concat();
        let formals = all(|index| format!(", b{index}: Bool"));
        let ifs = all(|index| format!("if (b{index}) {{ x := x + 1 }}\n"));
        format!("method m(a: Int{formals}) {{\nvar x: Int := 0\n{first}\n{ifs}{last}\n}}")
    };
    // On each path, and on the last of them only.
    let at_once = method("assert a > 0", "");
    let late = method("", "assert x > 0");
    let scratch = Scratch::new(&[("once.vpr", at_once.as_bytes()), ("late.vpr", late.as_bytes())]);
    let run = scratch.silicon(&["--smt-log", "logs", "once.vpr", "late.vpr"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let is_there = |log: &str| scratch.path().join("logs").join(log).is_file();
    assert!(is_there("once.vpr/m.merged.smt2") && !is_there("once.vpr/m.paths.smt2"));
    assert!(is_there("late.vpr/m.merged.smt2") && is_there("late.vpr/m.paths.smt2"));
}

/// A method with more places than are listed; lines 3 to 10 have an obligation each that reaches
/// the solver.
const MANY_PLACES: &str = "method m(a: Int, s: Seq[Int], t: Seq[Int]) returns (c: Int)
{
  c := |s ++ t|
  assert c == |t| + |s|
  assert c + 1 == |s ++ t ++ Seq(a)|
  assert c + 2 == |s ++ t ++ Seq(a, a)|
  assert c + 3 == |s ++ t ++ Seq(a, a, a)|
  assert c + 4 == |s ++ t ++ Seq(a, a, a, a)|
  assert c + 5 == |s ++ t ++ Seq(a, a, a, a, a)|
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

/// Removes all times, however deep they are.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "ms" && !name.ends_with("_ms"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// Idle threads take what stands behind a costly method: the same on any number of threads.
#[test]
fn members_behind_a_costly_one_are_shared_out() {
    let pigeons = ["a", "b", "c", "d", "e", "f", "g"];
    let formals = pigeons.map(|one| format!("{one}: Int")).join(", ");
    let holes = pigeons.map(|one| format!("0 < {one} && {one} < 7")).join(" && ");
    let different: Vec<String> = (0..pigeons.len())
        .flat_map(|index| {
            (0..index).map(move |other| [pigeons[index], pigeons[other]].join(" != "))
        })
        .collect();
    let costly = format!(
        "method costly({formals}) requires {holes} requires {} {{ assert a > 9 }}\n",
        different.join(" && ")
    );
    let others: Vec<String> = (0..6)
        .map(|index| {
            format!(
                "method m{index}(s: Seq[Int], t: Seq[Int]) {{
                assert |s ++ t ++ Seq({index})| == |t| + |s| + 1 assert |s ++ t| == {index} }}\n"
            )
        })
        .collect();
    let scratch = Scratch::new(&[("a.vpr", (costly + &others.concat()).as_bytes())]);
    let lines = |threads: &str| {
        let run = scratch.silicon(&["--stats", "--message-format", "json", "-j", threads, "a.vpr"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        let mut lines = timeless(&run);
        lines.iter_mut().for_each(without_times);
        lines
    };
    let one_thread = lines("1");
    let costly = one_thread.iter().find(|line| line["name"] == "costly").expect("listed");
    let steps = costly["obligations"][0]["steps"].as_u64();
    assert!(steps.is_some_and(|steps| steps > 2_000_000), "{costly:#}");
    for threads in ["2", "4"] {
        assert_eq!(one_thread, lines(threads), "{threads} threads");
    }
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

/// Why a proof fails is seen in values: of the parts of the condition, and of the variables for
/// which it does not hold.
#[test]
fn counterexamples_show_the_parts_of_what_fails() {
    let program = "adt List { Nil() Cons(head: Int, tail: List) }\n\
         method a(l: List) requires l == Cons(1, Cons(2, Nil())) { assert l.head == l.tail.head }\n\
         method b(s: Seq[Int]) requires s == Seq(4, -5) { assert forall j: Int :: 0 <= j && j < |s| ==> s[j] > 0 }\n\
         method c(t: Set[Int], m: Map[Int, Int]) requires t == Set(3) && m == Map(3 := 9) { assert 3 in t ==> m[3] < |t| }\n\
         method d(t: Bool, n: Int) { if (t) { assert t ==> n + 1 > 5 } else { assert t && n * 2 > 3 } }\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let run = scratch.silicon(&["a.vpr", "--counterexample"]);
    for said in [
        "for instance where l = Cons(1, Cons(2, Nil()))\n",
        "`l.head` = 1, `l.tail` = Cons(2, Nil()), `l.tail.head` = 2\n",
        "for instance where s = Seq(4, -5)\n",
        "it does not hold for j = 1\n",
        "`|s|` = 2, `s[j]` = -5, `s[j] > 0` does not hold\n",
        "for instance where t = Set(3), m = Map(3 := 9)\n",
        "`3 in t` holds, `m[3]` = 9, `m[3] < |t|` does not hold, `|t|` = 1\n",
    ] {
        assert!(run.stdout.contains(said), "{said}\nis not in\n{}", run.stdout);
    }
    // A part that was not looked at this time has no value of another time.
    let of_d = run.stdout.split("= in d").nth(2).expect("two errors");
    assert!(!of_d.contains("n + 1"), "{of_d}");
    let run = scratch.silicon(&["a.vpr", "--counterexample", "--message-format", "json"]);
    let lines = lines(&run);
    let state = &lines[1]["counterexample"];
    assert_eq!(state["witness"], serde_json::json!([{ "name": "j", "value": "1" }]));
    let schema = include_str!("../../../docs/schemas/output.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    for line in &lines {
        assert_eq!(sil_tests::schema::violations(&schema, line), Vec::<String>::new(), "{line}");
    }
}

/// The main mark is on what could not be shown, and permission that is gone has been given away
/// somewhere.
#[test]
fn marks_are_on_what_fails_and_where_permission_went() {
    let program = "field f: Int\ndefine Small(n) (n > 0 && n < 9)\n\
         method a(n: Int)\n  ensures n == n && n > 0 &&\n    n < 9\n{ }\n\
         method c(n: Int) { assert n == n && Small(n) }\n\
         method b(x: Ref) requires acc(x.f) { take(x) x.f := 1 }\n\
         method take(x: Ref) requires acc(x.f)\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let run = scratch.silicon(&["a.vpr"]);
    for said in [
        "─ a.vpr:4:21\n",
        "─ a.vpr:2:18\n",
        "----- used here\n",
        "permission to `x.f` was given away here\n",
    ] {
        assert!(run.stdout.contains(said), "{said}\nis not in\n{}", run.stdout);
    }
}

/// Elements that nothing names are shown, and so are values of functions; a part below `old` has
/// the value of another state. Formats of one line tell the state, too.
#[test]
fn counterexamples_show_what_nothing_names() {
    let program = "field f: Int\ndomain D { function g(i: Int): Int }\n\
         method a(t: Set[Int], b: Multiset[Int]) requires |t| == 1 && |b| == 2 { assert 3 in t }\n\
         method c(x: Int) requires x == 7 && g(x) == 4 { assert g(x) > 5 }\n\
         method d(x: Ref) requires acc(x.f) && x.f == 1 ensures acc(x.f) && old(x.f) < x.f { x.f := 0 }\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let run = scratch.silicon(&["a.vpr", "--counterexample"]);
    assert!(!run.stdout.contains('…') && run.stdout.contains("b = Multiset("), "{run:#?}");
    assert!(run.stdout.contains("= there `old(x.f)` = 1, `x.f` = 0\n"), "{run:#?}");
    for format in ["short", "github", "gitlab"] {
        let run = scratch.silicon(&["a.vpr", "--counterexample", "--message-format", format]);
        assert_eq!(run.stdout.matches("; for instance where ").count(), 3, "{run:#?}");
    }
    let run = scratch.silicon(&["a.vpr", "--counterexample", "--message-format", "json"]);
    let functions = &lines(&run)[1]["counterexample"]["functions"];
    let expected = serde_json::json!([{ "function": "g", "arguments": ["7"], "value": "4" }]);
    assert_eq!(*functions, expected, "{run:#?}");
}

/// Numbers are small where small ones do, what is told of a collection fits its size, and constants
/// of domains have their names.
#[test]
fn counterexamples_are_easy_to_read() {
    let program = "field f: Int\ndomain Day { unique function monday(): Day }\n\
         function sum(s: Seq[Int]): Int { |s| == 0 ? 0 : s[0] + sum(s[1..]) }\n\
         method a(s: Seq[Int], k: Int) requires |s| > 1 && k > |s| { assert sum(s) == sum(s[1..]) + 1 }\n\
         method b(s: Set[Int], x: Int) returns (r: Set[Int]) requires |s| > 1 ensures |r| == |s| + 1 { r := s union Set(x) }\n\
         method c(m: Map[Int, Bool], k: Int) { assert domain(m[k := true]) == domain(m) }\n\
         method d(day: Day) { assert day != monday() }\n\
         method e(x: Int) requires x > 5000 { assert x < 5000 }\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let run = scratch.silicon(&["a.vpr", "--counterexample", "--message-format", "json"]);
    let mut found = 0;
    for line in lines(&run).iter().filter(|line| line["type"] == "diagnostic") {
        found += 1;
        let state = &line["counterexample"];
        let values = [&state["variables"], &state["parts"]].into_iter().flat_map(|list| {
            list.as_array().into_iter().flatten().filter_map(|one| one["value"].as_str())
        });
        for value in values {
            let digits: i64 = value.trim_start_matches('-').parse().unwrap_or(0);
            assert!(digits <= 20 || line["member"] == "e", "{value} in {line}");
        }
        // A size that is told is that of the elements that are told.
        let value_of = |list: &str, name: &str| {
            let named = state[list].as_array().into_iter().flatten();
            let mut named = named.filter(|one| one["name"] == name);
            named.next().and_then(|one| one["value"].as_str()).unwrap_or_default().to_owned()
        };
        if line["member"] == "b" {
            for set in ["s", "r"] {
                let (told, size) =
                    (value_of("variables", set), value_of("parts", &format!("|{set}|")));
                assert_eq!(
                    told.matches(',').count() + 1,
                    size.parse::<usize>().expect("a size"),
                    "{line}"
                );
            }
        }
    }
    assert_eq!(found, 5, "{run:#?}");
    assert!(run.stdout.contains("{\"name\":\"day\",\"value\":\"monday()\"}"), "{run:#?}");
}

/// The state of a receiver that may be null is one where it is.
#[test]
fn a_receiver_that_may_be_null_is_null_in_its_counterexample() {
    let program =
        "class P { var q: P; var v: int;\n  method m() requires acc(q) { q.v := 1; }\n}\n";
    let list = "struct N { var next: N; }\nprocedure p(x: N, y: N) requires acc(x) &*& y == null ensures acc(x) { x.next := y.next; }\n";
    let scratch = Scratch::new(&[("a.chalice", program.as_bytes()), ("a.spl", list.as_bytes())]);
    let run = scratch.silicon(&["a.chalice", "--counterexample"]);
    let of_null = run.stdout.split("receiver.null").nth(1).expect("an error");
    assert!(of_null.contains("ref1.q = null (100% held)"), "{run:#?}");
    let run = scratch.silicon(&["a.spl", "--counterexample"]);
    assert!(run.stdout.contains("`y` is accessed here, and might be null, or not be owned"));
    assert!(run.stdout.contains("y = null"), "{run:#?}");
}

/// Where `--compat silicon` is asked for states, they stand below the errors.
#[test]
fn the_form_of_the_reference_has_counterexamples() {
    let program = "method a(x: Int) requires x > 3 { assert x > 4 }\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let flags = ["--compat", "silicon", "--counterexample", "mapped", "a.vpr"];
    let run = scratch.silicon(&flags);
    let expected = "(a.vpr@1.42--1.47)\n      for instance where x = 4\n";
    assert!(run.stdout.ends_with(expected), "{run:#?}");
}

/// All that took a part of what is missing is told: calls, packages, and `unfold`.
#[test]
fn what_took_parts_of_permission_is_told() {
    let program = "field f: Int\nfield g: Int\npredicate P(x: Ref) { acc(x.f) }\n\
         method half(x: Ref, p: Perm) requires none < p && acc(x.f, p) ensures acc(x.f, p / 2)\n\
         method a(x: Ref) requires acc(x.f)\n{\n  half(x, 1/2)\n  half(x, 1/4)\n  x.f := 3\n}\n\
         method b(x: Ref) requires acc(x.f) && acc(x.g)\n{\n  package acc(x.f) --* acc(x.f) && acc(x.g)\n  x.g := 1\n}\n\
         method c(x: Ref) requires P(x) ensures P(x)\n{\n  unfold P(x)\n}\n\
         method d(x: Ref) requires acc(x.f)\n{\n  exhale acc(x.f, 1/2)\n  inhale acc(x.f, 1/2)\n  exhale acc(x.f)\n  x.f := 3\n}\n";
    let scratch = Scratch::new(&[("a.vpr", program.as_bytes())]);
    let run = scratch.silicon(&["a.vpr", "--message-format", "json"]);
    let told = |member: &str| {
        let all = lines(&run);
        let line = all.iter().find(|line| line["type"] == "diagnostic" && line["member"] == member);
        let notes = line.expect("an error")["notes"].as_array().expect("a list").clone();
        let is_told = |note: &&serde_json::Value| {
            let words = note["message"].as_str().unwrap_or_default();
            words.contains("was given away here") || words.contains("was unfolded here")
        };
        let lines = notes.iter().filter(is_told).map(|note| note["start"]["line"].as_u64());
        lines.collect::<Option<Vec<u64>>>().expect("lines")
    };
    let found = ["a", "b", "c", "d"].map(told);
    assert_eq!(found, [vec![8, 7], vec![13], vec![18], vec![24]], "{run:#?}");
}
