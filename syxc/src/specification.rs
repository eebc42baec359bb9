//! Specification statements: some values that satisfy a condition.

use chalice::program::{Expr, OutVariable};
use sil::source::Span;

use super::{Chalice, span};
use symex::Stop;
use symex::findings::blame::{Blame, ErrorId, Reason};
use symex::rules::assertion::conjuncts;

impl Chalice<'_, '_> {
    /// `x, y [pre, post]`, of values only: the heap is the same before and after.
    pub(super) fn specify(
        &mut self,
        targets: &[OutVariable],
        pre: Option<&Expr>,
        post: &Expr,
        at: Span,
    ) -> Result<(), Stop> {
        let blame = Blame::new(ErrorId::ExhaleFailed, at);
        for (_, part) in conjuncts::<Chalice>(pre) {
            let claim = self.eval(part, blame)?;
            self.prove(claim, blame, Reason::AssertionFalse, span(part.span))?;
        }
        self.forget(targets.iter().map(|target| target.local));
        let before = Some(self.here.heap.clone());
        let outer = std::mem::replace(&mut self.frame.past.old, before);
        let fact = self.eval(post, Blame::new(ErrorId::InhaleFailed, at));
        self.frame.past.old = outer;
        let fact = fact?;
        self.assume(fact)
    }
}
