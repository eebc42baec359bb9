//! Predicates that are defined by themselves.
//!
//! As the original does, we open an instance that the program mentions twice, and no more: `p` is
//! defined by `once$p`, that by `last$p`, and all three are the same. Of `last$p` only the ways
//! that need no further instance are known. So the solver cannot go on forever.
//!
//! Each is a formula and a set of each sort, which the definition ties together. Read as an
//! inductive definition of the sets that satisfy an instance, this is consistent if no instance has
//! two such sets. It depends on the contents of its own objects alone if its ways do. Two methods
//! prove that, by induction on derivations: there, nothing is known of the inner instances
//! (`any$p`) but what is to be shown.

use findings::{ErrorId, Pattern, Reason};
use indexmap::IndexMap;
use sil::build::Annotate;
use sil::syntax as s;
use sil::syntax::walk::{Visitor, visit};
use spl::program::{PredicateId, Type};

use super::choices::{Naming, OpenParameters};
use super::functions::{Header, IN_COMPREHENSION, Recursive, lowered_with};
use super::predicates::footprint_name;
use super::recursion::Defined;
use crate::build::*;
use crate::classic::assertions::{Case, condition};
use crate::classic::member::{Declaration, Env};
use crate::classic::prelude::Part;
use crate::classic::types::{Slot, spelled};
use crate::classic::{Fallible, Lowering, Stuck, places};
use crate::lower::annotations::ends;

/// The functions that stand for a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::classic) enum Level {
    /// An instance that the program mentions.
    Whole,
    /// An instance that is opened once more.
    Once,
    /// An instance that is opened only where that ends it.
    Last,
    /// An instance of which nothing is known.
    Any,
}

/// The level of instances while the definition of a predicate is lowered: instances of the
/// predicates defined together with it are at this level.
#[derive(Debug, Clone, Copy)]
pub(in crate::classic) struct Definition {
    predicate: PredicateId,
    inner: Level,
}

impl<'p> Lowering<'p> {
    /// The definitions of those that something mentions.
    pub(in crate::classic) fn unrolled_predicates(&mut self, members: &mut Vec<s::Member>) {
        let mut at = 0;
        while let Some(&id) = self.unrolled.get_index(at) {
            at += 1;
            let predicate = &self.program.predicates[id];
            let defined = match predicate.ty {
                Type::Bool if self.in_comprehensions.contains(&Defined::Predicate(id)) => {
                    members.extend(self.unknown_formula(id).ok());
                    Err(Stuck::new(IN_COMPREHENSION, predicate.name_span))
                }
                Type::Permission => self.unrolled_predicate(id),
                _ => self.recursive_formula(id).map(|member| vec![member]),
            };
            match defined {
                Ok(all) => members.extend(all.into_iter().map(|member| {
                    let member = places::placed(self.sources, predicate.name_span, member);
                    member.with(named(&predicate.name)).with(ends())
                })),
                Err(stuck) => {
                    // A member that mentions it finds it declared.
                    if predicate.ty == Type::Permission {
                        members.extend(self.declaration(id).ok().map(s::Member::from));
                    }
                    members.push(self.refusal(&predicate.name, predicate.name_span, &stuck));
                }
            }
        }
    }

    /// Returns the functions of all levels.
    fn declaration(&mut self, id: PredicateId) -> Fallible<s::Domain> {
        let name = spelled(&self.program.predicates[id].name);
        let mut domain = s::Domain::new(&format!("Predicate${name}"));
        for level in [Level::Whole, Level::Once, Level::Last, Level::Any] {
            domain = self.declared(id, level, domain)?;
        }
        let (mut member, header) = self.header_at(id, Level::Whole, Level::Once)?;
        let ways = member.ways(id, &header.env, &Naming::Functions(&header.arguments()));
        for (name, ty) in ways.map(|it| it.choices).unwrap_or_default() {
            let formals = member.typed_formals(&header.formals);
            let value = member.ty(&ty);
            domain = domain.function(domain_function(&name, formals, value));
        }
        Ok(domain)
    }

