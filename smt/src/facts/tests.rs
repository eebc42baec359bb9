//! Tests of the answers of facts, and that the prover agrees.

use proptest::prelude::*;

use super::*;
use crate::prover::{Answer, Budget, Prover, ProverOptions, QueryKind};

#[test]
fn formulas_are_known_until_the_scope_ends() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let (a, b) = (t.constant("a", Sort::BOOL), t.constant("b", Sort::BOOL));
    let both = t.and([a, b]);
    let not_b = t.not(b);
    facts.assume(&t, a);
    facts.push();
    facts.assume(&t, both);
    assert_eq!(facts.known(&t, b), Some(true));
    assert_eq!(facts.known(&t, not_b), Some(false));
    facts.pop();
    // `a` was assumed again inside, and is still known.
    assert_eq!((facts.known(&t, a), facts.known(&t, b)), (Some(true), None));
    let either = t.or([b, a]);
    assert_eq!(facts.known(&t, either), Some(true));
    assert_eq!(facts.known(&t, both), None);
}

#[test]
fn equalities_join_classes() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [x, y, z, w] = ["x", "y", "z", "w"].map(|name| t.constant(name, Sort::REF));
    let (xy, yz, xz) = (t.eq(x, y), t.eq(y, z), t.eq(x, z));
    let (xw, zw) = (t.eq(x, w), t.eq(z, w));
    let differs = t.not(zw);
    facts.assume(&t, differs);
    facts.assume(&t, xy);
    facts.push();
    facts.assume(&t, yz);
    assert_eq!(facts.known(&t, xz), Some(true));
    assert_eq!(facts.known(&t, xw), Some(false));
    facts.pop();
    assert_eq!((facts.known(&t, xz), facts.known(&t, xw)), (None, None));
    let distinct = t.distinct(&[x, z, w]);
    facts.assume(&t, distinct);
    assert_eq!(facts.known(&t, xz), Some(false));
    assert_eq!(facts.known(&t, yz), Some(false));
    assert!(!facts.is_contradictory());
    facts.push();
    facts.assume(&t, yz);
    assert!(facts.is_contradictory());
    facts.pop();
    assert!(!facts.is_contradictory());
}

#[test]
fn bounds_decide_comparisons() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let (p, n) = (t.constant("p", Sort::PERM), t.constant("n", Sort::INT));
    let (none, half, write) = (Terms::NONE, t.fraction(1, 2), Terms::WRITE);
    let positive = t.lt(none, p);
    facts.assume(&t, positive);
    let natural = t.le(none, p);
    assert_eq!(facts.known(&t, natural), Some(true));
    let is_none = t.eq(p, none);
    assert_eq!(facts.known(&t, is_none), Some(false));
    let above_half = t.lt(half, p);
    assert_eq!(facts.known(&t, above_half), None);
    let full = t.eq(p, write);
    facts.assume(&t, full);
    assert_eq!(facts.known(&t, above_half), Some(true));
    let (three, four) = (t.int(3), t.int(4));
    let above_three = t.lt(three, n);
    facts.assume(&t, above_three);
    let from_four = t.le(four, n);
    assert_eq!(facts.known(&t, from_four), Some(true));
    let below_four = t.lt(n, four);
    assert_eq!(facts.known(&t, below_four), Some(false));
}

#[test]
fn a_contradiction_leaves_with_its_scope() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let y = t.constant("y", Sort::INT);
    let zero = t.int(0);
    let is_zero = t.eq(y, zero);
    let differs = t.not(is_zero);
    facts.assume(&t, is_zero);
    facts.push();
    facts.assume(&t, differs);
    assert!(facts.is_contradictory());
    facts.pop();
    assert_eq!((facts.known(&t, differs), facts.is_contradictory()), (Some(false), false));
}

