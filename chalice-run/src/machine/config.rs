//! The settings of a run: the count of permission, the checks, the bounds.

use std::sync::Arc;

use clap::ValueEnum;

use crate::step::ByContract;

/// How permission is counted (runtime checking after Hegi 2013, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// By activation, as the verifier does: calls and loops get what their contracts say.
    Method,
    /// By thread: calls and loops move nothing, and a join brings all that is left.
    Thread,
}

/// The values of what nobody gave a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    /// Zero, false, null or empty.
    Zero,
    /// The same, and it is noted where one of these values is first used.
    Report,
    /// A value that is chosen, as by the seed.
    #[value(name = "seed")]
    Choose,
}

/// The effect of a false assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// The run fails.
    Check,
    /// The run does not count.
    Discard,
}

/// The way of permission when a predicate is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Folding {
    /// The permission goes into the instance.
    Track,
    /// Nothing: an instance stands for what is in it (Hegi 2013, section 4.2.3).
    Ignore,
}

/// How a run is executed.
#[derive(Debug, Clone)]
pub struct Config {
    /// How permission is counted.
    pub view: View,
    /// The values of what nobody gave a value.
    pub undefined: Undefined,
    /// The effect of a false assumption.
    pub assume: Assume,
    /// How many statements a thread may execute.
    pub steps: u64,
    /// How many visible steps a run may have.
    pub visible_steps: u64,
    /// After how many statements of all threads a run ends that is not finished.
    pub stop_after: Option<u64>,
    /// When a run ends that is not finished: then what comes of it depends on how fast it is.
    pub deadline: Option<std::time::Instant>,
    /// The way of permission when a predicate is folded.
    pub folding: Folding,
    /// Are permission, contracts, assertions and the order of locks checked? Without that, threads
    /// may be interrupted at every statement, and nothing that ends well has passed.
    pub checks: bool,
    /// Do recorded states keep who held what, so that what is read in them is checked, too?
    pub check_old: bool,
    /// Are functions checked to read only what their preconditions give?
    pub check_functions: bool,
    /// The statements of the entry that give whatever their contracts allow. A run that ends well
    /// has not passed then.
    pub by_contract: Option<Arc<ByContract>>,
    /// Is permission that is left behind at ends of methods and loops a failure?
    pub leaks_fail: bool,
    /// Does a run go on behind an `assert` that fails? It changes nothing, so what follows is a run
    /// all the same.
    pub keep_going: bool,
    /// Is what every step does noted?
    pub trace: Trace,
    /// May threads be interrupted at every statement? For comparison only.
    pub preempt_everywhere: bool,
    /// Is it checked after each step that permission adds up?
    pub check_conservation: bool,
}

/// The notes about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Trace {
    /// Nothing.
    None,
    /// Steps that other threads can notice.
    Sync,
    /// All statements.
    All,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            view: View::Method,
            undefined: Undefined::Zero,
            assume: Assume::Check,
            steps: 1_000_000,
            visible_steps: 100_000,
            stop_after: None,
            deadline: None,
            folding: Folding::Track,
            checks: true,
            check_old: false,
            check_functions: false,
            by_contract: None,
            leaks_fail: false,
            keep_going: false,
            trace: Trace::None,
            preempt_everywhere: false,
            check_conservation: false,
        }
    }
}
