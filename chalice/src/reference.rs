//! The language in tables: each form, and what it means. `docs/chalice-reference.md`, `silicon
//! explain WORD` and editors are made of this.

use front::reference::{Section, form, page as page_of};

/// The sections, in the order in which they are read.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Declarations",
        about: "A program is a sequence of classes and channels, in any order. A semicolon after a declaration or statement may be left out where nothing else could follow.",
        forms: &[
            form(
                "class C { … }",
                "Objects of the class have its fields; its methods, functions, predicates and invariants speak of `this`.",
            ),
            form("external class C { … }", "A class for which other tools make no code."),
            form(
                "class C module m { … }",
                "A class of the module `m`: other modules know the bodies of its functions by their contracts only.",
            ),
            form("var f: T", "Every object of the class has the field `f`."),
            form("ghost var f: T", "A field for the proof only: what runs may not depend on it."),
            form(
                "tracked var f: C",
                "A field whose values know who points to them: `e.~(D.f)` is the set of the objects of `D` whose field `f` is `e`.",
            ),
            form(
                "method m(x: T) returns (y: U) requires A ensures A { … }",
                "A method is verified against its contract; callers see the contract only.",
            ),
            form(
                "function f(x: T): U requires A ensures b { e }",
                "A function has a value that depends on its arguments and on what its precondition has permission to. Without a body the postconditions are trusted.",
            ),
            form("static function f(x: T): U { e }", "A function that does not depend on `this`."),
            form(
                "unlimited function f(x: T): U { e }",
                "A function whose definition is known at each application, not at some only.",
            ),
            form(
                "predicate P { A }",
                "A name for an assertion about `this`. `P` is held, and is opened by `unfold` only.",
            ),
            form(
                "invariant A",
                "What the monitor of an object protects: who acquires the object gets it, who releases the object gives it.",
            ),
            form(
                "condition c where A",
                "A condition that threads wait for. Members that wait or signal are not verified yet.",
            ),
            form(
                "channel N(x: T) where A",
                "Messages of the channel have these parts; `A` goes from the sender to the receiver.",
            ),
            form(
                "int, bool, string",
                "The types of numbers without bounds, truth values and texts.",
            ),
            form("seq<T>, set<T>", "The types of finite sequences and sets."),
            form(
                "token<C.m>",
                "The type of what `fork` gives for the method `m` of the class `C`.",
            ),
        ],
        example: "class Cell {
  var value: int;
  ghost var history: seq<int>;

  predicate valid { acc(value) && value >= 0 }

  function get(): int
    requires acc(value)
    ensures result == value
  { value }

  method set(n: int) returns (old_value: int)
    requires acc(value)
    ensures acc(value) && value == n && old_value == old(value)
  {
    old_value := value;
    value := n;
  }
}
",
    },
    Section {
        title: "Permission",
        about: "An assertion says what holds and what may be touched. A method has the permission that its precondition gives it, and no other. Amounts are percents; `100` is all of it, `rd` some fraction.",
        forms: &[
            form("requires A", "What a caller has to show and gives away."),
            form("ensures A", "What the caller gets back and may rely on."),
            form(
                "decreases e, d",
                "The function, method or loop ends: the measures become less with each call of itself or round, compared one after the other.",
            ),
            form(
                "lockchange e, d",
                "Locks of other objects than these are held at the end exactly if they are held at the beginning.",
            ),
            form("acc(e.f)", "All permission to a location: it may be read and written."),
            form("acc(e.f, n)", "As many percent of the permission; `acc(e.f, rd)` is some of it."),
            form("acc(e.*)", "Permission to all fields of the object."),
            form("acc(s[*].f)", "Permission to the field of all elements of a sequence or set."),
            form(
                "rd(e.f)",
                "Some fraction of the permission: the location may be read. All `rd` of one call are of the same size.",
            ),
            form(
                "rd(e.f, n)",
                "So many indivisible parts of the permission; `rd*(e.f)` is some amount that nobody knows.",
            ),
            form("e.P, acc(e.P, n), rd(e.P)", "All of a predicate instance, or a part of it."),
            form("unfolding e.P in d", "The value of `d` where the instance is opened."),
            form("old(e)", "The value of `e` at the beginning of the method."),
            form("A && B", "Both hold, and the permission of both is held."),
        ],
        example: "class Pair {
  var left: int;
  var right: int;

  predicate owned { acc(left) && acc(right) }

  function sum(): int
    requires rd(left) && rd(right)
  { left + right }

  method swap()
    requires owned
    ensures owned
    ensures unfolding owned in left + right == old(unfolding owned in left + right)
  {
    unfold owned;
    var kept: int := left;
    left := right;
    right := kept;
    fold owned;
  }

  method read() returns (r: int)
    requires acc(left, 50) && rd(right)
    ensures acc(left, 50) && rd(right) && r == left
  {
    r := left;
  }
}
",
    },
    Section {
        title: "Statements",
        about: "",
        forms: &[
            form("var x: T := e", "A variable; `var x` has a value that nobody knows."),
            form("const x := e", "A variable that is assigned once."),
            form("ghost x := e", "A variable for the proof only: what runs may not depend on it."),
            form(
                "spec x: T [b, c]",
                "A variable with any value for which `c` holds, after `b` is shown.",
            ),
            form("x := e, e.f := d", "An assignment to a variable or a field."),
            form("x := new C { f := e }", "A new object; fields without a value have any."),
            form(
                "call x := e.m(d)",
                "A call: the precondition is given away, the postcondition comes back.",
            ),
            form("if (b) { … } else { … }", "One of the blocks, by the condition."),
            form(
                "while (b) invariant A { … }",
                "A loop. The invariant holds at the beginning and after each iteration; permission that it does not have stays outside.",
            ),
            form("assert A", "Shows that `A` holds; nothing is given away."),
            form("assume b", "Takes `b` for granted; the summary names it with `--audit`."),
            form("fold e.P, unfold e.P", "Closes and opens a predicate instance."),
            form(
                "free e",
                "Gives all permission to the object up for ever; all of its fields have to be held.",
            ),
        ],
        example: "class Counter {
  var value: int;

  method count(n: int) returns (r: int)
    requires acc(value) && 0 <= n
    ensures acc(value) && value == n && r == n
  {
    value := 0;
    while (value < n)
      invariant acc(value) && value <= n
    {
      value := value + 1;
    }
    if (value == n) {
      assert value >= 0;
    } else {
      assume false;
    }
    const last := value;
    r := last;
  }

  method use() returns (r: int)
  {
    var c: Counter := new Counter { value := 7 };
    call r := c.count(3);
    assert r == 3 && c.value == 3;
    free c;
  }
}
",
    },
    Section {
        title: "Threads",
        about: "A thread that is started takes what the precondition asks for; who joins it gets what the postcondition gives.",
        forms: &[
            form("fork t := e.m(d)", "Starts a thread that executes the method; `t` is its token."),
            form("join x := t", "Waits for the end of the thread, and takes its results."),
            form("t.joinable", "A token can be joined once: `joinable` says that it still can be."),
            form(
                "eval(t.fork e.m(d), b)",
                "The value of `b` in the state in which the thread was started.",
            ),
            form("assigned(x)", "The `ghost const x` has its value already."),
        ],
        example: "class Worker {
  var done: bool;

  method work(n: int) returns (r: int)
    requires acc(done) && n > 0
    ensures acc(done) && done && r > n
  {
    done := true;
    r := n + 1;
  }

  method main() returns (r: int)
  {
    var w: Worker := new Worker;
    fork t := w.work(3);
    join r := t;
    assert w.done && r > 3;
  }
}
",
    },
    Section {
        title: "Monitors",
        about: "Locks are ordered by `mu`: a lock is acquired only if it comes after all that are held, so no deadlock is possible.",
        forms: &[
            form("share e", "The object gets a monitor: the invariant is given to it."),
            form(
                "share e above d, share e below d, share e between d and c",
                "The same, with a place in the order of locks.",
            ),
            form("reorder e above d", "Another place in the order; the lock has to be held."),
            form("unshare e", "The object, whose lock is held, has no monitor any more."),
            form(
                "acquire e, release e",
                "Waits for the lock and takes the invariant; gives both back.",
            ),
            form(
                "lock (e) { … }",
                "Acquires the lock for a block. `[[ … ]]` is the block with the lock of `this`.",
            ),
            form(
                "rd acquire e, rd release e, rd lock (e) { … }",
                "The same as a reader: some of the permission of the invariant, together with other readers.",
            ),
            form("downgrade e", "A writer becomes a reader."),
            form(
                "holds(e), rd holds(e)",
                "The thread has the lock of the object, as a writer or a reader.",
            ),
            form(
                "waitlevel",
                "The place of the last lock that is held: `waitlevel << e.mu` allows to acquire `e`.",
            ),
            form(
                "lockbottom",
                "The place before all others: that of an object that is not shared.",
            ),
            form(
                "e.acquire, e.release",
                "In an `eval`, the state in which the lock was acquired last, or was released.",
            ),
            form("wait e.c", "Waits until somebody signals the condition. Not verified yet."),
            form(
                "signal e.c, signal forall e.c",
                "Wakes one waiting thread, or all of them. Not verified yet.",
            ),
        ],
        example: "class Account {
  var balance: int;
  invariant acc(balance) && balance >= 0;

  method deposit(n: int)
    requires rd(mu) && waitlevel << this.mu && n >= 0
    ensures rd(mu)
  {
    lock (this) {
      balance := balance + n;
    }
  }

  method inspect()
    requires rd(mu) && waitlevel << this.mu
    ensures rd(mu)
  {
    rd acquire this;
    assert balance >= 0;
    rd release this;
  }

  method open()
  {
    var a: Account := new Account { balance := 0 };
    share a;
    call a.deposit(5);
    acquire a;
    unshare a;
    assert a.balance >= 0;
  }
}
",
    },
    Section {
        title: "Channels",
        about: "A message carries values and permission. A credit is the right to receive one message: who receives needs one, who has a debt has to send.",
        forms: &[
            form("send e(d)", "Sends a message: gives away what `where` says, and gets a credit."),
            form(
                "receive x := e",
                "Waits for a message, takes what `where` says, and uses a credit.",
            ),
            form(
                "credit(e), credit(e, n)",
                "One credit, or so many; a negative number is a debt, which has to be paid with messages.",
            ),
        ],
        example: "class Box { var content: int; }

channel Parcels(b: Box) where b != null && acc(b.content) && b.content > 0;

class Post {
  method deliver(c: Parcels)
    requires c != null && credit(c, -1)
  {
    var b: Box := new Box { content := 4 };
    send c(b);
  }

  method pick_up(c: Parcels) returns (b: Box)
    requires c != null && credit(c, 1) && rd(c.mu) && waitlevel << c.mu
    ensures rd(c.mu) && b != null && acc(b.content) && b.content > 0
  {
    receive b := c;
  }
}
",
    },
    Section {
        title: "Expressions",
        about: "",
        forms: &[
            form(
                "this, result, null, true, false",
                "The own object, the result of a function in its contract, no object, and the truth values.",
            ),
            form(
                "e + d, e - d, e * d, e / d, e % d",
                "Numbers without bounds. `/` is rounded down, and `%` is never negative for a positive divisor; a divisor is not zero.",
            ),
            form(
                "!b, b && c, b || c, b ==> c, b <==> c",
                "What stands on the right is looked at only where it decides.",
            ),
            form(
                "e == d, e != d, e < d, e <= d, e << d",
                "Comparisons; they form chains. `<<` is the order of locks.",
            ),
            form("b ? e : d, ite(b, e, d)", "One of two values."),
            form("e.f(d)", "The application of a function, whose precondition has to hold."),
            form(
                "[e, d], nil<T>, empty<T>, [e..d]",
                "Sequences: of elements, without elements, and of the numbers from `e` up to and without `d`; `empty` is the set without elements.",
            ),
            form(
                "s[i], s[i..j], |s|, s ++ t, e in s, e !in s",
                "An element, a part, the length, one sequence behind another, and membership.",
            ),
            form(
                "{e, d}, s + t, s * t, s - t, s <= t",
                "Sets: of elements, union, intersection, difference, and inclusion.",
            ),
            form(
                "forall x in s :: b, forall x: T :: b, exists x in s :: b",
                "All or some elements, or values of a type.",
            ),
            form(
                "sum x in s :: e, max x in s :: e",
                "The sum, and the largest value, over a set or sequence of numbers.",
            ),
        ],
        example: "class Math {
  function max_of(a: int, b: int): int
    ensures result >= a && result >= b
  { a > b ? a : b }

  method rules(x: int, y: int, s: seq<int>, t: set<int>)
    requires y != 0
  {
    assert x / y * y + x % y == x;
    assert x < y ==> !(y <= x);
    assert (x == y) <==> (y == x);
    assert ite(x < y, x, y) <= y;
    assert |s ++ [x]| == |s| + 1 && x in [x];
    assert |[0..3]| == 3;
    assert forall i in [0..|s|] :: s[i] == s[i];
    assert x in {x} && nil<int> == [1][..0];
    assert max_of(x, y) >= x;
  }
}
",
    },
    Section {
        title: "Refinement",
        about: "A class has the members of the class that it refines. The contracts stay, and where code is replaced, both pieces of code give variables and fields the same values. Replaced code ends, and changes fields of `this` only.",
        forms: &[
            form("class C refines D { … }", "The class does what `D` does."),
            form("refines m(x: T) returns (y: U) { … }", "Another body of a method of `D`."),
            form(
                "transforms m(x: T) returns (y: U) { _ }",
                "A body made of the old one: `_` keeps a statement, `*` any number of them.",
            ),
            form(
                "replaces x by { … }, replaces * by { … }",
                "In a transformation, statements that assign `x`, or all of them, are replaced.",
            ),
            form(
                "replaces f by A",
                "Fields of `D` are replaced by those that the assertion relates them to.",
            ),
        ],
        example: "",
    },
];

/// Returns the text of `docs/chalice-reference.md`.
pub fn page() -> String {
    let head = "# Chalice, form by form

In the forms, `e` is an expression, `b` one of type `bool`, `A` an assertion (an expression that may be about permission), `T` a
type. `silicon explain WORD` shows the forms that a word is part of. [The tutorial](chalice.md) begins at the beginning; the grammar
is `chalice/src/syntax/grammar.pest`. This page is made from the tables in `chalice/src/reference.rs`.
";
    page_of(head, SECTIONS, "chalice", "chalice")
}
