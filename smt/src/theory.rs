//! The theories of sequences, sets, multisets and maps: axioms with triggers, given to the prover
//! when the operators that they are about come into use.
//!
//! The axioms are the Viper verifiers' common axiomatisation. An axiom is emitted once all
//! operators of one of its triggers have occurred for its sort: before that it could not be
//! instantiated. Operators of emitted axioms count as occurring, since instances contain them. Of
//! counted amounts ([`counted`]) each product has axioms of its own.

mod axioms;
pub(crate) mod counted;
mod map;
mod multiset;
mod seq;
mod set;

use rustc_hash::FxHashSet;

use self::axioms::{Axiom, Axioms};
use crate::terms::{Sort, SortKind, Term, Terms, TheoryOp};

/// Which operators are in use, and which axioms still wait for theirs.
#[derive(Default)]
pub(crate) struct Theories {
    /// Operators with the sort they belong to.
    used: FxHashSet<Use>,
    /// Sorts whose axioms have been made.
    instances: FxHashSet<Sort>,
    waiting: Vec<Axiom>,
}

/// An operator of the theory of a sort.
pub(crate) type Use = (TheoryOp, Option<Sort>);

impl Theories {
    /// Notes that an operator occurs; the answer is the axioms that have become useful.
    pub(crate) fn require(
        &mut self,
        terms: &mut Terms,
        op: TheoryOp,
        args: &[Sort],
        result: Sort,
    ) -> Vec<Term> {
        let subject = subject(op, args, result);
        if !self.used.insert((op, subject)) {
            return Vec::new();
        }
        if let Some(sort) = subject
            && self.instances.insert(sort)
        {
            self.waiting.extend(instance(terms, sort));
        }
        if subject.is_none() {
            self.waiting.extend(seq::index_arithmetic(terms, op));
        }
        let used = &self.used;
        self.waiting
            .extract_if(.., |axiom| axiom.is_ready(|needed| used.contains(&needed)))
            .map(|axiom| axiom.formula)
            .collect()
    }
}

/// Returns all axioms of the theory of a sort.
fn instance(terms: &mut Terms, sort: Sort) -> Vec<Axiom> {
    let kind = terms.sort_kind(sort).clone();
    let mut axioms = Axioms::new(terms);
    match kind {
        SortKind::Seq(element) => seq::axioms(&mut axioms, sort, element),
        SortKind::Set(element) => set::axioms(&mut axioms, sort, element),
        SortKind::Multiset(element) => multiset::axioms(&mut axioms, sort, element),
        SortKind::Map(key, value) => map::axioms(&mut axioms, sort, key, value),
        other => unreachable!("{other:?} has no theory"),
    }
    axioms.finish()
}

/// Returns the sort whose theory an operator belongs to; none for arithmetic on indices.
pub(crate) fn subject(op: TheoryOp, args: &[Sort], result: Sort) -> Option<Sort> {
    use TheoryOp::*;
    match op {
        IndexAdd | IndexSub => None,
        SeqEmpty | SeqSingleton | SeqAppend | SeqUpdate | SeqTake | SeqDrop | SeqRange
        | SetEmpty | SetSingleton | SetAdd | SetUnion | SetIntersection | SetDifference
        | MultisetEmpty | MultisetSingleton | MultisetAdd | MultisetUnion
        | MultisetIntersection | MultisetDifference | MapEmpty | MapUpdate => Some(result),
        SeqContains | SeqContainsTrigger | SetContains | MultisetCount => Some(args[1]),
        SeqLength | SeqIndex | SeqPosition | SeqEqual | SeqDifferAt | SetCard | SetSubset
        | SetDisjoint | SetEqual | SetDiffer | MultisetCard | MultisetSubset | MultisetDisjoint
        | MultisetEqual | MultisetDiffer | MapDomain | MapValues | MapLookup | MapCard
        | MapEqual | MapDisjoint | MapKeyOf => Some(args[0]),
    }
}
