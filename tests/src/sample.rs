//! A directory of small programs of each kind, and the lines of JSON that a run prints.

use serde_json::Value;

use crate::binaries::{Run, Scratch};

/// One member, verified.
pub const VERIFIES: &str = "method m(x: Int)\n  requires 0 < x\n{\n  assert x != 0\n}\n";

/// One member with one error.
pub const FAILS: &str = "method m(x: Int)\n{\n  assert x != 0\n}\n";

/// A program with an error of types.
pub const ILL_TYPED: &str = "method m(x: Int)\n{\n  assert x\n}\n";

/// Programs that are verified, that fail, that are none, and that declare nothing.
pub fn programs() -> Scratch {
    Scratch::new(&[
        ("good.sil", VERIFIES.as_bytes()),
        ("bad.vpr", FAILS.as_bytes()),
        ("ill.sil", ILL_TYPED.as_bytes()),
        ("latin.sil", b"method m()\n{ var \xe4: Int }\n"),
        ("empty.sil", b""),
        ("comments.vpr", b"// nothing\n/* to verify */\n"),
        ("fields.sil", b"field f: Int\n"),
        ("macros.vpr", b"define twice(x) (x + x)\n"),
        ("importing.vpr", b"import \"macros.vpr\"\n"),
        ("class.chalice", b"class C { }\n"),
        ("empty.chalice", b"// nothing\n"),
        ("struct.spl", b"struct S { var x: Int; }\n"),
        ("empty.spl", b""),
        ("notes.txt", b"no program"),
    ])
}

/// The lines of JSON that a run has printed.
pub fn lines(run: &Run) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"));
    run.stdout.lines().map(parse).collect()
}

/// The lines of a run without what may differ between two runs.
pub fn timeless(run: &Run) -> Vec<Value> {
    let mut lines = lines(run);
    for line in &mut lines {
        let fields = line.as_object_mut().expect("each line is an object");
        fields.retain(|name, _| !name.ends_with("_ms"));
    }
    lines
}

/// The members whose verdicts come from an earlier run.
pub fn cached(run: &Run) -> Vec<String> {
    let lines = lines(run).into_iter().filter(|line| line["cached"] == true);
    lines.map(|line| line["name"].as_str().expect("a member has a name").to_owned()).collect()
}

/// The lines of one type.
pub fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// A method with so many paths that nobody sees the last one, where none are merged.
pub fn endless() -> String {
    let mut text = "domain D { function f(n: Int, x: Int): Bool }\n\
                    method endless(y: Int) {\n  var x: Int := y\n"
        .to_owned();
    for n in 0..60 {
        text += &format!("  if (f({n}, x)) {{ x := x + 1 }}\n");
    }
    text + "  assert x >= y\n}\n"
}

/// A method whose proof has exponentially many steps: more pigeons than holes.
pub fn pigeons(name: &str, pigeons: usize) -> String {
    let holes = pigeons - 1;
    let each = (0..pigeons).map(|pigeon| {
        format!("  var p{pigeon}: Int\n  assume 0 <= p{pigeon} && p{pigeon} < {holes}\n")
    });
    let pairs = (0..pigeons).flat_map(|other| (0..other).map(move |pigeon| (pigeon, other)));
    let differ = pairs.map(|(pigeon, other)| format!("  assume p{pigeon} != p{other}\n"));
    let facts: String = each.chain(differ).collect();
    format!("method {name}() {{\n{facts}  assert false\n}}\n")
}
