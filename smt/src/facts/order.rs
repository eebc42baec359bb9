//! The order of integers: x ≤ y + n, for terms x and y that are no sums with a literal.
//!
//! A path through such facts gives their consequences: x ≤ y + 2 and y ≤ z - 3 give x ≤ z - 1.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

/// Stands for the number 0: literals are distances from it. No term of sort Int is this one.
const ZERO: Term = Terms::FALSE;

/// Longer searches are left to the prover.
const STEPS: usize = 2_000;

/// A number as the sum of a term and a literal.
type Sum = (Term, i64);

/// The order of terms, as far as it is known.
///
/// PERFORMANCE: terms whose difference is known form a tree. A chain of updates costs no search,
/// and new edges join roots only. A root with edges keeps them when it gets a parent, and two more
/// edges stand for the equation.
#[derive(Default)]
pub(super) struct Order {
    /// Edges from x to y of length n, by x.
    edges: FxHashMap<Term, Vec<(Term, i64)>>,
    /// The number of edges that lead to a term.
    incoming: FxHashMap<Term, u32>,
    /// The sum that a term is known to equal. 0 has none.
    parents: FxHashMap<Term, Sum>,
    /// The number of terms below a root, itself included; one if it is missing.
    sizes: FxHashMap<Term, u32>,
}

/// A change, to be undone.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Edge { from: Term, to: Term },
    Parent { of: Term, is: Term },
}

impl Order {
    /// Learns `left ≤ right + slack`. There is no change if a literal is too large.
    pub(super) fn relate(
        &mut self,
        terms: &Terms,
        left: Term,
        right: Term,
        slack: i64,
    ) -> Option<Change> {
        let (from, to, length) = self.edge(terms, left, right)?;
        Some(self.insert(from, to, length.checked_add(slack)?))
    }

    /// Learns `left = right`.
    pub(super) fn equate(&mut self, terms: &Terms, left: Term, right: Term) -> Vec<Change> {
        // left ≤ right is x ≤ y + n here, so x = y + n.
        let Some((x, y, n)) = self.edge(terms, left, right) else { return Vec::new() };
        let Some(back) = n.checked_neg() else { return Vec::new() };
        if x == y {
            return Vec::new();
        }
        let (size_of_x, size_of_y) = (self.size(x), self.size(y));
        let (below, above, offset) = if x != ZERO && (y == ZERO || size_of_x <= size_of_y) {
            (x, y, n)
        } else {
            (y, x, back)
        };
        let mut changes = Vec::new();
        let has_edges = self.edges.get(&below).is_some_and(|edges| !edges.is_empty())
            || self.incoming.get(&below).is_some_and(|&count| count > 0);
        if has_edges {
            changes.extend([self.insert(x, y, n), self.insert(y, x, back)]);
        }
        self.sizes.insert(above, size_of_x + size_of_y);
        self.parents.insert(below, (above, offset));
        changes.push(Change::Parent { of: below, is: above });
        changes
    }

    fn size(&self, root: Term) -> u32 {
        self.sizes.get(&root).copied().unwrap_or(1)
    }

    fn insert(&mut self, from: Term, to: Term, length: i64) -> Change {
        self.edges.entry(from).or_default().push((to, length));
        *self.incoming.entry(to).or_default() += 1;
        Change::Edge { from, to }
    }

    /// Takes back the latest change.
    pub(super) fn undo(&mut self, change: Change) {
        match change {
            Change::Edge { from, to } => {
                self.edges.get_mut(&from).and_then(Vec::pop).expect("inserted before");
                *self.incoming.get_mut(&to).expect("inserted before") -= 1;
            }
            Change::Parent { of, is } => {
                self.parents.remove(&of);
                let below = self.size(of);
                *self.sizes.get_mut(&is).expect("joined before") -= below;
            }
        }
    }

    /// Returns x, y and n of `x ≤ y + n`, for roots x and y; `None` if a literal is too large.
    fn edge(&self, terms: &Terms, left: Term, right: Term) -> Option<(Term, Term, i64)> {
        let (x, m) = self.root(split(terms, left)?)?;
        let (y, n) = self.root(split(terms, right)?)?;
        Some((x, y, n.checked_sub(m)?))
    }

    /// Returns the same number as the sum of a root and a literal.
    fn root(&self, (mut root, mut sum): Sum) -> Option<Sum> {
        while let Some(&(parent, offset)) = self.parents.get(&root) {
            (root, sum) = (parent, sum.checked_add(offset)?);
        }
        Some((root, sum))
    }

    /// Tells whether left ≤ right + slack is known.
    pub(super) fn is_at_most(&self, terms: &Terms, left: Term, right: Term, slack: i64) -> bool {
        debug_assert_eq!(terms.sort(left), Sort::INT, "only integers are ordered here");
        let Some((from, to, length)) = self.edge(terms, left, right) else { return false };
        let Some(length) = length.checked_add(slack) else { return false };
        if from == to {
            return length >= 0;
        }
        // 0 ≤ y, as an edge from 0 to the root of y.
        let natural = split(terms, right)
            .filter(|&(term, _)| is_natural(terms, term))
            .and_then(|(term, _)| self.root((term, 0)));
        // Most questions are about terms that nothing leads to.
        if natural.is_none() && self.incoming.get(&to).is_none_or(|&count| count == 0) {
            return false;
        }
        let mut best: FxHashMap<Term, i64> = FxHashMap::default();
        best.insert(from, 0);
        let mut pending = vec![from];
        for _ in 0..STEPS {
            let Some(at) = pending.pop() else { return false };
            let here = best[&at];
            let natural = natural.filter(|_| at == ZERO);
            let edges = self.edges.get(&at).map_or(&[][..], Vec::as_slice);
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

/// Tells whether a term is a length or a number of elements, which is never negative.
fn is_natural(terms: &Terms, term: Term) -> bool {
    use TheoryOp::{MapCard, MultisetCard, MultisetCount, SeqLength, SetCard};
    matches!(
        terms.kind(term),
        TermKind::Theory(SeqLength | SetCard | MultisetCard | MultisetCount | MapCard, ..)
    )
}
