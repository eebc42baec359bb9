//! One run: a schedule from start to end, and what came of it.

pub mod again;
pub mod explore;

use chalice::Span;
use findings::ErrorId;

use crate::choices::{About, Policy, SplitMix, schedule_text};
use crate::fault::{Fault, PartValue, Trouble};
use crate::heap::Holder;
use crate::machine::{Assume, Counts, Machine, Pending, Status, Trace, World};
use crate::value::Value;
use chalice::program::LockMode;

/// How the next thread is chosen where a schedule says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheduling {
    /// The first that can run.
    First,
    /// By a seed.
    Seed(u64),
    /// In turn, each for so many steps.
    RoundRobin(u32),
    /// By random priorities that change at so many points (Burckhardt et al. 2010, probabilistic
    /// concurrency testing).
    Pct {
        /// The seed.
        seed: u64,
        /// How often priorities change.
        changes: u32,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The run ended, and every check that was executed holds.
    Passed,
    /// An assumption did not hold, so the run does not count.
    Discarded,
    /// A bound was hit.
    Bounded,
    /// Something could not be executed.
    Stopped,
    /// A check failed.
    Failed,
    /// Threads wait for each other, or for ever.
    Deadlock,
    /// The machine contradicts itself.
    Error,
}

impl Verdict {
    /// As it is in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Discarded => "discarded",
            Self::Bounded => "bounded",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Deadlock => "deadlock",
            Self::Error => "error",
        }
    }
}

/// A remark about a failure, perhaps with a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The text.
    pub text: String,
    /// Where.
    pub span: Option<Span>,
}

/// A holder of the missing permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The location.
    pub location: String,
    /// The holder.
    pub holder: String,
    /// How much.
    pub amount: String,
    /// Since when.
    pub since: Option<Span>,
}

/// A failure of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// `kind:reason`, as the verifier says it.
    pub id: String,
    /// The blamed place.
    pub span: Span,
    /// The failure, in words.
    pub message: String,
    /// The thread, as a path.
    pub thread: String,
    /// Where the thread was forked.
    pub forked: Option<Span>,
    /// The method that was running.
    pub method: String,
    /// More about it.
    pub notes: Vec<Note>,
    /// Variables of the running method.
    pub values: Vec<(String, String)>,
    /// The values of the parts of a claim that is false.
    pub parts: Vec<PartValue>,
    /// The holders of the missing permission.
    pub held: Vec<Share>,
    /// The statement that failed, counted over the run.
    pub step: u64,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The first failure, or the reason of a stop.
    pub failure: Option<Failure>,
    /// The other failures, where the run has gone on.
    pub more: Vec<Failure>,
    /// The decisions, for running it again.
    pub schedule: String,
    /// The events, in numbers.
    pub counts: Counts,
    /// The results of the entry: names and values.
    pub results: Vec<(String, String)>,
}

/// Runs a machine to its end.
///
/// A constant that is read before it is assigned is found out by running again: the decisions are
/// the same, and the value is the one that the constant got.
pub fn run(machine: &mut Machine<'_>, scheduling: &Scheduling) -> Outcome {
    machine.clocks |= machine.config.trace != Trace::None;
    let start = machine.clone();
    for attempt in 0..64 {
        let mut scheduler = Scheduler::new(scheduling);
        let stopped = drive(machine, &mut scheduler);
        let Err(trouble) = &stopped else { return outcome(machine, stopped) };
        let Trouble::Foreseen { number, value } = &**trouble else {
            return outcome(machine, stopped);
        };
        if attempt == 63 || machine.foreseen.get(*number).is_some_and(|_| attempt > 40) {
            break;
        }
        let mut foreseen = machine.foreseen.clone();
        foreseen.resize(foreseen.len().max(number + 1), Value::Int(0));
        foreseen[*number] = value.clone();
        *machine = start.clone();
        machine.foreseen = foreseen;
    }
    let what = "constant.unforeseen";
    outcome(machine, Err(Box::new(Trouble::Unknown { what, span: Span::default() })))
}

