//! Methods: contract and bodies, one block after the other.
//!
//! The driver follows one path to its end. Then it goes back to the last statement that made a
//! decision and runs it again the other way. A path is plain data (a place and a state). Nothing
//! recurses into the rest of the program.
//!
//! Where merging pays, a branch opens a [`Region`]. The paths from the branch end at the block
//! where its sides meet. When all have ended, one path goes on with the merged state (see
//! [`merge`]). Merging pays where many paths are ahead ([`ahead`]): a method of n conditionals in
//! sequence costs about n of them.
//!
//! [`merge`]: symex::run::merge
//! [`ahead`]: crate::ahead

mod contract;
mod loops;

use std::collections::BTreeMap;
use std::rc::Rc;

use sil::cfg::{BlockId, BlockKind, Cfg, Terminator, TerminatorKind};
use sil::program::{Body, Contract, Expr, Implementation, Member, Method, MethodId};
use sil::source::Span;
use smt::terms::Terms;

use self::loops::spans;
use crate::ahead::{Ahead, ways_of_all};
use crate::analysis::has_two_readings;
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId, INVARIANT};
use symex::options::Join;
use symex::report::Within;
use symex::rules::language::Language;
use symex::run::explore::{End, Explorer};
use symex::run::merge::{Guarded, Reached};
use symex::run::ways::{PATHS, product, sum};
use symex::state::heap::Heap;
use symex::state::{Labelled, State};
use symex::{Reading, Stop, View};

/// The factor on the limit of paths beyond which an attempt is hopeless. It is large, since
/// conditions may depend on each other, so that there may be fewer paths than counted.
const HOPELESS: u64 = 128;

/// A place on a path.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before the precondition.
    Entry,
    /// Before statement `index` of a basic block, or its terminator.
    Statement { block: BlockId, index: usize },
    /// At a block that control reaches. For a loop block this is its head, from outside.
    Block(BlockId),
    /// At the end of the body, before the postcondition.
    End,
}

/// A step that may run again: its decisions, and its start.
struct Resumable<'p> {
    place: Place,
    state: State<'p>,
    implementation: usize,
    /// Tells whether the conditionals of its assertions are merged.
    joins: bool,
    explorer: Explorer,
}

/// The paths between a branch and the block where its sides meet; or all paths of a method.
#[derive(Default)]
struct Region<'p> {
    /// The block where the paths end; `None` if they end by themselves.
    join: Option<BlockId>,
    /// The number of open scopes before the branch.
    depth: usize,
    /// The steps with ways left, innermost last.
    resumable: Vec<Resumable<'p>>,
    /// The paths that have reached `join`.
    arrived: Vec<End<Reached<'p>>>,
    /// The facts learnt on these paths.
    facts: Vec<Guarded>,
}

impl Sil<'_, '_> {
    /// Verifies a method. Its contract has to be well-formed, and each implementation has to meet
    /// it.
    pub fn verify_method(&mut self, id: MethodId, graphs: &[Cfg]) -> Result<(), Stop> {
        let program = self.program;
        let method = &program.methods[id];
        self.set_state(State::new(&method.locals));
        if let Some(function) = self.context.termination.and_then(|checks| checks.proved_by(id)) {
            self.here.heap.amounts = self.amounts_held_in(function);
        }
        self.havoc(method.formals.iter().copied());
        let ahead = graphs.iter().map(|cfg| Ahead::new(program, method, cfg)).collect();
        let regions = vec![Region::default()];
        let mut driver = Driver {
            sil: Sil::of(self.core()),
            method,
            graphs,
            ahead,
            implementation: 0,
            regions,
            has_start: false,
            met: BTreeMap::new(),
            hopeless: None,
        };
        let hopeless = driver.sil.setting.limits.paths.map(|limit| product(limit, HOPELESS));
        let paths = driver.paths_through(Place::Entry);
        driver.hopeless = hopeless.filter(|&hopeless| paths > hopeless);
        let outcome = driver.run();
        driver.sil.log.enter_implementation(None);
        outcome?;
        let contradictory = !driver.has_start;
        let met = driver.met;
        if let (true, Some(first)) = (contradictory, method.contract.preconditions.first())
            && !graphs.is_empty()
            && program.order.contains(&Member::Method(id))
        {
            self.log.warn_of_contradiction(first.span, "the precondition");
        }
        for (span, _) in met.into_iter().filter(|(_, met)| !met) {
            self.log.warn_of_contradiction(span, INVARIANT);
        }
        self.report_unrefuted(method)
    }

