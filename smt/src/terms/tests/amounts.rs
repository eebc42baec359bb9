//! Splitting an amount takes as much as there is and as is needed, and no more.

use proptest::prelude::*;

use crate::terms::{Sort, Substitution, Term, Terms};

/// An amount in quarters, under one of some conditions or under none.
type Conditional = (Option<u8>, i64);

fn conditional() -> impl Strategy<Value = Conditional> {
    (prop::option::of(0..2_u8), 0..5_i64)
}

fn amount(terms: &mut Terms, (condition, quarters): Conditional) -> Term {
    let amount = terms.fraction(quarters, 4);
    match condition {
        Some(number) => {
            let condition = terms.constant(&format!("c{number}"), Sort::BOOL);
            terms.ite(condition, amount, Terms::NONE)
        }
        None => amount,
    }
}

/// Counts the quarters where the conditions are decided.
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
        let mut terms = Terms::new();
        let (left, right) = (amount(&mut terms, available), amount(&mut terms, need));
        let split = terms.split_amount(left, right);
        let mut map = Substitution::default();
        for (number, holds) in decided.into_iter().enumerate() {
            let condition = terms.constant(&format!("c{number}"), Sort::BOOL);
            map.insert(condition, terms.bool(holds));
        }
        let parts = [split.taken, split.rest, split.need];
        let parts = parts.map(|part| terms.substitute(part, &map));
        let all = [0, 1, 2, 3, 4].map(|quarters| terms.fraction(quarters, 4));
        let found = parts.map(|part| all.iter().position(|&known| known == part));
        let (available, need) = (quarters(available, decided), quarters(need, decided));
        let taken = available.min(need);
        let expected = [taken, available - taken, need - taken];
        prop_assert_eq!(found, expected.map(|quarters| usize::try_from(quarters).ok()));
    }
}
