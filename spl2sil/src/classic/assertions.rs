//! Assertions: formulas, and for each sort the set of objects that is owned.
//!
//! An assertion is read into cases, one for each way through its disjunctions. A case collects
//! formulas and sets from left to right. Variables that the assertion itself binds (`exists`,
//! implicit ghost parameters of callees) are holes: a hole is filled where a footprint is named (`A
//! && acc(X)`), by equations (`C == content(X)`), and in calls from instances that are held.

mod holes;
mod stated;

use std::collections::BTreeMap;

use front::grow_stack;
use indexmap::IndexMap;
use sil::syntax as s;
use spl::program::{Access, Clause, Dialect, Expr, ExprKind, PredicateUse, Quantifier, Type};
use spl::source::Span;

use super::Fallible;
use super::member::{Declaration, Env, Value};
use super::prelude::Part;
use super::terms::cell_type;
use super::uses::{accessed, owns_contents};
use crate::build::*;

pub(super) use stated::{condition, formulas};

/// The meaning of clauses.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    /// One for each way through the disjunctions; never empty.
    pub(super) cases: Vec<Case>,
    /// Where errors about what is owned are reported; absent if no clause says what is owned.
    pub(super) footprint: Option<Span>,
}

/// One way through the disjunctions.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The formulas that hold, with their clauses.
    pub(super) formulas: Vec<(s::Expr, Span)>,
    /// The owned objects of each sort; none of sorts that are not in it.
    pub(super) sets: IndexMap<Type, s::Expr>,
    /// The values of holes.
    pub(super) bindings: BTreeMap<usize, s::Expr>,
}

/// How many ways there may be through the disjunctions of an assertion.
const MOST_CASES: usize = 256;

/// A piece of a footprint.
#[derive(Debug, Clone)]
enum Piece {
    Set(s::Expr),
    Hole(usize),
}

type Footprint = IndexMap<Type, Vec<Piece>>;

/// Something that holds.
#[derive(Debug, Clone)]
enum Fact<'p> {
    /// A pure expression, which may wait for a hole.
    Formula(&'p Expr, Env, bool),
    /// A formula.
    Ready(s::Expr),
    /// How two footprints of a sort relate: a function of the prelude of sets.
    Related(&'static str, Type, Vec<Piece>, Vec<Piece>),
}

/// A case that is being collected.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft<'p> {
    facts: Vec<(Fact<'p>, Span)>,
    sets: Footprint,
    /// The values of holes so far.
    pub(super) bindings: BTreeMap<usize, s::Expr>,
}

impl Draft<'_> {
    fn own(&mut self, sort: Type, piece: Piece) {
        self.sets.entry(sort).or_default().push(piece);
    }
}

