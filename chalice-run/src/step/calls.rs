//! Calls, forks and joins, and the ends of methods.

use std::sync::Arc;

use chalice::Span;
use chalice_rt::flaw::Flaw;
use findings::ErrorId;

use crate::amount::Kappa;
use crate::code::{CallSite, Expr, Op, Recorded};
use crate::fault::{Fault, Res, blamed, reference_or_null};
use crate::heap::{Held, Holder, Loc, ObjectKind, Part, Snapshot, TokenState};
use crate::machine::{
    Activation, Evaluator, Machine, OldState, Scope, Status, Thread, View, World,
};
use crate::transfer::Transfer;
use crate::value::{Ref, Value};

use super::Next;

impl Evaluator<'_> {
    /// Receiver and arguments in the slots of the callee.
    fn callee_slots(&mut self, site: &CallSite, slots: &mut [Value]) -> Res<Vec<Value>> {
        let code = self.code;
        let mut inner = code.methods[site.method as usize].frame.initial.clone();
        let object = self.eval(&site.receiver, slots)?;
        reference_or_null(&object, site.receiver.span, |_| ())?;
        inner[0] = object;
        for (at, argument) in site.arguments.iter().enumerate() {
            inner[at + 1] = self.eval(argument, slots)?;
        }
        self.choose_results(site.method, &mut inner);
        Ok(inner)
    }

    fn give_precondition(
        &mut self,
        method: u32,
        kappa: Kappa,
        to: Holder,
        inner: &mut [Value],
    ) -> Res<()> {
        let code = self.code;
        let outer = self.scope.kappa;
        self.scope.kappa = kappa;
        self.scope.old = OldState::Missing;
        let mut transfer = Transfer::give(self.scope.holder, to);
        if kappa != outer {
            transfer = transfer.inexact(kappa);
        }
        let requires = &code.methods[method as usize].requires;
        let result = self.move_all(requires, inner, transfer);
        self.scope.kappa = outer;
        self.scope.old = OldState::Entry;
        result.map(|_| ())
    }

    /// Returns a new thread at the start of a method.
    fn start_thread(
        &mut self,
        forker: Option<(usize, Span)>,
        method: u32,
        slots: Vec<Value>,
        holder: Holder,
        kappa: Kappa,
        entry: Snapshot,
    ) -> Res<usize> {
        let thread = self.new_thread(forker, method, slots, holder, kappa, entry);
        let Some(mut activation) = self.threads[thread].stack.pop() else { return Ok(thread) };
        let outer = self.scope.clone();
        self.scope.thread = Some(thread as u32);
        let result = self.open_own(&mut activation);
        self.scope = outer;
        self.threads[thread].stack.push(activation);
        result.map(|()| thread)
    }

    /// The end of a method: its postcondition goes to whoever waits for it.
    pub(super) fn finish(&mut self, thread: usize, slots: &mut [Value]) -> Res<Next> {
        let code = self.code;
        let stack = &self.threads[thread].stack;
        let activation = &stack[stack.len() - 1];
        let method = &code.methods[activation.method as usize];
        let (holder, kappa) = (activation.holder, activation.kappa);
        let entry = activation.entry.clone();
        let to = match (stack.len().checked_sub(2), self.threads[thread].token) {
            (Some(caller), _) => stack[caller].current().0,
            (None, Some(token)) => Holder::Token(token),
            (None, None) => Holder::Environment,
        };
        self.close_own(method, slots)?;
        if !method.ensures.is_empty() {
            self.scope.kappa = kappa;
            let result = self.hand_over(&method.ensures, slots, Transfer::give(holder, to));
            blamed(result, ErrorId::PostconditionViolated, None)?;
        }
        let changed = self.changed_locks(&entry.held, &method.lock_changes, slots)?;
        if let Some(object) = changed {
            let name = self.name(object);
            return Err(Fault::new(Flaw::LocksChanged, keyword(method.span), &[&name]).into());
        }
        self.check_thread_end(thread, method)?;
        self.check_debt(holder, Flaw::Debt, keyword(method.span))?;
        self.check_leaks(holder, Flaw::Leak, keyword(method.span))?;
        let first = method.parameters + 1;
        Ok(Next::Back(slots[first..first + method.results].to_vec()))
    }

    pub(super) fn before_join(
        &mut self,
        token: &Expr,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Ref> {
        let value = self.eval(token, slots)?;
        let object = reference_or_null(&value, token.span, |token| token)?;
        let loc = Loc { object, part: Part::Cell(0) };
        self.ask_full(loc, span, Flaw::NoJoin)?;
        if !self.read(object, 0, span)?.is_true() {
            return Err(Fault::new(Flaw::NotJoinable, span, &[]).into());
        }
        if self.heap.token(object).is_none_or(|state| state.thread.is_none()) {
            let what = "token.unknown";
            return Err(Box::new(crate::fault::Trouble::Unknown { what, span }));
        }
        Ok(object)
    }

    /// Returns an object whose lock status is not what it was, and may not have changed.
    pub(super) fn changed_locks(
        &mut self,
        before: &Arc<Vec<Held>>,
        listed: &[Expr],
        slots: &mut [Value],
    ) -> Res<Option<Ref>> {
        let now = self.held();
        if !self.config.checks || Arc::ptr_eq(before, &now) || (before.is_empty() && now.is_empty())
        {
            return Ok(None);
        }
        let checks = std::mem::replace(&mut self.scope.checks, false);
        let listed: Res<Vec<Value>> = listed.iter().map(|e| self.eval(e, slots)).collect();
        self.scope.checks = checks;
        let listed = listed?;
        let is_in = |held: &Held, all: &[Held]| {
            all.iter().any(|one| one.object == held.object && one.write == held.write)
        };
        let mut changed = now.iter().filter(|held| !is_in(held, before));
        let mut gone = before.iter().filter(|held| !is_in(held, &now));
        let is_unlisted = |held: &&Held| !listed.contains(&Value::Ref(held.object));
        Ok(changed.find(is_unlisted).or_else(|| gone.find(is_unlisted)).map(|held| held.object))
    }

    pub(super) fn fork(
        &mut self,
        thread: usize,
        site: &CallSite,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        let code = self.code;
        let callee = &code.methods[site.method as usize];
        let mut inner = blamed(self.callee_slots(site, slots), ErrorId::ExhaleFailed, Some(span))?;
        let before = self.entry_state(thread, callee.has_old || code.recorded > Recorded::Nothing);
        let outer = self.scope.kappa;
        let kappa = self.fractions.fresh(Some(outer));
        let holder = self.new_frame(site.method);
        // The new thread holds no locks, and locks cannot be given.
        let forker = self.scope.thread.take();
        let result = self.give_precondition(site.method, kappa, holder, &mut inner);
        self.scope.thread = forker;
        blamed(result, ErrorId::ExhaleFailed, Some(span))?;
        let (kind, holder_of_token) = (ObjectKind::Token(site.method), self.scope.holder);
        let values = vec![Value::Bool(true)];
        let token = self.allocate_as(Some(thread), kind, values, holder_of_token);
        self.subject = Some(token);
        let kept = inner[..=callee.parameters + callee.results].to_vec();
        let permissions = self.permissions(holder);
        let entry = Snapshot { held: Arc::default(), permissions, ..before.clone() };
        let started =
            self.start_thread(Some((thread, span)), site.method, inner, holder, kappa, entry)?;
        self.threads[started].token = Some(token);
        self.heap.extra_mut(token).token = Some(TokenState {
            method: site.method,
            thread: Some(started as u32),
            slots: kept,
            kappa,
            before,
        });
        let results = vec![Value::Ref(token)];
        store(&site.outs, results, self.constants(thread), span, slots)
    }
}

