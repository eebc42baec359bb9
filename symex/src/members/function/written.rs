//! The needs of the rules of functions from the language that a function is written in.

use smt::terms::Term;

use crate::rules::language::Language;
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

    /// Returns the defining expression; absent means uninterpreted.
    fn body(self) -> Option<&'p Self::Expr>;

    /// Tells whether some clause says one thing to its provers and another to its users.
    fn has_two_readings(self) -> bool;

    /// Tells whether the ways through the precondition are merged.
    fn merges_ways(self, engine: &Engine<'p>) -> bool;

    /// Goes to the state where the parameters have these values and nothing else is known.
    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop>;

    /// Returns the rules of the language.
    fn rules<'e>(engine: &'e mut Engine<'p>) -> Self::Rules<'e>;
}
