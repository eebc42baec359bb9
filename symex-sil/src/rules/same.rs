//! Comparison of expressions, independent of their places.

use std::mem::discriminant;

use sil::program::{Expr, ExprKind, LocalId, Location, Resource};
use smt::terms::grow_stack;

/// Tells whether both are built alike, of the same variables, members and literals. Places,
/// annotations and the names of bound variables do not count.
pub(super) fn are_same(left: &Expr, right: &Expr) -> bool {
    Same::default().exprs(left, right)
}

/// Variables that are bound on both sides at the same place, left and right. Each binder has
/// variables of its own.
#[derive(Debug, Default)]
pub(super) struct Same {
    bound: Vec<(LocalId, LocalId)>,
}

impl Same {
    /// Tells whether two expressions are the same, if the variables around them are.
    pub(super) fn exprs(&mut self, left: &Expr, right: &Expr) -> bool {
        grow_stack(|| {
            let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
            left.for_each_child(|child| of_left.push(child));
            right.for_each_child(|child| of_right.push(child));
            self.bind(binds(left), binds(right))
                && self.heads(left, right)
                && self.all(&of_left, &of_right)
        })
    }

    /// Tells whether the expressions of two lists are the same.
    pub(super) fn all(&mut self, left: &[&Expr], right: &[&Expr]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| self.exprs(left, right))
    }

    /// Pairs variables that are bound on both sides. Tells whether there are as many.
    pub(super) fn bind(&mut self, left: &[LocalId], right: &[LocalId]) -> bool {
        self.bound.extend(left.iter().copied().zip(right.iter().copied()));
        left.len() == right.len()
    }

    fn locals(&self, left: LocalId, right: LocalId) -> bool {
        let pair = self.bound.iter().rfind(|pair| pair.0 == left || pair.1 == right);
        pair.map_or(left == right, |&pair| pair == (left, right))
    }

    /// Tells whether two expressions agree in all but their operands.
    fn heads(&self, left: &Expr, right: &Expr) -> bool {
        if let (&ExprKind::Local(one), &ExprKind::Local(other)) = (&left.kind, &right.kind) {
            return left.ty == right.ty && self.locals(one, other);
        }
        same_head(&left.kind, &right.kind)
    }
}

/// Returns the variables that an expression binds.
fn binds(expr: &Expr) -> &[LocalId] {
    match &expr.kind {
        ExprKind::Let { variable, .. } => std::slice::from_ref(variable),
        ExprKind::Quantified { variables, .. } | ExprKind::ForPerm { variables, .. } => variables,
        _ => &[],
    }
}

/// Tells whether two forms agree in all but their operands and variables.
fn same_head(left: &ExprKind, right: &ExprKind) -> bool {
    use ExprKind as E;
    match (left, right) {
        (E::Int(left), E::Int(right)) => left == right,
        (E::Bool(left), E::Bool(right)) => left == right,
        (E::FieldRead { field: left, .. }, E::FieldRead { field: right, .. }) => left == right,
        (E::Apply { function: left, .. }, E::Apply { function: right, .. }) => left == right,
        (
            E::DomainApply { function: left, instance, .. },
            E::DomainApply { function: right, instance: other, .. },
        ) => left == right && instance == other,
        (E::Unary { op: left, .. }, E::Unary { op: right, .. }) => left == right,
        (E::Binary { op: left, .. }, E::Binary { op: right, .. }) => left == right,
        (E::Old { label: left, .. }, E::Old { label: right, .. }) => left == right,
        (
            E::Quantified { quantifier, triggers, .. },
            E::Quantified { quantifier: other, triggers: sets, .. },
        ) => {
            quantifier == other
                && triggers.len() == sets.len()
                && triggers.iter().zip(sets).all(|(left, right)| left.len() == right.len())
        }
        (E::ForPerm { resource: left, .. }, E::ForPerm { resource: right, .. }) => {
            same_resource(left, right)
        }
        (E::Perm(left), E::Perm(right)) => same_resource(left, right),
        (E::Acc { location: left, .. }, E::Acc { location: right, .. }) => {
            same_location(left, right)
        }
        (E::Unfolding { access: left, .. }, E::Unfolding { access: right, .. }) => {
            left.predicate == right.predicate
        }
        (E::Literal { collection: left, .. }, E::Literal { collection: right, .. }) => {
            left == right
        }
        _ => discriminant(left) == discriminant(right),
    }
}

fn same_resource(left: &Resource, right: &Resource) -> bool {
    match (left, right) {
        (Resource::Location(left), Resource::Location(right)) => same_location(left, right),
        (Resource::Wand(_), Resource::Wand(_)) => true,
        _ => false,
    }
}

fn same_location(left: &Location, right: &Location) -> bool {
    match (left, right) {
        (Location::Field { field: left, .. }, Location::Field { field: right, .. }) => {
            left == right
        }
        (
            Location::Predicate { predicate: left, .. },
            Location::Predicate { predicate: right, .. },
        ) => left == right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use sil::load::load_text;
    use sil::program::ExprKind;

    /// Tells whether the two sides of the equation `left == right` are the same.
    fn same(left: &str, right: &str) -> bool {
        let text = format!(
            "field f: Ref\nfield g: Ref\nfunction h(r: Ref, n: Int): Ref\n\
             method m(x: Ref, y: Ref, n: Int)\n  ensures {left} == {right}\n"
        );
        let loaded = load_text("same.sil", &text);
        let program = loaded.program.expect("it is well-formed");
        let (_, method) = program.methods.iter().next().expect("there is one");
        let ExprKind::Binary { left, right, .. } = &method.contract.postconditions[0].kind else {
            panic!("it is an equation")
        };
        super::are_same(left, right)
    }

    #[test]
    fn places_and_spaces_do_not_count() {
        assert!(same("h(x.f,n + 1)", "h( x.f , n+1 )"));
        assert!(same("(n > 0 ? x : old(y.f))", "(n > 0 ? x : old(y.f))"));
    }

    #[test]
    fn names_of_bound_variables_do_not_count() {
        assert!(same("(let a == (x) in a.f)", "(let b == (x) in b.f)"));
        assert!(same("(forall a: Ref :: {a.f} a.f != x)", "(forall b: Ref :: {b.f} b.f != x)"));
    }

    #[test]
    fn what_is_written_counts() {
        for (left, right) in [
            ("h(x, n)", "h(y, n)"),
            ("h(x, 1)", "h(x, 2)"),
            ("x.f", "x.g"),
            ("x.f", "x.f.f"),
            ("h(x, n + 1)", "h(x, n - 1)"),
            ("old(x.f)", "x.f"),
            ("h(x, |Seq(n)|)", "h(x, |Set(n)|)"),
            ("(let a == (x) in a.f)", "(let b == (x) in x.f)"),
            ("(forall a: Ref, b: Ref :: a == b.f)", "(forall a: Ref, b: Ref :: b == a.f)"),
            ("(forall a: Ref :: a == a)", "(forall a: Int :: a == a)"),
        ] {
            assert!(!same(left, right), "{left} and {right}");
        }
    }
}
