//! Control-flow graphs with loop blocks: the only form of a body the engine sees.
//!
//! Every body, structured or graph, becomes a [`Cfg`] (Viper language reference, sections 16 and 18; the loop
//! block is the 2012 SIL's, see the thesis *Translating Chalice into SIL*, section 2.2). Natural loops made of
//! gotos have become loop blocks.
//!
//! Invariants
//! - The blocks of one level (same `parent`) form an acyclic graph: all repetition is inside loop blocks.
//! - A jump target is a block of the same level, or one of the `exits` of every loop block the jump leaves.
//! - Unreachable blocks are not in the graph.

use la_arena::{Arena, Idx};

use crate::program::{Annotation, Expr, LabelId, LocalId, Stmt};
use crate::source::Span;

pub type BlockId = Idx<Block>;

/// The graph of one implementation.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// The blocks of all levels.
    pub blocks: Arena<Block>,
    /// Where the implementation begins, at the outermost level.
    pub entry: BlockId,
}

#[derive(Clone, Debug)]
pub struct Block {
    /// Unique in the implementation.
    pub name: String,
    /// The state label stored on every entry to the block, if it was written by the user as a label or block name.
    pub label: Option<LabelId>,
    /// The loop block whose nested graph this block stands in; `None` at the outermost level.
    pub parent: Option<BlockId>,
    pub kind: BlockKind,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum BlockKind {
    Basic { statements: Vec<Stmt>, terminator: Terminator },
    Loop(Loop),
}

/// A loop block: `loop H while (condition) invariant … exits … { … } then T`.
#[derive(Clone, Debug)]
pub struct Loop {
    /// `None`: always true, all ways out are exits.
    pub condition: Option<Expr>,
    pub invariants: Vec<Expr>,
    pub decreases: Vec<crate::program::Decreases>,
    /// The entry of the nested graph.
    pub entry: BlockId,
    /// Where control goes when the condition is false; present iff `condition` is.
    pub then: Option<BlockId>,
    /// Targets outside the loop that jumps inside lead to, each once, in order of first use.
    pub exits: Vec<BlockId>,
    /// Variables assigned anywhere inside (call targets, `new` and nested loops included), sorted.
    pub written: Vec<LocalId>,
    /// Labels set anywhere inside: their states are forgotten at the head.
    pub labels: Vec<LabelId>,
}

#[derive(Clone, Debug)]
pub struct Terminator {
    pub kind: TerminatorKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TerminatorKind {
    /// To a block of this level, or out of one or more loops to one of their exits.
    Goto(BlockId),
    /// A two-way branch; each target is as for `Goto`.
    Branch { condition: Expr, then: BlockId, otherwise: BlockId },
    /// Back to the head of the loop block this block stands in (`parent`).
    Next,
    /// The end of the implementation, from whatever depth.
    Halt,
    /// Never reached: assume false.
    Dead,
}
