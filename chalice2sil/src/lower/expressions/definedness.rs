//! When an expression has a value, as a condition that can be tested (Klauser 2012, figure 5).
//!
//! Readability is `perm(..) > none`, so the condition depends on what the thread holds where it is
//! tested.

use chalice::program::{
    Access, AccessTarget, BinaryOp, Expr, ExprKind, FieldId, FieldRef, PermissionKind, PredicateId,
};
use front::grow_stack;
use sil::syntax as s;

use crate::build::*;
use crate::lower::Member;
use crate::lower::env::{Env, Locks, Side};
use crate::lower::permissions::{Use, is_certain};

impl Member<'_, '_> {
    /// Returns the condition under which `e` is defined; nothing if it cannot be expressed.
    pub(crate) fn definedness(&mut self, e: &Expr, env: &Env) -> Option<s::Expr> {
        grow_stack(|| self.definedness_inner(e, env))
    }

    fn definedness_inner(&mut self, e: &Expr, env: &Env) -> Option<s::Expr> {
        Some(match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::String(_)
            | ExprKind::This
            | ExprKind::LockBottom
            | ExprKind::Local(_) => truth(true),
            ExprKind::WaitLevel if !matches!(env.locks, Locks::Unknown | Locks::Held(_)) => {
                truth(true)
            }
            ExprKind::FieldRead { receiver, field } => {
                let defined = self.definedness(receiver, env)?;
                let is_this = matches!(receiver.kind, ExprKind::This);
                let receiver = self.expr(receiver, env);
                let exists = if is_this { truth(true) } else { ne(receiver.clone(), null()) };
                and([defined, exists, lt(none(), self.held(receiver, *field, env))])
            }
            ExprKind::Apply { function, .. }
                if self.lowering.facts.locking.is_asking(*function) =>
            {
                return None;
            }
            ExprKind::Apply { receiver, function, arguments } => {
                let needs_itself = |clause| self.lowering.recursion.leads_back(clause, *function);
                if self.program().functions[*function].requires.iter().any(needs_itself) {
                    return None;
                }
                let mut all = vec![self.definedness(receiver, env)?];
                for argument in arguments {
                    all.push(self.definedness(argument, env)?);
                }
                let is_this = matches!(receiver.kind, ExprKind::This);
                let this = self.expr(receiver, env);
                if !is_this {
                    all.push(ne(this.clone(), null()));
                }
                let function = &self.program().functions[*function];
                let actuals: Vec<_> =
                    arguments.iter().map(|argument| self.expr(argument, env)).collect();
                let replaced = function.parameters.iter().copied().zip(actuals).collect();
                let inner = Env {
                    this,
                    replaced: std::rc::Rc::new(replaced),
                    side: Side::Exhaled,
                    ..env.clone()
                };
                for clause in &function.requires {
                    all.push(self.footprint(clause, &inner)?);
                }
                and(all)
            }
            ExprKind::Unary { operand, .. } => self.definedness(operand, env)?,
            ExprKind::Binary { op, left, right } => {
                let mut all = vec![self.definedness(left, env)?, self.definedness(right, env)?];
                if matches!(op, BinaryOp::Div | BinaryOp::Mod) {
                    all.push(ne(self.expr(right, env), int(0)));
                }
                and(all)
            }
            ExprKind::And(parts) => self.in_sequence(parts, env, implies)?,
            ExprKind::Or(parts) => {
                self.in_sequence(parts, env, |value, rest| implies(not(value), rest))?
            }
            ExprKind::Implies { guard, body } => {
                let defined = self.definedness(guard, env)?;
                let body = self.definedness(body, env)?;
                and([defined, implies(self.expr(guard, env), body)])
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let defined = self.definedness(condition, env)?;
                let (then, otherwise) =
                    (self.definedness(then, env)?, self.definedness(otherwise, env)?);
                let value = self.expr(condition, env);
                and([defined, implies(value.clone(), then), implies(not(value), otherwise)])
            }
            ExprKind::Length(collection) => self.definedness(collection, env)?,
            ExprKind::Seq(parts) | ExprKind::Set(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.definedness(part, env)).collect();
                and(parts?)
            }
            ExprKind::Range { from, to } => {
                let all = [self.definedness(from, env)?, self.definedness(to, env)?];
                let ordered = le(self.expr(from, env), self.expr(to, env));
                and(all.into_iter().chain([ordered]))
            }
            ExprKind::Index { sequence, index } => {
                let all = [self.definedness(sequence, env)?, self.definedness(index, env)?];
                let (sequence, index) = (self.expr(sequence, env), self.expr(index, env));
                let inside = [le(int(0), index.clone()), lt(index, cardinality(sequence))];
                and(all.into_iter().chain(inside))
            }
            ExprKind::Slice { sequence, from, to } => {
                let mut all = vec![self.definedness(sequence, env)?];
                let length = cardinality(self.expr(sequence, env));
                let mut high = length.clone();
                if let Some(to) = to {
                    all.push(self.definedness(to, env)?);
                    high = self.expr(to, env);
                    all.push(le(int(0), high.clone()));
                    all.push(le(high.clone(), length));
                }
                if let Some(from) = from {
                    all.push(self.definedness(from, env)?);
                    let low = self.expr(from, env);
                    all.push(le(int(0), low.clone()));
                    all.push(le(low, high));
                }
                and(all)
            }
            ExprKind::Quantified { domain, body, .. } => {
                let defined = match domain {
                    chalice::program::Domain::Collection(collection) => match &collection.kind {
                        ExprKind::Range { from, to } => {
                            and([self.definedness(from, env)?, self.definedness(to, env)?])
                        }
                        _ => self.definedness(collection, env)?,
                    },
                    chalice::program::Domain::Type(_) => truth(true),
                };
                if !is_true(&self.definedness(body, env)?) {
                    return None;
                }
                defined
            }
            ExprKind::Unfolding { access, body } => self.unfolded(access, body, env)?,
            _ => return None,
        })
    }

    /// Each part is evaluated only if the ones before it do not decide.
    fn in_sequence(
        &mut self,
        parts: &[Expr],
        env: &Env,
        under: impl Fn(s::Expr, s::Expr) -> s::Expr,
    ) -> Option<s::Expr> {
        let mut all = truth(true);
        for part in parts.iter().rev() {
            let defined = self.definedness(part, env)?;
            let value = self.expr(part, env);
            all = and([defined, under(value, all)]);
        }
        Some(all)
    }

    /// Makes the claim that a function's precondition is satisfied, as far as permissions go: some
    /// permission of everything is held.
    pub(crate) fn footprint(&mut self, e: &Expr, env: &Env) -> Option<s::Expr> {
        Some(match &e.kind {
            ExprKind::And(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.footprint(part, env)).collect();
                and(parts?)
            }
            ExprKind::Implies { guard, body } => {
                let defined = self.definedness(guard, env)?;
                let body = self.footprint(body, env)?;
                and([defined, implies(self.expr(guard, env), body)])
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let defined = self.definedness(condition, env)?;
                let (then, otherwise) =
                    (self.footprint(then, env)?, self.footprint(otherwise, env)?);
                let value = self.expr(condition, env);
                and([defined, implies(value.clone(), then), implies(not(value), otherwise)])
            }
            ExprKind::Access(access) => match &access.target {
                AccessTarget::Field { receiver, field } => {
                    let defined = self.definedness(receiver, env)?;
                    let receiver = self.expr(receiver, env);
                    let held = self.held(receiver.clone(), *field, env);
                    and([defined, ne(receiver, null()), lt(none(), held)])
                }
                AccessTarget::Predicate { receiver, predicate } => {
                    let defined = self.definedness(receiver, env)?;
                    let receiver = self.expr(receiver, env);
                    let held = match &env.then {
                        Some(then) => {
                            self.lowering.predicate_then(&then.state, receiver.clone(), *predicate)
                        }
                        None => perm(self.predicate_at(receiver.clone(), *predicate)),
                    };
                    and([defined, ne(receiver, null()), lt(none(), held)])
                }
                _ => return None,
            },
            ExprKind::Credit { .. } => return None,
            _ => {
                let defined = self.definedness(e, env)?;
                and([defined, self.expr(e, env)])
            }
        })
    }

    /// Returns the permission to a field, in the state that `env` reads.
    fn held(&mut self, receiver: s::Expr, of: FieldRef, env: &Env) -> s::Expr {
        match &env.then {
            Some(then) => self.lowering.permission_then(&then.state, receiver, of),
            None => perm(self.field_of(receiver, of)),
        }
    }

    /// Returns the condition of `unfolding P in body`: enough of `P` is held, and `body` is defined
    /// where `P` is open. A `body` that reads only fields of the receiver that `P` certainly
    /// contains is defined without a proof.
    fn unfolded(&mut self, access: &Access, body: &Expr, env: &Env) -> Option<s::Expr> {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else { return None };
        if env.then.is_some() {
            return None;
        }
        let contained = self.certain_fields(*predicate);
        let is_obvious = reads_only(body, receiver, &contained);
        let defined = self.definedness(receiver, env)?;
        let mut all = vec![defined];
        let mut amounts = Vec::new();
        access.amount.for_each_child(&mut |amount| amounts.push(amount));
        for amount in amounts {
            all.push(self.definedness(amount, env)?);
        }
        let value = self.expr(receiver, env);
        let held = perm(self.predicate_at(value.clone(), *predicate));
        all.push(ne(value, null()));
        all.push(lt(none(), held.clone()));
        if !matches!(access.amount.kind, PermissionKind::AbstractRead | PermissionKind::Star) {
            let opened = self.amount_of(&access.amount, env);
            all.push(lt(none(), opened.clone()));
            all.push(le(opened, held));
        }
        if !is_obvious {
            let inside = self.definedness(body, env)?;
            all.push(unfolding(self.access(access, env, Use::Opened), inside));
        }
        Some(and(all))
    }

    /// Fields of `this` of which a predicate contains some permission in every state.
    fn certain_fields(&self, predicate: PredicateId) -> Vec<FieldId> {
        let mut fields = Vec::new();
        conjunct_fields(&self.program().predicates[predicate].body, &mut fields);
        fields
    }
}

