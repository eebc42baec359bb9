//! Verifying in other processes, which may be ended at any time.
//!
//! Z3 looks at its clock when it likes, and at times not for minutes; it may run out of memory, and
//! then the process is ended from outside. Threads cannot be ended, so members are verified in
//! processes of their own ([`crate::supervise::worker`]), several in one while all goes well. A
//! member that is not done some time after it should be, or with which a process ends, is given up,
//! and the rest of its file goes on in a new process. What was found before is known here: it is
//! told when it is found.
//!
//! This process has one thread, so that it can be copied ([`crate::supervise::process`]).

pub(crate) mod known;
pub(crate) mod process;
pub(crate) mod wire;
mod worker;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use silicon::options::GivenUp;
use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::input::longest_first;
use silicon::session::{Diagnostic, FileVerdict, Input, MemberOutcome, Outcome, Session};

use self::known::{Known, LOST, News};
use self::process::{Ending, Process, Side};
use self::wire::{Event, Order, head, packed, whole};

/// The receiver of the events of a run.
pub(crate) trait Audience {
    /// The front end is through with an input, and these members of it will be verified.
    fn planned(&mut self, _outcome: &Outcome, _members: &[Member]) {}
    /// One of them is done, and this was found in it.
    fn finished(&mut self, _id: &str, _member: &MemberOutcome, _found: &[Diagnostic]) {}
    /// A worker has said something about the input of that number; or it is said here, of work that
    /// has come to a defect.
    fn heard(&mut self, _input: usize, _event: &Event) -> anyhow::Result<()> {
        Ok(())
    }
    /// Nothing more will be said, for this reason.
    fn stopped(&mut self, _why: &str) {}
    /// Shows the outcome of an input; inputs come in their order.
    fn show(&mut self, outcome: Outcome) -> anyhow::Result<()>;
    /// Counts an input that nobody has begun, where one message speaks of all such inputs together.
    fn left_out(&mut self, _outcome: Outcome) {}
    /// Some time has passed.
    fn wait(&mut self) {}
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Complete,
    /// The run was interrupted, and so many inputs were not begun.
    Stopped {
        not_begun: usize,
    },
}

/// The sources of interruptions of a run.
pub(crate) trait Interrupt {
    /// Streams with something to read where somebody may have done so.
    fn wakes(&self) -> Vec<BorrowedFd<'_>>;
    /// Returns words for whoever has interrupted.
    fn noted(&self) -> Option<String>;
    /// Leaves the run to this process alone: called in a copy of it.
    fn leave(&self);
}

/// The work of a run, and the processes for it.
pub(crate) struct Plan<'a> {
    pub(crate) inputs: &'a [Input],
    /// The session of each input.
    pub(crate) session: &'a dyn Fn(&Input) -> Session,
    pub(crate) processes: usize,
    /// Keeps the texts of outcomes also where nothing is found in them.
    pub(crate) with_texts: bool,
    /// Tells answers to the audience.
    pub(crate) with_answers: bool,
    pub(crate) interrupt: &'a dyn Interrupt,
    /// When all should be over.
    pub(crate) deadline: Option<Instant>,
    /// How long a member may take, to be named where it takes longer.
    pub(crate) member_limit: Option<Duration>,
    /// How much memory a process may have, in bytes.
    pub(crate) memory_limit: Option<u64>,
}

/// Verifies everything.
pub(crate) fn run(plan: &Plan<'_>, audience: &mut dyn Audience) -> anyhow::Result<End> {
    let count = plan.inputs.len();
    // Where the time may not suffice for all, they have their turns as they were given.
    let is_free = plan.processes > 1 && plan.deadline.is_none();
    let order = if is_free { longest_first(plan.inputs) } else { (0..count).collect() };
    let mut run = Run {
        plan,
        audience,
        files: (0..count).map(|_| File::default()).collect(),
        waiting: order.into(),
        workers: Vec::new(),
        buffer: vec![0; 1 << 16].into(),
        shown: 0,
    };
    run.finish()
}

