//! Statements that give whatever their contracts allow, instead of what the code at hand gives.
//!
//! So a run shows what is wrong with a contract and not with the code behind it: it goes on from
//! some state that the contract describes, as the verifier does from all of them. What nobody but
//! the callee, the loop or the monitor has permission to is forgotten, and what is then given is
//! chosen as for a start made from a precondition. Where others have permission, nothing changes: a
//! run may go wrong in fewer states than the contract allows, and never in more.

use std::collections::BTreeSet;

use chalice::Span;

use crate::amount::Kappa;
use crate::code::{Code, Expr, Loop, Op};
use crate::fault::{Res, Trouble};
use crate::generate::Positions;
use crate::heap::{Holder, Loc, ObjectKind, Part, Snapshot, TokenState};
use crate::machine::{COMMON, Evaluator, Machine, OldState, Scope, World};
use crate::replay::{Blame, Contract};
use crate::transfer::{Moved, Transfer};
use crate::value::{Level, Ref, Value};

/// How often choices are made for one contract.
const ATTEMPTS: u32 = 120;

/// After so many contradictions all choices for a contract are made anew.
const FRUITLESS: u32 = 30;

/// The statements of the started method that give whatever their contracts allow. Statements of
/// methods that it calls are executed as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByContract {
    sites: BTreeSet<u32>,
    /// Threads whose joins give what their postconditions say need not run.
    parks_threads: bool,
}

impl ByContract {
    /// Statements of a method, by their places in its body. Those that rely on no contract are left
    /// out.
    pub fn new(code: &Code, method: u32, sites: impl IntoIterator<Item = u32>) -> Self {
        let body = &code.methods[method as usize].body;
        let is_join = |site: &u32| matches!(body[*site as usize].op, Op::Join { .. });
        let all = Self::all_sites(code, method);
        let sites: BTreeSet<u32> = sites.into_iter().filter(|site| all.contains(site)).collect();
        Self { parks_threads: sites.iter().any(is_join), sites }
    }

    /// Returns all statements of a method that rely on contracts.
    pub fn all_sites(code: &Code, method: u32) -> BTreeSet<u32> {
        let body = code.methods[method as usize].body.iter().enumerate();
        let relies = |op: &Op| match op {
            Op::Call(site) => {
                let class = code.methods[site.method as usize].class;
                !code.classes[class as usize].prints
            }
            Op::LoopEnter(_) | Op::Acquire { .. } | Op::Receive { .. } | Op::Join { .. } => true,
            _ => false,
        };
        body.filter(|(_, instr)| relies(&instr.op)).map(|(at, _)| at as u32).collect()
    }

    /// Returns the statements, by their places in the body.
    pub fn sites(&self) -> &BTreeSet<u32> {
        &self.sites
    }

    /// Do threads that the method forks, or that its precondition speaks of, wait until they have
    /// to run?
    pub(crate) fn parks_threads(&self) -> bool {
        self.parks_threads
    }
}

