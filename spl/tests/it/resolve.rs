//! Tests of the resolver: each static error once, with its place.

use spl::program::{Dialect, ExprKind, StmtKind, Type};
use spl::{Checked, NoFiles, Program, Settings, check};

fn checked(text: &str) -> Checked {
    check("t.spl", text, &Settings::default(), &NoFiles)
}

fn accepted(text: &str) -> Program {
    let checked = checked(text);
    checked.program.unwrap_or_else(|| panic!("{text}: {:?}", checked.findings))
}

/// `line:message` of each finding.
fn findings(text: &str) -> Vec<String> {
    let checked = checked(text);
    let show = |finding: &spl::Diagnostic| {
        format!(
            "{}:{}",
            checked.sources.file(finding.span.file).line(finding.span.start),
            finding.message
        )
    };
    checked.findings.iter().map(show).collect()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let found = findings(text);
    assert!(found.len() == 1 && found[0].contains(expected), "{text}: {found:?}");
    assert!(checked(text).program.is_none());
}

/// A procedure with these statements, in a program with some declarations; its statements begin on
/// line 10.
fn within(stmts: &str) -> String {
    format!(
        "struct S {{ var f: Int; var next: S; ghost var g: Int; }}\n\
         datatype L = nil | cons(hd: Int, tl: L)\n\
         function size(l: L) returns (n: Int)\n\
         predicate p(x: S)\n\
         pure predicate q(x: S)\n\
         define twice(e) {{ e + e }}\n\
         procedure one(a: Int) returns (b: Int)\n\
         procedure two() returns (b: Int, c: S)\n\
         procedure m(x: S, y: Int, A: Set<S>, l: L, a: Array<Int>) returns (r: Int, s: S) {{\n\
         {stmts}\n}}"
    )
}

#[track_caller]
fn stmt_refused(stmts: &str, expected: &str) {
    let text = within(stmts);
    let found = findings(&text);
    let prefix = "10:";
    assert!(
        found.len() == 1 && found[0].starts_with(prefix) && found[0].contains(expected),
        "{stmts}: {found:?}"
    );
}

#[test]
fn the_marks_of_a_program_say_its_dialect() {
    let dialect = |text: &str| accepted(text).dialect;
    assert_eq!(dialect("struct S {}"), Dialect::Classic);
    assert_eq!(dialect("options \"-symbexec-v2\""), Dialect::Field);
    assert_eq!(dialect("options \"-symbexec\";"), Dialect::ClassicParts);
    let folds =
        "struct S { var f: Int; } predicate p(x: S) { acc(x.f) } procedure m(x: S) { fold p(x); }";
    assert_eq!(dialect(folds), Dialect::Field);
}

#[test]
fn names() {
    stmt_refused("z := 1;", "there is no variable `z`");
    stmt_refused("r := z;", "`z` is not declared");
    stmt_refused("r := p;", "is a predicate, not a value");
    stmt_refused("var z: T;", "there is no type `T`");
    stmt_refused("var z: one;", "`one` is a procedure, not a type");
    stmt_refused("r := nosuch(1);", "there is no procedure, function or predicate `nosuch`");
    stmt_refused("r := x.h;", "S has no `h`");
    stmt_refused("var z: Int; var z: Int;", "declared twice in this scope");
    refused(
        "struct S { var f: Int; } struct T { var f: Int; }",
        "`f` is declared twice: it is a field",
    );
    refused("predicate old(x: Int)", "built in");
    refused("procedure m(x: Int, x: Int)", "declared twice");
}

#[test]
fn declared_again() {
    accepted("procedure m(x: Int) requires x > 0; procedure m(x: Int) requires x > 0 { }");
    refused(
        "procedure m(x: Int)\nprocedure m(y: Int) { }",
        "2:`m` is declared again, but not in the same way",
    );
    refused("procedure m() { }\nprocedure m() { }", "2:`m` has two bodies");
    refused("predicate p()\npure predicate p()", "2:`p` is declared again");
    accepted("type T; struct T { var f: T; }");
}

