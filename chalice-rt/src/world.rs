//! The surroundings of the threads of one run: what they share, what they wait for, and how the
//! run ends.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::thread::{Builder, JoinHandle};

use crate::Beyond;
use crate::amount::Fractions;
use crate::levels::Levels;
use crate::object::{Object, Status, locked};
use crate::thread::Thread;
use crate::trouble::{At, Fault, Res, Trouble};
use crate::value::Value;

/// The results of the entry: names and values.
pub type Started = Vec<(&'static str, Value)>;

/// An emitted program.
#[derive(Debug)]
pub struct Program {
    /// Its files, by number.
    pub files: &'static [&'static str],
    /// Are permission, contracts and the order of locks checked?
    pub checks: bool,
    /// Is the order of locks checked?
    pub deadlock_checks: bool,
    /// Is permission that is left behind a failure?
    pub leaks_fail: bool,
    /// Was its start made from a precondition? Then nobody is there to send what it waits for.
    pub is_generated: bool,
    /// Makes the start, and runs the entry.
    pub start: fn(&mut Thread) -> Res<Started>,
}

/// How a run ended that has not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A check failed.
    Failed,
    /// Threads wait for each other, or for ever.
    Deadlock,
    /// Something is beyond what can be kept or followed.
    Bounded,
    /// Something could not be executed.
    Stopped,
    /// The runtime contradicts itself.
    Error,
}

impl Verdict {
    /// As reports have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Deadlock => "deadlock",
            Self::Bounded => "bounded",
            Self::Stopped => "stopped",
            Self::Error => "error",
        }
    }
}

/// The finding that ends a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How the run ended.
    pub verdict: Verdict,
    /// `kind:reason`
    pub id: String,
    /// Where.
    pub at: At,
    /// The finding, in words.
    pub message: String,
}

/// The outcome of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The finding, unless it passed.
    pub finding: Option<Finding>,
    /// The output, if it was kept.
    pub output: Vec<String>,
    /// The results of the entry, if it passed.
    pub results: Started,
}

/// The event that a thread waits for.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    /// A lock, for writing or for reading.
    Lock(Arc<Object>, bool),
    /// The end of the thread of a token.
    End(Arc<Object>),
    /// A message.
    Message(Arc<Object>),
}

impl Wish {
    fn object(&self) -> &Arc<Object> {
        match self {
            Self::Lock(object, _) | Self::End(object) | Self::Message(object) => object,
        }
    }

    fn is_granted(&self, status: &Status) -> bool {
        match self {
            Self::Lock(_, write) => {
                status.writer.is_none() && (!write || status.readers.is_empty())
            }
            Self::End(_) => status.results.is_some(),
            Self::Message(_) => !status.queue.is_empty(),
        }
    }

    fn is_granted_now(&self) -> bool {
        self.is_granted(&locked(&self.object().extra().status))
    }

    /// Returns the thread that has what is waited for, if it is one.
    fn owner(&self) -> Option<u32> {
        let status = locked(&self.object().extra().status);
        match self {
            Self::Lock(..) => status.writer.or_else(|| status.readers.first().copied()),
            Self::End(_) => status.thread,
            Self::Message(_) => None,
        }
    }
}

struct Waiter {
    thread: u32,
    at: At,
    wish: Wish,
    bell: Arc<Condvar>,
}

/// The threads, as far as others have to know of them.
#[derive(Default)]
struct Threads {
    /// How many have not ended.
    active: usize,
    ended: BTreeSet<u32>,
    waiters: Vec<Waiter>,
    handles: Vec<JoinHandle<()>>,
    finding: Option<Finding>,
    results: Started,
}

/// The state that the threads of a run share.
pub struct World {
    /// The program.
    pub program: &'static Program,
    objects: AtomicU64,
    numbers: AtomicU32,
    /// All read fractions.
    pub(crate) fractions: RwLock<Fractions>,
    /// All lock levels.
    pub(crate) levels: RwLock<Levels>,
    output: Mutex<Vec<String>>,
    /// Is output written out, rather than kept?
    echoes: bool,
    is_over: AtomicBool,
    threads: Mutex<Threads>,
}

/// The size of the first thread's stack, and of the others'. Pages that nobody touches cost nothing.
const STACK: (usize, usize) = (1 << 30, 1 << 26);

