//! History constraints: what a monitor invariant says with `old` of the state in which the object
//! was last acquired, released or shared. The states themselves are in
//! [`crate::lower::threads::states`].
//!
//! Differs from the original verifier
//! - DIVERGENCE: a history constraint has to be transitive as well as reflexive, since several
//!   threads may hold the lock between two times that one does.
//! - DIVERGENCE: nothing is known of the state before if the object has got another level since.

use chalice::program::{
    AccessTarget, ClassId, EvalState, Expr, ExprKind, FieldRef, LockMode, MethodId,
};
use findings::{ErrorId, Reason};
use front::grow_stack;
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::annotations::{Annotate, named, renamed, said, unplaced};
use crate::lower::env::{Env, LockState, Locks, OldState};
use crate::lower::permissions::is_certain;
use crate::lower::{Body, Lowering, Member};

/// Does a monitor invariant look back?
pub(crate) fn has_history(invariants: &[Expr]) -> bool {
    invariants.iter().any(Expr::looks_back)
}

/// A part of an assertion, and the conditions it stands under, each with the value that it has to
/// have.
struct Conjunct<'e> {
    guards: Vec<(&'e Expr, bool)>,
    part: &'e Expr,
}

/// Permission to read the level of an object, and the conditions it stands under.
struct ReadableLevel<'e> {
    guards: Vec<(&'e Expr, bool)>,
    object: &'e Expr,
}

fn collect_conjuncts<'e>(e: &'e Expr, guards: &[(&'e Expr, bool)], found: &mut Vec<Conjunct<'e>>) {
    let mut under = |guard: &'e Expr, value: bool, part: &'e Expr| {
        let guards: Vec<_> = guards.iter().copied().chain([(guard, value)]).collect();
        grow_stack(|| collect_conjuncts(part, &guards, found));
    };
    match &e.kind {
        ExprKind::And(parts) => {
            parts.iter().for_each(|part| grow_stack(|| collect_conjuncts(part, guards, found)));
        }
        ExprKind::Implies { guard, body } => under(guard, true, body),
        ExprKind::Conditional { condition, then, otherwise } => {
            under(condition, true, then);
            under(condition, false, otherwise);
        }
        _ => found.push(Conjunct { guards: guards.to_vec(), part: e }),
    }
}

/// Is a condition, with the value that it has to have, one of others in the same words?
fn stands_under(guard: &(&Expr, bool), others: &[(&Expr, bool)]) -> bool {
    others.iter().any(|other| other.0.kind == guard.0.kind && other.1 == guard.1)
}

/// Returns the levels that parts of an assertion let be read.
fn readable_levels<'e>(conjuncts: &[Conjunct<'e>]) -> Vec<ReadableLevel<'e>> {
    let mut readable = Vec::new();
    for conjunct in conjuncts {
        if let ExprKind::Access(access) = &conjunct.part.kind
            && let AccessTarget::Field { receiver, field: FieldRef::Mu } = &access.target
            && is_certain(&access.amount.kind)
        {
            readable.push(ReadableLevel { guards: conjunct.guards.clone(), object: receiver });
        }
    }
    readable
}

impl Body<'_, '_> {
    /// Keeps the states in which the method leaves objects, if calls may leave them again and make
    /// the thread's own record of them unknown.
    ///
    /// COMPLETENESS: constraints are transitive, so what an object was before a call still bounds
    /// what it is after.
    pub(crate) fn remember_states(&mut self, method: MethodId, locks: &LockState) {
        let lowering = self.lowering;
        if let Some(released) = &locks.released
            && lowering.states.has_history()
            && lowering.facts.locking.calls_may_unlock(method)
        {
            let name = self.fresh("leftMap");
            self.emit_plain(declare(&name, lowering.states_type(), Some(released.clone())));
            self.left_here = Some(name);
        }
    }

