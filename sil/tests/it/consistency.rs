//! One program for each group of rules, with the errors expected on their lines.

use crate::common::check;

#[test]
fn clauses_do_not_mention_what_has_no_meaning_there() {
    check(
        "field f: Int
         method m(x: Ref) returns (r: Int)
           requires r == 1 // consistency
           requires old(x.f) == 1 // consistency
           requires old[l](x.f) == 1 // consistency
           ensures old(x.f) == 1
           ensures old[l](x.f) == 1 // consistency
         { label l assert old[l](x.f) == 1 }
         function g(x: Ref): Bool
           requires old(x.f) == 1 // consistency
           requires asserting (acc(x.f)) in true
           ensures old(x.f) == 1 // consistency
           ensures asserting (acc(x.f)) in true // consistency
           ensures asserting (x.f == 1) in true
         { old(x.f) == 1 } // consistency
         function h(x: Ref): Bool
         { perm(x.f) == none } // consistency
         predicate P(x: Ref) { old(x.f) == 1 } // consistency
         predicate Q(x: Ref) { perm(x.f) == none } // consistency
         domain D {
           axiom { old(true) } // consistency
           axiom { asserting (true) in true } // consistency
           axiom { forall x: Ref :: x.f == 1 } // consistency
           axiom { true }
         }",
    );
}

#[test]
fn a_wildcard_is_a_whole_amount() {
    check(
        "field f: Int
         predicate P(x: Ref) { acc(x.f, wildcard) }
         method m(x: Ref) {
           inhale acc(x.f, wildcard)
           inhale acc(x.f, 2 * wildcard) // consistency
           unfold acc(P(x), wildcard)
           fold acc(P(x), 2 * wildcard) // consistency
           assert perm(x.f) == wildcard // consistency
           var p: Perm := wildcard // consistency
         }
         predicate Q(x: Ref) { acc(x.f, true ? wildcard : none) } // consistency
         function g(x: Ref): Bool
           requires acc(x.f, x == null ? wildcard : none)
         { unfolding acc(P(x), 2 * wildcard) in true }",
    );
}

#[test]
fn the_left_hand_state_belongs_to_wands() {
    check(
        "field f: Int
         method m(x: Ref) {
           assert old[lhs](x.f) == 1 // consistency
           assert acc(x.f) --* old[lhs](x.f) == 1
           assert old[lhs](x.f) == 1 --* true // consistency
           package acc(x.f) --* true { assert old[lhs](x.f) == 1 }
           assert applying (acc(x.f) --* true) in old[lhs](x.f) == 1 // consistency
         }",
    );
}

#[test]
fn assertions_do_not_stand_under_unfolding() {
    check(
        "field f: Int
         predicate P(x: Ref) { acc(x.f) }
         method m(x: Ref) {
           assert unfolding P(x) in x.f == 1
           assert unfolding P(x) in acc(x.f) // consistency
           assert asserting (acc(x.f)) in true
           assert asserting (true) in acc(x.f) // consistency
           assert let y == (acc(x.f)) in y // consistency
           assert true --* (unfolding P(x) in acc(x.f)) // consistency
           assert true --* (unfolding P(x) in x.f == 1)
           assume unfolding P(x) in acc(x.f)
         }",
    );
}

#[test]
fn triggers_are_made_of_terms_that_can_be_matched() {
    check(
        "field f: Int
         predicate P(x: Ref)
         domain D { function d(x: Int): Int }
         method m(x: Ref, s: Seq[Int]) {
           assert forall y: Int :: {d(y)} {s[y], old(d(y))} {[y..3)} {Seq(y)} {|s[y..]|} y > 0
           assert forall z: Ref :: {z.f} {P(z)} {true --* acc(z.f)} z == null
           assert forall y: Int :: {3} true // type
           assert forall y: Int :: {y} true // type
           assert forall y: Int :: {d(y + 1)} true // type
           assert forall y: Int :: {d(y) > 0} true // type
           assert forall y: Int :: {(forall z: Int :: d(z) == d(y))} true // type
           assert forall z: Ref :: {perm(z.f)} true // type
           assert forall z: Ref :: {acc(z.f)} true // type
           assert forall y: Int :: {old(y)} true // type
         }",
    );
    check(
        "domain D { function d(x: Int): Int function e(x: Int, y: Int): Int }
         method m() {
           assert forall y: Int :: {} true // consistency
           assert forall y: Int, z: Int :: {d(y)} true // consistency
           assert forall y: Int, z: Int :: {e(y, z), d(1)} true // consistency
           assert forall y: Int, z: Int :: {d(y), d(z)} true
         }",
    );
}

