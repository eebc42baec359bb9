//! Channels: `send` and `receive`, and the messages that a method may still receive or has to send
//! (Leino, Müller and Smans 2010, on deadlock-free channels and locks).
//!
//! A method has a balance for each channel, zero at its start. The credits in contracts, monitors
//! and messages move beside their permissions.
//!
//! SOUNDNESS: a channel that is owed a message counts for the wait level of the thread that owes
//! it. The debts of callers count, too. For a precondition's claims about the wait level, the call
//! shows that its debts do not matter. Where an executed expression asks for the wait level,
//! unknown channels count. Other constructs that hand on the wait level are unsupported beside
//! channels ([`crate::scope`]).

use chalice::program::locking::mentions_wait_level;
use chalice::program::{Bounds, ChannelId, Expr, ExprKind, OutVariable};
use sil::source::Span;
use smt::terms::{Sort, Term, Terms, grow_stack};

use super::levels::{Debts, Level};
use super::locks::moment_sort;
use crate::{Chalice, Direct, Statements, Threads, span};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::language::Language;
use symex::state::Frame;
use symex::state::heap::Chunk;
use symex::state::thread::{Balances, Counted};
use symex::{Stop, View, Watch};

/// A part of an assertion that is more than a fact about values: its meaning depends on debts.
enum Debt<'e> {
    Credit { channel: Term, amount: Term },
    WaitLevel(&'e Expr),
}

impl<'p> Threads<'_, 'p> {
    /// Makes the claim that a channel is owed a message.
    pub(crate) fn is_owed(&mut self, balances: &Balances, channel: Term) -> Term {
        let balance = balance(&mut self.terms, balances, channel);
        let zero = self.terms.int(0);
        let owed = self.terms.lt(balance, zero);
        let exists = self.terms.differs(channel, Terms::NULL);
        self.terms.and([exists, owed])
    }

    /// Returns the level of a channel.
    pub(crate) fn level_of_channel(&mut self, channel: Term) -> Term {
        let sort = self.level_sort();
        let symbol = self.terms.declare_function("direct.channel.level", &[Sort::REF], sort);
        self.terms.apply(symbol, &[channel])
    }

    /// Returns the level of a channel, which was chosen above the least one when the channel was
    /// made.
    pub(crate) fn channel_level(&mut self, channel: Term) -> Result<Term, Stop> {
        let level = self.level_of_channel(channel);
        let bottom = self.bottom();
        let shared = self.terms.differs(level, bottom);
        self.assume(shared)?;
        Ok(level)
    }

    /// Learns the consequences of permission to the `mu` of a channel.
    pub(crate) fn learn_channel(&mut self, channel: Term) -> Result<(), Stop> {
        let level = self.channel_level(channel)?;
        let chunks = self.here.heap.of(self.direct.mu()).to_vec();
        for chunk in chunks.iter().filter(|chunk| chunk.arguments == [channel]) {
            let readable = self.terms.lt(Terms::NONE, chunk.amount);
            let same = self.terms.eq(chunk.value, level);
            let fact = self.terms.implies(readable, same);
            self.assume(fact)?;
        }
        Ok(())
    }

    fn move_credit(&mut self, guard: Term, channel: Term, amount: Term, gives: bool) {
        let change = if gives { self.terms.neg(amount) } else { amount };
        let zero = self.terms.int(0);
        let change = self.terms.ite(guard, change, zero);
        let before = self.here.credits.of(channel).unwrap_or(zero);
        let after = self.terms.add(before, change);
        self.here.credits.set(channel, after);
    }

    /// Shows that no channel is owed a message.
    pub(crate) fn prove_no_debt(&mut self, reason: Reason, at: Span) -> Result<(), Stop> {
        let balances = self.here.credits.clone();
        let mut all = Vec::new();
        for (channel, _) in balances.iter() {
            let owed = self.is_owed(&balances, channel);
            all.push(self.terms.not(owed));
        }
        let settled = self.terms.and(all);
        self.prove(settled, Blame::new(ErrorId::DebtFailed, at), reason, at)
    }

    /// Makes the frame in which the where clause of a channel is read, with the channel and the
    /// values of a message.
    fn in_message(
        &mut self,
        declaration: ChannelId,
        channel: Term,
        values: &[Term],
    ) -> Result<Frame<'p>, Stop> {
        let mut frame = self.frame_about(channel)?;
        let parameters = &self.direct.tree.channels[declaration].parameters;
        for (&parameter, &value) in parameters.iter().zip(values) {
            frame.store.set(Direct::local(parameter), value);
        }
        Ok(frame)
    }
}

