//! The layer of a machine that holds what there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use chalice::Span;

use super::opened::Opened;
use super::{Activation, Config, Counts, OldState, Scope, Thread, Undefined};
use crate::amount::{Amount, Fractions, Sign};
use crate::choices::Choices;
use crate::code::{Class, Code, Recorded};
use crate::heap::{Heap, Held, Holder, Loc, ObjectKind, Permissions, Snapshot};
use crate::value::{Ref, Value};
use chalice_rt::levels::Levels;

/// The layer below all others: the objects, the levels, the threads, and how the run was started.
/// It names and records what there is, and evaluates nothing.
#[derive(Debug, Clone)]
pub struct World<'c> {
    /// The program.
    pub code: &'c Code,
    /// How it is executed.
    pub config: Config,
    /// All objects.
    pub heap: Heap,
    /// All read fractions.
    pub fractions: Fractions,
    /// All lock levels.
    pub levels: Levels,
    /// All threads, in the order of their forks.
    pub threads: Vec<Thread>,
    /// The open decisions.
    pub choices: Choices,
    /// The events, in numbers.
    pub counts: Counts,
    /// The parts that could not be executed: place, kind, number.
    pub skipped: BTreeMap<(Span, &'static str), u64>,
    /// The methods of holders that are activations or loops, by number.
    pub frames: Vec<u32>,
    /// All channels.
    pub channels: Vec<Ref>,
    /// In which state, and for whom, expressions are evaluated.
    pub(crate) scope: Scope,
    /// The instances that are open while an expression is evaluated.
    pub(crate) opened: Opened,
    /// The permissions that the last step moved, if that is noted.
    pub(crate) moved: Vec<(Loc, Amount, Holder, Holder)>,
    /// The object that the running statement is about, for the trace.
    pub(crate) subject: Option<Ref>,
    /// Is a start being generated, so that contradictions are dropped?
    pub(crate) granting: bool,
    /// Part of a contract that was granted without knowing whether it holds, as it could not be
    /// evaluated: what comes of the run may come of no run.
    pub doubt: Option<Span>,
    /// Was the start made from a precondition? Then nobody is there to send what it waits for.
    pub(crate) is_generated: bool,
    /// The bounds of a start.
    pub(crate) bounds: crate::generate::Bounds,
    /// The preferences of the start.
    pub(crate) style: crate::generate::Style,
    /// The number that was chosen last for the start: its place among the hints.
    pub(crate) last_number: Option<usize>,
    /// The model that the start follows.
    pub(crate) following: Option<Box<crate::generate::Following>>,
    /// Integers that the contract mentions, for generated values.
    pub(crate) hints: Arc<[i64]>,
}

