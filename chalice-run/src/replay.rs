//! Looks for a run that ends with a failure that is expected: one that a prover has a
//! counterexample for.
//!
//! First come starts that follow the counterexample, as it may be of the state that matters; then
//! others, as it may be of one that no execution reaches. A run that is found is a real one,
//! whatever led to it.
//!
//! If none is found, calls, loops, joins, acquires and receives give whatever their contracts
//! allow. A run that fails then shows that a contract is too weak, and by executing one after the
//! other as they are, which.
//!
//! If that finds nothing either, the method is started at the head of the last loop, in the state
//! that the counterexample has there. A run from there that fails shows that the invariants are too
//! weak; if they do not hold there to begin with, the counterexample is no state at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use chalice::Span;

use crate::code::Code;
use crate::generate::{Bounds, Found, Head, Model, Order, StartText, Starts};
use crate::machine::{Assume, ByContract, Config, Machine, Undefined};
use crate::run::{Failure, Outcome, Scheduling, Verdict, run};

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Starts that follow the model.
    pub following: u64,
    /// Other starts.
    pub others: u64,
    /// Statements that a thread may execute.
    pub steps: u64,
    /// Contradictions in a row that end the search for a start.
    pub patience: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { following: 40, others: 400, steps: 10_000, patience: 1_000 }
    }
}

/// A run that ends with the failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How many statements were executed.
    pub steps: u64,
    /// How many threads there were.
    pub threads: usize,
    /// The start, in words.
    pub start: String,
    /// The text that leads to the run again.
    pub again: StartText,
}

impl Replayed {
    fn new(outcome: &Outcome, ended: &Machine<'_>, start: String, starts: &Starts<'_>) -> Self {
        Self {
            steps: outcome.counts.steps,
            threads: ended.threads.len(),
            start,
            again: starts.text_of(ended),
        }
    }
}

/// A contract that a run has relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contract {
    /// The postcondition of a method.
    Method(u32),
    /// The invariant of a loop.
    Loop(Span),
    /// The invariant of a class.
    Class(u32),
    /// The where clause of a channel.
    Channel(u32),
}

/// A contract that allows the failure, and the statement that relies on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blame {
    /// The statement: its place in the body.
    pub site: u32,
    /// Where the statement is.
    pub used: Span,
    /// The contract.
    pub contract: Contract,
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// A run of the kind that was looked for.
    Replayed(Box<Replayed>),
    /// A run that goes on from what contracts allow, and those that matter: without one of them it
    /// was not found.
    ByContract(Box<Replayed>, Vec<Blame>),
    /// A run from the head of a loop on, in a state that its invariants allow, and the contracts
    /// that it relies on, the invariants first.
    FromLoop(Box<Replayed>, Vec<Blame>),
    /// None of so many runs ended like that, and what came of starting at the head of a loop, if
    /// there was a state to start in.
    NotReproduced(u64, Option<NotFromLoop>),
    /// The method could not be started at all.
    NoStart,
}

/// Why a state at the head of a loop led to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFromLoop {
    /// The loop cannot be entered in it: this invariant does not hold, or asks for permission that
    /// is not there.
    NoState(Span),
    /// The contents of folded predicates were not found.
    NoContents,
    /// From there on nothing goes wrong.
    NothingFails,
    /// Something else goes wrong first.
    Other(Box<Failure>),
}

impl NotFromLoop {
    /// Makes the result of a run that does not end with the failure.
    fn of(outcome: Outcome, has_entered: bool) -> Self {
        let failure = outcome.failure.filter(|_| outcome.verdict == Verdict::Failed);
        match failure {
            None => Self::NothingFails,
            Some(failure) if has_entered => Self::Other(Box::new(failure)),
            Some(failure) => {
                let parts = failure.notes.iter().rev().find_map(|note| note.span);
                Self::NoState(parts.unwrap_or(failure.span))
            }
        }
    }
}

