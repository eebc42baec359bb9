//! Expressions and assertions, which share one type of node.

use std::ops::Deref;

use front::grow_stack;
use num_bigint::BigInt;

use super::{Annotation, Ident, Type, TypedName};
use crate::source::{Name, Span};

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// Not derived: a tree may be too deep for the stack of the thread.
impl Clone for Expr {
    fn clone(&self) -> Self {
        grow_stack(|| Self {
            kind: self.kind.clone(),
            annotations: self.annotations.clone(),
            span: self.span,
        })
    }
}

impl Expr {
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, annotations: Vec::new(), span }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Not,
    Minus,
}

front::operators! {
    pub enum BinaryOp {
        Iff = "<==>",
        Implies = "==>",
        Wand = "--*",
        Eq = "==",
        Ne = "!=",
        Le = "<=",
        Ge = ">=",
        Lt = "<",
        Gt = ">",
        In = "in",
        Add = "+",
        Sub = "-",
        Append = "++",
        Union = "union",
        Intersection = "intersection",
        Setminus = "setminus",
        Subset = "subset",
        Mul = "*",
        /// A fraction, a permission division or integer division, by type.
        Div = "/",
        /// Integer division.
        IntDiv = "\\",
        Mod = "%",
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    Forall,
    Exists,
}

/// The collection that a literal makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Collection {
    Seq,
    Set,
    Multiset,
}

/// The state an `old` refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OldLabel<L = Ident> {
    /// `old(e)`.
    Entry,
    /// `old[lhs](e)`.
    Lhs,
    /// `old[l](e)`.
    Label(L),
}

/// `{ t1, …, tn }`, of a quantifier: its terms are matched together.
#[derive(Clone, Debug)]
pub struct Trigger<E> {
    pub terms: Vec<E>,
    /// The text from brace to brace.
    pub span: Span,
}

/// A trigger that nobody wrote.
impl<E> From<Vec<E>> for Trigger<E> {
    fn from(terms: Vec<E>) -> Self {
        Self { terms, span: Span::default() }
    }
}

impl<E> Deref for Trigger<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.terms
    }
}

impl<'t, E> IntoIterator for &'t Trigger<E> {
    type Item = &'t E;
    type IntoIter = std::slice::Iter<'t, E>;

    fn into_iter(self) -> Self::IntoIter {
        self.terms.iter()
    }
}

impl<'t, E> IntoIterator for &'t mut Trigger<E> {
    type Item = &'t mut E;
    type IntoIter = std::slice::IterMut<'t, E>;

    fn into_iter(self) -> Self::IntoIter {
        self.terms.iter_mut()
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Int(BigInt),
    Bool(bool),
    Null,
    Result,
    /// `none`.
    NoPerm,
    /// `write`.
    FullPerm,
    Wildcard,
    Epsilon,
    Ident(Name),
    /// A function, domain function, predicate, method, constructor or macro; `(f(x): T)` has an
    /// ascription.
    Call {
        name: Ident,
        arguments: Vec<Expr>,
        ascription: Option<Box<Type>>,
    },
    /// `e.f`: field, destructor or discriminator.
    Field {
        receiver: Box<Expr>,
        name: Ident,
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
    /// `a && b && …`: two operands or more.
    And(Vec<Expr>),
    /// `a || b || …`: two operands or more.
    Or(Vec<Expr>),
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `s[i]`, `m[k]`.
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
    /// `s[lo..hi]`, each bound optional.
    Slice {
        base: Box<Expr>,
        low: Option<Box<Expr>>,
        high: Option<Box<Expr>>,
    },
    /// `|e|`.
    Cardinality(Box<Expr>),
    /// `[a, b]`.
    InhaleExhale(Box<Expr>, Box<Expr>),
    /// `[a..b)`.
    Range(Box<Expr>, Box<Expr>),
    Old {
        label: OldLabel,
        body: Box<Expr>,
    },
    /// `acc(location, amount)`.
    Acc {
        location: Box<Expr>,
        amount: Option<Box<Expr>>,
    },
    /// `perm(resource)`.
    Perm(Box<Expr>),
    Quantified {
        quantifier: Quantifier,
        variables: Vec<TypedName>,
        triggers: Vec<Trigger<Expr>>,
        body: Box<Expr>,
    },
    ForPerm {
        variables: Vec<TypedName>,
        resource: Box<Expr>,
        body: Box<Expr>,
    },
    Let {
        variable: Ident,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    Unfolding {
        access: Box<Expr>,
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
    /// `Seq(…)`, `Set[T]()`, …; the type argument is written only where there are no elements.
    Literal {
        collection: Collection,
        element: Option<Box<Type>>,
        elements: Vec<Expr>,
    },
    MapLiteral {
        types: Option<Box<(Type, Type)>>,
        entries: Vec<(Expr, Expr)>,
    },
    /// `domain(m)`.
    MapDomain(Box<Expr>),
    /// `range(m)`.
    MapRange(Box<Expr>),
    /// `#P(…)`.
    PredicateInstance {
        name: Ident,
        arguments: Vec<Expr>,
    },
    /// `new(f, g)`, `new(*)` (`None`): only as the right-hand side of an assignment.
    New(Option<Vec<Ident>>),
}
