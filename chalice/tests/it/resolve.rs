//! For each kind of static error a program that has it and one that does not.

use chalice::program::{Access, ExprKind, PermissionKind, Program, StmtKind};
use chalice::{Diagnostic, SourceFile, check};

/// Declarations the snippets use.
const PRELUDE: &str =
    "class D { var v: int method take(a: int) returns (r: int) { } predicate Q { acc(v) } \
    tracked var back: C function seven(): int { 7 } condition ready }
channel Ch(n: int, d: D) channel Two(m: int, n: int)
";

fn verdict(text: &str) -> (Option<Program>, Vec<Diagnostic>) {
    check(&SourceFile::new("test", format!("{PRELUDE}{text}")))
}

fn errors(text: &str) -> Vec<String> {
    verdict(text)
        .1
        .into_iter()
        .filter(Diagnostic::is_error)
        .map(|finding| finding.message)
        .collect()
}

/// Members every snippet's class has.
fn class(members: &str) -> String {
    format!(
        "class C {{ var f: int ghost var g: int var d: D var s: seq<D> var ch: Ch var tk: token<D.take> \
         predicate P {{ acc(f) }} function get(i: int): int {{ i }} condition cond {members} }}"
    )
}

fn in_method(stmts: &str) -> String {
    class(&format!("method m(a: int, o: D) returns (out: int) {{ {stmts} }}"))
}

/// Each text in the first list is accepted, each in the second has exactly one error.
fn cases(wrap: fn(&str) -> String, accepted: &[&str], rejected: &[&str]) {
    let mut surprises = Vec::new();
    for text in accepted {
        surprises.extend(errors(&wrap(text)).into_iter().map(|error| format!("{text}: {error}")));
    }
    for text in rejected {
        let errors = errors(&wrap(text));
        if errors.len() != 1 {
            surprises.push(format!("{text}: {errors:?}"));
        }
    }
    assert!(surprises.is_empty(), "{surprises:#?}");
}

#[test]
fn declarations() {
    cases(
        |text| format!("class C {{ }} {text}"),
        &["class A { var x: int } class B { var x: int }", "class A { tracked var d: D }"],
        &[
            "class A { } channel A()",
            "class A { var x: int method x() { } }",
            "class A { method m(x: int) returns (x: int) { } }",
            "class A { function f(x: int, x: int): int }",
            "class A refines E { }",
            "class A { replaces x by true }",
            "class A { var x: E }",
            "class A { var x: token<D.nothing> }",
            "class A { var x: token<Ch.m> }",
            "class A { var x: seq<int, int> }",
            "class A { tracked var x: int }",
            "class A { invariant 4 }",
            "class A { condition c where 4 }",
            "class A { predicate p { 4 } }",
            "class A { predicate p { waitlevel << lockbottom } }",
            "class A { invariant holds(this) }",
            "class A { predicate p { eval(this.acquire, true) } }",
            "class A { predicate p { old(true) } }",
        ],
    );
}

#[test]
fn contracts() {
    cases(
        class,
        &[
            "method m() requires acc(f) ensures acc(f) && f == old(f) { }",
            "method m() lockchange this { }",
            "function h(): int ensures result > 0 { 1 }",
            "static function h(x: int): int { x == 0 ? 0 : h(x - 1) }",
            "function h(): seq<D> { [] }",
            "function h(): int { g }",
            "function h(): int requires rd(P) { unfolding rd(P) in f }",
            "invariant acc(f) && old(f) <= f",
        ],
        &[
            "method m() requires old(f) == 1 { }",
            "method m() requires 4 { }",
            "method run() lockchange this { }",
            "function h(): int lockchange this { 1 }",
            "function h(): int requires credit(ch) { 1 }",
            "function h(): int ensures acc(f) { 1 }",
            "function h(): int ensures unfolding P in f == 1 { 1 }",
            "function h(): int { true }",
            "function h(): int { result }",
            "method m() ensures result == 1 { }",
            "static function h(): int { f }",
            "static function h(): int { get(1) }",
            "method m() requires !acc(f) { }",
            "method m() requires acc(f) || true { }",
            "method m() requires acc(f) ==> true { }",
            "method m() requires P <==> true { }",
            "method m() requires exists i: int :: acc(f) { }",
        ],
    );
}

