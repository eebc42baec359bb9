//! Monitors: what `share`, `acquire`, `release` and their relatives do to the lock state, and what
//! they check (Leino and Müller 2009; Klauser 2012, section 3.4).
//!
//! Invariants
//! - The level that is remembered for a held object is its `mu`: only the thread that holds an
//!   object can change it, so what is remembered stays right when all permission to `mu` has been
//!   given away.
//! - Nothing reads the level remembered for an object that is not held.

use chalice::Span;
use chalice::program::locking::is_new_object;
use chalice::program::walk::{assigned_by, each_stmt};
use chalice::program::{Block, Bounds, ClassId, Expr, ExprKind, FieldRef, LockMode, Type};
use findings::{ErrorId, Pattern, Reason};
use sil::source::Name;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, inner, named, renamed, said};
use crate::lower::env::{Env, LockState, Locks, Side};
use crate::lower::facts::{class_of, keeps_credits, mentions_credit};
use crate::lower::permissions::stars::Given;
use crate::lower::threads::levels::{Level, not_above};
use crate::lower::{Body, Lowering, Member};
use crate::names::fixed;

impl Body<'_, '_> {
    /// An obligation of a statement under an id of its own.
    fn check(&mut self, condition: s::Expr, id: (ErrorId, Reason), words: &str) {
        self.emit(
            assert(condition)
                .with(renamed((ErrorId::AssertFailed, Reason::AssertionFalse), id))
                .with(said(Reason::AssertionFalse, words)),
        );
    }

    /// As [`Self::check`], of a condition that begins with an accessibility assertion, or reads the
    /// heap.
    pub(crate) fn check_access(&mut self, condition: s::Expr, id: (ErrorId, Reason), words: &str) {
        self.emit(
            assert(condition)
                .with(renamed((ErrorId::AssertFailed, Reason::AssertionFalse), id))
                .with(renamed(ErrorId::AssertFailed, id.0))
                .with(said(Reason::AssertionFalse, words)),
        );
    }

    /// Returns the operand of a lock statement, evaluated once.
    pub(crate) fn lock_target(&mut self, e: &Expr, kind: ErrorId, env: &Env) -> s::Expr {
        let target = self.saved(e, "target", &[], env);
        if !matches!(e.kind, ExprKind::This) {
            if !self.is_certainly_object(e) {
                self.check_object(e, &target, kind);
            }
            let class = self.has_class(&target, &e.ty, true);
            if !is_true(&class) {
                self.emit_plain(inhale(class));
            }
        }
        target
    }

    fn check_object(&mut self, e: &Expr, target: &s::Expr, kind: ErrorId) {
        // A held monitor belongs to an object, and giving up a monitor's invariant asks for one.
        if matches!(kind, ErrorId::ReleaseFailed | ErrorId::DowngradeFailed) {
            return;
        }
        let words = self.might_be_null(e);
        self.check(ne(target.clone(), null()), (kind, Reason::ReceiverNull), &words);
    }

    /// Gives what a monitor protects to the monitor.
    pub(crate) fn give_invariant(
        &mut self,
        class: ClassId,
        mode: LockMode,
        target: &s::Expr,
        env: &Env,
    ) {
        self.trade_credits(class, mode, target, &env.on(Side::Exhaled), s::BinaryOp::Sub);
        let (protected, inner) = (self.protected(class), env.about(target.clone()));
        self.bound_all_counts(&protected, &inner);
        let share = (mode == LockMode::Write).then(write);
        self.check_stars(&protected, share.as_ref(), &inner, ErrorId::FoldFailed);
        let left = self.left_stars(&protected, &inner, Given::InBody, ErrorId::FoldFailed);
        let monitor = self.monitor_at(class, mode, target);
        self.emit(
            fold(acc(monitor.clone(), write()))
                .with(said(Pattern::ANY, "the monitor invariant might not hold: `%e`")),
        );
        // If folding failed, it has been said already.
        self.emit(
            exhale(acc(monitor, write())).with(renamed(ErrorId::ExhaleFailed, ErrorId::FoldFailed)),
        );
        self.note_left_stars(left);
    }