impl World<'_> {
    /// Does the next statement of a thread give whatever its contract allows?
    pub(crate) fn is_by_contract(&self, thread: usize) -> bool {
        let Some(chosen) = &self.config.by_contract else { return false };
        let [activation] = &self.threads[thread].stack[..] else { return false };
        thread == 0 && chosen.sites.contains(&activation.pc)
    }

    /// Returns the scope in which a contract is granted.
    fn granting_scope(&self, old: OldState) -> Scope {
        let (holder, ignores_debts) = (Holder::Environment, true);
        Scope { holder, at: None, old, checks: false, ignores_debts, ..self.scope.clone() }
    }

    /// Refuses clauses about locks of another thread: no choice of values makes them true.
    fn ask_no_locks(&self, clauses: &[Expr], span: Span) -> Res<()> {
        if clauses.iter().any(|clause| self.speaks_of_locks(clause)) {
            return Err(Box::new(Trouble::Unknown { what: "contract.locks", span }));
        }
        Ok(())
    }

    /// Returns the model's value of a variable of the started method, where the run follows a
    /// model.
    fn hint(&self, slot: u32) -> Option<crate::generate::ModelValue> {
        let method = self.threads.first()?.stack.first()?.method;
        let name = self.code.methods[method as usize].frame.names.get(slot as usize)?;
        self.following.as_ref()?.argument(name.as_ref()?)
    }

    fn choose_outcome(&mut self, method: u32, outs: &[u32], inner: &mut [Value]) {
        let code = self.code;
        let method = &code.methods[method as usize];
        for (at, slot) in (method.parameters + 1..).take(method.results).enumerate() {
            let wanted = outs.get(at).and_then(|out| self.hint(*out));
            if let Some(ty) = &method.frame.types[slot] {
                inner[slot] = self.choose_value_as(ty, wanted.as_ref());
            }
        }
    }

    /// Takes from somebody all that he has. What only he had permission to may have any value from
    /// now on; what was folded may be anything that the predicate describes.
    fn forget(&mut self, holder: Holder) {
        let known = self.cells_of_environment();
        self.move_everything(holder, Holder::Environment);
        self.drop_credits(holder);
        while let Some((object, predicate)) = self.instance_of_environment() {
            let loc = Loc { object, part: Part::Predicate(predicate) };
            *self.heap.holdings_mut(loc) = crate::heap::Holdings::Nobody;
            let inner = Holder::Instance(object, predicate);
            self.move_everything(inner, Holder::Environment);
            self.drop_credits(inner);
        }
        for (object, cell) in self.cells_of_environment() {
            // Nobody has told the thread of the lock of an object that was not shared.
            let is_level = cell == 0;
            let may_change = !is_level
                || (self.heap.lock(object).is_none() && self.level_of(object) == Level::BOTTOM);
            if may_change && !known.contains(&(object, cell)) {
                self.heap.write(object, cell, Value::Open);
            }
        }
    }

    fn drop_credits(&mut self, holder: Holder) {
        for at in 0..self.channels.len() {
            let channel = self.channels[at];
            let credits = &mut self.heap.extra_mut(channel).channel.credits;
            credits.retain(|(other, _)| *other != holder);
        }
    }

    /// Returns the fields that nobody has permission to but the environment.
    fn cells_of_environment(&self) -> BTreeSet<(Ref, u32)> {
        let objects = self.heap.objects.iter().enumerate();
        let cells = objects.flat_map(|(at, object)| {
            let count = match object.kind {
                ObjectKind::Class(class) => self.code.classes[class as usize].declared + 1,
                ObjectKind::Channel(_) | ObjectKind::Token(_) => 0,
            };
            let cells = object.cells.iter().take(count).enumerate();
            let whole = cells.filter(|(_, cell)| cell.holdings.is_whole(Holder::Environment));
            whole.map(move |(cell, _)| (Ref(at as u32), cell as u32))
        });
        cells.collect()
    }

    /// Returns an instance that nobody holds any of but the environment.
    fn instance_of_environment(&self) -> Option<(Ref, u32)> {
        self.heap.objects.iter().enumerate().find_map(|(at, object)| {
            let instance = object.instances.iter().find(|instance| {
                let parts = instance.holdings.parts();
                !parts.is_empty() && parts.iter().all(|part| part.0 == Holder::Environment)
            })?;
            Some((Ref(at as u32), instance.predicate))
        })
    }
}

impl<'c> Machine<'c> {
    /// Has a run that relied on contracts failed in the method that was started, in a state that
    /// these contracts allow for certain?
    pub fn fails_by_contract(&self) -> bool {
        let is_own = self.scope.thread == Some(0) && self.threads[0].stack.len() == 1;
        is_own && self.doubt.is_none() && !self.relied.is_empty()
    }

    /// Notes that a statement gives whatever a contract allows.
    fn rely(&mut self, used: Span, contract: Contract) {
        let site = self.threads[0].stack[0].pc;
        self.relied.insert(Blame { site, used, contract });
    }

