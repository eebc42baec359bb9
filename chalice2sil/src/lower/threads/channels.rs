//! Channels: what `send` and `receive` do, and the messages that a method may still receive or has
//! to send.
//!
//! Credits are a map from channels to numbers, one a method: what a contract or a message says of
//! them is moved by statements beside it (Leino, Müller and Smans 2010, on deadlock-free channels
//! and locks).

use std::rc::Rc;

use chalice::program::{Access, AccessTarget, Channel, ChannelId, Expr, ExprKind, OutVariable};
use findings::{ErrorId, Pattern, Reason};
use sil::syntax as s;

use crate::build::*;
use crate::lower::Body;
use crate::lower::annotations::{Annotate, renamed, said, unplaced};
use crate::lower::assertions::{Guarded, Part};
use crate::lower::env::{Env, LockState, Locks, ReadAmount, Side};
use crate::lower::facts::mentions_credit;
use crate::lower::permissions::stars::Given;
use crate::lower::threads::levels::{Level, not_above};
use crate::names::fixed;

impl Body<'_, '_> {
    /// Adds the credits of an assertion to those of the method, or takes them away.
    pub(crate) fn move_credits(&mut self, e: &Expr, env: &Env, op: s::BinaryOp) {
        if self.credits.is_some() {
            for part in self.parts(e, env) {
                self.move_credit(part, env, op);
            }
        }
    }

    /// As [`Self::move_credits`], if a part of an assertion is a credit.
    pub(crate) fn move_credit(&mut self, part: Guarded<'_>, env: &Env, op: s::BinaryOp) {
        let Some(credits) = self.credits.clone() else { return };
        let Part::Credit { channel, amount } = part.part else { return };
        if part.binder.is_some() {
            return self.unsupported_stmt("a credit under a quantifier");
        }
        let channel = self.expr(channel, env);
        let amount = amount.map_or(int(1), |amount| self.expr(amount, env));
        let change = assign(var(&credits), changed_balance(&credits, &channel, op, amount));
        if is_true(&part.guard) {
            self.emit(change);
        } else {
            self.emit(branch(part.guard, vec![change], Vec::new()));
        }
    }

    /// Moves the credits inside a predicate that is folded or unfolded as [`Self::move_credits`]
    /// does.
    ///
    /// SOUNDNESS: nobody gets them twice, as they move with the whole predicate only. Debts are not
    /// kept in predicates, since nobody would have to pay them: predicates may be dropped.
    pub(crate) fn move_folded_credits(&mut self, access: &Access, env: &Env, op: s::BinaryOp) {
        let AccessTarget::Predicate { receiver, predicate } = &access.target else { return };
        let body = &self.program().predicates[*predicate].body;
        if !mentions_credit(body) {
            return;
        }
        if self.credits.is_none() || !access.amount.kind.is_whole() {
            return self.unsupported_stmt("a share of a predicate with credits");
        }
        let this = self.expr(receiver, env);
        self.move_credits(body, &env.about(this), op);
    }

    /// No channel may be owed a message here.
    pub(crate) fn check_debt(&mut self, id: (ErrorId, Reason), words: &str) {
        let Some(credits) = self.credits.clone() else { return };
        let name = self.bound_name("c");
        let balance = call(fixed::CREDIT_AT, vec![var(&credits), var(&name)]);
        let settled = forall_ref(
            &name,
            vec![balance.clone()],
            implies(ne(var(&name), null()), le(int(0), balance)),
        );
        self.emit(
            assert(settled)
                .with(renamed(ErrorId::AssertFailed, id))
                .with(said(Pattern::ANY, words)),
        );
    }

    /// No token may carry a debt: nobody would owe it until the token is joined.
    ///
    /// SOUNDNESS: debts count for the wait level of the thread that has them. One that no thread
    /// has could be waited for by the very thread that would have to join first.
    pub(crate) fn check_no_debt_in_token(&mut self, ensures: &[Expr], env: &Env) {
        for clause in ensures {
            for part in self.parts(clause, env) {
                let Part::Credit { amount: Some(amount), .. } = part.part else { continue };
                let amount = self.expr(amount, env);
                let check = assert(unplaced(part.when(le(int(0), amount))));
                let words = "the method is forked, and its token might carry a debt";
                let id = (ErrorId::DebtFailed, Reason::ByToken);
                self.emit(
                    check.with(renamed(ErrorId::AssertFailed, id)).with(said(Pattern::ANY, words)),
                );
            }
        }
    }

    fn channel_target(&mut self, e: &Expr, kind: ErrorId, env: &Env) -> s::Expr {
        let channel = self.saved(e, "channel", &[], env);
        if !matches!(e.kind, ExprKind::This) {
            self.emit(
                assert(ne(channel.clone(), null()))
                    .with(renamed(
                        (ErrorId::AssertFailed, Reason::AssertionFalse),
                        (kind, Reason::ReceiverNull),
                    ))
                    .with(said(Pattern::ANY, &self.might_be_null(e))),
            );
        }
        channel
    }

