//! Levels of locks, and the wait level: the highest level of what a thread holds (Leino and Müller
//! 2009).
//!
//! The wait level is no value. What is claimed of it is claimed of the levels of all that is held:
//! of each object that is known by name, and of the others that the thread may have held before.
//!
//! SOUNDNESS: it is never below `lockbottom`. So what is above it is shared, even where a thread
//! holds nothing: whoever acquires an object because it is above the wait level takes that for
//! granted.

use chalice::program::{BinaryOp, Expr, ExprKind, Type};
use smt::terms::{Quant, Sort, Term, Terms};

use super::span;
use crate::engine::findings::blame::Blame;
use crate::engine::knowledge::goals::Noted;
use crate::engine::state::thread::{Balances, Changes, Locks};
use crate::engine::{Engine, Stop};

/// A side of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Level {
    /// The level of one object.
    Value(Term),
    /// The wait level of a thread with these locks, where these debts count.
    Wait { locks: Locks, debts: Balances },
}

impl Engine<'_> {
    pub(super) fn direct_level_sort(&mut self) -> Sort {
        self.direct_sort(&Type::Mu)
    }

    /// The least level, that of objects that are not shared.
    pub(super) fn direct_bottom(&mut self) -> Term {
        let sort = self.direct_level_sort();
        self.terms.constant("direct.lockbottom", sort)
    }

    /// `lower << upper`, of two values.
    pub(super) fn direct_below(&mut self, lower: Term, upper: Term) -> Term {
        if lower == upper {
            return Terms::FALSE;
        }
        let sort = self.terms.sort(lower);
        let symbol = self.terms.declare_function("direct.below", &[sort, sort], Sort::BOOL);
        self.terms.apply(symbol, &[lower, upper])
    }

    /// Assumes what is known of the order, if levels occur: it is strict and partial, and has a
    /// least element.
    pub(super) fn direct_order(&mut self) -> Result<(), Stop> {
        if !self.direct().locking.is_used {
            return Ok(());
        }
        let sort = self.direct_level_sort();
        let [a, b, c] = ["a", "b", "c"].map(|name| self.fresh_variable(name, sort));
        let symbol = self.terms.declare_function("direct.below", &[sort, sort], Sort::BOOL);
        let (aa, ab) = (self.terms.apply(symbol, &[a, a]), self.terms.apply(symbol, &[a, b]));
        let (bc, ac) = (self.terms.apply(symbol, &[b, c]), self.terms.apply(symbol, &[a, c]));
        let never = self.terms.not(aa);
        let irreflexive = self.terms.forall(&[a], vec![vec![aa]], never, "direct.irreflexive", 0);
        self.assume(irreflexive)?;
        let both = self.terms.and([ab, bc]);
        let follows = self.terms.implies(both, ac);
        let triggers = vec![vec![ab, bc]];
        let transitive = self.terms.forall(&[a, b, c], triggers, follows, "direct.transitive", 0);
        self.assume(transitive)?;
        let bottom = self.direct_bottom();
        let above = self.terms.apply(symbol, &[bottom, a]);
        let under = self.terms.apply(symbol, &[a, bottom]);
        let is_other = self.terms.differs(a, bottom);
        let least = self.terms.implies(is_other, above);
        let triggers = vec![vec![above], vec![under]];
        let least = self.terms.forall(&[a], triggers, least, "direct.least", 0);
        self.assume(least)
    }

    /// A comparison of levels.
    pub(super) fn direct_compare_levels(
        &mut self,
        (whole, op): (&Expr, BinaryOp),
        left: &Expr,
        right: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let left = self.direct_side(left, blame)?;
        let right = self.direct_side(right, blame)?;
        match op {
            BinaryOp::Below => self.direct_level_below(&left, &right),
            BinaryOp::Eq => self.direct_level_equal(&left, &right),
            BinaryOp::Ne => {
                let same = self.direct_level_equal(&left, &right)?;
                Ok(self.terms.not(same))
            }
            _ => self.direct_unknown(whole),
        }
    }

    fn direct_side(&mut self, side: &Expr, blame: Blame) -> Result<Level, Stop> {
        let thread = &self.frame.thread;
        let locks = match &side.kind {
            ExprKind::WaitLevel => &thread.locks,
            ExprKind::Old(body) if matches!(body.kind, ExprKind::WaitLevel) => &thread.old_locks,
            _ => return Ok(Level::Value(self.direct_eval(side, blame)?)),
        };
        let debts =
            if thread.counts_debts { self.here.credits.clone() } else { Balances::default() };
        match locks.clone() {
            Some(locks) => Ok(Level::Wait { locks, debts }),
            None => self.unsupported_at(span(side.span), "`waitlevel` where there is no thread"),
        }
    }

    /// `left << right`
    pub(super) fn direct_level_below(&mut self, left: &Level, right: &Level) -> Result<Term, Stop> {
        match (left, right) {
            (&Level::Value(left), &Level::Value(right)) => Ok(self.direct_below(left, right)),
            (Level::Wait { locks, debts }, &Level::Value(level)) => {
                let bottom = self.direct_bottom();
                let shared = self.terms.differs(level, bottom);
                let above = self.direct_all_locked(locks, debts, &mut |engine, held| {
                    engine.direct_below(held, level)
                })?;
                Ok(self.terms.and([shared, above]))
            }
            (&Level::Value(level), Level::Wait { locks, debts }) => {
                self.direct_some_locked(locks, debts, &mut |engine, held| {
                    Ok(engine.direct_below(level, held))
                })
            }
            (Level::Wait { locks, debts }, Level::Wait { locks: others, debts: other_debts }) => {
                self.direct_some_locked(others, other_debts, &mut |engine, level| {
                    engine.direct_all_locked(locks, debts, &mut |engine, held| {
                        engine.direct_below(held, level)
                    })
                })
            }
        }
    }

    /// `left == right`: the wait level equals a level if nothing held is above it.
    pub(super) fn direct_level_equal(&mut self, left: &Level, right: &Level) -> Result<Term, Stop> {
        match (left, right) {
            (&Level::Value(left), &Level::Value(right)) => Ok(self.terms.eq(left, right)),
            (Level::Wait { locks, debts }, &Level::Value(level))
            | (&Level::Value(level), Level::Wait { locks, debts }) => {
                self.direct_none_above(locks, debts, level)
            }
            (Level::Wait { locks, debts }, Level::Wait { locks: others, debts: other_debts }) => {
                // What is owed is not compared.
                if debts.iter().chain(other_debts.iter()).next().is_some() {
                    let what = "wait levels that are compared beside debts";
                    return self.unsupported_at(sil::source::Span::default(), what);
                }
                self.direct_same_wait_level(locks, others)
            }
        }
    }

    /// Makes the claim that nothing held is above a level.
    fn direct_none_above(
        &mut self,
        locks: &Locks,
        debts: &Balances,
        level: Term,
    ) -> Result<Term, Stop> {
        self.direct_all_locked(locks, debts, &mut |engine, held| {
            let below = engine.direct_below(held, level);
            let equal = engine.terms.eq(held, level);
            engine.terms.or([below, equal])
        })
    }

    /// The same is held at the same levels, or two of what is held are highest, and at the same
    /// level.
    fn direct_same_wait_level(&mut self, one: &Locks, other: &Locks) -> Result<Term, Stop> {
        let same_held = self.direct_same_locks(one, other, &[])?;
        let same_levels = self.direct_same_levels(one, other, &[])?;
        let same = self.terms.and([same_held, same_levels]);
        let none = Balances::default();
        let agree = self.direct_some_locked(one, &none, &mut |engine, first| {
            engine.direct_some_locked(other, &none, &mut |engine, second| {
                let equal = engine.terms.eq(first, second);
                let highest = engine.direct_none_above(one, &none, first)?;
                let other_highest = engine.direct_none_above(other, &none, second)?;
                Ok(engine.terms.and([equal, highest, other_highest]))
            })
        })?;
        Ok(self.terms.or([same, agree]))
    }

    /// Makes a claim about the level of every held object, and of every channel that is owed a
    /// message.
    fn direct_all_locked(
        &mut self,
        locks: &Locks,
        debts: &Balances,
        claim: &mut dyn FnMut(&mut Self, Term) -> Term,
    ) -> Result<Term, Stop> {
        let objects = known(locks);
        let mut all = Vec::new();
        for &object in &objects {
            let held = self.direct_is_held(locks, object);
            if held != Terms::FALSE {
                let level = self.direct_level_at(locks, object);
                let claimed = claim(self, level);
                all.push(self.terms.implies(held, claimed));
            }
        }
        if let Some(base) = locks.base {
            let object = self.fresh_variable("o", Sort::REF);
            let (guard, triggers) = self.direct_other(base, object, &objects);
            let level = self.direct_level_at(locks, object);
            let claimed = claim(self, level);
            let body = self.terms.implies(guard, claimed);
            all.push(self.direct_quantify(Quant::Forall, &[object], triggers, body));
        }
        for (channel, _) in debts.iter() {
            let owed = self.direct_is_owed(debts, channel);
            let level = self.direct_channel_level(channel)?;
            let claimed = claim(self, level);
            all.push(self.terms.implies(owed, claimed));
        }
        Ok(self.terms.and(all))
    }

    /// Makes a claim about the level of some held object, or of a channel that is owed a message.
    fn direct_some_locked(
        &mut self,
        locks: &Locks,
        debts: &Balances,
        claim: &mut dyn FnMut(&mut Self, Term) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        let objects = known(locks);
        let mut some = Vec::new();
        for &object in &objects {
            let held = self.direct_is_held(locks, object);
            if held != Terms::FALSE {
                let level = self.direct_level_at(locks, object);
                let claimed = claim(self, level)?;
                some.push(self.terms.and([held, claimed]));
            }
        }
        if let Some(base) = locks.base {
            let object = self.fresh_variable("o", Sort::REF);
            let (guard, triggers) = self.direct_other(base, object, &objects);
            let level = self.direct_level_at(locks, object);
            let claimed = claim(self, level)?;
            let body = self.terms.and([guard, claimed]);
            some.push(self.direct_quantify(Quant::Exists, &[object], triggers, body));
        }
        for (channel, _) in debts.iter() {
            let owed = self.direct_is_owed(debts, channel);
            let level = self.direct_channel_level(channel)?;
            let claimed = claim(self, level)?;
            some.push(self.terms.and([owed, claimed]));
        }
        Ok(self.terms.or(some))
    }

    /// Makes the claim that an object was held at a moment and is none of those known by name, and
    /// the triggers of that claim.
    fn direct_other(&mut self, base: Term, object: Term, named: &[Term]) -> (Term, Vec<Vec<Term>>) {
        let (held, read) =
            (self.direct_base_held(base, object), self.direct_base_read(base, object));
        let mut triggers = vec![vec![held]];
        if read != Terms::FALSE {
            triggers.push(vec![read]);
        }
        let some = self.terms.or([held, read]);
        let mut guards = vec![some];
        for &known in named {
            guards.push(self.terms.differs(object, known));
        }
        (self.terms.and(guards), triggers)
    }

    /// A formula about all or some objects.
    pub(super) fn direct_quantify(
        &mut self,
        quant: Quant,
        bound: &[Term],
        triggers: Vec<Vec<Term>>,
        body: Term,
    ) -> Term {
        let name = "direct.locks";
        let formula = self.terms.quantify(quant, bound, triggers.clone(), body, name.into(), 0);
        let noted = Noted { quant, bound: bound.to_vec(), triggers, body, facts: Vec::new() };
        self.note_quantifier(formula, noted);
        formula
    }
}

/// The objects of which it is known whether they are held, each once.
pub(super) fn known(locks: &Locks) -> Vec<Term> {
    objects([&locks.held, &locks.read])
}

/// The objects whose values have changed, each once.
pub(super) fn objects<'c>(changes: impl IntoIterator<Item = &'c Changes>) -> Vec<Term> {
    let mut all = Vec::new();
    for (object, _) in changes.into_iter().flat_map(Changes::iter) {
        if !all.contains(&object) {
            all.push(object);
        }
    }
    all
}
