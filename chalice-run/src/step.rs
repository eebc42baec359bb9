//! Execution of statements.
//!
//! A thread runs up to the next step that other threads can notice: what it does in between depends
//! only on locations that it has permission to, which nobody else can write meanwhile. So nothing
//! is lost if others run only there.

mod calls;
mod channels;
mod contracts;
mod endless;
mod locks;
mod loops;
mod predicates;
mod specification;

pub(crate) use calls::{keyword, merge};
pub use contracts::ByContract;
pub(crate) use contracts::written_in;
pub use endless::Rounds;

use std::sync::Arc;

use chalice::Span;
use chalice::program::Obligation;
use chalice_rt::flaw::Flaw;
use findings::{ErrorId, Reason};

use crate::amount::Amount;
use crate::code::{Expr, Instr, Kind, Op, Rhs};
use crate::fault::{Fault, Res, Trouble, blamed, reference_or_null};
use crate::heap::{Holder, Loc, ObjectKind, Part};
use crate::machine::{
    Activation, Evaluator, Machine, OldState, Pending, Status, Trace, TraceLine, World,
};
use crate::run::Failure;
use crate::transfer::Transfer;
use crate::value::{Level, Ref, Value};

/// Where a thread goes on.
enum Next {
    /// After the statement.
    On,
    /// Elsewhere in the body.
    To(u32),
    /// In a called method.
    Into(Box<Activation>),
    /// After the call, with results.
    Back(Vec<Value>),
}

impl<'c> Machine<'c> {
    /// Runs a thread up to its next step that others can notice.
    ///
    /// # Errors
    /// The fault that stops the whole run.
    pub(crate) fn advance(&mut self, thread: usize) -> Res<()> {
        if self.threads[thread].is_parked {
            self.threads[thread].status = Status::Done;
        }
        while self.threads[thread].status == Status::Ready {
            let Some(instr) = self.next_instr(thread) else {
                self.threads[thread].status = Status::Done;
                break;
            };
            self.enter(thread, instr);
            if let Some(pending) = self.visible(thread, instr)? {
                self.threads[thread].status = Status::At(pending);
                break;
            }
            self.execute(thread, instr)?;
        }
        Ok(())
    }

    /// Takes the step that a thread is at, and those after it that nobody notices.
    ///
    /// # Errors
    /// The fault that stops the whole run.
    pub(crate) fn take_step(&mut self, thread: usize) -> Res<()> {
        if let Some(instr) = self.next_instr(thread) {
            self.counts.visible += 1;
            self.enter(thread, instr);
            self.execute(thread, instr)?;
        }
        self.threads[thread].status = Status::Ready;
        self.advance(thread)
    }

    /// Evaluates something with the variables of a thread's innermost activation.
    pub(crate) fn with_slots<T>(
        &mut self,
        thread: usize,
        action: impl FnOnce(&mut Self, &mut [Value]) -> Res<T>,
    ) -> Res<T> {
        let mut slots = std::mem::take(&mut self.top(thread).slots);
        let result = action(self, &mut slots);
        self.top(thread).slots = slots;
        result
    }

    fn execute(&mut self, thread: usize, instr: &'c Instr) -> Res<()> {
        if self.config.stop_after == Some(self.counts.steps) {
            return Err(Box::new(Trouble::Bound("stopped as wanted", instr.span)));
        }
        self.counts.steps += 1;
        self.threads[thread].steps += 1;
        if self.threads[thread].steps > self.config.steps {
            return Err(Box::new(Trouble::Bound("steps", instr.span)));
        }
        if self.counts.steps.is_multiple_of(4096) && self.is_late() {
            return Err(Box::new(Trouble::Bound("seconds", instr.span)));
        }
        let mut slots = std::mem::take(&mut self.top(thread).slots);
        let result = self.operation(thread, instr, &mut slots);
        self.top(thread).slots = slots;
        let result = match blamed(result, kind(&instr.op), None) {
            Err(trouble) => self.behind_assert(instr, trouble),
            result => result,
        };
        let next = result?;
        let top = self.threads[thread].stack.last_mut().expect("the thread has not ended");
        match next {
            Next::On => top.pc += 1,
            Next::To(pc) => top.pc = pc,
            Next::Into(activation) => {
                top.pc += 1;
                self.threads[thread].stack.push(*activation);
            }
            Next::Back(results) => self.go_back(thread, results)?,
        }
        if self.config.trace != Trace::None {
            self.note(thread, instr);
        }
        if self.config.check_conservation
            && let Err(words) = self.check_conservation()
        {
            return Err(Box::new(Trouble::Inconsistent(words, instr.span)));
        }
        Ok(())
    }