    /// After an object has been acquired: what its invariant says of the state in which the thread
    /// last saw it, and the state as it is now.
    pub(crate) fn note_acquired(
        &mut self,
        class: ClassId,
        target: &s::Expr,
        locks: &LockState,
        env: &Env,
    ) {
        let left_here = self.left_here.as_deref().map(var);
        for states in [&locks.released, &left_here].into_iter().flatten() {
            let before = self.lowering.state_at(states, target);
            let old = OldState::Recorded(before.clone());
            let history = self.history(class, target, old, env);
            if !history.is_empty() {
                let is_same = self.has_kept_level(&before, target, locks);
                let received = inhale(implies(is_same, all(history)))
                    .with(renamed(ErrorId::InhaleFailed, ErrorId::AcquireFailed));
                self.emit(received);
            }
        }
        let about = self.said_of(class, target, true);
        if locks.acquired.is_some() && !about.is_empty() {
            let state = self.record(&about, env);
            self.keep(locks.acquired.as_ref(), target, state);
        }
    }

    /// Records the state in which an object is about to be left, and its level.
    fn record_left(
        &mut self,
        class: ClassId,
        target: &s::Expr,
        level: s::Expr,
        locks: &LockState,
        env: &Env,
    ) -> Option<s::Expr> {
        let about = self.said_of(class, target, false);
        if locks.released.is_none() || about.is_empty() {
            return None;
        }
        let state = self.record(&about, env);
        if has_history(&self.program().classes[class].invariants) {
            let then = self.lowering.field_then(&state, target.clone(), FieldRef::Mu);
            self.emit_plain(inhale(eq(then, level)));
        }
        Some(state)
    }

    /// Before an object is released: its history constraint, and the state in which it is left, to
    /// be kept afterwards.
    pub(crate) fn state_to_release(
        &mut self,
        class: ClassId,
        mode: LockMode,
        target: &s::Expr,
        locks: &LockState,
        env: &Env,
    ) -> Option<s::Expr> {
        if let (Some(acquired), LockMode::Write) = (&locks.acquired, mode) {
            let before = self.lowering.state_at(acquired, target);
            self.check_history(class, target, OldState::Recorded(before), env);
        }
        let level = self.lowering.level_at(locks.levels.clone(), target.clone());
        self.record_left(class, target, level, locks, env)
    }

    /// Before an object is shared: the first state in its history follows itself.
    pub(crate) fn state_to_share(
        &mut self,
        class: ClassId,
        target: &s::Expr,
        locks: &LockState,
        env: &Env,
    ) -> Option<s::Expr> {
        self.check_history(class, target, OldState::Now, env);
        let level = self.lowering.level_of(target.clone());
        self.record_left(class, target, level, locks, env)
    }

    /// Keeps the state in which an object has been left.
    pub(crate) fn note_released(
        &mut self,
        target: &s::Expr,
        state: Option<s::Expr>,
        locks: &LockState,
    ) {
        if let Some(state) = state {
            let left_here = self.left_here.as_deref().map(var);
            self.keep(locks.released.as_ref(), target, state.clone());
            self.keep(left_here.as_ref(), target, state);
        }
    }

    /// Checks each part of a history constraint, and tells a broken one by its text.
    fn check_history(&mut self, class: ClassId, target: &s::Expr, old: OldState, env: &Env) {
        for (text, claim) in self.history(class, target, old, env) {
            let words = format!("the monitor invariant might not hold: {text}");
            self.emit(
                assert(claim)
                    .with(renamed(ErrorId::AssertFailed, ErrorId::FoldFailed))
                    .with(said(Reason::AssertionFalse, &words)),
            );
        }
    }