/// Chooses threads.
struct Scheduler {
    scheduling: Scheduling,
    random: SplitMix,
    last: Option<usize>,
    turns: u32,
    priorities: Vec<u64>,
    steps: u64,
    changes: Vec<u64>,
}

impl Scheduler {
    fn new(scheduling: &Scheduling) -> Self {
        let (seed, changes) = match scheduling {
            Scheduling::Seed(seed) => (*seed, 0),
            Scheduling::Pct { seed, changes } => (*seed, *changes),
            _ => (0, 0),
        };
        let mut random = SplitMix(seed);
        let changes = (0..changes).map(|_| u64::from(random.below(100))).collect();
        Self {
            scheduling: scheduling.clone(),
            random,
            last: None,
            turns: 0,
            priorities: Vec::new(),
            steps: 0,
            changes,
        }
    }

    fn choose(&mut self, machine: &mut Machine<'_>, enabled: &[usize]) -> usize {
        self.steps += 1;
        let wanted = self.preferred(enabled);
        let of = enabled.len() as u32;
        let choice = machine.choices.choose_or(of, About::Thread, |_| wanted as u32) as usize;
        if self.last != Some(enabled[choice]) {
            self.turns = 0;
        }
        self.turns += 1;
        self.last = Some(enabled[choice]);
        enabled[choice]
    }

    fn preferred(&mut self, enabled: &[usize]) -> usize {
        match self.scheduling {
            Scheduling::First => 0,
            Scheduling::Seed(_) => self.random.below(enabled.len() as u32) as usize,
            Scheduling::RoundRobin(turns) => {
                let last = self.last.unwrap_or(0);
                let stays = self.turns < turns.max(1) && self.last.is_some();
                let next =
                    enabled.iter().position(|&one| if stays { one >= last } else { one > last });
                next.unwrap_or(0)
            }
            Scheduling::Pct { .. } => {
                let most = enabled.iter().copied().max().unwrap_or(0);
                while self.priorities.len() <= most {
                    let priority = self.random.draw() | (1 << 63);
                    self.priorities.push(priority);
                }
                let best = |priorities: &[u64]| {
                    let order = |&at: &usize| priorities[enabled[at]];
                    (0..enabled.len()).max_by_key(order).unwrap_or(0)
                };
                let chosen = best(&self.priorities);
                if self.changes.contains(&self.steps) {
                    self.priorities[enabled[chosen]] = u64::from(self.random.below(1000));
                    return best(&self.priorities);
                }
                chosen
            }
        }
    }
}

impl Machine<'_> {
    /// Runs all threads that can go on by themselves up to their next visible step.
    ///
    /// # Errors
    /// The fault that stops the run.
    pub(crate) fn settle_threads(&mut self) -> crate::fault::Res<()> {
        while self.unsettled < self.threads.len() {
            let thread = self.unsettled;
            self.unsettled += 1;
            if self.threads[thread].status == Status::Ready {
                self.advance(thread)?;
            }
        }
        Ok(())
    }
}

