//! One member in several parts, each verified by an engine of its own, perhaps on another thread.
//!
//! When a method has cost much, its engine gives away the alternatives left at one of its branches:
//! the branch with most paths ahead. Terms and solvers stay with their engine, so it gives away a
//! way. The engine of the new part repeats the run up to that branch, with the prover's answers
//! from the giver. There it takes the given alternatives, and leaves all others alone.
//!
//! Invariants
//! - The decision to give, and the choice of a branch, depend on questions, answers and the
//!   prover's steps only, not on time or threads. So the parts of a member are always the same, and
//!   so are their findings. If all parts together reach a limit, their findings are dropped, and
//!   only the progress of each part depends on chance.
//! - SOUNDNESS: an engine is a function of the prover's answers. With the same answers it asks the
//!   same questions and comes to the same branch. If it does not, that is a defect: the engine
//!   stops, and the member is not verified.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sil::source::Span;
use smt::prover::Answer;
use smt::terms::Term;

use crate::Path;
use crate::report::{Means, Statistics};

/// An event on the way of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// The prover's answer to a goal.
    Answer(Term, Answer),
    /// The alternative taken at a decision, the first time or after another one.
    Decision(usize),
}

/// The way of an engine to its part.
#[derive(Debug)]
pub struct Part {
    /// The events before the branch where the part begins.
    before: Vec<Event>,
    /// The branches on the way at which alternatives were given away. The part begins at the last
    /// one.
    turns: Vec<Turn>,
    /// The alternatives that engines on the way gave away before. The way does not lead there.
    left_out: Vec<Turn>,
}

/// A branch, and the alternatives given away there.
#[derive(Clone, Debug)]
struct Turn {
    /// The number of events before it.
    at: usize,
    alternatives: Vec<usize>,
}

/// The counts of all parts together.
#[derive(Debug, Default)]
pub struct Whole {
    /// The paths followed to their ends.
    paths: AtomicU64,
    /// The questions, and those of them that reached the prover.
    asked: AtomicU64,
    by_prover: AtomicU64,
    /// The loops whose invariants have been assumed, each with the answer whether some state met
    /// them then.
    met: Mutex<BTreeMap<Span, bool>>,
}

impl Whole {
    /// Returns the invariants that the finished parts have assumed, and that no state met.
    pub fn unmet(self) -> Vec<Span> {
        let met = self.met.into_inner().unwrap_or_else(PoisonError::into_inner);
        met.into_iter().filter(|(_, met)| !met).map(|(span, _)| span).collect()
    }
}

/// The cost of an attempt, in the counts that have limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spent {
    pub(crate) paths: u64,
    pub(crate) asked: u64,
    pub(crate) by_prover: u64,
}

impl Spent {
    /// Returns the cost of one engine.
    pub(crate) fn of(statistics: &Statistics) -> Spent {
        let Statistics { paths, questions, .. } = statistics;
        Spent { paths: *paths, asked: questions.asked(), by_prover: questions.by_prover }
    }
}

/// An engine's side of the division of work.
pub struct Sharing<'p> {
    give: Box<dyn FnMut(Part) + 'p>,
    /// The events so far.
    so_far: Vec<Event>,
    /// The turns taken.
    turns: Vec<Turn>,
    /// The alternatives that were given away, also by other engines on the way to the own part.
    given: Vec<Turn>,
    /// The way to the own part, until the part is reached.
    way: Option<Part>,
    /// The cost of the answers since alternatives were last given away, in steps of the prover.
    cost: u64,
    whole: &'p Whole,
}

/// The steps of the prover after which alternatives are given away again: about 100 ms, where a
/// part costs some 20 ms to begin with.
pub(super) const STEPS: u64 = 300_000;

/// The fixed cost of a question, in steps.
const QUESTION: u64 = 1_000;

impl<'p> Sharing<'p> {
    /// Makes the side of an engine that verifies a part or, without one, the whole. `give` gets the
    /// parts that the engine gives away.
    pub fn new(part: Option<Part>, whole: &'p Whole, give: impl FnMut(Part) + 'p) -> Self {
        let given = part.as_ref().map_or_else(Vec::new, |part| part.left_out.clone());
        let give = Box::new(give);
        Self { give, so_far: Vec::new(), turns: Vec::new(), given, way: part, cost: 0, whole }
    }