    /// Gives a monitor the credits that its invariant speaks of, or takes them from it. Readers
    /// share a monitor, so they get none.
    fn trade_credits(
        &mut self,
        class: ClassId,
        mode: LockMode,
        target: &s::Expr,
        env: &Env,
        op: s::BinaryOp,
    ) {
        if mode == LockMode::Write {
            for invariant in &self.program().classes[class].invariants {
                self.move_credits(&invariant.one_state(), &env.about(target.clone()), op);
            }
        }
    }

    /// Unfolds what has just been received. What is not well-formed cannot be had, and that is
    /// wrong where it is stated; apart from that this succeeds.
    pub(crate) fn open_received(&mut self, instance: s::Expr) {
        self.emit(
            unfold(instance)
                .with(inner())
                .with(renamed(ErrorId::UnfoldFailed, ErrorId::NotWellformed))
                .with(said(Pattern::ANY, "what is received makes no sense by itself: `%e`")),
        );
    }

    /// Takes what a monitor protects from the monitor.
    pub(crate) fn take_invariant(
        &mut self,
        class: ClassId,
        mode: LockMode,
        target: &s::Expr,
        kind: ErrorId,
        env: &Env,
    ) {
        let monitor = self.monitor_at(class, mode, target);
        self.emit(inhale(acc(monitor.clone(), write())));
        self.open_received(acc(monitor, write()));
        self.trade_credits(class, mode, target, &env.on(Side::Inhaled), s::BinaryOp::Add);
        let invariants = &self.program().classes[class].invariants;
        let inner = env.about(target.clone());
        self.bound_all_counts(invariants, &inner);
        // Readers get `rd*` of what is `rd*` in the monitor.
        let share = (mode == LockMode::Write).then(write);
        let taken = (&truth(true), share.as_ref());
        self.note_stars(&self.protected(class), taken, &inner, kind);
        for invariant in invariants {
            for fact in self.levels_in(invariant, &inner) {
                self.emit_plain(inhale(fact));
            }
        }
    }

    /// Returns the level of an object, which is any level where `mu` cannot be read.
    ///
    /// SOUNDNESS: to take for granted that it can be read would be false where the thread has no
    /// permission to it, and everything would follow.
    fn level_if_readable(&mut self, target: &s::Expr) -> s::Expr {
        let name = self.fresh("level");
        let ty = self.lowering.level_type();
        self.emit_plain(declare(&name, ty, None));
        let own = self.lowering.level_of(target.clone());
        let readable = lt(none(), perm(own.clone()));
        self.emit_plain(inhale(implies(readable, eq(var(&name), own))));
        var(&name)
    }

    /// Notes the level of an object that is held; `kind` says what fails if it cannot be read.
    fn remember_level(
        &mut self,
        locks: &LockState,
        target: &s::Expr,
        level: s::Expr,
        kind: ErrorId,
    ) {
        let remembered = call(fixed::LEVEL_SET, vec![locks.levels.clone(), target.clone(), level]);
        self.emit(
            assign(locks.levels.clone(), remembered).with(renamed(ErrorId::AssignmentFailed, kind)),
        );
    }

    fn set_level(&mut self, level: s::Expr, value: s::Expr, kind: ErrorId) {
        self.emit(assign(level, value).with(renamed(ErrorId::AssignmentFailed, kind)));
    }

    pub(crate) fn add_to(&mut self, set: &s::Expr, target: &s::Expr) {
        let more = binary(s::BinaryOp::Union, set.clone(), set_of(vec![target.clone()]));
        self.emit_plain(assign(set.clone(), more));
    }

    fn remove_from(&mut self, set: &s::Expr, target: &s::Expr) {
        let fewer = binary(s::BinaryOp::Setminus, set.clone(), set_of(vec![target.clone()]));
        self.emit_plain(assign(set.clone(), fewer));
    }

