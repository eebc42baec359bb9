//! The shape of a snapshot: its structure for an assertion, in either reading.
//!
//! `produce` takes snapshots apart as `consume` puts them together. Both ask here. No other module
//! makes pairs or assumes that a snapshot is one. Pure assertions have no part. For `[a, b]` both
//! readings are compared. If their snapshots hold the values of the same locations at the same
//! places, that is the shape. Otherwise neither reads the snapshot of the other.

use sil::program::{BinaryOp, Expr, ExprKind, LocalId, Location};
use smt::terms::{Sort, Term, TermKind, Terms, grow_stack};

use crate::rules::Sil;
use crate::rules::assertion::{Own, form};
use crate::rules::quantified::normalise::{self, QuantifiedConjunct, Step};
use crate::rules::same::Same;
use symex::rules::assertion::{Form, conjuncts};
use symex::state::heap::Resource;
use symex::state::sorts::wand_sort;
use symex::{Reading, Symbols};

/// Tells whether the two readings of an assertion have snapshots of different shape.
///
/// SOUNDNESS: such a snapshot would confuse values of different locations, or a pair with a unit
/// (trap T3).
pub(crate) fn is_mixed(assertion: &Expr) -> bool {
    match &assertion.kind {
        ExprKind::InhaleExhale { .. } | ExprKind::Quantified { .. } => {
            matches!(Shape::of(assertion), Shape::Mixed)
        }
        _ => false,
    }
}

/// The shape of a snapshot, one level of it.
#[derive(Debug)]
enum Shape<'e> {
    /// The unit.
    Unit,
    /// Pairs of the parts of two or more assertions.
    Parts(Vec<&'e Expr>),
    /// One shape or the other; the unit for a missing assertion.
    Either {
        condition: &'e Expr,
        then: &'e Expr,
        otherwise: Option<&'e Expr>,
    },
    Let {
        variable: LocalId,
        value: &'e Expr,
        body: &'e Expr,
    },
    /// The value of a location.
    Value {
        location: &'e Location,
        amount: &'e Expr,
    },
    /// The way in which a wand treats snapshots.
    Wand(&'e Expr),
    /// Pairs of maps, one for each conjunct that gives permission.
    Maps(Vec<QuantifiedConjunct<'e>>),
    /// Any shape: the readings differ, or no rule has the assertion.
    Mixed,
}

impl<'e> Shape<'e> {
    fn of(assertion: &'e Expr) -> Self {
        match form(assertion) {
            _ if assertion.is_pure() => Self::Unit,
            Form::Own(Own::TwoReadings { inhale, exhale }) => {
                if Same::default().shapes(inhale, exhale) { Self::of(inhale) } else { Self::Mixed }
            }
            Form::All(_) => {
                let all = conjuncts::<Sil>([assertion]).into_iter().map(|(_, conjunct)| conjunct);
                let parts: Vec<_> = all.filter(|conjunct| !conjunct.is_pure()).collect();
                match parts[..] {
                    [only] => Self::of(only),
                    _ => Self::Parts(parts),
                }
            }
            Form::If { condition, then, otherwise } => {
                let otherwise = otherwise.filter(|side| !side.is_pure());
                Self::Either { condition, then, otherwise }
            }
            Form::Let { variable, value, body } => Self::Let { variable, value, body },
            Form::Access((location, amount)) => Self::Value { location, amount },
            Form::Own(Own::Wand) => Self::Wand(assertion),
            Form::Own(Own::Quantified { .. }) => {
                let [inhaled, exhaled] = [Reading::Inhale, Reading::Exhale].map(|reading| {
                    let mut all = normalise::conjuncts(assertion, reading);
                    all.retain(|conjunct| !conjunct.body.is_pure());
                    all
                });
                let same = Same::default().lists(&inhaled, &exhaled, Same::maps);
                if same { Self::Maps(inhaled) } else { Self::Mixed }
            }
            Form::Pure | Form::Own(Own::Other) => Self::Mixed,
        }
    }
}

impl Same {
    fn lists<T>(&mut self, left: &[T], right: &[T], same: fn(&mut Self, &T, &T) -> bool) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| same(self, left, right))
    }

    /// Tells whether the snapshots of two assertions hold the values of the same locations at the
    /// same places.
    fn shapes(&mut self, left: &Expr, right: &Expr) -> bool {
        grow_stack(|| match (Shape::of(left), Shape::of(right)) {
            (Shape::Unit, Shape::Unit) => true,
            (Shape::Parts(left), Shape::Parts(right)) => {
                self.lists(&left, &right, |same, left, right| same.shapes(left, right))
            }
            (
                Shape::Either { condition, then, otherwise },
                Shape::Either { condition: of_other, then: other_then, otherwise: other },
            ) => {
                self.exprs(condition, of_other)
                    && self.shapes(then, other_then)
                    && match (otherwise, other) {
                        (None, None) => true,
                        (Some(left), Some(right)) => self.shapes(left, right),
                        _ => false,
                    }
            }
            (
                Shape::Let { variable, value, body },
                Shape::Let { variable: other, value: of_other, body: below_other },
            ) => {
                self.exprs(value, of_other)
                    && self.bind(&[variable], &[other])
                    && self.shapes(body, below_other)
            }
            (
                Shape::Value { location, amount },
                Shape::Value { location: other, amount: of_other },
            ) => self.locations(location, other) && self.held(amount, of_other),
            (Shape::Wand(left), Shape::Wand(right)) => self.exprs(left, right),
            (Shape::Maps(left), Shape::Maps(right)) => self.lists(&left, &right, Self::maps),
            // Neither of them is ever read.
            (Shape::Mixed, Shape::Mixed) => true,
            _ => false,
        })
    }

    fn locations(&mut self, left: &Location, right: &Location) -> bool {
        match (left, right) {
            (
                Location::Field { receiver, field },
                Location::Field { receiver: other, field: other_field },
            ) => field == other_field && self.exprs(receiver, other),
            (
                Location::Predicate { predicate, arguments },
                Location::Predicate { predicate: other, arguments: others },
            ) => predicate == other && self.lists(arguments, others, Self::exprs),
            _ => false,
        }
    }

    /// Tells whether the same amount is held of both, or some amount of each.
    ///
    /// SOUNDNESS: a value counts only where both sides hold permission (trap T2).
    fn held(&mut self, left: &Expr, right: &Expr) -> bool {
        is_positive(left) && is_positive(right) || self.exprs(left, right)
    }

    fn maps(&mut self, left: &QuantifiedConjunct<'_>, right: &QuantifiedConjunct<'_>) -> bool {
        let steps = |same: &mut Self, left: &Step<'_>, right: &Step<'_>| match (left, right) {
            (
                Step::Guard { condition, holds },
                Step::Guard { condition: other, holds: other_holds },
            ) => holds == other_holds && same.exprs(condition, other),
            (Step::Let { variable, value }, Step::Let { variable: other, value: of_other }) => {
                same.exprs(value, of_other) && same.bind(&[*variable], &[*other])
            }
            _ => false,
        };
        if !self.bind(&left.prefix.variables, &right.prefix.variables)
            || !self.lists(&left.prefix.steps, &right.prefix.steps, steps)
        {
            return false;
        }
        match (&left.body.kind, &right.body.kind) {
            (
                ExprKind::Acc { location, amount },
                ExprKind::Acc { location: other, amount: of_other },
            ) => self.locations(location, other) && self.held(amount, of_other),
            (ExprKind::Wand { .. }, ExprKind::Wand { .. }) => self.exprs(left.body, right.body),
            _ => false,
        }
    }
}

