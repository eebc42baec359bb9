//! Merged chunks hold on each side what they held there.

use proptest::prelude::*;
use smt::terms::Sort;

use super::*;
use crate::Engine;
use crate::run::explore::tests::with_field;

/// Portions: of which of three references, which of three values, how many quarters.
fn portions() -> impl Strategy<Value = Vec<(usize, usize, i64)>> {
    prop::collection::vec((0..3_usize, 0..3_usize, 1..5_i64), 0..5)
}

fn chunks(engine: &mut Engine<'_>, portions: &[(usize, usize, i64)]) -> Vec<Chunk> {
    portions
        .iter()
        .map(|&(receiver, value, quarters)| Chunk {
            arguments: vec![engine.terms.constant(&format!("x{receiver}"), Sort::REF)],
            value: engine.terms.constant(&format!("v{value}"), Sort::INT),
            amount: engine.terms.fraction(quarters, 4),
        })
        .collect()
}

/// Returns the chunks that hold something where a condition is decided.
fn decided(engine: &mut Engine<'_>, chunks: &[Chunk], condition: Term, holds: bool) -> Vec<Chunk> {
    let value = engine.terms.bool(holds);
    let map: Substitution = std::iter::once((condition, value)).collect();
    let mut at = |term| engine.terms.substitute(term, &map);
    let chunks = chunks.iter().map(|chunk| Chunk {
        arguments: chunk.arguments.iter().map(|&argument| at(argument)).collect(),
        value: at(chunk.value),
        amount: at(chunk.amount),
    });
    let mut chunks: Vec<Chunk> = chunks.filter(|chunk| chunk.amount != Terms::NONE).collect();
    chunks.sort_by_key(|chunk| (chunk.arguments.clone(), chunk.value, chunk.amount));
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_side_is_what_it_was(left in portions(), right in portions()) {
        let mut sides = Vec::new();
        with_field(|engine, field| {
            let condition = engine.terms.constant("c", Sort::BOOL);
            let (left, right) = (chunks(engine, &left), chunks(engine, &right));
            let mut counterparts = Counterparts::default();
            let merged = merge_chunks(&mut engine.terms, condition, field, &left, &right, &mut counterparts);
            for (side, holds) in [(left, true), (right, false)] {
                let expected = decided(engine, &side, condition, holds);
                sides.push((decided(engine, &merged, condition, holds), expected));
            }
        });
        for (merged, expected) in sides {
            prop_assert_eq!(merged, expected);
        }
    }
}

#[test]
fn ways_that_know_other_things_of_threads_do_not_merge() {
    with_field(|engine, _| {
        let condition = engine.terms.constant("c", Sort::BOOL);
        let (channel, one) = (engine.terms.constant("x", Sort::REF), engine.terms.int(1));
        let same = (engine.state(), Terms::TRUE);
        let mut owed = same.clone();
        owed.0.here.credits.set(channel, one);
        let mut reader = same.clone();
        reader.0.frame.thread.is_reader = true;
        for other in [owed, reader] {
            let merged = engine.merge_two(condition, same.clone(), other.clone());
            assert!(matches!(merged, Err(Stop::Broken(_))));
            assert!(engine.merge_two(condition, other.clone(), other).is_ok());
        }
    });
}
