//! Threads: fork, join, and facts about tokens (Schwerhoff 2011, section 3.12).
//!
//! Receiver and arguments of a fork are functions of its token, so any holder of the token may join
//! it. The heap before the fork is known only if the fork is on the path. Otherwise the values of
//! `old` are functions of the token, too.
//!
//! SOUNDNESS: facts about these functions are assumed only at a fork, for a token that is new, and
//! where contracts claim them.

use chalice::program::{EvalState, Expr, ExprKind, LocalId, MethodId, OutVariable};
use rustc_hash::FxHashSet;
use sil::source::Span;
use smt::terms::{Sort, Term, Terms};

use crate::calls::{Actuals, Call};
use crate::eval::unknown;
use crate::{Chalice, Direct, Statements, Threads, renumbered, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::rules::language::Language;
use symex::state::heap::{Chunk, Heap};
use symex::state::thread::{Fork, Forked, Memory};
use symex::{Stop, View};

impl Statements<'_, '_> {
    /// Executes `fork token := receiver.method(arguments)`.
    ///
    /// SOUNDNESS: the new thread holds nothing, whatever this one holds.
    pub(crate) fn fork(&mut self, call: Call<'_>, token: Option<&OutVariable>) -> Result<(), Stop> {
        let direct = self.direct;
        let callee = &direct.tree.methods[call.method];
        let actuals = self.actuals(call, Blame::new(ErrorId::AssignmentFailed, call.at))?;
        // Missing permission is reported first where the old values of the thread are read.
        let mut olds = Vec::new();
        callee.ensures.iter().for_each(|clause| clause.outermost_olds(&mut olds));
        let reads = olds.iter().any(|body| variables(body, &callee.parameters).is_empty());
        let lacking = reads.then_some(ErrorId::AssignmentFailed);
        let words = "the precondition of the forked method might not hold";
        let required =
            Blame { lacking, ..Blame::new(ErrorId::ExhaleFailed, call.at).saying(words) };
        self.threads.prove_receiver(call, &actuals, required)?;
        let mut frame = self.threads.in_contract(call.method, &actuals);
        if frame.thread.locks.is_some() {
            let none = self.threads.no_locks();
            frame.thread.locks = Some(none.clone());
            frame.thread.old_locks = Some(none);
            frame.thread.memory.acquired.clear();
        }
        let context = self.threads.fraction();
        let before = self.here.heap.clone();
        let (chosen, _) = self.in_frame(frame, |chalice| -> Result<_, Stop> {
            let chosen = chalice.choose_for_callee(context, &callee.requires)?;
            chalice.prove_kept_levels(&callee.requires, required)?;
            chalice.move_credits(&callee.requires, true)?;
            chalice.remember_heap();
            chalice.consume_all(&callee.requires, |clause| {
                required.trusted().clause(span(clause.span))
            })?;
            Ok(chosen)
        });
        let chosen = chosen?;
        let new = self.new_object("token")?;
        let joinable = self.direct.joinable();
        let chunk = Chunk { arguments: vec![new], value: Terms::TRUE, amount: Terms::WRITE };
        self.add_chunk(joinable, chunk)?;
        if let Some(chosen) = chosen {
            let of_token = self.threads.of_token(new)?;
            let same = self.terms.eq(of_token, chosen);
            self.assume(same)?;
        }
        let carried = self.threads.carried(new, call.method);
        let same = same_actuals(&mut self.terms, &carried, &actuals);
        self.assume(same)?;
        std::rc::Rc::make_mut(&mut self.here.forks).push(Fork {
            token: new,
            heap: before,
            method: renumbered(call.method),
            actuals: std::iter::once(actuals.receiver).chain(actuals.arguments).collect(),
        });
        if let Some(out) = token {
            self.threads.assign_once(out.local, call.at)?;
            self.frame.store.set(Direct::local(out.local), new);
        }
        Ok(())
    }

    /// Executes `join outs := token`.
    pub(crate) fn exec_join(
        &mut self,
        outs: &[OutVariable],
        token: &Expr,
        method: MethodId,
        at: Span,
    ) -> Result<(), Stop> {
        let direct = self.direct;
        let callee = &direct.tree.methods[method];
        let blame = Blame::new(ErrorId::JoinFailed, at);
        let token_at = span(token.span);
        let token = self.eval(token, Blame::new(ErrorId::AssignmentFailed, at))?;
        self.threads.prove_joinable(token, at, token_at)?;
        let actuals = self.threads.carried(token, method);
        let mut frame = self.threads.in_contract(method, &actuals);
        let fraction = self.threads.of_token(token)?;
        frame.store.set(direct.fraction, fraction);
        if frame.thread.locks.is_some() {
            let (after, before) = (self.threads.unknown_locks(), self.threads.unknown_locks());
            (frame.thread.locks, frame.thread.old_locks) = (Some(after), Some(before));
        }
        frame.past.old = self.threads.heap_of_fork(token)?;
        if frame.past.old.is_none() {
            frame.thread.forked = Some(Forked { token, method: renumbered(method) });
        }
        // The memory of the joined thread is not that of this one.
        let forked = std::mem::take(&mut frame.thread.memory.forked);
        frame.thread.memory = Memory { forked, ..Memory::default() };
        let (done, inner) = self.in_frame(frame, |chalice| {
            chalice.threads.forget(callee.results.iter().copied());
            chalice.produce_all(&callee.ensures, None, |_| blame.trusted())?;
            chalice.move_credits(&callee.ensures, false)
        });
        done?;
        self.threads.recall_levels()?;
        self.write_field(token, direct.joinable, Terms::FALSE, at, blame)?;
        self.threads.take_results(method, outs, &inner.store, at)
    }
}

impl Threads<'_, '_> {
    /// Returns the receiver and the arguments that a token carries from its fork. If this path has
    /// forked the thread, these are the given ones.
    fn carried(&mut self, token: Term, method: MethodId) -> Actuals {
        let direct = self.direct;
        let own = self.here.forks.iter().find(|fork| fork.token == token);
        if let Some(fork) = own
            && fork.method == renumbered(method)
            && let [receiver, arguments @ ..] = &*fork.actuals
        {
            return Actuals { receiver: *receiver, arguments: arguments.to_vec() };
        }
        let number = method.into_raw().into_u32();
        let parameters = &direct.tree.methods[method].parameters;
        let receiver =
            of_fork(&mut self.terms, &format!("direct.token.{number}.this"), token, Sort::REF);
        let mut arguments = Vec::with_capacity(parameters.len());
        for (position, &parameter) in parameters.iter().enumerate() {
            let sort = self.sort(&direct.tree.locals[parameter].ty);
            let name = format!("direct.token.{number}.{position}");
            arguments.push(of_fork(&mut self.terms, &name, token, sort));
        }
        Actuals { receiver, arguments }
    }

    /// Shows that a thread can be joined: no other thread may join it, and none has.
    fn prove_joinable(&mut self, token: Term, at: Span, token_at: Span) -> Result<(), Stop> {
        let (resource, arguments) = (self.direct.joinable(), vec![token]);
        let blame = Blame::new(ErrorId::JoinFailed, at);
        let heap = self.here.heap.clone();
        let joinable = match self.take_location(resource, &arguments, Terms::WRITE)? {
            Some(joinable) => {
                self.here.heap = heap;
                joinable
            }
            None => {
                let whole = Some(Terms::WRITE);
                self.fail_permission(&heap, resource, &arguments, whole, blame, token_at)?;
                self.drop_aliases(resource, &arguments)?;
                let (value, amount) = (Terms::TRUE, Terms::WRITE);
                self.add_chunk(resource, Chunk { arguments, value, amount })?;
                Terms::TRUE
            }
        };
        let words = "the token might have been joined before";
        let blame = Blame::new(ErrorId::AssertFailed, at).saying(words);
        self.prove(joinable, blame, Reason::AssertionFalse, token_at)
    }

    /// Returns the heap before the fork of a token, if the fork is on the path.
    pub(crate) fn heap_of_fork(&mut self, token: Term) -> Result<Option<Heap>, Stop> {
        let forks = self.here.forks.clone();
        for fork in forks.iter().rev() {
            let is_it = self.terms.identical(fork.token, token);
            if self.check(is_it)? {
                return Ok(Some(fork.heap.clone()));
            }
        }
        Ok(None)
    }
}

impl Chalice<'_, '_> {
    /// Returns the value of `old` in the postcondition of a thread that was forked elsewhere. Equal
    /// expressions have one value, which depends on the variables around.
    pub(crate) fn old_of_fork(
        &mut self,
        forked: Forked,
        whole: &Expr,
        body: &Expr,
    ) -> Result<Term, Stop> {
        let direct = self.direct;
        let method = &direct.tree.methods[renumbered(forked.method)];
        let mut olds = Vec::new();
        method.ensures.iter().for_each(|clause| clause.outermost_olds(&mut olds));
        let Some(position) = olds.iter().position(|&other| other == body) else {
            return unsupported_at(span(whole.span), "`old` of a fork that is not known");
        };
        let mut arguments = vec![forked.token];
        for local in variables(body, &method.parameters) {
            match self.frame.store.get(Direct::local(local)) {
                Some(value) => arguments.push(value),
                None => return unknown(whole),
            }
        }
        let sorts: Vec<Sort> = arguments.iter().map(|&value| self.terms.sort(value)).collect();
        let sort = self.threads.sort(&body.ty);
        let name = format!("direct.old.{}.{position}", forked.method.into_raw().into_u32());
        let symbol = self.terms.declare_function(&name, &sorts, sort);
        let value = self.terms.apply(symbol, &arguments);
        // SOUNDNESS: unknown values of that state may be any here, also the actual ones.
        if let Some(told) = self.told_of_fork(forked.token, body)? {
            let same = self.terms.identical(value, told);
            self.assume(same)?;
        }
        Ok(value)
    }

    /// Makes the unconditional claim of `eval(token.fork receiver.method(arguments), ..)`: the
    /// token is that of a thread which was started with these values, and which has not been
    /// joined.
    pub(crate) fn claims_fork(
        &mut self,
        whole: &Expr,
        state: &EvalState,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let EvalState::Fork { token, receiver, method, arguments } = state else {
            return unknown(whole);
        };
        let token = self.eval(token, blame)?;
        let at = span(whole.span);
        let joinable = self.direct.joinable;
        let joinable = self.read_field(token, joinable, Sort::BOOL, at, blame)?;
        let carried = self.threads.carried(token, *method);
        let receiver = self.eval(receiver, blame)?;
        let mut claims = vec![joinable, self.terms.identical(carried.receiver, receiver)];
        for (argument, &known) in arguments.iter().zip(&carried.arguments) {
            if let Some(argument) = argument {
                let value = self.eval(argument, blame)?;
                claims.push(self.terms.identical(known, value));
            }
        }
        Ok(self.terms.and(claims))
    }
}

/// Returns the variables that an expression mentions, apart from some and from those that it binds,
/// in the order of their numbers.
fn variables(expr: &Expr, but: &[LocalId]) -> Vec<LocalId> {
    let (mut own, mut all) = (FxHashSet::default(), std::collections::BTreeSet::new());
    expr.for_each(&mut |part| match &part.kind {
        ExprKind::Quantified { variables, .. } => own.extend(variables.iter().copied()),
        ExprKind::Local(local) => {
            all.insert(local.into_raw().into_u32());
        }
        _ => {}
    });
    let ids = all.into_iter().map(|number| LocalId::from_raw(number.into()));
    ids.filter(|local| !own.contains(local) && !but.contains(local)).collect()
}

fn of_fork(terms: &mut Terms, name: &str, token: Term, sort: Sort) -> Term {
    let symbol = terms.declare_function(name, &[Sort::REF], sort);
    terms.apply(symbol, &[token])
}

fn same_actuals(terms: &mut Terms, one: &Actuals, other: &Actuals) -> Term {
    let mut all = vec![terms.identical(one.receiver, other.receiver)];
    for (&one, &other) in one.arguments.iter().zip(&other.arguments) {
        all.push(terms.identical(one, other));
    }
    terms.and(all)
}
