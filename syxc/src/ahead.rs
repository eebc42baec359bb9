//! The paths ahead of a conditional, and the choice of conditionals to merge. The states of the
//! sides of a merged one become one state where they meet (see [`symex::run::merge`]).

use chalice::program::walk::each_stmt;
use chalice::program::{Block, IfArm, Program, Rhs, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use smt::terms::{Terms, grow_stack};

use super::Statements;
use super::exec::Flow;
use symex::findings::blame::ErrorId;
use symex::options::Join;
use symex::run::explore::{End, Explore};
use symex::run::ways::{PATHS, sum};
use symex::{Stop, View};

/// The conditionals that may be merged, by place, each with the answer whether merging saves paths.
#[derive(Debug, Default)]
pub(super) struct Ahead(FxHashMap<chalice::Span, bool>);

impl Ahead {
    pub(super) fn of(program: &Program, has_locks: bool) -> Self {
        let mut all = FxHashMap::default();
        let threads = has_locks || !program.channels.is_empty();
        for method in program.methods.values() {
            let mut own = Self::default();
            let ways = own.block(program, threads, &method.body, 1);
            let merges = |(at, goes_on)| (at, goes_on && ways > PATHS);
            all.extend(own.0.into_iter().map(merges));
        }
        Self(all)
    }

    /// Tells whether states may have been merged.
    pub(super) fn merges(&self, join: Join) -> bool {
        match join {
            Join::Always => true,
            Join::Never => false,
            Join::Auto => self.0.values().any(|&saves| saves),
        }
    }

    /// Notes the conditionals of a block with `after` paths behind it. Returns the number of paths
    /// from its beginning.
    fn block(&mut self, program: &Program, threads: bool, block: &Block, after: u64) -> u64 {
        block.stmts.iter().rev().fold(after, |after, stmt| match &stmt.kind {
            StmtKind::Block(inner) | StmtKind::Lock { body: inner, .. } => {
                grow_stack(|| self.block(program, threads, inner, after))
            }
            StmtKind::While { body, .. } => {
                sum(grow_stack(|| self.block(program, threads, body, 1)), after)
            }
            StmtKind::If { arms, otherwise } => {
                let mut sides = |block| grow_stack(|| self.block(program, threads, block, after));
                let through = arms.iter().map(|arm| sides(&arm.body)).fold(0, sum);
                let through = sum(through, otherwise.as_ref().map_or(after, sides));
                if may_merge(program, threads, stmt) {
                    // Without a choice of paths behind it, merging saves none.
                    self.0.insert(stmt.span, after > 1);
                }
                through
            }
            _ => after,
        })
    }
}

/// Tells whether the sides of a conditional keep the knowledge about threads, which is not merged.
/// With locks or channels, calls and loops may change it, too.
fn may_merge(program: &Program, threads: bool, conditional: &Stmt) -> bool {
    let mut may = true;
    let mut visit = |stmt: &Stmt| {
        may &= match &stmt.kind {
            StmtKind::Block(_)
            | StmtKind::If { .. }
            | StmtKind::Assert(_)
            | StmtKind::Prove(_)
            | StmtKind::Fold(_)
            | StmtKind::Unfold(_) => true,
            StmtKind::Declare { value, .. } => !matches!(value, Some(Rhs::NewChannel { .. })),
            StmtKind::AssignLocal { value, .. } => !matches!(value, Rhs::NewChannel { .. }),
            StmtKind::AssignField { field, value, .. } => {
                !program.fields[*field].is_tracked && !matches!(value, Rhs::NewChannel { .. })
            }
            StmtKind::Assume(_)
            | StmtKind::Call { .. }
            | StmtKind::While { .. }
            | StmtKind::Specification { .. } => !threads,
            _ => false,
        };
    };
    visit(conditional);
    let StmtKind::If { arms, otherwise } = &conditional.kind else { return false };
    for block in arms.iter().map(|arm| &arm.body).chain(otherwise) {
        each_stmt(block, &mut visit);
    }
    may
}

impl Statements<'_, '_> {
    /// Executes a conditional, its sides one by one or together.
    pub(super) fn conditional(
        &mut self,
        stmt: &Stmt,
        arms: &[IfArm],
        otherwise: Option<&Block>,
    ) -> Result<Flow, Stop> {
        if !self.merges(stmt) {
            return self.sides(arms, otherwise);
        }
        let (ends, facts) = self.explore_apart(|chalice| {
            let flow = chalice.sides(arms, otherwise)?;
            if flow == Flow::Ends {
                chalice.log.count_path();
                chalice.go_on()?;
            }
            Ok((flow, chalice.core().state()))
        })?;
        let is_over = !ends.is_empty() && ends.iter().all(|end| end.value.0 == Flow::Ends);
        let meets = ends.into_iter().filter(|end| end.value.0 == Flow::Goes);
        let arrived =
            meets.map(|end| End { literals: end.literals, value: (end.value.1, Terms::TRUE) });
        match self.merge_paths(arrived.collect(), facts) {
            Err(Stop::Infeasible) if is_over => Ok(Flow::Ends),
            merged => merged.map(|_| Flow::Goes),
        }
    }

    /// Executes the side of a conditional that this run takes.
    fn sides(&mut self, arms: &[IfArm], otherwise: Option<&Block>) -> Result<Flow, Stop> {
        for arm in arms {
            if self.condition(&arm.condition, ErrorId::IfFailed)? {
                return self.arm(&arm.body);
            }
        }
        otherwise.map_or(Ok(Flow::Goes), |block| self.arm(block))
    }

    /// Tells whether the sides of a conditional are merged. The answer is the same each time, since
    /// paths are run again from their beginning.
    fn merges(&self, stmt: &Stmt) -> bool {
        let Some(&saves) = self.direct.ahead.0.get(&stmt.span) else { return false };
        match self.setting.join {
            Join::Always => true,
            Join::Never => false,
            Join::Auto => saves && !self.setting.one_by_one,
        }
    }
}
