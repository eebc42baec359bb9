//! Sorts: the types of terms (engine sorts, not source types).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A sort: an index into the sorts of one [`Terms`](super::Terms). Equal structure has the same
/// index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Sort(pub(super) u32);

impl Sort {
    pub const BOOL: Sort = Sort(0);
    pub const INT: Sort = Sort(1);
    /// Permission amounts: exact rationals.
    pub const PERM: Sort = Sort(2);
    pub const REF: Sort = Sort(3);
    /// Snapshots of assertions.
    pub const SNAP: Sort = Sort(4);

    /// The sorts every arena starts with, in the order of the constants above.
    pub(super) const BUILT_IN: [SortKind; 5] =
        [SortKind::Bool, SortKind::Int, SortKind::Perm, SortKind::Ref, SortKind::Snap];

    /// Returns the position of the sort in its arena; stable, small, and unique there.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of a [`Sort`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SortKind {
    Bool,
    Int,
    Perm,
    Ref,
    Snap,
    Seq(Sort),
    Set(Sort),
    Multiset(Sort),
    /// Key sort and value sort.
    Map(Sort, Sort),
    /// An uninterpreted sort: instances of domains, and the engine's own (field value maps,
    /// snapshot maps, permission maps, wand snapshots), told apart by name.
    User {
        name: Arc<str>,
        args: Box<[Sort]>,
    },
    /// A sort given as SMT-LIB text, such as `(_ BitVec 8)`.
    Backend(Arc<str>),
}
