//! The findings of the checks of contracts, and their effect: some clauses are checked again where
//! they are used, and some paths end.

use sil::program::{Contract, Expr, ExprKind, Location};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, ErrorId, Reason};
use crate::findings::log::Recalled;
use crate::{Engine, Path, Stop};

impl Engine<'_> {
    /// Tells whether a clause of a contract was found not to be well-formed: a question to the
    /// journal, as all questions about findings.
    pub(crate) fn is_ill_formed(&mut self, clause: &Expr) -> Result<bool, Stop> {
        self.is_ill_formed_at(clause.span)
    }

    /// The same, of the clause at a place.
    pub fn is_ill_formed_at(&mut self, clause: Span) -> Result<bool, Stop> {
        self.recall(Recalled::IllFormed(clause))
    }

    /// Tells whether one of some clauses was found not to be well-formed.
    pub fn is_any_ill_formed(&mut self, clauses: &[Expr]) -> Result<bool, Stop> {
        for clause in clauses {
            if self.is_ill_formed(clause)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Which postconditions say nothing that a body could be held to. That is so with those that
    /// are not well-formed and speak of permission, or make sense only if something else holds. And
    /// where there are instances, what cannot be read may be inside of one, where it has a value:
    /// so it is, too, with what is not framed, and with what reads locations behind that, where
    /// nobody has looked. An application without its precondition has no value at all, while what
    /// is undefined otherwise is arbitrary.
    ///
    /// SOUNDNESS: a clause is left out only where one has been reported, so that the member is not
    /// verified.
    pub fn beyond_judgement(&mut self, contract: &Contract) -> Result<Vec<Span>, Stop> {
        let mut leave_it_open = vec![Reason::AssertionFalse, Reason::ReceiverNull];
        let may_be_inside = has_instances(contract);
        if may_be_inside {
            leave_it_open.push(Reason::InsufficientPermission);
        }
        let mut was_ill_formed = false;
        let mut left_out = Vec::new();
        for clause in &contract.postconditions {
            let is_left_out = if self.recall(Recalled::Misapplied(clause.span))? {
                true
            } else if self.is_ill_formed(clause)? {
                was_ill_formed = true;
                !clause.is_pure() || self.is_ill_formed_because(clause.span, &leave_it_open)?
            } else {
                was_ill_formed && may_be_inside && reads_locations(clause)
            };
            if is_left_out {
                self.log.rely_on_report();
                left_out.push(clause.span);
            }
        }
        Ok(left_out)
    }

    /// Tells whether a clause is ill-formed for one of some reasons.
    fn is_ill_formed_because(&mut self, clause: Span, reasons: &[Reason]) -> Result<bool, Stop> {
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

    /// The clauses that were found not to be well-formed.
    pub fn ill_formed(&mut self, clauses: &[Expr]) -> Result<Vec<Span>, Stop> {
        let mut found = Vec::new();
        for clause in clauses {
            if self.is_ill_formed(clause)? {
                found.push(clause.span);
            }
        }
        Ok(found)
    }

    /// Those of them that are framed: what they mean depends on what is known where they are to be
    /// proved.
    pub fn framed_but_ill_formed(&mut self, clauses: &[Expr]) -> Result<Vec<Span>, Stop> {
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
        Ok(if self.is_ill_formed_at(blame.span)? { blame } else { blame.checked() })
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

/// For clauses that were checked where they are declared: some are checked again.
pub fn checked_again(error: ErrorId, again: Vec<Span>) -> impl Fn(&Expr) -> Blame {
    move |clause| {
        let blame = Blame::new(error, clause.span);
        if again.contains(&clause.span) { blame } else { blame.trusted() }
    }
}

/// Tells whether a contract speaks of predicates or wands, which may have locations inside.
fn has_instances(contract: &Contract) -> bool {
    let is_instance = |part: &Expr| {
        let location = match &part.kind {
            ExprKind::Acc { location, .. } => location,
            kind => return matches!(kind, ExprKind::Wand { .. }),
        };
        matches!(location, Location::Predicate { .. })
    };
    contract
        .preconditions
        .iter()
        .chain(&contract.postconditions)
        .any(|clause| clause.any(is_instance))
}

/// Tells whether the value of an expression depends on the heap, itself or by functions.
fn reads_locations(expr: &Expr) -> bool {
    expr.any(|part| matches!(part.kind, ExprKind::FieldRead { .. } | ExprKind::Apply { .. }))
}

/// A proposition that holds where a clause of a contract was found to say something of which
/// nobody knows what it means: locations there is no permission to, negative amounts,
/// quantifiers that are not defined for all values.
fn unframed(terms: &mut Terms) -> Term {
    let symbol = terms.declare_fresh("unframed@contract", &[], Sort::BOOL);
    terms.apply(symbol, &[])
}
