//! The parsed tree: what is written, with names as text.
//!
//! [`parse`] produces it. Parentheses are not kept: the tree's shape says where they must stand.
//!
//! Invariants
//! - `And` and `Or` have at least two operands, none of which was an unparenthesised operand of the
//!   same operator, so that a long chain is a wide node and not a deep tree.
//! - No path from the root is longer than [`TREE_LIMIT`]; whoever recurses over the tree may rely
//!   on it.

mod build;
pub mod expr;
mod rewrite;
mod scan;
pub mod stmt;

pub use build::parse;
pub use expr::{
    AccessForm, BinaryOp, Domain, Expr, ExprKind, ForkState, LockMode, Quantifier, StateKind,
    TypeExpr, TypeExprKind, UnaryOp,
};
pub use stmt::{
    Block, Bounds, DeclModifiers, Generated, IfArm, Initialiser, New, Pattern, PatternPart, Rhs,
    Stmt, StmtKind,
};

use crate::source::Span;

/// How deep brackets, conditional expressions and quantifiers may nest.
pub const NESTING_LIMIT: usize = 1_000;

/// How deep the parsed tree may be, counting operators in sequence, selections and nesting alike.
pub const TREE_LIMIT: usize = 4_000;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Classes and channels in source order.
    pub declarations: Vec<Declaration>,
}

/// A top-level declaration.
#[derive(Debug, Clone, PartialEq)]
pub enum Declaration {
    /// `class C { .. }`
    Class(Class),
    /// `channel C(..) where e`
    Channel(Channel),
}

/// A name and where it stands. Two are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// `external class C module M refines B { .. }`
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Is it declared `external`?
    pub is_external: bool,
    /// The name.
    pub name: Ident,
    /// The module, if one is written.
    pub module: Option<Ident>,
    /// The class it refines.
    pub refines: Option<Ident>,
    /// Its members.
    pub members: Vec<Member>,
    /// The declaration.
    pub span: Span,
}

/// `channel C(..) where e`
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The name.
    pub name: Ident,
    /// The parts of a message.
    pub parameters: Vec<Formal>,
    /// The assertion that a message transfers.
    pub where_clause: Option<Expr>,
    /// The declaration.
    pub span: Span,
}

/// `x: T`; without type it is an integer or, with an initial value, has a type read off that.
#[derive(Debug, Clone, PartialEq)]
pub struct Formal {
    /// The name.
    pub name: Ident,
    /// The type, if one is written.
    pub ty: Option<TypeExpr>,
}

/// A member of a class and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The member itself.
    pub kind: MemberKind,
    /// The place of the member.
    pub span: Span,
}

/// The forms of members.
#[derive(Debug, Clone, PartialEq)]
pub enum MemberKind {
    /// `tracked ghost var f: T`
    Field {
        /// Is it declared `tracked`?
        is_tracked: bool,
        /// Is it declared `ghost`?
        is_ghost: bool,
        /// Has a refining class replaced it? Then it is a ghost that stands for other fields.
        is_replaced: bool,
        /// Name and type.
        formal: Formal,
    },
    /// `invariant e`
    Invariant(Expr),
    /// `method m(..) returns (..) specs { .. }`
    Method {
        /// Name, parameters and contract.
        signature: Signature,
        /// The body.
        body: Block,
    },
    /// `condition c where e`
    Condition {
        /// The name.
        name: Ident,
        /// The assertion that a signal transfers.
        where_clause: Option<Expr>,
    },
    /// `predicate P { e }`
    Predicate {
        /// The name.
        name: Ident,
        /// The assertion that the predicate stands for.
        body: Expr,
    },
    /// `unlimited static function f(..): T specs { e }`
    Function {
        /// Is it declared `unlimited`?
        is_unlimited: bool,
        /// Is it declared `static`?
        is_static: bool,
        /// Name, parameters and contract; a function has no results.
        signature: Signature,
        /// Type of the value.
        result: TypeExpr,
        /// The defining expression.
        body: Option<Expr>,
    },
    /// `replaces f, g by e`
    Coupling {
        /// The replaced fields.
        fields: Vec<Ident>,
        /// Relates them to the fields of this class.
        invariant: Expr,
    },
    /// `refines m(..) { .. }`
    Refine {
        /// Name, parameters and contract.
        signature: Signature,
        /// The new body.
        body: Block,
    },
    /// `transforms m(..) { pattern }`
    Transform {
        /// Name, parameters and contract.
        signature: Signature,
        /// How the body changes.
        pattern: Pattern,
    },
}

/// Name, parameters, results and contract of a member.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name.
    pub name: Ident,
    /// In parameters.
    pub parameters: Vec<Formal>,
    /// Out parameters.
    pub results: Vec<Formal>,
    /// The clauses in source order.
    pub specs: Vec<Spec>,
}

/// A specification clause and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The condition.
    pub kind: SpecKind,
    /// The clause.
    pub span: Span,
}

/// The forms of specification clauses.
#[derive(Debug, Clone, PartialEq)]
pub enum SpecKind {
    /// `requires e`
    Requires(Expr),
    /// `ensures e`
    Ensures(Expr),
    /// `invariant e` of a loop
    Invariant(Expr),
    /// `lockchange e, ..`
    LockChange(Vec<Expr>),
    /// `decreases e, ..`
    Decreases(Vec<Expr>),
}
