//! Statements.

use std::borrow::Cow;

use findings::{ErrorId, Reason};

use super::{
    Access, ChannelId, ClassId, ConditionId, Expr, FieldId, LocalId, LockMode, Measure, MethodId,
};
use crate::source::Span;
use crate::syntax;

/// Statements in sequence, with a scope of their own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// Is it ghost code, which leaves alone what runs?
    pub is_ghost: bool,
    /// The block with its braces.
    pub span: Span,
}

/// A statement and its place, which starts at the statement's first token.
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
    /// An obligation that follows from what is written elsewhere; see [`crate::elaborate`].
    Prove(Box<Obligation>),
    /// `assume e`
    Assume(Expr),
    /// `{ .. }`
    Block(Block),
    /// `var x: T := e`; the local tells whether it is ghost or constant.
    Declare {
        /// The new variable.
        local: LocalId,
        /// Its initial value; absent means any value.
        value: Option<Rhs>,
    },
    /// `x := e`
    AssignLocal {
        /// A variable, an out parameter or a ghost constant.
        local: LocalId,
        /// Its new value.
        value: Rhs,
        /// The left-hand side.
        target_span: Span,
    },
    /// `e.f := e'`
    AssignField {
        /// The object.
        receiver: Expr,
        /// The field, never a special one.
        field: FieldId,
        /// Its new value.
        value: Rhs,
        /// The left-hand side.
        target_span: Span,
    },
    /// `var x, y [pre, post]`: some values such that `post`, provided `pre`.
    Specification {
        /// The variables that change; those with `declares` are new.
        targets: Vec<OutVariable>,
        /// The condition before; absent means `true`. It is resolved with the targets in scope.
        pre: Option<Expr>,
        /// The condition afterwards; `old` is the state before the statement.
        post: Expr,
    },
    /// `call x, y := o.m(e, ..)`
    Call {
        /// One for each result of the method, or none at all.
        outs: Vec<OutVariable>,
        /// The object.
        receiver: Expr,
        /// The method.
        method: MethodId,
        /// The actual parameters.
        arguments: Vec<Expr>,
    },
    /// `fork tk := o.m(e, ..)`
    Fork {
        /// Keeps the token; absent means it is lost.
        token: Option<OutVariable>,
        /// The object.
        receiver: Expr,
        /// The method.
        method: MethodId,
        /// The actual parameters.
        arguments: Vec<Expr>,
    },
    /// `join x, y := tk`
    Join {
        /// One for each result of the method, or none at all; they never declare.
        outs: Vec<OutVariable>,
        /// The token.
        token: Expr,
        /// The method its type names.
        method: MethodId,
    },
    /// `if (c) { .. } else if (d) { .. } else ..`
    If {
        /// Conditions tried in order; at least one.
        arms: Vec<IfArm>,
        /// The last branch, where no guard holds. A single statement after `else` is a block of its
        /// own.
        otherwise: Option<Block>,
    },
    /// `while (c) invariant e { .. }`
    While {
        /// The guard.
        guard: Expr,
        /// One per clause.
        invariants: Vec<Expr>,
        /// Objects whose lock status the loop may change, of all clauses.
        lock_changes: Vec<Expr>,
        /// Its measures, of all clauses.
        decreases: Vec<Measure>,
        /// The body.
        body: Block,
    },
    /// `share e between l and u`
    Share {
        /// The object.
        target: Expr,
        /// Where in the lock order.
        bounds: Bounds,
    },
    /// `reorder e between l and u`
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
    /// `lock (e) { .. }`, `rd lock (e) { .. }`, `[[ .. ]]`: evaluates the object once, acquires,
    /// runs, releases.
    Lock {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
        /// The code under the lock.
        body: Block,
    },
    /// `downgrade e`
    Downgrade(Expr),
    /// `free e`
    Free(Expr),
    /// `fold acc(e.P, p)`; the target is a predicate.
    Fold(Access),
    /// `unfold acc(e.P, p)`; the target is a predicate.
    Unfold(Access),
    /// `send c(e, ..)`
    Send {
        /// The channel.
        channel: Expr,
        /// Its declaration.
        declaration: ChannelId,
        /// The message.
        arguments: Vec<Expr>,
    },
    /// `receive x, y := c`
    Receive {
        /// One for each parameter of the channel, or none at all.
        outs: Vec<OutVariable>,
        /// The channel.
        channel: Expr,
        /// Its declaration.
        declaration: ChannelId,
    },
    /// `wait o.c`
    Wait(ConditionRef),
    /// `signal o.c`
    Signal(ConditionRef),
    /// `signal forall o.c`
    SignalAll(ConditionRef),
}

/// A claim that has to hold where it stands, like that of an `assert`.
#[derive(Debug, Clone, PartialEq)]
pub struct Obligation {
    /// The claim; it asks for no permission.
    pub claim: Expr,
    /// The error if it might not hold, or might not be defined.
    pub error: ErrorId,
    /// The reason if it might not hold.
    pub reason: Reason,
    /// The words of the message then.
    pub words: Cow<'static, str>,
}

/// A right-hand side.
#[derive(Debug, Clone, PartialEq)]
pub enum Rhs {
    /// `e`
    Expr(Expr),
    /// `new C { f := e, .. }`
    New {
        /// The class.
        class: ClassId,
        /// Fields with a known initial value, in the order they are written.
        initialisers: Vec<Initialiser>,
        /// The expression.
        span: Span,
    },
    /// `new Ch between l and u`
    NewChannel {
        /// The channel declaration.
        channel: ChannelId,
        /// Where in the lock order.
        bounds: Bounds,
        /// The expression.
        span: Span,
    },
}

/// `f := e` in `new C { .. }`
pub type Initialiser = syntax::Initialiser<FieldId, Expr>;

/// Where a lock level is placed: above all of `lower` and below all of `upper`.
///
/// Elements are references (meaning their `mu`; a null one is ignored) or lock levels.
/// Both lists empty means above `waitlevel`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    /// Lower bounds.
    pub lower: Vec<Expr>,
    /// Upper bounds.
    pub upper: Vec<Expr>,
}

/// A variable that a statement assigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutVariable {
    /// The variable.
    pub local: LocalId,
    /// Does this statement also declare it (in the enclosing block)?
    pub declares: bool,
    /// Where it is named.
    pub span: Span,
}

/// One condition of an `if` and what follows from it.
pub type IfArm = syntax::IfArm<Expr, Block>;

/// A condition variable of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionRef {
    /// The object.
    pub receiver: Expr,
    /// Its condition variable.
    pub condition: ConditionId,
}
