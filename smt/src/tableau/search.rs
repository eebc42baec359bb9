//! The attempt to refute: facts about active terms, distinctions, the end of a way.

use rustc_hash::FxHashSet;

use super::linear::Verdict;
use super::{Effort, Entered, Head, Outcome, Part, Unit, collect_atoms, size};
use crate::terms::{Sort, Term, TermKind, Terms};

/// The most uses of a term that are followed. A term with more says little about a question: nearly
/// everything is about `this`.
pub(super) const MANY_USES: usize = 24;

/// The most undecided parts of a disjunction that is of help.
const MANY_PARTS: usize = 4;

/// The cost of a distinction: its number of undecided parts. Among distinctions with equally many,
/// those about the goal's own constants come first.
type Cost = (usize, bool);

/// The nodes of a term that are counted to compare sizes, but for operands of the last ones.
const NODES: usize = 63;

/// The most active terms.
const ACTIVE: usize = 400;

impl Entered {
    /// Tries to refute the entered facts together with the negation of the goal.
    pub(super) fn attempt(&mut self, terms: &mut Terms, goal: Term, effort: Effort) -> Outcome {
        self.fuel = effort.steps;
        self.reach = effort.reach;
        self.distance = 0;
        self.own = self.own_constants(terms, goal);
        self.core = FxHashSet::default();
        self.assert_active(terms, goal, false);
        if !self.is_numeric {
            return self.refute(terms, effort.distinctions);
        }
        let (core, is_plain) = self.core_of(terms, goal);
        self.core = core;
        match self.refute(terms, effort.distinctions) {
            Outcome::Open if !is_plain => Outcome::Unknown,
            outcome => outcome,
        }
    }

    /// Returns the constants of a goal that no assumption mentions.
    fn own_constants(&self, terms: &Terms, goal: Term) -> Vec<Term> {
        let mut own = Vec::new();
        terms.visit(vec![goal], |term| {
            let kind = terms.kind(term);
            let is_constant = matches!(kind, TermKind::Apply(_, operands) if operands.is_empty());
            if is_constant && !self.graph.contains(term) {
                own.push(term);
            }
            true
        });
        own
    }

    /// Takes steps off the fuel. Tells whether there were as many.
    pub(super) fn spend(&mut self, steps: u32) -> bool {
        let has_fuel = self.fuel >= steps;
        self.fuel = self.fuel.saturating_sub(steps);
        has_fuel
    }

    /// Enters a formula, and makes its atoms active.
    pub(super) fn assert_active(&mut self, terms: &mut Terms, formula: Term, truth: bool) {
        let mut atoms = Vec::new();
        collect_atoms(terms, formula, &mut atoms);
        for atom in atoms {
            self.graph.enter(terms, atom);
            self.activate(terms, atom);
        }
        let before = self.clauses.len();
        self.assert(terms, formula, truth);
        for clause in before..self.clauses.len() {
            self.watched.insert(clause);
        }
    }

