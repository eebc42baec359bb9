//! The tool has to kill what is wrong, and to tell dead code from defects.

use super::*;

const LIMITS: Limits = Limits { obligation: 5_000_000, member: std::time::Duration::from_secs(60) };

/// The fates of the mutants of the last member, as `kind line fate`.
fn fates(text: &str) -> Vec<(Kind, Fate)> {
    let loaded = sil::load::load_text("test.sil", text);
    let program = loaded.program.expect("well formed");
    let member = *program.order.last().expect("there are members");
    let slice = slice(&program, member);
    assert_eq!(verifies(&slice, &loaded.sources, member, LIMITS), Some(true), "{text}");
    mutants(&slice, member)
        .iter()
        .map(|mutant| (mutant.kind, judge(&slice, &loaded.sources, member, mutant, LIMITS)))
        .collect()
}

#[test]
fn errors_on_live_paths_are_noticed() {
    let fates = fates(
        "field f: Int
        method m(x: Ref, n: Int) returns (r: Int)
          requires acc(x.f) && n > 0
          ensures acc(x.f) && x.f == n && r >= n
        {
          x.f := 0
          while (x.f < n) invariant acc(x.f) && x.f <= n { x.f := x.f + 1 }
          if (n > 5) { r := n } else { r := 5 }
          assert r > 0
        }",
    );
    assert!(fates.iter().filter(|(kind, _)| *kind == Kind::AssertFalse).count() == 4);
    for kind in [
        Kind::NegatedPostcondition,
        Kind::DoubledPermission,
        Kind::NegatedInvariant,
        Kind::NegatedAssertion,
        Kind::HalvedAtWrite,
        Kind::DroppedPermission,
        Kind::DroppedInvariant,
        Kind::NegatedCondition,
    ] {
        assert!(fates.iter().any(|(one, _)| *one == kind), "{}", kind.name());
    }
    assert!(fates.iter().all(|(_, fate)| *fate == Fate::Killed), "{fates:?}");
}

#[test]
fn every_boundary_of_statements_gets_a_falsehood() {
    let fates = fates(
        "field f: Int
        method m(x: Ref) requires acc(x.f)
        {
          x.f := 1
          if (x.f > 0) { x.f := 2 x.f := 3 } else { x.f := 4 }
          assert x.f == 3
        }",
    );
    let of = |kind| fates.iter().filter(move |(one, _)| *one == kind).map(|(_, fate)| fate);
    // Before three statements of the body and three of the branches, and at the ends of three
    // lists.
    let before: Vec<_> = of(Kind::FalseAtBoundary).collect();
    let ends: Vec<_> = of(Kind::AssertFalse).collect();
    assert_eq!((before.len(), ends.len()), (6, 3));
    let dead = |fates: &[&Fate]| {
        let unreachable =
            |fate: &&&Fate| matches!(fate, Fate::Unreachable(cause) if !cause.suspicious);
        fates.iter().filter(unreachable).count()
    };
    // The second branch is never taken; everything else is reached.
    assert_eq!((dead(&before), dead(&ends)), (1, 1), "{fates:?}");
    let killed = fates.iter().filter(|(kind, fate)| {
        matches!(kind, Kind::FalseAtBoundary | Kind::AssertFalse) && *fate == Fate::Killed
    });
    assert_eq!(killed.count(), 7);
}

#[test]
fn dead_code_is_explained() {
    let words = |text: &str| {
        let fates = fates(text);
        let ends = fates.into_iter().filter(|(kind, _)| *kind != Kind::FalseAtBoundary);
        let survivors = ends.filter_map(|(_, fate)| match fate {
            Fate::Unreachable(cause) => Some((cause.words, cause.suspicious)),
            Fate::Killed | Fate::MayVerify => None,
            other => panic!("{other:?}"),
        });
        survivors.collect::<Vec<_>>()
    };
    let precondition = words("method m(n: Int) requires n > 0 && n < 0 {}");
    assert_eq!(precondition, [("contradictory precondition", false)]);
    let inhale = words("method m(n: Int) { var k: Int := n inhale k != n k := 1 }");
    assert_eq!(inhale, [("an assumption is contradictory", false)]);
    let branch = words("method m(n: Int) requires n > 0 { if (n < 0) { } else { } }");
    assert_eq!(branch, [("unreachable branch", false)]);
    let endless = words("method m() { while (true) { } }");
    assert_eq!(endless, [("the loop never ends", false)]);
    let function = words("function f(n: Int): Int requires n > 0 { n < 0 ? 1 : 2 }");
    assert_eq!(function.len(), 1);
}

