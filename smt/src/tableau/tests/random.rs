//! Random formulas, about which the tableau and Z3 have to agree.

use super::{Bench, order};
use crate::prover::{Answer, Budget, Prover, ProverOptions, QueryKind};
use crate::tableau::Outcome;
use crate::terms::{Sort, Symbol, Term, TermKind, Terms};

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one_of(&mut self, terms: &[Term]) -> Term {
        terms[self.below(terms.len())]
    }
}

/// The terms that random formulas are made of.
struct Vocabulary {
    refs: Vec<Term>,
    sets: Vec<Term>,
    amounts: Vec<Term>,
    numbers: Vec<Term>,
    levels: Vec<Term>,
    below: Symbol,
    level_of: Symbol,
    number_of: Symbol,
}

impl Vocabulary {
    fn new(bench: &mut Bench) -> Vocabulary {
        let (level, below) = order(bench);
        let set = bench.terms.set_sort(Sort::REF);
        let constants = |bench: &mut Bench, names: &[&str], sort| -> Vec<Term> {
            names.iter().map(|name| bench.constant(name, sort)).collect()
        };
        Vocabulary {
            refs: constants(bench, &["a", "b", "c"], Sort::REF),
            sets: constants(bench, &["s", "t"], set),
            amounts: constants(bench, &["p", "q"], Sort::PERM),
            numbers: constants(bench, &["i", "j"], Sort::INT),
            levels: constants(bench, &["x", "y", "z"], level),
            level_of: bench.terms.declare_function("level", &[Sort::REF], level),
            number_of: bench.terms.declare_function("number", &[Sort::REF], Sort::INT),
            below,
        }
    }

    fn level(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        match chance.below(3) {
            0 => {
                let of = chance.one_of(&self.refs);
                terms.apply(self.level_of, &[of])
            }
            _ => chance.one_of(&self.levels),
        }
    }

    fn number(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        match chance.below(4) {
            0 => terms.int(chance.below(3)),
            1 => {
                let of = chance.one_of(&self.refs);
                terms.apply(self.number_of, &[of])
            }
            2 => {
                let (left, right) = (chance.one_of(&self.numbers), self.number(terms, chance));
                match chance.below(5) {
                    0 => terms.mul(left, right),
                    1 | 2 => terms.add(left, right),
                    _ => terms.sub(left, right),
                }
            }
            _ => chance.one_of(&self.numbers),
        }
    }

    fn amount(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        match chance.below(6) {
            0 => {
                let thirds =
                    [Terms::NONE, terms.fraction(1, 3), terms.fraction(2, 3), Terms::WRITE];
                chance.one_of(&thirds)
            }
            1 => {
                let condition = self.atom(terms, chance);
                let (then, otherwise) = (chance.one_of(&self.amounts), Terms::NONE);
                terms.ite(condition, then, otherwise)
            }
            2 => {
                let (left, right) = (self.amount(terms, chance), chance.one_of(&self.amounts));
                if chance.below(2) == 0 {
                    terms.sub(left, right)
                } else {
                    terms.perm_min(left, right)
                }
            }
            3 => {
                let count = self.number(terms, chance);
                let count = terms.int_to_perm(count);
                terms.mul(count, chance.one_of(&self.amounts))
            }
            _ => chance.one_of(&self.amounts),
        }
    }

    fn set(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        let set = chance.one_of(&self.sets);
        let single = terms.set_singleton(chance.one_of(&self.refs));
        match chance.below(5) {
            0 => terms.set_union(set, single),
            1 => terms.set_difference(set, single),
            2 => {
                let other = chance.one_of(&self.sets);
                terms.set_intersection(set, other)
            }
            _ => set,
        }
    }

    fn atom(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        match chance.below(8) {
            0 => {
                let (left, right) = (chance.one_of(&self.refs), chance.one_of(&self.refs));
                terms.identical(left, right)
            }
            1 => {
                let (left, right) = (self.level(terms, chance), self.level(terms, chance));
                terms.apply(self.below, &[left, right])
            }
            2 => {
                let (left, right) = (self.level(terms, chance), self.level(terms, chance));
                terms.identical(left, right)
            }
            3 => {
                let (left, right) = (self.number(terms, chance), self.number(terms, chance));
                terms.lt(left, right)
            }
            4 => {
                let (left, right) = (self.amount(terms, chance), self.amount(terms, chance));
                if chance.below(3) == 0 {
                    terms.identical(left, right)
                } else {
                    terms.le(left, right)
                }
            }
            5 => {
                let (left, right) = (self.set(terms, chance), self.set(terms, chance));
                terms.eq(left, right)
            }
            _ => {
                let (element, set) = (chance.one_of(&self.refs), self.set(terms, chance));
                terms.set_contains(element, set)
            }
        }
    }

    fn formula(&self, terms: &mut Terms, chance: &mut Chance) -> Term {
        let atom = self.atom(terms, chance);
        match chance.below(8) {
            0 => terms.not(atom),
            1 => {
                let other = self.formula(terms, chance);
                terms.or([atom, other])
            }
            2 => {
                let other = self.formula(terms, chance);
                terms.implies(atom, other)
            }
            3 => {
                let other = self.atom(terms, chance);
                terms.iff(atom, other)
            }
            4 => {
                let level = self.level(terms, chance);
                let set = chance.one_of(&self.sets);
                let o = terms.named_variable("o", Sort::REF);
                let has = terms.set_contains(o, set);
                let of = terms.apply(self.level_of, &[o]);
                let is_below = terms.apply(self.below, &[of, level]);
                let body = terms.implies(has, is_below);
                terms.forall(&[o], vec![vec![has]], body, "random", 0)
            }
            _ => atom,
        }
    }
}

/// Z3 proves everything that few steps prove, and excludes no amounts that the tableau finds
/// possible.
// Traps: T14a
#[test]
fn z3_agrees() {
    let mut proved = 0;
    let mut open = 0;
    for seed in 0..1_500 {
        let mut bench = Bench::default();
        let vocabulary = Vocabulary::new(&mut bench);
        let mut prover = Prover::new(ProverOptions::default()).expect("a prover");
        for axiom in bench.tableau.axioms.clone() {
            prover.add_axiom(axiom);
        }
        let mut chance = Chance(seed);
        for _ in 0..chance.below(8) {
            let fact = vocabulary.formula(&mut bench.terms, &mut chance);
            bench.assume(fact);
            prover.assume(fact);
        }
        for has_to_hold in [true, true, false] {
            let goal = vocabulary.formula(&mut bench.terms, &mut chance);
            if matches!(bench.terms.kind(goal), TermKind::Bool(_)) {
                continue;
            }
            let outcome = bench.tableau.ask(&mut bench.terms, goal, has_to_hold);
            let expected = match outcome {
                Outcome::Proved => Answer::Proved,
                Outcome::Open => Answer::NotProved,
                Outcome::Left(_) | Outcome::Unknown => continue,
            };
            let answer = prover
                .check(&mut bench.terms, goal, QueryKind::Obligation, Budget::OBLIGATION)
                .expect("no error");
            match outcome {
                Outcome::Proved => {
                    let shown = bench.terms.display(goal);
                    assert_eq!(answer, expected, "seed {seed}: {shown}");
                    proved += 1;
                }
                _ => open += usize::from(answer == expected),
            }
        }
    }
    assert!(proved > 200, "{proved} proofs are too few to tell");
    assert!(open > 20, "{open} open questions are too few to tell");
}
