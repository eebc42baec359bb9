//! Expressions print with the parentheses they need; programs read back as they are.

use sil::load::load_text;
use sil::print::{self, Form};
use sil::program::StmtKind;
use sil::resolve::resolve;

use crate::common::{program, statements, unindented};

/// The text in this form, which must read back as it is.
#[track_caller]
fn printed(text: &str, form: Form) -> String {
    let first = print::program(&program(text), form);
    let second = print::program(&program(&first), form);
    assert_eq!(first, second, "printed, read and printed again ({form:?})");
    first
}

/// The body of method `m` in this form, from its first brace.
#[track_caller]
fn check_body(text: &str, form: Form, expected: &str) {
    let printed = printed(text, form);
    let body = &printed[printed.find("method m").expect("there is an m")..];
    let body = &body[body.find('{').expect("it has a body")..];
    assert_eq!(body.trim_end(), unindented(expected), "found:\n{body}");
}

#[test]
fn parentheses_stand_where_they_are_needed() {
    const CONTEXT: &str = "
        field f: Int
        field n: Ref
        predicate P(x: Ref) { acc(x.f) }
        domain D[T] { function nil(): D[T]  function cons(h: T, t: D[T]): D[T]  function len(t: D[T]): Int }
        function g(i: Int): Int
    ";
    // Each is minimal, so that it prints as it is.
    let unchanged = [
        "1 - 2 - 3 == 1 - (2 - 3)",
        "1 + 2 * 3 == (1 + 2) * 3",
        "i \\ j % k == i \\ (j % k)",
        "-i + -(-i) == -3",
        "-x.n.f == 1 - -1",
        "!b && !(b || b)",
        "(b && b) && b || b && b",
        "(b || b) && b",
        "b ==> b ==> b",
        "(b ==> b) ==> b",
        "(b ? b : b) ? b : b ? b : b",
        "b ? (b ? b : b) : b",
        "b <==> b && b",
        "(b <==> b && b) ==> b",
        "i < j <==> b",
        "b <==> b == b",
        "(forall q: Int :: q > i) && b",
        "b && forall q: Int :: q > i && b",
        "b ==> (exists q: Int :: q > i) || b",
        "(let q == (i) in q > j) ==> b",
        "acc(x.f) --* b && b ==> P(x)",
        "(acc(x.f) --* acc(x.n)) && b",
        "acc(x.f, 1/2) && acc(P(x), i > 0 ? 1/2 : write) && P(x)",
        "(unfolding acc(P(x), wildcard) in x.f) > 0",
        "[acc(x.f), b] && perm(x.f) >= none",
        "s[1..2] ++ s[..2] ++ s[i..] == s[i := 3]",
        "(s ++ s)[0] in s && |s ++ s| > |s|",
        "|(|s| > 0 ? s : s)| == 1",
        "(i in ms) > 0 && [i..j) == Seq[Int]()",
        "Set(1, 2) union Set[Int]() == Set(i) setminus (Set(1) intersection Set(2))",
        "Map(1 := b)[i] <==> 2 in Map[Int, Bool]()",
        "cons(1, (nil(): D[Int])) == (nil(): D[Int])",
        "len((nil(): D[Ref])) == 0",
        "old(x.f) == old[l](x.f) && g(g(i)) == g(-1)",
        "x.n.f / 2 == 1/2 * (write - none)",
        "p / i == p / p && i * p == p * p",
        "applying (acc(x.f) --* P(x)) in (asserting (b) in b) && b",
        "(forperm y: Ref [y.f] :: y.f > 0) && perm(acc(x.f) --* P(x)) == write",
        "forall q: Int, y: Ref :: { q in s, y.f } { g(q), y.f } q in s ==> y.f == q",
    ];
    let mut wrong = Vec::new();
    for written in unchanged {
        let text = format!(
            "{CONTEXT} method m(x: Ref, i: Int, j: Int, k: Int, b: Bool, p: Perm, s: Seq[Int], ms: Multiset[Int])
             {{ label l inhale {written} }}"
        );
        let program = program(&text);
        let method = program.methods.values().next().expect("m");
        let StmtKind::Inhale(inhaled) = &statements(method)[1].kind else { panic!("inhale") };
        let snippets = print::Snippets::new(&program, method, &method.implementations[0]);
        let shown = snippets.expr(inhaled);
        if shown != written {
            wrong.push((written, shown));
        }
        assert!(!print::expr(&program, &method.locals, inhaled).is_empty());
    }
    assert_eq!(wrong, []);
}

