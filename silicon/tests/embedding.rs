//! The library as others use it: texts in memory, callbacks, and an end when they say so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use silicon::Answers;
use silicon::report::{MemberKind, Verdict};
use silicon::session::follow::Member;
use silicon::session::input::Language;
use silicon::session::{
    Diagnostic, FileVerdict, Follower, Input, MemberOutcome, Outcome, Session, Task,
};

#[path = "../examples/embed.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example is a program of its own")]
mod embed;

#[test]
fn the_example_verifies_a_text() {
    let text = "method half(n: Int) returns (r: Int)\n  ensures 2 * r == n\n{ r := n / 2 }\n\
                method double(n: Int) returns (r: Int)\n  ensures r == 2 * n\n{ r := n + n }\n";
    let outcome = embed::verify("half.sil", text, Duration::from_secs(600));
    assert_eq!(outcome.verdict, FileVerdict::Failed);
    let verdicts: Vec<_> = outcome.members.iter().map(|one| (&*one.name, one.verdict)).collect();
    assert_eq!(verdicts, [("half", Verdict::Failed), ("double", Verdict::Verified)]);
    let [found] = &outcome.diagnostics[..] else { panic!("{:?}", outcome.diagnostics) };
    assert_eq!(found.message.id, "postcondition.violated:assertion.false");
    assert_eq!((&*found.message.place.file, found.message.place.start.line), ("half.sil", 2));
}

#[test]
fn who_has_no_patience_gets_no_verdict() {
    let outcome = embed::verify("m.sil", "method m(n: Int) { assert n * n >= n }", Duration::ZERO);
    assert_eq!(outcome.verdict, FileVerdict::Inconclusive);
    let [found] = &outcome.diagnostics[..] else { panic!("{:?}", outcome.diagnostics) };
    assert_eq!(found.message.id, "timeout.error");
    assert!(found.message.text.contains("stopped"), "{}", found.message.text);
}

/// Writes down what it hears, and stops after some members.
#[derive(Default)]
struct Notes {
    planned: Mutex<Vec<Member>>,
    /// A caller's record of the calls.
    outcome: Mutex<Option<Outcome>>,
    running: Mutex<Vec<(MemberKind, String)>>,
    stops_after: Option<&'static str>,
    is_over: AtomicBool,
}

impl Follower for Notes {
    fn loaded(&self, outcome: &Outcome, members: &[Member]) {
        *self.planned.lock().unwrap() = members.to_vec();
        *self.outcome.lock().unwrap() = Some(outcome.clone());
    }

    fn started(&self, kind: MemberKind, id: &str, until: Option<Instant>) {
        assert!(until.is_some_and(|until| until > Instant::now()));
        self.running.lock().unwrap().push((kind, id.to_owned()));
    }

    fn ended(&self, kind: MemberKind, id: &str) {
        let mut running = self.running.lock().unwrap();
        let ended = running.iter().position(|one| *one == (kind, id.to_owned()));
        running.remove(ended.expect("what ends has begun"));
    }

