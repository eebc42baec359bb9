//! The knowledge about the current path that needs no prover.
//!
//! There are five kinds of knowledge:
//! - assumed formulas, with their negations as false;
//! - equalities, as classes of terms;
//! - terms that differ, pairwise or as members of a group;
//! - bounds on numbers by literals;
//! - the order of integers up to literals.
//!
//! All are undone at the end of their scope. [`Facts::known`] answers from these alone: `None`
//! means "ask the prover". [`Facts::reduce`] puts known values into a formula.
//! [`Facts::leaves_open`] sees where a question is pointless.
//!
//! Invariants
//! - Every answer follows from the assumptions of the open scopes (SOUNDNESS). The converse is not
//!   attempted: congruence is looked at when two terms are compared, not closed over all terms.
//! - Assuming a known fact again records nothing. So the end of an inner scope never forgets a fact
//!   of an outer one.

mod apart;
mod bounds;
mod classes;
mod order;
mod reduce;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use self::apart::Apart;
use self::classes::{Class, Classes};
use self::order::{Change, Order};
use crate::terms::{Sort, Term, TermKind, Terms, all_hold, grow_stack, some_holds};

/// The facts of nested scopes.
#[derive(Default)]
pub struct Facts {
    /// Formulas with their truth; negations are entered as their operand with the opposite truth.
    truths: FxHashMap<Term, bool>,
    classes: Classes,
    apart: Apart,
    order: Order,
    /// Implications and disjunctions that were no help when they were learnt; `true` in place of
    /// those that have said all they can.
    waiting: Vec<Term>,
    /// All terms that occur in facts.
    mentioned: FxHashSet<Term>,
    /// The snapshots about which facts say more than about their parts.
    whole: FxHashSet<Term>,
    /// How many groups of pairwise different terms there have been.
    groups: u32,
    contradictory: bool,
    /// The changes to undo, innermost scope last.
    trail: Vec<Undo>,
    /// Lengths of the trail at the beginnings of the open scopes.
    scopes: Vec<usize>,
}

/// A change that the end of a scope undoes.
enum Undo {
    Truth(Term),
    /// The class of this term was as given; `None`: it had no entry.
    Class(Term, Option<Box<Class>>),
    Contradiction,
    /// Two classes are apart.
    Apart(Term, Term),
    Order(Change),
    Waiting,
    /// The waiting formula at this place has said all it can.
    Settled(usize, Term),
    Mention(Term),
    Whole(Term),
}

/// The depth to which operands of two terms are compared.
const CONGRUENCE_DEPTH: usize = 4;

/// The number of the latest implications that are looked at again.
const WAITING: usize = 500;

