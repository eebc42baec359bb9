//! The needs of the rules of functions from the language that a function is written in.

use sil::program::{Expr, Function};
use smt::terms::Term;

use crate::rules::Sil;
use crate::rules::language::Language;
use crate::rules::shape::has_two_readings;
use crate::state::State;
use crate::{Engine, Stop};

/// A function as it is written: its clauses, and the rules of their language.
pub trait Written<'p>: Copy {
    /// Expressions and assertions of the language.
    type Expr: 'p;
    type Rules<'e>: Language<'p, Expr = Self::Expr>
    where
        'p: 'e;

    fn preconditions(self) -> &'p [Self::Expr];

    fn postconditions(self) -> &'p [Self::Expr];

    /// The defining expression; absent means uninterpreted.
    fn body(self) -> Option<&'p Self::Expr>;

    /// Tells whether some clause says one thing to its provers and another to its users.
    fn has_two_readings(self) -> bool;

    /// Tells whether the ways through the precondition are merged.
    fn merges_ways(self, engine: &Engine<'p>) -> bool;

    /// Goes to the state where the parameters have these values and nothing else is known.
    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop>;

    /// The rules of the language.
    fn rules<'e>(engine: &'e mut Engine<'p>) -> Self::Rules<'e>;
}

/// A function of a SIL program.
#[derive(Clone, Copy)]
pub struct InSil<'p>(pub &'p Function);

impl<'p> Written<'p> for InSil<'p> {
    type Expr = Expr;
    type Rules<'e>
        = Sil<'e, 'p>
    where
        'p: 'e;

    fn preconditions(self) -> &'p [Expr] {
        &self.0.contract.preconditions
    }

    fn postconditions(self) -> &'p [Expr] {
        &self.0.contract.postconditions
    }

    fn body(self) -> Option<&'p Expr> {
        self.0.body.as_ref()
    }

    fn has_two_readings(self) -> bool {
        let contract = &self.0.contract;
        contract.preconditions.iter().chain(&contract.postconditions).any(has_two_readings)
    }

    fn merges_ways(self, engine: &Engine<'p>) -> bool {
        engine.merges_ways(&self.0.contract.preconditions)
    }

    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop> {
        engine.set_state(State::new(&self.0.locals));
        for (&formal, &value) in self.0.formals.iter().zip(formals) {
            engine.frame.store.set(formal, value);
        }
        Ok(())
    }

    fn rules<'e>(engine: &'e mut Engine<'p>) -> Sil<'e, 'p> {
        Sil::of(engine)
    }
}
