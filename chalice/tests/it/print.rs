//! Printing and parsing again changes nothing but places.

use chalice::syntax::print::print;
use chalice::syntax::{NESTING_LIMIT, Program, parse};

/// The tree without places.
fn shape(program: &Program) -> String {
    let text = format!("{program:?}");
    let mut pieces = text.split("span: Span {");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shape, piece| shape + piece.split_once('}').map_or(piece, |(_, rest)| rest))
}

fn round_trip(text: &str) {
    let program = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let printed = print(&program);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error:?}"));
    assert_eq!(shape(&program), shape(&again), "{printed}");
}

#[test]
fn expressions() {
    for expr in [
        "(a && b) && (c || d) && !(e == f)",
        "(a ==> b) ==> c ==> (d <==> e)",
        "((a <==> b) <==> c) && (c ? x : y) == (unfolding P in z)",
        "a - (b - c) - d * (e + f) ++ g",
        "-(-a) == - a * b && (x == y) == (y == z)",
        "(forall x in s :: x == 1) && exists y: (t) :: sum z: int :: z",
        "a ? b : c ? d : e",
        "(a ? b : c) ? forall i: seq<set<int>> :: d : e",
        "[ [1], [2] ][0][1..][..2][1..2] == [1..|s|] && nil<int> == [] && empty<C> == {}",
        "acc(x.f, 100 - rd) && rd(a[*].f, 2) && rd*(o.*) && acc(f, rd * (n + 1)) && acc(f, rd(P))",
        "eval(tk.fork o.m(_, 1), old(x)) && o.acquire { assigned(c) } && eval((a + b).release, true)",
        "x.~(C.f) == ~(C.f) && ite(a, b, c) && credit(c, -1) && rd holds(this)",
        "'say \"x\"' == \"it's\" && (a + b).f(1).g == result",
        "unfolding acc(o.P, 50) in x !in s",
    ] {
        round_trip(&format!("class C {{ predicate P {{ {expr} }} }}"));
    }
}

#[test]
fn programs() {
    round_trip(
        "channel Ch(x: int, c) where acc(c.f)
        external class C module M {
          tracked ghost var f: C var g invariant acc(g) condition c where g == 1
          unlimited static function h(x: int): token<C.m> requires true ensures result != null { null }
          method m(x: int) returns (y: bool) requires true lockchange this, f {
            var z: int := 1 ghost const k spec a, b: int [[1] == s, a > b]
            x := new C { g := 1 } this.f := new Ch above a below b
            call a, b := f.m(1) fork t := m() join r := t send (get())(1) send this.c(2) receive x := c
            if (a) { } else if (b) { assert a } else [[ x := 1 ]]
            while (a) invariant b lockchange { } rd lock (a) { } share a between b and c reorder a
            rd acquire a release a unshare a downgrade a free a fold P unfold rd(P) wait c signal forall c { { } }
          }
        }
        class B refines C { replaces f by true refines m() { } transforms n() { _ * if { _ } else if { * }
          while invariant a { _ } replaces * by { } replaces x, y by { } x := 1 } }",
    );
}

#[test]
fn deep_trees() {
    let depth = NESTING_LIMIT - 10;
    round_trip(&format!(
        "class C {{ predicate P {{ {}a{} }} }}",
        "(1 + ".repeat(depth),
        ")".repeat(depth)
    ));
}
