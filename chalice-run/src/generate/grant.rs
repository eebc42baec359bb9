//! Granting a precondition.

use chalice::Span;
use chalice::program::LockMode;

use crate::amount::{Amount, Kappa};
use crate::choices::About;
use crate::code::{Expr, index};
use crate::fault::{Res, Trouble};
use crate::heap::{Held, Holder, ObjectKind, Snapshot};
use crate::machine::{COMMON, Evaluator, Machine, Scope, View, World};
use crate::transfer::Transfer;
use crate::value::{Ref, Value};

impl Machine<'_> {
    /// Makes a start of a method: chooses receiver and arguments, and grants what the precondition
    /// asks for.
    ///
    /// # Errors
    /// [`Trouble::Contradiction`] if the choices taken do not fit.
    pub(crate) fn grant(&mut self, method: u32) -> Res<()> {
        let code = self.code;
        let described = &code.methods[method as usize];
        self.granting = true;
        let mut slots = described.frame.initial.clone();
        let receiver = self.new_object(ObjectKind::Class(described.class));
        slots[0] = Value::Ref(receiver);
        if let Some(following) = &mut self.following
            && let Some(number) = following.receiver()
        {
            following.bind(number, receiver);
        }
        for (at, slot) in slots.iter_mut().enumerate().take(described.parameters + 1).skip(1) {
            let Some(ty) = &described.frame.types[at] else { continue };
            let name = described.frame.names[at].as_deref().unwrap_or_default();
            let wanted = self.following.as_ref().and_then(|model| model.argument(name));
            let wanted = wanted.as_ref();
            let kind = match ty {
                chalice::program::Type::Class(class) => ObjectKind::Class(index(*class)),
                chalice::program::Type::Token(forked) => ObjectKind::Token(index(*forked)),
                chalice::program::Type::Channel(channel) => ObjectKind::Channel(index(*channel)),
                ty => {
                    *slot = self.choose_value_as(ty, wanted);
                    continue;
                }
            };
            *slot = self.choose_object(kind, false, wanted);
        }
        self.start(method, slots)
    }

    /// Starts a method with given receiver and arguments, and grants what its precondition asks
    /// for.
    ///
    /// # Errors
    /// [`Trouble::Contradiction`] if the precondition does not hold.
    pub(crate) fn start(&mut self, method: u32, mut slots: Vec<Value>) -> Res<()> {
        let described = &self.code.methods[method as usize];
        self.granting = true;
        let holder = self.new_frame(method);
        let kappa = self.fractions.fresh(None);
        let entry = Snapshot { epoch: 0, held: std::sync::Arc::default(), permissions: None };
        // The thread exists while the precondition is granted, as it may hold locks.
        let thread = self.start_bare(method, holder, kappa, entry)?;
        self.choose_results(method, &mut slots);
        self.scope = Scope::granting(Some(thread as u32), kappa);
        let transfer = Transfer::give(Holder::Environment, holder).inexact(kappa);
        self.move_all(&described.requires, &mut slots, transfer)?;
        self.settle_histories(thread)?;
        self.bind_rest()?;
        self.pay_credits(holder)?;
        self.granting = false;
        let mut entry = self.record(Some(thread));
        entry.permissions = self.permissions(holder);
        let mut activation = self.threads[thread].stack.remove(0);
        activation.slots = slots;
        activation.entry = entry;
        self.open_own(&mut activation)?;
        self.threads[thread].stack.push(activation);
        debug_assert!(self.config.view == View::Method || self.threads[thread].root == holder);
        Ok(())
    }

    /// Sends messages for each receiver with credits.
    fn pay_credits(&mut self, holder: Holder) -> Res<()> {
        for at in 0..self.channels.len() {
            let channel = self.channels[at];
            let ObjectKind::Channel(described) = self.heap.object(channel).kind else { continue };
            let code = self.code;
            let described = &code.channels[described as usize];
            for _ in 0..self.granted_credits(channel, holder).clamp(0, 4) {
                let values = (1..=described.parameters)
                    .map(|slot| match &described.frame.types[slot] {
                        Some(ty) => self.choose_value(ty),
                        None => Value::Null,
                    })
                    .collect();
                self.post(channel, values, Holder::Environment, None)?;
            }
        }
        Ok(())
    }
}

impl World<'_> {
    /// Returns a thread at the start of a method, whose variables come later.
    fn start_bare(
        &mut self,
        method: u32,
        holder: Holder,
        kappa: Kappa,
        entry: Snapshot,
    ) -> Res<usize> {
        let thread = self.new_thread(None, method, Vec::new(), holder, kappa, entry);
        Ok(thread)
    }

    fn choose_slot(&mut self, method: u32, slot: usize) -> Value {
        let code = self.code;
        match &code.methods[method as usize].frame.types[slot] {
            Some(ty) => self.choose_value(ty),
            None => Value::Null,
        }
    }

    /// Returns how often one may receive, with what predicate instances and monitors may give
    /// later.
    fn granted_credits(&self, channel: Ref, holder: Holder) -> i64 {
        let extra = self.heap.object(channel).extra.as_ref();
        let credits = extra.map_or(&[][..], |extra| &extra.channel.credits);
        let is_kept = |other: Holder| {
            other == holder || matches!(other, Holder::Instance(..) | Holder::Monitor(_))
        };
        let kept = credits.iter().filter(|(other, count)| is_kept(*other) && *count > 0);
        kept.map(|(_, count)| count).sum()
    }
}

