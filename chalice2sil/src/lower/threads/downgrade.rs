//! `downgrade`: a lock that is held for writing becomes one that is held for reading, and no value
//! changes.

use chalice::program::{AccessTarget, ClassId, Expr, FieldRef, LockMode, PredicateId};
use findings::ErrorId;
use front::grow_stack;
use sil::source::Name;
use sil::syntax as s;

use crate::build::*;
use crate::lower::annotations::{Annotate, renamed};
use crate::lower::assertions::Part;
use crate::lower::env::{Env, Side};
use crate::lower::facts::class_of;
use crate::lower::permissions::is_certain;
use crate::lower::{Body, Member};

impl Body<'_, '_> {
    /// `downgrade e`
    pub(crate) fn downgrade(&mut self, e: &Expr, env: &Env) {
        let target = self.lock_target(e, ErrorId::DowngradeFailed, env);
        let (Some(class), locks) = (class_of(e), Member::lock_state(env)) else {
            return self.unsupported_stmt("downgrade of something that is no object");
        };
        self.check_write_held(&locks, &target, ErrorId::DowngradeFailed);
        // The heap does not change: what the invariant says of values before still holds of what is
        // left.
        let before: Name = self.fresh("downgrade");
        self.emit_plain(label(&before));
        let left = self.state_to_release(class, LockMode::Write, &target, &locks, env);
        self.give_invariant(class, LockMode::Write, &target, env);
        self.note_released(&target, left, &locks);
        self.take_invariant(class, LockMode::Read, &target, ErrorId::DowngradeFailed, env);
        self.keep_values(class, &target, &before, env);
        self.note_acquired(class, &target, &locks, env);
        if let Some(read_held) = &locks.read_held {
            self.add_to(read_held, &target);
        }
    }

    /// Keeps the values at `label` of the locations that readers of the monitor may read.
    ///
    /// SOUNDNESS: nothing changes the heap in between. A location counts only where it is readable
    /// in both states, so that nothing is said of values that one of them does not have.
    fn keep_values(&mut self, class: ClassId, target: &s::Expr, label: &str, env: &Env) {
        let inner = env.about(target.clone()).on(Side::Inhaled);
        for invariant in self.protected(class) {
            for (condition, value) in self.values_in(&invariant, &inner, &mut Vec::new()) {
                let before = old_at(label, value.clone());
                let mut same = eq(value, before);
                if !is_true(&condition) {
                    let conditions = and([condition.clone(), old_at(label, condition)]);
                    same = implies(conditions, same);
                }
                let renaming = renamed(ErrorId::InhaleFailed, ErrorId::DowngradeFailed);
                self.emit(inhale(same).with(renaming));
            }
        }
    }
}

impl Member<'_, '_> {
    /// Returns the locations to which an assertion gives permission, directly or inside predicates,
    /// each with the condition for it. Below quantifiers none is found, and inside a predicate none
    /// is looked into twice: it may contain itself.
    fn values_in(
        &mut self,
        e: &Expr,
        env: &Env,
        opened: &mut Vec<PredicateId>,
    ) -> Vec<(s::Expr, s::Expr)> {
        let mut values = Vec::new();
        let is_outermost = opened.is_empty();
        for part in self.parts(e, env) {
            let Part::Access(access) = part.part else { continue };
            if part.binder.is_some() || !is_certain(&access.amount.kind) {
                continue;
            }
            match &access.target {
                AccessTarget::Field { receiver, field } => {
                    let receiver = self.expr(receiver, env);
                    values.push((part.guard, self.field_of(receiver, *field)));
                }
                AccessTarget::AllFields { receiver, class } => {
                    let receiver = self.expr(receiver, env);
                    for id in self.program().classes[*class].fields() {
                        let location = self.field_of(receiver.clone(), FieldRef::Declared(id));
                        values.push((part.guard.clone(), location));
                    }
                }
                AccessTarget::Predicate { receiver, predicate } if !opened.contains(predicate) => {
                    opened.push(*predicate);
                    let this = self.expr(receiver, env);
                    let instance = acc(self.predicate_at(this.clone(), *predicate), wildcard());
                    let body = &self.program().predicates[*predicate].body;
                    let inside = grow_stack(|| self.values_in(body, &env.about(this), opened));
                    for (condition, value) in inside {
                        let mut conditions = vec![part.guard.clone()];
                        if !is_true(&condition) {
                            conditions.push(unfolding(instance.clone(), condition));
                        }
                        values.push((and(conditions), unfolding(instance.clone(), value)));
                    }
                }
                _ => {}
            }
            if is_outermost {
                opened.clear();
            }
        }
        values
    }
}
