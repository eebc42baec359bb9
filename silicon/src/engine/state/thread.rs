//! What a thread of a Chalice program holds, and which threads it has started: for direct execution ([`crate::direct`]).
//!
//! What is held is what was held at some moment, its *base*, and what is known to have changed since. So it is known of every
//! object by name, and nothing has to be said of all objects to carry it from one moment to the next.

use std::rc::Rc;

use sil::program::MethodId;
use smt::terms::Term;

use crate::engine::state::heap::Heap;

/// Values of objects, the last one last; of what is not among them, the base tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes(Rc<Vec<(Term, Term)>>);

impl Changes {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.0.iter().copied()
    }

    pub(crate) fn set(&mut self, object: Term, value: Term) {
        let all = Rc::make_mut(&mut self.0);
        all.retain(|&(known, _)| known != object);
        all.push((object, value));
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// How many messages may be received from channels, fewer than none where some have to be sent. A channel may be there under
/// several names: its balance is the sum. Of all others it is zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Balances(Changes);

impl Balances {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.0.iter()
    }

    pub(crate) fn of(&self, channel: Term) -> Option<Term> {
        self.iter().find(|&(known, _)| known == channel).map(|(_, amount)| amount)
    }

    pub(crate) fn set(&mut self, channel: Term, amount: Term) {
        self.0.set(channel, amount);
    }
}

/// The locks that a thread holds, and the levels of what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    /// The moment that the changes are counted from; `None`: nothing was held.
    pub(crate) base: Option<Term>,
    /// Whether an object is held, for writing or, after a downgrade, for reading.
    pub(crate) held: Changes,
    /// Whether an object is held for reading.
    pub(crate) read: Changes,
    /// The moment that changes of levels are counted from.
    pub(crate) level_base: Term,
    /// The levels of objects. They mean something for what is held.
    pub(crate) levels: Changes,
}

/// What the method that a thread is in may change of its locks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// Whether its body changes any.
    pub(crate) changes: bool,
    /// Whether it may give any object that is held another level.
    pub(crate) may_relevel: bool,
    /// The objects that it may give another level if it may not do so with all.
    pub(crate) releveled: Rc<[Term]>,
}

/// A thread that has been started on this path.
#[derive(Clone, Debug)]
pub(crate) struct Fork {
    pub(crate) token: Term,
    /// The heap before its precondition was given.
    pub(crate) heap: Heap,
}

/// A thread that was started elsewhere, where its postcondition is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forked {
    pub(crate) token: Term,
    pub(crate) method: MethodId,
}

/// A state of some earlier moment, of which assertions may still speak: that in which an object was acquired or left, or that before
/// a fork.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// The object, or the token.
    pub(crate) of: Term,
    /// What was there or, if `is_own` does not hold, what somebody has told of it: at least that much was held, of each location
    /// by itself.
    pub(crate) heap: Heap,
    pub(crate) is_own: bool,
    /// The level of the object then.
    pub(crate) level: Option<Term>,
}

/// States, the last one last.
#[derive(Clone, Default, Debug)]
pub(crate) struct Moments(Rc<Vec<Kept>>);

impl Moments {
    pub(crate) fn all(&self) -> &[Kept] {
        &self.0
    }

    pub(crate) fn push(&mut self, kept: Kept) {
        Rc::make_mut(&mut self.0).push(kept);
    }

    pub(crate) fn set(&mut self, position: usize, kept: Kept) {
        Rc::make_mut(&mut self.0)[position] = kept;
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// The states that a thread remembers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Memory {
    /// In which it acquired what it holds.
    pub(crate) acquired: Moments,
    /// In which it left objects, by a release or a share. Of the first `outdated` ones nobody knows whether they are the last of
    /// their object.
    pub(crate) left: Moments,
    pub(crate) outdated: usize,
    /// In which threads were forked, as somebody has told.
    pub(crate) forked: Moments,
}

/// What is known of threads. Nothing where there is none: in functions and predicates, and in SIL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) locks: Option<Locks>,
    /// The locks in the state of `old`.
    pub(crate) old_locks: Option<Locks>,
    pub(crate) allowed: Allowed,
    /// What the method may receive and has to send.
    pub(crate) credits: Balances,
    /// Whether channels that are owed a message count for the wait level: in what is executed, not in contracts.
    pub(crate) counts_debts: bool,
    /// Whether amounts are those that a reader of a monitor gets.
    pub(crate) is_reader: bool,
    pub(crate) forks: Rc<Vec<Fork>>,
    /// The thread whose start `old` refers to, where no heap is known.
    pub(crate) forked: Option<Forked>,
    pub(crate) memory: Memory,
}
