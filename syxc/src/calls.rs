//! Calls (Schwerhoff 2011, section 3.8), and the state in which the contract of another method is
//! read.

use chalice::program::{Expr, MethodId, OutVariable};
use sil::source::Span;
use smt::terms::{Term, Terms};

use super::{Direct, Statements, Threads, span};
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::language::Language;
use symex::state::{Frame, Store};
use symex::{Stop, View};

/// A call or fork, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Call<'e> {
    pub(super) receiver: &'e Expr,
    pub(super) method: MethodId,
    pub(super) arguments: &'e [Expr],
    /// The statement.
    pub(super) at: Span,
}

/// The actual values of a method's receiver and parameters.
#[derive(Clone, Debug)]
pub(super) struct Actuals {
    pub(super) receiver: Term,
    pub(super) arguments: Vec<Term>,
}

impl Statements<'_, '_> {
    /// Evaluates the receiver and the arguments of a call.
    pub(super) fn actuals(&mut self, call: Call<'_>, blame: Blame) -> Result<Actuals, Stop> {
        let receiver = self.eval(call.receiver, blame)?;
        let arguments = call.arguments.iter().map(|argument| self.eval(argument, blame));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(Actuals { receiver, arguments })
    }

    /// Chooses the amount of `rd` for a precondition that is given away, if `rd` has an amount
    /// here.
    pub(super) fn choose_for_callee(
        &mut self,
        context: Option<Term>,
        requires: &[Expr],
    ) -> Result<Option<Term>, Stop> {
        if context.is_none() {
            return Ok(None);
        }
        let chosen = self.threads.choose_fraction(context)?;
        self.bound(chosen, requires)?;
        Ok(Some(chosen))
    }

    /// Executes a call: gives the precondition away, and receives the postcondition. `old` there is
    /// the state before.
    pub(super) fn call(&mut self, call: Call<'_>, outs: &[OutVariable]) -> Result<(), Stop> {
        let direct = self.direct;
        let callee = &direct.tree.methods[call.method];
        let blame = Blame::new(ErrorId::CallFailed, call.at);
        let actuals = self.actuals(call, blame)?;
        let required = Blame::new(ErrorId::CallPrecondition, call.at);
        self.threads.prove_receiver(call, &actuals, required)?;
        let frame = self.threads.in_contract(call.method, &actuals);
        let fraction = self.threads.fraction();
        let before = self.here.heap.clone();
        let (done, inner) = self.in_frame(frame, |chalice| {
            chalice.choose_for_callee(fraction, &callee.requires)?;
            chalice.give_credits(&callee.requires, required)?;
            chalice.prove_kept_levels(&callee.requires, required)?;
            chalice.remember_heap();
            chalice.consume_all(&callee.requires, |clause| {
                required.trusted().clause(span(clause.span))
            })?;
            chalice.begin_epoch();
            chalice.frame.past.old = Some(before);
            chalice.frame.thread.old_locks = chalice.frame.thread.locks.clone();
            chalice.threads.forget(callee.results.iter().copied());
            let releveled = chalice.threads.releveled(call.method);
            let relevels_all = direct.locking.method(call.method).may_relevel;
            chalice.threads.forget_levels(relevels_all, &releveled);
            let listed = chalice.threads.change_locks(&callee.lock_changes);
            let may_unlock = direct.locking.method(call.method).may_unlock;
            chalice.threads.forget_moments(may_unlock, listed.objects());
            chalice.produce_all(&callee.ensures, None, |_| blame.trusted())?;
            chalice.name_listed(&listed, |_| blame.trusted())?;
            chalice.learn_kept_levels(&callee.ensures)?;
            chalice.move_credits(&callee.ensures, false)
        });
        done?;
        self.frame.thread.locks = inner.thread.locks;
        self.frame.thread.memory = inner.thread.memory;
        if direct.locking.method(call.method).locks {
            self.threads.recall_levels()?;
        }
        self.threads.take_results(call.method, outs, &inner.store, call.at)
    }
}

impl<'p> Threads<'_, 'p> {
    /// Makes the frame in which the contract of a method is read.
    pub(super) fn in_contract(&self, method: MethodId, actuals: &Actuals) -> Frame<'p> {
        let direct = self.direct;
        let callee = &direct.tree.methods[method];
        let mut store = self.store();
        store.set(direct.this, actuals.receiver);
        for (&parameter, &argument) in callee.parameters.iter().zip(&actuals.arguments) {
            store.set(Direct::local(parameter), argument);
        }
        let thread = self.frame.thread.clone();
        Frame { store, thread, ..self.frame.of_used(&direct.locals) }
    }

    pub(super) fn prove_receiver(
        &mut self,
        call: Call<'_>,
        actuals: &Actuals,
        blame: Blame,
    ) -> Result<(), Stop> {
        let exists = self.terms.differs(actuals.receiver, Terms::NULL);
        self.prove(exists, blame, Reason::AssertionFalse, span(call.receiver.span))
    }

    /// Gives variables the results of a method, whose values a store has.
    pub(super) fn take_results(
        &mut self,
        method: MethodId,
        outs: &[OutVariable],
        from: &Store,
        at: Span,
    ) -> Result<(), Stop> {
        let callee = &self.direct.tree.methods[method];
        for (out, &result) in outs.iter().zip(&callee.results) {
            if let Some(value) = from.get(Direct::local(result)) {
                self.assign_once(out.local, at)?;
                self.frame.store.set(Direct::local(out.local), value);
            }
        }
        Ok(())
    }
}
