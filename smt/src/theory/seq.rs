//! Axioms of sequences.
//!
//! Arithmetic on indices that has to be matched goes through the functions `IndexAdd` and
//! `IndexSub`.

use super::axioms::{Axiom, Axioms};
use crate::terms::{Sort, Term, Terms, TheoryOp};

/// The axioms for sequences of one sort of elements.
pub(super) fn axioms(axioms: &mut Axioms<'_>, sort: Sort, element: Sort) {
    let mut seq = Seq { axioms, sort, element };
    seq.length();
    seq.append();
    seq.update();
    seq.take();
    seq.drop();
    seq.take_and_drop_of_append();
    seq.take_and_drop_of_update();
    seq.contains();
    seq.equality();
    if element == Sort::INT {
        seq.range();
    }
}

/// IndexAdd(i, j) = i + j and IndexSub(i, j) = i − j.
pub(super) fn index_arithmetic(terms: &mut Terms, op: TheoryOp) -> Vec<Axiom> {
    let mut axioms = Axioms::new(terms);
    let (i, j) = (axioms.var("i", Sort::INT), axioms.var("j", Sort::INT));
    let function = axioms.op(op, &[i, j], Sort::INT);
    let value =
        if op == TheoryOp::IndexAdd { axioms.terms.add(i, j) } else { axioms.terms.sub(i, j) };
    let body = axioms.terms.identical(function, value);
    axioms.forall("seq.index", &[i, j], &[&[function]], body);
    axioms.finish()
}

struct Seq<'a, 'b> {
    axioms: &'a mut Axioms<'b>,
    sort: Sort,
    element: Sort,
}

