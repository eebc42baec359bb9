//! Moving what was asked for, when it is known to be there.

use chalice_rt::settle::{Account, Lack, Terms, judge};

use super::{Mode, Moved, Transfer};
use crate::amount::{Amount, Fractions, Sign};
use crate::fault::{Fault, Res, Trouble};
use crate::heap::{Holder, Loc, Part};
use crate::machine::{Evaluator, World};
use crate::value::Ref;

/// The account of a giver.
struct Giver<'m, 'c> {
    machine: &'m mut World<'c>,
    holder: Holder,
}

impl Account<Loc> for Giver<'_, '_> {
    fn available(&self, loc: &Loc) -> Amount {
        self.machine.available_to(*loc, self.holder)
    }

    fn has_whole(&self, loc: &Loc) -> bool {
        let holdings = self.machine.heap.holdings(*loc);
        self.machine.scope.at.is_none() && holdings.is_some_and(|all| all.is_whole(self.holder))
    }

    fn fractions<T>(&mut self, action: impl FnOnce(&mut Fractions) -> T) -> T {
        action(&mut self.machine.fractions)
    }
}

impl Evaluator<'_> {
    /// Checks that everything asked for is there, and moves it.
    pub(crate) fn settle(&mut self, mut transfer: Transfer) -> Res<Moved> {
        if self.granting && transfer.from == Holder::Environment {
            self.grant_instances(&transfer)?;
        }
        self.judge(&mut transfer)?;
        if transfer.mode == Mode::Check {
            return Ok(Moved::default());
        }
        self.commit(&transfer);
        let Transfer { demands, credits, .. } = transfer;
        let amounts = demands.into_iter().map(|demand| (demand.loc, demand.amount)).collect();
        Ok(Moved { amounts, credits })
    }

    /// Returns the predicate instances that a start has to have.
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
}

impl World<'_> {
    /// Checks that everything asked for is there.
    fn judge(&mut self, transfer: &mut Transfer) -> Res<()> {
        let takes_whole = transfer.mode == Mode::Receive
            && !transfer.for_readers
            && transfer.scale.as_ref().is_none_or(Amount::is_full);
        let terms = Terms {
            kappa: self.scope.kappa,
            fresh: transfer.fresh,
            takes_whole,
            is_then: self.scope.at.is_some() && transfer.mode == Mode::Check,
        };
        let mut giver = Giver { machine: self, holder: transfer.from };
        match judge(&mut transfer.demands, terms, &mut giver) {
            Ok(()) => Ok(()),
            Err(lack) => self.lacking(transfer, lack),
        }
    }

    fn lacking<T>(&self, transfer: &Transfer, lack: Lack) -> Res<T> {
        let demand = &transfer.demands[lack.at];
        if self.granting {
            return Err(Box::new(Trouble::Contradiction));
        }
        if transfer.mode == Mode::Receive {
            let words = "what was given is not there when it is received".to_owned();
            return Err(Box::new(Trouble::Inconsistent(words, demand.span)));
        }
        let wanted = (!demand.star).then(|| demand.amount.clone());
        let fault = Fault::missing(lack.flaw, demand.loc, wanted, demand.span);
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

    /// Returns how often somebody may receive; negative if messages are owed.
    pub(crate) fn credits(&self, channel: Ref, holder: Holder) -> i64 {
        let extra = self.heap.object(channel).extra.as_ref();
        let credits = extra.map_or(&[][..], |extra| &extra.channel.credits);
        credits.iter().find(|(other, _)| *other == holder).map_or(0, |(_, balance)| *balance)
    }
}
