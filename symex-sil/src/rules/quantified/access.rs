//! A conjunct of an impure quantifier: its condition, receiver and amount for arbitrary values of
//! the variables, and from there its amount as a function of the location.

use sil::program::{Expr, ExprKind, Location, Resource as Asked};
use smt::terms::{Quant, Term, Terms};

use crate::rules::Sil;
use crate::rules::eval::quantifiers::define_summaries;
use crate::rules::quantified::normalise::{QuantifiedConjunct, Step};
use symex::findings::blame::{Blame, Reason};
use symex::permission::quantified::{self};
use symex::rules::quantified::{BelowQuantifiers, Evaluated};
use symex::state::heap::Resource;
use symex::state::quantified::Access;
use symex::{Explore, Stop};

/// The target of one conjunct's permission.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'e> {
    /// Permission to a location; `None` stands for the full amount.
    Location { location: &'e Location, amount: Option<&'e Expr> },
    /// An expression of kind [`ExprKind::Wand`].
    Wand(&'e Expr),
}

impl<'e> Target<'e> {
    /// Returns the target of an assertion, if it is an access.
    pub(crate) fn of(assertion: &'e Expr) -> Option<Self> {
        match &assertion.kind {
            ExprKind::Acc { location, amount } => {
                Some(Self::Location { location, amount: Some(amount) })
            }
            ExprKind::Wand { .. } => Some(Self::Wand(assertion)),
            _ => None,
        }
    }

    /// Returns the target of a mention of a resource outside of an assertion.
    pub(crate) fn asked(resource: &'e Asked) -> Self {
        match resource {
            Asked::Location(location) => Self::Location { location, amount: None },
            Asked::Wand(wand) => Self::Wand(wand),
        }
    }

    /// Returns the reason why a consume of it fails.
    pub(crate) fn missing(self) -> Reason {
        match self {
            Self::Location { .. } => Reason::InsufficientPermission,
            Self::Wand(_) => Reason::WandNotFound,
        }
    }
}

impl Sil<'_, '_> {
    /// Evaluates a conjunct with an access, with its obligations. Amounts must not be negative.
    pub(crate) fn eval_quantified_access(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        target: Target<'_>,
        blame: Blame,
    ) -> Result<Option<Access>, Stop> {
        let (resource, receivers) = self.pattern(target)?;
        let mut guard_of_part = Terms::TRUE;
        let evaluated = self.eval_conjunct(conjunct, blame, |sil, guard| {
            guard_of_part = guard;
            let mut values = Vec::with_capacity(receivers.len() + 1);
            for &receiver in &receivers {
                let Some(value) = sil.eval_under(guard, receiver, blame)? else {
                    return Ok(None);
                };
                values.push(value);
            }
            let amount = match target {
                Target::Location { amount: Some(amount), .. } => {
                    sil.eval_quantified_amount(guard, amount, blame)?
                }
                _ => Some(Terms::WRITE),
            };
            let Some(amount) = amount else { return Ok(None) };
            values.push(amount);
            Ok(Some(values))
        })?;
        let (variables, Some((mut arguments, triggers))) = evaluated else { return Ok(None) };
        let amount = arguments.pop().expect("pushed last");
        let guard = guard_of_part;
        let mut access = Access { resource, variables, guard, arguments, amount, triggers };
        self.simplify(&mut access)?;
        Ok(Some(access))
    }

