//! Constructors of the logical connectives and of equality.

use rustc_hash::FxHashSet;

use super::{Sort, Term, TermKind, Terms, grow_stack};

/// Junctions up to this length are merged into junctions that they are operands of. Longer ones
/// stay: otherwise, adding operands one by one would take quadratic time.
const FLAT: usize = 100;

/// A connective: `And` and `Or` share their rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Junction {
    And,
    Or,
}

impl Junction {
    /// Returns the operand that changes nothing.
    fn neutral(self) -> Term {
        match self {
            Junction::And => Terms::TRUE,
            Junction::Or => Terms::FALSE,
        }
    }

    /// Returns the operand that decides the whole.
    fn annihilator(self) -> Term {
        match self {
            Junction::And => Terms::FALSE,
            Junction::Or => Terms::TRUE,
        }
    }

    fn kind(self, operands: Vec<Term>) -> TermKind {
        match self {
            Junction::And => TermKind::And(operands.into()),
            Junction::Or => TermKind::Or(operands.into()),
        }
    }

    fn operands(self, kind: &TermKind) -> Option<&[Term]> {
        match (self, kind) {
            (Junction::And, TermKind::And(operands)) | (Junction::Or, TermKind::Or(operands)) => {
                Some(operands)
            }
            _ => None,
        }
    }
}

