//! The theories of collections: what follows from their axioms, and what does not.

use super::*;

/// Names for terms built step by step: `t!(b.seq_len(s))`.
macro_rules! t {
    ($b:ident.$f:ident($($x:expr),*)) => {{
        let args = ($($x,)*);
        t!(@call $b $f args $($x),*)
    }};
    (@call $b:ident $f:ident $args:ident) => { $b.terms.$f() };
    (@call $b:ident $f:ident $args:ident $x1:expr) => { $b.terms.$f($args.0) };
    (@call $b:ident $f:ident $args:ident $x1:expr, $x2:expr) => { $b.terms.$f($args.0, $args.1) };
    (@call $b:ident $f:ident $args:ident $x1:expr, $x2:expr, $x3:expr) => {
        $b.terms.$f($args.0, $args.1, $args.2)
    };
}

mod seq {
    use super::*;

    fn sequences(b: &mut Bench) -> (Term, Term) {
        let sort = b.terms.seq_sort(Sort::INT);
        (b.constant("s", sort), b.constant("t", sort))
    }

    #[test]
    fn append_adds_lengths() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let len = t!(b.seq_len(t!(b.seq_append(s, q))));
        let sum = t!(b.add(t!(b.seq_len(s)), t!(b.seq_len(q))));
        let goal = t!(b.identical(len, sum));
        b.proves_soundly(goal);
        let goal = t!(b.identical(len, t!(b.seq_len(s))));
        b.does_not_prove(goal);
    }

    #[test]
    fn append_keeps_elements() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let (i, zero) = (b.constant("i", Sort::INT), b.int(0));
        let append = t!(b.seq_append(s, q));
        let fact = t!(b.le(zero, i));
        b.prover.assume(fact);
        let same = t!(b.identical(t!(b.seq_at(append, i)), t!(b.seq_at(s, i))));
        b.does_not_prove(same);
        let fact = t!(b.lt(i, t!(b.seq_len(s))));
        b.prover.assume(fact);
        b.proves_soundly(same);
        let shifted = t!(b.add(i, t!(b.seq_len(s))));
        let same = t!(b.identical(t!(b.seq_at(append, shifted)), t!(b.seq_at(q, i))));
        b.does_not_prove(same);
        let fact = t!(b.lt(i, t!(b.seq_len(q))));
        b.prover.assume(fact);
        b.proves_soundly(same);
    }

    #[test]
    fn take_and_drop_make_the_whole() {
        let mut b = Bench::new();
        let (s, _) = sequences(&mut b);
        let (n, zero) = (b.constant("n", Sort::INT), b.int(0));
        let (take, drop) = (t!(b.seq_take(s, n)), t!(b.seq_drop(s, n)));
        let fact = t!(b.le(zero, n));
        b.prover.assume(fact);
        let fact = t!(b.le(n, t!(b.seq_len(s))));
        b.prover.assume(fact);
        let goal = t!(b.identical(t!(b.seq_len(take)), n));
        b.proves_soundly(goal);
        let rest = t!(b.sub(t!(b.seq_len(s)), n));
        let goal = t!(b.identical(t!(b.seq_len(drop)), rest));
        b.proves(goal);
        let whole = t!(b.seq_append(take, drop));
        let goal = t!(b.eq(whole, s));
        b.proves_soundly(goal);
        let reverse = t!(b.seq_append(drop, take));
        let goal = t!(b.eq(reverse, s));
        b.does_not_prove(goal);
    }

    #[test]
    fn take_of_append_is_the_left() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let append = t!(b.seq_append(s, q));
        let take = t!(b.seq_take(append, t!(b.seq_len(s))));
        let goal = t!(b.eq(take, s));
        b.proves_soundly(goal);
        let drop = t!(b.seq_drop(append, t!(b.seq_len(s))));
        let goal = t!(b.eq(drop, q));
        b.proves_soundly(goal);
        let goal = t!(b.eq(drop, s));
        b.does_not_prove(goal);
    }

    #[test]
    fn update_changes_one_element() {
        let mut b = Bench::new();
        let (s, _) = sequences(&mut b);
        let (i, j) = (b.constant("i", Sort::INT), b.constant("j", Sort::INT));
        let (v, zero) = (b.constant("v", Sort::INT), b.int(0));
        let len = t!(b.seq_len(s));
        for index in [i, j] {
            let fact = t!(b.le(zero, index));
            b.prover.assume(fact);
            let fact = t!(b.lt(index, len));
            b.prover.assume(fact);
        }
        let updated = t!(b.seq_update(s, i, v));
        let goal = t!(b.identical(t!(b.seq_len(updated)), len));
        b.proves_soundly(goal);
        let goal = t!(b.identical(t!(b.seq_at(updated, i)), v));
        b.proves(goal);
        let same = t!(b.identical(t!(b.seq_at(updated, j)), t!(b.seq_at(s, j))));
        b.does_not_prove(same);
        let fact = t!(b.differs(i, j));
        b.prover.assume(fact);
        b.proves_soundly(same);
    }

    #[test]
    fn contains_is_having_at_some_index() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let (x, i) = (b.constant("x", Sort::INT), b.constant("i", Sort::INT));
        let zero = b.int(0);
        let contains = t!(b.seq_contains(x, s));
        b.does_not_prove(contains);
        b.prover.push();
        let fact = t!(b.le(zero, i));
        b.prover.assume(fact);
        let fact = t!(b.lt(i, t!(b.seq_len(s))));
        b.prover.assume(fact);
        let fact = t!(b.identical(t!(b.seq_at(s, i)), x));
        b.prover.assume(fact);
        b.proves_soundly(contains);
        b.prover.pop().expect("pop");
        b.prover.assume(contains);
        let goal = t!(b.lt(zero, t!(b.seq_len(s))));
        b.proves_soundly(goal);
        let goal = t!(b.seq_contains(x, q));
        b.does_not_prove(goal);
    }

    #[test]
    fn explicit_elements() {
        let mut b = Bench::new();
        let (one, two, x) = (b.int(1), b.int(2), b.constant("x", Sort::INT));
        let s = b.terms.seq_explicit(Sort::INT, &[one, x, two]);
        assert_eq!(t!(b.seq_at(s, two)), two);
        assert_eq!(t!(b.seq_len(s)), b.int(3));
        let goal = t!(b.seq_contains(x, s));
        b.proves_soundly(goal);
        let three = b.int(3);
        let goal = t!(b.seq_contains(three, s));
        b.does_not_prove(goal);
        b.prover.push();
        let fact = t!(b.identical(x, one));
        b.prover.assume(fact);
        let goal = t!(b.seq_contains(three, s));
        let goal = t!(b.not(goal));
        b.proves_soundly(goal);
    }

    #[test]
    fn ranges() {
        let mut b = Bench::new();
        let (low, high) = (b.constant("a", Sort::INT), b.constant("b", Sort::INT));
        let (i, zero) = (b.constant("i", Sort::INT), b.int(0));
        let range = t!(b.seq_range(low, high));
        let len = t!(b.seq_len(range));
        let size = t!(b.sub(high, low));
        let goal = t!(b.identical(len, size));
        b.does_not_prove(goal);
        let fact = t!(b.lt(low, high));
        b.prover.assume(fact);
        let goal = t!(b.identical(len, size));
        b.proves_soundly(goal);
        let goal = t!(b.seq_contains(low, range));
        b.proves(goal);
        let contains = t!(b.seq_contains(high, range));
        let goal = t!(b.not(contains));
        b.proves(goal);
        let fact = t!(b.le(zero, i));
        b.prover.assume(fact);
        let fact = t!(b.lt(i, size));
        b.prover.assume(fact);
        let goal = t!(b.identical(t!(b.seq_at(range, i)), t!(b.add(low, i))));
        b.proves_soundly(goal);
    }

    #[test]
    fn equality_is_extensional() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let i = b.terms.fresh_variable("i", Sort::INT);
        let zero = b.int(0);
        let len = t!(b.seq_len(s));
        let fact = t!(b.identical(len, t!(b.seq_len(q))));
        b.prover.assume(fact);
        let equal = t!(b.eq(s, q));
        b.does_not_prove(equal);
        let (in_s, in_q) = (t!(b.seq_at(s, i)), t!(b.seq_at(q, i)));
        let within = [t!(b.le(zero, i)), t!(b.lt(i, len))];
        let within = b.terms.and(within);
        let body = t!(b.implies(within, t!(b.identical(in_s, in_q))));
        let all = b.terms.forall(&[i], vec![vec![in_s], vec![in_q]], body, "same", 1);
        b.prover.assume(all);
        b.proves_soundly(equal);
        b.prover.assume(equal);
        let goal = t!(b.identical(s, q));
        b.proves(goal);
    }

    #[test]
    fn membership_triggers_quantifiers() {
        let mut b = Bench::new();
        let (s, _) = sequences(&mut b);
        let x = b.terms.fresh_variable("x", Sort::INT);
        let (i, zero) = (b.constant("i", Sort::INT), b.int(0));
        let contains = t!(b.seq_contains(x, s));
        let trigger = t!(b.seq_contains_trigger(x, s));
        let body = t!(b.implies(contains, t!(b.lt(zero, x))));
        let all = b.terms.forall(&[x], vec![vec![contains], vec![trigger]], body, "positive", 1);
        b.prover.assume(all);
        let fact = t!(b.le(zero, i));
        b.prover.assume(fact);
        let fact = t!(b.lt(i, t!(b.seq_len(s))));
        b.prover.assume(fact);
        let element = t!(b.seq_at(s, i));
        let goal = t!(b.lt(zero, element));
        b.proves_soundly(goal);
    }

    #[test]
    fn sequences_of_sequences() {
        let mut b = Bench::new();
        let (s, q) = sequences(&mut b);
        let outer = t!(b.seq_append(t!(b.seq_singleton(s)), t!(b.seq_singleton(q))));
        let goal = t!(b.seq_contains(q, outer));
        b.proves_soundly(goal);
        let sort = b.terms.seq_sort(Sort::INT);
        let other = b.constant("u", sort);
        let goal = t!(b.seq_contains(other, outer));
        b.does_not_prove(goal);
    }
}