/// The work on one input, in as many processes as it takes.
#[derive(Default)]
struct File {
    started: Option<Instant>,
    known: Known,
    given_up: Vec<GivenUp>,
    alone: bool,
    outcome: Option<Outcome>,
}

struct Worker {
    process: Process,
    /// The part of its next message that has arrived.
    said: Vec<u8>,
    job: Option<Job>,
}

/// The present work of a worker.
struct Job {
    input: usize,
    running: Vec<Running>,
}

/// A member that is being verified.
struct Running {
    kind: MemberKind,
    id: String,
    /// How long it should take at most, and when it is given up at the earliest.
    limit: Option<(Duration, Instant)>,
    /// The thread that is at work on it, and how long that had worked before.
    thread: i32,
    worked: Option<Duration>,
    /// How long the thread had worked when it was last seen to go on, and when that was.
    seen: Option<(Duration, Instant)>,
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    audience: &'a mut dyn Audience,
    files: Vec<File>,
    /// Inputs that nobody works on, the next one first.
    waiting: VecDeque<usize>,
    workers: Vec<Worker>,
    /// For what workers say.
    buffer: Box<[u8]>,
    /// So many outcomes have been shown.
    shown: usize,
}

/// How often the audience hears that time passes.
const PULSE: Duration = Duration::from_millis(200);

