//! The meaning of an assertion's names where it is lowered.
//!
//! One Chalice assertion is lowered at several places: a precondition in the contract, at every
//! fork, and where the read fraction of a call is chosen. [`Env`] holds what differs between them.

use std::rc::Rc;

use chalice::program::{LocalId, MethodId};
use rustc_hash::FxHashMap;
use sil::source::Name;
use sil::syntax::Expr;

/// The meaning of names, of `rd`, of `old` and of the lock state.
#[derive(Clone)]
pub(crate) struct Env {
    /// The object of which `this` speaks.
    pub(crate) this: Expr,
    /// Variables that stand for something else, such as parameters at a fork.
    pub(crate) replaced: Rc<FxHashMap<LocalId, Expr>>,
    /// The amount of the abstract `rd`.
    pub(crate) read: ReadAmount,
    /// The state of `old`.
    pub(crate) old: OldState,
    /// The locks of the thread.
    pub(crate) locks: Locks,
    /// The locks in the state of `old`.
    pub(crate) old_locks: Locks,
    /// The use of the assertion.
    pub(crate) side: Side,
    /// The recorded state in which the heap is read, if not in the present one.
    pub(crate) then: Option<Recorded>,
}

/// A recorded state.
#[derive(Clone)]
pub(crate) struct Recorded {
    /// Its number.
    pub(crate) state: Expr,
    /// Is it an obligation that what is read was readable then?
    pub(crate) is_checked: bool,
}

/// The amount of the abstract `rd`.
#[derive(Clone)]
pub(crate) enum ReadAmount {
    /// A given fraction.
    Fraction(Expr),
    /// Any positive amount: in functions, where amounts do not matter.
    Any,
    /// The fraction common to predicates, monitors and channels.
    Common,
}

/// The state that `old` refers to.
#[derive(Clone)]
pub(crate) enum OldState {
    /// No state at all: in predicates.
    Nowhere,
    /// The state at the start of the method.
    Entry,
    /// A labelled state.
    Label(Name),
    /// Nothing that still exists: values that tokens of this method carry, in the order of their
    /// layout's `old` expressions.
    Stored(MethodId, Rc<[Expr]>),
    /// The recorded state of this number.
    Recorded(Expr),
    /// The present state.
    Now,
}

/// The knowledge about the locks of the evaluating thread.
#[derive(Clone)]
pub(crate) enum Locks {
    /// No lock state at hand: in predicates, and in functions that do not ask for it.
    Unknown,
    /// A new thread: it holds nothing. It has seen of objects what the thread had seen that starts
    /// it; these are the states in which that one last released them.
    Nothing { released: Option<Expr> },
    /// The objects that are held by whoever applies the present function.
    Held(Held),
    /// The values of these expressions.
    State(LockState),
}

/// The objects that a thread holds.
#[derive(Clone)]
pub(crate) struct Held {
    /// The locks that the thread holds, for writing or (after a downgrade) for reading.
    pub(crate) all: Expr,
    /// The locks that the thread holds for reading; absent in programs without read locks.
    pub(crate) read: Option<Expr>,
}

/// The locks that a thread holds.
#[derive(Clone)]
pub(crate) struct LockState {
    /// Objects it holds, for writing or (after a downgrade) for reading.
    pub(crate) held: Expr,
    /// Objects it holds for reading; absent in programs without read locks.
    pub(crate) read_held: Option<Expr>,
    /// Lock levels of the objects it holds.
    pub(crate) levels: Expr,
    /// The states in which objects were acquired; absent if nothing is said of them.
    pub(crate) acquired: Option<Expr>,
    /// The states in which objects were last released; absent if nothing is said of them.
    pub(crate) released: Option<Expr>,
    /// Messages it may still receive from each channel; absent if credits do not occur.
    pub(crate) credits: Option<Expr>,
    /// Channels that the callers of the method owe messages, where these count, too.
    pub(crate) owed_by_callers: Option<Expr>,
}

/// The use of an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The assertion is part of a contract: one party is given it, the other must show it.
    Both,
    /// The assertion is given.
    Inhaled,
    /// The assertion must be shown, and somebody else is given it.
    Exhaled,
    /// The assertion must be shown.
    Asserted,
}

impl Locks {
    /// Returns the states in which objects were last released, if anything is said of them.
    pub(crate) fn released(&self) -> Option<&Expr> {
        match self {
            Self::Unknown | Self::Held(_) => None,
            Self::Nothing { released } => released.as_ref(),
            Self::State(locks) => locks.released.as_ref(),
        }
    }

    /// Returns the states in which objects were acquired that are held, if anything is said of
    /// them.
    pub(crate) fn acquired(&self) -> Option<&Expr> {
        match self {
            Self::Unknown | Self::Nothing { .. } | Self::Held(_) => None,
            Self::State(locks) => locks.acquired.as_ref(),
        }
    }
}

impl Env {
    /// The same, where the wait level is that of what is held: in postconditions and loop
    /// invariants, which hand over the debts that they name.
    pub(crate) fn without_debts(&self) -> Self {
        let held = |locks: &Locks| match locks {
            Locks::State(locks) => Locks::State(LockState { credits: None, ..locks.clone() }),
            other => other.clone(),
        };
        Self { locks: held(&self.locks), old_locks: held(&self.old_locks), ..self.clone() }
    }

    /// The same, with the lock state of `old`.
    pub(crate) fn in_old(&self) -> Self {
        Self { locks: self.old_locks.clone(), ..self.clone() }
    }

    /// The same, for another use of the assertion.
    pub(crate) fn on(&self, side: Side) -> Self {
        Self { side, ..self.clone() }
    }

    /// The same about a recorded state, where nothing is known of locks.
    pub(crate) fn then(&self, state: Expr, is_checked: bool) -> Self {
        Self {
            then: Some(Recorded { state, is_checked }),
            locks: Locks::Unknown,
            old_locks: Locks::Unknown,
            old: OldState::Nowhere,
            ..self.clone()
        }
    }

    /// The same about another object: for the body of a predicate or monitor.
    pub(crate) fn about(&self, this: Expr) -> Self {
        Self { this, ..self.clone() }
    }
}
