//! Variables of quantified permissions that have one value.
//!
//! They are found once the permissions are evaluated ([`remove_fixed_variables`]). `forall i, r ::
//! r == xs[i] && c ==> acc(r.f, p)` gives permission to the places `xs[i].f`, and so does `r in
//! Set(xs[i])`. With `r`, the receiver is a bare variable: it has no term to be matched, and
//! inverse functions of `i` would be known for no location. With `xs[i]`, it is a receiver like any
//! other.
//!
//! SOUNDNESS: where the condition holds the variable is that value, so both forms are about the
//! same locations, and they are injective together. Terms have a value everywhere. The expressions
//! were proved to be defined before, for all values of the variables.

use smt::terms::{Substitution, Term, TermKind, Terms, TheoryOp};

use crate::state::quantified::Access;

/// Returns the only value of a variable that meets a condition, if one of its conjuncts gives it.
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

/// Replaces variables by their values until nothing has to be inverted, or no condition gives a
/// value. Variables that are no arguments come first. If the others can stay, the location itself
/// tells their values.
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
        access.substitute(terms, &map);
        access.variables.retain(|&other| other != variable);
    }
}