impl Evaluator<'_> {
    /// Makes a predicate instance of which the environment has this much.
    pub(crate) fn grant_instance(
        &mut self,
        object: Ref,
        predicate: u32,
        amount: &Amount,
    ) -> Res<()> {
        if self.grant_depth > self.bounds.depth {
            return Err(Box::new(Trouble::Contradiction));
        }
        let is_number =
            amount.terms().iter().all(|term| term.monomial == crate::amount::Monomial::One);
        let amount = if is_number { amount.clone() } else { Amount::FULL };
        self.grant_depth += 1;
        let span = Span::default();
        let folded =
            self.fold_instance(object, predicate, &amount, None, Holder::Environment, span);
        self.grant_depth -= 1;
        folded?;
        let part = crate::heap::Part::Predicate(predicate);
        let loc = crate::heap::Loc { object, part };
        self.heap.holdings_mut(loc).add(Holder::Environment, &amount);
        Ok(())
    }

    /// May the thread of a start hold a lock that its precondition asks about? Then it does.
    pub(crate) fn grant_lock(&mut self, object: Ref, mode: LockMode) -> Res<bool> {
        if self.read(object, 0, Span::default())? == Value::Level(crate::value::Level::BOTTOM) {
            return Ok(false);
        }
        let is_free = self.heap.lock(object).is_some_and(|lock| {
            lock.writer.is_none() && (mode == LockMode::Read || lock.readers.is_empty())
        });
        let Some(thread) = self.scope.thread else { return Ok(false) };
        // The answer is the same whenever the precondition asks again.
        if !is_free || self.refused.contains(&(object, mode)) {
            return Ok(false);
        }
        if self.choices.choose(2, About::Value) == 0 {
            self.refused.push((object, mode));
            return Ok(false);
        }
        let level = self.level_of(object);
        let write = mode == LockMode::Write;
        let held = Held { object, write, level, span: Span::default() };
        std::sync::Arc::make_mut(&mut self.threads[thread as usize].held).push(held);
        if let Some(lock) = &mut self.heap.extra_mut(object).lock {
            if write {
                lock.writer = Some(thread);
            } else {
                lock.readers.push(thread);
            }
        }
        if write {
            self.move_everything(Holder::Monitor(object), Holder::Environment);
        }
        Ok(true)
    }

    /// Says what a generated token is the fork of, and starts that thread.
    pub(crate) fn bind_token(
        &mut self,
        token: Ref,
        receiver: &Expr,
        method: u32,
        arguments: &[Option<Expr>],
        slots: &mut [Value],
    ) -> Res<()> {
        if self.heap.token(token).is_none_or(|state| state.thread.is_some()) {
            return Ok(());
        }
        let mut inner = self.code.methods[method as usize].frame.initial.clone();
        inner[0] = self.eval(receiver, slots)?;
        for (at, argument) in arguments.iter().enumerate() {
            inner[at + 1] = match argument {
                Some(argument) => self.eval(argument, slots)?,
                None => self.choose_slot(method, at + 1),
            };
        }
        self.start_forked(token, method, inner)
    }

    fn start_forked(&mut self, token: Ref, method: u32, mut inner: Vec<Value>) -> Res<()> {
        if inner[0] == Value::Null {
            return Err(Box::new(Trouble::Contradiction));
        }
        let code = self.code;
        let described = &code.methods[method as usize];
        let before = self.record(None);
        let Some(state) = self.heap.token(token).cloned() else { return Ok(()) };
        let holder = self.new_frame(method);
        let outer = self.scope.clone();
        self.scope = Scope::granting(None, state.kappa);
        let transfer = Transfer::give(Holder::Environment, holder).inexact(state.kappa);
        let result = self.move_all(&described.requires, &mut inner, transfer);
        self.scope = outer;
        result?;
        let kept = inner[..state.slots.len()].to_vec();
        let thread = self.new_thread(None, method, inner, holder, state.kappa, before.clone());
        self.threads[thread].token = Some(token);
        let known = &mut self.heap.extra_mut(token).token;
        if let Some(known) = known {
            known.thread = Some(thread as u32);
            known.slots = kept;
            known.before = before;
        }
        debug_assert_eq!(COMMON, Kappa(0));
        Ok(())
    }

    /// Tokens that may be joined, of which nothing is said, are forks of their method on anything.
    fn bind_rest(&mut self) -> Res<()> {
        for at in 0..self.heap.objects.len() {
            let token = Ref(at as u32);
            let Some(state) = self.heap.token(token) else { continue };
            let method = state.method;
            let may_be_joined = state.thread.is_none()
                && self.heap.object(token).cells[0].value == Value::Bool(true);
            if may_be_joined {
                let class = self.code.methods[method as usize].class;
                let mut inner = self.code.methods[method as usize].frame.initial.clone();
                inner[0] = self.choose_object(ObjectKind::Class(class), false, None);
                let parameters = self.code.methods[method as usize].parameters;
                for (slot, value) in inner.iter_mut().enumerate().take(parameters + 1).skip(1) {
                    *value = self.choose_slot(method, slot);
                }
                self.start_forked(token, method, inner)?;
            }
        }
        Ok(())
    }
}
