//! Specification statements: some values that satisfy a condition.

use chalice::Span;
use findings::ErrorId;

use crate::code::{Bool2, Expr, Kind, Specification, literals};
use crate::fault::{Res, Trouble, blamed};
use crate::machine::{Evaluator, OldState};
use crate::value::Value;

/// How many combinations of values are tried.
const TRIES: usize = 100_000;

impl Evaluator<'_> {
    pub(super) fn specification(
        &mut self,
        specification: &Specification,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        if let Some(pre) = specification.pre.as_ref().filter(|_| self.config.checks) {
            let result = self.check_now(pre, slots);
            blamed(result, ErrorId::ExhaleFailed, Some(span))?;
        }
        let thread = self.scope.thread.map(|thread| thread as usize);
        let before = self.record(thread);
        let epoch = before.epoch;
        self.scope.old = OldState::At(before);
        let found = self.solve(specification, slots);
        self.scope.old = OldState::Entry;
        self.heap.forget(epoch);
        if found? {
            return Ok(());
        }
        Err(Box::new(Trouble::Unknown { what: "specification.unsolved", span }))
    }

    /// Equations first, then small values.
    fn solve(&mut self, specification: &Specification, slots: &mut [Value]) -> Res<bool> {
        let targets: Vec<u32> = specification.targets.iter().map(|target| target.0).collect();
        let mut known: Vec<Option<Value>> = Vec::new();
        for &slot in &targets {
            let equation = equation(&specification.post, slot, &targets);
            known.push(match equation {
                Some(value) => Some(self.eval(value, slots)?),
                None => None,
            });
        }
        // Values near to those that are known, and to those that the condition mentions.
        let mut near: Vec<Value> = slots.iter().chain(known.iter().flatten()).cloned().collect();
        let mut mentioned = Vec::new();
        literals(&specification.post, &mut mentioned);
        near.extend(mentioned.into_iter().map(Value::Int));
        let candidates: Vec<Vec<Value>> = known
            .into_iter()
            .zip(&specification.targets)
            .map(|(known, (_, ty))| match known {
                Some(value) => vec![value],
                None => self.candidates(ty, &near),
            })
            .collect();
        let mut at = vec![0; targets.len()];
        for _ in 0..TRIES {
            for (number, &slot) in targets.iter().enumerate() {
                slots[slot as usize] = candidates[number][at[number]].clone();
            }
            if self.is_satisfied(&specification.post, slots) {
                return Ok(true);
            }
            let Some(next) = (0..at.len()).find(|&one| at[one] + 1 < candidates[one].len()) else {
                return Ok(false);
            };
            at[next] += 1;
            at[..next].fill(0);
        }
        Ok(false)
    }

    fn is_satisfied(&mut self, post: &Expr, slots: &mut [Value]) -> bool {
        self.check_now(post, slots).is_ok()
    }
}

/// Returns the expression that a conjunct equates with a variable, without mentioning one of the
/// others.
fn equation<'e>(post: &'e Expr, slot: u32, targets: &[u32]) -> Option<&'e Expr> {
    match &post.kind {
        Kind::And(parts) => parts.iter().find_map(|part| equation(part, slot, targets)),
        Kind::Equal(Bool2::Equal, sides) => {
            let is_target = |e: &Expr| matches!(e.kind, Kind::Slot(one) if one == slot);
            let is_known = |e: &Expr| !mentions(e, targets);
            if is_target(&sides.0) && is_known(&sides.1) {
                Some(&sides.1)
            } else if is_target(&sides.1) && is_known(&sides.0) {
                Some(&sides.0)
            } else {
                None
            }
        }
        _ => None,
    }
}

fn mentions(e: &Expr, targets: &[u32]) -> bool {
    let mut found = match &e.kind {
        Kind::Slot(slot) | Kind::Constant { slot, .. } => targets.contains(slot),
        // The value before the statement is known.
        Kind::Old(_) => return false,
        _ => false,
    };
    e.for_each_child(&mut |child| found = found || mentions(child, targets));
    found
}
