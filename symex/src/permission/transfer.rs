//! Taking permission inside a package: from the heap of the package, then from the heaps around it,
//! nearest first. Permission from the heaps around is the wand's footprint: it is gone until the
//! wand is applied.
//!
//! SOUNDNESS: no fact is learnt about the package's own heap and the heaps around it together,
//! except about permission that has been taken from there. A contradiction between the left-hand
//! side and a location around justifies the wand only if that location is given up (trap T10f).
//!
//! SOUNDNESS: the left-hand side alone may imply that an amount is not negative, or no more than a
//! chunk around holds. So a chunk around gives between nothing and all that it holds, whatever is
//! known (trap T10d).

use std::collections::BTreeSet;
use std::rc::Rc;

use smt::terms::{Split, Term, TermKind, Terms};

use crate::permission::ordinary::Taken;
use crate::permission::ordinary::same_arguments;
use crate::permission::quantified::chunks::{Portion, PortionValue};
use crate::run::explore::Answer;
use crate::state::Here;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::state::quantified::{Access, Footprint, QuantifiedChunk};
use crate::{Configuration, Engine, Path, Stop};

/// The means by which a chunk is shown to be the location.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// The means of a check.
    Little,
    /// The means of an obligation.
    All,
}

/// The part that each chunk gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    /// As much as is needed and there.
    All,
    /// Less than the chunk holds, where the need is still open (trap T9). A chunk around gives half,
    /// so that its part does not depend on the left-hand side.
    Less,
}

/// The progress of a transfer.
struct Progress {
    /// The amount that is still to be taken.
    need: Term,
    /// The way to take it.
    taking: Taking,
    /// The value of the location, once permission has been taken.
    value: Option<Gathered>,
}

/// The value of the taken permission, whose amount may be none.
pub(crate) struct Gathered {
    value: Term,
    /// The claim that some permission has been taken.
    some: Term,
}

impl Here {
    /// Returns a heap by its level. Heap 0 is the one being consumed; the others are the reserve.
    fn level(&mut self, level: usize) -> &mut Heap {
        match (level.checked_sub(1), &mut self.consuming) {
            (Some(index), _) => &mut self.package.reserve[index],
            (None, Some(left)) => left,
            (None, None) => &mut self.heap,
        }
    }

    fn fetch_quantified(&mut self, level: usize, resource: Resource, chunk: &QuantifiedChunk) {
        if level > 0 {
            self.package.moved.push_quantified(resource, chunk.clone());
            if self.consuming.is_some() {
                self.heap.push_quantified(resource, chunk.clone());
            }
        }
    }
}

