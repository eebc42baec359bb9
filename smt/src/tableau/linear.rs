//! Inequalities between sums of numbers with literal factors, which hold of what a question is about.
//!
//! They are taken from the classes of the graph: a class of numbers is a variable, and a sum in the class an equation.
//! Equations are solved, then the variables of the inequalities are eliminated one after the other (Fourier and Motzkin). Integers are
//! read as rationals, but that `<` between whole combinations of them is `≤` of one less.

use std::collections::VecDeque;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::search::MANY_USES;
use super::{Entered, collect_atoms};
use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

type Number = Ratio<i128>;

/// What is found of the inequalities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Contradictory,
    /// There are numbers for which they hold.
    Satisfiable,
    Unknown,
}

/// So many classes of numbers are looked at, as long as their inequalities contradict nothing.
const STAGES: [usize; 3] = [6, 16, 40];

/// More inequalities at a time are left to the prover.
const ROWS: usize = 160;

/// More numbers in a question are left to the prover.
const NUMBERS: usize = 40;

/// A sum of variables with factors, none of them 0, and a literal.
#[derive(Clone, Default, Debug)]
struct Sum {
    /// By variable, in ascending order.
    factors: Vec<(u32, Number)>,
    literal: Number,
}

/// `sum ≥ 0`, or `sum > 0` if it is strict.
#[derive(Clone, Debug)]
struct Row {
    sum: Sum,
    is_strict: bool,
}

/// `None`: a number has become too large.
impl Sum {
    fn variable(variable: u32) -> Sum {
        Sum { factors: vec![(variable, Number::one())], literal: Number::zero() }
    }

    fn literal(literal: Number) -> Sum {
        Sum { factors: Vec::new(), literal }
    }

    /// `self + factor · other`.
    fn plus(&self, factor: &Number, other: &Sum) -> Option<Sum> {
        let add = |a: &Number, b: &Number| a.checked_add(&factor.checked_mul(b)?);
        let mut factors = Vec::with_capacity(self.factors.len() + other.factors.len());
        let (mut left, mut right) =
            (self.factors.iter().peekable(), other.factors.iter().peekable());
        loop {
            let variable = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some((a, _)), Some((b, _))) => *a.min(b),
                (Some((a, _)), None) => *a,
                (None, Some((b, _))) => *b,
            };
            let zero = Number::zero();
            let of_left = left.next_if(|(a, _)| *a == variable).map_or(&zero, |(_, n)| n);
            let of_right = right.next_if(|(b, _)| *b == variable).map_or(&zero, |(_, n)| n);
            let number = add(of_left, of_right)?;
            if !number.is_zero() {
                factors.push((variable, number));
            }
        }
        Some(Sum { factors, literal: add(&self.literal, &other.literal)? })
    }

    fn factor(&self, variable: u32) -> Option<&Number> {
        let at = self.factors.binary_search_by_key(&variable, |(known, _)| *known).ok()?;
        Some(&self.factors[at].1)
    }
}

/// The inequalities about one group of numbers.
#[derive(Default)]
struct System {
    /// The variable of a class.
    variables: FxHashMap<Term, u32>,
    /// The classes whose facts are still to be collected.
    pending: VecDeque<Term>,
    /// How many have been collected.
    collected: usize,
    equations: Vec<Sum>,
    rows: Vec<Row>,
    /// The comparisons of which these are.
    compared: FxHashSet<Term>,
    /// Whether a number was too large.
    is_partial: bool,
}