impl Seq<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        self.axioms.terms
    }

    fn sequence(&mut self, name: &str) -> Term {
        self.axioms.var(name, self.sort)
    }

    fn index(&mut self, name: &str) -> Term {
        self.axioms.var(name, Sort::INT)
    }

    fn value(&mut self, name: &str) -> Term {
        self.axioms.var(name, self.element)
    }

    fn empty(&mut self) -> Term {
        self.axioms.op(TheoryOp::SeqEmpty, &[], self.sort)
    }

    fn len(&mut self, s: Term) -> Term {
        self.axioms.op(TheoryOp::SeqLength, &[s], Sort::INT)
    }

    fn at(&mut self, s: Term, i: Term) -> Term {
        self.axioms.op(TheoryOp::SeqIndex, &[s, i], self.element)
    }

    fn appended(&mut self, s: Term, t: Term) -> Term {
        self.axioms.op(TheoryOp::SeqAppend, &[s, t], self.sort)
    }

    fn taken(&mut self, s: Term, n: Term) -> Term {
        self.axioms.op(TheoryOp::SeqTake, &[s, n], self.sort)
    }

    fn dropped(&mut self, s: Term, n: Term) -> Term {
        self.axioms.op(TheoryOp::SeqDrop, &[s, n], self.sort)
    }

    fn is_in(&mut self, x: Term, s: Term) -> Term {
        self.axioms.op(TheoryOp::SeqContains, &[x, s], Sort::BOOL)
    }

    fn plus(&mut self, i: Term, j: Term) -> Term {
        self.axioms.op(TheoryOp::IndexAdd, &[i, j], Sort::INT)
    }

    fn minus(&mut self, i: Term, j: Term) -> Term {
        self.axioms.op(TheoryOp::IndexSub, &[i, j], Sort::INT)
    }

    fn zero(&mut self) -> Term {
        self.terms().int(0)
    }

    /// 0 ≤ i
    fn natural(&mut self, i: Term) -> Term {
        let zero = self.zero();
        self.terms().le(zero, i)
    }

    /// 0 < i
    fn positive(&mut self, i: Term) -> Term {
        let zero = self.zero();
        self.terms().lt(zero, i)
    }

    /// 0 ≤ i < bound
    fn within(&mut self, i: Term, bound: Term) -> Term {
        let low = self.natural(i);
        let high = self.terms().lt(i, bound);
        self.terms().and([low, high])
    }

    fn is_empty(&mut self, s: Term) -> Term {
        let empty = self.empty();
        self.axioms.same(s, empty)
    }

    fn not_empty(&mut self, s: Term) -> Term {
        let is_empty = self.is_empty(s);
        self.terms().not(is_empty)
    }

    fn both_not_empty(&mut self, s: Term, t: Term) -> Term {
        let (s, t) = (self.not_empty(s), self.not_empty(t));
        self.terms().and([s, t])
    }

    fn length(&mut self) {
        let (s, e) = (self.sequence("s"), self.value("e"));
        let len = self.len(s);
        let natural = self.natural(len);
        self.axioms.forall("seq.length.natural", &[s], &[&[len]], natural);

        let empty = self.empty();
        let (len_empty, zero) = (self.len(empty), self.zero());
        let fact = self.axioms.same(len_empty, zero);
        self.axioms.fact(&[empty], fact);
        let len_is_zero = self.axioms.same(len, zero);
        let is_empty = self.axioms.same(s, empty);
        self.axioms.rule("seq.length.zero", &[s], &[&[len]], len_is_zero, is_empty);

        let single = self.axioms.op(TheoryOp::SeqSingleton, &[e], self.sort);
        let (len, one) = (self.len(single), self.terms().int(1));
        let body = self.axioms.same(len, one);
        self.axioms.forall("seq.singleton.length", &[e], &[&[single]], body);
        let first = self.at(single, zero);
        let body = self.axioms.same(first, e);
        self.axioms.forall("seq.singleton.index", &[e], &[&[single]], body);
    }

    fn append(&mut self) {
        let (s, t) = (self.sequence("s"), self.sequence("t"));
        let (n, m) = (self.index("n"), self.index("m"));
        let (len_s, len_t) = (self.len(s), self.len(t));
        let append = self.appended(s, t);
        let len = self.len(append);
        let proper = self.both_not_empty(s, t);

        let sum = self.terms().add(len_s, len_t);
        let body = self.axioms.same(len, sum);
        self.axioms.rule("seq.append.length", &[s, t], &[&[len]], proper, body);

        let (s_empty, t_empty) = (self.is_empty(s), self.is_empty(t));
        let (is_t, is_s) = (self.axioms.same(append, t), self.axioms.same(append, s));
        let left = self.terms().implies(s_empty, is_t);
        let right = self.terms().implies(t_empty, is_s);
        let body = self.terms().and([left, right]);
        self.axioms.forall("seq.append.empty", &[s, t], &[&[append]], body);

        let (in_append, in_s) = (self.at(append, n), self.at(s, n));
        let within = self.within(n, len_s);
        let guard = self.terms().and([proper, within]);
        let body = self.axioms.same(in_append, in_s);
        let triggers: [&[Term]; 2] = [&[in_append], &[in_s, append]];
        self.axioms.rule("seq.append.left", &[s, t, n], &triggers, guard, body);

        let (beyond, below) = (self.terms().le(len_s, n), self.terms().lt(n, len));
        let guard = self.terms().and([proper, beyond, below]);
        let offset = self.minus(n, len_s);
        let (back, in_t) = (self.plus(offset, len_s), self.at(t, offset));
        let (returns, value) = (self.axioms.same(back, n), self.axioms.same(in_append, in_t));
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.append.right", &[s, t, n], &[&[in_append]], guard, body);

        let within = self.within(m, len_t);
        let guard = self.terms().and([proper, within]);
        let position = self.plus(m, len_s);
        let (back, in_append) = (self.minus(position, len_s), self.at(append, position));
        let in_t = self.at(t, m);
        let (returns, value) = (self.axioms.same(back, m), self.axioms.same(in_append, in_t));
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.append.right.from", &[s, t, m], &[&[in_t, append]], guard, body);
    }

    fn update(&mut self) {
        let (s, v) = (self.sequence("s"), self.value("v"));
        let (i, n) = (self.index("i"), self.index("n"));
        let updated = self.axioms.op(TheoryOp::SeqUpdate, &[s, i, v], self.sort);
        let (len_s, len) = (self.len(s), self.len(updated));

        let guard = self.within(i, len_s);
        let body = self.axioms.same(len, len_s);
        let triggers: [&[Term]; 2] = [&[len], &[len_s, updated]];
        self.axioms.rule("seq.update.length", &[s, i, v], &triggers, guard, body);

        let (new, old) = (self.at(updated, n), self.at(s, n));
        let guard = self.within(n, len_s);
        let here = self.axioms.same(i, n);
        let (is_v, is_old) = (self.axioms.same(new, v), self.axioms.same(new, old));
        let elsewhere = self.terms().not(here);
        let changed = self.terms().implies(here, is_v);
        let kept = self.terms().implies(elsewhere, is_old);
        let body = self.terms().and([changed, kept]);
        let triggers: [&[Term]; 2] = [&[new], &[old, updated]];
        self.axioms.rule("seq.update.index", &[s, i, v, n], &triggers, guard, body);

        // Who looks for `v` in it has no index to match.
        let guard = self.within(i, len_s);
        let at_i = self.at(updated, i);
        let is_v = self.axioms.same(at_i, v);
        let body = self.terms().implies(guard, is_v);
        let needed = (TheoryOp::SeqContains, Some(self.sort));
        self.axioms.forall_once(needed, "seq.update.value", &[s, i, v], &[&[updated]], body);
    }

    fn take(&mut self) {
        let s = self.sequence("s");
        let (n, j) = (self.index("n"), self.index("j"));
        let take = self.taken(s, n);
        let (len_s, len, zero) = (self.len(s), self.len(take), self.zero());

        let (natural, fits) = (self.natural(n), self.terms().le(n, len_s));
        let (is_n, is_all, is_none) =
            (self.axioms.same(len, n), self.axioms.same(len, len_s), self.axioms.same(len, zero));
        let body = self.by_size(natural, fits, is_n, is_all, is_none);
        let triggers: [&[Term]; 2] = [&[len], &[take, len_s]];
        self.axioms.forall("seq.take.length", &[s, n], &triggers, body);

        let (new, old) = (self.at(take, j), self.at(s, j));
        let (within, below) = (self.within(j, n), self.terms().lt(j, len_s));
        let guard = self.terms().and([within, below]);
        let body = self.axioms.same(new, old);
        let triggers: [&[Term]; 2] = [&[new], &[old, take]];
        self.axioms.rule("seq.take.index", &[s, n, j], &triggers, guard, body);

        let (whole, none) = (self.axioms.same(take, s), self.is_empty(take));
        let body = self.at_the_ends(n, len_s, none, whole);
        self.axioms.forall("seq.take.ends", &[s, n], &[&[take]], body);
    }

    fn drop(&mut self) {
        let s = self.sequence("s");
        let (n, j, i) = (self.index("n"), self.index("j"), self.index("i"));
        let drop = self.dropped(s, n);
        let (len_s, len, zero) = (self.len(s), self.len(drop), self.zero());

        let (natural, fits) = (self.natural(n), self.terms().le(n, len_s));
        let rest = self.terms().sub(len_s, n);
        let (is_rest, is_none, is_all) = (
            self.axioms.same(len, rest),
            self.axioms.same(len, zero),
            self.axioms.same(len, len_s),
        );
        let body = self.by_size(natural, fits, is_rest, is_none, is_all);
        let triggers: [&[Term]; 2] = [&[len], &[len_s, drop]];
        self.axioms.forall("seq.drop.length", &[s, n], &triggers, body);

        let (positive, within) = (self.positive(n), self.within(j, rest));
        let guard = self.terms().and([positive, within]);
        let position = self.plus(j, n);
        let (back, new, old) = (self.minus(position, n), self.at(drop, j), self.at(s, position));
        let (returns, value) = (self.axioms.same(back, j), self.axioms.same(new, old));
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.drop.index", &[s, n, j], &[&[new]], guard, body);

        let (beyond, below) = (self.terms().le(n, i), self.terms().lt(i, len_s));
        let guard = self.terms().and([positive, beyond, below]);
        let offset = self.minus(i, n);
        let (back, new, old) = (self.plus(offset, n), self.at(drop, offset), self.at(s, i));
        let (returns, value) = (self.axioms.same(back, i), self.axioms.same(new, old));
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.drop.index.from", &[s, n, i], &[&[drop, old]], guard, body);

        let (whole, none) = (self.axioms.same(drop, s), self.is_empty(drop));
        let body = self.at_the_ends(n, len_s, whole, none);
        self.axioms.forall("seq.drop.ends", &[s, n], &[&[drop]], body);
    }

    /// (0 ≤ n ∧ n ≤ |s| ⇒ inside) ∧ (0 ≤ n ∧ n > |s| ⇒ beyond) ∧ (n < 0 ⇒ before)
    fn by_size(
        &mut self,
        natural: Term,
        fits: Term,
        inside: Term,
        beyond: Term,
        before: Term,
    ) -> Term {
        let (negative, too_big) = (self.terms().not(natural), self.terms().not(fits));
        let fitting = self.terms().and([natural, fits]);
        let too_big = self.terms().and([natural, too_big]);
        let cases = [(fitting, inside), (too_big, beyond), (negative, before)]
            .map(|(case, value)| self.terms().implies(case, value));
        self.terms().and(cases)
    }

    /// (n ≤ 0 ⇒ low) ∧ (n ≥ |s| ⇒ high)
    fn at_the_ends(&mut self, n: Term, len_s: Term, low: Term, high: Term) -> Term {
        let zero = self.zero();
        let (is_low, is_high) = (self.terms().le(n, zero), self.terms().le(len_s, n));
        let low = self.terms().implies(is_low, low);
        let high = self.terms().implies(is_high, high);
        self.terms().and([low, high])
    }

    fn take_and_drop_of_append(&mut self) {
        let (s, t, n) = (self.sequence("s"), self.sequence("t"), self.index("n"));
        let append = self.appended(s, t);
        let (len_s, len) = (self.len(s), self.len(append));
        let (positive, fits) = (self.positive(n), self.terms().le(n, len_s));
        let inside = self.terms().and([positive, fits]);
        let beyond = self.terms().not(fits);
        let offset = self.minus(n, len_s);
        let back = self.plus(offset, len_s);
        let returns = self.axioms.same(back, n);

        let take = self.taken(append, n);
        let take_s = self.taken(s, n);
        let body = self.axioms.same(take, take_s);
        self.axioms.rule("seq.take.append.left", &[s, t, n], &[&[take]], inside, body);
        let below = self.terms().lt(n, len);
        let guard = self.terms().and([positive, beyond, below]);
        let rest = self.taken(t, offset);
        let parts = self.appended(s, rest);
        let value = self.axioms.same(take, parts);
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.take.append.right", &[s, t, n], &[&[take]], guard, body);

        let drop = self.dropped(append, n);
        let drop_s = self.dropped(s, n);
        let parts = self.appended(drop_s, t);
        let body = self.axioms.same(drop, parts);
        self.axioms.rule("seq.drop.append.left", &[s, t, n], &[&[drop]], inside, body);
        let guard = self.terms().and([positive, beyond]);
        let rest = self.dropped(t, offset);
        let value = self.axioms.same(drop, rest);
        let body = self.terms().and([returns, value]);
        self.axioms.rule("seq.drop.append.right", &[s, t, n], &[&[drop]], guard, body);
    }

    /// A part of a sequence with another element is the part of the sequence, with that element if
    /// it is in there.
    fn take_and_drop_of_update(&mut self) {
        let (s, v) = (self.sequence("s"), self.value("v"));
        let (i, n) = (self.index("i"), self.index("n"));
        let updated = self.axioms.op(TheoryOp::SeqUpdate, &[s, i, v], self.sort);
        let len_s = self.len(s);
        let inside = self.within(i, len_s);
        let (before, fits) = (self.terms().lt(i, n), self.terms().le(n, len_s));
        let (natural, behind) = (self.natural(n), self.terms().le(n, i));

        let (take, old) = (self.taken(updated, n), self.taken(s, n));
        let guard = self.terms().and([inside, before, fits]);
        let changed = self.axioms.op(TheoryOp::SeqUpdate, &[old, i, v], self.sort);
        let body = self.axioms.same(take, changed);
        self.axioms.rule("seq.take.update", &[s, i, v, n], &[&[take]], guard, body);
        let guard = self.terms().and([inside, natural, behind]);
        let body = self.axioms.same(take, old);
        self.axioms.rule("seq.take.update.behind", &[s, i, v, n], &[&[take]], guard, body);

        let (drop, old) = (self.dropped(updated, n), self.dropped(s, n));
        let position = self.minus(i, n);
        let changed = self.axioms.op(TheoryOp::SeqUpdate, &[old, position, v], self.sort);
        let body = self.axioms.same(drop, changed);
        self.axioms.rule("seq.drop.update", &[s, i, v, n], &[&[drop]], guard, body);
        let guard = self.terms().and([inside, before, fits]);
        let body = self.axioms.same(drop, old);
        self.axioms.rule("seq.drop.update.before", &[s, i, v, n], &[&[drop]], guard, body);
    }

    fn contains(&mut self) {
        let s = self.sequence("s");
        let (x, y, i) = (self.value("x"), self.value("y"), self.index("i"));
        let (len, contains) = (self.len(s), self.is_in(x, s));

        let position = self.axioms.op(TheoryOp::SeqPosition, &[s, x], Sort::INT);
        let (within, found) = (self.within(position, len), self.at(s, position));
        let is_x = self.axioms.same(found, x);
        let body = self.terms().and([within, is_x]);
        self.axioms.rule("seq.contains.position", &[s, x], &[&[contains]], contains, body);

        let element = self.at(s, i);
        let (within, is_x) = (self.within(i, len), self.axioms.same(element, x));
        let guard = self.terms().and([within, is_x]);
        self.axioms.rule(
            "seq.contains.index",
            &[s, x, i],
            &[&[contains, element]],
            guard,
            contains,
        );

        let trigger = self.axioms.op(TheoryOp::SeqContainsTrigger, &[element, s], Sort::BOOL);
        let within = self.within(i, len);
        let body = self.terms().implies(within, trigger);
        // Without this function in the trigger of some formula, its instances are of no use.
        let needed = (TheoryOp::SeqContainsTrigger, Some(self.sort));
        self.axioms.forall_once(needed, "seq.contains.trigger", &[s, i], &[&[element]], body);

        let single = self.axioms.op(TheoryOp::SeqSingleton, &[x], self.sort);
        let contains = self.is_in(y, single);
        let same = self.axioms.same(x, y);
        let body = self.terms().iff(contains, same);
        self.axioms.forall("seq.contains.singleton", &[x, y], &[&[contains]], body);
    }

    /// Equality of sequences: where two differ, they differ in length or at some position.
    fn equality(&mut self) {
        let (s, t) = (self.sequence("s"), self.sequence("t"));
        let equal = self.axioms.op(TheoryOp::SeqEqual, &[s, t], Sort::BOOL);
        let same = self.axioms.same(s, t);
        let (unequal, different) = (self.terms().not(equal), self.terms().not(same));
        let (len_s, len_t) = (self.len(s), self.len(t));
        let same_length = self.axioms.same(len_s, len_t);
        let other_length = self.terms().not(same_length);
        let position = self.axioms.op(TheoryOp::SeqDifferAt, &[s, t], Sort::INT);
        let mirrored = self.axioms.op(TheoryOp::SeqDifferAt, &[t, s], Sort::INT);
        let symmetric = self.axioms.same(position, mirrored);
        let within = self.within(position, len_s);
        let (in_s, in_t) = (self.at(s, position), self.at(t, position));
        let same_element = self.axioms.same(in_s, in_t);
        let other_element = self.terms().not(same_element);

        let yes = self.terms().and([same, equal]);
        let by_length = self.terms().and([different, unequal, other_length]);
        let by_element =
            self.terms().and([different, unequal, same_length, symmetric, within, other_element]);
        let body = self.terms().or([yes, by_length, by_element]);
        self.axioms.forall("seq.equal.cases", &[s, t], &[&[equal]], body);
        self.axioms.rule("seq.equal.same", &[s, t], &[&[equal]], equal, same);

        // Lengths in a case that is not taken match nothing, and what is known of ranges is known
        // of their lengths.
        let body = self.terms().implies(equal, same_length);
        let needed = (TheoryOp::SeqRange, Some(self.sort));
        self.axioms.forall_once(needed, "seq.equal.length", &[s, t], &[&[equal]], body);
    }

    fn range(&mut self) {
        let (a, b) = (self.index("a"), self.index("b"));
        let (j, v) = (self.index("j"), self.index("v"));
        let range = self.axioms.op(TheoryOp::SeqRange, &[a, b], self.sort);
        let (len, zero) = (self.len(range), self.zero());
        let proper = self.terms().lt(a, b);
        let size = self.terms().sub(b, a);
        let (is_size, is_zero) = (self.axioms.same(len, size), self.axioms.same(len, zero));
        let improper = self.terms().not(proper);
        let proper_length = self.terms().implies(proper, is_size);
        let no_length = self.terms().implies(improper, is_zero);
        let body = self.terms().and([proper_length, no_length]);
        self.axioms.forall("seq.range.length", &[a, b], &[&[len]], body);

        let element = self.at(range, j);
        let guard = self.within(j, size);
        let value = self.terms().add(a, j);
        let body = self.axioms.same(element, value);
        self.axioms.rule("seq.range.index", &[a, b, j], &[&[element]], guard, body);

        let contains = self.is_in(v, range);
        let (low, high) = (self.terms().le(a, v), self.terms().lt(v, b));
        let within = self.terms().and([low, high]);
        let body = self.terms().iff(contains, within);
        self.axioms.forall("seq.range.contains", &[a, b, v], &[&[contains]], body);
    }
}
