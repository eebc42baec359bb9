//! Direct execution of Chalice programs, compared with the way through SIL: two judges that share
//! the engine's lower half and nothing of what Chalice means.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chalice::SourceFile;
use sil::render::Severity;
use sil_tests::observation::session;
use sil_tests::plant::source::{self, Subject, Way};
use sil_tests::plant::{self, Fate, Kind, Limits};
use silicon::report::Verdict;
use silicon::session::{Input, MemberOutcome, Outcome, Session, Task, input};

/// Members on which the two ways differ: the file, the member and the cause.
const DIFFERENT: [(&str, &str, &str); 7] = [
    (
        "applications_in_any_part_of_a_function.chalice",
        "Cell.domain",
        "what does not end promises anything: whether the prover sees that the promise is broken is chance",
    ),
    (
        "contracts_ask_for_the_locks_of_objects.chalice",
        "C.in_a_loop",
        "where an ill-formed invariant is established, its condition is what fails",
    ),
    (
        "histories_under_conditions_in_other_words.chalice",
        "Clock.gives_another_history",
        "of an unknown state the permission is missing, too, not just the claim about it",
    ),
    (
        "ill_formed_messages_are_reported_where_they_are.chalice",
        "C.receives",
        "what is wrong with the message is told once more where it is received, in other words",
    ),
    (
        "new_threads_have_seen_what_their_starters_saw.chalice",
        "C.starts_what_it_never_saw",
        "of an unknown state the claim about it fails, too, not just the permission",
    ),
    (
        "what_cannot_be_verified_yet.chalice",
        "C.adds",
        "direct execution knows sums of what reads more than the elements",
    ),
    (
        "earlier_states_are_those_of_one_object.chalice",
        "Box.of_nothing",
        "a negative amount is told beside the permission that is missing",
    ),
];

/// Cases in which symbolic execution of Chalice and its translation were known to differ
/// (Schwerhoff 2011, sections 3.4, 3.11, 3.13, 5.2 to 5.4): the program of the corpus that has
/// each.
const CASES: [(&str, &[&str]); 22] = [
    ("chunks under other names", &["chunks_are_found_by_value"]),
    ("a guard and an invariant that need each other", &["guards_and_invariants_need_each_other"]),
    ("unfold and fold keep values", &["functions_keep_their_value_through_unfold_and_fold"]),
    ("parts of nested instances", &["parts_of_nested_predicates"]),
    ("one location under two instances", &["one_location_under_two_predicates"]),
    ("recursive functions in preconditions", &["preconditions_apply_recursive_functions"]),
    ("the wait level", &["lockbottom_is_the_least_level", "wait_levels_come_back"]),
    ("locks of new objects", &["locks_of_new_objects_have_to_be_let_go"]),
    ("holding and read-holding", &["holding_and_read_holding_are_two_facts"]),
    ("sequences", &["elements_of_sequences", "loops_over_sequences"]),
    ("no permission", &["no_permission_may_be_asked_for"]),
    ("old wait levels", &["wait_levels_come_back"]),
    ("history", &["history_constraints"]),
    ("functions after calls", &["functions_are_unknown_after_calls"]),
    ("new objects", &["new_objects_differ"]),
    ("contradictions", &["contradictions_end_a_path"]),
    ("levels before invariants", &["sharing_installs_the_level_first"]),
    ("ill-formed contracts", &["ill_formed_contracts_are_reported_where_they_are"]),
    ("guards", &["conditions_guard_what_follows"]),
    ("sums above everything", &["more_than_everything_means_two_objects"]),
    ("joining once", &["tokens_are_joined_once"]),
    ("tokens as values", &["tokens_are_values"]),
];

/// So many members of the corpus and of the examples are supported, at least.
const SUPPORTED: usize = 1490;

fn programs() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = [here.join("corpus"), here.join("../examples")];
    let all = below.iter().flat_map(|below| input::programs_below(below));
    all.filter(|path| path.extension().is_some_and(|ending| ending == "chalice")).collect()
}