    /// Checks that the contract is well-formed for those who have to prove it: callers prove its
    /// precondition, bodies its postcondition.
    fn check_other_reading_of(&mut self, method: &Method) -> Result<(), Stop> {
        self.frame.assertion.reading = Reading::Exhale;
        let contract = &method.contract;
        let blame = |clause: &Expr| Blame::new(ErrorId::NotWellformed, clause.span);
        self.produce_all(&contract.preconditions, None, blame)?;
        self.end_unframed()?;
        self.frame.past.old = Some(std::mem::take(&mut self.here.heap));
        self.havoc(method.returns.iter().copied());
        self.produce_all(&contract.postconditions, None, blame)
    }
}

struct Driver<'e, 'p> {
    sil: Sil<'e, 'p>,
    method: &'p Method,
    graphs: &'e [Cfg],
    /// The numbers of paths ahead, for each graph.
    ahead: Vec<Ahead>,
    /// The implementation of the current path.
    implementation: usize,
    /// The regions around the current path, innermost last; the first is the whole method.
    regions: Vec<Region<'p>>,
    /// Tells whether some state seems to meet the precondition.
    has_start: bool,
    /// The loops whose invariants have been assumed, each with the answer whether some state met
    /// them then.
    met: BTreeMap<Span, bool>,
    /// The number of paths that is too many, if the text may have more. Most paths of the text may
    /// be impossible, so an actual path has to show that there are so many.
    hopeless: Option<u64>,
}

