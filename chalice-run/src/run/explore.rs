//! All schedules, up to the order of steps that do not matter to each other.
//!
//! Dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson and
//! Sagonas 2014). Only steps that threads can notice are ordered; two of them matter to each other
//! if they concern the same lock, the same end of a channel, or the output. A release is no step of
//! its own: until it, nobody can acquire the lock.

use std::collections::{BTreeMap, BTreeSet};

use crate::choices::About;
use crate::fault::Trouble;
use crate::machine::{Machine, Pending, Status};
use crate::run::{Failure, Outcome, Verdict, outcome};
use crate::step::merge;
use crate::value::{Ref, Value};
use chalice::program::LockMode;

/// How far schedules are explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many schedules.
    pub schedules: u64,
    /// How often a thread may be interrupted though it could go on; any number if absent.
    pub preemptions: Option<u32>,
    /// Does the search go on after a failure?
    pub keep_going: bool,
    /// When it ends at the latest.
    pub deadline: Option<std::time::Instant>,
}

/// The result of exploring.
#[derive(Debug, Clone)]
pub struct Explored {
    /// How many schedules were run to their end.
    pub schedules: u64,
    /// Were these all that matter?
    pub complete: bool,
    /// Were these all that matter, as far as a run may have steps?
    pub exhausted: bool,
    /// Was more than one thread there in some schedule?
    pub threads: bool,
    /// How many of them ended how.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Everything that went wrong in some schedule, by what and where, as it was in the first.
    pub failures: BTreeMap<(String, chalice::Span), Failure>,
    /// The worst outcome, and of several the first.
    pub worst: Option<Outcome>,
    /// Everything that could not be executed.
    pub skipped: BTreeMap<(chalice::Span, &'static str), u64>,
    /// Where values that nobody gave were used, if that is noted.
    pub unset: BTreeSet<chalice::Span>,
    /// Lines written out by the first run.
    pub output: Vec<String>,
}

/// The shared subject of two steps that matter to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Lock(Ref),
    Send(Ref),
    Receive(Ref),
    Output,
    /// Threads may be interrupted everywhere, and everything may matter.
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    key: Option<Key>,
    reads_only: bool,
}

impl Access {
    fn of(pending: Pending) -> Self {
        let key = match pending {
            Pending::Acquire(object, _) => Some(Key::Lock(object)),
            Pending::Send(channel) => Some(Key::Send(channel)),
            Pending::Receive(channel) => Some(Key::Receive(channel)),
            Pending::Output => Some(Key::Output),
            Pending::Step => Some(Key::Any),
            Pending::Join(_) => None,
        };
        Self { key, reads_only: matches!(pending, Pending::Acquire(_, LockMode::Read)) }
    }

    fn matters_to(self, other: Self) -> bool {
        self.key.is_some() && self.key == other.key && !(self.reads_only && other.reads_only)
    }
}

/// A point at which a thread was chosen, and the step that it took.
#[derive(Debug, Clone)]
struct Node {
    enabled: Vec<(usize, Access)>,
    chosen: usize,
    access: Access,
    backtrack: Vec<usize>,
    done: Vec<usize>,
    sleep: Vec<(usize, Access)>,
    /// How many steps its thread has taken, this one included.
    number: u32,
    /// The steps that come before it, itself included.
    clock: Vec<u32>,
    /// The steps that came before the previous step of its thread.
    before: Vec<u32>,
    /// Interruptions up to here.
    preemptions: u32,
}

impl Node {
    fn happens_before(&self, clock: &[u32]) -> bool {
        clock.get(self.chosen).is_some_and(|known| *known >= self.number)
    }
}

/// Runs a machine under all schedules that matter.
pub fn explore(start: &Machine<'_>, limits: Limits) -> Explored {
    let mut explorer = Explorer {
        stack: Vec::new(),
        kept: Vec::new(),
        limits,
        explored: Explored {
            schedules: 0,
            complete: true,
            exhausted: false,
            threads: false,
            verdicts: BTreeMap::new(),
            failures: BTreeMap::new(),
            worst: None,
            skipped: BTreeMap::new(),
            unset: BTreeSet::new(),
            output: Vec::new(),
        },
        foreseen: Vec::new(),
    };
    explorer.search(start);
    explorer.explored
}

/// How many steps lie between states that are kept, to go on from there.
const KEPT: usize = 8;

/// A state on the way, before the step of that number.
struct Kept<'c> {
    depth: usize,
    machine: Machine<'c>,
    last_of_key: Vec<(Key, Vec<u32>)>,
}

