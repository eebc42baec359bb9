//! Editors of others, with their own clients: what is seen in them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sil_tests::editor::PATIENCE;
use sil_tests::{binaries, clients};

const PROGRAM: &str =
    "field f: Int\nmethod set(x: Ref, n: Int)\n  ensures true\n{\n  // Zähler 𝔘\n  x.f := n\n}\n";
const FIXED: &str = "field f: Int\nmethod set(x: Ref, n: Int)\n  requires acc(x.f)\n  ensures true\n{\n  // Zähler 𝔘\n  x.f := n\n}\n";
const RENAMED: &str = "field f: Int\nmethod set(cell: Ref, n: Int)\n  requires acc(cell.f)\n  ensures true\n{\n  // Zähler 𝔘\n  cell.f := n\n}\n";
const FIX: &str = "Add `acc(x.f)` to the precondition (checked)";

/// Lets an editor do what its script says, and gives what it has seen. Nothing of ours may go on
/// afterwards.
fn seen(program: &str, arguments: &[&str], script: &str) -> Option<Value> {
    let editor = clients::installed(program)?;
    let directory = tempfile::tempdir().expect("there is room");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("program.vpr"), PROGRAM).expect("there is room");
    // A copy, so that its processes are told from those of other tests.
    let silicon = path("silicon");
    fs::copy(binaries::path("silicon"), &silicon).expect("there is room");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors").join(script);
    let script = script.display().to_string();
    let arguments = arguments.iter().map(|it| it.replace("SCRIPT", &script));
    let mut child = Command::new(editor)
        .args(arguments)
        .current_dir(directory.path())
        .env("HOME", directory.path())
        .env("LANG", "C.UTF-8")
        .env("SILICON", &silicon)
        .env("PROGRAM", path("program.vpr"))
        .env("RESULTS", path("results.json"))
        .spawn()
        .expect("it starts");
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().expect("it is ours") {
            Some(status) => break status,
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{program} does not end");
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    let results = fs::read(path("results.json")).unwrap_or_default();
    let results: Value = serde_json::from_slice(&results).unwrap_or_default();
    assert!(status.success() && results["error"].is_null(), "{status}: {}", results["error"]);
    while let Some(left) = binaries::running(&silicon) {
        assert!(Instant::now() < end, "process {left} goes on");
        thread::sleep(Duration::from_millis(10));
    }
    Some(results)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

#[test]
fn neovim_shows_completes_mends_and_renames() {
    let _alone = super::alone();
    let arguments = ["--headless", "--clean", "program.vpr", "-c", "luafile SCRIPT"];
    let Some(seen) = seen("nvim", &arguments, "neovim.lua") else { return };
    assert_eq!(seen["first"][0]["code"], "assignment.failed:insufficient.permission");
    assert_eq!((&seen["first"][0]["lnum"], &seen["first"][0]["col"]), (&json!(5), &json!(2)));
    assert!(text(&seen["hover"]).contains("x: Ref"), "{seen}");
    assert_eq!(seen["definition"]["range"]["start"], json!({ "line": 0, "character": 6 }));
    assert_eq!(seen["symbols"], json!(["f", "set"]));
    assert_eq!(seen["completion"], json!(["f"]));
    assert_eq!(seen["fixes"][0], FIX);
    let lines = |value: &Value| {
        let lines = value.as_array().expect("lines").iter().map(|it| format!("{}\n", text(it)));
        lines.collect::<String>()
    };
    assert_eq!(lines(&seen["fixed"]), FIXED);
    assert_eq!(lines(&seen["renamed"]), RENAMED);
    assert!(text(&seen["lenses"][0]).starts_with("✓ verified"), "{seen}");
    // In bytes: the letter has four.
    assert_eq!((&seen["typed"][0]["lnum"], &seen["typed"][0]["col"]), (&json!(8), &json!(31)));
}

#[test]
fn emacs_shows_mends_and_renames() {
    let _alone = super::alone();
    let arguments = ["-q", "--batch", "--eval", "(package-initialize)", "-l", "SCRIPT"];
    let Some(seen) = seen("emacs", &arguments, "emacs.el") else { return };
    assert!(text(&seen["first"][0]).contains("insufficient permission for `x.f`"), "{seen}");
    assert_eq!(seen["kind"], "eglot-error");
    assert_eq!(seen["definition"], 1);
    assert!(text(&seen["hover"]).contains("x: Ref"), "{seen}");
    assert_eq!(seen["fixes"][0], FIX);
    assert_eq!(seen["fixed"], FIXED);
    assert_eq!(seen["renamed"], RENAMED);
    assert!(text(&seen["typed"][0]).contains("`1 == 2` might not hold"), "{seen}");
    // In characters.
    assert_eq!(seen["column"], 28);
}
