//! Programs that are edited at random, and verified again with the answers of earlier runs.
//!
//! A sequence starts from a program and edits its text as people do, and as they would not: what is
//! removed, moved, renamed, negated, commented; what comes in that has nothing to do with the rest.
//! After each edit the outcome with the answers known so far has to be that of a run that knows
//! nothing, byte for byte but for its times. A run that keeps no answers lets small members share a
//! workspace of the solver. What the solver finds out may depend on what came before in it, rarely:
//! where such a run differs in more than the number of its questions, that is noted, too.
//!
//! A seed names a sequence: the same seed, the same texts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fastrand::Rng;
use rustc_hash::FxHashSet;
use sil::program::Member;
use silicon::Answers;
use silicon::options::Options;
use silicon::output::Format;
use silicon::report::MemberKind;
use silicon::session::follow;
use silicon::session::{
    FileVerdict, Follower, Input, Outcome, Session, load_program, name_and_span,
};

/// A program as it is edited.
#[derive(Clone, Debug)]
pub struct Edited {
    pub name: String,
    pub text: String,
    /// Names of the option that is on, if one is.
    options: Choice,
}

/// Options that change what is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Default,
    AssumeInjectivity,
    ExactAmounts,
    Counterexample,
    AssumeTermination,
    AssumeFailures,
}

/// The results of a sequence.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    /// Texts that were compared.
    pub compared: usize,
    /// Texts that their front end refused.
    pub refused: usize,
    /// Members that needed no work, and members altogether.
    pub recalled: usize,
    pub members: usize,
    /// Where the two runs differ.
    pub differences: Vec<String>,
    /// Where a run without answers differs from both: the members beside one changed what the
    /// solver could show of it.
    pub beside: Vec<String>,
}

impl Tally {
    /// Adds what came of another sequence.
    pub fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.refused += other.refused;
        self.recalled += other.recalled;
        self.members += other.members;
        self.differences.extend(other.differences);
        self.beside.extend(other.beside);
    }
}

/// Members that are unrelated to the rest, and yet are read: each is a fact about the program as a
/// whole that may change how other members are verified.
const UNRELATED: [&str; 12] = [
    "method NAME() { assert true }",
    "function NAME(b: Bool): Bool\n  requires [b, true]\n{ true }",
    "field NAME_f: Int\nmethod NAME_m(r: Ref) requires acc(r.NAME_f) ensures acc(r.NAME_f)\nmethod NAME(r: Ref, s: Ref)\n  requires acc(r.NAME_f)\n{\n  package acc(s.NAME_f) --* acc(r.NAME_f) && acc(s.NAME_f) { NAME_m(r) }\n}",
    "predicate NAME(r: Ref) { r != null ==> NAME_next(r) }\npredicate NAME_next(r: Ref) { NAME(r) }",
    "predicate NAME(b: Bool) { asserting (b || !b) in b }",
    "field NAME: Ref",
    "domain NAME { function NAME_c(): Int axiom { NAME_c() > 0 } }",
    "function NAME(n: Int): Int\n  requires n >= 0\n  ensures result == 0\n  decreases n\n{ n == 0 ? 0 : NAME(n - 1) }",
    "method NAME(n: Int) returns (r: Int)\n  ensures r > n\n{ r := n }",
    "function NAME_g(n: Int): Int { n }\npredicate NAME(n: Int) { NAME_g(n) > 0 }",
    "define NAME(x) (x > 0)",
    "field NAME_v: Int\nmethod NAME(s: Set[Ref])\n  requires forall r: Ref :: {r.NAME_v} r in s ==> acc(r.NAME_v)\n{ }",
];

/// Where the answers of earlier runs come from.
#[derive(Debug)]
pub enum Kept {
    /// One run after the other shares them.
    Here(Arc<Answers>),
    /// Each run reads them from a directory, in which files are damaged now and then.
    In(PathBuf),
}

impl Kept {
    fn answers(&self, rng: &mut Rng) -> Arc<Answers> {
        match self {
            Self::Here(answers) => Arc::clone(answers),
            Self::In(directory) => {
                damage(directory, rng);
                Arc::new(
                    Answers::stored(directory, None).expect("a directory of answers can be opened"),
                )
            }
        }
    }
}

