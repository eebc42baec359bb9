//! Variables of quantified permissions that have one value.
//!
//! They are found once the permissions are evaluated ([`remove_fixed_variables`]):
//! `forall i, r :: r == xs[i] && c ==> acc(r.f, p)` gives permission to the places `xs[i].f`, and
//! so does `r in Set(xs[i])`. Said of `r` the receiver is a bare variable: nothing of it can be
//! matched, and inverse functions of `i` would be known of no location. Said of `xs[i]` it is a
//! receiver like any other.
//!
//! SOUNDNESS: where the condition holds the variable is that value, so both forms speak of the same
//! locations, and they are injective together. Terms have a value everywhere; whether the
//! expressions are defined was proved before, for all values of the variables.

use smt::terms::{Substitution, Term, TermKind, Terms, TheoryOp};

use crate::state::quantified::Access;

/// Returns the only value of a variable that meets a condition, if one of its conjuncts says it.
fn value_under(terms: &Terms, condition: Term, variable: Term) -> Option<Term> {
    terms.conjuncts(condition).into_iter().find_map(|conjunct| {
        let value = match *terms.kind(conjunct) {
            TermKind::Eq(left, right) if left == variable => right,
            TermKind::Eq(left, right) if right == variable => left,
            TermKind::Theory(TheoryOp::SetContains | TheoryOp::SeqContains, ref operands, _)
                if operands[0] == variable =>
            {
                match terms.kind(operands[1]) {
                    TermKind::Theory(
                        TheoryOp::SetSingleton | TheoryOp::SeqSingleton,
                        elements,
                        _,
                    ) => elements[0],
                    _ => return None,
                }
            }
            _ => return None,
        };
        (!terms.contains(value, variable)).then_some(value)
    })
}

/// Puts values for variables until nothing has to be inverted, or no condition gives a value.
/// Those that are no argument themselves come first: where the others can stay, the location
/// itself says what they are.
pub(crate) fn remove_fixed_variables(terms: &mut Terms, access: &mut Access) {
    while access.variables.iter().any(|variable| !access.arguments.contains(variable)) {
        let (arguments, others): (Vec<Term>, Vec<Term>) =
            access.variables.iter().partition(|variable| access.arguments.contains(variable));
        let fixed = others
            .into_iter()
            .chain(arguments)
            .find_map(|variable| Some((variable, value_under(terms, access.guard, variable)?)));
        let Some((variable, value)) = fixed else { return };
        let map: Substitution = [(variable, value)].into_iter().collect();
        let mut put = |term: &mut Term| *term = terms.substitute(*term, &map);
        access.arguments.iter_mut().for_each(&mut put);
        access.triggers.iter_mut().flatten().for_each(&mut put);
        put(&mut access.guard);
        put(&mut access.amount);
        access.variables.retain(|&other| other != variable);
    }
}