impl World<'_> {
    /// Returns a holder for an activation of a method.
    pub(crate) fn new_frame(&mut self, method: u32) -> Holder {
        self.frames.push(method);
        Holder::Frame(self.frames.len() as u32 - 1)
    }

    /// Returns a holder for an iteration of a loop of a method.
    pub(crate) fn new_loop(&mut self, method: u32) -> Holder {
        self.frames.push(method);
        Holder::Loop(self.frames.len() as u32 - 1)
    }

    /// Returns the innermost activation of a thread that has not ended.
    pub(crate) fn top(&mut self, thread: usize) -> &mut Activation {
        self.threads[thread].stack.last_mut().expect("the thread has not ended")
    }

    /// Makes an object of a class for a thread.
    pub(crate) fn allocate(&mut self, thread: Option<usize>, class: u32, holder: Holder) -> Ref {
        let values: Vec<Value> = self.initial_cells(class);
        self.allocate_as(thread, ObjectKind::Class(class), values, holder)
    }

    fn initial_cells(&self, class: u32) -> Vec<Value> {
        let class: &Class = &self.code.classes[class as usize];
        let is_given =
            |at: usize| at == 0 || at > class.declared || class.tracked.contains(&(at as u32));
        let initial = class.cells.iter().enumerate().map(|(at, ty)| {
            let value = crate::code::default_value(ty);
            match self.config.undefined {
                _ if is_given(at) => value,
                Undefined::Zero => value,
                Undefined::Report => Value::Unset(Arc::new(value)),
                Undefined::Choose => Value::Open,
            }
        });
        initial.collect()
    }

    /// Returns the value that a variable of a type has before it is given one.
    pub(crate) fn undefined_value(&mut self, ty: &chalice::program::Type) -> Value {
        match self.config.undefined {
            Undefined::Zero => crate::code::default_value(ty),
            Undefined::Report => Value::Unset(Arc::new(crate::code::default_value(ty))),
            Undefined::Choose => self.choose_value(ty),
        }
    }

    /// Makes an object, channel or token for a thread.
    pub(crate) fn allocate_as(
        &mut self,
        thread: Option<usize>,
        kind: ObjectKind,
        values: Vec<Value>,
        holder: Holder,
    ) -> Ref {
        let name = match thread {
            Some(thread) => {
                self.threads[thread].allocated += 1;
                (thread as u32, self.threads[thread].allocated)
            }
            None => (u32::MAX, self.heap.objects.len() as u32 + 1),
        };
        let object = self.heap.allocate(kind, name, values, holder);
        if matches!(kind, ObjectKind::Channel(_)) {
            self.channels.push(object);
        }
        object
    }

    /// A thread takes a visible step.
    pub(crate) fn tick(&mut self, thread: usize) -> u32 {
        let clock = &mut self.threads[thread].clock;
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        clock[thread] += 1;
        clock[thread]
    }

    /// Is the start of the run being made?
    pub(crate) fn is_starting(&self) -> bool {
        self.granting && self.counts.steps == 0
    }

    /// Notes that something could not be executed.
    pub(crate) fn skip(&mut self, what: &'static str, span: Span) {
        if self.granting {
            self.doubt.get_or_insert(span);
        } else {
            *self.skipped.entry((span, what)).or_default() += 1;
        }
    }

    /// Returns the locks that the thread of the scope holds, in the state of the scope.
    pub(crate) fn held(&self) -> Arc<Vec<Held>> {
        match (&self.scope.at, self.scope.thread) {
            (Some(state), _) => state.held.clone(),
            (None, Some(thread)) => self.threads[thread as usize].held.clone(),
            (None, None) => Arc::default(),
        }
    }

    /// Returns the state of `old` in the scope.
    pub(crate) fn old_state(&self) -> Option<Snapshot> {
        match &self.scope.old {
            OldState::Missing => None,
            OldState::At(state) => Some(state.clone()),
            OldState::Entry => {
                let thread = self.scope.thread? as usize;
                self.threads[thread].stack.last().map(|activation| activation.entry.clone())
            }
            OldState::Now => None,
        }
    }

    /// Records the state as a thread sees it.
    pub(crate) fn record(&mut self, thread: Option<usize>) -> Snapshot {
        let held = thread.map_or_else(Arc::default, |thread| self.threads[thread].held.clone());
        let permissions = self.asked_permissions();
        Snapshot { epoch: self.heap.record(), held, permissions }
    }

    /// Returns the present permissions of the scope's holder, if assertions ask for those of
    /// recorded states.
    pub(crate) fn asked_permissions(&self) -> Option<Arc<Permissions>> {
        let is_asked = self.code.recorded == Recorded::Permissions && !self.granting;
        is_asked.then(|| Arc::new(Permissions::of(&self.heap, self.scope.holder)))
    }

    /// Returns the present permissions that concern a holder, if recorded states keep them.
    pub(crate) fn permissions(&self, holder: Holder) -> Option<Arc<Permissions>> {
        let is_kept = self.config.check_old && !self.granting;
        is_kept.then(|| Arc::new(Permissions::of(&self.heap, holder)))
    }

    /// Is all permission where it was, in sum, and has nobody less than nothing?
    ///
    /// # Errors
    /// Names the location of which permission was made or lost.
    pub fn check_conservation(&self) -> Result<(), String> {
        for (at, object) in self.heap.objects.iter().enumerate() {
            let cells = object.cells.iter().map(|cell| &cell.holdings);
            let instances = object.instances.iter().map(|instance| &instance.holdings);
            for holdings in cells.chain(instances) {
                for (holder, amount) in holdings.parts() {
                    if self.fractions.sign(&amount) != Sign::Positive {
                        return Err(format!("object {at}: {holder:?} has {amount}"));
                    }
                }
            }
            for (cell, content) in object.cells.iter().enumerate() {
                if !content.holdings.total().is_full() {
                    let total = content.holdings.total();
                    return Err(format!("object {at} cell {cell}: {total} in sum"));
                }
            }
        }
        Ok(())
    }
}
