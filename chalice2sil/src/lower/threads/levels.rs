//! Comparisons of lock levels, and the wait level: the highest level of what the thread holds.
//!
//! The wait level is not a value. It stands for the levels of all objects that the thread holds, or
//! from which it owes a message; comparisons with it are quantifications over them (Leino and
//! Müller 2009, on deadlock prevention).
//!
//! SOUNDNESS: it is never below `lockbottom`. So what is above it is shared, even where a thread
//! holds nothing: whoever acquires an object because it is above the wait level takes that for
//! granted.
//!
//! SOUNDNESS: what the callers of a method owe counts, too, though the method does not see it. What
//! it knows of the wait level comes from its precondition, for which callers show that it holds
//! with their debts; it must have no other way to find out that little is held. So beside channels
//! nothing is said of the locks of all objects of a type, and where something that is executed asks
//! for the wait level, unknown channels count, too.

use chalice::program::locking::{chooses_by_wait_level, mentions_wait_level};
use chalice::program::{Bounds, Domain, Expr, ExprKind, Rhs, Stmt, StmtKind, Type};
use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::env::{Env, LockState, Locks};
use crate::lower::{Body, Lowering, Member};
use crate::names::fixed;

/// Does a statement hand on what depends on the wait level: to others, to the variables of a
/// specification, or into the order of locks? Above the wait level a lock may be put: it is above
/// what is known to count for it.
pub(crate) fn hands_on_wait_level(stmt: &Stmt) -> bool {
    let mut hands_on = false;
    let mut look = |e: &Expr| hands_on |= mentions_wait_level(e);
    match &stmt.kind {
        StmtKind::Call { .. }
        | StmtKind::Fork { .. }
        | StmtKind::Join { .. }
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Acquire { .. }
        | StmtKind::Release { .. }
        | StmtKind::Lock { .. }
        | StmtKind::Unshare(_)
        | StmtKind::Downgrade(_)
        | StmtKind::Free(_) => crate::walk::each_expr_of_stmt(stmt, &mut look),
        StmtKind::Share { target, bounds } | StmtKind::Reorder { target, bounds } => {
            look(target);
            hands_on |= bounds_depend_on_wait_level(bounds);
        }
        StmtKind::AssignField { receiver, value, .. } => {
            look(receiver);
            hands_on |= places_by_wait_level(value);
        }
        StmtKind::AssignLocal { value, .. } | StmtKind::Declare { value: Some(value), .. } => {
            hands_on = places_by_wait_level(value);
        }
        StmtKind::Specification { targets, post, .. } => {
            hands_on = chooses_by_wait_level(targets, post);
        }
        _ => {}
    }
    hands_on
}

fn places_by_wait_level(value: &Rhs) -> bool {
    matches!(value, Rhs::NewChannel { bounds, .. } if bounds_depend_on_wait_level(bounds))
}

fn bounds_depend_on_wait_level(bounds: &Bounds) -> bool {
    let is_other =
        |bound: &Expr| mentions_wait_level(bound) && !matches!(bound.kind, ExprKind::WaitLevel);
    bounds.upper.iter().any(mentions_wait_level) || bounds.lower.iter().any(is_other)
}

/// Returns the words of an error about something that is waited for out of order.
pub(crate) fn not_above(target: &str) -> String {
    format!("`{target}.mu` might not be above waitlevel: something held might come after it")
}

/// A side of a comparison.
#[derive(Clone)]
pub(crate) enum Level {
    /// The level of one object.
    Value(s::Expr),
    /// The wait level of a thread with these locks.
    Wait(Locks),
}

impl Member<'_, '_> {
    /// `left << right`; nothing if the lock state is not at hand.
    pub(crate) fn level_below(&mut self, left: Level, right: Level) -> Option<s::Expr> {
        Some(match (left, right) {
            (Level::Value(left), Level::Value(right)) => self.lowering.below(left, right),
            (Level::Wait(locks), Level::Value(level)) => {
                let shared = ne(level.clone(), self.lowering.lockbottom());
                let above =
                    self.all_levels(&locks, |lowering, held| lowering.below(held, level.clone()))?;
                and([shared, above])
            }
            (Level::Value(level), Level::Wait(locks)) => {
                self.some_level(&locks, |lowering, held| lowering.below(level.clone(), held))?
            }
            (Level::Wait(left), Level::Wait(right)) => {
                let object = self.bound_name("p");
                let Locks::State(right) = right else {
                    return if matches!(right, Locks::Nothing { .. }) {
                        Some(truth(false))
                    } else {
                        None
                    };
                };
                let triggers = self.lowering.contribution_triggers(&right, &var(&object));
                let mut above_all = Vec::new();
                for (counts, level) in self.lowering.contributions(&right, &var(&object)) {
                    let above = self
                        .all_levels(&left, |lowering, held| lowering.below(held, level.clone()))?;
                    above_all.push(and([counts, above]));
                }
                quantified(
                    s::Quantifier::Exists,
                    vec![typed(&object, ty(TypeKind::Ref))],
                    triggers.into_iter().map(|trigger| vec![trigger]),
                    or(above_all),
                )
            }
        })
    }

