//! Inverse functions of receiver expressions (Müller, Schwerhoff, Summers 2016, section 3).

use std::sync::Arc;

use smt::terms::{Sort, Substitution, Term, TermKind, Terms};

use crate::permission::quantified;
use crate::permission::quantified::injectivity::injectivity;
use crate::quantifiers::forms::Shift;
use crate::quantifiers::occurring;
use crate::state::quantified::Access;
use crate::{Engine, Path, Stop, Symbols};

/// The identity of inverse functions: the receiver, and the condition of the permission.
pub(crate) type Key = (Vec<Term>, Term, Vec<Term>);

/// The variables of a quantified permission in terms of the location.
pub struct Inverse {
    /// The terms over the formals for each variable.
    pub of: Substitution,
    /// The claim, over the formals, that the location is the receiver for some values of the
    /// variables.
    pub image: Term,
    /// Terms over the formals that trigger the axioms.
    pub triggers: Vec<Vec<Term>>,
}

impl Engine<'_> {
    /// Returns inverse functions for an access, and assumes their axioms.
    ///
    /// SOUNDNESS: the receiver is injective where the access is active. This has been proved
    /// before, or is known from the contract's own check (trap T15).
    pub fn inverse(&mut self, access: &Access) -> Result<Inverse, Stop> {
        let formals = self.formals(access.resource);
        if let Some(direct) = direct_inverse(&mut self.terms, access, &formals) {
            return Ok(direct);
        }
        if let Some(general) = self.general_inverse(access)? {
            return Ok(general);
        }
        let active = active(&mut self.terms, access);
        let inverse = self.inverse_symbols(access, active, &formals);
        for axiom in self.inverse_axioms(access, active, &formals, &inverse) {
            self.assume(axiom)?;
        }
        Ok(inverse)
    }

    /// Returns inverse functions of a receiver that is injective under every condition, as places
    /// in arrays are. All permissions with this receiver share them, and differ in their conditions
    /// only.
    pub(crate) fn general_inverse(&mut self, access: &Access) -> Result<Option<Inverse>, Stop> {
        if !access.variables.iter().all(|&variable| self.is_plain_operand(access, variable)) {
            return Ok(None);
        }
        let formals = self.formals(access.resource);
        let everywhere = Access {
            guard: Terms::TRUE,
            amount: Terms::WRITE,
            triggers: Vec::new(),
            ..access.clone()
        };
        let inverse = self.inverse_symbols(&everywhere, Terms::TRUE, &formals);
        let axioms = self.inverse_axioms(&everywhere, Terms::TRUE, &formals, &inverse);
        let mut are_assumed = true;
        for &axiom in &axioms {
            are_assumed &= self.is_assumed(axiom)?;
        }
        if !are_assumed {
            let goal = injectivity(&mut self.terms, &everywhere);
            if !self.check(goal)? {
                return Ok(None);
            }
            for axiom in axioms {
                self.assume(axiom)?;
            }
        }
        Ok(Some(inverse))
    }
}

