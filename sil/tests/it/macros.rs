//! Macros, by comparing with the same program written out by hand.

use sil::load::{Loaded, load_text};
use sil::source::{FileId, Sources};
use sil::syntax::walk::{Rewriter, rewrite};
use sil::syntax::{Annotation, Expr, Stmt, StmtKind};

use crate::common::{without_spans, written};

/// Takes away what says which part of a macro stands where.
struct WithoutNotes;

impl Rewriter for WithoutNotes {
    fn expr(&mut self, expr: &mut Expr) {
        expr.annotations.retain(|annotation| !is_note(annotation));
        rewrite::expr(self, expr);
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        stmt.annotations.retain(|annotation| !is_note(annotation));
        rewrite::stmt(self, stmt);
    }
}

/// Tells whether the expansion of macros has made an annotation. Nobody writes such a key.
fn is_note(annotation: &Annotation) -> bool {
    matches!(&*annotation.key, "src.macro" | "src.use")
}

/// Returns the parse tree of a program without errors, without places.
fn tree(text: &str) -> String {
    let mut loaded = load_text("test", text);
    assert_eq!(messages(&loaded), [""; 0], "{text}");
    rewrite::program(&mut WithoutNotes, &mut loaded.syntax);
    without_spans(&loaded.syntax)
}

/// Returns the errors as `line.column message`.
fn messages(loaded: &Loaded) -> Vec<String> {
    let file = loaded.sources.file(FileId(0));
    let diagnostics = loaded.diagnostics.iter().map(|diagnostic| {
        format!("{} {}", file.line_column(diagnostic.span.start), diagnostic.message)
    });
    diagnostics.collect()
}

fn expands_to(text: &str, expected: &str) {
    assert_eq!(tree(text), tree(expected), "{text}");
}

fn errors(text: &str, expected: &[&str]) {
    let found = messages(&load_text("test", text));
    let matches = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
    assert!(matches, "{text}\nexpected {expected:#?}\nfound {found:#?}");
}

#[test]
fn expression_macros_take_arguments() {
    expands_to(
        "define inc(x) (x + 1) define two inc(1) method m() { assert inc(inc(two)) > two }",
        "method m() { assert (1 + 1) + 1 + 1 > 1 + 1 }",
    );
}

#[test]
fn names_stand_for_fields_functions_labels_and_types() {
    expands_to(
        "field f: Int define g f define Call(h, l) { h(1); goto l }
         define T Ref define L(e) Seq[e] define there here
         domain Foo {} method n(i: Int)
         method m(x: T, y: L(Foo)) { n(x.g); Call(n, there); label there }",
        "field f: Int domain Foo {} method n(i: Int)
         method m(x: Ref, y: Seq[Foo]) { n(x.f); n(1); goto here; label here }",
    );
}

#[test]
fn statement_macros_are_spliced_and_renamed_only_on_clashes() {
    expands_to(
        "define M(x) { var t: Int := x; x := t }
         method m() { var a: Int M(a) M(a) t := 1 }",
        "method m() { var a: Int var t: Int := a; a := t var t$0: Int := a; a := t$0 t := 1 }",
    );
}

#[test]
fn bound_names_do_not_capture_arguments() {
    expands_to(
        "define all(x) forall i: Int :: i == x
         method m(i: Int) { assert all(i); assert all(let j == (1) in j) }
         function f(): Bool { all(let i == (1) in i) }",
        "method m(i: Int) { assert forall i$0: Int :: i$0 == i
             assert forall i$1: Int :: i$1 == let j == (1) in j }
         function f(): Bool { forall i$2: Int :: i$2 == let i == (1) in i }",
    );
}

#[test]
fn a_binder_hides_the_parameter_of_its_name() {
    expands_to(
        "define M(i) i == i && forall i: Int :: i == i
         function f(j: Int): Bool { M(j) }",
        "function f(j: Int): Bool { j == j && forall i: Int :: i == i }",
    );
}

#[test]
fn local_macros_are_visible_in_their_whole_method_only() {
    expands_to(
        "method m() { assert A; { define A true } } method n(A: Bool) { assert A }",
        "method m() { assert true; { } } method n(A: Bool) { assert A }",
    );
}

#[test]
fn macros_are_passed_by_name() {
    expands_to(
        "define inc(x) (x + 1) define twice(m, x) m(m(x))
         function f(): Int { twice(inc, 3) }",
        "function f(): Int { 3 + 1 + 1 }",
    );
}

