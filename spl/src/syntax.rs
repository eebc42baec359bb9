//! The parsed tree: what is written, with names as text.
//!
//! [`parse`] produces it for one file. Parentheses are not kept: the tree's shape says where they
//! must stand.
//!
//! Invariants
//! - Two parts are equal if they say the same, wherever they are.
//! - `And`, `Or`, `Star` and `Overlap` have at least two operands, none of which was an
//!   unparenthesised operand of the same operator, so that a long chain is a wide node and not a
//!   deep tree.
//! - No path from the root is longer than [`TREE_LIMIT`]; whoever recurses over the tree may rely
//!   on it.

mod build;
pub mod expr;
mod scan;
pub mod stmt;

pub use build::parse;
pub use expr::{
    Annotation, BinaryOp, BoundVariable, ChainOp, Domain, Expr, ExprKind, Quantifier, TypeExpr,
    TypeExprKind, UnaryOp,
};
pub use stmt::{Block, Stmt, StmtKind, Values, Variable};

use crate::source::Span;

/// How deep brackets, conditional expressions, quantifiers and statements may nest.
pub const NESTING_LIMIT: usize = 1_000;

/// How deep the parsed tree may be, counting operators in sequence, selections and nesting alike.
pub const TREE_LIMIT: usize = 4_000;

/// One file, or a whole program once includes are read.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The declarations in source order.
    pub declarations: Vec<Declaration>,
    /// Is there a `fold`, `unfold` or `unfolding`?
    pub opens_predicates: bool,
}

/// A name and where it stands.
#[derive(Debug, Clone)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A text in quotes, without them, and its place.
#[derive(Debug, Clone)]
pub struct Text {
    /// The meaning of the text: escapes are replaced.
    pub value: String,
    /// Its place.
    pub span: Span,
}

/// A declaration and its place.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The declaration itself.
    pub kind: DeclarationKind,
    /// Where.
    pub span: Span,
}

/// The forms of declarations.
#[derive(Debug, Clone)]
pub enum DeclarationKind {
    /// `include "file"`
    Include(Text),
    /// `options "flags"`
    Options(Text),
    /// `axiom e`
    Axiom(Expr),
    /// `type t = T`
    Type {
        /// The name.
        name: Ident,
        /// The type that the name stands for; absent means a type of its own.
        value: Option<TypeExpr>,
    },
    /// `datatype d = c(x: T, ..) | ..`
    Datatype {
        /// The name.
        name: Ident,
        /// The constructors.
        constructors: Vec<Constructor>,
    },
    /// `struct S { .. }`
    Struct {
        /// The name.
        name: Ident,
        /// The fields.
        fields: Vec<VarDecl>,
    },
    /// `ghost var x: T` outside of structs.
    Global(VarDecl),
    /// `const c: T`
    Const(Formal),
    /// `define m(x, ..) { e }`
    Macro {
        /// The name.
        name: Ident,
        /// Its parameters.
        parameters: Vec<Ident>,
        /// The expression that the macro stands for.
        body: Expr,
    },
    /// `procedure p(..)`, `lemma l(..)`
    Procedure {
        /// Procedure or lemma.
        kind: ProcedureKind,
        /// Name, parameters, results and contract.
        signature: Signature,
        /// The body.
        body: Option<Block>,
    },
    /// `pure predicate p(..)`
    Predicate {
        /// Is it declared `pure`?
        is_pure: bool,
        /// Name, parameters and contract; a predicate has no results.
        signature: Signature,
        /// The assertion it stands for.
        body: Option<Expr>,
    },
    /// `function f(..) returns (r: T)`
    Function {
        /// Name, parameters, results and contract.
        signature: Signature,
        /// Its value.
        body: Option<Expr>,
    },
}

/// The words before the name of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcedureKind {
    /// `procedure`
    Procedure,
    /// `lemma`
    Lemma,
    /// `auto lemma`
    AutoLemma,
}

/// `c(x: T, ..)` of a datatype.
#[derive(Debug, Clone, PartialEq)]
pub struct Constructor {
    /// The name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<Formal>,
}

/// `ghost var x: T`
#[derive(Debug, Clone)]
pub struct VarDecl {
    /// Is it declared `ghost`?
    pub is_ghost: bool,
    /// Name and type.
    pub formal: Formal,
    /// All of it.
    pub span: Span,
}

/// `x: T`
#[derive(Debug, Clone, PartialEq)]
pub struct Formal {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: TypeExpr,
}

/// `implicit ghost x: T`
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Is it declared `implicit`?
    pub is_implicit: bool,
    /// Is it declared `ghost`?
    pub is_ghost: bool,
    /// Name and type.
    pub formal: Formal,
}

/// Name, parameters, results and contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name.
    pub name: Ident,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Results.
    pub results: Vec<Parameter>,
    /// The clauses in source order.
    pub contract: Vec<Clause>,
}

/// `pure free requires e`
#[derive(Debug, Clone)]
pub struct Clause {
    /// The kind of the clause.
    pub kind: ClauseKind,
    /// Is `pure` written?
    pub is_pure: bool,
    /// Is `free` written?
    pub is_free: bool,
    /// The condition of the clause.
    pub condition: Expr,
    /// The clause, from its first word.
    pub span: Span,
}

/// The kinds of clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClauseKind {
    /// `requires`
    Requires,
    /// `ensures`
    Ensures,
    /// `invariant` of a loop
    Invariant,
}

impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        let modifiers = |clause: &Self| (clause.kind, clause.is_pure, clause.is_free);
        modifiers(self) == modifiers(other) && self.condition == other.condition
    }
}