#[test]
fn expressions() {
    cases(
        |expr| in_method(&format!("assert {expr}")),
        &[
            "this != null && tk != null && tk.mu != lockbottom",
            "this << d && waitlevel << d.mu && this.mu << waitlevel",
            "{1} + {2} - {3} <= {1} * {2}",
            "|s| == 1 && |{1}| == 1 && d in s && null !in s",
            "s ++ [d] == s[1..] && s[..2] == s[0..3] && s[0] == null",
            "(d == null ? null : d) == d",
            "forall i, j: int :: i == j",
            "forall x in s :: acc(x.v)",
            "forall x: ({1}) :: x == 1",
            "(sum x in [1..3] :: x) == (max x: {1} :: x)",
            "eval(tk.fork o.take(_), true)",
            "holds(this) && rd holds(o)",
            "credit(ch, -1)",
            "|this.~(D.back)| == 1",
            "\"a\" == 'b'",
            "get(1) == d.seven()",
            "unfolding acc(P, 50) in f == old(f)",
        ],
        &[
            "1",
            "f == true",
            "f + true == 1",
            "1 in f",
            "true in s",
            "|f| == 1",
            "f[0] == 1",
            "s[true] == d",
            "s ++ [1] == s",
            "[1, true] == [1]",
            "[true..1] == [1]",
            "forall a: int :: true",
            "forall x in f :: true",
            "forall x: (s) :: true",
            "forall x: int :: x",
            "(sum x in [1] :: true) == 1",
            "rd == 1",
            "nothing == 1",
            "f.x == 1",
            "d.take == 1",
            "d.seven == 1",
            "d.ready == 1",
            "d.v() == 1",
            "get() == 1",
            "get(true) == 1",
            "unfolding f in true",
            "credit(d)",
            "holds(f)",
            "assigned(a)",
            "1 << lockbottom",
            "(true ? 1 : d) == 1",
            "|d.~(D.v)| == 1",
            "|d.~(D.nothing)| == 1",
            "|d.~(D.back)| == 1",
            "old(acc(f))",
            "eval(this.acquire, old(f) == 1)",
            "eval(tk.fork this.m(1, o), true)",
            "eval(tk.fork o.take(), true)",
        ],
    );
}

#[test]
fn statements() {
    cases(
        in_method,
        &[
            "var x := 1 x := 2 out := x",
            "var t: seq<int> := [] var e: set<D> := {}",
            "var b := f == 1 && true",
            "ghost var x := g ghost const c c := x assert assigned(c)",
            "const c := 1",
            "call r := o.take(1) assert r == 1",
            "fork t := o.take(1) var r: int join r := t",
            "receive n, e := ch assert e != null && n == 1",
            "send ch(1, null)",
            "var c := new Ch above this send c(1, o)",
            "var e := new D { v := 1 }",
            "d := new D",
            "wait cond signal forall d.ready",
            "var x, out [true, x == old(out)]",
            "acquire this release this share this reorder this unshare this downgrade this free this",
            "while (f == 1) invariant acc(f) lockchange this { }",
            "{ var x := 1 } { var x := true }",
            "fold P unfold rd(d.Q)",
            "g := g + 1",
        ],
        &[
            "a := 1",
            "x := 1",
            "d.nothing := 1",
            "f := true",
            "f := g",
            "this.mu := lockbottom",
            "tk.joinable := true",
            "P := 1",
            "const c := 1 c := 2",
            "const c",
            "var a := 1",
            "var x := 1 { var x := 2 }",
            "var t := s[1..]",
            "if (1) { }",
            "if (g == 1) { }",
            "if (acc(f)) { }",
            "while (1) { }",
            "while (true) invariant 1 { }",
            "call o.nothing()",
            "call o.seven()",
            "call o.take(1)",
            "call r := o.take()",
            "call r := o.take(true)",
            "call a := o.take(1)",
            "var e: D call e := o.take(1)",
            "fork out := o.take(1)",
            "join r := tk",
            "join o",
            "var e: D join e := tk",
            "var t := new Two receive n, n := t",
            "receive n := ch",
            "send o(1)",
            "send ch(1)",
            "send ch(o, o)",
            "var e := new E",
            "var e := new D { v := 1, v := 2 }",
            "var e := new D { w := 1 }",
            "var e := new D { mu := lockbottom }",
            "var e := new D { v := true }",
            "var e := new D below this",
            "share f",
            "share ch",
            "share this above 1",
            "fold f",
            "fold get",
            "wait f",
            "unfold rd(f)",
        ],
    );
}

