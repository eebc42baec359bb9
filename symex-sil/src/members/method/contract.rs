//! The clauses of a contract that are judged where a method uses it.

use sil::program::{Contract, Expr, ExprKind, Location};
use sil::source::Span;

use crate::rules::Sil;
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::findings::log::Recalled;

impl Sil<'_, '_> {
    /// Returns the postconditions that a body cannot be held to. These are those that
    /// are not well-formed and speak of permission, or make sense only if something else holds. And
    /// where there are instances, what cannot be read may be inside of one, where it has a value:
    /// so it is, too, with what is not framed, and with what reads locations behind that, where
    /// nobody has looked. An application without its precondition has no value at all, while what
    /// is undefined otherwise is arbitrary.
    ///
    /// SOUNDNESS: a clause is left out only where one has been reported, so that the member is not
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
            let is_left_out = if self.recall(Recalled::Misapplied(clause.span))? {
                true
            } else if self.is_ill_formed(clause.span)? {
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
}

/// Blames clauses that were checked where they are declared: some are checked again.
pub(super) fn checked_again(error: ErrorId, again: Vec<Span>) -> impl Fn(&Expr) -> Blame {
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