impl Engine<'_> {
    /// Takes `loss` of a location from the heap being consumed and the heaps around the package
    /// together.
    pub(crate) fn transfer(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let mut need = loss;
        // Conditions that the left-hand side decides need not be left open.
        while let TermKind::Ite(condition, then, otherwise) = *self.terms.kind(need) {
            let negation = self.terms.not(condition);
            if self.check(condition)? {
                need = then;
            } else if self.check(negation)? {
                need = otherwise;
            } else {
                break;
            }
        }
        let taking = self.taking(need);
        if taking == Taking::All {
            need = self.terms.at_least_none(need);
        }
        let mut progress = Progress { need, taking, value: None };
        for level in 0..=self.here.package.reserve.len() {
            self.transfer_chunks(level, resource, arguments, &mut progress, Effort::Little)?;
            self.transfer_quantified_chunks(level, resource, arguments, &mut progress)?;
        }
        let mut done = self.terms.le(progress.need, Terms::NONE);
        let mut answer = self.ask_obligation(done)?;
        if answer != Answer::Yes {
            // Before a report, no means are spared.
            let before = progress.need;
            for level in 0..=self.here.package.reserve.len() {
                self.transfer_chunks(level, resource, arguments, &mut progress, Effort::All)?;
            }
            if progress.need != before {
                done = self.terms.le(progress.need, Terms::NONE);
                answer = self.ask_obligation(done)?;
            }
        }
        if answer != Answer::Yes {
            return Ok(None);
        }
        // If no chunk has given permission, none was asked for.
        let value = progress.value.map_or_else(|| self.nothing(resource), |it| it.value);
        Ok(Some(Taken(value)))
    }

    fn taking(&self, need: Term) -> Taking {
        if self.is_exact(need) { Taking::All } else { Taking::Less }
    }

    /// Takes from chunks with the same arguments first, since each other chunk needs a question
    /// whether it is the location.
    fn transfer_chunks(
        &mut self,
        level: usize,
        resource: Resource,
        arguments: &[Term],
        progress: &mut Progress,
        effort: Effort,
    ) -> Result<(), Stop> {
        if effort == Effort::Little {
            self.transfer_chunks_if(level, resource, arguments, progress, None)?;
        }
        self.transfer_chunks_if(level, resource, arguments, progress, Some(effort))
    }

    /// Takes from chunks with the same arguments, or (`to_show`) from chunks with other arguments.
    fn transfer_chunks_if(
        &mut self,
        level: usize,
        resource: Resource,
        arguments: &[Term],
        progress: &mut Progress,
        to_show: Option<Effort>,
    ) -> Result<(), Stop> {
        let chunks = self.here.level(level).of(resource).to_vec();
        // From the last to the first, so that removals do not move chunks that are still to come.
        for (index, chunk) in chunks.iter().enumerate().rev() {
            if (chunk.arguments == arguments) != to_show.is_none() {
                continue;
            }
            let done = self.terms.le(progress.need, Terms::NONE);
            if self.check(done)? {
                break;
            }
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            let is_it = match to_show {
                _ if alias == Terms::FALSE => false,
                Some(Effort::All) => self.ask_obligation(alias)? == Answer::Yes,
                Some(Effort::Little) | None => self.check(alias)?,
            };
            if !is_it {
                continue;
            }
            let nothing = self.terms.le(chunk.amount, Terms::NONE);
            if self.check(nothing)? {
                continue;
            }
            self.end_before_taking(level)?;
            let part = self.needed_of(level, chunk.amount, progress)?;
            self.keep_rest(level, resource, index, chunk, part)?;
            self.note_value(resource, &mut progress.value, chunk.value, part)?;
            self.fetch(level, resource, Chunk { amount: part, ..chunk.clone() })?;
        }
        Ok(())
    }

    fn transfer_quantified_chunks(
        &mut self,
        level: usize,
        resource: Resource,
        arguments: &[Term],
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let mut chunks = self.here.level(level).quantified(resource).to_vec();
        for index in 0..chunks.len() {
            let done = self.terms.le(progress.need, Terms::NONE);
            if self.check(done)? {
                break;
            }
            let chunk = chunks[index].clone();
            let here = self.at(resource, chunk.amount, arguments);
            let positive = self.terms.is_some(here);
            if !self.check(positive)? {
                continue;
            }
            self.end_before_taking(level)?;
            let part = self.needed_of(level, here, progress)?;
            let need = self.need_of(resource, arguments, part);
            chunks[index].amount = self.terms.split_amount(chunk.amount, need).rest;
            self.here.level(level).set_quantified(resource, chunks.clone());
            let value = self.map_at(resource, chunk.map, arguments);
            self.note_value(resource, &mut progress.value, value, part)?;
            let arguments = arguments.to_vec();
            self.fetch(level, resource, Chunk { arguments, value, amount: part })?;
        }
        Ok(())
    }

    /// Ends a contradictory path before it takes more from the heaps around. Either the permission
    /// given up so far contradicts the left-hand side, or only the script does (trap T10f).
    fn end_before_taking(&mut self, level: usize) -> Result<(), Stop> {
        if level > 0 && self.seems_dead()? { Err(Stop::Infeasible) } else { Ok(()) }
    }

    /// Returns as much of `available` as is still needed, and reduces the need.
    fn needed_of(
        &mut self,
        level: usize,
        available: Term,
        progress: &mut Progress,
    ) -> Result<Term, Stop> {
        if progress.taking == Taking::Less {
            let split = self.terms.split_open(available, progress.need, level > 0);
            let bound = if level > 0 { split.taken } else { available };
            let some = self.terms.is_some(bound);
            let less = self.terms.lt(progress.need, bound);
            let fact = self.terms.implies(some, less);
            self.assume(fact)?;
            progress.need = split.need;
            return Ok(split.taken);
        }
        let enough = self.terms.le(progress.need, available);
        let part = if self.check(enough)? {
            progress.need
        } else {
            self.terms.perm_min(available, progress.need)
        };
        progress.need = self.terms.sub(progress.need, part);
        Ok(part)
    }

    /// Takes a quantified permission from the heap being consumed and the heaps around together.
    /// Returns the part of each chunk; `None` if there is not enough.
    pub(crate) fn transfer_footprint(
        &mut self,
        access: &Access,
        footprint: &Footprint,
    ) -> Result<Option<Vec<Portion>>, Stop> {
        let resource = access.resource;
        let taking = self.taking(access.amount);
        let mut need = match taking {
            Taking::All => self.terms.at_least_none(footprint.amount),
            Taking::Less => footprint.amount,
        };
        let mut touched = Vec::new();
        // The amounts below which the need is made.
        let mut bounds = Vec::new();
        for level in 0..=self.here.package.reserve.len() {
            let heap = self.here.level(level).clone();
            // SOUNDNESS: a chunk gives its part before anything else happens, since the path may
            // end then (trap T10f).
            let mut index = 0;
            for chunk in heap.of(resource) {
                let available = self.spread(resource, chunk);
                let Some(split) = self.part_of(level, available, taking, &mut need)? else {
                    index += 1;
                    continue;
                };
                let rest = if self.remains(split.rest)? {
                    let amount = self.at(resource, split.rest, &chunk.arguments);
                    Some(Chunk { amount, ..chunk.clone() })
                } else {
                    None
                };
                let is_left = rest.is_some();
                self.here.level(level).replace(resource, index, rest);
                index += usize::from(is_left);
                let Chunk { arguments, value, .. } = chunk.clone();
                let amount = self.at(resource, split.taken, &arguments);
                self.fetch(level, resource, Chunk { amount, ..chunk.clone() })?;
                let value = PortionValue::One { arguments, value };
                let portion = Portion { amount: split.taken, value, domain: None };
                let bound = if level > 0 { split.taken } else { available };
                bounds.push(Portion { amount: bound, ..portion.clone() });
                touched.push(portion);
            }
            let mut left = heap.quantified(resource).to_vec();
            let mut index = 0;
            for chunk in heap.quantified(resource) {
                let Some(split) = self.part_of(level, chunk.amount, taking, &mut need)? else {
                    index += 1;
                    continue;
                };
                if self.remains(split.rest)? {
                    left[index].amount = split.rest;
                    index += 1;
                } else {
                    left.remove(index);
                }
                self.here.level(level).set_quantified(resource, left.clone());
                let taken = QuantifiedChunk { amount: split.taken, ..chunk.clone() };
                self.here.fetch_quantified(level, resource, &taken);
                let value = PortionValue::Map(chunk.map);
                let portion = Portion { amount: split.taken, value, domain: chunk.domain };
                let bound = if level > 0 { split.taken } else { chunk.amount };
                bounds.push(Portion { amount: bound, ..portion.clone() });
                touched.push(portion);
            }
        }
        let done = self.terms.is_none(need);
        if self.ask_obligation(done)? != Answer::Yes {
            return Ok(None);
        }
        if taking == Taking::Less {
            for bound in &bounds {
                self.assume_less_than(access, footprint, bound, &[])?;
            }
        }
        Ok(Some(touched))
    }

    /// Splits the chunk's part off the need; `None` if the part is nothing.
    fn part_of(
        &mut self,
        level: usize,
        available: Term,
        taking: Taking,
        need: &mut Term,
    ) -> Result<Option<Split>, Stop> {
        let done = self.terms.is_none(*need);
        if self.check(done)? {
            return Ok(None);
        }
        let split = match taking {
            Taking::All => self.terms.split_amount(available, *need),
            Taking::Less => self.terms.split_open(available, *need, level > 0),
        };
        let nothing = self.terms.is_none(split.taken);
        if self.check(nothing)? {
            return Ok(None);
        }
        self.end_before_taking(level)?;
        *need = split.need;
        Ok(Some(split))
    }

    fn remains(&mut self, rest: Term) -> Result<bool, Stop> {
        let depleted = self.terms.is_none(rest);
        Ok(!self.check(depleted)?)
    }

    /// Notes a part that has been taken from around. The rest of a consumed assertion may mention
    /// it.
    fn fetch(&mut self, level: usize, resource: Resource, chunk: Chunk) -> Result<(), Stop> {
        if level == 0 {
            return Ok(());
        }
        self.here.package.moved.push(resource, chunk.clone());
        if self.here.consuming.is_some() { self.add_chunk(resource, chunk) } else { Ok(()) }
    }

    /// Adds the permission that an assertion has fetched from around to the heap of the package.
    pub fn keep_fetched(&mut self) -> Result<(), Stop> {
        let moved = std::mem::take(&mut self.here.package.moved);
        self.add_all(&moved)
    }

    fn keep_rest(
        &mut self,
        level: usize,
        resource: Resource,
        index: usize,
        chunk: &Chunk,
        part: Term,
    ) -> Result<(), Stop> {
        let rest = self.terms.sub(chunk.amount, part);
        let rest = self.terms.at_least_none(rest);
        let depleted = self.terms.identical(rest, Terms::NONE);
        let kept = if self.check(depleted)? {
            None
        } else {
            Some(Chunk { amount: rest, ..chunk.clone() })
        };
        self.here.level(level).replace(resource, index, kept);
        Ok(())
    }

    /// Learns that portions of one location agree if an inner package has taken them from heaps
    /// around this package. Such a portion has come through this package.
    ///
    /// SOUNDNESS: a portion counts only as far as it has been given up, whatever the inner package
    /// knows (trap T10d).
    pub fn learn_passed_through(&mut self, after: &[Heap]) -> Result<(), Stop> {
        let own = self.here.heap.clone();
        let around = self.here.package.reserve.clone();
        let resources: BTreeSet<_> =
            around.iter().flat_map(|heap| heap.resources().map(|(resource, _)| resource)).collect();
        for resource in resources {
            // The values of wands tell nothing (trap T10e).
            if matches!(resource, Resource::Wand(_)) {
                continue;
            }
            let mut here = own.of(resource).to_vec();
            for (before, after) in around.iter().zip(&after[1..]) {
                for given in given(&mut self.terms, before.of(resource), after.of(resource)) {
                    for other in &here {
                        self.learn_equal_values(other, &given)?;
                    }
                    here.push(given);
                }
            }
        }
        Ok(())
    }

    fn learn_equal_values(&mut self, left: &Chunk, right: &Chunk) -> Result<(), Stop> {
        let alias = same_arguments(&mut self.terms, &left.arguments, &right.arguments);
        if !self.check(alias)? {
            return Ok(());
        }
        let equal = self.terms.identical(left.value, right.value);
        let (some, others) = (self.terms.is_some(left.amount), self.terms.is_some(right.amount));
        let guard = self.terms.and([alias, some, others]);
        let fact = self.terms.implies(guard, equal);
        self.learn_agreement(fact)
    }

    /// Notes the value of a part that has been taken. Portions of one location have one value, but
    /// those of wands tell nothing (trap T10e).
    ///
    /// SOUNDNESS: a value counts only where permission has been taken (trap T2). The first such
    /// value is the result.
    fn note_value(
        &mut self,
        resource: Resource,
        taken: &mut Option<Gathered>,
        own: Term,
        part: Term,
    ) -> Result<(), Stop> {
        let mut some = self.terms.lt(Terms::NONE, part);
        if self.check(some)? {
            some = Terms::TRUE;
        }
        let Some(before) = taken else {
            *taken = Some(Gathered { value: own, some });
            return Ok(());
        };
        if !matches!(resource, Resource::Wand(_)) {
            let both = self.terms.and([before.some, some]);
            let equal = self.terms.identical(before.value, own);
            let fact = self.terms.implies(both, equal);
            self.learn_agreement(fact)?;
        }
        before.value = if some == Terms::TRUE && self.is_known_outside(own, before.value) {
            own
        } else {
            self.terms.ite(before.some, before.value, own)
        };
        before.some = self.terms.or([before.some, some]);
        Ok(())
    }
}