impl Entered {
    /// Judges the inequalities about the active numbers.
    pub(super) fn compare_numbers(&mut self, terms: &Terms) -> Verdict {
        let mut system = System::default();
        let mut has_comparison = false;
        for index in 0..self.active.len() {
            let term = self.active.get(index);
            match *terms.kind(term) {
                TermKind::Lt(..) | TermKind::Le(..) => {
                    has_comparison |= self.collect_comparison(terms, &mut system, term);
                }
                _ => {}
            }
        }
        if !has_comparison {
            return Verdict::Unknown;
        }
        // What is nearest to the question first: it mostly suffices.
        for most in STAGES {
            while system.collected < most
                && let Some(class) = system.pending.pop_front()
            {
                self.collect(terms, &mut system, class);
                system.collected += 1;
            }
            let is_whole = system.pending.is_empty();
            match system.elimination().contradicts(&mut self.fuel) {
                Some(true) => return Verdict::Contradictory,
                Some(false) if is_whole && !system.is_partial => return Verdict::Satisfiable,
                _ if is_whole || self.fuel == 0 => return Verdict::Unknown,
                _ => {}
            }
        }
        Verdict::Unknown
    }

    /// A number by its class: a literal, or a variable.
    fn class_sum(&self, terms: &Terms, system: &mut System, term: Term) -> Sum {
        if let Some(literal) = self.graph.literal(term) {
            return number(terms, literal).map_or_else(
                || {
                    system.is_partial = true;
                    system.variable(literal)
                },
                Sum::literal,
            );
        }
        if let Some(literal) = number(terms, term) {
            return Sum::literal(literal);
        }
        system.variable(self.graph.find(term))
    }

    /// Whether a disjunction may tell more of an atom.
    pub(super) fn is_in_clause(&self, terms: &Terms, atom: Term) -> bool {
        let Some(clauses) = self.clauses_of.get(&atom) else { return false };
        clauses.len() <= MANY_USES
            && clauses
                .iter()
                .any(|&clause| self.open_among(terms, &self.clauses[clause].parts).is_some())
    }

    /// The numbers that a question about amounts is about: what its sums are made of, also where a sum is known to equal
    /// another one. `None` if they are no plain sums.
    pub(super) fn core_of(&self, terms: &Terms, goal: Term) -> Option<FxHashSet<Term>> {
        let mut core = FxHashSet::default();
        let mut pending = Vec::new();
        let mut atoms = Vec::new();
        collect_atoms(terms, goal, &mut atoms);
        for atom in atoms {
            terms.kind(atom).for_each_operand(|operand| pending.push(operand));
        }
        while let Some(number) = pending.pop() {
            if self.graph.literal(number).is_some() || !core.insert(self.graph.find(number)) {
                continue;
            }
            if core.len() > NUMBERS {
                return None;
            }
            for member in self.graph.members(number) {
                match *terms.kind(member) {
                    TermKind::Apply(..) | TermKind::Perm(_) => {}
                    TermKind::Add(left, right) | TermKind::Sub(left, right) => {
                        pending.extend([left, right]);
                    }
                    TermKind::Mul(left, right) if terms.is_literal(left) => pending.push(right),
                    TermKind::Ite(condition, then, otherwise) => {
                        let holds = self.graph.truth(terms, condition)?;
                        pending.push(if holds { then } else { otherwise });
                    }
                    _ => return None,
                }
            }
        }
        Some(core)
    }

    /// What is known of the numbers of a class.
    fn collect(&self, terms: &Terms, system: &mut System, class: Term) {
        let members: Vec<Term> = self.graph.members(class).collect();
        for member in members {
            self.collect_form(terms, system, member);
        }
        for &user in self.graph.uses(class) {
            match *terms.kind(user) {
                TermKind::Add(..) | TermKind::Sub(..) | TermKind::Mul(..) => {
                    self.collect_form(terms, system, user);
                }
                TermKind::Lt(..) | TermKind::Le(..) => {
                    self.collect_comparison(terms, system, user);
                }
                _ => {}
            }
        }
    }