impl Facts {
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.scopes.push(self.trail.len());
    }

    /// Forgets what was learnt since the matching [`Facts::push`].
    pub fn pop(&mut self) {
        let start = self.scopes.pop().expect("pop without push");
        for change in self.trail.drain(start..).rev() {
            match change {
                Undo::Truth(formula) => {
                    self.truths.remove(&formula);
                }
                Undo::Class(term, class) => self.classes.restore(term, class),
                Undo::Contradiction => self.contradictory = false,
                Undo::Apart(left, right) => self.apart.remove_latest(left, right),
                Undo::Order(change) => self.order.undo(change),
                Undo::Waiting => {
                    self.waiting.pop();
                }
                Undo::Settled(index, formula) => self.waiting[index] = formula,
                Undo::Mention(term) => {
                    self.mentioned.remove(&term);
                }
                Undo::Whole(snapshot) => {
                    self.whole.remove(&snapshot);
                }
            }
        }
    }

    /// Tells whether the facts were seen to contradict each other. Then every answer is right.
    pub fn is_contradictory(&self) -> bool {
        self.contradictory
    }

    /// Learns a formula.
    pub fn assume(&mut self, terms: &Terms, formula: Term) {
        self.mention(terms, formula);
        self.take_apart(terms, formula, true);
    }

    /// Looks again at implications and disjunctions, since new facts may make them say more. The
    /// literal that opens a scope is such a fact.
    pub fn settle(&mut self, terms: &Terms) {
        for index in self.waiting.len().saturating_sub(WAITING)..self.waiting.len() {
            let formula = self.waiting[index];
            if formula != Terms::TRUE && self.propagate(terms, formula) {
                self.waiting[index] = Terms::TRUE;
                self.trail.push(Undo::Settled(index, formula));
            }
        }
    }

    fn take_apart(&mut self, terms: &Terms, formula: Term, truth: bool) {
        let mut pending = vec![(formula, truth)];
        while let Some((formula, truth)) = pending.pop() {
            match (terms.kind(formula), truth) {
                (TermKind::Bool(value), _) => {
                    if *value != truth {
                        self.contradict();
                    }
                }
                (TermKind::Not(inner), _) => pending.push((*inner, !truth)),
                (TermKind::And(parts), true) | (TermKind::Or(parts), false) => {
                    // The whole is worth knowing too: it may be asked for as it stands.
                    self.learn(terms, formula, truth);
                    pending.extend(parts.iter().rev().map(|&part| (part, truth)));
                }
                (&TermKind::Implies(guard, body), false) => {
                    pending.extend([(body, false), (guard, true)]);
                }
                (TermKind::Implies(..) | TermKind::Or(_), true) => {
                    self.learn(terms, formula, true);
                    if !self.propagate(terms, formula) {
                        self.waiting.push(formula);
                        self.trail.push(Undo::Waiting);
                    }
                }
                _ => self.learn(terms, formula, truth),
            }
        }
    }

    /// Learns from an implication or disjunction that holds, if all but one of its parts are
    /// decided. Tells whether nothing more can be learnt from it.
    fn propagate(&mut self, terms: &Terms, formula: Term) -> bool {
        match terms.kind(formula) {
            &TermKind::Implies(guard, body) => {
                match (self.known(terms, guard), self.known(terms, body)) {
                    (Some(false), _) | (_, Some(true)) => true,
                    (Some(true), _) => {
                        self.take_apart(terms, body, true);
                        true
                    }
                    (None, Some(false)) => {
                        self.take_apart(terms, guard, false);
                        true
                    }
                    (None, None) => false,
                }
            }
            TermKind::Or(parts) => {
                let mut open = None;
                for &part in parts {
                    match self.known(terms, part) {
                        Some(true) => return true,
                        Some(false) => {}
                        None if open.is_some() => return false,
                        None => open = Some(part),
                    }
                }
                match open {
                    Some(last) => self.take_apart(terms, last, true),
                    None => self.contradict(),
                }
                true
            }
            _ => true,
        }
    }

    /// Returns the truth of a formula, as far as it is known.
    pub fn known(&self, terms: &Terms, formula: Term) -> Option<bool> {
        match terms.kind(formula) {
            TermKind::Bool(value) => return Some(*value),
            TermKind::Not(inner) => {
                return grow_stack(|| self.known(terms, *inner)).map(|truth| !truth);
            }
            _ => {}
        }
        if let Some(&truth) = self.truths.get(&formula) {
            return Some(truth);
        }
        let known = |&part: &Term| grow_stack(|| self.known(terms, part));
        match terms.kind(formula) {
            TermKind::And(parts) => all_hold(parts.iter().map(known)),
            TermKind::Or(parts) => some_holds(parts.iter().map(known)),
            &TermKind::Implies(guard, body) => {
                grow_stack(|| match (self.known(terms, guard), self.known(terms, body)) {
                    (Some(false), _) | (_, Some(true)) => Some(true),
                    (Some(true), body) => body,
                    _ => None,
                })
            }
            &TermKind::Eq(left, right) => self.known_equal(terms, left, right),
            &TermKind::Lt(left, right) => self.known_less(terms, left, right),
            &TermKind::Le(left, right) => {
                self.known_less(terms, right, left).map(|greater| !greater)
            }
            _ => None,
        }
    }

    /// Enters a formula that needs not be taken apart.
    fn learn(&mut self, terms: &Terms, formula: Term, truth: bool) {
        match self.known(terms, formula) {
            Some(known) if known == truth => return,
            Some(_) => self.contradict(),
            None => {}
        }
        // SOUNDNESS: the facts of an outer scope stay as they are, even if this scope contradicts
        // them.
        if let Entry::Vacant(entry) = self.truths.entry(formula) {
            entry.insert(truth);
            self.trail.push(Undo::Truth(formula));
        }
        match (terms.kind(formula), truth) {
            (&TermKind::Eq(left, right), true) => {
                self.merge(terms, left, right);
                if terms.sort(left) == Sort::INT {
                    let changes = self.order.equate(terms, left, right);
                    self.trail.extend(changes.into_iter().map(Undo::Order));
                }
            }
            (&TermKind::Eq(left, right), false) => {
                let (left, right) = (self.classes.find(left), self.classes.find(right));
                self.set_apart(left, right);
            }
            (TermKind::Distinct(members), true) => self.separate(terms, members),
            (&TermKind::Lt(left, right), true) => self.less(terms, left, right, true),
            (&TermKind::Lt(left, right), false) => self.less(terms, right, left, false),
            (&TermKind::Le(left, right), true) => self.less(terms, left, right, false),
            (&TermKind::Le(left, right), false) => self.less(terms, right, left, true),
            _ => {}
        }
    }

    fn contradict(&mut self) {
        if !self.contradictory {
            self.contradictory = true;
            self.trail.push(Undo::Contradiction);
        }
    }

    /// Changes the class of a representative, and notes its earlier state.
    fn change(&mut self, terms: &Terms, representative: Term, change: impl FnOnce(&mut Class)) {
        let before = self.classes.change(terms, representative, change);
        self.trail.push(Undo::Class(representative, before.map(Box::new)));
    }

    /// Learns `left = right`.
    fn merge(&mut self, terms: &Terms, left: Term, right: Term) {
        let (left, right) = (self.classes.find(left), self.classes.find(right));
        if left == right {
            return;
        }
        let (below, above) = self.classes.by_size(left, right);
        let joined = self.classes.of(terms, below).into_owned();
        self.change(terms, below, |class| class.parent = Some(above));
        let of_above = self.classes.of(terms, above).into_owned();
        self.change(terms, above, |class| *class = of_above.join(joined));
        if self.classes.of(terms, above).bounds.is_empty() {
            self.contradict();
        }
        for index in 0..self.apart.beside(below).len() {
            let other = self.classes.find(self.apart.beside(below)[index]);
            self.set_apart(above, other);
        }
    }

    /// Learns that the classes of two representatives differ.
    fn set_apart(&mut self, left: Term, right: Term) {
        if self.apart.insert(left, right) {
            self.trail.push(Undo::Apart(left, right));
        }
    }

    /// Learns that the terms are pairwise different.
    fn separate(&mut self, terms: &Terms, members: &[Term]) {
        let group = self.groups;
        self.groups += 1;
        for &member in members {
            let representative = self.classes.find(member);
            self.change(terms, representative, |class| class.groups.push(group));
        }
    }

    /// Learns `left < right` if `strict`, else `left ≤ right`.
    fn less(&mut self, terms: &Terms, left: Term, right: Term, strict: bool) {
        self.bound(terms, left, right, strict);
        self.rank(terms, left, right, strict);
    }

    /// Learns the same as an edge of the order, between integers.
    fn rank(&mut self, terms: &Terms, left: Term, right: Term, strict: bool) {
        if terms.sort(left) == Sort::INT {
            let change = self.order.relate(terms, left, right, -i64::from(strict));
            self.trail.extend(change.map(Undo::Order));
        }
    }

    /// Learns the same as a bound, if one of the terms has a known value.
    fn bound(&mut self, terms: &Terms, left: Term, right: Term, strict: bool) {
        let is_int = terms.sort(left) == Sort::INT;
        let representative = if let Some(value) = self.value(terms, left) {
            let right = self.classes.find(right);
            self.change(terms, right, |class| class.bounds.raise(value, strict, is_int));
            right
        } else if let Some(value) = self.value(terms, right) {
            let left = self.classes.find(left);
            self.change(terms, left, |class| class.bounds.lower(value, strict, is_int));
            left
        } else {
            return;
        };
        if self.classes.of(terms, representative).bounds.is_empty() {
            self.contradict();
        }
    }

    /// Returns the value of a number that is a literal or known to equal one.
    fn value(&self, terms: &Terms, term: Term) -> Option<num_rational::BigRational> {
        bounds::literal(terms, term).or_else(|| {
            let literal = self.classes.get(self.classes.find(term))?.unique?;
            bounds::literal(terms, literal)
        })
    }

    fn known_equal(&self, terms: &Terms, left: Term, right: Term) -> Option<bool> {
        if self.are_congruent(terms, left, right, CONGRUENCE_DEPTH) {
            return Some(true);
        }
        if terms.sort(left) == Sort::INT {
            let (below, above) = (
                self.order.is_at_most(terms, left, right, 0),
                self.order.is_at_most(terms, right, left, 0),
            );
            if below && above {
                return Some(true);
            }
            if (below && self.order.is_at_most(terms, left, right, -1))
                || (above && self.order.is_at_most(terms, right, left, -1))
            {
                return Some(false);
            }
        }
        let (left, right) = (self.classes.find(left), self.classes.find(right));
        if self.apart.contains(left, right) {
            return Some(false);
        }
        let (left, right) = (self.classes.of(terms, left), self.classes.of(terms, right));
        let are_other = match (left.unique, right.unique) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        };
        let grouped = left.groups.iter().any(|group| right.groups.contains(group));
        let apart = left.bounds.is_below(&right.bounds) || right.bounds.is_below(&left.bounds);
        (are_other || grouped || apart).then_some(false)
    }

    /// Tells whether two terms are in one class, or made in the same way of such terms.
    fn are_congruent(&self, terms: &Terms, left: Term, right: Term, depth: usize) -> bool {
        if left == right || self.classes.find(left) == self.classes.find(right) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let same = |left: &[Term], right: &[Term]| {
            left.len() == right.len()
                && left.iter().zip(right).all(|(&a, &b)| self.are_congruent(terms, a, b, depth - 1))
        };
        use TermKind::*;
        match (terms.kind(left), terms.kind(right)) {
            (Apply(f, a), Apply(g, b)) => f == g && !a.is_empty() && same(a, b),
            (Theory(f, a, s), Theory(g, b, t)) => f == g && s == t && same(a, b),
            (&First(a), &First(b)) | (&Second(a), &Second(b)) => same(&[a], &[b]),
            (&Wrap(a), &Wrap(b)) => terms.sort(a) == terms.sort(b) && same(&[a], &[b]),
            (&Unwrap(a, s), &Unwrap(b, t)) => s == t && same(&[a], &[b]),
            (&Pair(a, b), &Pair(c, d))
            | (&Add(a, b), &Add(c, d))
            | (&Sub(a, b), &Sub(c, d))
            | (&Mul(a, b), &Mul(c, d)) => same(&[a, b], &[c, d]),
            _ => false,
        }
    }

    fn known_less(&self, terms: &Terms, left: Term, right: Term) -> Option<bool> {
        if terms.sort(left) == Sort::INT {
            if self.order.is_at_most(terms, left, right, -1) {
                return Some(true);
            }
            if self.order.is_at_most(terms, right, left, 0) {
                return Some(false);
            }
        }
        let (left, right) = (self.classes.find(left), self.classes.find(right));
        if left == right {
            return Some(false);
        }
        let (left, right) = (self.classes.of(terms, left), self.classes.of(terms, right));
        if left.bounds.is_below(&right.bounds) {
            Some(true)
        } else if right.bounds.is_not_above(&left.bounds) {
            Some(false)
        } else {
            None
        }
    }
}
