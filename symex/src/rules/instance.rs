//! Taking an instance of a predicate, and facts about one.

use sil::program::PredicateId;
use sil::source::Span;
use smt::terms::{Sort, Term};

use crate::findings::blame::Blame;
use crate::state::heap::Resource;
use crate::{Engine, Path, Stop};

impl Engine<'_> {
    /// Takes an instance that is opened, and returns its snapshot. After a report, the snapshot is
    /// any.
    ///
    /// SOUNDNESS: if a trusted expression has no instance all the same, there is no snapshot, and
    /// nothing is produced. A body beside the permissions that it stands for would be a
    /// contradiction (trap T17b).
    pub(crate) fn take_instance(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        let resource = Resource::Predicate(predicate);
        let snapshot = match self.take_location(resource, arguments, amount)? {
            Some(snapshot) => snapshot,
            None if blame.is_trusted() => return Ok(None),
            None => {
                let left = self.here.left();
                let lack = self.report_lack(&left, resource, arguments, Some(amount), blame, at)?;
                let is_missing = self.assume_no_lack(lack)?;
                self.drop_aliases(resource, arguments)?;
                let snapshot = self.fresh("missing", Sort::SNAP);
                if is_missing {
                    self.taint(snapshot, lack.reported)?;
                }
                snapshot
            }
        };
        self.gathered.unfolded.push((predicate, arguments.to_vec(), snapshot));
        Ok(Some(snapshot))
    }
}

impl Path<'_> {
    /// Assumes trigP(s, args), which makes the instance known to the axioms of functions that
    /// unfold it.
    pub(crate) fn assume_trigger(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        snapshot: Term,
    ) -> Result<(), Stop> {
        let symbol = self.predicate_trigger(predicate);
        let mut operands = vec![snapshot];
        operands.extend(arguments);
        let fact = self.terms.apply(symbol, &operands);
        self.assume(fact)
    }
}