impl Run<'_> {
    fn finish(&mut self) -> anyhow::Result<End> {
        loop {
            self.show()?;
            if self.shown == self.files.len() {
                return Ok(End::Complete);
            }
            if let Some(by) = self.plan.interrupt.noted() {
                let not_begun = self.stop(&format!("stopped by {by}"), false)?;
                return Ok(End::Stopped { not_begun });
            }
            let now = Instant::now();
            if self.plan.deadline.is_some_and(|deadline| now > deadline + PATIENCE) {
                self.stop(TIME_LIMIT, true)?;
                return Ok(End::Complete);
            }
            self.hand_out()?;
            for number in self.readable()? {
                self.listen(number)?;
            }
            self.workers.retain(|worker| !worker.is_gone());
            self.end_overdue()?;
            self.end_large()?;
            self.audience.wait();
        }
    }

    /// Gives what waits to workers that have nothing to do.
    fn hand_out(&mut self) -> anyhow::Result<()> {
        while !self.waiting.is_empty() {
            let free = self.workers.iter().position(|worker| worker.job.is_none());
            let number = match free {
                Some(number) => number,
                None if self.workers.len() < self.plan.processes => self.hire()?,
                None => break,
            };
            let Some(input) = self.waiting.pop_front() else { break };
            let file = &mut self.files[input];
            file.started.get_or_insert_with(Instant::now);
            let order = Order {
                input,
                alone: file.alone,
                with_texts: self.plan.with_texts,
                with_answers: self.plan.with_answers,
                settled: file.known.settled(),
                given_up: file.given_up.clone(),
            };
            let order = packed(&order)?;
            let worker = &mut self.workers[number];
            worker.job = Some(Job { input, running: Vec::new() });
            // If it is gone, that shows when it is listened to.
            let _ = worker.process.stream.write_all(&order);
        }
        Ok(())
    }

    fn hire(&mut self) -> anyhow::Result<usize> {
        match process::copy()? {
            Side::New(stream) => {
                self.plan.interrupt.leave();
                worker::serve(stream, self.plan.session, self.plan.inputs)
            }
            Side::Old(process) => {
                self.workers.push(Worker { process, said: Vec::new(), job: None });
                Ok(self.workers.len() - 1)
            }
        }
    }

    /// Waits, and gives the workers that have said something.
    fn readable(&self) -> anyhow::Result<Vec<usize>> {
        let now = Instant::now();
        let running = self.workers.iter().filter_map(|worker| worker.job.as_ref());
        let ends = running.flat_map(|job| &job.running).filter_map(|one| Some(one.limit?.1));
        // Each pulse looks at processes that are past the end of their time.
        let ends = ends.filter(|&end| end > now);
        let until = ends.chain(self.plan.deadline.map(|deadline| deadline + PATIENCE)).min();
        let time = until.map_or(PULSE, |until| until.saturating_duration_since(now).min(PULSE));
        let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        let streams = self.workers.iter().map(|worker| worker.process.stream.as_fd());
        let mut fds: Vec<PollFd<'_>> = streams
            .chain(self.plan.interrupt.wakes())
            .map(|stream| PollFd::from_borrowed_fd(stream, PollFlags::IN))
            .collect();
        match poll(&mut fds, Some(&timeout)) {
            // A signal: it is looked at next.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        let has_said = |number: &usize| !fds[*number].revents().is_empty();
        Ok((0..self.workers.len()).filter(has_said).collect())
    }

    fn listen(&mut self, number: usize) -> anyhow::Result<()> {
        let worker = &mut self.workers[number];
        let read = match worker.process.stream.read(&mut self.buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            // The process has ended before it has read everything.
            Err(_) => 0,
        };
        if read == 0 {
            let ending = worker.process.wait();
            return self.lost(number, ending);
        }
        worker.said.extend_from_slice(&self.buffer[..read]);
        self.hear_all(number)
    }

    fn hear_all(&mut self, number: usize) -> anyhow::Result<()> {
        let events = whole(&mut self.workers[number].said)?;
        events.into_iter().try_for_each(|event| self.hear(number, event))
    }

    /// Ends a worker, and hears what it has said before.
    fn hear_last_words(&mut self, number: usize) -> anyhow::Result<()> {
        let worker = &mut self.workers[number];
        worker.said.extend(worker.process.last_words());
        self.hear_all(number)
    }

    fn hear(&mut self, number: usize, event: Event) -> anyhow::Result<()> {
        let worker = &mut self.workers[number];
        let Some(job) = &mut worker.job else { return Ok(()) };
        let input = job.input;
        self.audience.heard(input, &event)?;
        let file = &mut self.files[input];
        match event {
            Event::Started { kind, id, within, thread } => {
                let limit = within.map(|within| (within, Instant::now() + within + grace(within)));
                let worked = worker.process.worked(thread);
                let running = Running { kind, id: id.clone(), limit, thread, worked, seen: None };
                job.running.push(running);
                file.known.hear(Event::Started { kind, id, within, thread });
            }
            Event::Ended { kind, id } => {
                job.running.retain(|one| (one.kind, &one.id) != (kind, &id));
            }
            Event::Done { .. } => {
                worker.job = None;
                file.known.hear(event);
                match file.known.composed(LOST) {
                    Some(outcome) => file.end(outcome),
                    None => self.broken(input, "its outcome was lost")?,
                }
            }
            Event::Loaded { .. } | Event::Finished { .. } | Event::Answered(_) => {
                match file.known.hear(event) {
                    News::Planned(outcome, members) => self.audience.planned(outcome, members),
                    News::Finished(id, member, found) => self.audience.finished(id, member, found),
                    News::Nothing => {}
                }
            }
        }
        Ok(())
    }

    /// Ends the processes in which a member takes too long.
    fn end_overdue(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        for number in (0..self.workers.len()).rev() {
            let Worker { process, job, .. } = &mut self.workers[number];
            let running = job.iter_mut().flat_map(|job| &mut job.running);
            let overdue: Vec<(MemberKind, String)> = running
                .filter_map(|one| one.is_overdue(now, process).then(|| (one.kind, one.id.clone())))
                .collect();
            if overdue.is_empty() {
                continue;
            }
            let is_overdue = |one: &Running| overdue.contains(&(one.kind, one.id.clone()));
            let worker = self.workers.remove(number);
            worker.process.end();
            let Some(job) = worker.job else { continue };
            for one in job.running.into_iter().filter(is_overdue) {
                let (kind, name) = (one.kind, one.id);
                let limit = limit(one.limit.map(|(limit, _)| limit), self.plan.member_limit);
                let why = format!("{limit}; the solver did not stop by itself");
                self.give_up(job.input, kind, name, false, why)?;
            }
            self.go_on_with(job.input);
        }
        Ok(())
    }

    /// Ends the processes that have more memory than they may have.
    fn end_large(&mut self) -> anyhow::Result<()> {
        let Some(limit) = self.plan.memory_limit else { return Ok(()) };
        for number in 0..self.workers.len() {
            let process = &mut self.workers[number].process;
            if process.is_over() || process.memory().is_none_or(|memory| memory <= limit) {
                continue;
            }
            self.hear_last_words(number)?;
            self.lost(number, Ending::TooLarge)?;
        }
        self.workers.retain(|worker| !worker.is_gone());
        Ok(())
    }

    /// A worker has ended by itself, or was ended by others.
    fn lost(&mut self, number: usize, ending: Ending) -> anyhow::Result<()> {
        let Some(mut job) = self.workers[number].job.take() else { return Ok(()) };
        let file = &mut self.files[job.input];
        match job.running.pop() {
            None if ending == Ending::TooLarge => {
                let why = format!("the process that works on it ended: {ending}");
                let text = format!("gave up: {why}");
                let name = &self.plan.inputs[job.input].name;
                let verdict = FileVerdict::Inconclusive;
                let defect = Outcome::without_members(name, verdict, "timeout.error", text);
                self.end_with(job.input, defect, &why)?;
            }
            None => {
                self.broken(job.input, &format!("the process that works on it ended: {ending}"))?;
            }
            // Whose fault it is shows when they are verified one at a time.
            Some(_) if !job.running.is_empty() && !file.alone => file.alone = true,
            Some(Running { kind, id: name, .. }) => {
                let is_defect = !ending.is_for_lack_of_memory();
                let hint = match ending {
                    Ending::TooLarge => "",
                    _ if is_defect => "",
                    _ => ", most likely for lack of memory",
                };
                let why = format!("the process that verified it ended: {ending}{hint}");
                self.give_up(job.input, kind, name, is_defect, why)?;
            }
        }
        self.go_on_with(job.input);
        Ok(())
    }

    /// A member is not to be verified any more.
    fn give_up(
        &mut self,
        input: usize,
        kind: MemberKind,
        name: String,
        is_defect: bool,
        why: String,
    ) -> anyhow::Result<()> {
        let file = &mut self.files[input];
        let time = file.known.time_of(kind, &name);
        if file.give_up(GivenUp { kind, name, is_defect, why: why.clone(), time }) {
            return Ok(());
        }
        self.broken(input, &format!("a member was verified again that was given up: {why}"))
    }

    /// An input whose process is gone gets another one, if there is something left to do.
    fn go_on_with(&mut self, input: usize) {
        if self.files[input].outcome.is_none() {
            self.waiting.push_front(input);
        }
    }

    /// No more can be said of an input than is known, by a defect.
    fn broken(&mut self, input: usize, why: &str) -> anyhow::Result<()> {
        let name = &self.plan.inputs[input].name;
        let text = format!("internal error: {why}");
        let defect = Outcome::without_members(name, FileVerdict::Error, "internal", text);
        self.end_with(input, defect, why)
    }

    /// Ends an input with what is wrong with the work on it; members that are not done end with
    /// `why`.
    fn end_with(&mut self, input: usize, defect: Outcome, why: &str) -> anyhow::Result<()> {
        let done = Event::Done { broken: Some(head(&defect, true)) };
        self.audience.heard(input, &done)?;
        let file = &mut self.files[input];
        file.known.hear(done);
        let outcome = file.known.composed(why);
        file.end(outcome.unwrap_or(defect));
        Ok(())
    }

    /// Ends all work. What is known is shown; of inputs of which nothing is, how many there are is
    /// returned, and they are shown if asked for.
    fn stop(&mut self, why: &str, shows_all: bool) -> anyhow::Result<usize> {
        for number in 0..self.workers.len() {
            self.hear_last_words(number)?;
        }
        self.workers.clear();
        self.audience.stopped(why);
        let mut not_begun = 0;
        for index in self.shown..self.files.len() {
            let file = &mut self.files[index];
            let known = file.outcome.take().or_else(|| {
                let mut outcome = file.known.composed(why)?;
                outcome.time = file.started.map_or(Duration::ZERO, |started| started.elapsed());
                Some(outcome)
            });
            let name = &self.plan.inputs[index].name;
            let outcome = match known {
                Some(outcome) => outcome,
                None => {
                    not_begun += 1;
                    let text = format!("gave up: {why}");
                    let verdict = FileVerdict::Inconclusive;
                    Outcome::without_members(name, verdict, "timeout.error", text)
                }
            };
            if shows_all
                || outcome.verdict != FileVerdict::Inconclusive
                || !outcome.members.is_empty()
            {
                self.audience.show(outcome)?;
            } else {
                self.audience.left_out(outcome);
            }
        }
        Ok(not_begun)
    }

    fn show(&mut self) -> anyhow::Result<()> {
        while let Some(file) = self.files.get_mut(self.shown)
            && let Some(outcome) = file.outcome.take()
        {
            self.shown += 1;
            // The file is not needed any more.
            *file = File::default();
            self.audience.show(outcome)?;
        }
        Ok(())
    }
}

