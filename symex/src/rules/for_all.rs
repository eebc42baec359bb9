//! Facts for all values of the variables of a quantifier.

use smt::terms::{Sort, Term, TermKind};

use crate::findings::blame::Blame;
use crate::findings::incidents::Incidents;
use crate::{Path, Stop, Symbols};

impl Path<'_> {
    /// Ends the path if the body of a quantifier is not defined for all values. The quantifier has
    /// no known meaning, and failures that build on it would have no other reason.
    pub fn is_defined_for_all(&mut self, seen: Incidents, blame: Blame) -> Result<(), Stop> {
        if !seen.failed {
            return Ok(());
        }
        self.log.note_undefined(blame.span);
        self.log.rely_on_report();
        self.mark_unframed(blame)?;
        Err(Stop::Infeasible)
    }

    /// Assumes the facts learnt about the body, for all values of its variables. Returns each
    /// assumed fact beside the original one.
    pub fn learn_for_all(
        &mut self,
        bound: &[Term],
        triggers: &[Vec<Term>],
        facts: Vec<Term>,
        name: &str,
    ) -> Result<Vec<(Term, Term)>, Stop> {
        let mut learnt = Vec::with_capacity(facts.len());
        for fact in facts {
            if self.is_known_around(fact) {
                continue;
            }
            let quantified = self.learnt_for_all(bound, triggers, fact, name);
            self.assume(quantified)?;
            learnt.push((quantified, fact));
        }
        Ok(learnt)
    }

    /// Makes a variable for an undefined part of a trigger, if such variables are allowed. The
    /// values `of` tell the locations of the part.
    ///
    /// PERFORMANCE: a location that differs from instance to instance has a value in each of many
    /// states, and all of these would match a variable. So such a trigger stays as it is.
    pub fn trigger_hole(&mut self, sort: Sort, of: &[Term]) -> Option<Term> {
        self.gathered.trigger_holes.as_ref()?;
        if of.iter().any(|&value| self.terms.mentions(value, &self.mode.bound)) {
            self.gathered.trigger_holes = None;
            return None;
        }
        let hole = self.fresh_variable("hole", sort);
        self.gathered.trigger_holes.get_or_insert_default().push(hole);
        Some(hole)
    }
}

impl Symbols<'_> {
    /// Quantifies a fact learnt about the body over its variables. If the fact mentions the
    /// application that a trigger consists of, another form applies in any other state: facts about
    /// `f(x)` for all x are used where `f` is applied to a value after the heap has changed, too.
    ///
    /// SOUNDNESS: the fact holds for all values, whatever term triggers it.
    fn learnt_for_all(
        &mut self,
        bound: &[Term],
        triggers: &[Vec<Term>],
        fact: Term,
        name: &str,
    ) -> Term {
        let mut formulas = vec![self.quantified_fact(bound, triggers, fact, name)];
        if !matches!(self.terms.kind(fact), TermKind::Quantifier(_)) {
            for trigger in triggers {
                if let Some((states, general)) = self.in_any_state(trigger, fact) {
                    let variables: Vec<Term> = bound.iter().copied().chain(states).collect();
                    let general = self.terms.forall(&variables, vec![general], fact, name, 1);
                    // Without its trigger, any term would match the formula.
                    if let TermKind::Quantifier(quantifier) = self.terms.kind(general)
                        && !quantifier.triggers.is_empty()
                    {
                        formulas.push(general);
                    }
                }
            }
        }
        self.terms.and(formulas)
    }

    /// Returns a trigger with variables for the snapshots of its applications, if the formula
    /// mentions one of these.
    fn in_any_state(&mut self, trigger: &[Term], formula: Term) -> Option<(Vec<Term>, Vec<Term>)> {
        let formula = self.limited_variant(formula);
        let mut mentioned = false;
        let mut states = Vec::new();
        let mut general = Vec::with_capacity(trigger.len());
        for &term in trigger {
            let TermKind::Apply(symbol, operands) = self.terms.kind(term).clone() else {
                general.push(term);
                continue;
            };
            let unit = self.terms.unit();
            let of_function =
                self.caches.function_symbols.values().any(|known| known.limited == symbol);
            if !of_function || operands[0] == unit {
                general.push(term);
                continue;
            }
            mentioned |= self.terms.contains(formula, term);
            let state = self.terms.fresh_variable("state", Sort::SNAP);
            states.push(state);
            let operands: Vec<Term> =
                std::iter::once(state).chain(operands.iter().skip(1).copied()).collect();
            general.push(self.terms.apply(symbol, &operands));
        }
        mentioned.then_some((states, general))
    }
}
