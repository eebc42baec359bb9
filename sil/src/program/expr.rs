//! Expressions and assertions: one family, as where an expression may stand is a check and not a
//! type.

use front::grow_stack;
use num_bigint::BigInt;

use super::{
    Annotation, DomainFunctionId, FieldId, FunctionId, LabelId, LocalId, PredicateId, Type,
};
use crate::source::Span;
use crate::syntax::Trigger;
pub use crate::syntax::{Collection, Quantifier, UnaryOp};

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
    /// Without those that start with `src.`: they are behind `span.origin`.
    pub annotations: Vec<Annotation>,
}

/// Sums of thousands of terms are as deep as they are long.
impl Clone for Expr {
    fn clone(&self) -> Self {
        grow_stack(|| Self {
            kind: self.kind.clone(),
            ty: self.ty.clone(),
            span: self.span,
            annotations: self.annotations.clone(),
        })
    }
}

/// Binary operators; one symbol has one variant, the operands' types tell the overloads apart.
///
/// `&&` and `||` are lists of their own; `<==>` has become [`BinaryOp::Eq`] on `Bool`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Implies,
    Eq,
    Ne,
    /// On `Int` or on `Perm` (both operands alike); so the other comparisons.
    Lt,
    Le,
    Gt,
    Ge,
    /// Int+Int or Perm+Perm; so `Sub`.
    Add,
    Sub,
    /// Int*Int, Int*Perm, Perm*Int or Perm*Perm.
    Mul,
    /// Integer division, SMT-LIB's `div`; written `\` (or `/` where an Int was wanted).
    IntDiv,
    /// Integer remainder, SMT-LIB's `mod`.
    Mod,
    /// Int/Int (a fraction), Perm/Int or Perm/Perm; the result is a Perm.
    PermDiv,
    /// `++` on sequences.
    Append,
    /// On sets or multisets; so the next three.
    Union,
    Intersection,
    Setminus,
    Subset,
    /// Membership in Seq, Set, Map keys: Bool; in a Multiset the multiplicity: Int.
    In,
}

/// The state an `old` refers to.
pub type OldLabel = crate::syntax::OldLabel<LabelId>;

/// A place permission can be held to.
#[derive(Clone, Debug)]
pub enum Location {
    Field { receiver: Box<Expr>, field: FieldId },
    Predicate { predicate: PredicateId, arguments: Vec<Expr> },
}

/// The resource that `perm` and `forperm` ask about.
#[derive(Clone, Debug)]
pub enum Resource {
    Location(Location),
    /// An expression of kind [`ExprKind::Wand`].
    Wand(Box<Expr>),
}

/// `acc(P(args), amount)` as the operand of `fold`, `unfold`, `unfolding`. `amount` is always
/// present.
#[derive(Clone, Debug)]
pub struct PredicateAccess {
    pub predicate: PredicateId,
    pub arguments: Vec<Expr>,
    pub amount: Box<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Int(BigInt),
    Bool(bool),
    Null,
    /// `none`.
    NoPerm,
    /// `write`.
    FullPerm,
    Wildcard,
    Local(LocalId),
    /// The result of the function whose postcondition this is.
    Result,
    FieldRead {
        receiver: Box<Expr>,
        field: FieldId,
    },
    Apply {
        function: FunctionId,
        arguments: Vec<Expr>,
    },
    /// `instance`: what the type parameters of the function's domain are here.
    DomainApply {
        function: DomainFunctionId,
        instance: Vec<Type>,
        arguments: Vec<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// Two operands or more.
    And(Vec<Expr>),
    /// Two operands or more.
    Or(Vec<Expr>),
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Old {
        label: OldLabel,
        body: Box<Expr>,
    },
    Let {
        variable: LocalId,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// The body may be an assertion; then it is a quantified permission, as written: the engine
    /// normalises it.
    Quantified {
        quantifier: Quantifier,
        variables: Vec<LocalId>,
        triggers: Vec<Trigger<Expr>>,
        body: Box<Expr>,
    },
    ForPerm {
        variables: Vec<LocalId>,
        resource: Resource,
        body: Box<Expr>,
    },
    /// `perm(resource)`.
    Perm(Resource),
    /// `acc(location, amount)`; a bare predicate call has amount `write`.
    Acc {
        location: Location,
        amount: Box<Expr>,
    },
    Wand {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `[a, b]`: `inhale` where assertions are produced, `exhale` where they are consumed.
    InhaleExhale {
        inhale: Box<Expr>,
        exhale: Box<Expr>,
    },
    Unfolding {
        access: PredicateAccess,
        body: Box<Expr>,
    },
    Applying {
        wand: Box<Expr>,
        body: Box<Expr>,
    },
    Asserting {
        assertion: Box<Expr>,
        body: Box<Expr>,
    },
    /// The element type is in `ty`.
    Literal {
        collection: Collection,
        elements: Vec<Expr>,
    },
    MapLiteral {
        entries: Vec<(Expr, Expr)>,
    },
    /// `[low..high)`.
    Range {
        low: Box<Expr>,
        high: Box<Expr>,
    },
    /// `s[i]` on a sequence, `m[k]` on a map.
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `s[i := v]`, `m[k := v]`.
    Update {
        base: Box<Expr>,
        index: Box<Expr>,
        value: Box<Expr>,
    },
    /// `s[..n]`.
    Take {
        base: Box<Expr>,
        count: Box<Expr>,
    },
    /// `s[n..]`; `s[a..b]` is `Drop(Take(s, b), a)`.
    Drop {
        base: Box<Expr>,
        count: Box<Expr>,
    },
    /// `|e|`.
    Cardinality(Box<Expr>),
    MapDomain(Box<Expr>),
    MapRange(Box<Expr>),
}

impl Expr {
    /// Makes an expression without annotations.
    pub fn new(kind: ExprKind, ty: Type, span: Span) -> Self {
        Self { kind, ty, span, annotations: Vec::new() }
    }

    /// Makes `true` or `false`.
    pub(crate) fn boolean(value: bool, span: Span) -> Self {
        Self::new(ExprKind::Bool(value), Type::Bool, span)
    }

    /// Makes the negation, at the place of the operand.
    pub(crate) fn negation(self) -> Self {
        let span = self.span;
        let kind = ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(self) };
        Self::new(kind, Type::Bool, span)
    }

    /// Tells whether the expression says nothing about permission, so that it has a value and can
    /// be a condition or an argument. `unfolding A in e` is pure if `e` is.
    pub fn is_pure(&self) -> bool {
        grow_stack(|| match &self.kind {
            ExprKind::Acc { .. } | ExprKind::Wand { .. } => false,
            ExprKind::And(operands) | ExprKind::Or(operands) => operands.iter().all(Self::is_pure),
            ExprKind::Binary { op: BinaryOp::Implies, right, .. } => right.is_pure(),
            ExprKind::Conditional { then, otherwise, .. } => then.is_pure() && otherwise.is_pure(),
            ExprKind::InhaleExhale { inhale, exhale } => inhale.is_pure() && exhale.is_pure(),
            ExprKind::Quantified { body, .. } | ExprKind::Let { body, .. } => body.is_pure(),
            ExprKind::Unfolding { body, .. }
            | ExprKind::Applying { body, .. }
            | ExprKind::Asserting { body, .. } => body.is_pure(),
            _ => true,
        })
    }
}
