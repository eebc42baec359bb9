//! Assertions: inhaled and exhaled, folded and unfolded.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{One, Zero};
use sil::source::Name;
use sil::syntax::{BinaryOp, Expr, ExprKind, Quantifier};

use super::state::{Part, Portion, Target};
use super::{Amount, Evaluator, Heap, Stuck, Value, shape};

/// Instances are inside each other no deeper.
const DEEPEST: u32 = 40;

/// A wildcard takes one part of so many of what is held. The verifier chooses how much a wildcard
/// takes, below bounds of its own, so only a run that takes very little speaks of its choice.
const LITTLE: u32 = 1 << 20;

/// The two sides of `[a, b]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Inhale,
    Exhale,
}

impl Evaluator<'_> {
    /// Lists the permissions that an assertion asks for, in its order. Its pure parts have to be
    /// true.
    pub(super) fn parts<'e>(
        &self,
        expr: &'e Expr,
        side: Side,
        parts: &mut Vec<Part<'e>>,
    ) -> Result<(), Stuck> {
        match &expr.kind {
            ExprKind::And(all) => all.iter().try_for_each(|one| self.parts(one, side, parts)),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                if self.truth(left)? {
                    self.parts(right, side, parts)
                } else {
                    Ok(())
                }
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let taken = if self.truth(condition)? { then } else { otherwise };
                self.parts(taken, side, parts)
            }
            ExprKind::InhaleExhale(inhaled, exhaled) => {
                self.parts(if side == Side::Inhale { inhaled } else { exhaled }, side, parts)
            }
            ExprKind::Let { variable, value, body } => {
                self.with(&variable.name, self.eval(value)?).parts(body, side, parts)
            }
            ExprKind::Quantified { quantifier: Quantifier::Forall, variables, body, .. } => {
                let instances = self.instances(variables)?;
                let before = parts.len();
                instances.iter().try_for_each(|inner| inner.parts(body, side, parts))?;
                distinct(&parts[before..])
            }
            ExprKind::Acc { location, amount } => {
                let full = Ok(Portion::Exactly(Amount::one()));
                let portion = amount.as_ref().map_or(full, |amount| self.amount(amount))?;
                parts.push(Part::Access(self.target(location)?, portion));
                Ok(())
            }
            ExprKind::Call { name, .. }
                if self.declarations.predicates.contains_key(&name.name) =>
            {
                parts.push(Part::Access(self.target(expr)?, Portion::Exactly(Amount::one())));
                Ok(())
            }
            ExprKind::Binary { op: BinaryOp::Wand, .. } => {
                parts.push(Part::Wand(expr));
                Ok(())
            }
            _ if self.truth(expr)? => Ok(()),
            _ => Err(Stuck::new("false")),
        }
    }

    /// Takes an assertion out of a heap; values are those of this evaluator's heap.
    pub(super) fn consume(&self, expr: &Expr, heap: &mut Heap) -> Result<(), Stuck> {
        let mut parts = Vec::new();
        self.parts(expr, Side::Exhale, &mut parts)?;
        for part in parts {
            match part {
                Part::Access(target, Portion::Exactly(amount)) => heap.take(&target, &amount)?,
                Part::Access(target, Portion::Some) => {
                    let some = heap.amount(&target) / BigInt::from(LITTLE);
                    if some.is_zero() {
                        return Err(Stuck::new("nothing to take some of"));
                    }
                    heap.take(&target, &some)?;
                }
                Part::Wand(wand) => {
                    let wanted = shape(wand);
                    let at = heap.wands.iter().position(|one| one.shape == wanted);
                    heap.wands.remove(at.ok_or_else(|| Stuck::new("no such wand"))?);
                }
            }
        }
        Ok(())
    }

    /// Returns the inside of an instance of a predicate, for a share of it.
    fn body_of(
        &self,
        predicate: &Name,
        arguments: &[Value],
        share: &Amount,
    ) -> Result<Vec<(Target, Amount)>, Stuck> {
        let declared = self.declarations.predicates.get(predicate);
        let declared = declared.ok_or_else(|| Stuck(format!("no predicate {predicate}")))?;
        let body = declared.body.as_ref().ok_or_else(|| Stuck::new("a predicate without body"))?;
        let inner = self.inside(&declared.formals, arguments)?;
        let [inhaled, exhaled] = [Side::Inhale, Side::Exhale].map(|side| {
            let mut parts = Vec::new();
            inner.parts(body, side, &mut parts)?;
            let mut all = BTreeMap::new();
            for part in parts {
                let Part::Access(target, Portion::Exactly(amount)) = part else {
                    return Err(Stuck::new("a wildcard or wand in a predicate"));
                };
                *all.entry(target).or_insert_with(Amount::zero) += amount * share;
            }
            Ok(all)
        });
        let inside = inhaled?;
        if exhaled? != inside {
            return Err(Stuck::new("another amount to fold than to unfold"));
        }
        Ok(inside.into_iter().collect())
    }

    /// The instance and share that `fold` and `unfold` are about.
    fn instance(&self, access: &Expr) -> Result<(Name, Vec<Value>, Portion), Stuck> {
        let (location, portion) = match &access.kind {
            ExprKind::Acc { location, amount: Some(amount) } => (&**location, self.amount(amount)?),
            ExprKind::Acc { location, amount: None } => {
                (&**location, Portion::Exactly(Amount::one()))
            }
            _ => (access, Portion::Exactly(Amount::one())),
        };
        match self.target(location)? {
            Target::Predicate(name, arguments) => Ok((name, arguments, portion)),
            Target::Field(..) => Err(Stuck::new("a field cannot be folded")),
        }
    }

    pub(super) fn unfold(&self, access: &Expr, heap: &mut Heap) -> Result<(), Stuck> {
        let (name, arguments, portion) = self.instance(access)?;
        let target = Target::Predicate(name.clone(), arguments.clone());
        let share = match portion {
            Portion::Exactly(share) => share,
            Portion::Some => heap.amount(&target) / BigInt::from(2),
        };
        if share <= Amount::zero() {
            return Err(Stuck::new("nothing to unfold"));
        }
        heap.take(&target, &share)?;
        for (target, amount) in self.body_of(&name, &arguments, &share)? {
            heap.add(target, &amount)?;
        }
        Ok(())
    }

    pub(super) fn fold(&self, access: &Expr, heap: &mut Heap) -> Result<(), Stuck> {
        let (name, arguments, portion) = self.instance(access)?;
        let share = match portion {
            Portion::Exactly(share) if share > Amount::zero() => share,
            _ => return Err(Stuck::new("nothing to fold")),
        };
        for (target, amount) in self.body_of(&name, &arguments, &share)? {
            heap.take(&target, &amount)?;
        }
        heap.add(Target::Predicate(name, arguments), &share)
    }

    /// Adds to `totals` what is held of fields within some amount of something.
    fn total(
        &self,
        target: &Target,
        amount: &Amount,
        depth: u32,
        totals: &mut BTreeMap<(u32, Name), Amount>,
    ) -> Result<(), Stuck> {
        match target {
            _ if depth > DEEPEST => Err(Stuck::new("predicates too deep")),
            Target::Field(object, field) => {
                *totals.entry((*object, field.clone())).or_insert_with(Amount::zero) += amount;
                Ok(())
            }
            Target::Predicate(name, arguments) => {
                for (target, amount) in self.body_of(name, arguments, amount)? {
                    if !amount.is_zero() {
                        self.total(&target, &amount, depth + 1, totals)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// How much is held of each field, in predicates and wands included, none of which may be
    /// false.
    ///
    /// # Errors
    /// An instance that is false, or inside itself.
    pub fn totals(&self, heap: &Heap) -> Result<BTreeMap<(u32, Name), Amount>, Stuck> {
        let inner = self.in_heap(heap).unchecked();
        let mut totals = BTreeMap::new();
        for (target, amount) in &heap.held {
            inner.total(target, amount, 0, &mut totals)?;
        }
        for (target, amount) in heap.wands.iter().flat_map(|wand| &wand.footprint) {
            inner.total(target, amount, 0, &mut totals)?;
        }
        Ok(totals)
    }

    /// Checks that a method may have a heap: no more than all of any field.
    pub(super) fn check(&self, heap: &Heap) -> Result<(), Stuck> {
        let totals = self.totals(heap)?;
        let one = Amount::one();
        match totals.iter().find(|((object, _), amount)| *object == 0 || **amount > one) {
            None => Ok(()),
            Some(((object, field), _)) => Err(Stuck(format!("too much of {object}.{field}"))),
        }
    }

    /// A heap with an assertion added, whose pure parts have to be true; of wildcards, what there
    /// is room for. Each conjunct may read what those before it give.
    pub(super) fn produce(&self, expr: &Expr) -> Result<Heap, Stuck> {
        let mut heap = self.heap.clone();
        let conjuncts = match &expr.kind {
            ExprKind::And(all) => &all[..],
            _ => std::slice::from_ref(expr),
        };
        for conjunct in conjuncts {
            let before = heap.clone();
            let inner = self.in_heap(&before);
            let mut parts = Vec::new();
            inner.parts(conjunct, Side::Inhale, &mut parts)?;
            for part in parts {
                match part {
                    Part::Access(target, Portion::Exactly(amount)) => heap.add(target, &amount)?,
                    Part::Access(target, Portion::Some) => heap = inner.add_some(heap, &target)?,
                    Part::Wand(_) => return Err(Stuck::new("a wand from nowhere")),
                }
            }
        }
        self.check(&heap)?;
        Ok(heap)
    }

    fn add_some(&self, heap: Heap, target: &Target) -> Result<Heap, Stuck> {
        for denominator in [2, 4, 8, 16, 64] {
            let mut more = heap.clone();
            more.add(target.clone(), &Amount::new(1.into(), denominator.into()))?;
            if self.check(&more).is_ok() {
                return Ok(more);
            }
        }
        Err(Stuck::new("no room for a wildcard"))
    }
}

/// Checks that no target with some permission occurs twice: receivers of quantified permissions
/// have to differ.
fn distinct(parts: &[Part<'_>]) -> Result<(), Stuck> {
    let mut seen = std::collections::BTreeSet::new();
    for part in parts {
        if let Part::Access(target, _) = part
            && !seen.insert(target)
        {
            return Err(Stuck::new("receivers are not injective"));
        }
    }
    Ok(())
}
