//! Programs with the errors expected on their lines, and the overloads that operators resolve to.

use expect_test::{Expect, expect};

use crate::load::load_text;
use crate::program::{BinaryOp, Expr, ExprKind, Program, Type};
use crate::walk::{Visit, walk_body, walk_expr};

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

fn program(text: &str) -> Program {
    let loaded = load_text("test", text);
    assert!(!loaded.has_errors(), "{text}\n{:#?}", loaded.diagnostics);
    loaded.program.expect("there are no errors")
}

/// All operators of the method `m`, outer ones first, as `op(left, right): result`.
fn operators(text: &str, expected: Expect) {
    let program = program(text);
    let method = program.methods.values().find(|method| &*method.name == "m").expect("m");
    let mut lines = String::new();
    let show = |ty: &Type| ty.display(&program).to_string();
    let mut visit = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { op, left, right } => lines.push_str(&format!(
            "{op:?}({}, {}): {}\n",
            show(&left.ty),
            show(&right.ty),
            show(&expr.ty)
        )),
        ExprKind::DomainApply { function, instance, .. } => {
            let instance: Vec<_> = instance.iter().map(show).collect();
            let name = &program.domain_functions[*function].name;
            lines.push_str(&format!("{name}[{}]: {}\n", instance.join(", "), show(&expr.ty)));
        }
        ExprKind::Literal { elements, .. } if elements.is_empty() => {
            lines.push_str(&format!("empty {}\n", show(&expr.ty)));
        }
        _ => {}
    };
    for implementation in &method.implementations {
        walk_body(&implementation.body, |part| {
            if let Visit::Expr(expr) = part {
                walk_expr(expr, &mut visit);
            }
        });
    }
    expected.assert_eq(&lines);
}

