//! Tests of the tableau: goals that few steps prove and, as important, goals that they do not
//! prove.

mod random;

use super::{Outcome, Tableau};
use crate::terms::{Sort, Symbol, Term, Terms};

/// Terms, and a tableau that has been told something of them.
#[derive(Default)]
struct Bench {
    terms: Terms,
    tableau: Tableau,
}

impl Bench {
    fn constant(&mut self, name: &str, sort: Sort) -> Term {
        self.terms.constant(name, sort)
    }

    fn assume(&mut self, fact: Term) {
        self.tableau.assume(fact);
    }

    #[track_caller]
    fn proves(&mut self, goal: Term) {
        let outcome = self.tableau.ask(&mut self.terms, goal, true);
        assert_eq!(outcome, Outcome::Proved, "{}", self.terms.display(goal));
    }

    #[track_caller]
    fn does_not_prove(&mut self, goal: Term) {
        let outcome = self.tableau.ask(&mut self.terms, goal, true);
        assert_eq!(outcome, Outcome::Unknown, "{}", self.terms.display(goal));
    }
}

/// Makes read fractions, bounded as the translation of Chalice bounds them: `0 < call`, `1000 ·
/// call < k`, `k < 1/1000`.
fn fractions(bench: &mut Bench) -> (Term, Term) {
    let (k, call) = (bench.constant("k", Sort::PERM), bench.constant("call", Sort::PERM));
    let factor = bench.terms.fraction(1000, 1);
    let small = bench.terms.fraction(1, 1000);
    let scaled = bench.terms.mul(factor, call);
    for fact in
        [bench.terms.lt(Terms::NONE, call), bench.terms.lt(scaled, k), bench.terms.lt(k, small)]
    {
        bench.assume(fact);
    }
    (k, call)
}

#[test]
fn sums_of_amounts_are_compared() {
    let mut bench = Bench::default();
    let (k, call) = fractions(&mut bench);
    let rest = bench.terms.sub(k, call);
    let is_some = bench.terms.lt(Terms::NONE, rest);
    bench.proves(is_some);
    let others = bench.terms.sub(Terms::WRITE, k);
    let others = bench.terms.sub(others, call);
    let is_less = bench.terms.lt(k, others);
    bench.proves(is_less);
    let is_all = bench.terms.le(Terms::WRITE, others);
    bench.does_not_prove(is_all);
    let twice = bench.terms.add(call, call);
    let is_more = bench.terms.lt(k, twice);
    bench.does_not_prove(is_more);
}

#[test]
fn amounts_that_may_be_are_found() {
    let mut bench = Bench::default();
    let (k, call) = fractions(&mut bench);
    let rest = bench.terms.sub(k, call);
    for goal in [
        bench.terms.identical(Terms::NONE, rest),
        bench.terms.le(k, call),
        bench.terms.le(Terms::WRITE, rest),
    ] {
        assert_eq!(bench.tableau.ask(&mut bench.terms, goal, false), Outcome::Open);
        // Where it has to be shown, that is for the prover to say.
        assert_eq!(bench.tableau.ask(&mut bench.terms, goal, true), Outcome::Unknown);
    }
    // The amount counts about which a disjunction speaks.
    let one_of = {
        let is_small = bench.terms.lt(rest, call);
        let is_none = bench.terms.identical(Terms::NONE, rest);
        bench.terms.or([is_small, is_none])
    };
    bench.assume(one_of);
    let goal = bench.terms.lt(rest, call);
    assert_eq!(bench.tableau.ask(&mut bench.terms, goal, false), Outcome::Proved);
}

#[test]
fn what_is_said_of_amounts_is_taken_out_of_a_question() {
    let mut bench = Bench::default();
    let (k, _) = fractions(&mut bench);
    let (a, b) = (bench.constant("a", Sort::REF), bench.constant("b", Sort::REF));
    let same = bench.terms.identical(a, b);
    let is_some = bench.terms.lt(Terms::NONE, k);
    let both = bench.terms.and([same, is_some]);
    assert_eq!(bench.tableau.ask(&mut bench.terms, both, false), Outcome::Left(same));
}

#[test]
fn numbers_larger_than_machines_have_prove_nothing() {
    let mut bench = Bench::default();
    let (i, j) = (bench.constant("i", Sort::INT), bench.constant("j", Sort::INT));
    let huge = bench.terms.int(num_bigint::BigInt::from(u64::MAX).pow(4));
    let above = bench.terms.lt(huge, i);
    bench.assume(above);
    let goal = bench.terms.lt(j, i);
    bench.does_not_prove(goal);
    let large = bench.terms.int(i64::MAX);
    let mut bound = j;
    for _ in 0..6 {
        bound = bench.terms.mul(large, bound);
    }
    let below = bench.terms.lt(bound, i);
    bench.assume(below);
    let goal = bench.terms.lt(i, j);
    bench.does_not_prove(goal);
}

