//! The statements of cases about owned objects, as assumptions and as obligations.

use findings::{Pattern, Reason};
use indexmap::IndexMap;
use sil::build::Annotate;
use sil::syntax as s;
use spl::program::Type;
use spl::source::Span;

use super::super::member::Declaration;
use super::super::triggers::same;
use super::{Case, Spec};
use crate::build::*;

/// Makes the formulas that are true in some case, clause by clause: a claim that all cases share
/// stands alone.
pub(in crate::classic) fn formulas(spec: &Spec) -> Vec<(s::Expr, Span)> {
    if let [case] = &spec.cases[..] {
        return case.formulas.clone();
    }
    let Some(first) = spec.cases.first() else { return Vec::new() };
    let mut shared = Vec::new();
    let mut differs = None;
    let mut left: Vec<Vec<(s::Expr, Span)>> =
        spec.cases.iter().map(|case| case.formulas.clone()).collect();
    for (formula, span) in &first.formulas {
        let is_same = |(other, place): &(s::Expr, Span)| place == span && same(other, formula);
        if left.iter().all(|formulas| formulas.iter().any(is_same)) {
            shared.push((formula.clone(), *span));
            left.iter_mut().for_each(|formulas| formulas.retain(|it| !is_same(it)));
        }
    }
    for (_, span) in left.iter().flatten() {
        differs = differs.or(Some(*span));
    }
    if let Some(span) = differs {
        let cases = left.into_iter().map(|case| and(case.into_iter().map(|(formula, _)| formula)));
        shared.push((or(cases), span));
    }
    shared
}

/// Returns the truth of a case.
pub(in crate::classic) fn condition(case: &Case) -> s::Expr {
    and(case.formulas.iter().map(|(formula, _)| formula.clone()))
}

impl Declaration<'_, '_> {
    /// Makes the owned objects of a sort: the set of the first case that holds. The set is empty if
    /// the clauses say nothing of the sort.
    pub(in crate::classic) fn chosen_set(&mut self, spec: &Spec, sort: &Type) -> s::Expr {
        let empty = self.of_set("empty", sort, []);
        let mut sets: Vec<(s::Expr, s::Expr)> = spec
            .cases
            .iter()
            .map(|case| {
                (condition(case), case.sets.get(sort).cloned().unwrap_or_else(|| empty.clone()))
            })
            .collect();
        let Some((_, last)) = sets.pop() else { return empty };
        if sets.iter().all(|(_, set)| same(set, &last)) {
            return last;
        }
        sets.into_iter().rev().fold(last, |rest, (holds, set)| conditional(holds, set, rest))
    }

    /// The clauses with `own` for what is owned: as something to assume, and as obligations. The
    /// latter are stronger where several cases hold: they ask for the footprint of the first.
    pub(in crate::classic) fn stated(
        &mut self,
        spec: &Spec,
        own: &IndexMap<Type, s::Expr>,
        exact: bool,
    ) -> Vec<s::Expr> {
        let mut all = Vec::new();
        for (formula, span) in formulas(spec) {
            all.push(self.placed(span, formula));
        }
        let Some(span) = spec.footprint else { return all };
        if !exact {
            return all;
        }
        for (sort, owned) in own {
            let chosen = self.chosen_set(spec, sort);
            let missing = self.of_set("subset", sort, [chosen.clone(), owned.clone()]);
            let left_over = self.of_set("subset", sort, [owned.clone(), chosen.clone()]);
            let shown = and([
                missing
                    .with(renamed(Reason::AssertionFalse, Reason::Footprint))
                    .with(said(Pattern::ANY, &format!("{} is not owned here", self.objects(sort)))),
                left_over.with(renamed(Reason::AssertionFalse, Reason::Leak)).with(said(
                    Pattern::ANY,
                    &format!("{} is owned here and not accounted for", self.objects(sort)),
                )),
            ]);
            let assumed = if spec.cases.len() == 1 {
                self.of_set("same", sort, [owned.clone(), chosen])
            } else {
                truth(true)
            };
            let stated = inhale_exhale(assumed, shown);
            all.push(self.placed(span, stated));
        }
        if spec.cases.len() > 1 {
            let cases: Vec<s::Expr> =
                spec.cases.iter().map(|case| self.case_with(case, own)).collect();
            let stated = inhale_exhale(or(cases), truth(true));
            all.push(self.placed(span, stated));
        }
        all
    }

    /// Returns a case with `own` for what it owns.
    fn case_with(&mut self, case: &Case, own: &IndexMap<Type, s::Expr>) -> s::Expr {
        let mut all = vec![condition(case)];
        for (sort, owned) in own {
            let set = case.sets.get(sort).cloned();
            let set = set.unwrap_or_else(|| self.of_set("empty", sort, []));
            all.push(self.of_set("same", sort, [owned.clone(), set]));
        }
        and(all)
    }

    /// Returns the words for objects of a sort in messages.
    pub(in crate::classic) fn objects(&self, sort: &Type) -> String {
        format!("an object of type {}", sort.show(self.program))
    }
}
