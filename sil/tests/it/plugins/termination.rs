//! The checks that `decreases` clauses become.

use sil::load::load_text;
use sil::plugins::termination::{Amounts, CheckKind, Instrumented, instrument};
use sil::program::{ExprKind, Member, Stmt, StmtKind, Type};
use sil::walk::{walk_expr, walk_stmts};

use crate::common::{self, program};

fn checked(text: &str) -> Instrumented {
    instrument(&program(text), Amounts::SomeOrNone).expect("there are measures")
}

fn statements(instrumented: &Instrumented, proof: usize) -> &[Stmt] {
    let (method, _) = instrumented.proofs[proof];
    common::statements(&instrumented.program.methods[method])
}

fn kinds(instrumented: &Instrumented, statements: &[Stmt]) -> Vec<CheckKind> {
    let mut kinds = Vec::new();
    walk_stmts(statements, |statement| {
        if let StmtKind::Assert(check) = &statement.kind {
            kinds.push(instrumented.check(check.span).expect("asserts are checks").kind);
        }
    });
    kinds
}

#[test]
fn programs_without_measures_are_left_alone() {
    assert!(instrument(&program("method m() { while (true) {} }"), Amounts::SomeOrNone).is_none());
    assert!(
        instrument(&program("function f(): Int decreases * { f() }"), Amounts::SomeOrNone)
            .is_none()
    );
    assert!(
        instrument(&program("function f(): Int decreases _ { f() }"), Amounts::SomeOrNone)
            .is_none()
    );
}

#[test]
fn only_what_is_needed_is_added_and_users_do_not_see_it() {
    let text = "function f(n: Int, s: Seq[Ref]): Int decreases n, s { f(n - 1, s) }";
    let before = program(text);
    let after = instrument(&before, Amounts::SomeOrNone).expect("there is a measure").program;
    assert_eq!(after.order, before.order);
    let names: Vec<_> = after.domains.values().map(|domain| &*domain.name).collect();
    for name in ["WellFoundedOrder", "IntWellFoundedOrder", "SeqWellFoundedOrder"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"BoolWellFoundedOrder") && !names.contains(&"PredicateInstance"));
    // The generic order of sequences is used at the type of the tuple.
    let of_references = after.domains.values().any(|domain| {
        domain.parameters.is_empty()
            && domain.axioms.iter().any(|axiom| {
                axiom.locals.values().any(|local| local.ty == Type::Seq(Type::Ref.into()))
            })
    });
    assert!(of_references);
}

#[test]
fn declared_domains_are_used() {
    let text = "domain WellFoundedOrder[T] {
          function decreasing(a: T, b: T): Bool
          function bounded(a: T): Bool
        }
        domain IntWellFoundedOrder {}
        function f(n: Int): Int decreases n { f(n - 1) }";
    let before = program(text);
    let after = instrument(&before, Amounts::SomeOrNone).expect("there is a measure").program;
    assert_eq!(after.domains.len(), before.domains.len());
}

#[test]
fn names_of_the_library_may_be_the_users() {
    let text = "function bounded(n: Int): Bool
        function decreasing(n: Int): Int decreases n { decreasing(n - 1) }";
    assert_eq!(checked(text).proofs.len(), 1);
}

#[test]
fn calls_that_come_back_are_compared() {
    let instrumented = checked(
        "function f(n: Int): Int decreases n if n > 0 { g(n) + h(n) }
         function g(n: Int): Int decreases n { f(n - 1) }
         function h(n: Int): Int decreases",
    );
    // `h` terminates, whatever its arguments: nothing is left to check.
    assert_eq!(kinds(&instrumented, statements(&instrumented, 0)), [CheckKind::Tuple]);
    assert_eq!(
        kinds(&instrumented, statements(&instrumented, 1)),
        [CheckKind::TupleCondition, CheckKind::Tuple]
    );
}

#[test]
fn proofs_stand_in_for_functions() {
    let instrumented = checked(
        "field v: Int
         function f(x: Ref): Int
           requires acc(x.v, 1/2) && f0(x.v)
           ensures result > 0 && f0(result)
           decreases x.v
         { f0(x.v) ? f(x) : 0 }
         function f0(n: Int): Bool decreases if n > 0",
    );
    assert_eq!(instrumented.proofs.len(), 3);
    for (method, function) in &instrumented.proofs {
        let method = &instrumented.program.methods[*method];
        assert_eq!(&*instrumented.program.functions[*function].name, "f");
        assert!(method.name.starts_with("f_") && method.name.ends_with("termination_proof"));
        // The function requires some permission.
        for clause in &method.contract.preconditions {
            walk_expr(clause, |expr| {
                if let ExprKind::Acc { amount, .. } = &expr.kind {
                    assert!(matches!(amount.kind, ExprKind::Wildcard));
                }
            });
        }
    }
    assert!(instrumented.program.order.iter().all(|member| match member {
        Member::Method(id) => instrumented.proofs.iter().all(|(proof, _)| proof != id),
        _ => true,
    }));
}

#[test]
fn one_place_has_one_check_of_a_kind() {
    let instrumented = checked(
        "function f(n: Int): Int requires [g(n), n > 0 && g(n)] decreases n
         function g(n: Int): Bool decreases if n > 0",
    );
    assert_eq!(instrumented.proofs.len(), 2);
    let mut spans = Vec::new();
    for proof in 0..2 {
        for statement in statements(&instrumented, proof) {
            if let StmtKind::Assert(check) = &statement.kind {
                spans.push(check.span);
            }
        }
    }
    spans.dedup();
    assert_eq!(spans.len(), 2, "two calls, each at its place");
}

#[test]
fn deep_programs_are_fine() {
    let depth = 2000;
    let mut text = String::from("function f(n: Int): Int decreases n {\n");
    for index in 0..depth {
        text.push_str(&format!("n == {index} ? f(n - 1) : (1 + "));
    }
    text.push('0');
    text.push_str(&")".repeat(depth));
    text.push('}');
    let loaded = load_text("deep", &text);
    if let Some(program) = loaded.program {
        assert!(instrument(&program, Amounts::SomeOrNone).is_some());
    }
}
