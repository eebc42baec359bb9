//! A solver of our own, for questions that take few steps.
//!
//! A goal is shown by refutation: its negation is added to the assumptions. Then
//! * facts are taken apart;
//! * quantified facts are instantiated where their triggers match ([`instances`], [`matching`]);
//! * facts about some values become facts about constants;
//! * sets say what their elements are ([`sets`]);
//! * cases of disjunctions are distinguished ([`search`]).
//!
//! A way ends where the classes of equal terms ([`graph`]) or the inequalities ([`linear`],
//! [`products`]) contradict each other. The questions of Chalice's encodings (amounts with read
//! fractions, sets of held locks, the order of levels, maps with updates) mostly end that way, so
//! that many members never ask Z3. Nothing here knows of these encodings.
//!
//! Invariants
//! - SOUNDNESS: each step is valid by itself. A formula enters only as an assumption, an instance
//!   of one, an axiom of the theory of sets, or a case of a distinction whose cases are all
//!   refuted. Constants that stand for some values occur nowhere else. So [`Outcome::Proved`] means
//!   that the goal follows.
//! - The cost of an attempt is limited in steps, never in time: the same question has the same
//!   answer everywhere.
//! - Assumptions are entered when a question first needs them.

mod graph;
mod instances;
mod linear;
mod matching;
mod products;
mod search;
mod sets;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::graph::{Graph, Head, Marked};
use crate::terms::{Quant, Sort, SortKind, Term, TermKind, Terms};

/// The result of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Proved,
    /// The goal is about amounts, and some amounts satisfy the assumptions but not the goal. Only
    /// inequalities are considered: formulas of other forms may exclude these amounts.
    Open,
    /// The goal holds if this formula does.
    Left(Term),
    /// The attempt came to no end.
    Unknown,
}

/// Assumptions in nested scopes.
#[derive(Debug)]
pub struct Tableau {
    /// These hold in every scope.
    axioms: Vec<Term>,
    scopes: Vec<Scope>,
    entered: Entered,
}

#[derive(Debug, Default)]
struct Scope {
    facts: Vec<Term>,
    /// The number of facts that have been entered.
    entered: usize,
    /// The mark to go back to when the scope is left, if some fact has been entered.
    start: Option<Mark>,
}

/// The entered part of the assumptions.
#[derive(Debug, Default)]
struct Entered {
    graph: Graph,
    clauses: Vec<Clause>,
    /// The clauses in which an atom occurs.
    clauses_of: FxHashMap<Term, Vec<usize>>,
    rules: Vec<Arc<Rule>>,
    /// The rules that have a part of a trigger with that head.
    rules_of: FxHashMap<Head, Vec<usize>>,
    /// Instances that have been made: the rule, and the representatives of the values at that time.
    instances: Marked<(usize, Vec<Term>)>,
    /// Disjunctions of instances. They are entered when all parts but one are refuted, or for a
    /// distinction.
    candidates: Vec<Vec<Part>>,
    /// Facts of sets and numbers that have been made, by the two terms that they are about.
    derived: Marked<(Term, Term)>,
    /// The terms that the present question is about.
    active: Marked<Term>,
    /// The distance of each active term from the question, in the order of `active`.
    distances: Vec<u32>,
    /// The number of active terms that have been looked at, and the number of rules at that time.
    seen: usize,
    seen_rules: usize,
    /// The largest distance of terms that are looked at, and the distance of the terms that come
    /// next.
    reach: u32,
    distance: u32,
    /// Tells whether only numbers are looked at. Then `core` has the numbers of the question.
    is_numeric: bool,
    core: FxHashSet<Term>,
    /// The constants that only the question has.
    own: Vec<Term>,
    /// The clauses about these constants.
    watched: Marked<usize>,
    /// The number of axioms that have been entered.
    axioms: usize,
    /// Tells whether a question is being attempted. Only then does a formula about some value
    /// become one about a constant: assumptions stay for all questions, and most questions need no
    /// such constants.
    is_attempt: bool,
    /// Steps that the present question may still take.
    fuel: u32,
}

