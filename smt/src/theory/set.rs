//! Axioms of sets.

use super::axioms::Axioms;
use crate::terms::{Sort, Term, Terms, TheoryOp};

/// The axioms for sets of one sort of elements.
pub(super) fn axioms(axioms: &mut Axioms<'_>, sort: Sort, element: Sort) {
    let mut set = Set { axioms, sort, element };
    set.cardinality();
    set.members();
    set.union();
    set.intersection();
    set.common();
    set.difference();
    set.relations();
    set.equality();
}

struct Set<'a, 'b> {
    axioms: &'a mut Axioms<'b>,
    sort: Sort,
    element: Sort,
}

impl Set<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        self.axioms.terms
    }

    /// The variables a and b, sets, and o, an element.
    fn variables(&mut self) -> (Term, Term, Term) {
        (
            self.axioms.var("a", self.sort),
            self.axioms.var("b", self.sort),
            self.axioms.var("o", self.element),
        )
    }

    fn empty(&mut self) -> Term {
        self.axioms.op(TheoryOp::SetEmpty, &[], self.sort)
    }

    fn has(&mut self, set: Term, element: Term) -> Term {
        self.axioms.op(TheoryOp::SetContains, &[element, set], Sort::BOOL)
    }

    fn has_not(&mut self, set: Term, element: Term) -> Term {
        let has = self.has(set, element);
        self.terms().not(has)
    }

    fn card(&mut self, set: Term) -> Term {
        self.axioms.op(TheoryOp::SetCard, &[set], Sort::INT)
    }

    fn binary(&mut self, op: TheoryOp, a: Term, b: Term) -> Term {
        self.axioms.op(op, &[a, b], self.sort)
    }

    fn relation(&mut self, op: TheoryOp, a: Term, b: Term) -> Term {
        self.axioms.op(op, &[a, b], Sort::BOOL)
    }

    fn cardinality(&mut self) {
        let (a, _, o) = self.variables();
        let (card, zero) = (self.card(a), self.terms().int(0));
        let natural = self.terms().le(zero, card);
        self.axioms.forall("set.card.natural", &[a], &[&[card]], natural);

        let (is_zero, empty) = (self.axioms.same(card, zero), self.empty());
        let is_empty = self.axioms.same(a, empty);
        let not_zero = self.terms().not(is_zero);
        let has = self.has(a, o);
        let inhabited = self.terms().exists(&[o], vec![vec![has]], has, "set.card.inhabited", 1);
        let when_zero = self.terms().implies(is_zero, is_empty);
        let otherwise = self.terms().implies(not_zero, inhabited);
        let body = self.terms().and([when_zero, otherwise]);
        self.axioms.forall("set.card.zero", &[a], &[&[card]], body);

        let card = self.card(empty);
        let fact = self.axioms.same(card, zero);
        self.axioms.fact(&[card], fact);
    }

    fn members(&mut self) {
        let (a, _, o) = self.variables();
        let (x, y) = (self.axioms.var("x", self.element), self.axioms.var("y", self.element));
        let empty = self.empty();
        let (has, body) = (self.has(empty, o), self.has_not(empty, o));
        self.axioms.forall("set.empty", &[o], &[&[has]], body);

        let single = self.axioms.op(TheoryOp::SetSingleton, &[x], self.sort);
        let has = self.has(single, x);
        self.axioms.forall("set.singleton.self", &[x], &[&[single]], has);
        let (has, same) = (self.has(single, o), self.axioms.same(x, o));
        let body = self.terms().iff(has, same);
        self.axioms.forall("set.singleton", &[x, o], &[&[has]], body);
        let (card, one) = (self.card(single), self.terms().int(1));
        let body = self.axioms.same(card, one);
        self.axioms.forall("set.singleton.card", &[x], &[&[card]], body);

        let added = self.axioms.op(TheoryOp::SetAdd, &[a, x], self.sort);
        let (has, had, same) = (self.has(added, o), self.has(a, o), self.axioms.same(o, x));
        let either = self.terms().or([same, had]);
        let body = self.terms().iff(has, either);
        self.axioms.forall("set.add", &[a, x, o], &[&[has]], body);
        let has = self.has(added, x);
        self.axioms.forall("set.add.self", &[a, x], &[&[added]], has);
        let (has, had) = (self.has(added, y), self.has(a, y));
        self.axioms.rule("set.add.kept", &[a, x, y], &[&[added, had]], had, has);

        let (card, old) = (self.card(added), self.card(a));
        let one = self.terms().int(1);
        let more = self.terms().add(old, one);
        let had = self.has(a, x);
        let had_not = self.terms().not(had);
        let (unchanged, grown) = (self.axioms.same(card, old), self.axioms.same(card, more));
        let when_there = self.terms().implies(had, unchanged);
        let when_new = self.terms().implies(had_not, grown);
        let body = self.terms().and([when_there, when_new]);
        self.axioms.forall("set.add.card", &[a, x], &[&[card]], body);
    }

    fn union(&mut self) {
        let (a, b, o) = self.variables();
        let union = self.binary(TheoryOp::SetUnion, a, b);
        let (has, in_a, in_b) = (self.has(union, o), self.has(a, o), self.has(b, o));
        let either = self.terms().or([in_a, in_b]);
        let body = self.terms().iff(has, either);
        self.axioms.forall("set.union", &[a, b, o], &[&[has]], body);
        self.axioms.rule("set.union.left", &[a, b, o], &[&[union, in_a]], in_a, has);
        self.axioms.rule("set.union.right", &[a, b, o], &[&[union, in_b]], in_b, has);
        self.absorption(TheoryOp::SetUnion, "set.union.absorption");
    }

    fn intersection(&mut self) {
        let (a, b, o) = self.variables();
        let both = self.binary(TheoryOp::SetIntersection, a, b);
        let (has, in_a, in_b) = (self.has(both, o), self.has(a, o), self.has(b, o));
        let and = self.terms().and([in_a, in_b]);
        let body = self.terms().iff(has, and);
        let triggers: [&[Term]; 3] = [&[has], &[both, in_a], &[both, in_b]];
        self.axioms.forall("set.intersection", &[a, b, o], &triggers, body);
        self.absorption(TheoryOp::SetIntersection, "set.intersection.absorption");

        let union = self.binary(TheoryOp::SetUnion, a, b);
        let (card_union, card_both) = (self.card(union), self.card(both));
        let (card_a, card_b) = (self.card(a), self.card(b));
        let left = self.terms().add(card_union, card_both);
        let right = self.terms().add(card_a, card_b);
        let body = self.axioms.same(left, right);
        self.axioms.forall("set.union.card", &[a, b], &[&[card_union], &[card_both]], body);
    }

    /// |a ∩ b| where one of the two is written down, element by element.
    fn common(&mut self) {
        let (a, b, _) = self.variables();
        let x = self.axioms.var("x", self.element);
        let (zero, one) = (self.terms().int(0), self.terms().int(1));
        let (in_a, in_b) = (self.has(a, x), self.has(b, x));
        let not_in_a = self.terms().not(in_a);
        let is_new = self.terms().and([in_b, not_in_a]);
        let added = self.axioms.op(TheoryOp::SetAdd, &[a, x], self.sort);
        let single = self.axioms.op(TheoryOp::SetSingleton, &[x], self.sort);
        for swapped in [false, true] {
            let both = |set: &mut Self, left, right| {
                let (left, right) = if swapped { (right, left) } else { (left, right) };
                let both = set.binary(TheoryOp::SetIntersection, left, right);
                set.card(both)
            };
            let (card, old) = (both(self, added, b), both(self, a, b));
            let more = self.terms().add(old, one);
            let value = self.terms().ite(is_new, more, old);
            let body = self.axioms.same(card, value);
            self.axioms.forall("set.intersection.card.add", &[a, b, x], &[&[card]], body);
            let card = both(self, single, b);
            let value = self.terms().ite(in_b, one, zero);
            let body = self.axioms.same(card, value);
            self.axioms.forall("set.intersection.card.singleton", &[b, x], &[&[card]], body);
        }
    }

    /// (a ∘ b) ∘ b = a ∘ b and a ∘ (a ∘ b) = a ∘ b
    fn absorption(&mut self, op: TheoryOp, name: &str) {
        let (a, b, _) = self.variables();
        let once = self.binary(op, a, b);
        for twice in [self.binary(op, once, b), self.binary(op, a, once)] {
            let body = self.axioms.same(twice, once);
            self.axioms.forall(name, &[a, b], &[&[twice]], body);
        }
    }

    fn difference(&mut self) {
        let (a, b, o) = self.variables();
        let difference = self.binary(TheoryOp::SetDifference, a, b);
        let (has, in_a, in_b) = (self.has(difference, o), self.has(a, o), self.has(b, o));
        let (has_not, not_in_b) = (self.terms().not(has), self.terms().not(in_b));
        let only_a = self.terms().and([in_a, not_in_b]);
        let body = self.terms().iff(has, only_a);
        self.axioms.forall("set.difference", &[a, b, o], &[&[has], &[difference, in_a]], body);
        self.axioms.rule("set.difference.right", &[a, b, o], &[&[difference, in_b]], in_b, has_not);

        let reverse = self.binary(TheoryOp::SetDifference, b, a);
        let both = self.binary(TheoryOp::SetIntersection, a, b);
        let union = self.binary(TheoryOp::SetUnion, a, b);
        let (card, card_reverse) = (self.card(difference), self.card(reverse));
        let (card_both, card_union) = (self.card(both), self.card(union));
        let card_a = self.card(a);
        let parts = self.terms().sum(Sort::INT, [card, card_reverse, card_both]);
        let rest = self.terms().sub(card_a, card_both);
        let (whole, part) = (self.axioms.same(parts, card_union), self.axioms.same(card, rest));
        let body = self.terms().and([whole, part]);
        self.axioms.forall("set.difference.card", &[a, b], &[&[card]], body);
    }

    fn relations(&mut self) {
        let (a, b, o) = self.variables();
        let (in_a, in_b) = (self.has(a, o), self.has(b, o));
        let triggers = || vec![vec![in_a], vec![in_b]];

        let subset = self.relation(TheoryOp::SetSubset, a, b);
        let inner = self.terms().implies(in_a, in_b);
        let all = self.terms().forall(&[o], triggers(), inner, "set.subset.elements", 1);
        let body = self.terms().iff(subset, all);
        self.axioms.forall("set.subset", &[a, b], &[&[subset]], body);

        let disjoint = self.relation(TheoryOp::SetDisjoint, a, b);
        let both = self.terms().and([in_a, in_b]);
        let inner = self.terms().not(both);
        let all = self.terms().forall(&[o], triggers(), inner, "set.disjoint.elements", 1);
        let body = self.terms().iff(disjoint, all);
        self.axioms.forall("set.disjoint", &[a, b], &[&[disjoint]], body);
    }

    /// Equality of sets: where two differ, some element is in one only.
    fn equality(&mut self) {
        let (a, b, _) = self.variables();
        let equal = self.relation(TheoryOp::SetEqual, a, b);
        let same = self.axioms.same(a, b);
        let (unequal, different) = (self.terms().not(equal), self.terms().not(same));
        let witness = self.axioms.op(TheoryOp::SetDiffer, &[a, b], self.element);
        let mirrored = self.axioms.op(TheoryOp::SetDiffer, &[b, a], self.element);
        let symmetric = self.axioms.same(witness, mirrored);
        let (in_a, in_b) = (self.has(a, witness), self.has(b, witness));
        let in_both_or_none = self.terms().iff(in_a, in_b);
        let in_one = self.terms().not(in_both_or_none);
        let yes = self.terms().and([equal, same]);
        let no = self.terms().and([unequal, different, symmetric, in_one]);
        let body = self.terms().or([yes, no]);
        self.axioms.forall("set.equal.cases", &[a, b], &[&[equal]], body);
        self.axioms.rule("set.equal.same", &[a, b], &[&[equal]], equal, same);
    }
}
