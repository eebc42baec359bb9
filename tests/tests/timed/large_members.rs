//! Members that are large, and verified by several threads.

use sil_tests::binaries::Scratch;
use sil_tests::sample::{FAILS, ILL_TYPED, VERIFIES, timeless};

/// Members that wait for each other: chains of functions, predicates and methods that need them,
/// with and without errors.
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

/// A program with a method of many paths.
const MANY_WAYS: &[u8] = include_bytes!("../../corpus/branches/many_ways_with_errors.vpr");

/// On the first path the assertion is too much for so few steps, on the second it fails for sure.
#[test]
fn what_one_path_gives_up_another_may_refute() {
    let _alone = super::alone();
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
    let _alone = super::alone();
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
        ("f.vpr", MANY_WAYS),
    ]);
    let run = |threads: &str, files: &[&str]| {
        let arguments = [&["--message-format", "json", "-j", threads], files].concat();
        timeless(&scratch.silicon(&arguments))
    };
    let all = ["a.sil", "b.sil", "c.sil", "d.sil", "e.sil", "f.vpr"];
    let many_ways = ["--no-native", "f.vpr"];
    for files in [&["a.sil"][..], &["e.sil"], &many_ways, &all] {
        let alone = run("1", files);
        assert!(alone.len() > if files == many_ways { 5 } else { 20 }, "{alone:?}");
        assert_eq!(alone, run("2", files));
        assert_eq!(alone, run("8", files));
    }
    let human = |threads: &str| scratch.silicon(&["-j", threads, "."]).stdout;
    assert_eq!(human("1"), human("8"));
}