    /// `acquire e`, `rd acquire e`
    pub(crate) fn acquire(&mut self, e: &Expr, mode: LockMode, env: &Env) {
        let target = self.lock_target(e, ErrorId::AcquireFailed, env);
        self.acquire_target(e, &target, mode, env);
    }

    fn acquire_target(&mut self, e: &Expr, target: &s::Expr, mode: LockMode, env: &Env) {
        let Some(class) = class_of(e) else {
            return self.unsupported_stmt("acquire of something that is no object");
        };
        let locks = Member::lock_state(env);
        let checks = self.lowering.options.deadlock_checks;
        let level = if checks {
            let level = self.lowering.level_of(target.clone());
            let target = self.text_of(e);
            let words = format!(
                "there might be insufficient permission to read the level `{target}.mu`; ask for it, as in `rd({target}.mu)`"
            );
            let id = (ErrorId::AcquireFailed, Reason::InsufficientPermission);
            self.check(lt(none(), perm(level.clone())), id, &words);
            level
        } else {
            self.level_if_readable(target)
        };
        let above = self
            .level_below(Level::Wait(env.locks.clone()), Level::Value(level.clone()))
            .unwrap_or_else(|| truth(false));
        if checks {
            let words = not_above(&self.text_of(e));
            self.check_access(above, (ErrorId::AcquireFailed, Reason::LockOrder), &words);
        } else {
            self.emit_plain(inhale(above));
        }
        // Its level is above those of what is held.
        let is_held = self.lowering.is_held(&locks, target);
        self.emit_plain(inhale(not(is_held)));
        let set = match mode {
            LockMode::Write => &locks.held,
            LockMode::Read => locks.read_held.as_ref().unwrap_or(&locks.held),
        };
        self.remember_level(&locks, target, level, ErrorId::AcquireFailed);
        self.add_to(set, target);
        self.take_invariant(class, mode, target, ErrorId::AcquireFailed, env);
        self.note_acquired(class, target, &locks, env);
    }

    /// `release e`, `rd release e`
    pub(crate) fn release(&mut self, e: &Expr, mode: LockMode, env: &Env) {
        let target = self.lock_target(e, ErrorId::ReleaseFailed, env);
        self.release_target(e, &target, mode, env);
    }

    fn release_target(&mut self, e: &Expr, target: &s::Expr, mode: LockMode, env: &Env) {
        let Some(class) = class_of(e) else {
            return self.unsupported_stmt("release of something that is no object");
        };
        let locks = Member::lock_state(env);
        match (mode, &locks.read_held) {
            (LockMode::Write, _) => self.check_write_held(&locks, target, ErrorId::ReleaseFailed),
            (LockMode::Read, Some(read_held)) => self.check(
                contains(read_held, target),
                (ErrorId::ReleaseFailed, Reason::LockNotHeld),
                "the thread might not hold the object for reading",
            ),
            (LockMode::Read, None) => {}
        }
        let left = self.state_to_release(class, mode, target, &locks, env);
        self.give_invariant(class, mode, target, env);
        self.note_released(target, left, &locks);
        self.remove_from(&locks.held, target);
        if let (LockMode::Read, Some(read_held)) = (mode, &locks.read_held) {
            self.remove_from(read_held, target);
        }
    }

    pub(crate) fn check_write_held(&mut self, locks: &LockState, target: &s::Expr, kind: ErrorId) {
        self.check(
            contains(&locks.held, target),
            (kind, Reason::LockNotHeld),
            "the thread might not hold the object",
        );
        if let Some(read_held) = &locks.read_held {
            self.check(
                not(contains(read_held, target)),
                (kind, Reason::LockReadHeld),
                "the thread might hold the object for reading only",
            );
        }
    }