    fn unrolled_predicate(&mut self, id: PredicateId) -> Fallible<Vec<s::Member>> {
        let mut domain = self.declaration(id)?;
        for (level, inner) in [(Level::Whole, Level::Once), (Level::Once, Level::Last)] {
            let axioms = self.definition(id, level, inner)?;
            domain = lowered_with(domain, axioms);
        }
        let mut axioms = self.last_ways(id)?;
        let open = self.open_parameters(id)?;
        if open[&id].contains(&true) {
            let (mut member, header) = self.header_at(id, Level::Whole, Level::Whole)?;
            let second = member.second_names(&header, &open[&id]);
            axioms.push(member.same_for_all(id, Level::Whole, &header, &second));
        }
        let domain = lowered_with(domain, axioms);
        let mut all = vec![s::Member::from(domain), self.precise(id, &open)?];
        all.extend(self.framed_by_itself(id)?);
        Ok(all)
    }

    /// A predicate without permissions is a function.
    fn recursive_formula(&mut self, id: PredicateId) -> Fallible<s::Member> {
        let program = self.program;
        let predicate = &program.predicates[id];
        let slots: Vec<Slot> = self.uses.predicates[id].slots.iter().cloned().collect();
        self.recursive_value(&Recursive {
            name: &predicate.name,
            place: predicate.name_span,
            parameters: &predicate.parameters,
            slots: &slots,
            requires: &predicate.requires,
            ensures: &[],
            result: None,
            ty: &predicate.ty,
            body: predicate.body.as_ref(),
            measure: super::termination::predicate_measure(program, id),
        })
    }

    /// Returns a predicate of which nothing is known, as it is refused.
    fn unknown_formula(&mut self, id: PredicateId) -> Fallible<s::Member> {
        let predicate = &self.program.predicates[id];
        let slots: Vec<Slot> = self.uses.predicates[id].slots.iter().cloned().collect();
        self.unknown_value(&predicate.name, &predicate.parameters, &slots, &predicate.ty)
    }

    /// With the functions that stand for the predicate.
    fn declared(
        &mut self,
        id: PredicateId,
        level: Level,
        mut domain: s::Domain,
    ) -> Fallible<s::Domain> {
        let (mut member, header) = self.header_at(id, level, level)?;
        let name = member.name_at(id, level);
        let formals = member.typed_formals(&header.formals);
        domain = domain.function(domain_function(&name, formals.clone(), s::TypeKind::Bool));
        for (sort, _) in member.footprints(id, level, &header) {
            let function = footprint_name(&name, &member.key(&sort));
            let set = member.ty(&Type::set(sort));
            domain = domain.function(domain_function(&function, formals.clone(), set));
        }
        Ok(domain)
    }

    /// Returns a member that lowers the body with instances of level `inner`, and the head at level
    /// `level`.
    pub(super) fn header_at(
        &mut self,
        id: PredicateId,
        level: Level,
        inner: Level,
    ) -> Fallible<(Declaration<'_, 'p>, Header)> {
        self.header_without([], id, level, inner)
    }

    /// The same, with names that are not among `taken`.
    fn header_without(
        &mut self,
        taken: impl IntoIterator<Item = String>,
        id: PredicateId,
        level: Level,
        inner: Level,
    ) -> Fallible<(Declaration<'_, 'p>, Header)> {
        let predicate = &self.program.predicates[id];
        let slots: Vec<Slot> = self.uses.predicates[id].slots.iter().cloned().collect();
        let mut member = Declaration::new(self);
        member.taken.extend(taken);
        member.definition = Some(Definition { predicate: id, inner });
        let name = member.name_at(id, level);
        let header = member.header(&name, &predicate.parameters, &slots)?;
        Ok((member, header))
    }

    /// An instance is what it stands for, with instances of the next level in it, and the same at
    /// both levels.
    fn definition(
        &mut self,
        id: PredicateId,
        level: Level,
        inner: Level,
    ) -> Fallible<Vec<s::Expr>> {
        let (mut member, header) = self.header_at(id, level, inner)?;
        let ways = member.ways(id, &header.env, &Naming::Functions(&header.arguments()))?.cases;
        let application = header.application.clone();
        let next = member.instance(id, inner, &header);
        let mut facts = vec![
            eq(application.clone(), or(ways.iter().map(condition))),
            eq(application.clone(), next),
        ];
        let below = member.footprints(id, inner, &header);
        for ((sort, own), (_, next)) in member.footprints(id, level, &header).into_iter().zip(below)
        {
            facts.push(eq(own.clone(), next));
            for way in &ways {
                let set = member.set_of(way, &sort);
                let holds = and([application.clone(), condition(way)]);
                facts.push(implies(holds, eq(own.clone(), set)));
            }
        }
        let formals = member.typed_formals(&header.formals);
        let triggers = triggers(application, member.footprints(id, level, &header));
        let mut axioms = vec![quantified_over(formals, triggers, and(facts))];
        axioms.extend(member.closings(id, level, &header)?);
        Ok(axioms)
    }

