//! Each construct is lowered to a program that resolves and reads back, with the statements that
//! matter in it.

use chalice::SourceFile;
use chalice2sil::explain::explained;
use chalice2sil::{load, translate_text};
use sil::print::Form;

/// The translation without annotations, which must be a program of SIL in both forms.
fn lowered(program: &str) -> String {
    let (text, messages) = translate_text("t.chalice", program, &[], Form::Structured);
    assert!(messages.is_empty(), "{messages:#?}");
    let loaded = load("t.chalice", program, &[]);
    assert!(loaded.program.is_some(), "{:#?}", loaded.messages);
    without_annotations(&text.expect("a program without messages has a translation"))
}

fn without_annotations(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("@src.") {
        kept.push_str(&rest[..at]);
        let mut is_quoted = false;
        let end = rest[at..].find(|character| {
            is_quoted ^= character == '"';
            character == ')' && !is_quoted
        });
        rest = end.map_or("", |end| &rest[at + end + 1..]);
    }
    kept.push_str(rest);
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lowers `body` in a method of a class with two fields.
fn body(contract: &str, body: &str) -> String {
    let class = "var f: int; var g: C; var xs: seq<int>; predicate P { acc(f) } function get(): int requires rd(f) { f }";
    lowered(&format!(
        "class C {{ {class} method none() {{}} method m(c: C, n: int) {contract} {{ {body} }} }}"
    ))
}

/// Spaces and parentheses are the printer's affair.
fn bare(text: &str) -> String {
    text.replace(['(', ')', ' '], "")
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(bare(text).contains(&bare(part)), "{part}\nis not in\n{text}");
    }
}

#[test]
fn classes_become_prefixed_members() {
    let text = body("requires acc(f) ensures acc(f) && f == old(f)", "f := f;");
    contains(
        &text,
        &[
            "field C_f: Int",
            "predicate C_P(this: Ref)",
            "function C_get(this: Ref): Int requires this != null",
            "method C_m(this: Ref, c: Ref, n: Int)",
            "this.C_f == old(this.C_f)",
        ],
    );
}

#[test]
fn names_do_not_clash() {
    let text = lowered(
        "class C { var f: int; method C_f(mu: int, field: int) { var label: int := mu + field; } } class C_C { var f: int; }",
    );
    contains(&text, &["mu_1: Int", "field_1: Int", "var label_1: Int"]);
}

#[test]
fn amounts_are_fractions() {
    let text = body("requires acc(f, 40) && acc(g, n) && rd*(xs)", "");
    contains(
        &text,
        &[
            "acc(this.C_f, 2 / 5)",
            "[0 <= n, (0 <= n)]",
            "acc(this.C_g, n / 100)",
            "acc(this.C_xs, wildcard)",
        ],
    );
}

#[test]
fn read_fractions_are_bounded_by_what_is_held() {
    let text = body("requires rd(f) && (c != null ==> rd(c.f))", "call m(c, n);");
    contains(
        &text,
        &[
            "k: Perm",
            "none < k_call && 1000 * k_call < k",
            "inhale none < perm(this.C_f) ==> 2 * k_call < perm(this.C_f)",
            "c != null ==> none < perm(c.C_f) ==> 2 * k_call < perm(c.C_f)",
            "C_m(this, c, n, k_call)",
        ],
    );
}

#[test]
fn tokens_carry_the_call() {
    let program = "class C { var f: int; method m(n: int) returns (r: int) requires acc(f) ensures acc(f) && r == old(f) + n { r := f + n; }
        method go() requires acc(f) { fork tk := m(2); join r := tk; } }";
    let text = lowered(&program.replace("join r", "var r: int; join r"));
    contains(
        &text,
        &[
            "field C_m_token_this: Ref",
            "field C_m_token_old1: Int",
            "if (none < perm(this.C_f)) { old_value := this.C_f }",
            "exhale acc(this.C_f)",
            "tk := new(",
            "tk.C_m_token_n := 2",
            "assert acc(tk.joinable)",
            "tk.C_m_token_r == tk.C_m_token_old1 + tk.C_m_token_n",
            "r := tk.C_m_token_r",
        ],
    );
}

#[test]
fn permission_to_a_token_includes_its_ghost_fields() {
    let text = lowered(
        "class C { method m() {} method j(tk: token<C.m>) requires acc(tk.joinable, 50) {} }",
    );
    contains(&text, &["acc(tk.joinable, 1 / 2)", "acc(tk.C_m_token_this, 1 / 2)"]);
}