    /// `lock (e) { .. }` and its relatives.
    pub(crate) fn lock(&mut self, e: &Expr, mode: LockMode, body: &Block, env: &Env) {
        let target = self.lock_target(e, ErrorId::AcquireFailed, env);
        // The operand is evaluated once, so it is kept even if it looks stable: the body may assign
        // its variables.
        let mut is_assigned = false;
        if let ExprKind::Local(local) = e.kind {
            each_stmt(body, &mut |stmt| is_assigned |= assigned_by(stmt).any(|it| it == local));
        }
        let target = match &e.kind {
            ExprKind::Local(_) if is_assigned => {
                let name = self.fresh("target");
                let ty = self.lowering.ty(&e.ty);
                self.emit_plain(declare(&name, ty, Some(target)));
                var(&name)
            }
            _ => target,
        };
        let span = self.span;
        self.acquire_target(e, &target, mode, env);
        self.statements(body, env);
        self.span = span;
        self.release_target(e, &target, mode, env);
    }

    /// `share e between lower and upper`
    pub(crate) fn share(&mut self, e: &Expr, bounds: &Bounds, env: &Env) {
        let target = self.lock_target(e, ErrorId::ShareFailed, env);
        let Some(class) = class_of(e) else {
            return self.unsupported_stmt("share of something that is no object");
        };
        let locks = Member::lock_state(env);
        let level = self.lowering.level_of(target.clone());
        let unshared = eq(level.clone(), self.lowering.lockbottom());
        self.check_access(
            and([acc(level.clone(), write()), unshared]),
            (ErrorId::ShareFailed, Reason::AlreadyShared),
            "the object might be shared already",
        );
        let chosen = self.choose_level(bounds, env);
        self.set_level(level, var(&chosen), ErrorId::ShareFailed);
        let is_held = self.lowering.is_held(&locks, &target);
        self.emit_plain(inhale(not(is_held)));
        let left = self.state_to_share(class, &target, &locks, env);
        self.give_invariant(class, LockMode::Write, &target, env);
        self.note_released(&target, left, &locks);
    }

    /// `reorder e between lower and upper`
    pub(crate) fn reorder(&mut self, e: &Expr, bounds: &Bounds, env: &Env) {
        let target = self.lock_target(e, ErrorId::ReorderFailed, env);
        let locks = Member::lock_state(env);
        self.check_write_held(&locks, &target, ErrorId::ReorderFailed);
        let level = self.lowering.level_of(target.clone());
        self.check_access(
            acc(level.clone(), write()),
            (ErrorId::ReorderFailed, Reason::InsufficientPermission),
            "there might be insufficient permission to write mu of the object",
        );
        let chosen = self.choose_level(bounds, env);
        self.set_level(level, var(&chosen), ErrorId::ReorderFailed);
        self.remember_level(&locks, &target, var(&chosen), ErrorId::ReorderFailed);
    }

    /// `unshare e`
    pub(crate) fn unshare(&mut self, e: &Expr, env: &Env) {
        let target = self.lock_target(e, ErrorId::UnshareFailed, env);
        let locks = Member::lock_state(env);
        let level = self.lowering.level_of(target.clone());
        let bottom = self.lowering.lockbottom();
        self.check_access(
            and([acc(level.clone(), write()), ne(level.clone(), bottom.clone())]),
            (ErrorId::UnshareFailed, Reason::NotShared),
            "the object might not be shared",
        );
        self.check_write_held(&locks, &target, ErrorId::UnshareFailed);
        self.set_level(level, bottom, ErrorId::UnshareFailed);
        self.remove_from(&locks.held, &target);
    }

    /// `free e`: gives up all permission to an object.
    pub(crate) fn free(&mut self, e: &Expr, env: &Env) {
        let target = self.saved(e, "target", &[], env);
        let mut all = vec![acc(self.lowering.level_of(target.clone()), write())];
        for id in class_of(e).into_iter().flat_map(|class| self.program().classes[class].fields()) {
            all.push(acc(self.field_of(target.clone(), FieldRef::Declared(id)), write()));
        }
        self.emit(
            exhale(and(all)).with(renamed(ErrorId::ExhaleFailed, ErrorId::FreeFailed)).with(said(
                Pattern::ANY,
                "permission to some field of the object might be missing",
            )),
        );
    }

