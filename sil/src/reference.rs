//! The language in tables: each form, and what it means. `docs/sil.md` and `silicon explain WORD`
//! are made of this.
//!
//! Every word of the grammar is the word of some form (a test compares), and each section has a
//! program that is verified by the tests of the page.

pub use front::reference::{Form, Section};
use front::reference::{form, forms_with as forms, page as page_of};

/// The sections, in the order in which they are read.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Declarations",
        about: "A program is a sequence of declarations, in any order. All names are of one name space; a name is declared once.",
        forms: &[
            form(
                "field f: T",
                "Every object has the field `f`. Several may be declared at once: `field f: T, g: U`.",
            ),
            form(
                "method m(x: T) returns (y: U) requires A ensures A { … }",
                "A method is verified against its contract; callers see the contract only. Without a body the contract is trusted, and a report says so.",
            ),
            form(
                "function f(x: T): U requires A ensures e { e }",
                "A function has a value that depends on its arguments and on the locations that its precondition has permission to. It changes nothing.",
            ),
            form(
                "predicate P(x: T) { A }",
                "A name for an assertion, which may be about itself. `P(x)` is held, and is opened by `unfold` only.",
            ),
            form(
                "domain D[T] { function f(x: T): U unique function c(): U axiom { e } }",
                "A type with functions that have no body; what is known of them are the axioms, which are trusted. `unique` functions without arguments differ from each other.",
            ),
            form(
                "domain D interpretation (SMTLIB: \"sort\") { function f(): T interpretation \"symbol\" }",
                "A sort of the solver, and functions that are symbols of the solver.",
            ),
            form(
                "adt A[T] { C(x: T) D() } derives { contains without x }",
                "A type of finite trees with a constructor for each way to make one. `e.x` is a part, `e.isC` tells which constructor it is. `derives` adds relations, such as being part of; `without` leaves parts out.",
            ),
            form(
                "domain D { predicate p(x: T) }",
                "A function of a domain whose values are of type `Bool`.",
            ),
            form(
                "define M(x) e",
                "A macro: uses are replaced by the expression, type or block of statements.",
            ),
            form("program NAME", "The name of the program, before its first declaration."),
            form(
                "import \"file.vpr\"",
                "The declarations of another file, beside this one. `import <decreases/all.vpr>` is of the standard library.",
            ),
            form(
                "@key(\"value\")",
                "An annotation of what follows. Those that are not known are kept and mean nothing. `@unsupported(\"text\")` before a condition or a value, as a front end writes it that cannot translate a construct: whoever evaluates it is refused.",
            ),
        ],
        example: "field value: Int

domain Weekday {
  unique function monday(): Weekday
  unique function tuesday(): Weekday
}

adt List[T] {
  Nil()
  Cons(head: T, tail: List[T])
}

function length(l: List[Int]): Int
  decreases l
  ensures result >= 0
{
  l.isNil ? 0 : 1 + length(l.tail)
}

define incremented(x) (x + 1)