    /// Notes an `assert` that fails, and goes on behind it, if that is wanted.
    fn behind_assert(&mut self, instr: &Instr, trouble: Box<Trouble>) -> Res<Next> {
        let (Op::Assert(..), true, Trouble::Fault(fault)) =
            (&instr.op, self.config.keep_going, &*trouble)
        else {
            return Err(trouble);
        };
        let failure = crate::run::of_fault(self, fault);
        let is_known = |one: &Failure| one.span == failure.span && one.id == failure.id;
        if !self.asserts.iter().any(is_known) {
            self.asserts.push(failure);
        }
        Ok(Next::On)
    }

    fn note(&mut self, thread: usize, instr: &Instr) {
        let moved = std::mem::take(&mut self.moved);
        let object = self.subject.take();
        if self.config.trace == Trace::All || is_sync(&instr.op) {
            let line = TraceLine {
                step: self.counts.steps,
                thread: thread as u32,
                span: instr.span,
                what: word(&instr.op),
                object,
                moved,
                clock: self.threads[thread].clock.clone(),
            };
            self.trace.push(line);
        }
    }

    fn operation(&mut self, thread: usize, instr: &'c Instr, slots: &mut [Value]) -> Res<Next> {
        let span = instr.span;
        if !endless::is_silent(&instr.op) {
            self.noise += 1;
        }
        match &instr.op {
            Op::Assert(..) if !self.config.checks => {}
            Op::Assert(e, obligation) => {
                let result = self.check_now(e, slots);
                let error = obligation.as_ref().map_or(ErrorId::AssertFailed, |one| one.error);
                blamed(told(result, obligation.as_deref()), error, Some(span))?;
            }
            Op::Assume(e) => self.assume(e, span, slots)?,
            Op::Havoc { slot, ty, flag } => {
                slots[*slot as usize] = self.undefined_value(ty);
                if let Some(flag) = flag {
                    slots[*flag as usize] = Value::Bool(false);
                }
            }
            Op::Assign { slot, value, flag } => {
                let value = self.right_hand_side(thread, value, slots)?;
                if let Some(flag) = flag {
                    self.assign_constant(*slot, *flag, &value, span, slots)?;
                }
                slots[*slot as usize] = value;
            }
            Op::AssignField { receiver, cell, tracked, value } => {
                self.assign_field(thread, (receiver, *cell, *tracked), value, span, slots)?;
            }
            Op::Jump(pc) => return Ok(Next::To(*pc)),
            Op::Branch { condition, otherwise } => {
                if !self.condition(condition, slots)? {
                    return Ok(Next::To(*otherwise));
                }
            }
            Op::Call(site) => return self.call(thread, site, span, slots),
            Op::Fork(site) => self.fork(thread, site, span, slots)?,
            Op::Join { outs, token } => self.join(thread, outs, token, span, slots)?,
            Op::Return => return self.finish(thread, slots),
            Op::LoopEnter(number) => self.enter_loop(thread, *number, slots)?,
            Op::LoopTest(number) => return self.test_loop(thread, *number, slots),
            Op::LoopBack(number) => return self.repeat_loop(thread, *number, slots),
            Op::Fold(access) => {
                let result = self.fold(access, slots);
                blamed(result, ErrorId::FoldFailed, Some(span))?;
            }
            Op::Unfold(access) => {
                let result = self.unfold(access, slots);
                blamed(result, ErrorId::UnfoldFailed, Some(span))?;
            }
            Op::Specification(specification) => self.specification(specification, span, slots)?,
            Op::Send { channel, arguments } => {
                self.send(thread, channel, arguments, span, slots)?;
            }
            Op::Receive { outs, channel } => self.receive(thread, outs, channel, span, slots)?,
            Op::Unsupported(_) => {
                let what = "statement.unsupported";
                return Err(Box::new(Trouble::Unknown { what, span }));
            }
            _ => self.lock_operation(thread, instr, slots)?,
        }
        Ok(Next::On)
    }

