//! The needs of the rules of functions from the language that a function is written in.

use sil::program::{Expr, Function};
use sil::source::Span;
use smt::terms::Term;

use crate::engine::findings::blame::Blame;
use crate::engine::rules::Sil;
use crate::engine::rules::shape::has_two_readings;
use crate::engine::state::State;
use crate::engine::{Engine, Stop};

/// A function as it is written: its clauses, and the rules of their language.
pub(crate) trait Written<'p>: Copy {
    /// Expressions and assertions of the language.
    type Expr: 'p;

    fn preconditions(self) -> Vec<&'p Self::Expr>;

    fn postconditions(self) -> Vec<&'p Self::Expr>;

    /// The defining expression; absent means uninterpreted.
    fn body(self) -> Option<&'p Self::Expr>;

    /// Tells whether some clause says one thing to its provers and another to its users.
    fn has_two_readings(self) -> bool;

    /// Tells whether the ways through the precondition are merged.
    fn merges_ways(self, engine: &Engine<'p>) -> bool;

    /// Goes to the state where the parameters have these values and nothing else is known.
    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop>;

    fn span(expr: &Self::Expr) -> Span;

    fn eval(engine: &mut Engine<'p>, expr: &Self::Expr, blame: Blame) -> Result<Term, Stop>;

    fn produce(
        engine: &mut Engine<'p>,
        clauses: &[&'p Self::Expr],
        snapshot: Option<Term>,
        blame: impl Fn(Span) -> Blame,
    ) -> Result<(), Stop>;

    fn consume(
        engine: &mut Engine<'p>,
        clauses: &[&'p Self::Expr],
        blame: impl Fn(Span) -> Blame,
    ) -> Result<(), Stop>;
}

/// A function of a SIL program.
#[derive(Clone, Copy)]
pub(crate) struct InSil<'p>(pub(crate) &'p Function);

impl<'p> Written<'p> for InSil<'p> {
    type Expr = Expr;

    fn preconditions(self) -> Vec<&'p Expr> {
        self.0.contract.preconditions.iter().collect()
    }

    fn postconditions(self) -> Vec<&'p Expr> {
        self.0.contract.postconditions.iter().collect()
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

    fn span(expr: &Expr) -> Span {
        expr.span
    }

    fn eval(engine: &mut Engine<'p>, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        Sil::of(engine).eval(expr, blame)
    }

    fn produce(
        engine: &mut Engine<'p>,
        clauses: &[&'p Expr],
        snapshot: Option<Term>,
        blame: impl Fn(Span) -> Blame,
    ) -> Result<(), Stop> {
        Sil::of(engine).produce_all(clauses, snapshot, |clause| blame(clause.span))
    }

    fn consume(
        engine: &mut Engine<'p>,
        clauses: &[&'p Expr],
        blame: impl Fn(Span) -> Blame,
    ) -> Result<(), Stop> {
        Sil::of(engine).consume_all(clauses, |clause| blame(clause.span)).map(drop)
    }
}
