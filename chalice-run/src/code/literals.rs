//! The integers that programs mention: values for which they may do something that they do not do for others.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::{Access, Bound, Bounds, Code, Expr, Instr, Kind, Op, Rhs, Target};
use crate::value::Value;

/// The integers that matter to a method: those that its contract mentions, then its body, then what both make use of.
pub(crate) fn literals_of(code: &Code, method: u32) -> Vec<i64> {
    let mut search =
        Search { code, found: Vec::new(), later: Vec::new(), seen: FxHashSet::default() };
    let method = &code.methods[method as usize];
    let clauses = method.requires.iter().chain(&method.ensures);
    clauses.for_each(|clause| search.expr(clause));
    method.body.iter().for_each(|instr| search.instr(instr));
    for described in &method.loops {
        search.expr(&described.guard);
        described.invariants.iter().for_each(|invariant| search.expr(invariant));
    }
    while let Some(used) = search.later.pop() {
        search.used(used);
    }
    search.found
}

/// The integers that an expression mentions.
pub(crate) fn literals(e: &Expr, found: &mut Vec<i64>) {
    if let Some(Value::Int(number)) = constant(e) {
        found.push(number);
    }
    grow_stack(|| e.for_each_child(&mut |child| literals(child, found)));
}

/// The value of an expression that is made of literals only.
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

/// What a contract or body makes use of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Used {
    Function(u32),
    Predicate(u32),
    Precondition(u32),
}

struct Search<'c> {
    code: &'c Code,
    found: Vec<i64>,
    later: Vec<Used>,
    seen: FxHashSet<Used>,
}

impl<'c> Search<'c> {
    fn used(&mut self, used: Used) {
        let code = self.code;
        match used {
            Used::Function(function) => {
                let function = &code.functions[function as usize];
                let clauses = function.requires.iter().chain(&function.ensures);
                clauses.chain(&function.body).for_each(|e| self.expr(e));
            }
            Used::Predicate(predicate) => self.expr(&code.predicates[predicate as usize].body),
            Used::Precondition(method) => {
                code.methods[method as usize].requires.iter().for_each(|e| self.expr(e));
            }
        }
    }

    fn look_later(&mut self, used: Used) {
        if self.seen.insert(used) {
            self.later.push(used);
        }
    }

    fn expr(&mut self, e: &'c Expr) {
        literals(e, &mut self.found);
        self.uses(e);
    }

    fn uses(&mut self, e: &'c Expr) {
        match &e.kind {
            Kind::Apply { function, .. } => self.look_later(Used::Function(*function)),
            Kind::Access(access) => self.access(access),
            Kind::Unfolding(parts) => self.access(&parts.0),
            _ => {}
        }
        grow_stack(|| e.for_each_child(&mut |child| self.uses(child)));
    }

    fn access(&mut self, access: &Access) {
        if let Target::Predicate { predicate, .. } | Target::Predicates { predicate, .. } =
            &access.target
        {
            self.look_later(Used::Predicate(*predicate));
        }
    }

    fn instr(&mut self, instr: &'c Instr) {
        match &instr.op {
            Op::Assert(e)
            | Op::Assume(e)
            | Op::Branch { condition: e, .. }
            | Op::Unshare(e)
            | Op::Downgrade(e)
            | Op::Free(e)
            | Op::Acquire { target: e, .. }
            | Op::Release { target: e, .. }
            | Op::Join { token: e, .. }
            | Op::Receive { channel: e, .. } => self.expr(e),
            Op::Assign { value, .. } => self.right_hand_side(value),
            Op::AssignField { receiver, value, .. } => {
                self.expr(receiver);
                self.right_hand_side(value);
            }
            Op::Specification(specification) => {
                specification.pre.iter().for_each(|e| self.expr(e));
                self.expr(&specification.post);
            }
            Op::Call(site) | Op::Fork(site) => {
                self.look_later(Used::Precondition(site.method));
                site.arguments.iter().for_each(|e| self.expr(e));
            }
            Op::Place { target, bounds, .. } => {
                self.expr(target);
                self.bounds(bounds);
            }
            Op::Send { arguments, .. } => arguments.iter().for_each(|e| self.expr(e)),
            Op::Fold(access) | Op::Unfold(access) => self.access(access),
            Op::Havoc { .. }
            | Op::Jump(_)
            | Op::LoopEnter(_)
            | Op::LoopTest(_)
            | Op::LoopBack(_)
            | Op::Unsupported(_)
            | Op::Return => {}
        }
    }

    fn right_hand_side(&mut self, value: &'c Rhs) {
        match value {
            Rhs::Expr(e) => self.expr(e),
            Rhs::New { initialisers, .. } => {
                initialisers.iter().for_each(|one| self.expr(&one.value));
            }
            Rhs::NewChannel { bounds, .. } => self.bounds(bounds),
        }
    }

    fn bounds(&mut self, bounds: &'c Bounds) {
        for bound in bounds.lower.iter().chain(&bounds.upper) {
            if let Bound::Object(e) | Bound::Level(e) = bound {
                self.expr(e);
            }
        }
    }
}
