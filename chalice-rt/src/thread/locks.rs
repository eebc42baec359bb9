//! Locks: sharing, acquiring, releasing, and their order.

use std::sync::Arc;

use super::levels::Bound;
use super::transfer::{Mode, Transfer};
use super::{COMMON, Held, Holding, Place, Thread, blamed};
use crate::flaw::Flaw;
use crate::levels::Level;
use crate::object::{Object, Part, locked};
use crate::trouble::{At, Res, fail};
use crate::value::Value;
use crate::world::Wish;

/// Bounds for a level, as a program computes them.
type Bounds<'a> = &'a mut dyn FnMut(&mut Thread) -> Res<(Vec<Bound>, Vec<Bound>)>;

impl Thread {
    /// Does the thread hold a lock in this way?
    pub fn holds(&self, object: &Object, write: bool) -> bool {
        !self.is_nobody
            && self.held.iter().any(|held| held.object.id == object.id && held.write == write)
    }

    /// Takes what the invariant of an object, or of a message, asks for from a holder.
    pub(super) fn take_contract(
        &mut self,
        object: &Arc<Object>,
        values: &[Value],
        mut ask: Transfer,
        from: Place,
    ) -> Res<Holding> {
        let (true, Some(contract)) = (self.checks(), object.kind.contract) else {
            return Ok(Holding::default());
        };
        let this = Value::Ref(object.clone());
        self.on_behalf(from, COMMON, |thread| {
            contract(thread, &mut ask, &this, values)?;
            thread.settle(ask)
        })
    }

    /// From the thread to the monitor.
    fn give_invariant(&mut self, object: &Arc<Object>, for_readers: bool, at: At) -> Res<()> {
        let ask = Transfer { for_readers, ..Transfer::give() };
        let taken = self.take_contract(object, &[], ask, self.reader.clone());
        let taken = blamed(taken, "fold.failed", Some(at))?;
        locked(&object.extra().kept).add_all(taken);
        Ok(())
    }

    /// Takes a reader's share of a monitor.
    fn take_share(&mut self, object: &Arc<Object>) -> Res<()> {
        let ask = Transfer { mode: Mode::Receive, for_readers: true, ..Transfer::give() };
        let monitor = Place::Kept(object.extra().kept.clone());
        let taken = self.take_contract(object, &[], ask, monitor)?;
        self.with_holding(|holding| holding.add_all(taken));
        Ok(())
    }

    /// `share`
    ///
    /// # Errors
    /// It is shared already, the bounds are in no order, or the invariant does not hold.
    pub fn share(&mut self, object: &Arc<Object>, bounds: Bounds<'_>, at: At) -> Res<()> {
        self.ask_full(object, 0, Flaw::NoMu, at)?;
        if self.read(object, 0, at)?.level() != Level::BOTTOM {
            return fail(Flaw::SharedAlready, at, &[]);
        }
        let bounds = bounds(self)?;
        object.set(0, Value::Level(self.place(bounds)?));
        self.give_invariant(object, false, at)?;
        self.world.change(object, |status| status.is_shared = true);
        Ok(())
    }

    /// Checks that a lock may be waited for.
    fn ask_order(&self, object: &Arc<Object>, at: At) -> Res<()> {
        let level = self.read(object, 0, at)?.level();
        if self.checks() && self.world.program.deadlock_checks {
            if level == Level::BOTTOM {
                return fail(Flaw::AtBottom, at, &[object]);
            }
            if !self.wait_levels().iter().all(|held| self.is_below(*held, level)) {
                return fail(Flaw::LockOrder, at, &[object]);
            }
        }
        if !self.world.status(object, |status| status.is_shared) {
            return fail(Flaw::WaitsForEver, at, &[object]);
        }
        Ok(())
    }

