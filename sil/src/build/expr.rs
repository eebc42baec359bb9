//! Expressions and assertions, named after the syntax they make. Arithmetic is also written with
//! Rust's operators: `var("n") + int(1)`.

use std::ops::{Add, Div, Mul, Neg, Not, Rem, Sub};

use num_bigint::BigInt;

use super::ident;
use crate::source::{Name, Span};
use crate::syntax::{
    BinaryOp, Collection, Expr, ExprKind, OldLabel, Quantifier, Trigger, Type, TypedName, UnaryOp,
};

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

pub fn int(value: impl Into<BigInt>) -> Expr {
    expr(ExprKind::Int(value.into()))
}

/// `true` or `false`
pub fn truth(value: bool) -> Expr {
    expr(ExprKind::Bool(value))
}

pub fn null() -> Expr {
    expr(ExprKind::Null)
}

/// `none`, no permission.
pub fn none() -> Expr {
    expr(ExprKind::NoPerm)
}

/// `write`, full permission.
pub fn write() -> Expr {
    expr(ExprKind::FullPerm)
}

pub fn wildcard() -> Expr {
    expr(ExprKind::Wildcard)
}

/// `result`
pub fn result() -> Expr {
    expr(ExprKind::Result)
}

/// Returns a variable.
pub fn var(name: &str) -> Expr {
    expr(ExprKind::Ident(name.into()))
}

/// `name(arguments)`: a function, a predicate, a constructor.
pub fn call(name: &str, arguments: impl IntoIterator<Item = Expr>) -> Expr {
    let arguments = arguments.into_iter().collect();
    expr(ExprKind::Call { name: ident(name), arguments, ascription: None })
}

/// `(name(arguments) : T)`, where inference cannot find the type.
pub fn call_as(name: &str, arguments: impl IntoIterator<Item = Expr>, ty: impl Into<Type>) -> Expr {
    let arguments = arguments.into_iter().collect();
    expr(ExprKind::Call { name: ident(name), arguments, ascription: Some(Box::new(ty.into())) })
}

/// `receiver.name`
pub fn field(receiver: Expr, name: &str) -> Expr {
    expr(ExprKind::Field { receiver: Box::new(receiver), name: ident(name) })
}

/// `!operand`
pub fn not(operand: Expr) -> Expr {
    expr(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(operand) })
}

/// `-operand`
pub fn minus(operand: Expr) -> Expr {
    expr(ExprKind::Unary { op: UnaryOp::Minus, operand: Box::new(operand) })
}

/// Any infix operation but `&&` and `||`, which are lists: [`and()`], [`or()`].
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    expr(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
}

/// `left == right`
pub fn eq(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Eq, left, right)
}

/// `left != right`
pub fn ne(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Ne, left, right)
}

/// `left < right`
pub fn lt(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Lt, left, right)
}

/// `left <= right`
pub fn le(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Le, left, right)
}

/// `left * right`
pub fn mul(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Mul, left, right)
}

/// `element in collection`
pub fn contains(collection: &Expr, element: &Expr) -> Expr {
    binary(BinaryOp::In, element.clone(), collection.clone())
}

/// `condition ==> body`, without the condition if it is `true`.
pub fn implies(condition: Expr, body: Expr) -> Expr {
    if is_true(&condition) || is_true(&body) {
        return body;
    }
    binary(BinaryOp::Implies, condition, body)
}

/// `left --* right`
pub fn wand(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Wand, left, right)
}

/// Is it the literal `true`?
pub fn is_true(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Bool(true))
}

/// `a && b && ..`, flattened, without the literal `true`.
pub fn and(conjuncts: impl IntoIterator<Item = Expr>) -> Expr {
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

/// `a || b || ..`; `false` if there are none.
pub fn or(disjuncts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut disjuncts: Vec<Expr> = disjuncts.into_iter().collect();
    match disjuncts.len() {
        0 => truth(false),
        1 => disjuncts.remove(0),
        _ => expr(ExprKind::Or(disjuncts)),
    }
}

/// `condition ? then : otherwise`
pub fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    expr(ExprKind::Conditional {
        condition: Box::new(condition),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    })
}

/// `old(body)`
pub fn old(body: Expr) -> Expr {
    expr(ExprKind::Old { label: OldLabel::Entry, body: Box::new(body) })
}

/// `old[label](body)`
pub fn old_at(label: &str, body: Expr) -> Expr {
    expr(ExprKind::Old { label: OldLabel::Label(ident(label)), body: Box::new(body) })
}

/// `acc(location, amount)`; full permission is not written.
pub fn acc(location: Expr, amount: Expr) -> Expr {
    let amount = (!matches!(amount.kind, ExprKind::FullPerm)).then(|| Box::new(amount));
    expr(ExprKind::Acc { location: Box::new(location), amount })
}

/// `perm(location)`
pub fn perm(location: Expr) -> Expr {
    expr(ExprKind::Perm(Box::new(location)))
}

/// `unfolding access in body`
pub fn unfolding(access: Expr, body: Expr) -> Expr {
    expr(ExprKind::Unfolding { access: Box::new(access), body: Box::new(body) })
}

