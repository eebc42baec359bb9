//! Overloaded operators: which of an operator's signatures is meant.
//!
//! The reference keeps all combinations of alternatives of a whole expression. Here an operator
//! stays undecided, as a constraint over its operand and result types, until the types around it
//! leave one signature; a filled hole wakes the operators that watch it. What is undecided at the
//! end takes its first possible signature, outermost and leftmost operator first, which is the
//! alternative that the reference prefers. Each operator is looked at a bounded number of times, so
//! the cost is linear.

use super::unify::{Ty, Unifier};
use crate::source::Span;
use crate::syntax::BinaryOp;

pub(super) type PendingId = u32;

/// A type in a signature; `A` and `B` stand for the same types throughout one signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Int,
    Bool,
    Perm,
    A,
    B,
    SeqA,
    SetA,
    SetB,
    MultisetA,
    MapAB,
}

/// Operand types and, last, the result type.
type Signature = &'static [Shape];

/// The signatures of an operator, preferred ones first.
pub(super) type Signatures = &'static [Signature];

use Shape::{A, B, Bool, Int, MapAB, MultisetA, Perm, SeqA, SetA, SetB};

pub(super) const MINUS: Signatures = &[&[Perm, Perm], &[Int, Int]];
const ADD: Signatures = &[&[Perm, Perm, Perm], &[Int, Int, Int]];
const MUL: Signatures =
    &[&[Perm, Perm, Perm], &[Int, Perm, Perm], &[Perm, Int, Perm], &[Int, Int, Int]];
const DIV: Signatures =
    &[&[Perm, Perm, Perm], &[Perm, Int, Perm], &[Int, Int, Perm], &[Int, Int, Int]];
const INT_DIV: Signatures = &[&[Int, Int, Int]];
const COMPARE: Signatures = &[&[Perm, Perm, Bool], &[Int, Int, Bool]];
const IN: Signatures =
    &[&[A, SetA, Bool], &[A, SeqA, Bool], &[A, MapAB, Bool], &[A, MultisetA, Int]];
const APPEND: Signatures = &[&[SeqA, SeqA, SeqA]];
const UNION: Signatures = &[&[SetA, SetA, SetA], &[MultisetA, MultisetA, MultisetA]];
const SUBSET: Signatures = &[&[SetA, SetA, Bool], &[MultisetA, MultisetA, Bool]];
pub(super) const INDEX: Signatures = &[&[SeqA, Int, A], &[MapAB, A, B]];
pub(super) const UPDATE: Signatures = &[&[SeqA, Int, A, SeqA], &[MapAB, A, B, MapAB]];
pub(super) const SLICE: Signatures = &[&[SeqA, Int, SeqA]];
pub(super) const SLICE_BOTH: Signatures = &[&[SeqA, Int, Int, SeqA]];
pub(super) const CARDINALITY: Signatures =
    &[&[SeqA, Int], &[SetA, Int], &[MultisetA, Int], &[MapAB, Int]];
pub(super) const MAP_DOMAIN: Signatures = &[&[MapAB, SetA]];
pub(super) const MAP_RANGE: Signatures = &[&[MapAB, SetB]];

/// Returns the signatures of a binary operator; `None` for those that are typed by rules of their
/// own.
pub(super) fn binary(op: BinaryOp) -> Option<Signatures> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub => ADD,
        BinaryOp::Mul => MUL,
        BinaryOp::Div => DIV,
        BinaryOp::IntDiv | BinaryOp::Mod => INT_DIV,
        BinaryOp::Le | BinaryOp::Ge | BinaryOp::Lt | BinaryOp::Gt => COMPARE,
        BinaryOp::In => IN,
        BinaryOp::Append => APPEND,
        BinaryOp::Union | BinaryOp::Intersection | BinaryOp::Setminus => UNION,
        BinaryOp::Subset => SUBSET,
        BinaryOp::Iff | BinaryOp::Implies | BinaryOp::Wand | BinaryOp::Eq | BinaryOp::Ne => {
            return None;
        }
    })
}