/// Makes `count · c`: amounts that are counted by a small fraction.
fn counted(bench: &mut Bench, count: Term, c: Term) -> Term {
    let count = bench.terms.int_to_perm(count);
    bench.terms.mul(count, c)
}

#[test]
fn products_are_bounded_by_what_is_known_of_their_factors() {
    let mut bench = Bench::default();
    let [n, i] = ["n", "i"].map(|name| bench.constant(name, Sort::INT));
    let [c, d] = ["c", "d"].map(|name| bench.constant(name, Sort::PERM));
    let one = bench.terms.int(1);
    let rest = bench.terms.sub(n, i);
    let next = bench.terms.add(i, one);
    let less = bench.terms.sub(n, next);
    let (rest, less) = (counted(&mut bench, rest, c), counted(&mut bench, less, c));
    // One may be taken off, whatever the sign of `c`.
    let after = bench.terms.sub(rest, c);
    let same = bench.terms.identical(after, less);
    bench.proves(same);
    // A rest exists only if `i < n`, and `0 ≤ c`.
    let is_enough = bench.terms.le(c, rest);
    let is_below = bench.terms.lt(i, n);
    bench.assume(is_below);
    bench.does_not_prove(is_enough);
    let is_amount = bench.terms.le(Terms::NONE, c);
    bench.assume(is_amount);
    bench.proves(is_enough);
    let is_more = bench.terms.lt(c, rest);
    bench.does_not_prove(is_more);
    let is_some = bench.terms.lt(Terms::NONE, rest);
    bench.does_not_prove(is_some);
    let is_positive = bench.terms.lt(Terms::NONE, c);
    bench.assume(is_positive);
    bench.proves(is_some);
    // Nothing is known of another factor.
    let other = bench.terms.sub(n, i);
    let other = counted(&mut bench, other, d);
    let is_enough = bench.terms.le(d, other);
    bench.does_not_prove(is_enough);
}

#[test]
fn quotients_and_remainders_are_unique() {
    let mut bench = Bench::default();
    let [i, j, k, l, n] = ["i", "j", "k", "l", "n"].map(|name| bench.constant(name, Sort::INT));
    let zero = bench.terms.int(0);
    let (rows, others) = (bench.terms.mul(i, n), bench.terms.mul(k, n));
    let (left, right) = (bench.terms.add(rows, j), bench.terms.add(others, l));
    let is_same = bench.terms.eq(left, right);
    bench.assume(is_same);
    for number in [i, j, k, l] {
        let is_natural = bench.terms.le(zero, number);
        bench.assume(is_natural);
    }
    let below = [j, l].map(|number| bench.terms.lt(number, n));
    bench.assume(below[0]);
    let (same_row, same_column) = (bench.terms.eq(i, k), bench.terms.eq(j, l));
    // `l` may be as large as a row.
    bench.does_not_prove(same_row);
    bench.does_not_prove(same_column);
    bench.assume(below[1]);
    bench.proves(same_row);
    let both = bench.terms.and([same_row, same_column]);
    bench.proves(both);
    let is_less = bench.terms.lt(j, l);
    bench.does_not_prove(is_less);
}

#[test]
fn inequalities_of_integers_are_multiplied() {
    let mut bench = Bench::default();
    let [i, n, k] = ["i", "n", "k"].map(|name| bench.constant(name, Sort::INT));
    let (ik, nk) = (bench.terms.mul(i, k), bench.terms.mul(n, k));
    let after = bench.terms.add(ik, k);
    let (is_less, is_room) = (bench.terms.lt(ik, nk), bench.terms.le(after, nk));
    let is_below = bench.terms.lt(i, n);
    bench.assume(is_below);
    bench.does_not_prove(is_room);
    let zero = bench.terms.int(0);
    let is_natural = bench.terms.le(zero, k);
    bench.assume(is_natural);
    bench.proves(is_room);
    bench.does_not_prove(is_less);
    let is_positive = bench.terms.lt(zero, k);
    bench.assume(is_positive);
    bench.proves(is_less);
    // Nothing is known of the sign of `i`.
    let (ii, ni) = (bench.terms.mul(i, i), bench.terms.mul(n, i));
    let is_less = bench.terms.le(ii, ni);
    bench.does_not_prove(is_less);
}