method declarations(c: Ref)
  requires acc(c.value)
  ensures acc(c.value) && c.value == incremented(old(c.value))
{
  c.value := c.value + 1
  assert monday() != tuesday()
  assert length(Nil()) == 0 && !Cons(7, Nil()).isNil
}
",
    },
    Section {
        title: "Contracts",
        about: "Clauses stand between the head and the body, each as often as needed; several of a kind are joined by `&&`.",
        forms: &[
            form(
                "requires A",
                "What callers have to establish and give. Permission that is asked for is gone for the caller.",
            ),
            form("ensures A", "What the body has to establish, and what callers get."),
            form(
                "invariant A",
                "Of a loop: holds before the condition is read, each time. The body knows nothing else of what it may change.",
            ),
            form(
                "decreases e, e",
                "A measure that gets smaller with every call of the function or method, and with every iteration of the loop: so it ends. `decreases e if b` holds where `b` does.",
            ),
            form("decreases _", "That it ends is trusted."),
            form("decreases *", "It need not end."),
            form("result", "The value of the function, in its postconditions."),
        ],
        example: "import <decreases/int.vpr>

method countdown(n: Int) returns (steps: Int)
  requires n >= 0
  ensures steps == n
  decreases n
{
  steps := 0
  var rest: Int := n
  while (rest > 0)
    invariant 0 <= rest && steps + rest == n
    decreases rest
  {
    rest := rest - 1
    steps := steps + 1
  }
}

function half(n: Int): Int
  requires n >= 0
  ensures 2 * result <= n
{
  n / 2
}
",
    },
    Section {
        title: "Statements",
        about: "Statements need no separator; `;` may stand between them. Parameters cannot be assigned.",
        forms: &[
            form("var x: T := e", "A variable. Without a value it has some value."),
            form("x := e", "An assignment. `e.f := e` needs all permission to the field."),
            form(
                "x := new(f, g)",
                "A new object, with all permission to the named fields; `new(*)`: to all fields of the program.",
            ),
            form(
                "x, y := m(e)",
                "A call: the precondition is checked and taken, the postcondition is given.",
            ),
            form("inhale A", "Adds the permission of `A` and assumes the rest."),
            form(
                "exhale A",
                "Checks `A` and takes its permission. What is not held any more is forgotten.",
            ),
            form("assert A", "Checks `A` and changes nothing."),
            form(
                "assume A",
                "Assumes `A`. What is held has to have the permission that it mentions.",
            ),
            form("refute e", "Checks that `e` does not hold on some path that leads here."),
            form(
                "if (b) { … } elseif (b) { … } else { … }",
                "A branch; `else if` is the same as `elseif`.",
            ),
            form("while (b) invariant A { … }", "A loop, known by its invariant."),
            form(
                "fold P(e)",
                "Takes the body of the predicate and gives the predicate. `fold acc(P(e), p)`, or `fold P(e) by p`: a part of it.",
            ),
            form(
                "unfold P(e)",
                "Takes the predicate and gives its body. `unfold P(e) by p`: those of a part of it.",
            ),
            form(
                "package A --* A { … }",
                "Makes a wand: the statements turn its left side, and what is held, into its right side. What they take is gone.",
            ),
            form("apply A --* A", "Takes the wand and its left side, gives its right side."),
            form(
                "quasihavoc b ==> e.f",
                "Forgets the value of a location, where `b` holds. Also of a predicate or wand.",
            ),
            form("quasihavocall x: T :: b ==> e.f", "The same for all values of `x`."),
            form(
                "label l",
                "A name for the state, for `old[l](e)`, and a target of `goto`. `label l invariant A` is the head of a loop of jumps.",
            ),
            form("goto l", "Goes on at the label."),
        ],
        example: "field value: Int

predicate cell(c: Ref) { acc(c.value) }

method statements(c: Ref) returns (n: Int)
  requires cell(c)
  ensures cell(c)
{
  unfold cell(c)
  label before
  c.value := c.value + 1
  assert c.value > old[before](c.value)
  refute c.value > 0
  if (c.value > 10) {
    n := c.value
  } else {
    n := 10
  }
  assert n >= 10
  fold cell(c)
  var d: Ref
  d := new(value)
  exhale acc(d.value, 1/2)
  inhale acc(d.value, 1/2)
  package acc(d.value, 1/2) --* acc(d.value)
  apply acc(d.value, 1/2) --* acc(d.value)
  d.value := 1
}
",
    },
    Section {
        title: "Permission",
        about: "To read a location some permission is needed, to write it all. Permission can be split, given away and joined again, and there is never more than `write` of a location.",
        forms: &[
            form(
                "acc(e.f, p)",
                "Permission `p` to a location, in contracts and in `inhale`, `exhale`, `assert`. `acc(e.f)` is all of it.",
            ),
            form("acc(P(e), p)", "The same of a predicate; `P(e)` alone is all of it."),
            form(
                "P(e) by p",
                "The same as `acc(P(e), p)`, behind `fold`, `unfold` and `unfolding`.",
            ),
            form("write", "All permission, the amount 1."),
            form("none", "No permission, the amount 0."),
            form("wildcard", "Some amount, which nobody knows: enough to read."),
            form(
                "epsilon",
                "One positive amount, the same in all of the program, and so small that 10^24 of it are less than `1/100`.",
            ),
            form(
                "1/2",
                "A fraction of a permission. Sums, differences, products with numbers and comparisons are amounts and conditions as usual.",
            ),
            form("perm(e.f)", "The amount that is held here."),
            form(
                "forperm x: Ref [x.f] :: e",
                "`e` holds of all objects to whose field some permission is held.",
            ),
            form(
                "unfolding P(e) in e",
                "The value that an expression has while the predicate is open. `unfolding P(e) by p in e`: a part of it.",
            ),
            form(
                "applying (A --* A) in e",
                "The value that an expression has after the wand was applied.",
            ),
            form("asserting (A) in e", "The value of an expression; `A` is checked first."),
            form("A --* A", "A magic wand: with its left side, its right side can be had."),
            form(
                "old[lhs](e)",
                "In the right side of a wand, the value in the state of its left side.",
            ),
            form(
                "[A, A]",
                "The first is meant where it is assumed, the second where it is checked.",
            ),
        ],
        example: "field value: Int

predicate cell(c: Ref) { acc(c.value) }

method permission(c: Ref, d: Ref)
  requires acc(c.value, 1/2) && acc(cell(d), wildcard)
  ensures acc(c.value, 1/2)
{
  assert perm(c.value) >= 1/2 && perm(c.value) > none
  var n: Int := unfolding acc(cell(d), wildcard) in d.value
  assert forperm x: Ref [x.value] :: x == c
  assert c != null && 1/2 + 1/2 == write
  n := asserting (c != null) in n
}
",
    },
    Section {
        title: "Expressions",
        about: "From what binds most to what binds least: postfix, `!` and `-`, `*` `/` `%` `\\`, `+` `-` `++` `union` and the like, comparisons, `in`, `==` and `!=`, `&&`, `||`, `--*`, `==>`, `<==>`, `? :`. Comparisons chain: `0 <= i < n`.",
        forms: &[
            form("true", "A truth."),
            form("false", "The other one."),
            form("null", "The object that has no fields."),
            form("e.f", "The value of a field. Needs some permission."),
            form("f(e)", "A function applied. Its precondition has to hold."),
            form(
                "e && e",
                "Both hold. The second is read only where the first holds; so are the right sides of `||` and `==>`.",
            ),
            form("b ? e : e", "One of two values."),
            form(
                "e \\ e",
                "Division of integers, as `/` of integers; the rest is `%`. The divisor is not 0.",
            ),
            form(
                "old(e)",
                "The value in the state where the method or loop began. `old[l](e)`: at the label.",
            ),
            form("let x == (e) in e", "A name for a value."),
            form(
                "forall x: T :: { e } e",
                "Holds for all values. The terms in `{ }` are triggers: where they occur, the rest is used. They are chosen if none are given.",
            ),
            form("exists x: T :: e", "Holds for some value."),
        ],
        example: "field value: Int

function twice(n: Int): Int { 2 * n }

method expressions(c: Ref, s: Seq[Int], n: Int)
  requires acc(c.value)
  requires forall i: Int :: { s[i] } 0 <= i && i < |s| ==> s[i] > n
  requires |s| > 3
  ensures acc(c.value) && c.value == old(c.value) + 1
{
  c.value := c.value + 1
  assert s[2] > n
  assert exists i: Int :: { s[i] } 0 <= i && i < |s| && s[i] > n
  assert let double == (twice(n)) in double == n + n
  assert (n > 0 ? n : -n) >= 0
  assert 7 \\ 2 == 3 && 7 % 2 == 1 && (true || false) && c != null
}
",
    },
    Section {
        title: "Types and collections",
        about: "",
        forms: &[
            form("Int", "Integers without bounds."),
            form("Bool", "Truth values."),
            form("Ref", "Objects, and `null`."),
            form("Perm", "Amounts of permission. `Rational` is an old name for it."),
            form(
                "Seq[T]",
                "Sequences: `Seq(1, 2)`, `Seq[Int]()`, `[low..high)`, `s ++ t`, `|s|`, `s[i]`, `s[i := e]`, `s[low..high]`, `e in s`.",
            ),
            form("Set[T]", "Sets: `Set(1, 2)`, `e in s`, `|s|` and the operators below."),
            form("Multiset[T]", "Sets with numbers: `e in s` is how often `e` is in it."),
            form("s union t", "All elements of both."),
            form("s intersection t", "The elements that are in both."),
            form("s setminus t", "Those of the first that are not in the second."),
            form("s subset t", "Whether the second has all elements of the first."),
            form("e in s", "Whether it is an element; of a multiset, how often."),
            form("Map[K, V]", "Maps: `Map(1 := true)`, `m[k]`, `m[k := v]`, `|m|`, `k in m`."),
            form("domain(m)", "The set of keys."),
            form("range(m)", "The set of values."),
        ],
        example: "method collections(s: Seq[Int], t: Set[Int], m: Map[Int, Bool])
  requires |s| > 2 && 3 in t && 4 in domain(m)
{
  assert (s ++ Seq(1))[|s|] == 1
  assert s[1 := 5][1] == 5 && |s[1..2]| == 1
  assert 3 in (t union Set(4)) && !(3 in (t setminus Set(3)))
  assert (t intersection Set(3)) subset t
  assert m[4 := true][4] && m[4] in range(m)
  assert 2 in [0..3)
  assert (1 in Multiset(1, 1)) == 2
}
",
    },
    Section {
        title: "Graphs",
        about: "A body may be a graph of blocks instead of statements; a method may have several bodies, all of which are verified. These words can be names elsewhere.",
        forms: &[
            form("implementation name { … }", "One of several bodies of a method."),
            form("graph { … }", "A body that is a graph; its variables come first."),
            form("entry block b { … }", "The block where it begins."),
            form("block b { … goto c }", "Statements without branches, and where to go on."),
            form("branch (b) c else d", "At the end of a block: to one of two blocks."),
            form("halt", "At the end of a block: the method ends here."),
            form("dead", "At the end of a block: nothing gets here."),
            form(
                "loop h while (b) invariant A exits c { … } then d",
                "A graph that is run again and again. `exits` names blocks behind it to which jumps inside of it lead, `then` the one after the last time.",
            ),
            form("next", "At the end of a block in a loop: back to its condition."),
        ],
        example: "method countdown(n: Int) returns (r: Int)
  requires n >= 0
  ensures r == 0
  implementation graph {
    entry block start { r := n goto again }
    loop again while (r > 0) invariant r >= 0 {
      entry block down { r := r - 1 next }
    } then finish
    block finish { halt }
  }
",
    },
];

/// Returns the text of `docs/sil.md`.
pub fn page() -> String {
    let head = "# SIL, form by form

SIL is Viper's language and what is said of graphs below. In the forms, `e` is an expression, `b` one of type `Bool`, `A` an
assertion (an expression that may be about permission), `T` a type. `silicon explain WORD` shows the forms that a word is part of.
The grammar is `sil/src/parser/grammar.pest`. This page is made from the tables in `sil/src/reference.rs`.
";
    page_of(head, SECTIONS, "viper", "vpr")
}

/// Returns the forms that a word is part of.
pub fn forms_with(word: &str) -> Vec<&'static Form> {
    forms(SECTIONS, word)
}
