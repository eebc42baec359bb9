//! One member in several parts, each verified by an engine of its own, perhaps on another thread.
//!
//! When a method has cost much, its engine gives away the alternatives that one of its branches has left: the branch with
//! most paths ahead. Terms and solvers stay with their engine, so what it gives is a way: the engine of the new part does
//! the same once more up to that branch, with the prover's answers from the giver, there takes the alternatives it was
//! given, and leaves all others alone.
//!
//! Invariants
//! - Whether and what to give depends on questions and answers only, not on time or threads. So the parts of a member are
//!   always the same, and so is what they find.
//! - SOUNDNESS: an engine is a function of the prover's answers, so one that gets the same answers asks the same
//!   questions and comes to the same branch. If it does not, that is a defect: it stops, and the member is not verified.

use super::Engine;
use crate::prover::Answer;
use crate::report::Statistics;
use crate::terms::Term;

/// What happened on the way of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    /// The prover's answer to a goal.
    Answer(Term, Answer),
    /// The alternative taken at a decision, the first time or after another one.
    Decision(usize),
}

/// What an engine is to do to get to its part.
#[derive(Debug)]
pub(crate) struct Part {
    /// What happened before the branch where it begins.
    before: Vec<Event>,
    /// The branches at which alternatives were given away on the way; the last one is where the part begins.
    turns: Vec<Turn>,
    /// What those on the way gave away to others before: the way does not lead there.
    left_out: Vec<Turn>,
}

/// A branch, and the alternatives given away there.
#[derive(Clone, Debug)]
struct Turn {
    /// How much had happened before it.
    at: usize,
    alternatives: Vec<usize>,
}

/// An engine's side of the division of work.
pub(crate) struct Sharing<'p> {
    give: Box<dyn FnMut(Part) + 'p>,
    /// What has happened.
    so_far: Vec<Event>,
    /// The turns taken.
    turns: Vec<Turn>,
    /// What was given away, also by others on the way to the own part.
    given: Vec<Turn>,
    /// The way to the own part, until that is reached.
    way: Option<Part>,
    /// About what the answers have cost since something was last given away.
    cost: u64,
}

/// Nothing is given away before this has been spent since the last time.
const STEP: u64 = 100;

/// About how many milliseconds an answer takes.
fn cost(answer: Answer) -> u64 {
    match answer {
        Answer::Proved | Answer::NotProved => 1,
        Answer::GaveUp(_) => 20,
    }
}

impl<'p> Sharing<'p> {
    /// For an engine that verifies a part or, without one, the whole. `give` gets what it gives away.
    pub(crate) fn new(part: Option<Part>, give: impl FnMut(Part) + 'p) -> Self {
        let given = part.as_ref().map_or_else(Vec::new, |part| part.left_out.clone());
        let give = Box::new(give);
        Self { give, so_far: Vec::new(), turns: Vec::new(), given, way: part, cost: 0 }
    }

    /// How much has happened so far.
    pub(super) fn now(&self) -> usize {
        self.so_far.len()
    }

    /// Whether the engine has come to its own part.
    pub(crate) fn has_arrived(&self) -> bool {
        self.way.is_none()
    }

    /// The answer to a goal, on the way to the own part.
    pub(super) fn known_answer(&mut self, goal: Term) -> Option<Answer> {
        let next = self.way.as_ref()?.before.get(self.so_far.len());
        let Some(Event::Answer(same, answer)) = next else {
            panic!("a part diverged from its way at a question");
        };
        assert!(*same == goal, "a part diverged from its way to another question");
        self.so_far.push(Event::Answer(goal, *answer));
        Some(*answer)
    }

    /// Notes what the prover has answered.
    pub(super) fn answered(&mut self, goal: Term, answer: Answer) {
        self.so_far.push(Event::Answer(goal, answer));
        self.cost += cost(answer);
    }

    /// Notes which way a decision goes.
    pub(super) fn decided(&mut self, taken: usize) {
        let event = Event::Decision(taken);
        if let Some(way) = &self.way {
            let same = way.before.get(self.so_far.len()) == Some(&event);
            assert!(same, "a part diverged from its way at a decision");
        }
        self.so_far.push(event);
    }

    /// The alternatives to take at the decision that is about to be made, if it is a turn of the way.
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

    /// Whether an alternative of the decision that is about to be made is for somebody else.
    fn is_given(&self, alternative: usize) -> bool {
        let now = self.now();
        self.given.iter().any(|turn| turn.at == now && turn.alternatives.contains(&alternative))
    }

