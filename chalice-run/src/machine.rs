//! The machine: threads as data, one heap, and everything that a step needs.
//!
//! Threads, activations and their program counters are plain data, so a machine can be cloned, and
//! stops anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chalice::Span;
use chalice::program::LockMode;
use rustc_hash::FxHashMap;

use crate::amount::{Amount, Fractions, Kappa, Sign};
use crate::choices::{Choices, Policy};
use crate::code::{Class, Code, Recorded};
use crate::heap::{Heap, Held, Holder, Loc, ObjectKind, Permissions, Snapshot};
use crate::machine::opened::Opened;
use crate::value::{Ref, Value};
use chalice_rt::levels::Levels;

mod config;
pub(crate) mod opened;

pub use crate::step::{ByContract, Rounds};
pub use config::{Assume, Config, Folding, Trace, Undefined, View};

/// The next action of a thread that other threads can notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Acquires a lock.
    Acquire(Ref, LockMode),
    /// Waits for the thread of a token.
    Join(Ref),
    /// Waits for a message.
    Receive(Ref),
    /// Adds a message to a queue.
    Send(Ref),
    /// Writes something out.
    Output,
    /// Any statement, where threads may be interrupted everywhere.
    Step,
}

/// The present state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It can go on by itself.
    Ready,
    /// Its next step is one that others can notice.
    At(Pending),
    /// It has ended.
    Done,
}

/// A loop that is being executed.
#[derive(Debug, Clone)]
pub struct LoopState {
    /// The holder of the permissions that the invariants ask for.
    pub holder: Holder,
    /// Its read fraction.
    pub kappa: Kappa,
    /// The permissions that it was given last.
    pub moved: Vec<(Loc, Amount)>,
    /// The credits it was given last.
    pub credits: Vec<(Ref, i64)>,
    /// Is the iteration any one that the invariants allow, after which nothing is known?
    pub is_any_iteration: bool,
    /// How often it was at its head.
    pub rounds: Rounds,
}

/// A method that is being executed.
#[derive(Debug, Clone)]
pub struct Activation {
    /// The method.
    pub method: u32,
    /// The next statement.
    pub pc: u32,
    /// Its variables.
    pub slots: Vec<Value>,
    /// The holder of its permission.
    pub holder: Holder,
    /// Its read fraction.
    pub kappa: Kappa,
    /// The state at its start.
    pub entry: Snapshot,
    /// Is the state at its start recorded for it alone?
    pub owns_entry: bool,
    /// The loops it is in.
    pub loops: Vec<LoopState>,
}

impl Activation {
    /// Returns the holder whose permission can be used now.
    pub fn current(&self) -> (Holder, Kappa) {
        match self.loops.last() {
            Some(inner) => (inner.holder, inner.kappa),
            None => (self.holder, self.kappa),
        }
    }
}

/// States of an object that a thread remembers.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// When it was last released or shared.
    pub released: Option<Snapshot>,
    /// When it was acquired.
    pub acquired: Option<Snapshot>,
}

/// A thread.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Its number among the threads that its forker has forked, or that nobody has.
    pub sibling: u32,
    /// Where it was forked.
    pub forked: Option<(u32, Span)>,
    /// Its token.
    pub token: Option<Ref>,
    /// The activations that it executes, the innermost last.
    pub stack: Vec<Activation>,
    /// The present state of the thread.
    pub status: Status,
    /// Does it not run, unless another one has to wait for it?
    pub is_parked: bool,
    /// The locks it holds.
    pub held: Arc<Vec<Held>>,
    /// States it remembers.
    pub seen: FxHashMap<Ref, Seen>,
    /// Statements it has executed.
    pub steps: u64,
    /// Threads it has forked.
    pub forks: u32,
    /// Objects it has made.
    pub allocated: u32,
    /// The holder of its permission in the thread view.
    pub root: Holder,
    /// Visible steps known to come before what it does next, by thread.
    pub clock: Vec<u32>,
    /// Where its last statement is.
    pub place: Span,
}

/// In which state, and for whom, expressions are evaluated.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The thread whose locks are meant; nobody's if there is none yet.
    pub thread: Option<u32>,
    /// Whose permission allows to read.
    pub holder: Holder,
    /// The read fraction.
    pub kappa: Kappa,
    /// A recorded state, instead of the present one.
    pub at: Option<Snapshot>,
    /// The meaning of `old`.
    pub old: OldState,
    /// Is permission checked?
    pub checks: bool,
}

