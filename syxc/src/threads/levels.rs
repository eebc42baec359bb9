//! Levels of locks, and the wait level: the highest level of all locks that a thread holds (Leino
//! and Müller 2009).
//!
//! The wait level is no value. A claim about it is made about the levels of all locks that are
//! held: of each object known by name, and of the others that the thread may have held before.
//!
//! SOUNDNESS: the wait level is never below `lockbottom`. So an object above the wait level is
//! shared, even where a thread holds nothing. Whoever acquires an object because it is above the
//! wait level relies on that.

use chalice::program::{BinaryOp, Expr, ExprKind, Type};
use smt::terms::{Quant, Sort, Term, Terms};

use super::locks::{base_held, of_base};
use crate::eval::unknown;
use crate::{Chalice, Threads, span};
use symex::Stop;
use symex::findings::blame::{Blame, unsupported_at};
use symex::knowledge::goals::Noted;
use symex::state::thread::{Balances, Changes, Counted, Locks};

/// A side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Level {
    /// The level of one object.
    Value(Term),
    /// The wait level of a thread with these locks, where these debts count.
    Wait { locks: Locks, debts: Debts },
}

/// Channels that are owed a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Debts {
    /// The channels that a method owes, among its balances.
    own: Balances,
    /// The name of the channels that the callers owe, where they count.
    callers: Option<Term>,
}

impl Debts {
    /// Makes the debts of a method with these balances.
    pub(crate) fn own(own: Balances) -> Self {
        Self { own, callers: None }
    }
}

impl Threads<'_, '_> {
    pub(crate) fn level_sort(&mut self) -> Sort {
        self.sort(&Type::Mu)
    }

    /// Returns the least level, which objects have that are not shared.
    pub(crate) fn bottom(&mut self) -> Term {
        let sort = self.level_sort();
        self.terms.constant("direct.lockbottom", sort)
    }

    /// Assumes what is known of the order, if levels occur. The order is strict and partial, and
    /// has a least element.
    pub(crate) fn order(&mut self) -> Result<(), Stop> {
        if !self.direct.locking.is_used {
            return Ok(());
        }
        let sort = self.level_sort();
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
        let bottom = self.bottom();
        let above = self.terms.apply(symbol, &[bottom, a]);
        let under = self.terms.apply(symbol, &[a, bottom]);
        let is_other = self.terms.differs(a, bottom);
        let least = self.terms.implies(is_other, above);
        let triggers = vec![vec![above], vec![under]];
        let least = self.terms.forall(&[a], triggers, least, "direct.least", 0);
        self.assume(least)
    }

    /// Makes the claim `left << right`.
    pub(crate) fn level_below(&mut self, left: &Level, right: &Level) -> Result<Term, Stop> {
        match (left, right) {
            (&Level::Value(left), &Level::Value(right)) => Ok(below(&mut self.terms, left, right)),
            (Level::Wait { locks, debts }, &Level::Value(level)) => {
                let bottom = self.bottom();
                let shared = self.terms.differs(level, bottom);
                let above = self.locked(Quant::Forall, locks, debts, &mut |chalice, held| {
                    Ok(below(&mut chalice.terms, held, level))
                })?;
                Ok(self.terms.and([shared, above]))
            }
            (&Level::Value(level), Level::Wait { locks, debts }) => {
                self.locked(Quant::Exists, locks, debts, &mut |chalice, held| {
                    Ok(below(&mut chalice.terms, level, held))
                })
            }
            (Level::Wait { locks, debts }, Level::Wait { locks: others, debts: other_debts }) => {
                self.locked(Quant::Exists, others, other_debts, &mut |chalice, level| {
                    chalice.locked(Quant::Forall, locks, debts, &mut |chalice, held| {
                        Ok(below(&mut chalice.terms, held, level))
                    })
                })
            }
        }
    }

