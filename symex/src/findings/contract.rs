//! The findings of the checks of contracts, and their effect: some clauses are checked again where
//! they are used, and some paths end.

use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::findings::log::Recalled;
use crate::{Engine, Path, Stop};

impl Engine<'_> {
    /// Tells whether a clause of a contract was found not to be well-formed: a question to the
    /// journal, as all questions about findings.
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

    /// Ends the ways on which the contract that has been assumed is not framed, or the body of a
    /// function not defined: what builds on it would be reported for no other reason. What else was
    /// wrong with it has been reported and assumed, and the others go on.
    ///
    /// SOUNDNESS: only where something has been reported, so that the member is not verified.
    pub fn end_unframed(&mut self) -> Result<(), Stop> {
        if !self.recall(Recalled::AnyFinding)? {
            return Ok(());
        }
        self.log.rely_on_report();
        let unframed = unframed(&mut self.terms);
        let framed = self.terms.not(unframed);
        self.assume(framed)
    }

    /// Ends these ways where one of some clauses, which have been assumed, is not well-formed.
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

    /// Returns those of them that are framed: their meaning depends on what is known where they are
    /// to be proved.
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

    /// How the exhale side of `[a, b]` in a contract is blamed where it is used.
    ///
    /// SOUNDNESS: the contract's check has seen it after the exhale side of everything before,
    /// while a body has the inhale side of its precondition: so it is checked again, unless that
    /// has been reported (trap T17a).
    pub fn other_side(&mut self, blame: Blame) -> Result<Blame, Stop> {
        Ok(if self.is_ill_formed(blame.span)? { blame } else { blame.checked() })
    }
}

impl Path<'_> {
    /// Notes that the clause is not framed, or the body of a function not defined, on the ways that
    /// lead here. As a fact it stays with them, wherever they are joined with others.
    pub fn mark_unframed(&mut self, blame: Blame) -> Result<(), Stop> {
        if !blame.is_of_contract() && !blame.is_of_body() {
            return Ok(());
        }
        let unframed = unframed(&mut self.terms);
        self.assume(unframed)
    }
}

/// Returns a proposition that holds where a clause of a contract was found to say something of
/// which nobody knows what it means: locations there is no permission to, negative amounts,
/// quantifiers that are not defined for all values.
fn unframed(terms: &mut Terms) -> Term {
    let symbol = terms.declare_fresh("unframed@contract", &[], Sort::BOOL);
    terms.apply(symbol, &[])
}
