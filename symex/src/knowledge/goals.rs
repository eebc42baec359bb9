//! Quantified goals in the form in which the prover is best at them.
//!
//! A universal goal is shown for arbitrary constants. The facts learnt from the body's evaluation
//! hold for these, and the terms of its triggers are there to be matched. An existential goal is
//! shown for one of some candidates as well: without models of quantifiers, the prover tries none.
//!
//! SOUNDNESS: a goal in either form implies the original goal. The constants occur in no
//! assumption.

use smt::terms::{Quant, Sort, Substitution, Term, TermKind, Terms, TheoryOp, grow_stack};

use crate::{Configuration, Path, Symbols};

/// The number of instances of an existential goal that are tried.
const INSTANCES: usize = 16;

/// The most instances for values that are written down.
const WRITTEN: usize = 10_000;

/// The depth to which quantifiers inside each other are taken apart.
const DEPTH: usize = 8;

/// The origin of a quantified formula.
#[derive(Clone, Debug)]
pub struct Noted {
    pub quant: Quant,
    pub bound: Vec<Term>,
    pub triggers: Vec<Vec<Term>>,
    pub body: Term,
    /// The facts learnt about the body, as assumed for all values, and for the bound variables.
    pub facts: Vec<(Term, Term)>,
}

impl Path<'_> {
    /// Keeps the origin of a quantified formula, for the time when the formula is a goal.
    pub fn note_quantifier(&mut self, formula: Term, noted: Noted) {
        // A formula without the variables has no quantifier.
        if self.run.is_live() && formula != noted.body {
            self.made.quantifiers.insert(formula, noted);
        }
    }
}

impl Configuration<'_> {
    /// Returns a formula that implies the goal, and at which the prover is better.
    pub(crate) fn opened(&mut self, goal: Term) -> Term {
        self.opened_at(goal, 0, &mut { WRITTEN })
    }

    /// Opens a goal inside of `depth` others. `budget`: the instances for written values that may
    /// still be made.
    pub(super) fn opened_at(&mut self, goal: Term, depth: usize, budget: &mut usize) -> Term {
        if depth > DEPTH {
            return goal;
        }
        if let Some(noted) = self.made.quantifiers.get(&goal).cloned() {
            return match noted.quant {
                Quant::Forall => {
                    let written = self.for_written(&noted.bound, noted.body, depth, budget);
                    // Instances that can be computed decide the goal.
                    if let Some(decided @ (Terms::TRUE | Terms::FALSE)) = written {
                        return decided;
                    }
                    let arbitrary = self.for_arbitrary(&noted, depth, budget);
                    self.terms.or(written.into_iter().chain([arbitrary]))
                }
                Quant::Exists => self.with_witnesses(goal, &noted.bound, noted.body),
            };
        }
        match self.terms.kind(goal).clone() {
            TermKind::And(conjuncts) => {
                let conjuncts: Vec<Term> = conjuncts
                    .iter()
                    .map(|&conjunct| grow_stack(|| self.opened_at(conjunct, depth, budget)))
                    .collect();
                self.terms.and(conjuncts)
            }
            TermKind::Implies(guard, inner) => {
                let inner = grow_stack(|| self.opened_at(inner, depth, budget));
                self.terms.implies(guard, inner)
            }
            TermKind::Quantifier(quantifier) => {
                let bound: Vec<Term> = quantifier
                    .variables
                    .iter()
                    .map(|&variable| self.terms.apply(variable, &[]))
                    .collect();
                match quantifier.quant {
                    Quant::Exists => self.with_witnesses(goal, &bound, quantifier.body),
                    Quant::Forall => {
                        let written = self.for_written(&bound, quantifier.body, depth, budget);
                        self.terms.or(written.into_iter().chain([goal]))
                    }
                }
            }
            TermKind::Theory(TheoryOp::SetContains, operands, _) => {
                let membership = self.terms.membership(operands[0], operands[1]);
                self.terms.or([goal, membership])
            }
            TermKind::Eq(left, right) => {
                let cases = [left, right].map(|side| self.terms.lookup_by_cases(side));
                if cases == [None, None] {
                    return goal;
                }
                let [left, right] = [cases[0].unwrap_or(left), cases[1].unwrap_or(right)];
                let by_cases = self.terms.eq(left, right);
                self.terms.or([goal, by_cases])
            }
            _ => goal,
        }
    }

    fn for_arbitrary(&mut self, noted: &Noted, depth: usize, budget: &mut usize) -> Term {
        let mut constants = Substitution::default();
        for (index, &variable) in noted.bound.iter().enumerate() {
            constants.insert(variable, arbitrary(&mut self.terms, variable, depth, index));
        }
        let mut known = Vec::new();
        for &(quantified, fact) in &noted.facts {
            // A fact of a scope that has been left does not hold any more.
            let mut conjuncts = self.terms.conjuncts(quantified).into_iter();
            if conjuncts.all(|conjunct| self.knowledge.known.contains(&conjunct)) {
                known.push(self.terms.substitute(fact, &constants));
            }
        }
        for &term in noted.triggers.iter().flatten() {
            let term = self.terms.substitute(term, &constants);
            known.push(self.mentioned(term));
        }
        let body = self.terms.substitute(noted.body, &constants);
        let body = self.opened_at(body, depth + 1, budget);
        let known = self.terms.and(known);
        self.terms.implies(known, body)
    }

    /// Returns the disjunction of the goal and of its body for candidates.
    fn with_witnesses(&mut self, goal: Term, bound: &[Term], body: Term) -> Term {
        let mut instances = vec![body];
        let mut open = bound.to_vec();
        while !open.is_empty() {
            // A variable with suggested values comes first.
            let said = (0..open.len()).find(|&index| {
                instances
                    .iter()
                    .any(|&instance| !self.suggested(instance, open[index], &open).is_empty())
            });
            let variable = open[said.unwrap_or(0)];
            let mut next = Vec::new();
            for instance in instances {
                let mut candidates = self.suggested(instance, variable, &open);
                candidates.extend(self.values_in_store(self.terms.sort(variable)));
                if candidates.is_empty() && self.terms.sort(variable) == Sort::INT {
                    candidates.push(self.terms.int(0));
                }
                for candidate in candidates {
                    let map: Substitution = std::iter::once((variable, candidate)).collect();
                    let instance = self.terms.substitute(instance, &map);
                    if instance != Terms::FALSE && !next.contains(&instance) {
                        next.push(instance);
                    }
                }
            }
            next.truncate(INSTANCES);
            instances = next;
            open.retain(|&other| other != variable);
        }
        self.terms.or(std::iter::once(goal).chain(instances))
    }

    /// Returns the values of variables of a sort.
    fn values_in_store(&self, sort: Sort) -> Vec<Term> {
        let mut values = Vec::new();
        for (local, _) in self.frame.locals.iter() {
            if let Some(value) = self.frame.store.get(local)
                && self.terms.sort(value) == sort
                && !values.contains(&value)
            {
                values.push(value);
            }
        }
        values
    }
}