/// A formula with the truth that it has in a disjunction.
type Part = (Term, bool);

/// A disjunction.
#[derive(Debug)]
struct Clause {
    parts: Vec<Part>,
    /// The atoms by which the clause is found.
    atoms: Vec<Term>,
}

/// The immediate consequence of a disjunction.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// No part holds.
    Refuted,
    /// The only part that is not refuted.
    Part(Part),
    /// The disjunction holds, or more than one part is undecided.
    Other,
}

/// A quantified formula that holds: for all values, `body` has the truth `truth`.
#[derive(Debug)]
struct Rule {
    variables: Vec<Term>,
    triggers: Vec<Trigger>,
    body: Term,
    truth: bool,
    /// The heads of the parts of all triggers, each once.
    heads: Vec<Head>,
}

/// Patterns that are matched together.
#[derive(Debug)]
struct Trigger {
    parts: Box<[Term]>,
    /// The operands of each part that match more terms when their classes grow. These are operands
    /// that are no variables, and variables that occur more than once.
    deep: Vec<Vec<usize>>,
}

/// The length of each list at some time.
#[derive(Clone, Copy, Debug)]
struct Mark {
    graph: usize,
    clauses: usize,
    rules: usize,
    instances: usize,
    candidates: usize,
    derived: usize,
    active: usize,
    seen: usize,
    watched: usize,
    axioms: usize,
}

/// The effort that an attempt may take.
#[derive(Clone, Copy, Debug)]
struct Effort {
    steps: u32,
    /// The number of distinctions inside each other.
    distinctions: u32,
    /// The largest distance of terms from the question: see [`search`].
    reach: u32,
}

/// The most parts of a disjunction, and the most constants that all differ, that are looked at. The
/// prover gets the others.
const MANY_MEMBERS: usize = 16;

/// Effort for a goal that has to be shown.
const THOROUGH: [Effort; 1] = [Effort { steps: 1_500, distinctions: 3, reach: 0 }];

/// Efforts, one after the other, for such a goal about domains or sets. Facts about these are many,
/// and each takes few steps.
const EXTENSIVE: [Effort; 3] = [
    Effort { steps: 8_000, distinctions: 5, reach: 0 },
    Effort { steps: 3_000, distinctions: 5, reach: 1 },
    Effort { steps: 4_000, distinctions: 6, reach: 2 },
];

/// Effort for a question that only saves work.
const BRIEF: [Effort; 1] = [Effort { steps: 12_000, distinctions: 4, reach: 8 }];

impl Default for Tableau {
    fn default() -> Self {
        Tableau { axioms: Vec::new(), scopes: vec![Scope::default()], entered: Entered::default() }
    }
}

