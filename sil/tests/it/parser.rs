//! The traps of the grammar, errors and their places, and input that is meant to break the parser.

use sil::diagnostics::{Code, Diagnostic};
use sil::parser::{MAX_DEPTH, MAX_NESTING, parse};
use sil::source::{FileId, SourceFile, Span};
use sil::syntax::*;

use crate::common::written;

fn parse_text(text: &str) -> (Program, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let program = parse(FileId(0), text, &mut diagnostics);
    (program, diagnostics)
}

/// Parses a text without errors or warnings.
fn good(text: &str) -> Program {
    let (program, diagnostics) = parse_text(text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:?}");
    program
}

/// The diagnostics, as `line.column`, in order.
fn places(text: &str) -> Vec<String> {
    let file = SourceFile::new("", text);
    let diagnostics = parse_text(text).1;
    diagnostics.iter().map(|one| file.line_column(one.span.start).to_string()).collect()
}

fn statements(text: &str) -> Vec<Stmt> {
    let program = good(&format!("method m() {{ {text} }}"));
    assert_eq!(program.members.len(), 1, "one member: {text}");
    written(&program).to_vec()
}

fn expression(text: &str) -> Expr {
    let statements = statements(&format!("assert {text}"));
    let [Stmt { kind: StmtKind::Assert(expr), .. }] = &statements[..] else {
        panic!("one assertion: {text}: {statements:?}")
    };
    expr.clone()
}

/// The tree of a simple expression, every operator application in parentheses.
fn shape(expr: &Expr) -> String {
    let list = |exprs: &[Expr], by: &str| exprs.iter().map(shape).collect::<Vec<_>>().join(by);
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Ident(name) => name.to_string(),
        ExprKind::Call { name, arguments, ascription } => {
            let suffix = if ascription.is_some() { ":T" } else { "" };
            format!("{}({}){suffix}", name.name, list(arguments, ","))
        }
        ExprKind::Field { receiver, name } => format!("{}.{}", shape(receiver), name.name),
        ExprKind::Unary { op, operand } => format!("({op:?} {})", shape(operand)),
        ExprKind::Binary { op, left, right } => {
            format!("({} {op:?} {})", shape(left), shape(right))
        }
        ExprKind::And(operands) => format!("({})", list(operands, " & ")),
        ExprKind::Or(operands) => format!("({})", list(operands, " | ")),
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", shape(condition), shape(then), shape(otherwise))
        }
        ExprKind::Index { base, index } => format!("{}[{}]", shape(base), shape(index)),
        ExprKind::Cardinality(inner) => format!("|{}|", shape(inner)),
        ExprKind::Quantified { body, .. } => format!("(Q {})", shape(body)),
        ExprKind::Unfolding { access, body } => format!("(U {} {})", shape(access), shape(body)),
        ExprKind::Let { value, body, .. } => format!("(L {} {})", shape(value), shape(body)),
        ExprKind::InhaleExhale(first, second) => format!("[{},{}]", shape(first), shape(second)),
        ExprKind::Range(first, second) => format!("[{}..{})", shape(first), shape(second)),
        other => format!("{other:?}"),
    }
}

fn shapes(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shape(&expression(text)), *expected, "{text}");
    }
}

