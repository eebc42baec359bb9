//! `--cache-trust` and `--cache-key`: answers of others count if somebody has signed them who is
//! believed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sil_tests::binaries::{Run, Scratch, run};
use sil_tests::sample::cached;

const PROGRAM: &str = "method good(x: Int) requires x > 0 { assert x != 0 }
method bad(x: Int) { assert x != 0 }
";
const MEMBERS: [&str; 2] = ["good", "bad"];

/// With keys of two writers.
fn programs() -> Scratch {
    let scratch = Scratch::new(&[("a.vpr", PROGRAM)]);
    for name in ["ci", "stranger"] {
        let made = scratch.silicon(&["cache", "keygen", name]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
    scratch
}

fn verify(scratch: &Scratch, more: &[&str]) -> Run {
    scratch.silicon(&[&["a.vpr", "--message-format", "json", "--cache", "kept"], more].concat())
}

fn writes(scratch: &Scratch, key: &str) -> Run {
    verify(scratch, &["--cache-key", key])
}

fn reads(scratch: &Scratch) -> Run {
    verify(scratch, &["--cache-trust", "ci.pub"])
}

/// The files of all answers.
fn answers(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("it is a directory") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { files.extend(answers(&path)) } else { files.push(path) }
    }
    files.retain(|path| path.file_name().is_some_and(|name| name != "secret"));
    files.sort();
    files
}

#[test]
fn what_is_signed_is_used_and_nothing_else() {
    let scratch = programs();
    let kept = scratch.path().join("kept");
    assert_eq!(reads(&scratch).code, Some(2), "there is no directory");
    // Answers with a code of the directory, and those of a stranger.
    assert_eq!(cached(&verify(&scratch, &[])), [""; 0]);
    assert_eq!(cached(&writes(&scratch, "stranger")), [""; 0]);
    assert_eq!(cached(&writes(&scratch, "stranger")), MEMBERS);
    assert_eq!(cached(&reads(&scratch)), [""; 0]);
    // Nobody who only reads writes.
    let before = answers(&kept).len();
    assert_eq!(before, 2 * MEMBERS.len());
    assert_eq!(cached(&reads(&scratch)), [""; 0]);
    // Answers of who is believed take the place of others.
    assert_eq!(cached(&writes(&scratch, "ci")), [""; 0]);
    let warm = reads(&scratch);
    assert_eq!((cached(&warm), warm.code), (MEMBERS.map(str::to_owned).to_vec(), Some(1)));
    assert_eq!(answers(&kept).len(), before);
    assert_eq!(cached(&verify(&scratch, &["--cache-trust", "stranger.pub"])), [""; 0]);
    // A list has several keys.
    let list = format!("# CI\n{}\n{}", scratch.read("stranger.pub"), scratch.read("ci.pub"));
    fs::write(scratch.path().join("list"), list).expect("a list can be written");
    assert_eq!(cached(&verify(&scratch, &["--cache-trust", "list"])), MEMBERS);
}

#[test]
fn answers_to_other_questions_are_none() {
    let scratch = programs();
    writes(&scratch, "ci");
    let kept = scratch.path().join("kept");
    let files = answers(&kept);
    let [one, other] = &files[..] else { panic!("{files:?}") };
    let contents = [one, other].map(|path| fs::read(path).expect("it can be read"));
    // Exchanged.
    fs::write(one, &contents[1]).expect("it can be written");
    fs::write(other, &contents[0]).expect("it can be written");
    assert_eq!(cached(&reads(&scratch)), [""; 0]);
    let told = scratch.silicon(&["cache", "verify", "kept", "--cache-trust", "ci.pub"]);
    assert_eq!(told.stdout, "2 damaged answers removed\n", "{}", told.stderr);
    // Answers of an earlier text take the place of those of this one.
    let text = PROGRAM.replace("x > 0", "x >= 0");
    fs::write(scratch.path().join("a.vpr"), &text).expect("it can be written");
    assert_eq!(cached(&writes(&scratch, "ci")), [""; 0]);
    for path in answers(&kept) {
        for earlier in &contents {
            fs::write(&path, earlier).expect("it can be written");
            let run = reads(&scratch);
            // With the answer to the earlier text, a member would be verified.
            assert!(!run.stdout.contains("\"verdict\":\"verified\""), "{run:#?}");
        }
    }
}

#[test]
fn others_can_read_what_is_shared() {
    let scratch = programs();
    // As much as the user's mask lets new files be read.
    let plain = scratch.path().join("plain");
    fs::write(&plain, "").expect("it can be written");
    let allowed = fs::metadata(&plain).expect("it is there").permissions().mode();
    writes(&scratch, "ci");
    for path in answers(&scratch.path().join("kept")) {
        let folders = path.ancestors().take_while(|it| *it != scratch.path());
        for path in folders {
            let mode = fs::metadata(path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o044, allowed & 0o044, "{}", path.display());
        }
    }
    let mode = |name: &str| {
        let about = fs::metadata(scratch.path().join(name)).expect("it is there");
        about.permissions().mode() & 0o777
    };
    assert_eq!(mode("ci"), 0o600);
}

#[test]
fn mistakes_with_keys_are_told() {
    let scratch = programs();
    for (arguments, words) in [
        (&["--cache-trust", "ci"][..], "ci: line 1 is a signing key, and no public key"),
        (&["--cache-trust", "a.vpr"], "a.vpr: line 1 is no public key"),
        (&["--cache-key", "ci.pub"], "ci.pub: no signing key"),
        (&["--cache-key", "missing"], "missing: No such file"),
    ] {
        let run = verify(&scratch, arguments);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    let again = scratch.silicon(&["cache", "keygen", "ci"]);
    assert!(again.code != Some(0) && again.stderr.contains("ci: File exists"), "{}", again.stderr);
    let url = "https://name:word@example.org/answers";
    for task in ["stat", "gc", "verify"] {
        let refused = scratch.silicon(&["cache", task, url]);
        assert_eq!(refused.code, Some(2));
        let words = "https://example.org/answers is no directory: ";
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    // Neither with this build nor with another one.
    let nobody = scratch.silicon(&["a.vpr", "--cache", url]);
    assert_eq!(nobody.code, Some(2), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("no cache in https://example.org/answers"), "{}", nobody.stderr);
}

/// A cache named on the command line comes with its own list of trusted keys.
#[test]
fn a_file_names_whom_to_believe() {
    let scratch = programs();
    writes(&scratch, "ci");
    let file = "cache = \"kept\"\ncache-trust = \"ci.pub\"\n";
    fs::write(scratch.path().join("silicon.toml"), file).expect("it can be written");
    fs::create_dir(scratch.path().join("below")).expect("it can be made");
    let below = scratch.path().join("below");
    let verify = |more: &[&str]| {
        let arguments = [&["../a.vpr", "--message-format", "json"], more].concat();
        cached(&run("silicon", &arguments, &below, b""))
    };
    assert_eq!(verify(&[]), MEMBERS);
    assert_eq!(verify(&["--no-cache"]), [""; 0]);
    assert_eq!(verify(&["--cache", "own"]), [""; 0]);
    assert_eq!(verify(&["--cache", "own"]), MEMBERS);
}
