//! Giving what an assertion asks for.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use super::{COMMON, Holding, Judging, Thread, missing};
use crate::amount::{Amount, Fractions, Kappa, Sign};
use crate::flaw::Flaw;
use crate::object::{Loc, Object, Part};
use crate::settle::{Account, Demand, Terms, judge};
use crate::trouble::{At, Res, Trouble, fail};
use crate::value::Value;

/// The treatment of what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The permission goes from the reader to another holder.
    Give,
    /// The permission comes from where it was kept, and was checked when it was given.
    Receive,
    /// The permission must be there, and stays.
    Check,
}

/// Permissions and credits that an assertion asks for.
#[derive(Debug)]
pub struct Transfer {
    pub(super) mode: Mode,
    /// The factor of amounts.
    pub(super) scale: Option<Amount>,
    /// A read fraction that is chosen now, so that it fits.
    pub(super) fresh: Option<Kappa>,
    /// Does each amount stand for the part of it that readers of a monitor get?
    pub(super) for_readers: bool,
    pub(super) demands: Vec<Demand<Loc, At>>,
    /// The objects of the demands.
    pub(super) objects: Vec<Arc<Object>>,
    pub(super) credits: Vec<(Arc<Object>, i64)>,
    pub(super) clause: Option<At>,
}

/// May the giver choose an amount, if the read fraction of the context is chosen now, and if it is
/// not? And is any amount part of it?
#[derive(Debug, Clone, Copy)]
pub struct Chosen {
    /// If it is chosen now.
    pub now: bool,
    /// If it is not.
    pub before: bool,
    /// Is `rd*` part of it?
    pub star: bool,
}

/// Places that the body of a quantifier has asked for: each is asked for once by the same words.
#[derive(Debug, Default)]
pub struct Once(HashMap<(At, Loc), Amount>);

impl Transfer {
    /// From the reader to another.
    pub(super) fn give() -> Self {
        Self {
            mode: Mode::Give,
            scale: None,
            fresh: None,
            for_readers: false,
            demands: Vec::new(),
            objects: Vec::new(),
            credits: Vec::new(),
            clause: None,
        }
    }

    /// Asks for credits.
    ///
    /// # Errors
    /// So many cannot be counted.
    pub fn credit(&mut self, channel: &Arc<Object>, count: i64, at: At) -> Res<()> {
        if i32::try_from(count).is_err() {
            return Err(Box::new(Trouble::Bound("too many credits", at)));
        }
        self.credits.push((channel.clone(), count));
        Ok(())
    }

    /// Returns how much it asks for so far, as a place to come back to.
    pub fn asked(&self) -> usize {
        self.demands.len()
    }

    /// Drops what was asked for since `from`, where it has been asked for before by the same words.
    pub fn ask_once(&mut self, from: usize, known: &mut Once) {
        let mut at = from;
        while let Some(demand) = self.demands.get(at) {
            let key = (demand.span, demand.loc);
            if known.0.get(&key).is_some_and(|amount| demand.star || *amount == demand.amount) {
                self.demands.remove(at);
                self.objects.remove(at);
            } else {
                known.0.insert(key, demand.amount.clone());
                at += 1;
            }
        }
    }
}

/// The account of the reader.
struct Reader<'t>(&'t Thread);