#[test]
fn differences_and_inequalities_go_together() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| t.constant(name, Sort::INT));
    let below = t.lt(a, b);
    facts.assume(&t, below);
    // Two terms with edges, joined: c = b + 1, and d = a - 2.
    let (one, two) = (t.int(1), t.int(2));
    let (after_b, before_a) = (t.add(b, one), t.sub(a, two));
    let (is_after, is_before) = (t.eq(c, after_b), t.eq(d, before_a));
    facts.push();
    facts.assume(&t, is_after);
    facts.assume(&t, is_before);
    let four_after = t.add(d, two);
    let (known, open, false_) = (t.lt(four_after, c), t.lt(c, b), t.eq(c, d));
    assert_eq!(facts.known(&t, known), Some(true));
    assert_eq!(facts.known(&t, open), Some(false));
    assert_eq!(facts.known(&t, false_), Some(false));
    let (three, four) = (t.int(3), t.int(4));
    let (at_four, at_three) = (t.add(d, four), t.add(d, three));
    let (tight, loose) = (t.le(at_four, c), t.eq(c, at_three));
    assert_eq!(facts.known(&t, tight), Some(true));
    assert_eq!(facts.known(&t, loose), Some(false));
    // A literal fixes them all.
    facts.push();
    let fixed = t.eq(b, four);
    facts.assume(&t, fixed);
    let five = t.int(5);
    let (is_five, below_four) = (t.eq(c, five), t.lt(a, four));
    assert_eq!(facts.known(&t, is_five), Some(true));
    assert_eq!(facts.known(&t, below_four), Some(true));
    facts.pop();
    assert_eq!(facts.known(&t, is_five), None);
    assert_eq!(facts.known(&t, below_four), None);
    facts.pop();
    assert_eq!(facts.known(&t, known), None);
    assert_eq!(facts.known(&t, below), Some(true));
    assert!(!facts.is_contradictory());
}

#[test]
fn what_is_apart_stays_apart_in_larger_classes() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [u, v, w, x, y, z] = ["u", "v", "w", "x", "y", "z"].map(|name| t.constant(name, Sort::REF));
    let (ux, vw) = (t.differs(u, x), t.differs(v, w));
    facts.assume(&t, ux);
    facts.assume(&t, vw);
    facts.push();
    for (left, right) in [(x, y), (y, z), (u, v)] {
        let same = t.eq(left, right);
        facts.assume(&t, same);
    }
    let (vz, uw, zw) = (t.eq(v, z), t.eq(u, w), t.eq(z, w));
    assert_eq!(facts.known(&t, vz), Some(false));
    assert_eq!(facts.known(&t, uw), Some(false));
    assert_eq!(facts.known(&t, zw), None);
    facts.pop();
    assert_eq!((facts.known(&t, vz), facts.known(&t, uw)), (None, None));
    assert_eq!(facts.known(&t, ux), Some(true));
}

#[test]
fn chains_of_integers_are_followed() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [i, j, n] = ["i", "j", "n"].map(|name| t.constant(name, Sort::INT));
    let one = t.int(1);
    let (below, next) = (t.lt(i, n), t.add(j, one));
    let steps = t.eq(i, next);
    facts.assume(&t, below);
    facts.push();
    facts.assume(&t, steps);
    let last = t.sub(n, one);
    let far = t.lt(j, last);
    assert_eq!(facts.known(&t, far), Some(true));
    let equal = t.eq(j, n);
    assert_eq!(facts.known(&t, equal), Some(false));
    facts.pop();
    assert_eq!(facts.known(&t, far), None);
    // Lengths are never negative.
    let ints = t.seq_sort(Sort::INT);
    let s = t.constant("s", ints);
    let (length, minus) = (t.seq_len(s), t.int(-1));
    let natural = t.lt(minus, length);
    assert_eq!(facts.known(&t, natural), Some(true));
}

