//! The additions of the original verifier's option `-autoMagic` to a program.
//!
//! It changes what a program means, so all that give programs a meaning have to do the same.

use crate::program::{
    Access, AccessTarget, Domain, Expr, ExprKind, FieldRef, LocalId, Permission, PermissionKind,
    Program, Type,
};

/// Makes contracts and predicates ask for the fields that they read outside of conditions.
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

/// Adds permission to the fields that clauses read and do not ask for, each in front of the
/// conjunct that reads it.
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

/// Collects what `e` asks for; `bound` are the variables of the quantifiers around it and what they
/// range over.
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
    front::grow_stack(|| e.for_each_child(&mut |child| cover(child, bound, covered)));
    bound.truncate(outer);
}

fn missing(e: &Expr, covered: &mut Vec<Covered>, added: &mut Vec<Expr>) {
    // Locations read in other states, of bound variables, or under a condition are not added.
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
    front::grow_stack(|| e.for_each_child(&mut |child| missing(child, covered, added)));
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
