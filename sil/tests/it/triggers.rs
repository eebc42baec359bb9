//! Inferred triggers, shown as the names of the functions they apply.

use la_arena::Arena;
use sil::program::{Expr, ExprKind, Local, LocalKind, Program};
use sil::triggers::infer_triggers;
use sil::walk::walk_expr;

use crate::common::program;

/// The triggers for `forall BINDERS :: BODY`, each as its terms in a prefix form, and the number of
/// variables added.
fn triggers(quantified: &str, expected: &[&str], added: usize) {
    let text = format!(
        "field val: Int
         domain D {{
           function f(x: Int): Int
           function g(x: Int): Int
           function h(x: Int, y: Int): Int
           axiom a {{ forall {quantified} }}
         }}"
    );
    let program = program(&text);
    let axiom = &program.domains.values().next().expect("one domain").axioms[0];
    let ExprKind::Quantified { variables, body, .. } = &axiom.body.kind else {
        panic!("the axiom is a quantifier")
    };
    let mut locals = axiom.locals.clone();
    let inferred = infer_triggers(variables, body, &mut |ty| {
        let name = "added".into();
        locals.alloc(Local { name, ty: ty.clone(), kind: LocalKind::Bound, span: body.span })
    });
    let shown: Vec<_> = inferred
        .triggers
        .iter()
        .map(|set| {
            let terms: Vec<_> = set.iter().map(|term| show(term, &program, &locals)).collect();
            terms.join("; ")
        })
        .collect();
    assert_eq!(shown, expected, "{quantified}");
    assert_eq!(inferred.variables.len(), added, "{quantified}");
}

fn show(term: &Expr, program: &Program, locals: &Arena<Local>) -> String {
    let mut words = Vec::new();
    walk_expr(term, |expr| {
        words.push(match &expr.kind {
            ExprKind::DomainApply { function, .. } => {
                program.domain_functions[*function].name.to_string()
            }
            ExprKind::Local(local) => locals[*local].name.to_string(),
            ExprKind::Int(value) => value.to_string(),
            ExprKind::Index { .. } => "at".to_owned(),
            ExprKind::Literal { .. } => "literal".to_owned(),
            _ => "?".to_owned(),
        });
    });
    words.join(" ")
}

#[test]
fn every_application_that_mentions_the_variable_is_a_trigger() {
    triggers("x: Int :: f(x) > 0 && g(x) > x", &["f x", "g x"], 0);
}

#[test]
fn a_term_inside_another_is_left_out() {
    triggers("x: Int :: f(g(x)) > 0 && g(x) > 0", &["f g x"], 0);
}

#[test]
fn several_variables_are_covered_by_minimal_sets() {
    triggers("x: Int, y: Int :: f(x) > 0 && g(y) > 0 && h(x, y) > 0", &["f x; g y", "h x y"], 0);
}

#[test]
fn parts_that_cannot_be_matched_become_variables_if_need_be() {
    triggers("x: Int :: h(x, x + 1) > 0", &["h x added"], 1);
    triggers("x: Int :: h(x, x + 1) > 0 && f(x) > 0", &["f x"], 0);
    triggers("x: Int :: f(x + 1) > 0", &[], 0);
}

#[test]
fn variables_of_inner_quantifiers_do_not_leave_them() {
    triggers("x: Int :: forall y: Int :: {h(x, y)} h(x, y) > f(x)", &["f x"], 0);
}

#[test]
fn let_variables_are_replaced_by_their_values() {
    triggers("x: Int :: let y == (g(x)) in f(y) > 0", &["f g x"], 0);
}

#[test]
fn collections_can_be_matched() {
    triggers("s: Seq[Int], i: Int :: s[i] == f(i)", &["at s i"], 0);
}
