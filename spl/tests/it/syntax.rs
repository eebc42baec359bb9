//! Tests of the parser.

use spl::source::FileId;
use spl::syntax::*;

fn parsed(text: &str) -> Program {
    parse(FileId::default(), text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn refused(text: &str) -> String {
    parse(FileId::default(), text).map_or_else(|error| error.message, |_| panic!("parses: {text}"))
}

/// The expression of an axiom, fully parenthesised.
fn shape(text: &str) -> String {
    let mut program = parsed(&format!("axiom {text};"));
    match program.declarations.pop().map(|declaration| declaration.kind) {
        Some(DeclarationKind::Axiom(expr)) => show(&expr),
        other => panic!("no axiom: {other:?}"),
    }
}

fn show(expr: &Expr) -> String {
    let list = |all: &[Expr], between: &str| {
        format!("({})", all.iter().map(show).collect::<Vec<_>>().join(between))
    };
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(number) => number.to_string(),
        ExprKind::And(all) => list(all, " && "),
        ExprKind::Or(all) => list(all, " || "),
        ExprKind::Star(all) => list(all, " &*& "),
        ExprKind::Overlap(all) => list(all, " &+& "),
        ExprKind::Binary { op, left, right } => {
            format!("({} {} {})", show(left), op.symbol(), show(right))
        }
        ExprKind::Chain { first, rest } => {
            let rest: Vec<_> = rest.iter().map(|(op, e)| format!("{op:?} {}", show(e))).collect();
            format!("({} {})", show(first), rest.join(" "))
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", show(condition), show(then), show(otherwise))
        }
        ExprKind::Unary { op, operand } => format!("{op:?}({})", show(operand)),
        ExprKind::Call { callee, arguments } => format!("{}{}", callee.name, list(arguments, ", ")),
        ExprKind::Select { receiver, member } => format!("{}.{}", show(receiver), member.name),
        ExprKind::Quantified { body, .. } => format!("(all {})", show(body)),
        ExprKind::Annotated { body, annotations } => {
            format!("{}@{}", show(body), annotations.len())
        }
        ExprKind::Unfolding { predicate, body, .. } => {
            format!("(open {} in {})", predicate.name, show(body))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn precedence_is_that_of_the_reference() {
    assert_eq!(shape("p && q &*& r || s"), "(((p && q) &*& r) || s)");
    assert_eq!(shape("a &+& b &*& c -** d"), "((a &+& (b &*& c)) -** d)");
    assert_eq!(shape("x in A ++ B -- C"), "(x in (A ++ (B -- C)))");
    assert_eq!(shape("x in A == b"), "((x in A) == b)");
    assert_eq!(shape("a == b == c"), "((a == b) == c)");
    assert_eq!(shape("a ==> b ==> c <=> d"), "((a ==> (b ==> c)) <=> d)");
    assert_eq!(shape("a ? b : c ? d : e"), "((a ? b : c) ? d : e)");
    assert_eq!(shape("0 <= i < n && !a != b"), "((0 AtMost i Less n) && (Not(a) != b))");
    assert_eq!(shape("x.f |-> a + 1"), "(x.f |-> (a + 1))");
}

#[test]
fn quantifiers_reach_to_the_right_and_keep_their_annotations() {
    assert_eq!(shape("a ==> (forall x: Int :: x > 0 && b)"), "(a ==> (all ((x Greater 0) && b)))");
    assert_eq!(shape("forall x in X :: p(x) @(matching x yields f(x))"), "(all p(x)@1)");
}

#[test]
fn words_of_the_newer_version_are_names_elsewhere() {
    parsed("procedure unfold(a: Int) { unfold(a); var fold := a; }");
    parsed("procedure q(a: S) { unfold p(a); fold p(a); }");
    assert_eq!(shape("(unfolding p(a) in b == c;)"), "(open p in (b == c))");
    assert_eq!(shape("unfolding p(a) in b; && c"), "((open p in b) && c)");
}

#[test]
fn names_may_begin_with_digits_and_contain_question_marks() {
    assert_eq!(shape("2nd == is?small + 0x10"), "(2nd == (is?small + 16))");
    assert_eq!(shape("a !in b && !inv"), "((a !in b) && Not(inv))");
}

#[test]
fn comments_nest_and_must_end() {
    parsed("/* a /* b */ c */ struct S {}");
    assert_eq!(refused("struct S {} /* a /* b */"), "this comment is not closed");
    assert!(refused("axiom a **- b;").contains("-**"));
}

#[test]
fn semicolons_are_optional_after_clauses() {
    parsed(
        "struct S { var f: Int var g: S; } procedure p(x: S) returns (y: Int) requires x == x; \
         ensures emp { while (true) invariant true invariant emp; { return 1; } choose y := 1; or y := 2; }",
    );
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for text in [
        format!("axiom {}a{};", "(".repeat(deep), ")".repeat(deep)),
        format!("axiom {}a;", "!".repeat(deep)),
        format!("axiom {}a;", "- ".repeat(deep)),
        format!("procedure p() {{ {}x := 1; }}", "if (a) ".repeat(deep)),
        format!("procedure p() {{ {}x := 1; }}", "while (a) ".repeat(deep)),
        format!("procedure p() {{ {}x := 1; }}", "choose ".repeat(deep)),
        format!("procedure p() {{ {}x := 1; }}", "if (a) x := 1; else while (b) ".repeat(deep)),
        format!("axiom {}a;", "forall x: Int :: ".repeat(deep)),
        format!("axiom {}a;", "unfolding p(x) in ".repeat(deep)),
        format!("axiom a {};", "? a : a ".repeat(deep)),
        format!("axiom {}", "/*".repeat(deep)),
        format!("axiom a{};", ".f".repeat(deep)),
        format!("axiom a{};", "[0]".repeat(deep)),
        format!("axiom a{};", " == a".repeat(deep)),
        format!("var x: {}Int{};", "Set<".repeat(deep), ">".repeat(deep)),
    ] {
        refused(&text);
    }
    parsed(&format!("axiom a{};", " && a".repeat(deep)));
    parsed(&format!("axiom a{};", " &*& a".repeat(deep)));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_program() {
    let program = parsed("\u{feff}struct S { }");
    assert_eq!(program.declarations[0].span.start, 3);
    refused("struct S { } \u{feff}");
}
