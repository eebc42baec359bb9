//! exec(σ, s): statements (Schwerhoff 2011, sections 3.8 and 3.9).

use std::rc::Rc;

use chalice::program::{
    Block, ClassId, Expr, Initialiser, LocalId, MethodId, OutVariable, Rhs, Stmt, StmtKind,
};
use la_arena::ArenaMap;
use smt::terms::{Term, Terms, grow_stack};

use super::{Direct, renumbered, span};
use crate::engine::findings::blame::{Blame, ErrorId, Reason};
use crate::engine::state::State;
use crate::engine::state::heap::{Chunk, Heap, Resource};
use crate::engine::{Engine, Stop};

/// Whether something follows on this path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Goes,
    /// All that was to be shown of this path has been shown.
    Ends,
}

/// A call, as it is written.
struct Call<'e> {
    outs: &'e [OutVariable],
    receiver: &'e Expr,
    method: MethodId,
    arguments: &'e [Expr],
}

impl Engine<'_> {
    pub(super) fn direct_block(&mut self, block: &Block) -> Result<Flow, Stop> {
        for stmt in &block.stmts {
            if grow_stack(|| self.direct_exec(stmt))? == Flow::Ends {
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::Goes)
    }

    fn direct_exec(&mut self, stmt: &Stmt) -> Result<Flow, Stop> {
        let blame = |error| Blame::new(error, span(stmt.span));
        self.log.enter(keyword(&stmt.kind), span(stmt.span));
        match &stmt.kind {
            StmtKind::Block(block) => return self.direct_block(block),
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    if self.direct_condition(&arm.condition, ErrorId::IfFailed)? {
                        return self.direct_block(&arm.body);
                    }
                }
                if let Some(block) = otherwise {
                    return self.direct_block(block);
                }
            }
            StmtKind::While { guard, invariants, body, .. } => {
                return self.direct_loop(stmt, guard, invariants, body);
            }
            StmtKind::Assert(assertion) => {
                let heap = self.state.heap.clone();
                self.direct_consume_all([assertion], |_| blame(ErrorId::AssertFailed))?;
                self.state.heap = heap;
            }
            StmtKind::Assume(fact) => {
                let fact = self.direct_eval(fact, blame(ErrorId::InhaleFailed))?;
                self.assume(fact)?;
            }
            StmtKind::Declare { local, value: None } => self.direct_forget([*local]),
            StmtKind::Declare { local, value: Some(value) }
            | StmtKind::AssignLocal { local, value, .. } => {
                let value = self.direct_value(value, blame(ErrorId::AssignmentFailed))?;
                let name = &self.direct().tree.locals[*local].name;
                let value = self.named(name, value)?;
                self.state.store.set(Direct::local(*local), value);
            }
            StmtKind::AssignField { receiver, field, value, .. } => {
                let blame = blame(ErrorId::AssignmentFailed);
                let receiver = self.direct_eval(receiver, blame)?;
                let value = self.direct_value(value, blame)?;
                let value = self.named(&self.direct().tree.fields[*field].name, value)?;
                self.write_field(receiver, renumbered(*field), value, blame.span, blame)?;
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                self.direct_call(stmt, &Call { outs, receiver, method: *method, arguments })?;
            }
            StmtKind::Fold(access) => self.direct_fold(access, blame(ErrorId::FoldFailed))?,
            StmtKind::Unfold(access) => {
                self.direct_unfold(access, blame(ErrorId::UnfoldFailed))?;
            }
            _ => return self.unsupported_at(span(stmt.span), "this form of statement"),
        }
        Ok(Flow::Goes)
    }

    /// Which way this run goes at a condition of the program.
    fn direct_condition(&mut self, condition: &Expr, error: ErrorId) -> Result<bool, Stop> {
        let at = span(condition.span);
        let value = self.direct_eval(condition, Blame::new(error, at))?;
        let taken = self.branch(value)?;
        Rc::make_mut(&mut self.state.path).push((at, taken));
        Ok(taken)
    }

    /// Variables get values of which nothing is known.
    pub(super) fn direct_forget(&mut self, variables: impl IntoIterator<Item = LocalId>) {
        self.havoc(variables.into_iter().map(Direct::local));
    }

    fn direct_value(&mut self, value: &Rhs, blame: Blame) -> Result<Term, Stop> {
        match value {
            Rhs::Expr(expr) => self.direct_eval(expr, blame),
            Rhs::New { class, initialisers, .. } => self.direct_new(*class, initialisers, blame),
            Rhs::NewChannel { span: at, .. } => self.unsupported_at(span(*at), "channels"),
        }
    }

    /// An object that nobody knows, with all permission to its fields. Its lock level is left out, as no rule asks for it.
    fn direct_new(
        &mut self,
        class: ClassId,
        initialisers: &[Initialiser],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let object = self.new_object("new")?;
        let mut initial = ArenaMap::default();
        for one in initialisers {
            initial.insert(one.field, self.direct_eval(&one.value, blame)?);
        }
        let direct = self.direct();
        for field in direct.tree.classes[class].fields() {
            let declared = &direct.tree.fields[field];
            let value = match initial.get(field) {
                Some(&value) => value,
                None => {
                    let sort = self.direct_sort(&declared.ty);
                    self.fresh(&declared.name, sort)
                }
            };
            let chunk = Chunk { arguments: vec![object], value, amount: Terms::WRITE };
            self.add_chunk(Resource::Field(renumbered(field)), chunk)?;
        }
        Ok(object)
    }

    /// The precondition is given away, the postcondition received; `old` in it is the state before.
    fn direct_call(&mut self, stmt: &Stmt, call: &Call<'_>) -> Result<(), Stop> {
        let direct = self.direct();
        let callee = &direct.tree.methods[call.method];
        let at = span(stmt.span);
        let blame = Blame::new(ErrorId::CallFailed, at);
        let receiver = self.direct_eval(call.receiver, blame)?;
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in call.arguments {
            arguments.push(self.direct_eval(argument, blame)?);
        }
        let required = Blame::new(ErrorId::CallPrecondition, at);
        let exists = self.terms.differs(receiver, Terms::NULL);
        self.prove(exists, required, Reason::ReceiverNull, span(call.receiver.span))?;
        let mut state = State::new(&direct.locals);
        state.store = self.direct_store();
        state.store.set(direct.this, receiver);
        for (&parameter, argument) in callee.parameters.iter().zip(arguments) {
            state.store.set(Direct::local(parameter), argument);
        }
        state.user = Some(self.state.users_variables());
        let fraction = self.direct_fraction();
        let before = self.state.heap.clone();
        state.heap = before.clone();
        state.path = self.state.path.clone();
        state.past.frames = self.state.past.frames.clone();
        let (done, inner) = self.in_state(state, |engine| {
            if fraction.is_some() {
                let chosen = engine.direct_choose_fraction(fraction)?;
                engine.direct_bound(chosen, &callee.requires)?;
            }
            engine.remember_heap();
            engine.direct_consume_all(&callee.requires, |clause| {
                required.trusted().clause(span(clause.span))
            })?;
            engine.state.past.old = Some(before);
            engine.direct_forget(callee.results.iter().copied());
            engine.direct_produce_all(&callee.ensures, None, |_| blame.trusted())
        });
        done?;
        self.state.heap = inner.heap;
        for (out, &result) in call.outs.iter().zip(&callee.results) {
            if let Some(value) = inner.store.get(Direct::local(result)) {
                self.state.store.set(Direct::local(out.local), value);
            }
        }
        Ok(())
    }

    /// The invariants make sense where nothing else is known, hold on entry, and are kept by the body; what they do not need is
    /// framed around the loop.
    fn direct_loop(
        &mut self,
        stmt: &Stmt,
        guard: &Expr,
        invariants: &[Expr],
        body: &Block,
    ) -> Result<Flow, Stop> {
        let outer = self.direct_fraction();
        if outer.is_some() {
            let chosen = self.direct_choose_fraction(outer)?;
            self.direct_bound(chosen, invariants)?;
        }
        let mut changed = Vec::new();
        assigned(body, &mut changed);
        if self.choose(&[None, None])? == 0 {
            self.state.heap = Heap::default();
            self.direct_forget(changed);
            self.direct_produce_all(invariants, None, |clause| {
                Blame::new(ErrorId::NotWellformed, span(clause.span))
            })?;
            return Ok(Flow::Ends);
        }
        let trusted = |error| move |clause: &Expr| Blame::new(error, span(clause.span)).trusted();
        self.direct_consume_all(invariants, trusted(ErrorId::InvariantNotEstablished))?;
        let frame = std::mem::take(&mut self.state.heap);
        self.state.past.frames.push(frame);
        self.direct_forget(changed);
        self.direct_produce_all(invariants, None, trusted(ErrorId::NotWellformed))?;
        for clause in invariants {
            if self.is_ill_formed_at(span(clause.span))? {
                self.end_unframed()?;
                break;
            }
        }
        if self.direct_condition(guard, ErrorId::WhileFailed)? {
            if self.direct_block(body)? == Flow::Goes {
                self.log.enter(keyword(&stmt.kind), span(stmt.span));
                self.direct_consume_all(invariants, trusted(ErrorId::InvariantNotPreserved))?;
            }
            return Ok(Flow::Ends);
        }
        if let Some(frame) = self.state.past.frames.pop() {
            self.rejoin(&frame)?;
        }
        if let Some(outer) = outer {
            self.state.store.set(self.direct().fraction, outer);
        }
        Ok(Flow::Goes)
    }
}