    /// `left == right`: the wait level equals a level if nothing held is above it.
    pub(crate) fn level_equal(&mut self, left: Level, right: Level) -> Option<s::Expr> {
        Some(match (left, right) {
            (Level::Value(left), Level::Value(right)) => eq(left, right),
            (Level::Wait(locks), Level::Value(level))
            | (Level::Value(level), Level::Wait(locks)) => {
                self.all_levels(&locks, |lowering, held| {
                    or(vec![lowering.below(held.clone(), level.clone()), eq(held, level.clone())])
                })?
            }
            (Level::Wait(left), Level::Wait(right)) => match (&left, &right) {
                (Locks::State(one), Locks::State(other)) => self.same_wait_level(one, other)?,
                (Locks::Nothing { .. }, Locks::Nothing { .. }) => truth(true),
                _ => return None,
            },
        })
    }

    /// Does a quantifier speak of the locks of all objects of a type, beside channels?
    pub(crate) fn asks_for_all_locks(&self, domain: &Domain, body: &Expr) -> bool {
        self.lowering.facts.credits
            && matches!(domain, Domain::Type(ty) if !matches!(ty, Type::Int | Type::Bool))
            && self.lowering.facts.locking.mentions_holds(body)
    }

    /// The same objects held at the same levels and the same channels owed messages, or two of them
    /// that are highest and at the same level.
    fn same_wait_level(&mut self, one: &LockState, other: &LockState) -> Option<s::Expr> {
        let object = self.bound_name("o");
        let o = var(&object);
        let level = self.lowering.level_at(one.levels.clone(), o.clone());
        let other_level = self.lowering.level_at(other.levels.clone(), o.clone());
        let mut same = vec![eq(one.held.clone(), other.held.clone())];
        if let (Some(one), Some(other)) = (&one.read_held, &other.read_held) {
            same.push(eq(one.clone(), other.clone()));
        }
        same.push(forall_ref(
            &object,
            vec![level.clone(), other_level.clone()],
            implies(self.lowering.is_held(one, &o), eq(level, other_level)),
        ));
        let debts: Vec<_> =
            [one, other].into_iter().filter_map(|locks| self.lowering.is_owed(locks, &o)).collect();
        if !debts.is_empty() {
            let triggers = debts.iter().map(|(_, balance)| balance.clone()).collect();
            let owed = |at: usize| debts.get(at).map_or(truth(false), |(owed, _)| owed.clone());
            same.push(forall_ref(&object, triggers, eq(owed(0), owed(1))));
        }
        let (first, second) = (self.bound_name("p"), self.bound_name("q"));
        let first_contributes = self.lowering.contributes(one, &var(&first));
        let second_contributes = self.lowering.contributes(other, &var(&second));
        let first_level = self.lowering.held_level(one, &var(&first));
        let second_level = self.lowering.held_level(other, &var(&second));
        let highest = |member: &mut Self, locks: &LockState, top: &s::Expr| {
            let top = top.clone();
            member.all_levels(&Locks::State(locks.clone()), |lowering, held| {
                or(vec![lowering.below(held.clone(), top.clone()), eq(held, top.clone())])
            })
        };
        let agree = and([
            first_contributes,
            second_contributes,
            eq(first_level.clone(), second_level.clone()),
            highest(self, one, &first_level)?,
            highest(self, other, &second_level)?,
        ]);
        let object_type = || ty(TypeKind::Ref);
        let trigger = vec![contains(&one.held, &var(&first)), contains(&other.held, &var(&second))];
        let maxima = quantified(
            s::Quantifier::Exists,
            vec![typed(&first, object_type()), typed(&second, object_type())],
            vec![trigger],
            agree,
        );
        Some(or(vec![and(same), maxima]))
    }

