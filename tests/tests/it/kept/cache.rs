//! `--cache DIR`: a run with answers of earlier runs finds what a fresh run finds, and believes
//! nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sil_tests::binaries::{Run, Scratch, run};
use sil_tests::sample::{cached, timeless};

const PROGRAM: &str = "field f: Int

predicate cell(x: Ref) { acc(x.f) && x.f > 0 }

function get(x: Ref): Int
  requires cell(x)
  ensures result > 0
{ unfolding cell(x) in x.f }

function promise(n: Int): Int
  ensures false

method uses(x: Ref)
  requires cell(x)
{
  assert get(x) > 0
}

method relies(n: Int)
{
  var m: Int := promise(n)
  assert n > 10
}

method fails(x: Ref)
  requires acc(x.f)
{
  x.f := 1
  assert x.f == 2
}
";

fn verify(scratch: &Scratch, more: &[&str]) -> Run {
    let mut arguments = vec!["a.vpr", "--cache", "kept", "--message-format", "json"];
    arguments.extend(more);
    scratch.silicon(&arguments)
}

/// The lines of a run, without its times and without whose work it was.
fn found(run: &Run) -> Vec<Value> {
    let mut lines = timeless(run);
    for line in &mut lines {
        line.as_object_mut().expect("each line is an object").remove("cached");
    }
    lines
}

/// The files of all answers.
fn answers(scratch: &Scratch) -> Vec<PathBuf> {
    fn below(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("it is a directory") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }
    let mut all = Vec::new();
    below(&scratch.path().join("kept"), &mut all);
    all.retain(|path| path.file_name().is_some_and(|name| name != "secret"));
    all.sort();
    all
}

fn write(scratch: &Scratch, text: &str) {
    fs::write(scratch.path().join("a.vpr"), text).expect("a program can be written");
}

const ALL: [&str; 6] = ["cell", "get", "promise", "uses", "relies", "fails"];

#[test]
fn a_second_run_finds_the_same_without_work() {
    for more in [&[][..], &["--counterexample"], &["--stats", "-j1"]] {
        let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
        let (cold, warm) = (verify(&scratch, more), verify(&scratch, more));
        assert_eq!(cold.code, Some(1), "{}", cold.stderr);
        assert_eq!(cached(&cold), Vec::<String>::new());
        assert_eq!(cached(&warm), ALL);
        let is_found = |line: &Value| line["type"] != "member";
        let findings = |run: &Run| found(run).into_iter().filter(is_found).collect::<Vec<_>>();
        assert_eq!(findings(&warm), findings(&cold));
        assert_eq!(warm.code, cold.code);
    }
}

#[test]
fn a_fresh_run_finds_the_same() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    let fresh = scratch.silicon(&["a.vpr", "--message-format", "json"]);
    verify(&scratch, &[]);
    assert_eq!(found(&verify(&scratch, &[])), found(&fresh));
}

#[test]
fn moved_members_are_found_at_their_new_places() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    verify(&scratch, &[]);
    write(&scratch, &format!("// A line.\n\nfield other: Bool\n{PROGRAM}"));
    let moved = verify(&scratch, &[]);
    assert_eq!(cached(&moved), ALL);
    assert_eq!(found(&moved), found(&scratch.silicon(&["a.vpr", "--message-format", "json"])));
}

/// Whichever file comes first.
#[test]
fn what_another_file_of_the_same_run_has_found_is_not_cached() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM), ("b.vpr", PROGRAM)]);
    let cache = ["a.vpr", "b.vpr", "-j1", "--cache", "kept", "--message-format", "json"];
    assert_eq!(cached(&scratch.silicon(&cache)), Vec::<String>::new());
    assert_eq!(cached(&scratch.silicon(&cache)), [ALL, ALL].concat());
}

#[test]
fn an_edit_concerns_what_depends_on_it() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    verify(&scratch, &[]);
    // The promise of a function acts on who applies it.
    write(&scratch, &PROGRAM.replace("ensures false", "ensures true"));
    let edited = verify(&scratch, &[]);
    assert_eq!(cached(&edited), ["cell", "get", "uses", "fails"]);
    let failed = found(&edited).into_iter().filter(|line| line["verdict"] == "failed");
    let failed: Vec<Value> = failed.map(|line| line["name"].clone()).collect();
    assert!(failed.contains(&"relies".into()), "{failed:?}");
}

/// A program with annotations is one of a front end, which tells less behind an error.
#[test]
fn annotations_of_others_are_part_of_the_question() {
    let text = "method two() { assert 1 == 2 assert 3 == 4 }\n";
    let scratch = Scratch::new(&[("a.vpr", text)]);
    verify(&scratch, &[]);
    write(&scratch, &format!("{text}@src.at(\"0\", \"1.1-1.2\") method other() {{ }}\n"));
    let fresh = scratch.silicon(&["a.vpr", "--message-format", "json"]);
    assert_eq!(found(&verify(&scratch, &[])), found(&fresh));
}

/// The functions of the edited program have other numbers.
#[test]
fn axioms_are_looked_at_behind_functions_with_answers() {
    let functions = "function f(n: Int): Int { 2 }\ndomain D { axiom wrong { f(0) == 1 } }\n";
    let scratch = Scratch::new(&[("a.vpr", functions)]);
    verify(&scratch, &["--smoke"]);
    write(&scratch, &format!("function e(n: Int): Int {{ 3 }}\n{functions}"));
    let fresh = scratch.silicon(&["a.vpr", "--smoke", "--message-format", "json"]);
    assert!(fresh.stdout.contains("contradictory"), "{}", fresh.stdout);
    assert_eq!(found(&verify(&scratch, &["--smoke"])), found(&fresh));
}