    /// Counts the end of a path, if it is one of the own part.
    pub fn count_path(&self) {
        if self.has_arrived() {
            self.whole.paths.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a question, if it is one of the own part.
    pub(crate) fn count_question(&self, means: Means) {
        if self.has_arrived() {
            self.whole.asked.fetch_add(1, Ordering::Relaxed);
            if let Means::Prover(_) = means {
                self.whole.by_prover.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the cost of all parts together so far.
    pub(crate) fn spent(&self) -> Spent {
        let Whole { paths, asked, by_prover, .. } = self.whole;
        let [paths, asked, by_prover] =
            [paths, asked, by_prover].map(|count| count.load(Ordering::Relaxed));
        Spent { paths, asked, by_prover }
    }

    /// Notes whether some state met the invariants of loops.
    pub fn note_loops(&self, loops: BTreeMap<Span, bool>) {
        let mut met = self.whole.met.lock().unwrap_or_else(PoisonError::into_inner);
        for (span, is_met) in loops {
            *met.entry(span).or_default() |= is_met;
        }
    }

    /// Returns the number of events so far.
    pub(crate) fn now(&self) -> usize {
        self.so_far.len()
    }

    /// Tells whether the engine has come to its own part.
    pub fn has_arrived(&self) -> bool {
        self.way.is_none()
    }

    /// Returns the answer to a goal, on the way to the own part.
    pub(crate) fn known_answer(&mut self, goal: Term) -> Option<Answer> {
        let next = self.way.as_ref()?.before.get(self.so_far.len());
        let Some(Event::Answer(same, answer)) = next else {
            panic!("a part diverged from its way at a question");
        };
        assert!(*same == goal, "a part diverged from its way to another question");
        self.so_far.push(Event::Answer(goal, *answer));
        Some(*answer)
    }

    /// Notes an answer of the prover, and its steps.
    pub(crate) fn answered(&mut self, goal: Term, answer: Answer, steps: u64) {
        self.so_far.push(Event::Answer(goal, answer));
        self.cost += QUESTION + steps;
    }

    /// Notes the way of a decision.
    pub(crate) fn decided(&mut self, taken: usize) {
        let event = Event::Decision(taken);
        if let Some(way) = &self.way {
            let same = way.before.get(self.so_far.len()) == Some(&event);
            assert!(same, "a part diverged from its way at a decision");
        }
        self.so_far.push(event);
    }

    /// Returns the alternatives to take at the next decision, if it is a turn of the way.
    fn turn(&mut self) -> Option<Vec<usize>> {
        let way = self.way.as_ref()?;
        let turn = way.turns.get(self.turns.len()).filter(|turn| turn.at == self.so_far.len())?;
        let turn = turn.clone();
        let is_last = self.turns.len() + 1 == way.turns.len();
        if is_last {
            self.way = None;
        }
        self.turns.push(turn.clone());
        Some(turn.alternatives)
    }

    /// Tells whether an alternative of the next decision is for another engine.
    fn is_given(&self, alternative: usize) -> bool {
        let now = self.now();
        self.given.iter().any(|turn| turn.at == now && turn.alternatives.contains(&alternative))
    }

    /// Tells whether it is time to give alternatives away.
    pub fn is_due(&self) -> bool {
        self.way.is_none() && self.cost >= STEPS
    }

    /// Gives away alternatives of the branch that was made at the event `at`.
    pub fn give(&mut self, at: usize, alternatives: Vec<usize>) {
        self.cost = 0;
        let mut turns = self.turns.clone();
        // The engine may pass on a part of its own alternatives.
        turns.retain(|turn| turn.at < at);
        turns.push(Turn { at, alternatives: alternatives.clone() });
        let left_out = self.given.iter().filter(|turn| turn.at < at).cloned().collect();
        self.given.push(Turn { at, alternatives });
        (self.give)(Part { before: self.so_far[..at].to_vec(), turns, left_out });
    }
}

impl Path<'_> {
    /// Tells whether an alternative of the next decision was given away on the way to this engine's
    /// part. The giver did not go there either, so the events on the way did not happen there.
    pub(crate) fn is_given(&self, alternative: usize) -> bool {
        self.run.explorers.len() == 1
            && self.run.sharing.as_ref().is_some_and(|sharing| sharing.is_given(alternative))
    }

    /// Returns the alternatives to take at the next decision, if the others are not for this
    /// engine.
    pub(crate) fn turn(&mut self) -> Option<Vec<usize>> {
        // Only steps of a method are shared, not explorations inside of them.
        if self.run.explorers.len() > 1 {
            return None;
        }
        let taken = self.run.sharing.as_mut()?.turn()?;
        self.run.has_turned = true;
        // Events on the way are counted where they happened first.
        self.log.restart_counts();
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use super::*;
    use smt::terms::{Sort, Terms};

    const YES: Answer = Answer::Proved;

    fn whole() -> &'static Whole {
        Box::leak(Box::default())
    }

    /// Makes two goals, and the part that an engine gives away. The part asks for the first goal at
    /// two branches, and then has spent enough on the second.
    fn part() -> ([Term; 2], Part) {
        let mut terms = Terms::new();
        let goals = ["p", "q"].map(|name| terms.constant(name, Sort::BOOL));
        let given = RefCell::new(None);
        let mut sharing = Sharing::new(None, whole(), |part| {
            given.replace(Some(part));
        });
        sharing.answered(goals[0], YES, 0);
        sharing.decided(0);
        let second = sharing.now();
        sharing.decided(0);
        assert!(!sharing.is_due(), "nothing has been spent");
        sharing.answered(goals[1], Answer::NotProved, STEPS);
        assert!(sharing.is_due());
        sharing.give(second, vec![1]);
        assert!(!sharing.is_due(), "one thing at a time");
        drop(sharing);
        (goals, given.into_inner().expect("given"))
    }

    #[test]
    fn a_part_begins_at_its_branch() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), whole(), |_| {});
        assert_eq!(sharing.known_answer(goals[0]), Some(YES));
        assert_eq!(sharing.turn(), None);
        sharing.decided(0);
        assert!(!sharing.has_arrived());
        assert_eq!(sharing.turn(), Some(vec![1]));
        assert!(sharing.has_arrived());
        sharing.decided(1);
        assert_eq!(sharing.known_answer(goals[1]), None);
        assert_eq!(sharing.turn(), None);
    }

    #[test]
    fn what_happens_on_the_way_was_counted_before() {
        let whole = Whole::default();
        let ([goal, _], part) = part();
        let mut sharing = Sharing::new(Some(part), &whole, |_| {});
        sharing.known_answer(goal);
        let count = |sharing: &Sharing<'_>| {
            sharing.count_path();
            sharing.count_question(Means::Facts);
            sharing.count_question(Means::Prover(Duration::ZERO));
            sharing.spent()
        };
        assert_eq!(count(&sharing), Spent { paths: 0, asked: 0, by_prover: 0 });
        sharing.decided(0);
        sharing.turn();
        sharing.decided(1);
        let spent = Spent { paths: 1, asked: 2, by_prover: 1 };
        assert_eq!(count(&sharing), spent);
        assert_eq!(Sharing::new(None, &whole, |_| {}).spent(), spent);
    }

