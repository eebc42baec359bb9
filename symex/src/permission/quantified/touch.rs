//! Locations as triggers: `{x.f}`, `{P(xs)}`.
//!
//! A predicate that is true of all locations stands for a location in triggers. It is assumed
//! wherever the program uses a location, and holds of every location at which a map is looked up.

use rustc_hash::FxHashSet;
use smt::terms::{Sort, Term, TermKind, Terms, TheoryOp};

use crate::permission::quantified;
use crate::state::heap::Resource;
use crate::state::quantified::Access;
use crate::whole::Fact;
use crate::{Path, Stop, Symbols};

impl Symbols<'_> {
    /// Returns the term for a location in triggers.
    pub fn touched(&mut self, resource: Resource, arguments: &[Term]) -> Term {
        let sorts = self.argument_sorts(resource);
        let name = format!("touched.{}", self.resource_name(resource));
        let symbol = self.terms.declare_function(&name, &sorts, Sort::BOOL);
        self.terms.apply(symbol, arguments)
    }

    /// Returns a goal about an arbitrary location, with the premise that triggers know the
    /// location.
    pub(crate) fn with_touch(&mut self, resource: Resource, goal: Term) -> Term {
        if !self.of_program(Fact::IsTrigger(resource)) {
            return goal;
        }
        let formals = self.formals(resource);
        let touched = self.touched(resource, &formals);
        self.terms.implies(touched, goal)
    }
}

impl Path<'_> {
    /// Makes a location known to triggers, if a trigger needs it.
    pub fn touch(&mut self, resource: Resource, arguments: &[Term]) -> Result<(), Stop> {
        if self.mode.in_trigger || !self.of_program(Fact::IsTrigger(resource)) {
            return Ok(());
        }
        let fact = self.touched(resource, arguments);
        self.assume(fact)
    }

    /// Assumes ∀xs {triggers}. c ⇒ touched(e), for the locations of a quantified permission. The
    /// receiver itself is no trigger where there are written ones. The written ones may be the
    /// locations, and a fact about `s[i].next` and `s[i + 1]` would then call for the next index
    /// without end.
    pub(crate) fn touch_all(&mut self, access: &Access) -> Result<(), Stop> {
        if !self.of_program(Fact::IsTrigger(access.resource)) {
            return Ok(());
        }
        let touched = self.touched(access.resource, &access.arguments);
        let fact = self.terms.implies(access.guard, touched);
        let triggers = match access.triggers.as_slice() {
            [] => self.access_triggers(access),
            written => written.to_vec(),
        };
        let fact =
            self.terms.forall(&access.variables, triggers, fact, quantified::label("touched"), 1);
        self.assume(fact)
    }

    /// Makes a value known that perhaps nothing uses: users write `let x == (lemma(e)) in …` for
    /// the sake of the application. If a value consists of several values, each becomes known.
    pub fn mention_unused(&mut self, value: Term) -> Result<(), Stop> {
        if self.mode.in_trigger {
            return Ok(());
        }
        let mut pending = vec![value];
        let mut visited = FxHashSet::default();
        while let Some(value) = pending.pop() {
            let is_matchable = match self.terms.kind(value) {
                TermKind::Apply(_, operands) => !operands.is_empty(),
                TermKind::Theory(..) => true,
                TermKind::Quantifier(_) => false,
                kind => {
                    kind.for_each_operand(|operand| {
                        if visited.insert(operand) {
                            pending.push(operand);
                        }
                    });
                    false
                }
            };
            if is_matchable && !self.terms.mentions(value, &self.mode.bound) {
                let fact = mentioned(&mut self.terms, value);
                self.assume(fact)?;
            }
        }
        Ok(())
    }

    /// Makes the collections known whose elements some formulas are about. Elements of their parts
    /// are elements of these collections.
    pub fn mention_collections(&mut self, formulas: &[Term]) -> Result<(), Stop> {
        self.mention_closed(formulas, |terms, user, collection| {
            matches!(
                terms.kind(user),
                TermKind::Theory(TheoryOp::SetContains | TheoryOp::SeqContains, operands, _)
                    if operands[1] == collection
            ) || terms.is_explicit_collection(collection)
        })
    }

    /// Makes collections known that are written down below a quantifier, as in `Seq(x, y)[i]`. The
    /// term triggers the facts about their elements, and an instance of the quantifier may depend
    /// on these.
    pub(crate) fn mention_explicit_collections(&mut self, formulas: &[Term]) -> Result<(), Stop> {
        self.mention_closed(formulas, |terms, _, collection| {
            terms.is_explicit_collection(collection)
        })
    }

    /// Makes the compound collections known that occur closed in open terms, if `is_wanted` holds
    /// of the term and the collection.
    fn mention_closed(
        &mut self,
        formulas: &[Term],
        is_wanted: impl Fn(&Terms, Term, Term) -> bool,
    ) -> Result<(), Stop> {
        let mut found = Vec::new();
        let mut visited = FxHashSet::default();
        let mut pending = formulas.to_vec();
        while let Some(term) = pending.pop() {
            if !self.terms.is_open(term) || !visited.insert(term) {
                continue;
            }
            let is_theory = matches!(self.terms.kind(term), TermKind::Theory(..));
            self.terms.kind(term).for_each_operand(|operand| {
                pending.push(operand);
                if is_theory
                    && !self.terms.is_open(operand)
                    && self.terms.is_collection(self.terms.sort(operand))
                    && matches!(self.terms.kind(operand), TermKind::Theory(..))
                    && is_wanted(&self.terms, term, operand)
                {
                    found.push(operand);
                }
            });
        }
        for collection in found {
            let fact = mentioned(&mut self.terms, collection);
            self.assume(fact)?;
        }
        Ok(())
    }

    /// Adds the axiom ∀m, r {m@r}. touched(r).
    pub fn use_touch(&mut self, resource: Resource) -> Result<(), Stop> {
        if !self.of_program(Fact::IsTrigger(resource)) {
            return Ok(());
        }
        let formals = self.formals(resource);
        let sort = self.map_sort(resource);
        let map = self.terms.named_variable("map%0", sort);
        let value = self.map_at(resource, map, &formals);
        let touched = self.touched(resource, &formals);
        let mut variables = vec![map];
        variables.extend(formals);
        let axiom = self.terms.forall(
            &variables,
            vec![vec![value]],
            touched,
            quantified::label("touched"),
            1,
        );
        self.prover.add_axiom(axiom);
        Ok(())
    }
}

/// Makes a formula that is true of every term. It makes a term known to the prover, which matches
/// known terms only.
pub fn mentioned(terms: &mut Terms, term: Term) -> Term {
    let sort = terms.sort(term);
    let name = format!("mentioned.{}", terms.sort_name(sort));
    let symbol = terms.declare_function(&name, &[sort], Sort::BOOL);
    terms.apply(symbol, &[term])
}
