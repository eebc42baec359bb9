//! A program that is only checked is taken member by member, and what is found has to be what
//! loading all of it finds.
//!
//! Compared are the programs of the corpus and texts with something wrong in them, made of these.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use sil::imports::FileSystem;
use sil::load::{Assumptions, Checked, check_member_wise, load_assuming};

/// Wrong texts made of each program.
const VARIANTS: usize = 6;

#[test]
fn the_same_is_found_member_by_member() {
    let (mut compared, mut said) = (0, BTreeSet::new());
    for path in programs() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut rng = Rng::with_seed(text.len() as u64);
        let variants = (0..VARIANTS).map(|_| spoilt(&text, &mut rng)).collect::<Vec<_>>();
        for text in std::iter::once(text).chain(variants) {
            compare(&path, &text, &mut said);
            compared += 1;
        }
    }
    // All phases have something to say.
    assert!(compared > 1_000, "{compared} texts");
    for id in ["parser.error", "parser.warning", "typechecker.error", "consistency.error"] {
        assert!(said.contains(id), "no text has a {id}: {said:?}");
    }
}

/// Texts with uses before or behind a declaration, in another member, and in macros.
#[test]
fn what_members_have_to_do_with_each_other_is_found() {
    let mut said = BTreeSet::new();
    for text in [
        "method m(x: T) { define T Int var y: T := x }",
        "define T Int\nmethod m(x: T) { var y: T := x; assert z }",
        "method m() { n(1) }\nmethod n(i: Int) { m() }",
        "function f(): Int requires g() > 0 { 1 }\nfunction g(): Int requires f() > 0 { 1 }",
        "function f(): Int ensures g() > 0 { g() }\nfunction g(): Int { f() }",
        "predicate p(x: Ref) { q(x) }\npredicate q(x: Ref)\nmethod m(x: Ref) { unfold q(x) }",
        "define twice(x) twice(x)\nmethod m() { twice(1) }\nmethod n() { assert 1 }",
        "method m() { goto l }\nmethod n() { label l; label l }",
        "method m() { var n: Int }\nmethod n() { }",
        "domain D { axiom m { true } axiom m { 1 } }\nmethod m()",
        "method m()\nmethod m(x: Int)\nfield m: Int",
        "adt List { Nil() Cons(head: Int, tail: List) }\nmethod m(l: List) { assert l.head == l.isNil }",
        "import <no_such_file.vpr>\nmethod m() { assert x }",
    ] {
        compare(Path::new("text.vpr"), text, &mut said);
    }
}

fn programs() -> Vec<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut waiting = vec![tests.join("corpus"), tests.join("messages")];
    let mut programs = Vec::new();
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory).expect("a folder of programs") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "sil" || end == "vpr") {
                programs.push(path);
            }
        }
    }
    programs.sort();
    programs
}

/// The text with a word left out, doubled, or put in the place of another.
fn spoilt(text: &str, rng: &mut Rng) -> String {
    let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    let (at, other) = (rng.usize(..words.len()), rng.usize(..words.len()));
    let mut changed = words.clone();
    match rng.u8(..3) {
        0 => changed[at] = "",
        1 => changed.insert(at, words[at]),
        _ => changed[at] = words[other],
    }
    changed.concat()
}

fn compare(path: &Path, text: &str, said: &mut BTreeSet<String>) {
    let name = path.to_string_lossy();
    let others = Assumptions { termination: true, exact_amounts_in_functions: true };
    for assumptions in [Assumptions::default(), others] {
        let bytes = || text.as_bytes().to_vec();
        let whole = Checked::from(load_assuming(assumptions, &name, bytes(), &FileSystem));
        let member_wise = check_member_wise(assumptions, &name, bytes(), &FileSystem);
        assert_eq!(shown(&whole), shown(&member_wise), "{name}:\n{text}");
        said.extend(whole.diagnostics.iter().map(|one| one.code.id().to_owned()));
    }
}

fn shown(checked: &Checked) -> String {
    let Checked { sources, is_blank, is_accepted, diagnostics } = checked;
    let files: Vec<_> = sources.files().map(|(id, file)| (id, &file.name)).collect();
    format!("accepted {is_accepted}, blank {is_blank}, {files:?}\n{diagnostics:#?}")
}