/// Every construct at least once.
const EVERYTHING: &str = r#"
@src.file("0", "original.txt")
field f: Int, g: Bool
field n: Ref
domain Vec interpretation (SMTLIB: "(_ BitVec 8)", Boogie: "bv8") {
  function plus(Vec, Vec): Vec interpretation "bvadd"
  function of_int(i: Int): Vec interpretation "(_ int2bv 8)"
}
domain Pair[A, B] {
  function pair(a: A, b: B): Pair[A, B]
  function first(p: Pair[A, B]): A
  unique function tag(): Int
  axiom left { forall a: A, b: B :: { pair(a, b) } first(pair(a, b)) == a }
  axiom { tag() > 0 }
}
predicate P(x: Ref) { acc(x.f) && (x.n != null ==> acc(x.n.f, 1/2)) }
predicate Q(x: Ref)
@opaque()
function size(x: Ref): Int
  requires acc(P(x), wildcard)
  ensures result >= 0
  decreases x if x != null
  decreases _
{ unfolding acc(P(x), wildcard) in x.f > 0 ? x.f : 0 }
function square(i: Int): Int
@src.at("0", "7.1-9.2")
@src.say("assert.failed:*", "the promise %e: %1", "100%25")
method m(x: Ref, y: Ref, k: Int) returns (r: Int, q: Ref)
  requires acc(x.f) && [acc(x.n), true] && (forall z: Ref :: z in Set(x, y) ==> acc(z.g))
  requires @src.at("0", "8.1-8.4") (k > 0) && @weight("3") (forall i: Int :: { square(i) } i > 0)
  ensures old(x.f) == r
  decreases k
{
  var a: Int, d: Int
  var b: Bool := true
  var c: Pair[Int, Seq[Bool]] := pair(1, Seq(true))
  @src.at("0", "9.1-9.9")
  r, q := m(x, y, first(c))
  q := new(f, n)
  q := new()
  q := new(*)
  q.f := r
  m2(q)
  if (b) { a := 1 } elseif (a > 2) { if (b) {} else { var t: Int := 2 a := t } } else { a := 3 }
  while (a > 0)
    invariant a >= 0
    decreases a
  {
    var t: Int
    a := a - 1
    inhale t > 0
    if (t > 3) { goto done }
  }
  label done
  { var t: Bool assume t }
  label again
    invariant true
    decreases a
  a := a + @reveal() (size(x))
  if (a < 9) { goto again }
  fold acc(P(x), 1/2)
  unfold P(x)
  exhale Q(x)
  assert old[done](x.f) == 1
  refute false
  package acc(x.f) --* acc(x.f) && true {
    var s: Int := 3
    assert old[lhs](x.f) == 3
    if (s > 2) { label inside fold P(x) } else { }
  }
  apply acc(x.f) --* acc(x.f) && true
  quasihavoc x.f
  quasihavoc a > 0 ==> P(x)
  quasihavoc acc(x.f) --* Q(x)
  quasihavocall z: Ref, w: Ref :: z != w ==> Q(z)
  inhale forperm z: Ref [z.f] :: z.f > 0
}
method m2(x: Ref)
method m3() returns (r: Int)
  decreases *