impl Shape {
    /// Tells whether a type with this head could have this shape.
    fn admits(self, head: &Ty) -> bool {
        match head {
            Ty::Hole(_) | Ty::Error => true,
            Ty::Int => matches!(self, Int | A | B),
            Ty::Bool => matches!(self, Bool | A | B),
            Ty::Perm => matches!(self, Perm | A | B),
            Ty::Ref | Ty::Parameter(_) | Ty::Domain(..) => matches!(self, A | B),
            Ty::Seq(_) => matches!(self, SeqA | A | B),
            Ty::Set(_) => matches!(self, SetA | SetB | A | B),
            Ty::Multiset(_) => matches!(self, MultisetA | A | B),
            Ty::Map(_) => matches!(self, MapAB | A | B),
        }
    }

    fn closed(self) -> Option<Ty> {
        match self {
            Int => Some(Ty::Int),
            Bool => Some(Ty::Bool),
            Perm => Some(Ty::Perm),
            _ => None,
        }
    }

    fn instantiate(self, a: &Ty, b: &Ty) -> Ty {
        match self {
            Int => Ty::Int,
            Bool => Ty::Bool,
            Perm => Ty::Perm,
            A => a.clone(),
            B => b.clone(),
            SeqA => Ty::Seq(a.clone().into()),
            SetA => Ty::Set(a.clone().into()),
            SetB => Ty::Set(b.clone().into()),
            MultisetA => Ty::Multiset(a.clone().into()),
            MapAB => Ty::Map((a.clone(), b.clone()).into()),
        }
    }
}

/// An operator whose signature is not decided yet.
#[derive(Debug)]
struct Pending {
    /// Signatures still possible, preferred first.
    candidates: Vec<Signature>,
    /// Operand types, then the result type.
    types: Vec<Ty>,
    /// Where to complain: at each operand, and last at the operator.
    spans: Vec<Span>,
    /// The operator's place in a walk that meets an operator before its operands.
    order: u32,
    decided: bool,
}

/// An operand (or the whole operator, if it is the last index) that fits no signature.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) span: Span,
    pub(super) found: Ty,
    /// The operator's signatures that were possible as far as the operands before this one say.
    pub(super) expected: Vec<Ty>,
}

/// The undecided operators of one expression.
#[derive(Debug, Default)]
pub(super) struct Overloads {
    pending: Vec<Pending>,
}

impl Overloads {
    pub(super) fn clear(&mut self) {
        self.pending.clear();
    }

    /// Types an operator with the given operands: its result type.
    ///
    /// `spans` are those of the operands and then the operator's, `order` its place in a walk that
    /// meets operators before their operands.
    pub(super) fn apply(
        &mut self,
        unifier: &mut Unifier,
        signatures: Signatures,
        operands: &[Ty],
        spans: Vec<Span>,
        order: u32,
    ) -> Result<Ty, Misfit> {
        let heads: Vec<Ty> = operands.iter().map(|ty| unifier.head(ty)).collect();
        if let Some(result) = decided_at_once(signatures, &heads) {
            return Ok(result);
        }
        let result = unifier.fresh();
        let mut types = heads;
        types.push(result.clone());
        self.pending.push(Pending {
            candidates: signatures.to_vec(),
            types,
            spans,
            order,
            decided: false,
        });
        self.look_at(unifier, self.pending.len() as u32 - 1)?;
        Ok(unifier.head(&result))
    }

    /// Looks again at all operators that have learned something.
    pub(super) fn propagate(&mut self, unifier: &mut Unifier) -> Result<(), Misfit> {
        while let Some(pending) = unifier.woken.pop() {
            self.look_at(unifier, pending)?;
        }
        Ok(())
    }