impl<'c> World<'c> {
    /// Results are arbitrary until they are assigned.
    pub(crate) fn choose_results(&mut self, method: u32, slots: &mut [Value]) {
        if self.config.undefined == crate::machine::Undefined::Zero {
            return;
        }
        let code = self.code;
        let method = &code.methods[method as usize];
        let results = slots.iter_mut().enumerate().skip(method.parameters + 1).take(method.results);
        for (at, slot) in results {
            if let Some(ty) = &method.frame.types[at] {
                *slot = self.undefined_value(ty);
            }
        }
    }

    /// Returns the read fraction of an activation: one of its own if its contract mentions one.
    pub(crate) fn method_kappa(&mut self, method: u32) -> Kappa {
        if self.code.methods[method as usize].has_read_fraction {
            self.fractions.fresh(Some(self.scope.kappa))
        } else {
            self.scope.kappa
        }
    }

    /// Returns the state before a call.
    fn entry_state(&mut self, thread: usize, is_needed: bool) -> Snapshot {
        if is_needed {
            return self.record(Some(thread));
        }
        Snapshot { epoch: 0, held: self.threads[thread].held.clone(), permissions: None }
    }

    /// Returns a thread that will execute a method.
    pub(crate) fn new_thread(
        &mut self,
        forker: Option<(usize, Span)>,
        method: u32,
        slots: Vec<Value>,
        holder: Holder,
        kappa: Kappa,
        entry: Snapshot,
    ) -> usize {
        let number = self.threads.len();
        let sibling = match forker {
            Some((forker, _)) => {
                let forker = &mut self.threads[forker];
                forker.forks += 1;
                forker.forks - 1
            }
            None => number as u32,
        };
        // Threads that the entry, or its precondition, knows of; not those that callees fork.
        let is_known = match forker {
            Some((forker, _)) => forker == 0 && self.threads[0].stack.len() == 1,
            None => number > 0,
        };
        let parks = self.config.by_contract.as_ref().is_some_and(|chosen| chosen.parks_threads());
        let is_parked = is_known && parks;
        let clock = forker.map_or_else(Vec::new, |(forker, _)| self.threads[forker].clock.clone());
        let activation = Activation {
            method,
            pc: 0,
            slots,
            holder,
            kappa,
            entry,
            owns_entry: false,
            loops: Vec::new(),
        };
        self.threads.push(Thread {
            sibling,
            forked: forker.map(|(forker, span)| (forker as u32, span)),
            token: None,
            stack: vec![activation],
            status: Status::Ready,
            is_parked,
            held: Arc::default(),
            seen: rustc_hash::FxHashMap::default(),
            steps: 0,
            forks: 0,
            allocated: 0,
            root: holder,
            clock,
            place: self.code.methods[method as usize].span,
        });
        number
    }