    /// Makes the known facts about the last level: the ways that need no instance, and its
    /// dependence on its objects.
    fn last_ways(&mut self, id: PredicateId) -> Fallible<Vec<s::Expr>> {
        let group = self.recursive[id].clone();
        let (mut member, header) = self.header_at(id, Level::Last, Level::Last)?;
        let names: Vec<String> =
            group.iter().map(|&other| member.name_at(other, Level::Last)).collect();
        let ways = member.ways(id, &header.env, &Naming::Functions(&header.arguments()))?.cases;
        let application = header.application.clone();
        let owned = member.footprints(id, Level::Last, &header);
        let mut facts = Vec::new();
        for way in ways.iter().filter(|way| !mentions_any(way, &names)) {
            let mut known = vec![application.clone()];
            for (sort, own) in &owned {
                let set = member.set_of(way, sort);
                known.push(eq(own.clone(), set));
            }
            facts.push(implies(condition(way), and(known)));
        }
        let mut axioms = Vec::new();
        if !facts.is_empty() {
            let formals = member.typed_formals(&header.formals);
            axioms.push(quantified_over(formals, triggers(application, owned), and(facts)));
        }
        axioms.extend(member.same_where_alike(id, Level::Last, &header));
        Ok(axioms)
    }

    /// Returns a method that proves that no instance has two sets of objects, by induction on
    /// derivations: nor have those inside it, whatever their open parameters are.
    fn precise(&mut self, id: PredicateId, open: &OpenParameters) -> Fallible<s::Member> {
        let name = &self.program.predicates[id].name;
        let place = self.program.predicates[id].name_span;
        let text = format!("what `{name}` owns might not be determined by its arguments");
        let (mut promised, mut bound) = (Vec::new(), Vec::new());
        for (&other, open) in open {
            if open.contains(&true) {
                let (mut member, header) = self.header_at(other, Level::Any, Level::Any)?;
                let second = member.second_names(&header, open);
                promised.push(member.same_for_all(other, Level::Any, &header, &second));
                bound.extend(member.taken);
            }
        }
        let (mut member, header) = self.header_without(bound, id, Level::Any, Level::Any)?;
        let (prefix, then) = (member.fresh("choice"), member.fresh("choice$then"));
        let ways = member.ways(id, &header.env, &Naming::Variables(&prefix))?;
        let second = member.second_names(&header, &open[&id]);
        let mut formals = header.formals.clone();
        let is_chosen = !ways.choices.is_empty() || !second.is_empty();
        let others = if is_chosen {
            let again = member.with_second(id, &header, &second, &mut formals);
            let others = member.ways(id, &again, &Naming::Variables(&then))?;
            formals.extend(ways.choices.into_iter().chain(others.choices));
            others.cases
        } else {
            ways.cases.clone()
        };
        let sorts: Vec<Type> = member.lowering.uses.predicates[id].owned.iter().cloned().collect();
        let mut method = s::Method::new(&format!("{}$precise", spelled(name)));
        method.formals = member.typed_formals(&formals);
        method.contract.preconditions = promised;
        method.contract.preconditions.extend(member.no_writes(&header.env.now));
        let mut checks = Vec::new();
        for (at, first) in ways.cases.iter().enumerate() {
            // One way owns one set, unless values are chosen on it.
            for second in &others[if is_chosen { at } else { at + 1 }..] {
                let mut same = Vec::new();
                for sort in &sorts {
                    let sets = [member.set_of(first, sort), member.set_of(second, sort)];
                    same.push(member.of_set("same", sort, sets));
                }
                let both = and([condition(first), condition(second)]);
                checks.push(assert(implies(both, and(same))));
            }
        }
        let checks = checks.into_iter().map(|check| {
            let check = check.with(renamed(
                Pattern::ANY,
                (ErrorId::PredicateNotPrecise, Reason::AssertionFalse),
            ));
            member.placed(place, check.with(said(Pattern::ANY, &text)))
        });
        let checks: Vec<s::Stmt> = checks.collect();
        Ok(method.body(checks).into())
    }