fn verified(path: &Path, direct: bool) -> Outcome {
    Session { direct, ..session(Task::Verify) }.run(&Input::file(path))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The errors in a member, each with its line.
fn errors(outcome: &Outcome, member: &MemberOutcome) -> BTreeSet<(u32, String)> {
    let errors = outcome.diagnostics.iter().filter(|one| {
        one.message.severity == Severity::Error && one.member.as_ref() == Some(&member.name)
    });
    errors.map(|one| (one.message.place.start.line, one.message.id.clone())).collect()
}

#[test]
fn direct_and_translated_agree() {
    let mut supported = 0;
    let mut different = Vec::new();
    for path in programs() {
        let direct = verified(&path, true);
        let judged = direct.members.iter().filter(|it| it.verdict != Verdict::Unsupported);
        let judged: Vec<_> = judged.collect();
        if judged.is_empty() {
            continue;
        }
        let translated = verified(&path, false);
        for member in judged {
            supported += 1;
            let other = translated
                .members
                .iter()
                .find(|other| other.name == member.name && other.kind == member.kind)
                .unwrap_or_else(|| panic!("{}: no {}", path.display(), member.name));
            // The end of a function and the sense of a history are members of their own on the
            // other way.
            let end = format!("{} (termination)", member.name);
            let history = member.name.replace(" (monitor invariant)", " (history constraint)");
            let is_proof = |one: &&MemberOutcome| {
                one.name == end || one.name == history && history != member.name
            };
            let proof = translated.members.iter().find(is_proof);
            let others: Vec<_> = std::iter::once(other).chain(proof).collect();
            let verdict = match others.iter().find(|one| one.verdict != Verdict::Verified) {
                Some(one) => one.verdict,
                None => Verdict::Verified,
            };
            let expected: BTreeSet<_> =
                others.iter().flat_map(|one| errors(&translated, one)).collect();
            let same = verdict == member.verdict && expected == errors(&direct, member);
            if !same {
                different.push((file_name(&path), member.name.clone()));
            }
        }
    }
    let allowed: Vec<_> =
        DIFFERENT.iter().map(|(file, name, _)| ((*file).to_owned(), (*name).to_owned())).collect();
    assert_eq!(different, allowed);
    assert!(supported >= SUPPORTED, "only {supported} members are supported");
}

#[test]
fn programs_for_direct_execution_are_supported() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = input::programs_below(&here.join("corpus/direct"));
    assert!(!programs.is_empty());
    for path in programs {
        let outcome = verified(&path, true);
        for member in &outcome.members {
            let judged = matches!(member.verdict, Verdict::Verified | Verdict::Failed);
            assert!(judged, "{}: {} is {:?}", path.display(), member.name, member.verdict);
        }
    }
}

/// The translation has no function for these sums.
const SUMS: &str = "class C {
  var f: int;
  function twice(n: int): int { 2 * n }
  method of_a_field(s: set<int>) requires acc(f) && f == 0
  { assert (sum n in s :: n * f) == 0; }
  method of_a_field_wrong(s: set<int>) requires acc(f) && f == 1
  { assert (sum n in s :: n * f) == 0; }
  method of_applications(s: seq<int>, n: int) requires 0 <= n && n < |s|
  { assert (sum i in [0..n + 1] :: twice(s[i])) == (sum i in [0..n] :: twice(s[i])) + 2 * s[n]; }
  method of_applications_wrong(s: seq<int>, n: int) requires 0 <= n && n < |s|
  { assert (sum i in [0..n + 1] :: twice(s[i])) == (sum i in [0..n] :: twice(s[i])); }
  method of_elements(s: seq<int>, x: int)
  { assert (sum e in s ++ [x] :: twice(e)) == (sum e in s :: twice(e)) + 2 * x; }
  method of_elements_wrong(s: seq<int>, x: int)
  { assert (sum e in s ++ [x] :: twice(e)) == (sum e in s :: twice(e)); }
  method of_a_wrong_index_wrong(s: seq<int>)
  { assert (sum i in [0..|s|] :: twice(s[i + 1])) == (sum i in [0..|s|] :: twice(s[i + 1])); }
}";

#[test]
fn sums_may_read_more_than_the_elements() {
    let input = Input::text("sums.chalice", SUMS);
    let outcome = Session { direct: true, ..session(Task::Verify) }.run(&input);
    for member in &outcome.members {
        let is_wrong = member.name.ends_with("wrong");
        let expected = if is_wrong { Verdict::Failed } else { Verdict::Verified };
        assert_eq!(member.verdict, expected, "{}", member.name);
    }
    assert_eq!(outcome.members.len(), 8);
}

/// Lines are told by their comments.
const UNREACHED: &str = "class C {
  var f: int;
  method assumed(x: int) requires x > 0 // the end
  {
    assume x < 5;
    assume x < 0; // dead
  }
  method branches(x: int) requires x > 0 && acc(f)
  {
    if (x < 0) { f := 1; } else { f := 2; } // dead
    if (x == 3) { f := 3; } else { }
  }
  method looped(x: int) requires x == 0 && acc(f)
  {
    while (x > 0) invariant acc(f) && x < 1 { f := 2; } // dead
  }
  method all_is_reached(x: int) requires x > 0 && acc(f) { if (x > 3) { f := 2; } assume x < 9; }
  method nothing(c: C) requires c != null && acc(c.f, 101) { } // the end
}";

