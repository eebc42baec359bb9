//! One run as several: what `silicon merge` makes of shards is what one run finds, and nothing else
//! is merged.

use std::fs;

use serde_json::Value;
use sil_tests::binaries::{Run, Scratch};
use sil_tests::sample::timeless;

const MEMBERS: &str = "field f: Int

predicate cell(x: Ref) { acc(x.f) && x.f > 0 }

predicate ill(x: Ref) { x.f > 0 }

function get(x: Ref): Int
  requires cell(x)
  ensures result > 0
{ unfolding cell(x) in x.f }

function wrong(n: Int): Int
  ensures result > n
{ n }

domain D { function d(i: Int): Int  axiom { forall i: Int :: d(i) > i } }

method uses(x: Ref)
  requires cell(x)
{
  assert get(x) > 0
  assert d(3) > 3
}

method relies(n: Int)
{
  assert wrong(n) > n
  assert false
}

method opens(x: Ref)
  requires ill(x)
{
  unfold ill(x)
  assert x.f > 1
}

method lacks(x: Ref)
  requires acc(x.f, none)
{
  x.f := 1
}
";

fn programs() -> Scratch {
    Scratch::new(&[
        ("a/members.vpr", MEMBERS),
        ("a/ill_typed.sil", "method m() { assert 1 }\n"),
        ("a/small.sil", "method m(x: Int) requires x > 1 { assert x > 0 }\n"),
        ("a/fields.vpr", "field g: Int\n"),
        ("a/empty.vpr", "\n"),
        (
            "a/c.chalice",
            "class C { var x: int; method m() { x := 1; } method n() { assert 1 < 2; } }\n",
        ),
    ])
}

/// Verifies in `of` shards, and names the files with what they have found.
fn shards(scratch: &Scratch, of: usize, more: &[&str]) -> Vec<String> {
    let save = |number| {
        let (shard, file) = (format!("{number}/{of}"), format!("{number}.saved"));
        let mut arguments = vec!["a", "--shard", &shard, "--save", &file];
        arguments.extend(more);
        let run = scratch.silicon(&arguments);
        assert!(run.stderr.contains(&format!("note: shard {shard} has ")), "{}", run.stderr);
        file
    };
    (1..=of).map(save).collect()
}

