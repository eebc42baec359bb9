//! Whether two expressions are the same, wherever they stand.

use std::mem::discriminant;

use sil::program::{Expr, ExprKind, Location, Resource};
use smt::terms::grow_stack;

/// Whether both are built alike, of the same variables, members and literals. Places and annotations do not count, and
/// neither does the name of a variable: what binds a variable of its own is the same as itself only.
pub(super) fn are_same(left: &Expr, right: &Expr) -> bool {
    grow_stack(|| {
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        left.for_each_child(|child| of_left.push(child));
        right.for_each_child(|child| of_right.push(child));
        same_head(&left.kind, &right.kind)
            && of_left.len() == of_right.len()
            && of_left.into_iter().zip(of_right).all(|(left, right)| are_same(left, right))
    })
}

/// All but the operands.
fn same_head(left: &ExprKind, right: &ExprKind) -> bool {
    use ExprKind as E;
    match (left, right) {
        (E::Int(left), E::Int(right)) => left == right,
        (E::Bool(left), E::Bool(right)) => left == right,
        (E::Local(left), E::Local(right)) => left == right,
        (E::FieldRead { field: left, .. }, E::FieldRead { field: right, .. }) => left == right,
        (E::Apply { function: left, .. }, E::Apply { function: right, .. }) => left == right,
        (
            E::DomainApply { function: left, instance, .. },
            E::DomainApply { function: right, instance: other, .. },
        ) => left == right && instance == other,
        (E::Unary { op: left, .. }, E::Unary { op: right, .. }) => left == right,
        (E::Binary { op: left, .. }, E::Binary { op: right, .. }) => left == right,
        (E::Old { label: left, .. }, E::Old { label: right, .. }) => left == right,
        (E::Let { variable: left, .. }, E::Let { variable: right, .. }) => left == right,
        (
            E::Quantified { quantifier, variables, triggers, .. },
            E::Quantified { quantifier: other, variables: others, triggers: sets, .. },
        ) => {
            quantifier == other
                && variables == others
                && triggers.len() == sets.len()
                && triggers.iter().zip(sets).all(|(left, right)| left.len() == right.len())
        }
        (
            E::ForPerm { variables, resource, .. },
            E::ForPerm { variables: others, resource: other, .. },
        ) => variables == others && same_resource(resource, other),
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

    /// Whether the two sides of the equation `left == right` are the same.
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
    fn what_is_written_counts() {
        for (left, right) in [
            ("h(x, n)", "h(y, n)"),
            ("h(x, 1)", "h(x, 2)"),
            ("x.f", "x.g"),
            ("x.f", "x.f.f"),
            ("h(x, n + 1)", "h(x, n - 1)"),
            ("old(x.f)", "x.f"),
            ("h(x, |Seq(n)|)", "h(x, |Set(n)|)"),
        ] {
            assert!(!same(left, right), "{left} and {right}");
        }
    }
}
