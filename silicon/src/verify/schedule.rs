//! The schedule: tasks, their dependencies, and lanes of tasks that share a workspace of the
//! prover.
//!
//! Invariants
//! - A task comes after everything it depends on.
//! - Tasks, lanes and what a task may see depend on the program and the selection only, never on
//!   threads or time. What is left of a lane behind a costly task is cut into sections, by counted
//!   steps.

mod mentioned;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::answers::{Own, Subject, Work};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};
use sil::plugins::termination::Instrumented;
use sil::program::{Decreases, DecreasesKind, FunctionId, Member, MethodId, PredicateId, Program};
use sil::recursion::applied_in_postconditions;
use sil::source::Span;
use symex::Context;
use syxc::Direct;

use self::mentioned::Mentioned;

/// A piece of a program that is verified as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// A function, or functions that are mutually recursive: their contracts first, then their
    /// bodies.
    Functions {
        functions: Vec<FunctionId>,
        recursive: bool,
        /// The functions whose postconditions no body of the group may be checked with before they
        /// are proved.
        promise_late: Vec<FunctionId>,
    },
    Predicate(PredicateId),
    Method(MethodId),
    /// The proof that a function terminates; it may use what the function promises.
    Termination {
        proof: MethodId,
        function: FunctionId,
    },
}

/// A piece of work, and what it builds on.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) piece: Piece,
    /// The functions whose axioms it may use: all it depends on, directly or not.
    pub(super) functions: FxHashSet<FunctionId>,
    /// The predicates of which it may know whether they are well-formed.
    pub(super) predicates: FxHashSet<PredicateId>,
    /// The tasks it waits for.
    after: BTreeSet<usize>,
    /// About how much work it is: the length of its text, and what is costly in it.
    weight: u32,
}

impl Task {
    /// Returns the facts about the task that answers of earlier runs need.
    pub(super) fn subject(&self) -> (Subject<'_>, Work) {
        let (kind, own) = match &self.piece {
            Piece::Functions { functions, .. } => ("functions", Own::Functions(functions)),
            Piece::Predicate(predicate) => ("predicate", Own::Predicate(*predicate)),
            Piece::Method(method) => ("method", Own::Method(*method)),
            Piece::Termination { proof, function } => {
                ("termination", Own::Termination { proof: *proof, function: *function })
            }
        };
        let mut functions: Vec<FunctionId> = self.functions.iter().copied().collect();
        functions.sort_unstable();
        let mut predicates: Vec<PredicateId> = self.predicates.iter().copied().collect();
        predicates.sort_unstable();
        let of_group = match &self.piece {
            Piece::Functions { functions, .. } => functions.clone(),
            _ => Vec::new(),
        };
        let after = self.after.iter().copied().collect();
        let work = Work { functions: of_group, uses: functions.clone(), after };
        (Subject { kind, own, functions, predicates }, work)
    }

    /// Returns the members that it is about.
    pub(super) fn members(&self) -> Vec<Member> {
        match &self.piece {
            Piece::Functions { functions, .. } => {
                functions.iter().copied().map(Member::Function).collect()
            }
            Piece::Predicate(predicate) => vec![Member::Predicate(*predicate)],
            Piece::Method(method) => vec![Member::Method(*method)],
            Piece::Termination { function, .. } => vec![Member::Function(*function)],
        }
    }
}

/// Tasks that one worker does one after the other.
#[derive(Debug)]
struct Lane {
    tasks: Range<usize>,
    /// The lanes it waits for; they come before it.
    after: BTreeSet<usize>,
    /// How much work it is, together with the longest chain of lanes that wait for it.
    ahead: u32,
}

/// The tasks of a lane, or some of them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Section {
    /// See [`Lane::ahead`].
    ahead: u32,
    lane: Reverse<usize>,
    start: Reverse<usize>,
    end: usize,
}

/// All the work on a program.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) tasks: Vec<Task>,
    lanes: Vec<Lane>,
}

/// A lane is closed when it has this much work. Less, and making workspaces would cost more than
/// verifying.
const LANE_WEIGHT: u32 = 1_000;
/// But there are not many more lanes than this.
const LANES: u32 = 16;
/// The most sections that the rest of a lane is cut into.
const SECTIONS: u32 = 4;
/// A product of variables is as much work as this much text.
const PRODUCT_WEIGHT: u32 = 500;

