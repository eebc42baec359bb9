//! Locks: sharing, acquiring, releasing, and their order.

use std::sync::Arc;

use chalice::Span;
use chalice::program::LockMode;
use chalice_rt::flaw::Flaw;
use findings::ErrorId;

use crate::amount::Amount;
use crate::code::{Bound, Bounds, Expr, Instr, Op, Recorded};
use crate::fault::{Fault, Res, blamed, reference_or_null};
use crate::heap::{Held, Holder, Loc, Lock, Part, Permissions, Snapshot};
use crate::machine::{COMMON, Evaluator, Machine, OldState, World};
use crate::transfer::Transfer;
use crate::value::{Level, Ref, Value};

use super::calls::merge;

impl<'c> Machine<'c> {
    pub(super) fn lock_operation(
        &mut self,
        thread: usize,
        instr: &'c Instr,
        slots: &mut [Value],
    ) -> Res<()> {
        let span = instr.span;
        match &instr.op {
            Op::Place { target, bounds, reorder } => {
                let object = self.subject_of(target, slots)?;
                if *reorder {
                    self.reorder(thread, object, bounds, span, slots)
                } else {
                    self.share(thread, object, bounds, span, slots)
                }
            }
            Op::Unshare(target) => {
                let object = self.subject_of(target, slots)?;
                self.unshare(thread, object, span)
            }
            Op::Acquire { target, mode } => {
                let object = self.before_acquire(target, span, slots)?;
                self.acquire(thread, object, *mode, span)
            }
            Op::Release { target, mode } => {
                let object = self.subject_of(target, slots)?;
                self.release(thread, object, *mode, span)
            }
            Op::Downgrade(target) => {
                let object = self.subject_of(target, slots)?;
                self.downgrade(thread, object, span)
            }
            Op::Free(target) => {
                let object = self.subject_of(target, slots)?;
                self.free(object, span)
            }
            _ => Ok(()),
        }
    }

    fn share(
        &mut self,
        thread: usize,
        object: Ref,
        bounds: &Bounds,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        self.ask_full(Loc::mu(object), span, Flaw::NoMu)?;
        if self.read(object, 0, span)? != Value::Level(Level::BOTTOM) {
            return Err(Fault::new(Flaw::SharedAlready, span, &[]).into());
        }
        let (lower, upper) = self.level_bounds(bounds, slots)?;
        let level = self.levels.between(&lower, &upper);
        self.heap.write(object, 0, Value::Level(level));
        let from = self.scope.holder;
        let before = self.asked_permissions();
        self.give_invariant(object, from, OldState::Now, span)?;
        self.heap.extra_mut(object).lock = Some(Lock { since: span, ..Lock::default() });
        self.leave_clock(thread, object);
        self.saw_released(thread, object, before);
        Ok(())
    }

    fn leave_clock(&mut self, thread: usize, object: Ref) {
        if self.clocks {
            let clock = self.threads[thread].clock.clone();
            if let Some(lock) = &mut self.heap.extra_mut(object).lock {
                merge(&mut lock.clock, &clock);
            }
        }
    }

    fn acquire(&mut self, thread: usize, object: Ref, mode: LockMode, span: Span) -> Res<()> {
        let write = mode == LockMode::Write;
        let clock = self.heap.lock(object).map(|lock| lock.clock.clone()).unwrap_or_default();
        if self.clocks {
            merge(&mut self.threads[thread].clock, &clock);
        }
        if let Some(lock) = &mut self.heap.extra_mut(object).lock {
            if write {
                lock.writer = Some(thread as u32);
            } else {
                lock.readers.push(thread as u32);
            }
        }
        let level = self.level_of(object);
        self.hold(thread, Held { object, write, level, span });
        let seen = self.threads[thread].seen.get(&object).and_then(|seen| seen.released.clone());
        let old = self.same_history(object, seen);
        if self.is_by_contract(thread) {
            self.others_had_the_lock(object, &old, span)?;
        }
        let monitor = Holder::Monitor(object);
        let mut transfer = Transfer::receive(monitor, self.scope.holder);
        transfer.for_readers = !write;
        transfer.since_others = true;
        self.move_invariant(object, transfer, monitor, old)?;
        self.saw_acquired(thread, object);
        Ok(())
    }

    fn release(&mut self, thread: usize, object: Ref, mode: LockMode, span: Span) -> Res<()> {
        self.ask_lock(thread, object, mode, span)?;
        let seen = self.threads[thread].seen.get(&object).and_then(|seen| seen.acquired.clone());
        let old = self.same_history(object, seen);
        let from = self.scope.holder;
        let before = self.asked_permissions();
        if mode == LockMode::Write {
            self.give_invariant(object, from, old, span)?;
        } else {
            let mut transfer = Transfer::give(from, Holder::Monitor(object));
            transfer.for_readers = true;
            let result = self.move_invariant(object, transfer, from, old);
            blamed(result, ErrorId::FoldFailed, Some(span))?;
        }
        if let Some(lock) = &mut self.heap.extra_mut(object).lock {
            lock.writer = lock.writer.filter(|writer| *writer != thread as u32);
            lock.readers.retain(|reader| *reader != thread as u32);
            lock.since = span;
        }
        self.leave_clock(thread, object);
        self.let_go(thread, object);
        self.saw_released(thread, object, before);
        Ok(())
    }

