//! Tests of the translation of single constructs.

use sil::print::Form;
use sil::syntax::walk::{Rewriter, rewrite};
use sil::syntax::{Expr, Member, Stmt};
use spl::{NoFiles, Settings};
use spl2sil::{Options, Translated, translate, translate_text};

fn translated(text: &str) -> Translated {
    let (settings, options) = (Settings::default(), Options::default());
    translate_text("t.spl", text, &settings, options, &NoFiles, Form::Structured)
}

/// The translation of a program of the field dialect, without annotations.
fn sil(text: &str) -> String {
    let text = format!("options \"-symbexec-v2\"\n{text}");
    let checked = spl::check("t.spl", &text, &Settings::default(), &NoFiles);
    let program = checked.program.unwrap_or_else(|| panic!("{text}: {:?}", checked.findings));
    let mut translation = translate(&checked.sources, &program, Options::default())
        .unwrap_or_else(|refusals| panic!("{text}: {refusals:?}"));
    translation.members.iter_mut().for_each(|member| Unannotated.member(member));
    let loaded = sil::load::load_syntax(translation);
    let loaded_program = loaded.program.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    sil::print::program(&loaded_program, Form::Structured)
}

/// Takes annotations away.
struct Unannotated;

impl Rewriter for Unannotated {
    fn member(&mut self, member: &mut Member) {
        member.annotations.clear();
        rewrite::member(self, member);
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        stmt.annotations.clear();
        rewrite::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &mut Expr) {
        expr.annotations.clear();
        rewrite::expr(self, expr);
    }
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    let found = sil(text);
    for part in parts {
        assert!(found.contains(part), "no `{part}` in\n{found}");
    }
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let translated = translated(&format!("options \"-symbexec-v2\"\n{text}"));
    assert!(translated.text.is_none(), "{text} is translated");
    let found: Vec<_> = translated.messages.iter().map(|one| one.text.as_str()).collect();
    assert!(found.iter().any(|one| one.contains(message)), "{text}: {found:?}");
}

const CELL: &str = "struct Cell { var link: Cell; var val: Int; }\n";

#[test]
fn fields_and_predicates_are_those_of_sil() {
    contains(
        &format!(
            "{CELL} predicate chain(a: Cell, b: Cell) {{ a == b ? emp : acc(a.link) &*& acc(a.val) &*& chain(a.link, b) }}
             procedure m(a: Cell, b: Cell) requires chain(a, b) {{ unfold chain(a, b); fold chain(a, b); }}"
        ),
        &[
            "field Cell$link: Ref",
            "field Cell$val: Int",
            "a == b ? true : acc(a.Cell$link) && acc(a.Cell$val) && chain(a.Cell$link, b)",
            "unfold chain(a, b)",
            "  fold chain(a, b)",
        ],
    );
}

#[test]
fn all_fields_are_freed() {
    contains(
        &format!("{CELL} procedure m(c: Cell) {{ free c; }}"),
        &["freed != null && acc(freed.Cell$link) && acc(freed.Cell$val)"],
    );
}

#[test]
fn assigned_parameters_have_last_values_of_their_own() {
    contains(
        "procedure m(n: Int, k: Int) requires n > 0 ensures n == old(n) + k { n := n + k; }
         procedure calls(n: Int) { m(n, 1); }",
        &[
            "method m(n: Int, k: Int) returns (n_out: Int)",
            "requires n > 0",
            "ensures n_out == old(n) + k",
            "n_out := n\n",
            "n_out := n_out + k",
            "unused: Int := m(n, 1)",
        ],
    );
}

#[test]
fn implicit_arguments_are_what_an_equation_says() {
    contains(
        &format!(
            "{CELL} procedure m(c: Cell, implicit ghost v: Int, implicit ghost w: Int)
               requires c.val |-> v &*& w == v + 1 {{ }}
             procedure calls(d: Cell) requires acc(d.val) {{ m(d); }}"
        ),
        &["m(d, d.Cell$val, d.Cell$val + 1)"],
    );
    let opaque = "predicate p(c: Cell, v: Int) procedure m(c: Cell, implicit ghost v: Int) requires p(c, v) \
                  procedure calls(c: Cell) requires p(c, 1) { m(c); }";
    contains(
        &format!("{CELL} {opaque}"),
        &[
            "inhale !(forperm held: Ref, held_1: Int [p(held, held_1)] ::",
            "held != c) ==>",
            "none < perm(p(c, v))",
            "m(c, v)",
        ],
    );
    let unknown = "predicate p(c: Cell, v: Int) procedure m(c: Cell, implicit ghost v: Int) requires p(c, v + 1) \
                   procedure calls(c: Cell) requires p(c, 1) { m(c); }";
    refused(&format!("{CELL} {unknown}"), "nothing says what the implicit argument `v` of `m` is");
}

#[test]
fn what_the_field_dialect_has_not_is_refused() {
    let within = |stmts: &str| format!("{CELL} procedure m(x: Cell, a: Array<Int>) {{ {stmts} }}");
    for (stmts, message) in [
        ("a[0] := 1;", "arrays are not part"),
        ("var b := new Array<Int>(3);", "arrays are not part"),
        ("pure assert Reach(link, x, null);", "reachability is not part"),
        ("assert acc(x.val) &+& acc(x.val);", "sets of objects"),
        ("assert acc(x.val) || acc(x.link);", "needs a condition"),
        ("assert exists y: Cell :: acc(y.val);", "nothing says which `y`"),
        ("link := link;", "a field is no value"),
    ] {
        refused(&within(stmts), message);
    }
    refused("var g: Int;", "global variables are not part");
}

#[test]
fn names_of_sil_are_no_names_of_programs() {
    contains(
        "struct field { var union: Int; }
         procedure method(result: field, 2nd: Int) returns (wand: Int, is?it: Bool)
           requires acc(result.union) { wand := result.union + 2nd; }",
        &["field field$union: Int", "method method_1(result_1: Ref, $2nd: Int)", "is$it: Bool"],
    );
}

#[test]
fn comprehensions_are_functions_of_what_they_mention() {
    contains(
        "procedure m(n: Int) { var s := {x: Int :: x > n}; pure assert n + 1 in s; \
         var t := {x: Int :: x + n}; pure assert t[1] == n + 1; }",
        &["s: Set[Int] := $set_of(n)", "$set_of(n: Int): Set[Int]", "x in $set_of(n) <==> x > n"],
    );
}

#[test]
fn paths_are_axiomatized_where_they_are_followed() {
    let cell = "struct Cell { var link: Cell; var val: Int; } struct Top { var top: Top; }";
    let domains = |claim: &str| {
        let text = format!(
            "{cell} procedure m(x: Cell, t: Top) requires acc(x) &*& acc(t) ensures acc(x) &*& acc(t) \
             {{ pure assert {claim}; x.link := x; t.top := t; }}"
        );
        let text = translated(&text).text.expect("it has no errors");
        let is_about = |sort: &str| text.contains(&format!("domain Unwritten${sort}"));
        [is_about("Cell"), is_about("Top")]
    };
    assert_eq!(domains("x.link == x.link"), [false, false]);
    assert_eq!(domains("Reach(link, x, x)"), [true, false]);
}

#[test]
fn the_same_text_becomes_the_same_bytes() {
    let text = include_str!("../../examples/spl/linked_list.spl");
    assert_eq!(translated(text).text, translated(text).text);
    assert_eq!(translated(text).dialect, Some(spl::Dialect::Field));
}
