//! Inequalities between sums of numbers with literal factors, about the numbers of a question.
//!
//! They come from the classes of the graph. A class of numbers becomes a sum that is in it, and
//! each other sum in it an equation. A class without a sum becomes a variable. The equations are
//! solved. Then the variables of the inequalities are eliminated one after the other (Fourier and
//! Motzkin). Integers count as rationals, but that `<` between whole combinations of them is `≤` of
//! one less. Products of variables are variables of their own; [`products`] has facts about them.
//!
//! [`products`]: super::products

use std::collections::VecDeque;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::search::MANY_USES;
use super::{Entered, collect_atoms};
use crate::terms::{Sort, Term, TermKind, Terms, TheoryOp};

pub(super) type Number = Ratio<i128>;

/// The result of solving the inequalities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Contradictory,
    /// Some numbers satisfy the inequalities.
    Satisfiable,
    Unknown,
}

/// The numbers of classes that are looked at, as long as their inequalities contradict nothing.
const STAGES: [usize; 3] = [6, 16, 40];

/// The most inequalities at a time. The prover gets larger systems.
pub(super) const ROWS: usize = 160;

/// The most classes that are replaced by sums.
const REPLACED: usize = 200;

/// The most numbers of a question. The prover gets larger questions.
const NUMBERS: usize = 40;

/// A sum of variables with factors, none of them 0, and a literal.
#[derive(Clone, Default, Debug)]
pub(super) struct Sum {
    /// By variable, in ascending order.
    pub(super) factors: Vec<(u32, Number)>,
    pub(super) literal: Number,
}

/// The claim `sum ≥ 0`, or `sum > 0` if it is strict.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) sum: Sum,
    pub(super) is_strict: bool,
}

/// A number that is the product of two others.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) own: Sum,
    pub(super) left: Sum,
    pub(super) right: Sum,
}

/// Sums. A result `None` says that a number has become too large.
impl Sum {
    pub(super) fn variable(variable: u32) -> Sum {
        Sum { factors: vec![(variable, Number::one())], literal: Number::zero() }
    }

    fn literal(literal: Number) -> Sum {
        Sum { factors: Vec::new(), literal }
    }

