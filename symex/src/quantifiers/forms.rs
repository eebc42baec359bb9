//! Triggers for quantifiers in which no term can be matched as it stands, such as `forall k: Int ::
//! a[x + k] == 0`.
//!
//! The prover matches interpreted parts of a term literally, which hardly ever succeeds. Here they
//! become variables. If `x + k` is the only place that mentions k, the formula is solved for it:
//! with u for `x + k` it says `forall u: Int :: a[u] == 0`, k being `u - x`. If k stands elsewhere
//! in the trigger, too, the new variable is bound in addition and does not occur in the body.
//!
//! SOUNDNESS: k ↦ u − x and k ↦ x − u are bijections of the integers, and a bound variable that
//! does not occur changes nothing. So all forms are equivalent.

use std::sync::Arc;

use smt::terms::{Quant, Substitution, Term, TermKind, Terms, TheoryOp, grow_stack};

use crate::Symbols;
use crate::quantifiers::occurring;

/// The most equivalent forms whose triggers apply one symbol. Each form makes terms that all of
/// them match.
const FORMS_OF_ONE: usize = 2;
/// The weight of forms whose terms match each other. After some rounds the prover gives up on them.
const SHIFTING_WEIGHT: u32 = 10;

/// A term that may be matched once its interpreted parts have become variables.
struct Candidate {
    /// The term with the variables in place.
    pattern: Term,
    /// The variables, and the parts that they stand for.
    holes: Vec<(Term, Term)>,
    /// The bound variables that occur outside of the holes.
    direct: Vec<Term>,
    /// The number of nodes.
    size: usize,
}

/// The form of a term that is an offset plus a variable, or minus it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    is_minus: bool,
    offset: Term,
}

impl Shift {
    /// Returns the dependence of `term` on `variable`, if it is a shift and none of the `variables`
    /// is in the offset.
    pub(crate) fn of(
        terms: &mut Terms,
        term: Term,
        variable: Term,
        variables: &[Term],
    ) -> Option<Shift> {
        let is_fixed = |terms: &Terms, part| occurring(terms, variables, &[part]).is_empty();
        let of_part =
            |terms: &mut Terms, part| grow_stack(|| Shift::of(terms, part, variable, variables));
        match *terms.kind(term) {
            _ if term == variable => {
                let sort = terms.sort(variable);
                Some(Shift { is_minus: false, offset: terms.zero(sort) })
            }
            TermKind::Add(left, right) if is_fixed(terms, right) => {
                let Shift { is_minus, offset } = of_part(terms, left)?;
                Some(Shift { is_minus, offset: terms.add(offset, right) })
            }
            TermKind::Add(left, right) if is_fixed(terms, left) => {
                let Shift { is_minus, offset } = of_part(terms, right)?;
                Some(Shift { is_minus, offset: terms.add(left, offset) })
            }
            TermKind::Sub(left, right) if is_fixed(terms, right) => {
                let Shift { is_minus, offset } = of_part(terms, left)?;
                Some(Shift { is_minus, offset: terms.sub(offset, right) })
            }
            TermKind::Sub(left, right) if is_fixed(terms, left) => {
                let Shift { is_minus, offset } = of_part(terms, right)?;
                Some(Shift { is_minus: !is_minus, offset: terms.sub(left, offset) })
            }
            _ => None,
        }
    }

    /// Returns the value of the variable for which the term is `value`.
    pub(crate) fn variable_at(self, terms: &mut Terms, value: Term) -> Term {
        if self.is_minus { terms.sub(self.offset, value) } else { terms.sub(value, self.offset) }
    }
}

/// An equivalent form of a quantified formula.
struct Form {
    variables: Vec<Term>,
    trigger: Vec<Term>,
    body: Term,
}

