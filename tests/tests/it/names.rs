//! Whoever writes Chalice or SPL reads names of that program, and none that the translation has
//! made up: in messages, on paths and in counterexamples.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sil_tests::binaries;
use sil_tests::sample::{lines, of_type};
use silicon::session::input;

/// The words of messages and states beside names.
const WORDS: [&str; 31] = [
    "a", "all", "at", "call", "callee", "false", "held", "in", "is", "joinable", "least", "less",
    "level", "loop", "Map", "more", "mu", "none", "null", "o", "of", "old", "rd", "result", "Seq",
    "Set", "than", "this", "true", "unfold", "value",
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '?' | '^' | '\'');
    text.split(move |c| !is_of_word(c)).filter(|word| !word.is_empty())
}

/// All words of a program and of what it includes.
fn known(path: &Path, into: &mut BTreeSet<String>) {
    let text = fs::read_to_string(path).unwrap_or_default();
    into.extend(words(&text).map(str::to_owned));
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("include \"")) {
        let name = line.split('"').next().unwrap_or_default();
        known(&path.with_file_name(name), into);
    }
}

/// The parts of a message that quote the program.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// All texts in a value.
fn texts<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, into)),
        _ => {}
    }
}

fn is_known(word: &str, known: &BTreeSet<String>) -> bool {
    let is_reference = word.strip_prefix("ref").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    known.contains(word) || is_reference || is_number || WORDS.contains(&word)
}

#[test]
fn authors_read_their_own_names() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [here.join("corpus"), here.join("messages"), here.join("../examples")];
    let is_translated = |path: &PathBuf| {
        matches!(path.extension().and_then(|it| it.to_str()), Some("chalice" | "spl"))
    };
    let is_wrong = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.contains("ExpectedOutput(") || path.starts_with(here.join("messages"))
    };
    let programs = folders.iter().flat_map(|folder| input::programs_below(folder));
    let programs: Vec<PathBuf> = programs.filter(is_translated).filter(is_wrong).collect();
    let names: Vec<&str> = programs.iter().filter_map(|path| path.to_str()).collect();
    let options = ["--counterexample", "--message-format", "json", "--no-progress"];
    let run = binaries::run("silicon", &[&options[..], &names].concat(), here, b"");
    let lines = lines(&run);

    let mut known_in: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let (mut states, mut made_up) = (0, Vec::new());
    for finding in of_type(&lines, "diagnostic") {
        let id = finding["id"].as_str().unwrap_or_default();
        // An error about a text that is no program may say what to write.
        if id.starts_with("parser.") || id.starts_with("typechecker.") {
            continue;
        }
        let file = finding["file"].as_str().expect("a finding has a file");
        let known = known_in.entry(file).or_insert_with(|| {
            let mut into = BTreeSet::new();
            known(Path::new(file), &mut into);
            into
        });
        let mut said = Vec::new();
        states += usize::from(!finding["counterexample"].is_null());
        texts(&finding["counterexample"], &mut said);
        texts(&finding["path"], &mut said);
        let message = finding["message"].as_str().unwrap_or_default();
        said.extend(quoted(message));
        for text in said {
            made_up.extend(
                words(text)
                    .filter(|word| !is_known(word, known))
                    .map(|word| format!("{file}: {word} in {text} ({message})")),
            );
        }
    }
    assert!(made_up.is_empty(), "{}", made_up.join("\n"));
    assert!(states > 150, "only {states} counterexamples: the test shows too little");
}