mod set {
    use super::*;

    fn sets(b: &mut Bench) -> (Term, Term, Term) {
        let sort = b.terms.set_sort(Sort::REF);
        (b.constant("a", sort), b.constant("b", sort), b.constant("x", Sort::REF))
    }

    #[test]
    fn members_of_combinations() {
        let mut b = Bench::new();
        let (s, r, x) = sets(&mut b);
        let (in_s, in_r) = (t!(b.set_contains(x, s)), t!(b.set_contains(x, r)));
        let (union, both) = (t!(b.set_union(s, r)), t!(b.set_intersection(s, r)));
        let only = t!(b.set_difference(s, r));
        let in_union = t!(b.set_contains(x, union));
        let in_both = t!(b.set_contains(x, both));
        let in_only = t!(b.set_contains(x, only));
        let or = b.terms.or([in_s, in_r]);
        let goal = t!(b.iff(in_union, or));
        b.proves_soundly(goal);
        let and = b.terms.and([in_s, in_r]);
        let goal = t!(b.iff(in_both, and));
        b.proves(goal);
        let parts = b.terms.or([in_both, in_only]);
        let goal = t!(b.iff(parts, in_s));
        b.proves_soundly(goal);
        let goal = t!(b.implies(in_union, in_s));
        b.does_not_prove(goal);
        let goal = t!(b.implies(in_s, in_both));
        b.does_not_prove(goal);
    }

