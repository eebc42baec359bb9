//! Constructors for the nodes of SIL's parse tree, named after the syntax they make.
//!
//! Nodes made by code have no place of their own: where they come from is said by annotations.

use num_bigint::BigInt;
use sil::source::{Name, Span};
use sil::syntax::*;

/// A name without a place.
pub(crate) fn ident(name: &str) -> Ident {
    Ident { name: name.into(), span: Span::default() }
}

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

/// `@key("value", ..)`
pub(crate) fn annotation(key: &str, values: Vec<Name>) -> Annotation {
    Annotation { key: key.into(), values, span: Span::default() }
}

pub(crate) fn int(value: impl Into<BigInt>) -> Expr {
    expr(ExprKind::Int(value.into()))
}

pub(crate) fn truth(value: bool) -> Expr {
    expr(ExprKind::Bool(value))
}

pub(crate) fn null() -> Expr {
    expr(ExprKind::Null)
}

pub(crate) fn none() -> Expr {
    expr(ExprKind::NoPerm)
}

pub(crate) fn write() -> Expr {
    expr(ExprKind::FullPerm)
}

pub(crate) fn wildcard() -> Expr {
    expr(ExprKind::Wildcard)
}

/// `epsilon`, which the engine refuses by name: marks what has no meaning in SIL yet.
pub(crate) fn epsilon() -> Expr {
    expr(ExprKind::Epsilon)
}

/// `result`
pub(crate) fn result() -> Expr {
    expr(ExprKind::Result)
}

/// A variable.
pub(crate) fn var(name: &str) -> Expr {
    expr(ExprKind::Ident(name.into()))
}

/// `name(arguments)`
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    expr(ExprKind::Call { name: ident(name), arguments, ascription: None })
}

/// `receiver.name`
pub(crate) fn field(receiver: Expr, name: &str) -> Expr {
    expr(ExprKind::Field { receiver: Box::new(receiver), name: ident(name) })
}

pub(crate) fn not(operand: Expr) -> Expr {
    expr(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(operand) })
}

pub(crate) fn minus(operand: Expr) -> Expr {
    expr(ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(operand) })
}

pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

pub(crate) fn eq(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Eq, left, right)
}

pub(crate) fn ne(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Ne, left, right)
}

pub(crate) fn lt(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Lt, left, right)
}

pub(crate) fn le(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Le, left, right)
}

pub(crate) fn mul(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Mul, left, right)
}

/// `element in collection`
pub(crate) fn contains(collection: &Expr, element: &Expr) -> Expr {
    binary(BinaryOp::In, element.clone(), collection.clone())
}

/// `condition ==> body`, without the condition if it is `true`.
pub(crate) fn implies(condition: Expr, body: Expr) -> Expr {
    if is_true(&condition) || is_true(&body) {
        return body;
    }
    binary(BinaryOp::Implies, condition, body)
}

/// Is it the literal `true` without annotations?
pub(crate) fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Bool(true))
}

/// `a && b && ..`, flattened, without the literal `true`.
pub(crate) fn and(conjuncts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut flat = Vec::new();
    for conjunct in conjuncts {
        match conjunct.kind {
            ExprKind::Bool(true) => {}
            ExprKind::And(inner) if conjunct.annotations.is_empty() => flat.extend(inner),
            _ => flat.push(conjunct),
        }
    }
    match flat.len() {
        0 => truth(true),
        1 => flat.remove(0),
        _ => expr(ExprKind::And(flat)),
    }
}

/// `a || b || ..`
pub(crate) fn or(mut disjuncts: Vec<Expr>) -> Expr {
    match disjuncts.len() {
        0 => truth(false),
        1 => disjuncts.remove(0),
        _ => expr(ExprKind::Or(disjuncts)),
    }
}

pub(crate) fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    expr(ExprKind::Conditional {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    })
}

/// `old(body)`
pub(crate) fn old(body: Expr) -> Expr {
    expr(ExprKind::Old { label: OldLabel::Entry, body: Box::new(body) })
}

/// `old[label](body)`
pub(crate) fn old_at(label: &str, body: Expr) -> Expr {
    expr(ExprKind::Old { label: OldLabel::Label(ident(label)), body: Box::new(body) })
}