    /// After a call: some state that the postcondition describes. Gives the results.
    pub(super) fn results_by_contract(
        &mut self,
        site: &crate::code::CallSite,
        (callee, kappa, before): (Holder, Kappa, Snapshot),
        inner: &[Value],
        span: Span,
    ) -> Res<Vec<Value>> {
        let code = self.code;
        let method = &code.methods[site.method as usize];
        if !method.lock_changes.is_empty() {
            return Err(Box::new(Trouble::Unknown { what: "contract.locks", span }));
        }
        self.rely(span, Contract::Method(site.method));
        let to = self.scope.holder;
        let epoch = before.epoch;
        let scope = Scope { kappa, ..self.granting_scope(OldState::At(before)) };
        let results = self.in_some_state(span, &mut |machine| {
            machine.forget(callee);
            let mut inner = inner.to_vec();
            machine.choose_outcome(site.method, &site.outs, &mut inner);
            machine.grant_clauses(&method.ensures, &mut inner, scope.clone(), to)?;
            let first = method.parameters + 1;
            Ok(inner[first..first + method.results].to_vec())
        });
        self.heap.forget(epoch);
        results
    }

    /// After a join: some state that the postcondition of the forked method describes. Gives the
    /// results.
    pub(super) fn join_by_contract(
        &mut self,
        token: Ref,
        state: &TokenState,
        outs: &[u32],
        span: Span,
    ) -> Res<Vec<Value>> {
        let code = self.code;
        let method = &code.methods[state.method as usize];
        self.ask_no_locks(&method.ensures, span)?;
        self.rely(span, Contract::Method(state.method));
        let to = self.scope.holder;
        let joined = state.thread.map_or(0, |joined| joined as usize);
        let root = self.threads[joined].root;
        self.threads[joined].stack.clear();
        let old = OldState::At(state.before.clone());
        let scope = Scope { thread: None, kappa: state.kappa, ..self.granting_scope(old) };
        self.in_some_state(span, &mut |machine| {
            machine.forget(root);
            machine.forget(Holder::Token(token));
            let mut inner = method.frame.initial.clone();
            inner[..state.slots.len()].clone_from_slice(&state.slots);
            machine.choose_outcome(state.method, outs, &mut inner);
            machine.grant_clauses(&method.ensures, &mut inner, scope.clone(), to)?;
            let first = method.parameters + 1;
            Ok(inner[first..first + method.results].to_vec())
        })
    }

    /// Before an acquire: others have left the monitor in some state that the invariant describes.
    pub(super) fn others_had_the_lock(
        &mut self,
        object: Ref,
        old: &OldState,
        span: Span,
    ) -> Res<()> {
        let ObjectKind::Class(class) = self.heap.object(object).kind else { return Ok(()) };
        self.rely(span, Contract::Class(class));
        let code = self.code;
        let class = &code.classes[class as usize];
        let monitor = Holder::Monitor(object);
        let scope = Scope { kappa: COMMON, ..self.granting_scope(old.clone()) };
        self.in_some_state(span, &mut |machine| {
            machine.forget(monitor);
            let mut slots = class.frame.initial.clone();
            slots[0] = Value::Ref(object);
            machine.grant_clauses(&class.invariants, &mut slots, scope.clone(), monitor).map(|_| ())
        })
    }

    /// Returns a message that somebody else has sent, and that comes first.
    pub(super) fn others_have_sent(&mut self, channel: Ref, outs: &[u32], span: Span) -> Res<()> {
        let ObjectKind::Channel(described) = self.heap.object(channel).kind else { return Ok(()) };
        self.ask_no_locks(self.code.channels[described as usize].where_clause.as_slice(), span)?;
        self.rely(span, Contract::Channel(described));
        let code = self.code;
        let frame = &code.channels[described as usize].frame;
        let parameters = code.channels[described as usize].parameters;
        self.in_some_state(span, &mut |machine| {
            let values = (1..=parameters).map(|slot| {
                let wanted = outs.get(slot - 1).and_then(|out| machine.hint(*out));
                match &frame.types[slot] {
                    Some(ty) => machine.choose_value_as(ty, wanted.as_ref()),
                    None => Value::Null,
                }
            });
            let values = values.collect();
            machine.post(channel, values, Holder::Environment, None)?;
            let queue = &mut machine.heap.extra_mut(channel).channel.queue;
            queue.rotate_right(1);
            Ok(())
        })
    }

