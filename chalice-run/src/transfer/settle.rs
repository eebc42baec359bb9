//! Moving what was asked for, when it is known to be there.
//!
//! First come the amounts that the giver may choose, then exact ones, added up by location.

use rustc_hash::FxHashMap;

use super::{Demand, Mode, Moved, Transfer};
use crate::amount::{Amount, Sign};
use crate::fault::{Fault, Res, Trouble};
use crate::heap::{Holder, Loc, Part};
use crate::machine::Machine;
use crate::value::Ref;

impl Machine<'_> {
    /// Checks that everything asked for is there, and moves it.
    pub(crate) fn settle(&mut self, mut transfer: Transfer) -> Res<Moved> {
        if self.granting && transfer.from == Holder::Environment {
            self.grant_instances(&transfer)?;
        }
        self.check_chosen(&mut transfer)?;
        self.check_exact(&transfer)?;
        if transfer.mode == Mode::Check {
            return Ok(Moved::default());
        }
        self.commit(&transfer);
        let Transfer { demands, credits, .. } = transfer;
        let amounts = demands.into_iter().map(|demand| (demand.loc, demand.amount)).collect();
        Ok(Moved { amounts, credits })
    }

    /// The predicate instances that a start has to have.
    fn grant_instances(&mut self, transfer: &Transfer) -> Res<()> {
        for at in 0..transfer.demands.len() {
            let demand = &transfer.demands[at];
            if let Part::Predicate(predicate) = demand.loc.part {
                let wanted = transfer.taken(demand.loc, at).plus(&demand.amount);
                let there = self.heap.amount(demand.loc, Holder::Environment);
                let lacking = wanted.minus(&there);
                if self.fractions.sign(&lacking) == Sign::Positive {
                    self.grant_instance(demand.loc.object, predicate, &lacking)?;
                }
            }
        }
        Ok(())
    }

    /// Amounts that the giver chooses: they have to be below what is there.
    fn check_chosen(&mut self, transfer: &mut Transfer) -> Res<()> {
        for at in 0..transfer.demands.len() {
            if !transfer.demands[at].inexact {
                continue;
            }
            let loc = transfer.demands[at].loc;
            let held = self.available_to(loc, transfer.from);
            let earlier: Amount = {
                let same =
                    transfer.demands[..at].iter().filter(|one| one.inexact && one.loc == loc);
                same.fold(Amount::NONE, |sum, one| sum.plus(&one.amount))
            };
            let mut rest = held.minus(&earlier);
            let is_taken_whole = transfer.demands[at].star
                && transfer.mode == Mode::Receive
                && !transfer.for_readers
                && transfer.scale.as_ref().is_none_or(Amount::is_full)
                && !transfer.demands[at + 1..].iter().any(|one| one.inexact && one.loc == loc);
            let exact = transfer.demands.iter().filter(|one| !one.inexact && one.loc == loc);
            let beside = exact.fold(rest.clone(), |rest, one| rest.minus(&one.amount));
            // All but what the same assertion asks for beside it, or a part that leaves as much.
            if is_taken_whole || transfer.demands[at].star && self.fractions.is_divisible(&beside) {
                rest = beside;
            }
            // Of an earlier state it is only said that something was held.
            let is_then = self.scope.at.is_some() && transfer.mode == Mode::Check;
            let is_there = if is_taken_whole || is_then {
                self.fractions.is_readable(&rest)
            } else {
                self.fractions.is_divisible(&rest)
            };
            if !is_there {
                return self.lacking(transfer, at, "no permission that a part could be taken of");
            }
            if is_then {
                continue;
            }
            if is_taken_whole {
                transfer.demands[at].amount = rest;
                continue;
            }
            if transfer.demands[at].star {
                let kappa = self.fractions.fresh(Some(self.scope.kappa));
                self.fractions.bound(kappa, &rest.solid());
                transfer.demands[at].amount = Amount::read(kappa);
            } else if let Some(fresh) = transfer.fresh {
                self.fractions.bound(fresh, &rest.solid());
            }
            let left = rest.minus(&transfer.demands[at].amount);
            if !matches!(self.fractions.sign(&left), Sign::Positive | Sign::Zero) {
                return self.lacking(transfer, at, "not enough permission");
            }
        }
        Ok(())
    }

    /// Exact amounts, added up by location on top of what was chosen.
    fn check_exact(&mut self, transfer: &Transfer) -> Res<()> {
        let is_long = transfer.demands.len() > 16;
        let mut sums: FxHashMap<Loc, Amount> = FxHashMap::default();
        if is_long {
            for demand in transfer.demands.iter().filter(|demand| demand.inexact) {
                add(&mut sums, demand);
            }
        }
        for (at, demand) in transfer.demands.iter().enumerate() {
            if demand.inexact {
                continue;
            }
            let before = if is_long {
                let before = sums.get(&demand.loc).cloned().unwrap_or(Amount::NONE);
                add(&mut sums, demand);
                before
            } else {
                let chosen = transfer.demands[at..].iter();
                let chosen = chosen.filter(|one| one.inexact && one.loc == demand.loc);
                chosen.fold(transfer.taken(demand.loc, at), |sum, one| sum.plus(&one.amount))
            };
            if demand.amount.is_full() && before.is_none() && self.scope.at.is_none() {
                let holdings = self.heap.holdings(demand.loc);
                if holdings.is_some_and(|holdings| holdings.is_whole(transfer.from)) {
                    continue;
                }
            }
            let available = self.available_to(demand.loc, transfer.from);
            if before.is_none() && available == demand.amount {
                continue;
            }
            let rest = available.minus(&before).minus(&demand.amount);
            match self.fractions.sign(&rest) {
                Sign::Positive | Sign::Zero => {}
                Sign::Undetermined => {
                    let words = "whether there is enough depends on how read fractions are chosen";
                    return self.lacking(transfer, at, words);
                }
                Sign::Negative => return self.lacking(transfer, at, "not enough permission"),
            }
        }
        Ok(())
    }

    fn lacking<T>(&self, transfer: &Transfer, at: usize, words: &str) -> Res<T> {
        let demand = &transfer.demands[at];
        if self.granting {
            return Err(Box::new(Trouble::Contradiction));
        }
        if transfer.mode == Mode::Receive {
            let words = "what was given is not there when it is received".to_owned();
            return Err(Box::new(Trouble::Inconsistent(words, demand.span)));
        }
        let wanted = (!demand.star).then(|| demand.amount.clone());
        let fault = Fault::missing(demand.loc, wanted, demand.span, words);
        Err(Fault { clause: demand.clause, ..fault }.into())
    }

    fn commit(&mut self, transfer: &Transfer) {
        for &(channel, count) in &transfer.credits {
            self.move_credits(channel, transfer.from, -count);
            self.move_credits(channel, transfer.to, count);
        }
        if transfer.from == transfer.to {
            return;
        }
        for demand in &transfer.demands {
            self.heap.holdings_mut(demand.loc).transfer(transfer.from, transfer.to, &demand.amount);
            self.note_moved(demand.loc, &demand.amount, transfer.from, transfer.to);
        }
    }

    /// Notes for the trace what moves.
    pub(crate) fn note_moved(&mut self, loc: Loc, amount: &Amount, from: Holder, to: Holder) {
        if self.config.trace != crate::machine::Trace::None {
            self.moved.push((loc, amount.clone(), from, to));
        }
    }

    /// Gives back what was moved.
    pub(crate) fn give_back(&mut self, moved: &Moved, from: Holder, to: Holder) {
        if from == to {
            return;
        }
        for (loc, amount) in &moved.amounts {
            self.heap.holdings_mut(*loc).transfer(from, to, amount);
        }
        for &(channel, count) in &moved.credits {
            self.move_credits(channel, from, -count);
            self.move_credits(channel, to, count);
        }
    }

    /// Changes how often somebody may receive. The environment has as many credits as are wanted.
    pub(crate) fn move_credits(&mut self, channel: Ref, holder: Holder, count: i64) {
        if holder == Holder::Environment {
            return;
        }
        let credits = &mut self.heap.extra_mut(channel).channel.credits;
        match credits.iter_mut().find(|(other, _)| *other == holder) {
            Some((_, balance)) => *balance = balance.saturating_add(count),
            None => credits.push((holder, count)),
        }
        credits.retain(|(_, balance)| *balance != 0);
    }

    /// How often somebody may receive; negative if messages are owed.
    pub(crate) fn credits(&self, channel: Ref, holder: Holder) -> i64 {
        let extra = self.heap.object(channel).extra.as_ref();
        let credits = extra.map_or(&[][..], |extra| &extra.channel.credits);
        credits.iter().find(|(other, _)| *other == holder).map_or(0, |(_, balance)| *balance)
    }
}

fn add(sums: &mut FxHashMap<Loc, Amount>, demand: &Demand) {
    let sum = sums.entry(demand.loc).or_insert(Amount::NONE);
    *sum = sum.plus(&demand.amount);
}
