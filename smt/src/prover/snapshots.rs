//! Snapshots in Z3.
//!
//! One datatype has the constructors `unit`, `pair`, one for each of the basic sorts, and
//! `other(sort, payload)` for values of all further sorts. For each such sort S a function `inject`
//! into the uninterpreted sort of payloads has the left inverse `project`: ∀x:S {inject(x)}.
//! project(inject(x)) = x. So sorts may turn up at any time, wrappers are injective, snapshots of
//! different sorts differ, and pairs are well founded.
//!
//! SOUNDNESS: there is no axiom wrap(unwrap(s)) = s. The axiom would make every sort as large as
//! the datatype, which is inconsistent for Bool.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use z3::ast::{Bool, Dynamic, Int};
use z3::{DatatypeAccessor, DatatypeBuilder, DatatypeSort, DatatypeVariant, FuncDecl};

use super::workspace::Vocabulary;
use crate::terms::Sort;

/// The positions of the constructors.
const UNIT: usize = 0;
const PAIR: usize = 1;
const OTHER: usize = 6;

/// Returns the constructor for values of a basic sort.
fn basic(sort: Sort) -> Option<usize> {
    match sort {
        Sort::BOOL => Some(2),
        Sort::INT => Some(3),
        Sort::PERM => Some(4),
        Sort::REF => Some(5),
        _ => None,
    }
}

/// The datatype of snapshots, and the functions for values of the sorts without a constructor.
pub(super) struct Snapshots {
    vocabulary: Rc<Vocabulary>,
    wrappers: FxHashMap<Sort, Wrapper>,
}

struct Wrapper {
    /// Tells the sorts apart.
    tag: Int,
    inject: Rc<FuncDecl>,
    project: Rc<FuncDecl>,
}

/// Declares the datatype; `reference` is the sort of references.
pub(super) fn declare(reference: &z3::Sort) -> DatatypeSort {
    let payload = z3::Sort::uninterpreted(Snapshots::PAYLOAD.into());
    let of = |sort: z3::Sort| DatatypeAccessor::Sort(sort);
    let snap = || DatatypeAccessor::Datatype("Snap".into());
    DatatypeBuilder::new("Snap")
        .variant("snap.unit", vec![])
        .variant("snap.pair", vec![("snap.first", snap()), ("snap.second", snap())])
        .variant("snap.of_bool", vec![("snap.bool", of(z3::Sort::bool()))])
        .variant("snap.of_int", vec![("snap.int", of(z3::Sort::int()))])
        .variant("snap.of_perm", vec![("snap.perm", of(z3::Sort::real()))])
        .variant("snap.of_ref", vec![("snap.ref", of(reference.clone()))])
        .variant(
            "snap.other",
            vec![("snap.sort", of(z3::Sort::int())), ("snap.payload", of(payload))],
        )
        .finish()
}

impl Snapshots {
    /// The name of the sort of payloads.
    pub(super) const PAYLOAD: &str = "snap.Payload";

    /// The datatype as SMT-LIB text.
    pub(super) const DECLARATION: &str = "(declare-sort snap.Payload 0)\n\
        (declare-datatypes ((Snap 0)) (((snap.unit) (snap.pair (snap.first Snap) (snap.second Snap)) \
        (snap.of_bool (snap.bool Bool)) (snap.of_int (snap.int Int)) (snap.of_perm (snap.perm Real)) \
        (snap.of_ref (snap.ref Ref)) (snap.other (snap.sort Int) (snap.payload snap.Payload)))))";

    pub(super) fn new(vocabulary: Rc<Vocabulary>) -> Snapshots {
        Snapshots { vocabulary, wrappers: FxHashMap::default() }
    }

    pub(super) fn sort(&self) -> z3::Sort {
        self.vocabulary.snapshots.sort.clone()
    }

    fn variant(&self, position: usize) -> &DatatypeVariant {
        &self.vocabulary.snapshots.variants[position]
    }

    fn test(&self, position: usize, snapshot: &Dynamic) -> Bool {
        let answer = self.variant(position).tester.apply(&[snapshot]);
        answer.as_bool().expect("testers are Boolean")
    }

    fn part(&self, position: usize, accessor: usize, snapshot: &Dynamic) -> Dynamic {
        self.variant(position).accessors[accessor].apply(&[snapshot])
    }

    pub(super) fn unit(&self) -> Dynamic {
        self.variant(UNIT).constructor.apply(&[])
    }

    pub(super) fn pair(&self, first: &Dynamic, second: &Dynamic) -> Dynamic {
        self.variant(PAIR).constructor.apply(&[first, second])
    }

    pub(super) fn first(&self, snapshot: &Dynamic) -> Dynamic {
        self.part(PAIR, 0, snapshot)
    }

    pub(super) fn second(&self, snapshot: &Dynamic) -> Dynamic {
        self.part(PAIR, 1, snapshot)
    }

    pub(super) fn is_pair(&self, snapshot: &Dynamic) -> Dynamic {
        self.test(PAIR, snapshot).into()
    }

    /// Tells whether values of the sort can be wrapped already.
    pub(super) fn can_wrap(&self, sort: Sort) -> bool {
        basic(sort).is_some() || self.wrappers.contains_key(&sort)
    }

    pub(super) fn add_wrapper(&mut self, sort: Sort, inject: Rc<FuncDecl>, project: Rc<FuncDecl>) {
        let tag = Int::from_u64(sort.index() as u64);
        self.wrappers.insert(sort, Wrapper { tag, inject, project });
    }

    pub(super) fn wrap(&self, sort: Sort, value: &Dynamic) -> Dynamic {
        if let Some(position) = basic(sort) {
            return self.variant(position).constructor.apply(&[value]);
        }
        let wrapper = &self.wrappers[&sort];
        let payload = wrapper.inject.apply(&[value]);
        self.variant(OTHER).constructor.apply(&[&wrapper.tag, &payload])
    }

    pub(super) fn unwrap(&self, sort: Sort, snapshot: &Dynamic) -> Dynamic {
        match basic(sort) {
            Some(position) => self.part(position, 0, snapshot),
            None => self.wrappers[&sort].project.apply(&[&self.part(OTHER, 1, snapshot)]),
        }
    }

    /// Tells whether the snapshot is in the image of `wrap`.
    pub(super) fn is_wrapped(&self, sort: Sort, snapshot: &Dynamic) -> Dynamic {
        if let Some(position) = basic(sort) {
            return self.test(position, snapshot).into();
        }
        let rewrapped = self.wrap(sort, &self.unwrap(sort, snapshot));
        snapshot.eq(rewrapped).into()
    }
}