    /// What a comparison says. Whether it is known to hold, or known not to.
    fn collect_comparison(&self, terms: &Terms, system: &mut System, atom: Term) -> bool {
        let (left, right, is_strict) = match *terms.kind(atom) {
            TermKind::Lt(left, right) => (left, right, true),
            TermKind::Le(left, right) => (left, right, false),
            _ => return false,
        };
        let (left, right, is_strict) = match self.graph.truth(terms, atom) {
            Some(true) => (left, right, is_strict),
            Some(false) => (right, left, !is_strict),
            None => return false,
        };
        if !system.compared.insert(atom) {
            return true;
        }
        let is_int = terms.sort(left) == Sort::INT;
        let left = self.class_sum(terms, system, left);
        let right = self.class_sum(terms, system, right);
        match right.plus(&-Number::one(), &left) {
            Some(sum) => system.rows.push(Row { sum, is_strict }.rounded(is_int)),
            None => system.is_partial = true,
        }
        true
    }

    /// What the form of a number says.
    fn collect_form(&self, terms: &Terms, system: &mut System, term: Term) {
        let own = self.class_sum(terms, system, term);
        let minus = -Number::one();
        let form = match *terms.kind(term) {
            TermKind::Add(left, right) => {
                let left = self.class_sum(terms, system, left);
                let right = self.class_sum(terms, system, right);
                left.plus(&Number::one(), &right)
            }
            TermKind::Sub(left, right) => {
                let left = self.class_sum(terms, system, left);
                let right = self.class_sum(terms, system, right);
                left.plus(&minus, &right)
            }
            TermKind::Mul(left, right) => {
                let (left, right) =
                    (self.class_sum(terms, system, left), self.class_sum(terms, system, right));
                let (factor, sum) = match (&left.factors[..], &right.factors[..]) {
                    ([], _) => (left.literal, right),
                    (_, []) => (right.literal, left),
                    _ => return,
                };
                Sum::default().plus(&factor, &sum)
            }
            TermKind::Theory(
                TheoryOp::SeqLength
                | TheoryOp::SetCard
                | TheoryOp::MultisetCard
                | TheoryOp::MultisetCount
                | TheoryOp::MapCard,
                ..,
            ) => {
                system.rows.push(Row { sum: own, is_strict: false });
                return;
            }
            TermKind::Ite(condition, then, otherwise) => match self.graph.truth(terms, condition) {
                Some(true) => Some(self.class_sum(terms, system, then)),
                Some(false) => Some(self.class_sum(terms, system, otherwise)),
                None => return,
            },
            _ => return,
        };
        match form.and_then(|form| form.plus(&minus, &own)) {
            Some(equation) => system.equations.push(equation),
            None => system.is_partial = true,
        }
    }
}

impl System {
    fn variable(&mut self, class: Term) -> Sum {
        let next = self.variables.len() as u32;
        let variable = *self.variables.entry(class).or_insert_with(|| {
            self.pending.push_back(class);
            next
        });
        Sum::variable(variable)
    }

    fn elimination(&self) -> Elimination {
        Elimination { equations: self.equations.clone(), rows: self.rows.clone() }
    }
}

/// Equations and inequalities while variables are eliminated.
struct Elimination {
    equations: Vec<Sum>,
    rows: Vec<Row>,
}

impl Elimination {
    /// Whether the equations and inequalities contradict each other; `None` if that takes too much.
    fn contradicts(mut self, fuel: &mut u32) -> Option<bool> {
        while let Some(equation) = self.equations.pop() {
            let Some(&(variable, ref factor)) = equation.factors.first() else {
                if equation.literal.is_zero() {
                    continue;
                }
                return Some(true);
            };
            let inverse = -factor.recip();
            let replace = |sum: &mut Sum| -> Option<()> {
                if let Some(own) = sum.factor(variable) {
                    *sum = sum.plus(&own.checked_mul(&inverse)?, &equation)?;
                }
                Some(())
            };
            spend(fuel, self.equations.len() + self.rows.len());
            self.equations.iter_mut().try_for_each(replace)?;
            self.rows.iter_mut().try_for_each(|row| replace(&mut row.sum))?;
        }
        loop {
            self.tighten();
            let mut variables: Vec<u32> = Vec::new();
            for row in &self.rows {
                if row.sum.factors.is_empty() && !row.holds() {
                    return Some(true);
                }
                variables.extend(row.sum.factors.iter().map(|&(variable, _)| variable));
            }
            self.rows.retain(|row| !row.sum.factors.is_empty());
            variables.sort_unstable();
            variables.dedup();
            // The variable of which fewest inequalities come.
            let cost = |&variable: &u32| {
                let signs = self.rows.iter().filter_map(|row| row.sum.factor(variable));
                let (above, below): (Vec<_>, Vec<_>) =
                    signs.map(Number::is_positive).partition(|&is_above| is_above);
                (above.len() * below.len(), variable)
            };
            let Some(variable) = variables.into_iter().min_by_key(cost) else {
                return Some(false);
            };
            spend(fuel, self.rows.len());
            let made = self.eliminate(variable)?;
            spend(fuel, 4 * made);
            if *fuel == 0 {
                return None;
            }
        }
    }