#[test]
fn factors_between_two_bounds_are_told() {
    let mut bench = Bench::default();
    let [n, i] = ["n", "i"].map(|name| bench.constant(name, Sort::INT));
    let c = bench.constant("c", Sort::PERM);
    let one = bench.terms.int(1);
    let previous = bench.terms.sub(i, one);
    let rest = bench.terms.sub(n, previous);
    let product = counted(&mut bench, rest, c);
    let facts = [bench.terms.le(n, i), bench.terms.lt(Terms::NONE, c), bench.terms.lt(previous, n)];
    let is_one = bench.terms.identical(product, c);
    for fact in facts {
        bench.does_not_prove(is_one);
        bench.assume(fact);
    }
    bench.proves(is_one);
}

#[test]
fn integers_between_which_there_is_none_are_told() {
    let mut bench = Bench::default();
    let (i, j) = (bench.constant("i", Sort::INT), bench.constant("j", Sort::INT));
    let one = bench.terms.int(1);
    let next = bench.terms.add(i, one);
    let fact = bench.terms.lt(i, j);
    bench.assume(fact);
    let at_least = bench.terms.le(next, j);
    bench.proves(at_least);
    let more = bench.terms.lt(next, j);
    bench.does_not_prove(more);
}

/// Assumes the order of levels, which is irreflexive and transitive.
fn order(bench: &mut Bench) -> (Sort, Symbol) {
    let sort = bench.terms.user_sort("Level", &[]);
    let below = bench.terms.declare_function("below", &[sort, sort], Sort::BOOL);
    let [a, b, c] = ["a", "b", "c"].map(|name| bench.terms.named_variable(name, sort));
    let itself = bench.terms.apply(below, &[a, a]);
    let not_itself = bench.terms.not(itself);
    let irreflexive = bench.terms.forall(&[a], vec![vec![itself]], not_itself, "irreflexive", 0);
    let (ab, bc, ac) = (
        bench.terms.apply(below, &[a, b]),
        bench.terms.apply(below, &[b, c]),
        bench.terms.apply(below, &[a, c]),
    );
    let both = bench.terms.and([ab, bc]);
    let body = bench.terms.implies(both, ac);
    let transitive = bench.terms.forall(&[a, b, c], vec![vec![ab, bc]], body, "transitive", 0);
    bench.tableau.add_axiom(irreflexive);
    bench.tableau.add_axiom(transitive);
    (sort, below)
}

#[test]
fn quantified_facts_have_instances() {
    let mut bench = Bench::default();
    let (sort, below) = order(&mut bench);
    let [x, y, z] = ["x", "y", "z"].map(|name| bench.constant(name, sort));
    let (xy, yz, xz, zx) = (
        bench.terms.apply(below, &[x, y]),
        bench.terms.apply(below, &[y, z]),
        bench.terms.apply(below, &[x, z]),
        bench.terms.apply(below, &[z, x]),
    );
    bench.assume(xy);
    bench.does_not_prove(xz);
    bench.assume(yz);
    bench.proves(xz);
    let not = bench.terms.not(zx);
    bench.proves(not);
    bench.does_not_prove(zx);
    // The order is partial: that one is not below the other tells nothing.
    let w = bench.constant("w", sort);
    let (xw, wx) = (bench.terms.apply(below, &[x, w]), bench.terms.apply(below, &[w, x]));
    let not = bench.terms.not(xw);
    bench.assume(not);
    bench.does_not_prove(wx);
}

#[test]
fn what_holds_of_some_value_is_said_of_a_constant() {
    let mut bench = Bench::default();
    let (sort, below) = order(&mut bench);
    let [x, y] = ["x", "y"].map(|name| bench.constant(name, sort));
    let some = bench.terms.named_variable("some", sort);
    let (above_x, above_y) =
        (bench.terms.apply(below, &[x, some]), bench.terms.apply(below, &[y, some]));
    let y_below_x = bench.terms.apply(below, &[y, x]);
    let [some_above_x, some_above_y] = [above_x, above_y]
        .map(|body| bench.terms.exists(&[some], vec![vec![body]], body, "some", 0));
    bench.assume(y_below_x);
    let follows = bench.terms.implies(some_above_x, some_above_y);
    bench.proves(follows);
    // Nothing is above both, although there is something above each.
    bench.assume(some_above_y);
    bench.does_not_prove(some_above_x);
    let both = bench.terms.and([above_x, above_y]);
    let some_above_both =
        bench.terms.exists(&[some], vec![vec![above_x], vec![above_y]], both, "some", 0);
    bench.does_not_prove(some_above_both);
    let not_below = bench.terms.not(above_y);
    let all_not_below = bench.terms.forall(&[some], vec![vec![above_y]], not_below, "none", 0);
    bench.does_not_prove(all_not_below);
}

