//! The forms a term can have.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use serde::{Deserialize, Serialize};

use super::{Sort, Symbol, Term};

/// One node of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TermKind {
    Bool(bool),
    Int(BigInt),
    Perm(BigRational),
    Null,
    /// A declared symbol applied to arguments; constants and variables have none.
    Apply(Symbol, Box<[Term]>),

    // Snapshots.
    Unit,
    Pair(Term, Term),
    First(Term),
    Second(Term),
    /// The snapshot that holds a value.
    Wrap(Term),
    /// The value that a snapshot holds, if it holds one of that sort.
    Unwrap(Term, Sort),
    /// The claim that a snapshot holds a value of that sort.
    IsWrapped(Term, Sort),
    /// The claim that a snapshot is a pair.
    IsPair(Term),

    // Logic. `And` and `Or` have at least two operands, no duplicates, and no short operand of
    // their own kind.
    Not(Term),
    And(Box<[Term]>),
    Or(Box<[Term]>),
    Implies(Term, Term),
    Ite(Term, Term, Term),
    /// Equality of the logic, on every sort; on `Bool` it is equivalence.
    Eq(Term, Term),
    Distinct(Box<[Term]>),
    Quantifier(Box<Quantifier>),

    // Arithmetic, on Int and on Perm alike. A literal operand stands on the right of `Add`, on the
    // left of `Mul`.
    Add(Term, Term),
    Sub(Term, Term),
    Mul(Term, Term),
    Lt(Term, Term),
    Le(Term, Term),
    /// Division of integers as in SMT-LIB: the remainder is never negative.
    IntDiv(Term, Term),
    IntMod(Term, Term),
    PermDiv(Term, Term),
    PermMin(Term, Term),
    IntToPerm(Term),

    /// An operator of the theory of sequences, sets, multisets or maps, with the sort of its
    /// result.
    Theory(TheoryOp, Box<[Term]>, Sort),
}

/// `forall` or `exists`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Quant {
    Forall,
    Exists,
}

/// A quantified formula. Bound variables are numbered canonically, so that formulas which differ
/// only in the choice of their variables are the same term. Labels do not matter for equality.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Quantifier {
    pub quant: Quant,
    pub variables: Box<[Symbol]>,
    /// Alternatives, each a set of terms that are matched together.
    pub triggers: Box<[Box<[Term]>]>,
    pub body: Term,
    pub weight: u32,
    /// A name for profiles.
    pub label: Arc<str>,
}

impl Quantifier {
    /// Returns everything but the label.
    fn identity(&self) -> impl Hash + PartialEq + '_ {
        (self.quant, &self.variables, &self.triggers, self.body, self.weight)
    }
}

impl PartialEq for Quantifier {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Quantifier {}

impl Hash for Quantifier {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// The operators that the collection theories axiomatise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum TheoryOp {
    SeqEmpty,
    SeqSingleton,
    SeqAppend,
    SeqLength,
    SeqIndex,
    SeqUpdate,
    SeqTake,
    SeqDrop,
    SeqContains,
    /// The formula `true` for a sequence and one of its elements. It stands for `SeqContains` in
    /// triggers.
    SeqContainsTrigger,
    /// A position of a contained element.
    SeqPosition,
    SeqEqual,
    /// A position at which two sequences of one length differ.
    SeqDifferAt,
    SeqRange,
    /// `+` and `-` on Int as functions, for axioms whose triggers need them.
    IndexAdd,
    IndexSub,

    SetEmpty,
    SetSingleton,
    SetAdd,
    SetUnion,
    SetIntersection,
    SetDifference,
    SetContains,
    SetCard,
    SetSubset,
    SetDisjoint,
    SetEqual,
    /// An element that is in one of two different sets only.
    SetDiffer,

    MultisetEmpty,
    MultisetSingleton,
    MultisetAdd,
    MultisetUnion,
    MultisetIntersection,
    MultisetDifference,
    MultisetCount,
    MultisetCard,
    MultisetSubset,
    MultisetDisjoint,
    MultisetEqual,
    /// An element whose numbers differ in two different multisets.
    MultisetDiffer,

