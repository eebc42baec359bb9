//! Walking over expressions.

use super::{Access, AccessTarget, Domain, EvalState, Expr, ExprKind, Permission, PermissionKind};
use crate::stack::grow_stack;

impl Expr {
    /// Calls `visit` on each direct subexpression from left to right, those in permission amounts included.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
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
            | ExprKind::Old(only)
            | ExprKind::Length(only)
            | ExprKind::BackPointers { receiver: only, .. }
            | ExprKind::Holds { target: only, .. } => visit(only),
            ExprKind::Apply { receiver, arguments, .. } => {
                visit(receiver);
                arguments.iter().for_each(visit);
            }
            ExprKind::Binary { left, right, .. }
            | ExprKind::Implies { guard: left, body: right }
            | ExprKind::Range { from: left, to: right }
            | ExprKind::Index { sequence: left, index: right } => {
                visit(left);
                visit(right);
            }
            ExprKind::And(all) | ExprKind::Or(all) | ExprKind::Seq(all) | ExprKind::Set(all) => {
                all.iter().for_each(visit);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            ExprKind::Unfolding { access, body } => {
                access.for_each_child(visit);
                visit(body);
            }
            ExprKind::Slice { sequence, from, to } => {
                visit(sequence);
                for bound in from.iter().chain(to) {
                    visit(bound);
                }
            }
            ExprKind::Quantified { domain, body, .. } => {
                if let Domain::Collection(domain) = domain {
                    visit(domain);
                }
                visit(body);
            }
            ExprKind::Access(access) => access.for_each_child(visit),
            ExprKind::Credit { channel, amount } => {
                visit(channel);
                if let Some(amount) = amount {
                    visit(amount);
                }
            }
            ExprKind::Eval { state, body } => {
                state.for_each_child(visit);
                visit(body);
            }
        }
    }

    /// Does the expression or one inside it satisfy `claim`?
    pub fn any(&self, claim: &mut dyn FnMut(&Expr) -> bool) -> bool {
        if claim(self) {
            return true;
        }
        let mut found = false;
        grow_stack(|| self.for_each_child(&mut |child| found = found || child.any(claim)));
        found
    }
}

impl Access {
    /// Calls `visit` on the receiver and on the expressions of the amount.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.target {
            AccessTarget::Field { receiver: place, .. }
            | AccessTarget::Predicate { receiver: place, .. }
            | AccessTarget::AllFields { receiver: place, .. }
            | AccessTarget::ElementsField { elements: place, .. }
            | AccessTarget::ElementsAllFields { elements: place, .. }
            | AccessTarget::BackPointers { receiver: place, .. } => visit(place),
        }
        self.amount.for_each_child(visit);
    }
}

impl Permission {
    /// Calls `visit` on the expressions of the amount.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            PermissionKind::Full | PermissionKind::AbstractRead | PermissionKind::Star => {}
            PermissionKind::Percentage(amount)
            | PermissionKind::Epsilons(amount)
            | PermissionKind::PredicateRead(amount)
            | PermissionKind::MonitorRead(amount)
            | PermissionKind::ChannelRead(amount)
            | PermissionKind::TokenRead(amount) => visit(amount),
            PermissionKind::Add(left, right) | PermissionKind::Sub(left, right) => {
                grow_stack(|| left.for_each_child(visit));
                grow_stack(|| right.for_each_child(visit));
            }
            PermissionKind::Scale { factor, amount } => {
                visit(factor);
                grow_stack(|| amount.for_each_child(visit));
            }
        }
    }
}

impl EvalState {
    /// Calls `visit` on the expressions that name the state.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Acquire(target) | Self::Release(target) => visit(target),
            Self::Fork { token, receiver, arguments, .. } => {
                visit(token);
                visit(receiver);
                arguments.iter().flatten().for_each(visit);
            }
        }
    }
}
