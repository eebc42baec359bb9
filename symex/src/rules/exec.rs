//! exec(σ, s): simple statements (Schwerhoff 2011, figure 7).

use std::rc::Rc;

use sil::program::{Expr, FieldId, LocalId, Stmt, StmtKind};
use sil::source::Span;
use smt::terms::{Sort, SortKind, Term, TermKind, Terms};

use crate::findings::blame::{Blame, ErrorId};
use crate::rules::Sil;
use crate::rules::language::Language;
use crate::state::Labelled;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::{Engine, Stop};

impl Sil<'_, '_> {
    /// One statement of a block.
    pub(crate) fn exec(&mut self, stmt: &Stmt) -> Result<(), Stop> {
        self.log.enter(keyword(&stmt.kind), stmt.span);
        self.exec_kind(stmt)?;
        // Statements that only look, or only add permission, leave all values as they are.
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
                // In a package, an assertion also fetches from outside, and what it has fetched
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

    /// `e1.f := e2`: needs full permission.
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
}

impl Engine<'_> {
    /// Large values get a name, so that later terms stay small.
    fn assign(&mut self, target: LocalId, value: Term) -> Result<(), Stop> {
        let value = self.named(&self.frame.locals[target].name.clone(), value)?;
        self.frame.store.set(target, value);
        Ok(())
    }

    pub fn named(&mut self, hint: &str, value: Term) -> Result<Term, Stop> {
        let small = match self.terms.kind(value) {
            TermKind::Apply(_, arguments) => arguments.is_empty(),
            TermKind::Null | TermKind::Bool(_) | TermKind::Int(_) | TermKind::Perm(_) => true,
            _ => false,
        };
        if small {
            return Ok(value);
        }
        let sort = self.terms.sort(value);
        let name = self.fresh(hint, sort);
        self.terms.define(name, value);
        let definition = self.terms.identical(name, value);
        self.made.defining.insert(definition);
        self.assume(definition)?;
        self.export_definition(name, definition);
        if self.is_tainted(value)? {
            let reported = self.log.rely_on_earlier_report();
            self.log.taint(name, reported);
        }
        Ok(name)
    }

    /// Gives a field a new value: needs full permission.
    pub fn write_field(
        &mut self,
        receiver: Term,
        field: FieldId,
        value: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let resource = Resource::Field(field);
        if self.rewrite(resource, receiver, value)? {
            return Ok(());
        }
        let mut taken = self.take_location(resource, &[receiver], Terms::WRITE)?;
        if taken.is_none() && self.fail_receiver(receiver, blame, at)? {
            taken = self.take_location(resource, &[receiver], Terms::WRITE)?;
        }
        if taken.is_none() {
            let (heap, needed) = (self.here.heap.clone(), Some(Terms::WRITE));
            self.fail_permission(&heap, resource, &[receiver], needed, blame, at)?;
            self.drop_aliases(resource, &[receiver])?;
            let chunk = Chunk { arguments: vec![receiver], value, amount: Terms::WRITE };
            return self.add_missing(resource, chunk);
        }
        let chunk = Chunk { arguments: vec![receiver], value, amount: Terms::WRITE };
        self.add_chunk(resource, chunk)
    }

    /// `x := new(fs)`.
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

    /// A reference unlike every one that is a value of the state (trap T11).
    pub fn new_object(&mut self, hint: &str) -> Result<Term, Stop> {
        let object = self.fresh(hint, Sort::REF);
        let fact = self.terms.differs(object, Terms::NULL);
        self.assume(fact)?;
        for (value, held) in self.values_of_state() {
            let fact = match *self.terms.sort_kind(self.terms.sort(value)) {
                SortKind::Ref => self.terms.differs(object, value),
                SortKind::Set(element) if element == Sort::REF => {
                    let member = self.terms.set_contains(object, value);
                    self.terms.not(member)
                }
                SortKind::Seq(element) if element == Sort::REF => {
                    let member = self.terms.seq_contains(object, value);
                    self.terms.not(member)
                }
                _ => Terms::TRUE,
            };
            let fact = self.terms.implies(held, fact);
            self.assume(fact)?;
        }
        Ok(object)
    }

    /// The values of variables, and the arguments and values of chunks with permission, each once
    /// and with where it is one: where the amount of the chunk is positive.
    fn values_of_state(&mut self) -> Vec<(Term, Term)> {
        let mut values = indexmap::IndexSet::<_, rustc_hash::FxBuildHasher>::default();
        for (local, _) in self.frame.locals.iter() {
            values.extend(self.frame.store.get(local).map(|value| (value, Terms::TRUE)));
        }
        for heap in std::iter::once(&self.here.heap).chain(&self.here.framed) {
            for (_, chunks) in heap.resources() {
                for chunk in chunks {
                    let held = self.terms.lt(Terms::NONE, chunk.amount);
                    let of_chunk = chunk.arguments.iter().copied().chain([chunk.value]);
                    values.extend(of_chunk.map(|value| (value, held)));
                }
            }
        }
        values.into_iter().collect()
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
