//! The machine: threads as data, one heap, and everything that a step needs.
//!
//! Threads, activations and their program counters are plain data, so a machine can be cloned, and
//! stops anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chalice::Span;
use chalice::program::LockMode;
use derive_more::{Deref, DerefMut};
use rustc_hash::FxHashMap;

use crate::amount::{Amount, Fractions, Kappa};
use crate::choices::{Choices, Policy};
use crate::code::Code;
use crate::heap::{Heap, Held, Holder, Loc, Snapshot};
use crate::machine::opened::Opened;
use crate::value::{Ref, Value};
use chalice_rt::levels::Levels;

mod config;
pub(crate) mod opened;
mod world;

pub use crate::step::{ByContract, Rounds};
pub use config::{Assume, Config, Folding, Trace, Undefined, View};
pub use world::World;

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
    /// The thread can go on by itself.
    Ready,
    /// Its next step is one that others can notice.
    At(Pending),
    /// The thread has ended.
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
    /// The holder whose permission allows the read.
    pub holder: Holder,
    /// The read fraction.
    pub kappa: Kappa,
    /// A recorded state, instead of the present one.
    pub at: Option<Snapshot>,
    /// The meaning of `old`.
    pub old: OldState,
    /// Is permission checked?
    pub checks: bool,
    /// Does `waitlevel` stand for what is held only? So it does in postconditions and invariants of
    /// loops, which hand over the debts that they name.
    pub ignores_debts: bool,
}

impl Scope {
    /// For a thread whose precondition is granted: nothing is checked, as there is no permission
    /// yet.
    pub(crate) fn granting(thread: Option<u32>, kappa: Kappa) -> Self {
        let old = OldState::Missing;
        let holder = Holder::Environment;
        Self { thread, holder, kappa, at: None, old, checks: false, ignores_debts: false }
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

/// The layer that evaluates. It claims assertions, and moves or grants what they ask for, which
/// reads of open values need. It executes nothing.
#[derive(Debug, Clone, Deref, DerefMut)]
pub struct Evaluator<'c> {
    /// The layer below.
    #[deref]
    #[deref_mut]
    pub world: World<'c>,
    /// Where values that nobody gave were used, if that is noted.
    pub unset: BTreeSet<Span>,
    /// Values that constants were taken to have before they were assigned.
    pub foreseen: Vec<Value>,
    /// Constants read before they were assigned: activation and slot.
    pub read_early: Vec<(Holder, u32)>,
    /// Credits that an assertion being evaluated has given away, and who gave them.
    pub(crate) given: (Holder, Vec<(Ref, i64)>),
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
    /// The treatment of questions about levels that nothing orders.
    pub(crate) open: crate::eval::Open,
    /// The claim of a precondition that was found false last, while a start was made.
    pub(crate) refuted: Option<Span>,
    /// Locks that the thread of a start does not hold.
    pub(crate) refused: Vec<(Ref, LockMode)>,
    /// How deep predicate instances are being granted.
    pub(crate) grant_depth: u32,
}

/// A running program: the layer that executes statements.
///
/// A method belongs to the lowest of the three layers that has the fields it needs, so its receiver
/// says what it can touch.
#[derive(Debug, Clone, Deref, DerefMut)]
pub struct Machine<'c> {
    /// The layer below.
    #[deref]
    #[deref_mut]
    pub eval: Evaluator<'c>,
    /// The threads before this one are not ready: each is at a step that others can notice, or has
    /// ended.
    pub(crate) unsettled: usize,
    /// How many statements have changed more than variables of their method.
    pub(crate) noise: u64,
    /// The output.
    pub output: Vec<String>,
    /// The lines of the trace.
    pub trace: Vec<TraceLine>,
    /// Statements `assert` that failed, where the run has gone on behind them; each once.
    pub asserts: Vec<crate::run::Failure>,
    /// The results of the entry.
    pub results: Vec<Value>,
    /// Are visible steps ordered by what comes before what?
    pub clocks: bool,
    /// Messages sent.
    pub messages: u32,
    /// Contracts that gave whatever they allow.
    pub relied: BTreeSet<crate::replay::Blame>,
}

/// The read fraction of predicates, monitors and channels.
pub(crate) const COMMON: Kappa = Kappa(0);

impl<'c> Machine<'c> {
    /// Returns a machine in which nothing has happened.
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
        let world = World {
            code,
            config,
            heap: Heap::default(),
            fractions,
            levels: Levels::default(),
            threads: Vec::new(),
            choices: Choices::new(Vec::new(), Policy::First),
            counts: Counts::default(),
            skipped,
            frames: Vec::new(),
            channels: Vec::new(),
            scope: Scope {
                thread: None,
                holder: Holder::Environment,
                kappa: COMMON,
                at: None,
                old: OldState::Missing,
                checks: true,
                ignores_debts: false,
            },
            opened: Opened::default(),
            moved: Vec::new(),
            subject: None,
            granting: false,
            doubt: None,
            is_generated: false,
            bounds: crate::generate::Bounds::default(),
            style: crate::generate::Style::Any,
            last_number: None,
            following: None,
            hints: Arc::default(),
        };
        let eval = Evaluator {
            world,
            unset: BTreeSet::new(),
            foreseen: Vec::new(),
            read_early: Vec::new(),
            given: (Holder::Nobody, Vec::new()),
            depth: 0,
            told: Vec::new(),
            evaluating: Vec::new(),
            measured: Vec::new(),
            milestone: None,
            open: crate::eval::Open::Decide,
            refuted: None,
            refused: Vec::new(),
            grant_depth: 0,
        };
        Self {
            eval,
            unsettled: 0,
            noise: 0,
            output: Vec::new(),
            trace: Vec::new(),
            asserts: Vec::new(),
            results: Vec::new(),
            clocks: false,
            messages: 0,
            relied: BTreeSet::new(),
        }
    }
}

impl Evaluator<'_> {
    /// Returns the levels that the wait level of the scope's thread stands for.
    pub(crate) fn wait_levels(&self) -> Vec<crate::value::Level> {
        let mut levels: Vec<_> = self.held().iter().map(|held| held.level).collect();
        let Some(thread) = self.scope.thread.filter(|_| !self.scope.ignores_debts) else {
            return levels;
        };
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
}
