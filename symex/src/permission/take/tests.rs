//! Taking permission to a location from ordinary chunks.

use smt::terms::{Sort, Terms};

use super::*;
use crate::run::explore::Answer;
use crate::run::explore::tests::with_field;
use crate::state::heap::Chunk;

/// Adds an amount of the field of a new reference.
fn hold(engine: &mut Engine<'_>, field: Resource, name: &str, amount: Term) -> Term {
    let receiver = engine.terms.constant(name, Sort::REF);
    let value = engine.terms.constant(&format!("{name}.f"), Sort::INT);
    let chunk = Chunk { arguments: vec![receiver], value, amount };
    engine.add_chunk(field, chunk).expect("it is no contradiction");
    receiver
}

/// Tells whether the heap holds exactly so much of a location, whatever else it holds.
fn holds(engine: &mut Engine<'_>, field: Resource, receiver: Term, amount: Term) -> bool {
    let heap = engine.here.heap.clone();
    let held = engine.held_in(&heap, field, &[receiver]);
    let equal = engine.terms.identical(held, amount);
    engine.ask_obligation(equal).expect("no defect") == Answer::Yes
}

fn take(engine: &mut Engine<'_>, field: Resource, receiver: Term, amount: Term) -> Option<Term> {
    engine.take_location(field, &[receiver], amount).expect("no defect")
}

#[test]
fn what_is_taken_and_what_is_left_are_what_was_there() {
    with_field(|engine, field| {
        let (whole, half) = (Terms::WRITE, engine.terms.fraction(1, 2));
        let x = hold(engine, field, "x", whole);
        let value = engine.terms.constant("x.f", Sort::INT);
        assert_eq!(take(engine, field, x, half), Some(value));
        assert!(holds(engine, field, x, half));
        assert_eq!(take(engine, field, x, half), Some(value));
        assert!(holds(engine, field, x, Terms::NONE));
        assert_eq!(take(engine, field, x, half), None);
    });
}

#[test]
fn more_than_there_is_is_not_taken() {
    with_field(|engine, field| {
        let (whole, half) = (Terms::WRITE, engine.terms.fraction(1, 2));
        let x = hold(engine, field, "x", half);
        assert_eq!(take(engine, field, x, whole), None);
        assert!(holds(engine, field, x, half));
    });
}

#[test]
fn portions_that_are_one_location_are_taken_together() {
    for is_one in [true, false] {
        with_field(|engine, field| {
            let (whole, half) = (Terms::WRITE, engine.terms.fraction(1, 2));
            let (x, y) = (hold(engine, field, "x", half), hold(engine, field, "y", half));
            let equal = engine.terms.eq(x, y);
            if is_one {
                engine.assume(equal).expect("it is no contradiction");
            }
            assert_eq!(take(engine, field, x, whole).is_some(), is_one);
            let left = if is_one { Terms::NONE } else { half };
            let same = if is_one { Terms::TRUE } else { engine.terms.not(equal) };
            engine.assume(same).expect("it is no contradiction");
            assert!(holds(engine, field, x, left));
        });
    }
}

#[test]
fn a_wildcard_leaves_something() {
    with_field(|engine, field| {
        let half = engine.terms.fraction(1, 2);
        let x = hold(engine, field, "x", half);
        let some = engine.wildcard().expect("it is no contradiction");
        assert!(take(engine, field, x, some).is_some());
        let heap = engine.here.heap.clone();
        let left = engine.held_in(&heap, field, &[x]);
        let is_some = engine.terms.is_some(left);
        let is_less = engine.terms.lt(left, half);
        for goal in [is_some, is_less] {
            assert_eq!(engine.ask_obligation(goal).expect("no defect"), Answer::Yes);
        }
        let none = engine.terms.constant("y", Sort::REF);
        assert_eq!(take(engine, field, none, some), None);
    });
}

#[test]
fn nothing_is_taken_where_amounts_mean_nothing() {
    with_field(|engine, field| {
        let (whole, half) = (Terms::WRITE, engine.terms.fraction(1, 2));
        let x = hold(engine, field, "x", half);
        engine.frame.assertion.amounts = Amounts::SomeOrNone;
        assert!(take(engine, field, x, whole).is_some());
        assert!(holds(engine, field, x, half));
        let y = engine.terms.constant("y", Sort::REF);
        assert_eq!(take(engine, field, y, whole), None);
    });
}
