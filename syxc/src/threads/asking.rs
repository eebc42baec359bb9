//! Functions that ask for the held locks of the thread that applies them.
//!
//! SOUNDNESS: the value of such a function may change whenever the thread acquires or releases a
//! lock. So the held locks are an argument: the set of the held objects and, if there are readers,
//! of those held for reading. Levels are no arguments, so functions cannot ask for them.

use chalice::program::FunctionId;
use sil::source::Span;
use smt::terms::{Quant, Sort, Symbol, Term, TermKind, Terms};

use super::locks::{base_held, moment_sort};
use crate::Threads;
use symex::Stop;
use symex::state::thread::{Changes, Locks};

impl Threads<'_, '_> {
    /// Returns the sorts of the sets of held objects that a function gets.
    pub(crate) fn asked_sorts(&mut self, function: FunctionId) -> Vec<Sort> {
        let set = self.terms.set_sort(Sort::REF);
        vec![set; self.direct.locking.asked_sets(function)]
    }

    /// Returns the sets of held objects that an application passes to a function.
    pub(crate) fn asked(&mut self, function: FunctionId, at: Span) -> Result<Vec<Term>, Stop> {
        let count = self.direct.locking.asked_sets(function);
        if count == 0 {
            return Ok(Vec::new());
        }
        let Locks { base, held, read, .. } = self.locks(at)?;
        let mut sets = vec![self.set(false, base, &held)?];
        if count > 1 {
            sets.push(self.set(true, base, &read)?);
        }
        Ok(sets)
    }

    /// Assumes inside a function that the applying thread holds the given sets of objects.
    pub(crate) fn knows_asked(&mut self, told: &[Term]) {
        let Some((&held, others)) = told.split_first() else { return };
        let read = others.first().copied().unwrap_or(held);
        let moment = moment_symbol(&mut self.terms);
        let base = self.terms.apply(moment, &[held, read]);
        let unknown = self.unknown_locks();
        self.frame.thread.locks = Some(Locks { base: Some(base), ..unknown });
    }

    /// Returns the set of the objects that are held, or held for reading.
    fn set(
        &mut self,
        for_reading: bool,
        base: Option<Term>,
        changes: &Changes,
    ) -> Result<Term, Stop> {
        let mut set = match base {
            None => self.terms.set_empty(Sort::REF),
            Some(base) => match sets_of(&mut self.terms, base) {
                Some((held, read)) => {
                    if for_reading {
                        read
                    } else {
                        held
                    }
                }
                None => self.set_at(for_reading, base)?,
            },
        };
        for (object, is_inside) in changes.iter() {
            let only = self.terms.set_singleton(object);
            let more = self.terms.set_union(set, only);
            let fewer = self.terms.set_difference(set, only);
            set = self.terms.ite(is_inside, more, fewer);
        }
        Ok(set)
    }

    /// Returns the set of the objects held at a moment that is otherwise unknown.
    fn set_at(&mut self, for_reading: bool, base: Term) -> Result<Term, Stop> {
        let (set, moment) = (self.terms.set_sort(Sort::REF), self.terms.sort(base));
        let name = if for_reading { "direct.rdheld.set" } else { "direct.held.set" };
        let symbol = self.terms.declare_function(name, &[moment], set);
        let all = self.terms.apply(symbol, &[base]);
        let object = self.fresh_variable("o", Sort::REF);
        let inside = self.terms.set_contains(object, all);
        let is_held = if for_reading {
            self.base_read(base, object)
        } else {
            base_held(&mut self.terms, base, object)
        };
        let same = self.terms.iff(inside, is_held);
        let triggers = vec![vec![inside], vec![is_held]];
        let fact = self.quantify(Quant::Forall, &[object], triggers, same);
        self.assume(fact)?;
        Ok(all)
    }
}

/// Returns the symbol of moments, by the sets of objects held and held for reading.
fn moment_symbol(terms: &mut Terms) -> Symbol {
    let (set, moment) = (terms.set_sort(Sort::REF), moment_sort(terms));
    terms.declare_function("direct.locks.of", &[set, set], moment)
}

/// Returns the sets of objects held, and held for reading, at a moment that is given by these sets.
pub(crate) fn sets_of(terms: &mut Terms, base: Term) -> Option<(Term, Term)> {
    let moment = moment_symbol(terms);
    match terms.kind(base) {
        TermKind::Apply(symbol, sets) if *symbol == moment => Some((sets[0], sets[1])),
        _ => None,
    }
}