    /// `acquire`
    ///
    /// # Errors
    /// It is not shared, or not in the order of locks.
    pub fn acquire(&mut self, object: &Arc<Object>, write: bool, at: At) -> Res<()> {
        self.ask_order(object, at)?;
        let number = self.number;
        self.world.wait(number, at, Wish::Lock(object.clone(), write), |status| {
            match (status.is_shared, write) {
                (false, _) => {}
                (true, true) => status.writer = Some(number),
                (true, false) => status.readers.push(number),
            }
        })?;
        // While it was waited for, it may have been taken back, or have got another level.
        self.ask_order(object, at)?;
        let level = object.get(0).level();
        Arc::make_mut(&mut self.held).push(Held { object: object.clone(), write, level });
        if !write {
            return self.take_share(object);
        }
        let left = std::mem::take(&mut *locked(&object.extra().kept));
        self.with_holding(|holding| holding.add_all(left));
        Ok(())
    }

    /// Checks that the thread holds a lock in this way.
    fn ask_lock(&self, object: &Object, write: bool, at: At) -> Res<()> {
        match self.held.iter().find(|held| held.object.id == object.id) {
            None => fail(Flaw::LockNotHeld, at, &[object]),
            Some(held) if held.write == write => Ok(()),
            Some(_) if write => fail(Flaw::LockReadHeld, at, &[object]),
            Some(_) => fail(Flaw::LockWriteHeld, at, &[object]),
        }
    }

    fn let_go(&mut self, object: &Object) {
        Arc::make_mut(&mut self.held).retain(|held| held.object.id != object.id);
    }

    /// `release`
    ///
    /// # Errors
    /// It is not held in this way, or its invariant does not hold.
    pub fn release(&mut self, object: &Arc<Object>, write: bool, at: At) -> Res<()> {
        self.ask_lock(object, write, at)?;
        self.give_invariant(object, !write, at)?;
        self.let_go(object);
        let number = self.number;
        self.world.change(object, |status| {
            status.writer = status.writer.filter(|writer| *writer != number);
            status.readers.retain(|reader| *reader != number);
        });
        Ok(())
    }

    /// `downgrade`
    ///
    /// # Errors
    /// It is not held for writing, or its invariant does not hold.
    pub fn downgrade(&mut self, object: &Arc<Object>, at: At) -> Res<()> {
        self.ask_lock(object, true, at)?;
        self.give_invariant(object, false, at)?;
        self.take_share(object)?;
        for held in Arc::make_mut(&mut self.held) {
            held.write &= held.object != *object;
        }
        let number = self.number;
        self.world.change(object, |status| {
            status.writer = None;
            status.readers.push(number);
        });
        Ok(())
    }

    /// `unshare`
    ///
    /// # Errors
    /// It is not shared, or not held for writing.
    pub fn unshare(&mut self, object: &Arc<Object>, at: At) -> Res<()> {
        self.ask_full(object, 0, Flaw::NoMu, at)?;
        if !self.world.status(object, |status| status.is_shared) {
            return fail(Flaw::NotShared, at, &[]);
        }
        self.ask_lock(object, true, at)?;
        object.set(0, Value::Level(Level::BOTTOM));
        self.let_go(object);
        self.world.change(object, |status| {
            status.is_shared = false;
            status.writer = None;
        });
        Ok(())
    }

    /// `reorder`
    ///
    /// # Errors
    /// It is not held for writing, or the bounds are in no order.
    pub fn reorder(&mut self, object: &Arc<Object>, bounds: Bounds<'_>, at: At) -> Res<()> {
        self.ask_lock(object, true, at)?;
        self.ask_full(object, 0, Flaw::NoMu, at)?;
        let bounds = bounds(self)?;
        let level = self.place(bounds)?;
        object.set(0, Value::Level(level));
        for held in Arc::make_mut(&mut self.held) {
            if held.object == *object {
                held.level = level;
            }
        }
        Ok(())
    }

    /// `free`
    ///
    /// # Errors
    /// Not all of it may be used.
    pub fn free(&mut self, object: &Object, at: At) -> Res<()> {
        if !self.checks() {
            return Ok(());
        }
        for cell in 0..object.cells() {
            self.ask_full(object, cell, Flaw::NoFree, at)?;
        }
        self.with_holding(|holding| {
            for cell in 0..object.cells() {
                holding.book.remove(&object.loc(Part::Cell(cell)));
            }
        });
        Ok(())
    }
}
