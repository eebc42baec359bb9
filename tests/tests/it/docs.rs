//! The manual: its programs do what they announce, and its commands print what it shows.
//!
//! A program stands in a block that begins with its language and a name, as in ```` ```viper
//! first.vpr ````; a command in a block that begins with ```` ```console ````, behind `$ `, with
//! its output below.

use std::fs;
use std::path::{Path, PathBuf};

use sil_tests::binaries::{self, Scratch};

/// A block of a page.
struct Block {
    /// The words behind the opening fence.
    head: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```");
            let text = text.flat_map(|line| [line, "\n"]).collect();
            blocks.push(Block { head: head.to_owned(), text });
        }
    }
    blocks
}

/// Checks a page; how many programs and commands it has.
fn check(page: &str, title: &str) -> (usize, usize) {
    let scratch = Scratch::empty();
    let (mut programs, mut commands) = (0, 0);
    for Block { head, text } in blocks(page) {
        match head.split_once(' ') {
            Some(("viper" | "sil" | "chalice" | "spl", name)) => {
                programs += 1;
                fs::write(scratch.path().join(name), text).expect("it can be written");
                let run = scratch.silicon(&["--expect", name]);
                assert_eq!(run.code, Some(0), "{title}: {name}: {run:#?}");
            }
            None if head == "console" => {
                commands += 1;
                let (command, output) = text.split_once('\n').expect("a command");
                let words: Vec<&str> = command.split_whitespace().collect();
                let ["$", command, arguments @ ..] = &words[..] else {
                    panic!("{title}: no command: {command}")
                };
                let run = binaries::run(command, arguments, scratch.path(), b"");
                assert_eq!(run.stdout.trim_end(), output.trim_end(), "{title}: {run:#?}");
            }
            _ => {}
        }
    }
    (programs, commands)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_tutorials_are_true() {
    for (page, least) in [
        ("docs/chalice.md", (3, 1)),
        ("docs/chalice-reference.md", (7, 0)),
        ("docs/ci.md", (1, 4)),
        ("docs/sil.md", (7, 0)),
        ("docs/spl-reference.md", (5, 0)),
        ("docs/spl-tutorial.md", (3, 0)),
        ("docs/viper-proofs.md", (4, 0)),
        ("docs/viper.md", (4, 1)),
        ("README.md", (2, 2)),
    ] {
        let text = fs::read_to_string(root().join(page)).expect("the page is there");
        let (programs, commands) = check(&text, page);
        assert!((programs, commands) >= least, "{page} has {programs} programs");
    }
}

#[test]
fn a_page_that_is_not_true_is_noticed() {
    let wrong = [
        "```sil a.sil\nmethod m() { assert false }\n```\n",
        "```sil a.sil\nmethod m() { }\n```\n\n```console\n$ silicon a.sil\nsomething else\n```\n",
    ];
    for page in wrong {
        assert!(std::panic::catch_unwind(|| check(page, "wrong")).is_err(), "{page}");
    }
}
