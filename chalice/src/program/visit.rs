//! Walking over expressions.

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
    /// Calls `visit` on each direct subexpression from left to right, those in permission amounts
    /// included.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        self.for_each_part(&mut |part, _| visit(part));
    }

    /// Calls `visit` on each direct subexpression from left to right, those in permission amounts
    /// included, and says when it is evaluated. What a condition is comes before what it decides.
    ///
    /// All walks that read expressions are made of this one, so that none forgets a part.
    pub fn for_each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr, Reached<'e>)) {
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
            | ExprKind::Length(only)
            | ExprKind::BackPointers { receiver: only, .. }
            | ExprKind::Holds { target: only, .. } => visit(only, Reached::Always),
            ExprKind::Old(body) => visit(body, Reached::Earlier),
            ExprKind::Apply { receiver, arguments, .. } => {
                visit(receiver, Reached::Always);
                arguments.iter().for_each(|argument| visit(argument, Reached::Always));
            }
            ExprKind::Binary { left, right, .. }
            | ExprKind::Range { from: left, to: right }
            | ExprKind::Index { sequence: left, index: right } => {
                visit(left, Reached::Always);
                visit(right, Reached::Always);
            }
            ExprKind::Seq(all) | ExprKind::Set(all) => {
                all.iter().for_each(|part| visit(part, Reached::Always));
            }
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
            ExprKind::Slice { sequence, from, to } => {
                visit(sequence, Reached::Always);
                for bound in from.iter().chain(to) {
                    visit(bound, Reached::Always);
                }
            }
            ExprKind::Quantified { variables, domain, body, .. } => {
                match domain {
                    Domain::Collection(collection) => visit(collection, Reached::Always),
                    Domain::Type(_) => {}
                }
                visit(body, Reached::Each(variables, domain));
            }
            ExprKind::Access(access) => {
                access.for_each_child(&mut |child| visit(child, Reached::Always));
            }
            ExprKind::Credit { channel, amount } => {
                visit(channel, Reached::Always);
                if let Some(amount) = amount {
                    visit(amount, Reached::Always);
                }
            }
            ExprKind::Eval { state, body } => {
                state.for_each_child(&mut |child| visit(child, Reached::Always));
                visit(body, Reached::Earlier);
            }
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

/// Makes the walks over what is no expression itself, for shared or for mutable trees.
macro_rules! walks {
    ($walk:ident $iter:ident [$($life:lifetime)?] [$($mutable:tt)?]) => {
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