impl Path<'_> {
    /// Tells whether more is known about one value than about another outside of the packages in
    /// progress.
    ///
    /// COMPLETENESS: only the package knows that the portion of a location from the left-hand side
    /// and the portion from around have one value. So the right-hand side uses the value of the
    /// latter, which is known when the wand is applied.
    pub(crate) fn is_known_outside(&self, value: Term, other: Term) -> bool {
        !self.terms.mentions(value, &self.mode.roots)
            && self.terms.mentions(other, &self.mode.roots)
    }
}

impl Configuration<'_> {
    /// Learns that portions of one location have one value. In a package the fact is kept for the
    /// time when the wand is applied.
    pub fn learn_agreement(&mut self, fact: Term) -> Result<(), Stop> {
        if self.here.may_transfer()
            && self.mode.bound == self.mode.roots
            && self.terms.mentions(fact, &self.mode.roots)
        {
            Rc::make_mut(&mut self.here.package.agreed).push(fact);
        }
        self.assume(fact)
    }
}

/// Tells whether two chunks are portions of one location, by form, with one value.
fn is_same(left: &Chunk, right: &Chunk) -> bool {
    left.arguments == right.arguments && left.value == right.value
}

/// Returns the portions that chunks have given up, if `after` is left of them.
///
/// SOUNDNESS: chunks of one location and value count together, so that no chunk stands for another.
fn given(terms: &mut Terms, before: &[Chunk], after: &[Chunk]) -> Vec<Chunk> {
    let mut given: Vec<Chunk> = Vec::new();
    for chunk in before {
        match given.iter_mut().find(|sum| is_same(sum, chunk)) {
            Some(sum) => sum.amount = terms.add(sum.amount, chunk.amount),
            None => given.push(chunk.clone()),
        }
    }
    for chunk in after {
        if let Some(sum) = given.iter_mut().find(|sum| is_same(sum, chunk)) {
            sum.amount = terms.sub(sum.amount, chunk.amount);
        }
    }
    given.retain(|sum| sum.amount != Terms::NONE);
    given
}