impl Tableau {
    /// Opens a scope.
    pub fn push(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Forgets what was assumed since the matching [`Tableau::push`].
    pub fn pop(&mut self) {
        let scope = self.scopes.pop().expect("pop without push");
        if let Some(start) = scope.start {
            self.entered.undo_to(start);
        }
    }

    /// Assumes a formula in the innermost scope.
    pub fn assume(&mut self, formula: Term) {
        self.scopes.last_mut().expect("there is a base scope").facts.push(formula);
    }

    /// Adds a formula that holds in every scope.
    pub fn add_axiom(&mut self, formula: Term) {
        self.axioms.push(formula);
    }

    /// Asks whether the assumptions imply the goal. If `has_to_hold`, the effort is greater, and
    /// [`Outcome::Open`] is no answer.
    pub fn ask(&mut self, terms: &mut Terms, goal: Term, has_to_hold: bool) -> Outcome {
        if has_to_hold {
            let efforts: &[Effort] =
                if speaks_of_domains(terms, goal) { &EXTENSIVE } else { &THOROUGH };
            return match self.attempts(terms, goal, efforts, false) {
                Outcome::Open => Outcome::Unknown,
                outcome => outcome,
            };
        }
        // The conjuncts about amounts are attempted alone.
        let parts = terms.conjuncts(goal);
        let mut left = Vec::new();
        for &part in &parts {
            if !is_about_amounts(terms, part) {
                left.push(part);
                continue;
            }
            match self.attempts(terms, part, &BRIEF, true) {
                Outcome::Proved => {}
                Outcome::Open => return Outcome::Open,
                _ => left.push(part),
            }
        }
        match left.len() {
            0 => Outcome::Proved,
            len if len < parts.len() => Outcome::Left(terms.and(left)),
            _ => Outcome::Unknown,
        }
    }

    /// Attempts the goal with one effort after the other. `is_numeric`: only numbers are looked at.
    fn attempts(
        &mut self,
        terms: &mut Terms,
        goal: Term,
        efforts: &[Effort],
        is_numeric: bool,
    ) -> Outcome {
        self.enter(terms);
        self.entered.is_attempt = true;
        let mut outcome = Outcome::Unknown;
        for &effort in efforts {
            let start = self.entered.mark();
            self.entered.is_numeric = is_numeric;
            outcome = self.entered.attempt(terms, goal, effort);
            self.entered.undo_to(start);
            if outcome == Outcome::Proved {
                break;
            }
        }
        self.entered.is_attempt = false;
        outcome
    }

    /// Enters the facts and axioms that have not been entered yet.
    fn enter(&mut self, terms: &mut Terms) {
        let last = self.scopes.len() - 1;
        for (depth, scope) in self.scopes.iter_mut().enumerate() {
            let has_news = scope.entered < scope.facts.len()
                || (depth == last && self.entered.axioms < self.axioms.len());
            if !has_news {
                continue;
            }
            scope.start.get_or_insert_with(|| self.entered.mark());
            // SOUNDNESS: a conflict ends with the scope that it was found in, since marks tell the
            // state before each scope.
            if depth == last {
                let axioms = self.axioms[self.entered.axioms..].to_vec();
                self.entered.axioms = self.axioms.len();
                for axiom in axioms {
                    self.entered.assert(terms, axiom, true);
                }
            }
            while let Some(&fact) = scope.facts.get(scope.entered) {
                scope.entered += 1;
                self.entered.assert(terms, fact, true);
            }
        }
    }
}

impl Entered {
    fn mark(&self) -> Mark {
        Mark {
            graph: self.graph.mark(),
            clauses: self.clauses.len(),
            rules: self.rules.len(),
            instances: self.instances.len(),
            candidates: self.candidates.len(),
            derived: self.derived.len(),
            active: self.active.len(),
            seen: if self.graph.has_grown() { 0 } else { self.seen },
            watched: self.watched.len(),
            axioms: self.axioms,
        }
    }

    fn undo_to(&mut self, mark: Mark) {
        self.graph.undo_to(mark.graph);
        for clause in self.clauses.drain(mark.clauses..).rev() {
            for atom in clause.atoms.iter().rev() {
                self.clauses_of.get_mut(atom).and_then(Vec::pop);
            }
        }
        while self.rules.len() > mark.rules {
            self.forget_rule();
        }
        self.instances.truncate(mark.instances);
        self.candidates.truncate(mark.candidates);
        self.derived.truncate(mark.derived);
        self.active.truncate(mark.active);
        self.distances.truncate(mark.active);
        self.seen = mark.seen;
        self.watched.truncate(mark.watched);
        self.axioms = mark.axioms;
    }

    /// Enters a formula with its truth.
    fn assert(&mut self, terms: &mut Terms, formula: Term, truth: bool) {
        let Normal { equivalent, disjunctions } = normal(terms, formula, truth);
        for (left, right) in equivalent {
            self.graph.merge(terms, left, right);
        }
        for parts in disjunctions {
            if self.graph.is_contradictory() {
                return;
            }
            match parts[..] {
                [(part, truth)] => self.assert_simple(terms, part, truth),
                _ => self.add_clause(terms, &parts),
            }
        }
    }

