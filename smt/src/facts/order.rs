//! The order of integers: x ≤ y + n, for terms x and y that are no sums with a literal.
//!
//! A path through such facts gives their consequences: x ≤ y + 2 and y ≤ z - 3 give x ≤ z - 1.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

/// Stands for the number 0: literals are distances from it. No term of sort Int is this one.
const ZERO: Term = Terms::FALSE;

/// Longer searches are left to the prover.
const STEPS: usize = 200;

/// Edges from x to y of length n, by x.
#[derive(Default)]
pub(super) struct Order(FxHashMap<Term, Vec<(Term, i64)>>);

/// A number as the sum of a term and a literal.
type Sum = (Term, i64);

impl Order {
    /// `x ≤ y + n` as an edge; `None` if a literal is too large.
    pub(super) fn edge(terms: &Terms, left: Term, right: Term) -> Option<(Term, Term, i64)> {
        let ((x, m), (y, n)) = (split(terms, left)?, split(terms, right)?);
        Some((x, y, n.checked_sub(m)?))
    }

    pub(super) fn insert(&mut self, (from, to, length): (Term, Term, i64)) {
        self.0.entry(from).or_default().push((to, length));
    }

    /// Takes back the latest edge from a term.
    pub(super) fn remove_latest(&mut self, from: Term) {
        self.0.get_mut(&from).and_then(Vec::pop).expect("inserted before");
    }

    /// Tells whether left ≤ right + slack is known.
    pub(super) fn is_at_most(&self, terms: &Terms, left: Term, right: Term, slack: i64) -> bool {
        debug_assert_eq!(terms.sort(left), Sort::INT, "only integers are ordered here");
        let Some((from, to, length)) = Order::edge(terms, left, right) else { return false };
        let Some(length) = length.checked_add(slack) else { return false };
        if from == to {
            return length >= 0;
        }
        let mut best: FxHashMap<Term, i64> = FxHashMap::default();
        best.insert(from, 0);
        let mut pending = vec![from];
        for _ in 0..STEPS {
            let Some(at) = pending.pop() else { return false };
            let here = best[&at];
            let natural = (at == ZERO && is_natural(terms, to)).then_some((to, 0));
            let edges = self.0.get(&at).map_or(&[][..], Vec::as_slice);
            for (next, step) in edges.iter().copied().chain(natural) {
                let Some(there) = here.checked_add(step) else { continue };
                if best.get(&next).is_some_and(|&known| known <= there) {
                    continue;
                }
                if next == to && there <= length {
                    return true;
                }
                best.insert(next, there);
                pending.push(next);
            }
        }
        false
    }
}

fn split(terms: &Terms, term: Term) -> Option<Sum> {
    match terms.kind(term) {
        TermKind::Int(value) => Some((ZERO, value.to_i64()?)),
        &TermKind::Add(rest, last) => match terms.kind(last) {
            TermKind::Int(value) => Some((rest, value.to_i64()?)),
            _ => Some((term, 0)),
        },
        _ => Some((term, 0)),
    }
}

/// Lengths and numbers of elements are never negative.
fn is_natural(terms: &Terms, term: Term) -> bool {
    use TheoryOp::{MapCard, MultisetCard, MultisetCount, SeqLength, SetCard};
    matches!(
        terms.kind(term),
        TermKind::Theory(SeqLength | SetCard | MultisetCard | MultisetCount | MapCard, ..)
    )
}