    fn assign_field(
        &mut self,
        thread: usize,
        (receiver, cell, tracked): (&Expr, u32, Option<u32>),
        value: &Rhs,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        let object = self.eval(receiver, slots)?;
        let object = reference_or_null(&object, receiver.span, |object| object)?;
        self.counts.checks += 1;
        self.ask_full(Loc { object, part: Part::Cell(cell) }, span, Flaw::NoWrite)?;
        let value = self.right_hand_side(thread, value, slots)?;
        let Some(back) = tracked else {
            let known = &self.heap.object(object).cells[cell as usize].value;
            if !endless::is_plainly_equal(known, &value) {
                self.noise += 1;
            }
            self.heap.write(object, cell, value);
            return Ok(());
        };
        self.redirect((object, cell, back), value, span)
    }

    /// Returns the effect of the next statement that other threads can notice, if there is one. It
    /// makes the checks that the thread alone decides.
    fn visible(&mut self, thread: usize, instr: &'c Instr) -> Res<Option<Pending>> {
        let span = instr.span;
        let pending = match &instr.op {
            Op::Acquire { target, mode } => {
                let result = self.with_slots(thread, |machine, slots| {
                    machine.before_acquire(target, span, slots)
                });
                Pending::Acquire(blamed(result, ErrorId::AcquireFailed, None)?, *mode)
            }
            Op::Join { token, .. } => {
                let result = self
                    .with_slots(thread, |machine, slots| machine.before_join(token, span, slots));
                let token = blamed(result, ErrorId::JoinFailed, None)?;
                if !self.is_by_contract(thread) {
                    self.wake(token);
                }
                Pending::Join(token)
            }
            Op::Receive { channel, .. } => {
                let result = self.with_slots(thread, |machine, slots| {
                    machine.before_receive(channel, span, slots)
                });
                Pending::Receive(blamed(result, ErrorId::ReceiveFailed, None)?)
            }
            Op::Send { channel, .. } => {
                let result = self.with_slots(thread, |machine, slots| {
                    let value = machine.eval(channel, slots)?;
                    reference_or_null(&value, channel.span, |channel| channel)
                });
                Pending::Send(blamed(result, ErrorId::SendFailed, None)?)
            }
            Op::Call(site) if self.code.classes[self.class_of(site.method)].prints => {
                Pending::Output
            }
            _ if self.config.preempt_everywhere => Pending::Step,
            _ => return Ok(None),
        };
        Ok(Some(pending))
    }

    /// Somebody waits for a thread, so it has to run now.
    fn wake(&mut self, token: Ref) {
        let Some(thread) = self.heap.token(token).and_then(|state| state.thread) else { return };
        let joined = &mut self.threads[thread as usize];
        if joined.is_parked {
            joined.is_parked = false;
            joined.status = Status::Ready;
            self.unsettled = self.unsettled.min(thread as usize);
        }
    }
}

impl<'c> World<'c> {
    fn next_instr(&self, thread: usize) -> Option<&'c Instr> {
        let top = self.threads[thread].stack.last()?;
        Some(&self.code.methods[top.method as usize].body[top.pc as usize])
    }

    fn is_late(&self) -> bool {
        self.config.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
    }

    /// Checks that the holder of the scope has everything of a location.
    pub(crate) fn ask_full(&mut self, loc: Loc, span: Span, flaw: Flaw) -> Res<()> {
        if !self.config.checks {
            return Ok(());
        }
        let is_whole = self.heap.holdings(loc).is_some_and(|h| h.is_whole(self.scope.holder));
        if is_whole || self.available(loc).is_full() {
            return Ok(());
        }
        if self.heap.get(loc.object).is_none() {
            return Err(Fault::new(flaw, span, &[]).into());
        }
        Err(Fault::missing(flaw, loc, Some(Amount::FULL), span).into())
    }

    fn class_of(&self, method: u32) -> usize {
        self.code.methods[method as usize].class as usize
    }

    /// Returns the level of an object.
    pub(crate) fn level_of(&self, object: Ref) -> Level {
        match self.heap.object(object).cells[0].value {
            Value::Level(level) => level,
            _ => Level::BOTTOM,
        }
    }
}

