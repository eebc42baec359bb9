//! Loops.

use chalice::options::Dialect;
use chalice::program::{Block, Expr, PermissionKind};
use findings::{ErrorId, Reason};
use sil::syntax as s;

use super::Body;
use super::annotations::{Annotate, renamed, said};
use super::env::{Env, Locks, ReadAmount, Side};
use crate::build::*;
use crate::names::fixed;

impl Body<'_, '_> {
    /// `while (guard) invariant .. lockchange .. { body }`
    ///
    /// The invariants have a read fraction of their own, chosen like that of a call; the body's is
    /// the same. In the dialect of the thesis both are that of the method.
    pub(crate) fn while_loop(
        &mut self,
        guard: &Expr,
        invariants: &[Expr],
        lock_changes: &[Expr],
        body: &Block,
        env: &Env,
    ) {
        let span = self.span;
        let mut inner = env.on(Side::Both);
        let has_own = self.lowering.options.dialect == Dialect::Original;
        if has_own && invariants.iter().any(mentions_read) {
            let k = self.read_fraction(invariants, &inner, env, ErrorId::InvariantNotEstablished);
            inner.read = ReadAmount::Fraction(var(&k));
        }
        self.bound_all_counts(invariants, &inner);
        let mut lowered = Vec::new();
        let changes_locks = self.lowering.facts.locking.changes(body);
        let forgets_levels = changes_locks
            && self
                .method
                .is_some_and(|method| self.lowering.facts.locking.method(method).may_relevel);
        let releveled = match self.method {
            Some(method) if changes_locks => self.releveled(method, &inner),
            _ => Vec::new(),
        };
        // Nothing is said of the levels of objects that the list names, either.
        let recalls_levels =
            forgets_levels || changes_locks && !(lock_changes.is_empty() && releveled.is_empty());
        // A body that leaves the locks alone keeps what is known of them; the list still has to
        // name what has changed.
        if !changes_locks
            && self.method.is_some_and(|method| {
                self.lowering.facts.locking.changes(&self.program().methods[method].body)
            })
            && let (Locks::State(locks), Locks::State(entry)) = (&env.locks, &env.old_locks)
        {
            let changed: Vec<_> = lock_changes.iter().map(|e| self.expr(e, &inner)).collect();
            for defined in self.defined_locks(lock_changes, &inner) {
                self.emit_plain(
                    assert(defined).with(renamed(ErrorId::AssertFailed, ErrorId::NotWellformed)),
                );
            }
            let frame = self.same_locks(entry, locks, &changed);
            self.emit(
                assert(frame)
                    .with(renamed(ErrorId::AssertFailed, (ErrorId::LockchangeViolated, Reason::AtLoopEntry)))
                    .with(said(Reason::AssertionFalse, "more might have been locked or unlocked than the lockchange clause of the loop allows")),
            );
        }
        if changes_locks
            && let (Locks::State(locks), Locks::State(entry)) = (&env.locks, &env.old_locks)
        {
            let changed: Vec<_> = lock_changes.iter().map(|e| self.expr(e, &inner)).collect();
            lowered.extend(self.defined_locks(lock_changes, &inner));
            let at = self.lowering.at(span);
            let unnamed = |claim: s::Expr| {
                claim
                    .with(at.clone())
                    .with(renamed(ErrorId::InvariantNotEstablished, (ErrorId::LockchangeViolated, Reason::AtLoopEntry)))
                    .with(renamed(ErrorId::InvariantNotPreserved, (ErrorId::LockchangeViolated, Reason::ByLoop)))
                    .with(said(Reason::AssertionFalse, "more might be locked or unlocked than the lockchange clause of the loop allows"))
            };
            lowered.push(unnamed(self.same_locks(entry, locks, &changed)));
            if !forgets_levels {
                let levels = self
                    .same_levels(entry, locks, &[changed.clone(), releveled].concat())
                    .with(at.clone())
                    .with(renamed(ErrorId::InvariantNotEstablished, (ErrorId::LockchangeViolated, Reason::AtLoopEntry)))
                    .with(renamed(ErrorId::InvariantNotPreserved, (ErrorId::LockchangeViolated, Reason::ByLoop)))
                    .with(said(Reason::AssertionFalse, "the level of an object that the lockchange clause does not name might change"));
                lowered.push(levels);
            }
            let may_unlock = self
                .method
                .is_none_or(|method| self.lowering.facts.locking.method(method).may_unlock);
            let states = self.same_states(entry, locks, &changed);
            if !may_unlock && !is_true(&states) {
                // The states are the same, unless something is held that was not.
                lowered.push(unnamed(states));
            }
        }
        let clauses = self.clauses(invariants, &inner.without_debts());
        // The clauses may need permissions of one of them; the lockchange list comes after them.
        let lowered: Vec<_> = clauses.into_iter().chain(lowered).collect();
        let credits = self.credits.clone();
        let outer_credits = credits.as_ref().map(|credits| {
            for clause in invariants {
                self.move_credits(clause, &inner.on(Side::Exhaled), s::BinaryOp::Sub);
            }
            self.check_debt(
                (ErrorId::DebtFailed, Reason::AtLoopEntry),
                "the loop invariant must take over every debt",
            );
            let saved = self.fresh("credits_outside");
            let ty = self.lowering.credits_type();
            self.emit_plain(declare(&saved, ty, Some(var(credits))));
            saved
        });
        let asked = self.executed(guard, env);
        let condition = self.placed(guard.span, |member| member.expr(guard, &asked));
        let saved_scope = self.locals_in_scope.clone();
        let statements = self.block(|member| {
            if let Some(credits) = &credits {
                let none = call(fixed::NO_CREDITS, Vec::new());
                member.emit_plain(assign(var(credits), none));
                for clause in invariants {
                    member.move_credits(clause, &inner.on(Side::Inhaled), s::BinaryOp::Add);
                }
            }
            if recalls_levels {
                member.recall_levels(&inner);
            }
            if changes_locks {
                member.note_different_levels(invariants, env);
            }
            member.bound_all_counts(invariants, &inner);
            member.statements(body, &inner.on(Side::Asserted));
            member.span = span;
            member.bound_all_counts(invariants, &inner);
            if member.lowering.options.check_leaks {
                let words = "the loop might leak permission";
                member.check_leaks(
                    invariants,
                    &inner,
                    (ErrorId::LeakFailed, Reason::ByLoop),
                    words,
                );
            }
            if credits.is_some() {
                for clause in invariants {
                    member.move_credits(clause, &inner.on(Side::Exhaled), s::BinaryOp::Sub);
                }
                member.check_debt(
                    (ErrorId::DebtFailed, Reason::ByLoop),
                    "the loop body must not leave a debt",
                );
            }
        });
        self.locals_in_scope = saved_scope;
        self.span = span;
        self.emit(while_loop(condition, lowered, statements));
        self.bound_all_counts(invariants, &inner);
        if let (Some(credits), Some(saved)) = (credits, outer_credits) {
            self.emit_plain(assign(var(&credits), var(&saved)));
            for clause in invariants {
                self.move_credits(clause, &inner.on(Side::Inhaled), s::BinaryOp::Add);
            }
        }
        if recalls_levels {
            self.recall_levels(env);
        }
        if changes_locks {
            self.note_different_levels(invariants, env);
        }
    }

    /// Assumes that objects held after a loop have different levels, where its invariants speak of
    /// held objects; the start of a method does so, too.
    fn note_different_levels(&mut self, invariants: &[Expr], env: &Env) {
        let locking = &self.lowering.facts.locking;
        if let Locks::State(locks) = &env.locks
            && invariants.iter().any(|clause| locking.mentions_holds(clause))
        {
            let different = self.different_levels(locks);
            self.emit_plain(inhale(different));
        }
    }
}

/// Does an assertion ask for the abstract read fraction?
pub(crate) fn mentions_read(e: &Expr) -> bool {
    let mut mentions = false;
    e.for_each(&mut |part| {
        if let chalice::program::ExprKind::Access(access) = &part.kind {
            access.amount.for_each_amount(&mut |amount| {
                mentions |= matches!(amount, PermissionKind::AbstractRead);
            });
        }
    });
    mentions
}