#[test]
fn macros() {
    accepted(&within("r := twice(twice(y));"));
    stmt_refused("r := twice(1, 2);", "expected 1 argument, found 2");
    refused(
        "define a(x) { b(x) } define b(x) { a(x) }\naxiom a(1);",
        "1:the macro `a` expands to itself",
    );
    refused(
        "define a(x) { x + z }\nfunction f(z: Int) returns (r: Int) { a(1) }",
        "1:`z` is not declared",
    );
    let hygienic =
        accepted("define any(e) { exists z: Int :: z > e } axiom forall z: Int :: any(z);");
    let ExprKind::Quantified { variables, body, .. } = &hygienic.axioms[0].condition.kind else {
        panic!("no quantifier")
    };
    let mut outer = 0;
    body.any(&mut |part| {
        outer += usize::from(part.kind == ExprKind::Local(variables[0].local));
        false
    });
    assert_eq!(outer, 1, "the argument means the variable where the macro is applied");
    let grows: Vec<_> =
        (0..60).map(|at| format!("define m{}(x) {{ m{at}(x) + m{at}(x) }}", at + 1)).collect();
    let grows = grows.join("\n");
    refused(&format!("define m0(x) {{ x }} {grows} axiom m60(1) == 1;"), "more than 10000 macros");
}

#[test]
fn types() {
    stmt_refused("r := true;", "expected Int, found Bool");
    stmt_refused("s := A;", "expected S, found Set<S>");
    stmt_refused("r := 1 + true;", "expected a number, found Bool");
    stmt_refused("if (x < 1) {}", "expected a number or set, found S");
    stmt_refused("var z := null;", "the type of `z` cannot be inferred");
    stmt_refused("var z := {};", "the type of `z` cannot be inferred");
    stmt_refused("r := size(1);", "expected L, found Int");
    stmt_refused("assert acc(y);", "expected a reference or a set of references, found Int");
    stmt_refused("assert y |-> 1;", "left of `|->`");
    stmt_refused(
        "assert Btwn(f, x, x, x);",
        "expected a field that leads from a struct to the same struct",
    );
    stmt_refused("assert Btwn(next, x, x);", "expected 4 arguments, found 3");
    stmt_refused("assert 1 in A;", "expected Set<Int>, found Set<S>");
    stmt_refused("free y;", "expected an object of a struct or an array, found Int");
    stmt_refused("assert A < A < A;", "sets are compared two at a time");
    refused("type a = b;\ntype b = a;", "is defined by itself");
    accepted(&within("var z := {null, x}; A := {} ++ z; assert {} != A && null == x && A > {};"));
    accepted(
        "struct S { var d: Int; } axiom forall d: Map<S, Bool>, x: S :: x.d ==> x.d[x := true][x];"
            .replace("x.d[x := true][x]", "d[x := true][x]")
            .as_str(),
    );
}

#[test]
fn what_arguments_are_given() {
    stmt_refused("r := size();", "`size` has 1 parameter, found 0");
    stmt_refused("r := hd(l);", "`hd` is a destructor");
    stmt_refused("s := new S(1);", "a new object of a struct has no arguments");
    stmt_refused("a := new Array<Int>();", "a new array has one argument");
    stmt_refused("r := new Int;", "there are no new objects of Int");
    stmt_refused("r := two();", "`two` has 2 results for 1 variables");
    stmt_refused("r := two() + 1;", "`two` has 2 results, so it has no value here");
    stmt_refused("return 1;", "expected 2 values, found 1");
    stmt_refused("assert old(1, 2) == 1;", "expected 1 argument, found 2");
    accepted(&within("return two();"));
}

