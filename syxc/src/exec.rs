//! exec(σ, s): statements (Schwerhoff 2011, sections 3.8 and 3.9).

mod smoke;

use std::borrow::Cow;
use std::rc::Rc;

use chalice::program::ghosts::is_foreseen;
use chalice::program::{
    Block, ClassId, Expr, Initialiser, LocalId, LocalKind, Rhs, Stmt, StmtKind,
};
use la_arena::ArenaMap;
use sil::source::Span;
use smt::terms::{Term, Terms, grow_stack};

use super::calls::Call;
use super::loops::Loop;
use super::{Direct, Statements, Threads, renumbered, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::rules::language::Language;
use symex::state::heap::{Chunk, Resource};

/// The end of a statement: the path goes on or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Goes,
    /// The path is over: all its obligations have been checked.
    Ends,
}

impl Statements<'_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow, Stop> {
        for stmt in &block.stmts {
            if grow_stack(|| self.exec(stmt))? == Flow::Ends {
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::Goes)
    }

    fn exec(&mut self, stmt: &Stmt) -> Result<Flow, Stop> {
        let blame = |error| Blame::new(error, span(stmt.span));
        self.log.enter(keyword(&stmt.kind), span(stmt.span));
        self.show_state(span(stmt.span));
        match &stmt.kind {
            StmtKind::Block(block) => return self.block(block),
            StmtKind::If { arms, otherwise } => {
                return self.conditional(stmt, arms, otherwise.as_ref());
            }
            StmtKind::While { guard, invariants, lock_changes, body, .. } => {
                let parts = Loop { guard, invariants, lock_changes, body };
                return self.exec_loop(stmt, parts);
            }
            StmtKind::Assert(assertion) => {
                let (heap, given) = (self.here.heap.clone(), self.here.given.clone());
                self.counting_debts(|chalice| {
                    chalice.consume_all([assertion], |_| blame(ErrorId::AssertFailed))
                })?;
                (self.here.heap, self.here.given) = (heap, given);
            }
            StmtKind::Prove(obligation) => {
                let blame = match obligation.words {
                    Cow::Borrowed(words) => blame(obligation.error).saying(words),
                    Cow::Owned(_) => blame(obligation.error),
                };
                let claim = self.eval(&obligation.claim, blame)?;
                self.prove(claim, blame, obligation.reason, blame.span)?;
            }
            StmtKind::Assume(fact) if fact.is_impure() => {
                self.counting_debts(|chalice| {
                    chalice.produce_all([fact], None, |_| blame(ErrorId::InhaleFailed))
                })?;
                self.move_credits([fact], false)?;
                self.comes_to(span(stmt.span))?;
            }
            StmtKind::Assume(fact) => {
                let blame = blame(ErrorId::InhaleFailed);
                let fact = self.counting_debts(|chalice| chalice.eval(fact, blame))?;
                self.assume(fact)?;
                self.comes_to(span(stmt.span))?;
            }
            StmtKind::Declare { local, value: None } => {
                self.threads.forget([*local]);
                if let Some(&flag) = self.direct.assigned.get(*local) {
                    self.frame.store.set(flag, Terms::FALSE);
                }
            }
            StmtKind::Declare { local, value: Some(written) }
            | StmtKind::AssignLocal { local, value: written, .. } => {
                let error = match self.direct.tree.locals[*local].kind {
                    LocalKind::Measure => ErrorId::NotWellformed,
                    LocalKind::Copy => ErrorId::RefinementFailed,
                    _ => ErrorId::AssignmentFailed,
                };
                let value = self.value(written, blame(error))?;
                let name = &self.direct.tree.locals[*local].name;
                let value = self.named(name, value)?;
                if matches!(stmt.kind, StmtKind::AssignLocal { .. }) {
                    self.threads.assign_once(*local, span(stmt.span))?;
                    self.foresee(*local, written, value)?;
                }
                self.frame.store.set(Direct::local(*local), value);
            }
            StmtKind::AssignField { receiver, field, value, .. } => {
                let blame = blame(ErrorId::AssignmentFailed);
                let receiver = self.eval(receiver, blame)?;
                let value = self.value(value, blame)?;
                let direct = self.direct;
                let value = self.named(&direct.tree.fields[*field].name, value)?;
                if self.direct.tree.fields[*field].is_tracked {
                    self.threads.redirect(*field, receiver, value, blame)?;
                }
                self.write_field(receiver, renumbered(*field), value, blame.span, blame)?;
                self.begin_epoch();
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                let call = Call { receiver, method: *method, arguments, at: span(stmt.span) };
                self.call(call, outs)?;
            }
            StmtKind::Specification { targets, pre, post } => {
                self.specify(targets, pre.as_ref(), post, span(stmt.span))?;
            }
            StmtKind::Fold(access) => self.fold(access, blame(ErrorId::FoldFailed))?,
            StmtKind::Unfold(access) => {
                self.unfold(access, blame(ErrorId::UnfoldFailed))?;
            }
            _ => return self.exec_shared(stmt),
        }
        Ok(Flow::Goes)
    }

    /// Executes a statement about several threads.
    fn exec_shared(&mut self, stmt: &Stmt) -> Result<Flow, Stop> {
        match &stmt.kind {
            StmtKind::Fork { token, receiver, method, arguments } => {
                let call = Call { receiver, method: *method, arguments, at: span(stmt.span) };
                self.fork(call, token.as_ref())?;
            }
            StmtKind::Join { outs, token, method } => {
                self.exec_join(outs, token, *method, span(stmt.span))?;
            }
            StmtKind::Acquire { target, mode } => {
                self.acquire(target, *mode, span(stmt.span))?;
            }
            StmtKind::Release { target, mode } => {
                self.release(target, *mode, span(stmt.span))?;
            }
            StmtKind::Lock { target, mode, body } => {
                return self.lock(target, *mode, body, span(stmt.span));
            }
            StmtKind::Share { target, bounds } => {
                self.share(target, bounds, span(stmt.span))?;
            }
            StmtKind::Reorder { target, bounds } => {
                self.reorder(target, bounds, span(stmt.span))?;
            }
            StmtKind::Unshare(target) => self.unshare(target, span(stmt.span))?,
            StmtKind::Send { channel, declaration, arguments } => {
                self.send(channel, *declaration, arguments, span(stmt.span))?;
            }
            StmtKind::Receive { outs, channel, declaration } => {
                self.receive(outs, channel, *declaration, span(stmt.span))?;
            }
            StmtKind::Downgrade(target) => self.downgrade(target, span(stmt.span))?,
            StmtKind::Free(target) => self.free(target, span(stmt.span))?,
            _ => return unsupported_at(span(stmt.span), "this form of statement"),
        }
        self.begin_epoch();
        Ok(Flow::Goes)
    }

    /// Executes a side of a conditional.
    pub(super) fn arm(&mut self, block: &Block) -> Result<Flow, Stop> {
        let flow = self.block(block)?;
        if flow == Flow::Goes && smoke::has_end(block) {
            self.comes_to(span(block.span))?;
        }
        Ok(flow)
    }

    /// Decides a condition of the program for this run.
    pub(super) fn condition(&mut self, condition: &Expr, error: ErrorId) -> Result<bool, Stop> {
        let at = span(condition.span);
        let value = self.executed(condition, Blame::new(error, at))?;
        let taken = self.branch(value)?;
        if self.direct.ahead.merges(self.setting.join) {
            self.settle(value, taken);
        }
        Rc::make_mut(&mut self.here.path).push((at, taken));
        Ok(taken)
    }

    /// Assumes that a ghost constant has had its value from its declaration on, if the value may be
    /// foreseen (see [`chalice::program::ghosts`]).
    fn foresee(&mut self, local: LocalId, written: &Rhs, value: Term) -> Result<(), Stop> {
        let direct = self.direct;
        if direct.assigned.get(local).is_some()
            && direct.foreseen.contains(&local)
            && matches!(written, Rhs::Expr(expr) if is_foreseen(&direct.tree, expr))
            && let Some(before) = self.frame.store.get(Direct::local(local))
        {
            let same = self.terms.eq(before, value);
            self.assume(same)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Rhs, blame: Blame) -> Result<Term, Stop> {
        match value {
            Rhs::Expr(expr) => self.executed(expr, blame),
            Rhs::New { class, initialisers, .. } => self.create(*class, initialisers, blame),
            Rhs::NewChannel { bounds, .. } => self.new_channel(bounds, blame.span),
        }
    }

    /// Makes an object that nobody knows, with full permission to its fields. The object is not
    /// shared, so nobody holds it.
    fn create(
        &mut self,
        class: ClassId,
        initialisers: &[Initialiser],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let object = self.new_object("new")?;
        let mut initial = ArenaMap::default();
        for one in initialisers {
            initial.insert(one.field, self.executed(&one.value, blame)?);
        }
        let direct = self.direct;
        for field in direct.tree.classes[class].fields() {
            let declared = &direct.tree.fields[field];
            let value = match initial.get(field) {
                _ if declared.is_tracked => Terms::NULL,
                Some(&value) => value,
                None => {
                    let sort = self.threads.sort(&declared.ty);
                    self.fresh(&declared.name, sort)
                }
            };
            let chunk = Chunk { arguments: vec![object], value, amount: Terms::WRITE };
            self.add_chunk(Resource::Field(renumbered(field)), chunk)?;
        }
        self.threads.unconnected(object, class)?;
        for one in initialisers {
            if let (true, Some(&value)) =
                (direct.tree.fields[one.field].is_tracked, initial.get(one.field))
            {
                self.threads.redirect(one.field, object, value, blame)?;
                self.write_field(object, renumbered(one.field), value, blame.span, blame)?;
            }
        }
        if direct.locking.is_used {
            let bottom = self.threads.bottom();
            let chunk = Chunk { arguments: vec![object], value: bottom, amount: Terms::WRITE };
            let mu = self.direct.mu();
            self.add_chunk(mu, chunk)?;
            self.threads.is_of_class(object, class, true)?;
            self.threads.is_not_held(object)?;
        }
        Ok(object)
    }
}