    /// Makes the claim `left == right`. The wait level equals a level if no lock that is held is
    /// above it.
    pub(crate) fn level_equal(&mut self, left: &Level, right: &Level) -> Result<Term, Stop> {
        match (left, right) {
            (&Level::Value(left), &Level::Value(right)) => Ok(self.terms.eq(left, right)),
            (Level::Wait { locks, debts }, &Level::Value(level))
            | (&Level::Value(level), Level::Wait { locks, debts }) => {
                self.none_above(locks, debts, level)
            }
            (Level::Wait { locks, debts }, Level::Wait { locks: others, debts: other_debts }) => {
                self.same_wait_level((locks, debts), (others, other_debts))
            }
        }
    }

    /// Makes the claim that no lock that is held is above a level.
    fn none_above(&mut self, locks: &Locks, debts: &Debts, level: Term) -> Result<Term, Stop> {
        self.locked(Quant::Forall, locks, debts, &mut |chalice, held| {
            let below = below(&mut chalice.terms, held, level);
            let equal = chalice.terms.eq(held, level);
            Ok(chalice.terms.or([below, equal]))
        })
    }

    /// Makes the claim that two wait levels are the same. Either the same locks are held at the
    /// same levels and the same messages are owed, or the highest of both have one level.
    fn same_wait_level(
        &mut self,
        (one, debts): (&Locks, &Debts),
        (other, other_debts): (&Locks, &Debts),
    ) -> Result<Term, Stop> {
        let same_held = self.same_locks(one, other, &[])?;
        let same_levels = self.same_levels(one, other, &[])?;
        let same_debts = self.same_debts(debts, other_debts);
        let same = self.terms.and([same_held, same_levels, same_debts]);
        let agree = self.locked(Quant::Exists, one, debts, &mut |chalice, first| {
            chalice.locked(Quant::Exists, other, other_debts, &mut |chalice, second| {
                let equal = chalice.terms.eq(first, second);
                let highest = chalice.none_above(one, debts, first)?;
                let other_highest = chalice.none_above(other, other_debts, second)?;
                Ok(chalice.terms.and([equal, highest, other_highest]))
            })
        })?;
        Ok(self.terms.or([same, agree]))
    }

    fn same_debts(&mut self, one: &Debts, other: &Debts) -> Term {
        if one.callers != other.callers {
            return Terms::FALSE;
        }
        let channels: Vec<Term> =
            one.own.iter().chain(other.own.iter()).map(|(channel, _)| channel).collect();
        let mut all = Vec::new();
        for channel in channels {
            let owed = self.is_owed(&one.own, channel);
            let other_owed = self.is_owed(&other.own, channel);
            all.push(self.terms.eq(owed, other_owed));
        }
        self.terms.and(all)
    }

    /// Makes the claim that a method's callers owe a message to a channel, and returns the level of
    /// the channel.
    fn owed_by(&mut self, callers: Term, channel: Term) -> (Term, Term) {
        let owed = of_base(&mut self.terms, "direct.owed", callers, channel, Sort::BOOL);
        (owed, self.level_of_channel(channel))
    }

    /// Makes a claim about the levels of all held objects, and of all channels that are owed a
    /// message; or about the level of some of these.
    fn locked(
        &mut self,
        quant: Quant,
        locks: &Locks,
        debts: &Debts,
        claim: &mut dyn FnMut(&mut Self, Term) -> Result<Term, Stop>,
    ) -> Result<Term, Stop> {
        let objects = known(locks);
        let mut claims = Vec::new();
        for &object in &objects {
            let held = self.is_held(locks, object);
            if held != Terms::FALSE {
                let level = self.level_at(locks, object);
                let claimed = claim(self, level)?;
                claims.push(guarded(&mut self.terms, quant, held, claimed));
            }
        }
        if let Some(base) = locks.base {
            let object = self.fresh_variable("o", Sort::REF);
            let (guard, triggers) = self.other(base, object, &objects);
            let level = self.level_at(locks, object);
            let claimed = claim(self, level)?;
            let body = guarded(&mut self.terms, quant, guard, claimed);
            claims.push(self.quantify(quant, &[object], triggers, body));
        }
        for (channel, _) in debts.own.iter() {
            let owed = self.is_owed(&debts.own, channel);
            let level = self.channel_level(channel)?;
            let claimed = claim(self, level)?;
            claims.push(guarded(&mut self.terms, quant, owed, claimed));
        }
        if let Some(callers) = debts.callers {
            let channel = self.fresh_variable("c", Sort::REF);
            let (owed, level) = self.owed_by(callers, channel);
            let claimed = claim(self, level)?;
            let body = guarded(&mut self.terms, quant, owed, claimed);
            claims.push(self.quantify(quant, &[channel], vec![vec![owed]], body));
        }
        Ok(match quant {
            Quant::Forall => self.terms.and(claims),
            Quant::Exists => self.terms.or(claims),
        })
    }

