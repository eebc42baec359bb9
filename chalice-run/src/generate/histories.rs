//! Starts of methods whose contracts say how an object was when it was last released or acquired.

use crate::choices::About;
use crate::fault::Res;
use crate::heap::{Holder, Loc, ObjectKind, Part};
use crate::machine::{Evaluator, OldState, World};
use crate::value::{Level, Ref, Value};

impl Evaluator<'_> {
    /// The thread of a start has released, or acquired, an object: others may have changed it
    /// since.
    pub(crate) fn grant_past(&mut self, object: Ref, thread: usize, is_acquire: bool) -> Res<()> {
        let seen = self.threads[thread].seen.entry(object).or_default();
        let known = if is_acquire { &seen.acquired } else { &seen.released };
        if known.is_some() {
            return Ok(());
        }
        // The monitor tells whether the object is shared.
        self.read(object, 0, chalice::Span::default())?;
        let state = self.record(Some(thread));
        let epoch = state.epoch;
        let seen = self.threads[thread].seen.entry(object).or_default();
        *(if is_acquire { &mut seen.acquired } else { &mut seen.released }) = Some(state);
        if self.choices.choose(2, About::Value) == 1 {
            for (object, cell) in self.guarded_cells(object) {
                self.heap.had(object, cell, epoch, Value::Open);
            }
        }
        Ok(())
    }

    /// Makes the earlier states of a start fit together, and fit the present state.
    ///
    /// An object whose level the thread may read, and which it does not hold, has had that level
    /// since: its invariant leads from the state of the release to the present one.
    pub(crate) fn settle_histories(&mut self, thread: usize) -> Res<()> {
        let mut objects: Vec<Ref> = self.threads[thread].seen.keys().copied().collect();
        objects.sort_unstable();
        for object in objects {
            let seen = self.threads[thread].seen.get(&object).cloned().unwrap_or_default();
            let level = Loc::mu(object);
            let reader = self.threads[thread].root;
            let is_read = self.fractions.is_readable(&self.heap.amount(level, reader));
            let is_held = self.threads[thread].held.iter().any(|held| held.object == object);
            let is_shared = self.level_of(object) != Level::BOTTOM;
            let Some(released) = seen.released else { continue };
            let may_differ = is_held || !is_read || !is_shared;
            if may_differ && self.choices.choose(2, About::Value) == 1 {
                // The object has been shared again since, and has another history now.
                let other = self.levels.between(&[], &[]);
                self.heap.had(object, 0, released.epoch, Value::Level(other));
                continue;
            }
            if !is_shared {
                continue;
            }
            self.ask_invariant(object, Some(released.clone()), OldState::Missing)?;
            let old = OldState::At(released);
            match seen.acquired {
                Some(acquired) if is_held => self.ask_invariant(object, Some(acquired), old)?,
                None if is_held => {}
                _ => self.ask_invariant(object, None, old)?,
            }
        }
        Ok(())
    }

    /// The invariant of an object has to hold in a state.
    fn ask_invariant(
        &mut self,
        object: Ref,
        at: Option<crate::heap::Snapshot>,
        old: OldState,
    ) -> Res<()> {
        let ObjectKind::Class(class) = self.heap.object(object).kind else { return Ok(()) };
        let code = self.code;
        let class = &code.classes[class as usize];
        let mut slots = class.frame.initial.clone();
        slots[0] = Value::Ref(object);
        let scope = crate::machine::Scope { at, old, checks: false, ..self.scope.clone() };
        let outer = std::mem::replace(&mut self.scope, scope);
        let mut ignored = crate::transfer::Transfer::check(Holder::Environment);
        let result = self.collect_all(&class.invariants, &mut slots, &mut ignored);
        self.scope = outer;
        result
    }
}

impl World<'_> {
    /// Returns the fields of an object, and those of others that only its monitor lets anybody
    /// change.
    fn guarded_cells(&self, object: Ref) -> Vec<(Ref, u32)> {
        let is_guarded = |other: Ref, cell: u32| {
            let loc = Loc { object: other, part: Part::Cell(cell) };
            let holdings = self.heap.holdings(loc);
            other == object || holdings.is_some_and(|one| one.is_whole(Holder::Monitor(object)))
        };
        let objects = self.heap.objects.iter().enumerate();
        let cells = objects.flat_map(|(at, other)| {
            (1..other.cells.len() as u32).map(move |cell| (Ref(at as u32), cell))
        });
        cells.filter(|&(other, cell)| is_guarded(other, cell)).collect()
    }
}