    /// Returns the resource, and the expressions for its arguments.
    pub(crate) fn pattern<'e>(
        &mut self,
        target: Target<'e>,
    ) -> Result<(Resource, Vec<&'e Expr>), Stop> {
        match target {
            Target::Location { location: Location::Field { receiver, field }, .. } => {
                Ok((Resource::Field(*field), vec![&**receiver]))
            }
            Target::Location { location: Location::Predicate { predicate, arguments }, .. } => {
                Ok((Resource::Predicate(*predicate), arguments.iter().collect()))
            }
            Target::Wand(wand) => self.wand_pattern(wand, None),
        }
    }

    /// Returns a pure conjunct as one quantified formula.
    pub(crate) fn eval_quantified_fact(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let evaluated = self.eval_conjunct(conjunct, blame, |sil, guard| {
            let value = sil.eval_under(guard, conjunct.body, blame)?;
            Ok(value.map(|value| sil.terms.implies(guard, value)))
        })?;
        let (variables, Some((value, triggers))) = evaluated else { return Ok(Terms::TRUE) };
        Ok(self.quantified(
            Quant::Forall,
            &variables,
            triggers,
            value,
            quantified::label("pure"),
            1,
        ))
    }

    /// Evaluates the steps of a conjunct and then `body`, under the conjunct's guard, for arbitrary
    /// values of its variables. The facts learnt on the way stay, quantified.
    fn eval_conjunct<T>(
        &mut self,
        conjunct: &QuantifiedConjunct<'_>,
        blame: Blame,
        body: impl FnOnce(&mut Self, Term) -> Result<Option<T>, Stop>,
    ) -> Result<(Vec<Term>, Evaluated<T>), Stop> {
        let steps = conjunct.prefix.steps.iter().map(|step| match *step {
            Step::Guard { condition, .. } => condition,
            Step::Let { value, .. } => value,
        });
        define_summaries(self, steps.chain([conjunct.body]))?;
        let mut variables = Vec::with_capacity(conjunct.prefix.variables.len());
        for (position, &variable) in conjunct.prefix.variables.iter().enumerate() {
            let locals = self.frame.locals;
            let sort = self.sort(&locals[variable].ty);
            variables.push(self.variable_below(position, sort));
        }
        let value = self.for_arbitrary_values(&variables, |sil| {
            for (&variable, &value) in conjunct.prefix.variables.iter().zip(&variables) {
                sil.frame.store.set(variable, value);
            }
            let Some(guard) = sil.eval_steps(&conjunct.prefix.steps, blame)? else {
                return Ok(None);
            };
            let Some(value) = body(sil, guard)? else { return Ok(None) };
            let inferred =
                if conjunct.prefix.triggers.is_empty() { conjunct.inferred() } else { vec![] };
            let inferred = inferred.iter().map(|trigger| trigger.iter().collect());
            let triggers: Vec<Vec<&Expr>> =
                conjunct.prefix.triggers.iter().cloned().chain(inferred).collect();
            let triggers = sil.eval_trigger_sets(&triggers, blame)?;
            Ok(Some((value, triggers)))
        })?;
        Ok((variables, value))
    }

    /// Returns the conjunction of the guards; `None` if they cannot hold.
    fn eval_steps(&mut self, steps: &[Step<'_>], blame: Blame) -> Result<Option<Term>, Stop> {
        let mut guard = Terms::TRUE;
        for step in steps {
            match *step {
                Step::Guard { condition, holds } => {
                    let Some(value) = self.eval_under(guard, condition, blame)? else {
                        return Ok(None);
                    };
                    let value = if holds { value } else { self.terms.not(value) };
                    guard = self.terms.and([guard, value]);
                    if guard == Terms::FALSE {
                        return Ok(None);
                    }
                }
                Step::Let { variable, value } => {
                    let Some(value) = self.eval_under(guard, value, blame)? else {
                        return Ok(None);
                    };
                    self.frame.store.set(variable, value);
                }
            }
        }
        Ok(Some(guard))
    }

    /// Evaluates an amount under a guard. An amount with wildcards is evaluated outside of the
    /// guard. The wildcards stay constrainable until the conjunct is over, and each value of the
    /// variables has one whether the guard holds or not (trap T9e).
    fn eval_quantified_amount(
        &mut self,
        guard: Term,
        amount: &Expr,
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        if amount.any(|expr| matches!(expr.kind, ExprKind::Wildcard)) {
            return self.eval_amount(amount, blame).map(Some);
        }
        self.under(guard, |sil| sil.eval_amount(amount, blame))
    }
}