#[test]
fn a_fraction_is_a_permission_unless_an_integer_is_wanted() {
    operators(
        "field f: Int
         method m(x: Ref, i: Int, p: Perm) {
           inhale acc(x.f, 1/2)
           var j: Int := i/2
           var q: Perm := p + 1/2
           assert i/2 == j
           assert i/2 < i/3
           q := 1/2 * 3
           j := 1/2 * 3
           q := 3 * p
           q := p / 2
           j := (1/2 == 3/4 ? i/2 : 3)
         }",
        expect![[r"
            PermDiv(Int, Int): Perm
            IntDiv(Int, Int): Int
            Add(Perm, Perm): Perm
            PermDiv(Int, Int): Perm
            Eq(Int, Int): Bool
            IntDiv(Int, Int): Int
            Lt(Perm, Perm): Bool
            PermDiv(Int, Int): Perm
            PermDiv(Int, Int): Perm
            Mul(Perm, Int): Perm
            PermDiv(Int, Int): Perm
            Mul(Int, Int): Int
            IntDiv(Int, Int): Int
            Mul(Int, Perm): Perm
            PermDiv(Perm, Int): Perm
            Eq(Perm, Perm): Bool
            PermDiv(Int, Int): Perm
            PermDiv(Int, Int): Perm
            IntDiv(Int, Int): Int
        "]],
    );
}

#[test]
fn type_parameters_follow_from_arguments_and_context() {
    operators(
        "domain List[T] {
           function nil(): List[T]
           function cons(head: T, tail: List[T]): List[T]
           function head(list: List[T]): T
         }
         method m(xs: List[Bool]) {
           assert xs == nil()
           assert head(cons(1, nil())) == 2
           assert (nil() : List[Ref]) == nil()
           assert head(cons(1/2, nil())) == write
         }",
        expect![[r"
            Eq(List[Bool], List[Bool]): Bool
            nil[Bool]: List[Bool]
            Eq(Int, Int): Bool
            head[Int]: Int
            cons[Int]: List[Int]
            nil[Int]: List[Int]
            Eq(List[Ref], List[Ref]): Bool
            nil[Ref]: List[Ref]
            nil[Ref]: List[Ref]
            Eq(Perm, Perm): Bool
            head[Perm]: Perm
            cons[Perm]: List[Perm]
            PermDiv(Int, Int): Perm
            nil[Perm]: List[Perm]
        "]],
    );
}

#[test]
fn empty_collections_take_their_element_type_from_the_context() {
    operators(
        "method m(s: Seq[Ref], t: Set[Int], mm: Multiset[Bool]) {
           assert s == Seq()
           assert Seq() ++ s == s
           assert 1 in t union Set()
           assert (true in mm) + 1 == 1
           let_(s[1..2])
         }
         method let_(s: Seq[Ref]) {
           assert let e == (Seq()) in e == s
         }",
        expect![[r"
            Eq(Seq[Ref], Seq[Ref]): Bool
            empty Seq[Ref]
            Eq(Seq[Ref], Seq[Ref]): Bool
            Append(Seq[Ref], Seq[Ref]): Seq[Ref]
            empty Seq[Ref]
            In(Int, Set[Int]): Bool
            Union(Set[Int], Set[Int]): Set[Int]
            empty Set[Int]
            Eq(Int, Int): Bool
            Add(Int, Int): Int
            In(Bool, Multiset[Bool]): Int
        "]],
    );
}

#[test]
fn what_nothing_determines_is_an_integer_or_the_domains_own_parameter() {
    check(
        "domain List[T] {
           function nil(): List[T]
           function size(list: List[T]): Int
           axiom { size(nil()) == 0 }
         }
         method m() {
           assert size(nil()) == 0 // warning
           assert |Seq()| == 0 // warning
           assert size((nil() : List[Bool])) == 0
         }",
    );
    let program = program("domain D[T] { function f(): D[T] axiom { f() == f() } }");
    let axiom = &program.domains.values().next().expect("one domain").axioms[0];
    let mut types = Vec::new();
    walk_expr(&axiom.body, |expr| types.push(expr.ty.display(&program).to_string()));
    assert_eq!(types, ["Bool", "D[T]", "D[T]"]);
}

#[test]
fn types_of_operators() {
    check(
        "field f: Int
         method m(x: Ref, i: Int, b: Bool, p: Perm, s: Seq[Int], t: Set[Int], q: Map[Int, Bool]) {
           assert i + 1 == 2
           assert i == b // type
           assert i && b // type
           assert 0 < p // type
           assert none < p
           assert i + b == 2 // type
           assert i \\ 2 == p // type
           assert s[b] == 1 // type
           assert s[0] == 1 && q[0]
           assert s union t == t // type
           assert i in s && i in t && i in q
           assert b in s // type
           assert s[0 := b] == s // type
           assert q[1 := b] == q
           assert |q| + |s| + |t| == 0
           assert |i| == 0 // type
           assert domain(q) == t && true in range(q)
           assert -p == none && -i == 0
           assert !i // type
           assert x.f == 1 && (1).f == 1 // type
           assert b ? i : b // type
           assert (b ? i : 1) == 2
           assert [0..2) == s
           assert Seq(1, true) == s // type
           assert Map(1 := true) == q
           assert Map(1 := 1) == q // type
           assert forall y: Int :: y // type
           assert let y == (1) in y == b // type
           assert perm(x.f) == write
           assert old(i) == i
         }",
    );
}

#[test]
fn assertions_are_no_values() {
    check(
        "field f: Int
         predicate P(x: Ref) { acc(x.f) }
         function g(b: Bool): Bool
         method m(x: Ref, b: Bool) {
           assert acc(x.f) == true // type
           assert !acc(x.f) // type
           assert acc(x.f) || b // type
           assert acc(x.f) ==> b // type
           assert b ==> acc(x.f) && P(x)
           assert acc(x.f) <==> b // type
           assert g(P(x)) // type
           assert old(acc(x.f)) // type
           assert exists y: Ref :: acc(y.f) // type
           assert forall y: Ref :: acc(y.f)
           assert acc(x.f) ? b : b // type
           assert b ? acc(x.f) : b
           assert Seq(P(x)) == Seq(true)
           var s: Seq[Bool] := Seq(P(x)) // type
           refute acc(x.f) // type
           var c: Bool := acc(x.f) // type
           if (acc(x.f)) { } // type
           while (P(x)) { } // type
         }
         function h(x: Ref): Bool
           ensures acc(x.f) // type
         { acc(x.f) } // type",
    );
}

#[test]
fn names_are_unique_and_declared() {
    check(
        "field f: Int
         field f: Bool // type
         function g(x: Ref): Int
         method g() // type
         method m1(f: Int) { } // type
         method m2(x: Int, x: Int) { } // type
         method m3(x: Int) { var x: Int } // type
         method m4() { assert forall f: Int :: true } // type
         method m5() {
           if (true) { var y: Int }
           var y: Int // type
         }
         method m6() { var y: Int if (true) { var y: Int } } // type
         method m7() {
           if (true) { var y: Int } else { var y: Int }
           assert (forall z: Int :: z == z) && (exists z: Int :: z == z)
         }
         method m8() { assert forall z: Int :: exists z: Int :: true } // type
         method m9() { assert let z == (1) in let z == (2) in true } // type
         method m10() {
           a := 1 // type
           var a: Int
           b := 2 // type
         }
         method m11()
           requires forall v: Int :: v == v
         { var v: Int }
         method m12() { label l var l: Int } // type
         method m13(x: Nowhere) { } // type
         method m14() { nowhere() } // type
         method m15(x: Ref) { assert x.nowhere == 1 } // type
         method m16(x: Ref) { assert nowhere(x) } // type
         domain D[T, T] { } // type
         domain E[f] { } // type
         domain F { function d(a: Int, a: Int): Int } // type
         method m17(x: F[Int]) { } // type",
    );
}

#[test]
fn a_clash_with_a_later_declaration_is_reported_once() {
    let loaded = load_text(
        "test",
        "method m() {
           assert (forall k: Int :: k == k) && (forall k: Int :: k == k)
           var k: Int
         }",
    );
    assert_eq!(loaded.diagnostics.len(), 1, "{:#?}", loaded.diagnostics);
}

/// The domains that adts become, with just the functions.
const DESUGARED: &str = "
    adt List[T] { Nil() Cons(head: T, tail: List[T]) }
    domain List[T] {
      function Nil(): List[T]
      function Cons(head: T, tail: List[T]): List[T]
      function List$get$head(t: List[T]): T
      function List$get$tail(t: List[T]): List[T]
      function List$tag(t: List[T]): Int
    }
    adt Tree { Leaf() Node(head: Int, left: Tree) }
    domain Tree {
      function Leaf(): Tree
      function Node(head: Int, left: Tree): Tree
      function Tree$get$head(t: Tree): Int
      function Tree$get$left(t: Tree): Tree
      function Tree$tag(t: Tree): Int
    }
    field share: Perm";

#[test]
fn selectors_of_adts_follow_the_receivers_type() {
    let findings = |body: &str| {
        let text =
            format!("{DESUGARED} method m(l: List[Bool], t: Tree, r: Ref) {{ assert {body} }}");
        let mut diagnostics = Vec::new();
        let tree = crate::parser::parse(crate::source::FileId(0), &text, &mut diagnostics);
        super::resolve(&tree, &mut diagnostics);
        diagnostics.len()
    };
    for right in [
        "l.head == true && t.head == 1 && r.share == write",
        "l.tail.tail.head || t.left.left.isLeaf || l.isCons",
        "Cons(1, Nil()).head == 1",
        "Cons(l, Nil()).head.tail == l",
        "forall x: List[Int] :: x.isNil ==> x.tail == Nil()",
    ] {
        assert_eq!(findings(right), 0, "{right}");
    }
    for wrong in ["l.left == t", "t.isCons", "r.isNil", "l.head == 1", "t.missing == 1", "r.tail"] {
        assert_eq!(findings(wrong), 1, "{wrong}");
    }
}

#[test]
fn an_undeclared_type_differs_from_all_others() {
    check(
        "function f(): Nowhere // type
         method m() { assert f() } // type
         method n() { assert f() == f() }",
    );
}

#[test]
fn statements_are_typed() {
    check(
        "field f: Int
         field g: Ref
         predicate Q(x: Ref) { acc(x.f) }
         predicate Abstract(x: Ref)
         method two(x: Ref) returns (a: Int, b: Ref) { a := 1 b := x }
         method none_() { }
         method m(x: Ref, i: Int) returns (r: Int) {
           var y: Ref := new(f, g)
           var z: Int := new() // type
           y := new(f, f)
           y := new(i) // type
           x := null // type
           r, y := two(x)
           r := two(x) // type
           y, r := two(x) // type
           r, y := two(i) // type
           r, y := two() // type
           y.f, y.g := two(x)
           y.f, y := two(x)
           r, r := none_() // type
           none_()
           two(x) // type
           r, y := 1 // type
           y.f := true // type
           r := y // type
           r := none_() // type
           assert two(x) == 1 // type
           fold Q(x)
           unfold acc(Q(x), 1/2)
           fold Abstract(x) // type
           fold acc(x.f) // type
           fold Q(i) // type
           assert unfolding Q(x) in x.f == 1
           assert unfolding Abstract(x) in true // type
           package true // type
           package true --* true { }
           apply Q(x) // type
           quasihavoc x.f
           quasihavoc i // type
           quasihavocall y2: Ref :: Q(y2)
           assert result == 1 // type
           exhale acc(x.f, 1) // type
         }",
    );
}

#[test]
fn fields_of_one_name_are_not_assigned_twice_by_a_call() {
    check(
        "field f: Int
         method two() returns (a: Int, b: Int)
         method m(x: Ref, y: Ref) {
           x.f, y.f := two() // type
         }",
    );
}

#[test]
fn field_targets_of_calls_become_auxiliary_variables() {
    let program = program(
        "field f: Int
         method get() returns (a: Int)
         method m(x: Ref) { var _receiver0: Int x.f := get() x.f := get() }",
    );
    let method = program.methods.values().nth(1).expect("m");
    let names: Vec<_> = method.locals.values().map(|local| &*local.name).collect();
    let expected = ["x", "_receiver0", "_receiver1", "_target2", "_receiver3", "_target4"];
    assert_eq!(names, expected);
}

#[test]
fn permissions_are_asked_about_where_that_has_a_meaning() {
    check(
        "field f: Int
         method m(x: Ref)
           requires perm(x.f) == none // type
           requires [perm(x.f) == none, true]
           ensures forperm y: Ref [y.f] :: true // type
         {
           while (true)
             invariant perm(x.f) == none // type
             invariant [true, perm(x.f) == none]
           { }
           label l invariant perm(x.f) == none
           assert forperm y: Ref [y.f] :: perm(y.f) == none // type
         }
         function g(x: Ref): Int
           requires perm(x.f) == none // type
           ensures [perm(x.f) == none, true] // type
         function h(x: Ref): Bool
           requires true --* true // type
         predicate P(x: Ref) { true --* true } // type",
    );
}

#[test]
fn axioms_use_only_total_functions() {
    check(
        "function partial(i: Int): Int requires i > 0
         function total(i: Int): Int
         domain D { axiom { partial(1) == 1 } // type
           axiom { total(1) == 1 } }",
    );
}

#[test]
fn blocks_of_graphs_have_names() {
    check(
        "method m(n: Int) returns (s: Int)
         graph {
           var i: Int
           entry block start { i := 0; goto head }
           loop head while (i < n) exits out, nowhere { // type
             var j: Int
             block step { j := i; i := j + 1; branch (i < 0) out else back }
             block back { next }
           } then done
           block out { j := 1; halt } // type
           block out { halt } // type
           block i { goto missing } // type
           block done { assert old[step](i) == i; halt }
         }",
    );
    check(
        "method k() graph {
           entry block a { goto b }
           entry block b { halt } // consistency
         }",
    );
}

#[test]
fn labels_are_missed_only_if_the_types_are_right() {
    check(
        "method m() {
           goto nowhere // consistency
           assert old[nowhere](1) == 1 // consistency
           label a
           if (true) { label b } else {
             label a // consistency
           }
           goto b
         }",
    );
}

