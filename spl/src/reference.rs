//! The language in tables: each form, and what it means. `docs/spl-reference.md`, `silicon explain
//! WORD` and editors are made of this.

use front::reference::{Section, form, page as page_of};

/// The sections, in the order in which they are read.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Declarations",
        about: "A program is a sequence of declarations, in any order, and what it includes.",
        forms: &[
            form(
                "include \"file\"",
                "The declarations of another file belong to the program, too; each file counts once.",
            ),
            form(
                "options \"-symbexec-v2\"",
                "Options of the original verifier: they choose the dialect, among others.",
            ),
            form("struct S { var f: T; ghost var g: U; }", "Objects with these fields."),
            form(
                "type S, type S = T",
                "A type of which nothing is known, or another name for a type.",
            ),
            form("datatype D = A(x: T) | B", "Values with a constructor for each way to make one."),
            form("var x: T, const c: T", "A variable of the whole program, and a constant."),
            form("define M(x) { e }", "A macro: uses are replaced by the expression."),
            form(
                "procedure p(x: T) returns (y: U) requires e ensures e { … }",
                "A procedure is verified against its contract; callers see the contract only. Without a body the contract is trusted.",
            ),
            form(
                "lemma l(x: T) requires e ensures e { … }, auto lemma …",
                "A procedure that proves something and changes nothing. An `auto` lemma is applied where its hypotheses hold.",
            ),
            form("predicate P(x: T) { e }", "A name for an assertion about the heap."),
            form(
                "function f(x: T) returns (y: U) { e }",
                "A function of its arguments and of its footprint.",
            ),
            form(
                "pure predicate P(x: T) { e }, pure function f(x: T) returns (y: U) { e }",
                "The same without a footprint.",
            ),
            form("axiom e", "Something that is taken for granted; the summary names it."),
            form(
                "implicit ghost x: T",
                "A parameter that callers do not write: it has a value for which the contract holds.",
            ),
            form("Int, Bool, Byte", "The types of numbers without bounds, truth values and bytes."),
            form(
                "Set<T>, Map<T, U>, Loc<S>, Array<T>, ArrayCell<T>",
                "Collections, references to objects, arrays, and the cells of arrays.",
            ),
        ],
        example: "struct Node {
  var next: Node;
  var value: Int;
}

type Colour = Int;

define twice(x) { x + x }

function double(x: Int) returns (y: Int)
  ensures y == 2 * x
{ twice(x) }

procedure set(n: Node, v: Int) returns (before: Int)
  requires acc(n)
  ensures acc(n) &*& n.value == v
{
  before := n.value;
  n.value := v;
  return before;
}
",
    },
    Section {
        title: "Heaps",
        about: "A footprint is the part of the heap that an assertion is about. A procedure has the footprint of its precondition, and gives that of its postcondition back.",
        forms: &[
            form("emp", "Nothing is held."),
            form(
                "acc(e), acc(e.f)",
                "Permission to an object, or in the field dialect to a location.",
            ),
            form("e |-> d", "Permission to the cell `e`, which has the value `d`."),
            form("A &*& B", "Both hold, of parts of the heap that have nothing in common."),
            form("A &+& B", "Both hold, of parts that may have something in common."),
            form("A -** B", "In addition to what `A` describes, the rest of `B` is held."),
            form(
                "Btwn(f, x, y, z), Reach(f, x, y)",
                "Along the field `f`, `y` lies between `x` and `z`, or can be reached from `x`.",
            ),
            form("new S, new Array<T>(n)", "A new object or array."),
            form("free e", "Gives an object up for ever."),
        ],
        example: "struct Node {
  var next: Node;
}

predicate lseg(x: Node, y: Node)
{
  x == y || x != y &*& acc(x) &*& lseg(x.next, y)
}

procedure push(x: Node) returns (y: Node)
  requires lseg(x, null)
  ensures lseg(y, null)
{
  y := new Node;
  y.next := x;
}

