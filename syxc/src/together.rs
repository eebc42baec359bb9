//! Instances that are opened beside each other. The engine knows what they tell together
//! ([`Above`]). The rules here know which instances may be opened, and how.

use chalice::program::{AccessTarget, ExprKind};
use sil::program::{FieldId, PredicateId};

use super::many::has_many;
use super::table::Invariant;
use super::{Chalice, Direct, Threads, renumbered, scope};
use symex::rules::language::Language;
use symex::{Above, View};

/// Returns the rules that the engine needs where a Chalice program is executed directly.
pub fn above() -> Above {
    Above {
        unfold: |engine, predicate, arguments, amount, merges, at, blame| {
            let joins = engine.mode.joins || merges;
            Chalice::of(engine).in_mode(
                |mode| mode.joins = joins,
                |chalice| chalice.open(predicate, arguments, amount, at, blame),
            )
        },
        fields_in: |engine, predicate| Chalice::of(engine).threads.fields_in(predicate),
        // The bodies stand in the tree of Chalice, so findings name no instances to open.
        holds: |_, _, _, _| false,
        amounts: Some(super::amount_in_words),
        consolidation: |engine| engine.learn_from_heap(),
        // The domains of the table are only sorts.
        axioms: |_, _, _| Ok(()),
    }
}

impl Threads<'_, '_> {
    /// Returns the fields of which an instance may hold a part, without those in instances inside
    /// it. Returns none for a predicate that leads back to itself, and for one that no rule knows.
    ///
    /// SOUNDNESS: where permissions are counted, a share of a counting permission is none. Where
    /// amounts mean nothing, sums of them tell nothing. A reader of a monitor has other amounts
    /// than those that are written.
    fn fields_in(&mut self, predicate: PredicateId) -> Option<Vec<FieldId>> {
        let direct = self.direct;
        if self.counts() || self.whole().is_some() || self.frame.thread.is_reader {
            return None;
        }
        let Invariant::Predicate(declared) = direct.invariant(predicate) else { return None };
        if has_many(&declared.body) {
            return None;
        }
        if direct.leads_back(renumbered(predicate)) || !scope::may_be_opened(direct, predicate) {
            return None;
        }
        let mut fields = Vec::new();
        declared.body.for_each(&mut |part| {
            let ExprKind::Access(access) = &part.kind else { return };
            match &access.target {
                AccessTarget::Field { field, .. } => fields.push(direct.field(*field)),
                AccessTarget::AllFields { class, .. } => {
                    fields.extend(direct.tree.classes[*class].fields().map(renumbered::<_, _>));
                }
                _ => {}
            }
        });
        fields.sort_unstable_by_key(|field| field.into_raw());
        fields.dedup();
        Some(fields)
    }
}

impl Direct {
    /// Returns the predicates whose instances may hold instances of themselves.
    pub fn recursive_predicates(&self) -> rustc_hash::FxHashSet<PredicateId> {
        let predicates = self.tree.predicates.iter().map(|(id, _)| id);
        predicates.filter(|&id| self.leads_back(id)).map(renumbered).collect()
    }

    /// Tells whether an instance may hold another one of the same predicate, perhaps inside of
    /// others.
    fn leads_back(&self, predicate: chalice::program::PredicateId) -> bool {
        let mut pending = vec![predicate];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = false;
        while let Some(outer) = pending.pop() {
            self.tree.predicates[outer].body.for_each(&mut |part| {
                let (ExprKind::Access(access) | ExprKind::Unfolding { access, .. }) = &part.kind
                else {
                    return;
                };
                if let AccessTarget::Predicate { predicate: inner, .. }
                | AccessTarget::ElementsPredicate { predicate: inner, .. } = access.target
                {
                    found |= inner == predicate;
                    if seen.insert(inner) {
                        pending.push(inner);
                    }
                }
            });
        }
        found
    }
}
