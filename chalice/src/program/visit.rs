//! Walking over expressions, to read them or to put others in their places.

use front::grow_stack;

use super::{
    Access, AccessTarget, Domain, EvalState, Expr, ExprKind, LocalId, Permission, PermissionKind,
};

/// When, and in which state, a part of an expression is evaluated, seen from the expression.
#[derive(Debug, Clone, Copy)]
pub enum Reached<'e> {
    /// Whenever the expression is, and in its state.
    Always,
    /// If a condition has a value.
    If(&'e Expr, bool),
    /// If all parts before it have a value.
    Behind(&'e [Expr], bool),
    /// With a predicate opened.
    Opened(&'e Access),
    /// For each choice of variables.
    Each(&'e [LocalId], &'e Domain),
    /// In an earlier state.
    Earlier,
}

impl Expr {
    /// Calls `visit` on each direct subexpression as [`Self::for_each_child`] does, and says when it
    /// is evaluated. What a condition is comes before what it decides.
    pub fn for_each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr, Reached<'e>)) {
        match &self.kind {
            ExprKind::Old(body) => visit(body, Reached::Earlier),
            ExprKind::And(all) => visit_sequence(all, true, visit),
            ExprKind::Or(all) => visit_sequence(all, false, visit),
            ExprKind::Implies { guard, body } => {
                visit(guard, Reached::Always);
                visit(body, Reached::If(guard, true));
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                visit(condition, Reached::Always);
                visit(then, Reached::If(condition, true));
                visit(otherwise, Reached::If(condition, false));
            }
            ExprKind::Unfolding { access, body } => {
                access.for_each_child(&mut |child| visit(child, Reached::Always));
                visit(body, Reached::Opened(access));
            }
            ExprKind::Quantified { variables, domain, body, .. } => {
                match domain {
                    Domain::Collection(collection) => visit(collection, Reached::Always),
                    Domain::Type(_) => {}
                }
                visit(body, Reached::Each(variables, domain));
            }
            ExprKind::Eval { state, body } => {
                state.for_each_child(&mut |child| visit(child, Reached::Always));
                visit(body, Reached::Earlier);
            }
            _ => self.for_each_child(&mut |child| visit(child, Reached::Always)),
        }
    }

    /// Calls `visit` on the expression and on every one in it, outermost first.
    pub fn for_each<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        grow_stack(|| self.for_each_child(&mut |child| child.for_each(visit)));
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

/// Each part is evaluated only if those before it do not decide.
fn visit_sequence<'e>(
    parts: &'e [Expr],
    goes_on: bool,
    visit: &mut dyn FnMut(&'e Expr, Reached<'e>),
) {
    for (at, part) in parts.iter().enumerate() {
        let before = &parts[..at];
        let is_first = before.is_empty();
        visit(part, if is_first { Reached::Always } else { Reached::Behind(before, goes_on) });
    }
}

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
}

impl Permission {
    /// Calls `visit` on the amount and on each amount it is made of, outermost first.
    pub fn for_each_amount<'e>(&'e self, visit: &mut dyn FnMut(&'e PermissionKind)) {
        visit(&self.kind);
        match &self.kind {
            PermissionKind::Add(left, right) | PermissionKind::Sub(left, right) => {
                grow_stack(|| left.for_each_amount(visit));
                grow_stack(|| right.for_each_amount(visit));
            }
            PermissionKind::Scale { amount, .. } => grow_stack(|| amount.for_each_amount(visit)),
            PermissionKind::Full
            | PermissionKind::AbstractRead
            | PermissionKind::Star
            | PermissionKind::Percentage(_)
            | PermissionKind::Epsilons(_)
            | PermissionKind::PredicateRead(_)
            | PermissionKind::MonitorRead(_)
            | PermissionKind::ChannelRead(_)
            | PermissionKind::TokenRead(_) => {}
        }
    }
}

