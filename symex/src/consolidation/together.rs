//! Consequences of opening all predicate instances at once.
//!
//! A location has one value even if one instance holds a part of it, and another instance or the
//! heap the rest. The snapshots do not tell this. And two locations of which more than full
//! permission is held together are different. An obligation that fails otherwise is tried again
//! with these facts. [`super::nesting`] deals with instances inside each other.
//!
//! Instances of recursive predicates are left alone: their facts would come by chance, after many
//! steps.
//!
//! SOUNDNESS: only instances of the present heap count, with an amount that is positive for sure
//! (trap T4), where amounts are exact (trap T8).

use std::collections::BTreeMap;
use std::rc::Rc;

use sil::program::{FieldId, PredicateId};
use smt::terms::Terms;

use crate::findings::blame::{Blame, ErrorId};
use crate::state::heap::{Chunk, Heap, Resource};
use crate::{Amounts, Engine, Explore, Stop};

/// The most instances that are opened way by way. With more, the ways through each are merged,
/// since ways of instances beside each other multiply.
const WAY_BY_WAY: usize = 6;

impl Engine<'_> {
    /// Assumes the facts from opening the instances of the heap together. Tells whether there were
    /// instances that had not been opened before.
    pub(crate) fn learn_from_instances(&mut self) -> Result<bool, Stop> {
        let (frame, heap) = (&self.frame, self.here.heap.clone());
        let is_plain = heap.amounts == Amounts::Exact
            && frame.assertion.scale.is_none()
            && frame.assertion.bodies.is_empty()
            && self.mode.bound.is_empty();
        let is_known = frame.opened.as_ref().is_some_and(|known| known.same_version(&heap));
        if !is_plain || is_known {
            return Ok(false);
        }
        self.frame.opened = Some(heap.clone());
        let instances = self.overlapping(&heap)?;
        if instances.is_empty() {
            return Ok(false);
        }
        let merges = instances.len() > WAY_BY_WAY;
        self.join(|engine| {
            engine.here.consuming = None;
            engine.here.package.reserve.clear();
            // Where a precondition is shown, the reading of amounts is that of the precondition.
            // The present heap is as exact as ever.
            engine.frame.assertion.amounts = Amounts::Exact;
            // SOUNDNESS: nothing is taken for good, so no amount may become smaller (trap T9).
            engine.frame.assertion.constrainable = Rc::default();
            for (predicate, Chunk { arguments, amount, .. }) in &instances {
                let at = engine.program.predicates[*predicate].span;
                let blame = Blame::new(ErrorId::UnfoldFailed, at).silent();
                let unfold = engine.setting.above.unfold;
                unfold(engine, *predicate, arguments, *amount, merges, at, blame)?;
            }
            let opened = engine.here.heap.clone();
            engine.learn_from(&opened)?;
            Ok(Terms::TRUE)
        })?;
        Ok(true)
    }

    /// Returns the instances that hold parts of a field, if another chunk or instance holds a part
    /// too.
    fn overlapping(&mut self, heap: &Heap) -> Result<Vec<(PredicateId, Chunk)>, Stop> {
        let mut holders: BTreeMap<FieldId, usize> = BTreeMap::new();
        let mut instances = Vec::new();
        for (resource, chunks) in heap.resources() {
            match resource {
                Resource::Field(field) => *holders.entry(field).or_default() += chunks.len(),
                Resource::Predicate(predicate) => {
                    let Some(fields) = (self.setting.above.fields_in)(self, predicate) else {
                        continue;
                    };
                    for &field in &fields {
                        *holders.entry(field).or_default() += chunks.len();
                    }
                    instances.extend(
                        chunks.iter().map(|chunk| (predicate, chunk.clone(), fields.clone())),
                    );
                }
                Resource::Wand(_) => {}
            }
        }
        let mut chosen = Vec::new();
        for (predicate, chunk, fields) in instances {
            if !fields.iter().any(|field| holders[field] > 1)
                || self.is_ill_formed_predicate(predicate)
            {
                continue;
            }
            let held = self.terms.lt(Terms::NONE, chunk.amount);
            if self.check(held)? {
                chosen.push((predicate, chunk));
            }
        }
        Ok(chosen)
    }
}