impl<'p> Driver<'_, 'p> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut place = Place::Entry;
        let mut explorer = Explorer::without_facts();
        loop {
            let is_new = !explorer.has_decisions();
            let join = if is_new { self.merges_at(place) } else { None };
            if is_new {
                self.sil.mode.joins = self.joins_in(place);
            }
            let state = self.sil.state();
            let implementation = self.implementation;
            let depth = self.sil.knowledge.scopes.len();
            let joins = self.sil.mode.joins;
            self.sil.run.explorers = vec![explorer];
            let outcome = self.step(place);
            let made = self.sil.run.explorers.pop().expect("every exploration inside is over");
            if made.has_decisions() {
                if join.is_some() {
                    self.regions.push(Region { join, depth, ..Region::default() });
                }
                let resumable = Resumable { place, state, implementation, joins, explorer: made };
                self.region().resumable.push(resumable);
            }
            explorer = Explorer::without_facts();
            let next = match outcome {
                Ok(next) => next,
                Err(Stop::Infeasible) => None,
                Err(stop) => return Err(stop),
            };
            place = match next {
                Some(next) if !self.arrives(next) => next,
                next => {
                    if next.is_none() {
                        self.count_path()?;
                    }
                    let Some((next, made)) = self.next_path()? else { return Ok(()) };
                    explorer = made;
                    next
                }
            };
        }
    }

    fn count_path(&mut self) -> Result<(), Stop> {
        self.sil.log.count_path();
        if self.hopeless.is_some_and(|hopeless| self.paths_like_this_one() > hopeless) {
            return Err(Stop::TooMuch);
        }
        self.sil.go_on()
    }

    /// Counts the paths, if each has as many decisions as this one.
    fn paths_like_this_one(&self) -> u64 {
        let steps = self.regions.iter().flat_map(|region| &region.resumable);
        steps.map(|step| step.explorer.ways()).fold(1, product)
    }

    fn region(&mut self) -> &mut Region<'p> {
        self.regions.last_mut().expect("the whole method is a region")
    }

    /// Ends the path if it has reached the block where the paths of the innermost region meet.
    fn arrives(&mut self, place: Place) -> bool {
        let Place::Block(block) = place else { return false };
        let region = self.region();
        if region.join != Some(block) {
            return false;
        }
        let depth = region.depth;
        let (literals, facts) = self.sil.leave_for_merge(depth);
        let value = (self.sil.state(), Terms::TRUE);
        let region = self.region();
        region.facts.extend(facts);
        region.arrived.push(End { literals, value });
        true
    }

    /// Returns the place to go on after the end of a path: the last step that could have gone
    /// another way, or the end of the region if there is no such step. Returns `None` if all is
    /// done.
    fn next_path(&mut self) -> Result<Option<(Place, Explorer)>, Stop> {
        loop {
            while let Some(last) = self.region().resumable.pop() {
                self.sil.run.explorers = vec![last.explorer];
                let again = self.sil.backtrack()?;
                let explorer = self.sil.run.explorers.pop().expect("put there above");
                if again {
                    self.sil.set_state(last.state);
                    self.implementation = last.implementation;
                    self.sil.mode.joins = last.joins;
                    return Ok(Some((last.place, explorer)));
                }
            }
            let region = self.regions.pop().expect("the whole method is a region");
            let Some(join) = region.join else { return Ok(None) };
            // Nothing is decided here, so no explorer is necessary.
            self.sil.run.explorers = Vec::new();
            match self.sil.merge_paths(region.arrived, region.facts) {
                Ok(_) if self.arrives(Place::Block(join)) => {}
                Ok(_) => return Ok(Some((Place::Block(join), Explorer::without_facts()))),
                Err(Stop::Infeasible) => self.count_path()?,
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Returns the block where the paths from a branch are merged, if they are.
    fn merges_at(&self, place: Place) -> Option<BlockId> {
        let Place::Statement { block, index } = place else { return None };
        let BlockKind::Basic { statements, .. } = &self.cfg().blocks[block].kind else {
            return None;
        };
        if index < statements.len() {
            return None;
        }
        let join = self.cfg().join_point(block)?;
        let pays = match self.sil.setting.join {
            Join::Always => true,
            Join::Never => false,
            Join::Auto if self.sil.setting.one_by_one => false,
            Join::Auto => {
                self.ahead[self.implementation].of_block(join) > 1
                    && self.paths_through(place) > PATHS
            }
        };
        pays.then_some(join)
    }

    /// Tells whether the conditionals of assertions in a step are merged.
    fn joins_in(&self, place: Place) -> bool {
        match self.sil.setting.join {
            Join::Always => true,
            Join::Never => false,
            Join::Auto => !self.sil.setting.one_by_one && self.paths_through(place) > PATHS,
        }
    }

    /// Counts the paths up to their ends that may have come the way of the current one.
    fn paths_through(&self, place: Place) -> u64 {
        let decided =
            self.sil.knowledge.scopes.iter().filter(|scope| scope.literal.is_some()).count();
        let so_far =
            1_u64.checked_shl(u32::try_from(decided).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
        let contract = &self.method.contract;
        let ahead = match place {
            Place::Entry => {
                let bodies = self.graphs.iter().zip(&self.ahead);
                let bodies = bodies.map(|(cfg, ahead)| ahead.of_block(cfg.entry)).fold(0, sum);
                let ends = ways_of_all(&contract.postconditions);
                product(ways_of_all(&contract.preconditions), sum(ends, bodies))
            }
            Place::Block(block) => self.ahead[self.implementation].of_block(block),
            Place::Statement { block, index } => {
                self.ahead[self.implementation].of_statement(block, index)
            }
            Place::End => ways_of_all(&contract.postconditions),
        };
        product(so_far, ahead)
    }

    fn cfg(&self) -> &Cfg {
        &self.graphs[self.implementation]
    }

    /// Executes the step at a place, and returns the next place; `None` at the end of the path.
    fn step(&mut self, place: Place) -> Result<Option<Place>, Stop> {
        let what = match place {
            Place::Entry => "precondition",
            Place::Block(_) => "loop",
            Place::Statement { .. } => "jump",
            Place::End => "postcondition",
        };
        self.sil.log.enter(what, self.method.span);
        let implementations = &self.method.implementations;
        let within = match place {
            Place::Block(_) | Place::Statement { .. } | Place::End if implementations.len() > 1 => {
                let Implementation { name, span, .. } = &implementations[self.implementation];
                let (index, name) = (self.implementation, name.clone());
                Some(Within { index, name, span: *span })
            }
            _ => None,
        };
        self.sil.log.enter_implementation(within);
        match place {
            Place::Entry => self.enter_method(),
            Place::Block(block) => self.enter_block(block),
            Place::Statement { block, index } => self.step_in_block(block, index),
            Place::End => self.leave_method(),
        }
    }

    /// Produces the precondition. Then, in runs of their own, checks that the postcondition is
    /// well-formed and enters the implementations.
    fn enter_method(&mut self) -> Result<Option<Place>, Stop> {
        self.sil.begin_epoch();
        let contract = &self.method.contract;
        let Contract { preconditions, postconditions, .. } = contract;
        let clauses = preconditions.iter().chain(postconditions);
        if clauses.clone().any(has_two_readings) && self.sil.choose(&[None, None])? == 0 {
            let method = self.method;
            let checked = self.sil.in_mode(
                |mode| mode.in_other_reading = true,
                |engine| engine.check_other_reading_of(method),
            );
            return checked.map(|()| None);
        }
        self.sil.produce_all(preconditions, None, |clause| {
            Blame::new(ErrorId::NotWellformed, clause.span)
        })?;
        self.sil.end_unframed_by(spans(preconditions))?;
        if !preconditions.is_empty() && self.sil.seems_dead()? {
            return Err(Stop::Infeasible);
        }
        self.has_start = true;
        self.sil.frame.past.old = Some(self.sil.here.heap.clone());
        self.sil.havoc(self.method.returns.iter().copied());
        let choice = self.sil.choose(&vec![None; self.graphs.len() + 1])?;
        if choice == 0 {
            self.sil.here.heap = Heap::default();
            self.sil.produce_all(postconditions, None, |clause| {
                Blame::new(ErrorId::NotWellformed, clause.span)
            })?;
            return Ok(None);
        }
        // The variables of a graph have one arbitrary value, also if they are first read under a
        // condition.
        for implementation in &self.method.implementations {
            if let Body::Graph(graph) = &implementation.body {
                self.sil.havoc(graph.locals.iter().copied());
            }
        }
        self.implementation = choice - 1;
        Ok(Some(Place::Block(self.cfg().entry)))
    }

    fn leave_method(&mut self) -> Result<Option<Place>, Stop> {
        self.sil.end_doubtful()?;
        let contract = &self.method.contract;
        let postconditions = &contract.postconditions;
        self.sil.show_state_at_all(spans(postconditions));
        self.sil.show_state_at_end(self.method.implementations[self.implementation].span);
        let left_out = self.beyond_judgement(contract)?;
        self.sil.consume_all(postconditions, |clause| {
            let blame = Blame::new(ErrorId::PostconditionViolated, clause.span).trusted();
            if left_out.contains(&clause.span) { blame.silent() } else { blame }
        })?;
        Ok(None)
    }

    fn enter_block(&mut self, block: BlockId) -> Result<Option<Place>, Stop> {
        let graphs = self.graphs;
        match &graphs[self.implementation].blocks[block].kind {
            BlockKind::Basic { .. } => {
                self.store_label(block);
                Ok(Some(Place::Statement { block, index: 0 }))
            }
            BlockKind::Loop(the_loop) => self.enter_loop(block, the_loop),
        }
    }

    /// Stores the heap as the state of a block's label. The last entry counts.
    fn store_label(&mut self, block: BlockId) {
        if let Some(label) = self.cfg().blocks[block].label {
            let passed = Labelled::new(self.sil.here.heap.clone());
            Rc::make_mut(&mut self.sil.frame.past.labels).insert(label, passed);
        }
    }

    fn step_in_block(&mut self, block: BlockId, index: usize) -> Result<Option<Place>, Stop> {
        let graphs = self.graphs;
        let BlockKind::Basic { statements, terminator } =
            &graphs[self.implementation].blocks[block].kind
        else {
            unreachable!("statements stand in basic blocks")
        };
        match statements.get(index) {
            Some(statement) => {
                self.sil.show_state(statement.span);
                self.sil.exec(statement)?;
                Ok(Some(Place::Statement { block, index: index + 1 }))
            }
            None => self.leave_block(block, terminator),
        }
    }

    fn leave_block(
        &mut self,
        block: BlockId,
        terminator: &Terminator,
    ) -> Result<Option<Place>, Stop> {
        match &terminator.kind {
            TerminatorKind::Goto(target) => self.go(block, *target),
            TerminatorKind::Branch { condition, then, otherwise } => {
                let taken = self.decide(condition, ErrorId::IfFailed)?;
                self.go(block, if taken { *then } else { *otherwise })
            }
            TerminatorKind::Next => self.end_iteration(block),
            TerminatorKind::Halt => {
                while let Some(frame) = self.sil.here.framed.pop() {
                    self.sil.add_all(&frame)?;
                }
                Ok(Some(Place::End))
            }
            TerminatorKind::Dead => Ok(None),
        }
    }

    fn decide(&mut self, condition: &Expr, error: ErrorId) -> Result<bool, Stop> {
        self.sil.show_state(condition.span);
        let value = self.sil.eval(condition, Blame::new(error, condition.span))?;
        let taken = self.sil.branch(value)?;
        self.sil.settle(value, taken);
        Rc::make_mut(&mut self.sil.here.path).push((condition.span, taken));
        Ok(taken)
    }

    /// Goes from a block to another. The frame of each loop on the way out is put back.
    fn go(&mut self, from: BlockId, to: BlockId) -> Result<Option<Place>, Stop> {
        let mut level = self.cfg().blocks[from].parent;
        let target = self.cfg().blocks[to].parent;
        while level != target {
            let Some(left) = level else { unreachable!("jumps lead outward") };
            level = self.cfg().blocks[left].parent;
            let frame = self.sil.here.framed.pop().expect("one for each loop around");
            self.sil.add_all(&frame)?;
        }
        Ok(Some(Place::Block(to)))
    }
}