#[test]
fn options_are_part_of_the_question() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    verify(&scratch, &[]);
    for option in ["--counterexample", "--smoke", "--assume-termination", "--no-native"] {
        let other = verify(&scratch, &[option]);
        assert_eq!(cached(&other), Vec::<String>::new(), "{option}");
    }
    assert_eq!(cached(&verify(&scratch, &["--limit", "1000"])), Vec::<String>::new());
    assert_eq!(cached(&verify(&scratch, &["--no-cache"])), Vec::<String>::new());
}

#[test]
fn a_run_that_is_stopped_leaves_no_answers() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    verify(&scratch, &["--time-limit", "0.000001"]);
    assert_eq!(cached(&verify(&scratch, &[])), Vec::<String>::new());
}

#[test]
fn damaged_answers_are_none() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    let fresh = found(&verify(&scratch, &[]));
    let whole: Vec<(PathBuf, Vec<u8>)> = answers(&scratch)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("an answer can be read")))
        .collect();
    assert_eq!(whole.len(), ALL.len());
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes[0] ^= 1,
        |bytes| *bytes.last_mut().expect("it is not empty") ^= 128,
        |bytes| bytes.truncate(bytes.len() / 2),
        Vec::clear,
    ];
    for damage in damages {
        for (path, bytes) in &whole {
            let mut bytes = bytes.clone();
            damage(&mut bytes);
            fs::write(path, bytes).expect("an answer can be written");
        }
        let run = verify(&scratch, &[]);
        assert_eq!(cached(&run), Vec::<String>::new());
        assert_eq!(found(&run), fresh);
    }
    // An answer to another question, and a secret of another store.
    fs::copy(&whole[0].0, &whole[1].0).expect("an answer can be copied");
    let sweep = scratch.silicon(&["cache", "verify", "kept"]);
    assert_eq!(sweep.stdout, "1 damaged answers removed\n", "{}", sweep.stderr);
    fs::write(scratch.path().join("kept/secret"), [7; 32]).expect("a secret can be written");
    assert_eq!(cached(&verify(&scratch, &[])), Vec::<String>::new());
}

#[test]
fn a_directory_that_takes_nothing_costs_only_the_answers() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM), ("kept/secret", "short")]);
    let refused = verify(&scratch, &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("no cache in kept"), "{}", refused.stderr);
    fs::remove_file(scratch.path().join("kept/secret")).expect("it is there");
    let fresh = found(&verify(&scratch, &[]));
    // Where directories of answers should be, there are files.
    for path in answers(&scratch) {
        let group = path.parent().expect("an answer lies in a directory");
        if group.is_dir() {
            fs::remove_dir_all(group).expect("it can be removed");
            fs::write(group, "").expect("a file can be written");
        }
    }
    let run = verify(&scratch, &[]);
    assert_eq!((cached(&run), found(&run)), (Vec::new(), fresh));
}

#[test]
fn only_what_is_known_is_asked_for() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    let missing = verify(&scratch, &["--cache-only"]);
    assert_eq!(missing.code, Some(4), "{}", missing.stderr);
    assert_eq!(missing.stdout.matches("the cache has no answer").count(), ALL.len());
    verify(&scratch, &[]);
    let known = verify(&scratch, &["--cache-only"]);
    assert_eq!((known.code, cached(&known).len()), (Some(1), ALL.len()));
}

#[test]
fn an_audit_verifies_again() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    let fresh = found(&verify(&scratch, &[]));
    let audited = verify(&scratch, &["--cache-audit", "100%"]);
    assert_eq!((cached(&audited), found(&audited)), (Vec::new(), fresh));
}

#[test]
fn a_cache_can_be_looked_after() {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    verify(&scratch, &[]);
    let told = scratch.silicon(&["cache", "stat", "kept"]).stdout;
    assert!(told.starts_with("6 answers, 6 of them for this build, "), "{told}");
    let told = scratch.silicon(&["cache", "gc", "kept", "--max-size", "0"]).stdout;
    assert_eq!(told, "6 answers removed\n");
    assert_eq!(cached(&verify(&scratch, &[])), Vec::<String>::new());
}

/// The directory lies beside the file that names it, for the language server, too.
#[test]
fn a_file_names_the_directory_for_all_commands() {
    let scratch = Scratch::new(&[
        ("silicon.toml", "cache = \"kept\"\nstats = true\n"),
        ("below/a.vpr", PROGRAM),
        ("file", ""),
    ]);
    let below = scratch.path().join("below");
    let verify = || run("silicon", &["a.vpr", "--message-format", "json"], &below, b"");
    assert_eq!(cached(&verify()), Vec::<String>::new());
    assert_eq!(cached(&verify()), ALL);
    assert_eq!(answers(&scratch).len(), ALL.len());
    // A server says so at once if it cannot use the directory.
    fs::write(scratch.path().join("silicon.toml"), "cache = \"file\"\n").expect("can be written");
    let complaint = |arguments: &[&str]| run("silicon", arguments, &below, b"").stderr;
    let told = complaint(&["lsp"]);
    assert!(told.contains("no cache in") && told.contains("/file"), "{told}");
    assert!(!complaint(&["lsp", "--cache", "own"]).contains("no cache in"));
}
