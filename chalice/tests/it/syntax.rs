//! Traps of the lexical structure and the grammar.

use chalice::syntax::{Declaration, Expr, ExprKind, MemberKind, NESTING_LIMIT, parse};

/// The expression in the place of `expr`.
fn expr(text: &str) -> Result<Expr, String> {
    let program = parse(&format!("class C {{ predicate P {{ {text} }} }}"))
        .map_err(|e| e[0].message.clone())?;
    let Some(Declaration::Class(class)) = program.declarations.into_iter().next() else {
        return Err("no class".to_owned());
    };
    match class.members.into_iter().next().map(|member| member.kind) {
        Some(MemberKind::Predicate { body, .. }) => Ok(body),
        _ => Err("no predicate".to_owned()),
    }
}

/// A compact rendering that shows the shape of the tree.
fn shape(expr: &Expr) -> String {
    let list = |exprs: &[Expr]| exprs.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Int(number) => number.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary { operand, .. } => format!("(- {})", shape(operand)),
        ExprKind::Binary { op, left, right } => {
            format!("({} {} {})", op.symbol(), shape(left), shape(right))
        }
        ExprKind::And(all) => format!("(&& {})", list(all)),
        ExprKind::Or(all) => format!("(|| {})", list(all)),
        ExprKind::Seq(all) => format!("[{}]", list(all)),
        ExprKind::Index { sequence, index } => format!("(at {} {})", shape(sequence), shape(index)),
        ExprKind::Select { receiver, member } => format!("{}.{}", shape(receiver), member.name),
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", shape(condition), shape(then), shape(otherwise))
        }
        ExprKind::Unfolding { access, body } => {
            format!("(unfolding {} {})", shape(access), shape(body))
        }
        ExprKind::Rd => "rd".to_owned(),
        ExprKind::Access { form, target, amount: None } => format!("({form:?} {})", shape(target)),
        ExprKind::Access { form, target, amount: Some(amount) } => {
            format!("({form:?} {} {})", shape(target), shape(amount))
        }
        other => format!("{other:?}").split([' ', '(', '{']).next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn operators_bind_as_documented() {
    for (text, expected) in [
        ("a + b * c - d", "(- (+ a (* b c)) d)"),
        ("a ==> b ==> c", "(==> a (==> b c))"),
        ("a <==> b <==> c", "(<==> a (<==> b c))"),
        ("a <==> b ==> c && d", "(<==> a (==> b (&& c d)))"),
        ("a && b && c", "(&& a b c)"),
        ("(a && b) && c", "(&& (&& a b) c)"),
        ("a && (b && c)", "(&& a (&& b c))"),
        ("a == b && c == d", "(&& (== a b) (== c d))"),
        ("-a * b", "(* (- a) b)"),
        ("!x in s", "(in (- x) s)"),
        ("x !in s", "(!in x s)"),
        ("!inv", "(- inv)"),
        ("a !inb", "error"),
        ("a ++ b + c", "(++ a (+ b c))"),
        ("c ? a : d ? e : f", "(? c a (? d e f))"),
        ("a ==> b ? c : d", "(? (==> a b) c d)"),
        ("1 + unfolding P in a ? b : c", "(+ 1 (unfolding P (? a b c)))"),
        ("[[1],[2]]", "[[1] [2]]"),
        ("a[b[0]]", "(at a (at b 0))"),
        ("a<<b", "(<< a b)"),
        ("acc(x.f, 100-rd)", "(Acc x.f (- 100 rd))"),
        ("rd*(x.f)", "(RdStar x.f)"),
        ("acc(f, rd*(2))", "(Acc f (* rd 2))"),
        ("a == b == c", "error"),
        ("a && b || c", "error"),
        ("a == b + 1 == c", "error"),
        ("x.*", "error"),
        ("f(_)", "error"),
        ("5a", "error"),
        ("_", "error"),
        ("seq", "error"),
        ("sum", "sum"),
        ("empty < max", "(< empty max)"),
        ("set.sum(tracked)", "Apply"),
    ] {
        let found = expr(text).map_or_else(|_| "error".to_owned(), |expr| shape(&expr));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn statements_end_without_semicolons() {
    let accepted = [
        "x := 1 y := 2",
        "x := 1; y := 2;",
        "assert b [[ x := 1 ]]",
        "assert b [[ ]]",
        "[[ x := a[0]]]",
        "var x: int [x > 0] var y",
        "ghost const c c := 1",
        "spec x, y: int [true, x > y]",
        "var x := new C { f := 1 } between a and b",
        "x := new C { x := 1 }",
        "if (b) { } else if (c) { } else x := 1",
        "call a, b := o.m(1)",
        "fork o.m()",
        "send c(1) send this.c(1) send (get())(1)",
        "receive a := c",
        "rd acquire a rd release a rd lock (a) { } lock (a) { }",
        "share a above b below c reorder a",
        "signal forall c wait this.c",
        "fold rd(P) unfold acc(x.P, 50) fold P",
        "assert eval(tk.fork o.m(_, 1), true) && tk.acquire { true }",
        "while (b) invariant P; lockchange a, b; { }",
    ];
    for text in accepted {
        let program = parse(&format!("class C {{ method m() {{ {text} }} }}"));
        assert!(program.is_ok(), "{text}: {program:?}");
    }
    let rejected = [
        "x := 1;; y := 2",
        "if (b) x := 1",
        "fold f(1)",
        "fork a, b := m()",
        "var x, y",
        "var const x",
        "call m",
        "f() := 1",
        "assert eval(tk, true)",
    ];
    for text in rejected {
        assert!(parse(&format!("class C {{ method m() {{ {text} }} }}")).is_err(), "{text}");
    }
}

#[test]
fn refinement_is_parsed() {
    let text = "class B refines A { replaces f, g by f == h
        refines m(x: int) returns (y: int) ensures true { y := x }
        transforms n() { _ * if { _ } else { * } while invariant true { _ }
          replaces * by { } replaces x, y by { x := 1 } assert x == 1 } }";
    assert!(parse(text).is_ok(), "{:?}", parse(text));
}

#[test]
fn spans_exclude_what_follows() {
    let text = "class C { method m() { x := a // remark\n\n } }";
    let program = parse(text).expect("the text is a program");
    let Declaration::Class(class) = &program.declarations[0] else { panic!("a class was written") };
    let MemberKind::Method { body, .. } = &class.members[0].kind else {
        panic!("a method was written")
    };
    assert_eq!(&text[body.stmts[0].span.range()], "x := a");
}

#[test]
fn deep_input_is_an_error_and_long_input_is_not() {
    let parens = |depth: usize| expr(&format!("{}true{}", "(".repeat(depth), ")".repeat(depth)));
    assert!(parens(NESTING_LIMIT / 2).is_ok());
    assert!(parens(100_000).is_err());
    assert!(expr(&"forall x: int :: ".repeat(100_000)).is_err());
    assert!(expr(&format!("{}a", "!".repeat(100_000))).is_err());
    assert!(expr(&vec!["a"; 100_000].join(" + ")).is_err());
    assert!(expr(&vec!["a"; 3_000].join(" + ")).is_ok());
    assert!(
        matches!(expr(&vec!["a"; 10_000].join(" && ")), Ok(Expr { kind: ExprKind::And(all), .. }) if all.len() == 10_000)
    );
    assert!(
        parse(&format!("class C {{ method m() {{ {} }} }}", "x := x + 1\n".repeat(20_000))).is_ok()
    );
    assert!(parse("class C { /* ").is_err());
}