    MapEmpty,
    MapDomain,
    MapValues,
    MapLookup,
    MapUpdate,
    MapCard,
    MapEqual,
    MapDisjoint,
    /// A key of a value in the map.
    MapKeyOf,
}

impl TermKind {
    /// Calls `visit` on the direct operands, in order. A quantifier has its trigger terms, then its
    /// body.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Term)) {
        use TermKind::*;
        match self {
            Bool(_) | Int(_) | Perm(_) | Null | Unit => {}
            First(t)
            | Second(t)
            | Wrap(t)
            | Unwrap(t, _)
            | IsWrapped(t, _)
            | IsPair(t)
            | Not(t)
            | IntToPerm(t) => visit(*t),
            Pair(a, b)
            | Implies(a, b)
            | Eq(a, b)
            | Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | Lt(a, b)
            | Le(a, b)
            | IntDiv(a, b)
            | IntMod(a, b)
            | PermDiv(a, b)
            | PermMin(a, b) => {
                visit(*a);
                visit(*b);
            }
            Ite(c, a, b) => {
                visit(*c);
                visit(*a);
                visit(*b);
            }
            Apply(_, args) | And(args) | Or(args) | Distinct(args) | Theory(_, args, _) => {
                args.iter().copied().for_each(visit);
            }
            Quantifier(q) => {
                q.triggers.iter().flatten().copied().for_each(&mut visit);
                visit(q.body);
            }
        }
    }

    /// Returns the operands that [`TermKind::for_each_operand`] visits.
    pub fn operands(&self) -> Vec<Term> {
        let mut operands = Vec::new();
        self.for_each_operand(|operand| operands.push(operand));
        operands
    }

    /// Returns the same form with `f` applied to each direct operand.
    #[must_use]
    pub(crate) fn map_operands(&self, mut f: impl FnMut(Term) -> Term) -> TermKind {
        use TermKind::*;
        match self {
            Bool(_) | Int(_) | Perm(_) | Null | Unit => self.clone(),
            First(t) => First(f(*t)),
            Second(t) => Second(f(*t)),
            Wrap(t) => Wrap(f(*t)),
            Unwrap(t, sort) => Unwrap(f(*t), *sort),
            IsWrapped(t, sort) => IsWrapped(f(*t), *sort),
            IsPair(t) => IsPair(f(*t)),
            Not(t) => Not(f(*t)),
            IntToPerm(t) => IntToPerm(f(*t)),
            Pair(a, b) => Pair(f(*a), f(*b)),
            Implies(a, b) => Implies(f(*a), f(*b)),
            Eq(a, b) => Eq(f(*a), f(*b)),
            Add(a, b) => Add(f(*a), f(*b)),
            Sub(a, b) => Sub(f(*a), f(*b)),
            Mul(a, b) => Mul(f(*a), f(*b)),
            Lt(a, b) => Lt(f(*a), f(*b)),
            Le(a, b) => Le(f(*a), f(*b)),
            IntDiv(a, b) => IntDiv(f(*a), f(*b)),
            IntMod(a, b) => IntMod(f(*a), f(*b)),
            PermDiv(a, b) => PermDiv(f(*a), f(*b)),
            PermMin(a, b) => PermMin(f(*a), f(*b)),
            Ite(c, a, b) => Ite(f(*c), f(*a), f(*b)),
            Apply(symbol, args) => Apply(*symbol, args.iter().map(|&t| f(t)).collect()),
            And(args) => And(args.iter().map(|&t| f(t)).collect()),
            Or(args) => Or(args.iter().map(|&t| f(t)).collect()),
            Distinct(args) => Distinct(args.iter().map(|&t| f(t)).collect()),
            Theory(op, args, sort) => Theory(*op, args.iter().map(|&t| f(t)).collect(), *sort),
            Quantifier(q) => {
                let mut changed = q.as_ref().clone();
                changed.triggers.iter_mut().flatten().for_each(|t| *t = f(*t));
                changed.body = f(changed.body);
                Quantifier(Box::new(changed))
            }
        }
    }
}