impl Chalice<'_, '_> {
    /// Checks that `credit(channel, amount)` makes sense.
    pub(crate) fn credit_makes_sense(
        &mut self,
        (channel, amount): (&Expr, Option<&Expr>),
        blame: Blame,
    ) -> Result<(), Stop> {
        let value = self.eval(channel, blame)?;
        let exists = self.terms.differs(value, Terms::NULL);
        self.prove_defined(exists, blame, Reason::ReceiverNull, span(channel.span))?;
        if let Some(amount) = amount {
            self.eval(amount, blame)?;
        }
        Ok(())
    }

    /// Collects the credits in an assertion and its claims about the wait level, each with its
    /// condition.
    fn parts<'e>(
        &mut self,
        assertion: &'e Expr,
        guard: Term,
        to: &mut Vec<(Term, Debt<'e>)>,
    ) -> Result<(), Stop> {
        if assertion.is_pure() {
            if mentions_wait_level(assertion) {
                to.push((guard, Debt::WaitLevel(assertion)));
            }
            return Ok(());
        }
        // Uses of the assertion show that it makes sense.
        let blame = Blame::new(ErrorId::CallPrecondition, span(assertion.span)).silent();
        match &assertion.kind {
            ExprKind::And(parts) => {
                parts.iter().try_for_each(|part| grow_stack(|| self.parts(part, guard, to)))
            }
            ExprKind::Implies { guard: condition, body } => {
                let condition = self.eval(condition, blame)?;
                let guard = self.terms.and([guard, condition]);
                grow_stack(|| self.parts(body, guard, to))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                let negation = self.terms.not(condition);
                let (holds, fails) =
                    (self.terms.and([guard, condition]), self.terms.and([guard, negation]));
                grow_stack(|| self.parts(then, holds, to))?;
                grow_stack(|| self.parts(otherwise, fails, to))
            }
            ExprKind::Credit { channel, amount } => {
                let channel = self.eval(channel, blame)?;
                let amount = match amount {
                    Some(amount) => self.eval(amount, blame)?,
                    None => self.terms.int(1),
                };
                to.push((guard, Debt::Credit { channel, amount }));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn all_parts<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Vec<(Term, Debt<'e>)>, Stop> {
        let mut parts = Vec::new();
        if !self.direct.tree.channels.is_empty() {
            for clause in clauses {
                self.parts(clause, Terms::TRUE, &mut parts)?;
            }
        }
        Ok(parts)
    }

    /// Gives away the credits of assertions, or receives them.
    pub(crate) fn move_credits<'e>(
        &mut self,
        clauses: impl IntoIterator<Item = &'e Expr>,
        gives: bool,
    ) -> Result<(), Stop> {
        for (guard, part) in self.all_parts(clauses)? {
            if let Debt::Credit { channel, amount } = part {
                self.threads.move_credit(guard, channel, amount, gives);
            }
        }
        Ok(())
    }

    fn channel(&mut self, channel: &Expr, blame: Blame) -> Result<Term, Stop> {
        let value = self.eval(channel, Blame { error: ErrorId::AssignmentFailed, ..blame })?;
        let exists = self.terms.differs(value, Terms::NULL);
        self.prove(exists, blame, Reason::ReceiverNull, span(channel.span))?;
        Ok(value)
    }

    /// Runs with the debts of the method counting for the wait level.
    pub(crate) fn counting_debts<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.exchanging(|chalice| &mut chalice.frame.thread.counted, Counted::Own, run).0
    }

    /// Returns the value of an executed expression. The debts of callers count, too.
    pub(crate) fn executed(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        if self.direct.tree.channels.is_empty() || !mentions_wait_level(expr) {
            return self.eval(expr, blame);
        }
        let sort = moment_sort(&mut self.terms);
        let counted = Counted::All(self.fresh("callers", sort));
        let eval = |chalice: &mut Self| chalice.eval(expr, blame);
        self.exchanging(|chalice| &mut chalice.frame.thread.counted, counted, eval).0
    }
}

impl Statements<'_, '_> {
    /// Gives the credits of a precondition, and shows its claims about the wait level. The caller's
    /// debts count for that level, and the callee's contract cannot mention them.
    ///
    /// SOUNDNESS: the remaining debts of the caller are open while the callee runs. So a claim
    /// about the wait level has to hold both at its place, and when all credits have been given.
    pub(crate) fn give_credits(&mut self, requires: &[Expr], blame: Blame) -> Result<(), Stop> {
        let mut claims: Vec<(Term, &Expr, bool)> = Vec::new();
        for (guard, part) in self.all_parts(requires)? {
            match part {
                Debt::Credit { channel, amount } => {
                    self.threads.move_credit(guard, channel, amount, true);
                    claims.iter_mut().for_each(|(.., is_early)| *is_early = true);
                }
                Debt::WaitLevel(claim) => {
                    self.prove_with_debts(guard, claim, blame)?;
                    claims.push((guard, claim, false));
                }
            }
        }
        for (guard, claim, _) in claims.into_iter().filter(|(.., is_early)| *is_early) {
            self.prove_with_debts(guard, claim, blame)?;
        }
        Ok(())
    }