/// Looks for a run of a method that ends with a failure. A counterexample says what it knows of the
/// start of the method, and of the head of the last loop.
pub fn replay(
    code: &Code,
    method: u32,
    (model, head): (&Model, Option<&Arc<Head>>),
    limits: Limits,
    is_wanted: impl Fn(&Failure) -> bool,
) -> Search {
    let models = vec![model.clone()];
    let mut searcher = Searcher { code, method, models, is_wanted: &is_wanted, runs: 0 };
    if let Some((replayed, _)) = searcher.search(limits, None) {
        return Search::Replayed(Box::new(replayed));
    }
    // Iterations begin as the head of the loop says.
    searcher.models.extend(head.map(|head| head.around(model)));
    let sites = ByContract::all_sites(code, method);
    let few = Limits { others: limits.others / 4, ..limits };
    if searcher.runs > 0
        && !sites.is_empty()
        && let Some((replayed, relied)) = searcher.search(few, Some(sites))
    {
        let (replayed, blame) = searcher.fewest(few, replayed, relied);
        return Search::ByContract(Box::new(replayed), blame);
    }
    let from_loop = head.map(|head| searcher.search_from(limits, head));
    match (from_loop, searcher.runs) {
        (Some(Ok((replayed, blame))), _) => Search::FromLoop(Box::new(replayed), blame),
        (None, 0) => Search::NoStart,
        (Some(Err(why)), runs) => Search::NotReproduced(runs, Some(why)),
        (None, runs) => Search::NotReproduced(runs, None),
    }
}

struct Searcher<'s> {
    code: &'s Code,
    method: u32,
    models: Vec<Model>,
    is_wanted: &'s dyn Fn(&Failure) -> bool,
    /// How many runs there were.
    runs: u64,
}

impl<'s> Searcher<'s> {
    /// Returns a run that ends with the failure, and the contracts that it has relied on. `sites`
    /// are the statements that give whatever their contracts allow.
    fn search(
        &mut self,
        limits: Limits,
        sites: Option<BTreeSet<u32>>,
    ) -> Option<(Replayed, BTreeSet<Blame>)> {
        let by_contract =
            sites.map(|sites| Arc::new(ByContract::new(self.code, self.method, sites)));
        let following =
            self.models.clone().into_iter().map(|model| (Some(model), limits.following));
        for (model, count) in following.chain([(None, limits.others)]) {
            let mut starts = self.starts(limits, by_contract.clone());
            if let Some(model) = model {
                starts = starts.following(model);
            }
            while starts.found < count {
                let Found::Start(mut machine) = starts.next_start() else { break };
                self.runs += 1;
                let start = machine.start_text();
                let (is_found, outcome) = self.ends_like_that(&mut machine, starts.found);
                if is_found && (by_contract.is_none() || machine.fails_by_contract()) {
                    let replayed = Replayed::new(&outcome, &machine, start, &starts);
                    return Some((replayed, machine.relied));
                }
                starts.go_on(&machine);
            }
        }
        None
    }