    /// The check that a history constraint makes sense: it holds between a state and itself, and
    /// between two states if it holds between both and a third.
    fn history_check(&mut self, class: ClassId, env: &Env) {
        let this = var("this");
        let declared = &self.program().classes[class];
        let monitor = call(&self.lowering.names.borrow().monitors[class], vec![this.clone()]);
        let open = |member: &mut Self| {
            member.emit_plain(inhale(acc(monitor.clone(), write())));
            let renaming = renamed(ErrorId::UnfoldFailed, ErrorId::NotWellformed);
            member.emit(unfold(acc(monitor.clone(), write())).with(renaming));
        };
        let first = self.fresh("first");
        self.emit_plain(declare(&first, ty(TypeKind::Int), None));
        self.emit_plain(inhale(ne(this.clone(), null())));
        open(self);
        let related = |member: &mut Self, state: &s::Expr| {
            let old = OldState::Recorded(state.clone());
            let history = member.history(class, &this, old, env);
            if !history.is_empty() {
                let renaming = renamed(ErrorId::InhaleFailed, ErrorId::NotWellformed);
                member.emit(inhale(all(history)).with(renaming));
            }
        };
        related(self, &var(&first));
        let about: Vec<_> = declared
            .invariants
            .iter()
            .map(|clause| (vec![(&ExprKind::This, this.clone())], clause))
            .collect();
        let second = self.record(&about, env);
        self.check_each(
            class,
            &OldState::Now,
            env,
            ErrorId::InvariantNotReflexive,
            "the monitor invariant might not be reflexive: %e",
        );
        let renaming = renamed(ErrorId::FoldFailed, ErrorId::NotWellformed);
        self.emit(fold(acc(monitor.clone(), write())).with(renaming));
        self.emit_plain(exhale(acc(monitor.clone(), write())));
        open(self);
        related(self, &second);
        self.check_each(
            class,
            &OldState::Recorded(var(&first)),
            env,
            ErrorId::InvariantNotTransitive,
            "the monitor invariant might not be transitive: %e",
        );
    }

    fn check_each(
        &mut self,
        class: ClassId,
        old: &OldState,
        env: &Env,
        kind: ErrorId,
        words: &str,
    ) {
        let outer = self.span;
        for clause in &self.program().classes[class].invariants {
            let history = clause.two_states();
            let inner = Env { old: old.clone(), ..env.clone() };
            let history = self.assertion(&history, &inner);
            if is_true(&history) {
                continue;
            }
            self.span = clause.span;
            self.emit(
                assert(history)
                    .with(renamed(ErrorId::AssertFailed, kind))
                    .with(said(Reason::AssertionFalse, words)),
            );
        }
        self.span = outer;
    }
}

impl Member<'_, '_> {
    /// Makes the claim that the level of an object in a recorded state is its present level, now
    /// that the object is held.
    ///
    /// SOUNDNESS: who unshares an object and shares it again begins a new history, and nothing
    /// relates the two. Levels tell them apart: whenever one is chosen there are some that no
    /// object has ever had, so take it for one of them.
    fn has_kept_level(&mut self, state: &s::Expr, target: &s::Expr, locks: &LockState) -> s::Expr {
        let then = self.lowering.field_then(state, target.clone(), FieldRef::Mu);
        eq(then, self.lowering.level_at(locks.levels.clone(), target.clone()))
    }

    /// Contracts that speak of the state in which an object was last released say, too, that it has
    /// kept its level since, where they let the level be read: its history goes on, and acquiring
    /// it tells what that says of the state.
    ///
    /// Nothing is said of objects that are held: they are left anew before they can be acquired,
    /// and whoever holds one may have given it another level.
    ///
    /// SOUNDNESS: whoever gives such a contract shows it, at calls, forks, and the ends of methods
    /// and loops. At joins it is not taken: what a forked method shows at its end is of its own
    /// history.
    pub(crate) fn kept_levels(&mut self, clauses: &[Expr], env: &Env) -> Vec<s::Expr> {
        let (Some(released), true) = (env.locks.released(), self.lowering.states.has_history())
        else {
            return Vec::new();
        };
        let mut conjuncts = Vec::new();
        clauses.iter().for_each(|clause| collect_conjuncts(clause, &[], &mut conjuncts));
        let readable = readable_levels(&conjuncts);
        let mut kept = Vec::new();
        for conjunct in &conjuncts {
            let ExprKind::Eval { state, .. } = &conjunct.part.kind else { continue };
            let EvalState::Release(object) = &**state else { continue };
            let has_history = crate::lower::facts::class_of(object)
                .is_some_and(|class| has_history(&self.program().classes[class].invariants));
            if !has_history {
                continue;
            }
            // Where the contract itself reads the level of that very object, nothing more is to be
            // found out.
            let own = readable.iter().position(|level| {
                level.object.kind == object.kind
                    && level.guards.iter().all(|guard| stands_under(guard, &conjunct.guards))
            });
            let candidates = match own {
                Some(at) => &readable[at..=at],
                None => &readable[..],
            };
            for level in candidates.iter().filter(|level| level.object.ty == object.ty) {
                kept.push(self.placed(conjunct.part.span, |member| {
                    member.kept_level(conjunct, object, level, released, env)
                }));
            }
        }
        kept
    }

