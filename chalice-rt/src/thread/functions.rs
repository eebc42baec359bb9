//! Applications of functions.

use super::transfer::Transfer;
use super::{Clauses, Thread};
use crate::flaw::Flaw;
use crate::trouble::{At, Fault, Res, Trouble, fail};
use crate::value::Value;

/// The measure of a function whose body is being evaluated.
#[derive(Debug)]
pub(super) struct Measured {
    /// How many applications are around what is applied in the body.
    depth: usize,
    function: Function,
    numbers: Vec<i64>,
}

/// A function, as an emitted program knows it.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Its number.
    pub number: u32,
    /// Where it is declared.
    pub at: At,
    /// Does its precondition mention the read fraction?
    pub has_fraction: bool,
    /// The functions that its body may apply and that may come back to it.
    pub circle: &'static [u32],
}

/// The numbers of a measure.
type Numbers<'a> = &'a mut dyn FnMut(&mut Thread) -> Res<Vec<i64>>;

impl Thread {
    /// Applies a function: its contract is checked where it is the outermost application.
    ///
    /// # Errors
    /// A contract that does not hold, a measure that does not decrease, or a failure in the body.
    pub fn apply<T>(
        &mut self,
        function: Function,
        at: At,
        requires: Option<Clauses<'_>>,
        measure: Option<Numbers<'_>>,
        body: impl FnOnce(&mut Self) -> Res<T>,
        ensures: impl FnOnce(&mut Self, &mut Transfer, &T) -> Res<()>,
    ) -> Res<T> {
        self.deeper(at)?;
        let is_checked = self.evaluating.is_empty() && self.reads_checked;
        if is_checked && let Some(requires) = requires {
            self.check_application(function, at, requires)?;
        }
        let numbers = self.measure(function, at, measure)?;
        self.evaluating.push(function.number);
        let depth = self.evaluating.len();
        if let Some(numbers) = numbers {
            self.measured.push(Measured { depth, function, numbers });
        }
        let value = body(self);
        self.measured.pop_if(|one| one.depth == depth);
        self.evaluating.pop();
        let value = in_function(value, function.at)?;
        if is_checked {
            self.evaluating.push(function.number);
            let result = self.check(|thread, ask| ensures(thread, ask, &value));
            self.evaluating.pop();
            result.map_err(|mut trouble| {
                if let Trouble::Fault(fault) = &mut *trouble {
                    fault.kind.get_or_insert("postcondition.violated");
                    fault.clause = fault.clause.or(Some(fault.at));
                }
                trouble
            })?;
        }
        Ok(value)
    }

    fn check_application(&mut self, function: Function, at: At, requires: Clauses<'_>) -> Res<()> {
        let outer = self.kappa;
        if function.has_fraction {
            self.kappa = self.fresh(Some(outer));
        }
        let fresh = function.has_fraction.then_some(self.kappa);
        let result = self.check(|thread, ask| {
            ask.fresh = fresh;
            requires(thread, ask)
        });
        self.kappa = outer;
        result.map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.kind.get_or_insert("application.precondition");
                fault.clause = Some(at);
            }
            trouble
        })
    }

    /// Returns the measure of what is applied; it is smaller than that of the function in whose
    /// body that is done, if one may come back to the other.
    fn measure(
        &mut self,
        function: Function,
        at: At,
        measure: Option<Numbers<'_>>,
    ) -> Res<Option<Vec<i64>>> {
        let (Some(measure), true) = (measure, self.checks()) else { return Ok(None) };
        let numbers = measure(self)?;
        if let Some(outer) = self.measured.last()
            && outer.depth == self.evaluating.len()
            && outer.function.circle.contains(&function.number)
            && !is_smaller(&numbers, &outer.numbers)
        {
            return fail(Flaw::Measure, at, &[]);
        }
        Ok(Some(numbers))
    }
}

/// Returns the receiver of an application, which is not null.
///
/// # Errors
/// It is null.
pub fn receiver(value: Value, at: At) -> Res<Value> {
    if value == Value::Null {
        let kind = Some("application.precondition");
        return Err(Fault { kind, ..Fault::new(Flaw::Null, at, &[]) }.into());
    }
    Ok(value)
}

/// Compares measures in the lexicographic order; the first that differs has to be smaller, and not
/// negative before.
fn is_smaller(now: &[i64], before: &[i64]) -> bool {
    let differs = now.iter().zip(before).find(|(now, before)| now != before);
    differs.is_some_and(|(now, before)| now < before && *before >= 0)
}

/// Blames a function for what fails in its body.
///
/// # Errors
/// Those of the result.
fn in_function<T>(result: Res<T>, at: At) -> Res<T> {
    super::blamed(result, "function.not.wellformed", Some(at))
}
