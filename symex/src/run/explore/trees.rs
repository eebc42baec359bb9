//! Random trees of decisions. Runs with repetitions and merged ways have the results of an executor
//! that simply calls itself twice.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sil::source::Span;
use smt::terms::{Substitution, TermKind};

use super::tests::with_engine;
use super::*;
use crate::findings::blame::{Blame, ErrorId, Reason};
use crate::findings::log::Recalled;

/// The number of propositions that are there to decide.
const PROPOSITIONS: u8 = 3;
/// How much more the end of a path counts than what was merged before.
const WEIGHT: i64 = 7;

/// A proposition, and whether it holds.
type Literal = (u8, bool);

/// An execution.
#[derive(Clone, Debug)]
enum Tree {
    End(u8),
    Assume(Literal, Box<Tree>),
    /// An obligation, at a place.
    Prove(Literal, u8, Box<Tree>),
    /// Goes on one way if an obligation has failed at a place, and another way if none has.
    Recall(u8, Box<Tree>, Box<Tree>),
    Branch(Literal, Box<Tree>, Box<Tree>),
    /// A choice that no condition tells apart.
    Choose(Vec<Tree>),
    /// Two sides that meet, and what comes after them.
    Either(Literal, Box<Tree>, Box<Tree>, Box<Tree>),
}

/// The parts that trees are made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All but ways that meet.
    Splitting,
    /// No choices, and no questions about what was found: ways that meet come in another order.
    Meeting,
}

fn literal() -> impl Strategy<Value = Literal> {
    (0..PROPOSITIONS, any::<bool>())
}

fn tree(kind: Kind) -> BoxedStrategy<Tree> {
    let end = (0..6_u8).prop_map(Tree::End);
    let more = move |inner: BoxedStrategy<Tree>| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let assume = (literal(), boxed.clone()).prop_map(|(it, rest)| Tree::Assume(it, rest));
        let prove = (literal(), 0..4_u8, boxed.clone())
            .prop_map(|(it, place, rest)| Tree::Prove(it, place, rest));
        let branch = (literal(), boxed.clone(), boxed.clone())
            .prop_map(|(it, left, right)| Tree::Branch(it, left, right));
        let choose = prop::collection::vec(inner, 1..4).prop_map(Tree::Choose);
        let recall = (0..4_u8, boxed.clone(), boxed.clone())
            .prop_map(|(place, yes, no)| Tree::Recall(place, yes, no));
        let either = (literal(), boxed.clone(), boxed.clone(), boxed.clone())
            .prop_map(|(it, left, right, rest)| Tree::Either(it, left, right, rest));
        match kind {
            Kind::Splitting => prop_oneof![assume, prove, branch, choose, recall].boxed(),
            Kind::Meeting => prop_oneof![assume, prove, branch, either].boxed(),
        }
    };
    end.boxed().prop_recursive(6, 40, 3, move |inner| more(inner.boxed()).boxed()).boxed()
}

/// The decisions on a path.
type Decided = BTreeMap<u8, bool>;

/// The plain executor: what it finds in the order in which it comes to it.
#[derive(Default)]
struct Plain {
    failed: BTreeSet<u8>,
    /// A failure contradicts what was decided, so that it was not assumed.
    has_unassumed: bool,
    paths: Vec<(Decided, i64)>,
}

/// The continuation of a tree, given the decisions and the value at its end.
type Next<'a> = &'a dyn Fn(&mut Plain, Decided, i64);

impl Plain {
    fn of(tree: &Tree) -> Self {
        let mut plain = Self::default();
        plain.run(tree, Decided::new(), &|plain, decided, value| {
            plain.paths.push((decided, value));
        });
        plain
    }

