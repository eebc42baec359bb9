//! Sums over sets.
//!
//! A valuation gives every possible element a number, and `sum_over(s, v)` adds up the numbers that
//! `v` gives the elements of `s`. Which valuation a body is depends on the heap: a function of the
//! set and the captured variables yields one that agrees with the body on the set (see
//! [`crate::lower::expressions::aggregates`]).
//!
//! SOUNDNESS: take for valuations all functions from elements to integers and for `sum_over` the
//! finite sum. Sets are finite, so the sum exists, and each axiom of `preamble/set_sums.sil` is a
//! theorem about it. For every
//! set and body some valuation agrees with the body on the set, so the functions that yield
//! valuations exist, too.
//!
//! Instances end: no axiom makes a new set or a new valuation that its triggers match, so the sums
//! are those of finitely many sets and valuations.

use sil::syntax as s;

use crate::build::*;
use crate::lower::Lowering;
use crate::names::fixed;

impl Lowering<'_> {
    /// Returns the type of valuations of elements of a type.
    pub(crate) fn valuation_type(&self, element: s::Type) -> s::Type {
        self.used.borrow_mut().set_sums = true;
        s::Type::named(fixed::VALUATION, [element])
    }

    /// Returns the sum of what a valuation gives the elements of a set.
    pub(crate) fn sum_over(&self, set: s::Expr, valuation: s::Expr) -> s::Expr {
        self.used.borrow_mut().set_sums = true;
        call(fixed::SUM_OVER, [set, valuation])
    }
}

/// Applies a valuation to an element.
pub(crate) fn value_in(valuation: s::Expr, element: s::Expr) -> s::Expr {
    call(fixed::VALUE_IN, [valuation, element])
}
