//! Monitors: `share`, `acquire`, `release` and their relatives (Schwerhoff 2011, section 3.11;
//! Leino and Müller 2009).

use chalice::program::{Block, Bounds, ClassId, Expr, ExprKind, LockMode, Type};
use sil::source::Span;
use smt::terms::{Term, Terms};

use super::levels::{Debts, Level};
use crate::exec::Flow;
use crate::{Chalice, Statements, Threads, renumbered, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::rules::assertion::conjuncts;
use symex::rules::language::Language;
use symex::state::Frame;
use symex::state::heap::{Chunk, Resource};
use symex::{Explore, Stop, View};

/// The operand of a statement about locks.
#[derive(Clone, Copy)]
struct Target {
    object: Term,
    class: ClassId,
    /// The place of the operand in the text.
    at: Span,
}

/// A bound, the condition under which it counts, and its place in the text.
struct Bound {
    exists: Term,
    level: Level,
    at: Span,
    is_channel: bool,
}

impl Statements<'_, '_> {
    /// Evaluates the operand of a statement, once.
    fn target(&mut self, target: &Expr, blame: Blame) -> Result<Target, Stop> {
        let at = span(target.span);
        let Type::Class(class) = target.ty else {
            return unsupported_at(at, "a lock of something that is no object");
        };
        let object = self.eval(target, Blame { error: ErrorId::AssignmentFailed, ..blame })?;
        // Whatever is held is an object.
        if !matches!(blame.error, ErrorId::ReleaseFailed | ErrorId::DowngradeFailed) {
            let exists = self.terms.differs(object, Terms::NULL);
            self.prove(exists, blame, Reason::ReceiverNull, at)?;
        }
        if !matches!(target.kind, ExprKind::This) {
            self.threads.is_of_class(object, class, true)?;
        }
        Ok(Target { object, class, at })
    }

    /// Executes `acquire e`. The object must be above all held ones, and its invariant is received.
    pub(crate) fn acquire(&mut self, target: &Expr, mode: LockMode, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::AcquireFailed, at);
        let target = self.target(target, blame)?;
        self.acquire_target(target, mode, blame)
    }

    fn acquire_target(&mut self, target: Target, mode: LockMode, blame: Blame) -> Result<(), Stop> {
        let mut locks = self.threads.locks(blame.span)?;
        let checks = self.direct.options.deadlock_checks;
        let level = self.threads.read_level(target.object, checks.then_some(blame), target.at)?;
        let debts = self.here.credits.clone();
        let wait = Level::Wait { locks: locks.clone(), debts: Debts::own(debts) };
        let above = self.threads.level_below(&wait, &Level::Value(level))?;
        if checks {
            self.prove(above, blame, Reason::LockOrder, target.at)?;
        } else {
            self.assume(above)?;
        }
        // The object is above all held ones, so it is none of them.
        let held = self.threads.is_held(&locks, target.object);
        let not_held = self.terms.not(held);
        self.assume(not_held)?;
        locks.levels.set(target.object, level);
        match mode {
            LockMode::Write => locks.held.set(target.object, Terms::TRUE),
            LockMode::Read => locks.read.set(target.object, Terms::TRUE),
        }
        self.frame.thread.locks = Some(locks);
        self.take_invariant(target, mode, None, blame)
    }

    /// Receives the invariant of a monitor, with the values in `snapshot` if they are known.
    fn take_invariant(
        &mut self,
        target: Target,
        mode: LockMode,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let invariants = direct.invariants(target.class);
        let locks = self.threads.locks(blame.span)?;
        let level = self.threads.level_at(&locks, target.object);
        let is_ill_formed = direct
            .monitor(target.class)
            .is_some_and(|monitor| self.is_ill_formed_predicate(monitor));
        self.in_monitor(target.object, mode, |chalice| {
            chalice.produce_received(invariants, snapshot, is_ill_formed, blame)?;
            chalice.learn_history(target.class, target.object, level, blame)?;
            match mode {
                LockMode::Write => chalice.move_credits(invariants, false),
                // Readers share a monitor, so they get no credits.
                LockMode::Read => Ok(()),
            }
        })?;
        self.threads.note_acquired(target.object);
        Ok(())
    }

    /// Receives clauses that others have given away. A clause that is not well-formed cannot be
    /// received, and is reported where it stands.
    pub(crate) fn produce_received<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
        snapshot: Option<Term>,
        is_ill_formed: bool,
        blame: Blame,
    ) -> Result<(), Stop> {
        if !is_ill_formed {
            return self.produce_all(clauses, snapshot, |_| blame.trusted());
        }
        for (_, conjunct) in conjuncts::<Chalice>(clauses) {
            let blame = Blame::new(ErrorId::NotWellformed, span(conjunct.span));
            self.produce_all([conjunct], None, |_| blame)?;
        }
        self.end_unframed()
    }

    /// Executes `release e`: gives the invariant away.
    pub(crate) fn release(&mut self, target: &Expr, mode: LockMode, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::ReleaseFailed, at);
        let target = self.target(target, blame)?;
        self.release_target(target, mode, blame)
    }

    fn release_target(&mut self, target: Target, mode: LockMode, blame: Blame) -> Result<(), Stop> {
        match mode {
            LockMode::Write => self.threads.prove_held(target.object, blame, target.at)?,
            LockMode::Read => {
                let locks = self.threads.locks(blame.span)?;
                let read = self.threads.holds(&locks, target.object, LockMode::Read);
                self.prove(read, blame, Reason::LockNotHeld, target.at)?;
            }
        }
        self.leave(target.class, target.object, mode, blame.span)?;
        self.give_invariant(target, mode, blame.span)?;
        self.threads.let_go(target.object, blame.span)
    }

    /// Executes `downgrade e`. The invariant is given away, and a reader's part of it comes back
    /// with the same values.
    ///
    /// SOUNDNESS: nobody else acts in between.
    pub(crate) fn downgrade(&mut self, target: &Expr, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::DowngradeFailed, at);
        let target = self.target(target, blame)?;
        self.threads.prove_held(target.object, blame, target.at)?;
        self.leave(target.class, target.object, LockMode::Write, at)?;
        let snapshot = self.give_invariant(target, LockMode::Write, at)?;
        self.take_invariant(target, LockMode::Read, Some(snapshot), blame)?;
        let mut locks = self.threads.locks(at)?;
        locks.read.set(target.object, Terms::TRUE);
        self.frame.thread.locks = Some(locks);
        Ok(())
    }

    /// Gives the invariant of a monitor away, and returns its values.
    fn give_invariant(&mut self, target: Target, mode: LockMode, at: Span) -> Result<Term, Stop> {
        let invariants = self.direct.invariants(target.class);
        let words = "the monitor invariant might not hold";
        let blame = Blame::new(ErrorId::FoldFailed, at).saying(words).trusted();
        self.remember_heap();
        self.in_monitor(target.object, mode, |chalice| {
            if mode == LockMode::Write {
                chalice.move_credits(invariants, true)?;
            }
            chalice.frame.assertion.keeps_snapshots = true;
            let snapshot =
                chalice.consume_all(invariants, |clause| blame.clause(span(clause.span)));
            // Others may change the values of what they get.
            chalice.begin_epoch();
            snapshot
        })
    }

    /// Executes `lock (e) { .. }`, where the object is evaluated once.
    pub(crate) fn lock(
        &mut self,
        target: &Expr,
        mode: LockMode,
        body: &Block,
        at: Span,
    ) -> Result<Flow, Stop> {
        let blame = Blame::new(ErrorId::AcquireFailed, at);
        let target = self.target(target, blame)?;
        self.acquire_target(target, mode, blame)?;
        if self.block(body)? == Flow::Ends {
            return Ok(Flow::Ends);
        }
        self.log.enter("release", at);
        self.release_target(target, mode, Blame::new(ErrorId::ReleaseFailed, at))?;
        Ok(Flow::Goes)
    }

    /// Executes `share e between ..`. The object gets a level, then its invariant is given away.
    pub(crate) fn share(&mut self, target: &Expr, bounds: &Bounds, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::ShareFailed, at);
        let target = self.target(target, blame)?;
        let locks = self.threads.locks(at)?;
        let level = self.threads.whole_level(target, blame)?;
        let bottom = self.threads.bottom();
        let unshared = self.terms.eq(level, bottom);
        self.prove(unshared, blame, Reason::AlreadyShared, target.at)?;
        let chosen = self.choose_level(bounds, at)?;
        self.threads.set_level(target, chosen, blame)?;
        // A held object is shared.
        let held = self.threads.is_held(&locks, target.object);
        let not_held = self.terms.not(held);
        self.assume(not_held)?;
        self.begin_history(target.class, target.object, chosen, at)?;
        self.give_invariant(target, LockMode::Write, at)?;
        Ok(())
    }

    /// Executes `reorder e between ..`: gives a held object another level.
    pub(crate) fn reorder(&mut self, target: &Expr, bounds: &Bounds, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::ReorderFailed, at);
        let target = self.target(target, blame)?;
        self.threads.prove_held(target.object, blame, target.at)?;
        self.threads.whole_level(target, blame)?;
        let chosen = self.choose_level(bounds, at)?;
        self.threads.set_level(target, chosen, blame)?;
        let mut locks = self.threads.locks(at)?;
        locks.levels.set(target.object, chosen);
        self.frame.thread.locks = Some(locks);
        Ok(())
    }

    /// Executes `unshare e`: makes a held object the thread's own again.
    pub(crate) fn unshare(&mut self, target: &Expr, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::UnshareFailed, at);
        let target = self.target(target, blame)?;
        let level = self.threads.whole_level(target, blame)?;
        let bottom = self.threads.bottom();
        let shared = self.terms.differs(level, bottom);
        self.prove(shared, blame, Reason::NotShared, target.at)?;
        self.threads.prove_held(target.object, blame, target.at)?;
        self.threads.set_level(target, bottom, blame)?;
        self.threads.let_go(target.object, at)
    }

    /// Executes `free e`: gives all permission to an object up.
    pub(crate) fn free(&mut self, target: &Expr, at: Span) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::FreeFailed, at);
        let object = self.eval(target, Blame { error: ErrorId::AssignmentFailed, ..blame })?;
        let direct = self.direct;
        // Channels have no fields.
        let class = match target.ty {
            Type::Class(class) => Some(&direct.tree.classes[class]),
            _ => None,
        };
        let fields = class.into_iter().flat_map(chalice::program::Class::fields);
        let fields = fields.map(|field| Resource::Field(renumbered(field)));
        self.remember_heap();
        for resource in std::iter::once(self.direct.mu()).chain(fields) {
            let whole = Terms::WRITE;
            self.consume_location(resource, vec![object], whole, span(target.span), blame)?;
        }
        Ok(())
    }

    /// Chooses a level between bounds; without bounds, one above the wait level.
    ///
    /// SOUNDNESS: each lower bound is shown to be below each upper one. Something is below each
    /// upper bound even if there are no lower ones, or if the lower ones are null. (A channel is
    /// never at the lowest level.) The order is dense and has no greatest element, so there is such
    /// a level.
    pub(crate) fn choose_level(&mut self, bounds: &Bounds, at: Span) -> Result<Term, Stop> {
        let mut lower = self.bounds(&bounds.lower)?;
        let upper = self.bounds(&bounds.upper)?;
        if lower.is_empty() && upper.is_empty() {
            let level = self.threads.wait_level(at)?;
            lower.push(Bound { exists: Terms::TRUE, level, at, is_channel: false });
        }
        for low in &lower {
            for high in &upper {
                let both = self.terms.and([low.exists, high.exists]);
                self.threads.prove_ordered(both, &low.level, &high.level, low.at)?;
            }
        }
        if !lower.iter().any(|bound| bound.exists == Terms::TRUE) {
            let bottom = Level::Value(self.threads.bottom());
            for high in upper.iter().filter(|high| !high.is_channel) {
                let mut guards = vec![high.exists];
                guards.extend(lower.iter().map(|low| self.terms.not(low.exists)));
                let guard = self.terms.and(guards);
                self.threads.prove_ordered(guard, &bottom, &high.level, high.at)?;
            }
        }
        let sort = self.threads.level_sort();
        let chosen = self.fresh("level", sort);
        let bottom = self.threads.bottom();
        let shared = self.terms.differs(chosen, bottom);
        self.assume(shared)?;
        let value = Level::Value(chosen);
        for (bound, is_lower) in
            lower.iter().map(|low| (low, true)).chain(upper.iter().map(|high| (high, false)))
        {
            let fact = if is_lower {
                self.threads.level_below(&bound.level, &value)?
            } else {
                self.threads.level_below(&value, &bound.level)?
            };
            let fact = self.terms.implies(bound.exists, fact);
            self.assume(fact)?;
        }
        Ok(chosen)
    }

    /// Evaluates bounds to levels. A null object bounds nothing.
    fn bounds(&mut self, bounds: &[Expr]) -> Result<Vec<Bound>, Stop> {
        let mut all = Vec::new();
        for bound in bounds {
            let at = span(bound.span);
            let blame = Blame::new(ErrorId::BoundsFailed, at);
            let is_channel = matches!(bound.ty, Type::Channel(_));
            let (exists, level) = match &bound.kind {
                ExprKind::WaitLevel => (Terms::TRUE, self.threads.wait_level(at)?),
                _ if bound.ty == Type::Mu => (Terms::TRUE, Level::Value(self.eval(bound, blame)?)),
                _ => {
                    let object = self.eval(bound, blame)?;
                    let exists = match bound.kind {
                        ExprKind::This => Terms::TRUE,
                        _ => self.terms.differs(object, Terms::NULL),
                    };
                    let level = self
                        .under(exists, |chalice| chalice.threads.read_bound(object, blame, at))?;
                    let sort = self.threads.level_sort();
                    let level = level.unwrap_or_else(|| self.fresh("level", sort));
                    (exists, Level::Value(level))
                }
            };
            all.push(Bound { exists, level, at, is_channel });
        }
        Ok(all)
    }

    /// Runs with `this` as an object whose monitor invariant is meant.
    pub(crate) fn in_monitor<T>(
        &mut self,
        object: Term,
        mode: LockMode,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut frame = self.threads.frame_about(object)?;
        frame.thread.is_reader = mode == LockMode::Read;
        self.in_frame(frame, run).0
    }
}