/// Does harm to a directory of answers, in half of the cases: bits are turned, ends are cut off or
/// added, files are lost, renamed, left half written by somebody who was killed, or exchanged for
/// directories; or the disk is full, so that there is no place for more answers of a group.
fn damage(directory: &Path, rng: &mut Rng) {
    let below = |place: &Path| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        below.retain(|path| path.file_name().is_some_and(|name| name != "secret"));
        below.sort();
        below
    };
    let Some(engine) = below(directory).pop() else { return };
    let Some(group) = rng.choice(below(&engine)) else { return };
    let files = below(&group);
    let harm = rng.u8(..18);
    if harm == 0 {
        // Where answers should be, there is a file; later it is gone.
        if group.is_dir() {
            let _ = fs::remove_dir_all(&group).and_then(|()| fs::write(&group, ""));
        } else {
            let _ = fs::remove_file(&group);
        }
        return;
    }
    let Some(place) = rng.choice(files) else { return };
    // Another sequence may have replaced the file meanwhile, so that nothing here need succeed.
    let Ok(mut bytes) = fs::read(&place) else { return };
    match harm {
        1 | 2 if !bytes.is_empty() => {
            let at = rng.usize(..bytes.len());
            bytes[at] ^= 1 << rng.u8(..8);
        }
        3 => bytes.truncate(rng.usize(..=bytes.len())),
        4 => bytes.push(rng.u8(..)),
        5 => return drop(fs::remove_file(place)),
        6 | 7 => {
            // The answer to another question.
            let Some(other) = rng.choice(below(&engine)) else { return };
            let Some(other) = rng.choice(below(&other)) else { return };
            return drop(fs::copy(other, place));
        }
        8 => {
            bytes.truncate(rng.usize(..=bytes.len()));
            return drop(fs::write(group.join(format!(".tmp{}", rng.u16(..))), bytes));
        }
        9 => return drop(fs::remove_file(&place).and_then(|()| fs::create_dir(&place))),
        _ => return,
    }
    let _ = fs::write(place, bytes);
}

/// Runs a sequence of so many edits of one program. All sequences may share the answers.
pub fn run(
    name: &str,
    text: &str,
    donors: &[(String, String)],
    seed: u64,
    edits: usize,
    kept: &Kept,
) -> Tally {
    let mut rng = Rng::with_seed(seed);
    let start = Edited { name: name.to_owned(), text: text.to_owned(), options: Choice::Default };
    let mut history = vec![start];
    let mut tally = Tally::default();
    for step in 0..=edits {
        if step > 0 {
            let next = next(&history, donors, &mut rng);
            history.push(next);
        }
        let edited = history.last().expect("there is the start");
        let fits = compare(edited, &kept.answers(&mut rng), &mut tally);
        if !fits && step > 0 && rng.u8(..4) > 0 {
            // Most edits build on a program that means something.
            history.pop();
        }
    }
    tally
}

/// Compares the two runs; whether the text is a program.
fn compare(edited: &Edited, answers: &Arc<Answers>, tally: &mut Tally) -> bool {
    let Edited { name, text, options } = edited;
    let session = |answers| Session { options: options.options(), answers, ..Session::default() };
    let input = Input::text(name.as_str(), text.as_str());
    let noted = Noted::default();
    let recalled = session(Some(Arc::clone(answers))).run_with(&input, &noted);
    if recalled.verdict == FileVerdict::InputError {
        tally.refused += 1;
        return false;
    }
    let fresh = session(Some(Arc::default())).run(&input);
    let plain = session(None).run(&input);
    tally.compared += 1;
    let started = noted.0.into_inner().expect("nobody panics with the lock");
    tally.members += recalled.members.len();
    tally.recalled += recalled.members.len().saturating_sub(started.len());
    let compared = |expected: &str, found: &str| {
        let mut lines = expected.lines().zip(found.lines()).filter(|(left, right)| left != right);
        let (left, right) = lines.next().unwrap_or_default();
        let heading = format!("{name} ({options:?})");
        (expected != found)
            .then(|| format!("{heading}\n  fresh:    {left}\n  recalled: {right}\n{text}"))
    };
    tally.differences.extend(compared(&shown(&fresh, &TIMES), &shown(&recalled, &TIMES)));
    tally.beside.extend(compared(&shown(&plain, &COSTS), &shown(&recalled, &COSTS)));
    true
}

