//! exec(σ, s): simple statements (Schwerhoff 2011, figure 7).

use std::rc::Rc;

use sil::program::{Expr, FieldId, LocalId, Stmt, StmtKind};
use smt::terms::{Term, Terms};

use crate::rules::Sil;
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId};
use symex::rules::language::Language;
use symex::state::Labelled;
use symex::state::heap::{Chunk, Heap, Resource};

impl Sil<'_, '_> {
    /// Executes one statement of a block.
    pub(crate) fn exec(&mut self, stmt: &Stmt) -> Result<(), Stop> {
        self.log.enter(keyword(&stmt.kind), stmt.span);
        self.exec_kind(stmt)?;
        // Other statements only look, or only add permission, so all values stay as they are.
        if matches!(
            stmt.kind,
            StmtKind::FieldAssign { .. }
                | StmtKind::Exhale(_)
                | StmtKind::Call { .. }
                | StmtKind::Package { .. }
                | StmtKind::Apply { .. }
                | StmtKind::Quasihavoc { .. }
                | StmtKind::QuasihavocAll { .. }
        ) {
            self.begin_epoch();
        }
        Ok(())
    }

    fn exec_kind(&mut self, stmt: &Stmt) -> Result<(), Stop> {
        match &stmt.kind {
            StmtKind::Var(variables) => {
                self.havoc(variables.iter().copied());
                Ok(())
            }
            StmtKind::Assign { target, value } => {
                let value = self.eval(value, Blame::new(ErrorId::AssignmentFailed, stmt.span))?;
                self.assign(*target, value)
            }
            StmtKind::FieldAssign { receiver, field, value } => {
                self.exec_field_assign(stmt, receiver, *field, value)
            }
            StmtKind::New { target, fields } => self.exec_new(*target, fields),
            StmtKind::Call { targets, method, arguments } => {
                self.exec_call(stmt, targets, *method, arguments)
            }
            StmtKind::Inhale(assertion) => {
                let blame = Blame::new(ErrorId::InhaleFailed, assertion.span);
                self.produce_all([assertion], None, |_| blame)
            }
            StmtKind::Assume(assertion) => {
                self.exec_assume(assertion, Blame::new(ErrorId::InhaleFailed, assertion.span))
            }
            StmtKind::Exhale(assertion) => {
                let blame = Blame::new(ErrorId::ExhaleFailed, assertion.span);
                self.remember_heap();
                self.consume_all([assertion], |_| blame)?;
                Ok(())
            }
            StmtKind::Assert(assertion) => {
                let blame = Blame::new(ErrorId::AssertFailed, assertion.span);
                let (heap, given) = (self.here.heap.clone(), self.here.given.clone());
                self.here.package.moved = Heap::default();
                self.consume_all([assertion], |_| blame)?;
                (self.here.heap, self.here.given) = (heap, given);
                // An assertion in a package also fetches from outside, and the fetched permission
                // stays.
                self.keep_fetched()
            }
            StmtKind::Unreachable => Ok(()),
            StmtKind::Refute(assertion) => self.exec_refute(stmt, assertion),
            StmtKind::Fold(access) => {
                self.exec_fold(access, Blame::new(ErrorId::FoldFailed, stmt.span))
            }
            StmtKind::Unfold(access) => {
                self.exec_unfold(access, Blame::new(ErrorId::UnfoldFailed, stmt.span))
            }
            StmtKind::Label { label, .. } => {
                let passed = Labelled::new(self.here.heap.clone());
                Rc::make_mut(&mut self.frame.past.labels).insert(*label, passed);
                Ok(())
            }
            StmtKind::Package { wand, script } => {
                self.remember_heap();
                self.exec_package(wand, script, Blame::new(ErrorId::PackageFailed, stmt.span))
            }
            StmtKind::Apply { wand } => {
                self.remember_heap();
                self.exec_apply(wand, Blame::new(ErrorId::ApplyFailed, stmt.span))
            }
            StmtKind::Quasihavoc { condition, resource } => {
                self.exec_quasihavoc(stmt, condition.as_ref(), resource)
            }
            StmtKind::QuasihavocAll { variables, condition, resource } => {
                self.exec_quasihavoc_all(stmt, variables, condition.as_ref(), resource)
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Goto(_)
            | StmtKind::Block(_) => {
                unreachable!("control flow has become blocks")
            }
        }
    }

    /// Executes `e1.f := e2`, which needs full permission.
    fn exec_field_assign(
        &mut self,
        stmt: &Stmt,
        receiver: &Expr,
        field: FieldId,
        value: &Expr,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::AssignmentFailed, stmt.span);
        let receiver_value = self.eval(receiver, blame)?;
        let value = self.eval(value, blame)?;
        let value = self.core.named(&self.core.program.fields[field].name, value)?;
        self.write_field(receiver_value, field, value, stmt.span, blame)
    }

    /// Gives a variable a value.
    fn assign(&mut self, target: LocalId, value: Term) -> Result<(), Stop> {
        let name = self.frame.locals[target].name.clone();
        let value = self.named(&name, value)?;
        self.frame.store.set(target, value);
        Ok(())
    }

    /// Executes `x := new(fs)`.
    fn exec_new(&mut self, target: LocalId, fields: &[FieldId]) -> Result<(), Stop> {
        let hint = self.frame.locals[target].name.clone();
        let object = self.new_object(&hint)?;
        self.frame.store.set(target, object);
        for &field in fields {
            let program = self.program;
            let sort = self.sort(&program.fields[field].ty);
            let value = self.fresh(&program.fields[field].name, sort);
            let chunk = Chunk { arguments: vec![object], value, amount: Terms::WRITE };
            self.add_chunk(Resource::Field(field), chunk)?;
        }
        Ok(())
    }
}

/// Returns the name of a statement where questions are counted.
fn keyword(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::Var(_) => "var",
        StmtKind::Assign { .. } => "assignment",
        StmtKind::FieldAssign { .. } => "field assignment",
        StmtKind::New { .. } => "new",
        StmtKind::Call { .. } => "call",
        StmtKind::Inhale(_) => "inhale",
        StmtKind::Exhale(_) => "exhale",
        StmtKind::Assert(_) => "assert",
        StmtKind::Assume(_) => "assume",
        StmtKind::Refute(_) => "refute",
        StmtKind::Fold(_) => "fold",
        StmtKind::Unfold(_) => "unfold",
        StmtKind::Package { .. } => "package",
        StmtKind::Apply { .. } => "apply",
        StmtKind::Quasihavoc { .. } | StmtKind::QuasihavocAll { .. } => "quasihavoc",
        StmtKind::Label { .. } => "label",
        StmtKind::If { .. } => "if",
        StmtKind::While { .. } => "while",
        StmtKind::Goto(_) => "goto",
        StmtKind::Block(_) => "block",
        StmtKind::Unreachable => "unreachable",
    }
}