    /// At the head of a loop: some state that the invariants describe.
    pub(super) fn some_iteration(
        &mut self,
        thread: usize,
        described: &'c Loop,
        slots: &mut [Value],
    ) -> Res<()> {
        let span = described.span;
        if !described.lock_changes.is_empty() {
            return Err(Box::new(Trouble::Unknown { what: "contract.locks", span }));
        }
        self.rely(span, Contract::Loop(span));
        let method = &self.code.methods[self.threads[thread].stack[0].method as usize];
        let Some(state) = self.top(thread).loops.last().cloned() else { return Ok(()) };
        let targets = written_in(&method.body[described.head as usize..described.exit as usize]);
        let scope = Scope { kappa: state.kappa, ..self.granting_scope(self.scope.old.clone()) };
        let (moved, found) = self.in_some_state(span, &mut |machine| {
            machine.forget(state.holder);
            let mut slots = slots.to_vec();
            for &slot in &targets {
                let wanted = machine.hint(slot);
                if let Some(ty) = &method.frame.types[slot as usize] {
                    slots[slot as usize] = machine.choose_value_as(ty, wanted.as_ref());
                }
            }
            let invariants = &described.invariants;
            let moved =
                machine.grant_clauses(invariants, &mut slots, scope.clone(), state.holder)?;
            Ok((moved, slots))
        })?;
        slots.clone_from_slice(&found);
        if let Some(state) = self.top(thread).loops.last_mut() {
            state.moved = moved.amounts;
            state.credits = moved.credits;
            state.is_any_iteration = true;
        }
        Ok(())
    }

    /// Makes choices until they fit to what a contract says.
    fn in_some_state<T>(
        &mut self,
        span: Span,
        attempt: &mut dyn FnMut(&mut Self) -> Res<T>,
    ) -> Res<T> {
        let before = self.clone();
        let from = self.choices.taken().len();
        let mut positions = Positions::default();
        for number in 1..=ATTEMPTS {
            self.granting = true;
            let result = attempt(self);
            self.scope.clone_from(&before.scope);
            self.granting = false;
            match result {
                Err(trouble) => match *trouble {
                    Trouble::Contradiction | Trouble::Fault(_) | Trouble::Bound(..) => {}
                    other => return Err(Box::new(other)),
                },
                found => return found,
            }
            let taken = &self.choices.taken()[from..];
            positions.remember(taken);
            positions.truncate(taken.len());
            positions.step_on();
            if positions.is_exhausted() {
                break;
            }
            if number % FRUITLESS == 0 {
                positions.clear();
            }
            self.clone_from(&before);
            self.choices.try_instead(positions.script(), number);
        }
        Err(Box::new(Trouble::Unknown { what: "contract.unsatisfied", span }))
    }
}

impl Evaluator<'_> {
    /// Grants what clauses ask for.
    fn grant_clauses(
        &mut self,
        clauses: &[Expr],
        slots: &mut [Value],
        scope: Scope,
        to: Holder,
    ) -> Res<Moved> {
        let mut transfer = Transfer::give(Holder::Environment, to);
        transfer.foreign = scope.thread.is_none();
        self.scope = scope;
        self.move_all(clauses, slots, transfer)
    }
}

/// Returns the variables that statements write.
pub(crate) fn written_in(body: &[crate::code::Instr]) -> BTreeSet<u32> {
    let mut written = BTreeSet::new();
    for instr in body {
        match &instr.op {
            Op::Havoc { slot, .. } | Op::Assign { slot, .. } => {
                written.insert(*slot);
            }
            Op::Call(site) | Op::Fork(site) => written.extend(&site.outs),
            Op::Join { outs, .. } | Op::Receive { outs, .. } => written.extend(outs),
            Op::Specification(specification) => {
                written.extend(specification.targets.iter().map(|target| target.0));
            }
            Op::Assert(..)
            | Op::Assume(_)
            | Op::AssignField { .. }
            | Op::Jump(_)
            | Op::Branch { .. }
            | Op::LoopEnter(_)
            | Op::LoopTest(_)
            | Op::LoopBack(_)
            | Op::Place { .. }
            | Op::Unshare(_)
            | Op::Acquire { .. }
            | Op::Release { .. }
            | Op::Downgrade(_)
            | Op::Free(_)
            | Op::Fold(_)
            | Op::Unfold(_)
            | Op::Send { .. }
            | Op::Unsupported(_)
            | Op::Return => {}
        }
    }
    written
}
