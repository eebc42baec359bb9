//! Tests of the questions that rules ask about findings.

use smt::terms::Sort;

use super::*;
use crate::Watch;
use crate::findings::blame::Blame;
use crate::run::explore::tests::with_engine;

fn at(start: u32) -> Span {
    Span { start, ..Span::default() }
}

fn contract(start: u32) -> Blame {
    Blame::new(ErrorId::NotWellformed, at(start))
}

fn report(engine: &mut Engine<'_>, blame: Blame, severity: Severity) -> Reported {
    engine.report(blame, Reason::AssertionFalse, blame.span, severity)
}

fn recalls(engine: &mut Engine<'_>, question: Recalled<'_>) -> bool {
    engine.recall(question).expect("nothing is replayed")
}

#[test]
fn a_clause_that_fails_in_its_other_reading_only_is_well_formed_in_its_own() {
    with_engine(|engine| {
        let (other, both) = (contract(1), contract(2));
        report(engine, both, Severity::Error);
        engine.mode.in_other_reading = true;
        for blame in [other, both] {
            report(engine, blame, Severity::Error);
        }
        engine.mode.in_other_reading = false;
        assert!(!recalls(engine, Recalled::IllFormed(other.span)));
        assert!(!engine.has_failed(other, Reason::AssertionFalse).expect("nothing is replayed"));
        assert!(recalls(engine, Recalled::IllFormed(both.span)));
        report(engine, other, Severity::Error);
        assert!(recalls(engine, Recalled::IllFormed(other.span)));
        let because = |reason| [reason];
        let (yes, no) = (because(Reason::AssertionFalse), because(Reason::ReceiverNull));
        assert!(recalls(engine, Recalled::IllFormedBecause(other.span, &yes)));
        assert!(!recalls(engine, Recalled::IllFormedBecause(other.span, &no)));
    });
}

#[test]
fn what_is_found_apart_is_found_only_if_it_is_added() {
    with_engine(|engine| {
        let blame = Blame::new(ErrorId::AssertFailed, at(1));
        let ((), found) = engine.finding_apart(|engine| {
            report(engine, blame, Severity::Error);
            engine.log.give_up();
        });
        assert!(found.has_findings() && found.gave_up());
        assert!(!recalls(engine, Recalled::AnyFinding) && !recalls(engine, Recalled::GaveUp));
        engine.log.add(found);
        assert!(recalls(engine, Recalled::AnyError) && recalls(engine, Recalled::GaveUp));
        let before = engine.log.mark();
        report(engine, blame, Severity::Error);
        assert!(!recalls(engine, Recalled::ErrorSince(before)), "it is the same finding");
    });
}

#[test]
fn what_was_given_up_is_no_error_until_it_is_refuted() {
    with_engine(|engine| {
        let blame = Blame::new(ErrorId::AssertFailed, at(1));
        report(engine, blame, Severity::Warning);
        assert!(recalls(engine, Recalled::AnyFinding) && !recalls(engine, Recalled::AnyError));
        assert!(!engine.has_failed(blame, Reason::AssertionFalse).expect("nothing is replayed"));
        report(engine, blame, Severity::Error);
        assert!(engine.has_failed(blame, Reason::AssertionFalse).expect("nothing is replayed"));
    });
}

#[test]
fn failures_left_open_need_a_finding() {
    with_engine(|engine| {
        let value = engine.terms.constant("v", Sort::INT);
        let (reported, found) = engine.finding_apart(|engine| {
            report(engine, Blame::new(ErrorId::AssertFailed, at(1)), Severity::Error)
        });
        engine.log.taint(value, reported);
        assert!(recalls(engine, Recalled::Tainted(value)));
        assert!(engine.log.leaves_failures_open(), "the finding is not there any more");
        engine.log.add(found);
        assert!(!engine.log.leaves_failures_open());
        engine.log.forget_taints();
        assert!(!recalls(engine, Recalled::Tainted(value)));
    });
}
