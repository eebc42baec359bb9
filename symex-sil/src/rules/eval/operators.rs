//! Binary operators, indexing and update, for evaluated operands, with their obligations.

use sil::program::{BinaryOp, Expr, Type};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use symex::findings::blame::{Blame, Reason};
use symex::{Engine, Stop};

/// An operand and its value.
type Operand<'e> = (&'e Expr, Term);

pub(crate) fn binary(
    engine: &mut Engine<'_>,
    op: BinaryOp,
    (left, a): Operand<'_>,
    (right, mut b): Operand<'_>,
    blame: Blame,
) -> Result<Term, Stop> {
    if matches!(op, BinaryOp::IntDiv | BinaryOp::Mod | BinaryOp::PermDiv) {
        b = prove_divisor(engine, b, right, blame)?;
    }
    let terms = &mut engine.terms;
    Ok(match op {
        BinaryOp::Implies => terms.implies(a, b),
        BinaryOp::Eq => terms.eq(a, b),
        BinaryOp::Ne => terms.differs(a, b),
        BinaryOp::Lt => terms.lt(a, b),
        BinaryOp::Le => terms.le(a, b),
        BinaryOp::Gt => terms.gt(a, b),
        BinaryOp::Ge => terms.ge(a, b),
        BinaryOp::Add => terms.add(a, b),
        BinaryOp::Sub => terms.sub(a, b),
        BinaryOp::Mul => {
            let (a, b) = same_numbers(&mut engine.terms, a, b);
            engine.terms.mul(a, b)
        }
        BinaryOp::IntDiv => terms.int_div(a, b),
        BinaryOp::Mod => terms.int_mod(a, b),
        BinaryOp::PermDiv => {
            let (a, b) = (as_perm(&mut engine.terms, a), as_perm(&mut engine.terms, b));
            engine.terms.perm_div(a, b)
        }
        BinaryOp::Append => terms.seq_append(a, b),
        BinaryOp::Union => match left.ty {
            Type::Multiset(_) => terms.multiset_union(a, b),
            _ => terms.set_union(a, b),
        },
        BinaryOp::Intersection => match left.ty {
            Type::Multiset(_) => terms.multiset_intersection(a, b),
            _ => terms.set_intersection(a, b),
        },
        BinaryOp::Setminus => match left.ty {
            Type::Multiset(_) => terms.multiset_difference(a, b),
            _ => terms.set_difference(a, b),
        },
        BinaryOp::Subset => match left.ty {
            Type::Multiset(_) => terms.multiset_subset(a, b),
            _ => terms.set_subset(a, b),
        },
        BinaryOp::In => match right.ty {
            Type::Seq(_) => terms.seq_contains(a, b),
            Type::Multiset(_) => terms.multiset_count(a, b),
            Type::Map(..) => terms.map_contains(a, b),
            _ => terms.set_contains(a, b),
        },
    })
}

fn prove_divisor(
    engine: &mut Engine<'_>,
    divisor: Term,
    source: &Expr,
    blame: Blame,
) -> Result<Term, Stop> {
    let sort = engine.terms.sort(divisor);
    let zero = engine.terms.zero(sort);
    let is_other = |terms: &mut Terms, value| terms.differs(value, zero);
    engine.prove_defined_of(divisor, is_other, blame, Reason::DivisionByZero, source.span)
}

/// Returns `s[i]` or `m[k]`.
pub(crate) fn index(
    engine: &mut Engine<'_>,
    (base, collection): Operand<'_>,
    (index, position): Operand<'_>,
    blame: Blame,
) -> Result<Term, Stop> {
    if matches!(base.ty, Type::Map(..)) {
        let present = |terms: &mut Terms, map| terms.map_contains(position, map);
        let reason = Reason::KeyMissing;
        let map = engine.prove_defined_of(collection, present, blame, reason, index.span)?;
        return Ok(engine.terms.map_lookup(map, position));
    }
    let (collection, position) = prove_in_range(engine, collection, position, index.span, blame)?;
    Ok(engine.terms.seq_at(collection, position))
}

/// Returns `s[i := v]` or `m[k := v]`.
pub(crate) fn updated(
    engine: &mut Engine<'_>,
    (base, collection): Operand<'_>,
    (index, position): Operand<'_>,
    value: Term,
    blame: Blame,
) -> Result<Term, Stop> {
    if matches!(base.ty, Type::Map(..)) {
        return Ok(engine.terms.map_update(collection, position, value));
    }
    let (collection, position) = prove_in_range(engine, collection, position, index.span, blame)?;
    Ok(engine.terms.seq_update(collection, position, value))
}

/// Shows that a sequence has an element at a position. Returns both, or other values with this
/// property.
fn prove_in_range(
    engine: &mut Engine<'_>,
    sequence: Term,
    position: Term,
    at: Span,
    blame: Blame,
) -> Result<(Term, Term), Stop> {
    let zero = engine.terms.int(0);
    let not_negative = |terms: &mut Terms, position| terms.le(zero, position);
    let reason = Reason::IndexNegative;
    let position = engine.prove_defined_of(position, not_negative, blame, reason, at)?;
    let is_longer = |terms: &mut Terms, sequence| {
        let length = terms.seq_len(sequence);
        terms.lt(position, length)
    };
    let reason = Reason::IndexTooLarge;
    let sequence = engine.prove_defined_of(sequence, is_longer, blame, reason, at)?;
    Ok((sequence, position))
}

/// Returns the operand of a fraction or of a mixed product, as an amount.
fn as_perm(terms: &mut Terms, term: Term) -> Term {
    if terms.sort(term) == Sort::INT { terms.int_to_perm(term) } else { term }
}

fn same_numbers(terms: &mut Terms, left: Term, right: Term) -> (Term, Term) {
    if terms.sort(left) == terms.sort(right) {
        (left, right)
    } else {
        (as_perm(terms, left), as_perm(terms, right))
    }
}