#[test]
fn operators_bind_as_in_the_reference() {
    shapes(&[
        ("a + b * c - d", "((a Add (b Mul c)) Sub d)"),
        ("a == b == c", "(a Eq (b Eq c))"),
        ("a ==> b ==> c", "(a Implies (b Implies c))"),
        ("a <==> b ==> c", "(a Iff (b Implies c))"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ==> b ? c : d", "((a Implies b) ? c : d)"),
        ("-x.f", "(Minus x.f)"),
        ("!a == b", "((Not a) Eq b)"),
        ("- -1 - -2", "((Minus (Minus 1)) Sub (Minus 2))"),
        ("x in s union t", "(x In (s Union t))"),
        ("a && b || c && d", "((a & b) | (c & d))"),
        ("|a| + |b|[1]", "(|a| Add |b|[1])"),
        ("iff(inx)", "iff(inx)"),
    ]);
}

#[test]
fn only_unparenthesised_conjunctions_are_one_list() {
    shapes(&[
        ("a && b && c", "(a & b & c)"),
        ("(a && b) && c", "((a & b) & c)"),
        ("a && (b && c)", "(a & (b & c))"),
        ("a || b || (c || d)", "(a | b | (c | d))"),
    ]);
}

#[test]
fn comparisons_chain() {
    shapes(&[
        ("a < b <= c", "((a Lt b) & (b Le c))"),
        ("a < b < c < d", "((a Lt b) & (b Lt c) & (c Lt d))"),
        ("(a < b) < c", "((a Lt b) Lt c)"),
        ("(a < b) == c", "((a Lt b) Eq c)"),
        ("a < b < c && d", "(((a Lt b) & (b Lt c)) & d)"),
    ]);
}

#[test]
fn wands_and_prefix_forms_swallow_what_is_to_their_right() {
    shapes(&[
        ("a --* b && c ==> d", "(a Wand ((b & c) Implies d))"),
        ("a && b --* c", "((a & b) Wand c)"),
        ("a --* b ? c : d", "(a Wand (b ? c : d))"),
        ("a ==> b --* c --* d", "(a Implies (b Wand (c Wand d)))"),
        ("unfolding P(x) in x.f == 1 && b", "(U P(x) ((x.f Eq 1) & b))"),
        ("a && forall x: Int :: b ==> c", "(a & (Q (b Implies c)))"),
        ("let x == (1) in x ? y : z", "(L 1 (x ? y : z))"),
    ]);
}

#[test]
fn calls_ascriptions_and_brackets() {
    shapes(&[
        ("c ? (f() : T) : e", "(c ? f():T : e)"),
        ("c ? f() : e", "(c ? f() : e)"),
        ("(f(x) : D[Int])", "f(x):T"),
        ("[a, b]", "[a,b]"),
        ("[a..b)", "[a..b)"),
    ]);
    assert_eq!(places("method m() { assert (x : T) }"), ["1.26"]);
}

#[test]
fn a_parenthesis_after_a_line_break_is_no_call() {
    assert_eq!(statements("P\n(x).f := 1").len(), 2);
    assert_eq!(statements("P /* */ (x).f := 1").len(), 2);
    let (_, diagnostics) = parse_text("method m() { P  (x) }");
    assert_eq!(diagnostics.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::ParserWarning]);
}

#[test]
fn else_if_is_elseif() {
    for word in ["elseif", "else if"] {
        let text = format!("if (a) {{ }} {word} (b) {{ }} else {{ x := 1 }}");
        let StmtKind::If { otherwise: Some(outer), .. } = &statements(&text)[0].kind else {
            panic!("{text}")
        };
        let StmtKind::If { otherwise: Some(inner), .. } = &outer.statements[0].kind else {
            panic!("{text}")
        };
        assert_eq!(inner.statements.len(), 1);
    }
}

#[test]
fn spans_end_with_the_last_token() {
    let text = "method m()\n  requires (a) + b  // why\n  ensures ( c )\n{ x := 1  ; y.f  := 2 }  \n\nfield f: T  ";
    let program = good(text);
    let at = |span: Span| &text[span.start as usize..span.end as usize];
    let MemberKind::Method(method) = &program.members[0].kind else { panic!() };
    assert_eq!(at(method.contract.preconditions[0].span), "(a) + b");
    assert_eq!(at(method.contract.postconditions[0].span), "c");
    let Body::Structured(block) = &method.implementations[0].body else { panic!() };
    assert_eq!(at(block.statements[0].span), "x := 1");
    assert_eq!(at(block.statements[1].span), "y.f  := 2");
    assert!(at(program.members[0].span).ends_with('}'));
    assert_eq!(at(program.members[1].span), "field f: T");
}

#[test]
fn words_of_graphs_are_names_elsewhere() {
    good("method graph(next: Int) returns (block: Int) { var loop: Int := next; block := loop }");
    good("method m() { next(halt) dead := entry; branch(x) }");
}