    /// Makes a term active, with its operands.
    fn activate(&mut self, terms: &Terms, term: Term) {
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            if self.active.len() >= ACTIVE || !self.active.insert(term) {
                continue;
            }
            self.distances.push(self.distance);
            if let Some(clauses) = self.clauses_of.get(&term)
                && clauses.len() <= MANY_USES
            {
                for &clause in clauses {
                    self.watched.insert(clause);
                }
            }
            if !matches!(terms.kind(term), TermKind::Quantifier(_)) {
                terms.kind(term).for_each_operand(|operand| pending.push(operand));
            }
        }
    }

    /// Activates the members of a term's class, and atoms about the class.
    fn spread(&mut self, terms: &Terms, term: Term) {
        if matches!(terms.sort(term), Sort::BOOL) || terms.is_literal(term) || term == Terms::NULL {
            return;
        }
        if self.graph.class_size(term) <= MANY_USES {
            let members: Vec<Term> = self.graph.members(term).collect();
            for member in members {
                self.activate(terms, member);
            }
        }
        let is_near = self.distance < self.reach
            && (!self.is_numeric || matches!(terms.sort(term), Sort::INT | Sort::PERM));
        let uses = self.graph.uses(term);
        if is_near && uses.len() <= MANY_USES {
            let atoms: Vec<Term> =
                uses.iter().copied().filter(|&user| self.is_told_of(terms, user)).collect();
            self.distance += 1;
            for atom in atoms {
                self.activate(terms, atom);
            }
            self.distance -= 1;
        }
    }

    /// Tells whether a term is an atom about which something is known.
    fn is_told_of(&self, terms: &Terms, term: Term) -> bool {
        terms.sort(term) == Sort::BOOL
            && (self.graph.unique(term).is_some() || self.is_in_clause(terms, term))
    }

    fn refute(&mut self, terms: &mut Terms, distinctions: u32) -> Outcome {
        loop {
            let numbers = self.follow(terms);
            if numbers == Verdict::Contradictory {
                return Outcome::Proved;
            }
            let Some(parts) = self.next_distinction(terms).or_else(|| self.order_of_factors(terms))
            else {
                let is_open = numbers == Verdict::Satisfiable && self.fuel > 0;
                return if is_open { Outcome::Open } else { Outcome::Unknown };
            };
            // Most cases contradict known facts at once. Then no distinction is necessary.
            let mut possible = Vec::with_capacity(parts.len());
            for &(part, truth) in &parts {
                if !self.spend(20) {
                    return Outcome::Unknown;
                }
                let start = self.mark();
                self.assert_active(terms, part, truth);
                let numbers = self.follow(terms);
                self.undo_to(start);
                if numbers != Verdict::Contradictory {
                    possible.push((part, truth));
                }
            }
            match possible[..] {
                [] => return Outcome::Proved,
                [(part, truth)] => {
                    self.derived.insert((part, terms.bool(truth)));
                    self.assert_active(terms, part, truth);
                }
                _ if distinctions == 0 => return Outcome::Unknown,
                _ => return self.distinguish(terms, &possible, distinctions - 1),
            }
        }
    }

    /// Refutes each of the cases. The later ones assume that the earlier ones do not hold.
    fn distinguish(&mut self, terms: &mut Terms, cases: &[Part], distinctions: u32) -> Outcome {
        for (index, &(part, truth)) in cases.iter().enumerate() {
            let start = self.mark();
            for &(earlier, truth) in &cases[..index] {
                self.assert_active(terms, earlier, !truth);
            }
            self.derived.insert((part, terms.bool(truth)));
            self.assert_active(terms, part, truth);
            let outcome = crate::terms::grow_stack(|| self.refute(terms, distinctions));
            self.undo_to(start);
            if outcome != Outcome::Proved {
                return outcome;
            }
        }
        Outcome::Proved
    }

    /// Saturates, and compares the numbers among the active terms.
    fn follow(&mut self, terms: &mut Terms) -> Verdict {
        self.saturate(terms);
        if self.graph.is_contradictory() {
            return Verdict::Contradictory;
        }
        self.compare_numbers(terms)
    }

    /// Adds the consequences of known facts about the active terms until none is new.
    fn saturate(&mut self, terms: &mut Terms) {
        loop {
            if self.graph.is_contradictory() || !self.spend(1) {
                return;
            }
            let has_new = self.propagate(terms);
            if self.graph.is_contradictory() {
                return;
            }
            if self.seen_rules != self.rules.len() {
                self.seen_rules = self.rules.len();
                self.seen = 0;
            }
            let grown = self.graph.take_grown();
            let until = self.active.len();
            if self.seen == until && grown.is_empty() && !has_new {
                return;
            }
            let seen = std::mem::replace(&mut self.seen, until);
            for index in 0..until {
                let term = self.active.get(index);
                if index >= seen {
                    self.look_at(terms, term, self.distances[index], None);
                } else if self.is_in(terms, term, &grown) {
                    self.look_at(terms, term, self.distances[index], Some(&grown));
                }
                if self.graph.is_contradictory() || self.fuel == 0 {
                    return;
                }
            }
        }
    }

    /// Tells whether a term or an operand of it is in one of the classes.
    fn is_in(&self, terms: &Terms, term: Term, classes: &FxHashSet<Term>) -> bool {
        let mut found = classes.contains(&self.graph.find(term));
        if !found && !classes.is_empty() && !matches!(terms.kind(term), TermKind::Quantifier(_)) {
            terms.kind(term).for_each_operand(|operand| {
                found |= classes.contains(&self.graph.find(operand));
            });
        }
        found
    }

    /// Adds the consequences of a term's presence. For a term that has been looked at before,
    /// `grown` has the classes that have grown since.
    fn look_at(
        &mut self,
        terms: &mut Terms,
        term: Term,
        distance: u32,
        grown: Option<&FxHashSet<Term>>,
    ) {
        let is_number = matches!(terms.sort(term), Sort::INT | Sort::PERM);
        if self.is_numeric && !is_number && terms.sort(term) != Sort::BOOL {
            return;
        }
        self.distance = distance;
        self.spread(terms, term);
        self.open_membership(terms, term);
        self.open_number(terms, term);
        self.instantiate_for(terms, term, grown);
    }

    /// Enters the last open part of each disjunction whose other parts are refuted. Tells whether
    /// there was one.
    fn propagate(&mut self, terms: &mut Terms) -> bool {
        let mut has_new = false;
        let mut index = 0;
        while index < self.watched.len() + self.candidates.len() {
            let unit = self.unit_among(terms, self.parts(index));
            index += 1;
            if !self.spend(1) {
                return false;
            }
            match unit {
                Unit::Refuted => {
                    self.graph.contradict();
                    return true;
                }
                // Its truth may stay unseen after it is entered. To enter it once is enough.
                Unit::Part((part, truth))
                    if self.matters(terms, part)
                        && self.derived.insert((part, terms.bool(truth))) =>
                {
                    self.assert_active(terms, part, truth);
                    has_new = true;
                    if self.graph.is_contradictory() {
                        return true;
                    }
                }
                Unit::Part(_) | Unit::Other => {}
            }
        }
        has_new
    }

    /// Returns the parts of a disjunction. First come the watched clauses, then the candidates.
    fn parts(&self, index: usize) -> &[Part] {
        match index.checked_sub(self.watched.len()) {
            None => &self.clauses[self.watched.get(index)].parts,
            Some(index) => &self.candidates[index],
        }
    }

    /// Tells whether a formula says something about terms in the graph. An equation that only names
    /// a new term does not. Nor does an equation that makes a larger term of the same kind, such as
    /// the value of a map below an update.
    fn matters(&self, terms: &Terms, formula: Term) -> bool {
        let mut atoms = Vec::new();
        collect_atoms(terms, formula, &mut atoms);
        atoms.into_iter().all(|atom| match *terms.kind(atom) {
            TermKind::Eq(left, right) => {
                let (has_left, has_right) =
                    (self.graph.has_form(terms, left), self.graph.has_form(terms, right));
                match (has_left, has_right) {
                    (true, true) => true,
                    (false, false) => false,
                    (true, false) => !self.is_larger(terms, right, left),
                    (false, true) => !self.is_larger(terms, left, right),
                }
            }
            TermKind::Lt(left, right) | TermKind::Le(left, right) => {
                self.has_leaves(terms, left) && self.has_leaves(terms, right)
            }
            _ => {
                let mut all = true;
                terms.kind(atom).for_each_operand(|operand| {
                    all &= self.graph.has_form(terms, operand);
                });
                all
            }
        })
    }

    /// Tells whether a formula compares a number of the core.
    fn is_about_core(&self, terms: &Terms, formula: Term) -> bool {
        let mut pending = Vec::new();
        collect_atoms(terms, formula, &mut pending);
        while let Some(term) = pending.pop() {
            match terms.kind(term) {
                TermKind::Eq(..)
                | TermKind::Lt(..)
                | TermKind::Le(..)
                | TermKind::Add(..)
                | TermKind::Sub(..)
                | TermKind::Mul(..)
                | TermKind::IntToPerm(_)
                | TermKind::Ite(..) => {
                    terms.kind(term).for_each_operand(|operand| pending.push(operand));
                }
                _ => {}
            }
            if self.core.contains(&self.graph.find(term)) {
                return true;
            }
        }
        false
    }

    /// Tells whether a new term has the head of a known one and is larger than it.
    fn is_larger(&self, terms: &Terms, new: Term, known: Term) -> bool {
        Head::of(terms, new) == Head::of(terms, known)
            && size(terms, new, NODES) > size(terms, known, NODES)
    }

    /// Tells whether the numbers of a sum are in the graph.
    fn has_leaves(&self, terms: &Terms, number: Term) -> bool {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            match *terms.kind(number) {
                TermKind::Int(_) | TermKind::Perm(_) => {}
                TermKind::Add(left, right)
                | TermKind::Sub(left, right)
                | TermKind::Mul(left, right) => pending.extend([left, right]),
                TermKind::IntToPerm(number) => pending.push(number),
                _ if self.graph.has_form(terms, number) => {}
                _ => return false,
            }
        }
        true
    }

    /// Returns the undecided parts of a disjunction with the fewest of them, the first if there are
    /// several.
    fn next_distinction(&self, terms: &Terms) -> Option<Vec<Part>> {
        let mut best: Option<(Cost, Vec<Part>)> = None;
        for index in 0..self.watched.len() + self.candidates.len() {
            let Some(open) = self.open_among(terms, self.parts(index)) else { continue };
            // A part that was entered may be a formula of several atoms, whose truth stays unseen.
            let is_entered =
                |&(part, truth): &Part| self.derived.contains(&(part, terms.bool(truth)));
            if open.len() > MANY_PARTS || open.iter().any(is_entered) {
                continue;
            }
            // Disjunctions about the constants of the goal itself come first.
            let is_own = open
                .iter()
                .any(|&(part, _)| self.own.iter().any(|&constant| terms.contains(part, constant)));
            let cost = (open.len(), !is_own);
            if best.as_ref().is_none_or(|&(least, _)| cost < least)
                && open.iter().all(|&(part, _)| self.matters(terms, part))
                && (!self.is_numeric
                    || open.iter().any(|&(part, _)| self.is_about_core(terms, part)))
            {
                best = Some((cost, open));
            }
        }
        best.map(|(_, open)| open)
    }

    /// Two integers that differ: one is less than the other. Inequalities can be multiplied, so
    /// that `i · n + j = k · n + l` tells `i = k` where `j` and `l` are remainders.
    fn order_of_factors(&self, terms: &mut Terms) -> Option<Vec<Part>> {
        for index in 0..self.active.len() {
            let term = self.active.get(index);
            let TermKind::Eq(left, right) = *terms.kind(term) else { continue };
            if terms.sort(left) != Sort::INT
                || self.graph.truth(terms, term) != Some(false)
                || ![left, right].iter().any(|&side| self.is_beside_product(terms, side))
            {
                continue;
            }
            let order = [(terms.lt(left, right), true), (terms.lt(right, left), true)];
            let is_open = |&(less, truth): &Part| {
                self.graph.truth(terms, less).is_none()
                    && !self.derived.contains(&(less, terms.bool(truth)))
            };
            if order.iter().all(is_open) {
                return Some(order.to_vec());
            }
        }
        None
    }

    /// Tells whether a number is a factor, or is added to a product.
    fn is_beside_product(&self, terms: &Terms, number: Term) -> bool {
        let is_product = |term: Term| match *terms.kind(term) {
            TermKind::Mul(left, right) => !terms.is_literal(left) && !terms.is_literal(right),
            _ => false,
        };
        let users = self.graph.uses(number);
        users.len() <= MANY_USES
            && users.iter().any(|&user| match *terms.kind(user) {
                TermKind::Add(left, right) | TermKind::Sub(left, right) => {
                    [left, right].iter().any(|&side| self.graph.members(side).any(is_product))
                }
                _ => is_product(user),
            })
    }
}