    /// Keeps the strongest of the inequalities that differ in their literals only.
    fn tighten(&mut self) {
        for row in &mut self.rows {
            if let Some((_, first)) = row.sum.factors.first() {
                let scale = first.abs().recip();
                if let Some(scaled) = Sum::default().plus(&scale, &row.sum) {
                    row.sum = scaled;
                }
            }
        }
        let strength = |row: &Row| (row.sum.literal, !row.is_strict);
        self.rows.sort_by(|a, b| {
            a.sum.factors.cmp(&b.sum.factors).then_with(|| strength(a).cmp(&strength(b)))
        });
        self.rows.dedup_by(|later, first| later.sum.factors == first.sum.factors);
    }

    /// Replaces the inequalities with a variable by those that follow for the others: how many these are.
    fn eliminate(&mut self, variable: u32) -> Option<usize> {
        let (with, without): (Vec<Row>, Vec<Row>) = std::mem::take(&mut self.rows)
            .into_iter()
            .partition(|row| row.sum.factor(variable).is_some());
        self.rows = without;
        let (lower, upper): (Vec<Row>, Vec<Row>) = with
            .into_iter()
            .partition(|row| row.sum.factor(variable).is_some_and(Number::is_positive));
        let combinations = lower.len() * upper.len();
        if self.rows.len() + combinations > ROWS {
            return None;
        }
        for low in &lower {
            let of_low = low.sum.factor(variable)?;
            for high in &upper {
                // Both are multiplied by a positive number, so that the variable vanishes.
                let factor = of_low.checked_mul(&high.sum.factor(variable)?.abs().recip())?;
                let sum = low.sum.plus(&factor, &high.sum)?;
                self.rows.push(Row { sum, is_strict: low.is_strict || high.is_strict });
            }
        }
        Some(combinations)
    }
}

impl Row {
    /// Whether an inequality without variables holds.
    fn holds(&self) -> bool {
        if self.is_strict {
            self.sum.literal.is_positive()
        } else {
            !self.sum.literal.is_negative()
        }
    }

    /// `sum > 0` between integers as `sum - 1 ≥ 0`.
    fn rounded(mut self, is_int: bool) -> Row {
        let is_whole = self.sum.literal.is_integer()
            && self.sum.factors.iter().all(|(_, factor)| factor.is_integer());
        if is_int
            && is_whole
            && self.is_strict
            && let Some(less) = self.sum.literal.checked_add(&-Number::one())
        {
            self.sum.literal = less;
            self.is_strict = false;
        }
        self
    }
}

/// Takes off what has been done.
fn spend(fuel: &mut u32, steps: usize) {
    *fuel = fuel.saturating_sub(steps as u32);
}

/// The value of a literal that is not too large.
fn number(terms: &Terms, term: Term) -> Option<Number> {
    match terms.kind(term) {
        TermKind::Int(value) => Some(Number::from_integer(value.to_i64()?.into())),
        TermKind::Perm(value) => {
            let (numerator, denominator) = (value.numer().to_i64()?, value.denom().to_i64()?);
            Some(Number::new(numerator.into(), denominator.into()))
        }
        _ => None,
    }
}
