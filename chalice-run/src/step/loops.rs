//! Loops: each iteration has what the invariants ask for, and nothing else.

use chalice::options::Dialect;
use chalice_rt::flaw::Flaw;
use findings::ErrorId;

use crate::code::Loop;
use crate::fault::{Fault, Res, Trouble, blamed};
use crate::machine::{Evaluator, LoopState, Machine, Rounds, View, World};
use crate::transfer::{Moved, Transfer};
use crate::value::Value;

use super::Next;
use super::calls::keyword;

impl<'c> World<'c> {
    fn described(&mut self, thread: usize, number: u32) -> &'c Loop {
        let method = self.top(thread).method;
        &self.code.methods[method as usize].loops[number as usize]
    }

    fn iteration(&mut self, thread: usize) -> crate::heap::Holder {
        match self.config.view {
            View::Method => {
                let method = self.top(thread).method;
                self.new_loop(method)
            }
            View::Thread => self.scope.holder,
        }
    }
}

impl Machine<'_> {
    pub(super) fn enter_loop(
        &mut self,
        thread: usize,
        number: u32,
        slots: &mut [Value],
    ) -> Res<()> {
        let described = self.described(thread, number);
        let (outer, outer_kappa) = (self.scope.holder, self.scope.kappa);
        let holder = self.iteration(thread);
        let mut transfer = Transfer::give(outer, holder);
        let mut kappa = outer_kappa;
        let has_own = self.code.options.dialect == Dialect::Original;
        if described.has_read_fraction && has_own {
            kappa = self.fractions.fresh(Some(outer_kappa));
            transfer = transfer.inexact(kappa);
        }
        self.scope.kappa = kappa;
        let result = self.hand_over(&described.invariants, slots, transfer);
        self.scope.kappa = outer_kappa;
        let moved = blamed(result, ErrorId::InvariantNotEstablished, None)?;
        self.check_debt(outer, Flaw::DebtBeforeLoop, described.span)?;
        self.check_loop_locks(thread, described, Flaw::LocksChangedBeforeLoop, slots)?;
        let Moved { amounts, credits } = moved;
        let is_by_contract = self.is_by_contract(thread);
        let is_any_iteration = false;
        let rounds = Rounds::default();
        let state = LoopState { holder, kappa, moved: amounts, credits, is_any_iteration, rounds };
        self.top(thread).loops.push(state);
        if is_by_contract { self.some_iteration(thread, described, slots) } else { Ok(()) }
    }

    pub(super) fn repeat_loop(
        &mut self,
        thread: usize,
        number: u32,
        slots: &mut [Value],
    ) -> Res<Next> {
        let described = self.described(thread, number);
        let ended = self.scope.holder;
        let holder = self.iteration(thread);
        let result = self.hand_over(&described.invariants, slots, Transfer::give(ended, holder));
        let moved = blamed(result, ErrorId::InvariantNotPreserved, None)?;
        self.check_debt(ended, Flaw::DebtByLoop, described.span)?;
        self.check_loop_locks(thread, described, Flaw::LocksChangedByLoop, slots)?;
        self.check_leaks(ended, Flaw::LeakByLoop, keyword(described.span))?;
        if self.top(thread).loops.last().is_some_and(|state| state.is_any_iteration) {
            // All other iterations are like this one.
            return Err(Box::new(Trouble::Bound("an iteration", described.span)));
        }
        if let Some(mut state) = self.top(thread).loops.pop() {
            state.holder = holder;
            state.moved = moved.amounts;
            state.credits = moved.credits;
            let goes_round = self.goes_round(&mut state, slots);
            self.top(thread).loops.push(state);
            // Others may run in between only where each statement is a step that they can notice.
            if goes_round && !self.config.preempt_everywhere {
                return Err(Box::new(Trouble::Bound("this loop does not end", described.span)));
            }
        }
        Ok(Next::To(described.head))
    }
}

impl Evaluator<'_> {
    /// The guard reads with what the loop has and what is around it.
    pub(super) fn test_loop(
        &mut self,
        thread: usize,
        number: u32,
        slots: &mut [Value],
    ) -> Res<Next> {
        let described = self.described(thread, number);
        let top = self.top(thread);
        let depth = top.loops.len();
        let around = if depth >= 2 { top.loops[depth - 2].holder } else { top.holder };
        let inner = self.scope.holder;
        if around != inner {
            self.opened.push(around, crate::amount::Amount::FULL);
        }
        let goes_on = self.truth(&described.guard, slots);
        self.opened.clear();
        if goes_on? {
            return Ok(Next::On);
        }
        if let Some(state) = self.top(thread).loops.pop() {
            let moved = Moved { amounts: state.moved, credits: state.credits };
            self.give_back(&moved, inner, around);
        }
        Ok(Next::To(described.exit))
    }

    fn check_loop_locks(
        &mut self,
        thread: usize,
        described: &Loop,
        flaw: Flaw,
        slots: &mut [Value],
    ) -> Res<()> {
        let before = self.top(thread).entry.held.clone();
        let Some(object) = self.changed_locks(&before, &described.lock_changes, slots)? else {
            return Ok(());
        };
        Err(Fault::new(flaw, keyword(described.span), &[&self.name(object)]).into())
    }
}
