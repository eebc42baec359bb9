//! `--save` and `--resume`: a run that ends at any moment goes on, and finds what one run finds.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sil_tests::binaries::{Run, Scratch, path};
use sil_tests::sample::{cached, timeless};

const PROGRAM: &str = "field f: Int

predicate cell(x: Ref) { acc(x.f) && x.f > 0 }

function get(x: Ref): Int
  requires cell(x)
  ensures result > 0
{ unfolding cell(x) in x.f }

function wrong(n: Int): Int
  ensures result > n
{ n }

method uses(x: Ref)
  requires cell(x)
{
  assert get(x) > 0
}

method relies(n: Int)
{
  assert wrong(n) > n
  assert n > 10
}
";

const OTHER: &str = "method m(x: Int) { assert x > 0 }\nmethod n() { assert 1 < 2 }\n";

fn programs() -> Scratch {
    Scratch::new(&[("a/one.vpr", PROGRAM), ("a/two.sil", OTHER), ("a/ill.sil", "method m() {")])
}

const JSON: [&str; 2] = ["--message-format", "json"];

fn verify(scratch: &Scratch, more: &[&str]) -> Run {
    scratch.silicon(&[&["a", JSON[0], JSON[1]], more].concat())
}

fn write(scratch: &Scratch, name: &str, text: impl AsRef<[u8]>) {
    fs::write(scratch.path().join(name), text).expect("a file can be written");
}

fn merge(scratch: &Scratch, files: &[&str]) -> Run {
    scratch.silicon(&[&["merge", JSON[0], JSON[1]], files].concat())
}

#[test]
fn a_run_goes_on_from_any_moment() {
    let scratch = programs();
    let whole = verify(&scratch, &["--save", "whole"]);
    assert_eq!(whole.code, Some(3), "{}", whole.stderr);
    let text = fs::read(scratch.path().join("whole")).expect("it was saved");
    let header = text.iter().position(|&byte| byte == b'\n').expect("there are lines") + 1;
    let moments = (0..7).map(|part| header + (text.len() - header) * part / 6);
    for moment in moments {
        write(&scratch, "cut", &text[..moment]);
        let merged = merge(&scratch, &["cut"]);
        let is_whole = |line: &Value| timeless(&whole).contains(line);
        let is_open = |line: &Value| line["verdict"] == "inconclusive";
        for line in timeless(&merged).iter().filter(|line| line["type"] == "member") {
            assert!(is_whole(line) || is_open(line), "{moment}: {line}");
        }
        let resumed = verify(&scratch, &["--resume", "cut", "--save", "cut"]);
        assert_eq!(timeless(&resumed), timeless(&whole), "{moment}");
        assert_eq!((resumed.code, &*resumed.stderr), (whole.code, ""), "{moment}");
        assert_eq!(timeless(&merge(&scratch, &["cut"])), timeless(&whole), "{moment}");
    }
}