impl World<'_> {
    /// Returns the threads whose next step can be taken now, in the order of their forks.
    pub(crate) fn enabled(&self) -> Vec<usize> {
        (0..self.threads.len()).filter(|&thread| self.is_enabled(thread)).collect()
    }

    /// Can a thread take its next step?
    pub(crate) fn is_enabled(&self, thread: usize) -> bool {
        let Status::At(pending) = self.threads[thread].status else { return false };
        match pending {
            // Others have done what is waited for.
            Pending::Join(_) | Pending::Receive(_) if self.is_by_contract(thread) => true,
            Pending::Acquire(object, mode) => self.heap.lock(object).is_none_or(|lock| {
                lock.writer.is_none() && (mode == LockMode::Read || lock.readers.is_empty())
            }),
            Pending::Join(token) => self
                .heap
                .token(token)
                .and_then(|state| state.thread)
                .is_none_or(|joined| self.threads[joined as usize].status == Status::Done),
            Pending::Receive(channel) => {
                let extra = self.heap.object(channel).extra.as_ref();
                extra.is_some_and(|extra| !extra.channel.queue.is_empty())
            }
            Pending::Send(_) | Pending::Output | Pending::Step => true,
        }
    }

    /// Returns the thread that another one waits for, if it is one.
    fn waits_for(&self, thread: usize) -> Option<usize> {
        let Status::At(pending) = self.threads[thread].status else { return None };
        if self.is_enabled(thread) {
            return None;
        }
        match pending {
            Pending::Acquire(object, _) => {
                let lock = self.heap.lock(object)?;
                lock.writer.or_else(|| lock.readers.first().copied()).map(|one| one as usize)
            }
            Pending::Join(token) => self.heap.token(token)?.thread.map(|joined| joined as usize),
            _ => None,
        }
    }

    /// Threads that wait for each other in a circle, or for one that has ended and never lets go.
    fn deadlocked(&self, thread: usize) -> bool {
        let mut at = thread;
        for _ in 0..=self.threads.len() {
            match self.waits_for(at) {
                None => return self.threads[at].status == Status::Done && at != thread,
                Some(next) if next == thread => return true,
                Some(next) => at = next,
            }
        }
        true
    }
}

fn drive(machine: &mut Machine<'_>, scheduler: &mut Scheduler) -> crate::fault::Res<Option<usize>> {
    machine.settle_threads()?;
    loop {
        let enabled = machine.enabled();
        if enabled.is_empty() {
            let waiting = |thread: &crate::machine::Thread| thread.status != Status::Done;
            return Ok(machine.threads.iter().position(waiting));
        }
        let thread = scheduler.choose(machine, &enabled);
        if machine.clocks {
            machine.tick(thread);
        }
        machine.take_step(thread)?;
        machine.settle_threads()?;
        if machine.counts.visible > machine.config.visible_steps {
            let span = machine.threads[thread].place;
            return Err(Box::new(Trouble::Bound("visible steps", span)));
        }
        if !machine.is_enabled(thread) && machine.deadlocked(thread) {
            return Ok(Some(thread));
        }
    }
}

/// Puts into words what came of a run.
pub(crate) fn outcome(machine: &Machine<'_>, stopped: crate::fault::Res<Option<usize>>) -> Outcome {
    let schedule = schedule_text(machine.choices.taken());
    let (verdict, failure) = match stopped {
        Ok(None) => (Verdict::Passed, None),
        Ok(Some(waiting)) => {
            let failure = waiting_for_ever(machine, waiting);
            let verdict =
                if failure.id == "deadlock" { Verdict::Deadlock } else { Verdict::Stopped };
            (verdict, Some(failure))
        }
        Err(trouble) => with_doubt(described(machine, &trouble), machine),
    };
    let results = results(machine);
    let ended =
        Outcome { verdict, failure, more: Vec::new(), schedule, counts: machine.counts, results };
    with_asserts(ended, machine)
}

/// Says if it is not known whether a contract holds that has led to a failure.
fn with_doubt(
    (verdict, mut failure): (Verdict, Option<Failure>),
    machine: &Machine<'_>,
) -> (Verdict, Option<Failure>) {
    if let (Some(failure), Some(span)) = (&mut failure, machine.doubt) {
        let text =
            "what this says could not be evaluated, so perhaps no run starts like that".to_owned();
        failure.notes.push(Note { text, span: Some(span) });
    }
    (verdict, failure)
}

/// Returns the outcome of a run that has gone on behind asserts that failed.
fn with_asserts(mut ended: Outcome, machine: &Machine<'_>) -> Outcome {
    let mut failures = machine.asserts.iter().cloned();
    if let Some(first) = failures.next() {
        let last = ended.failure.replace(first);
        ended.more = failures.chain(last.filter(|_| ended.verdict >= Verdict::Failed)).collect();
        ended.verdict = ended.verdict.max(Verdict::Failed);
    }
    ended
}