    #[test]
    fn equality_is_extensional() {
        let mut b = Bench::new();
        let (s, r, x) = sets(&mut b);
        let goal = t!(b.eq(t!(b.set_union(s, r)), t!(b.set_union(r, s))));
        b.proves_soundly(goal);
        let added = t!(b.set_add(s, x));
        let equal = t!(b.eq(added, s));
        b.does_not_prove(equal);
        let fact = t!(b.set_contains(x, s));
        b.prover.assume(fact);
        b.proves_soundly(equal);
    }

    #[test]
    fn cardinalities() {
        let mut b = Bench::new();
        let (s, r, x) = sets(&mut b);
        let (card, zero, one) = (t!(b.set_card(s)), b.int(0), b.int(1));
        let goal = t!(b.le(zero, card));
        b.proves_soundly(goal);
        let added = t!(b.set_card(t!(b.set_add(s, x))));
        let grown = t!(b.identical(added, t!(b.add(card, one))));
        b.does_not_prove(grown);
        let has = t!(b.set_contains(x, s));
        b.prover.push();
        let fact = t!(b.not(has));
        b.prover.assume(fact);
        b.proves_soundly(grown);
        b.prover.pop().expect("pop");
        b.prover.assume(has);
        let goal = t!(b.lt(zero, card));
        b.proves_soundly(goal);
        let only = t!(b.set_card(t!(b.set_difference(s, r))));
        let goal = t!(b.le(only, card));
        b.proves_soundly(goal);
        let goal = t!(b.lt(only, card));
        b.does_not_prove(goal);
    }

