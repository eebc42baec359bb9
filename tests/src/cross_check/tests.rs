//! Programs that are verified run without a failure; the comparison notices it where one does not.

use super::*;
use crate::attack::in_order;
use crate::observation::Member;

const LIMITS: Limits = Limits { starts: 4, seed: 1, steps: 2_000, patience: 500, visible: None };

/// Makes the observation in which the methods with these names are verified.
fn verified(methods: &[&str]) -> Observation {
    let members = methods.iter().map(|name| Member {
        name: (*name).to_owned(),
        first_line: 1,
        last_line: 1,
        verdict: MemberVerdict::Verified,
    });
    Observation { verdict: "verified".to_owned(), reported: Vec::new(), members: members.collect() }
}

fn compared(text: &str, methods: &[&str]) -> Comparison {
    let limits = Limits { starts: 40, ..LIMITS };
    compare_with("a.chalice", text.to_owned(), &verified(methods), limits)
}

#[test]
fn verified_members_of_the_corpus_and_the_examples_run_without_failures() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = programs(&here.join("corpus/chalice"));
    files.extend(programs(&here.join("../examples/chalice")));
    let results = in_order(0..files.len(), 0, |index| compare(&files[index], LIMITS));
    let mut totals = Totals::default();
    let mut wrong = Vec::new();
    for (path, result) in files.iter().zip(results) {
        let name = path.display().to_string();
        let comparison = result.expect("no panic").expect("it can be read");
        totals.add(&comparison.totals);
        for one in comparison.disagreements {
            wrong.push(format!("{name}: {one:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(totals.verified_with_inputs * 10 >= totals.verified * 9, "{totals:?}");
    assert!(totals.reproduced * 10 >= totals.executable * 7, "{totals:?}");
}

#[test]
fn a_failure_in_a_method_said_to_be_verified_is_a_disagreement() {
    let text = "class C { var x: int;
        method m() requires acc(x) && x >= 0 ensures acc(x) && x > 0 { }
        method n() requires acc(x) && x > 0 ensures acc(x) && x > 0 { } }";
    let found = compared(text, &["C.m", "C.n"]).disagreements;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].method.as_str(), found[0].line), ("C.m", 2));
    assert_eq!(found[0].id, "postcondition.violated:assertion.false");
}

/// A shown disagreement is as small as it can be, and leads there again.
#[test]
fn disagreements_are_made_smaller() {
    let text = "class C { var x: int; var next: C;
        predicate list { acc(x) && acc(next) && (next != null ==> next.list) }
        function len(): int requires list { unfolding list in next == null ? 1 : 1 + next.len() }
        method m(n: int, s: seq<int>) requires list && |s| >= 1 { assert len() < 2 || s[0] <= 0; } }";
    let found = compared(text, &["C.m"]).disagreements;
    assert_eq!(found.len(), 1, "{found:?}");
    // Two nodes are needed, and one element that is positive; the other values are the first that
    // there are.
    let start =
        "this = C#start:1, n = 0, s = [1], C#start:1.next = C#start:2, C#start:2.next = null";
    assert_eq!(found[0].start, start);
    let again = found[0].again.as_deref().expect("it can be run again");
    let again = again.strip_prefix("--entry C.m --start ").expect("a start");
    let sources = Sources::new(vec![("a".to_owned(), text.to_owned())]);
    let code = Code::new(sources.check().0.expect("a program"), sources.options());
    let method = code.method("C.m").expect("a method");
    let config = Config { undefined: Undefined::Choose, ..Config::default() };
    let starts = Starts::new(&code, method, config, Bounds::default(), Order::All);
    let text = chalice_run::generate::StartText::parse(again).expect("a start");
    let Found::Start(mut machine) = starts.from_text(&text).next_start() else { panic!("{again}") };
    assert_eq!(machine.start_text(), start);
    assert_eq!(run(&mut machine, &Scheduling::First).verdict, Verdict::Failed);
}

#[test]
fn a_failure_in_a_method_that_is_not_verified_is_none() {
    let text = "class C { method m() { assert false; } method n() { assert true; } }";
    let comparison = compared(text, &["C.n"]);
    assert_eq!(comparison.disagreements, []);
    assert_eq!((comparison.totals.methods, comparison.totals.verified), (2, 1));
    assert!(comparison.totals.ends["failed"] > 0 && comparison.totals.ends["passed"] > 0);
}

#[test]
fn a_failure_in_a_callee_is_its_own() {
    let text = "class C { method m() { call n(); } method n() { assert false; } }";
    assert_eq!(compared(text, &["C.m"]).disagreements, []);
    assert_eq!(compared(text, &["C.m", "C.n"]).disagreements.len(), 1);
}

#[test]
fn announced_errors_are_reproduced_or_listed() {
    let text = "class C { method m(b: bool, n: int) {
        if (b) {
          //:: ExpectedOutput(assert.failed:assertion.false)
          assert n != 1;
        }
        //:: ExpectedOutput(assert.failed:assertion.false)
        assert n == n;
        //:: ExpectedOutput(internal:feature.unsupported)
        assert true;
      } }";
    let comparison = compared(text, &[]);
    assert_eq!((comparison.totals.executable, comparison.totals.reproduced), (2, 1));
    let open = Output::new(7, "assert.failed:assertion.false");
    assert_eq!(comparison.not_reproduced, [open]);
    assert_eq!(comparison.totals.skipped["announced: says what the verifier cannot do"], 1);
}

#[test]
fn methods_that_nobody_can_call_are_skipped() {
    let text = "class C { method m(n: int) requires n < n { assert false; } }";
    let comparison = compared(text, &["C.m"]);
    assert_eq!((comparison.totals.with_inputs, comparison.totals.runs), (0, 0));
    assert_eq!(comparison.disagreements, []);
    assert_eq!(comparison.totals.skipped.len(), 1);
}
