//! Every command answers bad input and bad arguments with a message that says what is wrong and
//! where, and an exit code that tells it; the other inputs get their results all the same.

use std::fs::File;
use std::process::{Command, Stdio};

use sil_tests::binaries::{self, Run, Scratch};

const CHALICE: &str = "class C {\n  method main() { assert true; }\n}\n";
const SPL: &str = "procedure main() { assert true; }\n";
const SIL: &str = "method main() { assert true }\n";

/// Each command with the end of its programs' names and one that is right.
const COMMANDS: [(&str, &str, &str); 6] = [
    ("silicon", "sil", SIL),
    ("silicon", "chalice", CHALICE),
    ("silicon", "spl", SPL),
    ("chalice2sil", "chalice", CHALICE),
    ("chalice-run", "chalice", CHALICE),
    ("spl2sil", "spl", SPL),
];

/// A run of a command about one program.
fn about(command: &str, name: &str, program: &[u8]) -> Run {
    let scratch = Scratch::new(&[(name, program)]);
    binaries::run(command, &[name], scratch.path(), b"")
}

fn said(run: &Run) -> String {
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn texts_of_all_kinds_are_answered_at_their_place() {
    let deep = "(".repeat(100_000);
    for (command, end, right) in COMMANDS {
        let name = format!("p.{end}");
        // Marks that an editor or another system adds are no part of the program.
        for same in [format!("\u{feff}{right}"), right.replace('\n', "\r\n")] {
            let run = about(command, &name, same.as_bytes());
            assert_eq!(run.code, Some(0), "{command} {end}: {run:#?}");
        }
        for (wrong, place) in [
            (&b"// \xc3\xa4\n\xff"[..], "2:1"),
            (&[0xff, 0xfe, 0], "1:1"),
            (b"\0\0\0", "1:1"),
            (deep.as_bytes(), "1:1001"),
            (b"\x1b[31m", "1:1"),
            ("x".repeat(1_000_000).as_bytes(), "1:1"),
        ] {
            let run = about(command, &name, wrong);
            let said = said(&run);
            let shown = &said[..said.len().min(3000)];
            assert_eq!(run.code, Some(3), "{command} {end}: {shown}");
            let is_told = said.contains(&format!("{name}:{place}"));
            assert!(is_told || end == "sil" && place == "1:1001", "{command} {place}: {shown}");
            // `chalice-run` quotes lines whole.
            assert!(said.len() < 3000 || command == "chalice-run", "{command} {end}: {shown}");
            assert!(!said.contains('\u{1b}'), "{command} {end}: {shown}");
        }
    }
}

#[test]
fn what_is_no_file_is_answered_and_the_others_get_their_results() {
    for (command, end, right) in COMMANDS {
        let right_name = format!("right.{end}");
        let scratch = Scratch::new(&[(&*right_name, right)]);
        std::fs::create_dir(scratch.path().join(format!("folder.{end}"))).expect("can be made");
        std::os::unix::fs::symlink("nowhere", scratch.path().join(format!("dangling.{end}")))
            .expect("can be made");
        for wrong in ["missing", "dangling", "folder"] {
            let wrong = format!("{wrong}.{end}");
            if command == "silicon" && wrong.starts_with("folder") {
                continue;
            }
            let run = binaries::run(command, &[&wrong], scratch.path(), b"");
            assert_eq!(run.code, Some(3), "{command} {wrong}: {run:#?}");
            assert!(said(&run).contains(&wrong), "{command} {wrong}: {run:#?}");
            if command == "chalice-run" {
                continue;
            }
            let run = binaries::run(command, &[&wrong, &right_name], scratch.path(), b"");
            assert_eq!(run.code, Some(3), "{command} {wrong}: {run:#?}");
            let expected =
                if command == "silicon" { "1 of 1 members verified" } else { "method main" };
            let has_result = run.stdout.contains(expected) || run.stdout.contains("_main");
            assert!(has_result, "{command} {wrong}: {run:#?}");
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    for (command, end, right) in COMMANDS {
        let name = format!("right.{end}");
        let scratch = Scratch::new(&[(&*name, right)]);
        let without_value = if command == "chalice-run" {
            "--seed"
        } else if command == "silicon" {
            "--join"
        } else {
            "--form"
        };
        for (arguments, told) in [
            (vec![], "required"),
            (vec!["--no-such-flag", &name], "--no-such-flag"),
            (vec![&*name, without_value], without_value),
            (vec![without_value, "wrong", &name], "wrong"),
        ] {
            if command == "silicon" && arguments.is_empty() {
                continue;
            }
            let run = binaries::run(command, &arguments, scratch.path(), b"");
            assert_eq!(run.code, Some(2), "{command} {arguments:?}: {run:#?}");
            assert!(run.stderr.contains(told), "{command} {arguments:?}: {run:#?}");
            assert_eq!(run.stdout, "", "{command} {arguments:?}");
        }
    }
}

/// Contradictions on a command line, with what is said of them.
const CONTRADICTIONS: [(&str, &[&str], &str); 16] = [
    ("silicon", &["-", "-"], "standard input can be read only once"),
    ("silicon", &["a/p.sil", "empty"], "no program found in empty"),
    ("silicon", &["a/p.sil", "--state", "a/p.sil:9"], "at a/p.sil:9\n"),
    ("chalice2sil", &["-", "-"], "standard input can be read only once"),
    ("chalice2sil", &["a/p.chalice", "-o", "./a/p.chalice"], "is an input: it is not written over"),
    ("chalice2sil", &["a/p.chalice", "b/p.chalice", "-o", "a"], "would both be written to a/p.sil"),
    ("chalice2sil", &["a/p.chalice", "--check", "--emit", "ast"], "--check"),
    ("chalice2sil", &["a/p.chalice", "--explain", "--emit", "ast"], "--explain"),
    ("spl2sil", &["-", "-"], "standard input can be read only once"),
    ("spl2sil", &["a/p.spl", "--check", "-o", "p.sil"], "--check"),
    ("chalice-run", &["-", "--with", "-"], "standard input can be read only once"),
    ("chalice-run", &["a/p.chalice", "--generate", "--", "5"], "--generate"),
    ("chalice-run", &["a/p.chalice", "--inputs", "5"], "--generate"),
    ("chalice-run", &["a/p.chalice", "--schedules", "0"], "a number from 1 on"),
    (
        "chalice-run",
        &["a/p.chalice", "--entry", "C.n", "--", "((1"],
        "argument 1: an integer expected, not `((1`",
    ),
    (
        "chalice-run",
        &["a/p.chalice", "--entry", "C.n"],
        "C.n has 1 parameter, and 0 arguments are given",
    ),
];

#[test]
fn what_makes_no_sense_together_is_refused() {
    let chalice = "class C { method main() { } method n(x: int) requires x > 0 { } }\n";
    let files = [
        ("a/p.sil", SIL),
        ("a/p.chalice", chalice),
        ("b/p.chalice", chalice),
        ("a/p.spl", SPL),
        ("empty/readme", ""),
    ];
    for (command, arguments, told) in CONTRADICTIONS {
        let scratch = Scratch::new(&files);
        let run = binaries::run(command, arguments, scratch.path(), b"");
        assert_eq!(run.code, Some(2), "{command} {arguments:?}: {run:#?}");
        assert!(run.stderr.contains(told), "{command} {arguments:?}: {run:#?}");
        for (name, text) in files {
            let after = std::fs::read_to_string(scratch.path().join(name));
            assert_eq!(after.expect("it is still there"), text, "{command} {arguments:?}");
        }
    }
}

#[test]
fn names_of_outputs_keep_what_names_of_inputs_have() {
    let scratch = Scratch::new(&[("a.b.chalice", CHALICE), ("a.c.chalice", CHALICE)]);
    let arguments = ["a.b.chalice", "a.c.chalice", "a.b.chalice", "-o", "out"];
    let run = binaries::run("chalice2sil", &arguments, scratch.path(), b"");
    assert_eq!(run.code, Some(0), "{run:#?}");
    for name in ["out/a.b.sil", "out/a.c.sil"] {
        assert!(scratch.path().join(name).exists(), "{name}");
    }
}

/// The mark that some editors write at the start of a file has no column, also in the second of two
/// files.
#[test]
fn a_mark_at_the_start_has_no_column() {
    let wrong = "\u{feff}class D { method go() { assert false; } }\n";
    let scratch = Scratch::new(&[("c.chalice", CHALICE), ("d.chalice", wrong)]);
    let shown = " d.chalice:1:25\n  │\n1 │ class D { method go() { assert false; } }\n  │                         ^^^";
    let arguments = ["c.chalice", "--with", "d.chalice", "--entry", "D.go"];
    let run = binaries::run("chalice-run", &arguments, scratch.path(), b"");
    assert!(run.code == Some(1) && run.stderr.contains(shown), "{run:#?}");
    let run = binaries::run("silicon", &["d.chalice"], scratch.path(), b"");
    assert!(run.code == Some(1) && run.stdout.contains(shown), "{run:#?}");
}

#[test]
fn a_full_disk_is_told() {
    for (command, end, right) in COMMANDS {
        let name = format!("right.{end}");
        let scratch = Scratch::new(&[(&*name, right)]);
        let full = File::options().write(true).open("/dev/full").expect("the system has one");
        let arguments = if command == "chalice-run" {
            vec!["--message-format", "json", &name]
        } else {
            vec![&*name]
        };
        let output = Command::new(binaries::path(command))
            .args(&arguments)
            .current_dir(scratch.path())
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .expect("the command starts");
        let run = Run::from(output);
        assert_ne!(run.code, Some(0), "{command} {end}: {run:#?}");
        let is_told = run.stderr.contains("No space left on device");
        assert!(is_told && !run.stderr.contains("panicked"), "{command} {end}: {run:#?}");
    }
}

#[test]
fn a_device_without_end_is_refused() {
    let scratch = Scratch::empty();
    for command in ["chalice2sil", "chalice-run", "spl2sil"] {
        let run = binaries::run(command, &["/dev/zero"], scratch.path(), b"");
        assert_eq!(run.code, Some(3), "{command}: {run:#?}");
        let why = "/dev/zero: the file is larger than 1 GiB";
        assert!(said(&run).contains(why), "{command}: {run:#?}");
    }
}

#[test]
fn a_client_that_does_not_speak_the_protocol_of_editors_is_told() {
    let scratch = Scratch::empty();
    let farewell = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let farewell = format!("Content-Length: {}\r\n\r\n{farewell}", farewell.len());
    for input in ["", "method m() {}\n", "Content-Length: 3\r\n\r\n{}}", &farewell] {
        let run = binaries::run("silicon", &["lsp"], scratch.path(), input.as_bytes());
        assert_eq!(run.code, Some(1), "{input:?}: {run:#?}");
        assert!(said(&run).contains("error: the client does not speak the protocol"), "{run:#?}");
    }
}
