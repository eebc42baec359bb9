//! `silicon stability`: what is the same in all runs, and what is not.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sil_tests::binaries::{Run, Scratch};
use sil_tests::schema::violations;

const STABLE: &str = "method easy(x: Int)
  requires x > 2
{
  assert x * 1 > 1
}

function broken(x: Int): Int
  ensures result > x
{ x }
";

/// The last assertion has a proof of some thousand steps, which some seeds miss for a long time.
const FLIPS: &str = "method easy(x: Int)
  requires x > 2
{
  assert x * 1 > 1
}

method hard(a: Int, b: Int, c: Int, d: Int)
  requires 0 < a && a < b && b < c && c < d
{
  assert (a + b) * (c + d) * (a + c) > a * c * a
  assert (b + c) * (c + d) * (a + d) > a * c * b
  assert a * b + c * d > a * c + b * d - (d - a) * (c - b) * 2 - 1
}
";

fn stability(scratch: &Scratch, arguments: &[&str]) -> Run {
    scratch.silicon(&[&["stability"], arguments].concat())
}

/// The lines on members, which are as the schema says.
fn told(scratch: &Scratch, arguments: &[&str], code: i32) -> Vec<Value> {
    let run = stability(scratch, &[&["--message-format", "json"], arguments].concat());
    assert_eq!(run.code, Some(code), "{run:#?}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas/output.schema.json");
    let schema = fs::read_to_string(docs).expect("the schema is in docs");
    let schema: Value = serde_json::from_str(&schema).expect("a schema is JSON");
    let lines = run.stdout.lines().map(|line| {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        assert_eq!(violations(&schema, &value), Vec::<String>::new(), "{line}");
        value
    });
    lines.collect()
}

fn verdicts(line: &Value) -> Vec<&str> {
    let runs = line["runs"].as_array().expect("a list");
    runs.iter().map(|run| run["verdict"].as_str().expect("a verdict")).collect()
}

#[test]
fn verdicts_that_stay_are_stable_whatever_they_are() {
    let _alone = super::alone();
    let scratch = Scratch::new(&[("a.vpr", STABLE)]);
    let lines = told(&scratch, &["a.vpr", "--runs", "3"], 0);
    let [easy, broken] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!((&easy["name"], verdicts(easy)), (&"easy".into(), vec!["verified"; 4]));
    assert_eq!((&broken["name"], verdicts(broken)), (&"broken".into(), vec!["failed"; 4]));
    assert!(lines.iter().all(|line| line["flips"] == false), "{lines:#?}");
    let run = stability(&scratch, &["a.vpr", "--runs", "3"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "a.vpr: 0 of 2 verdicts flip in 4 runs\n");
}

#[test]
fn verdicts_that_depend_on_seeds_flip() {
    let _alone = super::alone();
    let scratch = Scratch::new(&[("a.vpr", FLIPS)]);
    let limited = ["a.vpr", "--limit", "5000", "--near", "100"];
    let lines = told(&scratch, &limited, 1);
    let [easy, hard] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!((&easy["flips"], verdicts(easy)), (&false.into(), vec!["verified"; 8]));
    let of_hard = verdicts(hard);
    assert_eq!(hard["flips"], true);
    assert!(of_hard.contains(&"verified") && of_hard.contains(&"inconclusive"), "{of_hard:?}");
    let [near] = &hard["near"].as_array().expect("a list")[..] else { panic!("{hard:#}") };
    assert_eq!((&near["kind"], &near["start"]["line"]), (&"assert".into(), &12.into()));
    let steps = |which: &str| near["steps"][which].as_u64().expect("a number");
    assert!(steps("least") < steps("most") && 5000 <= steps("most"), "{near:#}");
    // The same seeds yield the same, whatever the number of threads; and people are told the same.
    for threads in ["1", "2"] {
        assert_eq!(lines, told(&scratch, &[&limited[..], &["-j", threads]].concat(), 1));
    }
    let run = stability(&scratch, &limited);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stdout.contains("a.vpr:7: method hard flips: "), "{run:#?}");
    assert!(run.stdout.contains("a.vpr:12: assert in hard is near its limit: "), "{run:#?}");
    assert!(run.stdout.ends_with("a.vpr: 1 of 2 verdicts flip in 8 runs\n"), "{run:#?}");
    // Nothing is near a limit that there is not.
    let unlimited = ["a.vpr", "--limit", "0", "--near", "0", "--member", "easy", "--runs", "1"];
    let lines = told(&scratch, &unlimited, 0);
    assert!(lines.iter().all(|line| line["near"].as_array().is_some_and(Vec::is_empty)));
}

#[test]
fn what_cannot_be_verified_is_said() {
    let _alone = super::alone();
    let scratch = Scratch::new(&[("ill.sil", "method m(x: Int) { assert x }"), ("no.sil", "")]);
    for (arguments, code, words) in [
        (&["ill.sil"][..], 3, "ill.sil:1:27: "),
        (&["missing.sil"], 3, "missing.sil"),
        (&["no.sil"], 2, "nothing to verify"),
        (&[], 2, "Usage: silicon stability"),
        (&["ill.sil", "--runs", "0"], 2, "--runs"),
    ] {
        let run = stability(&scratch, arguments);
        assert_eq!(run.code, Some(code), "{run:#?}");
        assert!(run.stderr.contains(words), "{run:#?}");
    }
}