#[test]
fn graphs() {
    let program = good(
        "method m(c: Bool) requires c
         implementation first graph {
           var i: Int
           entry block start { i := 0; next(i); goto head }
           loop head while (i < 3) invariant i >= 0 exits bail {
             block step { i := i + 1; branch (c) bail else back }
             block back { next }
           } then done
           block bail { inhale false; halt; }
           block done { branch(i) dead }
         }
         @k(\"v\") implementation { var i: Int }",
    );
    let MemberKind::Method(method) = &program.members[0].kind else { panic!() };
    assert_eq!(method.implementations.len(), 2);
    let Body::Graph(graph) = &method.implementations[0].body else { panic!() };
    assert_eq!(graph.nodes.len(), 4);
    let NodeKind::Block { statements, terminator } = &graph.nodes[0].kind else { panic!() };
    assert_eq!(statements.len(), 2);
    assert!(matches!(terminator.kind, TerminatorKind::Goto(_)));
    let NodeKind::Loop { exits, graph: inner, then: Some(_), .. } = &graph.nodes[1].kind else {
        panic!()
    };
    assert_eq!((exits.len(), inner.nodes.len()), (1, 2));
    let NodeKind::Block { statements, terminator } = &graph.nodes[3].kind else { panic!() };
    assert_eq!(statements.len(), 1);
    assert!(matches!(terminator.kind, TerminatorKind::Dead));
}

#[test]
fn definitions_take_the_longest_body() {
    let bodies = |text: &str| -> Vec<String> {
        let members = good(text).members;
        let kinds = members.iter().map(|member| match &member.kind {
            MemberKind::Define(define) => match (&define.parameters, &define.body) {
                (Some(_), MacroBody::Expr(_)) => "(..) exp",
                (Some(_), MacroBody::Block(_)) => "(..) block",
                (Some(_), MacroBody::Empty) => "(..)",
                (Some(_), MacroBody::Type(_)) => "(..) type",
                (None, MacroBody::Expr(_)) => "exp",
                (None, MacroBody::Type(_)) => "type",
                (None, MacroBody::Block(_)) => "block",
                (None, MacroBody::Empty) => "",
            },
            _ => "member",
        });
        kinds.map(str::to_string).collect()
    };
    assert_eq!(
        bodies("define A (a)\ndefine B(a) a define C(a) {} define D"),
        ["exp", "(..) exp", "(..) block", "",]
    );
    assert_eq!(
        bodies("define A Seq[Int] define B Foo[Int] define C Foo method m()"),
        ["type", "type", "exp", "member",]
    );
}

#[test]
fn havoc_conditions_are_split_off() {
    let kinds: Vec<bool> =
        statements("quasihavoc c ==> P(x)  quasihavoc (c ==> x.f)  quasihavoc x.f")
            .iter()
            .map(|statement| match &statement.kind {
                StmtKind::Quasihavoc { condition, .. } => condition.is_some(),
                _ => panic!(),
            })
            .collect();
    assert_eq!(kinds, [true, false, false]);
}

// ---- errors
// ------------------------------------------------------------------------------------------------

#[test]
fn a_bad_member_spoils_only_itself() {
    let text = "field f: Int\nmethod a() { x := }\nfunction g(): Int\nmethod b() {\n  if (x {\n}\n\
                predicate p()\ndomain D { axiom { } function h(): Int }\nmethod c()";
    // The text behind the axiom is read as a function of the program, so the brace behind it is an
    // error, too.
    assert_eq!(places(text), ["2.19", "5.9", "8.20", "8.40"]);
    assert_eq!(parse_text(text).0.members.len(), 4);
}

#[test]
fn unclosed_members_are_cut_at_the_next_one() {
    let text =
        "method a() { if (b) { x := 1 }\nmethod b() { }\nfunction f(): Int { (1 \nfield f: Int";
    let (program, diagnostics) = parse_text(text);
    assert_eq!(program.members.len(), 2);
    assert_eq!(diagnostics.len(), 2);
    assert_eq!(places(text), ["2.1", "4.1"]);
}

#[test]
fn what_stands_instead_of_an_end_is_reported() {
    // Statements and operands may have annotations, so what is annotated is unexpected; behind an
    // expression the annotation is.
    for (text, place) in [
        ("method a() {\n\n@x()\nmethod b()", "4.1"),
        ("method a() requires b &&\n@x()\nmethod b()", "3.1"),
        ("function a(): Int { 1\n@x()\nmethod b()", "2.1"),
        ("field f:\n// field g: Int\nfield h: Int", "3.1"),
        ("method a() {\n  x := 1\n}\n\nmethod b() {\n\n// comment\n", "7.11"),
        ("method a() {\n/* comment", "2.1"),
        ("method a() { assert true\n}\n/* comment", "3.1"),
    ] {
        assert_eq!(places(text), [place], "{text}");
    }
}

#[test]
fn expressions_are_no_statements() {
    for (statements, place) in [
        ("(x)\n~", "2.1"),
        ("acc(x.f)\n~", "2.1"),
        ("x := 1\nlet y ==\nassert true", "3.1"),
        ("(\n~", "2.1"),
        ("if (b) {\nold(x) }\n~", "3.1"),
        // These are targets, calls and operands.
        ("old(x).f := 1\n~", "3.1"),
        ("(x).f :=\n~", "3.1"),
        ("m (x)\n~", "3.1"),
        ("assert\nacc(x.f)\n~", "4.1"),
        ("while (b)\ninvariant\n(b)\n~", "5.1"),
    ] {
        assert_eq!(places(&format!("method m() {{\n{statements}\n}}")), [place], "{statements}");
    }
}

#[test]
fn members_go_on_inside_of_broken_ones() {
    for (text, expected) in [
        (
            "domain D {\n axioms { }\n function f(): Int\n axiom { true }\n}\nmethod a()",
            &["2.2", "4.2"][..],
        ),
        ("method a() { )\n define M 1\n assert true }", &["1.14", "3.2"]),
        ("method a() { )\n @x() assert true }", &["1.14", "2.7"]),
        ("method a() { )\n assert functional // function\n }", &["1.14"]),
        ("domain D { axiom )\n function f(): Int\n function g(): Int }", &["1.18", "3.20"]),
    ] {
        assert_eq!(places(text), expected, "{text}");
    }
    // Even where everything looks like a member, the rest is read a bounded number of times.
    let text = format!("method a() {{ ) {} }}", "@x() assert true ".repeat(10_000));
    assert!(places(&text).len() < 1_000);
}

#[test]
fn messages_speak_of_the_language() {
    for (text, message) in [
        ("method m() { x := }", "unexpected `}`; expected an expression"),
        ("method m() { var x Int }", "unexpected `Int`; expected `:`"),
        ("method m() { if x { } }", "unexpected `x`; the condition of `if` needs parentheses"),
        ("function f(): { 1 }", "unexpected `{`; expected a type"),
        ("method m( { }", "unexpected `{`"),
        ("methd m()", "unexpected `methd`; did you mean `method`?"),
        ("method m() { assert a", "unexpected end of the member; expected a statement"),
    ] {
        let diagnostics = parse_text(text).1;
        assert_eq!(diagnostics.len(), 1, "{text}");
        let found = &diagnostics[0].message;
        assert!(found.starts_with(message), "{text}: {found}");
    }
}

#[test]
fn reserved_words_are_no_names() {
    assert_eq!(places("method m() { fold := 1 }").len(), 1);
    assert_eq!(places("field acc: Int").len(), 1);
    good("field accs: Int field oldest: Int field _: Int field $old: Int");
}

#[test]
fn odd_bytes() {
    good("\u{feff}method m() {\r\n\tx := 1\r\n}\r\n");
    assert_eq!(places("method m() { x := \0 }"), ["1.19"]);
    assert_eq!(places("method m() { x := \u{e9} }"), ["1.19"]);
    assert_eq!(places("method m() { /* }"), ["1.14"]);
    assert_eq!(places("import \"a"), ["1.8"]);
    good("// \u{e9}\nmethod m() { /* \u{1f600} */ }");
    good("");
    good("// only a comment");
}

// ---- large input
// -------------------------------------------------------------------------------------------

/// Parses and drops on a thread as small as those of the test runner.
fn on_small_stack(text: String) -> usize {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let parse = thread.spawn(move || parse_text(&text).1.len()).expect("threads can be started");
    parse.join().expect("no panic")
}

fn repeated(before: &str, part: &str, middle: &str, other: &str, count: usize) -> String {
    format!("method m() {{ {before}{}{middle}{} }}", part.repeat(count), other.repeat(count))
}

#[test]
fn deep_nesting_is_an_error_and_nesting_up_to_the_limit_is_not() {
    let cases = [
        ("assert ", "(", "a", ")"),
        ("assert ", "f(", "a", ")"),
        ("assert ", "[a,", "a", "]"),
        ("assert ", "s[", "a", "]"),
        ("assert ", "| ", "a", " |"),
        ("assert ", "a ? ", "a", " : a"),
        ("assert ", "forall x: Int :: ", "a", ""),
        ("assert ", "unfolding P(x) in ", "a", ""),
        ("assert ", "let x == (a) in ", "a", ""),
        ("", "{", "", "}"),
        ("", "if (a) {", "", "}"),
        ("var x: ", "Seq[", "Int", "]"),
        ("package a --* b ", "{ package a --* b ", "", "}"),
    ];
    for (before, part, middle, other) in cases {
        let text = |count| repeated(before, part, middle, other, count);
        assert_eq!(on_small_stack(text(MAX_NESTING - 3)), 0, "{part}");
        assert_eq!(on_small_stack(text(30_000)), 1, "{part}");
    }
}

#[test]
fn long_chains_are_fine_up_to_the_limit() {
    let cases = [
        ("assert ", "a + ", "a", ""),
        ("assert ", "a ==> ", "a", ""),
        ("assert ", "a --* ", "a", ""),
        ("assert ", "a < ", "a", ""),
        ("assert ", "a == ", "a", ""),
        ("assert ", "a ? a : ", "a", ""),
        ("assert ", "!", "a", ""),
        ("assert ", "- ", "a", ""),
        ("assert a", ".f", "", ""),
        ("assert a", "[1]", "", ""),
    ];
    for (before, part, middle, other) in cases {
        let text = |count| repeated(before, part, middle, other, count);
        assert_eq!(on_small_stack(text(10_000)), 0, "{part}");
        assert_eq!(on_small_stack(text(30_000)), 1, "{part}");
    }
    let else_ifs = |count| repeated("if (a) { }", " elseif (a) { }", "", "", count);
    assert_eq!(on_small_stack(else_ifs(MAX_DEPTH / 2 - 10)), 0);
    assert_eq!(on_small_stack(else_ifs(30_000)), 1);
}

#[test]
fn length_is_no_problem() {
    for (before, part, middle) in [
        ("assert ", "a && ", "a"),
        ("assert ", "a || ", "a"),
        ("", "x := 1 ", ""),
        ("", "assert forall x: Int :: {f(x)} a \n", ""),
        ("assert ", "(a) && ", "a"),
        ("assert ", "a == b && ", "a"),
        ("assert ", "a.f[1] > -b || ", "a"),
        ("assert ", "(a ==> b) && ", "a"),
    ] {
        assert_eq!(on_small_stack(repeated(before, part, middle, "", 30_000)), 0, "{part}");
    }
    assert_eq!(on_small_stack("field f: Int\n".repeat(30_000)), 0);
    assert_eq!(on_small_stack("/* ".repeat(100_000)), 1);
}

#[test]
fn comparisons_inside_comparisons_do_not_explode() {
    let text = repeated("assert ", "a < (", "a", ") < a", 200);
    assert_eq!(on_small_stack(text), 1);
}

#[test]
fn long_numbers() {
    assert_eq!(shape(&expression(&"9".repeat(1_000))), "9".repeat(1_000));
    assert_eq!(on_small_stack(format!("method m() {{ assert {} }}", "9".repeat(200_000))), 1);
}
