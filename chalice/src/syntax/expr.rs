//! Parsed expressions and types.

use front::grow_stack;
use num_bigint::BigInt;

use super::Ident;
use crate::source::Span;

/// A type as written. Two are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct TypeExpr {
    /// The type itself.
    pub kind: TypeExprKind,
    /// The place of the type.
    pub span: Span,
}

impl PartialEq for TypeExpr {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind)
    }
}

/// The forms of types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeExprKind {
    /// `int`
    Int,
    /// `bool`
    Bool,
    /// `string`
    String,
    /// A class or channel.
    Name(String),
    /// `seq<T>`; exactly one argument is right, but any number can be written.
    Seq(Vec<TypeExpr>),
    /// `set<T>`, likewise.
    Set(Vec<TypeExpr>),
    /// `token<C.m>`
    Token {
        /// The class.
        class: Box<TypeExpr>,
        /// Its method.
        method: Ident,
    },
}

/// An expression and its place, without parentheses around it. Two are equal if they say the same,
/// wherever they are.
#[derive(Debug, Clone)]
pub struct Expr {
    /// The expression itself.
    pub kind: ExprKind,
    /// The place of the expression.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind)
    }
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `7`
    Int(BigInt),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `"text"`, without its quotes
    String(String),
    /// `this`
    This,
    /// `result`
    Result,
    /// `waitlevel`
    WaitLevel,
    /// `lockbottom`
    LockBottom,
    /// A name alone: a local or a member of `this`.
    Name(String),
    /// `e.f`
    Select {
        /// The object.
        receiver: Box<Expr>,
        /// Field or predicate.
        member: Ident,
    },
    /// `e.f(..)` or `f(..)`
    Apply {
        /// The object; absent means `this`.
        receiver: Option<Box<Expr>>,
        /// The function.
        function: Ident,
        /// Actual parameters.
        arguments: Vec<Expr>,
    },
    /// `e.*`, a location only
    AllFields(Box<Expr>),
    /// `s[*]`, the beginning of a location only
    Elements(Box<Expr>),
    /// `e.~(C.f)` or `~(C.f)`
    BackPointers {
        /// The object; absent means `this`.
        receiver: Option<Box<Expr>>,
        /// Class of the pointing objects.
        class: Ident,
        /// Their field.
        field: Ident,
    },
    /// `s[i]`
    Index {
        /// The sequence.
        sequence: Box<Expr>,
        /// Counted from 0.
        index: Box<Expr>,
    },
    /// `s[a..b]`, `s[a..]`, `s[..b]`
    Slice {
        /// The sequence.
        sequence: Box<Expr>,
        /// How many to drop.
        from: Option<Box<Expr>>,
        /// How many to take first.
        to: Option<Box<Expr>>,
    },
    /// `!e`, `-e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// Any infix operator except `&&` and `||`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a && b && ..`
    And(Vec<Expr>),
    /// `a || b || ..`
    Or(Vec<Expr>),
    /// `c ? a : b`, also written `ite(c, a, b)`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// If it holds.
        then: Box<Expr>,
        /// If not.
        otherwise: Box<Expr>,
    },
    /// `acc(l, p)`, `rd(l, n)`; also the amounts `rd(n)`, `rd(P)`, `rd(tk)`, told apart by context
    Access {
        /// The word before the parenthesis.
        form: AccessForm,
        /// A location, or what an amount is made of.
        target: Box<Expr>,
        /// The amount.
        amount: Option<Box<Expr>>,
    },
    /// `rd`, an amount
    Rd,
    /// `credit(c, n)`
    Credit {
        /// The channel.
        channel: Box<Expr>,
        /// How many.
        amount: Option<Box<Expr>>,
    },
    /// `holds(e)`, `rd holds(e)`
    Holds {
        /// The object.
        target: Box<Expr>,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `assigned(x)`
    Assigned(Ident),
    /// `old(e)`
    Old(Box<Expr>),
    /// `unfolding e in e'`
    Unfolding {
        /// The predicate instance, in any form.
        access: Box<Expr>,
        /// Evaluated with it opened.
        body: Box<Expr>,
    },
    /// `|e|`
    Length(Box<Expr>),
    /// `eval(e.state, e')`, also written `e.state { e' }`
    Eval {
        /// The object or token before the state.
        subject: Box<Expr>,
        /// The state.
        state: StateKind,
        /// Evaluated there.
        body: Box<Expr>,
    },
    /// `forall x, y in s :: e` and its kin
    Quantified {
        /// The binder.
        quantifier: Quantifier,
        /// The bound names.
        variables: Vec<Ident>,
        /// The range of all variables.
        domain: Domain,
        /// The body.
        body: Box<Expr>,
    },
    /// `[a..b]`
    Range {
        /// The first element.
        from: Box<Expr>,
        /// One after the last.
        to: Box<Expr>,
    },
    /// `[a, ..]`
    Seq(Vec<Expr>),
    /// `{a, ..}`
    Set(Vec<Expr>),
    /// `nil<T>`
    Nil(TypeExpr),
    /// `empty<T>`
    Empty(TypeExpr),
    /// `_`, an argument of a fork state only
    Any,
}

/// The words that begin an accessibility assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessForm {
    /// `acc(..)`
    Acc,
    /// `rd(..)`
    Rd,
    /// `rd*(..)`
    RdStar,
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`, the same as subtraction from zero.
    Negate,
}

front::operators! {
    /// Infix operators as symbols; a symbol may stand for several operations.
    pub enum BinaryOp {
        Iff = "<==>",
        Implies = "==>",
        Eq = "==",
        Ne = "!=",
        Less = "<",
        AtMost = "<=",
        AtLeast = ">=",
        Greater = ">",
        Below = "<<",
        In = "in",
        NotIn = "!in",
        Append = "++",
        Add = "+",
        Sub = "-",
        Mul = "*",
        Div = "/",
        Mod = "%",
    }
}

/// The states `eval` speaks about.
#[derive(Debug, Clone, PartialEq)]
pub enum StateKind {
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.fork o.m(..)`
    Fork(Box<ForkState>),
}

/// `fork o.m(..)` in `eval`; arguments may be [`ExprKind::Any`].
#[derive(Debug, Clone, PartialEq)]
pub struct ForkState {
    /// The object; absent means `this`.
    pub receiver: Option<Expr>,
    /// The method.
    pub method: Ident,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// The binders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`, of type `bool`; its body may be an assertion.
    Forall,
    /// `exists`, of type `bool`.
    Exists,
    /// `sum`, of type `int`.
    Sum,
    /// `max`, of type `int`.
    Max,
}

/// The range of bound variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// `: T`
    Type(TypeExpr),
    /// `in e`
    In(Box<Expr>),
    /// `: e`, a set
    Over(Box<Expr>),
}

/// Held for writing or for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// The exclusive lock.
    Write,
    /// The shared lock (`rd acquire`, `rd holds`, ..).
    Read,
}