    /// Whether it is time to give something away.
    pub(super) fn is_due(&self) -> bool {
        self.way.is_none() && self.cost >= STEP
    }

    /// Gives away alternatives of the branch that was made `at` some time.
    pub(super) fn give(&mut self, at: usize, alternatives: Vec<usize>) {
        self.cost = 0;
        let mut turns = self.turns.clone();
        // Of what it was given itself it may pass on a part.
        turns.retain(|turn| turn.at < at);
        turns.push(Turn { at, alternatives: alternatives.clone() });
        let left_out = self.given.iter().filter(|turn| turn.at < at).cloned().collect();
        self.given.push(Turn { at, alternatives });
        (self.give)(Part { before: self.so_far[..at].to_vec(), turns, left_out });
    }
}

impl Engine<'_> {
    /// Whether an alternative of a decision that is about to be made was given away on the way to this engine's part:
    /// the giver did not go there either, so what happened on the way did not happen there.
    pub(super) fn is_given(&self, alternative: usize) -> bool {
        self.explorers.len() == 1
            && self.sharing.as_ref().is_some_and(|sharing| sharing.is_given(alternative))
    }

    /// The alternatives to take at a decision that is about to be made, if others are not for this engine.
    pub(super) fn turn(&mut self) -> Option<Vec<usize>> {
        // Only steps of a method are shared, not what is explored inside of them.
        if self.explorers.len() > 1 {
            return None;
        }
        let taken = self.sharing.as_mut()?.turn()?;
        self.has_turned = true;
        // What happened on the way is counted where it happened first.
        self.statistics = Statistics::default();
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::terms::{Sort, Terms};

    const YES: Answer = Answer::Proved;

    /// Two goals, and the part that an engine gives away which asks for the first at two branches and then has spent
    /// enough on the second.
    fn part() -> ([Term; 2], Part) {
        let mut terms = Terms::new();
        let goals = ["p", "q"].map(|name| terms.constant(name, Sort::BOOL));
        let given = RefCell::new(None);
        let mut sharing = Sharing::new(None, |part| {
            given.replace(Some(part));
        });
        sharing.answered(goals[0], YES);
        sharing.decided(0);
        let second = sharing.now();
        sharing.decided(0);
        while !sharing.is_due() {
            sharing.answered(goals[1], Answer::NotProved);
        }
        sharing.give(second, vec![1]);
        assert!(!sharing.is_due(), "one thing at a time");
        drop(sharing);
        (goals, given.into_inner().expect("given"))
    }

    #[test]
    fn a_part_begins_at_its_branch() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), |_| {});
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
    fn a_part_of_what_was_given_can_be_passed_on() {
        let (goals, mut part) = part();
        part.turns[0].alternatives.push(2);
        let at = part.turns[0].at;
        let given = RefCell::new(None);
        let mut sharing = Sharing::new(Some(part), |part| {
            given.replace(Some(part));
        });
        sharing.known_answer(goals[0]);
        sharing.decided(0);
        assert_eq!(sharing.turn(), Some(vec![1, 2]));
        sharing.decided(1);
        sharing.give(at, vec![2]);
        drop(sharing);
        let mut last = Sharing::new(given.into_inner(), |_| {});
        last.known_answer(goals[0]);
        last.decided(0);
        assert_eq!(last.turn(), Some(vec![2]));
        assert!(last.has_arrived());
    }

    #[test]
    fn a_way_does_not_lead_where_others_were_sent() {
        let given = RefCell::new(Vec::new());
        let mut sharing = Sharing::new(None, |part| given.borrow_mut().push(part));
        sharing.decided(0);
        let inner = sharing.now();
        sharing.decided(0);
        sharing.give(inner, vec![1]);
        // The outer branch the other way, and there another one.
        sharing.decided(1);
        let last = sharing.now();
        sharing.give(last, vec![1]);
        drop(sharing);
        let mut part = Sharing::new(given.into_inner().pop(), |_| {});
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
        Sharing::new(Some(part), |_| {}).known_answer(goals[1]);
    }

    #[test]
    #[should_panic(expected = "diverged from its way at a decision")]
    fn another_decision_is_not_followed() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), |_| {});
        sharing.known_answer(goals[0]);
        sharing.decided(1);
    }

    #[test]
    #[should_panic(expected = "diverged from its way at a question")]
    fn nothing_is_asked_where_the_part_should_begin() {
        let (goals, part) = part();
        let mut sharing = Sharing::new(Some(part), |_| {});
        sharing.known_answer(goals[0]);
        sharing.decided(0);
        sharing.known_answer(goals[1]);
    }
}
