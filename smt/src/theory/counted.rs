//! Counted amounts: products of an amount and an integer. Z3 multiplies them out, and then no
//! longer compares the product with its factors.

use crate::terms::{Term, TermKind, Terms};

/// Compares a product with 0 and with its amount, as its integer compares with 0 and 1. Returns
/// `None` unless the term is a product of a closed amount and an integer.
pub(crate) fn bounds(terms: &mut Terms, product: Term) -> Option<Term> {
    let TermKind::Mul(left, right) = *terms.kind(product) else { return None };
    let (amount, count) = match (terms.kind(left), terms.kind(right)) {
        (_, &TermKind::IntToPerm(count)) => (left, count),
        (&TermKind::IntToPerm(count), _) => (right, count),
        _ => return None,
    };
    if terms.is_open(product) || terms.is_literal(amount) {
        return None;
    }
    let (zero, one) = (terms.int(0), terms.int(1));
    let compared = [
        (terms.le(zero, count), terms.le(Terms::NONE, product)),
        (terms.le(count, zero), terms.le(product, Terms::NONE)),
        (terms.le(one, count), terms.le(amount, product)),
        (terms.le(count, one), terms.le(product, amount)),
    ];
    let compared = compared.map(|(of_count, of_product)| terms.implies(of_count, of_product));
    let all = terms.and(compared);
    let is_amount = terms.le(Terms::NONE, amount);
    Some(terms.implies(is_amount, all))
}