    /// Makes the claim that an object was held at a moment and is none of those known by name, and
    /// the triggers for it.
    fn other(&mut self, base: Term, object: Term, named: &[Term]) -> (Term, Vec<Vec<Term>>) {
        let (held, read) = (base_held(&mut self.terms, base, object), self.base_read(base, object));
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

    /// Makes a formula about all or some objects.
    pub(crate) fn quantify(
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

impl Chalice<'_, '_> {
    /// Compares two levels.
    pub(crate) fn compare_levels(
        &mut self,
        (whole, op): (&Expr, BinaryOp),
        left: &Expr,
        right: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let left = self.side(left, blame)?;
        let right = self.side(right, blame)?;
        match op {
            BinaryOp::Below => self.threads.level_below(&left, &right),
            BinaryOp::Eq => self.threads.level_equal(&left, &right),
            BinaryOp::Ne => {
                let same = self.threads.level_equal(&left, &right)?;
                Ok(self.terms.not(same))
            }
            _ => unknown(whole),
        }
    }

    fn side(&mut self, side: &Expr, blame: Blame) -> Result<Level, Stop> {
        let thread = &self.frame.thread;
        let (locks, credits) = match &side.kind {
            ExprKind::WaitLevel => (&thread.locks, &self.here.credits),
            ExprKind::Old(body) if matches!(body.kind, ExprKind::WaitLevel) => {
                (&thread.old_locks, &thread.old_credits)
            }
            _ => return Ok(Level::Value(self.eval(side, blame)?)),
        };
        let debts = match thread.counted {
            Counted::Nobodys => Debts::default(),
            Counted::Own => Debts::own(credits.clone()),
            Counted::All(callers) => Debts { own: credits.clone(), callers: Some(callers) },
        };
        match locks.clone() {
            Some(locks) => Ok(Level::Wait { locks, debts }),
            None => unsupported_at(span(side.span), "`waitlevel` where there is no thread"),
        }
    }
}

/// Lists the objects of which it is known whether they are held, each once.
pub(crate) fn known(locks: &Locks) -> Vec<Term> {
    objects([&locks.held, &locks.read])
}

/// Lists the objects whose values have changed, each once.
pub(crate) fn objects<'c>(changes: impl IntoIterator<Item = &'c Changes>) -> Vec<Term> {
    let mut all = Vec::new();
    for (object, _) in changes.into_iter().flat_map(Changes::iter) {
        if !all.contains(&object) {
            all.push(object);
        }
    }
    all
}

/// Makes the claim `lower << upper` about two values.
pub(crate) fn below(terms: &mut Terms, lower: Term, upper: Term) -> Term {
    if lower == upper {
        return Terms::FALSE;
    }
    let sort = terms.sort(lower);
    let symbol = terms.declare_function("direct.below", &[sort, sort], Sort::BOOL);
    terms.apply(symbol, &[lower, upper])
}

/// Restricts a claim of a quantifier to a guard.
fn guarded(terms: &mut Terms, quant: Quant, guard: Term, claim: Term) -> Term {
    match quant {
        Quant::Forall => terms.implies(guard, claim),
        Quant::Exists => terms.and([guard, claim]),
    }
}
