//! The judgement on what an assertion asks for: is it there?
//!
//! First come the amounts that the giver may choose, then exact ones, added up by location.

use std::collections::HashMap;
use std::hash::Hash;

use crate::amount::{Amount, Fractions, Kappa, Sign};
use crate::flaw::Flaw;

/// Permission to one location that an assertion asks for.
#[derive(Debug, Clone)]
pub struct Demand<L, S> {
    /// The location.
    pub loc: L,
    /// How much of it.
    pub amount: Amount,
    /// May the giver choose how much it is?
    pub inexact: bool,
    /// Is it any amount?
    pub star: bool,
    /// Where it is asked for.
    pub span: S,
    /// The clause that asks for it.
    pub clause: Option<S>,
}

/// The circumstances of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The read fraction of the surroundings.
    pub kappa: Kappa,
    /// A read fraction that is chosen now, so that it fits.
    pub fresh: Option<Kappa>,
    /// Does any amount stand for all that was kept?
    pub takes_whole: bool,
    /// Is it about an earlier state, of which it is only said that something was held?
    pub is_then: bool,
}

/// The account of the giver.
pub trait Account<L> {
    /// Returns how much he has of a location.
    fn available(&self, loc: &L) -> Amount;

    /// Has he all of it, and plainly so?
    fn has_whole(&self, loc: &L) -> bool;

    /// Does something with the read fractions of the run.
    fn fractions<T>(&mut self, action: impl FnOnce(&mut Fractions) -> T) -> T;

    /// Returns the sign of an amount.
    fn sign(&mut self, amount: &Amount) -> Sign {
        amount.plain_sign().unwrap_or_else(|| self.fractions(|all| all.sign(amount)))
    }
}

/// The demand, by its number, that is not met, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// The number of the demand.
    pub at: usize,
    /// Why it is not met.
    pub flaw: Flaw,
}

/// Judges demands, and chooses the amounts that the giver may choose.
///
/// # Errors
/// The first demand that is not met.
pub fn judge<L: Copy + Eq + Hash, S>(
    demands: &mut [Demand<L, S>],
    terms: Terms,
    account: &mut impl Account<L>,
) -> Result<(), Lack> {
    choose(demands, terms, account)?;
    exact(demands, account)
}

/// Amounts that the giver chooses: they have to be below what is there.
fn choose<L: Copy + Eq + Hash, S>(
    demands: &mut [Demand<L, S>],
    terms: Terms,
    account: &mut impl Account<L>,
) -> Result<(), Lack> {
    for at in 0..demands.len() {
        if !demands[at].inexact {
            continue;
        }
        let (loc, star) = (demands[at].loc, demands[at].star);
        let same = demands[..at].iter().filter(|one| one.inexact && one.loc == loc);
        let earlier = same.fold(Amount::NONE, |sum, one| sum.plus(&one.amount));
        let mut rest = account.available(&loc).minus(&earlier);
        let is_taken_whole = star
            && terms.takes_whole
            && !demands[at + 1..].iter().any(|one| one.inexact && one.loc == loc);
        let exact = demands.iter().filter(|one| !one.inexact && one.loc == loc);
        let beside = exact.fold(rest.clone(), |rest, one| rest.minus(&one.amount));
        // All but what the same assertion asks for beside it, or a part that leaves as much.
        if is_taken_whole || star && account.fractions(|all| all.is_divisible(&beside)) {
            rest = beside;
        }
        let is_there = if is_taken_whole || terms.is_then {
            account.fractions(|all| all.is_readable(&rest))
        } else {
            account.fractions(|all| all.is_divisible(&rest))
        };
        if !is_there {
            return Err(Lack { at, flaw: Flaw::NoPart });
        }
        if terms.is_then {
            continue;
        }
        if is_taken_whole {
            demands[at].amount = rest;
            continue;
        }
        if star {
            let kappa = account.fractions(|all| {
                let kappa = all.fresh(Some(terms.kappa));
                all.bound(kappa, &rest.solid());
                kappa
            });
            demands[at].amount = Amount::read(kappa);
        } else if let Some(fresh) = terms.fresh {
            account.fractions(|all| all.bound(fresh, &rest.solid()));
        }
        let left = rest.minus(&demands[at].amount);
        if !matches!(account.sign(&left), Sign::Positive | Sign::Zero) {
            return Err(Lack { at, flaw: Flaw::NotEnough });
        }
    }
    Ok(())
}

/// The number of demands that are looked through one by one.
const FEW: usize = 16;

/// Exact amounts, added up by location on top of what was chosen.
fn exact<L: Copy + Eq + Hash, S>(
    demands: &[Demand<L, S>],
    account: &mut impl Account<L>,
) -> Result<(), Lack> {
    let is_long = demands.len() > FEW;
    let mut sums: HashMap<L, Amount> = HashMap::new();
    if is_long {
        demands.iter().filter(|demand| demand.inexact).for_each(|demand| add(&mut sums, demand));
    }
    for (at, demand) in demands.iter().enumerate() {
        if demand.inexact {
            continue;
        }
        let before = if is_long {
            let before = sums.get(&demand.loc).cloned().unwrap_or(Amount::NONE);
            add(&mut sums, demand);
            before
        } else {
            let is_same = |one: &&Demand<L, S>| one.loc == demand.loc;
            let chosen = demands[at..].iter().filter(|one| one.inexact);
            let counted = demands[..at].iter().chain(chosen).filter(is_same);
            counted.fold(Amount::NONE, |sum, one| sum.plus(&one.amount))
        };
        let is_whole = demand.amount.is_full() && before.is_none();
        if is_whole && account.has_whole(&demand.loc) {
            continue;
        }
        let available = account.available(&demand.loc);
        if before.is_none() && available == demand.amount {
            continue;
        }
        let rest = available.minus(&before).minus(&demand.amount);
        match account.sign(&rest) {
            Sign::Positive | Sign::Zero => {}
            Sign::Undetermined => return Err(Lack { at, flaw: Flaw::PerhapsEnough }),
            Sign::Negative => return Err(Lack { at, flaw: Flaw::NotEnough }),
        }
    }
    Ok(())
}

fn add<L: Copy + Eq + Hash, S>(sums: &mut HashMap<L, Amount>, demand: &Demand<L, S>) {
    let sum = sums.entry(demand.loc).or_insert(Amount::NONE);
    *sum = sum.plus(&demand.amount);
}
