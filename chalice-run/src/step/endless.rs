//! Loops that do not end: an iteration begins as an earlier one did, and what lies between them has
//! changed nothing.
//!
//! A run is a function of its state and its decisions. If neither the state of a thread is another
//! one at the head of a loop nor anything was decided, nor anything done that others can notice,
//! the thread goes on like that for ever. Only what is cheap to compare is compared, so not every
//! such loop is found; the others come to the bound on steps.

use crate::amount::Amount;
use crate::code::{Op, Rhs};
use crate::heap::Loc;
use crate::machine::{LoopState, Machine};
use crate::value::{Ref, Value};

/// The first iteration that later ones are compared with.
const FIRST: u64 = 16;

/// How often a loop has come to its head, and how it was there at some time.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    count: u64,
    mark: Option<Box<Mark>>,
}

/// The state of a thread at the head of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    noise: u64,
    decisions: usize,
    slots: Vec<Value>,
    moved: Vec<(Loc, Amount)>,
    credits: Vec<(Ref, i64)>,
}

/// Does a statement change nothing but variables of its method? Of a write to a field, its
/// execution says.
pub(super) fn is_silent(op: &Op) -> bool {
    match op {
        Op::Assert(..)
        | Op::Assume(_)
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::LoopTest(_)
        | Op::LoopBack(_)
        | Op::AssignField { value: Rhs::Expr(_), tracked: None, .. }
        | Op::Assign { value: Rhs::Expr(_), .. } => true,
        Op::Assign { .. }
        | Op::AssignField { .. }
        | Op::Havoc { .. }
        | Op::Specification(_)
        | Op::Call(_)
        | Op::Fork(_)
        | Op::Join { .. }
        | Op::LoopEnter(_)
        | Op::Place { .. }
        | Op::Unshare(_)
        | Op::Acquire { .. }
        | Op::Release { .. }
        | Op::Downgrade(_)
        | Op::Free(_)
        | Op::Fold(_)
        | Op::Unfold(_)
        | Op::Send { .. }
        | Op::Receive { .. }
        | Op::Unsupported(_)
        | Op::Return => false,
    }
}

/// Is it seen at once that two values are equal?
pub(super) fn is_plainly_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Int(_) | Value::Bool(_) | Value::Null | Value::Ref(_) | Value::Level(_), other) => {
            one == other
        }
        _ => false,
    }
}

impl Machine<'_> {
    /// Notes that a thread is at the head of a loop again. Is it there as it was before, with
    /// nothing done in between?
    pub(super) fn goes_round(&self, state: &mut LoopState, slots: &[Value]) -> bool {
        let decisions = self.choices.taken().len();
        state.rounds.count += 1;
        // The state to compare with is renewed ever more rarely, so a circle of any length is found
        // (Brent 1980).
        if state.rounds.count >= FIRST && state.rounds.count.is_power_of_two() {
            state.rounds.mark = Some(Box::new(Mark {
                noise: self.noise,
                decisions,
                slots: slots.to_vec(),
                moved: state.moved.clone(),
                credits: state.credits.clone(),
            }));
            return false;
        }
        let Some(mark) = &state.rounds.mark else { return false };
        mark.noise == self.noise
            && mark.decisions == decisions
            && mark.slots == slots
            && mark.moved == state.moved
            && mark.credits == state.credits
    }
}
