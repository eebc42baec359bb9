//! Who may take `auto` lemmas for granted: none of the members that their proofs lead to, or a lemma would be its own
//! reason.

use rustc_hash::FxHashSet;
use spl::program::{ProcedureId, ProcedureKind, Program, StmtKind};

/// What the proofs of `auto` lemmas lead to, themselves included.
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

/// The procedures that a body calls.
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