struct Explorer<'c> {
    stack: Vec<Node>,
    kept: Vec<Kept<'c>>,
    limits: Limits,
    explored: Explored,
    foreseen: Vec<Value>,
}

/// How a sequence of steps ended that nothing went wrong in.
enum Ending {
    /// All threads have ended.
    All,
    /// A thread waits for ever.
    Waiting(usize),
    /// Others have shown already whatever it could show.
    Redundant,
}

/// How an execution ended.
enum End {
    Outcome(Box<Outcome>),
    /// The run passed as one before it, and is counted.
    Counted,
    /// Others have shown already whatever it could show.
    Redundant,
    /// A constant has to be foreseen: again.
    Again,
}

impl<'c> Explorer<'c> {
    fn search(&mut self, start: &Machine<'c>) {
        let mut attempts = 0;
        loop {
            let known = self.stack.len();
            let end = self.execute(start);
            match end {
                End::Again if attempts < 64 => {
                    attempts += 1;
                    continue;
                }
                End::Outcome(outcome) => {
                    let is_failure = matches!(
                        outcome.verdict,
                        Verdict::Failed | Verdict::Deadlock | Verdict::Error
                    );
                    self.count(*outcome);
                    if is_failure && !self.limits.keep_going {
                        self.explored.complete = false;
                        return;
                    }
                }
                End::Counted | End::Redundant | End::Again => {}
            }
            attempts = 0;
            self.find_races(known.saturating_sub(1));
            if !self.go_back() {
                self.explored.exhausted = true;
                return;
            }
            let is_late = self.limits.deadline.is_some_and(|end| std::time::Instant::now() >= end);
            if self.explored.schedules >= self.limits.schedules || is_late {
                self.explored.complete = false;
                return;
            }
        }
    }

    /// Counts a run that has passed, where that is no news.
    fn count_passed(&mut self) -> bool {
        if self.explored.worst.is_none() {
            return false;
        }
        self.explored.schedules += 1;
        *self.explored.verdicts.entry(Verdict::Passed).or_default() += 1;
        true
    }

    fn count(&mut self, outcome: Outcome) {
        self.explored.schedules += 1;
        *self.explored.verdicts.entry(outcome.verdict).or_default() += 1;
        // The steps that a thread could have done if it did not wait for ever are not looked at.
        if matches!(outcome.verdict, Verdict::Bounded | Verdict::Stopped | Verdict::Deadlock) {
            self.explored.complete = false;
        }
        if outcome.verdict >= Verdict::Failed {
            for failure in outcome.failure.iter().chain(&outcome.more) {
                let place = (failure.id.clone(), failure.span);
                self.explored.failures.entry(place).or_insert_with(|| failure.clone());
            }
        }
        let is_worse =
            self.explored.worst.as_ref().is_none_or(|worst| worst.verdict < outcome.verdict);
        if is_worse {
            self.explored.worst = Some(outcome);
        }
    }

    /// Runs along the stack, and on from its end.
    fn execute(&mut self, start: &Machine<'c>) -> End {
        // States behind the last step of the stack are no longer those that were kept.
        while self.kept.last().is_some_and(|kept| kept.depth >= self.stack.len()) {
            self.kept.pop();
        }
        let (mut machine, mut last_of_key, depth) = match self.kept.last() {
            Some(kept) => (kept.machine.clone(), kept.last_of_key.clone(), kept.depth),
            None => (start.clone(), Vec::new(), 0),
        };
        machine.clocks = true;
        machine.foreseen = self.foreseen.clone();
        let stopped = self.drive(&mut machine, &mut last_of_key, depth);
        self.explored.threads |= machine.threads.len() > 1;
        self.find_races_of_waiting(&machine);
        for (place, count) in &machine.skipped {
            let known = self.explored.skipped.entry(*place).or_default();
            *known = (*known).max(*count);
        }
        self.explored.unset.extend(&machine.unset);
        if self.explored.schedules == 0 {
            self.explored.output.clone_from(&machine.output);
        }
        match stopped {
            Ok(Ending::Redundant) => End::Redundant,
            Ok(Ending::All) if machine.asserts.is_empty() && self.count_passed() => End::Counted,
            Ok(Ending::All) => End::Outcome(Box::new(outcome(&machine, Ok(None)))),
            Ok(Ending::Waiting(thread)) => {
                End::Outcome(Box::new(outcome(&machine, Ok(Some(thread)))))
            }
            Err(trouble) => {
                if let Trouble::Foreseen { number, value } = &*trouble {
                    let length = self.foreseen.len().max(number + 1);
                    self.foreseen.resize(length, Value::Int(0));
                    self.foreseen[*number] = value.clone();
                    self.kept.clear();
                    return End::Again;
                }
                End::Outcome(Box::new(outcome(&machine, Err(trouble))))
            }
        }
    }

