//! The members that may assume `auto` lemmas: none of those that the lemmas' proofs lead to, or a
//! lemma would be its own reason.

use rustc_hash::FxHashSet;
use spl::program::{ProcedureId, ProcedureKind, Program, StmtKind};

/// Lists the procedures that the proofs of `auto` lemmas lead to, the lemmas included.
pub(crate) fn reasons(program: &Program) -> FxHashSet<ProcedureId> {
    let is_auto = |id: &ProcedureId| program.procedures[*id].kind == ProcedureKind::AutoLemma;
    let mut waiting: Vec<ProcedureId> =
        program.procedures.iter().map(|(id, _)| id).filter(is_auto).collect();
    let mut reasons: FxHashSet<ProcedureId> = waiting.iter().copied().collect();
    while let Some(id) = waiting.pop() {
        for callee in callees(program, id) {
            if reasons.insert(callee) {
                waiting.push(callee);
            }
        }
    }
    reasons
}

/// Returns the procedures that a body calls.
pub(crate) fn callees(program: &Program, id: ProcedureId) -> Vec<ProcedureId> {
    let mut found = Vec::new();
    if let Some(body) = &program.procedures[id].body {
        body.for_each_stmt(&mut |stmt| {
            if let StmtKind::Call { procedure, .. } = &stmt.kind {
                found.push(*procedure);
            }
        });
    }
    found
}
