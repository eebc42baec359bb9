//! Splitting an amount takes as much as there is and as is needed, and no more.

use proptest::prelude::*;
use smt::terms::Substitution;

use super::*;
use crate::engine::run::explore::tests::with_field;

/// An amount in quarters, under one of some conditions or under none.
type Conditional = (Option<u8>, i64);

fn conditional() -> impl Strategy<Value = Conditional> {
    (prop::option::of(0..2_u8), 0..5_i64)
}

fn amount(engine: &mut Engine<'_>, (condition, quarters): Conditional) -> Term {
    let amount = engine.terms.fraction(quarters, 4);
    let none = engine.terms.none();
    match condition {
        Some(number) => {
            let condition = engine.terms.constant(&format!("c{number}"), Sort::BOOL);
            engine.terms.ite(condition, amount, none)
        }
        None => amount,
    }
}

/// How many quarters there are where the conditions are decided.
fn quarters((condition, quarters): Conditional, decided: [bool; 2]) -> i64 {
    if condition.is_none_or(|number| decided[usize::from(number)]) { quarters } else { 0 }
}

proptest! {
    #[test]
    fn a_split_gives_what_there_is_and_what_is_needed(
        available in conditional(),
        need in conditional(),
        decided in any::<[bool; 2]>(),
    ) {
        let mut found = None;
        with_field(|engine, _| {
            let (available, need) = (amount(engine, available), amount(engine, need));
            let split = engine.split_amount(available, need);
            let mut map = Substitution::default();
            for (number, holds) in decided.into_iter().enumerate() {
                let condition = engine.terms.constant(&format!("c{number}"), Sort::BOOL);
                let value = engine.terms.bool(holds);
                map.insert(condition, value);
            }
            let parts = [split.taken, split.rest, split.need];
            let parts = parts.map(|part| engine.terms.substitute(part, &map));
            let all = [0, 1, 2, 3, 4].map(|quarters| engine.terms.fraction(quarters, 4));
            found = Some(parts.map(|part| all.iter().position(|&known| known == part)));
        });
        let (available, need) = (quarters(available, decided), quarters(need, decided));
        let taken = available.min(need);
        let expected = [taken, available - taken, need - taken];
        let found = found.expect("the engine has run");
        prop_assert_eq!(found, expected.map(|quarters| usize::try_from(quarters).ok()));
    }
}
