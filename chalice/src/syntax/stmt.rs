//! Parsed statements and refinement patterns.

use super::{Expr, Formal, Ident, LockMode, Spec};
use crate::source::Span;

/// Statements in braces.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    /// The statement itself.
    pub kind: StmtKind,
    /// The place of the statement.
    pub span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    /// `assert e`
    Assert(Expr),
    /// `assume e`
    Assume(Expr),
    /// `{ .. }`
    Block(Block),
    /// `ghost const x: T := e`
    Declare {
        /// The words before the name.
        modifiers: DeclModifiers,
        /// Name and type.
        formal: Formal,
        /// The initial value.
        value: Option<Rhs>,
    },
    /// `var x, y [pre, post]`
    Specification {
        /// The words before the names.
        modifiers: DeclModifiers,
        /// Old and new variables.
        targets: Vec<Formal>,
        /// The condition before.
        pre: Option<Expr>,
        /// The condition afterwards.
        post: Expr,
    },
    /// `x := e`, `e.f := e'`
    Assign {
        /// A name or a selection.
        target: Expr,
        /// The new value.
        value: Rhs,
    },
    /// `call x := o.m(..)`
    Call {
        /// Variables for the results.
        outs: Vec<Ident>,
        /// The object; absent means `this`.
        receiver: Option<Expr>,
        /// The method.
        method: Ident,
        /// Actual parameters.
        arguments: Vec<Expr>,
    },
    /// `fork tk := o.m(..)`
    Fork {
        /// The variable for the token.
        token: Option<Ident>,
        /// The object; absent means `this`.
        receiver: Option<Expr>,
        /// The method.
        method: Ident,
        /// Actual parameters.
        arguments: Vec<Expr>,
    },
    /// `join x := e`
    Join {
        /// Variables for the results.
        outs: Vec<Ident>,
        /// The token.
        token: Expr,
    },
    /// `if (c) { .. } else if (d) { .. } else s`
    If {
        /// Conditions in order, at least one.
        arms: Vec<IfArm>,
        /// The last `else`.
        otherwise: Option<Box<Stmt>>,
    },
    /// `while (c) invariant e { .. }`
    While {
        /// The guard.
        guard: Expr,
        /// Invariants and lockchange clauses.
        specs: Vec<Spec>,
        /// The body.
        body: Block,
    },
    /// `share e bounds`
    Share {
        /// The object.
        target: Expr,
        /// Where in the lock order.
        bounds: Bounds,
    },
    /// `reorder e bounds`
    Reorder {
        /// The object.
        target: Expr,
        /// Where in the lock order.
        bounds: Bounds,
    },
    /// `unshare e`
    Unshare(Expr),
    /// `acquire e`, `rd acquire e`
    Acquire {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `release e`, `rd release e`
    Release {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `lock (e) { .. }`, `rd lock (e) { .. }`
    Lock {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
        /// The code under the lock.
        body: Block,
    },
    /// `[[ .. ]]`
    LockThis(Block),
    /// `downgrade e`
    Downgrade(Expr),
    /// `free e`
    Free(Expr),
    /// `fold e`
    Fold(Expr),
    /// `unfold e`
    Unfold(Expr),
    /// `send c(..)`
    Send {
        /// The channel.
        channel: Expr,
        /// The message.
        arguments: Vec<Expr>,
    },
    /// `receive x := c`
    Receive {
        /// Variables for the message.
        outs: Vec<Ident>,
        /// The channel.
        channel: Expr,
    },
    /// Code of a refinement.
    Generated(Box<Generated>),
    /// `wait e`
    Wait(Expr),
    /// `signal e`, `signal forall e`
    Signal {
        /// The condition variable.
        condition: Expr,
        /// Does it wake all who wait?
        is_for_all: bool,
    },
}

/// A statement that follows from what is written elsewhere. It is never parsed.
#[derive(Debug, Clone, PartialEq)]
pub enum Generated {
    /// A new ghost variable with the value and the type of an expression.
    Keep {
        /// The variable.
        name: Ident,
        /// Its value.
        value: Expr,
    },
    /// Ghost code: it may read ghosts everywhere, and is not run.
    Ghost(Block),
    /// A claim that has to hold.
    Prove {
        /// The claim.
        claim: Expr,
        /// The words of the message if it does not hold.
        words: String,
    },
}

/// The words before declared names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclModifiers {
    /// Is `ghost` among them?
    pub is_ghost: bool,
    /// Is `const` among them?
    pub is_const: bool,
    /// Is it `spec` instead of `var` or `const`?
    pub is_spec: bool,
}

/// One condition of an `if` and what follows from it; expression and block are parsed or resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct IfArm<E = Expr, B = Block> {
    /// Holds in this arm.
    pub condition: E,
    /// The code that runs then.
    pub body: B,
    /// From its `if` to the end of its block.
    pub span: Span,
}

/// A right-hand side.
#[derive(Debug, Clone, PartialEq)]
pub enum Rhs {
    /// `e`
    Expr(Expr),
    /// `new C ..`
    New(New),
}

/// `new C { f := e, .. } bounds`
#[derive(Debug, Clone, PartialEq)]
pub struct New {
    /// A class or channel.
    pub class: Ident,
    /// Initial values of fields.
    pub initialisers: Vec<Initialiser>,
    /// Where in the lock order.
    pub bounds: Bounds,
    /// All of it.
    pub span: Span,
}

/// `f := e`; field and expression are parsed or resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Initialiser<F = Ident, E = Expr> {
    /// The field.
    pub field: F,
    /// Its value.
    pub value: E,
    /// All of it.
    pub span: Span,
}

/// `between l and u`, `above l below u`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    /// The lower bounds.
    pub lower: Vec<Expr>,
    /// The upper bounds.
    pub upper: Vec<Expr>,
}

/// `{ part .. }` of a transform
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The parts.
    pub parts: Vec<PatternPart>,
    /// With the braces.
    pub span: Span,
}

/// A piece of a pattern for method bodies.
#[derive(Debug, Clone, PartialEq)]
pub enum PatternPart {
    /// `_`: deterministic statements, kept
    Keep,
    /// `*`: any statements, kept
    KeepAny,
    /// `if { .. } else { .. }`
    If {
        /// The first branch.
        then: Pattern,
        /// The other; `else if` is a pattern with one part.
        otherwise: Option<Pattern>,
    },
    /// `while invariant e { .. }`
    While {
        /// Invariants to add.
        invariants: Vec<Spec>,
        /// The body.
        body: Pattern,
    },
    /// `replaces * by { .. }`
    ReplaceBlock(Block),
    /// `replaces x, y by { .. }`
    ReplaceOne {
        /// The variables the replaced statement changes.
        targets: Vec<Ident>,
        /// The replacement.
        body: Block,
    },
    /// Code to insert.
    Insert(Stmt),
}
