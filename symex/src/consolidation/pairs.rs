//! Consequences of two chunks of one resource. With more than full permission in sum they are
//! different locations, and at one location they have one value.
//!
//! SOUNDNESS: the portions belong to one heap (trap T23). Sums of amounts count only where amounts
//! are exact (trap T8).

use smt::terms::Terms;

use crate::permission::ordinary::same_arguments;
use crate::state::heap::Chunk;
use crate::{Path, Stop};

impl Path<'_> {
    pub(super) fn learn_from_pair(
        &mut self,
        is_bounded: bool,
        left: &Chunk,
        right: &Chunk,
    ) -> Result<(), Stop> {
        let alias = same_arguments(&mut self.terms, &left.arguments, &right.arguments);
        if alias == Terms::FALSE {
            return Ok(());
        }
        if is_bounded {
            let sum = self.terms.add(left.amount, right.amount);
            let too_much = self.terms.lt(Terms::WRITE, sum);
            let different = self.terms.not(alias);
            // Chunks of different locations tell nothing more.
            if too_much == Terms::TRUE {
                return self.assume(different);
            }
            let fact = self.terms.implies(too_much, different);
            self.assume(fact)?;
        }
        let (l, r) =
            (self.terms.lt(Terms::NONE, left.amount), self.terms.lt(Terms::NONE, right.amount));
        let both = self.terms.and([alias, l, r]);
        let equal = self.terms.identical(left.value, right.value);
        let fact = self.terms.implies(both, equal);
        self.assume(fact)
    }
}