    /// Returns `self + factor · other`.
    pub(super) fn plus(&self, factor: &Number, other: &Sum) -> Option<Sum> {
        let add = |a: &Number, b: &Number| {
            // PERFORMANCE: most numbers are whole, and those need no common divisors.
            if a.is_integer() && b.is_integer() && factor.is_integer() {
                let product = factor.numer().checked_mul(b.numer())?;
                return a.numer().checked_add(&product).map(Number::from_integer);
            }
            a.checked_add(&factor.checked_mul(b)?)
        };
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

    fn is_zero(&self) -> bool {
        self.factors.is_empty() && self.literal.is_zero()
    }

    fn factor(&self, variable: u32) -> Option<&Number> {
        let at = self.factors.binary_search_by_key(&variable, |(known, _)| *known).ok()?;
        Some(&self.factors[at].1)
    }
}

/// The inequalities about one group of numbers.
#[derive(Default)]
struct System {
    /// The sum in place of each class: its variable, or the sum that a member is.
    sums: FxHashMap<Term, Sum>,
    /// The classes whose sum is being looked for, and those of them that occur in their own sum.
    open: FxHashSet<Term>,
    circular: FxHashSet<Term>,
    /// The number of variables.
    variables: u32,
    /// The classes whose facts are still to be collected.
    pending: VecDeque<Term>,
    /// The number of collected classes.
    collected: usize,
    equations: Vec<Sum>,
    rows: Vec<Row>,
    products: Vec<Product>,
    /// The comparisons that `rows` have.
    compared: FxHashSet<Term>,
    /// Tells whether some comparison is about amounts.
    has_amounts: bool,
    /// Tells whether some number was too large.
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
                TermKind::Lt(left, _) | TermKind::Le(left, _) => {
                    system.has_amounts |= terms.sort(left) == Sort::PERM;
                    has_comparison |= self.collect_comparison(terms, &mut system, term);
                }
                _ => {}
            }
        }
        if !has_comparison {
            return Verdict::Unknown;
        }
        // The classes nearest to the question come first; mostly they suffice.
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

    /// Returns a number by its class: a literal, the sum that a member of the class is, or a
    /// variable.
    fn class_sum(&self, terms: &Terms, system: &mut System, term: Term) -> Sum {
        if let Some(literal) = self.graph.unique(term) {
            return number(terms, literal).map_or_else(
                || {
                    system.is_partial = true;
                    system.own_sum(literal)
                },
                Sum::literal,
            );
        }
        if let Some(literal) = number(terms, term) {
            return Sum::literal(literal);
        }
        let class = self.graph.find(term);
        if let Some(known) = system.sums.get(&class) {
            if system.open.contains(&class) {
                system.circular.insert(class);
            }
            return known.clone();
        }
        let own = system.own_sum(class);
        if system.sums.len() > REPLACED {
            return own;
        }
        system.open.insert(class);
        let form = self
            .graph
            .members(class)
            .find_map(|member| crate::terms::grow_stack(|| self.form_sum(terms, system, member)));
        system.open.remove(&class);
        match form {
            Some(sum) if !system.circular.remove(&class) => {
                system.sums.insert(class, sum.clone());
                sum
            }
            _ => own,
        }
    }

    /// Tells whether a disjunction may decide an atom.
    pub(super) fn is_in_clause(&self, terms: &Terms, atom: Term) -> bool {
        let Some(clauses) = self.clauses_of.get(&atom) else { return false };
        clauses.len() <= MANY_USES
            && clauses.iter().any(|&clause| self.is_open(terms, &self.clauses[clause].parts))
    }

    /// Returns the numbers of a question about amounts: the parts of its sums, and of sums that are
    /// known to equal these. Also tells whether all are plain sums, about which there are no other
    /// facts.
    pub(super) fn core_of(&self, terms: &Terms, goal: Term) -> (FxHashSet<Term>, bool) {
        let mut core = FxHashSet::default();
        let mut is_plain = true;
        let mut pending = Vec::new();
        let mut atoms = Vec::new();
        collect_atoms(terms, goal, &mut atoms);
        for atom in atoms {
            terms.kind(atom).for_each_operand(|operand| pending.push(operand));
        }
        while let Some(number) = pending.pop() {
            if self.graph.unique(number).is_some() || !core.insert(self.graph.find(number)) {
                continue;
            }
            if core.len() > NUMBERS {
                return (core, false);
            }
            for member in self.graph.members(number) {
                match *terms.kind(member) {
                    TermKind::Apply(..) | TermKind::Perm(_) => {}
                    TermKind::Add(left, right)
                    | TermKind::Sub(left, right)
                    | TermKind::Mul(left, right) => pending.extend([left, right]),
                    TermKind::IntToPerm(number) => pending.push(number),
                    TermKind::Ite(condition, then, otherwise) => {
                        match self.graph.truth(terms, condition) {
                            Some(holds) => pending.push(if holds { then } else { otherwise }),
                            None => is_plain = false,
                        }
                    }
                    _ => is_plain = false,
                }
            }
        }
        (core, is_plain)
    }

    /// Collects the facts about the numbers of a class.
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
                // Amounts tell little about integers.
                TermKind::IntToPerm(_) if system.has_amounts => {
                    self.collect_form(terms, system, user);
                }
                TermKind::Lt(..) | TermKind::Le(..) => {
                    self.collect_comparison(terms, system, user);
                }
                _ => {}
            }
        }
    }

    /// Collects a comparison. Returns `true` if the comparison is known to hold, or known not to.
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

    /// Collects the facts that the form of a number implies.
    fn collect_form(&self, terms: &Terms, system: &mut System, term: Term) {
        match *terms.kind(term) {
            TermKind::Theory(
                TheoryOp::SeqLength
                | TheoryOp::SetCard
                | TheoryOp::MultisetCard
                | TheoryOp::MultisetCount
                | TheoryOp::MapCard,
                ..,
            ) => {
                let sum = self.class_sum(terms, system, term);
                system.rows.push(Row { sum, is_strict: false });
                return;
            }
            TermKind::Mul(left, right) => {
                let (left, right) =
                    (self.class_sum(terms, system, left), self.class_sum(terms, system, right));
                if !left.factors.is_empty() && !right.factors.is_empty() {
                    let own = self.class_sum(terms, system, term);
                    system.products.push(Product { own, left, right });
                    return;
                }
            }
            _ => {}
        }
        let Some(form) = self.form_sum(terms, system, term) else { return };
        let own = self.class_sum(terms, system, term);
        match form.plus(&-Number::one(), &own) {
            Some(equation) if equation.is_zero() => {}
            Some(equation) => system.equations.push(equation),
            None => system.is_partial = true,
        }
    }

    /// Returns the sum that a number is by its form, if it is a sum and its numbers are not too
    /// large.
    fn form_sum(&self, terms: &Terms, system: &mut System, term: Term) -> Option<Sum> {
        let sum = match *terms.kind(term) {
            TermKind::Add(left, right) => {
                let left = self.class_sum(terms, system, left);
                let right = self.class_sum(terms, system, right);
                left.plus(&Number::one(), &right)
            }
            TermKind::Sub(left, right) => {
                let left = self.class_sum(terms, system, left);
                let right = self.class_sum(terms, system, right);
                left.plus(&-Number::one(), &right)
            }
            TermKind::Mul(left, right) => {
                let left = self.class_sum(terms, system, left);
                let right = self.class_sum(terms, system, right);
                match (&left.factors[..], &right.factors[..]) {
                    ([], _) => Sum::default().plus(&left.literal, &right),
                    (_, []) => Sum::default().plus(&right.literal, &left),
                    _ => return None,
                }
            }
            TermKind::IntToPerm(number) => Some(self.class_sum(terms, system, number)),
            TermKind::Ite(condition, then, otherwise) => {
                let holds = self.graph.truth(terms, condition)?;
                let taken = if holds { then } else { otherwise };
                Some(self.class_sum(terms, system, taken))
            }
            _ => return None,
        };
        system.is_partial |= sum.is_none();
        sum
    }
}