/// The amount of the one permission a method requires.
fn amount(access: &str) -> Result<Access, Vec<String>> {
    let text =
        class(&format!("method m(n: int, o: C, t: token<D.take>, c: Ch) requires {access} {{ }}"));
    let (program, findings) = verdict(&text);
    let program =
        program.ok_or_else(|| findings.into_iter().map(|f| f.message).collect::<Vec<_>>())?;
    let method = program.methods.values().find(|method| method.name == "m").expect("m is declared");
    match &method.requires[0].kind {
        ExprKind::Access(access) => Ok(*access.clone()),
        other => Err(vec![format!("{other:?}")]),
    }
}

#[test]
fn permission_amounts() {
    use PermissionKind as P;
    type Case = (&'static str, fn(&PermissionKind) -> bool);
    let cases: &[Case] = &[
        ("acc(f)", |p| matches!(p, P::Full)),
        ("P", |p| matches!(p, P::Full)),
        ("acc(s[*].v)", |p| matches!(p, P::Full)),
        ("acc(o.*)", |p| matches!(p, P::Full)),
        ("acc(f, n)", |p| matches!(p, P::Percentage(_))),
        ("acc(f, 2 * 25)", |p| matches!(p, P::Percentage(_))),
        ("rd(f)", |p| matches!(p, P::AbstractRead)),
        ("acc(f, rd)", |p| matches!(p, P::AbstractRead)),
        ("rd(f, 3)", |p| matches!(p, P::Epsilons(_))),
        ("acc(f, rd(n))", |p| matches!(p, P::Epsilons(_))),
        ("acc(f, rd(f))", |p| matches!(p, P::Epsilons(_))),
        ("rd*(s[*].*)", |p| matches!(p, P::Star)),
        ("acc(f, rd(P))", |p| matches!(p, P::PredicateRead(_))),
        ("acc(f, rd(o.P))", |p| matches!(p, P::PredicateRead(_))),
        ("acc(f, rd(o))", |p| matches!(p, P::MonitorRead(_))),
        ("acc(f, rd(this))", |p| matches!(p, P::MonitorRead(_))),
        ("acc(f, rd(t))", |p| matches!(p, P::TokenRead(_))),
        ("acc(f, rd(c))", |p| matches!(p, P::ChannelRead(_))),
        ("acc(f, 100 - rd)", |p| matches!(p, P::Sub(..))),
        ("acc(f, rd + rd(n))", |p| matches!(p, P::Add(..))),
        ("acc(f, n * rd)", |p| matches!(p, P::Scale { .. })),
        ("acc(f, rd * (n + 1))", |p| matches!(p, P::Scale { .. })),
    ];
    for (text, expected) in cases {
        let access = amount(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        assert!(expected(&access.amount.kind), "{text}: {:?}", access.amount.kind);
    }
    for text in [
        "acc(f, true)",
        "acc(f, rd(s))",
        "acc(f, rd(nothing))",
        "acc(f, rd * rd)",
        "acc(f, rd*(f))",
        "acc(n.f)",
        "acc(n.*)",
        "acc(o[*].f)",
        "acc(get(1))",
    ] {
        assert_eq!(amount(text).map_err(|errors| errors.len()), Err(1), "{text}");
    }
}

#[test]
fn implicit_declarations_are_marked() {
    let (program, findings) = verdict(&in_method("call r := o.take(1) call r := o.take(2)"));
    let program = program.unwrap_or_else(|| panic!("{findings:?}"));
    let method = program.methods.values().find(|method| method.name == "m").expect("m is declared");
    let declares = method.body.stmts.iter().map(|stmt| match &stmt.kind {
        StmtKind::Call { outs, .. } => outs[0].declares,
        _ => panic!("a call was written"),
    });
    assert_eq!(declares.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn deep_programs_resolve() {
    let deep = format!("assert {}true{}", "(!".repeat(900), ")".repeat(900));
    assert_eq!(errors(&in_method(&deep)), Vec::<String>::new());
    let long = format!("assert f == {}", vec!["f"; 3_000].join(" + "));
    assert_eq!(errors(&in_method(&long)), Vec::<String>::new());
    let wide = "f := f + 1\n".repeat(20_000);
    assert_eq!(errors(&in_method(&wide)), Vec::<String>::new());
}
