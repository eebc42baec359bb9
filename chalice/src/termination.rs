//! Total correctness where it is asked for: what has a `decreases` clause comes to an end.
//!
//! A method or loop with a measure gets the obligations that follow from it as statements, so all
//! that give programs a meaning have the same ones. Without a measure nothing is asked, as before:
//! partial correctness.
//!
//! SOUNDNESS
//! - What has to end calls only methods with a measure. A call that may lead back to the method has
//!   a smaller one, and so has the next iteration of a loop. Every loop in it has a measure.
//! - It does not wait: locks, messages, conditions and the end of other threads may never come, and
//!   no rule says that they do. A method that names locks in `lockchange` is refused earlier.
//! - It chooses no values by a specification statement: nothing shows that there are such values.
//! - A forked thread has an end of its own, or none: who forks it does not wait for it.

use findings::{ErrorId, Reason};
use rustc_hash::FxHashSet;

use crate::program::walk::each_stmt;
use crate::program::{
    Block, Expr, ExprKind, Measure, MethodId, Obligation, Program, Rhs, Stmt, StmtKind, Type,
};
use crate::source::Span;

/// Adds the obligations of methods and loops with measures to their bodies; without `all` only
/// those of ghost code, which always has to end.
pub(crate) fn add_obligations(program: &mut Program, all: bool) {
    let methods: Vec<MethodId> = program.methods.iter().map(|(id, _)| id).collect();
    for id in methods {
        let mut body = std::mem::take(&mut program.methods[id].body);
        let method = &program.methods[id];
        let adding = Adding { program, method: id, all };
        let ends = all && !method.decreases.is_empty();
        adding.block(&mut body, ends);
        if ends {
            body.stmts.splice(0..0, start(&method.decreases));
        }
        program.methods[id].body = body;
    }
}

/// Keeps the values of measures.
fn start(measures: &[Measure]) -> Vec<Stmt> {
    let keep = |measure: &Measure| {
        let span = measure.number.span;
        let value = Some(Rhs::Expr(measure.number.clone()));
        Stmt { kind: StmtKind::Declare { local: measure.start, value }, span }
    };
    measures.iter().map(keep).collect()
}

struct Adding<'p> {
    program: &'p Program,
    method: MethodId,
    all: bool,
}

impl Adding<'_> {
    /// `ends` tells whether the statements have to come to an end.
    fn block(&self, block: &mut Block, ends: bool) {
        let ends = ends || block.is_ghost;
        for mut stmt in std::mem::take(&mut block.stmts) {
            if ends {
                block.stmts.extend(self.obligation(&stmt));
            }
            front::grow_stack(|| self.inside(&mut stmt, ends));
            block.stmts.push(stmt);
        }
    }

    fn inside(&self, stmt: &mut Stmt, ends: bool) {
        match &mut stmt.kind {
            StmtKind::Block(body) | StmtKind::Lock { body, .. } => self.block(body, ends),
            StmtKind::If { arms, otherwise } => {
                arms.iter_mut().for_each(|arm| self.block(&mut arm.body, ends));
                otherwise.iter_mut().for_each(|block| self.block(block, ends));
            }
            StmtKind::While { decreases, body, .. } => {
                let has_measure = !decreases.is_empty() && (self.all || ends);
                self.block(body, ends || has_measure);
                let (Some(first), true) = (decreases.first(), has_measure) else { return };
                let span = first.number.span;
                let now: Vec<_> = decreases.iter().map(|one| one.number.clone()).collect();
                let claim = self.program.is_smaller(&now, decreases, span);
                let words = "the measure of the loop might not get smaller, or might be negative";
                body.stmts.splice(0..0, start(decreases));
                body.stmts.push(prove(claim, Reason::TupleFalse, words, span));
            }
            _ => {}
        }
    }

    /// Returns the obligation before a statement that has to end.
    fn obligation(&self, stmt: &Stmt) -> Option<Stmt> {
        let fails = |reason, words| {
            let kind = ExprKind::Bool(false);
            let claim = Expr { kind, ty: Type::Bool, span: stmt.span };
            Some(prove(claim, reason, words, stmt.span))
        };
        match &stmt.kind {
            StmtKind::Acquire { .. }
            | StmtKind::Lock { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Join { .. }
            | StmtKind::Wait(_) => {
                let words = "this might wait for ever, and what has `decreases` has to end";
                fails(Reason::TerminationConditionFalse, words)
            }
            StmtKind::Specification { .. } => {
                let words = "there might be no such values, and what has `decreases` has to end";
                fails(Reason::TerminationConditionFalse, words)
            }
            StmtKind::While { decreases, .. } if decreases.is_empty() => {
                let words = "the loop might not end: it has no `decreases`";
                fails(Reason::TupleConditionFalse, words)
            }
            StmtKind::Call { receiver, method, arguments, .. } => {
                let callee = &self.program.methods[*method];
                let own = &self.program.methods[self.method].decreases;
                let own: &[Measure] = if self.all { own } else { &[] };
                if callee.decreases.is_empty() {
                    let words = "the method might not end: it has no `decreases`";
                    return fails(Reason::TerminationConditionFalse, words);
                }
                if own.is_empty() || !self.leads_back(*method) {
                    return None;
                }
                let (measures, parameters) = (&callee.decreases, &callee.parameters);
                let now = Program::measures_at(measures, parameters, receiver, arguments);
                let claim = self.program.is_smaller(&now, own, stmt.span);
                let words =
                    "the measure might not get smaller with this call, or might be negative";
                Some(prove(claim, Reason::TupleFalse, words, stmt.span))
            }
            _ => None,
        }
    }

    /// Tells whether a method may call the one that is looked at.
    fn leads_back(&self, callee: MethodId) -> bool {
        let mut pending = vec![callee];
        let mut seen = FxHashSet::default();
        while let Some(method) = pending.pop() {
            if method == self.method {
                return true;
            }
            if seen.insert(method) {
                each_stmt(&self.program.methods[method].body, &mut |stmt| {
                    if let StmtKind::Call { method, .. } = stmt.kind {
                        pending.push(method);
                    }
                });
            }
        }
        false
    }
}

fn prove(claim: Expr, reason: Reason, words: &'static str, span: Span) -> Stmt {
    let error = ErrorId::TerminationFailed;
    let obligation = Obligation { claim, error, reason, words: words.into() };
    Stmt { kind: StmtKind::Prove(Box::new(obligation)), span }
}
