//! Calls (Schwerhoff 2011, section 3.8), and the state where the contract of another method is
//! meant.

use chalice::program::{Expr, MethodId, OutVariable};
use sil::source::Span;
use smt::terms::Term;

use super::{Direct, span};
use crate::engine::findings::blame::{Blame, ErrorId, Reason};
use crate::engine::state::{Frame, Store};
use crate::engine::{Engine, Stop};

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

impl<'p> Engine<'p> {
    /// The receiver and the arguments of a call.
    pub(super) fn direct_actuals(&mut self, call: Call<'_>, blame: Blame) -> Result<Actuals, Stop> {
        let receiver = self.direct_eval(call.receiver, blame)?;
        let arguments = call.arguments.iter().map(|argument| self.direct_eval(argument, blame));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(Actuals { receiver, arguments })
    }

    /// Makes the frame in which the contract of a method is meant.
    pub(super) fn direct_in_contract(&self, method: MethodId, actuals: &Actuals) -> Frame<'p> {
        let direct = self.direct();
        let callee = &direct.tree.methods[method];
        let mut store = self.direct_store();
        store.set(direct.this, actuals.receiver);
        for (&parameter, &argument) in callee.parameters.iter().zip(&actuals.arguments) {
            store.set(Direct::local(parameter), argument);
        }
        let thread = self.frame.thread.clone();
        Frame { store, thread, ..self.frame.of_used(&direct.locals) }
    }

    /// Chooses what `rd` stands for where a precondition is given away, if it stands for anything.
    pub(super) fn direct_choose_for_callee(
        &mut self,
        context: Option<Term>,
        requires: &[Expr],
    ) -> Result<Option<Term>, Stop> {
        if context.is_none() {
            return Ok(None);
        }
        let chosen = self.direct_choose_fraction(context)?;
        self.direct_bound(chosen, requires)?;
        Ok(Some(chosen))
    }

    /// The precondition is given away, the postcondition received; `old` in it is the state before.
    pub(super) fn direct_call(&mut self, call: Call<'_>, outs: &[OutVariable]) -> Result<(), Stop> {
        let direct = self.direct();
        let callee = &direct.tree.methods[call.method];
        let blame = Blame::new(ErrorId::CallFailed, call.at);
        let actuals = self.direct_actuals(call, blame)?;
        let required = Blame::new(ErrorId::CallPrecondition, call.at);
        self.direct_prove_receiver(call, &actuals, required)?;
        let frame = self.direct_in_contract(call.method, &actuals);
        let fraction = self.direct_fraction();
        let before = self.here.heap.clone();
        let (done, inner) = self.in_frame(frame, |engine| {
            engine.direct_choose_for_callee(fraction, &callee.requires)?;
            engine.direct_give_credits(&callee.requires, required)?;
            engine.direct_prove_kept_levels(&callee.requires, required)?;
            engine.remember_heap();
            engine.direct_consume_all(&callee.requires, |clause| {
                required.trusted().clause(span(clause.span))
            })?;
            engine.begin_epoch();
            engine.frame.past.old = Some(before);
            engine.frame.thread.old_locks = engine.frame.thread.locks.clone();
            engine.direct_forget(callee.results.iter().copied());
            let releveled = engine.direct_releveled(call.method);
            let relevels_all = direct.locking.method(call.method).may_relevel;
            engine.direct_forget_levels(relevels_all, &releveled);
            let listed = engine.direct_change_locks(&callee.lock_changes);
            let may_unlock = direct.locking.method(call.method).may_unlock;
            engine.direct_forget_moments(may_unlock, listed.objects());
            engine.direct_produce_all(&callee.ensures, None, |_| blame.trusted())?;
            engine.direct_name_listed(&listed, |_| blame.trusted())?;
            engine.direct_learn_kept_levels(&callee.ensures)?;
            engine.direct_move_credits(&callee.ensures, false)
        });
        done?;
        self.frame.thread.locks = inner.thread.locks;
        self.frame.thread.memory = inner.thread.memory;
        if direct.locking.method(call.method).locks {
            self.direct_recall_levels()?;
        }
        self.direct_take_results(call.method, outs, &inner.store, call.at)
    }

    pub(super) fn direct_prove_receiver(
        &mut self,
        call: Call<'_>,
        actuals: &Actuals,
        blame: Blame,
    ) -> Result<(), Stop> {
        let exists = self.terms.differs(actuals.receiver, smt::terms::Terms::NULL);
        self.prove(exists, blame, Reason::AssertionFalse, span(call.receiver.span))
    }

    /// Variables get the results of a method, whose values a store has.
    pub(super) fn direct_take_results(
        &mut self,
        method: MethodId,
        outs: &[OutVariable],
        from: &Store,
        at: Span,
    ) -> Result<(), Stop> {
        let callee = &self.direct().tree.methods[method];
        for (out, &result) in outs.iter().zip(&callee.results) {
            if let Some(value) = from.get(Direct::local(result)) {
                self.direct_assign_once(out.local, at)?;
                self.frame.store.set(Direct::local(out.local), value);
            }
        }
        Ok(())
    }
}