    /// Enters a formula without connectives.
    fn assert_simple(&mut self, terms: &mut Terms, formula: Term, truth: bool) {
        match terms.kind(formula).clone() {
            TermKind::Bool(value) => {
                if value != truth {
                    self.graph.contradict();
                }
            }
            TermKind::Quantifier(quantifier) => {
                if (quantifier.quant == Quant::Forall) == truth {
                    self.add_rule(terms, &quantifier, truth);
                } else if self.is_attempt {
                    self.add_witnesses(terms, formula, truth);
                }
            }
            // PERFORMANCE: Z3 needs one formula for many constants that all differ.
            TermKind::Distinct(members) if truth && members.len() <= MANY_MEMBERS => {
                for (index, &left) in members.iter().enumerate() {
                    for &right in &members[..index] {
                        let same = terms.identical(left, right);
                        crate::terms::grow_stack(|| self.assert(terms, same, false));
                    }
                }
            }
            TermKind::Distinct(_) => {}
            kind => self.assert_atom(terms, formula, &kind, truth),
        }
    }

    fn assert_atom(&mut self, terms: &mut Terms, atom: Term, kind: &TermKind, truth: bool) {
        self.graph.merge(terms, atom, terms.bool(truth));
        if let TermKind::Theory(op, operands, _) = kind {
            self.assert_relation(terms, *op, operands, truth);
        }
    }

    /// Enters the undecided parts of a disjunction.
    fn add_clause(&mut self, terms: &mut Terms, parts: &[Part]) {
        let Some(open) = self.open_among(terms, parts) else { return };
        match open[..] {
            [] => self.graph.contradict(),
            [(part, truth)] => crate::terms::grow_stack(|| self.assert(terms, part, truth)),
            // So large a disjunction decides nothing in few steps.
            _ if open.len() > MANY_MEMBERS => {}
            _ => {
                let mut atoms = Vec::new();
                for &(part, _) in &open {
                    collect_atoms(terms, part, &mut atoms);
                }
                let index = self.clauses.len();
                for &atom in &atoms {
                    self.graph.enter(terms, atom);
                    self.clauses_of.entry(atom).or_default().push(index);
                }
                self.clauses.push(Clause { parts: open, atoms });
            }
        }
    }

    /// Returns the immediate consequence of a disjunction. The look ends at the second undecided
    /// part.
    fn unit_among(&self, terms: &Terms, parts: &[Part]) -> Unit {
        let mut unit = Unit::Refuted;
        for &(part, truth) in parts {
            match (self.graph.truth(terms, part), unit) {
                (Some(known), _) if known == truth => return Unit::Other,
                (Some(_), _) => {}
                (None, Unit::Refuted) => unit = Unit::Part((part, truth)),
                (None, _) => return Unit::Other,
            }
        }
        unit
    }

    /// Tells whether no part of a disjunction is known to hold.
    fn is_open(&self, terms: &Terms, parts: &[Part]) -> bool {
        parts.iter().all(|&(part, truth)| self.graph.truth(terms, part) != Some(truth))
    }

