//! Injectivity: different values of the variables of a quantified permission are different
//! locations.

use sil::source::Span;
use smt::terms::{Substitution, Term, Terms};

use crate::findings::blame::{Blame, Reason};
use crate::permission::ordinary::same_arguments;
use crate::permission::quantified::inverse::active;
use crate::permission::quantified::touch::mentioned;
use crate::run::explore::Answer;
use crate::state::quantified::Access;
use crate::{Engine, Stop};

/// Evidence for [`Engine::footprint`], which makes inverse functions. These contradict each other
/// where different values of the variables are one location (trap T15).
#[derive(Debug, Clone, Copy)]
pub struct Injective {
    _made_here: (),
}

impl Injective {
    /// Makes evidence of an earlier check: injectivity has been shown at the declaration of the
    /// assertion, or its failure has been reported, or an option grants it.
    pub(crate) fn taken_from_declaration() -> Self {
        Self { _made_here: () }
    }
}

impl Engine<'_> {
    /// Shows that different values of the variables are different locations, or reports it.
    pub fn prove_injective(
        &mut self,
        access: &Access,
        blame: Blame,
        reason: Reason,
        at: Span,
    ) -> Result<Injective, Stop> {
        let answer = self.ask_injective(access)?;
        if answer != Answer::Yes {
            self.fail(answer, blame, reason, at);
            self.mark_unframed(blame)?;
        }
        Ok(Injective { _made_here: () })
    }

    /// Asks whether different values of the variables are different locations.
    pub fn is_injective(&mut self, access: &Access) -> Result<Option<Injective>, Stop> {
        let answer = self.ask_injective(access)?;
        Ok((answer == Answer::Yes).then_some(Injective { _made_here: () }))
    }

    fn ask_injective(&mut self, access: &Access) -> Result<Answer, Stop> {
        if access.variables.iter().all(|variable| access.arguments.contains(variable))
            || self.general_inverse(access)?.is_some()
        {
            return Ok(Answer::Yes);
        }
        let goal = injectivity(&mut self.terms, access);
        self.ask_obligation(goal)
    }
}

/// Makes the claim c(xs) ∧ p(xs) > 0 ∧ c(ys) ∧ p(ys) > 0 ∧ e(xs) = e(ys) ⇒ xs = ys.
pub(crate) fn injectivity(terms: &mut Terms, access: &Access) -> Term {
    let mut others = Vec::with_capacity(access.variables.len());
    for &variable in &access.variables {
        let name = format!("{}%other", terms.display(variable));
        let sort = terms.sort(variable);
        others.push(terms.named_variable(&name, sort));
    }
    let renaming: Substitution =
        access.variables.iter().copied().zip(others.iter().copied()).collect();
    let active = active(terms, access);
    let other_active = terms.substitute(active, &renaming);
    let mut premises = vec![active, other_active];
    for &argument in &access.arguments {
        let other = terms.substitute(argument, &renaming);
        premises.push(terms.identical(argument, other));
    }
    // Facts about the receivers may wait for the triggers that the user gave.
    for trigger in access.triggers.iter().flatten() {
        premises.push(mentioned(terms, *trigger));
        let other = terms.substitute(*trigger, &renaming);
        premises.push(mentioned(terms, other));
    }
    let premise = terms.and(premises);
    let same = same_arguments(terms, &access.variables, &others);
    terms.implies(premise, same)
}