impl Scope {
    /// For a thread whose precondition is granted: nothing is checked, as there is no permission
    /// yet.
    pub fn granting(thread: Option<u32>, kappa: Kappa) -> Self {
        let old = OldState::Missing;
        Self { thread, holder: Holder::Environment, kappa, at: None, old, checks: false }
    }
}

/// The meaning of `old`.
#[derive(Debug, Clone)]
pub enum OldState {
    /// Nothing: there is no such state.
    Missing,
    /// The state at the start of the running method.
    Entry,
    /// A recorded state.
    At(Snapshot),
    /// The present state.
    Now,
}

/// The events of a run, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Statements.
    pub steps: u64,
    /// Steps that other threads can notice.
    pub visible: u64,
    /// Checks that were executed.
    pub checks: u64,
}

/// A line of a trace.
#[derive(Debug, Clone)]
pub struct TraceLine {
    /// The number of the statement.
    pub step: u64,
    /// The thread.
    pub thread: u32,
    /// Where.
    pub span: Span,
    /// The action: the first word of the statement.
    pub what: &'static str,
    /// The object it is about.
    pub object: Option<Ref>,
    /// The moved permissions: location, amount, giver, receiver.
    pub moved: Vec<(Loc, Amount, Holder, Holder)>,
    /// How many visible steps of each thread come before it, or are it.
    pub clock: Vec<u32>,
}

/// A running program.
#[derive(Debug, Clone)]
pub struct Machine<'c> {
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
    /// The threads before this one are not ready: each is at a step that others can notice, or has
    /// ended.
    pub(crate) unsettled: usize,
    /// How many statements have changed more than variables of their method.
    pub(crate) noise: u64,
    /// The open decisions.
    pub choices: Choices,
    /// The events, in numbers.
    pub counts: Counts,
    /// The output.
    pub output: Vec<String>,
    /// The parts that could not be executed: place, kind, number.
    pub skipped: BTreeMap<(Span, &'static str), u64>,
    /// Where values that nobody gave were used, if that is noted.
    pub unset: BTreeSet<Span>,
    /// The lines of the trace.
    pub trace: Vec<TraceLine>,
    /// Values that constants were taken to have before they were assigned.
    pub foreseen: Vec<Value>,
    /// Statements `assert` that failed, where the run has gone on behind them; each once.
    pub asserts: Vec<crate::run::Failure>,
    /// Constants read before they were assigned: activation and slot.
    pub read_early: Vec<(Holder, u32)>,
    /// The methods of holders that are activations or loops, by number.
    pub frames: Vec<u32>,
    /// All channels.
    pub channels: Vec<Ref>,
    /// The results of the entry.
    pub results: Vec<Value>,
    /// Are visible steps ordered by what comes before what?
    pub clocks: bool,
    /// Messages sent.
    pub messages: u32,
    /// In which state, and for whom, expressions are evaluated.
    pub(crate) scope: Scope,
    /// Credits that an assertion being evaluated has given away, and who gave them.
    pub(crate) given: (Holder, Vec<(Ref, i64)>),
    /// The instances that are open while an expression is evaluated.
    pub(crate) opened: Opened,
    /// How deep evaluations are nested.
    pub(crate) depth: u32,
    /// The permissions of the recorded state that is evaluated, as the start of the run tells them.
    pub(crate) told: Vec<(Loc, Amount)>,
    /// Functions that are being evaluated, outermost first.
    pub(crate) evaluating: Vec<u32>,
    /// The measures of those of them whose bodies are being evaluated.
    pub(crate) measured: Vec<crate::eval::Measured>,
    /// One of them, to notice those that go round in a circle.
    pub(crate) milestone: Option<crate::eval::Milestone>,
    /// The permissions that the last step moved, if that is noted.
    pub(crate) moved: Vec<(Loc, Amount, Holder, Holder)>,
    /// The object that the running statement is about, for the trace.
    pub(crate) subject: Option<Ref>,
    /// The treatment of questions about levels that nothing orders.
    pub(crate) open: crate::eval::Open,
    /// Is a start being generated, so that contradictions are dropped?
    pub(crate) granting: bool,
    /// The claim of a precondition that was found false last, while a start was made.
    pub(crate) refuted: Option<Span>,
    /// Contracts that gave whatever they allow.
    pub relied: BTreeSet<crate::replay::Blame>,
    /// Part of a contract that was granted without knowing whether it holds, as it could not be
    /// evaluated: what comes of the run may come of no run.
    pub doubt: Option<Span>,
    /// Was the start made from a precondition? Then nobody is there to send what it waits for.
    pub(crate) is_generated: bool,
    /// The bounds of a start.
    pub(crate) bounds: crate::generate::Bounds,
    /// Locks that the thread of a start does not hold.
    pub(crate) refused: Vec<(Ref, LockMode)>,
    /// The preferences of the start.
    pub(crate) style: crate::generate::Style,
    /// The number that was chosen last for the start: its place among the hints.
    pub(crate) last_number: Option<usize>,
    /// The model that the start follows.
    pub(crate) following: Option<Box<crate::generate::Following>>,
    /// How deep predicate instances are being granted.
    pub(crate) grant_depth: u32,
    /// Integers that the contract mentions, for generated values.
    pub(crate) hints: Arc<[i64]>,
}