    /// Returns the parts of a disjunction that are undecided; `None` if it holds.
    fn open_among(&self, terms: &Terms, parts: &[Part]) -> Option<Vec<Part>> {
        let mut open = Vec::new();
        for &(part, truth) in parts {
            match self.graph.truth(terms, part) {
                Some(known) if known == truth => return None,
                Some(_) => {}
                None => open.push((part, truth)),
            }
        }
        Some(open)
    }
}

/// Flattens a disjunction of disjunctions.
fn flat(terms: &Terms, parts: Vec<Part>) -> Vec<Part> {
    let mut flat: Vec<Part> = Vec::with_capacity(parts.len());
    let mut pending: Vec<Part> = parts.into_iter().rev().collect();
    while let Some((part, truth)) = pending.pop() {
        match (terms.kind(part), truth) {
            (&TermKind::Not(inner), _) => pending.push((inner, !truth)),
            (TermKind::Or(parts), true) | (TermKind::And(parts), false) => {
                pending.extend(parts.iter().rev().map(|&part| (part, truth)));
            }
            (&TermKind::Implies(guard, body), true) => {
                pending.extend([(body, true), (guard, false)]);
            }
            _ => flat.push((part, truth)),
        }
    }
    flat
}

/// A formula with its truth, taken apart as far as this takes no copies of its parts.
#[derive(Default)]
struct Normal {
    /// Atoms with the same truth. The disjunctions imply this too.
    equivalent: Vec<(Term, Term)>,
    /// Disjunctions that all hold. A disjunction of one part has no connectives.
    disjunctions: Vec<Vec<Part>>,
}

fn normal(terms: &Terms, formula: Term, truth: bool) -> Normal {
    let mut normal = Normal::default();
    let mut pending = vec![(formula, truth)];
    while let Some((formula, truth)) = pending.pop() {
        let found = &mut normal.disjunctions;
        match (terms.kind(formula), truth) {
            (&TermKind::Not(inner), _) => pending.push((inner, !truth)),
            (TermKind::And(parts), true) | (TermKind::Or(parts), false) => {
                pending.extend(parts.iter().rev().map(|&part| (part, truth)));
            }
            (&TermKind::Implies(guard, body), false) => {
                pending.extend([(body, false), (guard, true)]);
            }
            (&TermKind::Eq(left, right), _) if terms.sort(left) == Sort::BOOL => {
                if truth && is_atom(terms, left) && is_atom(terms, right) {
                    normal.equivalent.push((left, right));
                }
                found.push(flat(terms, vec![(left, false), (right, truth)]));
                found.push(flat(terms, vec![(left, true), (right, !truth)]));
            }
            (&TermKind::Ite(condition, then, otherwise), _) => {
                found.push(flat(terms, vec![(condition, false), (then, truth)]));
                found.push(flat(terms, vec![(condition, true), (otherwise, truth)]));
            }
            _ => found.push(flat(terms, vec![(formula, truth)])),
        }
    }
    normal
}

/// Tells whether a formula is made of others by a connective.
fn is_connected(terms: &Terms, formula: Term) -> bool {
    match *terms.kind(formula) {
        TermKind::Not(_)
        | TermKind::And(_)
        | TermKind::Or(_)
        | TermKind::Implies(..)
        | TermKind::Ite(..) => true,
        TermKind::Eq(left, _) => terms.sort(left) == Sort::BOOL,
        _ => false,
    }
}

/// Tells whether the truth of a formula is that of a term of the graph.
fn is_atom(terms: &Terms, formula: Term) -> bool {
    !is_connected(terms, formula)
        && !matches!(terms.kind(formula), TermKind::Bool(_) | TermKind::Quantifier(_))
}

/// Collects the atoms of a formula, each once.
fn collect_atoms(terms: &Terms, formula: Term, atoms: &mut Vec<Term>) {
    let mut pending = vec![formula];
    while let Some(formula) = pending.pop() {
        if is_connected(terms, formula) {
            terms.kind(formula).for_each_operand(|operand| pending.push(operand));
        } else if is_atom(terms, formula) && !atoms.contains(&formula) {
            atoms.push(formula);
        }
    }
}

/// Tells whether a set or a value of a domain occurs in a formula.
fn speaks_of_domains(terms: &Terms, formula: Term) -> bool {
    terms.some_subterm(formula, |term| {
        matches!(terms.sort_kind(terms.sort(term)), SortKind::User { .. } | SortKind::Set(_))
    })
}

/// Tells whether a formula compares amounts of permission, and says nothing else.
fn is_about_amounts(terms: &Terms, formula: Term) -> bool {
    match terms.kind(formula) {
        &TermKind::Eq(left, _) | &TermKind::Lt(left, _) | &TermKind::Le(left, _) => {
            terms.sort(left) == Sort::PERM
        }
        &TermKind::Not(inner) => is_about_amounts(terms, inner),
        TermKind::And(parts) | TermKind::Or(parts) => {
            parts.iter().all(|&part| is_about_amounts(terms, part))
        }
        _ => false,
    }
}

/// Counts the nodes of a term, repeated ones again. From `most` on, their operands do not count.
fn size(terms: &Terms, term: Term, most: usize) -> usize {
    let mut count = 0;
    let mut pending = vec![term];
    while let Some(term) = pending.pop() {
        count += 1;
        if count <= most {
            terms.kind(term).for_each_operand(|operand| pending.push(operand));
        }
    }
    count
}