    fn downgrade(&mut self, thread: usize, object: Ref, span: Span) -> Res<()> {
        self.ask_lock(thread, object, LockMode::Write, span)?;
        let seen = self.threads[thread].seen.get(&object).and_then(|seen| seen.acquired.clone());
        let old = self.same_history(object, seen);
        let holder = self.scope.holder;
        let before = self.asked_permissions();
        self.give_invariant(object, holder, old, span)?;
        self.saw_released(thread, object, before);
        let mut transfer = Transfer::receive(Holder::Monitor(object), holder);
        transfer.for_readers = true;
        self.move_invariant(object, transfer, Holder::Monitor(object), OldState::Missing)?;
        if let Some(lock) = &mut self.heap.extra_mut(object).lock {
            lock.writer = None;
            lock.readers.push(thread as u32);
            lock.since = span;
        }
        self.leave_clock(thread, object);
        for held in Arc::make_mut(&mut self.threads[thread].held) {
            held.write &= held.object != object;
        }
        self.saw_acquired(thread, object);
        Ok(())
    }
}

impl Evaluator<'_> {
    /// Returns the levels between which a new one is to be placed.
    pub(super) fn level_bounds(
        &mut self,
        bounds: &Bounds,
        slots: &mut [Value],
    ) -> Res<(Vec<Level>, Vec<Level>)> {
        if bounds.lower.is_empty() && bounds.upper.is_empty() {
            return Ok((self.wait_levels(), Vec::new()));
        }
        let lower = self.bound_levels(&bounds.lower, slots)?;
        let upper = self.bound_levels(&bounds.upper, slots)?;
        for (high, span) in &upper {
            let implied = (Level::BOTTOM, *span);
            for (low, span) in lower.iter().chain([&implied]) {
                if self.config.checks && !self.is_below(*low, *high) {
                    return Err(Fault::new(Flaw::BoundsInNoOrder, *span, &[]).into());
                }
            }
        }
        let levels = |bounds: Vec<(Level, Span)>| bounds.iter().map(|bound| bound.0).collect();
        Ok((levels(lower), levels(upper)))
    }

    fn bound_levels(&mut self, bounds: &[Bound], slots: &mut [Value]) -> Res<Vec<(Level, Span)>> {
        let mut levels = Vec::new();
        for bound in bounds {
            match bound {
                Bound::Wait(span) => {
                    levels.extend(self.wait_levels().into_iter().map(|level| (level, *span)));
                }
                Bound::Level(e) => {
                    let value = blamed(self.eval(e, slots), ErrorId::BoundsFailed, Some(e.span))?;
                    if let Value::Level(level) = value {
                        levels.push((level, e.span));
                    }
                }
                Bound::Object(e) => {
                    let value = blamed(self.eval(e, slots), ErrorId::BoundsFailed, Some(e.span))?;
                    let Some(object) = value.reference() else { continue };
                    let level = self.read(object, 0, e.span);
                    if let Value::Level(level) = blamed(level, ErrorId::BoundsFailed, Some(e.span))?
                    {
                        levels.push((level, e.span));
                    }
                }
            }
        }
        Ok(levels)
    }

    /// From a thread to the monitor.
    pub(crate) fn give_invariant(
        &mut self,
        object: Ref,
        from: Holder,
        old: OldState,
        span: Span,
    ) -> Res<()> {
        let transfer = Transfer::give(from, Holder::Monitor(object));
        let result = self.move_invariant(object, transfer, from, old);
        blamed(result, ErrorId::FoldFailed, Some(span))
    }

    fn move_invariant(
        &mut self,
        object: Ref,
        transfer: Transfer,
        reader: Holder,
        old: OldState,
    ) -> Res<()> {
        let code = self.code;
        let crate::heap::ObjectKind::Class(class) = self.heap.object(object).kind else {
            return Ok(());
        };
        let class = &code.classes[class as usize];
        if class.invariants.is_empty() {
            return Ok(());
        }
        let mut slots = class.frame.initial.clone();
        slots[0] = Value::Ref(object);
        let outer = self.scope.clone();
        self.scope.kappa = COMMON;
        self.scope.old = old;
        self.scope.holder = reader;
        let result = self.move_all(&class.invariants, &mut slots, transfer);
        self.scope = outer;
        result.map(|_| ())
    }

    fn reorder(
        &mut self,
        thread: usize,
        object: Ref,
        bounds: &Bounds,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        self.ask_lock(thread, object, LockMode::Write, span)?;
        self.ask_full(Loc::mu(object), span, Flaw::NoMu)?;
        let (lower, upper) = self.level_bounds(bounds, slots)?;
        let level = self.levels.between(&lower, &upper);
        self.heap.write(object, 0, Value::Level(level));
        for held in Arc::make_mut(&mut self.threads[thread].held) {
            if held.object == object {
                held.level = level;
            }
        }
        Ok(())
    }

    fn subject_of(&mut self, target: &Expr, slots: &mut [Value]) -> Res<Ref> {
        let value = self.eval(target, slots)?;
        let object = reference_or_null(&value, target.span, |object| object)?;
        self.subject = Some(object);
        Ok(object)
    }

    /// Makes the checks of an acquire that the acquiring thread alone decides.
    pub(super) fn before_acquire(
        &mut self,
        target: &Expr,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Ref> {
        let object = self.subject_of(target, slots)?;
        let level = self.read(object, 0, span)?;
        if self.code.options.deadlock_checks && self.config.checks {
            let Value::Level(level) = level else { return Ok(object) };
            let wait = self.wait_levels();
            let is_above =
                level != Level::BOTTOM && wait.iter().all(|held| self.is_below(*held, level));
            if !is_above {
                let is_bottom = level == Level::BOTTOM;
                let flaw = if is_bottom { Flaw::AtBottom } else { Flaw::LockOrder };
                return Err(Fault::new(flaw, span, &[&self.name(object)]).into());
            }
        }
        if self.heap.lock(object).is_none() {
            return Err(Fault::new(Flaw::WaitsForEver, span, &[&self.name(object)]).into());
        }
        Ok(object)
    }
}