/// Returns the truth of a conjunction by those of its parts, as far as these are known.
pub(crate) fn all_hold(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for truth in truths {
        match truth {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// Returns the truth of a disjunction by those of its parts, as far as these are known.
pub(crate) fn some_holds(truths: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    all_hold(truths.into_iter().map(|truth| truth.map(|holds| !holds))).map(|none| !none)
}

impl Terms {
    /// Makes the claim ¬t. Literals and double negations disappear. A negated comparison becomes
    /// the opposite comparison.
    pub fn not(&mut self, term: Term) -> Term {
        match *self.kind(term) {
            TermKind::Bool(value) => self.bool(!value),
            TermKind::Not(inner) => inner,
            TermKind::Lt(a, b) => self.le(b, a),
            TermKind::Le(a, b) => self.lt(b, a),
            _ => self.intern(TermKind::Not(term), Sort::BOOL),
        }
    }

    /// Returns the negation of a term, if it was ever built.
    pub(crate) fn find_negation(&self, term: Term) -> Option<Term> {
        match *self.kind(term) {
            TermKind::Bool(value) => Some(self.bool(!value)),
            TermKind::Not(inner) => Some(inner),
            TermKind::Lt(a, b) => self.find(&TermKind::Le(b, a)),
            TermKind::Le(a, b) => self.find(&TermKind::Lt(b, a)),
            _ => self.find(&TermKind::Not(term)),
        }
    }

    /// Makes a conjunction. It is flat but for very long operands, has no duplicates, and is
    /// `false` if some conjunct is the negation of another.
    pub fn and(&mut self, conjuncts: impl IntoIterator<Item = Term>) -> Term {
        self.junction(Junction::And, conjuncts)
    }

    /// Makes a disjunction. It is flat but for very long operands, has no duplicates, and is `true`
    /// if some disjunct is the negation of another.
    pub fn or(&mut self, disjuncts: impl IntoIterator<Item = Term>) -> Term {
        self.junction(Junction::Or, disjuncts)
    }

    /// Returns the conjuncts of a conjunction; any other formula is its only conjunct.
    pub fn conjuncts(&self, formula: Term) -> Vec<Term> {
        let mut conjuncts = Vec::new();
        let mut pending = vec![formula];
        while let Some(formula) = pending.pop() {
            match self.kind(formula) {
                TermKind::And(operands) => pending.extend(operands.iter().rev()),
                _ => conjuncts.push(formula),
            }
        }
        conjuncts
    }

    fn junction(&mut self, junction: Junction, operands: impl IntoIterator<Item = Term>) -> Term {
        let mut kept = Vec::new();
        let mut seen = FxHashSet::default();
        for operand in operands {
            let single = [operand];
            let parts = match junction.operands(self.kind(operand)) {
                Some(parts) if parts.len() <= FLAT => parts,
                _ => &single,
            };
            for &part in parts {
                if part == junction.annihilator() {
                    return part;
                }
                if part == junction.neutral() || !seen.insert(part) {
                    continue;
                }
                if self.find_negation(part).is_some_and(|negation| seen.contains(&negation)) {
                    return junction.annihilator();
                }
                kept.push(part);
            }
        }
        match kept[..] {
            [] => junction.neutral(),
            [single] => single,
            _ => self.intern(junction.kind(kept), Sort::BOOL),
        }
    }

    /// Makes the claim a ⇒ b. An implication on the right is joined: a ⇒ (b ⇒ c) is a ∧ b ⇒ c.
    pub fn implies(&mut self, left: Term, right: Term) -> Term {
        match (self.as_bool(left), self.as_bool(right)) {
            (Some(true), _) => return right,
            (Some(false), _) | (_, Some(true)) => return Self::TRUE,
            (_, Some(false)) => return self.not(left),
            _ => {}
        }
        if left == right {
            return Self::TRUE;
        }
        if self.find_negation(left) == Some(right) {
            return right;
        }
        if let TermKind::Implies(guard, body) = *self.kind(right) {
            let guard = self.and([left, guard]);
            return self.implies(guard, body);
        }
        self.intern(TermKind::Implies(left, right), Sort::BOOL)
    }

    /// Makes the claim a ⇔ b.
    pub fn iff(&mut self, left: Term, right: Term) -> Term {
        self.identical(left, right)
    }

    /// Returns `condition ? then : otherwise`, on any sort.
    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        debug_assert_eq!(self.sort(then), self.sort(otherwise), "branches of different sorts");
        match *self.kind(condition) {
            TermKind::Bool(true) => return then,
            TermKind::Bool(false) => return otherwise,
            TermKind::Not(inner) => return self.ite(inner, otherwise, then),
            _ => {}
        }
        if then == otherwise {
            return then;
        }
        // Under the condition, an inner choice by the same condition is decided.
        if let TermKind::Ite(inner, same, _) = *self.kind(then)
            && inner == condition
        {
            return self.ite(condition, same, otherwise);
        }
        if let TermKind::Ite(inner, _, same) = *self.kind(otherwise)
            && inner == condition
        {
            return self.ite(condition, then, same);
        }
        if self.sort(then) == Sort::BOOL {
            let condition_fails = self.not(condition);
            match (self.as_bool(then), self.as_bool(otherwise)) {
                (Some(true), _) => return self.or([condition, otherwise]),
                (Some(false), _) => return self.and([condition_fails, otherwise]),
                (_, Some(true)) => return self.or([condition_fails, then]),
                (_, Some(false)) => return self.and([condition, then]),
                _ => {}
            }
        }
        let sort = self.sort(then);
        self.intern(TermKind::Ite(condition, then, otherwise), sort)
    }

    /// Makes the claim a = b as a program means it. On sequences, sets, multisets and maps this is
    /// the equality predicate of the theory, whose axioms compare elements. Elsewhere it is
    /// [`Terms::identical`].
    pub fn eq(&mut self, left: Term, right: Term) -> Term {
        if left != right && self.is_collection(self.sort(left)) {
            self.collection_eq(left, right)
        } else {
            self.identical(left, right)
        }
    }

    /// Makes the claim a = b of the logic, on every sort; for definitions.
    pub fn identical(&mut self, left: Term, right: Term) -> Term {
        debug_assert_eq!(self.sort(left), self.sort(right), "equation between different sorts");
        if left == right {
            return Self::TRUE;
        }
        grow_stack(|| match self.sort(left) {
            Sort::BOOL => self.equivalence(left, right),
            Sort::INT | Sort::PERM => self.numbers_eq(left, right),
            Sort::SNAP => self.snapshots_eq(left, right),
            Sort::REF if self.is_unique(left) && self.is_unique(right) => Self::FALSE,
            _ => self.intern_eq(left, right),
        })
    }

    fn equivalence(&mut self, left: Term, right: Term) -> Term {
        match (self.as_bool(left), self.as_bool(right)) {
            (Some(true), _) => return right,
            (_, Some(true)) => return left,
            (Some(false), _) => return self.not(right),
            (_, Some(false)) => return self.not(left),
            _ => {}
        }
        if self.find_negation(left) == Some(right) {
            return Self::FALSE;
        }
        self.intern_eq(left, right)
    }

    /// Makes an equation, in its one order of operands.
    pub(super) fn intern_eq(&mut self, left: Term, right: Term) -> Term {
        let (left, right) = (left.min(right), left.max(right));
        self.intern(TermKind::Eq(left, right), Sort::BOOL)
    }

    /// Makes the claim a ≠ b as a program means it.
    pub fn differs(&mut self, left: Term, right: Term) -> Term {
        let equal = self.eq(left, right);
        self.not(equal)
    }

    /// Makes the claim that all operands are pairwise different (in the sense of
    /// [`Terms::identical`]).
    pub fn distinct(&mut self, operands: &[Term]) -> Term {
        let different: FxHashSet<Term> = operands.iter().copied().collect();
        if different.len() < operands.len() {
            return Self::FALSE;
        }
        match *operands {
            [] | [_] => Self::TRUE,
            [left, right] => {
                let equal = self.identical(left, right);
                self.not(equal)
            }
            _ => self.intern(TermKind::Distinct(operands.into()), Sort::BOOL),
        }
    }
}