fn results(machine: &Machine<'_>) -> Vec<(String, String)> {
    let Some(method) = machine.frames.first() else { return Vec::new() };
    let method = &machine.code.methods[*method as usize];
    let names = method.frame.names.iter().skip(method.parameters + 1).flatten();
    let values = machine.results.iter().map(|value| machine.value_text(value));
    names.cloned().zip(values).collect()
}

fn described(machine: &Machine<'_>, trouble: &Trouble) -> (Verdict, Option<Failure>) {
    let bare = |id: &str, span: Span, message: String| failure(machine, id, span, message);
    match trouble {
        Trouble::Fault(fault) => (Verdict::Failed, Some(of_fault(machine, fault))),
        Trouble::Assumption(span) => {
            let verdict = match machine.config.assume {
                Assume::Check => Verdict::Failed,
                Assume::Discard => Verdict::Discarded,
            };
            let message = "this is assumed, and does not hold".to_owned();
            (verdict, Some(bare("assume.violated", *span, message)))
        }
        Trouble::Unknown { what, span } => {
            let message = format!("this cannot be executed ({what})");
            (Verdict::Stopped, Some(bare(what, *span, message)))
        }
        Trouble::Bound(what, span) => {
            (Verdict::Bounded, Some(bare("bound", *span, format!("the run was ended: {what}"))))
        }
        Trouble::Inconsistent(words, span) => {
            (Verdict::Error, Some(bare("machine.inconsistent", *span, words.clone())))
        }
        Trouble::NoOldState(span) => {
            let message = "there is no earlier state to speak of".to_owned();
            (Verdict::Stopped, Some(bare("old.unknown", *span, message)))
        }
        Trouble::Contradiction | Trouble::Foreseen { .. } => {
            let span = Span::default();
            let message = "the run contradicts its start".to_owned();
            (Verdict::Error, Some(bare("machine.inconsistent", span, message)))
        }
    }
}

fn failure(machine: &Machine<'_>, id: &str, span: Span, message: String) -> Failure {
    failure_in(machine, machine.scope.thread, id, span, message)
}

/// Makes the failure of a thread, if it was in one that exists.
fn failure_in(
    machine: &Machine<'_>,
    thread: Option<u32>,
    id: &str,
    span: Span,
    message: String,
) -> Failure {
    let at = thread.filter(|at| (*at as usize) < machine.threads.len());
    let thread = at.map(|at| &machine.threads[at as usize]);
    let running = thread.and_then(|thread| thread.stack.last());
    let method = running.map(|running| &machine.code.methods[running.method as usize]);
    let mut values = Vec::new();
    if let (Some(running), Some(method)) = (running, method) {
        for (slot, name) in method.frame.names.iter().enumerate() {
            if let (Some(name), Some(value)) = (name, running.slots.get(slot)) {
                values.push((name.clone(), machine.value_text(value)));
            }
        }
    }
    Failure {
        id: id.to_owned(),
        span,
        message,
        thread: at.map_or_else(String::new, |at| machine.path_text(at as usize)),
        forked: thread.and_then(|thread| thread.forked).map(|(_, span)| span),
        method: method.map_or_else(String::new, |method| method.name.clone()),
        notes: Vec::new(),
        values,
        parts: Vec::new(),
        held: Vec::new(),
        step: machine.counts.steps,
    }
}