impl World<'_> {
    fn remembers(&self, object: Ref) -> bool {
        let crate::heap::ObjectKind::Class(class) = self.heap.object(object).kind else {
            return false;
        };
        self.code.recorded > Recorded::Nothing || self.code.classes[class as usize].has_history
    }

    /// A thread leaves an object. What it held `before` is what is said of that state: its monitor
    /// has its part of it now.
    fn saw_released(&mut self, thread: usize, object: Ref, before: Option<Arc<Permissions>>) {
        if self.remembers(object) {
            let state = Snapshot { permissions: before, ..self.record(Some(thread)) };
            let seen = self.threads[thread].seen.entry(object).or_default();
            seen.released = Some(state);
        }
    }

    fn saw_acquired(&mut self, thread: usize, object: Ref) {
        if self.remembers(object) {
            let state = self.record(Some(thread));
            self.threads[thread].seen.entry(object).or_default().acquired = Some(state);
        }
    }

    /// Returns a state of the object, unless it has got another level since: then its history has
    /// begun anew.
    fn same_history(&self, object: Ref, state: Option<Snapshot>) -> OldState {
        match state {
            Some(state)
                if *self.heap.value_at(object, 0, state.epoch)
                    == self.heap.object(object).cells[0].value =>
            {
                OldState::At(state)
            }
            _ => OldState::Missing,
        }
    }

    fn hold(&mut self, thread: usize, held: Held) {
        Arc::make_mut(&mut self.threads[thread].held).push(held);
    }

    /// Checks that a thread holds a lock in this way.
    fn ask_lock(&self, thread: usize, object: Ref, mode: LockMode, span: Span) -> Res<()> {
        let write = mode == LockMode::Write;
        let mut held = self.threads[thread].held.iter().filter(|held| held.object == object);
        let Some(found) = held.next() else {
            return Err(Fault::new(Flaw::LockNotHeld, span, &[&self.name(object)]).into());
        };
        if found.write == write {
            return Ok(());
        }
        let flaw = if write { Flaw::LockReadHeld } else { Flaw::LockWriteHeld };
        Err(Fault::new(flaw, span, &[&self.name(object)]).into())
    }

    fn let_go(&mut self, thread: usize, object: Ref) {
        Arc::make_mut(&mut self.threads[thread].held).retain(|held| held.object != object);
    }

    fn unshare(&mut self, thread: usize, object: Ref, span: Span) -> Res<()> {
        self.ask_full(Loc::mu(object), span, Flaw::NoMu)?;
        if self.heap.lock(object).is_none() {
            return Err(Fault::new(Flaw::NotShared, span, &[]).into());
        }
        self.ask_lock(thread, object, LockMode::Write, span)?;
        self.heap.write(object, 0, Value::Level(Level::BOTTOM));
        self.heap.extra_mut(object).lock = None;
        self.let_go(thread, object);
        Ok(())
    }

    fn free(&mut self, object: Ref, span: Span) -> Res<()> {
        if !self.config.checks {
            return Ok(());
        }
        let cells = self.heap.object(object).cells.len() as u32;
        for cell in 0..cells {
            let loc = Loc { object, part: Part::Cell(cell) };
            self.ask_full(loc, span, Flaw::NoFree)?;
        }
        for cell in 0..cells {
            let loc = Loc { object, part: Part::Cell(cell) };
            let from = self.scope.holder;
            self.heap.holdings_mut(loc).transfer(from, Holder::Freed, &Amount::FULL);
        }
        Ok(())
    }
}
