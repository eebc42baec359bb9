//! The loop rule.

use std::rc::Rc;

use sil::cfg::{BlockId, BlockKind, Loop};
use sil::program::Expr;
use sil::source::Span;

use super::contract::checked_again;
use super::{Driver, Place};
use crate::analysis::has_two_readings;
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::language::Language;
use symex::state::Forgot;
use symex::state::heap::Heap;
use symex::{Configuration, Stop, View};

impl Driver<'_, '_> {
    /// Enters a loop from outside. The invariants have to be well-formed in the most general state
    /// of an iteration, and have to hold on entry. Then the path goes on in that general state. The
    /// permission that the invariants do not need is framed around the loop.
    pub(super) fn enter_loop(
        &mut self,
        block: BlockId,
        the_loop: &Loop,
    ) -> Result<Option<Place>, Stop> {
        let invariants = &the_loop.invariants;
        if self.sil.choose(&[None, None])? == 0 {
            self.forget(the_loop);
            self.sil.produce_all(invariants, None, |clause| {
                Blame::new(ErrorId::NotWellformed, clause.span)
            })?;
            return Ok(None);
        }
        let again = self.sil.framed_but_ill_formed(spans(invariants))?;
        let blame = checked_again(ErrorId::InvariantNotEstablished, again);
        self.sil.show_state_at_all(spans(invariants));
        self.sil.consume_all(invariants, blame)?;
        let frame = self.sil.here.heap.clone();
        self.sil.here.framed.push(frame);
        self.forget(the_loop);
        let blame = checked_again(ErrorId::NotWellformed, self.sil.ill_formed(spans(invariants))?);
        // Invariants that hold on entry are no contradiction, unless the assumed reading differs
        // from the shown one.
        let may_be_vacuous = invariants.iter().any(has_two_readings) && !self.sil.seems_dead()?;
        let first = invariants.first().filter(|_| may_be_vacuous).map(|first| first.span);
        if let Some(first) = first {
            self.met.entry(first).or_insert(false);
        }
        // An invariant that failed on entry may contradict known facts.
        let mut has_failed = false;
        for clause in invariants {
            let blame = Blame::new(ErrorId::InvariantNotEstablished, clause.span);
            has_failed |= self.sil.has_failed(blame, Reason::AssertionFalse)?;
        }
        let produce = |sil: &mut Sil<'_, '_>| sil.produce_all(invariants, None, blame);
        self.sil
            .exchanging(|engine| &mut engine.frame.assertion.has_failed, has_failed, produce)
            .0?;
        self.sil.end_unframed_by(spans(invariants))?;
        if let Some(first) = first {
            if self.sil.seems_dead()? {
                return Err(Stop::Infeasible);
            }
            self.met.insert(first, true);
        }
        self.store_label(block);
        self.note_forgotten(block);
        let enters = match &the_loop.condition {
            Some(condition) => self.decide(condition, ErrorId::WhileFailed)?,
            None => true,
        };
        if enters {
            return Ok(Some(Place::Block(the_loop.entry)));
        }
        let frame = self.sil.here.framed.pop().expect("pushed above");
        self.sil.add_all(&frame)?;
        Ok(Some(Place::Block(the_loop.then.expect("a loop with a condition says where it leads"))))
    }

    /// Goes to the state at the start of an arbitrary iteration, before the invariants. Nothing is
    /// known about locations and variables that the loop writes (trap T12), no permission is held,
    /// and the labels inside have not been passed.
    pub(super) fn forget(&mut self, the_loop: &Loop) {
        self.sil.here.heap = Heap::default();
        self.sil.begin_epoch();
        self.sil.havoc(the_loop.written.iter().copied());
        let labels = Rc::make_mut(&mut self.sil.frame.past.labels);
        for label in &the_loop.labels {
            labels.remove(label);
        }
    }

    /// Keeps the state behind the invariants, for counterexamples.
    fn note_forgotten(&mut self, block: BlockId) {
        if !self.sil.context.options.counterexample {
            return;
        }
        let head = self.graphs[self.implementation].blocks[block].span;
        let Configuration { frame, here, .. } = &mut self.sil.core().config;
        frame.past.forgot = Some(Rc::new(Forgot {
            head,
            store: frame.store.clone(),
            heap: here.heap.clone(),
            around: here.framed.last().cloned().unwrap_or_default(),
        }));
    }

    pub(super) fn end_iteration(&mut self, block: BlockId) -> Result<Option<Place>, Stop> {
        let graphs = self.graphs;
        let blocks = &graphs[self.implementation].blocks;
        let head = blocks[block].parent.expect("`next` stands in a loop");
        let BlockKind::Loop(the_loop) = &blocks[head].kind else {
            unreachable!("the parent of a block is a loop")
        };
        self.sil.end_doubtful()?;
        let invariants = &the_loop.invariants;
        let again = self.sil.framed_but_ill_formed(spans(invariants))?;
        let blame = checked_again(ErrorId::InvariantNotPreserved, again);
        self.sil.show_state_at_all(spans(invariants));
        self.sil.show_state_at_end(blocks[head].span);
        self.sil.consume_all(invariants, blame)?;
        Ok(None)
    }
}

/// Returns the places of clauses.
pub(super) fn spans(clauses: &[Expr]) -> impl Iterator<Item = Span> {
    clauses.iter().map(|clause| clause.span)
}