    /// Decides what is undecided: the first possible signature, outer operators first.
    pub(super) fn decide_all(&mut self, unifier: &mut Unifier) -> Result<(), Misfit> {
        self.propagate(unifier)?;
        let mut undecided: Vec<_> =
            (0..self.pending.len()).filter(|&index| !self.pending[index].decided).collect();
        undecided.sort_by_key(|&index| self.pending[index].order);
        for index in undecided {
            if !self.pending[index].decided {
                self.pending[index].candidates.truncate(1);
                self.look_at(unifier, index as u32)?;
                self.propagate(unifier)?;
            }
        }
        Ok(())
    }

    /// Drops the signatures that no longer fit; decides if one is left.
    fn look_at(&mut self, unifier: &mut Unifier, id: PendingId) -> Result<(), Misfit> {
        let pending = &mut self.pending[id as usize];
        if pending.decided {
            return Ok(());
        }
        for index in 0..pending.types.len() {
            let head = unifier.head(&pending.types[index]);
            if matches!(head, Ty::Error) {
                return pending.give_up(unifier);
            }
            if !pending.candidates.iter().any(|signature| signature[index].admits(&head)) {
                return Err(pending.misfit(unifier, index));
            }
            pending.candidates.retain(|signature| signature[index].admits(&head));
        }
        if let [signature] = pending.candidates[..] {
            return pending.decide(unifier, signature);
        }
        // A type on which all remaining signatures agree is known before the decision.
        for index in 0..pending.types.len() {
            let shape = pending.candidates[0][index];
            let agreed = pending.candidates.iter().all(|signature| signature[index] == shape);
            if let Some(ty) = shape.closed().filter(|_| agreed) {
                let unified = unifier.unify(&pending.types[index], &ty);
                debug_assert!(unified.is_ok(), "every candidate admits the type's head");
            } else {
                unifier.watch(&pending.types[index], id);
            }
        }
        Ok(())
    }
}

impl Pending {
    fn decide(&mut self, unifier: &mut Unifier, signature: Signature) -> Result<(), Misfit> {
        self.decided = true;
        let (a, b) = (unifier.fresh(), unifier.fresh());
        for (index, shape) in signature.iter().enumerate() {
            let expected = shape.instantiate(&a, &b);
            if unifier.unify(&self.types[index], &expected).is_err() {
                self.candidates = vec![signature];
                let mut misfit = self.misfit(unifier, index);
                misfit.expected = vec![expected];
                return Err(misfit);
            }
        }
        Ok(())
    }

    /// After an error in an operand: the result may be anything.
    fn give_up(&mut self, unifier: &mut Unifier) -> Result<(), Misfit> {
        self.decided = true;
        if let Some(result) = self.types.last() {
            // Fails for no type: an error is equal to all.
            let _ = unifier.unify(result, &Ty::Error);
        }
        Ok(())
    }

    fn misfit(&mut self, unifier: &mut Unifier, index: usize) -> Misfit {
        self.decided = true;
        let expected = self
            .candidates
            .iter()
            .map(|signature| {
                let (a, b) = (unifier.fresh(), unifier.fresh());
                signature[index].instantiate(&a, &b)
            })
            .collect();
        let found = self.types[index].clone();
        let _ = self.give_up(unifier);
        Misfit { span: self.spans[index], found, expected }
    }
}

/// Returns the result type where exactly one signature fits and mentions only closed types: nearly
/// all arithmetic.
fn decided_at_once(signatures: Signatures, heads: &[Ty]) -> Option<Ty> {
    if heads.iter().any(|head| !matches!(head, Ty::Int | Ty::Perm)) {
        return None;
    }
    let mut fitting = signatures
        .iter()
        .filter(|signature| signature.iter().zip(heads).all(|(shape, head)| shape.admits(head)));
    let signature = fitting.next()?;
    if fitting.next().is_some() || signature.iter().any(|shape| shape.closed().is_none()) {
        return None;
    }
    signature.last().and_then(|shape| shape.closed())
}
