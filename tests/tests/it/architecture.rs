//! The structure that ARCHITECTURE.md describes is that of the sources.
//!
//! Reads the sources as text: comments are left out, and a method belongs to the one file that
//! defines its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The rooms of the engine, those that know of no other first: each may name those before it.
/// ARCHITECTURE.md quotes this.
const ROOMS: [&str; 9] = [
    "state",
    "run",
    "findings",
    "knowledge",
    "quantifiers",
    "permission",
    "consolidation",
    "rules",
    "members",
];

/// The files in no room that may name all of them.
const ABOVE: [&str; 4] = ["lib", "layers", "apart", "whole"];
/// The rooms that all others may name: they name none.
const BELOW: [&str; 4] = ["clock", "observer", "options", "report"];

/// Calls that go against that order, from one file to another.
const AGAINST: [(&str, &str); 1] = [
    // A run that asks what no run before it has asked goes on to who can answer.
    ("run/explore", "knowledge/decide"),
];

/// The highest number of files of the engine that may know each other in circles, by name or by
/// calls.
const KNOT: usize = 11;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn engine() -> PathBuf {
    root().join("symex/src")
}

/// All files below a folder with one of the endings, sorted.
fn files(below: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![below.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !matches!(name, "target" | "corpus") && !name.starts_with('.') {
                    pending.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("sources are text")
}

/// The code of a file, without comments and tests.
fn code(path: &Path) -> String {
    let text = read(path);
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The files of the engine, by the path that modules have: `rules/eval`.
fn modules() -> BTreeMap<String, String> {
    let engine = engine();
    let name = |path: &Path| {
        let below = path.strip_prefix(&engine).expect("the file is below the engine");
        below.with_extension("").to_string_lossy().replace('\\', "/")
    };
    let files = files(&engine, &[".rs"]);
    let modules = files.iter().map(|path| (name(path), code(path)));
    let is_test = |name: &str| name.ends_with("tests") || name.ends_with("trees");
    modules.filter(|(name, _)| !is_test(name)).collect()
}

/// The names that follow `before` in a text, with what stands behind each.
fn names_after<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(before).map(move |(at, _)| {
        let rest = &text[at + before.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

/// The room of a module: the first part of its path.
fn room(module: &str) -> &str {
    module.split('/').next().unwrap_or(module)
}

fn position(room: &str) -> Option<usize> {
    ROOMS.iter().position(|&other| other == room)
}

#[test]
fn rooms_of_the_engine_name_only_those_before_them() {
    let mut turned = Vec::new();
    for (module, code) in modules() {
        if ABOVE.contains(&&*module) {
            continue;
        }
        let own = position(room(&module));
        let is_known = own.is_some() || BELOW.contains(&room(&module));
        assert!(is_known, "a file in no room: add it to a table: {module}");
        for (other, _) in names_after(&code, "crate::") {
            if position(other) > own {
                turned.push(format!("{module} names {other}"));
            }
        }
    }
    assert!(turned.is_empty(), "arrows between rooms turn round:\n{}", turned.join("\n"));
}

/// Returns which files call methods of which others, by their positions among the modules.
fn calls() -> DiGraphMap<usize, ()> {
    let modules: Vec<(String, String)> = modules().into_iter().collect();
    let mut homes: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (index, (_, code)) in modules.iter().enumerate() {
        for (name, _) in names_after(code, "fn ") {
            homes.entry(name).or_default().insert(index);
        }
    }
    let mut graph = DiGraphMap::new();
    for (index, (_, code)) in modules.iter().enumerate() {
        let squeezed: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let squeezed = squeezed.replace(" .", ".");
        for receiver in ["self.", "engine.", "sil.", "core().", "core.", "Self::"] {
            for (name, rest) in names_after(&squeezed, receiver) {
                let home = homes.get(name).filter(|homes| homes.len() == 1);
                if let Some(&other) = home.and_then(BTreeSet::first)
                    && rest.starts_with('(')
                    && other != index
                {
                    graph.add_edge(index, other, ());
                }
            }
        }
    }
    graph
}

/// The same, and which files name which others.
fn arrows() -> DiGraphMap<usize, ()> {
    let modules: Vec<(String, String)> = modules().into_iter().collect();
    let mut graph = calls();
    for (index, (_, code)) in modules.iter().enumerate() {
        for (at, marker) in code.match_indices("crate::") {
            let rest = &code[at + marker.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
            let parts: Vec<&str> = rest[..end.unwrap_or(rest.len())].split("::").collect();
            let named = (1..=parts.len()).rev().find_map(|length| {
                let path = parts[..length].join("/");
                modules.iter().position(|(name, _)| *name == path)
            });
            if let Some(other) = named.filter(|&other| other != index) {
                graph.add_edge(index, other, ());
            }
        }
    }
    graph
}

#[test]
fn rooms_of_the_engine_call_only_those_before_them() {
    let names: Vec<String> = modules().into_keys().collect();
    let mut turned = Vec::new();
    for (from, to, ()) in calls().all_edges() {
        let (from, to) = (&*names[from], &*names[to]);
        let is_above = ["lib", "apart"].contains(&from);
        if position(room(from)) < position(room(to)) && !is_above {
            turned.push((from, to));
        }
    }
    turned.sort_unstable();
    assert_eq!(turned, AGAINST, "calls against the order of the rooms");
}

#[test]
fn few_files_of_the_engine_know_each_other_in_circles() {
    let names: Vec<String> = modules().into_keys().collect();
    let largest = tarjan_scc(&arrows()).into_iter().max_by_key(Vec::len).unwrap_or_default();
    let mut knot: Vec<&str> = largest.iter().map(|&index| &*names[index]).collect();
    knot.sort_unstable();
    assert!(knot.len() <= KNOT, "{} files know each other in circles: {knot:?}", knot.len());
    assert!(knot.len() == KNOT, "the knot has become smaller: set KNOT to {}", knot.len());
}

#[test]
fn only_the_prover_names_z3() {
    for crate_ in ["smt", "symex", "symex-sil", "syxc", "silicon", "sil", "tests"] {
        for path in files(&root().join(crate_), &[".rs"]) {
            let is_prover = path.to_string_lossy().contains("smt/src/prover");
            let is_this = path.ends_with("it/architecture.rs");
            let text = code(&path);
            let names_it = text.contains("z3::") || text.contains("z3_sys");
            assert!(is_prover || is_this || !names_it, "{} names Z3", path.display());
        }
    }
}

/// The numbers of traps that a text mentions, such as `T10e`.
fn traps(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    for word in words {
        let digits = word.strip_prefix('T').unwrap_or_default();
        let number = digits.trim_end_matches(|c: char| c.is_ascii_lowercase() || c == '\'');
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            found.insert(word.to_owned());
        }
    }
    found
}

#[test]
fn every_trap_that_a_comment_cites_has_a_row() {
    let soundness = read(&root().join("SOUNDNESS.md"));
    let rows = soundness.lines().filter_map(|line| line.strip_prefix("| T")?.split(' ').next());
    let rows: BTreeSet<String> = rows.map(|number| format!("T{number}")).collect();
    assert!(rows.len() > 20, "the table of traps is there");
    let mut unknown = Vec::new();
    for crate_ in ["smt", "symex", "symex-sil", "syxc", "silicon", "sil", "chalice2sil", "spl2sil"]
    {
        for path in files(&root().join(crate_), &[".rs"]) {
            for line in read(&path).lines() {
                let comment = line.split_once("//").map_or("", |(_, comment)| comment);
                for trap in traps(comment).difference(&rows) {
                    unknown.push(format!("{} cites {trap}", path.display()));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// The traps that SOUNDNESS.md lists, in its order: `T10e`, `C3`.
fn listed() -> Vec<String> {
    let soundness = read(&root().join("SOUNDNESS.md"));
    let rows = soundness.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let is_number = |row: &&str| {
        row.starts_with(['A', 'C', 'R', 'S', 'T'])
            && row[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    rows.filter(is_number).map(str::to_owned).collect()
}

/// The files that say which traps they test, by trap.
fn marked() -> BTreeMap<String, BTreeSet<String>> {
    let mut marked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (folder, endings) in [
        ("tests/corpus", &[".sil", ".vpr", ".chalice", ".spl"][..]),
        ("chalice-run/tests/programs", &[".chalice"]),
        ("smt/src/prover/tests", &[".rs"]),
        ("smt/src/tableau", &[".rs"]),
        ("sil/tests/it", &[".rs"]),
    ] {
        for path in files(&root().join(folder), endings) {
            let name = path.strip_prefix(root()).expect("it is below").display().to_string();
            let text = read(&path);
            for (_, traps) in text.lines().filter_map(|line| line.split_once("// Traps: ")) {
                for trap in traps.split(", ") {
                    marked.entry(trap.to_owned()).or_default().insert(name.clone());
                }
            }
        }
    }
    marked
}

#[test]
fn every_trap_is_tied_to_a_program() {
    let (listed, marked) = (listed(), marked());
    assert!(listed.len() > 100, "the tables of traps are there");
    let unknown: Vec<_> = marked.keys().filter(|trap| !listed.contains(trap)).collect();
    assert!(unknown.is_empty(), "SOUNDNESS.md has no rows {unknown:?}");
    // Some of the trusted parts cannot be shown by a program.
    let is_tested = |trap: &&String| trap.starts_with('A') || marked.contains_key(*trap);
    let untested: Vec<_> = listed.iter().filter(|trap| !is_tested(trap)).collect();
    assert!(untested.is_empty(), "no program has `// Traps: …` with {untested:?}");

    let mut page = "# Programs of each trap\n\nMade of the lines `// Traps: …` of the programs; \
        `SOUNDNESS.md` says what the traps are.\n"
        .to_owned();
    for trap in &listed {
        let Some(programs) = marked.get(trap) else { continue };
        page.push_str(&format!("\n**{trap}**\n\n"));
        for program in programs {
            page.push_str(&format!("* `{program}`\n"));
        }
    }
    let path = root().join("docs/traps.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &page).expect("it can be written");
    }
    assert_eq!(page, fs::read_to_string(&path).unwrap_or_default(), "UPDATE_EXPECT=1 writes it");
}

#[test]
fn every_source_file_that_a_document_names_is_there() {
    let sources = files(&root(), &[".rs", ".pest", ".toml"]);
    let is_there = |named: &str| {
        root().join(named).exists() || sources.iter().any(|path| path.ends_with(named))
    };
    let mut missing = Vec::new();
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SOUNDNESS.md"] {
        let text = read(&root().join(document));
        for named in text.split('`').skip(1).step_by(2) {
            let is_plain = !named.contains(|c: char| c.is_whitespace() || "<>{}*…$".contains(c));
            let is_source =
                named.contains("/src/") || Path::new(named).extension() == Some("rs".as_ref());
            if is_plain && is_source && !is_there(named) {
                missing.push(format!("{document} names {named}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
