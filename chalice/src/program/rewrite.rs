//! Expressions in place of others.

use front::grow_stack;

use super::{Domain, Expr, ExprKind};

impl Expr {
    /// Replaces the outermost expressions for which `by` has another one; what replaces them is not
    /// looked through again.
    pub fn replace(&mut self, by: &mut dyn FnMut(&Self) -> Option<Self>) {
        if let Some(other) = by(self) {
            *self = other;
            return;
        }
        grow_stack(|| self.for_each_child_mut(&mut |child| child.replace(by)));
    }

    /// Calls `visit` on each direct subexpression, those in permission amounts included.
    fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match &mut self.kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::String(_)
            | ExprKind::This
            | ExprKind::Result
            | ExprKind::WaitLevel
            | ExprKind::LockBottom
            | ExprKind::Local(_)
            | ExprKind::Assigned(_) => {}
            ExprKind::FieldRead { receiver: only, .. }
            | ExprKind::Unary { operand: only, .. }
            | ExprKind::Length(only)
            | ExprKind::BackPointers { receiver: only, .. }
            | ExprKind::Holds { target: only, .. }
            | ExprKind::Old(only) => visit(only),
            ExprKind::Apply { receiver, arguments, .. } => {
                visit(receiver);
                arguments.iter_mut().for_each(visit);
            }
            ExprKind::Binary { left, right, .. }
            | ExprKind::Range { from: left, to: right }
            | ExprKind::Index { sequence: left, index: right }
            | ExprKind::Implies { guard: left, body: right } => {
                visit(left);
                visit(right);
            }
            ExprKind::Seq(all) | ExprKind::Set(all) | ExprKind::And(all) | ExprKind::Or(all) => {
                all.iter_mut().for_each(visit);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            ExprKind::Unfolding { access, body } => {
                access.for_each_child_mut(visit);
                visit(body);
            }
            ExprKind::Slice { sequence, from, to } => {
                visit(sequence);
                from.iter_mut().chain(to).for_each(|bound| visit(bound));
            }
            ExprKind::Quantified { domain, body, .. } => {
                if let Domain::Collection(collection) = domain {
                    visit(collection);
                }
                visit(body);
            }
            ExprKind::Access(access) => access.for_each_child_mut(visit),
            ExprKind::Credit { channel, amount } => {
                visit(channel);
                amount.iter_mut().for_each(|amount| visit(amount));
            }
            ExprKind::Eval { state, body } => {
                state.for_each_child_mut(visit);
                visit(body);
            }
        }
    }
}