impl Symbols<'_> {
    /// Makes a quantified formula, with triggers if none of the given ones can be used.
    pub fn quantified(
        &mut self,
        quant: Quant,
        variables: &[Term],
        triggers: Vec<Vec<Term>>,
        body: Term,
        label: impl Into<Arc<str>>,
        weight: u32,
    ) -> Term {
        let label = label.into();
        let plain = self.terms.quantify(quant, variables, triggers, body, label.clone(), weight);
        let TermKind::Quantifier(quantifier) = self.terms.kind(plain) else { return plain };
        if !quantifier.triggers.is_empty() {
            return plain;
        }
        let forms = self.forms(&occurring(&self.terms, variables, &[body]), body);
        if forms.is_empty() {
            return plain;
        }
        let weight = if forms.len() > 1 { weight.max(SHIFTING_WEIGHT) } else { weight };
        let mut formulas = Vec::with_capacity(forms.len());
        for Form { variables, trigger, body } in forms {
            formulas.push(self.terms.quantify(
                quant,
                &variables,
                vec![trigger],
                body,
                label.clone(),
                weight,
            ));
        }
        match quant {
            Quant::Forall => self.terms.and(formulas),
            Quant::Exists => self.terms.or(formulas),
        }
    }

    /// Returns the smallest term of a formula that mentions all variables. It serves for axioms,
    /// which apply wherever their symbols meet.
    pub fn innermost_trigger(&mut self, variables: &[Term], body: Term) -> Option<Term> {
        let mut candidates = Vec::new();
        self.candidates(body, variables, &mut candidates);
        let covers = |candidate: &Candidate| {
            candidate.holes.is_empty() && variables.iter().all(|v| candidate.direct.contains(v))
        };
        let all = candidates.into_iter().filter(covers);
        all.min_by_key(|candidate| candidate.size).map(|candidate| candidate.pattern)
    }

    fn forms(&mut self, variables: &[Term], body: Term) -> Vec<Form> {
        let mut candidates = Vec::new();
        self.candidates(body, variables, &mut candidates);
        candidates.sort_by_key(|candidate| (candidate.holes.len(), candidate.size));
        let form = |trigger: Vec<&Candidate>| {
            let holes = trigger.iter().flat_map(|candidate| &candidate.holes);
            let mut all = variables.to_vec();
            all.extend(holes.map(|&(variable, _)| variable));
            let trigger = trigger.into_iter().map(|candidate| candidate.pattern).collect();
            Form { variables: all, trigger, body }
        };
        let covers =
            |candidate: &&Candidate| variables.iter().all(|v| candidate.direct.contains(v));
        if let Some(candidate) = candidates.iter().find(covers) {
            return vec![form(vec![candidate])];
        }
        let mut forms: Vec<Form> = Vec::new();
        for candidate in &candidates {
            let is_like_it =
                |form: &&Form| same_head(&self.terms, form.trigger[0], candidate.pattern);
            if forms.iter().filter(is_like_it).count() < FORMS_OF_ONE
                && let Some(form) = solved(&mut self.terms, candidate, variables, body)
                && forms.iter().all(|other| other.body != form.body)
            {
                forms.push(form);
            }
        }
        if !forms.is_empty() {
            return forms;
        }
        // Several terms together.
        let mut open = variables.to_vec();
        let mut trigger = Vec::new();
        for candidate in &candidates {
            if candidate.direct.iter().any(|variable| open.contains(variable)) {
                open.retain(|variable| !candidate.direct.contains(variable));
                trigger.push(candidate);
            }
        }
        if open.is_empty() { vec![form(trigger)] } else { Vec::new() }
    }

    /// Collects the applications in a formula that mention one of the variables, each once.
    fn candidates(&mut self, term: Term, variables: &[Term], found: &mut Vec<Candidate>) {
        if !self.terms.is_open(term) || occurring(&self.terms, variables, &[term]).is_empty() {
            return;
        }
        if matches!(self.terms.kind(term), TermKind::Quantifier(_)) {
            return;
        }
        let heads = match self.terms.kind(term) {
            TermKind::Apply(_, operands) => !operands.is_empty(),
            TermKind::Theory(..) => true,
            _ => false,
        };
        if heads {
            let mut holes = Vec::new();
            let pattern = self.generalised(term, variables, &mut holes);
            let pattern = self.limited_variant(pattern);
            let direct = occurring(&self.terms, variables, &[pattern]);
            let size = nodes(&self.terms, pattern);
            let is_new = found.iter().all(|candidate: &Candidate| candidate.pattern != pattern);
            let is_variable = variables.contains(&term);
            if is_new && !is_variable && self.terms.is_matchable(pattern) {
                found.push(Candidate { pattern, holes, direct, size });
            }
        }
        for operand in self.terms.kind(term).operands() {
            grow_stack(|| self.candidates(operand, variables, found));
        }
    }

    /// Returns a term with variables in place of the interpreted parts that mention bound ones.
    fn generalised(
        &mut self,
        term: Term,
        variables: &[Term],
        holes: &mut Vec<(Term, Term)>,
    ) -> Term {
        if occurring(&self.terms, variables, &[term]).is_empty() || variables.contains(&term) {
            return term;
        }
        let kind = self.terms.kind(term).clone();
        match &kind {
            TermKind::Apply(..)
            | TermKind::Theory(..)
            | TermKind::Pair(..)
            | TermKind::First(_)
            | TermKind::Second(_)
            | TermKind::Wrap(_)
            | TermKind::Unwrap(..) => {
                let mut map = Substitution::default();
                for operand in kind.operands() {
                    let new = grow_stack(|| self.generalised(operand, variables, holes));
                    if new != operand {
                        map.insert(operand, new);
                    }
                }
                self.terms.substitute(term, &map)
            }
            _ => {
                if let Some(&(variable, _)) = holes.iter().find(|&&(_, value)| value == term) {
                    return variable;
                }
                let sort = self.terms.sort(term);
                // The variable is not in the journal: facts are formulas too, and replayed runs do
                // not see them.
                let variable = self.terms.fresh_variable("part", sort);
                holes.push((variable, term));
                variable
            }
        }
    }

    /// Returns a trigger that positions of sequences match in place of membership; `None` if it is
    /// the same.
    pub fn trigger_by_position(&mut self, trigger: &[Term]) -> Option<Vec<Term>> {
        let by_position: Vec<Term> = trigger
            .iter()
            .map(|&term| match *self.terms.kind(term) {
                TermKind::Theory(TheoryOp::SeqContains, ref operands, _) => {
                    let (element, sequence) = (operands[0], operands[1]);
                    self.terms.seq_contains_trigger(element, sequence)
                }
                _ => term,
            })
            .collect();
        (by_position != trigger).then_some(by_position)
    }

    /// Replaces unrolled applications of functions by limited ones.
    pub fn limited_variant(&mut self, term: Term) -> Term {
        if self.made.limited.is_empty() {
            return term;
        }
        self.terms.substitute(term, &self.made.limited)
    }
}