/// Tells whether an amount is evidently positive.
fn is_positive(amount: &Expr) -> bool {
    let positive = |expr: &Expr| matches!(&expr.kind, ExprKind::Int(n) if *n > 0.into());
    match &amount.kind {
        ExprKind::FullPerm | ExprKind::Wildcard => true,
        ExprKind::Binary { op: BinaryOp::PermDiv, left, right } => {
            positive(left) && positive(right)
        }
        _ => false,
    }
}

impl Sil<'_, '_> {
    /// Returns a snapshot of clauses that another rule will take apart.
    ///
    /// SOUNDNESS: a snapshot of another shape would be a contradiction there, so it is not used.
    pub(crate) fn fitting_snapshot(
        &mut self,
        conjuncts: &[(&Expr, &Expr)],
        snapshot: Term,
    ) -> Term {
        let parts = conjuncts.iter().map(|&(_, conjunct)| conjunct);
        let parts: Vec<_> = parts.filter(|conjunct| !conjunct.is_pure()).collect();
        let fits = fits_parts(self, snapshot, &parts);
        debug_assert!(fits, "a snapshot has another shape than its assertion");
        if fits { snapshot } else { self.fresh("mixed", Sort::SNAP) }
    }
}

fn fits_parts(symbols: &mut Symbols<'_>, snapshot: Term, parts: &[&Expr]) -> bool {
    let kind = symbols.terms.kind(snapshot).clone();
    match parts {
        [] => !matches!(kind, TermKind::Pair(..) | TermKind::Wrap(_)),
        [only] => fits(symbols, snapshot, only),
        [first, others @ ..] => match kind {
            TermKind::Pair(part, rest) => {
                fits(symbols, part, first) && fits_parts(symbols, rest, others)
            }
            kind => !matches!(kind, TermKind::Unit | TermKind::Wrap(_)),
        },
    }
}

/// Tells whether a term may be the snapshot of an assertion. A snapshot that no rule has put
/// together may be any.
fn fits(symbols: &mut Symbols<'_>, snapshot: Term, assertion: &Expr) -> bool {
    grow_stack(|| {
        if let TermKind::Ite(_, then, otherwise) = *symbols.terms.kind(snapshot) {
            return fits(symbols, then, assertion) && fits(symbols, otherwise, assertion);
        }
        match Shape::of(assertion) {
            Shape::Unit => fits_parts(symbols, snapshot, &[]),
            Shape::Parts(parts) => fits_parts(symbols, snapshot, &parts),
            Shape::Either { then, otherwise, .. } => {
                fits(symbols, snapshot, then)
                    || match otherwise {
                        Some(otherwise) => fits(symbols, snapshot, otherwise),
                        None => fits_parts(symbols, snapshot, &[]),
                    }
            }
            Shape::Let { body, .. } => fits(symbols, snapshot, body),
            Shape::Value { location: Location::Field { field, .. }, .. } => {
                let sort = symbols.resource_sort(Resource::Field(*field));
                may_hold(&mut symbols.terms, snapshot, sort)
            }
            Shape::Wand(_) => {
                let sort = wand_sort(&mut symbols.terms);
                may_hold(&mut symbols.terms, snapshot, sort)
            }
            Shape::Maps(conjuncts) => {
                let pairs = std::iter::successors(Some(snapshot), |&rest| {
                    match *symbols.terms.kind(rest) {
                        TermKind::Pair(_, rest) => Some(rest),
                        _ => None,
                    }
                });
                pairs.count() <= conjuncts.len()
            }
            Shape::Value { .. } | Shape::Mixed => true,
        }
    })
}

fn may_hold(terms: &mut Terms, snapshot: Term, sort: Sort) -> bool {
    terms.is_wrapped(snapshot, sort) != Terms::FALSE
}