    fn finished(&self, id: &str, member: &MemberOutcome, diagnostics: &[Diagnostic]) {
        assert!(self.planned.lock().unwrap().iter().any(|planned| planned.id == id));
        let mut outcome = self.outcome.lock().unwrap();
        outcome.as_mut().expect("loaded first").add(member.clone(), diagnostics.to_vec());
        if self.stops_after == Some(id) {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

const SEVERAL: &str = "field f: Int\n\
    predicate p(x: Ref) { acc(x.f) }\n\
    function get(x: Ref): Int requires acc(x.f) decreases 0 { x.f }\n\
    domain D { axiom a { true } }\n\
    method first(x: Ref) requires acc(x.f) { x.f := 1 assert get(x) == 1 }\n\
    method second(x: Ref) { x.f := 1 }\n\
    method third(n: Int) { assert n > 0 }\n";

fn session() -> Session {
    let mut session = Session::default();
    session.options.threads = 1;
    session
}

#[test]
fn what_is_heard_adds_up_to_the_outcome() {
    let notes = Notes::default();
    let outcome = session().run_with(&Input::text("several.sil", SEVERAL), &notes);
    let planned = notes.planned.into_inner().unwrap();
    let names = |members: &[MemberOutcome]| -> Vec<String> {
        members.iter().map(|one| one.name.clone()).collect()
    };
    let of_plan: Vec<_> = planned.iter().map(|one| one.name.clone()).collect();
    assert_eq!(of_plan, ["p", "get", "D", "first", "second", "third"]);
    assert_eq!(names(&outcome.members), of_plan);
    assert!(notes.running.into_inner().unwrap().is_empty());
    let mut heard = notes.outcome.into_inner().unwrap().expect("loaded");
    let place = |one: &MemberOutcome| of_plan.iter().position(|name| *name == one.name);
    heard.members.sort_by_key(place);
    heard.complete();
    assert_eq!(names(&heard.members), of_plan);
    assert_eq!((heard.verdict, &heard.diagnostics), (outcome.verdict, &outcome.diagnostics));
    assert_eq!(heard.trusted, outcome.trusted);
}

#[test]
fn who_stops_keeps_what_is_done() {
    let notes = Notes { stops_after: Some("first"), ..Notes::default() };
    let outcome = session().run_with(&Input::text("several.sil", SEVERAL), &notes);
    let verdict = |name: &str| {
        outcome.members.iter().find(|one| one.name == name).expect("it is reported").verdict
    };
    assert_eq!(verdict("first"), Verdict::Verified);
    assert_eq!(verdict("third"), Verdict::Inconclusive);
}

#[test]
fn a_text_may_be_of_any_language() {
    let chalice = "class C { var f: int; method m() requires acc(f) { f := 1; assert f == 2; } }";
    let by_name = session().run(&Input::text("c.chalice", chalice));
    let told = Input { language: Some(Language::Chalice), ..Input::text("untitled", chalice) };
    for outcome in [by_name, session().run(&told)] {
        assert_eq!(outcome.verdict, FileVerdict::Failed, "{outcome:?}");
        assert_eq!(outcome.diagnostics[0].message.id, "assert.failed:assertion.false");
    }
    let check = Session { task: Task::Check, ..session() };
    assert_eq!(check.run(&Input::text("untitled", chalice)).verdict, FileVerdict::InputError);
}

/// A program of many methods, each of which calls the one before it; what `body` says of one, and
/// its contract.
fn chain(body: impl Fn(usize) -> &'static str, promise: impl Fn(usize) -> &'static str) -> String {
    let method = |number: usize| {
        let call = match number {
            0 => String::new(),
            _ => format!("var s: Int := m{}(n) ", number - 1),
        };
        let (body, promise) = (body(number), promise(number));
        format!(
            "method m{number}(n: Int) returns (r: Int)\n  ensures {promise}\n{{ {call}{body} }}\n"
        )
    };
    (0..200).map(method).collect()
}

/// The members on which work began when `text` was verified with these answers.
fn worked_on(answers: &Arc<Answers>, text: &str) -> Vec<String> {
    struct Started(Mutex<Vec<String>>);
    impl Follower for Started {
        fn started(&self, _: MemberKind, id: &str, _: Option<Instant>) {
            self.0.lock().unwrap().push(id.to_owned());
        }
    }
    let started = Started(Mutex::default());
    let with_answers = Session { answers: Some(Arc::clone(answers)), ..session() };
    let outcome = with_answers.run_with(&Input::text("chain.sil", text), &started);
    assert_eq!(outcome.members.len(), 200);
    let fresh = session().run(&Input::text("chain.sil", text));
    assert_eq!((outcome.verdict, outcome.diagnostics), (fresh.verdict, fresh.diagnostics));
    let mut started = started.0.into_inner().unwrap();
    started.sort();
    started
}

#[test]
fn only_what_changed_is_verified_again() {
    let answers = Arc::new(Answers::default());
    let plain = |_| "r := n + 1";
    let promise = |_| "r > n";
    let first = chain(plain, promise);
    assert_eq!(worked_on(&answers, &first).len(), 200);
    assert_eq!(worked_on(&answers, &first), Vec::<String>::new());
    // Lines move.
    assert_eq!(worked_on(&answers, &format!("// One more.\n\n{first}")), Vec::<String>::new());
    let body = |number| if number == 70 { "r := n + 2" } else { "r := n + 1" };
    assert_eq!(worked_on(&answers, &chain(body, promise)), ["m70"]);
    let wrong = |number| if number == 70 { "r := n" } else { "r := n + 1" };
    assert_eq!(worked_on(&answers, &chain(wrong, promise)), ["m70"]);
    // Its caller sees the contract.
    let other = |number| if number == 70 { "r >= n" } else { "r > n" };
    assert_eq!(worked_on(&answers, &chain(plain, other)), ["m70", "m71"]);
    assert_eq!(worked_on(&answers, &first), Vec::<String>::new());
}

/// The promise of a function without permission acts where nobody mentions the function.
#[test]
fn what_a_function_promises_counts() {
    let answers = Arc::new(Answers::default());
    let verdict = |promise: &str, options: fn(&mut Session)| {
        let text = format!(
            "function f(): Int\n  ensures {promise}\n\nmethod m() {{ var i: Int := f() assert i > 0 }}\n"
        );
        let mut with_answers = Session { answers: Some(Arc::clone(&answers)), ..session() };
        options(&mut with_answers);
        let outcome = with_answers.run(&Input::text("promise.sil", text));
        (outcome.verdict, outcome.diagnostics.iter().any(|one| one.counterexample.is_some()))
    };
    let plain = |_: &mut Session| {};
    assert_eq!(verdict("result > 0", plain), (FileVerdict::Verified, false));
    assert_eq!(verdict("result >= 0", plain), (FileVerdict::Failed, false));
    assert_eq!(
        verdict("result >= 0", |session| session.options.counterexample = true),
        (FileVerdict::Failed, true),
        "options count"
    );
    assert_eq!(verdict("result > 0", plain), (FileVerdict::Verified, false));
}
