//! Lowering of statements to a flat list.

use chalice::Span;
use chalice::program as p;
use chalice::program::{ExprKind, LockMode, OutVariable, StmtKind, Type};
use front::grow_stack;

use super::Lowering;
use super::exprs::is_level;
use crate::code::{
    Bound, Bounds, CallSite, Expr, Initialiser, Instr, Kind, Loop, Op, Rhs, Specification, index,
};

/// The statements lowered so far.
#[derive(Default)]
pub(super) struct Body {
    instrs: Vec<Instr>,
    loops: Vec<Loop>,
}

impl Lowering<'_> {
    pub(super) fn method_body(&mut self, block: &p::Block) -> (Vec<Instr>, Vec<Loop>) {
        self.block(block);
        self.emit(Op::Return, block.span);
        let body = std::mem::take(&mut self.body);
        (body.instrs, body.loops)
    }

    fn emit(&mut self, op: Op, span: Span) -> usize {
        self.body.instrs.push(Instr { op, span });
        self.body.instrs.len() - 1
    }

    fn here(&self) -> u32 {
        self.body.instrs.len() as u32
    }

    fn block(&mut self, block: &p::Block) {
        for stmt in &block.stmts {
            grow_stack(|| self.stmt(stmt));
        }
    }

    fn stmt(&mut self, stmt: &p::Stmt) {
        let op = match &stmt.kind {
            StmtKind::Block(block) => return self.block(block),
            StmtKind::If { arms, otherwise } => return self.conditional(arms, otherwise.as_ref()),
            StmtKind::While { guard, invariants, lock_changes, body, .. } => {
                return self.while_loop(guard, invariants, lock_changes, body, stmt.span);
            }
            StmtKind::Lock { target, mode, body } => {
                return self.lock(target, *mode, body, stmt.span);
            }
            StmtKind::Declare { local, value } => {
                return self.declare(*local, value.as_ref(), stmt.span);
            }
            StmtKind::AssignLocal { local, value, .. } => {
                let value = self.rhs(value);
                let slot = self.slot(*local);
                Op::Assign { slot, value, flag: self.flags.get(local).copied() }
            }
            StmtKind::Call { outs, receiver, method, arguments } => {
                Op::Call(Box::new(self.site(outs, receiver, *method, arguments)))
            }
            StmtKind::Fork { token, receiver, method, arguments } => {
                let outs: Vec<_> = token.iter().copied().collect();
                Op::Fork(Box::new(self.site(&outs, receiver, *method, arguments)))
            }
            StmtKind::Join { outs, token, .. } => {
                Op::Join { token: self.expr(token), outs: self.outs(outs) }
            }
            _ => self.simple(stmt),
        };
        self.emit(op, stmt.span);
    }

    fn simple(&mut self, stmt: &p::Stmt) -> Op {
        match &stmt.kind {
            StmtKind::Assert(e) => Op::Assert(self.expr(e), None),
            StmtKind::Prove(obligation) => {
                Op::Assert(self.expr(&obligation.claim), Some(obligation.clone()))
            }
            StmtKind::Assume(e) => Op::Assume(self.expr(e)),
            StmtKind::AssignField { receiver, field, value, .. } => {
                let tracked = self.back_pointers_of(*field);
                let cell = self.layout.cells[field];
                Op::AssignField {
                    receiver: self.expr(receiver),
                    cell,
                    tracked,
                    value: self.rhs(value),
                }
            }
            StmtKind::Specification { targets, pre, post } => {
                let places = targets.iter().map(|target| {
                    let slot = self.slot(target.local);
                    (slot, self.program.locals[target.local].ty.clone())
                });
                let targets = places.collect();
                // Here `old` is the state before the statement, for which a state is recorded
                // anyway.
                let saw_old = self.saw_old;
                let pre = pre.as_ref().map(|pre| self.expr(pre));
                let post = self.expr(post);
                self.saw_old = saw_old;
                Op::Specification(Box::new(Specification { targets, pre, post }))
            }
            StmtKind::Share { target, bounds } => {
                Op::Place { target: self.expr(target), bounds: self.bounds(bounds), reorder: false }
            }
            StmtKind::Reorder { target, bounds } => {
                Op::Place { target: self.expr(target), bounds: self.bounds(bounds), reorder: true }
            }
            StmtKind::Unshare(target) => Op::Unshare(self.expr(target)),
            StmtKind::Acquire { target, mode } => {
                Op::Acquire { target: self.expr(target), mode: *mode }
            }
            StmtKind::Release { target, mode } => {
                Op::Release { target: self.expr(target), mode: *mode }
            }
            StmtKind::Downgrade(target) => Op::Downgrade(self.expr(target)),
            StmtKind::Free(target) => Op::Free(self.expr(target)),
            StmtKind::Fold(access) => Op::Fold(self.access(access)),
            StmtKind::Unfold(access) => Op::Unfold(self.access(access)),
            StmtKind::Send { channel, arguments, .. } => {
                Op::Send { channel: self.expr(channel), arguments: self.exprs(arguments) }
            }
            StmtKind::Receive { outs, channel, .. } => {
                Op::Receive { channel: self.expr(channel), outs: self.outs(outs) }
            }
            StmtKind::Wait(_) => Op::Unsupported("wait"),
            StmtKind::Signal(_) | StmtKind::SignalAll(_) => Op::Unsupported("signal"),
            _ => unreachable!("lowered by the caller"),
        }
    }

    fn outs(&mut self, outs: &[OutVariable]) -> Vec<u32> {
        outs.iter().map(|out| self.slot(out.local)).collect()
    }

    fn site(
        &mut self,
        outs: &[OutVariable],
        receiver: &p::Expr,
        method: p::MethodId,
        arguments: &[p::Expr],
    ) -> CallSite {
        CallSite {
            receiver: self.expr(receiver),
            method: index(method),
            arguments: self.exprs(arguments),
            outs: self.outs(outs),
        }
    }

    fn declare(&mut self, local: p::LocalId, value: Option<&p::Rhs>, span: Span) {
        let value = value.map(|value| self.rhs(value));
        let slot = self.slot(local);
        let flag = self.flags.get(&local).copied();
        if value.is_none() || flag.is_some() {
            let ty = self.program.locals[local].ty.clone();
            self.emit(Op::Havoc { slot, ty, flag }, span);
        }
        if let Some(value) = value {
            self.emit(Op::Assign { slot, value, flag }, span);
        }
    }

    fn conditional(&mut self, arms: &[p::IfArm], otherwise: Option<&p::Block>) {
        let mut ends = Vec::new();
        for (at, arm) in arms.iter().enumerate() {
            let condition = self.expr(&arm.condition);
            let branch = self.emit(Op::Branch { condition, otherwise: 0 }, arm.span);
            self.block(&arm.body);
            if at + 1 < arms.len() || otherwise.is_some() {
                ends.push(self.emit(Op::Jump(0), arm.span));
            }
            let next = self.here();
            if let Op::Branch { otherwise, .. } = &mut self.body.instrs[branch].op {
                *otherwise = next;
            }
        }
        if let Some(block) = otherwise {
            self.block(block);
        }
        let after = self.here();
        for end in ends {
            self.body.instrs[end].op = Op::Jump(after);
        }
    }

    fn while_loop(
        &mut self,
        guard: &p::Expr,
        invariants: &[p::Expr],
        lock_changes: &[p::Expr],
        body: &p::Block,
        span: Span,
    ) {
        let saw_read = std::mem::take(&mut self.saw_read);
        let invariants = self.exprs(invariants);
        let has_read_fraction = std::mem::replace(&mut self.saw_read, saw_read);
        let number = self.body.loops.len();
        let described = Loop {
            guard: self.expr(guard),
            invariants,
            lock_changes: self.exprs(lock_changes),
            exit: 0,
            head: self.here() + 1,
            has_read_fraction,
            span,
        };
        self.body.loops.push(described);
        self.emit(Op::LoopEnter(number as u32), span);
        self.emit(Op::LoopTest(number as u32), span);
        self.block(body);
        self.emit(Op::LoopBack(number as u32), span);
        self.body.loops[number].exit = self.here();
    }

    /// The object is evaluated once, so it is kept in a slot without name.
    fn lock(&mut self, target: &p::Expr, mode: LockMode, body: &p::Block, span: Span) {
        let slot = self.new_slot(&target.ty, None);
        let value = Rhs::Expr(self.expr(target));
        let kept = |span| Expr { kind: Kind::Slot(slot), span, is_pure: true };
        self.emit(Op::Assign { slot, value, flag: None }, span);
        self.emit(Op::Acquire { target: kept(target.span), mode }, span);
        self.block(body);
        self.emit(Op::Release { target: kept(target.span), mode }, span);
    }

    /// Returns the back-pointer cell of the objects that a field points to, if it is tracked.
    fn back_pointers_of(&self, field: p::FieldId) -> Option<u32> {
        let declared = &self.program.fields[field];
        match &declared.ty {
            Type::Class(target) if declared.is_tracked => {
                self.layout.back_pointers.get(&(index(*target), field)).copied()
            }
            _ => None,
        }
    }

    fn rhs(&mut self, rhs: &p::Rhs) -> Rhs {
        match rhs {
            p::Rhs::Expr(e) => Rhs::Expr(self.expr(e)),
            p::Rhs::New { class, initialisers, .. } => Rhs::New {
                class: index(*class),
                initialisers: initialisers
                    .iter()
                    .map(|one| Initialiser {
                        cell: self.layout.cells[&one.field],
                        tracked: self.back_pointers_of(one.field),
                        value: self.expr(&one.value),
                    })
                    .collect(),
            },
            p::Rhs::NewChannel { channel, bounds, .. } => {
                Rhs::NewChannel { channel: index(*channel), bounds: self.bounds(bounds) }
            }
        }
    }

    fn bounds(&mut self, bounds: &p::Bounds) -> Bounds {
        let mut side = |sources: &[p::Expr]| sources.iter().map(|e| self.bound(e)).collect();
        Bounds { lower: side(&bounds.lower), upper: side(&bounds.upper) }
    }

    fn bound(&mut self, source: &p::Expr) -> Bound {
        match &source.kind {
            ExprKind::WaitLevel => Bound::Wait(source.span),
            _ if is_level(source) => Bound::Level(self.expr(source)),
            _ => Bound::Object(self.expr(source)),
        }
    }
}