#[test]
fn old_below_a_quantifier_has_many_values() {
    let text = lowered(
        "class C { var f: int; function at(i: int): int requires rd(f) { f + i }
           method m() requires acc(f) ensures acc(f) && (forall i: int :: at(i) == old(at(i))) {}
           method go() requires acc(f) { fork tk := m(); join tk; } }",
    );
    contains(
        &text,
        &["function C_m_token_old1(token: Ref, x0: Int): Int", "C_m_token_old1(tk, i)"],
    );
}

#[test]
fn methods_without_locks_do_not_pass_them() {
    assert!(!body("", "call none();").contains("heldMap"));
    let text = body(
        "requires c != null && rd(c.mu) && waitlevel << c",
        "acquire c; call none(); release c;",
    );
    contains(
        &text,
        &[
            "heldMap0: Set[Ref], muMap0: MuMap",
            "muMap := mu_set(muMap, c, c.mu)",
            "heldMap := heldMap union Set(c)",
            "inhale C_monitor(c)",
            "unfold C_monitor(c)",
            "C_none(this)",
            "fold C_monitor(c)",
            "heldMap := heldMap setminus Set(c)",
            "ensures (heldMap == heldMap0)",
        ],
    );
}

#[test]
fn lockchange_is_an_exception_to_the_frame() {
    let text = body("requires c != null && rd(c.mu) && holds(c) lockchange c", "release c;");
    contains(&text, &["o != c ==> o in heldMap <==> o in heldMap0"]);
}

#[test]
fn sharing_chooses_a_level() {
    let text = body(
        "",
        "var a := new C; share a; var b := new C; share b above a; reorder_(a);"
            .replace("reorder_(a);", "")
            .as_str(),
    );
    contains(
        &text,
        &[
            "a.mu == lockbottom()",
            "below(mu_at(muMap, o), level)",
            "below(a.mu, level_1)",
            "a.mu := level",
        ],
    );
}

#[test]
fn readers_get_counting_permissions() {
    let text = lowered(
        "class C { var f: int; invariant acc(f); method m(c: C) requires c != null && rd(c.mu) && waitlevel << c
           { rd acquire c; var x: int := c.f; rd release c; } }",
    );
    contains(
        &text,
        &["rdHeldMap0: Set[Ref]", "predicate C_read_monitor", "acc(this.C_f, counting_fraction())"],
    );
}

#[test]
fn loops_keep_the_locks_and_have_a_fraction_of_their_own() {
    let text = body(
        "requires c != null && rd(c.mu) && waitlevel << c",
        "var i: int := 0; while (i < n) invariant rd(c.mu) && waitlevel << c { lock (c) { i := i + 1; } }",
    );
    contains(&text, &["acc(c.mu, k_loop)", "invariant (heldMap == heldMap0)", "while ((i < n))"]);
}

#[test]
fn statements_of_all_kinds() {
    contains(
        &body("requires P", "unfold P; f := 1; fold acc(P, 50);"),
        &["unfold C_P(this)", "fold acc(C_P(this), 1 / 2)"],
    );
    contains(
        &body("", "if (n > 0) { assert n != 0; } else if (n < 0) { } else { assume n == 0; }"),
        &["if ((n > 0))"],
    );
    contains(
        &body("", "var x: int := n; var y: int [y > x]; assert y > x;"),
        &["label before", "inhale y > x"],
    );
    contains(
        &body("", "var d := new C { f := 3, g := c }; free d;"),
        &["d.C_f := 3", "exhale acc(d.mu) && acc(d.C_f)"],
    );
    contains(
        &body("", "ghost const z: int; z := 3; assert assigned(z);"),
        &["assert !z_assigned", "inhale z == 3"],
    );
    contains(
        &body("requires acc(xs) && |xs| > 3", "assert xs[1..2] == [xs[1]]; assert 3 in xs;"),
        &["asserting", "3 in this.C_xs"],
    );
    contains(&body("requires acc(c.*)", "c.f := 1;"), &["acc(c.C_f)", "acc(c.C_g)"]);
}

