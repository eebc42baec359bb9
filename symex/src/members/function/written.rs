//! The part of a language that the rules of functions need.

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

    /// Returns the defining expression; `None` for an uninterpreted function.
    fn body(self) -> Option<&'p Self::Expr>;

    /// Tells whether some clause has one meaning for its provers and another for its users.
    fn has_two_readings(self) -> bool;

    /// Tells whether the ways through the precondition are merged.
    fn merges_ways(self, engine: &Engine<'p>) -> bool;

    /// Goes to the state where the parameters have these values, and nothing else is known.
    fn start(self, engine: &mut Engine<'p>, formals: &[Term]) -> Result<(), Stop>;

    /// Returns the rules of the language.
    fn rules<'e>(engine: &'e mut Engine<'p>) -> Self::Rules<'e>;
}