    fn run(&mut self, tree: &Tree, decided: Decided, next: Next<'_>) {
        match tree {
            Tree::End(value) => next(self, decided, i64::from(*value)),
            Tree::Assume(literal, rest) => {
                if let Some(decided) = with(&decided, *literal) {
                    self.run(rest, decided, next);
                }
            }
            Tree::Prove(literal, place, rest) => {
                if decided.get(&literal.0) != Some(&literal.1) {
                    self.failed.insert(*place);
                }
                // A claim that failed is assumed where the path stays alive.
                let assumed = with(&decided, *literal);
                self.has_unassumed |= assumed.is_none();
                self.run(rest, assumed.unwrap_or(decided), next);
            }
            Tree::Recall(place, yes, no) => {
                let side = if self.failed.contains(place) { yes } else { no };
                self.run(side, decided, next);
            }
            Tree::Branch(literal, left, right) => {
                for (side, holds) in [(left, literal.1), (right, !literal.1)] {
                    if let Some(decided) = with(&decided, (literal.0, holds)) {
                        self.run(side, decided, next);
                    }
                }
            }
            Tree::Choose(alternatives) => {
                for alternative in alternatives {
                    self.run(alternative, decided.clone(), next);
                }
            }
            Tree::Either(literal, left, right, rest) => {
                let rest = |plain: &mut Self, decided: Decided, first: i64| {
                    plain.run(rest, decided, &|plain, decided, last| {
                        next(plain, decided, first + WEIGHT * last);
                    });
                };
                for (side, holds) in [(left, literal.1), (right, !literal.1)] {
                    if let Some(decided) = with(&decided, (literal.0, holds)) {
                        self.run(side, decided, &rest);
                    }
                }
            }
        }
    }

    /// Returns the values of the paths that are taken under an assignment.
    fn values(&self, assignment: u8) -> Vec<i64> {
        let is_taken = |decided: &Decided| {
            decided.iter().all(|(&proposition, &holds)| is_true(assignment, proposition) == holds)
        };
        let taken = self.paths.iter().filter(|(decided, _)| is_taken(decided));
        taken.map(|&(_, value)| value).collect()
    }
}

/// Adds a decision, unless it contradicts an earlier one.
fn with(decided: &Decided, (proposition, holds): Literal) -> Option<Decided> {
    let mut decided = decided.clone();
    (*decided.entry(proposition).or_insert(holds) == holds).then_some(decided)
}

fn is_true(assignment: u8, proposition: u8) -> bool {
    assignment >> proposition & 1 == 1
}

fn place(number: u8) -> Span {
    Span { start: u32::from(number), ..Span::default() }
}

fn blame(number: u8) -> Blame {
    Blame::new(ErrorId::AssertFailed, place(number))
}

fn proposition(engine: &mut Engine<'_>, number: u8) -> Term {
    engine.terms.constant(&format!("p{number}"), Sort::BOOL)
}

fn formula(engine: &mut Engine<'_>, (number, holds): Literal) -> Term {
    let proposition = proposition(engine, number);
    if holds { proposition } else { engine.terms.not(proposition) }
}

/// Runs a tree as a rule would.
fn run(engine: &mut Engine<'_>, tree: &Tree) -> Result<Term, Stop> {
    match tree {
        Tree::End(value) => Ok(engine.terms.int(i64::from(*value))),
        Tree::Assume(literal, rest) => {
            let fact = formula(engine, *literal);
            engine.assume(fact)?;
            run_if_alive(engine, rest)
        }
        Tree::Prove(literal, number, rest) => {
            let goal = formula(engine, *literal);
            engine.prove(goal, blame(*number), Reason::AssertionFalse, place(*number))?;
            run_if_alive(engine, rest)
        }
        Tree::Recall(number, yes, no) => {
            let failed = engine.has_failed(blame(*number), Reason::AssertionFalse)?;
            run(engine, if failed { yes } else { no })
        }
        Tree::Branch(literal, left, right) => {
            let condition = formula(engine, *literal);
            let holds = engine.branch(condition)?;
            run(engine, if holds { left } else { right })
        }
        Tree::Choose(alternatives) => {
            let taken = engine.choose(&vec![None; alternatives.len()])?;
            run(engine, &alternatives[taken])
        }
        Tree::Either(literal, left, right, rest) => {
            let condition = formula(engine, *literal);
            let first = engine
                .either(condition, |engine, holds| run(engine, if holds { left } else { right }))?;
            let last = run(engine, rest)?;
            let weight = engine.terms.int(WEIGHT);
            let last = engine.terms.mul(weight, last);
            Ok(engine.terms.add(first, last))
        }
    }
}

fn run_if_alive(engine: &mut Engine<'_>, rest: &Tree) -> Result<Term, Stop> {
    if engine.is_dead()? {
        return Err(Stop::Infeasible);
    }
    run(engine, rest)
}