    /// Returns a method that proves that an instance depends on its own objects alone, if those
    /// inside it do.
    fn framed_by_itself(&mut self, id: PredicateId) -> Fallible<Option<s::Member>> {
        let name = &self.program.predicates[id].name;
        let place = self.program.predicates[id].name_span;
        let text = format!("`{name}` might depend on objects that it does not own");
        let mut group: Vec<PredicateId> = self.recursive[id].iter().copied().collect();
        group.sort_unstable();
        let mut promised = Vec::new();
        let mut bound = Vec::new();
        for other in group {
            let (mut member, header) = self.header_at(other, Level::Any, Level::Any)?;
            promised.extend(member.same_where_alike(other, Level::Any, &header));
            bound.extend(member.taken);
        }
        // Variables of quantifiers cannot be called as parameters of the method.
        let (mut member, header) = self.header_without(bound, id, Level::Any, Level::Any)?;
        let prefix = member.fresh("choice");
        let (env, others) = member.another_state(id, &header);
        if others.is_empty() {
            return Ok(None);
        }
        let here = member.ways(id, &header.env, &Naming::Variables(&prefix))?;
        let there = member.ways(id, &env, &Naming::Variables(&prefix))?.cases;
        let mut method = s::Method::new(&format!("{}$framed", spelled(name)));
        let mut formals = header.formals.clone();
        formals.extend(here.choices);
        formals
            .extend(others.iter().map(|(slot, formal)| (formal.clone(), slot.ty(member.program))));
        method.formals = member.typed_formals(&formals);
        method.contract.preconditions = promised;
        for state in [&header.env.now, &env.now] {
            method.contract.preconditions.extend(member.no_writes(state));
        }
        let sorts: Vec<Type> = member.lowering.uses.predicates[id].owned.iter().cloned().collect();
        let mut checks = Vec::new();
        for (one, other) in here.cases.iter().zip(&there) {
            let mut known = vec![condition(one)];
            for (slot, formal) in &others {
                let Some(sort) = slot.sort(member.program) else { continue };
                let set = member.set_of(one, &sort);
                known.extend(member.agree(slot, set, &header, formal));
            }
            let mut shown: Vec<s::Expr> =
                other.formulas.iter().map(|(formula, _)| formula.clone()).collect();
            for sort in &sorts {
                let sets = [member.set_of(one, sort), member.set_of(other, sort)];
                shown.push(member.of_set("same", sort, sets));
            }
            // One after the other: those that were shown help with the next.
            let known = and(known);
            for formula in shown {
                let check = assert(implies(known.clone(), formula))
                    .with(renamed(
                        Pattern::ANY,
                        (ErrorId::PredicateNotPrecise, Reason::AssertionFalse),
                    ))
                    .with(said(Pattern::ANY, &text));
                checks.push(member.placed(place, check));
            }
        }
        Ok(Some(method.body(checks).into()))
    }
}

impl Declaration<'_, '_> {
    /// Returns the function that stands for a predicate where it is mentioned; what has to be
    /// defined is noted.
    pub(in crate::classic) fn instance_name(&mut self, id: PredicateId) -> String {
        if !self.lowering.recursive.contains_idx(id) {
            return spelled(&self.program.predicates[id].name);
        }
        self.lowering.unrolled.insert(id);
        self.name_at(id, self.level_of(id))
    }

    /// Returns the level of instances that are mentioned here.
    pub(super) fn level_of(&self, id: PredicateId) -> Level {
        self.definition
            .filter(|it| self.lowering.recursive[it.predicate].contains(&id))
            .map_or(Level::Whole, |it| it.inner)
    }

    /// Returns the function that stands for a predicate at a level. A formula has one level only.
    pub(super) fn name_at(&self, id: PredicateId, level: Level) -> String {
        let name = spelled(&self.program.predicates[id].name);
        match level {
            _ if self.program.predicates[id].ty == Type::Bool => name,
            Level::Whole => name,
            Level::Once => format!("once${name}"),
            Level::Last => format!("last${name}"),
            Level::Any => format!("any${name}"),
        }
    }

    /// Returns the parameters of `header`, given to the function of a level.
    pub(super) fn instance(&self, id: PredicateId, level: Level, header: &Header) -> s::Expr {
        call(&self.name_at(id, level), header.arguments())
    }

    pub(super) fn footprints(
        &mut self,
        id: PredicateId,
        level: Level,
        header: &Header,
    ) -> Vec<(Type, s::Expr)> {
        let name = self.name_at(id, level);
        self.footprints_of(id, &name, &header.arguments())
    }

    /// Returns the owned objects of a sort on one way.
    pub(super) fn set_of(&mut self, way: &Case, sort: &Type) -> s::Expr {
        way.sets.get(sort).cloned().unwrap_or_else(|| self.of_set("empty", sort, []))
    }

