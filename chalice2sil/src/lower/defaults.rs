//! What the options `-defaults`, `-autoMagic` and `-checkLeaks` of the original verifier add.
//!
//! DIVERGENCE: `-defaults` opens the predicates of `this` in the body that a contract belongs to, and closes them at its
//! end, instead of replacing them in the contract, so that callers still see predicates. What `-defaults:2` inlines are
//! functions, whose bodies are known anyway.

use chalice::Program;
use chalice::program::{
    Access, AccessTarget, Domain, Expr, ExprKind, FieldRef, LocalId, Permission, PermissionKind,
    Type,
};
use sil::syntax as s;
use sil::syntax::TypeKind;

use super::annotations::{Annotate, renamed, said};
use super::assertions::Part;
use super::env::{Env, Side};
use super::permissions::Use;
use super::{Lowering, Member};
use crate::build::*;
use crate::names::fixed;

impl Member<'_, '_> {
    /// Predicates of `this` that clauses speak of: where each is mentioned, under which condition, and the assertion.
    fn own_predicates<'e>(
        &mut self,
        clauses: &'e [Expr],
        env: &Env,
    ) -> Vec<(chalice::Span, s::Expr, &'e Access)> {
        let mut found = Vec::new();
        for clause in clauses {
            for part in self.parts(clause, env) {
                let Part::Access(access) = part.part else { continue };
                let AccessTarget::Predicate { receiver, .. } = &access.target else { continue };
                if part.binder.is_none() && matches!(receiver.kind, ExprKind::This) {
                    found.push((clause.span, part.guard, access));
                }
            }
        }
        found
    }

    /// At the start of a body: opens what the precondition gives.
    pub(crate) fn open_own_predicates(&mut self, requires: &[Expr], env: &Env) {
        for (_, guard, access) in self.own_predicates(requires, env) {
            self.emit_when(guard, |member| {
                member.unfold_stars(access, env);
                member.move_folded_credits(access, env, s::BinaryOp::Add);
            });
        }
    }

    /// At the end of a body: closes what the postcondition asks for.
    pub(crate) fn close_own_predicates(&mut self, ensures: &[Expr], env: &Env) {
        let outer = self.span;
        for (span, guard, access) in self.own_predicates(ensures, env) {
            self.span = span;
            self.emit_when(guard, |member| {
                member.check_stars_of_folded(access, env);
                member.move_folded_credits(access, env, s::BinaryOp::Sub);
                let traded = member.access(access, env, Use::Traded);
                let renaming = renamed("fold.failed:*", "postcondition.violated:*");
                member.emit(fold(traded).with(renaming));
            });
        }
        self.span = outer;
    }

    fn emit_when(&mut self, guard: s::Expr, stmts: impl FnOnce(&mut Self)) {
        if is_true(&guard) {
            stmts(self);
        } else {
            let then = self.block(stmts);
            self.emit_plain(branch(guard, then, Vec::new()));
        }
    }

    /// The body of a function with the predicates of its precondition open.
    pub(crate) fn with_own_predicates(
        &mut self,
        requires: &[Expr],
        body: s::Expr,
        env: &Env,
    ) -> s::Expr {
        let own = self.own_predicates(requires, env);
        own.into_iter().rev().fold(body, |body, (_, guard, access)| {
            if !is_true(&guard) {
                return body;
            }
            let opened = self.access(access, env, Use::Opened);
            unfolding(opened, body)
        })
    }

    /// That nothing is left once `clauses` have been given away.
    pub(crate) fn check_leaks(&mut self, clauses: &[Expr], env: &Env, id: &str, words: &str) {
        let lowering = self.lowering;
        let object = self.bound_name("o");
        let statements = self.block(|member| {
            for clause in clauses {
                let given = member.assertion(clause, &env.on(Side::Exhaled));
                // That the clauses hold is checked elsewhere; if they do not, nothing more is said.
                let given = super::annotations::unplaced(given);
                member.emit_plain(
                    exhale(given).with(renamed("exhale.failed:*", "leak.failed:given")),
                );
            }
            for place in lowering.all_places(&var(&object)) {
                let nothing = for_perm(&object, place, truth(false));
                member.emit(
                    assert(nothing).with(renamed("assert.failed:*", id)).with(said("*", words)),
                );
            }
            member.emit_plain(inhale(truth(false)));
        });
        let choice = self.fresh("aside");
        self.emit_plain(declare(&choice, ty(TypeKind::Bool), None));
        self.emit_plain(branch(var(&choice), statements, Vec::new()));
    }
}

impl Lowering<'_> {
    /// Every kind of location, at an object.
    fn all_places(&self, object: &s::Expr) -> Vec<s::Expr> {
        let names = self.names.borrow();
        let mut places: Vec<_> =
            names.fields.values().map(|name| field(object.clone(), name)).collect();
        if self.facts.levels {
            places.push(field(object.clone(), fixed::MU));
        }
        places.extend(names.predicates.values().map(|name| call(name, vec![object.clone()])));
        places
    }
}