#[test]
fn implications_wait_for_their_guards() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| t.constant(name, Sort::BOOL));
    let (both, either) = (t.and([b, c]), t.or([b, c]));
    let fact = t.implies(a, both);
    facts.assume(&t, fact);
    facts.push();
    facts.assume(&t, a);
    facts.settle(&t);
    assert_eq!(facts.known(&t, c), Some(true));
    facts.pop();
    assert_eq!(facts.known(&t, c), None);
    let not_b = t.not(b);
    facts.assume(&t, not_b);
    assert_eq!(facts.known(&t, a), None);
    facts.assume(&t, either);
    assert_eq!(facts.known(&t, c), Some(true));
    facts.settle(&t);
    assert_eq!(facts.known(&t, a), Some(false));
}

#[test]
fn applications_to_equal_operands_are_equal() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let [x, y] = ["x", "y"].map(|name| t.constant(name, Sort::REF));
    let f = t.declare_function("f", &[Sort::REF], Sort::INT);
    let (of_x, of_y) = (t.apply(f, &[x]), t.apply(f, &[y]));
    let goal = t.eq(of_x, of_y);
    assert_eq!(facts.known(&t, goal), None);
    let equal = t.eq(x, y);
    facts.assume(&t, equal);
    assert_eq!(facts.known(&t, goal), Some(true));
}

#[test]
fn formulas_are_reduced_by_what_is_known() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let (b, p) = (t.constant("b", Sort::BOOL), t.constant("p", Sort::PERM));
    let (none, half, write) = (Terms::NONE, t.fraction(1, 2), Terms::WRITE);
    let amount = t.ite(b, half, none);
    let sum = t.add(amount, p);
    let enough = t.le(write, sum);
    assert_eq!(facts.reduce(&mut t, enough), enough);
    facts.assume(&t, b);
    let is_half = t.eq(p, half);
    facts.assume(&t, is_half);
    assert_eq!(facts.reduce(&mut t, enough), Terms::TRUE);
}

#[test]
fn symbols_without_facts_leave_questions_open() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let (x, y) = (t.fresh("x", Sort::REF), t.fresh("y", Sort::REF));
    let (equal, null) = (t.eq(x, y), Terms::NULL);
    assert!(facts.leaves_open(&t, equal));
    let not_null = t.differs(x, null);
    facts.push();
    facts.assume(&t, not_null);
    // About y nothing is known still.
    assert!(facts.leaves_open(&t, equal));
    assert!(!facts.leaves_open(&t, not_null));
    facts.assume(&t, equal);
    let y_null = t.eq(y, null);
    assert!(!facts.leaves_open(&t, y_null));
    facts.pop();
    assert!(facts.leaves_open(&t, not_null));
}

#[test]
fn values_in_snapshots_are_open() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let snapshot = t.fresh("s", Sort::SNAP);
    let (first, rest) = (t.fst(snapshot), t.snd(snapshot));
    let (value, inner) = (t.snap_unwrap(first, Sort::REF), t.fst(rest));
    let inner_value = t.snap_unwrap(inner, Sort::REF);
    let [null, inner_null] = [value, inner_value].map(|value| t.eq(value, Terms::NULL));
    // Shapes, and marks for triggers, say nothing of values.
    let mark = t.declare_mark("mark", &[Sort::REF], Sort::SNAP);
    let marked = t.apply(mark, &[value]);
    let shapes = [t.is_pair(snapshot), t.is_pair(rest), t.identical(marked, rest)];
    for shape in shapes {
        facts.assume(&t, shape);
    }
    assert!(facts.leaves_open(&t, inner_null));
    // The mark is about the value.
    assert!(!facts.leaves_open(&t, null));
    facts.push();
    let known = t.declare_function("known", &[Sort::SNAP], Sort::BOOL);
    let known = t.apply(known, &[rest]);
    facts.assume(&t, known);
    assert!(!facts.leaves_open(&t, inner_null));
    facts.pop();
    let other = t.fresh("other", Sort::SNAP);
    let equal = t.identical(rest, other);
    facts.assume(&t, equal);
    assert!(!facts.leaves_open(&t, inner_null));
}

