//! Functions of SIL programs.

use sil::program::{Expr, Function};
use smt::terms::Term;
use symex::members::function::Written;
use symex::state::State;
use symex::{Engine, Stop};

use crate::ahead::ways_of_all;
use crate::analysis::has_two_readings;
use crate::rules::Sil;

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
        engine.merges_ways(ways_of_all(&self.0.contract.preconditions))
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