impl Symbols<'_> {
    /// Tells whether a variable is an argument of the access, or an operand of a domain function in
    /// an argument.
    fn is_plain_operand(&self, access: &Access, variable: Term) -> bool {
        access.arguments.iter().any(|&argument| match self.terms.kind(argument) {
            _ if argument == variable => true,
            TermKind::Apply(symbol, operands) => {
                operands.contains(&variable) && self.domains.symbols.contains(symbol)
            }
            _ => false,
        })
    }

    /// Returns the axioms ∀xs {T}. active ⇒ inv(e) = xs ∧ img(e), and ∀r {inv(r)}. img(r) ∧
    /// active[inv(r)] ⇒ e[inv(r)] = r.
    fn inverse_axioms(
        &mut self,
        access: &Access,
        active: Term,
        formals: &[Term],
        inverse: &Inverse,
    ) -> [Term; 2] {
        let to_receiver: Substitution =
            formals.iter().copied().zip(access.arguments.iter().copied()).collect();
        let mut there = vec![self.terms.substitute(inverse.image, &to_receiver)];
        for &variable in &access.variables {
            let back = self.terms.substitute(inverse.of[&variable], &to_receiver);
            there.push(self.terms.identical(back, variable));
        }
        let there = self.terms.and(there);
        let there = self.terms.implies(active, there);
        let triggers = self.access_triggers(access);
        let there =
            self.terms.forall(&access.variables, triggers, there, quantified::label("inverse"), 1);

        let mut back = Vec::with_capacity(formals.len());
        for (&argument, &formal) in access.arguments.iter().zip(formals) {
            let receiver = self.terms.substitute(argument, &inverse.of);
            back.push(self.terms.identical(receiver, formal));
        }
        let back = self.terms.and(back);
        let active = self.terms.substitute(active, &inverse.of);
        let guard = self.terms.and([inverse.image, active]);
        let back = self.terms.implies(guard, back);
        let back = self.terms.forall(
            formals,
            inverse.triggers.clone(),
            back,
            quantified::label("image"),
            1,
        );
        [there, back]
    }

    /// Removes offsets of variables. If an argument has a variable only with one offset, as in
    /// `loc(a, i + 1)` or `loc(a, n - i)`, another variable replaces the whole sum. Sums are
    /// matched literally, so `loc(a, k)` would not be found otherwise.
    pub(crate) fn remove_offsets(&mut self, access: &mut Access) {
        for variable in access.variables.clone() {
            if self.terms.sort(variable) != Sort::INT {
                continue;
            }
            let mut shifts = Vec::new();
            let mut arguments = access.arguments.iter();
            if !arguments.all(|&it| self.shifts_of(it, variable, &access.variables, &mut shifts)) {
                continue;
            }
            let [shift] = shifts[..] else { continue };
            let shifted = shift.variable_at(&mut self.terms, variable);
            if shifted == variable {
                continue;
            }
            let map: Substitution = [(variable, shifted)].into_iter().collect();
            access.substitute(&mut self.terms, &map);
        }
    }

    /// Collects the offsets of a variable in an argument, none included, each once. Returns `false`
    /// if the variable stands below a quantifier, whose variables may be in the offset.
    fn shifts_of(
        &mut self,
        term: Term,
        variable: Term,
        variables: &[Term],
        shifts: &mut Vec<Shift>,
    ) -> bool {
        if !self.terms.contains(term, variable) {
            return true;
        }
        if let Some(shift) = Shift::of(&mut self.terms, term, variable, variables) {
            if !shifts.contains(&shift) {
                shifts.push(shift);
            }
            return true;
        }
        if matches!(self.terms.kind(term), TermKind::Quantifier(_)) {
            return false;
        }
        self.terms.kind(term).operands().into_iter().all(|operand| {
            smt::terms::grow_stack(|| self.shifts_of(operand, variable, variables, shifts))
        })
    }

    /// Returns the triggers that the user gave, and the receiver.
    pub fn access_triggers(&mut self, access: &Access) -> Vec<Vec<Term>> {
        let mut triggers = access.triggers.clone();
        let mut receiver: Vec<Term> = Vec::new();
        for &argument in &access.arguments {
            self.matchable_parts(argument, &access.variables, &mut receiver);
        }
        triggers.push(receiver);
        triggers
    }

    /// Collects the largest subterms that mention a variable and can stand in a trigger.
    pub(crate) fn matchable_parts(&self, term: Term, variables: &[Term], found: &mut Vec<Term>) {
        if !self.terms.is_open(term) || occurring(&self.terms, variables, &[term]).is_empty() {
            return;
        }
        if self.terms.is_matchable(term) {
            if !found.contains(&term) {
                found.push(term);
            }
            return;
        }
        if matches!(self.terms.kind(term), TermKind::Quantifier(_)) {
            return;
        }
        for operand in self.terms.kind(term).operands() {
            smt::terms::grow_stack(|| self.matchable_parts(operand, variables, found));
        }
    }

    /// Quantifies a fact that was learnt under a quantifier, over its variables. A fact that is
    /// quantified itself is merged with the variables around it, if its own triggers cover them.
    pub fn quantified_fact(
        &mut self,
        variables: &[Term],
        triggers: &[Vec<Term>],
        fact: Term,
        label: impl Into<Arc<str>>,
    ) -> Term {
        use smt::terms::Quant;
        let used = occurring(&self.terms, variables, &[fact]);
        if used.is_empty() {
            return fact;
        }
        if let TermKind::Lt(none, amount) = *self.terms.kind(fact)
            && self.terms.is_literal(none)
            && self.terms.is_matchable(amount)
        {
            // A wildcard is positive wherever it occurs.
            return self.terms.forall(variables, vec![vec![amount]], fact, label, 1);
        }
        let (guard, inner) = match *self.terms.kind(fact) {
            TermKind::Implies(guard, inner) => (guard, inner),
            _ => (Terms::TRUE, fact),
        };
        if let TermKind::Quantifier(quantifier) = self.terms.kind(inner)
            && quantifier.quant == Quant::Forall
            && !quantifier.triggers.is_empty()
        {
            let quantifier = quantifier.clone();
            let mut renaming = Substitution::default();
            let mut all = used.clone();
            for &symbol in &quantifier.variables {
                let own = self.terms.apply(symbol, &[]);
                let sort = self.terms.sort(own);
                let renamed = self.terms.fresh_variable("z", sort);
                renaming.insert(own, renamed);
                all.push(renamed);
            }
            let mut merged: Vec<Vec<Term>> = Vec::new();
            for trigger in &quantifier.triggers {
                let inner: Vec<Term> =
                    trigger.iter().map(|&term| self.terms.substitute(term, &renaming)).collect();
                if occurring(&self.terms, &used, &inner).len() == used.len() {
                    merged.push(inner);
                } else {
                    for outer in triggers {
                        merged.push(inner.iter().chain(outer).copied().collect());
                    }
                }
            }
            let body = self.terms.substitute(quantifier.body, &renaming);
            let body = self.terms.implies(guard, body);
            let usable =
                merged.iter().any(|set| occurring(&self.terms, &all, set).len() == all.len());
            if usable {
                return self.terms.forall(&all, merged, body, quantifier.label, quantifier.weight);
            }
        }
        self.quantified(smt::terms::Quant::Forall, variables, triggers.to_vec(), fact, label, 1)
    }
}

