//! Parsed statements.

use super::{Clause, Expr, Ident, Text, TypeExpr};
use crate::source::Span;

/// Statements in braces.
#[derive(Debug, Clone)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement and its place.
#[derive(Debug, Clone)]
pub struct Stmt {
    /// The statement itself.
    pub kind: StmtKind,
    /// The place of the statement.
    pub span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone)]
pub enum StmtKind {
    /// `{ .. }`
    Block(Block),
    /// `ghost var x: T, .. := e, ..`
    Declare {
        /// Is it declared `ghost`?
        is_ghost: bool,
        /// The declared variables.
        variables: Vec<Variable>,
        /// The initial values.
        values: Option<Vec<Expr>>,
    },
    /// `x, .. := e, ..`
    Assign {
        /// The targets.
        targets: Vec<Expr>,
        /// The new values.
        values: Values,
    },
    /// `p(e, ..)`, or another expression alone.
    Call(Expr),
    /// `free e`
    Free(Expr),
    /// `havoc x, ..`
    Havoc(Vec<Ident>),
    /// `pure assume e`
    Assume {
        /// Is `pure` written?
        is_pure: bool,
        /// The trusted condition.
        condition: Expr,
    },
    /// `pure assert "label" e with { .. }`
    Assert {
        /// Is `pure` written?
        is_pure: bool,
        /// The label.
        label: Option<Text>,
        /// The condition to show.
        condition: Expr,
        /// How.
        proof: Option<Block>,
    },
    /// `split e`
    Split(Expr),
    /// `return e, ..`
    Return(Vec<Expr>),
    /// `fold p(e, ..)`
    Fold {
        /// The predicate.
        predicate: Ident,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// `unfold p(e, ..)`
    Unfold {
        /// The predicate.
        predicate: Ident,
        /// Its arguments.
        arguments: Vec<Expr>,
    },
    /// `if (c) s else if (d) t else u`
    If {
        /// Conditions with what follows from them, at least one.
        arms: Vec<(Expr, Stmt)>,
        /// The last `else`.
        otherwise: Option<Box<Stmt>>,
    },
    /// `choose s or t`
    Choose(Vec<Stmt>),
    /// `while (c) invariant e { .. }`
    While {
        /// The guard.
        condition: Expr,
        /// The invariants.
        invariants: Vec<Clause>,
        /// The body.
        body: Box<Stmt>,
    },
}

/// `x: T`; the type may be left out before an initial value.
#[derive(Debug, Clone)]
pub struct Variable {
    /// The name.
    pub name: Ident,
    /// The type, if one is written.
    pub ty: Option<TypeExpr>,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone)]
pub enum Values {
    /// `e, ..`
    Exprs(Vec<Expr>),
    /// `"text"`
    Text(Text),
}
