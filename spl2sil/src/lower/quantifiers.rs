//! Quantifiers, their triggers, and comprehensions that do not depend on the heap.

use sil::build::*;
use sil::syntax as s;
use spl::program::{Annotation, Bound, Expr, ExprKind, LocalId, Quantifier, Type};

use super::annotations::Annotate;
use super::expressions::{Expressions, Meaning};
use super::prelude::fixed;

/// `forall x: T, y in X :: body @(pattern t)`
///
/// A domain is a guard, and so is the range of bytes, which are integers in SIL. `pattern t` is the
/// trigger `{t}`, and several are triggers of their own; `matching m yields t` is the trigger `{m}`
/// with `t` mentioned in the body.
pub(crate) fn quantified<'l, 'p: 'l, M: Meaning<'l, 'p> + ?Sized>(
    meaning: &mut M,
    quantifier: Quantifier,
    variables: &[Bound],
    body: &Expr,
) -> s::Expr {
    let mut typed_names = Vec::new();
    let mut guards = Vec::new();
    for bound in variables {
        let name = meaning.member().name_of(bound.local);
        let ty = meaning.member().lowering.local_type(bound.local);
        if let Some(domain) = &bound.domain {
            let set = meaning.expr(domain);
            guards.push(contains(&set, &var(&name)));
        }
        if meaning.member().program().locals[bound.local].ty == Type::Byte {
            guards.push(le(int(0), var(&name)));
            guards.push(lt(var(&name), int(256)));
        }
        typed_names.push(typed(&name, ty));
    }
    let mut triggers = Vec::new();
    let mut mentioned = Vec::new();
    let mut inner = body;
    while let ExprKind::Annotated { body, annotations } = &inner.kind {
        for annotation in annotations {
            match annotation {
                Annotation::Pattern(term) => {
                    triggers.extend(trigger(meaning, std::slice::from_ref(term), variables));
                }
                Annotation::Generator(generator) => {
                    triggers.extend(trigger(meaning, &generator.terms, variables));
                    let result = meaning.expr(&generator.result);
                    meaning.member().lowering.used.borrow_mut().known = true;
                    mentioned.push(call(fixed::KNOWN, [result]));
                }
                Annotation::Comment(_) | Annotation::NoInstance(_) => {}
            }
        }
        inner = body;
    }
    let body = meaning.expr(inner);
    let body = and(mentioned.into_iter().chain([body]));
    match quantifier {
        Quantifier::Forall => {
            let body = if guards.is_empty() {
                body
            } else {
                binary(s::BinaryOp::Implies, and(guards), body)
            };
            forall(typed_names, triggers, body)
        }
        Quantifier::Exists => exists(typed_names, and(guards.into_iter().chain([body]))),
    }
}

/// Returns a trigger of these terms, if they can be matched: each is an application, and together
/// they have all variables.
fn trigger<'l, 'p: 'l, M: Meaning<'l, 'p> + ?Sized>(
    meaning: &mut M,
    terms: &[Expr],
    variables: &[Bound],
) -> Option<Vec<s::Expr>> {
    let mentioned: Vec<LocalId> = terms.iter().flat_map(free_locals).collect();
    if !variables.iter().all(|bound| mentioned.contains(&bound.local)) {
        return None;
    }
    let terms = meaning.exprs(terms);
    let is_application = |term: &s::Expr| {
        matches!(
            term.kind,
            s::ExprKind::Call { .. }
                | s::ExprKind::Field { .. }
                | s::ExprKind::Binary { op: s::BinaryOp::In, .. }
        )
    };
    terms.iter().all(is_application).then_some(terms)
}

/// Returns the variables that occur in an expression and are bound outside of it.
pub(crate) fn free_locals(e: &Expr) -> Vec<LocalId> {
    let mut mentioned = Vec::new();
    let mut bound = Vec::new();
    e.any(&mut |part| {
        match &part.kind {
            ExprKind::Local(local) if !mentioned.contains(local) => mentioned.push(*local),
            ExprKind::SetComprehension { variable, .. }
            | ExprKind::MapComprehension { variable, .. } => bound.push(*variable),
            ExprKind::Quantified { variables, .. } => {
                bound.extend(variables.iter().map(|variable| variable.local));
            }
            _ => {}
        }
        false
    });
    // A variable is declared once, so that one bound inside occurs nowhere else.
    mentioned.retain(|local| !bound.contains(local));
    mentioned
}

/// `{x: T :: e}` whose body does not depend on the heap: a function of its free variables, with an
/// axiom that says what is in the set, or what the map has at a key.
pub(crate) fn comprehension<'l, 'p: 'l, M: Meaning<'l, 'p> + ?Sized>(
    meaning: &mut M,
    e: &Expr,
    variable: LocalId,
    body: &Expr,
) -> s::Expr {
    let free: Vec<LocalId> =
        free_locals(body).into_iter().filter(|&local| local != variable).collect();
    let lowering = meaning.member().lowering;
    let result = lowering.ty(&e.ty);
    let is_set = matches!(e.ty, Type::Set(_));
    let name = lowering.names.borrow_mut().fresh(if is_set { "$set_of" } else { "$map_of" });
    let mut definition = Definition { member: super::Member::new(lowering, e.span) };
    let mut formals = Vec::new();
    for &local in &free {
        let formal = definition.member.name_of(local);
        formals.push(typed(&formal, lowering.local_type(local)));
    }
    let whole = call(&name, formals.iter().map(|formal| var(&formal.name.name)));
    let element = definition.member.name_of(variable);
    let mut variables = formals.clone();
    variables.push(typed(&element, lowering.local_type(variable)));
    let value = definition.expr(body);
    let axiom_body = if is_set {
        let is_in = contains(&whole, &var(&element));
        forall(variables, [vec![is_in.clone()]], binary(s::BinaryOp::Iff, is_in, value))
    } else {
        lowering.used.borrow_mut().maps = true;
        let at = call(fixed::GET, [whole, var(&element)]);
        forall(variables, [vec![at.clone()]], eq(at, value))
    };
    let domain_name = format!("{name}$");
    let declared = s::Domain::new(&domain_name)
        .function(domain_function(&name, formals, result))
        .axiom(axiom(&format!("{name}$is"), axiom_body));
    let declared = s::Member::from(declared).with(lowering.at(e.span));
    lowering.used.borrow_mut().comprehensions.push(declared);
    let arguments: Vec<_> = free.into_iter().map(|local| meaning.local(local)).collect();
    call(&name, arguments)
}

/// The meaning of expressions in axioms: variables are those that are bound, and there is no heap.
pub(crate) struct Definition<'l, 'p> {
    pub(crate) member: super::Member<'l, 'p>,
}

impl<'l, 'p> Meaning<'l, 'p> for Definition<'l, 'p> {
    fn member(&mut self) -> &mut super::Member<'l, 'p> {
        &mut self.member
    }

    fn local(&mut self, local: LocalId) -> s::Expr {
        var(&self.member.name_of(local))
    }

    fn global(&mut self, _: spl::program::GlobalId, span: spl::Span) -> s::Expr {
        self.member.lowering.refuse("a global variable cannot be mentioned here", span);
        null()
    }

    fn of_dialect(&mut self, e: &Expr) -> s::Expr {
        match &e.kind {
            ExprKind::SetComprehension { variable, body }
            | ExprKind::MapComprehension { variable, body } => {
                comprehension(self, e, *variable, body)
            }
            _ => {
                let message = "this depends on the heap, which has no meaning here";
                self.member.lowering.refuse(message, e.span);
                truth(true)
            }
        }
    }

    fn is_computed(&self) -> bool {
        false
    }
}