    fn starts(&self, limits: Limits, by_contract: Option<Arc<ByContract>>) -> Starts<'s> {
        let config = Config {
            undefined: Undefined::Choose,
            assume: Assume::Discard,
            steps: limits.steps,
            visible_steps: 2_000,
            by_contract,
            ..Config::default()
        };
        let mut starts =
            Starts::new(self.code, self.method, config, Bounds::default(), Order::Random(0));
        starts.patience = limits.patience;
        starts
    }

    /// Runs a start, and says whether it ends with the failure.
    fn ends_like_that(&self, machine: &mut Machine<'_>, number: u64) -> (bool, Outcome) {
        let scheduling = match number {
            1 => Scheduling::First,
            number => Scheduling::Seed(number),
        };
        let outcome = run(machine, &scheduling);
        let is_found = outcome.verdict == Verdict::Failed
            && outcome.failure.as_ref().is_some_and(self.is_wanted)
            && machine.doubt.is_none();
        (is_found, outcome)
    }

    /// Runs from the head of a loop on: with the code as it is, then with whatever contracts allow.
    fn search_from(
        &self,
        limits: Limits,
        head: &Arc<Head>,
    ) -> Result<(Replayed, Vec<Blame>), NotFromLoop> {
        let mut why = NotFromLoop::NoContents;
        let mut sites = ByContract::all_sites(self.code, self.method);
        sites.remove(&head.site);
        let mut ways = vec![None];
        if !sites.is_empty() {
            ways.push(Some(Arc::new(ByContract::new(self.code, self.method, sites))));
        }
        for by_contract in ways {
            let mut starts = self.starts(limits, by_contract).at(head.clone());
            while starts.found < limits.following {
                let Found::Start(mut machine) = starts.next_start() else { break };
                let start = machine.head_text(head);
                let (is_found, outcome) = self.ends_like_that(&mut machine, starts.found);
                let has_entered = outcome.counts.steps > 1;
                if is_found && has_entered {
                    let replayed = Replayed::new(&outcome, &machine, start, &starts);
                    let (site, used) = (head.site, head.span);
                    let own = Blame { site, used, contract: Contract::Loop(head.span) };
                    let blame = std::iter::once(own).chain(machine.relied).collect();
                    return Ok((replayed, blame));
                }
                if matches!(why, NotFromLoop::NoContents) {
                    why = NotFromLoop::of(outcome, has_entered);
                }
                starts.go_on(&machine);
            }
        }
        Err(why)
    }

    /// Executes one statement after the other as it is, as long as there is a run that fails: what
    /// is left matters.
    fn fewest(
        &mut self,
        limits: Limits,
        mut replayed: Replayed,
        mut relied: BTreeSet<Blame>,
    ) -> (Replayed, Vec<Blame>) {
        for one in relied.clone() {
            let others: BTreeSet<u32> = relied.iter().map(|other| other.site).collect();
            let others: BTreeSet<u32> = others.into_iter().filter(|at| *at != one.site).collect();
            if others.is_empty() || relied.len() == others.len() {
                continue;
            }
            if let Some(found) = self.search(limits, Some(others)) {
                (replayed, relied) = found;
            }
        }
        (replayed, relied.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::ModelValue;
    use crate::sources::Sources;

    const TEXT: &str = "class Node { var next: Node; var value: int;
      invariant acc(value) && value >= 0
      method far(n: int) requires acc(next) && (next != null ==> acc(next.value)) && 0 <= n
      { assert next == null || n < 2 || 1000 < n || next.value * n != 63791 }
      method never(n: int) requires n < n { assert false }
      method right(n: int) { assert n == n }
      method one() returns (r: int) requires acc(value) ensures acc(value) && r >= 0 { value := 1; r := 1 }
      method two() returns (r: int) requires acc(next) ensures acc(next) && r == 2 { r := 2 }
      method calls() requires acc(value) && acc(next) {
        var a: int; var b: int; call b := two(); call a := one(); assert b == 2;
        assert next == old(next); assert a == 1; assert value == 1 }
      method keeps() requires acc(value, 50) && value == 3 { call reads(); assert value == 3 }
      method reads() requires rd(value) ensures rd(value) { }
      method loops(n: int) requires n >= 0 && acc(value) ensures acc(value) && value == n {
        var i := 0; value := 0;
        while (i < n) invariant acc(value) && i <= n { i := i + 1; value := i } }
      method joins() requires acc(value) {
        fork tk := one(); var r: int; join r := tk; assert r >= 0; assert r == 1 }
      method locks() { var o := new Node { value := 0 }; share o; acquire o; assert o.value >= 0; assert o.value == 0; release o } }
      channel Numbers(n: int, of: Node) where of != null && acc(of.value) && of.value == n && n > 1;
      class User {
        method receives() {
          var c := new Numbers; var o := new Node { value := 3 }; send c(3, o);
          var n: int; var of: Node; receive n, of := c; assert of.value > 1; assert of.value == 3 } }";

    fn searched(method: &str, model: &Model) -> Search {
        let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
        let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
        let method = code.method(method).expect("there is such a method");
        replay(&code, method, (model, None), Limits::default(), |failure| {
            failure.id == "assert.failed:assertion.false"
        })
    }

    #[test]
    fn a_start_follows_its_model() {
        let field =
            |object, name: &str, value| ((object, "Node".to_owned(), name.to_owned()), value);
        let model = Model {
            receiver: Some(3),
            arguments: [("n".to_owned(), ModelValue::Int(7))].into(),
            fields: [
                field(3, "next", ModelValue::Object(5)),
                field(5, "value", ModelValue::Int(9113)),
            ]
            .into(),
            ..Model::default()
        };
        let Search::Replayed(found) = searched("Node.far", &model) else { panic!("not found") };
        assert!(found.start.contains("n = 7"), "{}", found.start);
        assert_eq!(found.threads, 1);
        // The same decisions lead there once more.
        let again = StartText::parse(&found.again.to_string()).expect("it is a start");
        let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
        let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
        let method = code.method("Node.far").expect("there is such a method");
        let config = Config { undefined: Undefined::Choose, ..Config::default() };
        let starts = Starts::new(&code, method, config, Bounds::default(), Order::All);
        let Found::Start(mut machine) = starts.from_text(&again).next_start() else {
            panic!("no start")
        };
        let outcome = run(&mut machine, &Scheduling::First);
        assert_eq!(outcome.verdict, Verdict::Failed);
        assert_eq!(outcome.counts.steps, found.steps);
    }

    #[test]
    fn what_does_not_happen_is_not_found() {
        let nothing = Model::default();
        assert_eq!(searched("Node.far", &nothing), Search::NotReproduced(440, None));
        assert_eq!(searched("Node.right", &nothing), Search::NotReproduced(440, None));
        assert_eq!(searched("Node.never", &nothing), Search::NoStart);
    }

    /// Returns the result of a search for a failure at a text, without a model.
    fn found_at(method: &str, text: &str) -> Search {
        let sources = Sources::new(vec![("a".to_owned(), TEXT.to_owned())]);
        let code = Code::new(sources.check().0.expect("it is a program"), sources.options());
        let method = code.method(method).expect("there is such a method");
        replay(&code, method, (&Model::default(), None), Limits::default(), |failure| {
            TEXT[failure.span.start as usize..].starts_with(text)
        })
    }

    /// Returns the contracts that are blamed for a failure at an assertion.
    fn blamed(method: &str, text: &str) -> Vec<Contract> {
        match found_at(method, text) {
            Search::ByContract(_, blame) => blame.iter().map(|one| one.contract).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn is_not_reproduced(method: &str, text: &str) {
        let found = found_at(method, text);
        assert!(matches!(found, Search::NotReproduced(..)), "{text}: {found:?}");
    }

    #[test]
    fn what_contracts_allow_is_blamed_on_them() {
        let one = Contract::Method(3);
        assert_eq!(blamed("Node.calls", "assert a == 1"), [one]);
        assert_eq!(blamed("Node.calls", "assert value == 1"), [one]);
        let two = Contract::Method(4);
        assert_eq!(blamed("Node.calls", "assert next == old"), [two]);
        assert!(matches!(
            blamed("Node.loops", "acc(value) && value == n")[..],
            [Contract::Loop(_)]
        ));
        assert_eq!(blamed("Node.joins", "assert r == 1"), [one]);
        assert_eq!(blamed("Node.locks", "assert o.value == 0"), [Contract::Class(0)]);
        assert_eq!(blamed("User.receives", "assert of.value == 3"), [Contract::Channel(0)]);
    }

    #[test]
    fn what_contracts_exclude_is_not_found() {
        is_not_reproduced("Node.calls", "assert b == 2");
        is_not_reproduced("Node.keeps", "assert value == 3");
        is_not_reproduced("Node.joins", "assert r >= 0");
        is_not_reproduced("Node.locks", "assert o.value >= 0");
        is_not_reproduced("User.receives", "assert of.value > 1");
    }
}