/// `acc(location, amount)`; full permission is not written.
pub(crate) fn acc(location: Expr, amount: Expr) -> Expr {
    let amount = (!matches!(amount.kind, ExprKind::FullPerm)).then(|| Box::new(amount));
    expr(ExprKind::Acc { location: Box::new(location), amount })
}

/// `perm(location)`
pub(crate) fn perm(location: Expr) -> Expr {
    expr(ExprKind::Perm(Box::new(location)))
}

/// `unfolding access in body`
pub(crate) fn unfolding(access: Expr, body: Expr) -> Expr {
    expr(ExprKind::Unfolding { access: Box::new(access), body: Box::new(body) })
}

/// `asserting (assertion) in body`
pub(crate) fn asserting(assertion: Expr, body: Expr) -> Expr {
    expr(ExprKind::Asserting { assertion: Box::new(assertion), body: Box::new(body) })
}

/// `[when inhaled, when exhaled]`
pub(crate) fn inhale_exhale(inhaled: Expr, exhaled: Expr) -> Expr {
    expr(ExprKind::InhaleExhale(Box::new(inhaled), Box::new(exhaled)))
}

/// `|e|`
pub(crate) fn cardinality(e: Expr) -> Expr {
    expr(ExprKind::Cardinality(Box::new(e)))
}

/// `base[index]`
pub(crate) fn index(base: Expr, at: Expr) -> Expr {
    expr(ExprKind::Index { base: Box::new(base), index: Box::new(at) })
}

/// `base[low..high]`
pub(crate) fn slice(base: Expr, low: Option<Expr>, high: Option<Expr>) -> Expr {
    expr(ExprKind::Slice { base: Box::new(base), low: low.map(Box::new), high: high.map(Box::new) })
}

/// `[from..to)`
pub(crate) fn range(from: Expr, to: Expr) -> Expr {
    expr(ExprKind::Range(Box::new(from), Box::new(to)))
}

/// `Seq(..)` or `Set(..)`; the element type is written if there are no elements.
pub(crate) fn literal(collection: Collection, element: Type, elements: Vec<Expr>) -> Expr {
    let element = elements.is_empty().then_some(element);
    expr(ExprKind::Literal { collection, element, elements })
}

/// `Set(element, ..)`, not empty.
pub(crate) fn set_of(elements: Vec<Expr>) -> Expr {
    expr(ExprKind::Literal { collection: Collection::Set, element: None, elements })
}

/// `new(field, ..)`
pub(crate) fn new_object(fields: &[Name]) -> Expr {
    expr(ExprKind::New(Some(fields.iter().map(|name| ident(name)).collect())))
}

/// A quantifier; no triggers means that the verifier chooses them.
pub(crate) fn quantified(
    quantifier: Quantifier,
    variables: Vec<TypedName>,
    triggers: Vec<Vec<Expr>>,
    body: Expr,
) -> Expr {
    expr(ExprKind::Quantified { quantifier, variables, triggers, body: Box::new(body) })
}

/// `forperm name: Ref [resource] :: body`
pub(crate) fn for_perm(name: &str, resource: Expr, body: Expr) -> Expr {
    expr(ExprKind::ForPerm {
        variables: vec![typed(name, ty(TypeKind::Ref))],
        resource: Box::new(resource),
        body: Box::new(body),
    })
}

/// `forall name: Ref :: {trigger} .. body`, each trigger a single term.
pub(crate) fn forall_ref(name: &str, triggers: Vec<Expr>, body: Expr) -> Expr {
    let triggers = triggers.into_iter().map(|trigger| vec![trigger]).collect();
    quantified(Quantifier::Forall, vec![typed(name, ty(TypeKind::Ref))], triggers, body)
}

pub(crate) fn ty(kind: TypeKind) -> Type {
    Type { kind, span: Span::default() }
}

/// A domain type without arguments.
pub(crate) fn domain_type(name: &str) -> Type {
    ty(TypeKind::Named { name: ident(name), arguments: Vec::new() })
}

pub(crate) fn typed(name: &str, ty: Type) -> TypedName {
    TypedName { name: ident(name), ty }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { annotations: Vec::new(), kind, span: Span::default() }
}

