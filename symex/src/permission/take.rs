//! Taking permission: the one function by which all rules take permission, and its needs.
//!
//! A need is an amount of one location, or an amount for each location of a resource. Sources are
//! the chunks of the rest of the heap, of either kind, and in a package those of the heaps around
//! it. The reading of amounts decides how much is taken:
//! - if amounts do not matter, some permission has to be there if some is asked for, and nothing is
//!   taken;
//! - an amount that is still open (a wildcard) becomes smaller than each source's amount (trap
//!   T9b);
//! - any other amount is taken as it is.

#[cfg(test)]
mod tests;

use smt::terms::{Term, Terms};

use crate::permission::ordinary::Taken;
use crate::permission::quantified::chunks::Portion;
use crate::state::heap::Resource;
use crate::state::quantified::{Access, Footprint};
use crate::{Amounts, Engine, Stop};

/// The permission to be taken.
pub trait Need {
    /// The account of the sources that have given permission.
    type Given;

    /// Returns the amount as it is written. An open amount is taken differently.
    fn amount(&self) -> Term;

    /// Shows that there is some permission where some is asked for.
    fn show_some(&self, engine: &mut Engine<'_>) -> Result<Option<Self::Given>, Stop>;

    /// Takes less than each source holds.
    fn take_less(&self, engine: &mut Engine<'_>) -> Result<Option<Self::Given>, Stop>;

    /// Takes the amount from the rest of the heap.
    fn take_exactly(&self, engine: &mut Engine<'_>) -> Result<Option<Self::Given>, Stop>;

    /// Takes the amount, in a package, from its heap and the heaps around it together.
    fn transfer(&self, engine: &mut Engine<'_>) -> Result<Option<Self::Given>, Stop>;
}

/// An amount of one location.
pub(crate) struct OfLocation<'a> {
    pub(crate) resource: Resource,
    pub(crate) arguments: &'a [Term],
    pub(crate) amount: Term,
}

/// An amount for each location of a resource.
pub struct OfAll<'a> {
    pub access: &'a Access,
    pub footprint: &'a Footprint,
}

impl Engine<'_> {
    /// Takes what is needed from the rest of the heap; `None` if there is not enough.
    ///
    /// SOUNDNESS: every rule takes permission by this function.
    pub fn take<N: Need>(&mut self, need: &N) -> Result<Option<N::Given>, Stop> {
        if self.frame.assertion.amounts == Amounts::SomeOrNone {
            return need.show_some(self);
        }
        let given = if self.is_exact(need.amount()) {
            need.take_exactly(self)?
        } else {
            need.take_less(self)?
        };
        match given {
            None if self.here.may_transfer() => need.transfer(self),
            given => Ok(given),
        }
    }

    /// Takes an amount of one location and returns its value; `None` if there is not enough.
    ///
    /// SOUNDNESS: where nothing is taken the value is the same everywhere, so that held permission
    /// determines everything in a snapshot (trap T2).
    pub fn take_location(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        amount: Term,
    ) -> Result<Option<Term>, Stop> {
        self.touch(resource, arguments)?;
        let Some(Taken(value)) = self.take(&OfLocation { resource, arguments, amount })? else {
            return Ok(None);
        };
        let some = self.terms.lt(Terms::NONE, amount);
        let some = self.established(some)?;
        let nothing = self.nothing(resource);
        Ok(Some(self.terms.ite(some, value, nothing)))
    }
}

impl OfLocation<'_> {
    /// Tells whether the location is treated as one of a resource with quantified chunks.
    fn has_quantified(&self, engine: &Engine<'_>) -> bool {
        engine.here.has_quantified_left(self.resource)
    }
}

impl Need for OfLocation<'_> {
    type Given = Taken;

    fn amount(&self) -> Term {
        self.amount
    }

    fn show_some(&self, engine: &mut Engine<'_>) -> Result<Option<Taken>, Stop> {
        let &Self { resource, arguments, amount } = self;
        if self.has_quantified(engine) {
            engine.value_if_enough(resource, arguments, amount)
        } else {
            engine.value_if_some(resource, arguments, amount)
        }
    }

    fn take_less(&self, engine: &mut Engine<'_>) -> Result<Option<Taken>, Stop> {
        let &Self { resource, arguments, amount } = self;
        if !self.has_quantified(engine) {
            return engine.take_inexact(resource, arguments, amount);
        }
        let value = engine.value_if_enough(resource, arguments, amount)?;
        if value.is_some() {
            engine.take_less_of(resource, arguments, amount)?;
        }
        Ok(value)
    }

    fn take_exactly(&self, engine: &mut Engine<'_>) -> Result<Option<Taken>, Stop> {
        let &Self { resource, arguments, amount } = self;
        if !self.has_quantified(engine) {
            return engine.take_from_ordinary(resource, arguments, amount);
        }
        if let Some(taken) = engine.take_quantified_from_one(resource, arguments, amount)? {
            return Ok(Some(taken));
        }
        let value = engine.value_if_enough(resource, arguments, amount)?;
        if value.is_some() {
            engine.take_portions(resource, arguments, amount);
        }
        Ok(value)
    }

    fn transfer(&self, engine: &mut Engine<'_>) -> Result<Option<Taken>, Stop> {
        engine.transfer(self.resource, self.arguments, self.amount)
    }
}

impl Need for OfAll<'_> {
    /// The chunks that may have given something.
    type Given = Vec<Portion>;

    fn amount(&self) -> Term {
        self.access.amount
    }

    fn show_some(&self, engine: &mut Engine<'_>) -> Result<Option<Vec<Portion>>, Stop> {
        engine.portions_if_some(self.access.resource, self.footprint)
    }

    fn take_less(&self, engine: &mut Engine<'_>) -> Result<Option<Vec<Portion>>, Stop> {
        let resource = self.access.resource;
        let portions = engine.portions_if_some(resource, self.footprint)?;
        if portions.is_some() {
            engine.take_less_of_all(self.access, self.footprint)?;
        }
        Ok(portions)
    }

    fn take_exactly(&self, engine: &mut Engine<'_>) -> Result<Option<Vec<Portion>>, Stop> {
        engine.take_from_portions(self.access, self.footprint.amount)
    }

    fn transfer(&self, engine: &mut Engine<'_>) -> Result<Option<Vec<Portion>>, Stop> {
        engine.transfer_footprint(self.access, self.footprint)
    }
}
