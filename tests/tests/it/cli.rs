//! The command from outside: exit codes, flags, inputs and limits.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use sil_tests::binaries::{self, Scratch};
use sil_tests::sample::{FAILS, ILL_TYPED, VERIFIES, lines, of_type, programs};

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
        (&["empty.sil"], 0),
        (&["--compat", "silicon", "empty.sil"], 0),
        (&["comments.vpr"], 0),
        (&["fields.sil"], 0),
        (&["fields.sil", "--member", "*"], 2),
        (&["empty.sil", "--member", "*"], 2),
        (&["empty.sil", "--exclude", "m"], 2),
        (&["empty.sil", "--at", "empty.sil:1"], 2),
        (&["good.sil", "--exclude", "*"], 2),
        (&["empty.sil", "good.sil"], 0),
        (&["good.sil", "empty.sil", "comments.vpr"], 0),
        (&["empty.sil", "bad.vpr"], 1),
        (&["empty.sil", "good.sil", "--member", "m"], 0),
        (&["--compat", "silicon", "empty.sil", "good.sil"], 0),
        (&["macros.vpr"], 0),
        (&["importing.vpr"], 0),
        (&["class.chalice"], 0),
        (&["empty.chalice"], 0),
        (&["struct.spl"], 0),
        (&["empty.spl"], 0),
        (&["class.chalice", "macros.vpr", "good.sil"], 0),
        (&["class.chalice", "--member", "*"], 2),
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
fn flags_that_only_the_reference_knows_are_told_as_such() {
    let scratch = programs();
    for (flag, is_told) in [("--ignoreFile", true), ("--no-such-flag", false)] {
        let run = scratch.silicon(&[flag, "good.sil"]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        let note = format!("tip: `{flag}` is a flag of the reference verifier");
        assert_eq!(run.stderr.contains(&note), is_told, "{run:#?}");
    }
    let selected = ["--compat", "silicon", "--select", "m", "--ignoreFile", "good.sil"];
    assert_eq!(scratch.silicon(&selected).code, Some(0));
}

#[test]
fn questions_about_the_command_are_answered() {
    let scratch = programs();
    for (arguments, part) in [
        (&["--version"][..], "Z3"),
        (&["--help"], "Exit codes"),
        (&["-h"], "--message-format"),
        (&["--print-config", "-j", "3"], "--threads 3"),
        (&["--print-config", "--at", "a.sil:3"], "--at a.sil:3"),
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

    // Behind what is certainly false the reference says nothing.
    fs::write(scratch.path().join("two.vpr"), "method m() { assert 1 == 2 assert 3 == 4 }")
        .expect("a program can be written");
    let imitated = ["--compat", "silicon", "--numberOfErrorsToReport", "0", "two.vpr"];
    assert!(scratch.silicon(&imitated).stdout.contains("Silicon found 1 error in "));
    for (option, errors) in [("--no-assume-failures", 2), ("--assume-failures", 1)] {
        let run = scratch.silicon(&[option, "two.vpr"]);
        assert_eq!(run.stdout.matches("error[assert.failed").count(), errors, "{}", run.stdout);
    }

    let ill = scratch.silicon(&["--compat", "silicon", "ill.vpr"]);
    assert_eq!(ill.code, Some(1));
    assert!(ill.stdout.contains("Silicon found 1 error in "), "{ill:#?}");
    assert!(ill.stdout.contains("(ill.vpr@3.10--3.11)"), "{ill:#?}");
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
fn standard_input_is_sil() {
    let scratch = programs();
    for (text, code) in [(VERIFIES, 0), (FAILS, 1), (ILL_TYPED, 3), ("", 0)] {
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
fn an_empty_program_does_what_it_announces() {
    let announced = FAILS.replacen("  assert", "  //:: ExpectedOutput(assert.failed)\n  assert", 1);
    let scratch = Scratch::new(&[
        ("empty.sil", b"".as_slice()),
        ("good.sil", VERIFIES.as_bytes()),
        ("bad.vpr", FAILS.as_bytes()),
    ]);
    fs::write(scratch.path().join("fails.vpr"), announced).expect("can be written");
    for (arguments, code, met) in [
        (&["good.sil", "fails.vpr"][..], 0, "2 of 2"),
        (&["empty.sil", "good.sil"], 0, "2 of 2"),
        (&["empty.sil", "fails.vpr"], 0, "2 of 2"),
        (&["fails.vpr", "empty.sil"], 0, "2 of 2"),
        (&["empty.sil", "bad.vpr"], 1, "1 of 2"),
    ] {
        let run = scratch.silicon(&[&["--expect"], arguments].concat());
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains(met), "{arguments:?}: {run:#?}");
        let json =
            scratch.silicon(&[&["--expect", "--message-format", "json"], arguments].concat());
        for line in of_type(&lines(&json), "expectation") {
            assert_eq!(line["met"], line["file"] != "bad.vpr", "{json:#?}");
        }
    }
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

#[test]
fn a_member_that_needs_too_much_memory_is_given_up() {
    let slow = "method slow(i: Int, j: Int, k: Int) { assert i > 2 && j > 2 && k > 2 ==> \
        i * i * i * i * i + j * j * j * j * j != k * k * k * k * k }\n";
    let scratch = Scratch::new(&[("a.sil", slow)]);
    let arguments = ["a.sil", "--limit", "0", "--memory-limit", "1", "--message-format", "short"];
    let run = scratch.silicon(&arguments);
    assert_eq!(run.code, Some(4), "{run:#?}");
    assert!(run.stdout.contains("as much memory as it may have (--memory-limit)"), "{run:#?}");
}