#[test]
fn a_second_expansion_has_labels_of_its_own() {
    expands_to(
        "define M(l) { label a; assert old[a](true); goto l }
         method m() { M(a); M(b); label b }",
        "method m() { label a; assert old[a](true); goto a
             label a$0; assert old[a$0](true); goto b; label b }",
    );
}

/// Returns the expression that the method asserts first. The macros before the method are gone.
fn asserted(loaded: &Loaded) -> &Expr {
    let StmtKind::Assert(asserted) = &written(&loaded.syntax)[0].kind else {
        panic!("an assertion")
    };
    asserted
}

/// The texts at which the parts of an expression stand, outer ones first.
fn places(text: &str) -> Vec<String> {
    fn add(expr: &Expr, sources: &Sources, places: &mut Vec<String>) {
        places.push(sources.text(expr.span).unwrap_or_default().to_owned());
        expr.for_each_child(&mut |child| add(child, sources, places));
    }
    let loaded = load_text("test", text);
    let mut places = Vec::new();
    add(asserted(&loaded), &loaded.sources, &mut places);
    places
}

#[test]
fn what_keeps_its_place() {
    // The elements of lists do, and so do arguments that take the place of one.
    assert_eq!(
        places("define A(x) x && f(x, 1)\nmethod m() { assert A(g(2)) }"),
        ["A(g(2))", "A(g(2))", "2", "A(g(2))", "g(2)", "2", "1"]
    );
    assert_eq!(
        places("define A(x) B(x == 1)\ndefine B(y) !y\nmethod m() { assert A(z) }"),
        ["A(z)"; 4]
    );
    assert_eq!(
        places("define A(x) {\n assert B(x) }\ndefine B(y) !y\nmethod m() { A(z) }"),
        ["B(x)", "B(x)"]
    );
}

#[test]
fn expansions_stand_at_the_outermost_call() {
    let loaded = load_text("test", "define A(x) (x)\ndefine B A(1)\nmethod m() {\n assert B }");
    let one = asserted(&loaded);
    assert_eq!(loaded.sources.text(one.span), Some("B"));
    assert_eq!(loaded.sources.range(one.span).map(|range| range.0.line), Some(4));
}

#[test]
fn misuse_is_an_error_at_the_use() {
    errors("define A true define A false", &["1.15 the macro `A` is defined twice"]);
    errors("method A() define A false", &["1.12 `A` is also the name"]);
    errors("define A(x) x\nmethod m() { assert A }", &["2.21 the macro `A` has parameters"]);
    errors("define A true\nmethod m() { assert A() }", &["2.21 the macro `A` takes no arguments"]);
    errors("define A { }\nmethod m() { A() }", &["2.14 the macro `A` takes no arguments"]);
    errors("define A(x) x\nmethod m() { assert A(1, 2) }", &["2.21 the macro `A` takes 1"]);
    errors("define A { }\nmethod m() { assert A }", &["2.21 the macro `A` is not an expression"]);
    errors("define A 1\nmethod m() { A }", &["2.14 the macro `A` is not a statement"]);
    errors("define A 1\nmethod m() { A := 1 }", &["2.14 only a variable or a field"]);
    errors("method m() { f() := 1 }", &["1.14 only a variable or a field"]);
    errors(
        "define A() 1\nmethod m() { assert acc(A()) }",
        &["2.25 this macro is not a field access"],
    );
    errors("define A(f) x.f\nmethod m() { assert A(1) }", &["2.23 the argument for `f`"]);
    errors("define A(p) true", &["1.1 the macro `A` does not use"]);
    errors("method m() { package a --* b { define A true } }", &["1.32 a macro cannot be defined"]);
}

#[test]
fn recursion_and_explosions_are_errors() {
    errors(
        "define A B\ndefine B A\nmethod m() { assert B }",
        &["2.1 the macro `B` contains itself"],
    );
    errors(
        "define A(x) (A(x))\nmethod m() { assert A(1) }",
        &["1.1 the macro `A` contains itself"],
    );
    errors("define A(x) (A(x))\ndefine B { A(1) }\nmethod m() { }", &[]);
    errors("define A(x) x(x)\nmethod m() { A(A) }", &["2.14 the macro `A` is not a statement"]);
    errors(
        "define A(x) x(x)\nmethod m() { assert A(A) }",
        &["2.23 the macro `A` cannot be used here", "1.1 the macro `A` contains itself"],
    );
    let mut bomb = "define M0(x) (x + x)\n".to_string();
    for level in 1..64 {
        bomb.push_str(&format!("define M{level}(x) M{}(M{}(x))\n", level - 1, level - 1));
    }
    bomb.push_str("function f(): Int { M63(1) }");
    errors(&bomb, &["65.21 macros "]);
}