/// The variables that statements assign.
fn assigned(block: &Block, to: &mut Vec<LocalId>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Declare { local, .. } | StmtKind::AssignLocal { local, .. } => {
                to.push(*local);
            }
            StmtKind::Call { outs, .. }
            | StmtKind::Join { outs, .. }
            | StmtKind::Receive { outs, .. }
            | StmtKind::Specification { targets: outs, .. } => {
                to.extend(outs.iter().map(|out| out.local));
            }
            StmtKind::Fork { token, .. } => to.extend(token.iter().map(|out| out.local)),
            StmtKind::Block(body) | StmtKind::While { body, .. } | StmtKind::Lock { body, .. } => {
                grow_stack(|| assigned(body, to));
            }
            StmtKind::If { arms, otherwise } => {
                for block in arms.iter().map(|arm| &arm.body).chain(otherwise) {
                    grow_stack(|| assigned(block, to));
                }
            }
            StmtKind::Assert(_)
            | StmtKind::Assume(_)
            | StmtKind::AssignField { .. }
            | StmtKind::Share { .. }
            | StmtKind::Reorder { .. }
            | StmtKind::Unshare(_)
            | StmtKind::Acquire { .. }
            | StmtKind::Release { .. }
            | StmtKind::Downgrade(_)
            | StmtKind::Free(_)
            | StmtKind::Fold(_)
            | StmtKind::Unfold(_)
            | StmtKind::Send { .. }
            | StmtKind::Wait(_)
            | StmtKind::Signal(_)
            | StmtKind::SignalAll(_) => {}
        }
    }
}

/// What a statement is called where questions are counted.
fn keyword(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::Assert(_) => "assert",
        StmtKind::Assume(_) => "assume",
        StmtKind::Declare { .. } | StmtKind::AssignLocal { .. } => "assignment",
        StmtKind::AssignField { .. } => "field assignment",
        StmtKind::Call { .. } => "call",
        StmtKind::If { .. } => "if",
        StmtKind::While { .. } => "while",
        StmtKind::Fold(_) => "fold",
        StmtKind::Unfold(_) => "unfold",
        _ => "other",
    }
}
