//! Tests of the prover: goals that it proves and, as important, goals that it does not prove.

use num_bigint::BigInt;

use super::*;
use crate::terms::{Sort, Terms};

/// A prover with its terms.
struct Bench {
    terms: Terms,
    prover: Prover,
}

impl Bench {
    fn new() -> Bench {
        let prover = Prover::new(ProverOptions::default()).expect("a prover");
        Bench { terms: Terms::new(), prover }
    }

    fn constant(&mut self, name: &str, sort: Sort) -> Term {
        self.terms.constant(name, sort)
    }

    fn int(&mut self, value: i64) -> Term {
        self.terms.int(value)
    }

    fn answer(&mut self, goal: Term) -> Answer {
        self.prover
            .check(&mut self.terms, goal, QueryKind::Obligation, Budget::OBLIGATION)
            .expect("no error")
    }

    #[track_caller]
    fn proves(&mut self, goal: Term) {
        assert_eq!(self.answer(goal), Answer::Proved, "{}", self.terms.display(goal));
    }

    #[track_caller]
    fn does_not_prove(&mut self, goal: Term) {
        assert_eq!(self.answer(goal), Answer::NotProved, "{}", self.terms.display(goal));
    }

    /// The goal holds, and the assumptions do not contradict each other.
    #[track_caller]
    fn proves_soundly(&mut self, goal: Term) {
        self.proves(goal);
        self.does_not_prove(Terms::FALSE);
    }
}

mod base;
mod collections;