    #[test]
    fn subsets() {
        let mut b = Bench::new();
        let (s, r, x) = sets(&mut b);
        let union = t!(b.set_union(s, r));
        let goal = t!(b.set_subset(s, union));
        b.proves_soundly(goal);
        let subset = t!(b.set_subset(s, r));
        b.does_not_prove(subset);
        b.prover.assume(subset);
        let in_s = t!(b.set_contains(x, s));
        let goal = t!(b.implies(in_s, t!(b.set_contains(x, r))));
        b.proves_soundly(goal);
        let goal = t!(b.eq(s, r));
        b.does_not_prove(goal);
        let fact = t!(b.set_disjoint(s, r));
        b.prover.assume(fact);
        let goal = t!(b.not(in_s));
        b.proves_soundly(goal);
    }

    #[test]
    fn explicit_sets() {
        let mut b = Bench::new();
        let (one, two, three) = (b.int(1), b.int(2), b.int(3));
        let s = b.terms.set_explicit(Sort::INT, &[one, two]);
        let r = b.terms.set_explicit(Sort::INT, &[two, one]);
        let goal = t!(b.eq(s, r));
        b.proves_soundly(goal);
        let goal = t!(b.identical(t!(b.set_card(s)), two));
        b.proves(goal);
        let has = t!(b.set_contains(three, s));
        let goal = t!(b.not(has));
        b.proves_soundly(goal);
    }
}

mod multiset {
    use super::*;

    fn multisets(b: &mut Bench) -> (Term, Term, Term) {
        let sort = b.terms.multiset_sort(Sort::INT);
        (b.constant("a", sort), b.constant("b", sort), b.constant("x", Sort::INT))
    }

    #[test]
    fn counts_of_combinations() {
        let mut b = Bench::new();
        let (s, r, x) = multisets(&mut b);
        let (in_s, in_r) = (t!(b.multiset_count(x, s)), t!(b.multiset_count(x, r)));
        let union = t!(b.multiset_count(x, t!(b.multiset_union(s, r))));
        let goal = t!(b.identical(union, t!(b.add(in_s, in_r))));
        b.proves_soundly(goal);
        let both = t!(b.multiset_count(x, t!(b.multiset_intersection(s, r))));
        let goal = t!(b.le(both, in_r));
        b.proves_soundly(goal);
        let only = t!(b.multiset_count(x, t!(b.multiset_difference(s, r))));
        let goal = t!(b.identical(t!(b.add(both, only)), in_s));
        b.proves_soundly(goal);
        let goal = t!(b.identical(both, in_r));
        b.does_not_prove(goal);
        let goal = t!(b.identical(union, in_s));
        b.does_not_prove(goal);
    }

    #[test]
    fn occurrences_count() {
        let mut b = Bench::new();
        let (one, two) = (b.int(1), b.int(2));
        let twice = b.terms.multiset_explicit(Sort::INT, &[one, one]);
        let once = b.terms.multiset_explicit(Sort::INT, &[one]);
        let goal = t!(b.identical(t!(b.multiset_count(one, twice)), two));
        b.proves_soundly(goal);
        let goal = t!(b.identical(t!(b.multiset_card(twice)), two));
        b.proves(goal);
        let equal = t!(b.eq(once, twice));
        let goal = t!(b.not(equal));
        b.proves_soundly(goal);
        let goal = t!(b.multiset_subset(once, twice));
        b.proves(goal);
        let subset = t!(b.multiset_subset(twice, once));
        let goal = t!(b.not(subset));
        b.proves_soundly(goal);
    }