    /// Shows a claim about the wait level where debts count, provided that it holds without debts.
    /// The latter is shown elsewhere.
    fn prove_with_debts(&mut self, guard: Term, claim: &Expr, blame: Blame) -> Result<(), Stop> {
        let silent = blame.silent();
        let (without, seen) = self.watched(|chalice| chalice.eval(claim, silent));
        let without = without?;
        // Missing permission is also missing where the precondition is given away.
        if seen.unread {
            return Ok(());
        }
        let owed = self.counting_debts(|chalice| chalice.eval(claim, silent))?;
        let goal = self.terms.implies(without, owed);
        let goal = self.terms.implies(guard, goal);
        self.prove(goal, blame, Reason::AssertionFalse, span(claim.span))
    }

    /// Shows that the token of a method carries no debt. Nobody would owe it until the token is
    /// joined.
    pub(crate) fn prove_no_debt_in_token(
        &mut self,
        ensures: &[Expr],
        at: Span,
    ) -> Result<(), Stop> {
        let zero = self.terms.int(0);
        for (guard, part) in self.all_parts(ensures)? {
            if let Debt::Credit { amount, .. } = part {
                let fine = self.terms.le(zero, amount);
                let fine = self.terms.implies(guard, fine);
                self.prove(fine, Blame::new(ErrorId::DebtFailed, at), Reason::ByToken, at)?;
            }
        }
        Ok(())
    }

    /// Evaluates `new Ch between ..`.
    pub(crate) fn new_channel(&mut self, bounds: &Bounds, at: Span) -> Result<Term, Stop> {
        let level = self.choose_level(bounds, at)?;
        let channel = self.new_object("channel")?;
        let own = self.threads.channel_level(channel)?;
        let same = self.terms.eq(own, level);
        self.assume(same)?;
        self.threads.is_not_held(channel)?;
        let (balances, zero) = (self.here.credits.clone(), self.terms.int(0));
        let balance = balance(&mut self.terms, &balances, channel);
        let untouched = self.terms.eq(balance, zero);
        self.assume(untouched)?;
        let chunk = Chunk { arguments: vec![channel], value: level, amount: Terms::WRITE };
        let mu = self.direct.mu();
        self.add_chunk(mu, chunk)?;
        Ok(channel)
    }