#[test]
fn origins_are_inherited_and_nested() {
    let program = program(
        r#"@src.file("k", "a.chalice") @src.at("k", "1.1-9.9")
         method m(x: Int) {
           @src.at("k", "2.1-2.9")
           assert @src.say("*", "text") (x == 1) && x == 2
           @other("v")
           assert true
         }
         method n() { }"#,
    );
    assert_eq!(program.origins.files.len(), 1);
    let parents: Vec<_> = program.origins.entries.iter().map(|entry| entry.parent.0).collect();
    let mut methods = program.methods.values();
    let method = methods.next().expect("m");
    assert_eq!(methods.next().expect("n").span.origin.0, 0);
    let mut seen = Vec::new();
    walk_body(&method.implementations[0].body, |part| match part {
        Visit::Stmt(statement) => {
            seen.push((statement.span.origin.0, statement.annotations.len()));
        }
        Visit::Expr(expr) => {
            walk_expr(expr, |expr| seen.push((expr.span.origin.0, expr.annotations.len())));
        }
        _ => {}
    });
    assert_eq!(method.span.origin.0, 1);
    assert_eq!(parents, [0, 1, 2]);
    let expected = [
        (2, 0),
        (2, 0), // &&
        (3, 0),
        (3, 0),
        (3, 0),
        (2, 0),
        (2, 0),
        (2, 0),
        (1, 1), // assert true
        (1, 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn operators_that_differ_in_one_type_only_are_told_apart() {
    assert!(program("method m() { }").origins.entries.is_empty());
    operators(
        "method m(p: Perm) { var a: Set[Int] var b: Multiset[Int]
           assert a subset a && b subset b
           assert p * p == p / p
         }",
        expect![[r"
            Subset(Set[Int], Set[Int]): Bool
            Subset(Multiset[Int], Multiset[Int]): Bool
            Eq(Perm, Perm): Bool
            Mul(Perm, Perm): Perm
            PermDiv(Perm, Perm): Perm
        "]],
    );
    assert_ne!(BinaryOp::IntDiv, BinaryOp::PermDiv);
}

#[test]
fn long_programs_and_long_expressions() {
    let chain = vec!["i / 2"; 3_000].join(" + ");
    let statements = "i := i + 1\n".repeat(20_000);
    let nested = format!("{}nil(){}", "cons(1/2, ".repeat(300), ")".repeat(300));
    let text = format!(
        "domain List[T] {{ function nil(): List[T] function cons(t: T, l: List[T]): List[T] }}
         method m() {{ var i: Int := {chain}
           var p: Perm := {chain}
           var l: List[Int] := {nested}
           {statements} }}"
    );
    program(&text);
}

#[test]
fn types_of_exponential_size_are_refused() {
    let mut lets = String::from("let x0 == (Map(1 := 2)) in ");
    for index in 0..15 {
        lets.push_str(&format!("let x{} == (Map(x{index} := x{index})) in ", index + 1));
    }
    let loaded = load_text("test", &format!("method m() {{ assert {lets} true }}"));
    assert!(loaded.has_errors());
}
