//! The number of paths ahead of a place in a method, without merging. It tells whether merging
//! pays.
//!
//! The paths are counted on the program text. Conditions count as independent, so the number is an
//! upper bound. Counts are capped.

use la_arena::ArenaMap;
use sil::cfg::{BlockId, BlockKind, Cfg, TerminatorKind};
use sil::program::{BinaryOp, Contract, Expr, ExprKind, Method, Program, Stmt, StmtKind};
use smt::terms::grow_stack;
use symex::run::ways::{product, sum};

/// The numbers of paths of one implementation.
pub(crate) struct Ahead {
    /// The numbers from each statement of a block on, and at last from its terminator; one number
    /// for a loop block.
    counts: ArenaMap<BlockId, Vec<u64>>,
}

impl Ahead {
    /// Counts the paths of an implementation.
    pub(crate) fn new(program: &Program, method: &Method, cfg: &Cfg) -> Self {
        let end = ways_of_all(&method.contract.postconditions);
        let mut counting = Counting { program, cfg, end, counts: ArenaMap::default() };
        counting.block(cfg.entry);
        Self { counts: counting.counts }
    }

    /// Returns the number of paths from the beginning of a block on.
    pub(crate) fn of_block(&self, block: BlockId) -> u64 {
        self.of_statement(block, 0)
    }

    /// Returns the number of paths from a statement of a block on. The index of the terminator is
    /// the number of statements.
    pub(crate) fn of_statement(&self, block: BlockId, index: usize) -> u64 {
        self.counts.get(block).and_then(|counts| counts.get(index)).copied().unwrap_or(1)
    }
}

struct Counting<'a> {
    program: &'a Program,
    cfg: &'a Cfg,
    /// The number from the end of the body on.
    end: u64,
    counts: ArenaMap<BlockId, Vec<u64>>,
}

impl Counting<'_> {
    /// Counts the paths from the beginning of a block on. Levels are acyclic, so the recursion
    /// ends.
    fn block(&mut self, block: BlockId) -> u64 {
        if let Some(counts) = self.counts.get(block) {
            return counts[0];
        }
        let counts = grow_stack(|| self.count(block));
        let whole = counts[0];
        self.counts.insert(block, counts);
        whole
    }

    fn count(&mut self, block: BlockId) -> Vec<u64> {
        let cfg = self.cfg;
        match &cfg.blocks[block].kind {
            BlockKind::Basic { statements, terminator } => {
                let mut ahead = match &terminator.kind {
                    TerminatorKind::Goto(target) => self.block(*target),
                    TerminatorKind::Branch { then, otherwise, .. } => {
                        sum(self.block(*then), self.block(*otherwise))
                    }
                    TerminatorKind::Next => self.iteration_end(block),
                    TerminatorKind::Halt => self.end,
                    TerminatorKind::Dead => 1,
                };
                let mut counts = vec![ahead];
                for statement in statements.iter().rev() {
                    ahead = product(ahead, ways_of_statement(self.program, statement));
                    counts.push(ahead);
                }
                counts.reverse();
                counts
            }
            BlockKind::Loop(the_loop) => {
                let invariants = ways_of_all(&the_loop.invariants);
                let inside = self.block(the_loop.entry);
                let after = the_loop.then.map_or(0, |then| self.block(then));
                let from_head = product(product(invariants, invariants), sum(inside, after));
                vec![sum(invariants, from_head)]
            }
        }
    }

    fn iteration_end(&self, block: BlockId) -> u64 {
        let head = self.cfg.blocks[block].parent;
        match head.map(|head| &self.cfg.blocks[head].kind) {
            Some(BlockKind::Loop(the_loop)) => ways_of_all(&the_loop.invariants),
            _ => 1,
        }
    }
}

/// Counts the ways through a contract that a call uses.
fn ways_of_contract(contract: &Contract) -> u64 {
    product(ways_of_all(&contract.preconditions), ways_of_all(&contract.postconditions))
}

/// Counts the ways through clauses, one behind the other.
pub(crate) fn ways_of_all(clauses: &[Expr]) -> u64 {
    clauses.iter().map(ways).fold(1, product)
}

/// Counts the ways through an assertion: one for each combination of the conditions on which
/// permissions depend.
pub(crate) fn ways(assertion: &Expr) -> u64 {
    if assertion.is_pure() {
        return 1;
    }
    grow_stack(|| match &assertion.kind {
        ExprKind::And(operands) => operands.iter().map(ways).fold(1, product),
        ExprKind::Binary { op: BinaryOp::Implies, right, .. } => sum(1, ways(right)),
        ExprKind::Conditional { then, otherwise, .. } => sum(ways(then), ways(otherwise)),
        ExprKind::Let { body, .. } => ways(body),
        ExprKind::InhaleExhale { inhale, exhale } => ways(inhale).max(ways(exhale)),
        _ => 1,
    })
}

fn ways_of_statement(program: &Program, statement: &Stmt) -> u64 {
    match &statement.kind {
        StmtKind::Inhale(assertion) | StmtKind::Exhale(assertion) | StmtKind::Assert(assertion) => {
            ways(assertion)
        }
        StmtKind::Fold(access) | StmtKind::Unfold(access) => {
            program.predicates[access.predicate].body.as_ref().map_or(1, ways)
        }
        StmtKind::Call { method, .. } => ways_of_contract(&program.methods[*method].contract),
        _ => 1,
    }
}
