//! Expressions in place of others, in the parsed tree.

use front::grow_stack;

use super::{Domain, Expr, ExprKind, StateKind};

impl Expr {
    /// Calls `visit` on each direct subexpression.
    pub(crate) fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        let mut all = |parts: &mut [Option<&mut Box<Self>>]| {
            parts.iter_mut().flatten().for_each(|part| grow_stack(|| visit(part)));
        };
        match &mut self.kind {
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
            ExprKind::BackPointers { receiver, .. } => all(&mut [receiver.as_mut()]),
            ExprKind::Apply { receiver, arguments, .. } => {
                all(&mut [receiver.as_mut()]);
                arguments.iter_mut().for_each(visit);
            }
            ExprKind::Index { sequence: left, index: right }
            | ExprKind::Binary { left, right, .. }
            | ExprKind::Range { from: left, to: right }
            | ExprKind::Unfolding { access: left, body: right } => {
                all(&mut [Some(left), Some(right)]);
            }
            ExprKind::Slice { sequence, from, to } => {
                all(&mut [Some(sequence), from.as_mut(), to.as_mut()]);
            }
            ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Seq(parts)
            | ExprKind::Set(parts) => parts.iter_mut().for_each(visit),
            ExprKind::Conditional { condition, then, otherwise } => {
                all(&mut [Some(condition), Some(then), Some(otherwise)]);
            }
            ExprKind::Access { target: first, amount, .. }
            | ExprKind::Credit { channel: first, amount } => {
                all(&mut [Some(first), amount.as_mut()]);
            }
            ExprKind::Eval { subject, state, body } => {
                all(&mut [Some(subject)]);
                if let StateKind::Fork(fork) = state {
                    fork.receiver.iter_mut().chain(&mut fork.arguments).for_each(&mut *visit);
                }
                grow_stack(|| visit(body));
            }
            ExprKind::Quantified { domain, body, .. } => match domain {
                Domain::Type(_) => all(&mut [Some(body)]),
                Domain::In(range) | Domain::Over(range) => all(&mut [Some(range), Some(body)]),
            },
        }
    }

    /// Tells whether the expression or one inside it satisfies `claim`.
    pub(crate) fn any(&self, claim: &mut dyn FnMut(&Self) -> bool) -> bool {
        // The walk is that of the one above, on a copy that nobody sees.
        fn look(e: &mut Expr, claim: &mut dyn FnMut(&Expr) -> bool, found: &mut bool) {
            *found = *found || claim(e);
            if !*found {
                grow_stack(|| e.for_each_child_mut(&mut |child| look(child, claim, found)));
            }
        }
        let mut found = false;
        look(&mut self.clone(), claim, &mut found);
        found
    }
}