/// `applying (wand) in body`
pub fn applying(wand: Expr, body: Expr) -> Expr {
    expr(ExprKind::Applying { wand: Box::new(wand), body: Box::new(body) })
}

/// `asserting (assertion) in body`
pub fn asserting(assertion: Expr, body: Expr) -> Expr {
    expr(ExprKind::Asserting { assertion: Box::new(assertion), body: Box::new(body) })
}

/// `let name == (value) in body`
pub fn let_in(name: &str, value: Expr, body: Expr) -> Expr {
    let (value, body) = (Box::new(value), Box::new(body));
    expr(ExprKind::Let { variable: ident(name), value, body })
}

/// `[when inhaled, when exhaled]`
pub fn inhale_exhale(inhaled: Expr, exhaled: Expr) -> Expr {
    expr(ExprKind::InhaleExhale(Box::new(inhaled), Box::new(exhaled)))
}

/// `|e|`
pub fn cardinality(e: Expr) -> Expr {
    expr(ExprKind::Cardinality(Box::new(e)))
}

/// `base[index]`, of a sequence or map.
pub fn index(base: Expr, at: Expr) -> Expr {
    expr(ExprKind::Index { base: Box::new(base), index: Box::new(at) })
}

/// `base[index := value]`, of a sequence or map.
pub fn update(base: Expr, at: Expr, value: Expr) -> Expr {
    expr(ExprKind::Update { base: Box::new(base), index: Box::new(at), value: Box::new(value) })
}

/// `base[low..high]`
pub fn slice(base: Expr, low: Option<Expr>, high: Option<Expr>) -> Expr {
    expr(ExprKind::Slice { base: Box::new(base), low: low.map(Box::new), high: high.map(Box::new) })
}

/// `[from..to)`
pub fn range(from: Expr, to: Expr) -> Expr {
    expr(ExprKind::Range(Box::new(from), Box::new(to)))
}

/// `Seq(..)`, `Set(..)` or `Multiset(..)`; the element type is written if there are no elements.
pub fn literal(
    collection: Collection,
    element: impl Into<Type>,
    elements: impl IntoIterator<Item = Expr>,
) -> Expr {
    let elements: Vec<Expr> = elements.into_iter().collect();
    let element = elements.is_empty().then(|| Box::new(element.into()));
    expr(ExprKind::Literal { collection, element, elements })
}

/// `Set(element, ..)`, not empty.
pub fn set_of(elements: impl IntoIterator<Item = Expr>) -> Expr {
    let elements = elements.into_iter().collect();
    expr(ExprKind::Literal { collection: Collection::Set, element: None, elements })
}

/// `Map(key := value, ..)`; the types are written if there are no entries.
pub fn map_literal(
    key: impl Into<Type>,
    value: impl Into<Type>,
    entries: impl IntoIterator<Item = (Expr, Expr)>,
) -> Expr {
    let entries: Vec<(Expr, Expr)> = entries.into_iter().collect();
    let types = entries.is_empty().then(|| Box::new((key.into(), value.into())));
    expr(ExprKind::MapLiteral { types, entries })
}

/// `domain(map)`
pub fn map_domain(map: Expr) -> Expr {
    expr(ExprKind::MapDomain(Box::new(map)))
}

/// `new(field, ..)`: only as a value that is assigned.
pub fn new_object(fields: &[Name]) -> Expr {
    expr(ExprKind::New(Some(fields.iter().map(|name| ident(name)).collect())))
}

/// Returns a quantifier; no triggers means that the verifier chooses them.
pub fn quantified(
    quantifier: Quantifier,
    variables: impl IntoIterator<Item = TypedName>,
    triggers: impl IntoIterator<Item = Vec<Expr>>,
    body: Expr,
) -> Expr {
    expr(ExprKind::Quantified {
        quantifier,
        variables: variables.into_iter().collect(),
        triggers: triggers.into_iter().map(Trigger::from).collect(),
        body: Box::new(body),
    })
}

/// `forall variables :: {trigger, ..} .. body`
pub fn forall(
    variables: impl IntoIterator<Item = TypedName>,
    triggers: impl IntoIterator<Item = Vec<Expr>>,
    body: Expr,
) -> Expr {
    quantified(Quantifier::Forall, variables, triggers, body)
}

/// `exists variables :: body`
pub fn exists(variables: impl IntoIterator<Item = TypedName>, body: Expr) -> Expr {
    quantified(Quantifier::Exists, variables, [], body)
}

/// `forperm variables [resource] :: body`
pub fn forperm(variables: impl IntoIterator<Item = TypedName>, resource: Expr, body: Expr) -> Expr {
    let variables = variables.into_iter().collect();
    expr(ExprKind::ForPerm { variables, resource: Box::new(resource), body: Box::new(body) })
}

/// `left op right` for Rust's operators. What `/` means (a fraction, a division) is found by types,
/// as in a text.
macro_rules! operators {
    ($($operator:ident $function:ident $op:ident;)*) => {
        $(impl $operator for Expr {
            type Output = Expr;

            fn $function(self, right: Expr) -> Expr {
                binary(BinaryOp::$op, self, right)
            }
        })*
    };
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    Rem rem Mod;
}

impl Neg for Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        minus(self)
    }
}

impl Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        not(self)
    }
}