#[test]
fn sets_are_what_their_elements_are() {
    let mut bench = Bench::default();
    let sort = bench.terms.set_sort(Sort::REF);
    let [s, t, u] = ["s", "t", "u"].map(|name| bench.constant(name, sort));
    let [a, b] = ["a", "b"].map(|name| bench.constant(name, Sort::REF));
    let single = bench.terms.set_singleton(a);
    let more = bench.terms.set_union(s, single);
    let less = bench.terms.set_difference(t, single);
    for (set, meaning) in [(t, more), (u, less)] {
        let definition = bench.terms.identical(set, meaning);
        bench.assume(definition);
    }
    let (in_t, in_u) = (bench.terms.set_contains(a, t), bench.terms.set_contains(a, u));
    bench.proves(in_t);
    let not_in_u = bench.terms.not(in_u);
    bench.proves(not_in_u);
    // The sets are the same only if the element was not there before.
    let same = bench.terms.eq(s, u);
    bench.does_not_prove(same);
    let in_s = bench.terms.set_contains(a, s);
    let not_in_s = bench.terms.not(in_s);
    bench.assume(not_in_s);
    bench.proves(same);
    let same = bench.terms.eq(s, t);
    bench.does_not_prove(same);
    let b_in_t = bench.terms.set_contains(b, t);
    bench.does_not_prove(b_in_t);
}

#[test]
fn updates_are_read_at_one_place_and_at_others() {
    let mut bench = Bench::default();
    let map = bench.terms.user_sort("Map", &[]);
    let at = bench.terms.declare_function("at", &[map, Sort::REF], Sort::INT);
    let set = bench.terms.declare_function("set", &[map, Sort::REF, Sort::INT], map);
    let m = bench.terms.named_variable("m", map);
    let [o, p] = ["o", "p"].map(|name| bench.terms.named_variable(name, Sort::REF));
    let v = bench.terms.named_variable("v", Sort::INT);
    let update = bench.terms.apply(set, &[m, o, v]);
    let (here, there, before) = (
        bench.terms.apply(at, &[update, o]),
        bench.terms.apply(at, &[update, p]),
        bench.terms.apply(at, &[m, p]),
    );
    let same = bench.terms.identical(here, v);
    let same = bench.terms.forall(&[m, o, v], vec![vec![update]], same, "same", 0);
    let differ = bench.terms.differs(o, p);
    let other = bench.terms.identical(there, before);
    let other = bench.terms.implies(differ, other);
    let other = bench.terms.forall(&[m, o, v, p], vec![vec![there]], other, "other", 0);
    bench.tableau.add_axiom(same);
    bench.tableau.add_axiom(other);
    let [m0, m1] = ["m0", "m1"].map(|name| bench.constant(name, map));
    let [a, b] = ["a", "b"].map(|name| bench.constant(name, Sort::REF));
    let seven = bench.terms.int(7);
    let update = bench.terms.apply(set, &[m0, a, seven]);
    let definition = bench.terms.identical(m1, update);
    bench.assume(definition);
    let (at_a, at_b, old_b) = (
        bench.terms.apply(at, &[m1, a]),
        bench.terms.apply(at, &[m1, b]),
        bench.terms.apply(at, &[m0, b]),
    );
    let is_new = bench.terms.identical(at_a, seven);
    bench.proves(is_new);
    let is_old = bench.terms.identical(at_b, old_b);
    bench.does_not_prove(is_old);
    let is_one_of = {
        let is_seven = bench.terms.identical(at_b, seven);
        bench.terms.or([is_seven, is_old])
    };
    bench.proves(is_one_of);
    let differ = bench.terms.differs(a, b);
    bench.assume(differ);
    bench.proves(is_old);
}

#[test]
fn what_was_known_in_a_scope_is_forgotten_with_it() {
    let mut bench = Bench::default();
    let (sort, below) = order(&mut bench);
    let [x, y, z] = ["x", "y", "z"].map(|name| bench.constant(name, sort));
    let (xy, yz, xz) = (
        bench.terms.apply(below, &[x, y]),
        bench.terms.apply(below, &[y, z]),
        bench.terms.apply(below, &[x, z]),
    );
    bench.assume(xy);
    for _ in 0..3 {
        bench.tableau.push();
        bench.assume(yz);
        bench.proves(xz);
        // Axioms that are told in a scope stay.
        let late = bench.constant("late", Sort::BOOL);
        bench.tableau.add_axiom(late);
        bench.proves(late);
        bench.tableau.push();
        let not = bench.terms.not(xz);
        bench.assume(not);
        bench.proves(not);
        bench.proves(xz);
        bench.tableau.pop();
        bench.does_not_prove(not);
        bench.tableau.pop();
        bench.does_not_prove(xz);
        bench.proves(late);
    }
    bench.proves(xy);
}