impl<'p> Declaration<'_, 'p> {
    /// Returns the meaning of all clauses of one kind together: plain clauses as if joined by
    /// `&*&`, pure clauses in addition.
    pub(super) fn spec(&mut self, clauses: &'p [Clause], env: &Env) -> Fallible<Spec> {
        let mut drafts = vec![Draft::default()];
        // All plain clauses together say what is owned, and it is free only if all of them are.
        let mut footprint: Option<(Span, (bool, bool))> = None;
        for clause in clauses {
            if !clause.is_pure {
                let weight = (!clause.is_free, clause.condition.is_permission());
                if footprint.is_none_or(|(_, other)| weight > other) {
                    footprint = Some((clause.span, weight));
                }
            }
            drafts = self.star(&clause.condition, env, drafts, clause.span)?;
        }
        let place = footprint.map(|(span, _)| span);
        let span = place.unwrap_or_default();
        let drafts = drafts.into_iter().map(|draft| self.finish(draft, span));
        let cases = drafts.collect::<Fallible<Vec<_>>>()?;
        Ok(Spec { cases, footprint: place })
    }

    /// Returns the meaning of one assertion.
    pub(super) fn assertion_spec(&mut self, e: &'p Expr, span: Span, env: &Env) -> Fallible<Spec> {
        let drafts = self.star(e, env, vec![Draft::default()], span)?;
        let drafts = drafts.into_iter().map(|draft| self.finish(draft, span));
        let cases = drafts.collect::<Fallible<Vec<_>>>()?;
        Ok(Spec { cases, footprint: Some(span) })
    }

    /// Adds an assertion with a footprint disjoint from what is there.
    fn star(
        &mut self,
        e: &'p Expr,
        env: &Env,
        drafts: Vec<Draft<'p>>,
        span: Span,
    ) -> Fallible<Vec<Draft<'p>>> {
        self.joined(e, env, drafts, span, |_, before, draft| {
            for (sort, pieces) in before {
                if let Some(own) = draft.sets.get(&sort) {
                    let apart =
                        Fact::Related("disjoint", sort.clone(), pieces.clone(), own.clone());
                    draft.facts.push((apart, span));
                }
                draft.sets.entry(sort).or_default().splice(0..0, pieces);
            }
        })
    }

    /// Adds an assertion; `join` says how its footprint goes together with the one before.
    fn joined(
        &mut self,
        e: &'p Expr,
        env: &Env,
        drafts: Vec<Draft<'p>>,
        span: Span,
        join: impl Fn(&mut Self, Footprint, &mut Draft<'p>),
    ) -> Fallible<Vec<Draft<'p>>> {
        let mut all = Vec::new();
        for mut draft in drafts {
            let before = std::mem::take(&mut draft.sets);
            for mut draft in grow_stack(|| self.assertion(e, env, draft, span))? {
                join(self, before.clone(), &mut draft);
                all.push(draft);
            }
            if all.len() > MOST_CASES {
                return self.stuck("an assertion with that many disjunctions", span);
            }
        }
        Ok(all)
    }

    /// Returns the cases of an assertion, each with its footprint alone and with the facts before.
    fn assertion(
        &mut self,
        e: &'p Expr,
        env: &Env,
        mut draft: Draft<'p>,
        span: Span,
    ) -> Fallible<Vec<Draft<'p>>> {
        // Another case may have found out something else.
        self.bindings.clone_from(&draft.bindings);
        if !e.is_permission() {
            self.pure(e, env, &mut draft, span);
            return Ok(vec![draft]);
        }
        match &e.kind {
            ExprKind::Emp => Ok(vec![draft]),
            ExprKind::Access(access) => {
                self.access(access, env, &mut draft, span)?;
                Ok(vec![draft])
            }
            ExprKind::PointsTo { location, value } => {
                let (sort, owner) = self.owner(location, env)?;
                let null = self.null(&sort);
                draft.facts.push((Fact::Ready(ne(owner.clone(), null)), span));
                let set = self.of_set("single", &sort, [owner]);
                draft.own(sort, Piece::Set(set));
                self.points_to(location, value, env, &mut draft, span)?;
                Ok(vec![draft])
            }
            ExprKind::Predicate(predicate) => {
                self.predicate_cases(predicate, env, draft, span, e.span)
            }
            ExprKind::Star(all) => {
                let mut drafts = vec![draft];
                for one in all {
                    drafts = self.star(one, env, drafts, span)?;
                }
                Ok(drafts)
            }
            ExprKind::Overlap(all) => {
                let mut drafts = vec![draft];
                for one in all {
                    drafts = self.joined(one, env, drafts, span, |_, before, draft| {
                        for (sort, pieces) in before {
                            draft.sets.entry(sort).or_default().splice(0..0, pieces);
                        }
                    })?;
                }
                Ok(drafts)
            }
            ExprKind::And(all) => self.same_footprint(all, env, draft, span),
            ExprKind::PartOf { part, whole } => {
                let drafts = self.assertion(part, env, draft, span)?;
                self.joined(whole, env, drafts, span, |_, part, draft| {
                    for (sort, pieces) in part {
                        let whole = draft.sets.get(&sort).cloned().unwrap_or_default();
                        let inside = Fact::Related("subset", sort, pieces, whole);
                        draft.facts.push((inside, span));
                    }
                })
            }
            ExprKind::Or(all) => {
                let mut drafts = Vec::new();
                for one in all {
                    drafts.extend(grow_stack(|| self.assertion(one, env, draft.clone(), span))?);
                    if drafts.len() > MOST_CASES {
                        return self.stuck("an assertion with that many disjunctions", span);
                    }
                }
                Ok(drafts)
            }
            ExprKind::Implies { guard, body } => {
                let mut without = draft.clone();
                without.facts.push((Fact::Formula(guard, env.clone(), false), span));
                draft.facts.push((Fact::Formula(guard, env.clone(), true), span));
                let mut drafts = grow_stack(|| self.assertion(body, env, draft, span))?;
                drafts.push(without);
                Ok(drafts)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let mut second = draft.clone();
                second.facts.push((Fact::Formula(condition, env.clone(), false), span));
                draft.facts.push((Fact::Formula(condition, env.clone(), true), span));
                let mut drafts = grow_stack(|| self.assertion(then, env, draft, span))?;
                drafts.extend(grow_stack(|| self.assertion(otherwise, env, second, span))?);
                Ok(drafts)
            }
            ExprKind::Quantified { quantifier: Quantifier::Exists, variables, body } => {
                let mut env = env.clone();
                for variable in variables {
                    let ty = &self.program.locals[variable.local].ty;
                    let hole = self.hole(ty);
                    env = env.with([(variable.local, hole)]);
                    if variable.domain.is_some() {
                        return self.stuck("a bounded `exists` over permissions", e.span);
                    }
                }
                grow_stack(|| self.assertion(body, &env, draft, span))
            }
            ExprKind::Annotated { body, .. } => {
                grow_stack(|| self.assertion(body, env, draft, span))
            }
            _ => self.stuck("this form of permission", e.span),
        }
    }

    /// A formula without a footprint. What is visibly a conjunction is taken apart, so that
    /// equations are found.
    fn pure(&mut self, e: &'p Expr, env: &Env, draft: &mut Draft<'p>, span: Span) {
        match &e.kind {
            ExprKind::And(all) | ExprKind::Star(all) => {
                all.iter().for_each(|one| grow_stack(|| self.pure(one, env, draft, span)));
            }
            ExprKind::Annotated { body, .. } if matches!(body.kind, ExprKind::And(_)) => {
                grow_stack(|| self.pure(body, env, draft, span));
            }
            ExprKind::Predicate(used) => {
                let declared = &self.program.predicates[used.predicate];
                let is_open = !self.lowering.recursive.contains_idx(used.predicate);
                match (&declared.body, is_open) {
                    (Some(body), true) => match self.predicate_env(used, env) {
                        Ok(inner) => grow_stack(|| self.pure(body, &inner, draft, span)),
                        Err(_) => draft.facts.push((Fact::Formula(e, env.clone(), true), span)),
                    },
                    _ => draft.facts.push((Fact::Formula(e, env.clone(), true), span)),
                }
            }
            _ => draft.facts.push((Fact::Formula(e, env.clone(), true), span)),
        }
    }

    fn predicate_cases(
        &mut self,
        used: &'p PredicateUse,
        env: &Env,
        mut draft: Draft<'p>,
        span: Span,
        place: Span,
    ) -> Fallible<Vec<Draft<'p>>> {
        let body = match &self.program.predicates[used.predicate].body {
            Some(body) if !self.lowering.recursive.contains_idx(used.predicate) => body,
            _ => {
                let env = if self.chooses {
                    self.fill_from_facts(&mut draft);
                    &self.fill_from_held(used, env, &mut draft)?
                } else {
                    env
                };
                let formula = self.closed_formula(used, env, place)?;
                draft.facts.push((Fact::Ready(formula), span));
                for (sort, set) in self.closed_footprint(used, env, place)? {
                    draft.own(sort, Piece::Set(set));
                }
                return Ok(vec![draft]);
            }
        };
        let inner = self.predicate_env(used, env)?;
        grow_stack(|| self.assertion(body, &inner, draft, span))
    }

    fn access(
        &mut self,
        access: &'p Access,
        env: &Env,
        draft: &mut Draft<'p>,
        span: Span,
    ) -> Fallible<()> {
        let Some(sort) = accessed(access) else {
            return self.stuck("a permission to a field in this dialect", span);
        };
        match access {
            Access::Object(object) => {
                let object = self.term(object, env)?;
                let null = self.null(&sort);
                draft.facts.push((Fact::Ready(ne(object.clone(), null)), span));
                if let (Type::Array(element), true) = (&sort, owns_contents(self.program)) {
                    self.lowering.prelude.want(Part::Array((**element).clone()));
                    let cells = self.of_type("cells", element, [object.clone()]);
                    draft.own(cell_type(&sort), Piece::Set(cells));
                }
                let set = self.of_set("single", &sort, [object]);
                draft.own(sort, Piece::Set(set));
            }
            Access::Cell { array, index } => {
                let cell = self.of_array("cell", array, Some(index), env)?;
                let null = self.null(&sort);
                draft.facts.push((Fact::Ready(ne(cell.clone(), null)), span));
                let set = self.of_set("single", &sort, [cell]);
                draft.own(sort, Piece::Set(set));
            }
            Access::Objects(_) if matches!(sort, Type::Array(_)) && owns_contents(self.program) => {
                return self.stuck("a set of arrays that own what they hold", span);
            }
            Access::Objects(objects) => {
                if let ExprKind::Local(local) = &objects.kind
                    && let Some(Value::Hole(hole)) = env.values.get(local)
                    && !draft.bindings.contains_key(hole)
                {
                    draft.own(sort, Piece::Hole(*hole));
                    return Ok(());
                }
                let set = Type::set(sort.clone());
                let set = self.term_as(objects, &set, env)?;
                draft.own(sort, Piece::Set(set));
            }
            Access::Field { .. } => {}
        }
        Ok(())
    }

    /// Returns the object that holds a location.
    fn owner(&mut self, location: &'p Expr, env: &Env) -> Fallible<(Type, s::Expr)> {
        match &location.kind {
            ExprKind::FieldRead { receiver, field } => {
                let sort = Type::Struct(self.program.fields[*field].parent);
                let receiver = self.term_as(receiver, &sort, env)?;
                Ok((sort, receiver))
            }
            ExprKind::Element { array, index } => {
                let sort = super::terms::cell_type(&array.ty);
                Ok((sort, self.of_array("cell", array, Some(index), env)?))
            }
            ExprKind::CellContent(cell) => Ok((cell.ty.clone(), self.term(cell, env)?)),
            _ => self.stuck("what this `|->` is about", location.span),
        }
    }

    fn points_to(
        &mut self,
        location: &'p Expr,
        value: &'p Expr,
        env: &Env,
        draft: &mut Draft<'p>,
        span: Span,
    ) -> Fallible<()> {
        let stored = self.term(location, env)?;
        if let ExprKind::Local(local) = &value.kind
            && let Some(Value::Hole(hole)) = env.values.get(local)
            && !draft.bindings.contains_key(hole)
        {
            draft.bindings.insert(*hole, stored);
            return Ok(());
        }
        let value = self.term_as(value, &location.ty, env)?;
        let is_set = matches!(location.ty, Type::Set(_));
        let same = match (&location.ty, is_set) {
            (Type::Set(element), true) => self.of_set("same", element, [stored, value]),
            _ => eq(stored, value),
        };
        draft.facts.push((Fact::Ready(same), span));
        Ok(())
    }

    /// `A && B && ..`: all hold, of one footprint.
    fn same_footprint(
        &mut self,
        all: &'p [Expr],
        env: &Env,
        draft: Draft<'p>,
        span: Span,
    ) -> Fallible<Vec<Draft<'p>>> {
        // In the dialect with parts a formula holds of any part, whatever that owns.
        let of_any_part =
            |e: &Expr| self.program.dialect == Dialect::ClassicParts && !e.is_permission();
        let (formulas, all): (Vec<&'p Expr>, Vec<&'p Expr>) =
            all.iter().partition(|one| of_any_part(one));
        let Some((first, rest)) = all.split_first() else { return Ok(vec![draft]) };
        let mut drafts = grow_stack(|| self.assertion(first, env, draft, span))?;
        for draft in &mut drafts {
            formulas.iter().for_each(|one| self.pure(one, env, draft, span));
        }
        for one in rest {
            drafts = self.joined(one, env, drafts, span, |member, before, draft| {
                let mut sorts: Vec<Type> = before.keys().cloned().collect();
                sorts.extend(draft.sets.keys().filter(|sort| !before.contains_key(*sort)).cloned());
                for sort in sorts {
                    let left = before.get(&sort).cloned().unwrap_or_default();
                    let right = draft.sets.get(&sort).cloned().unwrap_or_default();
                    member.equate(sort, left, right, draft, span);
                }
            })?;
        }
        // The conjunction would be false: `&*&` is meant.
        let owns = drafts.iter().any(|draft| !draft.sets.is_empty());
        if owns && all.iter().any(|one| !one.is_permission()) {
            return self.stuck(
                "`&&` between a permission and a formula that owns nothing (`&*&` joins them)",
                span,
            );
        }
        Ok(drafts)
    }

    /// Both footprints are the same; a hole on one side is filled with the other.
    fn equate(
        &mut self,
        sort: Type,
        left: Vec<Piece>,
        right: Vec<Piece>,
        draft: &mut Draft<'p>,
        span: Span,
    ) {
        let hole = |pieces: &[Piece]| match pieces {
            [Piece::Hole(hole)] if !draft.bindings.contains_key(hole) => Some(*hole),
            _ => None,
        };
        let is_known = |pieces: &[Piece]| pieces.iter().all(|it| matches!(it, Piece::Set(_)));
        let filled = match (hole(&left), hole(&right)) {
            (_, Some(hole)) if is_known(&left) => Some((hole, &left)),
            (Some(hole), _) if is_known(&right) => Some((hole, &right)),
            _ => None,
        };
        let own = match filled {
            Some((hole, pieces)) => match self.pieces(&sort, pieces) {
                Ok(set) => {
                    draft.bindings.insert(hole, set);
                    pieces.clone()
                }
                Err(_) => left,
            },
            None => {
                let same = Fact::Related("same", sort.clone(), left.clone(), right);
                draft.facts.push((same, span));
                left
            }
        };
        draft.sets.insert(sort, own);
    }
}
