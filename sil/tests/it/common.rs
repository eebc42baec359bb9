//! Helpers that several modules share.

use std::fmt::Debug;

use sil::load::{Loaded, load_text};
use sil::program::{Body, Method, Program, Stmt};
use sil::syntax;

/// Loads a program without errors.
#[track_caller]
pub(crate) fn program(text: &str) -> Program {
    let Loaded { program, sources, diagnostics, .. } = load_text("test.sil", text);
    program.unwrap_or_else(|| {
        let findings: Vec<_> = diagnostics
            .iter()
            .map(|finding| (sources.range(finding.span).map(|range| range.0), &finding.message))
            .collect();
        panic!("not accepted: {findings:?}\n{text}")
    })
}

/// Returns the statements of a method's first implementation.
pub(crate) fn statements(method: &Method) -> &[Stmt] {
    match &method.implementations[0].body {
        Body::Structured(block) => &block.statements,
        Body::Graph(_) => panic!("the body is structured"),
    }
}

/// Returns the statements of the first member's first implementation, before names are resolved.
pub(crate) fn written(program: &syntax::Program) -> &[syntax::Stmt] {
    let syntax::MemberKind::Method(method) = &program.members[0].kind else { panic!("a method") };
    let syntax::Body::Structured(block) = &method.implementations[0].body else {
        panic!("the body is structured")
    };
    &block.statements
}

/// Takes the first line and eight columns away from a text that stands in a program.
pub(crate) fn unindented(text: &str) -> String {
    let lines = text.lines().skip(1).map(|line| line.get(8..).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Shows a tree without the places of its nodes.
pub(crate) fn without_spans(tree: &impl Debug) -> String {
    let text = format!("{tree:#?}");
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.ends_with("Span {") {
            let indent = line.len() - line.trim_start().len();
            let closing = format!("{:indent$}}},", "");
            lines.by_ref().find(|line| **line == closing);
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Each line of `text` that ends in `// type`, `// consistency` or `// warning` has such a finding,
/// and no other line has any.
pub(crate) fn check(text: &str) {
    let loaded = load_text("test", text);
    let mut found: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let file = loaded.sources.file(diagnostic.span.file);
            let line = file.line_column(diagnostic.span.start).line;
            (line, diagnostic.code.id().to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    let expected: Vec<_> = (1..)
        .zip(text.lines())
        .filter_map(|(number, line)| {
            let id = match line.rsplit_once("// ")?.1 {
                "type" => "typechecker.error",
                "consistency" => "consistency.error",
                "warning" => "typechecker.warning",
                _ => return None,
            };
            Some((number, id.to_owned()))
        })
        .collect();
    assert_eq!(found, expected, "{text}\n{:#?}", loaded.diagnostics);
    let has_errors = loaded.has_errors();
    assert_eq!(loaded.program.is_none(), has_errors, "a program is there iff there are no errors");
}
