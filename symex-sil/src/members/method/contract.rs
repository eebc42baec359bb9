//! The clauses of a contract that are judged where a method uses it.

use sil::program::{Contract, Expr, ExprKind, Location};
use sil::source::Span;

use super::Driver;
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::findings::log::Recalled;

impl Driver<'_, '_> {
    /// Returns the postconditions to which a body cannot be held.
    ///
    /// Ill-formed postconditions are left out if they mention permission, or have a meaning only if
    /// another claim holds. If the contract has instances, an unreadable location may be inside of
    /// one, where it has a value. Then unframed postconditions are left out, too, and later ones
    /// that read locations. An application without its precondition has no value at all, while
    /// other undefined expressions have an arbitrary one.
    ///
    /// SOUNDNESS: a clause is left out only if one has been reported, so that the member is not
    /// verified.
    pub(super) fn beyond_judgement(&mut self, contract: &Contract) -> Result<Vec<Span>, Stop> {
        let mut leave_it_open = vec![Reason::AssertionFalse, Reason::ReceiverNull];
        let may_be_inside = has_instances(contract);
        if may_be_inside {
            leave_it_open.push(Reason::InsufficientPermission);
        }
        let mut was_ill_formed = false;
        let mut left_out = Vec::new();
        for clause in &contract.postconditions {
            let is_left_out = if self.sil.recall(Recalled::Misapplied(clause.span))? {
                true
            } else if self.sil.is_ill_formed(clause.span)? {
                was_ill_formed = true;
                !clause.is_pure() || self.sil.is_ill_formed_because(clause.span, &leave_it_open)?
            } else {
                was_ill_formed && may_be_inside && reads_locations(clause)
            };
            if is_left_out {
                self.sil.log.rely_on_report();
                left_out.push(clause.span);
            }
        }
        Ok(left_out)
    }
}

/// Blames clauses that were checked where they are declared. Some of them are checked again.
pub(super) fn checked_again(error: ErrorId, again: Vec<Span>) -> impl Fn(&Expr) -> Blame {
    move |clause| {
        let blame = Blame::new(error, clause.span);
        if again.contains(&clause.span) { blame } else { blame.trusted() }
    }
}

/// Tells whether a contract mentions predicates or wands, which may have locations inside.
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

/// Tells whether the value of an expression depends on the heap, directly or by functions.
fn reads_locations(expr: &Expr) -> bool {
    expr.any(|part| matches!(part.kind, ExprKind::FieldRead { .. } | ExprKind::Apply { .. }))
}