/// Makes the walks over direct subexpressions, for shared or for mutable trees. All other walks are
/// made of these, so that none forgets a part.
macro_rules! walks {
    ($walk:ident $iter:ident [$($life:lifetime)?] [$($mutable:tt)?]) => {
        impl Expr {
            /// Calls `visit` on each direct subexpression from left to right, those in permission
            /// amounts included.
            pub fn $walk $(<$life>)? (
                            &$($life)? $($mutable)? self,
                            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
                        ) {
                match &$($mutable)? self.kind {
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
                        arguments.$iter().for_each(visit);
                    }
                    ExprKind::Binary { left, right, .. }
                    | ExprKind::Range { from: left, to: right }
                    | ExprKind::Index { sequence: left, index: right }
                    | ExprKind::Implies { guard: left, body: right } => {
                        visit(left);
                        visit(right);
                    }
                    ExprKind::Seq(all)
                    | ExprKind::Set(all)
                    | ExprKind::And(all)
                    | ExprKind::Or(all) => all.$iter().for_each(visit),
                    ExprKind::Conditional { condition, then, otherwise } => {
                        visit(condition);
                        visit(then);
                        visit(otherwise);
                    }
                    ExprKind::Unfolding { access, body } => {
                        access.$walk(visit);
                        visit(body);
                    }
                    ExprKind::Slice { sequence, from, to } => {
                        visit(sequence);
                        from.$iter().chain(to).for_each(|bound| visit(bound));
                    }
                    ExprKind::Quantified { domain, body, .. } => {
                        if let Domain::Collection(collection) = domain {
                            visit(collection);
                        }
                        visit(body);
                    }
                    ExprKind::Access(access) => access.$walk(visit),
                    ExprKind::Credit { channel, amount } => {
                        visit(channel);
                        amount.$iter().for_each(|amount| visit(amount));
                    }
                    ExprKind::Eval { state, body } => {
                        state.$walk(visit);
                        visit(body);
                    }
                }
            }
        }

        impl Access {
            /// Calls `visit` on the receiver and on the expressions of the amount.
            pub fn $walk $(<$life>)? (
                            &$($life)? $($mutable)? self,
                            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
                        ) {
                match &$($mutable)? self.target {
                    AccessTarget::Field { receiver: place, .. }
                    | AccessTarget::Predicate { receiver: place, .. }
                    | AccessTarget::AllFields { receiver: place, .. }
                    | AccessTarget::ElementsField { elements: place, .. }
                    | AccessTarget::ElementsPredicate { elements: place, .. }
                    | AccessTarget::ElementsAllFields { elements: place, .. }
                    | AccessTarget::BackPointers { receiver: place, .. } => visit(place),
                }
                self.amount.$walk(visit);
            }
        }

        impl Permission {
            /// Calls `visit` on the expressions of the amount.
            pub fn $walk $(<$life>)? (
                            &$($life)? $($mutable)? self,
                            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
                        ) {
                match &$($mutable)? self.kind {
                    PermissionKind::Full | PermissionKind::AbstractRead | PermissionKind::Star => {}
                    PermissionKind::Percentage(amount)
                    | PermissionKind::Epsilons(amount)
                    | PermissionKind::PredicateRead(amount)
                    | PermissionKind::MonitorRead(amount)
                    | PermissionKind::ChannelRead(amount)
                    | PermissionKind::TokenRead(amount) => visit(amount),
                    PermissionKind::Add(left, right) | PermissionKind::Sub(left, right) => {
                        grow_stack(|| left.$walk(visit));
                        grow_stack(|| right.$walk(visit));
                    }
                    PermissionKind::Scale { factor, amount } => {
                        visit(factor);
                        grow_stack(|| amount.$walk(visit));
                    }
                }
            }
        }

        impl EvalState {
            /// Calls `visit` on the expressions that name the state.
            pub fn $walk $(<$life>)? (
                            &$($life)? $($mutable)? self,
                            visit: &mut dyn FnMut(&$($life)? $($mutable)? Expr),
                        ) {
                match self {
                    Self::Acquire(target) | Self::Release(target) => visit(target),
                    Self::Fork { token, receiver, arguments, .. } => {
                        visit(token);
                        visit(receiver);
                        arguments.$iter().flatten().for_each(visit);
                    }
                }
            }
        }
    };
}

walks!(for_each_child iter ['e] []);
walks!(for_each_child_mut iter_mut [] [mut]);