impl Evaluator<'_> {
    /// Sets the scope to that of the running statement.
    fn enter(&mut self, thread: usize, instr: &Instr) {
        let running = &mut self.threads[thread];
        running.place = instr.span;
        let Some(top) = running.stack.last() else { return };
        let (holder, kappa) = top.current();
        self.scope.thread = Some(thread as u32);
        self.scope.holder = holder;
        self.scope.kappa = kappa;
        self.scope.at = None;
        self.scope.old = OldState::Entry;
        self.scope.checks = self.config.checks;
        self.opened.clear();
        if !self.evaluating.is_empty() {
            self.evaluating.clear();
            self.measured.clear();
            self.milestone = None;
        }
        self.depth = 0;
    }

    /// Returns a condition that decides where to go on: it must have a value.
    fn condition(&mut self, condition: &Expr, slots: &mut [Value]) -> Res<bool> {
        self.truth(condition, slots)
    }

    fn assume(&mut self, e: &Expr, span: Span, slots: &mut [Value]) -> Res<()> {
        let holder = self.scope.holder;
        let mut gift = Transfer::give(Holder::Environment, holder);
        let result = self.collect(e, slots, &mut gift);
        match result {
            Ok(()) => {}
            Err(trouble) => {
                return Err(match *trouble {
                    Trouble::Fault(Fault {
                        reason: Reason::AssertionFalse, kind: None, ..
                    }) => Box::new(Trouble::Assumption(span)),
                    other => Box::new(other),
                });
            }
        }
        if gift.asks() {
            // Permission that is only assumed is nobody's to give: the run cannot go on with it.
            return Err(Box::new(Trouble::Unknown { what: "assume.permission", span }));
        }
        Ok(())
    }

    fn assign_constant(
        &mut self,
        slot: u32,
        flag: u32,
        value: &Value,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        if slots[flag as usize].is_true() {
            return Err(Fault::new(Flaw::AssignedTwice, span, &[]).into());
        }
        slots[flag as usize] = Value::Bool(true);
        let thread = self.scope.thread.unwrap_or(0) as usize;
        let holder = self.threads[thread].stack.last().map_or(Holder::Nobody, |top| top.holder);
        let Some(number) = self.read_early.iter().position(|one| *one == (holder, slot)) else {
            return Ok(());
        };
        // Whoever read it before has to have read this value.
        let taken = self.foreseen.get(number).unwrap_or(&slots[slot as usize]);
        if taken != value {
            return Err(Box::new(Trouble::Foreseen { number, value: value.clone() }));
        }
        self.read_early[number].1 = u32::MAX;
        Ok(())
    }

    fn right_hand_side(&mut self, thread: usize, value: &Rhs, slots: &mut [Value]) -> Res<Value> {
        match value {
            // To copy what was not given is no use of it.
            Rhs::Expr(Expr { kind: Kind::Slot(slot), .. }) => Ok(slots[*slot as usize].clone()),
            Rhs::Expr(e) => self.eval(e, slots),
            Rhs::New { class, initialisers } => {
                let values: Res<Vec<Value>> =
                    initialisers.iter().map(|one| self.eval(&one.value, slots)).collect();
                let values = values?;
                let holder = self.scope.holder;
                let object = self.allocate(Some(thread), *class, holder);
                for (one, value) in initialisers.iter().zip(values) {
                    let Some(back) = one.tracked else {
                        self.heap.decide(object, one.cell, value);
                        continue;
                    };
                    self.redirect((object, one.cell, back), value, one.value.span)?;
                }
                Ok(Value::Ref(object))
            }
            Rhs::NewChannel { channel, bounds } => {
                let (lower, upper) = self.level_bounds(bounds, slots)?;
                let level = self.levels.between(&lower, &upper);
                let kind = ObjectKind::Channel(*channel);
                let values = vec![Value::Level(level)];
                let holder = self.scope.holder;
                Ok(Value::Ref(self.allocate_as(Some(thread), kind, values, holder)))
            }
        }
    }

    /// Assigns a tracked field: the sets of the objects that it pointed to and will point to change
    /// with it.
    fn redirect(
        &mut self,
        (object, cell, back): (Ref, u32, u32),
        value: Value,
        span: Span,
    ) -> Res<()> {
        let old = self.read(object, cell, span)?;
        for (target, is_added) in [(&old, false), (&value, true)] {
            let Some(target) = target.reference() else { continue };
            let loc = Loc { object: target, part: Part::Cell(back) };
            self.ask_full(loc, span, Flaw::NoBackPointers)?;
            let Value::Set(pointing) = self.read(target, back, span)? else { continue };
            let this = Value::Ref(object);
            let pointing = if is_added { pointing.update(this) } else { pointing.without(&this) };
            self.heap.write(target, back, Value::Set(Arc::new(pointing)));
        }
        self.heap.write(object, cell, value);
        Ok(())
    }
}

