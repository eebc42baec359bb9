//! The theories of sequences, sets, multisets and maps: axioms with triggers, given to the prover
//! when their operators come into use.
//!
//! The axioms are the Viper verifiers' common axiomatisation, as texts (`theory/*.theory`) that
//! [`axioms`](mod@axioms) instantiates at given sorts. An axiom is emitted once all operators of
//! one of its triggers have occurred for its sort, since earlier it could not be instantiated.
//! Operators of emitted axioms count as occurring, since instances contain them. Each product of a
//! counted amount ([`counted`]) has axioms of its own.

mod axioms;
pub(crate) mod counted;
mod forms;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use self::axioms::{Axiom, axioms};
use self::forms::{Form, read};
use crate::terms::{Sort, SortKind, Term, Terms, TheoryOp};

static SEQ: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("theory/seq.theory")));
static RANGE: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("theory/range.theory")));
static INDEX: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("theory/index.theory")));
static SET: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("theory/set.theory")));
static MULTISET: LazyLock<Vec<Form>> =
    LazyLock::new(|| read(include_str!("theory/multiset.theory")));
static MAP: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("theory/map.theory")));

/// The operators in use, and the axioms that still wait for theirs.
#[derive(Default)]
pub(crate) struct Theories {
    /// Operators, each with the sort to which it belongs.
    used: FxHashSet<Use>,
    /// Sorts whose axioms have been made; `None` stands for arithmetic on indices.
    instances: FxHashSet<Option<Sort>>,
    waiting: Vec<Axiom>,
}

/// An operator of the theory of a sort.
pub(crate) type Use = (TheoryOp, Option<Sort>);

impl Theories {
    /// Notes that an operator occurs. Returns the axioms that have become useful.
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
        if self.instances.insert(subject) {
            self.waiting.extend(instance(terms, subject));
        }
        let used = &self.used;
        self.waiting
            .extract_if(.., |axiom| axiom.is_ready(|needed| used.contains(&needed)))
            .map(|axiom| axiom.formula)
            .collect()
    }
}

/// Returns all axioms of the theory of a sort, or those of arithmetic on indices.
fn instance(terms: &mut Terms, sort: Option<Sort>) -> Vec<Axiom> {
    let common = [("Int", Sort::INT), ("Bool", Sort::BOOL)];
    let Some(sort) = sort else { return axioms(terms, &INDEX, &common) };
    let own = ("Self", sort);
    let with = |sorts: &[_]| [&[own], sorts, &common].concat();
    match *terms.sort_kind(sort) {
        SortKind::Seq(element) => {
            let mut all = axioms(terms, &SEQ, &with(&[("E", element)]));
            if element == Sort::INT {
                all.extend(axioms(terms, &RANGE, &with(&[])));
            }
            all
        }
        SortKind::Set(element) => axioms(terms, &SET, &with(&[("E", element)])),
        SortKind::Multiset(element) => axioms(terms, &MULTISET, &with(&[("E", element)])),
        SortKind::Map(key, value) => {
            let (keys, values) = (terms.set_sort(key), terms.set_sort(value));
            let sets = [("K", key), ("V", value), ("Set[K]", keys), ("Set[V]", values)];
            axioms(terms, &MAP, &with(&sets))
        }
        ref other => unreachable!("{other:?} has no theory"),
    }
}

/// Returns the sort to whose theory an operator belongs; `None` for arithmetic on indices.
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
