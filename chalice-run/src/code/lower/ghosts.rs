//! Programs without their ghosts: nothing that runs depends on them.
//!
//! Assignments to ghosts, and claims that read one, are left out. Permission to a ghost field
//! stays: its holder treats the field like others.

use chalice::Span;
use chalice::program::{
    Block, Expr, ExprKind, FieldId, FunctionId, LocalId, Program, Stmt, StmtKind,
};
use rustc_hash::FxHashSet;

use front::grow_stack;

/// Leaves out ghosts. The result: claims that were left out, and whether one of them says who holds
/// what.
pub(super) fn erase(program: &mut Program) -> (Vec<Span>, bool) {
    let mut eraser = Eraser { ghosts: Ghosts::of(program), erased: Vec::new(), moves: false };
    for (_, class) in program.classes.iter_mut() {
        eraser.claims(&mut class.invariants);
    }
    for (_, channel) in program.channels.iter_mut() {
        channel.where_clause.iter_mut().for_each(|clause| eraser.claim(clause));
    }
    for (_, predicate) in program.predicates.iter_mut() {
        eraser.claim(&mut predicate.body);
    }
    for (_, function) in program.functions.iter_mut() {
        eraser.claims(&mut function.requires);
        eraser.claims(&mut function.ensures);
    }
    for (_, method) in program.methods.iter_mut() {
        eraser.claims(&mut method.requires);
        eraser.claims(&mut method.ensures);
        eraser.block(&mut method.body);
    }
    (eraser.erased, eraser.moves)
}

/// The ghosts, and the functions and predicates that read one.
struct Ghosts {
    fields: FxHashSet<FieldId>,
    locals: FxHashSet<LocalId>,
    functions: FxHashSet<FunctionId>,
}

impl Ghosts {
    fn of(program: &Program) -> Self {
        let fields = program.fields.iter().filter(|(_, field)| field.is_ghost).map(|(id, _)| id);
        let locals = program.locals.iter().filter(|(_, local)| local.is_ghost).map(|(id, _)| id);
        let mut ghosts = Self {
            fields: fields.collect(),
            locals: locals.collect(),
            functions: FxHashSet::default(),
        };
        loop {
            let reads = |body: &Expr| ghosts.has(body);
            let more: Vec<_> = program
                .functions
                .iter()
                .filter(|(id, function)| {
                    !ghosts.functions.contains(id) && function.body.as_ref().is_some_and(reads)
                })
                .map(|(id, _)| id)
                .collect();
            if more.is_empty() {
                return ghosts;
            }
            ghosts.functions.extend(more);
        }
    }

    /// Does an expression read a ghost? To speak of permission to it is no reading.
    fn has(&self, e: &Expr) -> bool {
        e.any(&mut |part| match &part.kind {
            ExprKind::FieldRead { field: chalice::program::FieldRef::Declared(field), .. } => {
                self.fields.contains(field)
            }
            ExprKind::Local(local) => self.locals.contains(local),
            ExprKind::Apply { function, .. } => self.functions.contains(function),
            ExprKind::Assigned(_) | ExprKind::BackPointers { .. } => true,
            _ => false,
        })
    }
}

struct Eraser {
    ghosts: Ghosts,
    erased: Vec<Span>,
    moves: bool,
}

impl Eraser {
    fn claims(&mut self, claims: &mut [Expr]) {
        claims.iter_mut().for_each(|claim| self.claim(claim));
    }

    /// Leaves out the conjuncts that read ghosts.
    fn claim(&mut self, e: &mut Expr) {
        if !self.ghosts.has(e) {
            return;
        }
        match &mut e.kind {
            ExprKind::And(parts) => {
                return parts.iter_mut().for_each(|part| grow_stack(|| self.claim(part)));
            }
            ExprKind::Implies { guard, body } if !self.ghosts.has(guard) => {
                return grow_stack(|| self.claim(body));
            }
            ExprKind::Conditional { condition, then, otherwise } if !self.ghosts.has(condition) => {
                grow_stack(|| self.claim(then));
                return grow_stack(|| self.claim(otherwise));
            }
            _ => {}
        }
        self.moves |= e.is_impure();
        self.erased.push(e.span);
        e.kind = ExprKind::Bool(true);
    }

    fn block(&mut self, block: &mut Block) {
        block.stmts.retain_mut(|stmt| grow_stack(|| self.stmt(stmt)));
    }

    /// Is the statement still there?
    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        match &mut stmt.kind {
            StmtKind::Assert(e) | StmtKind::Assume(e) => self.claim(e),
            StmtKind::Prove(obligation) => self.claim(&mut obligation.claim),
            StmtKind::Declare { local, .. } | StmtKind::AssignLocal { local, .. } => {
                return !self.ghosts.locals.contains(local);
            }
            StmtKind::AssignField { field, .. } => return !self.ghosts.fields.contains(field),
            StmtKind::Specification { targets, pre, post } => {
                let is_ghost =
                    |one: &chalice::program::OutVariable| self.ghosts.locals.contains(&one.local);
                if targets.iter().any(is_ghost) {
                    return false;
                }
                pre.iter_mut().for_each(|pre| self.claim(pre));
                self.claim(post);
            }
            StmtKind::Block(block) if block.is_ghost => return false,
            StmtKind::Block(block) | StmtKind::Lock { body: block, .. } => self.block(block),
            StmtKind::If { arms, otherwise } => {
                arms.iter_mut().for_each(|arm| self.block(&mut arm.body));
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StmtKind::While { invariants, body, .. } => {
                self.claims(invariants);
                self.block(body);
            }
            _ => {}
        }
        true
    }
}