    /// `send channel(arguments)`
    pub(crate) fn send(
        &mut self,
        channel: &Expr,
        declaration: ChannelId,
        arguments: &[Expr],
        env: &Env,
    ) {
        let lowering = self.lowering;
        let declared = &lowering.program.channels[declaration];
        let target = self.channel_target(channel, ErrorId::SendFailed, env);
        let mut actuals = self.saved_all(arguments, &declared.parameters, &[], env);
        let Some(credits) = self.credits.clone() else { return };
        let mut left = Vec::new();
        let more = changed_balance(&credits, &target, s::BinaryOp::Add, int(1));
        self.emit_plain(assign(var(&credits), more));
        if let Some(clause) = &declared.where_clause {
            let inner = about_message(env, declared, &target, &actuals).on(Side::Exhaled);
            self.move_credits(clause, &inner, s::BinaryOp::Sub);
            let clauses = std::slice::from_ref(clause);
            self.bound_all_counts(clauses, &inner);
            self.check_stars(clauses, Some(&write()), &inner, ErrorId::SendFailed);
            left = self.left_stars(clauses, &inner, Given::InBody, ErrorId::SendFailed);
        }
        actuals.insert(0, target);
        if lowering.facts.locking.speaks_of_sender(declared) {
            let Locks::State(locks) = &env.locks else {
                return self.unsupported_stmt("a message about locks where none are known");
            };
            actuals.extend(locks.values_with_credits());
        }
        let name = lowering.names.borrow().channels[declaration].clone();
        let message = acc(call(&name, actuals), write());
        self.emit(
            fold(message.clone())
                .with(renamed(ErrorId::FoldFailed, ErrorId::SendFailed))
                .with(said(Pattern::ANY, "the where clause of the channel might not hold: `%e`")),
        );
        self.emit(exhale(message).with(renamed(ErrorId::ExhaleFailed, ErrorId::SendFailed)));
        self.note_left_stars(left);
    }

    /// Returns the locks and debts of the thread that has sent a message.
    fn locks_of_sender(&mut self) -> LockState {
        let locks = self.unknown_locks();
        let credits = self.fresh("creditsThere");
        let ty = self.lowering.credits_type();
        self.emit_plain(declare(&credits, ty, None));
        LockState { credits: Some(var(&credits)), ..locks }
    }

    /// `receive outs := channel`
    pub(crate) fn receive(
        &mut self,
        outs: &[OutVariable],
        channel: &Expr,
        declaration: ChannelId,
        env: &Env,
    ) {
        let lowering = self.lowering;
        let declared = &lowering.program.channels[declaration];
        let target = self.channel_target(channel, ErrorId::ReceiveFailed, env);
        let Some(credits) = self.credits.clone() else { return };
        let balance = call(fixed::CREDIT_AT, vec![var(&credits), target.clone()]);
        let level = lowering.level_of(target.clone());
        let readable = lt(none(), perm(level.clone()));
        let above = self
            .level_below(Level::Wait(env.locks.clone()), Level::Value(level))
            .unwrap_or_else(|| truth(false));
        let called = self.text_of(channel);
        let no_credit = format!("a credit of `{called}` might be missing");
        let unreadable = format!("there might be insufficient permission to read `{called}.mu`");
        for (condition, reason, words) in [
            (lt(int(0), balance), Reason::NoCredit, no_credit),
            (readable, Reason::InsufficientPermission, unreadable),
            (above, Reason::LockOrder, not_above(&called)),
        ] {
            self.emit(
                assert(condition)
                    .with(renamed(
                        (ErrorId::AssertFailed, Reason::AssertionFalse),
                        (ErrorId::ReceiveFailed, reason),
                    ))
                    .with(renamed(ErrorId::AssertFailed, ErrorId::ReceiveFailed))
                    .with(said(Pattern::ANY, &words)),
            );
        }
        let mut values = vec![target.clone()];
        for &parameter in &declared.parameters {
            let name = self.havocked(parameter);
            values.push(var(&name));
        }
        let mut actuals = values.clone();
        let mut locks = env.locks.clone();
        if lowering.facts.locking.speaks_of_sender(declared) {
            let sender = self.locks_of_sender();
            actuals.extend(sender.values_with_credits());
            locks = Locks::State(sender);
        }
        let name = lowering.names.borrow().channels[declaration].clone();
        let message = acc(call(&name, actuals), write());
        self.emit(inhale(message.clone()));
        self.open_received(message);
        if let Some(clause) = &declared.where_clause {
            let inner = about_message(env, declared, &target, &values[1..]).on(Side::Inhaled);
            let inner = Env { locks, ..inner };
            self.note_stars(
                std::slice::from_ref(clause),
                (&truth(true), Some(&write())),
                &inner,
                ErrorId::ReceiveFailed,
            );
            self.bound_counts(clause, &inner);
            let here = Env { locks: env.locks.clone(), ..inner.clone() };
            for fact in self.levels_in(clause, &here) {
                self.emit_plain(inhale(fact));
            }
            self.move_credits(clause, &inner, s::BinaryOp::Add);
        }
        let fewer = changed_balance(&credits, &target, s::BinaryOp::Sub, int(1));
        self.emit_plain(assign(var(&credits), fewer));
        self.declare_outs(outs);
        for (out, value) in outs.iter().zip(&values[1..]) {
            let target = self.local(out.local);
            self.emit(assign(var(&target), value.clone()));
        }
    }
}

/// Returns the environment of the where clause of a channel: for the channel itself and the
/// parameters, what they stand for.
fn about_message(env: &Env, declared: &Channel, target: &s::Expr, actuals: &[s::Expr]) -> Env {
    let replaced = declared.parameters.iter().copied().zip(actuals.iter().cloned()).collect();
    Env {
        this: target.clone(),
        replaced: Rc::new(replaced),
        read: ReadAmount::Common,
        ..env.clone()
    }
}

fn changed_balance(credits: &str, channel: &s::Expr, op: s::BinaryOp, amount: s::Expr) -> s::Expr {
    let balance = call(fixed::CREDIT_AT, vec![var(credits), channel.clone()]);
    call(fixed::CREDIT_SET, vec![var(credits), channel.clone(), binary(op, balance, amount)])
}
