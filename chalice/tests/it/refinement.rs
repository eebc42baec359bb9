//! Programs that break a rule of refinement, and the words that tell of it.

use chalice::{SourceFile, check};

const REFINED: &str = "
    class Other { var o: int; var h: int }
    class A {
      var f: int; var g: int; var other: Other;
      method m(n: int) returns (r: int)
        requires acc(f) && acc(g) && acc(other) && other != null && acc(other.o)
        ensures acc(f) && acc(g)
      { r := f; }
      method waits() { call r := m(1); }
      method loops() { var i: int := 0; while (true) { i := 1; } }
      method both() requires acc(f) ensures acc(f) { f := 1; }
      method writes(o: Other) requires o != null && acc(o.o) { o.o := 1; }
      function get(): int requires acc(f) { f }
      method gets() requires acc(f) ensures acc(f) { var x: int := get(); f := x; }
      method makes() { var x: Other := new Other; }
      method chooses() { var x: int [0 < x]; }
      method looks() { var x: int [x == old(x)]; }
    }";

#[test]
fn broken_rules() {
    let cases = [
        ("class B refines A { var f: int }", "is a member of `A` already"),
        ("class B refines A { method m() { } }", "is a member of `A` already"),
        ("class B refines A { refines nothing() { } }", "has no method `nothing`"),
        ("class B refines A { refines both(n: int) { } }", "with the same names"),
        ("class B refines A { refines m(k: int) returns (r: int) { } }", "with the same names"),
        ("class B refines A { refines both() requires true { } }", "only add postconditions"),
        ("class B refines A { refines both() decreases 1 { } }", "only add postconditions"),
        ("class B refines B { }", "cannot refine itself"),
        ("class B refines C { } class C refines B { }", "cannot refine itself"),
        ("class B refines Missing { }", "there is no class `Missing`"),
        ("class B refines A { replaces h by true }", "has no field `h`"),
        ("class B refines A { replaces f, f by true }", "replaced twice"),
        ("class B refines A { replaces f by acc(f) }", "has it"),
        ("class B refines A { var y: int; replaces f by acc(y, 50) && f == y }", "whole locations"),
        ("class B refines A { var y: int; replaces f by f == 0 ==> acc(y) }", "whole locations"),
        ("class B refines A { var y: int; replaces f, g by acc(y) }", "asked for together"),
        ("class B refines A { refines waits() { } }", "cannot be compared"),
        ("class B refines A { refines loops() { } }", "give the loop a `decreases`"),
        ("class B refines A { refines writes(o: Other) { } }", "fields of `this` only"),
        ("class B refines A { refines gets() { f := 1; } }", "a function of the heap"),
        ("class B refines A { refines makes() { } }", "objects that replaced code makes"),
        ("class B refines A { refines chooses() { } }", "needs a variable of that name"),
        ("class B refines A { refines looks() { var x: int := 1; } }", "with `old` or permissions"),
        (
            "class B refines A { refines both() { var g: int := 1; f := g; } }",
            "is a field of the refined class",
        ),
        (
            "class B refines A { refines m(n: int) returns (r: int) { other.o := 1; r := f; } }",
            "knows fields `o` of other objects",
        ),
        (
            "class B refines A { refines m(n: int) returns (r: int) { call both(); r := f; } }",
            "beside fields of `this`",
        ),
        (
            "class B refines A { var y: int; replaces f by acc(y) && f == y; refines both() { y := 1; f := 1; } }",
            "only the refined code changes `f`",
        ),
        ("class B refines A { transforms both() { _ _ if { _ } } }", "does not fit"),
        (
            "class B refines A { var y: int; replaces f by acc(y) && f == y; method own() requires acc(f) { y := f; } }",
            "the ghost field `f` cannot be used here",
        ),
        (
            "class B refines A { var y: int; replaces f by acc(y) && f == y }",
            "the ghost field `f` cannot be used here",
        ),
    ];
    let mut wrong = Vec::new();
    for (refining, words) in cases {
        let source = SourceFile::new("test", format!("{REFINED} {refining}"));
        let (_, found) = check(&source);
        if !found.iter().any(|one| one.is_error() && one.message.contains(words)) {
            wrong.push((refining, words, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// SOUNDNESS: what new code may change, and nobody compares, is refused.
#[test]
fn effects_that_nobody_compares() {
    let cases = [
        // Permission that is no field of `this` by name.
        (
            "class A { var f: int; predicate P { acc(f) }
               method set() requires P ensures P { unfold P; f := 7; fold P; }
               method m() requires acc(P) ensures acc(P) { } }
             class B refines A { refines m() { call set(); } }",
            "beside fields of `this`",
        ),
        (
            "class A { var f: int; predicate P { acc(f) }
               method set() requires P ensures P { unfold P; f := 7; fold P; }
               method m(b: bool) requires b ==> P ensures b ==> P { } }
             class B refines A { refines m(b: bool) { if (b) { call set(); } } }",
            "beside fields of `this`",
        ),
        (
            "class A { var g: int; invariant acc(g);
               method setg() requires acc(g) ensures acc(g) { g := 9; }
               method m() returns (r: int) requires rd(mu) && waitlevel << this ensures rd(mu)
               { acquire this; g := 1; var k: int [k == 3]; r := g; release this; } }
             class B refines A {
               transforms m() returns (r: int) { _ replaces k by { var k: int := 3; call setg(); } _ } }",
            "beside fields of `this`",
        ),
        // Values of other objects.
        (
            "class D { var h: int; predicate P { acc(h) }
               function get(): int requires P { unfolding P in h } }
             class A { function get(): int { 0 }
               method m(c: D) returns (r: int) requires c != null && c.P ensures c.P { r := c.get(); } }
             class B refines A {
               refines m(c: D) returns (r: int) { unfold c.P; c.h := 5; fold c.P; r := 5; } }",
            "knows fields `h` of other objects",
        ),
        (
            "class D { function get(): int { 1 } }
             class A { var f: int; function get(): int { 0 }
               method m(c: D) returns (r: int) requires c != null && acc(f) ensures acc(f)
               { f := 1; r := c.get(); } }
             class B refines A { refines m(c: D) returns (r: int) { f := 1; r := 1; } }",
            "a function of the heap",
        ),
        // A variable that is gone would be a field.
        (
            "class A { method m() returns (r: int) { var k: int := 3; r := k; } }
             class B refines A { var k: int;
               transforms m() returns (r: int) { replaces * by { } _ } }",
            "needs a variable `k`",
        ),
        (
            "class A { method m() { } }
             class B refines A { refines m() { } refines m() { assert false; } }",
            "refined twice",
        ),
        // Ghosts in code that runs.
        (
            "class A { var x: int; function pos(): bool requires rd(x) { x > 0 }
               function also(): bool requires rd(x) { pos() }
               method m() returns (r: int) requires acc(x) ensures acc(x)
               { if (also()) { r := 1; } } }
             class B refines A { var y: int; replaces x by acc(y) && x == y }",
            "reads replaced fields",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, words) in cases {
        let (_, found) = check(&SourceFile::new("test", text));
        if !found.iter().any(|one| one.is_error() && one.message.contains(words)) {
            wrong.push((text, words, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn accepted_refinements() {
    let cases = [
        "class B refines A { }",
        "class B refines A { refines both() ensures f == 1 { f := 1; } }",
        "class C refines B { } class B refines A { refines both() { f := 1; } }",
        "class B refines A { refines m(n: int) returns (r: int) { other.h := 1; r := f; } }",
        "class B refines A { transforms both() { * } }",
        "class B refines A { refines chooses() { var x: int := 1; } }",
        "class C refines B { refines both() { f := 1; } } class B refines A { refines both() { f := 1; } }",
    ];
    for refining in cases {
        let source = SourceFile::new("test", format!("{REFINED} {refining}"));
        let (program, found) = check(&source);
        assert!(program.is_some(), "{refining}: {found:#?}");
    }
}