    /// Returns the parameters of `header` with other contents of the objects that the predicate can
    /// own.
    fn another_state(&mut self, id: PredicateId, header: &Header) -> (Env, Vec<(Slot, String)>) {
        let owned = self.lowering.uses.predicates[id].owned.clone();
        let mut state = (*header.env.now).clone();
        let mut others = Vec::new();
        for slot in header.env.now.slots.keys() {
            if slot.sort(self.program).is_some_and(|sort| owned.contains(&sort)) {
                let formal = self.fresh(&format!("{}$then", slot.name(self.program)));
                state.slots.insert(slot.clone(), var(&formal));
                others.push((slot.clone(), formal));
            }
        }
        let state = std::rc::Rc::new(state);
        (Env { now: state.clone(), before: state, ..header.env.clone() }, others)
    }

    /// A part of the state and another one agree on a set.
    fn agree(
        &mut self,
        slot: &Slot,
        set: s::Expr,
        header: &Header,
        other: &str,
    ) -> Option<s::Expr> {
        let Type::Map(from, to) = slot.ty(self.program) else { return None };
        self.lowering.prelude.want(Part::Agree((*from).clone(), (*to).clone()));
        let parts = [set, header.env.now.slots[slot].clone(), var(other)];
        Some(self.of_map("agree", (&from, &to), parts))
    }

    /// An instance holds of the same objects in two states that agree on these.
    fn same_where_alike(
        &mut self,
        id: PredicateId,
        level: Level,
        header: &Header,
    ) -> Option<s::Expr> {
        let (_, others) = self.another_state(id, header);
        if others.is_empty() {
            return None;
        }
        let owned: IndexMap<Type, s::Expr> =
            self.footprints(id, level, header).into_iter().collect();
        let mut known = vec![self.instance(id, level, header)];
        let mut names: Vec<String> = header.formals.iter().map(|(name, _)| name.clone()).collect();
        let mut formals = header.formals.clone();
        for (slot, formal) in &others {
            let sort = slot.sort(self.program)?;
            known.extend(self.agree(slot, owned[&sort].clone(), header, formal));
            let s::ExprKind::Ident(first) = &header.env.now.slots[slot].kind else { return None };
            names.iter_mut().filter(|name| ***name == **first).for_each(|name| {
                name.clone_from(formal);
            });
            formals.push((formal.clone(), slot.ty(self.program)));
        }
        let arguments: Vec<s::Expr> = names.iter().map(|name| var(name)).collect();
        let name = self.name_at(id, level);
        let there = call(&name, arguments.iter().cloned());
        let mut same = vec![there.clone()];
        for (sort, set) in self.footprints_of(id, &name, &arguments) {
            same.push(eq(owned[&sort].clone(), set));
        }
        let mut triggers = vec![vec![self.instance(id, level, header), there]];
        for (sort, set) in self.footprints_of(id, &name, &arguments) {
            triggers.push(vec![owned[&sort].clone(), set]);
        }
        let formals = self.typed_formals(&formals);
        Some(forall(formals, triggers, implies(and(known), and(same))))
    }
}

/// An instance is opened where its formula or one of its sets is mentioned.
fn triggers(formula: s::Expr, sets: Vec<(Type, s::Expr)>) -> Vec<Vec<s::Expr>> {
    [formula].into_iter().chain(sets.into_iter().map(|(_, set)| set)).map(|it| vec![it]).collect()
}

fn quantified_over(
    formals: Vec<s::TypedName>,
    triggers: Vec<Vec<s::Expr>>,
    body: s::Expr,
) -> s::Expr {
    if formals.is_empty() { body } else { forall(formals, triggers, body) }
}

/// Does the way mention one of the functions?
fn mentions_any(way: &Case, names: &[String]) -> bool {
    struct Search<'n>(&'n [String], bool);
    impl Visitor<'_> for Search<'_> {
        fn expr(&mut self, e: &s::Expr) {
            if let s::ExprKind::Call { name, .. } = &e.kind {
                self.1 |= self.0.iter().any(|wanted| **wanted == *name.name);
            }
            if !self.1 {
                visit::expr(self, e);
            }
        }
    }
    let mut search = Search(names, false);
    way.formulas.iter().for_each(|(formula, _)| search.expr(formula));
    way.sets.values().for_each(|set| search.expr(set));
    search.1
}
