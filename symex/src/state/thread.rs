//! The locks of a thread of a Chalice program, and the threads that it has started: for direct
//! execution.
//!
//! The held locks are those of some moment, its *base*, and the known changes since. So each object
//! is known by name, and no formula about all objects carries the locks from one moment to the
//! next.

use std::rc::Rc;

use sil::program::MethodId;
use smt::terms::Term;

use crate::state::heap::Heap;

/// Values of objects, the last one last; of what is not among them, the base tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Rc<Vec<(Term, Term)>>);

impl Changes {
    /// Lists all of them, the last one last.
    pub fn iter(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.0.iter().copied()
    }

    /// Gives an object a value, which becomes the last one.
    pub fn set(&mut self, object: Term, value: Term) {
        let all = Rc::make_mut(&mut self.0);
        all.retain(|&(known, _)| known != object);
        all.push((object, value));
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// How many messages may be received from channels, fewer than none where some have to be sent. A
/// channel may be there under several names: its balance is the sum. Of all others it is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balances(Changes);

impl Balances {
    /// Lists all of them, the last one last.
    pub fn iter(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.0.iter()
    }

    /// Returns the balance of a channel, by this name.
    pub fn of(&self, channel: Term) -> Option<Term> {
        self.iter().find(|&(known, _)| known == channel).map(|(_, amount)| amount)
    }

    /// Gives a channel another balance.
    pub fn set(&mut self, channel: Term, amount: Term) {
        self.0.set(channel, amount);
    }
}

/// The locks that a thread holds, and the levels of what it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Locks {
    /// The moment that the changes are counted from; `None`: nothing was held.
    pub base: Option<Term>,
    /// The held objects, for writing or, after a downgrade, for reading.
    pub held: Changes,
    /// The objects held for reading.
    pub read: Changes,
    /// The moment that changes of levels are counted from.
    pub level_base: Term,
    /// The levels of objects. They mean something for what is held.
    pub levels: Changes,
}

/// The changes of locks that the present method of a thread may make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowed {
    /// Its body changes some.
    pub changes: bool,
    /// It may give another level to any object that is held.
    pub may_relevel: bool,
    /// The objects that it may give another level if it may not do so with all.
    pub releveled: Rc<[Term]>,
}

/// A thread that has been started on this path.
#[derive(Clone, Debug, PartialEq)]
pub struct Fork {
    pub token: Term,
    /// The heap before its precondition was given.
    pub heap: Heap,
    pub method: MethodId,
    /// The receiver and the arguments.
    pub actuals: Rc<[Term]>,
}

/// A thread that was started elsewhere, where its postcondition is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forked {
    pub token: Term,
    pub method: MethodId,
}

/// A state of some earlier moment, of which assertions may still speak: that in which an object was
/// acquired or left, or that before a fork.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The object, or the token.
    pub of: Term,
    /// The heap then or, if `is_own` does not hold, the part that somebody has told: at least that
    /// much was held, of each location by itself.
    pub heap: Heap,
    pub is_own: bool,
    /// The level of the object then.
    pub level: Option<Term>,
}

/// States, the last one last.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Moments(Rc<Vec<Kept>>);

impl Moments {
    /// Lists all of them, the last one last.
    pub fn all(&self) -> &[Kept] {
        &self.0
    }

    /// Adds a state, as the last one.
    pub fn push(&mut self, kept: Kept) {
        Rc::make_mut(&mut self.0).push(kept);
    }

    /// Replaces a state.
    pub fn set(&mut self, position: usize, kept: Kept) {
        Rc::make_mut(&mut self.0)[position] = kept;
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// The states that a thread remembers.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Memory {
    /// In which it acquired what it holds.
    pub acquired: Moments,
    /// In which it left objects, by a release or a share. Of the first `outdated` ones nobody knows
    /// whether they are the last of their object.
    pub left: Moments,
    pub outdated: usize,
    /// In which threads were forked, as somebody has told.
    pub forked: Moments,
}

/// The debts that count for the wait level, which makes channels that are owed a message count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Counted {
    /// None, as in contracts.
    #[default]
    Nobodys,
    /// Those of the present method, where something is claimed of it.
    Own,
    /// Those of its callers, too, where something is executed. Nothing is known of them; this
    /// moment names them.
    All(Term),
}

/// The knowledge about threads. It is empty where there are none: in functions and predicates, and
/// in SIL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    pub locks: Option<Locks>,
    /// The locks in the state of `old`.
    pub old_locks: Option<Locks>,
    pub allowed: Allowed,
    /// The balances in the state of `old`.
    pub old_credits: Balances,
    /// The debts that count for the wait level.
    pub counted: Counted,
    /// Amounts are those that a reader of a monitor gets.
    pub is_reader: bool,
    /// The thread whose start `old` refers to, where no heap is known.
    pub forked: Option<Forked>,
    pub memory: Memory,
}
