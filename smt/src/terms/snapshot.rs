//! Constructors of snapshots: `unit`, pairs, and one wrapper for each sort of values.
//!
//! Snapshots are a datatype, so constructors are injective and differ from one another. There is no
//! axiom that makes every snapshot a value of every sort: that would identify too much (SOUNDNESS).

use super::{Sort, Term, TermKind, Terms};

impl Terms {
    /// Returns the snapshot of an assertion without permissions.
    pub fn unit(&mut self) -> Term {
        self.intern(TermKind::Unit, Sort::SNAP)
    }

    /// Returns the snapshot of a separating conjunction. `(fst s, snd s)` is `s`.
    pub fn pair(&mut self, first: Term, second: Term) -> Term {
        debug_assert!(self.sort(first) == Sort::SNAP && self.sort(second) == Sort::SNAP);
        if let (TermKind::First(s), TermKind::Second(t)) = (self.kind(first), self.kind(second))
            && s == t
        {
            return *s;
        }
        self.intern(TermKind::Pair(first, second), Sort::SNAP)
    }

    pub fn fst(&mut self, snapshot: Term) -> Term {
        match *self.kind(snapshot) {
            TermKind::Pair(first, _) => first,
            _ => self.intern(TermKind::First(snapshot), Sort::SNAP),
        }
    }

    pub fn snd(&mut self, snapshot: Term) -> Term {
        match *self.kind(snapshot) {
            TermKind::Pair(_, second) => second,
            _ => self.intern(TermKind::Second(snapshot), Sort::SNAP),
        }
    }

    /// Makes the claim that a snapshot is a pair. It is assumed wherever a pair is taken apart.
    pub fn is_pair(&mut self, snapshot: Term) -> Term {
        match self.kind(snapshot) {
            TermKind::Pair(..) => Self::TRUE,
            TermKind::Unit | TermKind::Wrap(_) => Self::FALSE,
            _ => self.intern(TermKind::IsPair(snapshot), Sort::BOOL),
        }
    }

    /// Returns ⌈t⌉: the snapshot that holds a value, by the constructor for its sort. A snapshot
    /// holds itself.
    pub fn snap_wrap(&mut self, term: Term) -> Term {
        if self.sort(term) == Sort::SNAP {
            return term;
        }
        match *self.kind(term) {
            TermKind::Unwrap(snapshot, _) => snapshot,
            _ => self.intern(TermKind::Wrap(term), Sort::SNAP),
        }
    }

    /// Returns ⌊s⌋: the value of the given sort that a snapshot holds.
    pub fn snap_unwrap(&mut self, snapshot: Term, sort: Sort) -> Term {
        if sort == Sort::SNAP {
            return snapshot;
        }
        match *self.kind(snapshot) {
            TermKind::Wrap(value) if self.sort(value) == sort => value,
            _ => self.intern(TermKind::Unwrap(snapshot, sort), sort),
        }
    }

    /// Makes the claim that a snapshot holds a value of the sort. It is assumed wherever a value is
    /// unwrapped.
    pub fn is_wrapped(&mut self, snapshot: Term, sort: Sort) -> Term {
        if sort == Sort::SNAP {
            return Self::TRUE;
        }
        match *self.kind(snapshot) {
            TermKind::Wrap(value) => self.bool(self.sort(value) == sort),
            TermKind::Unit | TermKind::Pair(..) => Self::FALSE,
            _ => self.intern(TermKind::IsWrapped(snapshot, sort), Sort::BOOL),
        }
    }

    /// Makes the claim that a snapshot is `unit`.
    pub fn is_unit(&mut self, snapshot: Term) -> Term {
        let unit = self.unit();
        self.identical(snapshot, unit)
    }

    /// Makes the claim that two snapshots are equal; they are different terms.
    pub(super) fn snapshots_eq(&mut self, left: Term, right: Term) -> Term {
        match (self.kind(left), self.kind(right)) {
            (&TermKind::Pair(a, b), &TermKind::Pair(c, d)) => {
                let first = self.identical(a, c);
                if first == Self::FALSE {
                    return first;
                }
                let second = self.identical(b, d);
                self.and([first, second])
            }
            (&TermKind::Wrap(a), &TermKind::Wrap(b)) => {
                if self.sort(a) == self.sort(b) {
                    self.identical(a, b)
                } else {
                    Self::FALSE
                }
            }
            (TermKind::Unit | TermKind::Pair(..), TermKind::Wrap(_))
            | (TermKind::Wrap(_), TermKind::Unit | TermKind::Pair(..))
            | (TermKind::Unit, TermKind::Pair(..))
            | (TermKind::Pair(..), TermKind::Unit) => Self::FALSE,
            _ => self.intern_eq(left, right),
        }
    }
}
