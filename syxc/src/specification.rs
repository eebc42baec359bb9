//! Specification statements: some values, and some state, that satisfy a condition.

use chalice::program::{Expr, OutVariable};
use sil::source::Span;

use super::{Statements, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId};
use symex::rules::language::Language;

impl Statements<'_, '_> {
    /// `x, y [pre, post]`: the precondition is given away, the postcondition received; `old` in it
    /// is the state before.
    pub(super) fn specify(
        &mut self,
        targets: &[OutVariable],
        pre: Option<&Expr>,
        post: &Expr,
        at: Span,
    ) -> Result<(), Stop> {
        let outer = self.threads.fraction();
        let before = Some(self.here.heap.clone());
        let given = pre.map_or(&[][..], std::slice::from_ref);
        if let Some(chosen) = self.choose_for_callee(outer, given)? {
            self.threads.set_fraction(chosen);
        }
        self.remember_heap();
        self.consume_all(given, |clause| {
            Blame::new(ErrorId::ExhaleFailed, at).clause(span(clause.span))
        })?;
        self.begin_epoch();
        self.threads.forget(targets.iter().map(|target| target.local));
        let old = std::mem::replace(&mut self.frame.past.old, before);
        let received = self.produce_all([post], None, |_| Blame::new(ErrorId::InhaleFailed, at));
        self.frame.past.old = old;
        if let Some(outer) = outer {
            self.threads.set_fraction(outer);
        }
        received
    }
}