#[test]
fn new_objects_differ() {
    let mut t = Terms::new();
    let mut facts = Facts::new();
    let (o, p) = (t.fresh_object("o"), t.fresh_object("p"));
    assert_eq!(
        [t.eq(o, p), t.eq(o, Terms::NULL), t.eq(o, o)],
        [Terms::FALSE, Terms::FALSE, Terms::TRUE]
    );
    // Nothing is said of any other reference.
    let (x, y) = (t.fresh("x", Sort::REF), t.fresh("y", Sort::REF));
    let [is_o, is_p, same] = [t.eq(x, o), t.eq(y, p), t.eq(x, y)];
    assert_eq!(facts.known(&t, is_o), None);
    facts.assume(&t, is_o);
    assert_eq!(facts.known(&t, same), None);
    facts.assume(&t, is_p);
    assert_eq!(facts.known(&t, same), Some(false));
}

/// An atom: which operands, and how they are related.
type Atom = (usize, usize, u8, bool);

/// Makes a formula over a few integers and literals.
fn formula(t: &mut Terms, (left, right, relation, positive): Atom) -> Term {
    let operand = |t: &mut Terms, index: usize| match index {
        0..4 => t.constant(&format!("n{index}"), Sort::INT),
        _ => t.int(num_bigint::BigInt::from(index) - 5),
    };
    let (left, right) = (operand(t, left), operand(t, right));
    let atom = match relation {
        0 => t.eq(left, right),
        1 => t.lt(left, right),
        2 => t.le(left, right),
        3 | 4 => {
            let two = t.int(2);
            let far = t.add(left, two);
            if relation == 3 { t.le(far, right) } else { t.eq(far, right) }
        }
        5 | 6 => {
            let [a, b] = ["n0", "n1"].map(|name| t.constant(name, Sort::INT));
            let (guard, body) = (t.le(left, a), t.lt(right, b));
            if relation == 5 { t.implies(guard, body) } else { t.or([guard, body]) }
        }
        _ => {
            let other = t.constant("n0", Sort::INT);
            t.distinct(&[left, right, other])
        }
    };
    if positive { atom } else { t.not(atom) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_prover_agrees(
        assumed in prop::collection::vec((0..8usize, 0..8usize, 0..8u8, any::<bool>()), 0..7),
        scoped in prop::collection::vec((0..8usize, 0..8usize, 0..8u8, any::<bool>()), 0..4),
        asked in prop::collection::vec((0..8usize, 0..8usize, 0..7u8, any::<bool>()), 1..12),
    ) {
        let mut t = Terms::new();
        let mut facts = Facts::new();
        let mut prover = Prover::new(ProverOptions::default()).expect("a prover");
        for atom in assumed {
            let fact = formula(&mut t, atom);
            facts.assume(&t, fact);
            prover.assume(fact);
        }
        facts.push();
        for atom in scoped {
            let fact = formula(&mut t, atom);
            facts.assume(&t, fact);
        }
        facts.settle(&t);
        facts.pop();
        facts.settle(&t);
        let mut prove = |t: &mut Terms, goal| {
            prover.check(t, goal, QueryKind::Check, Budget::OBLIGATION).expect("no error")
        };
        if facts.is_contradictory() {
            prop_assert_eq!(prove(&mut t, Terms::FALSE), Answer::Proved);
        }
        for atom in asked {
            let goal = formula(&mut t, atom);
            let reduced = facts.reduce(&mut t, goal);
            let same = t.iff(goal, reduced);
            prop_assert_eq!(prove(&mut t, same), Answer::Proved, "{}", t.display(same));
            let goal = match facts.known(&t, goal) {
                Some(true) => goal,
                Some(false) => t.not(goal),
                None => continue,
            };
            prop_assert_eq!(prove(&mut t, goal), Answer::Proved, "{}", t.display(goal));
        }
    }
}
