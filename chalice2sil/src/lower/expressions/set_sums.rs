//! Sums over sets.
//!
//! A valuation gives every possible element a number, and `sum_over(s, v)` adds up the numbers that
//! `v` gives the elements of `s`. Which valuation a body is depends on the heap: a function of the
//! set and the captured variables yields one that agrees with the body on the set (see
//! [`crate::lower::expressions::aggregates`]).
//!
//! SOUNDNESS: take for valuations all functions from elements to integers and for `sum_over` the
//! finite sum. Sets are finite, so the sum exists, and each axiom is a theorem about it. For every
//! set and body some valuation agrees with the body on the set, so the functions that yield
//! valuations exist, too.
//!
//! Instances end: no axiom makes a new set or a new valuation that its triggers match, so the sums
//! are those of finitely many sets and valuations.

use sil::syntax as s;
use sil::syntax::TypeKind;

use crate::build::*;
use crate::lower::Lowering;
use crate::names::fixed;

impl Lowering<'_> {
    /// The type of valuations of elements of a type.
    pub(crate) fn valuation_type(&self, element: s::Type) -> s::Type {
        self.used.borrow_mut().set_sums = true;
        s::Type::named(fixed::VALUATION, [element])
    }

    /// The sum of what a valuation gives the elements of a set.
    pub(crate) fn sum_over(&self, set: s::Expr, valuation: s::Expr) -> s::Expr {
        self.used.borrow_mut().set_sums = true;
        sum(set, valuation)
    }
}

fn sum(set: s::Expr, valuation: s::Expr) -> s::Expr {
    call(fixed::SUM_OVER, [set, valuation])
}

/// Applies a valuation to an element.
pub(crate) fn value_in(valuation: s::Expr, element: s::Expr) -> s::Expr {
    call(fixed::VALUE_IN, [valuation, element])
}

/// Valuations of elements of any type, and sums of them.
pub(crate) fn set_sum_domain() -> s::Member {
    let element = || domain_type("T");
    let valuation = |name: &str| typed(name, s::Type::named(fixed::VALUATION, [element()]));
    let set = || typed("s", s::Type::set(element()));
    let x = || typed("x", element());
    s::Domain::new(fixed::VALUATION)
        .parameter("T")
        .function(domain_function(fixed::VALUE_IN, [valuation("v"), x()], ty(TypeKind::Int)))
        .function(domain_function(fixed::SUM_OVER, [set(), valuation("v")], ty(TypeKind::Int)))
        .axiom(axiom(
            "sum_over_zeros",
            sum_unless_some([set(), valuation("v")], x(), s::BinaryOp::Eq),
        ))
        .axiom(axiom(
            "sum_over_naturals",
            sum_unless_some([set(), valuation("v")], x(), s::BinaryOp::Ge),
        ))
        .axiom(axiom("sum_over_one", sum_of_one([x(), valuation("v")])))
        .axiom(axiom("sum_over_one_more", sum_of_one_more([set(), x(), valuation("v")])))
        .axiom(axiom("sum_over_one_less", sum_of_one_less([set(), x(), valuation("v")])))
        .axiom(axiom("sum_over_same", same_sum([set(), valuation("v"), valuation("w")], x())))
        .into()
}

/// A sum is zero, or not negative, unless some element's number is not. The sum over the empty set
/// therefore is zero.
fn sum_unless_some(
    variables: [s::TypedName; 2],
    element: s::TypedName,
    compared: s::BinaryOp,
) -> s::Expr {
    let whole = sum(var("s"), var("v"));
    let other = not(binary(compared, value_in(var("v"), var("x")), int(0)));
    let some = exists([element], and([contains(&var("s"), &var("x")), other]));
    forall(variables, [vec![whole.clone()]], or([binary(compared, whole, int(0)), some]))
}

fn sum_of_one(variables: [s::TypedName; 2]) -> s::Expr {
    let whole = sum(set_of([var("x")]), var("v"));
    forall(variables, [vec![whole.clone()]], eq(whole, value_in(var("v"), var("x"))))
}

fn sum_of_one_more(variables: [s::TypedName; 3]) -> s::Expr {
    let one = || set_of([var("x")]);
    let [whole, mirrored] = [(var("s"), one()), (one(), var("s"))]
        .map(|(left, right)| sum(binary(s::BinaryOp::Union, left, right), var("v")));
    let had = contains(&var("s"), &var("x"));
    let added = conditional(had, int(0), value_in(var("v"), var("x")));
    let expected = binary(s::BinaryOp::Add, sum(var("s"), var("v")), added);
    let claim = and([eq(whole.clone(), expected.clone()), eq(mirrored.clone(), expected)]);
    forall(variables, [vec![whole], vec![mirrored]], claim)
}

fn sum_of_one_less(variables: [s::TypedName; 3]) -> s::Expr {
    let smaller = || binary(s::BinaryOp::Setminus, var("s"), set_of([var("x")]));
    let whole = sum(smaller(), var("v"));
    let larger = sum(var("s"), var("v"));
    let had = contains(&var("s"), &var("x"));
    let removed = conditional(had, value_in(var("v"), var("x")), int(0));
    let expected = binary(s::BinaryOp::Sub, larger.clone(), removed);
    // The valuation of the smaller set says nothing of the element that it lacks, that of the
    // larger set does.
    let triggers = [vec![whole.clone()], vec![smaller(), larger]];
    forall(variables, triggers, eq(whole, expected))
}

/// Valuations that agree on a set have the same sum over it.
fn same_sum(variables: [s::TypedName; 3], element: s::TypedName) -> s::Expr {
    let [one, other] = ["v", "w"].map(|valuation| sum(var("s"), var(valuation)));
    let [left, right] = ["v", "w"].map(|valuation| value_in(var(valuation), var("x")));
    let differing = exists([element], and([contains(&var("s"), &var("x")), ne(left, right)]));
    let claim = or([eq(one.clone(), other.clone()), differing]);
    forall(variables, [vec![one, other]], claim)
}