fn conjunct_fields(e: &Expr, fields: &mut Vec<FieldId>) {
    match &e.kind {
        ExprKind::And(parts) => {
            parts.iter().for_each(|part| grow_stack(|| conjunct_fields(part, fields)));
        }
        ExprKind::Access(access) => {
            if let AccessTarget::Field { receiver, field: FieldRef::Declared(field) } =
                &access.target
                && matches!(receiver.kind, ExprKind::This)
                && is_certain(&access.amount.kind)
            {
                fields.push(*field);
            }
        }
        _ => {}
    }
}

fn reads_only(e: &Expr, object: &Expr, fields: &[FieldId]) -> bool {
    let mut fine = true;
    e.for_each(&mut |part| {
        fine &= match &part.kind {
            ExprKind::FieldRead { receiver, field: FieldRef::Declared(field) } => {
                receiver.kind == object.kind && fields.contains(field)
            }
            ExprKind::FieldRead { .. }
            | ExprKind::Apply { .. }
            | ExprKind::Index { .. }
            | ExprKind::Slice { .. }
            | ExprKind::Range { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Old(_)
            | ExprKind::Quantified { .. }
            | ExprKind::Access(_)
            | ExprKind::Credit { .. }
            | ExprKind::Eval { .. }
            | ExprKind::Holds { .. }
            | ExprKind::WaitLevel
            | ExprKind::BackPointers { .. } => false,
            ExprKind::Binary { op, .. } => !matches!(op, BinaryOp::Div | BinaryOp::Mod),
            _ => true,
        };
    });
    fine
}
