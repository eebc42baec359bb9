//! Axioms of maps. Keys and values of a map are sets, with the theory of sets.

use super::axioms::Axioms;
use crate::terms::{Sort, Term, Terms, TheoryOp};

/// The axioms for maps from one sort of keys to one sort of values.
pub(super) fn axioms(axioms: &mut Axioms<'_>, sort: Sort, key: Sort, value: Sort) {
    let keys = axioms.terms.set_sort(key);
    let values = axioms.terms.set_sort(value);
    let mut map = Map { axioms, sort, key, value, keys, values };
    map.cardinality();
    map.update();
    map.values();
    map.disjoint();
    map.equality();
}

struct Map<'a, 'b> {
    axioms: &'a mut Axioms<'b>,
    sort: Sort,
    key: Sort,
    value: Sort,
    /// Set of keys.
    keys: Sort,
    /// Set of values.
    values: Sort,
}

impl Map<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        self.axioms.terms
    }

    fn map(&mut self, name: &str) -> Term {
        self.axioms.var(name, self.sort)
    }

    fn key(&mut self, name: &str) -> Term {
        self.axioms.var(name, self.key)
    }

    fn domain(&mut self, map: Term) -> Term {
        self.axioms.op(TheoryOp::MapDomain, &[map], self.keys)
    }

    fn range(&mut self, map: Term) -> Term {
        self.axioms.op(TheoryOp::MapValues, &[map], self.values)
    }

    fn has_key(&mut self, map: Term, key: Term) -> Term {
        let domain = self.domain(map);
        self.axioms.op(TheoryOp::SetContains, &[key, domain], Sort::BOOL)
    }

    fn has_value(&mut self, map: Term, value: Term) -> Term {
        let range = self.range(map);
        self.axioms.op(TheoryOp::SetContains, &[value, range], Sort::BOOL)
    }

    fn lookup(&mut self, map: Term, key: Term) -> Term {
        self.axioms.op(TheoryOp::MapLookup, &[map, key], self.value)
    }

    fn card(&mut self, map: Term) -> Term {
        self.axioms.op(TheoryOp::MapCard, &[map], Sort::INT)
    }

    fn set_card(&mut self, set: Term) -> Term {
        self.axioms.op(TheoryOp::SetCard, &[set], Sort::INT)
    }

    fn cardinality(&mut self) {
        let (m, k) = (self.map("m"), self.key("k"));
        let (card, zero) = (self.card(m), self.terms().int(0));
        let natural = self.terms().le(zero, card);
        self.axioms.forall("map.card.natural", &[m], &[&[card]], natural);

        let domain = self.domain(m);
        let keys = self.set_card(domain);
        let body = self.axioms.same(keys, card);
        self.axioms.forall("map.card.domain", &[m], &[&[keys], &[card]], body);

        let empty = self.axioms.op(TheoryOp::MapEmpty, &[], self.sort);
        let (is_zero, is_empty) = (self.axioms.same(card, zero), self.axioms.same(m, empty));
        let not_zero = self.terms().not(is_zero);
        let has = self.has_key(m, k);
        let inhabited = self.terms().exists(&[k], vec![vec![has]], has, "map.card.inhabited", 1);
        let counted = self.terms().implies(has, not_zero);
        let counted = self.terms().forall(&[k], vec![vec![has]], counted, "map.card.counted", 1);
        let when_zero = self.terms().iff(is_zero, is_empty);
        let otherwise = self.terms().implies(not_zero, inhabited);
        let body = self.terms().and([when_zero, otherwise, counted]);
        self.axioms.forall("map.card.zero", &[m], &[&[card]], body);

        let has = self.has_key(empty, k);
        let body = self.terms().not(has);
        self.axioms.forall("map.empty", &[k], &[&[has]], body);
    }

    fn update(&mut self) {
        let (m, k, l) = (self.map("m"), self.key("k"), self.key("l"));
        let v = self.axioms.var("v", self.value);
        let updated = self.axioms.op(TheoryOp::MapUpdate, &[m, k, v], self.sort);
        let (has, had) = (self.has_key(updated, l), self.has_key(m, l));
        let (new, old) = (self.lookup(updated, l), self.lookup(m, l));
        let here = self.axioms.same(k, l);
        let elsewhere = self.terms().not(here);
        let (is_v, is_old, same_key) =
            (self.axioms.same(new, v), self.axioms.same(new, old), self.terms().iff(has, had));
        let changed = self.terms().and([has, is_v]);
        let kept = self.terms().and([same_key, is_old]);
        let changed = self.terms().implies(here, changed);
        let kept = self.terms().implies(elsewhere, kept);
        let body = self.terms().and([changed, kept]);
        let triggers: [&[Term]; 3] = [&[has], &[had, updated], &[new]];
        self.axioms.forall("map.update", &[m, k, v, l], &triggers, body);

        // Where two maps are compared, nobody asks for the value at the key.
        let (has, new) = (self.has_key(updated, k), self.lookup(updated, k));
        let is_v = self.axioms.same(new, v);
        let body = self.terms().and([has, is_v]);
        self.axioms.forall("map.update.self", &[m, k, v], &[&[updated]], body);

        let (card, old) = (self.card(updated), self.card(m));
        let one = self.terms().int(1);
        let more = self.terms().add(old, one);
        let had = self.has_key(m, k);
        let had_not = self.terms().not(had);
        let (unchanged, grown) = (self.axioms.same(card, old), self.axioms.same(card, more));
        let when_there = self.terms().implies(had, unchanged);
        let when_new = self.terms().implies(had_not, grown);
        let body = self.terms().and([when_there, when_new]);
        self.axioms.forall("map.update.card", &[m, k, v], &[&[card], &[old, updated]], body);
    }

    fn values(&mut self) {
        let (m, k) = (self.map("m"), self.key("k"));
        let v = self.axioms.var("v", self.value);
        let has_value = self.has_value(m, v);
        let witness = self.axioms.op(TheoryOp::MapKeyOf, &[m, v], self.key);
        let (has, found) = (self.has_key(m, witness), self.lookup(m, witness));
        let is_v = self.axioms.same(v, found);
        let body = self.terms().and([has, is_v]);
        self.axioms.rule("map.values.key", &[m, v], &[&[has_value]], has_value, body);

        let (has, value) = (self.has_key(m, k), self.lookup(m, k));
        let (range, zero) = (self.range(m), self.terms().int(0));
        let card = self.set_card(range);
        let inhabited = self.terms().lt(zero, card);
        self.axioms.rule("map.values.inhabited", &[m, k], &[&[value], &[has]], has, inhabited);
        let has_value = self.has_value(m, value);
        self.axioms.rule("map.values.lookup", &[m, k], &[&[value]], has, has_value);
    }

    fn disjoint(&mut self) {
        let (a, b, k) = (self.map("a"), self.map("b"), self.key("k"));
        let disjoint = self.axioms.op(TheoryOp::MapDisjoint, &[a, b], Sort::BOOL);
        let (in_a, in_b) = (self.has_key(a, k), self.has_key(b, k));
        let both = self.terms().and([in_a, in_b]);
        let not_both = self.terms().not(both);
        let triggers = vec![vec![in_a], vec![in_b]];
        let all = self.terms().forall(&[k], triggers, not_both, "map.disjoint.keys", 1);
        let body = self.terms().iff(disjoint, all);
        self.axioms.forall("map.disjoint", &[a, b], &[&[disjoint]], body);
    }

    fn equality(&mut self) {
        let (a, b, k) = (self.map("a"), self.map("b"), self.key("k"));
        let equal = self.axioms.op(TheoryOp::MapEqual, &[a, b], Sort::BOOL);
        let (in_a, in_b) = (self.has_key(a, k), self.has_key(b, k));
        let same_key = self.terms().iff(in_a, in_b);
        let triggers = vec![vec![in_a], vec![in_b]];
        let same_keys = self.terms().forall(&[k], triggers, same_key, "map.equal.keys", 1);
        let (of_a, of_b) = (self.lookup(a, k), self.lookup(b, k));
        let same_value = self.axioms.same(of_a, of_b);
        let same_value = self.terms().implies(in_a, same_value);
        let triggers = vec![vec![of_a], vec![of_b]];
        let same_values = self.terms().forall(&[k], triggers, same_value, "map.equal.values", 1);
        let guard = self.terms().and([same_keys, same_values]);
        self.axioms.rule("map.equal.cases", &[a, b], &[&[equal]], guard, equal);
        let same = self.axioms.same(a, b);
        self.axioms.rule("map.equal.same", &[a, b], &[&[equal]], equal, same);
    }
}