/// The read fraction of predicates, monitors and channels.
pub(crate) const COMMON: Kappa = Kappa(0);

impl<'c> Machine<'c> {
    /// A machine in which nothing has happened.
    pub fn new(code: &'c Code, config: Config) -> Self {
        let mut fractions = Fractions::default();
        let common = fractions.fresh(None);
        debug_assert_eq!(common, COMMON);
        let mut config = config;
        config.leaks_fail |= code.options.check_leaks;
        config.preempt_everywhere |= !config.checks;
        let mut skipped: BTreeMap<_, _> =
            code.erased.iter().map(|span| ((*span, "ghost.erased"), 1)).collect();
        if !config.checks {
            skipped.insert((Span::default(), "checks.off"), 1);
        }
        if config.by_contract.is_some() {
            skipped.insert((Span::default(), "contracts.taken"), 1);
        }
        Self {
            code,
            config,
            heap: Heap::default(),
            fractions,
            levels: Levels::default(),
            threads: Vec::new(),
            unsettled: 0,
            noise: 0,
            choices: Choices::new(Vec::new(), Policy::First),
            counts: Counts::default(),
            output: Vec::new(),
            skipped,
            unset: BTreeSet::new(),
            trace: Vec::new(),
            foreseen: Vec::new(),
            asserts: Vec::new(),
            read_early: Vec::new(),
            frames: Vec::new(),
            channels: Vec::new(),
            results: Vec::new(),
            clocks: false,
            messages: 0,
            scope: Scope {
                thread: None,
                holder: Holder::Environment,
                kappa: COMMON,
                at: None,
                old: OldState::Missing,
                checks: true,
            },
            given: (Holder::Nobody, Vec::new()),
            opened: Opened::default(),
            depth: 0,
            told: Vec::new(),
            evaluating: Vec::new(),
            measured: Vec::new(),
            milestone: None,
            moved: Vec::new(),
            subject: None,
            open: crate::eval::Open::Decide,
            granting: false,
            refuted: None,
            relied: BTreeSet::new(),
            doubt: None,
            is_generated: false,
            bounds: crate::generate::Bounds::default(),
            refused: Vec::new(),
            style: crate::generate::Style::Any,
            last_number: None,
            following: None,
            grant_depth: 0,
            hints: Arc::default(),
        }
    }

    /// A holder for an activation of a method.
    pub(crate) fn new_frame(&mut self, method: u32) -> Holder {
        self.frames.push(method);
        Holder::Frame(self.frames.len() as u32 - 1)
    }

    /// A holder for an iteration of a loop of a method.
    pub(crate) fn new_loop(&mut self, method: u32) -> Holder {
        self.frames.push(method);
        Holder::Loop(self.frames.len() as u32 - 1)
    }

    /// The innermost activation of a thread that has not ended.
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

    /// The value of what nobody has given one, to be kept for a variable of a type.
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

    /// The locks that the thread of the scope holds, in the state of the scope.
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

    /// The levels that the wait level of the scope's thread stands for.
    pub(crate) fn wait_levels(&self) -> Vec<crate::value::Level> {
        let mut levels: Vec<_> = self.held().iter().map(|held| held.level).collect();
        let Some(thread) = self.scope.thread else { return levels };
        for &channel in &self.channels {
            let object = self.heap.object(channel);
            let given = self.given.1.iter().filter(|(other, _)| *other == channel);
            let given: i64 = given.map(|(_, count)| count).sum();
            let owes = |holder: Holder| {
                let gone = if holder == self.given.0 { given } else { 0 };
                self.credits(channel, holder) < gone
            };
            let thread = &self.threads[thread as usize];
            let is_owed = thread.stack.iter().any(|activation| {
                owes(activation.holder) || activation.loops.iter().any(|inner| owes(inner.holder))
            });
            if is_owed && let Value::Level(level) = object.cells[0].value {
                levels.push(level);
            }
        }
        levels
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
