//! Accessibility assertions and permission amounts.

use front::grow_stack;

use super::{ClassId, Expr, ExprKind, FieldId, FieldRef, PredicateId, Program};
use crate::source::Span;

/// `acc(target, amount)` in any of its forms.
///
/// Two are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct Access {
    /// The location or instance.
    pub target: AccessTarget,
    /// How much of it.
    pub amount: Permission,
    /// Is it a predicate named without `acc` or `rd`? The amount is then [`PermissionKind::Full`].
    pub is_bare: bool,
    /// The whole assertion.
    pub span: Span,
}

/// The location or instance that permission is given to.
#[derive(Debug, Clone, PartialEq)]
pub enum AccessTarget {
    /// `e.f`, also `e.mu` and `tk.joinable`.
    Field {
        /// The object.
        receiver: Expr,
        /// Its field.
        field: FieldRef,
    },
    /// `e.P`
    Predicate {
        /// The object.
        receiver: Expr,
        /// The predicate.
        predicate: PredicateId,
    },
    /// `e.*`: every declared field of the class of `e`; neither `mu` nor predicates.
    AllFields {
        /// The object.
        receiver: Expr,
        /// Its class.
        class: ClassId,
    },
    /// `s[*].f`: the field of every object in the sequence, once per object.
    ElementsField {
        /// A sequence of references.
        elements: Expr,
        /// The field.
        field: FieldRef,
    },
    /// `s[*].P`: the predicate of every object in the sequence, once per object.
    ElementsPredicate {
        /// A sequence of references.
        elements: Expr,
        /// The predicate.
        predicate: PredicateId,
    },
    /// `s[*].*`: every declared field of every object in the sequence.
    ElementsAllFields {
        /// A sequence of references.
        elements: Expr,
        /// The class of its elements.
        class: ClassId,
    },
    /// `e.~(C.f)`: the set of back pointers of `e` through the tracked field `f`.
    BackPointers {
        /// The object pointed to.
        receiver: Expr,
        /// The class of the objects that point.
        class: ClassId,
        /// Their tracked field.
        field: FieldId,
    },
}

/// A permission amount with its place.
///
/// An amount that is not written has the place of its assertion. Two are equal if they say the
/// same, wherever they are.
#[derive(Debug, Clone)]
pub struct Permission {
    /// How much.
    pub kind: PermissionKind,
    /// Where it is written.
    pub span: Span,
}

/// Permission amounts. Expressions in them are evaluated even where the amount does not depend on
/// their value.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionKind {
    /// All of it: `acc(x.f)`.
    Full,
    /// `n` hundredths: `acc(x.f, n)`.
    Percentage(Box<Expr>),
    /// The read fraction of the context, the same for all occurrences of one contract: `rd(x.f)`,
    /// `acc(x.f, rd)`.
    AbstractRead,
    /// `n` counting permissions, each smaller than any fraction: `rd(x.f, n)`, `acc(x.f, rd(n))`.
    Epsilons(Box<Expr>),
    /// Some positive amount, chosen anew at every evaluation: `rd*(x.f)`.
    Star,
    /// The read fraction used in bodies of predicates: `rd(o.P)`; the operand is the object.
    PredicateRead(Box<Expr>),
    /// The read fraction used in monitor invariants: `rd(m)`, `m` an object.
    MonitorRead(Box<Expr>),
    /// The read fraction used in where clauses of channels: `rd(ch)`.
    ChannelRead(Box<Expr>),
    /// The read fraction chosen by the fork that created the token: `rd(tk)`.
    TokenRead(Box<Expr>),
    /// `p + q`
    Add(Box<Permission>, Box<Permission>),
    /// `p - q`
    Sub(Box<Permission>, Box<Permission>),
    /// `n * p` or `p * n` with an integer `n`.
    Scale {
        /// The integer.
        factor: Box<Expr>,
        /// The amount that is multiplied.
        amount: Box<Permission>,
    },
}

/// How counting permissions occur in an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Not at all: it is made of fractions.
    Nowhere,
    /// Nothing else does: no fraction can be taken from it.
    Alone,
    /// Beside fractions, of which there may be none in some states.
    Beside,
}

impl PermissionKind {
    /// Tells whether it is certainly all of it.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Full => true,
            Self::Percentage(percent) => {
                matches!(&percent.kind, ExprKind::Int(value) if *value == 100.into())
            }
            _ => false,
        }
    }
}

impl Program {
    /// Tells whether opening or making an instance divides counting permissions: a share is taken
    /// of those in the predicate, or counting permissions are taken of a predicate that contains
    /// less than everything of a location.
    pub fn divides_counted(&self, access: &Access) -> bool {
        let AccessTarget::Predicate { predicate, .. } = &access.target else { return false };
        let counts = |amount: &Permission| amount.counted() != Counted::Nowhere;
        let (mut parts_count, mut has_shares) = (false, false);
        self.predicates[*predicate].body.for_each(&mut |part| {
            if let ExprKind::Access(part) = &part.kind {
                parts_count |= counts(&part.amount);
                has_shares |= !part.amount.kind.is_whole();
            }
        });
        parts_count && !access.amount.kind.is_whole() || has_shares && counts(&access.amount)
    }
}

impl Permission {
    /// Returns how counting permissions occur in it.
    pub fn counted(&self) -> Counted {
        let (mut counts, mut others) = (false, false);
        self.for_each_amount(&mut |part| match part {
            PermissionKind::Epsilons(_) => counts = true,
            PermissionKind::Add(..) | PermissionKind::Sub(..) | PermissionKind::Scale { .. } => {}
            _ => others = true,
        });
        match (counts, others) {
            (false, _) => Counted::Nowhere,
            (true, false) => Counted::Alone,
            (true, true) => Counted::Beside,
        }
    }
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        self.target == other.target && self.amount == other.amount
    }
}

impl PartialEq for Permission {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind)
    }
}
