//! Walks over expressions of the parsed tree, to read them or to put others in their places.

use front::grow_stack;

use super::{Domain, Expr, ExprKind, StateKind};

/// Makes a walk over the direct subexpressions, for shared or for mutable trees.
macro_rules! walk {
    ($walk:ident $iter:ident $as_ref:ident [$($mutable:tt)?]) => {
            /// Calls `visit` on each direct subexpression.
            pub(crate) fn $walk(&$($mutable)? self, visit: &mut dyn FnMut(&$($mutable)? Self)) {
                let mut all = |parts: &mut [Option<&$($mutable)? Box<Self>>]| {
                    parts.iter_mut().flatten().for_each(|part| grow_stack(|| visit(part)));
                };
                match &$($mutable)? self.kind {
                    ExprKind::Int(_)
                    | ExprKind::Bool(_)
                    | ExprKind::Null
                    | ExprKind::String(_)
                    | ExprKind::This
                    | ExprKind::Result
                    | ExprKind::WaitLevel
                    | ExprKind::LockBottom
                    | ExprKind::Name(_)
                    | ExprKind::Rd
                    | ExprKind::Assigned(_)
                    | ExprKind::Nil(_)
                    | ExprKind::Empty(_)
                    | ExprKind::Any => {}
                    ExprKind::Select { receiver: only, .. }
                    | ExprKind::AllFields(only)
                    | ExprKind::Elements(only)
                    | ExprKind::Unary { operand: only, .. }
                    | ExprKind::Holds { target: only, .. }
                    | ExprKind::Old(only)
                    | ExprKind::Length(only) => all(&mut [Some(only)]),
                    ExprKind::BackPointers { receiver, .. } => all(&mut [receiver.$as_ref()]),
                    ExprKind::Apply { receiver, arguments, .. } => {
                        all(&mut [receiver.$as_ref()]);
                        arguments.$iter().for_each(visit);
                    }
                    ExprKind::Index { sequence: left, index: right }
                    | ExprKind::Binary { left, right, .. }
                    | ExprKind::Range { from: left, to: right }
                    | ExprKind::Unfolding { access: left, body: right } => {
                        all(&mut [Some(left), Some(right)]);
                    }
                    ExprKind::Slice { sequence, from, to } => {
                        all(&mut [Some(sequence), from.$as_ref(), to.$as_ref()]);
                    }
                    ExprKind::And(parts)
                    | ExprKind::Or(parts)
                    | ExprKind::Seq(parts)
                    | ExprKind::Set(parts) => parts.$iter().for_each(visit),
                    ExprKind::Conditional { condition, then, otherwise } => {
                        all(&mut [Some(condition), Some(then), Some(otherwise)]);
                    }
                    ExprKind::Access { target: first, amount, .. }
                    | ExprKind::Credit { channel: first, amount } => {
                        all(&mut [Some(first), amount.$as_ref()]);
                    }
                    ExprKind::Eval { subject, state, body } => {
                        all(&mut [Some(subject)]);
                        if let StateKind::Fork(fork) = state {
                            fork.receiver.$iter().chain(&$($mutable)? fork.arguments).for_each(&mut *visit);
                        }
                        grow_stack(|| visit(body));
                    }
                    ExprKind::Quantified { domain, body, .. } => match domain {
                        Domain::Type(_) => all(&mut [Some(body)]),
                        Domain::In(range) | Domain::Over(range) => all(&mut [Some(range), Some(body)]),
                    },
                }
            }
    };
}

impl Expr {
    walk!(for_each_child iter as_ref []);
    walk!(for_each_child_mut iter_mut as_mut [mut]);

    /// Tells whether the expression or one inside it satisfies `claim`.
    pub(crate) fn any(&self, claim: &mut dyn FnMut(&Self) -> bool) -> bool {
        if claim(self) {
            return true;
        }
        let mut found = false;
        grow_stack(|| self.for_each_child(&mut |child| found = found || child.any(claim)));
        found
    }
}