/// The value of a path under each assignment; `None` where the path is not taken.
type Values = Vec<Option<i64>>;

/// Runs a tree to an end, and looks at what that is under each assignment.
fn judged(engine: &mut Engine<'_>, tree: &Tree) -> Result<Values, Stop> {
    let value = run(engine, tree)?;
    let mut values = Vec::new();
    for assignment in 0..1 << PROPOSITIONS {
        let mut map = Substitution::default();
        let mut literals = Vec::new();
        for number in 0..PROPOSITIONS {
            let holds = is_true(assignment, number);
            let proposition = proposition(engine, number);
            map.insert(proposition, engine.terms.bool(holds));
            literals.push(formula(engine, (number, holds)));
        }
        let taken = engine.terms.and(literals);
        let never = engine.terms.not(taken);
        let is_taken = engine.ask_obligation(never)? != Answer::Yes;
        let value = engine.terms.substitute(value, &map);
        values.push(is_taken.then(|| number(engine, value)));
    }
    Ok(values)
}

fn number(engine: &Engine<'_>, value: Term) -> i64 {
    let TermKind::Int(number) = engine.terms.kind(value) else {
        panic!("a value without propositions is a number: {}", engine.terms.display(value))
    };
    number.to_string().parse().expect("trees are small")
}

/// Collects the numbers of the obligations that have failed.
fn failed(engine: &mut Engine<'_>) -> BTreeSet<u8> {
    let mut failed = BTreeSet::new();
    for number in 0..4 {
        let question = Recalled::Failed {
            error: ErrorId::AssertFailed,
            reason: Reason::AssertionFalse,
            at: place(number),
            clause: None,
            in_other_reading: false,
        };
        if engine.recall(question).expect("nothing is replayed") {
            failed.insert(number);
        }
    }
    failed
}

/// Returns the finds of exploring a tree.
fn explored(tree: &Tree, merges: bool) -> (Vec<Values>, BTreeSet<u8>) {
    let mut found = None;
    with_engine(|engine| {
        engine.mode.joins = merges;
        let paths = engine.explore(|engine| judged(engine, tree)).expect("no defect");
        let paths = paths.into_iter().map(|path| path.value).collect();
        found = Some((paths, failed(engine)));
    });
    found.expect("the engine has run")
}

/// Lists the values of the paths taken for each assignment, in order.
fn by_assignment(paths: &[Values]) -> Vec<Vec<i64>> {
    let of = |assignment: usize| {
        let mut values: Vec<i64> = paths.iter().filter_map(|path| path[assignment]).collect();
        values.sort_unstable();
        values
    };
    (0..1 << PROPOSITIONS).map(of).collect()
}

/// Lists the values of the plain executor for each assignment, in order.
fn expected(plain: &Plain) -> Vec<Vec<i64>> {
    let of = |assignment| {
        let mut values = plain.values(assignment);
        values.sort_unstable();
        values
    };
    (0..1 << PROPOSITIONS).map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn repeated_runs_are_those_of_a_plain_executor(tree in tree(Kind::Splitting)) {
        let plain = Plain::of(&tree);
        let (paths, failed) = explored(&tree, false);
        prop_assert_eq!(paths.len(), plain.paths.len());
        prop_assert_eq!(by_assignment(&paths), expected(&plain));
        prop_assert_eq!(failed, plain.failed);
    }

    #[test]
    fn merged_ways_have_the_values_of_single_ones(tree in tree(Kind::Meeting)) {
        let plain = Plain::of(&tree);
        let alone = explored(&tree, false);
        prop_assert_eq!(by_assignment(&alone.0), expected(&plain));
        prop_assert_eq!(&alone.1, &plain.failed);
        let merged = explored(&tree, true);
        prop_assert!(merged.0.len() <= alone.0.len());
        if plain.has_unassumed {
            // A failure that one of several merged ways cannot assume ends that way only.
            let values = by_assignment(&merged.0).into_iter().zip(expected(&plain));
            let mut is_part = values.map(|(some, all)| some.iter().all(|one| all.contains(one)));
            prop_assert!(is_part.all(|is_part| is_part));
            prop_assert!(merged.1.is_subset(&plain.failed));
        } else {
            prop_assert_eq!(by_assignment(&merged.0), expected(&plain));
            prop_assert_eq!(merged.1, plain.failed);
        }
    }
}
