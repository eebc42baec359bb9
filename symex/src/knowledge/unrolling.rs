//! Definitions of recursive functions, unrolled while the conditions on the way are known.
//!
//! The prover unrolls a definition once: applications inside of the function's own group stay
//! limited. Before an obligation fails, applications behind conditions that hold are mentioned
//! without that limit. So a function of written values is computed to its end.
//!
//! SOUNDNESS: a mentioned application says nothing, see [`super::arguments`].

use rustc_hash::FxHashSet;
use sil::program::FunctionId;
use smt::terms::{Quant, Substitution, Symbol, Term, TermKind, Terms, grow_stack};

use crate::knowledge::functions::is_opaque;
use crate::knowledge::symbols::FunctionSymbols;
use crate::run::explore::Answer;
use crate::{Engine, Path, Stop, Symbols};

/// The most applications that are mentioned for one goal.
const MENTIONED: usize = 100;

/// The most applications about which the prover is asked for one goal. Applications behind computed
/// conditions do not count.
const ASKED: usize = 8;

/// An application of a function, and the conditions in front of it.
struct Behind {
    conditions: Vec<Term>,
    symbol: Symbol,
    operands: Box<[Term]>,
}

impl Engine<'_> {
    /// Returns the goal with premises that mention the applications which definitions lead to;
    /// `None` where there are none.
    pub(super) fn with_unrolled(&mut self, goal: Term) -> Result<Option<Term>, Stop> {
        let mut pending = Vec::new();
        collect(&mut self.terms, goal, &[], &mut pending);
        pending.reverse();
        let mut seen = FxHashSet::default();
        let mut mentioned = Vec::new();
        let mut asked = 0;
        while let Some(Behind { conditions, symbol, operands }) = pending.pop() {
            let Some((function, known)) = self.function_of(symbol) else { continue };
            let full = self.terms.apply(known.full, &operands);
            if seen.contains(&full) || is_opaque(&self.program.functions[function]) {
                continue;
            }
            let conditions = self.without_domains(&conditions);
            if !conditions.is_empty() {
                asked += 1;
                if asked > ASKED || !self.all_hold(&conditions)? {
                    continue;
                }
            }
            seen.insert(full);
            let definitions = self.definitions(function, known, &operands);
            if symbol == known.limited && !definitions.is_empty() {
                mentioned.push(self.mentioned(full));
                if mentioned.len() == MENTIONED {
                    break;
                }
            }
            let mut next = Vec::new();
            for definition in definitions {
                collect(&mut self.terms, definition, &[], &mut next);
            }
            pending.extend(next.into_iter().rev());
        }
        if mentioned.is_empty() {
            return Ok(None);
        }
        let mentioned = self.terms.and(mentioned);
        Ok(Some(self.terms.implies(mentioned, goal)))
    }

    fn all_hold(&mut self, conditions: &[Term]) -> Result<bool, Stop> {
        for &condition in conditions {
            if self.quick(condition)? != Answer::Yes {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Path<'_> {
    /// Makes the instances of a function's definitions for an application.
    fn definitions(
        &mut self,
        function: FunctionId,
        known: FunctionSymbols,
        operands: &[Term],
    ) -> Vec<Term> {
        let mut instances = Vec::new();
        for shown in self.shown_of(function) {
            // The symbols are necessary, whatever other members have applied.
            for &used in &shown.uses.functions {
                self.function_symbols(used);
            }
            for &axiom in &shown.axioms {
                let axiom = self.terms.import(&shown.terms, axiom);
                let TermKind::Quantifier(quantifier) = self.terms.kind(axiom).clone() else {
                    continue;
                };
                let variables: Vec<Term> =
                    quantifier.variables.iter().map(|&one| self.terms.apply(one, &[])).collect();
                let general = self.terms.apply(known.full, &variables);
                let is_definition = quantifier.quant == Quant::Forall
                    && variables.len() == operands.len()
                    && quantifier.triggers.first().is_some_and(|first| first[..] == [general]);
                if is_definition {
                    let map: Substitution =
                        variables.into_iter().zip(operands.iter().copied()).collect();
                    instances.push(self.terms.substitute(quantifier.body, &map));
                }
            }
        }
        instances
    }
}

impl Symbols<'_> {
    /// Leaves out the conditions that an application is in its function's domain. They follow where
    /// the application around it is evaluated.
    fn without_domains(&self, conditions: &[Term]) -> Vec<Term> {
        let all = conditions.iter().flat_map(|&condition| self.terms.conjuncts(condition));
        let is_open = |&conjunct: &Term| match self.terms.kind(conjunct) {
            TermKind::Apply(symbol, _) => !self.is_precondition(*symbol),
            _ => conjunct != Terms::TRUE,
        };
        all.filter(is_open).collect()
    }

    /// Returns the program function that a symbol stands for.
    fn function_of(&self, symbol: Symbol) -> Option<(FunctionId, FunctionSymbols)> {
        let mut all = self.caches.function_symbols.iter().map(|(&id, &known)| (id, known));
        all.find(|(_, known)| symbol == known.full || symbol == known.limited)
    }
}

/// Collects the applications in a formula that no quantifier binds, with the conditions in front of
/// them.
fn collect(terms: &mut Terms, term: Term, conditions: &[Term], found: &mut Vec<Behind>) {
    if conditions.contains(&Terms::FALSE) {
        return;
    }
    grow_stack(|| match terms.kind(term).clone() {
        TermKind::Quantifier(_) => {}
        TermKind::Ite(condition, then, otherwise) => {
            collect(terms, condition, conditions, found);
            let fails = terms.not(condition);
            for (decides, side) in [(condition, then), (fails, otherwise)] {
                collect(terms, side, &[conditions, &[decides]].concat(), found);
            }
        }
        TermKind::Implies(guard, inner) => {
            collect(terms, guard, conditions, found);
            collect(terms, inner, &[conditions, &[guard]].concat(), found);
        }
        kind => {
            if let TermKind::Apply(symbol, operands) = &kind
                && !terms.is_open(term)
            {
                let (conditions, operands) = (conditions.to_vec(), operands.clone());
                found.push(Behind { conditions, symbol: *symbol, operands });
            }
            kind.for_each_operand(|operand| collect(terms, operand, conditions, found));
        }
    });
}
