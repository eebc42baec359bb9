//! A test of a state at the head of a loop: variables, fields and predicates alone can describe it.
//!
//! A counterexample says too little of locks, their order, threads and channels. So everything is
//! looked through that a method may execute or evaluate: its body, the methods that it calls, and
//! the functions and predicates that all of these use.

use chalice::program::Type;

use crate::code::{Code, Expr, Frame, Kind, Op, Rhs, Target, Used};

/// # Errors
/// The words for a construct that is used and has no place in such a description.
pub(super) fn check(code: &Code, method: u32) -> Result<(), &'static str> {
    let described = &code.methods[method as usize];
    if !described.frame.constants.is_empty() {
        return Err("constants that are assigned later");
    }
    for used in code.reached_from(method) {
        types(used.frame(code))?;
        let mut found = Ok(());
        used.for_each_expr(code, &mut |e| {
            e.any(&mut |part| {
                found = found.and(expression(part));
                found.is_err()
            });
        });
        found?;
        let Used::Method(method) = used else { continue };
        for instr in &*code.methods[method as usize].body {
            statement(&instr.op)?;
        }
    }
    Ok(())
}

const LOCKS: &str = "locks or their order";
const THREADS: &str = "threads";
const CHANNELS: &str = "channels";

fn types(frame: &Frame) -> Result<(), &'static str> {
    frame.types.iter().flatten().try_for_each(|ty| match ty {
        Type::Token(_) => Err(THREADS),
        Type::Channel(_) => Err(CHANNELS),
        Type::Mu => Err(LOCKS),
        _ => Ok(()),
    })
}

fn statement(op: &Op) -> Result<(), &'static str> {
    match op {
        Op::Fork(_) | Op::Join { .. } => Err(THREADS),
        Op::Send { .. } | Op::Receive { .. } => Err(CHANNELS),
        Op::Assign { value: Rhs::NewChannel { .. }, .. }
        | Op::AssignField { value: Rhs::NewChannel { .. }, .. } => Err(CHANNELS),
        Op::Place { .. }
        | Op::Unshare(_)
        | Op::Acquire { .. }
        | Op::Release { .. }
        | Op::Downgrade(_)
        | Op::Free(_) => Err(LOCKS),
        Op::AssignField { tracked: Some(_), .. } => Err("back pointers"),
        Op::Unsupported(_) => Err("what cannot be executed"),
        Op::Assert(..)
        | Op::Assume(_)
        | Op::Havoc { .. }
        | Op::Assign { .. }
        | Op::AssignField { .. }
        | Op::Specification(_)
        | Op::Call(_)
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::LoopEnter(_)
        | Op::LoopTest(_)
        | Op::LoopBack(_)
        | Op::Fold(_)
        | Op::Unfold(_)
        | Op::Return => Ok(()),
    }
}

fn expression(e: &Expr) -> Result<(), &'static str> {
    match &e.kind {
        Kind::Holds { .. } | Kind::Below(_) | Kind::EqualLevels(..) => Err(LOCKS),
        // The level of an object, and whether a token may be joined.
        Kind::Field { cell: 0, .. } => Err(LOCKS),
        Kind::Access(access) if matches!(access.target, Target::Cell { cell: 0, .. }) => Err(LOCKS),
        Kind::Credit { .. } => Err(CHANNELS),
        Kind::Eval(_) => Err("states of the past other than with `old`"),
        _ => Ok(()),
    }
}
