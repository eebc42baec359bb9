//! Programs of several files, in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use sil::imports::{Loader, NoFiles, read_all};
use sil::source::Sources;
use sil::syntax::MemberKind;

struct Memory(BTreeMap<&'static str, Vec<u8>>);

impl Loader for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = path.to_str().expect("test paths are text");
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Loads the first file; the names of the methods found, and the errors as `file:line.column
/// message`.
fn load(files: &[(&'static str, &str)]) -> (Vec<String>, Vec<String>) {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let memory = Memory(files.iter().map(|(name, text)| (*name, bytes(text))).collect());
    let (name, text) = files[0];
    load_bytes(name, bytes(text), &memory)
}

fn load_bytes(name: &str, bytes: Vec<u8>, loader: &dyn Loader) -> (Vec<String>, Vec<String>) {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let program = read_all(name, bytes, loader, &mut sources, &mut diagnostics);
    let names = program.members.iter().filter_map(|member| match &member.kind {
        MemberKind::Method(method) => Some(method.name.name.to_string()),
        MemberKind::Domain(domain) => Some(domain.name.name.to_string()),
        _ => None,
    });
    let errors = diagnostics.iter().map(|diagnostic| {
        let file = sources.file(diagnostic.span.file);
        format!("{}:{} {}", file.name, file.line_column(diagnostic.span.start), diagnostic.message)
    });
    (names.collect(), errors.collect())
}

#[test]
fn reads_each_file_once_though_imports_are_cyclic() {
    let (names, errors) = load(&[
        ("d/a.vpr", "import \"b.vpr\" import \"./x/../b.vpr\" method a()"),
        ("d/b.vpr", "import \"../d/a.vpr\" method b()"),
    ]);
    assert_eq!(names, ["b", "a"]);
    assert_eq!(errors, [""; 0]);
}

#[test]
fn imports_are_relative_to_the_importing_file() {
    let (names, errors) = load(&[
        ("a.vpr", "import \"sub/b.vpr\""),
        ("sub/b.vpr", "import \"c.vpr\""),
        ("sub/c.vpr", "method c()"),
    ]);
    assert_eq!(names, ["c"]);
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_missing_file_is_an_error_at_the_import() {
    let (names, errors) = load(&[("a.vpr", "method a()\nimport <no/such.vpr>")]);
    assert_eq!(names, ["a"]);
    assert_eq!(
        errors,
        ["a.vpr:2.1 cannot import `no/such.vpr`: the standard library has no such file"]
    );
}

#[test]
fn errors_carry_the_imported_file() {
    let (names, errors) =
        load(&[("a.vpr", "import \"b.vpr\"\nmethod a()"), ("b.vpr", "method b()\nfield f")]);
    assert_eq!(names, ["b", "a"]);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("b.vpr:2."), "{errors:?}");
}

#[test]
fn bytes_that_are_no_text_are_an_error_at_their_place() {
    let (_, errors) = load_bytes("a.vpr", b"method a()\n \xff".to_vec(), &NoFiles);
    assert_eq!(errors, ["a.vpr:2.2 the file is not UTF-8"]);
}

#[test]
fn a_project_brings_a_library_in_a_folder_above() {
    let (names, errors) =
        load(&[("p/q/a.vpr", "import <own/b.vpr>"), ("p/import/own/b.vpr", "method b()")]);
    assert_eq!(names, ["b"]);
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_file_is_read_once_though_it_is_imported_from_the_library_and_by_its_path() {
    for imports in [
        "import <own/b.vpr> import \"import/own/b.vpr\"",
        "import \"import/own/b.vpr\" import <own/b.vpr>",
    ] {
        let (names, errors) = load(&[("a.vpr", imports), ("import/own/b.vpr", "method b()")]);
        assert_eq!(names, ["b"], "{imports}");
        assert_eq!(errors, [""; 0], "{imports}");
    }
}

#[test]
fn a_file_beside_the_program_and_one_of_the_library_share_a_name() {
    for imports in [
        "import <decreases/int.vpr> import \"decreases/int.vpr\"",
        "import \"decreases/int.vpr\" import <decreases/int.vpr>",
    ] {
        let (mut names, errors) = load(&[("a.vpr", imports), ("decreases/int.vpr", "method b()")]);
        names.sort();
        assert_eq!(names, ["IntWellFoundedOrder", "WellFoundedOrder", "b"], "{imports}");
        assert_eq!(errors, [""; 0], "{imports}");
    }
}

#[test]
fn every_order_of_the_library_parses() {
    let (names, errors) = load(&[(
        "a.vpr",
        "import <decreases/all.vpr> import <decreases/rational.vpr> import <adt/derives.vpr>",
    )]);
    assert_eq!(names.len(), 13);
    assert_eq!(errors, [""; 0]);
}
