//! Messages and the right to receive them.

use chalice::Span;
use chalice_rt::flaw::Flaw;
use findings::ErrorId;

use crate::code::Expr;
use crate::fault::{Fault, Res, Trouble, blamed, reference_or_null};
use crate::heap::{Holder, Message, ObjectKind};
use crate::machine::{COMMON, Evaluator, Machine, OldState, Scope};
use crate::transfer::Transfer;
use crate::value::{Level, Ref, Value};

use super::calls::{merge, store};

impl Machine<'_> {
    pub(super) fn send(
        &mut self,
        thread: usize,
        channel: &Expr,
        arguments: &[Expr],
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        let value = self.eval(channel, slots)?;
        let object = reference_or_null(&value, channel.span, |channel| channel)?;
        self.subject = Some(object);
        let values: Res<Vec<Value>> =
            arguments.iter().map(|argument| self.eval(argument, slots)).collect();
        let values = values?;
        let from = self.scope.holder;
        self.move_credits(object, from, 1);
        let result = self.post(object, values, from, self.scope.thread);
        blamed(result, ErrorId::SendFailed, Some(span))?;
        if self.clocks {
            let clock = self.threads[thread].clock.clone();
            if let Some(message) = self.heap.extra_mut(object).channel.queue.back_mut() {
                message.clock = clock;
            }
        }
        Ok(())
    }

    /// Puts a message into the queue, with what its receiver is to get.
    pub(crate) fn post(
        &mut self,
        channel: Ref,
        values: Vec<Value>,
        from: Holder,
        thread: Option<u32>,
    ) -> Res<()> {
        self.messages += 1;
        let number = self.messages;
        let transfer = Transfer::give(from, Holder::Message(number));
        self.move_message(channel, &values, transfer, from, thread)?;
        let queue = &mut self.heap.extra_mut(channel).channel.queue;
        queue.push_back(Message { number, values, clock: Vec::new() });
        Ok(())
    }

    pub(super) fn receive(
        &mut self,
        thread: usize,
        outs: &[u32],
        channel: &Expr,
        span: Span,
        slots: &mut [Value],
    ) -> Res<()> {
        let object = self.before_receive(channel, span, slots)?;
        self.subject = Some(object);
        if self.is_by_contract(thread) {
            self.others_have_sent(object, outs, span)?;
        }
        let Some(message) = self.heap.extra_mut(object).channel.queue.pop_front() else {
            let words = "a message that is not there is received".to_owned();
            return Err(Box::new(Trouble::Inconsistent(words, span)));
        };
        if self.clocks {
            merge(&mut self.threads[thread].clock, &message.clock);
        }
        let (from, to) = (Holder::Message(message.number), self.scope.holder);
        let mut transfer = Transfer::receive(from, to);
        transfer.foreign = true;
        self.move_message(object, &message.values, transfer, from, None)?;
        self.move_credits(object, to, -1);
        store(outs, message.values, self.constants(thread), span, slots)
    }
}

impl Evaluator<'_> {
    fn move_message(
        &mut self,
        channel: Ref,
        values: &[Value],
        mut transfer: Transfer,
        reader: Holder,
        thread: Option<u32>,
    ) -> Res<()> {
        let code = self.code;
        let ObjectKind::Channel(described) = self.heap.object(channel).kind else { return Ok(()) };
        let described = &code.channels[described as usize];
        let Some(clause) = &described.where_clause else { return Ok(()) };
        if !self.config.checks {
            return Ok(());
        }
        let mut slots = described.frame.initial.clone();
        slots[0] = Value::Ref(channel);
        slots[1..=values.len()].clone_from_slice(values);
        let scope = Scope {
            thread,
            holder: reader,
            kappa: COMMON,
            at: None,
            old: OldState::Missing,
            checks: true,
            ignores_debts: false,
        };
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = self.collect(clause, &mut slots, &mut transfer);
        let result = result.and_then(|()| self.settle(transfer).map(|_| ()));
        self.scope = outer;
        result
    }

    /// Makes the checks of a receive that the receiving thread alone decides.
    pub(super) fn before_receive(
        &mut self,
        channel: &Expr,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Ref> {
        let value = self.eval(channel, slots)?;
        let object = reference_or_null(&value, channel.span, |channel| channel)?;
        if !self.config.checks {
            return Ok(object);
        }
        if self.credits(object, self.scope.holder) <= 0 {
            return Err(Fault::new(Flaw::NoCredit, span, &[&self.name(object)]).into());
        }
        let level = self.read(object, 0, span)?;
        let Value::Level(level) = level else { return Ok(object) };
        if self.code.options.deadlock_checks {
            let wait = self.wait_levels();
            let is_above =
                level != Level::BOTTOM && wait.iter().all(|held| self.is_below(*held, level));
            if !is_above {
                return Err(Fault::new(Flaw::WaitOrder, span, &[&self.name(object)]).into());
            }
        }
        Ok(object)
    }
}