    #[test]
    fn an_invariant_is_met_where_some_part_has_met_it() {
        let whole = Whole::default();
        let [first, second] = [1, 2].map(|start| Span { start, ..Span::default() });
        let part = || Sharing::new(None, &whole, |_| {});
        part().note_loops(BTreeMap::from([(first, false), (second, false)]));
        part().note_loops(BTreeMap::from([(first, true)]));
        part().note_loops(BTreeMap::from([(first, false)]));
        assert_eq!(whole.unmet(), [second]);
    }

    #[test]
    fn a_part_of_what_was_given_can_be_passed_on() {
        let (goals, mut part) = part();
        part.turns[0].alternatives.push(2);
        let at = part.turns[0].at;
        let given = RefCell::new(None);
        let mut sharing = Sharing::new(Some(part), whole(), |part| {
            given.replace(Some(part));
        });
        sharing.known_answer(goals[0]);
        sharing.decided(0);
        assert_eq!(sharing.turn(), Some(vec![1, 2]));
        sharing.decided(1);
        sharing.give(at, vec![2]);
        drop(sharing);
        let mut last = Sharing::new(given.into_inner(), whole(), |_| {});
        last.known_answer(goals[0]);
        last.decided(0);
        assert_eq!(last.turn(), Some(vec![2]));
        assert!(last.has_arrived());
    }

    #[test]
    fn a_way_does_not_lead_where_others_were_sent() {
        let given = RefCell::new(Vec::new());
        let mut sharing = Sharing::new(None, whole(), |part| given.borrow_mut().push(part));
        sharing.decided(0);
        let inner = sharing.now();
        sharing.decided(0);
        sharing.give(inner, vec![1]);
        // The outer branch the other way, and there another one.
        sharing.decided(1);
        let last = sharing.now();
        sharing.give(last, vec![1]);
        drop(sharing);
        let mut part = Sharing::new(given.into_inner().pop(), whole(), |_| {});
        assert!(!part.is_given(1));
        part.decided(0);
        assert!(part.is_given(1), "the giver did not go there, either");
        assert!(!part.is_given(0));
        part.decided(0);
        part.decided(1);
        assert_eq!(part.turn(), Some(vec![1]));
    }

    #[test]
    #[should_panic(expected = "diverged from its way to another question")]
    fn another_question_is_not_answered() {
        let (goals, part) = part();
        Sharing::new(Some(part), whole(), |_| {}).known_answer(goals[1]);
    }

    #[test]
    #[should_panic(expected = "diverged from its way at a decision")]
    fn another_decision_is_not_followed() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), whole(), |_| {});
        sharing.known_answer(goals[0]);
        sharing.decided(1);
    }

    #[test]
    #[should_panic(expected = "diverged from its way at a question")]
    fn nothing_is_asked_where_the_part_should_begin() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), whole(), |_| {});
        sharing.known_answer(goals[0]);
        sharing.decided(0);
        sharing.known_answer(goals[1]);
    }
}
