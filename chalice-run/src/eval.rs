//! Evaluation of expressions.
//!
//! Every read is checked: of fields against the permission of the scope's holder, of sequences
//! against their bounds. Nothing is evaluated by halves: what cannot be executed is
//! [`Trouble::Unknown`].

mod collections;
mod functions;
mod levels;
mod parts;
mod quantified;
mod reads;
mod states;

pub(crate) use functions::{Measured, Milestone};
pub(crate) use levels::Open;

use chalice::Span;
use chalice::program::LockMode;
use chalice_rt::flaw::Flaw;
use front::grow_stack;

use crate::code::{Bool2, Compare, Expr, Kind};
use crate::fault::{Fault, Res, reference_or_null};
use crate::heap::Holder;
use crate::machine::{Evaluator, World};
use crate::transfer::Transfer;
use crate::value::{Arithmetic, Ref, Value};

impl Evaluator<'_> {
    /// Returns the value of an expression.
    pub(crate) fn eval(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        match &e.kind {
            Kind::Slot(slot) => {
                return Ok(self.used(&mut slots[*slot as usize], e.span));
            }
            Kind::Const(value) => return Ok(value.clone()),
            _ => {}
        }
        self.depth += 1;
        let value = if self.depth.is_multiple_of(32) {
            grow_stack(|| self.eval_inner(e, slots))
        } else {
            self.eval_inner(e, slots)
        };
        self.depth -= 1;
        value
    }

    /// Returns the truth of an expression.
    pub(crate) fn truth(&mut self, e: &Expr, slots: &mut [Value]) -> Res<bool> {
        self.eval(e, slots).map(|value| value.is_true())
    }

    fn eval_inner(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        Ok(match &e.kind {
            Kind::Const(value) => value.clone(),
            Kind::Slot(slot) => slots[*slot as usize].clone(),
            Kind::Not(inner) => Value::Bool(!self.truth(inner, slots)?),
            Kind::Negate(inner) => {
                let value = self.eval(inner, slots)?;
                Value::Int(0).arithmetic(Arithmetic::Sub, &value)
            }
            Kind::Arithmetic(op, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                left.arithmetic(*op, &right)
            }
            Kind::Divide { remainder, operands } => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                let Some((quotient, rest)) = left.divide(&right) else {
                    return Err(Fault::new(Flaw::DivisorZero, operands.1.span, &[]).into());
                };
                if *remainder { rest } else { quotient }
            }
            Kind::Compare(how, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let order = left.compare(&self.eval(&operands.1, slots)?);
                Value::Bool(match how {
                    Compare::Less => order.is_lt(),
                    Compare::AtMost => order.is_le(),
                    Compare::AtLeast => order.is_ge(),
                    Compare::Greater => order.is_gt(),
                })
            }
            Kind::Equal(how, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                Value::Bool((left == right) == (*how == Bool2::Equal))
            }
            Kind::And(parts) => {
                for part in parts {
                    if !self.truth(part, slots)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            Kind::Or(parts) => {
                for part in parts {
                    if self.truth(part, slots)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Kind::Implies(parts) => {
                if !self.truth(&parts.0, slots)? {
                    return Ok(Value::Bool(true));
                }
                return self.eval(&parts.1, slots);
            }
            Kind::Conditional(parts) => {
                let chosen = if self.truth(&parts.0, slots)? { &parts.1 } else { &parts.2 };
                return self.eval(chosen, slots);
            }
            _ => return self.eval_state(e, slots),
        })
    }

    /// Evaluates expressions that depend on more than the values of their parts: on the heap, on
    /// locks, on time.
    fn eval_state(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        Ok(match &e.kind {
            Kind::Constant { slot, flag } => return self.constant(*slot, *flag, e.span, slots),
            Kind::Field { receiver, cell } => {
                let object = self.eval(receiver, slots)?;
                let object = reference_or_null(&object, receiver.span, |object| object)?;
                return self.read(object, *cell, e.span);
            }
            Kind::Apply { receiver, function, arguments } => {
                return self.apply(receiver, *function, arguments, e.span, slots);
            }
            Kind::EqualLevels(how, sides) => {
                let equal = self.equal_levels(&sides.0, &sides.1, slots)?;
                Value::Bool(equal == (*how == Bool2::Equal))
            }
            Kind::Below(sides) => return self.below(&sides.0, &sides.1, e.span, slots),
            Kind::Old(inner) => return self.old(inner, slots),
            Kind::Unfolding(parts) => return self.unfolding(&parts.0, &parts.1, slots),
            Kind::Quantified(quantified) => return self.quantified(quantified, e.span, slots),
            Kind::Holds { target, mode } => {
                let object = self.eval(target, slots)?;
                let object = reference_or_null(&object, target.span, |object| object)?;
                let holds = self.holds(object, *mode)
                    || (self.is_starting()
                        && self.scope.at.is_none()
                        && self.grant_lock(object, *mode)?);
                Value::Bool(holds)
            }
            Kind::Eval(parts) => return self.eval_in_state(&parts.0, &parts.1, slots),
            // Only `assert`, contracts and `assume` hold permission to account; elsewhere the
            // resolver refuses it.
            Kind::Access(_) | Kind::Credit { .. } => {
                self.check_now(e, slots)?;
                Value::Bool(true)
            }
            _ => return self.collections(e, slots),
        })
    }

    /// Returns the value of a variable, which is used: if nobody gave it one, that is noted once.
    fn used(&mut self, slot: &mut Value, span: Span) -> Value {
        if let Value::Unset(value) = slot {
            self.unset.insert(span);
            *slot = (**value).clone();
        }
        slot.clone()
    }

    fn constant(&mut self, slot: u32, flag: u32, span: Span, slots: &mut [Value]) -> Res<Value> {
        if slots[flag as usize].is_true() {
            return Ok(self.used(&mut slots[slot as usize], span));
        }
        // Its value is known later; until then it is what an earlier run has found out.
        let key = (
            self.scope.thread.map_or(Holder::Nobody, |thread| {
                self.threads[thread as usize].stack.last().map_or(Holder::Nobody, |top| top.holder)
            }),
            slot,
        );
        let number = match self.read_early.iter().position(|one| *one == key) {
            Some(number) => number,
            None => {
                self.read_early.push(key);
                self.read_early.len() - 1
            }
        };
        match self.foreseen.get(number) {
            Some(value) => Ok(value.clone()),
            // The value that is assumed the first time matters to nobody.
            None => match &slots[slot as usize] {
                Value::Unset(value) => Ok((**value).clone()),
                value => Ok(value.clone()),
            },
        }
    }

    /// Returns a transfer that only checks whether the current holder has what an assertion asks
    /// for.
    pub(crate) fn check_now(&mut self, e: &Expr, slots: &mut [Value]) -> Res<()> {
        self.only_looking(|machine| {
            let mut check = Transfer::check(machine.scope.holder);
            machine.collect(e, slots, &mut check)?;
            machine.settle(check).map(|_| ())
        })
    }
}

impl World<'_> {
    /// Does the thread of the scope hold a lock?
    pub(crate) fn holds(&self, object: Ref, mode: LockMode) -> bool {
        let is_write = mode == LockMode::Write;
        self.held().iter().any(|held| held.object == object && held.write == is_write)
    }
}