implementation one {
  r := 1
}
@note("x")
implementation two graph {
  var i: Int
  entry block start { i := 0; goto head }
  loop head while (i < 9)
    invariant i <= 9
    decreases 9 - i
    exits bail
  {
    var t: Int
    entry block step { i := i + t; branch (t < 0) bail else back }
    block back { label here; next }
  } then done
  block bail { inhale false; dead }
  block done { halt }
}
implementation graph {
  block only { goto only }
}
"#;

#[test]
fn every_construct_reads_back_in_both_forms() {
    let structured = printed(EVERYTHING, Form::Structured);
    let graphs = printed(EVERYTHING, Form::Graph);
    // The one form prints as the other, too.
    printed(&graphs, Form::Structured);
    printed(&structured, Form::Graph);
    assert!(!structured.contains("graph {") && !structured.contains("implementation"));
    assert!(!graphs.contains("while (a > 0) {"));
}

#[test]
fn what_is_said_about_an_if_stays_in_both_forms() {
    let text = "method m(b: Bool) { var i: Int i := 0 @note(\"x\") if (b) { i := 1 } }";
    let graphs = printed(text, Form::Graph);
    assert!(graphs.contains("@note(\"x\")"), "{graphs}");
    let structured = printed(&graphs, Form::Structured);
    assert!(structured.contains("@note(\"x\")\n  if (b) {"), "{structured}");
}

#[test]
fn a_variable_that_outlives_its_loop_is_declared_further_out() {
    check_body(
        "method m() {
           label head
           var x: Int
           inhale x > 0
           if (x < 9) { goto head }
           assert x == 9
         }",
        Form::Graph,
        "
        {
          var x: Int
          entry block start$1 {
            goto head$loop
          }
          loop head$loop
            exits else$1
          {
            entry block head {
              x := $havoc_Int()
              inhale x > 0
              branch (x < 9) back$1 else else$1
            }
            block back$1 {
              next
            }
          }
          block else$1 {
            assert x == 9
            halt
          }
        }

        method $havoc_Int() returns (r: Int)",
    );
}

// Traps: T11
#[test]
fn a_variable_declared_after_a_new_object_has_its_value_after_it() {
    check_body(
        "method m() {
           var c: Ref := new()
           var d: Ref
           var n: Int
           var e: Ref := c
           inhale d == c && n == 0
         }",
        Form::Graph,
        "
        {
          var c: Ref
          var d: Ref
          var n: Int
          var e: Ref
          entry block start$1 {
            c := new()
            d := $havoc_Ref()
            e := c
            inhale d == c && n == 0
            halt
          }
        }

        method $havoc_Ref() returns (r: Ref)",
    );
}

// Traps: T11
#[test]
fn a_variable_of_a_round_is_as_old_as_the_round() {
    check_body(
        "method m(b: Bool) {
           var c: Ref := new()
           while (b) {
             var d: Ref
             inhale d != null
             c := new()
             var s: Set[Ref]
             inhale c in s
           }
         }",
        Form::Graph,
        "
        {
          var c: Ref
          entry block start$1 {
            c := new()
            goto while$1
          }
          loop while$1 while (b) {
            var d: Ref
            var s: Set[Ref]
            entry block body$1 {
              inhale d != null
              c := new()
              s := $havoc_Set$Ref()
              inhale c in s
              next
            }
          } then after$1
          block after$1 {
            halt
          }
        }

        method $havoc_Set$Ref() returns (r: Set[Ref])",
    );
}

#[test]
fn variables_of_sibling_scopes_get_names_of_their_own() {
    check_body(
        "method m(b: Bool) {
           if (b) { var x: Int := 1 } else { var x: Bool := b }
           assert forall x: Int :: x == x
         }",
        Form::Graph,
        "
        {
          var x: Int
          var x$1: Bool
          entry block start$1 {
            branch (b) then$1 else else$1
          }
          block then$1 {
            x := 1
            goto join$1
          }
          block else$1 {
            x$1 := b
            goto join$1
          }
          block join$1 {
            assert forall x$2: Int :: x$2 == x$2
            halt
          }
        }",
    );
}