    /// Executes `send channel(arguments)`: gives the permission of the message away. The message
    /// may be received once.
    pub(crate) fn send(
        &mut self,
        channel: &Expr,
        declaration: ChannelId,
        arguments: &[Expr],
        at: Span,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::SendFailed, at);
        let target = self.channel(channel, blame)?;
        let evaluated = Blame::new(ErrorId::AssignmentFailed, at);
        let values = arguments.iter().map(|argument| self.eval(argument, evaluated));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let one = self.terms.int(1);
        self.threads.move_credit(Terms::TRUE, target, one, false);
        let clause = &self.direct.tree.channels[declaration].where_clause;
        let frame = self.threads.in_message(declaration, target, &values)?;
        let (done, _) = self.in_frame(frame, |chalice| -> Result<(), Stop> {
            chalice.move_credits(clause, true)?;
            chalice.remember_heap();
            chalice.consume_all(clause, |_| blame.trusted())?;
            Ok(())
        });
        done?;
        Ok(())
    }

    /// Executes `receive outs := channel`. There has to be a message to come, and the channel has
    /// to be above everything that the thread holds or owes.
    pub(crate) fn receive(
        &mut self,
        outs: &[OutVariable],
        channel: &Expr,
        declaration: ChannelId,
        at: Span,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let blame = Blame::new(ErrorId::ReceiveFailed, at);
        let target = self.channel(channel, blame)?;
        let (credits, zero) = (self.here.credits.clone(), self.terms.int(0));
        let balance = balance(&mut self.terms, &credits, target);
        let some = self.terms.lt(zero, balance);
        self.prove(some, blame, Reason::NoCredit, span(channel.span))?;
        let level = self.threads.read_level(target, Some(blame), span(channel.span))?;
        let wait = Level::Wait { locks: self.threads.locks(at)?, debts: Debts::own(credits) };
        let above = self.threads.level_below(&wait, &Level::Value(level))?;
        self.prove(above, blame, Reason::LockOrder, span(channel.span))?;
        let declared = &direct.tree.channels[declaration];
        let mut values = Vec::with_capacity(declared.parameters.len());
        for &parameter in &declared.parameters {
            let local = &direct.tree.locals[parameter];
            let sort = self.threads.sort(&local.ty);
            values.push(self.fresh(&local.name, sort));
        }
        let clause = &declared.where_clause;
        let is_ill_formed =
            direct.messages(declaration).is_some_and(|id| self.is_ill_formed_predicate(id));
        let frame = self.threads.in_message(declaration, target, &values)?;
        let (done, _) = self.in_frame(frame, |chalice| {
            chalice.produce_received(clause, None, is_ill_formed, blame)?;
            chalice.move_credits(clause, false)
        });
        done?;
        let one = self.terms.int(1);
        self.threads.move_credit(Terms::TRUE, target, one, true);
        for (out, value) in outs.iter().zip(values) {
            self.threads.assign_once(out.local, at)?;
            self.frame.store.set(Direct::local(out.local), value);
        }
        Ok(())
    }
}

/// Returns the number of messages that may be received from a channel.
pub(crate) fn balance(terms: &mut Terms, balances: &Balances, channel: Term) -> Term {
    let zero = terms.int(0);
    let mut parts = Vec::new();
    for (known, amount) in balances.iter() {
        let is_it = terms.identical(channel, known);
        parts.push(terms.ite(is_it, amount, zero));
    }
    terms.sum(Sort::INT, parts)
}