    /// Takes steps until the execution ends.
    fn drive(
        &mut self,
        machine: &mut Machine<'c>,
        last_of_key: &mut Vec<(Key, Vec<u32>)>,
        first: usize,
    ) -> crate::fault::Res<Ending> {
        machine.settle_threads()?;
        for depth in first.. {
            if depth > first && depth.is_multiple_of(KEPT) {
                let last_of_key = last_of_key.clone();
                self.kept.push(Kept { depth, machine: machine.clone(), last_of_key });
            }
            let enabled = machine.enabled();
            if enabled.is_empty() {
                let waiting = machine.threads.iter().position(|one| one.status != Status::Done);
                self.stack.truncate(depth);
                return Ok(waiting.map_or(Ending::All, Ending::Waiting));
            }
            if depth == self.stack.len() && !self.push(machine, &enabled) {
                return Ok(Ending::Redundant);
            }
            let node = &mut self.stack[depth];
            let thread = node.chosen;
            let place = enabled.iter().position(|one| *one == thread).unwrap_or(0);
            machine.choices.choose_or(enabled.len() as u32, About::Thread, |_| place as u32);
            let running = &mut machine.threads[thread];
            node.before.clone_from(&running.clock);
            if let Some(key) = node.access.key.filter(|key| !matches!(key, Key::Lock(_))) {
                let known = last_of_key.iter_mut().find(|(other, _)| *other == key);
                if let Some((_, clock)) = known {
                    merge(&mut running.clock, clock);
                }
            }
            node.number = machine.tick(thread);
            let taken = machine.take_step(thread);
            let node = &mut self.stack[depth];
            // An event that a step waited for, such as the release of a lock, comes before it.
            node.clock.clone_from(&machine.threads[thread].clock);
            if let Some(key) = node.access.key.filter(|key| !matches!(key, Key::Lock(_))) {
                match last_of_key.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, clock)) => clock.clone_from(&node.clock),
                    None => last_of_key.push((key, node.clock.clone())),
                }
            }
            if let Err(trouble) = taken.and_then(|()| machine.settle_threads()) {
                self.stack.truncate(depth + 1);
                return Err(trouble);
            }
            if machine.counts.visible >= machine.config.visible_steps {
                self.stack.truncate(depth + 1);
                let span = machine.threads[thread].place;
                return Err(Box::new(Trouble::Bound("visible steps", span)));
            }
        }
        Ok(Ending::Redundant)
    }

    /// Returns a new point: chooses a thread that is worth it.
    fn push(&mut self, machine: &Machine<'_>, enabled: &[usize]) -> bool {
        let access = |thread: usize| match machine.threads[thread].status {
            Status::At(pending) => Access::of(pending),
            _ => Access { key: None, reads_only: false },
        };
        let enabled: Vec<_> = enabled.iter().map(|&thread| (thread, access(thread))).collect();
        let last = self.stack.last();
        let sleep: Vec<(usize, Access)> = match last {
            Some(last) if self.limits.preemptions.is_none() => {
                let before = last.done.iter().filter_map(|done| {
                    last.enabled.iter().find(|(thread, _)| thread == done).copied()
                });
                let asleep = last.sleep.iter().copied().chain(before);
                asleep
                    .filter(|(thread, access)| {
                        *thread != last.chosen && !access.matters_to(last.access)
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        let is_asleep = |thread: usize| sleep.iter().any(|(one, _)| *one == thread);
        let previous = last.map(|last| last.chosen);
        let goes_on = enabled.iter().find(|(thread, _)| Some(*thread) == previous);
        let goes_on = goes_on.filter(|(thread, _)| !is_asleep(*thread));
        let chosen = goes_on.or_else(|| enabled.iter().find(|(thread, _)| !is_asleep(*thread)));
        let Some(&(chosen, access)) = chosen else { return false };
        let interrupted = previous.is_some_and(|previous| {
            previous != chosen && enabled.iter().any(|(thread, _)| *thread == previous)
        });
        let preemptions = last.map_or(0, |last| last.preemptions) + u32::from(interrupted);
        let mut backtrack = vec![chosen];
        if let Some(limit) = self.limits.preemptions {
            // Under a bound on interruptions, reduction would miss schedules.
            let costs = |thread: usize| {
                let interrupts = goes_on.is_some() && Some(thread) != previous;
                last.map_or(0, |last| last.preemptions) + u32::from(interrupts)
            };
            let all = enabled.iter().map(|(thread, _)| *thread);
            backtrack.extend(all.filter(|&thread| thread != chosen && costs(thread) <= limit));
            if enabled.iter().any(|(thread, _)| costs(*thread) > limit) {
                self.explored.complete = false;
            }
        }
        self.stack.push(Node {
            enabled,
            chosen,
            access,
            backtrack,
            done: Vec::new(),
            sleep,
            number: 0,
            clock: Vec::new(),
            before: Vec::new(),
            preemptions,
        });
        true
    }

    /// Pairs of steps that matter to each other and could have come in the other order, from a step
    /// on.
    fn find_races(&mut self, from: usize) {
        if self.limits.preemptions.is_some() {
            return;
        }
        for later in from..self.stack.len() {
            let step = &self.stack[later];
            let (thread, access, before) = (step.chosen, step.access, step.before.clone());
            self.races_with(later, thread, access, &before);
        }
    }

    /// Threads that have not come to their next step could have taken it earlier, before it was too
    /// late.
    fn find_races_of_waiting(&mut self, machine: &Machine<'_>) {
        if self.limits.preemptions.is_some() {
            return;
        }
        for (thread, waiting) in machine.threads.iter().enumerate() {
            if let Status::At(pending) = waiting.status {
                let access = Access::of(pending);
                self.races_with(self.stack.len(), thread, access, &waiting.clock);
            }
        }
    }

    /// Earlier steps that matter to one of a thread, and need not have come before it.
    fn races_with(&mut self, later: usize, thread: usize, access: Access, before: &[u32]) {
        if access.key.is_none() {
            return;
        }
        let mut seen: Vec<usize> = vec![thread];
        let mut races = Vec::new();
        for earlier in (0..later).rev() {
            let other = &self.stack[earlier];
            if seen.contains(&other.chosen) || !other.access.matters_to(access) {
                continue;
            }
            seen.push(other.chosen);
            if !other.happens_before(before) {
                races.push(earlier);
            }
        }
        for earlier in races {
            self.add_backtrack(earlier, later, thread, before);
        }
    }

    /// At the earlier of two steps, a thread that could begin the other order.
    fn add_backtrack(&mut self, earlier: usize, later: usize, thread: usize, before: &[u32]) {
        let first = &self.stack[earlier];
        let mut initials: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        let follows = |others: &[usize], clock: &[u32]| {
            others.iter().any(|&before| self.stack[before].happens_before(clock))
        };
        for at in earlier + 1..later {
            let step = &self.stack[at];
            if first.happens_before(&step.clock) {
                continue;
            }
            if !follows(&others, &step.clock) && !initials.contains(&step.chosen) {
                initials.push(step.chosen);
            }
            others.push(at);
        }
        if !follows(&others, before) && !initials.contains(&thread) {
            initials.push(thread);
        }
        let node = &mut self.stack[earlier];
        if initials.iter().any(|thread| node.backtrack.contains(thread)) {
            return;
        }
        let can = initials.iter().find(|thread| node.enabled.iter().any(|(one, _)| one == *thread));
        match can {
            Some(&thread) => node.backtrack.push(thread),
            None => {
                for (thread, _) in node.enabled.clone() {
                    if !node.backtrack.contains(&thread) {
                        node.backtrack.push(thread);
                    }
                }
            }
        }
    }

    /// Goes back to the last point with something left to try.
    fn go_back(&mut self) -> bool {
        while let Some(node) = self.stack.last_mut() {
            let chosen = node.chosen;
            node.done.push(chosen);
            let is_asleep = |thread: usize| node.sleep.iter().any(|(one, _)| *one == thread);
            let next = node
                .backtrack
                .iter()
                .copied()
                .find(|&thread| !node.done.contains(&thread) && !is_asleep(thread));
            if let Some(next) = next {
                node.chosen = next;
                let found = node.enabled.iter().find(|(thread, _)| *thread == next);
                if let Some((_, access)) = found {
                    node.access = *access;
                }
                let at = self.stack.len() - 1;
                if let Some(before) = at.checked_sub(1) {
                    let previous = self.stack[before].chosen;
                    let earlier = self.stack[before].preemptions;
                    let node = &mut self.stack[at];
                    let interrupted = previous != next
                        && node.enabled.iter().any(|(thread, _)| *thread == previous);
                    node.preemptions = earlier + u32::from(interrupted);
                }
                return true;
            }
            self.stack.pop();
        }
        false
    }
}
