//! Measures: what the clauses of one member or loop say, and the lexicographic order on tuples.

use rustc_hash::FxHashMap;

use super::orders::Orders;
use super::{Locals, build};
use crate::program::{
    BinaryOp, Decreases, DecreasesKind, Expr, ExprKind, LocalId, Location, Resource, Type,
};
use crate::source::Span;

/// The clauses of a function, a method or a loop. A condition that is left out is true.
#[derive(Clone, Copy)]
pub(super) struct Measure<'p> {
    tuple: Option<(&'p [Expr], Condition<'p>)>,
    wildcard: Option<Condition<'p>>,
}

/// The condition behind `if`; nothing means always.
type Condition<'p> = &'p Option<Expr>;

/// A call: the variables of the callee, those among them that are its formals, and what the caller
/// writes for these.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) callee: &'a Locals,
    pub(super) formals: &'a [LocalId],
    pub(super) arguments: &'a [Expr],
}

impl<'a> Call<'a> {
    /// Copies expressions of the callee into the caller.
    fn import(
        self,
        caller: &'a mut Locals,
        copied: Copied,
        place: Span,
    ) -> impl FnMut(&Expr) -> Expr + 'a {
        let arguments: FxHashMap<_, _> = self
            .formals
            .iter()
            .zip(self.arguments)
            .map(|(&formal, argument)| (formal, copied(argument, place)))
            .collect();
        move |expr: &Expr| {
            let expr = build::where_old_is_now(&copied(expr, place));
            build::imported(&expr, self.callee, &arguments, caller, place)
        }
    }
}

/// How expressions are copied into a check: [`build::placed`], or in proofs for functions
/// [`without_amounts`].
///
/// [`without_amounts`]: super::positions::without_amounts
pub(super) type Copied = fn(&Expr, Span) -> Expr;

/// A measure at a place: with the values that it has there.
pub(super) struct Values {
    pub(super) tuple: Option<Vec<Expr>>,
    /// False if there is no tuple.
    pub(super) tuple_condition: Expr,
    /// The condition of the tuple or of the wildcard.
    pub(super) termination_condition: Expr,
}

impl<'p> Measure<'p> {
    pub(super) fn of(clauses: &'p [Decreases]) -> Self {
        let mut measure = Self { tuple: None, wildcard: None };
        for clause in Decreases::that_count(clauses) {
            match &clause.kind {
                DecreasesKind::Tuple(elements) => {
                    measure.tuple = Some((elements, &clause.condition));
                }
                DecreasesKind::Wildcard => measure.wildcard = Some(&clause.condition),
                DecreasesKind::Star => {}
            }
        }
        measure
    }

    pub(super) fn has_tuple(&self) -> bool {
        self.tuple.is_some()
    }

    /// Returns the measure in the member that it belongs to.
    pub(super) fn here(&self, copied: Copied, orders: &Orders, place: Span) -> Values {
        self.values(&mut |expr| copied(expr, place), orders, place)
    }

    /// Returns the measure of a method at its entry, where results (see [`build::with_values`]) are
    /// `results`.
    pub(super) fn with_results(
        &self,
        results: &FxHashMap<LocalId, Expr>,
        orders: &Orders,
        place: Span,
    ) -> Values {
        self.values(&mut |expr| build::with_values(expr, results, place), orders, place)
    }

    /// Returns the measure of a callee, in terms of the caller.
    ///
    /// SOUNDNESS: what the callee calls its old state is that of the call (trap T25').
    pub(super) fn at_call(
        &self,
        call: Call<'_>,
        caller: &mut Locals,
        copied: Copied,
        orders: &Orders,
        place: Span,
    ) -> Values {
        self.values(&mut call.import(caller, copied, place), orders, place)
    }

    /// Returns the condition that some permission is held to each predicate instance of the measure
    /// of a callee, in terms of the caller.
    pub(super) fn held_at_call(
        &self,
        call: Call<'_>,
        caller: &mut Locals,
        copied: Copied,
        place: Span,
    ) -> Expr {
        let mut import = call.import(caller, copied, place);
        let elements = self.tuple.into_iter().flat_map(|(elements, _)| elements);
        let held = elements.filter_map(|element| {
            let ExprKind::Acc { location: Location::Predicate { predicate, arguments }, .. } =
                &element.kind
            else {
                return None;
            };
            let arguments = arguments.iter().map(&mut import).collect();
            let resource =
                Resource::Location(Location::Predicate { predicate: *predicate, arguments });
            let amount = Expr::new(ExprKind::Perm(resource), Type::Perm, place);
            let none = Expr::new(ExprKind::NoPerm, Type::Perm, place);
            Some(build::binary(BinaryOp::Lt, none, amount, place))
        });
        build::and(held.collect(), place)
    }

    fn values(&self, copy: &mut dyn FnMut(&Expr) -> Expr, orders: &Orders, place: Span) -> Values {
        let mut condition = |condition: Option<Condition<'_>>| match condition {
            None => Expr::boolean(false, place),
            Some(None) => Expr::boolean(true, place),
            Some(Some(condition)) => copy(condition),
        };
        let tuple_condition = condition(self.tuple.map(|(_, condition)| condition));
        let wildcard = condition(self.wildcard);
        let termination_condition = build::or(vec![tuple_condition.clone(), wildcard], place);
        let tuple = self.tuple.map(|(elements, _)| {
            elements.iter().map(|element| value(element, copy, orders, place)).collect()
        });
        Values { tuple, tuple_condition, termination_condition }
    }
}

/// A predicate in a tuple stands for its instance.
fn value(
    element: &Expr,
    copy: &mut dyn FnMut(&Expr) -> Expr,
    orders: &Orders,
    place: Span,
) -> Expr {
    match &element.kind {
        ExprKind::Acc { location: Location::Predicate { predicate, arguments }, .. } => {
            let arguments = arguments.iter().map(copy).collect();
            let span = Span { origin: place.origin, ..element.span };
            orders.instance(*predicate, arguments, span)
        }
        _ => copy(element),
    }
}

/// Makes the claim that `smaller` is below `larger` in the lexicographic order. A missing element
/// is larger than any other.
pub(super) fn less(smaller: &[Expr], larger: &[Expr], orders: &Orders, place: Span) -> Expr {
    // One case for each element that may be the first to differ.
    let mut cases = Vec::new();
    let mut equal = Vec::new();
    for (index, small) in smaller.iter().enumerate() {
        let Some(large) = larger.get(index) else {
            cases.push(build::and(equal, place));
            return build::or(cases, place);
        };
        if small.ty != large.ty {
            break;
        }
        let mut case = equal.clone();
        case.push(orders.decreasing(small.clone(), large.clone(), place));
        case.push(orders.bounded(large.clone(), place));
        cases.push(build::and(case, place));
        equal.push(build::binary(BinaryOp::Eq, small.clone(), large.clone(), place));
    }
    build::or(cases, place)
}

/// Returns the type of a tuple's element; `None` for predicates.
pub(super) fn element_type(element: &Expr) -> Option<&Type> {
    match element.kind {
        ExprKind::Acc { .. } => None,
        _ => Some(&element.ty),
    }
}
