//! Instances of predicates: `fold`, `unfold` and `unfolding`.

use std::rc::Rc;

use sil::program::{Expr, ExprKind, FieldId, Location, PredicateAccess, PredicateId};
use sil::source::Span;
use smt::terms::{Term, Terms};

use crate::ahead::ways;
use crate::rules::Sil;
use symex::findings::blame::{Blame, Reason};
use symex::knowledge::symbols::fresh_symbols;
use symex::rules::language::Language;
use symex::whole::Fact;
use symex::{Explore, Stop, Symbols, View};

impl Sil<'_, '_> {
    /// Executes `fold acc(P(es), p)`.
    pub(crate) fn exec_fold(&mut self, access: &PredicateAccess, blame: Blame) -> Result<(), Stop> {
        let arguments = self.eval_all(&access.arguments, blame)?;
        self.with_own_wildcards(|sil| {
            let amount = sil.positive_amount(access, blame)?;
            sil.close(access.predicate, arguments, amount, access.span, blame)
        })
    }

    /// Executes `unfold acc(P(es), p)`.
    pub(crate) fn exec_unfold(
        &mut self,
        access: &PredicateAccess,
        blame: Blame,
    ) -> Result<(), Stop> {
        let arguments = self.eval_all(&access.arguments, blame)?;
        let constrainable = self.frame.assertion.constrainable.clone();
        let amount = self.positive_amount(access, blame)?;
        self.unfold(access.predicate, &arguments, amount, access.span, blame)?;
        self.note_unfolded(access.predicate, &arguments, amount, blame.span);
        self.frame.assertion.constrainable = constrainable;
        Ok(())
    }

    fn positive_amount(&mut self, access: &PredicateAccess, blame: Blame) -> Result<Term, Stop> {
        let amount = self.eval(&access.amount, blame)?;
        let reason = Reason::PermissionNotPositive;
        self.prove_of(amount, is_positive, blame, reason, access.amount.span)
    }

    /// Takes an instance and produces its body.
    fn unfold(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        // An unfolding inside a predicate that is itself scaled takes its share only (trap T4).
        let amount = match self.frame.assertion.scale {
            Some(scale) => self.terms.mul(scale, amount),
            None => amount,
        };
        self.open(predicate, arguments, amount, at, blame)
    }

    /// Evaluates `unfolding acc(P(es), p) in e`: e in the state after the unfold.
    pub(crate) fn eval_unfolding(
        &mut self,
        access: &PredicateAccess,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let (arguments, amount) = self.eval_unfolding_access(access, blame)?;
        if self.frame.assertion.is_deep_inside(access.predicate) {
            let sort = self.sort(&body.ty);
            return Ok(self.fresh("beyond", sort));
        }
        self.join(|sil| {
            sil.enter_unfolding(access, &arguments, amount, blame)?;
            sil.note_inside()?;
            sil.eval(body, blame)
        })
    }

    /// Returns the arguments of an `unfolding` and its amount, which has to be positive.
    pub(crate) fn eval_unfolding_access(
        &mut self,
        access: &PredicateAccess,
        blame: Blame,
    ) -> Result<(Vec<Term>, Term), Stop> {
        let arguments = self.eval_all(&access.arguments, blame)?;
        let amount = self.eval(&access.amount, blame)?;
        let (reason, at) = (Reason::PermissionNotPositive, access.amount.span);
        let amount = self.prove_defined_of(amount, is_positive, blame, reason, at)?;
        Ok((arguments, amount))
    }

    /// Goes to the state in which the body of an `unfolding` is read.
    pub(crate) fn enter_unfolding(
        &mut self,
        access: &PredicateAccess,
        arguments: &[Term],
        amount: Term,
        blame: Blame,
    ) -> Result<(), Stop> {
        self.here.consuming = None;
        self.frame.result_of = None;
        // SOUNDNESS: in a package, an expression sees only permission that has been fetched before.
        self.here.package.reserve.clear();
        self.unfold_merging(access.predicate, arguments, amount, false, access.span, blame)?;
        // SOUNDNESS: inside, portions are as large as the amount, which must not become smaller any
        // more (trap T9a).
        let taken = match self.frame.assertion.scale {
            Some(scale) => self.terms.mul(scale, amount),
            None => amount,
        };
        let mut open = std::mem::take(&mut self.frame.assertion.constrainable);
        let inside = fresh_symbols(&self.terms, vec![taken]);
        Rc::make_mut(&mut open).retain(|wildcard| !inside.contains(wildcard));
        self.frame.assertion.constrainable = open;
        Ok(())
    }

    /// Unfolds an instance inside of an exploration. The ways through the body are merged if there
    /// are many, or if `merges`.
    pub(crate) fn unfold_merging(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
        merges: bool,
        at: Span,
        blame: Blame,
    ) -> Result<(), Stop> {
        let body = self.program.predicates[predicate].body.as_ref();
        let joins = merges || body.is_some_and(|body| self.merges_ways(ways(body)));
        self.in_mode(
            |mode| mode.joins = joins,
            |sil| sil.unfold(predicate, arguments, amount, at, blame),
        )
    }
}

/// Returns the fields of which an instance may hold a part, without those in instances inside;
/// `None` for a recursive predicate.
pub(crate) fn fields_in(symbols: &Symbols<'_>, predicate: PredicateId) -> Option<Vec<FieldId>> {
    if symbols.of_program(Fact::IsRecursive(predicate)) {
        return None;
    }
    let mut fields = Vec::new();
    if let Some(body) = &symbols.program.predicates[predicate].body {
        sil::walk::walk_expr(body, |expr| {
            if let ExprKind::Acc { location: Location::Field { field, .. }, .. } = &expr.kind
                && !fields.contains(field)
            {
                fields.push(*field);
            }
        });
    }
    Some(fields)
}

fn is_positive(terms: &mut Terms, amount: Term) -> Term {
    terms.lt(Terms::NONE, amount)
}
