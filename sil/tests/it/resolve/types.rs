//! Types of expressions, and the overloads that operators resolve to.

use expect_test::{Expect, expect};
use sil::load::load_text;
use sil::program::{BinaryOp, Expr, ExprKind, Type};
use sil::walk::{Visit, walk_body, walk_expr};

use crate::common::{check, program};

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
fn an_undeclared_type_differs_from_all_others() {
    check(
        "function f(): Nowhere // type
         method m() { assert f() } // type
         method n() { assert f() == f() }",
    );
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