#[test]
fn variables_of_forperm_stand_alone() {
    check(
        "field f: Int
         field g: Ref
         predicate P(x: Ref, y: Int)
         method m() {
           assert forperm x: Ref [x.f] :: true
           assert forperm x: Ref [x.g.f] :: true // type
           assert forperm x: Ref, y: Int [P(x, y)] :: true
           assert forperm x: Ref, y: Int [P(x, y + 1)] :: true // type
           assert forperm x: Ref, y: Int [P(x, 1)] :: true // type
         }",
    );
}

#[test]
fn proof_scripts_change_nothing_outside() {
    check(
        "field f: Int
         method get() returns (x: Ref)
         method m(x: Ref) {
           var y: Ref
           package true --* true {
             x.f := 1 // consistency
             y := new() // consistency
             while (true) { } // consistency
             y := x // consistency
             y := get() // consistency
             var z: Ref
             z := x
             if (z == x) { z := null } else { y := null } // consistency
             assert true
           }
         }",
    );
}

#[test]
fn targets_of_a_call_differ() {
    check(
        "method two() returns (x: Ref, y: Ref)
         method m() {
           var a: Ref
           a, a := two() // consistency
         }",
    );
}

#[test]
fn functions_do_not_need_themselves() {
    check(
        "function f1(x: Int): Bool requires f1(x) // consistency
         function g1(x: Int): Bool requires g2(x) // consistency
         function g2(x: Int): Bool ensures g1(x)
         function h1(x: Int): Bool { h2(x) }
         function h2(x: Int): Bool requires x > 0 { h1(x) }",
    );
    check(
        "function p1(x: Int): Bool
           ensures p1(x) // consistency
         function p2(x: Int): Bool
           ensures p1(x)
         function p3(x: Int): Bool
           decreases x
           decreases _
           ensures p3(x - 1)",
    );
}

#[test]
fn domains_declare_what_can_be_interpreted() {
    check(
        "domain A interpretation (SMTLIB: \"(_ BitVec 8)\", Boogie: \"bv8\") { }
         domain B interpretation (Boogie: \"bv8\") { } // consistency
         domain C[T] interpretation (SMTLIB: \"Int\") { } // consistency
         domain D {
           unique function u(): Int
           unique function v(x: Int): Int // consistency
           axiom one { true }
           axiom one { true } // consistency
           axiom D { true } // consistency
         }",
    );
}

#[test]
fn measures_are_values() {
    check(
        "field f: Int
         predicate P(x: Ref)
         method m(x: Ref)
           decreases P(x), 1
           decreases acc(x.f) // consistency
         { }",
    );
    check(
        "method m(x: Int)
           decreases x // consistency
           decreases x
         {
           while (true)
             decreases true && [true, false] // consistency
           { }
         }",
    );
}

#[test]
fn assertions_are_no_parts_of_values() {
    check(
        "field f: Int
         predicate P(x: Ref) { acc(x.f) }
         domain D[T] { function d(value: T): Int }
         method m(x: Ref, s: Seq[Bool], t: Multiset[Bool], k: Map[Bool, Int], v: Map[Int, Bool]) {
           assert |Seq(acc(x.f))| == 1 // consistency
           assert Set(true, P(x)) == Set(true) // consistency
           assert |Map(1 := acc(x.f))| == 1 // consistency
           assert acc(x.f) in s // consistency
           assert (acc(x.f) in t) == 1 // consistency
           assert s == s[0 := P(x)] // consistency
           assert k[acc(x.f)] == 1 // consistency
           assert v == v[1 := acc(x.f)] // consistency
           assert d(P(x)) == 1 // consistency
           assert |Seq(unfolding P(x) in acc(x.f))| == 1 // consistency
           assert |Seq(unfolding P(x) in x.f == 1)| == 1
         }",
    );
}