    #[test]
    fn equality_is_extensional() {
        let mut b = Bench::new();
        let (s, r, x) = multisets(&mut b);
        let goal = t!(b.eq(t!(b.multiset_union(s, r)), t!(b.multiset_union(r, s))));
        b.proves_soundly(goal);
        let added = t!(b.multiset_add(s, x));
        let equal = t!(b.eq(added, s));
        let goal = t!(b.not(equal));
        b.proves_soundly(goal);
        let goal = t!(b.eq(s, r));
        b.does_not_prove(goal);
        let zero = b.int(0);
        let fact = t!(b.multiset_disjoint(s, r));
        b.prover.assume(fact);
        let fact = t!(b.lt(zero, t!(b.multiset_count(x, s))));
        b.prover.assume(fact);
        let goal = t!(b.identical(t!(b.multiset_count(x, r)), zero));
        b.proves_soundly(goal);
    }
}

mod map {
    use super::*;

    fn maps(b: &mut Bench) -> (Term, Term, Term, Term) {
        let sort = b.terms.map_sort(Sort::REF, Sort::INT);
        let (m, n) = (b.constant("m", sort), b.constant("n", sort));
        (m, n, b.constant("k", Sort::REF), b.constant("l", Sort::REF))
    }

    #[test]
    fn update_changes_one_key() {
        let mut b = Bench::new();
        let (m, _, k, l) = maps(&mut b);
        let seven = b.int(7);
        let updated = t!(b.map_update(m, k, seven));
        let goal = t!(b.map_contains(k, updated));
        b.proves_soundly(goal);
        let value = t!(b.map_lookup(updated, l));
        let same = t!(b.identical(value, t!(b.map_lookup(m, l))));
        b.does_not_prove(same);
        let here = t!(b.identical(k, l));
        let is_seven = t!(b.identical(value, seven));
        let goal = t!(b.implies(here, is_seven));
        b.proves_soundly(goal);
        let fact = t!(b.not(here));
        b.prover.assume(fact);
        b.proves_soundly(same);
        let had = t!(b.map_contains(l, m));
        let goal = t!(b.iff(had, t!(b.map_contains(l, updated))));
        b.proves(goal);
        b.does_not_prove(had);
    }

    #[test]
    fn values_and_keys() {
        let mut b = Bench::new();
        let (m, n, k, _) = maps(&mut b);
        let value = t!(b.map_lookup(m, k));
        let values = t!(b.map_values(m));
        let in_values = t!(b.set_contains(value, values));
        b.does_not_prove(in_values);
        b.prover.push();
        let fact = t!(b.map_contains(k, m));
        b.prover.assume(fact);
        b.proves_soundly(in_values);
        let fact = t!(b.map_disjoint(m, n));
        b.prover.assume(fact);
        let other = t!(b.map_contains(k, n));
        let goal = t!(b.not(other));
        b.proves_soundly(goal);
        b.prover.pop().expect("pop");
        let x = b.constant("x", Sort::INT);
        let fact = t!(b.set_contains(x, values));
        b.prover.assume(fact);
        let zero = b.int(0);
        let goal = t!(b.lt(zero, t!(b.set_card(t!(b.map_domain(m))))));
        b.proves_soundly(goal);
    }

    #[test]
    fn cardinalities() {
        let mut b = Bench::new();
        let (m, _, k, _) = maps(&mut b);
        let (zero, one) = (b.int(0), b.int(1));
        let updated = t!(b.map_update(m, k, zero));
        let (card, old) = (t!(b.map_card(updated)), t!(b.map_card(m)));
        let goal = t!(b.le(old, card));
        b.proves_soundly(goal);
        let grown = t!(b.identical(card, t!(b.add(old, one))));
        b.does_not_prove(grown);
        let had = t!(b.map_contains(k, m));
        let fact = t!(b.not(had));
        b.prover.assume(fact);
        b.proves_soundly(grown);
        let domain = t!(b.map_domain(m));
        let goal = t!(b.identical(t!(b.set_card(domain)), old));
        b.proves(goal);
    }

    #[test]
    fn equality_is_extensional() {
        let mut b = Bench::new();
        let (m, n, k, l) = maps(&mut b);
        let (zero, one) = (b.int(0), b.int(1));
        let fact = t!(b.differs(k, l));
        b.prover.assume(fact);
        let first = t!(b.map_update(t!(b.map_update(m, k, zero)), l, one));
        let second = t!(b.map_update(t!(b.map_update(m, l, one)), k, zero));
        let goal = t!(b.eq(first, second));
        b.proves_soundly(goal);
        let goal = t!(b.eq(m, n));
        b.does_not_prove(goal);
        let goal = t!(b.eq(first, m));
        b.does_not_prove(goal);
    }
}
