//! Names, and the declarations that they stand for.

use sil::load::load_text;
use sil::parser::parse;
use sil::resolve::resolve;
use sil::source::FileId;

use crate::common::check;

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
        let tree = parse(FileId(0), &text, &mut diagnostics);
        resolve(&tree, &mut diagnostics);
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
