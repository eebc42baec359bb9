//! Lowered statements: a body is a flat list with jumps, so that a thread can stop anywhere.

use chalice::Span;
use chalice::program::{LockMode, Obligation, Type};

use super::{Access, Expr};

/// A statement.
#[derive(Debug, Clone)]
pub struct Instr {
    /// The operation.
    pub op: Op,
    /// The place of the instruction.
    pub span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone)]
pub enum Op {
    /// `assert e`, or an obligation that follows from what is written elsewhere.
    Assert(Expr, Option<Box<Obligation>>),
    /// `assume e`
    Assume(Expr),
    /// `var x: T`: any value.
    Havoc {
        /// The variable.
        slot: u32,
        /// Its type.
        ty: Type,
        /// The flag to clear if it is a constant.
        flag: Option<u32>,
    },
    /// `x := e`
    Assign {
        /// The variable.
        slot: u32,
        /// Its value.
        value: Rhs,
        /// The flag to set if it is a constant.
        flag: Option<u32>,
    },
    /// `e.f := e'`
    AssignField {
        /// The object.
        receiver: Expr,
        /// The cell.
        cell: u32,
        /// The back-pointer cell of the objects it points to, if the field is tracked.
        tracked: Option<u32>,
        /// The value.
        value: Rhs,
    },
    /// `var x [pre, post]`
    Specification(Box<Specification>),
    /// `call`
    Call(Box<CallSite>),
    /// `fork`; the first of the outs, if any, is the token.
    Fork(Box<CallSite>),
    /// `join`
    Join {
        /// Where the results go.
        outs: Vec<u32>,
        /// The token.
        token: Expr,
    },
    /// Goes on elsewhere.
    Jump(u32),
    /// Goes on elsewhere if the condition is false.
    Branch {
        /// The condition.
        condition: Expr,
        /// Where to go on.
        otherwise: u32,
    },
    /// Gives the loop what its invariants ask for.
    LoopEnter(u32),
    /// The guard: goes on after the loop if it is false.
    LoopTest(u32),
    /// The end of the body.
    LoopBack(u32),
    /// `share e between ..`, `reorder ..`
    Place {
        /// The object.
        target: Expr,
        /// Where in the lock order.
        bounds: Bounds,
        /// Is it shared by this, or shared already?
        reorder: bool,
    },
    /// `unshare e`
    Unshare(Expr),
    /// `acquire e`
    Acquire {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `release e`
    Release {
        /// The object.
        target: Expr,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `downgrade e`
    Downgrade(Expr),
    /// `free e`
    Free(Expr),
    /// `fold acc(e.P, p)`
    Fold(Access),
    /// `unfold acc(e.P, p)`
    Unfold(Access),
    /// `send c(e, ..)`
    Send {
        /// The channel.
        channel: Expr,
        /// The message.
        arguments: Vec<Expr>,
    },
    /// `receive x, .. := c`
    Receive {
        /// Where the values go.
        outs: Vec<u32>,
        /// The channel.
        channel: Expr,
    },
    /// A statement that is not executed.
    Unsupported(&'static str),
    /// The end of the body.
    Return,
}

/// A call or fork.
#[derive(Debug, Clone)]
pub struct CallSite {
    /// Where the results go.
    pub outs: Vec<u32>,
    /// The object.
    pub receiver: Expr,
    /// The method.
    pub method: u32,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// A specification statement.
#[derive(Debug, Clone)]
pub struct Specification {
    /// The variables that change, with their types.
    pub targets: Vec<(u32, Type)>,
    /// The condition before.
    pub pre: Option<Expr>,
    /// The condition afterwards.
    pub post: Expr,
}

/// A right-hand side.
#[derive(Debug, Clone)]
pub enum Rhs {
    /// `e`
    Expr(Expr),
    /// `new C { .. }`
    New {
        /// The class.
        class: u32,
        /// Cells that are given values.
        initialisers: Vec<Initialiser>,
    },
    /// `new Ch between ..`
    NewChannel {
        /// The channel.
        channel: u32,
        /// Where in the lock order.
        bounds: Bounds,
    },
}

/// A cell of a new object, and its value.
#[derive(Debug, Clone)]
pub struct Initialiser {
    /// The cell.
    pub cell: u32,
    /// The back-pointer cell of the objects it points to, if the field is tracked.
    pub tracked: Option<u32>,
    /// The value.
    pub value: Expr,
}

/// Where a level is placed.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Lower bounds.
    pub lower: Vec<Bound>,
    /// Upper bounds.
    pub upper: Vec<Bound>,
}

/// A bound.
#[derive(Debug, Clone)]
pub enum Bound {
    /// The level of an object, which is ignored if it is null.
    Object(Expr),
    /// A level.
    Level(Expr),
    /// `waitlevel`
    Wait(Span),
}

/// A loop.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The guard.
    pub guard: Expr,
    /// Invariants, clause by clause.
    pub invariants: Vec<Expr>,
    /// Objects whose lock it may change.
    pub lock_changes: Vec<Expr>,
    /// The statement after the loop.
    pub exit: u32,
    /// The test.
    pub head: u32,
    /// Do the invariants mention the read fraction?
    pub has_read_fraction: bool,
    /// The place of the loop.
    pub span: Span,
}
