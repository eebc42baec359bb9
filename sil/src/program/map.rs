//! Rebuilding expressions.

use front::grow_stack;
use rustc_hash::FxHashMap;

use super::{Expr, ExprKind, LocalId, Location, PredicateAccess, Resource};
use crate::syntax::Trigger;

impl Expr {
    /// The same node with each operand replaced by what `map` makes of it, in the order of
    /// [`for_each_child`](Self::for_each_child).
    #[must_use]
    pub fn map_children(&self, map: &mut dyn FnMut(&Self) -> Self) -> Self {
        Self { kind: self.kind.map_children(map), ..self.leaf() }
    }

    /// Returns the expression with each free occurrence of a variable replaced.
    ///
    /// No capture is possible: a bound variable has an id of its own.
    #[must_use]
    pub fn substitute(&self, values: &FxHashMap<LocalId, Self>) -> Self {
        grow_stack(|| match &self.kind {
            ExprKind::Local(local) => values.get(local).unwrap_or(self).clone(),
            _ => self.map_children(&mut |child| child.substitute(values)),
        })
    }

    /// Type, span and annotations, without the operands.
    fn leaf(&self) -> Self {
        Self {
            kind: ExprKind::Null,
            ty: self.ty.clone(),
            span: self.span,
            annotations: self.annotations.clone(),
        }
    }
}

impl Trigger<Expr> {
    fn map_terms(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        Self { terms: self.iter().map(map).collect(), span: self.span }
    }
}

impl ExprKind {
    fn map_children(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        let mut boxed = |expr: &Expr| Box::new(map(expr));
        match self {
            Self::Int(_)
            | Self::Bool(_)
            | Self::Null
            | Self::NoPerm
            | Self::FullPerm
            | Self::Wildcard
            | Self::Local(_)
            | Self::Result => self.clone(),
            Self::FieldRead { receiver, field } => {
                Self::FieldRead { receiver: boxed(receiver), field: *field }
            }
            Self::Apply { function, arguments } => {
                Self::Apply { function: *function, arguments: all(arguments, map) }
            }
            Self::DomainApply { function, instance, arguments } => Self::DomainApply {
                function: *function,
                instance: instance.clone(),
                arguments: all(arguments, map),
            },
            Self::Unary { op, operand } => Self::Unary { op: *op, operand: boxed(operand) },
            Self::Binary { op, left, right } => {
                Self::Binary { op: *op, left: boxed(left), right: boxed(right) }
            }
            Self::And(operands) => Self::And(all(operands, map)),
            Self::Or(operands) => Self::Or(all(operands, map)),
            Self::Conditional { condition, then, otherwise } => Self::Conditional {
                condition: boxed(condition),
                then: boxed(then),
                otherwise: boxed(otherwise),
            },
            Self::Old { label, body } => Self::Old { label: *label, body: boxed(body) },
            Self::Let { variable, value, body } => {
                Self::Let { variable: *variable, value: boxed(value), body: boxed(body) }
            }
            Self::Quantified { quantifier, variables, triggers, body } => Self::Quantified {
                quantifier: *quantifier,
                variables: variables.clone(),
                triggers: triggers.iter().map(|trigger| trigger.map_terms(map)).collect(),
                body: Box::new(map(body)),
            },
            Self::ForPerm { variables, resource, body } => Self::ForPerm {
                variables: variables.clone(),
                resource: resource.map_children(map),
                body: Box::new(map(body)),
            },
            Self::Perm(resource) => Self::Perm(resource.map_children(map)),
            Self::Acc { location, amount } => {
                Self::Acc { location: location.map_children(map), amount: Box::new(map(amount)) }
            }
            Self::Wand { left, right } => Self::Wand { left: boxed(left), right: boxed(right) },
            Self::InhaleExhale { inhale, exhale } => {
                Self::InhaleExhale { inhale: boxed(inhale), exhale: boxed(exhale) }
            }
            Self::Unfolding { access, body } => {
                Self::Unfolding { access: access.map_children(map), body: Box::new(map(body)) }
            }
            Self::Applying { wand, body } => {
                Self::Applying { wand: boxed(wand), body: boxed(body) }
            }
            Self::Asserting { assertion, body } => {
                Self::Asserting { assertion: boxed(assertion), body: boxed(body) }
            }
            Self::Literal { collection, elements } => {
                Self::Literal { collection: *collection, elements: all(elements, map) }
            }
            Self::MapLiteral { entries } => Self::MapLiteral {
                entries: entries.iter().map(|(key, value)| (map(key), map(value))).collect(),
            },
            Self::Range { low, high } => Self::Range { low: boxed(low), high: boxed(high) },
            Self::Index { base, index } => Self::Index { base: boxed(base), index: boxed(index) },
            Self::Update { base, index, value } => {
                Self::Update { base: boxed(base), index: boxed(index), value: boxed(value) }
            }
            Self::Take { base, count } => Self::Take { base: boxed(base), count: boxed(count) },
            Self::Drop { base, count } => Self::Drop { base: boxed(base), count: boxed(count) },
            Self::Cardinality(operand) => Self::Cardinality(boxed(operand)),
            Self::MapDomain(operand) => Self::MapDomain(boxed(operand)),
            Self::MapRange(operand) => Self::MapRange(boxed(operand)),
        }
    }
}

impl Location {
    /// The same location with each part replaced by what `map` makes of it.
    #[must_use]
    pub fn map_children(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::Field { receiver, field } => {
                Self::Field { receiver: Box::new(map(receiver)), field: *field }
            }
            Self::Predicate { predicate, arguments } => {
                Self::Predicate { predicate: *predicate, arguments: all(arguments, map) }
            }
        }
    }
}

impl Resource {
    /// The same resource with each part replaced by what `map` makes of it.
    #[must_use]
    pub fn map_children(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::Location(location) => Self::Location(location.map_children(map)),
            Self::Wand(wand) => Self::Wand(Box::new(map(wand))),
        }
    }
}

impl PredicateAccess {
    /// The same access with each part replaced by what `map` makes of it.
    #[must_use]
    pub fn map_children(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        Self {
            predicate: self.predicate,
            arguments: all(&self.arguments, map),
            amount: Box::new(map(&self.amount)),
            span: self.span,
        }
    }
}

fn all(exprs: &[Expr], map: &mut dyn FnMut(&Expr) -> Expr) -> Vec<Expr> {
    exprs.iter().map(map).collect()
}