    /// Returns a lock level between bounds; without bounds, one above the wait level.
    ///
    /// SOUNDNESS: each lower bound is shown to be below each upper bound, and something is below
    /// each upper bound even if there are no lower bounds, or if they are null (a channel is never
    /// at the lowest level); the order is dense and has no greatest element, so there is such a
    /// level.
    pub(crate) fn choose_level(&mut self, bounds: &Bounds, env: &Env) -> Name {
        let span = self.span;
        let mut lower = self.bound_levels(&bounds.lower, env);
        let upper = self.bound_levels(&bounds.upper, env);
        if lower.is_empty() && upper.is_empty() {
            lower.push((truth(true), Level::Wait(env.locks.clone()), span));
        }
        let mut pairs: Vec<_> = lower
            .iter()
            .flat_map(|low| upper.iter().map(|high| (low.clone(), high.clone())))
            .collect();
        if !lower.iter().any(|(exists, _, _)| is_true(exists)) {
            let no_other = and(lower.iter().map(|(exists, _, _)| not(exists.clone())));
            let bottom = Level::Value(self.lowering.lockbottom());
            for (bound, high) in bounds.upper.iter().zip(&upper) {
                if !matches!(bound.ty, Type::Channel(_)) {
                    pairs.push(((no_other.clone(), bottom.clone(), high.2), high.clone()));
                }
            }
        }
        for ((low_exists, low, at), (high_exists, high, high_at)) in pairs {
            self.span = at;
            let why = if at == high_at {
                "there might be no level below that of `%e`"
            } else {
                "there might be no level between the bounds: that of `%e` might not be the lower one"
            };
            let ordered = self.level_below(low, high).unwrap_or_else(|| truth(false));
            self.check_access(
                implies(and([low_exists, high_exists]), ordered),
                (ErrorId::BoundsFailed, Reason::LockOrder),
                why,
            );
        }
        self.span = span;
        let name = self.fresh("level");
        let ty = self.lowering.level_type();
        self.emit_plain(declare(&name, ty, None));
        let mut chosen = Vec::new();
        // A level above the wait level is above the least level.
        if !lower.iter().any(|(_, low, _)| matches!(low, Level::Wait(_))) {
            chosen.push(ne(var(&name), self.lowering.lockbottom()));
        }
        for (exists, low, _) in lower {
            let fact =
                self.level_below(low, Level::Value(var(&name))).unwrap_or_else(|| truth(true));
            chosen.push(implies(exists, fact));
        }
        for (exists, high, _) in upper {
            let fact =
                self.level_below(Level::Value(var(&name)), high).unwrap_or_else(|| truth(true));
            chosen.push(implies(exists, fact));
        }
        self.emit(inhale(and(chosen)).with(renamed(ErrorId::InhaleFailed, ErrorId::BoundsFailed)));
        name
    }

    /// Bounds as levels, each with the condition that it counts: null objects do not.
    fn bound_levels(&mut self, bounds: &[Expr], env: &Env) -> Vec<(s::Expr, Level, Span)> {
        let statement = self.span;
        let mut levels = Vec::new();
        for bound in bounds {
            self.span = bound.span;
            let level = match &bound.kind {
                ExprKind::WaitLevel => (truth(true), Level::Wait(env.locks.clone())),
                _ if bound.ty == Type::Mu => (truth(true), Level::Value(self.expr(bound, env))),
                _ => {
                    let object = self.saved(bound, "bound", &[], env);
                    let level = self.lowering.level_of(object.clone());
                    let exists = match bound.kind {
                        ExprKind::This => truth(true),
                        _ => ne(object, null()),
                    };
                    self.check(
                        implies(exists.clone(), lt(none(), perm(level.clone()))),
                        (ErrorId::BoundsFailed, Reason::InsufficientPermission),
                        "there might be insufficient permission to read the level of the bound `%e`",
                    );
                    (exists, Level::Value(level))
                }
            };
            levels.push((level.0, level.1, bound.span));
        }
        self.span = statement;
        levels
    }

