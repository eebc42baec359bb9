//! Control-flow graphs with loop blocks: the only form of a body the engine sees.
//!
//! Every body, structured or graph, becomes a [`Cfg`]. Loop blocks are those of the SIL of 2012
//! (thesis *Translating Chalice into SIL*, section 2.2). Natural loops made of gotos have become
//! loop blocks.
//!
//! Invariants
//! - The blocks of one level (same `parent`) form an acyclic graph: all repetition is inside loop
//!   blocks.
//! - A jump target is a block of the same level, or one of the `exits` of every loop block the jump
//!   leaves.
//! - Unreachable blocks are not in the graph.

mod dot;
mod draft;
mod finish;
mod graph;
mod joins;
mod natural_loops;
mod outlying;
mod structured;

use la_arena::{Arena, ArenaMap, Idx};

pub use dot::to_dot;
pub use natural_loops::negated;

use crate::diagnostics::Diagnostic;
use crate::program::{
    Annotation, Body, Expr, LabelId, LocalId, Member, MethodId, Program, Stmt, StmtKind,
};
use crate::source::Span;
use crate::syntax;
use crate::walk::walk_stmts;
use draft::Draft;

pub type BlockId = Idx<Block>;

/// The graph of one implementation.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// The blocks of all levels, each loop block before the blocks of its nested graph.
    pub blocks: Arena<Block>,
    /// Where the implementation begins, at the outermost level.
    pub entry: BlockId,
    /// For each branch whose two sides meet again on their level: the block where they do.
    joins: ArenaMap<BlockId, BlockId>,
}

impl Cfg {
    /// Returns the block of the same level where both sides of the branch at the end of `block`
    /// meet: its nearest post-dominator. `None` where there is none, as when one side ends the
    /// implementation or leaves the loop, and for blocks that do not end in a branch. Sides that
    /// end in `dead` do not count.
    pub fn join_point(&self, block: BlockId) -> Option<BlockId> {
        self.joins.get(block).copied()
    }

    /// Returns the blocks of one level in the order written: of the nested graph of a loop block,
    /// or the outermost.
    pub fn level(&self, parent: Option<BlockId>) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks.iter().filter(move |(_, block)| block.parent == parent)
    }
}

/// Brings an implementation, structured or graph, into the form with loop blocks.
///
/// Natural loops of `goto`s become loop blocks. `None` with at least one error among `diagnostics`
/// if the control flow is not valid, such as irreducible.
///
/// # Panics
/// If the method has no such implementation.
pub fn build(
    program: &Program,
    method: MethodId,
    implementation: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Cfg> {
    let method = &program.methods[method];
    let implementation = &method.implementations[implementation];
    let mut draft = Draft::new(method, implementation);
    let errors_before = diagnostics.len();
    draft.check_scripts(&implementation.body, diagnostics);
    match &implementation.body {
        Body::Structured(block) => structured::lower(&mut draft, block, diagnostics),
        Body::Graph(graph) => graph::lower(&mut draft, graph, diagnostics),
    }
    finish_draft(draft, diagnostics, errors_before)
}

/// Reports the implementations whose control flow is not valid (see [`build`]), and what is odd
/// about that of others: unreachable blocks, invariants that nothing checks.
pub fn check(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    for &member in &program.order {
        check_member(program, member, diagnostics);
    }
}

/// The same for one member.
pub(crate) fn check_member(program: &Program, member: Member, diagnostics: &mut Vec<Diagnostic>) {
    let Member::Method(id) = member else { return };
    for (index, implementation) in program.methods[id].implementations.iter().enumerate() {
        if has_jumps(&implementation.body) {
            build(program, id, index, diagnostics);
        }
    }
}

/// Tells whether the control flow may be wrong: a graph of `if` and `while` alone is always valid.
fn has_jumps(body: &Body) -> bool {
    let Body::Structured(block) = body else { return true };
    let mut found = false;
    walk_stmts(&block.statements, |statement| match &statement.kind {
        StmtKind::Goto(_) => found = true,
        StmtKind::Label { invariants, .. } => found |= !invariants.is_empty(),
        _ => {}
    });
    found
}

fn finish_draft(
    mut draft: Draft<'_>,
    diagnostics: &mut Vec<Diagnostic>,
    errors_before: usize,
) -> Option<Cfg> {
    outlying::move_into_loops(&mut draft);
    draft.check_jumps(diagnostics);
    if diagnostics[errors_before..].iter().any(|finding| !finding.code.is_warning()) {
        return None;
    }
    draft.prune_unreachable(diagnostics);
    natural_loops::nest(&mut draft, diagnostics)?;
    Some(finish::finish(draft))
}

#[derive(Clone, Debug)]
pub struct Block {
    /// Unique in the implementation.
    pub name: String,
    /// The state label stored on every entry to the block, if it was written by the user as a label
    /// or block name. Of a loop block (only if some `old` reads it): the state at the head in each
    /// round, after what the loop may write was forgotten and before the condition is read.
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
    /// Targets outside the loop that jumps inside it (`then` not among them) lead to, each once, in
    /// order of first use.
    pub exits: Vec<BlockId>,
    /// Variables assigned or declared anywhere inside (call targets, `new` and nested loops
    /// included), sorted.
    pub written: Vec<LocalId>,
    /// Labels set anywhere inside, sorted: their states are forgotten at the head.
    pub labels: Vec<LabelId>,
}

/// The end of a block. Its targets are blocks of the same level, or exits of each loop that the jump
/// leaves; `next` leads to the head of the loop block that the block stands in (`parent`), and `halt`
/// ends the implementation from whatever depth.
pub type Terminator = syntax::Terminator<Expr, BlockId>;
pub type TerminatorKind = syntax::TerminatorKind<Expr, BlockId>;
