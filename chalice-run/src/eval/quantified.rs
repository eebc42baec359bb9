//! Quantifiers: over what is finite, value by value; over what is not, with samples that can refute
//! but never prove.

use chalice::Span;
use chalice::program::Type;
use chalice_rt::flaw::Flaw;

use super::collections::range;
use crate::code::{Expr, Kind, Quantified, Quantifier, Source};
use crate::fault::{Fault, Res, Trouble};
use crate::heap::ObjectKind;
use crate::machine::{Evaluator, World};
use crate::transfer::Transfer;
use crate::value::{Arithmetic, Ref, Value};

/// How many values of a variable are tried at most.
const LIMIT: i64 = 20_000_000;

/// The action for each choice of the bound variables; it returns `true` to go on.
type Visit<'v, 'c> = dyn FnMut(&mut Evaluator<'c>, &mut [Value]) -> Res<bool> + 'v;

/// How values are visited, and whether these are all.
struct Walk {
    /// Were these all that matter?
    complete: bool,
    /// Is an element of a sequence visited wherever it occurs? A sum counts each of them; what is
    /// said of all, or of some, is the same as said once.
    is_every_place: bool,
}

impl<'c> Evaluator<'c> {
    pub(super) fn quantified(
        &mut self,
        quantified: &Quantified,
        span: Span,
        slots: &mut [Value],
    ) -> Res<Value> {
        let body = &quantified.body;
        let unknown = || Box::new(Trouble::Unknown { what: "quantifier.unbounded", span });
        match quantified.quantifier {
            Quantifier::Forall => {
                let mut holds = true;
                let complete = self.each(&quantified.variables, slots, &mut |machine, slots| {
                    holds = machine.truth(body, slots)?;
                    Ok(holds)
                })?;
                if holds && !complete { Err(unknown()) } else { Ok(Value::Bool(holds)) }
            }
            Quantifier::Exists => {
                let mut found = false;
                let complete = self.each(&quantified.variables, slots, &mut |machine, slots| {
                    found = machine.truth(body, slots)?;
                    Ok(!found)
                })?;
                if !found && !complete { Err(unknown()) } else { Ok(Value::Bool(found)) }
            }
            Quantifier::Sum => {
                let mut sum = Value::Int(0);
                let add = &mut |machine: &mut Self, slots: &mut [Value]| {
                    sum = sum.arithmetic(Arithmetic::Add, &machine.eval(body, slots)?);
                    Ok(true)
                };
                let mut walk = Walk { complete: true, is_every_place: true };
                self.each_from(&quantified.variables, slots, add, &mut walk)?;
                if walk.complete { Ok(sum) } else { Err(unknown()) }
            }
            Quantifier::Max => {
                let mut max: Option<Value> = None;
                let complete = self.each(&quantified.variables, slots, &mut |machine, slots| {
                    let value = machine.eval(body, slots)?;
                    if max.as_ref().is_none_or(|max| max.compare(&value).is_lt()) {
                        max = Some(value);
                    }
                    Ok(true)
                })?;
                match max {
                    _ if !complete => Err(unknown()),
                    Some(max) => Ok(max),
                    None => Err(Fault::new(Flaw::MaximumOfNothing, span, &[]).into()),
                }
            }
        }
    }

    /// Returns the body of a `forall` as an assertion, for each choice. For the elements of a
    /// collection, or an interval, it asks for each place once, however many of them lead to it.
    pub(crate) fn collect_quantified(
        &mut self,
        quantified: &Quantified,
        span: Span,
        slots: &mut [Value],
        transfer: &mut Transfer,
    ) -> Res<()> {
        let body: &Expr = &quantified.body;
        let is_of_elements = |(_, source): &(u32, Source)| {
            matches!(source, Source::Elements(_) | Source::Members(_) | Source::Between { .. })
        };
        let is_once = quantified.variables.iter().all(is_of_elements);
        let mut known = rustc_hash::FxHashMap::default();
        let complete = self.each(&quantified.variables, slots, &mut |machine, slots| {
            let before = transfer.asked();
            machine.collect(body, slots, transfer)?;
            if is_once {
                transfer.ask_once(before, &mut known);
            }
            Ok(true)
        })?;
        if !complete {
            self.skip("quantifier.unbounded", span);
        }
        Ok(())
    }

    /// Visits the choices of the variables, the last of them changing fastest. Were these all that
    /// matter?
    fn each(
        &mut self,
        variables: &[(u32, Source)],
        slots: &mut [Value],
        visit: &mut Visit<'_, 'c>,
    ) -> Res<bool> {
        let mut walk = Walk { complete: true, is_every_place: false };
        self.each_from(variables, slots, visit, &mut walk)?;
        Ok(walk.complete)
    }

    fn each_from(
        &mut self,
        variables: &[(u32, Source)],
        slots: &mut [Value],
        visit: &mut Visit<'_, 'c>,
        walk: &mut Walk,
    ) -> Res<bool> {
        let Some(((slot, source), rest)) = variables.split_first() else {
            return visit(self, slots);
        };
        let integers = match self.integers(source, slots) {
            // Earlier guards may exclude that the bounds have no value.
            Err(trouble)
                if matches!(*trouble, Trouble::Fault(_))
                    && matches!(source, Source::Between { .. }) =>
            {
                walk.complete = false;
                Some((0, 1))
            }
            other => other?,
        };
        if let Some((from, to)) = integers {
            // Values beyond the numbers of a machine are not visited.
            let is_cut =
                matches!(source, Source::Between { .. }) && (from == i64::MIN || to == i64::MAX);
            if to.saturating_sub(from) > LIMIT || is_cut {
                walk.complete = false;
            }
            for number in from..to.min(from.saturating_add(LIMIT)) {
                slots[*slot as usize] = Value::Int(number);
                if !self.each_from(rest, slots, visit, walk)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for value in self.values(source, slots, walk)? {
            slots[*slot as usize] = value;
            if !self.each_from(rest, slots, visit, walk)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the integers of a source that is a stretch of them.
    fn integers(&mut self, source: &Source, slots: &mut [Value]) -> Res<Option<(i64, i64)>> {
        match source {
            Source::Between { lower, upper } => {
                let (mut from, mut to) = (i64::MIN, i64::MAX);
                for (bound, is_open) in lower {
                    let bound = self.eval(bound, slots)?.to_i64_saturating();
                    from = from.max(bound.saturating_add(i64::from(*is_open)));
                }
                for (bound, is_open) in upper {
                    let bound = self.eval(bound, slots)?.to_i64_saturating();
                    to = to.min(bound.saturating_add(i64::from(!*is_open)));
                }
                Ok(Some((from, to)))
            }
            // Where the bounds of a range are out of order, a variable has no value; the sequence
            // would be an error.
            Source::Elements(Expr { kind: Kind::Range(bounds), span, .. }) => {
                let (from, to) = (self.eval(&bounds.0, slots)?, self.eval(&bounds.1, slots)?);
                if to.compare(&from).is_lt() {
                    return Ok(Some((0, 0)));
                }
                match range(&from, &to, *span)? {
                    Value::Seq(crate::value::Seq::Range(from, to)) => Ok(Some((from, to))),
                    _ => Ok(None),
                }
            }
            Source::Elements(collection) => match self.eval(collection, slots)? {
                Value::Seq(crate::value::Seq::Range(from, to)) => Ok(Some((from, to))),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn values(&mut self, source: &Source, slots: &mut [Value], walk: &mut Walk) -> Res<Vec<Value>> {
        Ok(match source {
            Source::Elements(collection) | Source::Members(collection) => {
                let collection = self.eval(collection, slots)?;
                let mut values: Vec<Value> = Vec::new();
                let mut seen = std::collections::BTreeSet::new();
                for value in collection.elements() {
                    if walk.is_every_place || seen.insert(value.clone()) {
                        values.push(value);
                    }
                }
                values
            }
            Source::Bools => vec![Value::Bool(false), Value::Bool(true)],
            Source::Exactly(value) => vec![self.eval(value, slots)?],
            Source::Objects(class) => {
                let objects = self.heap.objects.iter().enumerate();
                let of_class = objects
                    .filter(|(_, object)| object.kind == ObjectKind::Class(*class))
                    .map(|(at, _)| Value::Ref(Ref(at as u32)));
                of_class.chain([Value::Null, Value::Ref(Ref::UNALLOCATED)]).collect()
            }
            Source::Samples(ty, literals) => {
                walk.complete = false;
                self.samples(ty, literals, slots)
            }
            Source::Between { .. } => Vec::new(),
        })
    }
}

impl World<'_> {
    /// Values that may refute what is said of all: those at hand, and their neighbours.
    fn samples(&self, ty: &Type, literals: &[Value], slots: &[Value]) -> Vec<Value> {
        let fits = |value: &&Value| {
            matches!(
                (ty, value),
                (Type::Int, Value::Int(_))
                    | (Type::String, Value::Text(_))
                    | (Type::Mu, Value::Level(_))
            )
        };
        let mut values: Vec<Value> = literals.iter().chain(slots).filter(fits).cloned().collect();
        if *ty == Type::Int {
            values.push(Value::Int(0));
            let near: Vec<Value> = values
                .iter()
                .flat_map(|value| {
                    [Arithmetic::Sub, Arithmetic::Add]
                        .map(|op| value.arithmetic(op, &Value::Int(1)))
                })
                .collect();
            values.extend(near);
        }
        values.push(crate::code::default_value(ty));
        values.sort_unstable();
        values.dedup();
        values
    }
}