    /// Nobody can release what a forked thread holds that has ended.
    fn check_thread_end(&self, thread: usize, method: &crate::code::Method) -> Res<()> {
        let running = &self.threads[thread];
        if !self.config.checks || running.stack.len() > 1 || running.forked.is_none() {
            return Ok(());
        }
        let Some(held) = running.held.first() else { return Ok(()) };
        let name = self.name(held.object);
        Err(Fault::new(Flaw::HeldAtTheEnd, keyword(method.span), &[&name]).into())
    }

    /// Returns the constants of the innermost activation of a thread.
    pub(super) fn constants(&self, thread: usize) -> &'c [(u32, u32)] {
        let top = self.threads[thread].stack.last();
        top.map_or(&[], |top| &self.code.methods[top.method as usize].frame.constants)
    }

    /// Moves all that somebody holds.
    pub(crate) fn move_everything(&mut self, from: Holder, to: Holder) {
        for object in &mut self.heap.objects {
            let cells = object.cells.iter_mut().map(|cell| &mut cell.holdings);
            let instances = object.instances.iter_mut().map(|one| &mut one.holdings);
            for holdings in cells.chain(instances) {
                let amount = holdings.amount(from);
                if !amount.is_none() {
                    holdings.transfer(from, to, &amount);
                }
            }
        }
    }

    /// Nobody may go away owing messages.
    pub(super) fn check_debt(&mut self, holder: Holder, flaw: Flaw, span: Span) -> Res<()> {
        if !self.config.checks {
            return Ok(());
        }
        let owed = self.channels.iter().find(|channel| self.credits(**channel, holder) < 0);
        if let Some(&channel) = owed {
            let count = -self.credits(channel, holder);
            return Err(Fault::new(flaw, span, &[&count, &self.name(channel)]).into());
        }
        Ok(())
    }

    /// Nothing may be left, where the program asks for that.
    pub(super) fn check_leaks(&mut self, holder: Holder, flaw: Flaw, span: Span) -> Res<()> {
        if !self.config.checks || !self.config.leaks_fail || self.config.view == View::Thread {
            return Ok(());
        }
        let Some(loc) = self.left_with(holder) else { return Ok(()) };
        Err(Fault::new(flaw, span, &[&self.location(loc)]).into())
    }

    /// Returns a location of which somebody holds some permission.
    pub(crate) fn left_with(&self, holder: Holder) -> Option<Loc> {
        for (at, object) in self.heap.objects.iter().enumerate() {
            let object_ref = Ref(at as u32);
            let cells = object.cells.iter().enumerate();
            let cells = cells.map(|(cell, one)| (Part::Cell(cell as u32), &one.holdings));
            let instances = object.instances.iter();
            let instances = instances.map(|one| (Part::Predicate(one.predicate), &one.holdings));
            for (part, holdings) in cells.chain(instances) {
                if !holdings.amount(holder).is_none() {
                    return Some(Loc { object: object_ref, part });
                }
            }
        }
        None
    }
}