#[test]
fn assignments() {
    stmt_refused("r, r := 1, 2;", "assigned twice at once");
    stmt_refused("r, x.f := 1, 2;", "only variables can be assigned together");
    stmt_refused("r, y := 1;", "expected 2 values, found 1");
    stmt_refused("havoc p;", "only variables can be havocked");
    stmt_refused("var z := p(x);", "permissions cannot be assigned");
    stmt_refused("while (y > 0) { return 1, x; }", "`return` cannot leave a loop");
    stmt_refused("y;", "this is not a statement");
}

#[test]
fn specifications() {
    stmt_refused("assert one(1) == 1;", "no procedure can be called");
    stmt_refused("assert !p(x);", "permissions cannot stand here");
    stmt_refused("pure assert p(x);", "permissions cannot stand here");
    stmt_refused("assert p(x) ==> true;", "permissions cannot stand here");
    stmt_refused("assert forall z: S :: p(z);", "`forall` cannot be about permissions");
    accepted(&within("assert !q(x) && (q(x) == true) || (exists z: S :: p(z)) &*& emp;"));
    refused("procedure m(x: Int)\n  requires old(x) == x", "2:there is no old state here");
    refused("procedure m() returns (r: Int)\n  requires r == 1", "2:`r` is not declared");
    refused(
        "options \"-symbexec-v2\" struct S {}\nprocedure m(x: S) requires acc(x)",
        "expected `acc(x.f)`",
    );
}

#[test]
fn options_are_flags() {
    assert_eq!(findings("options \"-odd\""), ["1:`-odd` is not known and ignored"]);
    refused("options \"odd\"", "options begin with `-`");
    assert!(findings("options \"-bitvector\"")[0].contains("no bounds"));
}

#[test]
fn calls_in_expressions_go_before_the_statement() {
    let program = accepted(&within(
        "r := one(one(y)) + 1; while (one(y) > 0) { } if (y > 0) { } else if (one(1) > 0) { }",
    ));
    let (_, m) = program.procedures.iter().last().expect("there is a procedure");
    let stmts = &m.body.as_ref().expect("it has a body").stmts;
    let is_call = |kind: &StmtKind| matches!(kind, StmtKind::Call { .. });
    assert!(is_call(&stmts[0].kind) && is_call(&stmts[1].kind) && !is_call(&stmts[2].kind));
    let StmtKind::While { before_guard, .. } = &stmts[3].kind else { panic!("{:?}", stmts[3]) };
    assert!(before_guard.len() == 1 && is_call(&before_guard[0].kind));
    let StmtKind::If { otherwise: Some(otherwise), .. } = &stmts[4].kind else {
        panic!("{:?}", stmts[4])
    };
    assert!(is_call(&otherwise.stmts[0].kind));
}

#[test]
fn predicates_without_permissions_are_formulas() {
    let program = accepted(
        "predicate a(x: Int) { b(x) } predicate b(x: Int) { x > 0 ? c(x) : true } \
         predicate c(x: Int) { x > 1 || a(x) } predicate d(x: Int) { a(x) &*& e() } predicate e() { emp }",
    );
    let types: Vec<_> = program.predicates.values().map(|predicate| predicate.ty.clone()).collect();
    let (formula, permission) = (Type::Bool, Type::Permission);
    assert_eq!(types, [formula.clone(), formula.clone(), formula, permission.clone(), permission]);
}

#[test]
fn ghosts_are_warned_about() {
    let warned = |text: &str| {
        let checked = checked(text);
        assert!(checked.program.is_some(), "{:?}", checked.findings);
        checked.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(warned(&within("if (x.g > 0) { r := 1; }")), ["the ghost `g` decides what is done"]);
    assert_eq!(
        warned(&within("y := x.g;")),
        ["the ghost `g` is stored in a variable or field that is not ghost"]
    );
    let lemma = "struct S { var f: Int; } lemma l(x: S) { x.f := 1; free x; }";
    assert_eq!(
        warned(lemma),
        ["the lemma `l` writes a field that is not ghost", "the lemma `l` frees an object"]
    );
}