/// Runs a program to its end.
pub fn run(program: &'static Program, echoes: bool) -> Outcome {
    let mut fractions = Fractions::default();
    fractions.fresh(None);
    let world = Arc::new(World {
        program,
        objects: AtomicU64::new(0),
        numbers: AtomicU32::new(0),
        fractions: RwLock::new(fractions),
        levels: RwLock::default(),
        output: Mutex::default(),
        echoes,
        is_over: AtomicBool::new(false),
        threads: Mutex::default(),
    });
    let number = world.next_thread();
    let main = world.spawn(number, At::default(), STACK.0, |thread| {
        let results = (thread.world.program.start)(thread)?;
        locked(&thread.world.threads).results = results;
        Ok(None)
    });
    if let Err(trouble) = main {
        world.fail(&trouble);
    }
    while let Some(handle) = { locked(&world.threads).handles.pop() } {
        if let Err(panic) = handle.join() {
            resume_unwind(panic);
        }
    }
    let mut threads = locked(&world.threads);
    Outcome {
        finding: threads.finding.take(),
        output: std::mem::take(&mut *locked(&world.output)),
        results: std::mem::take(&mut threads.results),
    }
}

impl World {
    pub(crate) fn next_object(&self) -> u64 {
        self.objects.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn next_thread(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Is the run over, though this thread is not?
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Writes a line out.
    pub(crate) fn print(&self, line: String) {
        let mut kept = locked(&self.output);
        if self.echoes {
            // Whoever closes the pipe wants no more.
            let _ = writeln!(io::stdout(), "{line}");
        } else {
            kept.push(line);
        }
    }

    /// Starts a thread, which leaves its results with its token.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        number: u32,
        at: At,
        stack: usize,
        work: impl FnOnce(&mut Thread) -> Res<Option<(Arc<Object>, Vec<Value>)>> + Send + 'static,
    ) -> Res<()> {
        let world = self.clone();
        locked(&self.threads).active += 1;
        let started = Builder::new().stack_size(stack).spawn(move || {
            let mut thread = Thread::new(world.clone(), number, stack);
            let result = catch_unwind(AssertUnwindSafe(|| work(&mut thread)));
            let result = result.unwrap_or_else(|panic| match panic.downcast::<Beyond>() {
                Ok(_) => {
                    let words = "an amount of permission is beyond the numbers of a machine";
                    Err(Box::new(Trouble::Bound(words, at)))
                }
                Err(panic) => {
                    world.end(number, None);
                    resume_unwind(panic)
                }
            });
            match result {
                Ok(results) => world.end(number, results),
                Err(trouble) => {
                    world.fail(&trouble);
                    world.end(number, None);
                }
            }
        });
        match started {
            Ok(handle) => {
                locked(&self.threads).handles.push(handle);
                Ok(())
            }
            Err(_) => {
                locked(&self.threads).active -= 1;
                Err(Box::new(Trouble::Bound("no more threads can be started", at)))
            }
        }
    }

    /// Starts a thread that another one forks.
    pub(crate) fn fork(
        self: &Arc<Self>,
        number: u32,
        at: At,
        work: impl FnOnce(&mut Thread) -> Res<Option<(Arc<Object>, Vec<Value>)>> + Send + 'static,
    ) -> Res<()> {
        self.spawn(number, at, STACK.1, work)
    }

    fn end(&self, number: u32, results: Option<(Arc<Object>, Vec<Value>)>) {
        let mut threads = locked(&self.threads);
        if let Some((token, results)) = results {
            locked(&token.extra().status).results = Some(results);
        }
        threads.active -= 1;
        threads.ended.insert(number);
        ring(&threads);
        self.look_for_the_stuck(&mut threads, None);
    }

    /// Changes what others may wait for.
    pub(crate) fn change<T>(&self, object: &Object, change: impl FnOnce(&mut Status) -> T) -> T {
        let threads = locked(&self.threads);
        let result = change(&mut locked(&object.extra().status));
        ring(&threads);
        result
    }

    /// Looks at what others may change.
    pub(crate) fn status<T>(&self, object: &Object, look: impl FnOnce(&Status) -> T) -> T {
        let _threads = locked(&self.threads);
        look(&locked(&object.extra().status))
    }

    /// Waits until a wish can be granted, and grants it.
    pub(crate) fn wait<T>(
        &self,
        thread: u32,
        at: At,
        wish: Wish,
        grant: impl FnOnce(&mut Status) -> T,
    ) -> Res<T> {
        let mut threads = locked(&self.threads);
        let object = wish.object().clone();
        let mut bell = None;
        loop {
            if self.is_over() {
                return Err(Box::new(Trouble::Over));
            }
            let mut status = locked(&object.extra().status);
            if wish.is_granted(&status) {
                threads.waiters.retain(|waiter| waiter.thread != thread);
                return Ok(grant(&mut status));
            }
            drop(status);
            let own: &Arc<Condvar> = bell.get_or_insert_with(|| {
                let bell: Arc<Condvar> = Arc::default();
                let waiter = Waiter { thread, at, wish: wish.clone(), bell: bell.clone() };
                threads.waiters.push(waiter);
                bell
            });
            self.look_for_the_stuck(&mut threads, Some(thread));
            if self.is_over() {
                continue;
            }
            threads = own.wait(threads).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Ends the run if a thread that begins to wait does so in a circle, or if all wait.
    fn look_for_the_stuck(&self, threads: &mut MutexGuard<'_, Threads>, begins: Option<u32>) {
        if threads.waiters.is_empty() || self.is_over() {
            return;
        }
        let is_circle = |thread: u32| is_stuck(threads, thread);
        let blamed = begins.filter(|thread| is_circle(*thread)).or_else(|| {
            let all_wait = threads.waiters.len() == threads.active
                && !threads.waiters.iter().any(|waiter| waiter.wish.is_granted_now());
            all_wait.then(|| threads.waiters.iter().map(|waiter| waiter.thread).min())?
        });
        let Some(blamed) = blamed else { return };
        let any_circle = threads.waiters.iter().any(|waiter| is_circle(waiter.thread));
        let at = threads.waiters.iter().find(|waiter| waiter.thread == blamed);
        let at = at.map_or_else(At::default, |waiter| waiter.at);
        let (verdict, id) = if self.program.is_generated && !any_circle {
            (Verdict::Stopped, "partner.missing")
        } else {
            (Verdict::Deadlock, "deadlock")
        };
        let message =
            if any_circle { "threads wait for each other" } else { "this waits for ever" };
        let finding = Finding { verdict, id: id.to_owned(), at, message: message.to_owned() };
        self.stop(threads, finding);
    }

    /// Ends the run, unless it has ended.
    fn fail(&self, trouble: &Trouble) {
        if let Some(finding) = finding(trouble) {
            self.stop(&mut locked(&self.threads), finding);
        }
    }

    fn stop(&self, threads: &mut Threads, finding: Finding) {
        threads.finding.get_or_insert(finding);
        self.is_over.store(true, Ordering::Relaxed);
        threads.waiters.iter().for_each(|waiter| waiter.bell.notify_all());
    }
}

/// Wakes those whose wishes can be granted now.
fn ring(threads: &Threads) {
    let granted = threads.waiters.iter().filter(|waiter| waiter.wish.is_granted_now());
    granted.for_each(|waiter| waiter.bell.notify_all());
}

/// Does a thread wait in a circle, or for one that has ended and never lets go?
fn is_stuck(threads: &Threads, thread: u32) -> bool {
    let waiter = |thread: u32| threads.waiters.iter().find(|one| one.thread == thread);
    let mut at = thread;
    for _ in 0..=threads.waiters.len() {
        let waiting = waiter(at).filter(|waiter| !waiter.wish.is_granted_now());
        match waiting.and_then(|waiter| waiter.wish.owner()) {
            None => return at != thread && threads.ended.contains(&at),
            Some(next) if next == thread => return true,
            Some(next) => at = next,
        }
    }
    true
}

/// Returns the finding that ends a run, in words.
fn finding(trouble: &Trouble) -> Option<Finding> {
    let (verdict, id, at, message) = match trouble {
        Trouble::Fault(fault) => {
            let kind = fault.kind.unwrap_or("assert.failed");
            let Fault { reason, words, .. } = fault;
            (Verdict::Failed, format!("{kind}:{reason}"), fault.place(), words.clone())
        }
        Trouble::Assumption(at) => {
            let words = "this is assumed, and does not hold".to_owned();
            (Verdict::Failed, "assume.violated".to_owned(), *at, words)
        }
        Trouble::Unknown(what, at) => {
            let words = format!("this cannot be executed ({what})");
            (Verdict::Stopped, (*what).to_owned(), *at, words)
        }
        Trouble::Bound(what, at) => {
            (Verdict::Bounded, "bound".to_owned(), *at, format!("the run was ended: {what}"))
        }
        Trouble::Inconsistent(words, at) => {
            (Verdict::Error, "machine.inconsistent".to_owned(), *at, (*words).to_owned())
        }
        Trouble::Over => return None,
    };
    Some(Finding { verdict, id, at, message })
}