impl Schedule {
    /// Returns the tasks for the members that `is_selected` picks and for what these depend on.
    pub(super) fn new(context: &Context<'_>, is_selected: impl Fn(Member) -> bool) -> Schedule {
        let Context { program, termination, .. } = *context;
        let mut builder = Builder::new(context);
        builder.add_functions();
        let of_order = |wanted: fn(Member) -> bool| {
            program.order.iter().copied().filter(move |&member| wanted(member))
        };
        for member in of_order(|member| matches!(member, Member::Predicate(_))) {
            if let Member::Predicate(predicate) = member {
                builder.add_predicate(predicate);
            }
        }
        for member in of_order(|member| matches!(member, Member::Method(_))) {
            if let Member::Method(method) = member
                && is_selected(member)
            {
                builder.add_method(method);
            }
        }
        for &(proof, function) in termination.map_or(&[][..], |checks| &checks.proofs) {
            if is_selected(Member::Function(function)) {
                builder.add_termination(proof, function);
            }
        }
        let tasks = needed(builder.tasks, &is_selected);
        let lanes = lanes(&tasks);
        Schedule { tasks, lanes }
    }

    /// Runs every lane, when those it waits for are done, on the threads of the current pool. Of
    /// those that may start, the one with most ahead of it is first, so that no thread is left
    /// alone with it in the end.
    ///
    /// `run` gets tasks of a lane, by index, and returns those that it leaves to others: their
    /// number must not depend on threads or time.
    pub(super) fn run(&self, run: impl Fn(Range<usize>) -> Range<usize> + Sync) {
        let waiting = self.lanes.iter().map(|lane| AtomicUsize::new(lane.after.len())).collect();
        let open = self.lanes.iter().map(|_| AtomicUsize::new(1)).collect();
        let progress = Progress { schedule: self, waiting, open, ready: Mutex::default() };
        rayon::scope(|scope| {
            for (index, lane) in self.lanes.iter().enumerate() {
                if lane.after.is_empty() {
                    progress.let_start(index, lane.tasks.clone());
                }
            }
            let count = progress.ready().len();
            (0..count).for_each(|_| progress.start(scope, &run));
        });
    }

    /// Runs every lane on this thread.
    pub(super) fn run_here(&self, run: impl Fn(Range<usize>) -> Range<usize>) {
        for lane in &self.lanes {
            let mut sections = vec![lane.tasks.clone()];
            while let Some(section) = sections.pop() {
                sections.extend(self.sections(run(section)).into_iter().rev());
            }
        }
    }

    /// Cuts tasks of a lane into sections of about the same weight, so that no section waits for
    /// another.
    fn sections(&self, tasks: Range<usize>) -> Vec<Range<usize>> {
        let weight = |tasks: Range<usize>| self.tasks[tasks].iter().map(|task| task.weight).sum();
        let whole: u32 = weight(tasks.clone());
        let waits = |index: usize, start: usize| {
            let mut later = self.tasks[index..tasks.end].iter();
            later.any(|task| task.after.range(start..index).next().is_some())
        };
        let mut sections = Vec::new();
        let mut start = tasks.start;
        for index in tasks.clone() {
            let so_far: u32 = weight(start..index);
            if so_far >= (whole / SECTIONS).max(1) && !waits(index, tasks.start) {
                sections.push(start..index);
                start = index;
            }
        }
        sections.extend((start < tasks.end).then_some(start..tasks.end));
        sections
    }
}

/// How far the lanes are.
struct Progress<'s> {
    schedule: &'s Schedule,
    /// How many lanes each one still waits for.
    waiting: Vec<AtomicUsize>,
    /// How many sections of each lane are not done.
    open: Vec<AtomicUsize>,
    /// The sections that may start.
    ready: Mutex<BinaryHeap<Section>>,
}

