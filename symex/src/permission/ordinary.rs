//! Finding, adding and taking permission: one ladder for all.
//!
//! The rungs, cheapest first: a chunk with the same arguments; a chunk with provably equal
//! arguments; the same again once the consequences of the heap's shape are known; all chunks that
//! may be the location, together.

use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::findings::log::{Recalled, Reported};
use crate::run::explore::Answer;
use crate::state::heap::{Chunk, Heap, Resource};
use crate::{Amounts, Configuration, Engine, Stop, Symbols};

/// The value that chunks give to a location from which permission is taken.
///
/// SOUNDNESS: the value means something only where the chunks hold permission, and perhaps nothing
/// has been taken at all (trap T2). So only [`Engine::take_location`] makes a usable value of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken(pub(crate) Term);

/// Permission that is missing.
#[derive(Clone, Copy, Debug)]
pub struct Lack {
    pub(crate) reported: Reported,
    /// The claim that there is enough.
    enough: Term,
    /// A proposition that holds where the lack has been reported and could not be assumed away.
    lacking: Term,
}

impl Engine<'_> {
    /// Returns the value of a location, if some permission to it is held.
    pub fn lookup(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        self.touch(resource, arguments)?;
        let heap = self.here.heap.clone();
        if !heap.quantified(resource).is_empty() {
            return self.lookup_quantified(resource, arguments, blame);
        }
        let chunks = heap.of(resource);
        if let Some(index) = self.find_held(chunks, arguments)? {
            return Ok(Some(chunks[index].value));
        }
        if chunks.is_empty() {
            return Ok(None);
        }
        // All chunks together are enough if, for each way of aliasing, one of them is the location.
        let total = self.held(chunks, arguments);
        let some = self.terms.lt(Terms::NONE, total);
        if self.ask_obligation(some)? != Answer::Yes {
            return Ok(None);
        }
        if let Some(index) = self.find_held(chunks, arguments)? {
            return Ok(Some(chunks[index].value));
        }
        self.summarised_value(resource, chunks, arguments).map(Some)
    }

    /// Returns the index of a chunk that is the location and holds permission.
    fn find_held(&mut self, chunks: &[Chunk], arguments: &[Term]) -> Result<Option<usize>, Stop> {
        for (index, chunk) in chunks.iter().enumerate() {
            if chunk.arguments == arguments {
                let positive = self.terms.lt(Terms::NONE, chunk.amount);
                if self.check(positive)? {
                    return Ok(Some(index));
                }
            }
        }
        for (index, chunk) in chunks.iter().enumerate() {
            if chunk.arguments != arguments {
                let positive = self.terms.lt(Terms::NONE, chunk.amount);
                let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
                let held = self.terms.and([alias, positive]);
                if held != Terms::FALSE && self.check(held)? {
                    return Ok(Some(index));
                }
            }
        }
        Ok(None)
    }

    /// Returns the chunks that are certainly the location.
    fn same_for_sure(&mut self, chunks: &[Chunk], arguments: &[Term]) -> Result<Vec<Chunk>, Stop> {
        let mut same = Vec::new();
        for chunk in chunks {
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            if self.check(alias)? {
                same.push(chunk.clone());
            }
        }
        Ok(same)
    }

    /// Adds permission to the heap. It is merged with a chunk of the same arguments.
    pub fn add_chunk(&mut self, resource: Resource, chunk: Chunk) -> Result<(), Stop> {
        if chunk.amount == Terms::NONE {
            return Ok(());
        }
        self.note_received(resource, &chunk.arguments, chunk.amount);
        self.assume_chunk_facts(resource, &chunk)?;
        self.touch(resource, &chunk.arguments)?;
        // The values of wands tell nothing (trap T10e).
        if matches!(resource, Resource::Wand(_)) {
            self.heap_to_extend().push(resource, chunk);
            return Ok(());
        }
        let same =
            self.here.heap.of(resource).iter().position(|old| old.arguments == chunk.arguments);
        let Some(index) = same else {
            self.heap_to_extend().push(resource, chunk);
            return Ok(());
        };
        let old = self.here.heap.of(resource)[index].clone();
        let merged = self.merged(resource, &old, &chunk)?;
        self.assume_chunk_facts(resource, &merged)?;
        self.heap_to_extend().replace(resource, index, Some(merged));
        Ok(())
    }

    /// Adds all permission of another heap.
    pub fn add_all(&mut self, heap: &Heap) -> Result<(), Stop> {
        for (resource, chunks) in heap.resources() {
            for chunk in chunks {
                self.add_chunk(resource, chunk.clone())?;
            }
        }
        for (resource, chunks) in heap.quantified_resources() {
            for chunk in chunks {
                self.here.heap.push_quantified(resource, chunk.clone());
            }
        }
        Ok(())
    }

    /// Merges two portions of one location.
    ///
    /// SOUNDNESS: a value counts only where its amount is positive (trap T2).
    fn merged(&mut self, resource: Resource, old: &Chunk, new: &Chunk) -> Result<Chunk, Stop> {
        let value = if old.value == new.value {
            old.value
        } else {
            let equal = self.terms.identical(old.value, new.value);
            let old_held = self.terms.lt(Terms::NONE, old.amount);
            let old_held = self.established(old_held)?;
            let new_held = self.terms.lt(Terms::NONE, new.amount);
            let new_held = self.established(new_held)?;
            if old_held == Terms::TRUE
                && !(new_held == Terms::TRUE && self.is_known_outside(new.value, old.value))
            {
                let fact = self.terms.implies(new_held, equal);
                self.learn_agreement(fact)?;
                old.value
            } else if new_held == Terms::TRUE {
                let fact = self.terms.implies(old_held, equal);
                self.learn_agreement(fact)?;
                new.value
            } else {
                let sort = self.resource_sort(resource);
                let value = self.fresh("merged", sort);
                for (held, part) in [(old_held, old.value), (new_held, new.value)] {
                    let equal = self.terms.identical(value, part);
                    let fact = self.terms.implies(held, equal);
                    self.assume(fact)?;
                }
                let defined = self.terms.ite(old_held, old.value, new.value);
                let definition = self.terms.identical(value, defined);
                self.export_definition(value, definition);
                value
            }
        };
        let amount = self.terms.add(old.amount, new.amount);
        Ok(Chunk { arguments: old.arguments.clone(), value, amount })
    }

    /// Takes `loss` of a location from ordinary chunks.
    pub(super) fn take_from_ordinary(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        if let Some(taken) = self.take_from_one(resource, arguments, loss)? {
            return Ok(Some(taken));
        }
        if loss == Terms::NONE {
            return Ok(Some(Taken(self.nothing(resource))));
        }
        // Permission that is not in one chunk is sought in the heaps around, too.
        if self.here.may_transfer() {
            return Ok(None);
        }
        let left = self.here.left();
        let total = self.held(left.of(resource), arguments);
        drop(left);
        let enough = self.terms.le(loss, total);
        if self.ask_obligation(enough)? != Answer::Yes {
            return Ok(None);
        }
        // Consequences of the heap's shape may have become known on the way.
        if let Some(taken) = self.take_from_one(resource, arguments, loss)? {
            return Ok(Some(taken));
        }
        self.take_from_all(resource, arguments, loss).map(Some)
    }

    /// Returns the value of a location where amounts do not matter: if there is some permission to
    /// it, or none is asked for.
    pub(super) fn value_if_some(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let needed = self.terms.lt(Terms::NONE, loss);
        if needed == Terms::FALSE {
            return Ok(Some(Taken(self.nothing(resource))));
        }
        let left = self.here.left();
        let chunks = left.of(resource);
        if let Some(index) = self.find_held(chunks, arguments)? {
            return Ok(Some(Taken(chunks[index].value)));
        }
        let total = self.held(chunks, arguments);
        let some = self.terms.lt(Terms::NONE, total);
        let enough = self.terms.implies(needed, some);
        if self.ask_obligation(enough)? != Answer::Yes {
            return Ok(None);
        }
        self.summarised_value(resource, chunks, arguments).map(|value| Some(Taken(value)))
    }

    /// Returns a condition, or "true" if the condition follows from the path. Amounts are often
    /// positive by a function's postcondition (`0 < read()`). A value that still depends on such a
    /// condition is a term that no trigger may contain.
    pub(super) fn established(&mut self, condition: Term) -> Result<Term, Stop> {
        if self.terms.as_bool(condition).is_none() && self.check(condition)? {
            self.assume(condition)?;
            return Ok(Terms::TRUE);
        }
        Ok(condition)
    }

    /// Reports that there is not enough permission in `heap` (`needed`: `None` for any), and
    /// assumes that there is enough if possible.
    pub fn fail_permission(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
        needed: Option<Term>,
        blame: Blame,
        at: Span,
    ) -> Result<Reported, Stop> {
        let lack = self.report_lack(heap, resource, arguments, needed, blame, at)?;
        self.assume_no_lack(lack)?;
        Ok(lack.reported)
    }

    /// Reports that there is not enough permission in `heap`. Permission that was missing before is
    /// no news.
    pub(crate) fn report_lack(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
        needed: Option<Term>,
        blame: Blame,
        at: Span,
    ) -> Result<Lack, Stop> {
        let held = self.held_for_sure(heap, resource, arguments, blame)?;
        let enough = match needed {
            Some(amount) => self.is_enough(amount, held),
            None => self.terms.lt(Terms::NONE, held),
        };
        let lacking = lacking(&mut self.terms, resource, arguments);
        let reported = if self.is_known_to_lack(lacking, enough, needed, blame, arguments)? {
            self.incidents.failed = true;
            self.mark_unframed(blame)?;
            self.log.rely_on_earlier_report()
        } else {
            let reported = self.report_permission(blame, at)?;
            self.tell_shortfall(reported, heap, resource, arguments, needed);
            self.log.note_lacking(lacking);
            reported
        };
        Ok(Lack { reported, enough, lacking })
    }

    /// Assumes that there is enough permission, if possible; else notes the lack. Tells whether
    /// permission is certainly missing.
    pub(crate) fn assume_no_lack(&mut self, lack: Lack) -> Result<bool, Stop> {
        // In a package, the missing permission may be in the heaps around.
        if !self.here.package.reserve.is_empty() || self.assume_failed(lack.enough)? {
            return Ok(false);
        }
        self.assume(lack.lacking)?;
        Ok(true)
    }

    /// Tells whether a lack of permission is no news. Either the location has been missing on all
    /// ways that lack it now, or the location or the amount is tainted, or the location is read
    /// twice in one statement.
    fn is_known_to_lack(
        &mut self,
        lacking: Term,
        enough: Term,
        needed: Option<Term>,
        blame: Blame,
        arguments: &[Term],
    ) -> Result<bool, Stop> {
        // The log knows a function as one place only.
        let is_read = needed.is_none() || blame.is_of_application();
        if is_read && !self.setting.is_function && self.recall(Recalled::Lacking(lacking))? {
            return Ok(true);
        }
        if self.recall(Recalled::AnyError)? {
            let told = self.terms.or([lacking, enough]);
            if self.ask_obligation(told)? == Answer::Yes {
                return Ok(true);
            }
        }
        for &term in arguments.iter().chain(&[enough]) {
            if self.is_tainted(term)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reports that there is not enough permission, unless the path is contradictory: then it ends.
    pub fn report_permission(&mut self, blame: Blame, at: Span) -> Result<Reported, Stop> {
        if self.is_dead()? {
            return Err(Stop::Infeasible);
        }
        let of_lack = Blame { error: blame.lacking.unwrap_or(blame.error), ..blame };
        let reported = self.fail(Answer::No, of_lack, Reason::InsufficientPermission, at);
        self.mark_unframed(blame)?;
        Ok(reported)
    }

    /// Returns the amount that a heap certainly holds of a location. After a failure, this amount
    /// is assumed to suffice.
    ///
    /// Another location that may be the same does not count: the assumption that it is the same
    /// would lead to errors that nobody can mend. Contracts and applications are different, since
    /// each clause of a contract is judged alone.
    fn held_for_sure(
        &mut self,
        heap: &Heap,
        resource: Resource,
        arguments: &[Term],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let mut heap = heap.clone();
        if !(blame.is_of_contract() || blame.is_of_application()) {
            let chunks = self.same_for_sure(heap.of(resource), arguments)?;
            heap.set(resource, chunks);
        }
        Ok(self.held_in(&heap, resource, arguments))
    }

    /// Adds a location after a report that it is missing, if it can be held.
    pub(crate) fn add_missing(&mut self, resource: Resource, chunk: Chunk) -> Result<(), Stop> {
        if let Resource::Field(_) = resource {
            let exists = self.terms.differs(chunk.arguments[0], Terms::NULL);
            if !self.assume_failed(exists)? {
                return Ok(());
            }
        }
        self.add_chunk(resource, chunk)
    }

    /// Reports that the receiver of an inaccessible field might be null, for programs that ask for
    /// this, and assumes that the receiver is not null. Tells whether it has been reported.
    ///
    /// SOUNDNESS: permission is missing here, so this report comes beside another one. If
    /// permission is found after this assumption, there is a report.
    pub(crate) fn fail_receiver(
        &mut self,
        receiver: Term,
        blame: Blame,
        at: Span,
    ) -> Result<bool, Stop> {
        if !self.program.origins.tells_null_receivers {
            return Ok(false);
        }
        let exists = self.terms.differs(receiver, Terms::NULL);
        if exists == Terms::TRUE {
            return Ok(false);
        }
        let answer = self.ask_obligation(exists)?;
        if answer != Answer::No {
            return Ok(false);
        }
        let reported = self.fail_at(exists, answer, blame, Reason::ReceiverNull, at);
        self.tell_receiver(reported, receiver);
        self.assume_failed(exists)?;
        Ok(true)
    }

    /// Takes from a single chunk that has enough.
    fn take_from_one(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let left = self.here.left();
        let chunks = left.of(resource);
        let same = |chunk: &Chunk| chunk.arguments == arguments;
        let (mut order, others): (Vec<usize>, Vec<usize>) =
            (0..chunks.len()).partition(|&index| same(&chunks[index]));
        order.extend(others);
        for index in order {
            let chunk = &left.of(resource)[index];
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            let enough = self.terms.le(loss, chunk.amount);
            let fits = self.terms.and([alias, enough]);
            if fits == Terms::FALSE || !self.check(fits)? {
                continue;
            }
            // Another holder of the old version would make the new one a copy.
            let chunk = chunk.clone();
            drop(left);
            let rest = self.terms.sub(chunk.amount, loss);
            let depleted = self.terms.identical(rest, Terms::NONE);
            let value = chunk.value;
            let kept = if self.check(depleted)? {
                None
            } else {
                let kept = Chunk { amount: rest, ..chunk };
                self.assume_chunk_facts(resource, &kept)?;
                Some(kept)
            };
            self.here.left_mut().replace(resource, index, kept);
            return Ok(Some(Taken(value)));
        }
        Ok(None)
    }

    /// Takes an amount that is still open (a wildcard): less than the held amount, which has to be
    /// positive (trap T9b).
    pub(super) fn take_inexact(
        &mut self,
        resource: Resource,
        arguments: &[Term],
        loss: Term,
    ) -> Result<Option<Taken>, Stop> {
        let left = self.here.left();
        let chunks = left.of(resource);
        if let Some(index) = self.find_held(chunks, arguments)? {
            let chunk = chunks[index].clone();
            drop(left);
            let less = self.terms.lt(loss, chunk.amount);
            self.assume(less)?;
            let value = chunk.value;
            let amount = self.terms.sub(chunk.amount, loss);
            let kept = Chunk { amount, ..chunk };
            self.assume_chunk_facts(resource, &kept)?;
            self.here.left_mut().replace(resource, index, Some(kept));
            return Ok(Some(Taken(value)));
        }
        let total = self.held(chunks, arguments);
        let some = self.terms.lt(Terms::NONE, total);
        if self.ask_obligation(some)? != Answer::Yes {
            return Ok(None);
        }
        // Less than every portion that may be the location: all aliases together keep something
        // (trap T9f).
        for chunk in chunks {
            let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
            let positive = self.terms.lt(Terms::NONE, chunk.amount);
            let meant = self.terms.and([alias, positive]);
            let less = self.terms.lt(loss, chunk.amount);
            let fact = self.terms.implies(meant, less);
            self.assume(fact)?;
        }
        self.take_from_all(resource, arguments, loss).map(Some)
    }
}

impl Symbols<'_> {
    /// Returns the permission that chunks hold to a location: a sum over all that may be it.
    pub(crate) fn held(&mut self, chunks: &[Chunk], arguments: &[Term]) -> Term {
        let summands: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                let alias = same_arguments(&mut self.terms, &chunk.arguments, arguments);
                self.terms.ite(alias, chunk.amount, Terms::NONE)
            })
            .collect();
        self.terms.sum(Sort::PERM, summands)
    }

    /// Returns the value, in a snapshot, of a location to which no permission is asked for: the
    /// same everywhere.
    pub(crate) fn nothing(&mut self, resource: Resource) -> Term {
        let sort = self.resource_sort(resource);
        let name = format!("nothing.{}", self.terms.sort_name(sort));
        self.terms.constant(&name, sort)
    }

    /// Returns the permission that a heap holds to a location.
    pub fn held_in(&mut self, heap: &Heap, resource: Resource, arguments: &[Term]) -> Term {
        if heap.quantified(resource).is_empty() {
            return self.held(heap.of(resource), arguments);
        }
        let parts = self.portions(resource, heap);
        self.held_in_portions(resource, &parts, arguments)
    }
}