fn merge(scratch: &Scratch, files: &[String], more: &[&str]) -> Run {
    let mut arguments = vec!["merge"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(more);
    scratch.silicon(&arguments)
}

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn shards_make_one_run() {
    let scratch = programs();
    let whole = scratch.silicon(&["a", "--message-format", "json"]);
    assert_eq!(whole.code, Some(3), "{}", whole.stderr);
    let failed = ["relies", "wrong", "ill", "lacks"];
    let verdicts = timeless(&whole).into_iter().filter(|line| line["verdict"] == "failed");
    let names: Vec<Value> = verdicts.map(|line| line["name"].clone()).collect();
    assert!(failed.iter().all(|name| names.contains(&(*name).into())), "{names:?}");
    for of in [1, 2, 3, 12] {
        let mut files = shards(&scratch, of, &[]);
        files.reverse();
        let merged = merge(&scratch, &files, &JSON);
        assert_eq!(merged.code, whole.code, "{of}: {}", merged.stderr);
        assert_eq!(timeless(&merged), timeless(&whole), "{of}");
    }
}

#[test]
fn reports_are_those_of_one_run() {
    let scratch = programs();
    let of_whole = ["a", "--report", "sarif=whole.sarif", "--counterexample"];
    scratch.silicon(&of_whole);
    let files = shards(&scratch, 3, &["--counterexample"]);
    let merged = merge(&scratch, &files, &["--report", "sarif=merged.sarif"]);
    assert_eq!(merged.code, Some(3), "{}", merged.stderr);
    assert_eq!(scratch.read("merged.sarif"), scratch.read("whole.sarif"));
}

#[test]
fn each_shard_verifies_its_own_members_only() {
    let scratch = programs();
    let mut names = Vec::new();
    for number in 1..=3 {
        let shard = format!("{number}/3");
        let run = scratch.silicon(&["a", "--shard", &shard, "--save", "x", JSON[0], JSON[1]]);
        let members = timeless(&run).into_iter().filter(|line| line["type"] == "member");
        names.extend(members.map(|line| format!("{} {}", line["file"], line["name"])));
    }
    let whole = scratch.silicon(&["a", JSON[0], JSON[1]]);
    let all = timeless(&whole).into_iter().filter(|line| line["type"] == "member");
    let mut all: Vec<String> =
        all.map(|line| format!("{} {}", line["file"], line["name"])).collect();
    all.sort();
    names.sort();
    assert_eq!(names, all);
}

#[test]
fn members_of_a_lost_shard_are_not_verified() {
    let scratch = Scratch::new(&[("a/small.sil", "method m() {}\nmethod n() {}\nmethod o() {}\n")]);
    let files = shards(&scratch, 3, &[]);
    assert_eq!(merge(&scratch, &files, &[]).code, Some(0));
    for lost in 0..3 {
        let mut files = files.clone();
        files.remove(lost);
        let merged = merge(&scratch, &files, &["--message-format", "short"]);
        assert_eq!(merged.code, Some(4), "{}", merged.stdout);
        let why = format!("gave up: shard {}/3 is missing", lost + 1);
        assert_eq!(merged.stdout.matches(&why).count(), 1, "{}", merged.stdout);
    }
}

#[test]
fn a_shard_that_was_stopped_leaves_members_open() {
    let scratch = programs();
    let mut files = shards(&scratch, 2, &[]);
    scratch.silicon(&["a", "--shard", "2/2", "--save", "late.saved", "--time-limit", "0.000001"]);
    files[1] = "late.saved".to_owned();
    let merged = merge(&scratch, &files, &JSON);
    let lines = timeless(&merged);
    let is_open = |line: &&Value| line["type"] == "member" && line["verdict"] == "inconclusive";
    assert!(lines.iter().filter(is_open).count() > 0, "{}", merged.stdout);
}

#[test]
fn what_is_not_of_one_run_is_refused() {
    let scratch = programs();
    let files = shards(&scratch, 3, &[]);
    let refused = |files: &[String], why: &str| {
        let merged = merge(&scratch, files, &[]);
        assert_eq!(merged.code, Some(2), "{why}: {}", merged.stderr);
        assert_eq!(merged.stdout, "", "{why}");
        assert!(merged.stderr.contains(why), "{why}: {}", merged.stderr);
    };
    let with = |file: &str| vec![files[0].clone(), file.to_owned(), files[2].clone()];
    refused(&[files[0].clone(), files[0].clone()], "shard 1/3 is given twice");
    refused(&with("no such file"), "cannot read no such file");
    refused(&with("a/small.sil"), "is no run that was saved");
    let save = |shard: &str, more: &[&str]| {
        let mut arguments = vec!["--shard", shard, "--save", "other.saved"];
        arguments.extend(more);
        scratch.silicon(&arguments);
        with("other.saved")
    };
    refused(&save("2/4", &["a"]), "there are as many shards as the second number says");
    refused(&save("2/3", &["a/small.sil"]), "they have other inputs");
    refused(&save("2/3", &["a", "--join", "never"]), "--join never");
    let cost = |name| {
        let file = r#""file":"a/members.vpr","kind":"method""#;
        format!(r#"{{"type":"member",{file},"name":"{name}","time_ms":9}}"#)
    };
    let costs = ["opens", "relies", "lacks", "uses"].map(cost).join("\n");
    fs::write(scratch.path().join("costs.json"), costs).expect("can be written");
    refused(&save("2/3", &["a", "--costs", "costs.json"]), "other costs");
    fs::write(scratch.path().join("a/members.vpr"), MEMBERS.replace("> 1", "> 0")).expect("can be");
    refused(&save("2/3", &["a"]), "other texts of a/members.vpr");
}

#[test]
fn a_file_with_another_beginning_is_refused() {
    let scratch = programs();
    let files = shards(&scratch, 2, &[]);
    let text = scratch.read(&files[1]);
    let version = text.replace("\"silicon_saved\":4", "\"silicon_saved\":5");
    let made_by = text.replace("\"made_by\":\"", "\"made_by\":\"x");
    let engine = text.replace("\"engine\":\"", "\"engine\":\"x");
    let shard = text.replace("\"number\":2", "\"number\":3");
    for (index, altered) in [&version, &made_by, &engine, &shard, ""].iter().enumerate() {
        assert_ne!(*altered, text, "{index}");
        fs::write(scratch.path().join("altered"), altered).expect("can be written");
        let merged = merge(&scratch, &[files[0].clone(), "altered".to_owned()], &[]);
        assert_eq!(merged.code, Some(2), "{index}: {}", merged.stdout);
    }
}

/// The part of a file that is left counts, and no more.
#[test]
fn damaged_parts_of_a_shard_are_not_verified() {
    let scratch = Scratch::new(&[("a/members.vpr", MEMBERS)]);
    let whole = timeless(&scratch.silicon(&["a", JSON[0], JSON[1]]));
    let files = shards(&scratch, 2, &[]);
    let text = scratch.read(&files[1]);
    let lines = text.split_inclusive('\n').count();
    for damaged in 1..lines {
        let lines = text.split_inclusive('\n').enumerate();
        let altered = lines.map(|(index, line)| match index == damaged {
            true if damaged % 2 == 0 => String::new(),
            true => line.replace("\"Verified\"", "\"Failed\"").replacen('0', "1", 1),
            false => line.to_owned(),
        });
        fs::write(scratch.path().join("altered"), altered.collect::<String>()).expect("can be");
        let merged = merge(&scratch, &[files[0].clone(), "altered".to_owned()], &JSON);
        for line in timeless(&merged).iter().filter(|line| line["type"] == "member") {
            assert!(whole.contains(line) || line["verdict"] == "inconclusive", "{line}");
        }
        let is_left = text.split_inclusive('\n').nth(damaged).is_some_and(|line| {
            ["\"Finished\"", "\"Loaded\""].iter().any(|event| line.contains(event))
        });
        let is_open = merged.stdout.contains("shard 2/2 did not come to it");
        assert_eq!(is_open, is_left, "{damaged}: {}", merged.stdout);
    }
}

#[test]
fn shards_are_asked_for_rightly() {
    let scratch = programs();
    for (arguments, code) in [
        (&["a", "--shard", "1/2"][..], 2),
        (&["a", "--shard", "3/2", "--save", "s"], 2),
        (&["a", "--shard", "1/2", "--save", "s", "--expect"], 2),
        (&["a", "--save", "a/small.sil"], 2),
        (&["a", "--save", "s", "--report", "html=s"], 2),
        (&["a", "--shard", "1/2", "--save", "s", "--costs", "a/small.sil"], 2),
        (&["a", "--save", "s", "--costs", "c"], 2),
        (&["merge"], 2),
        (&["a/small.sil", "--shard", "1/2", "--save", "s"], 0),
        (&["a/small.sil", "--shard", "2/2", "--save", "s"], 0),
        (&["a/small.sil", "--save", "s"], 0),
        (&["merge", "s", "--report", "html=s"], 2),
        (&["merge", "s", "--report", "html=s.html"], 0),
    ] {
        let run = scratch.silicon(arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
    }
}