impl Progress<'_> {
    fn ready(&self) -> MutexGuard<'_, BinaryHeap<Section>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_start(&self, lane: usize, tasks: Range<usize>) {
        let Range { start, end } = tasks;
        let ahead = self.schedule.lanes[lane].ahead;
        self.ready().push(Section { ahead, lane: Reverse(lane), start: Reverse(start), end });
    }

    /// Starts a job for one of the sections that may start: whichever is first when a thread is
    /// free.
    fn start<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        run: &'s (impl Fn(Range<usize>) -> Range<usize> + Sync),
    ) {
        scope.spawn(move |scope| {
            let Some(section) = self.ready().pop() else { return };
            let Section { lane: Reverse(index), start: Reverse(start), end, .. } = section;
            let sections = self.schedule.sections(run(start..end));
            self.open[index].fetch_add(sections.len(), Ordering::AcqRel);
            for section in sections {
                self.let_start(index, section);
                self.start(scope, run);
            }
            if self.open[index].fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
            for (next, lane) in self.schedule.lanes.iter().enumerate().skip(index + 1) {
                if lane.after.contains(&index)
                    && self.waiting[next].fetch_sub(1, Ordering::AcqRel) == 1
                {
                    self.let_start(next, lane.tasks.clone());
                    self.start(scope, run);
                }
            }
        });
    }
}

/// Returns those tasks that are selected, and those that they wait for.
fn needed(tasks: Vec<Task>, is_selected: impl Fn(Member) -> bool) -> Vec<Task> {
    let mut is_needed = vec![false; tasks.len()];
    for (index, task) in tasks.iter().enumerate().rev() {
        is_needed[index] |= match &task.piece {
            Piece::Functions { functions, .. } => {
                functions.iter().any(|&function| is_selected(Member::Function(function)))
            }
            Piece::Predicate(predicate) => is_selected(Member::Predicate(*predicate)),
            Piece::Method(_) | Piece::Termination { .. } => true,
        };
        if is_needed[index] {
            task.after.iter().for_each(|&before| is_needed[before] = true);
        }
    }
    let mut new_index = vec![0; tasks.len()];
    let mut kept = Vec::with_capacity(tasks.len());
    for (index, mut task) in tasks.into_iter().enumerate() {
        if is_needed[index] {
            new_index[index] = kept.len();
            task.after = task.after.iter().map(|&before| new_index[before]).collect();
            kept.push(task);
        }
    }
    kept
}

/// Consecutive tasks, so that no two lanes wait for each other.
fn lanes(tasks: &[Task]) -> Vec<Lane> {
    let total: u32 = tasks.iter().map(|task| task.weight).sum();
    let enough = LANE_WEIGHT.max(total / LANES);
    let mut lanes: Vec<Lane> = Vec::new();
    let mut lane_of = Vec::with_capacity(tasks.len());
    let mut weight = enough;
    for (index, task) in tasks.iter().enumerate() {
        // A heavy task does not wait for light ones that happen to come before it.
        if weight >= enough || (weight + task.weight > 2 * enough) {
            lanes.push(Lane { tasks: index..index, after: BTreeSet::new(), ahead: 0 });
            weight = 0;
        }
        let number = lanes.len() - 1;
        let lane = &mut lanes[number];
        lane.tasks.end = index + 1;
        lane.after.extend(
            task.after.iter().map(|&before| lane_of[before]).filter(|&before| before != number),
        );
        lane.ahead += task.weight;
        lane_of.push(number);
        weight += task.weight;
    }
    for index in (0..lanes.len()).rev() {
        let later = lanes[index + 1..].iter().filter(|lane| lane.after.contains(&index));
        lanes[index].ahead += later.map(|lane| lane.ahead).max().unwrap_or(0);
    }
    lanes
}

/// The tasks made so far.
struct Builder<'p> {
    program: &'p Program,
    termination: Option<&'p Instrumented>,
    /// The meaning of members, where the program is a table of their names only.
    direct: Option<&'p Direct>,
    tasks: Vec<Task>,
    of_function: FxHashMap<FunctionId, usize>,
    of_predicate: FxHashMap<PredicateId, usize>,
    /// The functions that axioms of domains mention: every member may need them.
    by_axioms: FxHashSet<FunctionId>,
}

impl<'p> Builder<'p> {
    fn new(context: &Context<'p>) -> Self {
        let Context { program, termination, .. } = *context;
        let direct = Direct::of(context);
        let mut mentioned = Mentioned::default();
        for (_, domain) in program.domains.iter() {
            domain.axioms.iter().for_each(|axiom| mentioned.look_at(program, &axiom.body));
        }
        Builder {
            program,
            termination,
            direct,
            tasks: Vec::new(),
            of_function: FxHashMap::default(),
            of_predicate: FxHashMap::default(),
            by_axioms: mentioned.functions,
        }
    }

