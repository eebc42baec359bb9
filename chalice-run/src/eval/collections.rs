//! Sequences and sets.

use std::fmt::Display;
use std::sync::Arc;

use chalice::Span;
use chalice_rt::flaw::Flaw;
use imbl::OrdSet;

use crate::code::{Expr, Kind, SetOp};
use crate::fault::{Fault, Res, Trouble};
use crate::machine::{Evaluator, World};
use crate::value::{Seq, Value};

impl Evaluator<'_> {
    /// Returns an operation on sequences or sets.
    pub(super) fn collections(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        Ok(match &e.kind {
            Kind::In { negated, operands } => {
                let element = self.eval(&operands.0, slots)?;
                let collection = self.eval(&operands.1, slots)?;
                let found = match &collection {
                    Value::Seq(seq) => seq.contains(&element),
                    Value::Set(set) => set.contains(&element),
                    _ => false,
                };
                Value::Bool(found != *negated)
            }
            Kind::Length(inner) => {
                let length = match self.eval(inner, slots)? {
                    Value::Seq(seq) => seq.len(),
                    Value::Set(set) => set.len(),
                    _ => 0,
                };
                Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
            }
            Kind::Seq(items) => {
                let items: Res<Vec<Value>> =
                    items.iter().map(|item| self.eval(item, slots)).collect();
                Value::Seq(Seq::Items(items?.into()))
            }
            Kind::Set(items) => {
                let items: Res<Vec<Value>> =
                    items.iter().map(|item| self.eval(item, slots)).collect();
                Value::set(items?)
            }
            Kind::Range(bounds) => {
                let from = self.eval(&bounds.0, slots)?;
                let to = self.eval(&bounds.1, slots)?;
                return range(&from, &to, e.span);
            }
            Kind::Append(operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                match (left, right) {
                    (Value::Seq(left), Value::Seq(right)) => {
                        self.limit_length(left.len() + right.len(), e.span)?;
                        Value::Seq(left.append(&right))
                    }
                    (left, _) => left,
                }
            }
            Kind::Sets(op, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                sets(*op, &left, &right)
            }
            Kind::Index(operands) => {
                let sequence = self.eval(&operands.0, slots)?;
                let at = self.eval(&operands.1, slots)?;
                return index(&sequence, &at, e.span);
            }
            Kind::Slice(parts) => {
                let sequence = self.eval(&parts.0, slots)?;
                let Value::Seq(seq) = &sequence else { return Ok(sequence) };
                let mut bound = |bound: &Option<Expr>, least: usize, otherwise: usize| match bound {
                    None => Ok(otherwise),
                    Some(bound) => {
                        let at = self.eval(bound, slots)?;
                        let place = at.to_i64().and_then(|at| usize::try_from(at).ok());
                        place.filter(|at| (least..=seq.len()).contains(at)).ok_or_else(|| {
                            let about: [&dyn Display; 3] = [&at.big(), &least, &seq.len()];
                            Box::from(Fault::new(Flaw::SliceBounds, bound.span, &about))
                        })
                    }
                };
                let from = bound(&parts.1, 0, 0)?;
                let to = bound(&parts.2, from, seq.len())?;
                Value::Seq(seq.slice(from, to))
            }
            _ => unreachable!("evaluated by the caller"),
        })
    }
}

impl World<'_> {
    /// A sequence that would not fit into memory ends the run.
    fn limit_length(&self, length: usize, span: Span) -> Res<()> {
        if length > 50_000_000 {
            return Err(Box::new(Trouble::Bound("a sequence is too long", span)));
        }
        Ok(())
    }
}

/// Returns the integers from one up to another. One whose length is beyond what can be counted ends
/// the run.
pub(super) fn range(from: &Value, to: &Value, span: Span) -> Res<Value> {
    if to.compare(from).is_lt() {
        let about: [&dyn Display; 2] = [&to.big(), &from.big()];
        return Err(Fault::new(Flaw::RangeBounds, span, &about).into());
    }
    match (from.to_i64(), to.to_i64()) {
        (Some(from), Some(to)) if to.checked_sub(from).is_some() => {
            Ok(Value::Seq(Seq::Range(from, to)))
        }
        _ => Err(Box::new(Trouble::Bound("a range is too long or too far from zero", span))),
    }
}

fn index(sequence: &Value, at: &Value, span: Span) -> Res<Value> {
    let Value::Seq(seq) = sequence else { return Ok(Value::Null) };
    if at.compare(&Value::Int(0)).is_lt() {
        return Err(Fault::new(Flaw::IndexNegative, span, &[&at.big()]).into());
    }
    match at.to_i64().and_then(|at| usize::try_from(at).ok()) {
        Some(at) if at < seq.len() => Ok(seq.get(at)),
        _ => Err(Fault::new(Flaw::IndexTooLarge, span, &[&at.big(), &seq.len()]).into()),
    }
}

fn sets(op: SetOp, left: &Value, right: &Value) -> Value {
    let (Value::Set(left), Value::Set(right)) = (left, right) else { return left.clone() };
    // Where one of two sets is small, that costs no more than its elements.
    match op {
        SetOp::Union => Value::Set(Arc::new(OrdSet::clone(left).union(OrdSet::clone(right)))),
        SetOp::Difference if left.len() > right.len() => {
            let mut rest = OrdSet::clone(left);
            right.iter().for_each(|value| {
                rest.remove(value);
            });
            Value::Set(Arc::new(rest))
        }
        SetOp::Difference => {
            Value::set(left.iter().filter(|value| !right.contains(*value)).cloned())
        }
        SetOp::Intersection => {
            let (small, large) =
                if left.len() < right.len() { (left, right) } else { (right, left) };
            Value::set(small.iter().filter(|value| large.contains(*value)).cloned())
        }
        SetOp::Subset => Value::Bool(left.is_subset(&**right)),
        SetOp::ProperSubset => Value::Bool(left.is_proper_subset(&**right)),
    }
}
