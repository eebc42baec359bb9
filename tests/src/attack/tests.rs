//! Few programs, always the same; and what is wrong has to be noticed.

use std::collections::BTreeSet;
use std::time::Duration;

use sil::syntax::walk::{Visitor, visit};
use sil::syntax::{Expr, ExprKind};
use silicon::options::Join;
use silicon::session::Task;

use super::assertions::Form;
use super::facts::{Batch, Fact, FactFate, Theory};
use super::judge::{Fate, Limits, judge, judge_text};
use super::program::PROBE;
use super::{Attack, chalice, generate, in_order, shrink};
use crate::concrete::parse;
use crate::cross_check::{self, compare_with};
use crate::observation::{Member, MemberVerdict, observe_text, session};
use crate::plant::lot;

const LIMITS: Limits =
    Limits { obligation: 2_000_000, member: Duration::from_secs(60), join: Join::Auto };

fn attacks(count: usize) -> Vec<Attack> {
    (0..count).map(|number| generate(lot(7, "tests", "", number))).collect()
}

#[test]
fn a_seed_names_a_program() {
    let texts = || attacks(5).iter().map(Attack::text).collect::<Vec<_>>();
    let first = texts();
    assert_eq!(first, texts());
    assert_ne!(first[0], first[1]);
}

/// The forms of assertions that ask for permission, and of facts beside them.
#[derive(Default)]
struct Forms(BTreeSet<Form>);

impl<'e> Visitor<'e> for Forms {
    fn expr(&mut self, expr: &'e Expr) {
        visit::expr(self, expr);
        let mut inside = Permission(false);
        inside.expr(expr);
        let form = Form::of(&expr.kind);
        if inside.0 || form == Form::Fact {
            self.0.insert(form);
        }
    }
}

struct Permission(bool);

impl<'e> Visitor<'e> for Permission {
    fn expr(&mut self, expr: &'e Expr) {
        self.0 |= matches!(expr.kind, ExprKind::Acc { .. });
        visit::expr(self, expr);
    }
}

#[test]
fn assertions_have_all_forms() {
    let mut seen = Forms::default();
    for attack in attacks(120) {
        let program = parse(&attack.text()).expect("it can be read");
        program.members.iter().for_each(|member| seen.member(member));
    }
    assert_eq!(seen.0.into_iter().collect::<Vec<_>>(), Form::ALL);
}

#[test]
fn runs_get_to_their_ends() {
    for attack in attacks(40) {
        assert_eq!(attack.replay(), Ok(()), "{}", attack.text());
    }
}

#[test]
fn what_a_run_gets_to_is_reported() {
    let attacks = attacks(24);
    let fates = in_order(0..attacks.len(), 1, |number| judge(&attacks[number], LIMITS));
    let mut reached = 0;
    for (attack, fate) in attacks.iter().zip(fates) {
        let fate = fate.expect("no panic");
        let text = attack.text();
        assert!(!matches!(fate, Fate::Accepted(_) | Fate::Defect(_)), "{fate:?}\n{text}");
        reached += usize::from(fate == Fate::Reached);
    }
    assert!(reached >= 6, "{reached} programs report nothing but their probes");
}

#[test]
fn a_contradiction_is_noticed_wherever_it_is() {
    let hidden = "method run(b: Bool) {\n  if (b) {\n    inhale false\n    assert false\n  }\n  assert false\n}\n";
    let judge = |text: &str| judge_text(text, &Attack::probes(text), LIMITS);
    assert_eq!(judge(hidden), Fate::Accepted(vec![4]));
    let reported = hidden.replace("inhale false", "inhale b");
    assert_eq!(judge(&reported), Fate::Reached);
    let verified = "method run() { inhale false\n assert false\n}\n";
    assert_eq!(judge(verified), Fate::Accepted(vec![2]));
    let other = "method run(i: Int) {\n assert i > 0\n assert false\n}\n";
    assert_eq!(judge(other), Fate::Incomplete(vec![(2, "assert.failed:assertion.false".into())]));
}

#[test]
fn probes_are_asked_for_where_a_run_gets_to() {
    let inner: usize = attacks(100)
        .iter()
        .map(|attack| {
            let (reached, all) = (attack.reached(), Attack::probes(&attack.text()));
            assert!(reached.is_subset(&all), "{}", attack.text());
            assert_eq!(reached.last(), all.last());
            reached.len() - 1
        })
        .sum();
    assert!(inner >= 10, "{inner} probes in branches");
}

#[test]
fn what_is_not_needed_is_left_out() {
    let found = attacks(40).into_iter().find(|attack| attack.text().contains("fold acc("));
    let attack = found.expect("some of them folds something");
    let small = shrink(&attack, |attack| attack.text().contains("fold acc("));
    assert_eq!(small.replay(), Ok(()));
    let statements = |text: &str| text.lines().filter(|line| line.starts_with("  ")).count();
    assert!(small.text().contains("fold acc(") && small.text().contains(PROBE));
    assert!(statements(&small.text()) < statements(&attack.text()));
}

#[test]
fn negated_facts_are_not_shown() {
    let batch = Batch::new(lot(7, "facts", "", 0), 20);
    let fates = batch.judge(LIMITS);
    let proved = fates.iter().filter(|fate| **fate == FactFate::Proved).count();
    let wrong = |fate: &&FactFate| matches!(fate, FactFate::Accepted(_) | FactFate::Defect(_));
    assert_eq!(fates.iter().find(wrong), None, "{}", batch.text());
    assert!(proved >= 15, "{fates:?}");
}

#[test]
fn a_wrong_fact_is_noticed() {
    let fact =
        |claim: &str| Fact { theory: Theory::Integers, given: Vec::new(), claim: claim.into() };
    let batch = Batch { facts: vec![fact("1 == 2"), fact("2 * 3 == 6")] };
    assert_eq!(batch.judge(LIMITS), [FactFate::Accepted("no"), FactFate::Proved]);
}

#[test]
fn runs_tell_of_chalice_programs_that_must_not_verify() {
    let limits =
        cross_check::Limits { starts: 10, seed: 7, steps: 1_000, patience: 300, visible: None };
    let is_caught = |number: &usize| {
        let text = chalice::program(lot(7, "chalice", "", *number));
        let mut observation = observe_text("a.chalice", &text, &session(Task::Check));
        assert!(!observation.is_broken(), "{text}");
        let method = |name: &str| Member {
            name: format!("C.{name}"),
            first_line: 1,
            last_line: 1,
            verdict: MemberVerdict::Verified,
        };
        observation.members = ["m0", "m1", "m2", "main"].map(method).into();
        !compare_with("a.chalice", text, &observation, limits).disagreements.is_empty()
    };
    let caught = (0..20).filter(is_caught).count();
    assert!(caught >= 12, "a verifier that accepts all is caught with {caught} of 20 programs");
}

#[test]
fn lines_that_are_not_needed_are_left_out() {
    let small =
        chalice::smaller("a\nb\nc\nd\ne\n", |text| text.contains("b\n") && text.contains("e\n"));
    assert_eq!(small, "b\ne\n");
}
