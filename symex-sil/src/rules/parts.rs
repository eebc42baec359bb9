//! The meaning of the parts of SIL's assertions.

use sil::program::{BinaryOp, Expr, ExprKind, PredicateId, Quantifier};
use smt::terms::{Sort, Term, Terms};

use crate::rules::Sil;
use crate::rules::assertion::{self, Access, OfSil, Own};
use crate::rules::shape::is_mixed;
use symex::findings::blame::{Blame, Reason, unsupported_at};
use symex::rules::language::{Accessed, Language};
use symex::state::{Frame, Store};
use symex::whole::Fact;
use symex::{Reading, Stop};

impl<'p> Language<'p> for Sil<'_, 'p> {
    type Access<'e> = Access<'e>;
    type Own<'e> = Own<'e>;

    const NAMES_CLAUSES: bool = true;

    fn form(assertion: &Expr) -> OfSil<'_> {
        assertion::form(assertion)
    }

    fn eval(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        self.eval(expr, blame)
    }

    fn accessed(
        &mut self,
        assertion: &Expr,
        (location, amount): Access<'_>,
        blame: Blame,
    ) -> Result<Accessed, Stop> {
        let places = vec![self.eval_location(location, blame)?];
        let amount = self.eval_amount(amount, blame)?;
        Ok(Accessed { places, amount, at: assertion.span })
    }

    fn produce_pure(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        // COMPLETENESS: Z3 need not look at instances of a formula below another one, so they
        // trigger nothing. So a guard that holds is left out.
        if let ExprKind::Binary { op: BinaryOp::Implies, left, right } = &assertion.kind
            && is_about_all(right)
        {
            let guard = self.eval(left, blame)?;
            if self.check(guard)? {
                self.assume(guard)?;
                return self.produce_conjunct(right, None, blame);
            }
        }
        let fact = self.eval(assertion, blame)?;
        // A written `false` ends the path in any case.
        if matches!(assertion.kind, ExprKind::Bool(false)) {
            return self.assume(fact);
        }
        self.assume_produced(fact)
    }

    fn consume_pure(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        let goal = self.eval(assertion, blame)?;
        let looks_inside = assertion.any(|expr| {
            matches!(
                expr.kind,
                ExprKind::Unfolding { .. } | ExprKind::Applying { .. } | ExprKind::Old { .. }
            )
        });
        self.prove_condition(goal, looks_inside, assertion.span, blame, |engine| {
            Sil::of(engine).eval(assertion, blame.silent())
        })
    }

    fn produce_own(
        &mut self,
        assertion: &Expr,
        own: Own<'_>,
        snapshot: Option<Term>,
        blame: Blame,
    ) -> Result<(), Stop> {
        let snapshot = snapshot.filter(|_| !is_mixed(assertion));
        match own {
            Own::TwoReadings { inhale, exhale } => {
                let is_inhaled = self.frame.assertion.reading == Reading::Inhale;
                let side = if is_inhaled { inhale } else { exhale };
                self.produce_all([side], snapshot, |_| blame)
            }
            Own::Quantified { .. } => self.produce_quantified(assertion, snapshot, blame),
            Own::Wand => self.produce_wand(assertion, snapshot, blame),
            Own::Other => unsupported_at(assertion.span, "this form of assertion"),
        }
    }

    fn consume_own(&mut self, assertion: &Expr, own: Own<'_>, blame: Blame) -> Result<Term, Stop> {
        let snapshot = match own {
            Own::TwoReadings { exhale, .. } => {
                let blame = self.other_side(blame)?;
                self.consume_side(exhale, blame)?
            }
            Own::Quantified { .. } => self.consume_quantified(assertion, blame)?,
            Own::Wand => {
                let function = self.consume_wand(assertion, blame)?;
                self.terms.snap_wrap(function)
            }
            Own::Other => unsupported_at(assertion.span, "this form of assertion")?,
        };
        // SOUNDNESS: a reader would expect the shape of the other reading (trap T3).
        Ok(if is_mixed(assertion) { self.fresh("mixed", Sort::SNAP) } else { snapshot })
    }

    fn frames_itself(&self) -> bool {
        true
    }

    fn checked_snapshot(&mut self, conjuncts: &[(&Expr, &Expr)], snapshot: Term) -> Term {
        self.fitting_snapshot(conjuncts, snapshot)
    }

    fn body(&self, predicate: PredicateId) -> Option<&'p Expr> {
        self.program.predicates[predicate].body.as_ref()
    }

    fn body_frame(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        amount: Term,
    ) -> Result<Frame<'p>, Stop> {
        let program = self.program;
        let declaration = &program.predicates[predicate];
        let mut frame = Frame {
            user: Some(self.frame.users_variables()),
            locals: &declaration.locals,
            store: Store::new(&declaration.locals),
            ..self.frame.clone()
        };
        frame.assertion.reading = Reading::Inhale;
        frame.assertion.scale = (amount != Terms::WRITE).then_some(amount);
        for (&formal, &argument) in declaration.formals.iter().zip(arguments) {
            frame.store.set(formal, argument);
        }
        Ok(frame)
    }

    /// Returns the blame for the body of a predicate at its uses: trusted if the body passed its
    /// own check. But assertions in the body have been shown of a whole instance only (see
    /// [`Sil::verify_predicate`]). For a part of an instance, they are trusted as far as its user
    /// is.
    ///
    /// SOUNDNESS: if amounts are not exact (trap T8), an opened instance may be a part, for every
    /// written amount.
    fn body_blame(&mut self, predicate: PredicateId, amount: Term, blame: Blame) -> Blame {
        let is_part = !self.extends_exactly() || amount != Terms::WRITE;
        let is_open = is_part && self.of_program(Fact::IsAsserting(predicate));
        if is_open || self.is_ill_formed_predicate(predicate) { blame } else { blame.trusted() }
    }
}

impl Sil<'_, '_> {
    /// Returns an amount, not negative, times the factor of the predicate around.
    pub(crate) fn eval_amount(&mut self, amount: &Expr, blame: Blame) -> Result<Term, Stop> {
        let mut value = self.eval(amount, blame)?;
        // SOUNDNESS: consuming a negative amount would add permission. A well-formed contract is no
        // guarantee, since only its other reading may rule such amounts out (trap T17e).
        let consuming = self.here.consuming.is_some();
        let checked = if consuming { !blame.is_silent() } else { !blame.is_trusted() };
        if checked && !self.is_open_wildcard(value) {
            let not_negative = |terms: &mut Terms, value| terms.le(Terms::NONE, value);
            let claim = not_negative(&mut self.terms, value);
            let may_wait = self.mode.leaves_out_amounts && !consuming;
            if may_wait && !self.terms.is_literal(claim) && !self.check(claim)? {
                self.gathered.open_amounts = true;
                self.assume(claim)?;
            } else {
                let reason = Reason::NegativePermission;
                value = self.prove_of(value, not_negative, blame, reason, amount.span)?;
            }
        }
        self.times_scale(value)
    }
}

/// Tells whether a part of a pure assertion is universally quantified.
fn is_about_all(assertion: &Expr) -> bool {
    match &assertion.kind {
        ExprKind::And(parts) => parts.iter().any(is_about_all),
        ExprKind::Binary { op: BinaryOp::Implies, right, .. } => is_about_all(right),
        ExprKind::Quantified { quantifier, .. } => *quantifier == Quantifier::Forall,
        _ => false,
    }
}
