//! The instances that are open while an expression is evaluated: the permission that may be used
//! beside one's own.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::amount::Amount;
use crate::heap::{Holder, Holdings};

/// Holders whose permission may be used, each with the part of it that may, in the order in which
/// they were opened.
///
/// A function may look into an instance inside of another one as deep as a list is long, so what
/// one of them has is found without asking the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opened {
    entries: Vec<(Holder, Amount)>,
    /// The places of each holder among the entries.
    places: FxHashMap<Holder, SmallVec<[u32; 2]>>,
}

impl Opened {
    /// Opens one.
    pub(crate) fn push(&mut self, holder: Holder, scale: Amount) {
        self.places.entry(holder).or_default().push(self.entries.len() as u32);
        self.entries.push((holder, scale));
    }

    /// Closes the last one.
    pub(crate) fn pop(&mut self) {
        let Some((holder, _)) = self.entries.pop() else { return };
        if let Some(places) = self.places.get_mut(&holder) {
            places.pop();
            if places.is_empty() {
                self.places.remove(&holder);
            }
        }
    }

    /// Closes all.
    pub(crate) fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.entries.clear();
            self.places.clear();
        }
    }

    /// Returns how much of a location somebody may use: his own, and that of others as far as they
    /// are open.
    pub(crate) fn available(&self, holdings: &Holdings, holder: Holder) -> Amount {
        let mut sum = holdings.amount(holder);
        if self.entries.is_empty() {
            return sum;
        }
        let mut add = |part: &Amount, scale: &Amount| {
            // Counting permissions inside stay what they are: whoever asks whether it is readable
            // gets an answer.
            sum = sum.plus(&part.times(scale).unwrap_or_else(|_| part.clone()));
        };
        match holdings {
            Holdings::Nobody => {}
            Holdings::Whole(one) => {
                self.scales_of(*one, holder).for_each(|scale| add(&Amount::FULL, scale));
            }
            Holdings::Few(parts) if parts.len() <= self.entries.len() => {
                for (one, part) in &**parts {
                    self.scales_of(*one, holder).for_each(|scale| add(part, scale));
                }
            }
            Holdings::Few(_) | Holdings::Many(_) => {
                for (one, scale) in self.entries.iter().filter(|(one, _)| *one != holder) {
                    let part = holdings.amount(*one);
                    if !part.is_none() {
                        add(&part, scale);
                    }
                }
            }
        }
        sum
    }

    /// Returns the parts of a holder that are open, unless it is the one who asks.
    fn scales_of(&self, one: Holder, asking: Holder) -> impl Iterator<Item = &Amount> {
        let places = self.places.get(&one).filter(|_| one != asking);
        places.into_iter().flatten().map(|place| &self.entries[*place as usize].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amount::Rational;
    use crate::value::Ref;

    #[test]
    fn what_is_open_counts_as_far_as_it_is() {
        let percent = |number: i64| Amount::number(Rational::hundredths(&number.into()));
        let instance = |number| Holder::Instance(Ref(number), 0);
        let own = Holder::Frame(0);
        let whole = Holdings::Whole(instance(3));
        let mut split = Holdings::Nobody;
        split.add(own, &percent(20));
        split.add(instance(1), &percent(30));
        split.add(instance(2), &percent(50));
        let mut opened = Opened::default();
        assert!(opened.available(&whole, own).is_none());
        assert_eq!(opened.available(&split, own), percent(20));
        opened.push(instance(1), percent(50));
        assert_eq!(opened.available(&split, own), percent(35));
        for _ in 0..4 {
            opened.push(instance(2), Amount::FULL);
        }
        opened.push(own, Amount::FULL);
        assert_eq!(opened.available(&split, own), percent(235));
        assert!(opened.available(&whole, own).is_none());
        opened.push(instance(3), percent(10));
        assert_eq!(opened.available(&whole, own), percent(10));
        for _ in 0..6 {
            opened.pop();
        }
        assert_eq!(opened.available(&split, own), percent(35));
        opened.clear();
        assert_eq!(opened.available(&split, own), percent(20));
    }
}