#[test]
fn permission_that_is_not_needed_may_be_dropped() {
    let fates = fates("field f: Int method m(x: Ref) requires acc(x.f) { }");
    let may = [Kind::DroppedPermission, Kind::HalvedPermission];
    for kind in may {
        assert!(fates.contains(&(kind, Fate::MayVerify)));
    }
}

#[test]
fn samples_are_the_same_each_time_and_differ_by_seed() {
    let draw = |seed| (0..50).map(|number| lot(seed, "a.vpr", "m", number)).collect::<Vec<_>>();
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let mut lots = draw(1);
    lots.sort_unstable();
    lots.dedup();
    assert_eq!(lots.len(), 50);
}

const COUNTER: &str = "class Counter {
  var n: int;
  predicate owned { acc(n) && n >= 0 }
  invariant acc(n) && n >= 0;
  function value(): int requires acc(n) && n >= 0 ensures result >= 0 { n }
  method add(c: Counter, k: int)
    requires c != null && acc(c.n) && k > 0 && c.n >= 0
    ensures acc(c.n) && c.n >= k
  {
    var i: int := 0;
    while (i < k)
      invariant acc(c.n) && c.n >= i && i <= k
    {
      c.n := c.n + 1;
      i := i + 1;
    }
    assert c.n >= k;
    if (c.n > 5) { i := c.n; } else i := 5;
    assert i >= 5;
  }
  method locked()
    requires rd(mu) && waitlevel << mu
    ensures rd(mu)
  {
    lock (this) { n := n + 1; }
    acquire this;
    n := n + 1;
    release this;
  }
}";

#[test]
fn every_kind_of_error_is_planted_into_chalice_and_noticed_on_both_ways() {
    use silicon::report::Verdict;
    use source::{Subject, Way, judge, verdict};

    let members = source::mutants(COUNTER);
    let mut kinds = std::collections::BTreeSet::new();
    for way in [Way::Direct, Way::Translated] {
        for (subject, mutants) in &members {
            if let Subject::Member(name) = subject {
                assert_eq!(verdict(COUNTER, name, way, LIMITS), Some(Verdict::Verified), "{name}");
            }
            for mutant in mutants {
                kinds.insert(mutant.kind);
                let fate = judge(COUNTER, subject, mutant, way, LIMITS);
                // Nobody needs what is said of `k`, and of `c`, which is an object if it has
                // fields.
                let may = matches!(mutant.kind, Kind::DroppedClaim | Kind::DroppedInBody);
                let fine = fate == Fate::Killed || may && fate == Fate::MayVerify;
                assert!(fine, "{fate:?} of\n{}", mutant.text(COUNTER));
            }
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), Kind::ALL);
}

/// The other way tells mutants that verify without any error apart from mutants that do not.
#[test]
fn errors_in_chalice_that_nothing_reaches_are_told_apart() {
    use source::{Way, judge};

    let text = "class C { method m(n: int) requires n > 0 { if (n < 0) { assert n == 3; } } }";
    let members = source::mutants(text);
    let (subject, mutants) = &members[0];
    let fates = mutants.iter().map(|one| judge(text, subject, one, Way::Direct, LIMITS));
    let dead = fates.filter(|fate| matches!(fate, Fate::Unreachable(_))).count();
    // The assertion, `assert false` before and behind it.
    assert_eq!(dead, 3);
}
