//! Operators on values (division is Euclidean, as in SMT-LIB).

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_traits::{Euclid, Signed, ToPrimitive, Zero};
use sil::syntax::{BinaryOp, Collection, UnaryOp};

use super::{Amount, Stuck, Value};

/// Sequences written by `[a..b)` are not longer than this.
const LONGEST: usize = 1000;

pub(super) fn unary(op: UnaryOp, operand: Value) -> Result<Value, Stuck> {
    Ok(match (op, operand) {
        (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::Minus, Value::Int(value)) => Value::Int(-value),
        (UnaryOp::Minus, Value::Perm(value)) => Value::Perm(-value),
        (_, other) => return Err(Stuck(format!("operand {other:?}"))),
    })
}

/// An operator that evaluates both sides.
pub(super) fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Stuck> {
    use BinaryOp as B;
    match op {
        B::Eq => return Ok(Value::Bool(left == right)),
        B::Ne => return Ok(Value::Bool(left != right)),
        B::In => return contains(&left, &right),
        _ => {}
    }
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => integers(op, a, b),
        (Value::Perm(a), Value::Perm(b)) => amounts(op, a, b),
        (Value::Perm(a), Value::Int(b)) if op == B::Mul => Ok(Value::Perm(a * b)),
        (Value::Perm(a), Value::Int(b)) if op == B::Div && !b.is_zero() => Ok(Value::Perm(a / b)),
        (Value::Int(a), Value::Perm(b)) if op == B::Mul => Ok(Value::Perm(b * a)),
        (Value::Bool(a), Value::Bool(b)) if op == B::Iff => Ok(Value::Bool(a == b)),
        (Value::Seq(mut a), Value::Seq(b)) if op == B::Append => {
            a.extend(b);
            Ok(Value::Seq(a))
        }
        (Value::Set(a), Value::Set(b)) => sets(op, &a, &b),
        (Value::Multiset(a), Value::Multiset(b)) => multisets(op, a, &b),
        (left, right) => Err(Stuck(format!("{op:?} of {left:?} and {right:?}"))),
    }
}

fn contains(element: &Value, collection: &Value) -> Result<Value, Stuck> {
    Ok(match collection {
        Value::Seq(all) => Value::Bool(all.contains(element)),
        Value::Set(all) => Value::Bool(all.contains(element)),
        Value::Map(all) => Value::Bool(all.contains_key(element)),
        Value::Multiset(all) => Value::Int(all.get(element).cloned().unwrap_or_default()),
        other => return Err(Stuck(format!("element of {other:?}"))),
    })
}

fn integers(op: BinaryOp, a: BigInt, b: BigInt) -> Result<Value, Stuck> {
    use BinaryOp as B;
    Ok(match op {
        B::Add => Value::Int(a + b),
        B::Sub => Value::Int(a - b),
        B::Mul => Value::Int(a * b),
        B::Div | B::IntDiv | B::Mod if b.is_zero() => return Err(Stuck::new("division by zero")),
        B::Div => Value::Perm(Amount::new(a, b)),
        B::IntDiv => Value::Int(a.div_euclid(&b)),
        B::Mod => Value::Int(a.rem_euclid(&b)),
        _ => Value::Bool(order(op, &a, &b)?),
    })
}

fn amounts(op: BinaryOp, a: Amount, b: Amount) -> Result<Value, Stuck> {
    use BinaryOp as B;
    Ok(match op {
        B::Add => Value::Perm(a + b),
        B::Sub => Value::Perm(a - b),
        B::Mul => Value::Perm(a * b),
        B::Div if !b.is_zero() => Value::Perm(a / b),
        _ => Value::Bool(order(op, &a, &b)?),
    })
}

fn order<T: Ord>(op: BinaryOp, a: &T, b: &T) -> Result<bool, Stuck> {
    Ok(match op {
        BinaryOp::Le => a <= b,
        BinaryOp::Lt => a < b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Gt => a > b,
        _ => return Err(Stuck(format!("{op:?} of numbers"))),
    })
}

fn sets(op: BinaryOp, a: &BTreeSet<Value>, b: &BTreeSet<Value>) -> Result<Value, Stuck> {
    Ok(match op {
        BinaryOp::Union => Value::Set(a | b),
        BinaryOp::Intersection => Value::Set(a & b),
        BinaryOp::Setminus => Value::Set(a - b),
        BinaryOp::Subset => Value::Bool(a.is_subset(b)),
        _ => return Err(Stuck(format!("{op:?} of sets"))),
    })
}

