//! The integers that programs mention: values for which they may do something that they do not do
//! for others.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::{Code, Expr, Kind, Used};
use crate::value::Value;

/// Returns the integers that matter to a method: those that its contract and body mention, then
/// those of what both make use of.
pub(crate) fn literals_of(code: &Code, method: u32) -> Vec<i64> {
    let (mut found, mut later) = (Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    let mut next = Some(Used::Method(method));
    while let Some(used) = next {
        let mut look_later = |used| {
            if seen.insert(used) {
                later.push(used);
            }
        };
        used.for_each_expr(code, &mut |e| {
            literals(e, &mut found);
            e.for_each_used(&mut look_later);
        });
        if let Used::Method(method) = used {
            let body = &code.methods[method as usize].body;
            body.iter().for_each(|instr| instr.op.for_each_used(&mut look_later));
        }
        next = later.pop();
    }
    found
}

/// The integers that an expression mentions.
pub(crate) fn literals(e: &Expr, found: &mut Vec<i64>) {
    if let Some(Value::Int(number)) = constant(e) {
        found.push(number);
    }
    grow_stack(|| e.for_each_child(&mut |child| literals(child, found)));
}

/// Returns the value of an expression that is made of literals only.
fn constant(e: &Expr) -> Option<Value> {
    match &e.kind {
        Kind::Const(value @ Value::Int(_)) => Some(value.clone()),
        Kind::Negate(inner) => match constant(inner)? {
            Value::Int(number) => number.checked_neg().map(Value::Int),
            _ => None,
        },
        Kind::Arithmetic(op, operands) => {
            let one = |e: &Expr| match &e.kind {
                Kind::Const(value @ Value::Int(_)) => Some(value.clone()),
                _ => None,
            };
            Some(one(&operands.0)?.arithmetic(*op, &one(&operands.1)?))
        }
        _ => None,
    }
}
