//! Specification statements: some values, and some state, that satisfy a condition.

use chalice::program::{Expr, OutVariable};
use sil::source::Span;

use super::{Statements, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId};
use symex::rules::language::Language;
use symex::state::thread::Thread;

impl Statements<'_, '_> {
    /// Executes `x, y [pre, post]`: gives the precondition away, and receives the postcondition.
    /// `old` there is the state before.
    pub(super) fn specify(
        &mut self,
        targets: &[OutVariable],
        pre: Option<&Expr>,
        post: &Expr,
        at: Span,
    ) -> Result<(), Stop> {
        let outer = self.threads.fraction();
        let before = Some(self.here.heap.clone());
        let (locks, credits) = (self.frame.thread.locks.clone(), self.here.credits.clone());
        let given = pre.map_or(&[][..], std::slice::from_ref);
        if let Some(chosen) = self.choose_for_callee(outer, given)? {
            self.threads.set_fraction(chosen);
        }
        self.remember_heap();
        // Credits are read before permission goes. They still count for claims beside them.
        self.move_credits(given, true)?;
        let left = std::mem::replace(&mut self.here.credits, credits.clone());
        self.counting_debts(|chalice| {
            chalice.consume_all(given, |clause| {
                Blame::new(ErrorId::ExhaleFailed, at).clause(span(clause.span))
            })
        })?;
        self.here.credits = left;
        self.begin_epoch();
        self.threads.forget(targets.iter().map(|target| target.local));
        let thread = Thread { old_locks: locks, old_credits: credits, ..self.frame.thread.clone() };
        let old = std::mem::replace(&mut self.frame.past.old, before);
        let outside = std::mem::replace(&mut self.frame.thread, thread);
        let received = self.counting_debts(|chalice| {
            chalice.produce_all([post], None, |_| Blame::new(ErrorId::InhaleFailed, at))
        });
        let received = received.and_then(|()| self.move_credits([post], false));
        let Thread { old_locks, old_credits, .. } = outside;
        (self.frame.thread.old_locks, self.frame.thread.old_credits) = (old_locks, old_credits);
        self.frame.past.old = old;
        if let Some(outer) = outer {
            self.threads.set_fraction(outer);
        }
        received
    }
}
