//! Layouts of small texts. Whether programs stay the same is shown with the corpus.

use front::Language;

use crate::{Problem, format};

/// Checks a layout, and that it is kept.
fn lays_out(language: Language, text: &str, expected: &str) {
    let found = format(text, language).expect("it has a layout");
    assert_eq!(found, expected);
    assert_eq!(format(&found, language).as_deref(), Ok(expected), "it is kept");
}

#[test]
fn contracts_and_blocks_have_lines_of_their_own() {
    lays_out(
        Language::Sil,
        "method  m( x:Int )returns(y :Int) requires x>0; ensures y==x  {
      y:=x ;  assert  y > 0 // why
      while(y<3) invariant y <= 3 && x
          > 0
      { y := y+1; }


      if (y > 0) { y := -y } else {
y := !b ? 1:2 }
   }
function f(x:Ref):Int requires acc(x.f)
{ x.f }",
        "method m(x: Int) returns (y: Int)
  requires x>0;
  ensures y == x
{
  y := x;
  assert y > 0 // why
  while (y<3)
    invariant y <= 3 && x
      > 0
  { y := y+1; }

  if (y > 0) { y := -y } else {
    y := !b ? 1 : 2
  }
}
function f(x: Ref): Int
  requires acc(x.f)
{ x.f }
",
    );
}

#[test]
fn lines_end_as_the_first_one() {
    let text = "method  m()\r\n{ /* a\r\nb */\r\n\r\n\r\nassert true // c\r\n}";
    let expected = "method m()\r\n{\r\n  /* a\r\nb */\r\n\r\n  assert true // c\r\n}\r\n";
    lays_out(Language::Sil, text, expected);
    lays_out(Language::Sil, "method m() {\n}\r\n", "method m() {\n}\n");
}

#[test]
fn expressions_keep_their_lines() {
    lays_out(
        Language::Sil,
        "predicate P(x: Ref) { acc(x.f) &&
  (forall i: Int :: {g(i)} {h(i)}
     i > 0 ==>
   h(i)) }
define M(a)
a + 1
method m()
  ensures [true, perm(x.f) ==
none]
",
        "predicate P(x: Ref) {
  acc(x.f) &&
  (forall i: Int :: {g(i)} {h(i)}
    i > 0 ==>
    h(i))
}
define M(a)
  a + 1
method m()
  ensures [true, perm(x.f) ==
    none]
",
    );
}

#[test]
fn a_line_break_before_a_parenthesis_has_a_meaning() {
    lays_out(
        Language::Sil,
        "method m() {\n  x := y\n    (z).f := 1\n  n  (z)\n}\n",
        "method m() {\n  x := y\n  (z).f := 1\n  n(z)\n}\n",
    );
}

#[test]
fn half_open_ranges_have_two_kinds_of_brackets() {
    let text = "method m(s: Seq[Int])\n  requires s == [0..3) && s[1..2] == [1..2)\n";
    lays_out(Language::Sil, text, text);
}

#[test]
fn annotations_stand_above_what_they_are_about() {
    lays_out(
        Language::Sil,
        "@a()\nmethod m()\n ensures\n   @b.c(\"x\")\n @d()\n (x)\n  graph {\n entry block b { halt }\n}\n",
        "@a()\nmethod m()\n  ensures\n    @b.c(\"x\")\n    @d()\n    (x)\ngraph {\n  entry block b { halt }\n}\n",
    );
}

#[test]
fn paths_of_imports_stay() {
    let text = "import <decreases/int.vpr>\n";
    lays_out(Language::Sil, text, text);
}

#[test]
fn comments_stand_with_what_they_are_about() {
    lays_out(
        Language::Sil,
        "// first\n\n\n\n  /* a\n b */\nmethod m() // end\n requires true {\n// inside\n\n x := 1;   // kept\n// last\n}",
        "// first\n\n/* a\n b */\nmethod m() // end\n  requires true\n{\n  // inside\n\n  x := 1;   // kept\n  // last\n}\n",
    );
}

#[test]
fn chalice_has_members_of_classes() {
    lays_out(
        Language::Chalice,
        "// chalice-parameter=-checkLeaks
class C { var x:int; invariant acc(x)&&x>=0
  method m(s:seq<seq<int>>) requires rd(x)   ensures rd( x )
  { var c:C := new C { x:=1 } above this;
    fork tk:=c.m([[1],[ ]]);
   [[ x:=1 ; ]] lock(c) {assert x!in [1] ;}
  } }",
        "// chalice-parameter=-checkLeaks
class C {
  var x: int;
  invariant acc(x) && x >= 0
  method m(s: seq<seq<int>>)
    requires rd(x)
    ensures rd(x)
  {
    var c: C := new C { x := 1 } above this;
    fork tk := c.m([[1], []]);
    [[x := 1;]] lock (c) { assert x !in [1]; }
  }
}
",
    );
}

#[test]
fn spl_has_modifiers_of_clauses() {
    lays_out(
        Language::Spl,
        "procedure p(x:Node,implicit ghost A:Set<Loc>)returns(y: Node) requires lseg(x,null)&*&A=={} free ensures y?x=='c';
{ if(x==null) return y;
  while(true) invariant a|->b; invariant c
  { havoc x; }
  }",
        "procedure p(x: Node, implicit ghost A: Set<Loc>) returns (y: Node)
  requires lseg(x, null) &*& A == {}
  free ensures y?x == 'c';
{
  if (x == null) return y;
  while (true)
    invariant a |-> b;
    invariant c
  { havoc x; }
}
",
    );
}

#[test]
fn brackets_without_partners_are_refused() {
    for (text, at) in [("method m() { (x }", 16), ("}", 0), ("{", 0), ("f(]", 2)] {
        assert_eq!(format(text, Language::Sil), Err(Problem::Unbalanced(at)), "{text}");
    }
    for text in ["", "\n \n", "// only"] {
        assert!(format(text, Language::Sil).is_ok());
    }
}