    fn add(&mut self, piece: Piece, mentioned: &Mentioned, span: Span) -> usize {
        let mut functions = FxHashSet::default();
        // The functions of this very task are not among them yet.
        let mut after: BTreeSet<usize> = mentioned
            .functions
            .iter()
            .filter_map(|function| self.of_function.get(function).copied())
            .collect();
        for &before in &after {
            let before = &self.tasks[before];
            functions.extend(&before.functions);
            if let Piece::Functions { functions: own, .. } = &before.piece {
                functions.extend(own);
            }
        }
        // Only methods want to know whether the bodies of predicates are well-formed.
        let mut predicates = FxHashSet::default();
        if matches!(piece, Piece::Method(_) | Piece::Termination { .. }) {
            let task = |predicate: &PredicateId| self.of_predicate.get(predicate).copied();
            after.extend(mentioned.predicates.iter().filter_map(task));
            predicates.extend(&mentioned.predicates);
        }
        let text = span.end.saturating_sub(span.start);
        let weight = text.saturating_add(mentioned.products.saturating_mul(PRODUCT_WEIGHT));
        self.tasks.push(Task { piece, functions, predicates, after, weight });
        self.tasks.len() - 1
    }

    /// Callees first; functions that call each other are one task.
    fn add_functions(&mut self) {
        let program = self.program;
        let mut mentioned: FxHashMap<FunctionId, Mentioned> = FxHashMap::default();
        let mut graph: DiGraphMap<FunctionId, ()> = DiGraphMap::new();
        for (caller, declaration) in program.functions.iter() {
            let mut found = Mentioned::default();
            found.look_at_contract(program, &declaration.contract);
            declaration.body.iter().for_each(|body| found.look_at(program, body));
            found.functions.extend(self.direct.iter().flat_map(|it| it.applied_by(caller)));
            graph.add_node(caller);
            let mut callees: Vec<_> = found.functions.iter().copied().collect();
            callees.sort_unstable();
            for callee in callees {
                graph.add_edge(caller, callee, ());
            }
            mentioned.insert(caller, found);
        }
        for mut functions in tarjan_scc(&graph) {
            functions.sort_unstable();
            let recursive = functions.len() > 1 || graph.contains_edge(functions[0], functions[0]);
            let mut all = Mentioned::default();
            for function in &functions {
                all.functions.extend(&mentioned[function].functions);
            }
            let span = program.functions[functions[0]].span;
            let is_late =
                |function: &_| recursive && promises_in_a_circle(program, *function, &functions);
            let promise_late = functions.iter().copied().filter(is_late).collect();
            let piece = Piece::Functions { functions: functions.clone(), recursive, promise_late };
            let task = self.add(piece, &all, span);
            self.of_function.extend(functions.into_iter().map(|function| (function, task)));
        }
    }

    fn add_predicate(&mut self, predicate: PredicateId) {
        let mut mentioned = Mentioned::default();
        mentioned.look_at_predicate(self.program, predicate);
        mentioned.functions.extend(&self.by_axioms);
        self.add_all_of_tree(&mut mentioned);
        let span = self.program.predicates[predicate].span;
        let task = self.add(Piece::Predicate(predicate), &mentioned, span);
        self.of_predicate.insert(predicate, task);
    }

    fn add_method(&mut self, method: MethodId) {
        let mentioned = self.mentioned_by_method(method);
        self.add(Piece::Method(method), &mentioned, self.program.methods[method].span);
    }

    fn add_termination(&mut self, proof: MethodId, function: FunctionId) {
        let mut mentioned = self.mentioned_by_method(proof);
        mentioned.functions.insert(function);
        let span = self.program.functions[function].span;
        self.add(Piece::Termination { proof, function }, &mentioned, span);
    }

    /// Methods and predicates of another tree may mention whatever there is.
    fn add_all_of_tree(&self, mentioned: &mut Mentioned) {
        if self.direct.is_some() {
            mentioned.functions.extend(self.of_function.keys());
            mentioned.predicates.extend(self.of_predicate.keys());
        }
    }