impl Symbols<'_> {
    /// Returns the values that a formula suggests for a variable: values equal to it, and values
    /// next to its bounds.
    fn suggested(&mut self, formula: Term, variable: Term, open: &[Term]) -> Vec<Term> {
        let mut found = Vec::new();
        let mut pending = vec![formula];
        while let Some(part) = pending.pop() {
            let (left, right, below) = match self.terms.kind(part).clone() {
                TermKind::And(parts) | TermKind::Or(parts) => {
                    pending.extend(parts.iter().rev());
                    continue;
                }
                TermKind::Implies(guard, inner) => {
                    pending.extend([inner, guard]);
                    continue;
                }
                TermKind::Not(inner) => {
                    pending.push(inner);
                    continue;
                }
                TermKind::Eq(left, right) => (left, right, None),
                TermKind::Le(left, right) | TermKind::Lt(left, right) => (left, right, Some(())),
                _ => continue,
            };
            let (left_has, right_has) =
                (self.terms.mentions(left, &[variable]), self.terms.mentions(right, &[variable]));
            let (solved, up) = match (left_has, right_has) {
                (true, false) => (solution_of(&mut self.terms, left, right, variable), false),
                (false, true) => (solution_of(&mut self.terms, right, left, variable), true),
                _ => continue,
            };
            let Some(other) = solved.filter(|&other| !self.terms.mentions(other, open)) else {
                continue;
            };
            found.push(other);
            if below.is_some() && self.terms.sort(variable) == Sort::INT {
                let one = self.terms.int(1);
                found.push(if up {
                    self.terms.add(other, one)
                } else {
                    self.terms.sub(other, one)
                });
            }
        }
        found
    }

    /// Makes a formula that mentions a term for triggers, and says nothing else.
    pub(super) fn mentioned(&mut self, term: Term) -> Term {
        let sort = self.terms.sort(term);
        let name = format!("mentioned%{}", self.terms.sort_name(sort));
        let mentioned = self.terms.declare_mark(&name, &[sort], Sort::BOOL);
        self.terms.apply(mentioned, &[term])
    }
}

/// Returns the constant for a variable of a quantifier.
pub(super) fn arbitrary(terms: &mut Terms, variable: Term, depth: usize, index: usize) -> Term {
    let sort = terms.sort(variable);
    let name = format!("any%{depth}%{index}%{}", terms.sort_name(sort));
    terms.constant(&name, sort)
}

/// Returns the value of `variable` where `side`, a linear expression in it, is `value`, or a
/// value near it.
fn solution_of(terms: &mut Terms, side: Term, value: Term, variable: Term) -> Option<Term> {
    let (mut side, mut value) = (side, value);
    while side != variable {
        let has = |terms: &Terms, part: Term| terms.mentions(part, &[variable]);
        (side, value) = match *terms.kind(side) {
            TermKind::Add(left, right) if !has(terms, right) => (left, terms.sub(value, right)),
            TermKind::Add(left, right) if !has(terms, left) => (right, terms.sub(value, left)),
            TermKind::Sub(left, right) if !has(terms, right) => (left, terms.add(value, right)),
            TermKind::Sub(left, right) if !has(terms, left) => (right, terms.sub(left, value)),
            TermKind::Mul(factor, rest)
                if terms.is_literal(factor) && terms.sort(rest) == Sort::INT =>
            {
                (rest, terms.int_div(value, factor))
            }
            _ => return None,
        };
    }
    Some(value)
}
