//! Quantifiers: the ranges of variables, and formulas about all values in them.

use chalice::program::{Domain, Expr, ExprKind, LocalId, Type};
use smt::terms::{Quant, Sort, Term, Terms};

use crate::{Chalice, Direct};
use symex::findings::blame::Blame;
use symex::knowledge::goals::Noted;
use symex::{Explore, Stop, View, Watch};

/// The value of an expression for all values of the variables of a quantifier.
pub(super) struct Choices {
    /// The variables in formulas.
    pub(super) bound: Vec<Term>,
    /// The claim that their values are in the range.
    pub(super) guard: Term,
    /// Terms that trigger values, one for each variable, or none.
    triggers: Vec<Term>,
    /// The value of the expression; `None` if the range has no values.
    pub(super) value: Option<Term>,
    /// Facts learnt during the evaluation.
    facts: Vec<Term>,
}

impl Chalice<'_, '_> {
    /// Returns a formula about all or some values of variables.
    pub(super) fn quantified(
        &mut self,
        quant: Quant,
        variables: &[LocalId],
        domain: &Domain,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let range = match domain {
            Domain::Type(_) => None,
            Domain::Collection(collection) => Some(self.range(collection, blame)?),
        };
        let choices = self.for_choices(variables, range.as_ref(), body, blame, |_| Ok(()))?;
        let (guard, value) = (choices.guard, choices.value);
        let matrix = match quant {
            Quant::Forall => {
                let value = value.unwrap_or(Terms::TRUE);
                self.terms.implies(guard, value)
            }
            Quant::Exists => {
                let value = value.unwrap_or(Terms::FALSE);
                self.terms.and([guard, value])
            }
        };
        let name = format!("direct@{}", body.span.start);
        let (sets, facts) = self.learn_of_choices(&choices, matrix, &name)?;
        let bound = choices.bound;
        let formula = self.terms.quantify(quant, &bound, sets.clone(), matrix, (&*name).into(), 0);
        let noted = Noted { quant, bound, triggers: sets, body: matrix, facts };
        self.note_quantifier(formula, noted);
        Ok(formula)
    }

    /// Evaluates an expression for all values of variables, after `before`.
    pub(super) fn for_choices(
        &mut self,
        variables: &[LocalId],
        range: Option<&Range>,
        body: &Expr,
        blame: Blame,
        mut before: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<Choices, Stop> {
        self.threads.summarise([body])?;
        let at_start = self.state();
        let met_below = self.gathered.below.len();
        let mut bound = Vec::with_capacity(variables.len());
        let (mut guards, mut triggers) = (Vec::new(), Vec::new());
        for &variable in variables {
            let declared = &self.direct.tree.locals[variable];
            let sort = match range {
                Some(Range::Sequence(_)) => Sort::INT,
                _ => self.threads.sort(&declared.ty),
            };
            let chosen = self.fresh_variable(&declared.name, sort);
            bound.push(chosen);
            let (value, guard) = choice(&mut self.terms, chosen, range, &mut triggers);
            guards.push(guard);
            self.frame.store.set(Direct::local(variable), value);
        }
        let guard = self.terms.and(guards);
        let (outcome, seen) = self.watched(|chalice| {
            chalice.binding(&bound, |chalice| {
                chalice.scoped(None, |chalice| {
                    chalice.under(guard, |chalice| {
                        before(chalice)?;
                        chalice.eval(body, blame)
                    })
                })
            })
        });
        self.set_state(at_start);
        let (value, facts) = outcome?;
        if value.is_err() {
            self.gathered.below.truncate(met_below);
        }
        let value = value?;
        self.release_met_below(met_below, &bound)?;
        self.is_defined_for_all(seen, blame)?;
        Ok(Choices { bound, guard, triggers, value, facts })
    }

    /// Learns the facts of the evaluation for all values. Returns the triggers of formulas about
    /// them, and the learnt facts.
    #[expect(clippy::type_complexity, reason = "two lists")]
    pub(super) fn learn_of_choices(
        &mut self,
        choices: &Choices,
        matrix: Term,
        name: &str,
    ) -> Result<(Vec<Vec<Term>>, Vec<(Term, Term)>), Stop> {
        let Choices { bound, triggers, facts, .. } = choices;
        let covers = !bound.is_empty() && triggers.len() == bound.len();
        let mut sets = if covers { vec![triggers.clone()] } else { Vec::new() };
        if sets.is_empty()
            && let Some(term) = self.innermost_trigger(bound, matrix)
        {
            sets.push(vec![self.limited_variant(term)]);
        }
        let facts = self.learn_for_all(bound, &sets, facts.clone(), name)?;
        Ok((sets, facts))
    }

    /// Returns the range of a quantifier's variables. It is empty if the bounds of a range are out
    /// of order.
    pub(crate) fn range(&mut self, collection: &Expr, blame: Blame) -> Result<Range, Stop> {
        let ExprKind::Range { from, to } = &collection.kind else {
            let elements = self.eval(collection, blame)?;
            return Ok(match &collection.ty {
                Type::Seq(_) => Range::Sequence(elements),
                _ => Range::Set(elements),
            });
        };
        Ok(Range::Numbers(self.eval(from, blame)?, self.eval(to, blame)?))
    }
}

/// The range of a quantifier's variables.
pub(crate) enum Range {
    Numbers(Term, Term),
    Sequence(Term),
    Set(Term),
}

/// Makes the claim that a value is in a range.
pub(crate) fn is_in(terms: &mut Terms, value: Term, range: &Range) -> Term {
    match *range {
        Range::Numbers(from, to) => {
            let (low, high) = (terms.le(from, value), terms.lt(value, to));
            terms.and([low, high])
        }
        Range::Sequence(elements) => terms.seq_contains(value, elements),
        Range::Set(elements) => terms.set_contains(value, elements),
    }
}

/// Returns the value that a choice stands for, and the claim that it is in the range.
fn choice(
    terms: &mut Terms,
    chosen: Term,
    range: Option<&Range>,
    triggers: &mut Vec<Term>,
) -> (Term, Term) {
    match range {
        None => (chosen, Terms::TRUE),
        Some(&Range::Numbers(from, to)) => {
            let (low, high) = (terms.le(from, chosen), terms.lt(chosen, to));
            (chosen, terms.and([low, high]))
        }
        Some(&Range::Sequence(elements)) => {
            let zero = terms.int(0);
            let length = terms.seq_len(elements);
            let (low, high) = (terms.le(zero, chosen), terms.lt(chosen, length));
            let element = terms.seq_at(elements, chosen);
            triggers.push(element);
            (element, terms.and([low, high]))
        }
        Some(&Range::Set(elements)) => {
            let inside = terms.set_contains(chosen, elements);
            triggers.push(inside);
            (chosen, inside)
        }
    }
}