    /// Makes the claim that an object has kept its level since its last release, where a contract
    /// speaks of that state and says that the level can be read. The verifier finds out under which
    /// conditions this is so.
    fn kept_level(
        &mut self,
        conjunct: &Conjunct<'_>,
        object: &Expr,
        readable: &ReadableLevel<'_>,
        released: &s::Expr,
        env: &Env,
    ) -> s::Expr {
        let mut conditions = Vec::new();
        let others = readable.guards.iter().filter(|guard| !stands_under(guard, &conjunct.guards));
        for &(guard, value) in conjunct.guards.iter().chain(others) {
            let guard = self.expr(guard, env);
            conditions.push(if value { guard } else { not(guard) });
        }
        let of = self.expr(object, env);
        if readable.object.kind != object.kind {
            conditions.push(eq(self.expr(readable.object, env), of.clone()));
        }
        if let Locks::State(locks) = &env.locks {
            conditions.push(not(self.lowering.is_held(locks, &of)));
        }
        let state = self.lowering.state_at(released, &of);
        let then = self.lowering.field_then(&state, of.clone(), FieldRef::Mu);
        implies(and(conditions), eq(then, self.lowering.level_of(of)))
    }

    /// Returns the parts of an object's history constraint, each with its text; none where its
    /// class has no constraint.
    fn history(
        &mut self,
        class: ClassId,
        target: &s::Expr,
        old: OldState,
        env: &Env,
    ) -> Vec<(String, s::Expr)> {
        let inner = Env { old, ..env.about(target.clone()) };
        let mut history = Vec::new();
        for clause in &self.program().classes[class].invariants {
            let clause = clause.two_states();
            let parts = match &clause.kind {
                ExprKind::And(parts) => &parts[..],
                _ => std::slice::from_ref(&clause),
            };
            for part in parts {
                let claim = self.assertion(part, &inner);
                if !is_true(&claim) {
                    history.push((self.text_of(part), unplaced(claim)));
                }
            }
        }
        history
    }
}

/// Returns the conjunction of the parts of a history constraint.
fn all(history: Vec<(String, s::Expr)>) -> s::Expr {
    and(history.into_iter().map(|(_, claim)| claim))
}

impl Lowering<'_> {
    /// Returns the check of a class's history constraint, if it has one.
    pub(crate) fn history_check(&self, id: ClassId) -> Option<s::Member> {
        let class = &self.program.classes[id];
        let first = class.invariants.iter().find(|clause| clause.looks_back())?;
        let mut member = Body::new(self, first.span);
        member.class = Some(id);
        let formals = vec![typed(&member.fresh("this"), ty(TypeKind::Ref))];
        let env = crate::lower::classes::stateless(crate::lower::env::ReadAmount::Common);
        let statements = member.block(|member| member.history_check(id, &env));
        let name = self.names.borrow().histories[id].clone();
        let method = s::Method { formals, ..s::Method::new(&name).body(statements) };
        let called = named(&format!("{} (history constraint)", class.name));
        Some(
            crate::build::member(s::MemberKind::Method(method))
                .with(self.at(first.span))
                .with(called)
                .with(member.variables()),
        )
    }
}