    /// After something that may have given held objects other levels: those that can be read are
    /// known again.
    pub(crate) fn recall_levels(&mut self, env: &Env) {
        let (Locks::State(locks), Some(method)) = (&env.locks, self.method) else { return };
        let method = &self.program().methods[method];
        let mut objects = vec![env.this.clone()];
        let mut locals = method.parameters.clone();
        locals.extend(self.locals_in_scope.iter().copied());
        for local in locals {
            if matches!(self.program().locals[local].ty, Type::Class(_)) {
                objects.push(self.variable(local, env));
            }
        }
        for object in objects {
            let level = self.lowering.level_of(object.clone());
            let remembered = self.lowering.level_at(locks.levels.clone(), object.clone());
            let readable = lt(none(), perm(level.clone()));
            let held = self.lowering.is_held(locks, &object);
            self.emit_plain(inhale(implies(and([readable, held]), eq(level, remembered))));
        }
    }
}

impl Member<'_, '_> {
    pub(crate) fn lock_state(env: &Env) -> LockState {
        match &env.locks {
            Locks::State(locks) => locks.clone(),
            // Statements about locks stand in methods only, and those that have them track locks.
            _ => unreachable!("a method with lock statements tracks locks"),
        }
    }

    pub(crate) fn is_certainly_object(&self, e: &Expr) -> bool {
        self.method.is_some_and(|method| is_new_object(&self.program().methods[method].body, e))
    }

    fn monitor_at(&self, class: ClassId, mode: LockMode, target: &s::Expr) -> s::Expr {
        let names = self.lowering.names.borrow();
        let name = match mode {
            LockMode::Write => &names.monitors[class],
            LockMode::Read => &names.read_monitors[class],
        };
        call(name, vec![target.clone()])
    }

    /// Returns the assertions that a monitor protects: its invariants without their history.
    pub(crate) fn protected(&self, class: ClassId) -> Vec<Expr> {
        self.program().classes[class].invariants.iter().map(Expr::one_state).collect()
    }
}

impl Lowering<'_> {
    /// Returns the check that the invariant of a class contains no debt: nobody would have to pay
    /// it.
    pub(crate) fn debt_check(&self, id: ClassId) -> Option<s::Member> {
        if !keeps_credits(self.program, id) {
            return None;
        }
        let class = &self.program.classes[id];
        let mut member = Body::new(self, class.invariants.first()?.span);
        member.class = Some(id);
        let this = member.fresh("this");
        let env = crate::lower::classes::stateless(crate::lower::env::ReadAmount::Common);
        let statements = member.block(|member| {
            let monitor = member.monitor_at(id, LockMode::Write, &var(&this));
            member.emit_plain(inhale(acc(monitor.clone(), write())));
            let renaming = renamed(ErrorId::UnfoldFailed, ErrorId::NotWellformed);
            member.emit(unfold(acc(monitor, write())).with(renaming));
            let credits = member.fresh("credits");
            let none = call(fixed::NO_CREDITS, Vec::new());
            member.emit_plain(declare(&credits, self.credits_type(), Some(none)));
            member.credits = Some(credits);
            for clause in class.invariants.iter().filter(|clause| mentions_credit(clause)) {
                member.span = clause.span;
                member.move_credits(&clause.one_state(), &env.on(Side::Inhaled), s::BinaryOp::Add);
            }
            member.check_debt(
                (ErrorId::DebtFailed, Reason::Invariant),
                "the monitor invariant must not contain a debt",
            );
        });
        let name = self.global_name(&format!("{}_credits", class.name));
        let method = s::Method::new(&name).formal(&this, TypeKind::Ref).body(statements);
        Some(
            crate::build::member(s::MemberKind::Method(method))
                .with(self.at(member.span))
                .with(named(&format!("{} (credits of the monitor invariant)", class.name)))
                .with(member.variables()),
        )
    }
}