#[test]
fn places_that_no_path_comes_to_are_found() {
    let input = Input::text("smoke.chalice", UNREACHED);
    let mut session = Session { direct: true, ..session(Task::Verify) };
    let warned = session.run(&input);
    let warnings: Vec<_> = warned.diagnostics.iter().map(|one| &*one.message.text).collect();
    let expected = "the precondition is contradictory, so that everything is verified";
    assert_eq!(warnings, [expected]);
    session.options.smoke = true;
    let outcome = session.run(&input);
    let errors = outcome.diagnostics.iter().map(|one| &one.message);
    let errors = errors.filter(|message| message.severity == Severity::Error);
    let found: BTreeSet<_> =
        errors.map(|one| (one.place.start.line as usize, one.id.as_str())).collect();
    let dead = UNREACHED.lines().enumerate().filter(|(_, line)| line.contains("//"));
    let expected: BTreeSet<_> =
        dead.map(|(index, _)| (index + 1, "refute.failed:refutation.true")).collect();
    assert_eq!(found, expected, "{:?}", outcome.diagnostics);
}

#[test]
fn known_cases_are_judged() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (case, programs) in CASES {
        for program in programs {
            let path = here.join(format!("corpus/chalice/{program}.chalice"));
            let outcome = verified(&path, true);
            assert!(!outcome.members.is_empty(), "{}", path.display());
            let unjudged = outcome.members.iter().find(|one| one.verdict == Verdict::Unsupported);
            assert!(unjudged.is_none(), "{case}: {unjudged:?}");
        }
    }
}

/// The limits of a sample.
const LIMITS: Limits = Limits { obligation: 5_000_000, member: Duration::from_secs(10) };

/// One in so many errors is planted.
const EVERY: u64 = 24;

fn is_falsehood(kind: Kind) -> bool {
    matches!(kind, Kind::AssertFalse | Kind::FalseAtBoundary)
}

/// Errors planted into members that verify directly are noticed, or verify through SIL as well.
#[test]
fn planted_errors_are_noticed() {
    let mut planted: BTreeMap<Kind, usize> = BTreeMap::new();
    let (mut killed, mut suspects) = (0, Vec::new());
    for path in programs() {
        let text = fs::read_to_string(&path).expect("it can be read");
        let name = file_name(&path);
        for (subject, mutants) in source::mutants(&text) {
            let is_drawn = |number: &usize| {
                !is_falsehood(mutants[*number].kind)
                    && plant::lot(1, &name, subject.name(), *number).is_multiple_of(EVERY)
            };
            let drawn: Vec<_> = (0..mutants.len()).filter(is_drawn).collect();
            let verifies = |name: &str| {
                source::verdict(&text, name, Way::Direct, LIMITS) == Some(Verdict::Verified)
            };
            let is_judged = match &subject {
                _ if drawn.is_empty() => false,
                Subject::Member(name) => verifies(name),
                Subject::Declaration(_) => true,
            };
            for number in drawn.into_iter().filter(|_| is_judged) {
                let mutant = &mutants[number];
                let wrong = mutant.text(&text);
                let checked = chalice::check(&SourceFile::new("planted", wrong.as_str())).0;
                assert!(checked.is_some(), "no program any more:\n{wrong}");
                *planted.entry(mutant.kind).or_default() += 1;
                match source::judge(&text, &subject, mutant, Way::Direct, LIMITS) {
                    Fate::Killed => killed += 1,
                    Fate::Suspect => suspects.push(format!("{name}: {}\n{wrong}", subject.name())),
                    Fate::Undecided | Fate::Unreachable(_) | Fate::MayVerify => {}
                }
            }
        }
    }
    assert!(suspects.is_empty(), "{}", suspects.join("\n"));
    let all: usize = planted.values().sum();
    assert!(all >= 80 && planted.len() >= 10, "{planted:?}");
    assert!(killed > all * 3 / 4, "{killed} of {all}");
}

/// `assert false` is planted at every boundary of statements, in every third program.
#[test]
fn planted_falsehoods_are_noticed() {
    let (mut planted, mut survivors) = (0, 0);
    for path in programs().into_iter().step_by(3) {
        let text = fs::read_to_string(&path).expect("it can be read");
        for (subject, mutants) in source::mutants(&text) {
            let Subject::Member(name) = &subject else { continue };
            let mut wrong = mutants.iter().filter(|mutant| is_falsehood(mutant.kind)).peekable();
            if wrong.peek().is_none()
                || source::verdict(&text, name, Way::Direct, LIMITS) != Some(Verdict::Verified)
            {
                continue;
            }
            for mutant in wrong {
                planted += 1;
                match source::judge(&text, &subject, mutant, Way::Direct, LIMITS) {
                    Fate::Killed | Fate::Undecided => {}
                    // Then the place is out of reach, and the other way knows it, too.
                    Fate::Unreachable(_) => survivors += 1,
                    fate => panic!("{}: {name}: {fate:?}", path.display()),
                }
            }
        }
    }
    assert!(planted > 300, "only {planted} falsehoods were planted");
    assert!(survivors < planted / 20, "{survivors} of {planted} falsehoods verify");
}
