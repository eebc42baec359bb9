//! The locks of a thread of a Chalice program, and the threads that it has started: for direct
//! execution.
//!
//! The held locks are those of some moment, the *base*, and the known changes since. So each object
//! is known by name, and no formula about all objects carries the locks from one moment to the
//! next.

use std::rc::Rc;

use sil::program::MethodId;
use smt::terms::Term;

use crate::state::heap::Heap;

/// Values of objects, the last one last. For other objects the base tells the value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Rc<Vec<(Term, Term)>>);

impl Changes {
    /// Lists all changes, the last one last.
    pub fn iter(&self) -> impl Iterator<Item = (Term, Term)> + '_ {
        self.0.iter().copied()
    }

    /// Gives an object a value, which becomes the last one.
    pub fn set(&mut self, object: Term, value: Term) {
        let all = Rc::make_mut(&mut self.0);
        all.retain(|&(known, _)| known != object);
        all.push((object, value));
    }

    /// Forgets all changes.
    pub fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// The number of messages that may be received from channels, negative if some have to be sent. A
/// channel may have several entries under different names: its balance is their sum. Other channels
/// have the balance zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balances(Changes);

impl Balances {
    /// Lists all balances, the last one last.
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

/// The locks that a thread holds, and the levels of the held objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Locks {
    /// The moment from which changes are counted; `None` if nothing was held.
    pub base: Option<Term>,
    /// The held objects, for writing or, after a downgrade, for reading.
    pub held: Changes,
    /// The objects held for reading.
    pub read: Changes,
    /// The moment from which changes of levels are counted.
    pub level_base: Term,
    /// The levels of objects. They mean something for held objects.
    pub levels: Changes,
}

/// The changes of locks that the present method of a thread may make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowed {
    /// Tells whether its body changes some.
    pub changes: bool,
    /// Tells whether it may give another level to any held object.
    pub may_relevel: bool,
    /// The objects that may get another level, if not all may.
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

/// A thread that was started elsewhere, whose postcondition uses this state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forked {
    pub token: Term,
    pub method: MethodId,
}

/// A state of some earlier moment that assertions may mention. In it an object was acquired or
/// left, or a thread was forked.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The object, or the token.
    pub of: Term,
    /// The heap then. If `is_own` does not hold, the heap is a part that some assertion has told:
    /// at least this much was held, of each location by itself.
    pub heap: Heap,
    pub is_own: bool,
    /// The level of the object then.
    pub level: Option<Term>,
}

/// States, the last one last.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Moments(Rc<Vec<Kept>>);

impl Moments {
    /// Lists all states, the last one last.
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

    /// Forgets all states.
    pub fn clear(&mut self) {
        self.0 = Rc::default();
    }
}

/// The states that a thread remembers.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Memory {
    /// The states in which the thread acquired what it holds.
    pub acquired: Moments,
    /// The states in which it left objects, by a release or a share. The first `outdated` ones may
    /// not be the last of their object.
    pub left: Moments,
    pub outdated: usize,
    /// The states in which threads were forked, as far as assertions have told them.
    pub forked: Moments,
}

/// The debts that count for the wait level. Channels that are owed a message count by them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Counted {
    /// None, as in contracts.
    #[default]
    Nobodys,
    /// The debts of the present method, for claims about it.
    Own,
    /// The debts of its callers too, in execution. They are unknown; this moment names them.
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
    /// Tells whether amounts are those that a reader of a monitor gets.
    pub is_reader: bool,
    /// The thread to whose start `old` refers, if no heap is known.
    pub forked: Option<Forked>,
    pub memory: Memory,
}
