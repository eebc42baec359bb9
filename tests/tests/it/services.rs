//! Findings beside the lines of a change: annotations for GitHub, code quality for GitLab,
//! SARIF; and the baseline, with which only what is new fails.

use std::fs;

use serde_json::Value;
use sil_tests::binaries::{Scratch, run};

const PROGRAM: &str = "method a(n: Int) {\n  assert n > 1\n}\nmethod b() { assert 1 < 2 }\n";

fn checkout() -> Scratch {
    Scratch::new(&[("src/a,b.vpr", PROGRAM), (".git/HEAD", "")])
}

#[test]
fn github_reads_commands() {
    let scratch = checkout();
    let run = scratch.silicon(&["src", "--message-format", "github"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let annotation = "::error file=src/a%2Cb.vpr,line=2,endLine=2,col=10,endColumn=15,\
        title=assert.failed%3Aassertion.false::assert might fail: `n > 1` might not hold\n\
        1 of 2 members verified, 1 failed\n";
    assert_eq!(run.stdout, annotation);
}

#[test]
fn gitlab_reads_a_list() {
    let scratch = checkout();
    let below = scratch.path().join("src");
    let arguments = ["a,b.vpr", "--message-format", "gitlab", "--report", "gitlab=../q.json"];
    let found = run("silicon", &arguments, &below, b"");
    assert_eq!((found.code, &found.stdout), (Some(1), &scratch.read("q.json")), "{found:#?}");
    let list: Value = serde_json::from_str(&found.stdout).expect("it is JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list[0]["location"]["path"], "src/a,b.vpr");
    assert_eq!(list[0]["location"]["lines"]["begin"], 2);
    assert_eq!(list[0]["check_name"], "assert.failed:assertion.false");
    let good = scratch.silicon(&["src", "--member", "b", "--message-format", "gitlab"]);
    assert_eq!((good.code, &*good.stdout), (Some(0), "[]\n"));
}

#[test]
fn sarif_has_places_in_the_checkout() {
    let scratch = checkout();
    let below = scratch.path().join("src");
    let program = below.join("a,b.vpr");
    let program = program.to_str().expect("it is text");
    for (directory, name) in [(below.as_path(), "a,b.vpr"), (scratch.path(), program)] {
        let report = scratch.path().join("r.sarif");
        run("silicon", &[name, "--report", &format!("sarif={}", report.display())], directory, b"");
        let log: Value = serde_json::from_str(&scratch.read("r.sarif")).expect("it is JSON");
        let result = &log["runs"][0]["results"][0];
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(place, "src/a%2Cb.vpr");
        assert_eq!(log["runs"][0]["automationDetails"]["id"], "silicon/");
    }
}

#[test]
fn only_what_is_new_fails() {
    let scratch = checkout();
    let verify =
        |more: &[&str]| scratch.silicon(&[&["src", "--baseline", "old.sarif"], more].concat());
    assert_eq!(verify(&[]).code, Some(2), "there is no baseline");
    let old = scratch.silicon(&["src", "--report", "sarif=old.sarif"]);
    assert_eq!(old.code, Some(1));
    let known = verify(&["--message-format", "short"]);
    assert_eq!((known.code, &*known.stdout), (Some(0), ""), "{known:#?}");
    // The verdict stays what it is.
    let json = verify(&["--message-format", "json"]);
    assert!(json.stdout.contains("\"name\":\"a\",\"verdict\":\"failed\""), "{}", json.stdout);
    assert!(json.stdout.contains("\"known\":true"), "{}", json.stdout);
    let program = scratch.path().join("src/a,b.vpr");
    let edit = |text: &str| fs::write(&program, text).expect("a program can be written");
    edit(&format!("// Moved.\n{PROGRAM}"));
    assert_eq!(verify(&[]).code, Some(0));
    // In another member, in the same one, and of another kind.
    for (text, code) in [
        (PROGRAM.replace("1 < 2", "2 < 1"), 1),
        (PROGRAM.replace("n > 1", "n > 1\n  assert n > 2"), 1),
        (PROGRAM.replace("n > 1", "n >"), 3),
    ] {
        edit(&text);
        let news = verify(&["--message-format", "short", "--report", "sarif=new.sarif"]);
        assert_eq!(news.code, Some(code), "{text}: {news:#?}");
        assert!(!news.stdout.is_empty() && !news.stdout.contains("`n > 1`"), "{}", news.stdout);
        let log = scratch.read("new.sarif");
        assert!(log.contains("\"baselineState\": \"new\""), "{log}");
        assert_eq!(code == 1, log.contains("\"baselineState\": \"unchanged\""), "{log}");
    }
    edit(PROGRAM);
    scratch.silicon(&["src", "--save", "run.saved"]);
    let merge = |more: &[&str]| scratch.silicon(&[&["merge", "run.saved"], more].concat()).code;
    assert_eq!((merge(&[]), merge(&["--baseline", "old.sarif"])), (Some(1), Some(0)));
}
