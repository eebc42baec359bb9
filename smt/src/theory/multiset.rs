//! Axioms of multisets.

use super::axioms::Axioms;
use crate::terms::{Sort, Term, Terms, TheoryOp};

/// The axioms for multisets of one sort of elements.
pub(super) fn axioms(axioms: &mut Axioms<'_>, sort: Sort, element: Sort) {
    let mut multiset = Multiset { axioms, sort, element };
    multiset.counts();
    multiset.singleton();
    multiset.add();
    multiset.union();
    multiset.intersection();
    multiset.difference();
    multiset.relations();
    multiset.equality();
}

struct Multiset<'a, 'b> {
    axioms: &'a mut Axioms<'b>,
    sort: Sort,
    element: Sort,
}

impl Multiset<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        self.axioms.terms
    }

    /// The variables a and b, multisets, and o, an element.
    fn variables(&mut self) -> (Term, Term, Term) {
        (
            self.axioms.var("a", self.sort),
            self.axioms.var("b", self.sort),
            self.axioms.var("o", self.element),
        )
    }

    fn empty(&mut self) -> Term {
        self.axioms.op(TheoryOp::MultisetEmpty, &[], self.sort)
    }

    fn count(&mut self, multiset: Term, element: Term) -> Term {
        self.axioms.op(TheoryOp::MultisetCount, &[element, multiset], Sort::INT)
    }

    fn card(&mut self, multiset: Term) -> Term {
        self.axioms.op(TheoryOp::MultisetCard, &[multiset], Sort::INT)
    }

    fn binary(&mut self, op: TheoryOp, a: Term, b: Term) -> Term {
        self.axioms.op(op, &[a, b], self.sort)
    }

    fn zero(&mut self) -> Term {
        self.terms().int(0)
    }

    fn one(&mut self) -> Term {
        self.terms().int(1)
    }

    fn positive(&mut self, number: Term) -> Term {
        let zero = self.zero();
        self.terms().lt(zero, number)
    }

    fn counts(&mut self) {
        let (a, _, o) = self.variables();
        let (count, card, zero) = (self.count(a, o), self.card(a), self.zero());
        let natural = self.terms().le(zero, count);
        self.axioms.forall("multiset.count.natural", &[a, o], &[&[count]], natural);
        let natural = self.terms().le(zero, card);
        self.axioms.forall("multiset.card.natural", &[a], &[&[card]], natural);

        let empty = self.empty();
        let count_empty = self.count(empty, o);
        let body = self.axioms.same(count_empty, zero);
        self.axioms.forall("multiset.empty", &[o], &[&[count_empty]], body);

        let (is_zero, is_empty) = (self.axioms.same(card, zero), self.axioms.same(a, empty));
        let not_zero = self.terms().not(is_zero);
        let has = self.positive(count);
        let inhabited =
            self.terms().exists(&[o], vec![vec![count]], has, "multiset.card.inhabited", 1);
        let when_zero = self.terms().iff(is_zero, is_empty);
        let otherwise = self.terms().implies(not_zero, inhabited);
        let body = self.terms().and([when_zero, otherwise]);
        self.axioms.forall("multiset.card.zero", &[a], &[&[card]], body);
    }

    fn singleton(&mut self) {
        let (_, _, o) = self.variables();
        let x = self.axioms.var("x", self.element);
        let single = self.axioms.op(TheoryOp::MultisetSingleton, &[x], self.sort);
        let (zero, one, empty) = (self.zero(), self.one(), self.empty());
        let (count, same) = (self.count(single, o), self.axioms.same(x, o));
        let different = self.terms().not(same);
        let (is_one, is_zero) = (self.axioms.same(count, one), self.axioms.same(count, zero));
        let here = self.terms().iff(is_one, same);
        let elsewhere = self.terms().iff(is_zero, different);
        let body = self.terms().and([here, elsewhere]);
        self.axioms.forall("multiset.singleton", &[x, o], &[&[count]], body);

        let (card, own) = (self.card(single), self.count(single, x));
        let (card_one, own_one) = (self.axioms.same(card, one), self.axioms.same(own, one));
        let body = self.terms().and([card_one, own_one]);
        self.axioms.forall("multiset.singleton.card", &[x], &[&[single]], body);
        let added = self.axioms.op(TheoryOp::MultisetAdd, &[empty, x], self.sort);
        let body = self.axioms.same(single, added);
        self.axioms.forall("multiset.singleton.add", &[x], &[&[single]], body);
    }

    fn add(&mut self) {
        let (a, _, o) = self.variables();
        let x = self.axioms.var("x", self.element);
        let one = self.one();
        let added = self.axioms.op(TheoryOp::MultisetAdd, &[a, x], self.sort);
        let (count, old) = (self.count(added, o), self.count(a, o));
        let more = self.terms().add(old, one);
        let same = self.axioms.same(x, o);
        let value = self.terms().ite(same, more, old);
        let body = self.axioms.same(count, value);
        self.axioms.forall("multiset.add", &[a, x, o], &[&[count], &[added, old]], body);

        let (card, old) = (self.card(added), self.card(a));
        let more = self.terms().add(old, one);
        let body = self.axioms.same(card, more);
        self.axioms.forall("multiset.add.card", &[a, x], &[&[card], &[added, old]], body);

        let own = self.count(added, x);
        let (has, not_empty) = (self.positive(own), self.positive(card));
        let body = self.terms().and([has, not_empty]);
        self.axioms.forall("multiset.add.self", &[a, x], &[&[added]], body);
    }

    fn union(&mut self) {
        let (a, b, o) = self.variables();
        let union = self.binary(TheoryOp::MultisetUnion, a, b);
        let (count, in_a, in_b) = (self.count(union, o), self.count(a, o), self.count(b, o));
        let sum = self.terms().add(in_a, in_b);
        let body = self.axioms.same(count, sum);
        let triggers: [&[Term]; 2] = [&[count], &[union, in_a, in_b]];
        self.axioms.forall("multiset.union", &[a, b, o], &triggers, body);

        let (card, card_a, card_b) = (self.card(union), self.card(a), self.card(b));
        let sum = self.terms().add(card_a, card_b);
        let body = self.axioms.same(card, sum);
        let triggers: [&[Term]; 3] = [&[card], &[card_a, union], &[card_b, union]];
        self.axioms.forall("multiset.union.card", &[a, b], &triggers, body);
    }

    fn intersection(&mut self) {
        let (a, b, o) = self.variables();
        let both = self.binary(TheoryOp::MultisetIntersection, a, b);
        let (count, in_a, in_b) = (self.count(both, o), self.count(a, o), self.count(b, o));
        let fewer_in_a = self.terms().le(in_a, in_b);
        let smaller = self.terms().ite(fewer_in_a, in_a, in_b);
        let body = self.axioms.same(count, smaller);
        self.axioms.forall("multiset.intersection", &[a, b, o], &[&[count]], body);
        let right = self.binary(TheoryOp::MultisetIntersection, both, b);
        let left = self.binary(TheoryOp::MultisetIntersection, a, both);
        for twice in [right, left] {
            let body = self.axioms.same(twice, both);
            self.axioms.forall("multiset.intersection.absorption", &[a, b], &[&[twice]], body);
        }
    }

    fn difference(&mut self) {
        let (a, b, o) = self.variables();
        let difference = self.binary(TheoryOp::MultisetDifference, a, b);
        let (count, in_a, in_b) = (self.count(difference, o), self.count(a, o), self.count(b, o));
        let zero = self.zero();
        let fewer_in_a = self.terms().le(in_a, in_b);
        let rest = self.terms().sub(in_a, in_b);
        let value = self.terms().ite(fewer_in_a, zero, rest);
        let body = self.axioms.same(count, value);
        self.axioms.forall("multiset.difference", &[a, b, o], &[&[count]], body);
        let none = self.axioms.same(count, zero);
        let triggers: [&[Term]; 1] = [&[difference, in_b, in_a]];
        self.axioms.rule("multiset.difference.none", &[a, b, o], &triggers, fewer_in_a, none);

        let reverse = self.binary(TheoryOp::MultisetDifference, b, a);
        let both = self.binary(TheoryOp::MultisetIntersection, a, b);
        let union = self.binary(TheoryOp::MultisetUnion, a, b);
        let (card, card_reverse) = (self.card(difference), self.card(reverse));
        let (card_both, card_union) = (self.card(both), self.card(union));
        let card_a = self.card(a);
        let two = self.terms().int(2);
        let twice = self.terms().mul(two, card_both);
        let parts = self.terms().sum(Sort::INT, [card, card_reverse, twice]);
        let rest = self.terms().sub(card_a, card_both);
        let (whole, part) = (self.axioms.same(parts, card_union), self.axioms.same(card, rest));
        let body = self.terms().and([whole, part]);
        self.axioms.forall("multiset.difference.card", &[a, b], &[&[card]], body);
    }

    fn relations(&mut self) {
        let (a, b, o) = self.variables();
        let (in_a, in_b, zero) = (self.count(a, o), self.count(b, o), self.zero());
        let triggers = || vec![vec![in_a], vec![in_b]];

        let subset = self.axioms.op(TheoryOp::MultisetSubset, &[a, b], Sort::BOOL);
        let inner = self.terms().le(in_a, in_b);
        let all = self.terms().forall(&[o], triggers(), inner, "multiset.subset.elements", 1);
        let body = self.terms().iff(subset, all);
        self.axioms.forall("multiset.subset", &[a, b], &[&[subset]], body);

        let disjoint = self.axioms.op(TheoryOp::MultisetDisjoint, &[a, b], Sort::BOOL);
        let (not_in_a, not_in_b) = (self.axioms.same(in_a, zero), self.axioms.same(in_b, zero));
        let inner = self.terms().or([not_in_a, not_in_b]);
        let all = self.terms().forall(&[o], triggers(), inner, "multiset.disjoint.elements", 1);
        let body = self.terms().iff(disjoint, all);
        self.axioms.forall("multiset.disjoint", &[a, b], &[&[disjoint]], body);
    }

    /// Equality of multisets: where two differ, some element occurs more often in one.
    fn equality(&mut self) {
        let (a, b, _) = self.variables();
        let equal = self.axioms.op(TheoryOp::MultisetEqual, &[a, b], Sort::BOOL);
        let same = self.axioms.same(a, b);
        let (unequal, different) = (self.terms().not(equal), self.terms().not(same));
        let witness = self.axioms.op(TheoryOp::MultisetDiffer, &[a, b], self.element);
        let mirrored = self.axioms.op(TheoryOp::MultisetDiffer, &[b, a], self.element);
        let symmetric = self.axioms.same(witness, mirrored);
        let (in_a, in_b) = (self.count(a, witness), self.count(b, witness));
        let same_count = self.axioms.same(in_a, in_b);
        let other_count = self.terms().not(same_count);
        let yes = self.terms().and([equal, same]);
        let no = self.terms().and([unequal, different, symmetric, other_count]);
        let body = self.terms().or([yes, no]);
        self.axioms.forall("multiset.equal.cases", &[a, b], &[&[equal]], body);
        self.axioms.rule("multiset.equal.same", &[a, b], &[&[equal]], equal, same);
    }
}