pub(crate) fn of_fault(machine: &Machine<'_>, fault: &Fault) -> Failure {
    let kind = fault.kind.unwrap_or(ErrorId::AssertFailed);
    let id = format!("{kind}:{}", fault.reason);
    let span = fault.clause.unwrap_or(fault.span);
    let mut message = fault.words.clone();
    let mut held = Vec::new();
    if let Some((loc, wanted)) = &fault.missing {
        let location = machine.location(*loc);
        message = match wanted {
            Some(wanted) => format!("{message}: {wanted} of {location} is needed"),
            None => format!("{message}: {location}"),
        };
        let parts = machine.heap.holdings(*loc).map(crate::heap::Holdings::parts);
        for (holder, amount) in parts.unwrap_or_default() {
            held.push(Share {
                location: location.clone(),
                holder: machine.holder(holder),
                amount: amount.to_string(),
                since: machine.since(holder),
            });
        }
    }
    let mut failure = failure(machine, &id, span, message);
    if fault.span != span && fault.span != Span::default() {
        let text = "this part of it".to_owned();
        failure.notes.push(Note { text, span: Some(fault.span) });
    }
    failure.held = held;
    failure.parts.clone_from(&fault.parts);
    failure
}

fn waiting_for_ever(machine: &Machine<'_>, thread: usize) -> Failure {
    let mut notes = Vec::new();
    let mut is_circle = machine.deadlocked(thread);
    for (at, one) in machine.threads.iter().enumerate() {
        let Status::At(pending) = one.status else { continue };
        if machine.is_enabled(at) {
            continue;
        }
        is_circle |= machine.deadlocked(at);
        let what = match pending {
            Pending::Acquire(object, _) => {
                let by = machine.waits_for(at).map_or_else(String::new, |owner| {
                    format!(", held by thread {}", machine.path_text(owner))
                });
                format!("the lock of {}{by}", machine.name(object))
            }
            Pending::Join(token) => format!("the end of {}", machine.name(token)),
            Pending::Receive(channel) => format!("a message from {}", machine.name(channel)),
            Pending::Send(_) | Pending::Output | Pending::Step => "nothing".to_owned(),
        };
        let text = format!("thread {} waits for {what}", machine.path_text(at));
        notes.push(Note { text, span: Some(one.place) });
    }
    let waiting = &machine.threads[thread];
    let message = if is_circle {
        "threads wait for each other".to_owned()
    } else {
        "this waits for ever".to_owned()
    };
    // A start made from a precondition has nobody who would send, or let go.
    let id = if machine.is_generated && !is_circle { "partner.missing" } else { "deadlock" };
    let failure = failure_in(machine, Some(thread as u32), id, waiting.place, message);
    Failure { notes, ..failure }
}

/// Returns a policy for values that nobody has chosen, by a seed.
pub fn random_values(seed: u64) -> Policy {
    Policy::Random(SplitMix(seed ^ 0x5bd1_e995))
}

/// Locations of which nobody can give anything any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leaks {
    /// How many there are.
    pub count: usize,
    /// The first of them in words, as many as somebody may read.
    pub named: Vec<String>,
}

/// The number of locations that are named.
const NAMED: usize = 100;

/// Lists the permissions that activations and loops have left behind.
pub fn leaks(machine: &Machine<'_>) -> Leaks {
    let main = main(machine);
    let is_lost =
        |holder: Holder| matches!(holder, Holder::Frame(_) | Holder::Loop(_)) && holder != main;
    let mut leaks = Leaks::default();
    for (at, object) in machine.heap.objects.iter().enumerate() {
        for (cell, content) in object.cells.iter().enumerate() {
            if !content.holdings.parts().iter().any(|(holder, _)| is_lost(*holder)) {
                continue;
            }
            leaks.count += 1;
            if leaks.named.len() < NAMED {
                let object = crate::value::Ref(at as u32);
                let part = crate::heap::Part::Cell(cell as u32);
                leaks.named.push(machine.location(crate::heap::Loc { object, part }));
            }
        }
    }
    leaks
}

/// Returns the holder that the entry had.
fn main(machine: &Machine<'_>) -> Holder {
    machine.threads.first().map_or(Holder::Nobody, |thread| thread.root)
}