impl<'p> Threads<'_, 'p> {
    /// Makes the frame in which `this` is an object, with the common fraction of monitors and
    /// messages.
    pub(super) fn frame_about(&mut self, object: Term) -> Result<Frame<'p>, Stop> {
        let common = self.common()?;
        let mut store = self.store();
        store.set(self.direct.this, object);
        store.set(self.direct.fraction, common);
        let user = Some(self.frame.users_variables());
        Ok(Frame { store, user, ..self.frame.clone() })
    }

    fn wait_level(&self, at: Span) -> Result<Level, Stop> {
        let debts = self.here.credits.clone();
        Ok(Level::Wait { locks: self.locks(at)?, debts: Debts::own(debts) })
    }

    /// Returns the level of an object. Without `blame`, the level need not be readable; if it is
    /// not, any level is returned.
    pub(crate) fn read_level(
        &mut self,
        object: Term,
        blame: Option<Blame>,
        at: Span,
    ) -> Result<Term, Stop> {
        let resource = self.direct.mu();
        let asking = blame.unwrap_or(Blame::new(ErrorId::AcquireFailed, at).trusted());
        if let Some(level) = self.lookup(resource, &[object], asking)? {
            return Ok(level);
        }
        let sort = self.level_sort();
        let level = self.fresh("level", sort);
        if let Some(blame) = blame {
            let heap = self.here.heap.clone();
            let reported = self.fail_permission(&heap, resource, &[object], None, blame, at)?;
            self.log.taint(level, reported);
        }
        Ok(level)
    }

    fn let_go(&mut self, object: Term, at: Span) -> Result<(), Stop> {
        let mut locks = self.locks(at)?;
        locks.held.set(object, Terms::FALSE);
        if self.direct.locking.has_readers {
            locks.read.set(object, Terms::FALSE);
        }
        self.frame.thread.locks = Some(locks);
        Ok(())
    }

    /// Returns the level of an object to which all permission must be held.
    fn whole_level(&mut self, target: Target, blame: Blame) -> Result<Term, Stop> {
        let (resource, arguments) = (self.direct.mu(), vec![target.object]);
        let heap = self.here.heap.clone();
        if let Some(level) = self.take_location(resource, &arguments, Terms::WRITE)? {
            self.here.heap = heap;
            return Ok(level);
        }
        let whole = Some(Terms::WRITE);
        let reported =
            self.fail_permission(&heap, resource, &arguments, whole, blame, target.at)?;
        self.drop_aliases(resource, &arguments)?;
        let sort = self.level_sort();
        let value = self.fresh("missing", sort);
        self.log.taint(value, reported);
        self.add_chunk(resource, Chunk { arguments, value, amount: Terms::WRITE })?;
        Ok(value)
    }

    fn set_level(&mut self, target: Target, level: Term, blame: Blame) -> Result<(), Stop> {
        self.core.write_field(target.object, self.direct.mu, level, blame.span, blame)
    }

    fn prove_ordered(
        &mut self,
        guard: Term,
        low: &Level,
        high: &Level,
        at: Span,
    ) -> Result<(), Stop> {
        let ordered = self.level_below(low, high)?;
        let claim = self.terms.implies(guard, ordered);
        self.prove(claim, Blame::new(ErrorId::BoundsFailed, at), Reason::LockOrder, at)
    }

    fn read_bound(&mut self, object: Term, blame: Blame, at: Span) -> Result<Term, Stop> {
        let sort = self.level_sort();
        self.core.read_field(object, self.direct.mu, sort, at, blame)
    }
}