type Counts = BTreeMap<Value, BigInt>;

fn multisets(op: BinaryOp, mut a: Counts, b: &Counts) -> Result<Value, Stuck> {
    let zero = BigInt::zero();
    let count = |value: &Value| b.get(value).unwrap_or(&zero);
    match op {
        BinaryOp::Union => {
            for (value, count) in b {
                *a.entry(value.clone()).or_default() += count;
            }
        }
        BinaryOp::Intersection => {
            a.iter_mut().for_each(|(value, n)| *n = (*n).clone().min(count(value).clone()));
        }
        BinaryOp::Setminus => a.iter_mut().for_each(|(value, n)| *n -= count(value)),
        BinaryOp::Subset => return Ok(Value::Bool(a.iter().all(|(value, n)| n <= count(value)))),
        _ => return Err(Stuck(format!("{op:?} of multisets"))),
    }
    a.retain(|_, count| count.is_positive());
    Ok(Value::Multiset(a))
}

pub(super) fn cardinality(value: &Value) -> Result<Value, Stuck> {
    Ok(Value::Int(match value {
        Value::Seq(all) => all.len().into(),
        Value::Set(all) => all.len().into(),
        Value::Map(all) => all.len().into(),
        Value::Multiset(all) => all.values().sum(),
        other => return Err(Stuck(format!("length of {other:?}"))),
    }))
}

pub(super) fn index(base: Value, index: &Value) -> Result<Value, Stuck> {
    match (base, index) {
        (Value::Seq(all), Value::Int(at)) => {
            let value = at.to_usize().and_then(|at| all.get(at));
            value.cloned().ok_or_else(|| Stuck::new("index out of bounds"))
        }
        (Value::Map(all), key) => all.get(key).cloned().ok_or_else(|| Stuck::new("no such key")),
        (base, _) => Err(Stuck(format!("lookup in {base:?}"))),
    }
}

pub(super) fn update(base: Value, index: Value, value: Value) -> Result<Value, Stuck> {
    match (base, index) {
        (Value::Seq(mut all), Value::Int(at)) => {
            let place = at.to_usize().and_then(|at| all.get_mut(at));
            *place.ok_or_else(|| Stuck::new("index out of bounds"))? = value;
            Ok(Value::Seq(all))
        }
        (Value::Map(mut all), key) => {
            all.insert(key, value);
            Ok(Value::Map(all))
        }
        (base, _) => Err(Stuck(format!("update of {base:?}"))),
    }
}

/// `s[low..high]`: what is out of bounds is left out.
pub(super) fn slice(base: Value, low: Option<Value>, high: Option<Value>) -> Result<Value, Stuck> {
    let Value::Seq(all) = base else { return Err(Stuck::new("part of no sequence")) };
    let bound = |value: Option<Value>, otherwise: usize| match value {
        None => Ok(otherwise),
        Some(Value::Int(at)) if at.is_negative() => Ok(0),
        Some(Value::Int(at)) => Ok(at.to_usize().map_or(all.len(), |at| at.min(all.len()))),
        Some(other) => Err(Stuck(format!("bound {other:?}"))),
    };
    let (low, high) = (bound(low, 0)?, bound(high, all.len())?);
    Ok(Value::Seq(all.get(low..high).unwrap_or_default().to_vec()))
}

pub(super) fn range(low: &Value, high: &Value) -> Result<Value, Stuck> {
    let (Value::Int(low), Value::Int(high)) = (low, high) else {
        return Err(Stuck::new("range of no integers"));
    };
    let length = (high - low).max(BigInt::zero()).to_usize().filter(|&length| length <= LONGEST);
    let length = length.ok_or_else(|| Stuck::new("a long range"))?;
    Ok(Value::Seq((0..length).map(|at| Value::Int(low + at)).collect()))
}

pub(super) fn literal(collection: Collection, elements: Vec<Value>) -> Value {
    match collection {
        Collection::Seq => Value::Seq(elements),
        Collection::Set => Value::Set(elements.into_iter().collect()),
        Collection::Multiset => {
            let mut counts = Counts::new();
            for element in elements {
                *counts.entry(element).or_default() += 1;
            }
            Value::Multiset(counts)
        }
    }
}
