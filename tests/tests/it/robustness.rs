//! Absurd input is answered with an error or a verdict, never with a crash or a hang.
//!
//! Every program is checked in a process of its own, since an overflown stack ends the process.

use std::fmt::Write as _;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sil_tests::binaries::{self, Scratch};
use sil_tests::sample::pigeons;

/// Long enough for a slow machine, short enough to notice what is not linear.
const PATIENCE: Duration = Duration::from_secs(120);

/// Feeds a program to `silicon` and returns its exit code and what it wrote.
fn answer(name: &str, program: &[u8], arguments: &[&str]) -> (i32, String) {
    let scratch = Scratch::new(&[(name, program)]);
    within_patience(&scratch.path().join(name), arguments)
}

fn within_patience(path: &Path, arguments: &[&str]) -> (i32, String) {
    let mut output = tempfile::tempfile().expect("a temporary file can be made");
    let shared = || output.try_clone().expect("a file can be shared");
    let mut child = Command::new(binaries::path("silicon"))
        .args(["--message-format", "short"])
        .args(arguments)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(shared())
        .stderr(shared())
        .spawn()
        .expect("silicon starts");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("silicon can be waited for") {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().expect("silicon can be stopped");
            child.wait().expect("silicon can be waited for");
            panic!("no answer within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let mut said = Vec::new();
    output.rewind().and_then(|()| output.read_to_end(&mut said)).expect("it can be read");
    let said = String::from_utf8_lossy(&said).chars().take(2000).collect();
    let code = status.code().unwrap_or_else(|| panic!("silicon ended by {status}: {said}"));
    (code, said)
}

/// Checks and verifies; the verdict is one of the documented ones, and none speaks of a defect.
fn survives(name: &str, program: &str) -> i32 {
    let (code, said) = answer(name, program.as_bytes(), &["--check"]);
    assert!(matches!(code, 0 | 3), "--check ends with {code}: {said}");
    let (code, said) = answer(name, program.as_bytes(), &["--member-limit", "20"]);
    assert!(matches!(code, 0..=4), "ends with {code}: {said}");
    code
}

#[test]
fn one_question_that_takes_too_long() {
    let program = pigeons("m", 18);
    let (code, said) =
        answer("pigeons.sil", program.as_bytes(), &["--limit", "0", "--member-limit", "1"]);
    assert_eq!(code, 4);
    assert!(said.contains("timeout.error"), "{said}");
}

fn method(body: &str) -> String {
    format!("field f: Int\n\nmethod m(x: Ref, b: Bool, n: Int) {{\n{body}\n}}\n")
}

#[test]
fn parentheses_100_000_deep() {
    let deep = 100_000;
    let code = survives(
        "parens.sil",
        &method(&format!("assert {}b{} || true", "(".repeat(deep), ")".repeat(deep))),
    );
    assert_eq!(code, 3);
    survives("unclosed.sil", &method(&format!("assert {}", "(".repeat(deep))));
    survives("closed.sil", &method(&format!("assert {}", ")".repeat(deep))));
}

#[test]
fn blocks_and_prefixes_100_000_deep() {
    let deep = 100_000;
    for (name, open, middle, close) in [
        ("blocks.sil", "{", "assert true", "}"),
        ("ifs.sil", "if (b) {", "assert true", "}"),
        ("whiles.sil", "while (b) {", "assert true", "}"),
        ("nots.sil", "assert ", "", ""),
    ] {
        let middle = if name == "nots.sil" {
            format!("{}b || true", "!".repeat(deep))
        } else {
            middle.into()
        };
        let count = if name == "nots.sil" { 1 } else { deep };
        survives(name, &method(&format!("{}{middle}{}", open.repeat(count), close.repeat(count))));
    }
    survives("old.sil", &method(&format!("assert {}b{}", "old(".repeat(deep), ")".repeat(deep))));
    survives("brackets.sil", &method(&format!("assert {}", "[".repeat(deep))));
    survives("comment.sil", &method(&"/*".repeat(deep)));
}

#[test]
fn chains_100_000_long() {
    let long = 100_000;
    for (name, operator, operand) in [
        ("and.sil", " && ", "b"),
        ("or.sil", " || ", "b"),
        ("implies.sil", " ==> ", "b"),
        ("equals.sil", " == ", "b"),
    ] {
        let chain = vec![operand; long].join(operator);
        survives(name, &method(&format!("assume b\nassert {chain}")));
    }
    let sum = vec!["1"; long].join(" + ");
    survives("sum.sil", &method(&format!("assert {sum} > 0")));
    let elseifs = " elseif (b) { assert true }".repeat(long);
    survives("elseif.sil", &method(&format!("if (b) {{ }}{elseifs}")));
}

#[test]
fn statements_100_000() {
    let mut body = String::from("var i: Int := 0\n");
    for _ in 0..100_000 {
        body.push_str("i := i + 1\n");
    }
    survives("statements.sil", &method(&body));
}

#[test]
fn members_3_000() {
    let mut program = String::new();
    for i in 0..3_000 {
        let _ = writeln!(program, "function f{i}(x: Int): Int {{ x + {i} }}");
    }
    survives("members.sil", &program);
}

#[test]
fn numbers_with_100_000_digits() {
    let huge = "9".repeat(100_000);
    let code = survives("huge.sil", &method(&format!("assert {huge} > {huge} - 1")));
    assert!(matches!(code, 0 | 3 | 4), "{code}");
    survives("index.sil", &method(&format!("assert Seq(1)[{huge}] == 1")));
    survives("weight.sil", &method(&format!("assert @weight(\"{huge}\")(true)")));
}

#[test]
fn names_with_100_000_letters() {
    let long = "a".repeat(100_000);
    let program = format!("method {long}({long}_x: Int) {{ assert {long}_x == {long}_x }}\n");
    survives("names.sil", &program);
}

#[test]
fn macros_that_never_end() {
    survives("loop.sil", &format!("define A(x) A(x)\n{}", method("assert A(b)")));
    survives("pair.sil", &format!("define A B\ndefine B A\n{}", method("assert A")));
    let mut doubling = String::from("define M0(x) x + x\n");
    for i in 1..60 {
        let _ = writeln!(doubling, "define M{i}(x) M{}(x) + M{}(x)", i - 1, i - 1);
    }
    survives("doubling.sil", &format!("{doubling}{}", method("assert M59(n) == n")));
    survives("statement.sil", &format!("define S {{ S S }}\n{}", method("S")));
}

/// A program that imports a pipe, to which nobody writes, is answered; and the pipe itself is no
/// program.
fn pipe(name: &str, program: &str) {
    let scratch = Scratch::new(&[(name, program)]);
    for pipe in ["it.pipe", "it.sil"] {
        let made = Command::new("mkfifo").arg(scratch.path().join(pipe)).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    }
    let (code, said) = within_patience(scratch.path(), &[]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no regular file"), "{said}");
}

#[test]
fn imports_of_oneself() {
    survives("self.sil", "import \"self.sil\"\nmethod m() { assert true }\n");
    survives("nowhere.sil", "import \"nowhere/at/all.sil\"\n");
    pipe("pipe.sil", "import \"it.pipe\"\n");
    pipe("pipe.spl", "include \"it.pipe\"");
    survives("device.sil", "import \"../../../../../../../../dev/zero\"\n");
    survives("self.spl", "include \"self.spl\" struct S {}");
    survives("nowhere.spl", "include \"nowhere/at/all.spl\"");
    survives("device.spl", "include \"../../../../../../../../dev/zero\"");
}

#[test]
fn bytes_of_all_kinds() {
    for (name, bytes) in [
        ("zeros.sil", &[0_u8; 10_000][..]),
        ("high.sil", &[0xff; 1000]),
        ("bom.sil", b"\xef\xbb\xbfmethod m() { assert true }"),
        ("crlf.sil", b"method m()\r\n{\r\n  assert false\r\n}\r\n"),
        ("quote.sil", b"@key(\"unclosed method m() {}"),
        ("controls.sil", b"method m() { assert \x1b[31m true }"),
    ] {
        for name in
            [name.to_owned(), name.replace(".sil", ".chalice"), name.replace(".sil", ".spl")]
        {
            let (code, said) = answer(&name, bytes, &[]);
            assert!(matches!(code, 0..=4), "{name} ends with {code}: {said}");
            assert!(!said.contains('\u{1b}'), "{name}: escape sequences reach the terminal");
        }
    }
}

#[test]
fn chalice_100_000_deep_and_long() {
    let class = |body: &str| format!("class C {{ method m(b: bool) {{ {body} }} }}\n");
    let deep = 100_000;
    for (name, body) in [
        ("parens.chalice", format!("assert {}b{};", "(".repeat(deep), ")".repeat(deep))),
        ("blocks.chalice", format!("{}{}", "{".repeat(deep), "}".repeat(deep))),
        ("nots.chalice", format!("assert {}b;", "!".repeat(deep))),
        ("and.chalice", format!("assert {};", vec!["b"; deep].join(" && "))),
        ("sum.chalice", format!("assert {} > 0;", vec!["1"; deep].join(" + "))),
        ("statements.chalice", "assert true; ".repeat(deep)),
        ("number.chalice", format!("assert {} > 0;", "9".repeat(deep))),
        ("elses.chalice", format!("{}{{ }}", "if (b) { } else ".repeat(deep))),
    ] {
        survives(name, &class(&body));
    }
    let long = "if (b) { } else ".repeat(2_000);
    assert_eq!(survives("long.chalice", &class(&format!("{long}{{ assert !b; }}"))), 0);
}

#[test]
fn spl_100_000_deep_and_long() {
    let within = |body: &str| {
        format!(
            "options \"-symbexec-v2\" procedure m(b: Bool, n: Int) returns (r: Int) {{ {body} }}\n"
        )
    };
    let deep = 100_000;
    for (name, body) in [
        ("parens.spl", format!("assert {}b{};", "(".repeat(deep), ")".repeat(deep))),
        ("blocks.spl", format!("{}{}", "{".repeat(deep), "}".repeat(deep))),
        ("nots.spl", format!("assert {}b;", "!".repeat(deep))),
        ("ifs.spl", format!("{} r := 1;", "if (b) ".repeat(deep))),
        ("elses.spl", "if (b) r := 1; else ".repeat(300) + "r := 2;"),
        ("and.spl", format!("assert {};", vec!["b"; deep].join(" && "))),
        ("star.spl", format!("assert {};", vec!["b"; deep].join(" &*& "))),
        ("sum.spl", format!("assert {} > 0;", vec!["1"; deep].join(" + "))),
        ("chain.spl", format!("assert {};", vec!["n"; deep].join(" <= "))),
        ("statements.spl", "assert true; ".repeat(deep)),
        ("number.spl", format!("assert {} > 0;", "9".repeat(deep))),
        ("comment.spl", "/* ".repeat(deep)),
    ] {
        survives(name, &within(&body));
    }
    let nested = 900;
    for (name, body) in [
        (
            "nested_parens.spl",
            format!("assert {}b{};", "(b && ".repeat(nested), ")".repeat(nested)),
        ),
        ("nested_ifs.spl", format!("{} r := 1;", "if (b) ".repeat(nested))),
        (
            "nested_olds.spl",
            format!("assert {}n{} == n;", "old(".repeat(nested), ")".repeat(nested)),
        ),
    ] {
        survives(name, &within(&body));
    }
}