#[test]
fn channels_count_messages() {
    let text = lowered(
        "channel Ch(x: int) where x > 0; class C { method m(ch: Ch) requires ch != null && credit(ch, 1) && rd(ch.mu) && waitlevel << ch
           ensures credit(ch, -1) { receive x := ch; send ch(x); call n(ch); } method n(ch: Ch) requires ch != null && credit(ch) ensures credit(ch) {} }",
    );
    contains(
        &text,
        &[
            "predicate Ch_where(this: Ref, x: Int)",
            "credits := credit_set(credits, ch, credit_at(credits, ch) + 1)",
            "assert 0 < credit_at(credits, ch)",
            "fold Ch_where(ch, x",
            "0 <= credit_at(credits, c)",
        ],
    );
}

#[test]
fn recursive_functions_must_need_less() {
    let text = lowered(
        "class C { var next: C; predicate ok { acc(next) && (next != null ==> next.ok) }
           function size(): int requires rd(ok) { unfolding rd(ok) in (next == null ? 1 : 1 + next.size()) }
           function one(): int requires rd(ok) { 1 } }",
    );
    contains(
        &text,
        &["method C_size_terminates(this: Ref, k: Perm)", "assert none < perm(this.C_next)"],
    );
    assert!(!text.contains("C_one_terminates"));
}

#[test]
fn what_has_no_lowering_is_refused_by_the_engine() {
    let program = "class C { var f: int;
           method m(s: set<int>) requires acc(f) { assert (sum x : (s) :: x * f) == 0; }
           method fine() {} }";
    let (text, messages) = translate_text("t.chalice", program, &[], Form::Structured);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert_eq!(messages[0].id, "internal:feature.unsupported");
    let text = text.expect("the other members are translated");
    assert!(text.contains("@unsupported(") && text.contains("C_fine"), "{text}");
    assert!(load("t.chalice", program, &[]).program.is_some());
}

#[test]
fn every_obligation_has_a_place() {
    let program = "class C { var f: int;\n method m()\n requires acc(f)\n ensures acc(f)\n { assert f == 1; } }";
    let (text, _) = translate_text("t.chalice", program, &[], Form::Structured);
    let text = text.expect("it is a program");
    for place in
        ["@src.file(\"0\", \"t.chalice\")", "\"3.11-3.17\"", "\"4.10-4.16\"", "\"5.4-5.18\""]
    {
        assert!(text.contains(place), "{place}\n{text}");
    }
}

/// Two examples have their translations in a folder below, which `UPDATE_EXPECT=1 cargo test` renews.
#[test]
fn examples_are_translated_as_shown() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/chalice");
    for name in ["undefined_old", "remembered_levels"] {
        let original = folder.join(name).with_extension("chalice");
        let program = std::fs::read_to_string(&original).expect("the example is there");
        let (text, _) = translate_text(&format!("{name}.chalice"), &program, &[], Form::Graph);
        let text = text.expect("the example is a program");
        let shown = folder.join("translated").join(name).with_extension("sil");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&shown, &text).expect("the folder is writable");
        }
        let expected = std::fs::read_to_string(&shown).unwrap_or_default();
        assert!(text == expected, "{} is out of date: run with UPDATE_EXPECT=1", shown.display());
    }
}

#[test]
fn errors_of_the_front_end_come_back() {
    let (text, messages) =
        translate_text("t.chalice", "class C { method m() { x := 1; } }", &[], Form::Graph);
    assert!(text.is_none() && !messages.is_empty());
}

#[test]
fn long_and_deep_programs_are_lowered() {
    let sum = (0..400).map(|_| "1").collect::<Vec<_>>().join(" + ");
    let conjunction = (0..2000).map(|i| format!("n != {i}")).collect::<Vec<_>>().join(" && ");
    body(&format!("requires {conjunction}"), &format!("var s: int := {sum};"));
}

#[test]
fn comments_of_explained_translations_change_nothing() {
    let program = "class C {\n  var f: int;\n  method m()\n    requires acc(f)\n  {\n    f := 1;\n    assert f == 1;\n  }\n}\n";
    for form in [Form::Graph, Form::Structured] {
        let (text, _) = translate_text("t.chalice", program, &[], form);
        let text = text.expect("it is a program");
        let explained = explained(&text, &SourceFile::new("t.chalice", program));
        for comment in ["// 3: method m()", "// 6: f := 1;", "// 7: assert f == 1;"] {
            assert!(explained.contains(comment), "{comment}\n{explained}");
        }
        let printed = |text: &str| {
            let loaded = sil::load::load_text("t.sil", text);
            loaded.program.map(|program| sil::print::program(&program, form))
        };
        assert!(printed(&text).is_some());
        assert_eq!(printed(&text), printed(&explained));
    }
}
