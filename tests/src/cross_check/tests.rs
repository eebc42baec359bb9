//! Programs that are verified run without a failure; the comparison notices it where one does not.

use super::*;
use crate::attack::in_order;
use crate::observation::Member;

const LIMITS: Limits = Limits { starts: 4, seed: 1, steps: 2_000, patience: 500, visible: None };

/// What the verifier would say if it verified the methods with these names.
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
