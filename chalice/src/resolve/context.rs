//! Where an expression stands, and what may be said there.

/// The forms that an expression may mention.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// `old`: there is an earlier state.
    pub(super) two_state: bool,
    /// Permissions, predicates and credits: the expression is an assertion in positive position.
    pub(super) spec: bool,
    /// Is it inside a monitor invariant or predicate, which may not speak about who holds locks?
    pub(super) in_monitor: bool,
    /// Ghost variables and fields.
    pub(super) ghost: bool,
}

impl Context {
    /// Values of code that runs.
    pub(super) const VALUE: Self =
        Self { two_state: false, spec: false, in_monitor: false, ghost: false };
    /// Values of ghost code.
    pub(super) const GHOST: Self = Self { ghost: true, ..Self::VALUE };
    /// Preconditions, where clauses, operands of fold and unfold.
    pub(super) const ONE_STATE: Self = Self { spec: true, ..Self::GHOST };
    /// Postconditions, loop invariants, asserted and assumed assertions.
    pub(super) const TWO_STATE: Self = Self { two_state: true, ..Self::ONE_STATE };
    /// Bodies of predicates.
    pub(super) const PREDICATE: Self = Self { in_monitor: true, ..Self::ONE_STATE };
    /// Monitor invariants.
    pub(super) const MONITOR: Self = Self { in_monitor: true, ..Self::TWO_STATE };
    /// Lists of locks and bounds in the lock order.
    pub(super) const LOCKS: Self = Self { two_state: true, ..Self::GHOST };

    /// Returns the context of a value that is assigned to a target.
    pub(super) fn for_target(is_ghost: bool) -> Self {
        if is_ghost { Self::GHOST } else { Self::VALUE }
    }

    /// The same without permissions: operands, arguments, conditions.
    pub(super) fn value(self) -> Self {
        Self { spec: false, ..self }
    }

    /// The same without an earlier state.
    pub(super) fn one_state(self) -> Self {
        Self { two_state: false, ..self }
    }
}
