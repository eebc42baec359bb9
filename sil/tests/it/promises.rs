//! The promises in the documentation of the crate.

use sil::parser::{MAX_DEPTH, MAX_NESTING};
use sil::print::{self, Form};

/// Fails to compile if it is not so.
#[test]
fn what_the_crate_yields_is_shared_by_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<sil::syntax::Program>();
    shared::<sil::program::Program>();
    shared::<sil::cfg::Cfg>();
    shared::<sil::load::Loaded>();
    shared::<sil::source::Sources>();
    shared::<sil::diagnostics::Diagnostic>();
    shared::<sil::render::Message>();
}

/// On the small stack that threads of tests have.
#[test]
fn deep_programs_need_no_deep_stack() {
    let nested = MAX_NESTING - 10;
    let sum = vec!["n"; MAX_DEPTH - 10].join(" + ");
    let implications = vec!["b"; MAX_DEPTH - 10].join(" ==> ");
    let parentheses = format!("{}b{}", "(".repeat(nested), ")".repeat(nested));
    let negations = format!("{}b", "!".repeat(MAX_DEPTH - 10));
    let branches = format!("{}n := 1{}", "if (b) {".repeat(nested), "}".repeat(nested));
    let else_ifs = format!("if (b) {{ }}{}", " elseif (b) { }".repeat(MAX_DEPTH / 2 - 10));
    for body in [
        format!("n := {sum}"),
        format!("assert {implications}"),
        format!("assert {parentheses}"),
        format!("assert {negations}"),
        branches,
        else_ifs,
    ] {
        let text = format!("method m(b: Bool) returns (n: Int) {{ {body} }}");
        let loaded = sil::load::load_text("deep.sil", &text);
        assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
        let program = loaded.program.expect("there are no errors");
        for form in [Form::Structured, Form::Graph] {
            assert!(!print::program(&program, form).is_empty());
        }
    }
}