/// Returns the limit that a member has reached that was to take `within`.
fn limit(within: Option<Duration>, of_member: Option<Duration>) -> String {
    match (within, of_member) {
        // The message tells the time that was left when it was sent.
        (Some(within), Some(limit)) if within + Duration::from_millis(100) >= limit => {
            let seconds = limit.as_secs_f64();
            format!("the time limit of the member, {seconds} s, is reached (--member-limit)")
        }
        _ => TIME_LIMIT.to_owned(),
    }
}

const TIME_LIMIT: &str = "the time limit of the run is reached (--time-limit)";

/// How long a run may go on after its time is over: Z3 counts whole seconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// The same for a member that may take so long: where the machine is busy, there may be a while
/// between two looks at the clock.
fn grace(limit: Duration) -> Duration {
    PATIENCE.max(limit / 10)
}

impl File {
    /// `false`: that was done before, and did not help.
    fn give_up(&mut self, member: GivenUp) -> bool {
        let is_it = |one: &GivenUp| one.kind == member.kind && one.name == member.name;
        let is_new = !self.given_up.iter().any(is_it);
        self.given_up.push(member);
        is_new
    }

    fn end(&mut self, mut outcome: Outcome) {
        outcome.time = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        self.outcome = Some(outcome);
    }
}

impl Running {
    /// Tells whether it takes too long: its thread has worked so long, where that is known, or
    /// stands still.
    fn is_overdue(&mut self, now: Instant, process: &Process) -> bool {
        let Some((within, _)) = self.limit.filter(|(_, end)| *end <= now) else { return false };
        let Some((before, worked)) = self.worked.zip(process.worked(self.thread)) else {
            return true;
        };
        if worked.saturating_sub(before) >= within + grace(within) {
            return true;
        }
        match self.seen {
            Some((then, at)) if then == worked => now >= at + PATIENCE,
            _ => {
                self.seen = Some((worked, now));
                false
            }
        }
    }
}

impl Worker {
    /// Tells whether its process has ended.
    fn is_gone(&self) -> bool {
        self.process.is_over()
    }
}

impl Ending {
    /// Tells whether processes end this way for lack of memory: the system ends them, or they give
    /// up under a limit.
    fn is_for_lack_of_memory(self) -> bool {
        match self {
            Self::Signal(libc::SIGKILL) | Self::TooLarge => true,
            Self::Signal(libc::SIGABRT | libc::SIGSEGV | libc::SIGBUS) => {
                process::has_memory_limit()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_given_up_once() {
        let member = |kind, name: &str| GivenUp {
            kind,
            name: name.to_owned(),
            is_defect: false,
            why: "time".to_owned(),
            time: Duration::ZERO,
        };
        let mut file = File::default();
        assert!(file.give_up(member(MemberKind::Function, "f")));
        assert!(file.give_up(member(MemberKind::Method, "f")));
        assert!(file.give_up(member(MemberKind::Function, "g")));
        assert!(!file.give_up(member(MemberKind::Function, "f")));
    }
}