    /// Makes a claim about the level of every held object.
    fn all_levels(
        &mut self,
        locks: &Locks,
        claim: impl Fn(&Lowering<'_>, s::Expr) -> s::Expr,
    ) -> Option<s::Expr> {
        self.levels(s::Quantifier::Forall, locks, claim)
    }

    /// Makes a claim about the level of some held object.
    fn some_level(
        &mut self,
        locks: &Locks,
        claim: impl Fn(&Lowering<'_>, s::Expr) -> s::Expr,
    ) -> Option<s::Expr> {
        self.levels(s::Quantifier::Exists, locks, claim)
    }

    fn levels(
        &mut self,
        quantifier: s::Quantifier,
        locks: &Locks,
        claim: impl Fn(&Lowering<'_>, s::Expr) -> s::Expr,
    ) -> Option<s::Expr> {
        let is_of_all = quantifier == s::Quantifier::Forall;
        let locks = match locks {
            Locks::Unknown | Locks::Held(_) => return None,
            Locks::Nothing { .. } => return Some(truth(is_of_all)),
            Locks::State(locks) => locks,
        };
        let object = self.bound_name("o");
        let triggers = self.lowering.contribution_triggers(locks, &var(&object));
        let levels = self.lowering.contributions(locks, &var(&object)).into_iter();
        let levels = levels.map(|(counts, level)| (counts, claim(self.lowering, level)));
        let body = if is_of_all {
            and(levels.map(|(counts, claim)| implies(counts, claim)))
        } else {
            or(levels.map(|(counts, claim)| and([counts, claim])))
        };
        Some(quantified(
            quantifier,
            vec![typed(&object, ty(TypeKind::Ref))],
            triggers.into_iter().map(|trigger| vec![trigger]),
            body,
        ))
    }
}

impl Body<'_, '_> {
    /// Returns the environment of something that is executed: for the wait level what callers owe
    /// counts, which is unknown.
    pub(crate) fn executed(&mut self, e: &Expr, env: &Env) -> Env {
        let mut env = env.clone();
        if let Locks::State(locks) = &mut env.locks
            && self.lowering.facts.credits
            && mentions_wait_level(e)
        {
            let name = self.fresh("owedByCallers");
            self.emit_plain(declare(&name, self.lowering.objects_type(), None));
            locks.owed_by_callers = Some(var(&name));
        }
        env
    }
}

impl Lowering<'_> {
    /// Makes the claim that an object counts for the wait level.
    fn contributes(&self, locks: &LockState, object: &s::Expr) -> s::Expr {
        or(self.contributions(locks, object).into_iter().map(|(counts, _)| counts))
    }

    /// Returns the terms that tell whether an object counts for the wait level.
    fn contribution_triggers(&self, locks: &LockState, object: &s::Expr) -> Vec<s::Expr> {
        let mut triggers = holdings(locks, object);
        triggers.extend(self.is_owed(locks, object).map(|(_, balance)| balance));
        triggers.extend(locks.owed_by_callers.iter().map(|owed| contains(owed, object)));
        triggers
    }

    /// Is a channel owed a message? With its balance; nothing where debts are not at hand.
    fn is_owed(&self, locks: &LockState, channel: &s::Expr) -> Option<(s::Expr, s::Expr)> {
        let balance = call(fixed::CREDIT_AT, vec![locks.credits.clone()?, channel.clone()]);
        Some((lt(balance.clone(), int(0)), balance))
    }

    /// Is an object held, in whatever way?
    pub(crate) fn is_held(&self, locks: &LockState, object: &s::Expr) -> s::Expr {
        or(holdings(locks, object))
    }

    /// Why an object may count for the wait level, each with the level that it counts with. No
    /// object is held and owed a message, too; that need not be known.
    fn contributions(&self, locks: &LockState, object: &s::Expr) -> Vec<(s::Expr, s::Expr)> {
        let level = self.level_at(locks.levels.clone(), object.clone());
        let mut all = vec![(self.is_held(locks, object), level)];
        if let Some((owed, _)) = self.is_owed(locks, object) {
            all.push((owed, self.channel_level(object.clone())));
        }
        if let Some(owed) = &locks.owed_by_callers {
            all.push((contains(owed, object), self.channel_level(object.clone())));
        }
        all
    }

    /// The level of an object that counts for the wait level. That of a channel never changes.
    fn held_level(&self, locks: &LockState, object: &s::Expr) -> s::Expr {
        let level = self.level_at(locks.levels.clone(), object.clone());
        if locks.credits.is_none() {
            return level;
        }
        conditional(self.is_held(locks, object), level, self.channel_level(object.clone()))
    }

    /// Returns the level of a channel, fixed when it is made.
    pub(crate) fn channel_level(&self, channel: s::Expr) -> s::Expr {
        self.used.borrow_mut().credits = true;
        call(fixed::CHANNEL_LEVEL, vec![channel])
    }
}

/// In which ways an object may be held.
pub(crate) fn holdings(locks: &LockState, object: &s::Expr) -> Vec<s::Expr> {
    let read_held = locks.read_held.iter();
    std::iter::once(&locks.held).chain(read_held).map(|held| contains(held, object)).collect()
}
