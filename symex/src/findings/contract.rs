//! The findings of the checks of contracts, and their effect: some clauses are checked again where
//! they are used, and some paths end.

use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::findings::log::Recalled;
use crate::{Engine, Path, Stop};

impl Engine<'_> {
    /// Tells whether a clause of a contract was found not to be well-formed. As all questions about
    /// findings, this is a question to the journal.
    pub fn is_ill_formed(&mut self, clause: Span) -> Result<bool, Stop> {
        self.recall(Recalled::IllFormed(clause))
    }

    /// Tells whether one of some clauses was found not to be well-formed.
    pub fn is_any_ill_formed(
        &mut self,
        clauses: impl IntoIterator<Item = Span>,
    ) -> Result<bool, Stop> {
        for clause in clauses {
            if self.is_ill_formed(clause)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells whether a clause is ill-formed for one of some reasons.
    pub fn is_ill_formed_because(
        &mut self,
        clause: Span,
        reasons: &[Reason],
    ) -> Result<bool, Stop> {
        self.recall(Recalled::IllFormedBecause(clause, reasons))
    }

    /// Ends the ways on which the assumed contract is not framed, or the body of a function not
    /// defined. Failures there would have no other reason. Other defects of the contract have been
    /// reported and assumed, and their ways go on.
    ///
    /// SOUNDNESS: something has been reported, so that the member is not verified.
    pub fn end_unframed(&mut self) -> Result<(), Stop> {
        if !self.recall(Recalled::AnyFinding)? {
            return Ok(());
        }
        self.log.rely_on_report();
        let unframed = unframed(&mut self.terms);
        let framed = self.terms.not(unframed);
        self.assume(framed)
    }

    /// Ends these ways if one of some assumed clauses is not well-formed.
    pub fn end_unframed_by(&mut self, clauses: impl IntoIterator<Item = Span>) -> Result<(), Stop> {
        if self.is_any_ill_formed(clauses)? { self.end_unframed() } else { Ok(()) }
    }

    /// Returns the clauses that were found not to be well-formed.
    pub fn ill_formed(
        &mut self,
        clauses: impl IntoIterator<Item = Span>,
    ) -> Result<Vec<Span>, Stop> {
        let mut found = Vec::new();
        for clause in clauses {
            if self.is_ill_formed(clause)? {
                found.push(clause);
            }
        }
        Ok(found)
    }

    /// Returns the ill-formed clauses that are framed. Their meaning depends on the facts where
    /// they are to be proved.
    pub fn framed_but_ill_formed(
        &mut self,
        clauses: impl IntoIterator<Item = Span>,
    ) -> Result<Vec<Span>, Stop> {
        let mut framed = Vec::new();
        for clause in self.ill_formed(clauses)? {
            let unframed = [Reason::InsufficientPermission, Reason::ReceiverNull];
            if !self.is_ill_formed_because(clause, &unframed)? {
                framed.push(clause);
            }
        }
        Ok(framed)
    }

    /// Returns the blame for the exhale side of `[a, b]` in a contract, at its use.
    ///
    /// SOUNDNESS: the contract's check has seen this side after the exhale side of everything
    /// before. A body has the inhale side of its precondition instead. So the side is checked
    /// again, unless its check has reported it (trap T17a).
    pub fn other_side(&mut self, blame: Blame) -> Result<Blame, Stop> {
        Ok(if self.is_ill_formed(blame.span)? { blame } else { blame.checked() })
    }
}

impl Path<'_> {
    /// Notes that the clause is not framed, or the body of a function not defined, on the ways that
    /// lead here. As a fact the note stays with them, wherever they are joined with others.
    pub fn mark_unframed(&mut self, blame: Blame) -> Result<(), Stop> {
        if !blame.is_of_contract() && !blame.is_of_body() {
            return Ok(());
        }
        let unframed = unframed(&mut self.terms);
        self.assume(unframed)
    }
}

/// Returns a proposition that holds where a clause of a contract has no known meaning. Examples are
/// locations without permission, negative amounts, and quantifiers that are not defined for all
/// values.
fn unframed(terms: &mut Terms) -> Term {
    let symbol = terms.declare_fresh("unframed@contract", &[], Sort::BOOL);
    terms.apply(symbol, &[])
}