#[test]
fn a_killed_run_goes_on() {
    let scratch = programs();
    let whole = verify(&scratch, &[]);
    let slow = "method slow(i: Int, j: Int, k: Int) { assert i > 2 && j > 2 && k > 2 ==> \
        i * i * i * i * i + j * j * j * j * j != k * k * k * k * k }\n";
    write(&scratch, "a/two.sil", format!("{slow}{OTHER}"));
    let mut child = Command::new(path("silicon"))
        .args(["a", "--save", "kept", "-j1", "--limit", "0"])
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let is_begun = |text: &str| text.contains("Finished");
    let kept = scratch.path().join("kept");
    let mut looks = 0..1000;
    while !fs::read_to_string(&kept).is_ok_and(|text| is_begun(&text)) {
        looks.next().expect("something is verified soon");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    assert!(!scratch.read("kept").contains("\"Over\""), "it was not over");
    assert_eq!(merge(&scratch, &["kept"]).code, Some(3));
    write(&scratch, "a/two.sil", OTHER);
    let resumed = verify(&scratch, &["--resume", "kept", "--limit", "0"]);
    assert!(!cached(&resumed).is_empty(), "{}", resumed.stdout);
    let mut lines = timeless(&resumed);
    for line in &mut lines {
        line.as_object_mut().expect("each line is an object").remove("cached");
    }
    assert_eq!(lines, timeless(&whole));
}

#[test]
fn damaged_answers_are_found_again() {
    let scratch = programs();
    let whole = verify(&scratch, &["--save", "whole"]);
    let text = fs::read(scratch.path().join("whole")).expect("it was saved");
    let header = text.iter().position(|&byte| byte == b'\n').expect("there are lines") + 1;
    for part in 0..6 {
        let mut damaged = text.clone();
        damaged[header + (text.len() - header) * part / 6 + 40] ^= 1;
        write(&scratch, "damaged", &damaged);
        let resumed = verify(&scratch, &["--resume", "damaged"]);
        assert_eq!(timeless(&resumed), timeless(&whole), "{part}");
        let (stderr, code) = (resumed.stderr, resumed.code);
        assert!(stderr.starts_with("warning: "), "{stderr}");
        assert!(stderr.contains("of damaged are damaged, and do not count"), "{stderr}");
        assert_eq!(code, whole.code);
    }
    let mut damaged = text.clone();
    damaged[header / 2] ^= 1;
    write(&scratch, "damaged", &damaged);
    for resumed in ["damaged", "a/two.sil", "no such file"] {
        assert_eq!(verify(&scratch, &["--resume", resumed]).code, Some(2), "{resumed}");
    }
}

#[test]
fn an_older_run_has_answers() {
    let scratch = programs();
    verify(&scratch, &["--save", "old"]);
    write(&scratch, "a/one.vpr", format!("// Moved.\n{}", PROGRAM.replace("> 10", "> 11")));
    let fresh = verify(&scratch, &[]);
    let seeded = verify(&scratch, &["--resume", "old", "--save", "new"]);
    assert_eq!(cached(&seeded), ["cell", "get", "wrong", "uses", "m", "n"]);
    let mut lines = timeless(&seeded);
    for line in &mut lines {
        line.as_object_mut().expect("each line is an object").remove("cached");
    }
    assert_eq!(lines, timeless(&fresh));
    // Members that were not verified again are in the new file, too.
    let again = verify(&scratch, &["--resume", "new"]);
    assert_eq!(timeless(&again), timeless(&fresh));
    let other = verify(&scratch, &["--resume", "new", "--counterexample"]);
    assert_eq!(cached(&other), Vec::<String>::new());
}

#[test]
fn checkouts_at_other_places_merge() {
    let checkout = || {
        let files = [("a/one.vpr", PROGRAM), ("a/two.sil", OTHER), ("b/x", ""), (".git/HEAD", "")];
        Scratch::new(&files)
    };
    let save = |scratch: &Scratch, shard: &str, to: &Path| {
        let programs = scratch.path().join("a");
        let [programs, to] = [&programs, to].map(|path| path.to_str().expect("it is text"));
        scratch.silicon(&[programs, "--shard", shard, "--save", to]);
    };
    let (one, other) = (checkout(), checkout());
    save(&one, "1/2", &one.path().join("1"));
    save(&other, "2/2", &one.path().join("2"));
    let merged = merge(&one, &["1", "2"]);
    assert_eq!(timeless(&merged), timeless(&verify(&one, &[])), "{}", merged.stderr);
    write(&other, "a/two.sil", format!("{OTHER}\n"));
    save(&other, "2/2", &one.path().join("2"));
    let refused = merge(&one, &["1", "2"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("they have other texts of a/two.sil"), "{}", refused.stderr);
}

#[test]
fn what_is_no_saved_run_is_not_written_over() {
    let scratch = programs();
    write(&scratch, "notes", "to be kept");
    let refused = verify(&scratch, &["--save", "notes"]);
    assert_eq!((refused.code, scratch.read("notes")), (Some(2), "to be kept".to_owned()));
    assert_eq!(verify(&scratch, &["--save", "new"]).code, Some(3));
    assert_eq!(verify(&scratch, &["--save", "new"]).code, Some(3));
}