impl System {
    /// Returns the variable of a class, a new one unless it has one.
    fn own_sum(&mut self, class: Term) -> Sum {
        if let Some(known) = self.sums.get(&class) {
            return known.clone();
        }
        let own = Sum::variable(self.variables);
        self.variables += 1;
        self.pending.push_back(class);
        self.sums.insert(class, own.clone());
        own
    }

    fn elimination(&self) -> Elimination {
        Elimination {
            equations: self.equations.clone(),
            rows: self.rows.clone(),
            products: self.products.clone(),
            variables: self.variables,
        }
    }
}

/// Equations and inequalities while variables are eliminated.
pub(super) struct Elimination {
    pub(super) equations: Vec<Sum>,
    pub(super) rows: Vec<Row>,
    pub(super) products: Vec<Product>,
    /// The number of variables.
    pub(super) variables: u32,
}

impl Elimination {
    /// Tells whether the equations and inequalities contradict each other; `None` if the answer
    /// costs too much.
    fn contradicts(mut self, fuel: &mut u32) -> Option<bool> {
        if !self.solve(fuel)? {
            return Some(true);
        }
        if !self.products.is_empty() {
            self.expand_products(fuel)?;
            if !self.solve(fuel)? {
                return Some(true);
            }
        }
        self.contradicts_inequalities(fuel)
    }

    /// Solves the equations, and replaces the variables that they determine. `Some(false)`: there
    /// is no solution.
    fn solve(&mut self, fuel: &mut u32) -> Option<bool> {
        while let Some(equation) = self.equations.pop() {
            let Some(&(variable, ref factor)) = equation.factors.first() else {
                if equation.literal.is_zero() {
                    continue;
                }
                return Some(false);
            };
            let inverse = -factor.recip();
            let replace = |sum: &mut Sum| -> Option<()> {
                if let Some(own) = sum.factor(variable) {
                    *sum = sum.plus(&own.checked_mul(&inverse)?, &equation)?;
                }
                Some(())
            };
            spend(fuel, self.equations.len() + self.rows.len() + self.products.len());
            self.equations.iter_mut().try_for_each(replace)?;
            self.rows.iter_mut().try_for_each(|row| replace(&mut row.sum))?;
            for product in &mut self.products {
                replace(&mut product.own)?;
                replace(&mut product.left)?;
                replace(&mut product.right)?;
            }
        }
        Some(true)
    }

    fn contradicts_inequalities(mut self, fuel: &mut u32) -> Option<bool> {
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
            // The variable that leads to the fewest inequalities comes first.
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

    /// Replaces the inequalities that have a variable by their consequences without it. Returns the
    /// number of these consequences.
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
                // Both inequalities are multiplied by a positive number, so that the variable
                // vanishes.
                let factor = of_low.checked_mul(&high.sum.factor(variable)?.abs().recip())?;
                let sum = low.sum.plus(&factor, &high.sum)?;
                self.rows.push(Row { sum, is_strict: low.is_strict || high.is_strict });
            }
        }
        Some(combinations)
    }
}

impl Row {
    /// Tells whether an inequality without variables holds.
    fn holds(&self) -> bool {
        if self.is_strict {
            self.sum.literal.is_positive()
        } else {
            !self.sum.literal.is_negative()
        }
    }

    /// Writes `sum > 0` between integers as `sum - 1 ≥ 0`.
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

/// Takes steps off the fuel.
pub(super) fn spend(fuel: &mut u32, steps: usize) {
    *fuel = fuel.saturating_sub(steps as u32);
}

/// Returns the value of a literal that is not too large.
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