/// Returns the failure of an obligation, in its own words.
fn told<T>(result: Res<T>, obligation: Option<&Obligation>) -> Res<T> {
    result.map_err(|mut trouble| {
        if let (Some(obligation), Trouble::Fault(fault)) = (obligation, &mut *trouble)
            && fault.reason == Reason::AssertionFalse
        {
            fault.reason = obligation.reason;
            fault.words = obligation.words.to_string();
        }
        trouble
    })
}

/// Returns the kind of the failures that expressions in a statement have.
pub(crate) fn kind(op: &Op) -> ErrorId {
    match op {
        Op::Assert(..) => ErrorId::AssertFailed,
        Op::Assume(_) => ErrorId::InhaleFailed,
        Op::Call(_) => ErrorId::CallFailed,
        Op::Fork(_) => ErrorId::ExhaleFailed,
        Op::Join { .. } => ErrorId::JoinFailed,
        Op::Branch { .. } => ErrorId::IfFailed,
        Op::LoopEnter(_) | Op::LoopTest(_) | Op::LoopBack(_) => ErrorId::WhileFailed,
        Op::Place { reorder: false, .. } => ErrorId::ShareFailed,
        Op::Place { reorder: true, .. } => ErrorId::ReorderFailed,
        Op::Unshare(_) => ErrorId::UnshareFailed,
        Op::Acquire { .. } => ErrorId::AcquireFailed,
        Op::Release { .. } => ErrorId::ReleaseFailed,
        Op::Downgrade(_) => ErrorId::DowngradeFailed,
        Op::Free(_) => ErrorId::FreeFailed,
        Op::Fold(_) => ErrorId::FoldFailed,
        Op::Unfold(_) => ErrorId::UnfoldFailed,
        Op::Send { .. } => ErrorId::SendFailed,
        Op::Receive { .. } => ErrorId::ReceiveFailed,
        Op::Specification(_) => ErrorId::ExhaleFailed,
        Op::Return => ErrorId::PostconditionViolated,
        _ => ErrorId::AssignmentFailed,
    }
}

/// Returns the word that a trace has for a statement.
fn word(op: &Op) -> &'static str {
    match op {
        Op::Assert(..) => "assert",
        Op::Assume(_) => "assume",
        Op::Havoc { .. } => "declare",
        Op::Assign { .. } | Op::AssignField { .. } => "assign",
        Op::Specification(_) => "specification",
        Op::Call(_) => "call",
        Op::Fork(_) => "fork",
        Op::Join { .. } => "join",
        Op::Jump(_) => "go on",
        Op::Branch { .. } => "if",
        Op::LoopEnter(_) => "enter loop",
        Op::LoopTest(_) => "while",
        Op::LoopBack(_) => "repeat",
        Op::Place { reorder: false, .. } => "share",
        Op::Place { reorder: true, .. } => "reorder",
        Op::Unshare(_) => "unshare",
        Op::Acquire { .. } => "acquire",
        Op::Release { .. } => "release",
        Op::Downgrade(_) => "downgrade",
        Op::Free(_) => "free",
        Op::Fold(_) => "fold",
        Op::Unfold(_) => "unfold",
        Op::Send { .. } => "send",
        Op::Receive { .. } => "receive",
        Op::Unsupported(what) => what,
        Op::Return => "return",
    }
}

/// Can other threads notice it?
fn is_sync(op: &Op) -> bool {
    matches!(
        op,
        Op::Fork(_)
            | Op::Join { .. }
            | Op::Place { .. }
            | Op::Unshare(_)
            | Op::Acquire { .. }
            | Op::Release { .. }
            | Op::Downgrade(_)
            | Op::Send { .. }
            | Op::Receive { .. }
    )
}
