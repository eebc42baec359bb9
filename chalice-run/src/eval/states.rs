//! Recorded states, and expressions about them: `old` and `eval`.

use std::sync::Arc;

use crate::amount::{Amount, Sign};
use crate::code::{EvalState, Expr, Kind};
use crate::fault::{Res, Trouble, reference_or_null};
use crate::heap::{Permissions, Snapshot};
use crate::machine::{Evaluator, OldState, World};
use crate::transfer::Transfer;
use crate::value::{Ref, Value};

impl Evaluator<'_> {
    pub(super) fn old(&mut self, inner: &Expr, slots: &mut [Value]) -> Res<Value> {
        if matches!(self.scope.old, OldState::Now) {
            return self.eval(inner, slots);
        }
        let Some(state) = self.old_state() else {
            return Err(Box::new(Trouble::NoOldState(inner.span)));
        };
        self.in_state(state, |machine| machine.eval(inner, slots))
    }

    /// Evaluates something in a recorded state. Permission to read is checked there if that is
    /// asked for.
    pub(crate) fn in_state<T>(
        &mut self,
        state: Snapshot,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let is_checked = self.config.check_old && state.permissions.is_some();
        let at = self.scope.at.replace(state);
        let checks = self.scope.checks;
        self.scope.checks &= is_checked;
        let result = evaluate(self);
        self.scope.at = at;
        self.scope.checks = checks;
        result
    }

    pub(super) fn eval_in_state(
        &mut self,
        state: &EvalState,
        body: &Expr,
        slots: &mut [Value],
    ) -> Res<Value> {
        let unknown = || Box::new(Trouble::Unknown { what: "state.unknown", span: body.span });
        let (target, is_acquire) = match state {
            EvalState::Acquire(target) => (target, true),
            EvalState::Release(target) => (target, false),
            EvalState::Fork { token, receiver, method, arguments } => {
                let token = self.eval(token, slots)?;
                let token = reference_or_null(&token, body.span, |token| token)?;
                if self.is_starting() {
                    self.bind_token(token, receiver, *method, arguments, slots)?;
                }
                if !self.is_fork_of(token, receiver, *method, arguments, slots)? {
                    return Ok(Value::Bool(false));
                }
                let before = self.heap.token(token).map(|state| state.before.clone());
                let before = before.ok_or_else(unknown)?;
                return self.said_of(before, body, slots, |machine| {
                    let state = machine.heap.extra_mut(token).token.as_mut();
                    state.map(|state| &mut state.before)
                });
            }
        };
        let object = self.eval(target, slots)?;
        let object = reference_or_null(&object, target.span, |object| object)?;
        let thread = self.scope.thread.ok_or_else(unknown)?;
        if self.is_starting() && self.scope.at.is_none() {
            self.grant_past(object, thread as usize, is_acquire)?;
        }
        let seen = self.threads[thread as usize].seen.get(&object);
        let state =
            seen.and_then(
                |seen| {
                    if is_acquire { seen.acquired.clone() } else { seen.released.clone() }
                },
            );
        let state = state.ok_or_else(unknown)?;
        self.said_of(state, body, slots, |machine| {
            let seen = machine.threads[thread as usize].seen.get_mut(&object)?;
            if is_acquire { seen.acquired.as_mut() } else { seen.released.as_mut() }
        })
    }

    /// Returns the claims of an assertion about a recorded state, which is kept at a place. Of the
    /// past of a start, what the assertion says of permission is noted: it is all that is known.
    fn said_of(
        &mut self,
        state: Snapshot,
        body: &Expr,
        slots: &mut [Value],
        kept: impl FnOnce(&mut Self) -> Option<&mut Snapshot>,
    ) -> Res<Value> {
        let known = state.permissions.clone();
        let value = self.in_state(state, |machine| machine.said_then(body, slots));
        let all = std::mem::take(&mut self.told);
        if all.is_empty() || !self.is_starting() {
            return value;
        }
        let mut told = known.as_deref().cloned().unwrap_or_else(Permissions::told);
        for (loc, amount) in all {
            let known = told.holdings(loc).map_or(Amount::NONE, |known| known.amount(told.holder));
            let more = amount.minus(&known);
            if self.fractions.sign(&more) == Sign::Positive {
                told.tell(loc, &more);
            }
        }
        if let Some(state) = kept(self) {
            state.permissions = Some(Arc::new(told));
        }
        value
    }

    /// Returns the claims of an assertion about a recorded state. Of a location it says how much
    /// was held of it at least, whatever it says of others. What a start does not tell of its past
    /// is not judged.
    fn said_then(&mut self, body: &Expr, slots: &mut [Value]) -> Res<Value> {
        if body.is_pure {
            return self.eval(body, slots);
        }
        match &body.kind {
            Kind::And(parts) => {
                for part in parts {
                    if !self.said_then(part, slots)?.is_true() {
                        return Ok(Value::Bool(false));
                    }
                }
                Ok(Value::Bool(true))
            }
            Kind::Implies(parts) => {
                if !self.truth(&parts.0, slots)? {
                    return Ok(Value::Bool(true));
                }
                self.said_then(&parts.1, slots)
            }
            Kind::Conditional(parts) => {
                let holds = self.truth(&parts.0, slots)?;
                self.said_then(if holds { &parts.1 } else { &parts.2 }, slots)
            }
            Kind::Access(_) | Kind::Quantified(_) if self.granting => {
                let mut asked = Transfer::check(self.scope.holder).inexact(self.scope.kappa);
                self.collect(body, slots, &mut asked)?;
                self.told.extend(asked.demanded());
                Ok(Value::Bool(true))
            }
            Kind::Access(_) | Kind::Quantified(_) if self.knows_permissions_then() => self
                .only_looking(|machine| {
                    let kappa = machine.scope.kappa;
                    let mut check = Transfer::check(machine.scope.holder).inexact(kappa);
                    machine.collect(body, slots, &mut check)?;
                    machine.settle(check).map(|_| Value::Bool(true))
                }),
            _ => {
                if !self.granting {
                    self.skip("old.permission", body.span);
                }
                Ok(Value::Bool(true))
            }
        }
    }

    fn is_fork_of(
        &mut self,
        token: Ref,
        receiver: &Expr,
        method: u32,
        arguments: &[Option<Expr>],
        slots: &mut [Value],
    ) -> Res<bool> {
        let joinable = self.read(token, 0, receiver.span)?;
        let Some(state) = self.heap.token(token).cloned() else { return Ok(false) };
        if !joinable.is_true() || state.method != method {
            return Ok(false);
        }
        if self.eval(receiver, slots)? != state.slots[0] {
            return Ok(false);
        }
        for (at, argument) in arguments.iter().enumerate() {
            if let Some(argument) = argument
                && self.eval(argument, slots)? != state.slots[at + 1]
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl World<'_> {
    fn knows_permissions_then(&self) -> bool {
        self.scope.at.as_ref().is_some_and(|state| state.permissions.is_some())
    }
}