impl Configuration<'_> {
    /// Returns the heap, for permission that comes in the present reading of amounts.
    pub(crate) fn heap_to_extend(&mut self) -> &mut Heap {
        self.here.heap.amounts = self.here.heap.amounts.weaker(self.frame.assertion.amounts);
        &mut self.here.heap
    }

    /// Tells whether amounts stay exact when permission is added now (trap T8).
    pub fn extends_exactly(&self) -> bool {
        self.here.heap.amounts.weaker(self.frame.assertion.amounts) == Amounts::Exact
    }

    /// Assumes the facts about every chunk of a heap: 0 ≤ p, and for fields p ≤ 1 (where amounts
    /// are exact, trap T8) and p > 0 ⇒ r ≠ null.
    pub(super) fn assume_chunk_facts(
        &mut self,
        resource: Resource,
        chunk: &Chunk,
    ) -> Result<(), Stop> {
        let not_negative = self.terms.le(Terms::NONE, chunk.amount);
        self.assume(not_negative)?;
        if let Resource::Field(_) = resource {
            if self.extends_exactly() {
                let bounded = self.terms.le(chunk.amount, Terms::WRITE);
                self.assume(bounded)?;
            }
            let positive = self.terms.lt(Terms::NONE, chunk.amount);
            let not_null = self.terms.differs(chunk.arguments[0], Terms::NULL);
            let fact = self.terms.implies(positive, not_null);
            self.assume(fact)?;
        }
        Ok(())
    }

    /// Makes the claim that the held amount suffices for the needed one. If amounts do not matter,
    /// or the needed amount is still open, some suffices for some.
    pub fn is_enough(&mut self, needed: Term, held: Term) -> Term {
        if self.frame.assertion.amounts == Amounts::Exact && self.is_exact(needed) {
            self.terms.le(needed, held)
        } else {
            let (wanted, some) = (self.terms.is_some(needed), self.terms.is_some(held));
            self.terms.implies(wanted, some)
        }
    }

    /// Forgets the chunks with these arguments after a failed consume, so that the rest claims
    /// nothing.
    pub fn drop_aliases(&mut self, resource: Resource, arguments: &[Term]) -> Result<(), Stop> {
        if self.frame.assertion.amounts == Amounts::SomeOrNone {
            return Ok(());
        }
        let left = self.here.left();
        let mut kept = left.of(resource).to_vec();
        kept.retain(|chunk| chunk.arguments != arguments);
        if kept.len() != left.of(resource).len() {
            self.here.left_mut().set(resource, kept);
        }
        if !left.quantified(resource).is_empty() {
            let gone = self.need_of(resource, arguments, Terms::WRITE);
            self.forget_quantified(resource, gone)?;
        }
        Ok(())
    }
}

/// Makes the claim that two locations of one resource are the same. Collections are compared by
/// their elements.
pub(crate) fn same_arguments(terms: &mut Terms, left: &[Term], right: &[Term]) -> Term {
    let equations: Vec<_> =
        left.iter().zip(right).map(|(&left, &right)| terms.eq(left, right)).collect();
    terms.and(equations)
}

/// Makes the proposition that a missing location has been reported and could not be assumed away.
fn lacking(terms: &mut Terms, resource: Resource, arguments: &[Term]) -> Term {
    let name = format!("lacking@{resource:?}");
    let sorts: Vec<_> = arguments.iter().map(|&argument| terms.sort(argument)).collect();
    let symbol = terms.declare_fresh(&name, &sorts, Sort::BOOL);
    terms.apply(symbol, arguments)
}