/// The fields that a remembered member lacks: the time and the steps of its obligations.
const TIMES: [&str; 2] = ["obligations", "cached"];
/// The fields that depend on the workspace, too.
const COSTS: [&str; 6] =
    ["obligations", "cached", "constructs", "queries", "questions", "subjects"];

/// The members on which work began.
#[derive(Default)]
struct Noted(Mutex<FxHashSet<(MemberKind, String)>>);

impl Follower for Noted {
    fn started(&self, kind: MemberKind, id: &str, _: Option<Instant>) {
        let mut started = self.0.lock().expect("nobody panics with the lock");
        started.insert((kind, id.to_owned()));
    }

    fn loaded(&self, _: &Outcome, _: &[follow::Member]) {}
}

/// All that a run tells, but for times and the fields of these names.
fn shown(outcome: &Outcome, without: &[&str]) -> String {
    let mut bytes = Vec::new();
    Format::Json { statistics: true }
        .outcome(outcome, &mut bytes)
        .expect("memory can be written to");
    let text = String::from_utf8(bytes).expect("JSON is text");
    let without_costs = |line: &str| {
        let mut value = serde_json::from_str(line).expect("it is JSON");
        forget(&mut value, without);
        value.to_string()
    };
    text.lines().map(without_costs).collect::<Vec<_>>().join("\n")
}

fn forget(value: &mut serde_json::Value, without: &[&str]) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| {
                !(name == "ms" || name.ends_with("_ms") || without.contains(&&**name))
            });
            fields.values_mut().for_each(|it| forget(it, without));
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|it| forget(it, without)),
        _ => {}
    }
}

impl Choice {
    fn options(self) -> Options {
        let mut options = Options::default();
        options.threads = 1;
        match self {
            Self::Default => {}
            Self::AssumeInjectivity => options.assume_injectivity_on_inhale = true,
            Self::ExactAmounts => options.exact_amounts_in_functions = true,
            Self::Counterexample => options.counterexample = true,
            Self::AssumeTermination => options.assume_termination = true,
            Self::AssumeFailures => options.assume_failures = true,
        }
        options
    }
}

/// The next text: one edit of the last one, or an earlier one again.
fn next(history: &[Edited], donors: &[(String, String)], rng: &mut Rng) -> Edited {
    let mut edited = history.last().expect("there is the start").clone();
    let number = history.len();
    match rng.u8(..40) {
        0..=2 => {
            let back = rng.usize(..history.len());
            return history[back].clone();
        }
        3 => {
            let all = [
                Choice::Default,
                Choice::AssumeInjectivity,
                Choice::ExactAmounts,
                Choice::Counterexample,
                Choice::AssumeTermination,
                Choice::AssumeFailures,
            ];
            edited.options = rng.choice(all).expect("there are some");
        }
        4..=10 => {
            let unrelated = rng.choice(UNRELATED).expect("there are some");
            let unrelated = unrelated.replace("NAME", &format!("unrelated{number}"));
            let (before, after) = (format!("{unrelated}\n\n{}", edited.text), &edited.text);
            let behind = format!("{after}\n\n{unrelated}\n");
            edited.text = if rng.bool() { before } else { behind };
        }
        11 if !donors.is_empty() => {
            let (_, text) = &donors[rng.usize(..donors.len())];
            edited.text = format!("{}\n{text}", edited.text);
        }
        12..=14 => swap_members(&mut edited, rng),
        15..=16 => rename(&mut edited, number, rng),
        17..=21 => {
            let at = boundary(&edited.text, rng);
            let blanks = [" ", "\n", "  \n\n", " /* a comment */ ", " // änderung 𝔘\n"];
            edited.text.insert_str(at, rng.choice(blanks).expect("there are some"));
        }
        22..=29 => replace_word(&mut edited.text, rng),
        30..=34 => remove_line(&mut edited.text, rng),
        35..=36 => duplicate_line(&mut edited.text, rng),
        _ => {
            let at = boundary(&edited.text, rng);
            let words = ["&& true", "!", "requires true", "assert false", "+ 1", "/2", "old(", ")"];
            let word = rng.choice(words).expect("there are some");
            edited.text.insert_str(at, &format!(" {word} "));
        }
    }
    edited
}

