//! Options in the first line of a program.

use chalice::options::{Dialect, parse};
use chalice::{Options, SourceFile, check};

#[test]
fn options_are_in_the_first_line() {
    let options =
        Options::of("// chalice-parameter=-checkLeaks -defaults -autoFold\nclass C {}", &[]);
    assert!(options.check_leaks && options.auto_magic && options.deadlock_checks);
    assert_eq!(options.dialect, Dialect::Original);
    let thesis = Options::of("// chalice-parameter=-dialect:thesis", &[]);
    assert_eq!(thesis.dialect, Dialect::Thesis);
    assert!(parse("-dialect:original").is_ok() && parse("-dialect").is_err());
    assert_eq!(options.defaults, 3);
    assert_eq!(Options::of("//chalice-parameter=-defaults:1", &[]).defaults, 1);
    assert_eq!(Options::of("\n// chalice-parameter=-checkLeaks", &[]), Options::default());
}

#[test]
fn options_of_a_command_line_are_added() {
    let asked = ["-noTermination".to_owned(), "checkLeaks".to_owned()];
    let options = Options::of("// chalice-parameter=-noDeadlockChecks", &asked);
    assert!(!options.termination && !options.deadlock_checks && options.check_leaks);
    assert_eq!(options.trusted().count(), 2);
    assert_eq!(Options::default().trusted().count(), 0);
}

#[test]
fn unknown_words_are_named() {
    let text = "// chalice-parameter=-checkLeak -defaults:x -defaults:1";
    let (_, found) = check(&SourceFile::new("t.chalice", text));
    let quoted: Vec<_> = found.iter().map(|one| &text[one.span.range()]).collect();
    assert_eq!(quoted, ["-checkLeak", "-defaults:x"]);
    assert!(found[0].message.contains("did you mean `checkLeaks`?"), "{found:?}");
    assert!(parse("-noTermination").is_ok() && parse("-noTermination:1").is_err());
}