/// Makes contracts and predicates ask for what they read.
pub(crate) fn add_magic(program: &mut Program) {
    for method in program.methods.values_mut() {
        complete(&mut method.requires);
        complete(&mut method.ensures);
    }
    for function in program.functions.values_mut() {
        complete(&mut function.requires);
    }
    for predicate in program.predicates.values_mut() {
        complete(std::slice::from_mut(&mut predicate.body));
    }
}

/// Adds permission to the fields that clauses read and do not ask for, each in front of the conjunct that reads it.
fn complete(clauses: &mut [Expr]) {
    let mut covered = Vec::new();
    for clause in clauses.iter() {
        cover(clause, &mut Vec::new(), &mut covered);
    }
    for clause in clauses {
        let conjuncts = match &clause.kind {
            ExprKind::And(parts) => parts.clone(),
            _ => vec![clause.clone()],
        };
        let mut all = Vec::new();
        for conjunct in conjuncts {
            missing(&conjunct, &mut covered, &mut all);
            all.push(conjunct);
        }
        if all.len() > 1 {
            clause.kind = ExprKind::And(all);
        }
    }
}

/// Fields that clauses ask for already: asked for once more, they would be asked for twice.
enum Covered {
    /// `e.f`
    Field(Expr, FieldRef),
    /// `e.*`, declared fields only
    AllFields(Expr),
    /// The field of every element of a collection.
    ElementsField(Expr, FieldRef),
    /// Every declared field of every element of a collection.
    ElementsAllFields(Expr),
}

impl Covered {
    /// Is the field of `receiver` among these?
    fn includes(&self, receiver: &Expr, field: FieldRef) -> bool {
        let is_declared = matches!(field, FieldRef::Declared(_));
        let is_element = |of: &Expr| match &receiver.kind {
            ExprKind::Index { sequence, .. } => **sequence == *of,
            _ => false,
        };
        match self {
            Self::Field(object, of) => *of == field && object == receiver,
            Self::AllFields(object) => is_declared && object == receiver,
            Self::ElementsField(elements, of) => *of == field && is_element(elements),
            Self::ElementsAllFields(elements) => is_declared && is_element(elements),
        }
    }
}

/// Collects what `e` asks for; `bound` are the variables of the quantifiers around it and what they range over.
fn cover<'e>(e: &'e Expr, bound: &mut Vec<(LocalId, &'e Expr)>, covered: &mut Vec<Covered>) {
    let outer = bound.len();
    match &e.kind {
        ExprKind::Quantified { variables, domain: Domain::Collection(collection), .. } => {
            bound.extend(variables.iter().map(|&variable| (variable, &**collection)));
        }
        ExprKind::Access(access) => {
            let elements_of = |object: &Expr| {
                let ExprKind::Local(local) = object.kind else { return None };
                bound.iter().find(|(variable, _)| *variable == local).map(|(_, all)| (*all).clone())
            };
            covered.extend(match &access.target {
                AccessTarget::Field { receiver, field } => Some(match elements_of(receiver) {
                    Some(elements) => Covered::ElementsField(elements, *field),
                    None => Covered::Field(receiver.clone(), *field),
                }),
                AccessTarget::AllFields { receiver, .. } => Some(match elements_of(receiver) {
                    Some(elements) => Covered::ElementsAllFields(elements),
                    None => Covered::AllFields(receiver.clone()),
                }),
                AccessTarget::ElementsField { elements, field } => {
                    Some(Covered::ElementsField(elements.clone(), *field))
                }
                AccessTarget::ElementsAllFields { elements, .. } => {
                    Some(Covered::ElementsAllFields(elements.clone()))
                }
                AccessTarget::Predicate { .. }
                | AccessTarget::ElementsPredicate { .. }
                | AccessTarget::BackPointers { .. } => None,
            });
        }
        _ => {}
    }
    crate::stack::grow(|| e.for_each_child(&mut |child| cover(child, bound, covered)));
    bound.truncate(outer);
}

fn missing(e: &Expr, covered: &mut Vec<Covered>, added: &mut Vec<Expr>) {
    // What is read in other states, of bound variables, or under a condition is not added.
    if matches!(
        e.kind,
        ExprKind::Old(_)
            | ExprKind::Quantified { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Eval { .. }
            | ExprKind::Implies { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Or(_)
    ) {
        return;
    }
    crate::stack::grow(|| e.for_each_child(&mut |child| missing(child, covered, added)));
    let ExprKind::FieldRead { receiver, field } = &e.kind else { return };
    if covered.iter().any(|place| place.includes(receiver, *field)) {
        return;
    }
    covered.push(Covered::Field((**receiver).clone(), *field));
    let target = AccessTarget::Field { receiver: (**receiver).clone(), field: *field };
    let amount = Permission { kind: PermissionKind::Full, span: e.span };
    let access = Access { target, amount, is_bare: false, span: e.span };
    added.push(Expr { kind: ExprKind::Access(Box::new(access)), ty: Type::Bool, span: e.span });
}