impl Machine<'_> {
    pub(super) fn call(
        &mut self,
        thread: usize,
        site: &CallSite,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Next> {
        let code = self.code;
        let callee = &code.methods[site.method as usize];
        let mut inner = blamed(self.callee_slots(site, slots), ErrorId::CallFailed, Some(span))?;
        if code.classes[callee.class as usize].prints {
            self.output.push(printed(inner.get(1)));
            return Ok(Next::On);
        }
        let is_by_contract = self.is_by_contract(thread);
        let mut entry = self.entry_state(thread, callee.has_old || is_by_contract);
        let kappa = self.method_kappa(site.method);
        let holder = match self.config.view {
            View::Method => self.new_frame(site.method),
            View::Thread => self.scope.holder,
        };
        if !callee.requires.is_empty() {
            let result = self.give_precondition(site.method, kappa, holder, &mut inner);
            blamed(result, ErrorId::CallPrecondition, Some(span))?;
        }
        if is_by_contract {
            let called = (holder, kappa, entry);
            let results = self.results_by_contract(site, called, &inner, span)?;
            store(&site.outs, results, self.constants(thread), span, slots)?;
            return Ok(Next::On);
        }
        if callee.has_old {
            entry.permissions = self.permissions(holder);
        }
        let mut activation = Activation {
            method: site.method,
            pc: 0,
            slots: inner,
            holder,
            kappa,
            entry,
            owns_entry: callee.has_old,
            loops: Vec::new(),
        };
        self.open_own(&mut activation)?;
        Ok(Next::Into(Box::new(activation)))
    }

    pub(super) fn go_back(&mut self, thread: usize, results: Vec<Value>) -> Res<()> {
        let Some(ended) = self.threads[thread].stack.pop() else { return Ok(()) };
        if ended.owns_entry {
            self.heap.forget(ended.entry.epoch);
        }
        let code = self.code;
        if let Some(caller) = self.threads[thread].stack.last_mut() {
            let method = &code.methods[caller.method as usize];
            let instr = &method.body[caller.pc as usize - 1];
            if let Op::Call(site) = &instr.op {
                let constants = &method.frame.constants;
                return store(&site.outs, results, constants, instr.span, &mut caller.slots);
            }
            return Ok(());
        }
        match self.threads[thread].token {
            Some(token) => {
                let kept = &mut self.heap.extra_mut(token).token;
                if let Some(state) = kept {
                    let first = state.slots.len() - results.len();
                    state.slots[first..].clone_from_slice(&results);
                }
            }
            None => self.results = results,
        }
        Ok(())
    }

    pub(super) fn join(
        &mut self,
        thread: usize,
        outs: &[u32],
        token: &Expr,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        let code = self.code;
        let token = self.before_join(token, span, slots)?;
        self.subject = Some(token);
        let Some(state) = self.heap.token(token).cloned() else { return Ok(()) };
        let joined = state.thread.map(|joined| &self.threads[joined as usize]);
        let root = joined.map_or(Holder::Nobody, |joined| joined.root);
        if self.clocks
            && let Some(joined) = joined
        {
            let clock = joined.clock.clone();
            merge(&mut self.threads[thread].clock, &clock);
        }
        let to = self.scope.holder;
        self.heap.write(token, 0, Value::Bool(false));
        if self.is_by_contract(thread) {
            let results = self.join_by_contract(token, &state, outs, span)?;
            return store(outs, results, self.constants(thread), span, slots);
        }
        let method = &code.methods[state.method as usize];
        let mut inner = method.frame.initial.clone();
        inner[..state.slots.len()].clone_from_slice(&state.slots);
        let outer = self.scope.clone();
        self.scope = Scope {
            thread: None,
            holder: Holder::Token(token),
            kappa: state.kappa,
            at: None,
            old: OldState::At(state.before.clone()),
            checks: self.config.checks,
            ignores_debts: true,
        };
        let mut transfer = Transfer::receive(Holder::Token(token), to);
        transfer.foreign = true;
        let result = self.move_all(&method.ensures, &mut inner, transfer);
        self.scope = outer;
        result?;
        if self.config.view == View::Thread {
            self.move_everything(root, to);
            self.move_everything(Holder::Token(token), to);
        }
        let first = method.parameters + 1;
        let results = state.slots[first..].to_vec();
        store(outs, results, self.constants(thread), span, slots)
    }
}

/// Puts results where they are wanted. A constant is assigned once, as by any assignment.
pub(super) fn store(
    outs: &[u32],
    results: Vec<Value>,
    constants: &[(u32, u32)],
    span: Span,
    slots: &mut [Value],
) -> Res<()> {
    for (&out, result) in outs.iter().zip(results) {
        if let Some(&(_, flag)) = constants.iter().find(|(slot, _)| *slot == out) {
            if slots[flag as usize].is_true() {
                return Err(Fault::new(Flaw::AssignedTwice, span, &[]).into());
            }
            slots[flag as usize] = Value::Bool(true);
        }
        slots[out as usize] = result;
    }
    Ok(())
}

/// Everything that comes before one of two steps.
pub(crate) fn merge(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (one, two) in clock.iter_mut().zip(other) {
        *one = (*one).max(*two);
    }
}

/// Returns the first word of a declaration: where errors about its end stand.
pub(crate) fn keyword(span: Span) -> Span {
    Span { start: span.start, end: span.end.min(span.start + "method".len() as u32) }
}

fn printed(value: Option<&Value>) -> String {
    match value {
        Some(Value::Int(number)) => number.to_string(),
        Some(Value::Big(number)) => number.to_string(),
        Some(Value::Bool(truth)) => truth.to_string(),
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    }
}
