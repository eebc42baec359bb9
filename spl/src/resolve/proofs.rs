//! Proofs of assertions (`assert e with { .. }`): what they show is known afterwards, and what they
//! do is lost. So they may only prove: e would be known of a state that never was, or because a
//! proof never ends.

use front::grow_stack;
use rustc_hash::FxHashSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Block, LocalId, LocalKind, Place, Program, Stmt, StmtKind, Variable};
use crate::source::Span;

/// Adds an error for each statement of a proof that does more than prove.
pub(super) fn check(program: &Program, findings: &mut Vec<Diagnostic>) {
    for (_, procedure) in program.procedures.iter() {
        let Some(body) = &procedure.body else { continue };
        body.for_each_stmt(&mut |stmt| {
            if let StmtKind::Assert { proof: Some(proof), .. } = &stmt.kind {
                let mut checked = Proof { program, findings, own: FxHashSet::default() };
                checked.block(proof);
            }
        });
    }
}

struct Proof<'p> {
    program: &'p Program,
    findings: &'p mut Vec<Diagnostic>,
    /// The variables that the proof declares.
    own: FxHashSet<LocalId>,
}

impl Proof<'_> {
    fn refuse(&mut self, what: &str, span: Span) {
        let message = format!("a proof cannot {what}");
        self.findings.push(Diagnostic::new(Code::TypecheckerError, span, message));
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| grow_stack(|| self.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(local) => {
                self.own.insert(*local);
            }
            StmtKind::Havoc(variables) => self.targets(variables, stmt.span),
            StmtKind::Assign { places, .. } => {
                for place in places {
                    match place {
                        Place::Variable(variable) => self.targets(&[*variable], stmt.span),
                        _ => self.refuse("change an object", stmt.span),
                    }
                }
            }
            StmtKind::AssignText { .. } => self.refuse("change an array", stmt.span),
            StmtKind::Call { targets, procedure, .. } => {
                let callee = &self.program.procedures[*procedure];
                if !callee.is_lemma() {
                    self.refuse("call a procedure, which might never end", stmt.span);
                }
                self.targets(targets, stmt.span);
            }
            StmtKind::New { .. } => self.refuse("make an object", stmt.span),
            StmtKind::Free(_) => self.refuse("free an object", stmt.span),
            StmtKind::While { .. } => {
                self.refuse("have a loop, which might never end", stmt.span);
            }
            // The proof inside is looked at on its own.
            StmtKind::Assert { .. } => return,
            _ => {}
        }
        stmt.for_each_stmt(&mut |inner| grow_stack(|| self.stmt(inner)));
    }

    fn targets(&mut self, targets: &[Variable], span: Span) {
        for target in targets {
            let is_own = match target {
                Variable::Local(local) => {
                    let is_temporary = self.program.locals[*local].kind == LocalKind::Temporary;
                    is_temporary || self.own.contains(local)
                }
                _ => false,
            };
            if !is_own {
                self.refuse("change what is declared outside of it", span);
            }
        }
    }
}