impl Path<'_> {
    fn inverse_symbols(&mut self, access: &Access, active: Term, formals: &[Term]) -> Inverse {
        let mut mentioned = access.arguments.clone();
        mentioned.push(active);
        let outer = occurring(&self.terms, &self.mode.bound, &mentioned);
        let key = inverse_key(&mut self.terms, access, active);
        let (number, _) = self.made.quantified.inverses.insert_full(key);
        let operands: Vec<Term> = outer.iter().chain(formals).copied().collect();
        let sorts: Vec<Sort> = operands.iter().map(|&term| self.terms.sort(term)).collect();
        let image = self.terms.declare_fresh(&format!("image{number}@qp"), &sorts, Sort::BOOL);
        let image = self.terms.apply(image, &operands);
        let mut of = Substitution::default();
        let mut triggers = vec![vec![image]];
        for (position, &variable) in access.variables.iter().enumerate() {
            let sort = self.terms.sort(variable);
            let name = format!("inverse{number}.{position}@qp");
            let symbol = self.terms.declare_fresh(&name, &sorts, sort);
            let inverse = self.terms.apply(symbol, &operands);
            of.insert(variable, inverse);
            triggers.push(vec![inverse]);
        }
        Inverse { of, image, triggers }
    }
}

/// Returns the identity of a definition. The names of its variables do not matter, since they tell
/// only the depth of quantifiers.
fn inverse_key(terms: &mut Terms, access: &Access, active: Term) -> Key {
    let mut variables = Vec::with_capacity(access.variables.len());
    for (position, &variable) in access.variables.iter().enumerate() {
        let sort = terms.sort(variable);
        variables.push(terms.named_variable(&format!("inverted%{position}"), sort));
    }
    let renaming: Substitution =
        access.variables.iter().copied().zip(variables.iter().copied()).collect();
    let rename = |&argument: &Term| terms.substitute(argument, &renaming);
    let arguments = access.arguments.iter().map(rename).collect();
    (arguments, terms.substitute(active, &renaming), variables)
}

/// Returns the inverse of an access each of whose variables is an argument itself.
fn direct_inverse(terms: &mut Terms, access: &Access, formals: &[Term]) -> Option<Inverse> {
    let mut of = Substitution::default();
    for &variable in &access.variables {
        let position = access.arguments.iter().position(|&argument| argument == variable)?;
        of.insert(variable, formals[position]);
    }
    let mut equations = Vec::new();
    for (&argument, &formal) in access.arguments.iter().zip(formals) {
        let value = terms.substitute(argument, &of);
        equations.push(terms.identical(value, formal));
    }
    let image = terms.and(equations);
    let mut triggers = Vec::with_capacity(access.triggers.len());
    for trigger in &access.triggers {
        triggers.push(trigger.iter().map(|&term| terms.substitute(term, &of)).collect());
    }
    Some(Inverse { of, image, triggers })
}

/// Returns c ∧ p > 0.
pub fn active(terms: &mut Terms, access: &Access) -> Term {
    let some = terms.is_some(access.amount);
    terms.and([access.guard, some])
}