/// Tells whether two terms apply the same symbol.
fn same_head(terms: &Terms, one: Term, other: Term) -> bool {
    match (terms.kind(one), terms.kind(other)) {
        (TermKind::Apply(one, _), TermKind::Apply(other, _)) => one == other,
        (TermKind::Theory(one, ..), TermKind::Theory(other, ..)) => one == other,
        _ => false,
    }
}

/// Returns the formula solved for the variables that a candidate has in its holes only.
fn solved(
    terms: &mut Terms,
    candidate: &Candidate,
    variables: &[Term],
    body: Term,
) -> Option<Form> {
    let mut all: Vec<Term> = candidate.direct.clone();
    let mut map = Substitution::default();
    let mut holes = candidate.holes.clone();
    for &variable in variables.iter().filter(|variable| !candidate.direct.contains(variable)) {
        let mut solution = None;
        for (index, &(hole, value)) in holes.iter().enumerate() {
            if let Some(shift) = Shift::of(terms, value, variable, variables) {
                solution = Some((index, shift.variable_at(terms, hole)));
                break;
            }
        }
        let (index, value) = solution?;
        all.push(holes.remove(index).0);
        map.insert(variable, value);
    }
    all.extend(holes.into_iter().map(|(variable, _)| variable));
    let body = terms.substitute(body, &map);
    Some(Form { variables: all, trigger: vec![candidate.pattern], body })
}

/// Returns the number of different subterms.
fn nodes(terms: &Terms, term: Term) -> usize {
    let mut nodes = 0;
    terms.visit(vec![term], |_| {
        nodes += 1;
        true
    });
    nodes
}
