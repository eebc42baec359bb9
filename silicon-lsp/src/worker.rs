//! The process that verifies. It may end at any time: what it knows more than its orders say only
//! saves work.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use rustix::process::{Signal, getpid, kill_process};
use silicon::Answers;
use silicon::report::MemberKind;
use silicon::session::follow::{Member, StateAt};
use silicon::session::states::states_at;
use silicon::session::{Diagnostic, Follower, Input, Lines, MemberOutcome, Outcome, Session};

use crate::Reader;
use crate::convert::Files;
use crate::positions::Text;
use crate::protocol::{Done, Event, Job, Order, Planned, Question, Reached, Trial};
use crate::trial::judge;

/// Works on orders from standard input until it is closed. `reader` is that of [`crate::run`].
pub fn serve(reader: Reader, answers: Answers) -> ! {
    let (sender, orders) = mpsc::channel();
    let wanted = Arc::new(AtomicU64::new(0));
    let listener = {
        let wanted = Arc::clone(&wanted);
        move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                let Ok(order) = serde_json::from_str(&line) else { break };
                match order {
                    Order::Verify(Job { number, .. }) | Order::Try(Trial { number, .. }) => {
                        wanted.store(number, Ordering::Relaxed);
                    }
                    Order::Cancel(number) => {
                        let relaxed = Ordering::Relaxed;
                        let _ = wanted.compare_exchange(number, 0, relaxed, relaxed);
                    }
                    Order::States(_) | Order::Forget => {}
                }
                if sender.send(order).is_err() {
                    break;
                }
            }
            // The process that gave the orders is gone.
            end();
        }
    };
    if thread::Builder::new().spawn(listener).is_ok() {
        let mut answers = Arc::new(answers);
        for order in orders {
            match order {
                Order::Verify(job) => verify(job, &wanted, &answers, reader),
                // Answers that are kept elsewhere are not believed any more, either.
                Order::Forget => answers = Arc::default(),
                Order::States(question) => show_states(question),
                Order::Try(trial) => {
                    let judged =
                        judge(&trial, &wanted, &session(reader, &trial.arguments, &answers));
                    say(&Event::Tried { job: trial.number, judged });
                }
                Order::Cancel(_) => {}
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

/// Returns how it is done. The server has read the arguments, too.
fn session(reader: Reader, arguments: &str, answers: &Arc<Answers>) -> Session {
    let asked = (!arguments.is_empty()).then(|| reader(arguments).ok()).flatten();
    let session = asked.map_or_else(Session::default, |asked| asked.session);
    Session { answers: Some(Arc::clone(answers)), ..session }
}

fn verify(job: Job, wanted: &AtomicU64, answers: &Arc<Answers>, reader: Reader) {
    let Job { number, name, uri, text, is_alone, arguments, given_up } = job;
    let mut session = session(reader, &arguments, answers);
    if is_alone {
        session.options.threads = 1;
    }
    session.assigned.given_up = given_up;
    let text = Text::new(text);
    let input = Input::text(name.as_str(), Arc::clone(&text.text));
    let voice = Voice {
        number,
        wanted,
        name,
        uri,
        text,
        files: OnceLock::new(),
        started: Mutex::default(),
    };
    let outcome = session.run_with(&input, &voice);
    let is_over = !voice.is_cancelled();
    let files = voice.files(&outcome);
    let found = outcome.diagnostics.iter().map(|one| files.diagnostic(one)).collect();
    let (verdict, found) = (outcome.verdict, is_over.then_some(found));
    say(&Event::Done { job: number, verdict, found });
}

/// The number of paths that are told; others are counted.
const PATHS: usize = 8;

fn show_states(Question { number, name, uri, text, line }: Question) {
    let text = Text::new(text);
    let input = Input::text(name.as_str(), Arc::clone(&text.text));
    let mut found = Vec::new();
    let mut all = 0;
    if let Ok(lines) = format!("{name}:{line}").parse::<Lines>() {
        let (outcome, states) = states_at(&Session::default(), &input, &lines);
        let files = Files::new(&name, &uri, &text, &outcome.texts);
        all = states.len();
        found.extend(states.into_iter().take(PATHS).map(|state| Reached {
            range: files.range(&state.place),
            words: words(&state),
            state: serde_json::json!(state.contents),
            path: state.path,
        }));
    }
    say(&Event::States { job: number, found, all });
}

fn words(state: &StateAt) -> String {
    let mut text = String::new();
    for (title, lines) in state.sections() {
        text += &format!("{title}:\n");
        lines.iter().for_each(|line| text += &format!("  {line}\n"));
    }
    text
}

fn say(event: &Event) {
    let Ok(mut line) = serde_json::to_vec(event) else { end() };
    line.push(b'\n');
    let mut out = io::stdout().lock();
    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
        end();
    }
}

/// Tells how a job gets on.
struct Voice<'a> {
    number: u64,
    wanted: &'a AtomicU64,
    name: String,
    uri: String,
    text: Text,
    files: OnceLock<Files>,
    started: Mutex<BTreeSet<(MemberKind, String)>>,
}

impl Voice<'_> {
    fn files(&self, outcome: &Outcome) -> &Files {
        self.files.get_or_init(|| Files::new(&self.name, &self.uri, &self.text, &outcome.texts))
    }
}

impl Follower for Voice<'_> {
    fn loaded(&self, outcome: &Outcome, members: &[Member]) {
        let files = self.files(outcome);
        let planned = |Member { kind, id, name, place }: &Member| Planned {
            kind: *kind,
            id: id.clone(),
            name: name.clone(),
            range: files.is_own(place).then(|| files.range(place)),
        };
        let members = members.iter().map(planned).collect();
        say(&Event::Planned { job: self.number, members });
    }

    fn started(&self, kind: MemberKind, id: &str, _: Option<Instant>) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.insert((kind, id.to_owned()));
        say(&Event::Started { job: self.number, kind, id: id.to_owned() });
    }

    fn ended(&self, kind: MemberKind, id: &str) {
        say(&Event::Ended { job: self.number, kind, id: id.to_owned() });
    }

    fn finished(&self, id: &str, member: &MemberOutcome, diagnostics: &[Diagnostic]) {
        // A stopped run says nothing.
        if self.is_cancelled() {
            return;
        }
        let Some(files) = self.files.get() else { return };
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let done = Done {
            verdict: member.verdict,
            errors: diagnostics.len(),
            milliseconds: member.statistics.time.as_secs_f64() * 1000.0,
            is_recalled: !started.contains(&(member.kind, id.to_owned())),
        };
        let found = diagnostics.iter().map(|one| files.diagnostic(one)).collect();
        let (job, id, kind) = (self.number, id.to_owned(), member.kind);
        say(&Event::Finished { job, id, kind, done, found });
    }

    fn is_cancelled(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != self.number
    }
}