procedure drop(x: Node) returns (y: Node)
  requires lseg(x, null) &*& x != null
  ensures lseg(y, null)
{
  y := x.next;
  free x;
}
",
    },
    Section {
        title: "Statements",
        about: "",
        forms: &[
            form(
                "requires e, ensures e",
                "The contract; with `free` the caller, or the callee, need not show it, and with `pure` it has no footprint.",
            ),
            form("var x: T := e", "A variable; `ghost var` is for the proof only."),
            form(
                "x, y := e, d",
                "Assignments, or a call with its results. All values are taken before.",
            ),
            form("if (b) s else s", "One of the statements, by the condition."),
            form(
                "while (b) invariant e { … }",
                "A loop. The invariant holds at the beginning and after each iteration.",
            ),
            form("choose { … } or { … }", "One of the blocks; nobody knows which."),
            form("return e", "Ends the procedure with these results."),
            form(
                "assert e, assert \"why\" e, assert e with { … }",
                "Shows that something holds; `pure assert` is about values only. `with { … }` may prove it.",
            ),
            form("assume e", "Takes something for granted."),
            form("havoc x", "The variable has any value of its type."),
            form("split e", "Keeps two parts of the heap apart."),
        ],
        example: "procedure count(n: Int) returns (r: Int)
  requires n >= 0
  ensures r == n
{
  var i: Int := 0;
  while (i < n)
    invariant 0 <= i && i <= n
  {
    i := i + 1;
  }
  if (i != n) {
    assume false;
  }
  assert i == n;
  ghost var any: Int;
  havoc any;
  choose { r := i; } or { r := n; }
}
",
    },
    Section {
        title: "Expressions",
        about: "",
        forms: &[
            form("null, true, false", "No object, and the truth values."),
            form(
                "e + d, e - d, e * d, e / d, e % d",
                "Numbers without bounds; a divisor is not zero.",
            ),
            form(
                "!b, b && c, b || c, b ==> c, b <=> c",
                "What stands on the right is looked at only where it decides.",
            ),
            form("b ? e : d", "One of two values."),
            form(
                "{e, d}, Set<T>(), s ++ t, s ** t, s -- t",
                "Sets: of elements, without elements, union, intersection, and difference.",
            ),
            form("e in s, e !in s, s subsetof t", "Membership and inclusion."),
            form("m[e], m[e := d]", "A value of a map, and the map with another one."),
            form("{ x: T :: e }", "All values for which something holds."),
            form(
                "forall x: T :: e, exists x in s :: e",
                "All or some values of a type, or elements of a set.",
            ),
            form("byte2int(e), int2byte(e)", "A number between 0 and 255 for a byte, and back."),
            form(
                "e @(matching p yields t), p without x",
                "A hint for the solver: where there is a term as `p`, the term `t` is of use.",
            ),
            form(
                "e @(pattern t), e @(comment \"name\"), e @(noinst x)",
                "Hints: terms that a quantifier is instantiated for, a name for an assertion, and a variable that is not instantiated.",
            ),
        ],
        example: "procedure rules(x: Int, s: Set<Int>, m: Map<Int, Int>)
  requires x in s && x > 0
{
  assert s ++ {x} == s;
  assert {x} subsetof s;
  assert x !in s -- {x};
  assert s ** {x} == {x};
  assert m[x := 3][x] == 3;
  assert x % 2 == 0 || x % 2 == 1;
  assert (x > 0 ? x : 0 - x) > 0;
  assert forall y: Int :: y in s && y > 0 ==> 0 - y < 0;
}
",
    },
    Section {
        title: "The field dialect",
        about: "A program that has `fold`, `unfold` or `unfolding`, or asks for it, has permission to single fields, and predicates that are closed until they are opened.",
        forms: &[
            form("fold P(x), unfold P(x)", "Closes and opens an instance of a predicate."),
            form("unfolding P(x) in e", "The value of `e` where the instance is opened."),
        ],
        example: "options \"-symbexec-v2\"

struct Node {
  var next: Node;
}

predicate list(x: Node)
{
  x == null ? true : (acc(x.next) &*& list(x.next))
}

pure function is_end(x: Node) returns (res: Bool)
{ x == null }

procedure tail(x: Node) returns (y: Node)
  requires list(x) &*& x != null
  ensures list(y)
{
  unfold list(x);
  y := x.next;
}

lemma empty()
  ensures list(null)
{
  fold list(null);
}
",
    },
];

/// Returns the text of `docs/spl-reference.md`.
pub fn page() -> String {
    let head = "# SPL, form by form

In the forms, `e` is an expression, `b` one of type `Bool`, `A` an assertion, `s` a statement, `T` a type. `silicon explain WORD`
shows the forms that a word is part of. [The dialects](spl.md) have a page of their own; the grammar is `spl/src/syntax/grammar.pest`.
This page is made from the tables in `spl/src/reference.rs`.
";
    page_of(head, SECTIONS, "spl", "spl")
}
