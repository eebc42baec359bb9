//! Answers of the commands to words that belong to other tools or are misspelt.

use sil_tests::binaries::{Scratch, run};
use sil_tests::sample::{VERIFIES, programs};

/// Checks the exit code, and what is said on standard error.
fn says(arguments: &[&str], code: i32, words: &[&str]) {
    let run = programs().silicon(arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {run:#?}");
    for word in words {
        assert!(run.stderr.contains(word), "{arguments:?}, {word}: {run:#?}");
    }
}

#[test]
fn options_and_commands_of_other_tools_lead_to_ours() {
    says(&["--format", "json", "good.sil"], 2, &["`--message-format` does that"]);
    says(&["--output-format=json", "good.sil"], 2, &["`--message-format` does that"]);
    says(&["--z3Exe", "z3", "good.sil"], 2, &["reference verifier", "--compat silicon"]);
    says(&["verify", "good.sil"], 2, &["write `silicon good.sil`"]);
    says(&["check"], 2, &["write `silicon --check FILE`"]);
    says(&["stabilty", "good.sil"], 2, &["did you mean `stability`?"]);
    says(&["--counterexample", "mapped", "good.sil"], 2, &["`mapped`", "--compat silicon"]);
    says(&["--stats", "--message-format", "short", "good.sil"], 0, &["--stats has no effect"]);
    says(&["notes.txt"], 3, &["notes.txt is read as SIL"]);
    let run = programs().silicon(&["help", "merge"]);
    assert!(run.code == Some(0) && run.stdout.contains("shards"), "{run:#?}");
}

#[test]
fn selectors_without_a_member_are_named() {
    let scratch = Scratch::new(&[("a.sil", "method summary() {}\nmethod other() {}\n")]);
    let told = |arguments: &[&str], code, words: &str| {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(code), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    };
    told(&["--member", "sumary", "a.sil"], 2, "did you mean `summary`?");
    told(&["--member", "x", "a.sil"], 2, "the members are summary, other");
    told(&["--member", "other", "--member", "sumary", "a.sil"], 0, "did you mean `summary`?");
    told(&["--at", "a.sil:9", "a.sil"], 2, "the nearest is other, from line 2 on");
    told(&["--at", "b.sil:1", "a.sil"], 2, "no program has that name");
    let run = scratch.silicon(&["--member", "summ*", "--at", "a.sil:1", "a.sil"]);
    assert!(run.code == Some(0) && run.stderr.is_empty(), "{run:#?}");
}

#[test]
fn a_missing_file_is_no_program_with_errors() {
    let run = programs().silicon(&["missing.sil"]);
    assert_eq!(run.code, Some(3));
    assert!(run.stdout.starts_with("error[file.unreadable]: cannot read missing.sil"), "{run:#?}");
    assert!(!run.stdout.contains("1:1"), "{run:#?}");
    let run = programs().silicon(&["stability", "--runs", "1", "missing.sil"]);
    assert!(run.code == Some(3) && run.stdout.contains("no verdict to compare"), "{run:#?}");
}

#[test]
fn a_log_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new(&[("a.sil", VERIFIES)]);
    let log = scratch.path().join("log");
    std::fs::create_dir(&log).expect("a directory");
    std::os::unix::fs::symlink("/dev/full", log.join("m.smt2")).expect("a link");
    let run = scratch.silicon(&["--smt-log", "log", "a.sil"]);
    assert_eq!(run.code, Some(70), "{run:#?}");
    assert!(run.stdout.contains("cannot write log/m.smt2"), "{run:#?}");
}

/// Two objects are locked in an order that nothing allows.
const UNORDERED: &str = "class C {
  method m(o: C)
    requires o != null && o != this && rd(mu) && rd(o.mu)
    requires waitlevel << this && waitlevel << o
  { acquire this; acquire o; release o; release this; }
}
";

#[test]
fn options_of_chalice_are_taken_from_the_command_line_and_named() {
    let parameter = "--chalice-parameter=-noDeadlockChecks";
    let trusted = "without deadlocks (-noDeadlockChecks)";
    let scratch = Scratch::new(&[
        ("a.chalice", UNORDERED.to_owned()),
        ("b.chalice", format!("// chalice-parameter=-noDeadlockChecks -autoFold\n{UNORDERED}")),
    ]);
    for way in ["--direct", "--no-direct"] {
        let run = scratch.silicon(&[way, "a.chalice"]);
        assert!(run.code == Some(1) && !run.stdout.contains(trusted), "{way}: {run:#?}");
        for arguments in [[way, parameter, "a.chalice"], [way, "--stats", "b.chalice"]] {
            let run = scratch.silicon(&arguments);
            assert!(run.code == Some(0) && run.stdout.contains(trusted), "{way}: {run:#?}");
        }
    }
    let run = scratch.silicon(&["b.chalice"]);
    assert!(run.stdout.contains("the original ignores `-autoFold`, too"), "{run:#?}");
    let run = scratch.silicon(&["--chalice-parameter", "-noTerminaton", "a.chalice"]);
    assert!(run.code == Some(2) && run.stderr.contains("`noTermination`"), "{run:#?}");
    let translated = run_in(&scratch, "chalice2sil", &[parameter, "a.chalice"]);
    assert!(translated.contains("noDeadlockChecks"), "{translated}");
}

fn run_in(scratch: &Scratch, command: &str, arguments: &[&str]) -> String {
    run(command, arguments, scratch.path(), b"").stdout
}

#[test]
fn programs_are_laid_out() {
    let (untidy, tidy) = ("method m()  requires true {}\n", "method m()\n  requires true\n{}\n");
    let scratch = Scratch::new(&[
        ("d/a.sil", untidy),
        ("d/b.vpr", tidy),
        ("d/c.chalice", "class C{var x:int}"),
        ("bad.sil", "method m( {}"),
    ]);
    let check = scratch.silicon(&["fmt", "--check", "d"]);
    assert_eq!((check.code, &*check.stdout), (Some(1), "d/a.sil\nd/c.chalice\n"), "{check:#?}");
    let run = scratch.silicon(&["fmt", "d"]);
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "", ""));
    assert_eq!(scratch.read("d/a.sil"), tidy);
    assert_eq!(scratch.read("d/c.chalice"), "class C { var x: int }\n");
    assert_eq!(scratch.silicon(&["fmt", "--check", "d"]).code, Some(0));
    let piped = |arguments: &[&str], text: &str| {
        let all = ["fmt"].iter().chain(arguments).copied().collect::<Vec<_>>();
        self::run("silicon", &all, scratch.path(), text.as_bytes())
    };
    assert_eq!(piped(&["-"], untidy).stdout, tidy);
    let class = piped(&["--stdin-filename", "x.chalice", "-"], "class C{invariant true}");
    assert_eq!(class.stdout, "class C { invariant true }\n");
    let bad = scratch.silicon(&["fmt", "bad.sil", "missing.sil"]);
    assert!(bad.code == Some(3) && bad.stderr.contains("parser.error"), "{bad:#?}");
    assert!(bad.stderr.contains("file.unreadable"), "{bad:#?}");
    assert_eq!(scratch.read("bad.sil"), "method m( {}", "what is no program stays");
}
