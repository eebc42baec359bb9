//! Programs that are verified run without a failure; the comparison notices it where one does not.

use super::*;
use crate::attack::in_order;
use crate::observation::Member;

const LIMITS: Limits = Limits { starts: 4, seed: 1, steps: 2_000, patience: 500 };

const HISTORY: &str = "what a start says of the last release of an object does not bound what is found when it is acquired";

/// What may differ, as a part of the path, the line and the id, and why.
const EXPLAINED: [(&str, u32, &str, &str); 11] = [
    (
        "any_amount_in_predicates_is_a_fraction",
        12,
        "machine.inconsistent",
        "what the machine gives for `rd*` beside an exact amount of the same location, it does not find when it receives",
    ),
    (
        "calls_wait_with_the_debts_of_callers",
        13,
        "receive.failed:lock.order",
        "the machine counts debts of callers at the receive, and not where the call asks for `waitlevel << a`: the \
         verifier reports the call",
    ),
    (
        "predicates_of_elements",
        10,
        "assert.failed:receiver.null",
        "starts may have null among the elements of `s` where `acc(s[*].P)` is granted",
    ),
    (
        "predicates_of_elements",
        11,
        "unfold.failed:receiver.null",
        "starts may have null among the elements of `s` where `acc(s[*].P)` is granted",
    ),
    (
        "quantified_permissions_count_objects_once",
        35,
        "postcondition.violated:insufficient.permission",
        "the machine adds up permission below a quantifier for each element, the verifier counts each place once",
    ),
    ("histories_go_on_after_contracts", 68, "assert.failed:assertion.false", HISTORY),
    ("histories_under_conditions.chalice", 11, "assert.failed:assertion.false", HISTORY),
    ("histories_under_conditions_in_other_words", 13, "assert.failed:assertion.false", HISTORY),
    ("histories_under_conditions_in_other_words", 29, "assert.failed:assertion.false", HISTORY),
    ("histories_under_conditions_in_other_words", 36, "assert.failed:assertion.false", HISTORY),
    ("levels_of_held_objects_are_not_their_history", 42, "assert.failed:assertion.false", HISTORY),
];

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
    let mut used = Vec::new();
    let mut wrong = Vec::new();
    for (path, result) in files.iter().zip(results) {
        let name = path.display().to_string();
        let comparison = result.expect("no panic").expect("it can be read");
        totals.add(&comparison.totals);
        for one in comparison.disagreements {
            let explained = EXPLAINED.iter().position(|(part, line, id, _)| {
                name.contains(part) && *line == one.line && *id == one.id
            });
            match explained {
                Some(number) => used.push(number),
                None => wrong.push(format!("{name}: {one:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!((0..EXPLAINED.len()).all(|number| used.contains(&number)), "stale explanations");
    assert!(totals.verified_with_inputs * 10 >= totals.verified * 9, "{totals:?}");
    assert!(totals.reproduced * 10 >= totals.executable * 6, "{totals:?}");
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