impl Account<Loc> for Reader<'_> {
    fn available(&self, loc: &Loc) -> Amount {
        self.0.available(*loc)
    }

    fn has_whole(&self, loc: &Loc) -> bool {
        self.0.amount_at(&self.0.reader, *loc).is_full()
    }

    fn fractions<T>(&mut self, action: impl FnOnce(&mut Fractions) -> T) -> T {
        action(&mut self.0.world.fractions.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Thread {
    pub(super) fn sign(&self, amount: &Amount) -> Sign {
        Reader(self).sign(amount)
    }

    /// Returns a clause, which is blamed for what fails in it.
    ///
    /// # Errors
    /// A part of the clause fails.
    pub fn clause(
        &mut self,
        ask: &mut Transfer,
        at: At,
        collect: impl FnOnce(&mut Self, &mut Transfer) -> Res<()>,
    ) -> Res<()> {
        ask.clause = Some(at);
        let result = collect(self, ask).map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.clause = fault.clause.or(Some(at));
            }
            trouble
        });
        ask.clause = None;
        result
    }

    /// Checks an assertion's claim about values. What was given before it in the same assertion is
    /// gone already.
    ///
    /// # Errors
    /// It is false, or has no value.
    pub fn claim(
        &mut self,
        ask: &mut Transfer,
        at: At,
        evaluate: &mut dyn FnMut(&mut Self) -> Res<bool>,
    ) -> Res<()> {
        let gone = if ask.mode == Mode::Give { ask.credits.clone() } else { Vec::new() };
        let outer = std::mem::replace(&mut self.given, gone);
        let truth = self.in_any_order(evaluate);
        self.given = outer;
        match truth? {
            true => Ok(()),
            false if ask.mode == Mode::Receive => {
                let words = "what was given does not hold when it is received";
                Err(Box::new(Trouble::Inconsistent(words, at)))
            }
            false => fail(Flaw::False, at, &[]),
        }
    }

    /// Returns the truth of a claim, for each way in which levels may be ordered that nothing
    /// orders: true only if it is for all that are tried.
    fn in_any_order(&mut self, evaluate: &mut dyn FnMut(&mut Self) -> Res<bool>) -> Res<bool> {
        let judging = Judging { is_below: false, asked: false, supposed: None };
        let outer = self.judging.replace(judging);
        let mut truth = evaluate(self);
        let was_asked = self.judging.as_ref().is_some_and(|judging| judging.asked);
        if was_asked && matches!(truth, Ok(true)) {
            let levels = self.world.levels.read().unwrap_or_else(PoisonError::into_inner).clone();
            self.judging = Some(Judging { is_below: true, asked: false, supposed: Some(levels) });
            truth = evaluate(self);
        }
        self.judging = outer;
        truth
    }

    /// Asks for permission to parts of an object.
    ///
    /// # Errors
    /// The amount is negative, or cannot be scaled.
    pub fn demand(
        &mut self,
        ask: &mut Transfer,
        object: &Arc<Object>,
        parts: impl IntoIterator<Item = Part>,
        mut amount: Amount,
        chosen: Chosen,
        at: At,
    ) -> Res<()> {
        match self.sign(&amount) {
            Sign::Positive => {}
            Sign::Zero => return Ok(()),
            Sign::Negative => return fail(Flaw::NegativeAmount, at, &[&amount]),
            Sign::Undetermined => return fail(Flaw::PerhapsNegative, at, &[]),
        }
        let is_fresh = ask.fresh == Some(self.kappa);
        let mut inexact = if is_fresh { chosen.now } else { chosen.before };
        if let Some(scale) = &ask.scale {
            let Ok(scaled) = amount.times(scale) else { return fail(Flaw::Indivisible, at, &[]) };
            amount = scaled;
            inexact |= ask.fresh.is_some() && self.kappa == COMMON;
        }
        let is_shared = ask.for_readers && !chosen.star;
        if is_shared {
            amount = amount.for_readers();
        }
        for part in parts {
            ask.objects.push(object.clone());
            ask.demands.push(Demand {
                loc: object.loc(part),
                amount: amount.clone(),
                inexact: inexact && !is_shared,
                star: chosen.star,
                span: at,
                clause: ask.clause,
            });
        }
        Ok(())
    }

    /// Asks for permission to parts of each object of a collection.
    ///
    /// # Errors
    /// An element is null, or as for one object.
    #[expect(clippy::mutable_key_type, reason = "the order of objects is that of their numbers")]
    pub fn demand_each(
        &mut self,
        ask: &mut Transfer,
        (collection, place): (&Value, At),
        parts: &[Part],
        amount: &mut dyn FnMut(&mut Self) -> Res<Amount>,
        (chosen, at): (Chosen, At),
    ) -> Res<()> {
        let mut objects = std::collections::BTreeSet::new();
        for element in collection.elements() {
            let Value::Ref(object) = element else { return fail(Flaw::NullElement, place, &[]) };
            objects.insert(object);
        }
        for object in objects {
            let amount = amount(self)?;
            self.demand(ask, &object, parts.iter().copied(), amount, chosen, at)?;
        }
        Ok(())
    }

    /// Any amount, `rd*`.
    pub fn any_amount(&self) -> Amount {
        Amount::read(self.fresh(None))
    }

    /// Returns the amount that the fork of a token gave.
    ///
    /// # Errors
    /// It is the token of a thread that nobody knows.
    pub fn token_amount(&self, token: &Object, at: At) -> Res<Amount> {
        match token.extra().kappa.get() {
            Some(kappa) => Ok(Amount::read(*kappa)),
            None => Err(Box::new(Trouble::Unknown("token.unknown", at))),
        }
    }

    /// Checks that everything asked for is there, and takes it from the reader.
    pub(super) fn settle(&mut self, mut ask: Transfer) -> Res<Holding> {
        let takes_whole = ask.mode == Mode::Receive
            && !ask.for_readers
            && ask.scale.as_ref().is_none_or(Amount::is_full);
        let terms = Terms { kappa: self.kappa, fresh: ask.fresh, takes_whole, is_then: false };
        if let Err(lack) = judge(&mut ask.demands, terms, &mut Reader(self)) {
            let demand = &ask.demands[lack.at];
            if ask.mode == Mode::Receive {
                let words = "what was given is not there when it is received";
                return Err(Box::new(Trouble::Inconsistent(words, demand.span)));
            }
            let wanted = (!demand.star).then_some(&demand.amount);
            let object = &ask.objects[lack.at];
            let failed = missing(lack.flaw, object, demand.loc.part, wanted, demand.span);
            return failed.map_err(|mut trouble| {
                if let Trouble::Fault(fault) = &mut *trouble {
                    fault.clause = demand.clause;
                }
                trouble
            });
        }
        let mut moved = Holding::default();
        if ask.mode == Mode::Check {
            return Ok(moved);
        }
        self.with_holding(|holding| {
            for demand in &ask.demands {
                holding.add(demand.loc, &Amount::NONE.minus(&demand.amount));
                moved.add(demand.loc, &demand.amount);
            }
            for (channel, count) in &ask.credits {
                holding.credit(channel, -count);
                moved.credit(channel, *count);
            }
        });
        Ok(moved)
    }

    /// Checks that what an assertion says is so, and that what it asks for is there.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&mut self, collect: impl FnOnce(&mut Self, &mut Transfer) -> Res<()>) -> Res<()> {
        let mut ask = Transfer { mode: Mode::Check, ..Transfer::give() };
        collect(self, &mut ask)?;
        self.settle(ask).map(|_| ())
    }

    /// Assumes what an assertion says of values.
    ///
    /// # Errors
    /// It does not hold.
    pub fn assume(
        &mut self,
        at: At,
        collect: impl FnOnce(&mut Self, &mut Transfer) -> Res<()>,
    ) -> Res<()> {
        let mut ask = Transfer::give();
        collect(self, &mut ask).map_err(|trouble| match &*trouble {
            Trouble::Fault(fault)
                if fault.kind.is_none() && fault.reason == Flaw::False.reason() =>
            {
                Box::new(Trouble::Assumption(at))
            }
            _ => trouble,
        })
    }
}
