//! Ghost state that real code depends on, and lemmas that do more than prove.
//!
//! The original checks neither, so both are warnings.

use front::grow_stack;

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Block, Expr, ExprKind, Place, Procedure, Program, Stmt, StmtKind, Variable};
use crate::source::Span;

/// Adds the warnings about a resolved program.
pub(super) fn check(program: &Program, findings: &mut Vec<Diagnostic>) {
    let mut ghosts = Ghosts { program, findings };
    for (_, procedure) in program.procedures.iter() {
        if let Some(body) = &procedure.body {
            if procedure.is_lemma() {
                ghosts.lemma(procedure, body);
            } else {
                ghosts.block(body);
            }
        }
    }
}

struct Ghosts<'p> {
    program: &'p Program,
    findings: &'p mut Vec<Diagnostic>,
}

impl Ghosts<'_> {
    fn warn(&mut self, message: impl Into<String>, span: Span) {
        self.findings.push(Diagnostic::new(Code::TypecheckerWarning, span, message));
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            grow_stack(|| self.stmt(stmt));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let decides = [Some(then), otherwise.as_ref()];
                if decides.into_iter().flatten().any(|block| self.program.has_effects(block)) {
                    self.real(condition, "decides what is done");
                }
            }
            StmtKind::While { condition, body, .. } if self.program.has_effects(body) => {
                self.real(condition, "decides what is done");
            }
            StmtKind::Assign { places, values } => {
                for (place, value) in places.iter().zip(values) {
                    if !self.program.is_ghost_place(place) {
                        self.real(value, "is stored in a variable or field that is not ghost");
                    }
                }
            }
            StmtKind::Free(object) => self.real(object, "decides what is freed"),
            StmtKind::Call { procedure, arguments, .. } => {
                let callee = &self.program.procedures[*procedure];
                if !callee.is_lemma() {
                    let parameters = self.program.explicit(&callee.parameters);
                    for (parameter, argument) in parameters.into_iter().zip(arguments) {
                        if !self.program.locals[parameter].is_ghost {
                            self.real(argument, "is passed where no ghost is expected");
                        }
                    }
                }
            }
            _ => {}
        }
        stmt.for_each_stmt(&mut |inner| grow_stack(|| self.stmt(inner)));
    }

    /// Warns if a value that real code uses depends on a ghost.
    fn real(&mut self, value: &Expr, use_of: &str) {
        let mut ghost = None;
        value.any(&mut |part| {
            let name = match &part.kind {
                ExprKind::Local(local) if self.program.locals[*local].is_ghost => {
                    Some(&self.program.locals[*local].name)
                }
                ExprKind::Global(global) if self.program.globals[*global].is_ghost => {
                    Some(&self.program.globals[*global].name)
                }
                ExprKind::FieldRead { field, .. } | ExprKind::FieldMap(field)
                    if self.program.fields[*field].is_ghost =>
                {
                    Some(&self.program.fields[*field].name)
                }
                _ => None,
            };
            if let Some(name) = name {
                ghost = Some((name.clone(), part.span));
            }
            ghost.is_some()
        });
        if let Some((name, span)) = ghost {
            self.warn(format!("the ghost `{name}` {use_of}"), span);
        }
    }

    /// A lemma exists for its contract: it may not change what programs see.
    fn lemma(&mut self, lemma: &Procedure, body: &Block) {
        let name = &lemma.name;
        body.for_each_stmt(&mut |stmt| {
            let what = match &stmt.kind {
                StmtKind::New { .. } => "makes an object",
                StmtKind::Free(_) => "frees an object",
                StmtKind::AssignText { .. } => "writes an array",
                StmtKind::Call { procedure, .. }
                    if !self.program.procedures[*procedure].is_lemma() =>
                {
                    "calls a procedure"
                }
                StmtKind::Assign { places, .. } => {
                    let is_real = |place: &Place| {
                        !matches!(place, Place::Variable(Variable::Local(_)))
                            && !self.program.is_ghost_place(place)
                    };
                    if !places.iter().any(is_real) {
                        return;
                    }
                    "writes a field that is not ghost"
                }
                _ => return,
            };
            self.warn(format!("the lemma `{name}` {what}"), stmt.span);
        });
    }
}