/// Where a word begins.
fn boundary(text: &str, rng: &mut Rng) -> usize {
    let words = words(text);
    if words.is_empty() { 0 } else { words[rng.usize(..words.len())].start }
}

/// The names, keywords and numbers of a text, and its operators.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut words = Vec::new();
    let mut rest = 0;
    while let Some(first) = text[rest..].chars().next() {
        let length = if is_of_name(first) {
            text[rest..].find(|c| !is_of_name(c)).unwrap_or(text.len() - rest)
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            words.push(rest..rest + length);
        }
        rest += length;
    }
    words
}

/// Puts a word in the place of another that means something of its kind.
fn replace_word(text: &mut String, rng: &mut Rng) {
    const GROUPS: [&[&str]; 9] = [
        &["true", "false"],
        &["requires", "ensures"],
        &["inhale", "exhale", "assert", "assume"],
        &["fold", "unfold"],
        &["forall", "exists"],
        &["write", "none", "wildcard", "1/2"],
        &["<", ">"],
        &["+", "-", "*"],
        &["0", "1", "2", "3"],
    ];
    let words = words(text);
    let known = |word: &str| GROUPS.iter().find(|group| group.contains(&word));
    let can = words.into_iter().filter(|word| known(&text[word.clone()]).is_some());
    let can: Vec<_> = can.collect();
    if let Some(word) = rng.choice(&can) {
        let group = known(&text[word.clone()]).expect("it was looked for");
        let other = rng.choice(group.iter()).expect("no group is empty");
        text.replace_range(word.clone(), other);
    }
}

fn remove_line(text: &mut String, rng: &mut Rng) {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.len() > 1 {
        lines.remove(rng.usize(..lines.len()));
        *text = lines.join("\n");
    }
}

fn duplicate_line(text: &mut String, rng: &mut Rng) {
    let mut lines: Vec<&str> = text.lines().collect();
    if !lines.is_empty() {
        let at = rng.usize(..lines.len());
        lines.insert(at, lines[at]);
        *text = lines.join("\n");
    }
}

/// Gives all occurrences of a name another one.
fn rename(edited: &mut Edited, number: usize, rng: &mut Rng) {
    let words = words(&edited.text);
    let names = words
        .iter()
        .filter(|word| edited.text[(*word).clone()].starts_with(|c: char| c.is_ascii_alphabetic()));
    let names: Vec<_> = names.collect();
    let Some(chosen) = rng.choice(&names) else { return };
    let name = edited.text[(*chosen).clone()].to_owned();
    let mut text = String::with_capacity(edited.text.len());
    let mut done = 0;
    for word in words.iter().filter(|word| edited.text[(*word).clone()] == name) {
        text.push_str(&edited.text[done..word.start]);
        text.push_str(&format!("{name}_{number}"));
        done = word.end;
    }
    text.push_str(&edited.text[done..]);
    edited.text = text;
}

/// Exchanges two members.
fn swap_members(edited: &mut Edited, rng: &mut Rng) {
    let input = Input::text(edited.name.as_str(), edited.text.as_str());
    let spans = |program: &sil::program::Program| {
        let spans = program.order.iter().map(|&member: &Member| name_and_span(program, member).1);
        let spans = spans.filter(|span| span.file.0 == 0);
        spans.map(|span| span.start as usize..span.end as usize).collect::<Vec<_>>()
    };
    let Some(mut spans) = load_program(&input, spans).0 else { return };
    spans.sort_by_key(|span| span.start);
    spans.dedup_by(|later, earlier| later.start < earlier.end);
    if spans.len() < 2 {
        return;
    }
    let (one, other) = (rng.usize(..spans.len()), rng.usize(..spans.len()));
    let (first, second) = (&spans[one.min(other)], &spans[one.max(other)]);
    let text = &edited.text;
    if first == second || text.get(first.clone()).is_none() || text.get(second.clone()).is_none() {
        return;
    }
    edited.text = [
        &text[..first.start],
        &text[second.clone()],
        &text[first.end..second.start],
        &text[first.clone()],
        &text[second.end..],
    ]
    .concat();
}

#[cfg(test)]
mod tests;