impl Threads<'_, '_> {
    /// Gives variables unknown values. For constants it is unknown whether they have been assigned.
    pub(super) fn forget(&mut self, variables: impl IntoIterator<Item = LocalId>) {
        let assigned = &self.direct.assigned;
        let variables: Vec<LocalId> = variables.into_iter().collect();
        let flags = variables.iter().filter_map(|&local| assigned.get(local).copied());
        self.havoc(variables.iter().copied().map(Direct::local).chain(flags));
    }

    /// Notes an assignment to a ghost constant, which must be its first. Other variables need no
    /// check.
    pub(super) fn assign_once(&mut self, local: LocalId, at: Span) -> Result<(), Stop> {
        let Some(&flag) = self.direct.assigned.get(local) else { return Ok(()) };
        let before = self.frame.store.get(flag).unwrap_or(Terms::FALSE);
        let unassigned = self.terms.not(before);
        let blame = Blame::new(ErrorId::AssignmentFailed, at);
        self.prove(unassigned, blame, Reason::ConstAssignedTwice, at)?;
        self.frame.store.set(flag, Terms::TRUE);
        Ok(())
    }
}

/// Returns the name of a statement where questions are counted.
pub(super) fn keyword(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::Assert(_) | StmtKind::Prove(_) => "assert",
        StmtKind::Assume(_) => "assume",
        StmtKind::Declare { .. } | StmtKind::AssignLocal { .. } => "assignment",
        StmtKind::AssignField { .. } => "field assignment",
        StmtKind::Call { .. } => "call",
        StmtKind::Fork { .. } => "fork",
        StmtKind::Join { .. } => "join",
        StmtKind::If { .. } => "if",
        StmtKind::While { .. } => "while",
        StmtKind::Fold(_) => "fold",
        StmtKind::Unfold(_) => "unfold",
        StmtKind::Acquire { .. } | StmtKind::Lock { .. } => "acquire",
        StmtKind::Release { .. } => "release",
        StmtKind::Share { .. } => "share",
        StmtKind::Send { .. } => "send",
        StmtKind::Receive { .. } => "receive",
        _ => "other",
    }
}