#[test]
fn graphs_become_structured_statements() {
    check_body(
        "method m(n: Int) returns (s: Int) graph {
           var i: Int
           entry block start { i := 0; branch (n < 0) negative else head }
           loop head while (i < n) invariant i >= 0 exits bail {
             var t: Int
             block step { s := s + t; branch (s < 0) bail else back }
             block back { i := i + 1; next }
           } then done
           block negative { s := -1; goto done }
           block bail { branch (n > 9) done else lost }
           block lost { dead }
           block done { halt }
         }",
        Form::Structured,
        "
        {
          var i: Int := 0
          if (n < 0) {
            s := -1
          } else {
            while (i < n)
              invariant i >= 0
            {
              var t: Int
              s := s + t
              if (s < 0) {
                goto bail
              }
              i := i + 1
            }
          }
          label done
          goto end$1
          label bail
          if (!(n > 9)) {
            inhale false
          }
          goto done
          label end$1
        }",
    );
}

#[test]
fn a_loop_without_condition_becomes_a_label() {
    check_body(
        "method m(n: Int) graph {
           var i: Int
           loop head invariant i >= 0 exits out {
             block first { i := i + 1; branch (i > n) out else odd }
             block odd { branch (i == 3) skip else back }
             block skip { i := i + 2; goto back }
             block back { next }
           }
           block out { halt }
         }",
        Form::Structured,
        "
        {
          var i: Int
          label first
            invariant i >= 0
          i := i + 1
          if (i > n) {
            goto out
          }
          if (i == 3) {
            i := i + 2
          }
          goto first
          label out
        }",
    );
}

#[test]
fn irreducible_bodies_print_as_written() {
    let text = "method m(b: Bool) graph {
        entry block start { branch (b) left else right }
        block left { branch (b) right else out }
        block right { goto left }
        block out { halt }
    }";
    // The program is not loaded; a front end may want to look at it all the same.
    let syntax = load_text("test.sil", text).syntax;
    let resolved = resolve(&syntax, &mut Vec::new()).expect("its names are right");
    let program_text = print::program(&resolved, Form::Structured);
    assert!(program_text.contains("graph {") && program_text.contains("block right {"));
}

#[test]
fn long_lines_are_broken() {
    let clause = |number: u32| format!("acc(a_long_name_{number}.another_long_name)");
    let formals: Vec<String> = (0..6).map(|number| format!("a_long_name_{number}: Ref")).collect();
    let clauses: Vec<String> = (0..6).map(clause).collect();
    let text = format!(
        "field another_long_name: Int method m({}) requires {}",
        formals.join(", "),
        clauses.join(" && ")
    );
    let printed = printed(&text, Form::Structured);
    assert!(printed.lines().all(|line| line.len() <= 110), "{printed}");
    assert!(printed.contains(" &&\n    acc(a_long_name_1"), "{printed}");
}

#[test]
fn long_and_deep_programs() {
    let mut body = "x := x + 1 ".repeat(20_000);
    body += &"if (x > 0) { ".repeat(300);
    body += &"} ".repeat(300);
    let sum = vec!["x"; 5_000].join(" + ");
    let text = format!("method m() {{ var x: Int := 0 {body} x := {sum} }}");
    printed(&text, Form::Graph);
    printed(&text, Form::Structured);
}

#[test]
fn declarations_do_not_say_where_they_come_from() {
    check_body(
        r#"@src.file("0", "a.spl")
        method m(b: Int) {
          @src.at("0", "1.1-1.9")
          var x: Int := b
          @src.at("0", "2.1-2.9")
          var y: Int
          var z: Int := x
        }"#,
        Form::Structured,
        r#"
        {
          var x: Int
          @src.at("0", "1.1-1.9")
          x := b
          var y: Int
          var z: Int := x
        }"#,
    );
}
