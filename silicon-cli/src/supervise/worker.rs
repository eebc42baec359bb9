//! The process that verifies: it takes orders, and tells what comes of them while it goes on.

use std::io::{BufReader, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use rustix::process::{Signal, getpid, kill_process};
use silicon::report::MemberKind;
use silicon::session::follow::Member;
use silicon::session::{Diagnostic, FileVerdict, Follower, Input, MemberOutcome, Outcome, Session};

use crate::supervise::wire::{Event, Order, head, next, packed};

/// Works on orders until the other side is gone.
pub(crate) fn serve(
    stream: UnixStream,
    session: impl Fn(&Input) -> Session,
    inputs: &[Input],
) -> ! {
    let (sender, orders) = mpsc::channel();
    if let Ok(from) = stream.try_clone() {
        // The process that gives orders may end while one is worked on: then nobody wants to know
        // what comes of it.
        let listen = move || {
            let mut from = BufReader::new(from);
            while let Some(order) = next::<Order>(&mut from) {
                if sender.send(order).is_err() {
                    break;
                }
            }
            end();
        };
        if thread::Builder::new().spawn(listen).is_ok() {
            let voice = Voice {
                stream: Mutex::new(BufWriter::new(stream)),
                with_texts: AtomicBool::new(false),
                with_answers: AtomicBool::new(false),
            };
            for order in orders {
                let Some(input) = inputs.get(order.input) else { end() };
                obey(order, input, session(input), &voice);
            }
        }
    }
    end()
}

/// Not by `exit`: solvers may be at work on other threads.
fn end() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort()
}

fn obey(order: Order, input: &Input, mut session: Session, voice: &Voice) {
    if order.alone {
        session.options.threads = 1;
    }
    voice.with_texts.store(order.with_texts, Ordering::Relaxed);
    voice.with_answers.store(order.with_answers, Ordering::Relaxed);
    session.assigned.settled = order.settled.into_iter().collect();
    session.assigned.given_up = order.given_up;
    let outcome = session.run_with(input, voice);
    let is_broken = outcome.verdict == FileVerdict::Error && outcome.members.is_empty();
    voice.say(&Event::Done { broken: is_broken.then(|| head(&outcome, true)) });
}

/// Tells the other side.
struct Voice {
    stream: Mutex<BufWriter<UnixStream>>,
    /// See [`Order::with_texts`].
    with_texts: AtomicBool,
    /// See [`Order::with_answers`].
    with_answers: AtomicBool,
}

impl Voice {
    fn say(&self, event: &Event) {
        let Ok(message) = packed(event) else { end() };
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = stream.write_all(&message);
        if !event.is_followed_at_once() {
            said = said.and_then(|()| stream.flush());
        }
        if said.is_err() {
            end();
        }
    }
}

impl Follower for Voice {
    fn loaded(&self, outcome: &Outcome, members: &[Member]) {
        // Only what is verified may have more findings, and be interrupted before they are shown.
        let with_texts = !(members.is_empty() && outcome.diagnostics.is_empty())
            || self.with_texts.load(Ordering::Relaxed);
        let (head, members) = (head(outcome, with_texts), members.to_vec());
        self.say(&Event::Loaded { head, members });
    }

    fn started(&self, kind: MemberKind, id: &str, until: Option<Instant>) {
        let within = until.map(|until| until.saturating_duration_since(Instant::now()));
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        self.say(&Event::Started { kind, id: id.to_owned(), within, thread });
    }

    fn ended(&self, kind: MemberKind, id: &str) {
        self.say(&Event::Ended { kind, id: id.to_owned() });
    }

    fn wants_answers(&self) -> bool {
        self.with_answers.load(Ordering::Relaxed)
    }

    fn answered(&self, answer: &str) {
        self.say(&Event::Answered(answer.to_owned()));
    }

    fn finished(&self, id: &str, member: &MemberOutcome, diagnostics: &[Diagnostic]) {
        let (id, member, found) = (id.to_owned(), member.clone(), diagnostics.to_vec());
        self.say(&Event::Finished { id, member, found });
    }
}