pub(crate) fn inhale(assertion: Expr) -> Stmt {
    stmt(StmtKind::Inhale(assertion))
}

pub(crate) fn exhale(assertion: Expr) -> Stmt {
    stmt(StmtKind::Exhale(assertion))
}

pub(crate) fn assert(assertion: Expr) -> Stmt {
    stmt(StmtKind::Assert(assertion))
}

pub(crate) fn assume(assertion: Expr) -> Stmt {
    stmt(StmtKind::Assume(assertion))
}

pub(crate) fn fold(access: Expr) -> Stmt {
    stmt(StmtKind::Fold(access))
}

pub(crate) fn unfold(access: Expr) -> Stmt {
    stmt(StmtKind::Unfold(access))
}

/// `var name: T := value`
pub(crate) fn declare(name: &str, ty: Type, value: Option<Expr>) -> Stmt {
    stmt(StmtKind::Var { variables: vec![typed(name, ty)], initialiser: value })
}

/// `target := value`; the value may also be `new(..)` or a call of a method.
pub(crate) fn assign(target: Expr, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { targets: vec![target], value })
}

/// `targets := method(arguments)`
pub(crate) fn call_method(targets: Vec<Expr>, method: &str, arguments: Vec<Expr>) -> Stmt {
    let value = call(method, arguments);
    if targets.is_empty() {
        stmt(StmtKind::Expr(value))
    } else {
        stmt(StmtKind::Assign { targets, value })
    }
}

pub(crate) fn block(statements: Vec<Stmt>) -> Block {
    Block { statements, span: Span::default() }
}

pub(crate) fn block_stmt(statements: Vec<Stmt>) -> Stmt {
    stmt(StmtKind::Block(block(statements)))
}

/// `if (condition) { .. } else { .. }`; a condition that has no place in the program is marked as made up.
pub(crate) fn branch(mut condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
    if !condition.annotations.iter().any(|annotation| &*annotation.key == "src.at") {
        condition.annotations.push(annotation("src.none", Vec::new()));
    }
    let otherwise = (!otherwise.is_empty()).then(|| block(otherwise));
    stmt(StmtKind::If { condition, then: block(then), otherwise })
}

pub(crate) fn while_loop(condition: Expr, invariants: Vec<Expr>, body: Vec<Stmt>) -> Stmt {
    stmt(StmtKind::While { condition, invariants, decreases: Vec::new(), body: block(body) })
}

/// `label name`
pub(crate) fn label(name: &str) -> Stmt {
    stmt(StmtKind::Label { name: ident(name), invariants: Vec::new(), decreases: Vec::new() })
}

/// A member without annotations.
pub(crate) fn member(kind: MemberKind) -> Member {
    Member { annotations: Vec::new(), span: Span::default(), kind }
}

/// `field name: T`
pub(crate) fn field_member(name: &str, ty: Type) -> Member {
    member(MemberKind::Fields(vec![typed(name, ty)]))
}

/// A domain without type parameters.
pub(crate) fn domain(name: &str, functions: Vec<DomainFunction>, axioms: Vec<Axiom>) -> Member {
    member(MemberKind::Domain(Domain {
        name: ident(name),
        parameters: Vec::new(),
        interpretations: Vec::new(),
        functions,
        axioms,
    }))
}

/// A function of a domain.
pub(crate) fn domain_function(name: &str, formals: Vec<TypedName>, result: Type) -> DomainFunction {
    DomainFunction {
        annotations: Vec::new(),
        name: ident(name),
        unique: false,
        formals: formals.into_iter().map(|formal| (Some(formal.name), formal.ty)).collect(),
        result,
        interpretation: None,
        span: Span::default(),
    }
}

/// `unique function name(): T`
pub(crate) fn unique_constant(name: &str, result: Type) -> DomainFunction {
    DomainFunction { unique: true, ..domain_function(name, Vec::new(), result) }
}

/// A named axiom.
pub(crate) fn axiom(name: &str, body: Expr) -> Axiom {
    Axiom { annotations: Vec::new(), name: Some(ident(name)), body, span: Span::default() }
}