    fn mentioned_by_method(&self, method: MethodId) -> Mentioned {
        let mut mentioned = Mentioned::default();
        mentioned.look_at_method(self.program, method);
        mentioned.functions.extend(&self.by_axioms);
        self.add_all_of_tree(&mut mentioned);
        let has_checks = |checks: &Instrumented| checks.graphs.keys().any(|(id, _)| *id == method);
        if self.termination.is_some_and(has_checks) {
            // The checks are in graphs beside the body, and may mention whatever measures do.
            mentioned.functions.extend(self.of_function.keys());
            mentioned.predicates.extend(self.of_predicate.keys());
        }
        mentioned
    }
}

/// Tells whether the postcondition of a function speaks of a function of its own group, and no
/// measure shows that this is one step nearer to an end.
///
/// The postconditions of a group are proved by induction on how long the bodies take: what the body
/// applies takes less time, what the postcondition applies need not.
fn promises_in_a_circle(program: &Program, function: FunctionId, group: &[FunctionId]) -> bool {
    let declaration = &program.functions[function];
    let mut clauses = Decreases::that_count(&declaration.contract.decreases);
    let has_measure = clauses.any(|clause| match clause.kind {
        DecreasesKind::Tuple(_) => clause.condition.is_none(),
        // The clause claims that the body ends, but nothing of the functions that the postcondition
        // applies.
        DecreasesKind::Wildcard | DecreasesKind::Star => false,
    });
    if has_measure || declaration.body.is_none() {
        return false;
    }
    applied_in_postconditions(program, function).iter().any(|function| group.contains(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(start: usize, after: &[usize], ahead: u32) -> Lane {
        Lane { tasks: start..start + 1, after: after.iter().copied().collect(), ahead }
    }

    fn in_order(lanes: Vec<Lane>) -> Vec<usize> {
        let tasks = lanes.iter().map(|_| task(&[], 1)).collect();
        let schedule = Schedule { tasks, lanes };
        let done = Mutex::new(Vec::new());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            schedule.run(|tasks| {
                done.lock().unwrap().push(tasks.start);
                tasks.end..tasks.end
            });
        });
        done.into_inner().unwrap()
    }

    #[test]
    fn who_has_most_ahead_starts_first() {
        let lanes = vec![lane(0, &[], 5), lane(1, &[], 9), lane(2, &[1], 8), lane(3, &[0, 1], 1)];
        assert_eq!(in_order(lanes), [1, 2, 0, 3]);
    }

    #[test]
    fn equal_ones_keep_their_order() {
        assert_eq!(in_order((0..4).map(|index| lane(index, &[], 7)).collect()), [0, 1, 2, 3]);
    }

    fn task(after: &[usize], weight: u32) -> Task {
        Task {
            piece: Piece::Functions {
                functions: Vec::new(),
                recursive: false,
                promise_late: Vec::new(),
            },
            functions: FxHashSet::default(),
            predicates: FxHashSet::default(),
            after: after.iter().copied().collect(),
            weight,
        }
    }

    #[test]
    fn sections_do_not_wait_for_each_other() {
        let tasks = vec![task(&[], 5), task(&[], 5), task(&[1], 5), task(&[0], 5), task(&[], 5)];
        let schedule = Schedule { tasks, lanes: Vec::new() };
        assert_eq!(schedule.sections(1..5), [1..3, 3..4, 4..5]);
        assert_eq!(schedule.sections(4..4), []);
    }

    #[test]
    fn all_sections_of_a_lane_are_done_before_the_next() {
        let tasks = [&[][..], &[], &[], &[0]].map(|after| task(after, 600)).into();
        let lanes = vec![lane(0, &[], 0), lane(3, &[0], 0)];
        let mut schedule = Schedule { tasks, lanes };
        schedule.lanes[0].tasks = 0..3;
        for threads in [1, 4] {
            let done = Mutex::new(Vec::new());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = |tasks: Range<usize>| {
                done.lock().unwrap().push(tasks.start);
                tasks.start + 1..tasks.end
            };
            pool.install(|| schedule.run(run));
            let mut done = done.into_inner().unwrap();
            assert_eq!(done[3], 3);
            done.sort_unstable();
            assert_eq!(done, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn what_waits_for_a_lane_is_ahead_of_it() {
        let tasks = [task(&[], 2_000), task(&[0], 3_000), task(&[0], 4_000), task(&[1], 2_000)];
        let ahead: Vec<u32> = lanes(&tasks).iter().map(|lane| lane.ahead).collect();
        assert_eq!(ahead, [7_000, 5_000, 4_000, 2_000]);
    }
}
