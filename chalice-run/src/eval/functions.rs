//! Applications of functions.

use chalice::Span;
use chalice_rt::flaw::Flaw;
use findings::ErrorId;
use front::grow_stack;

use crate::code::Expr;
use crate::fault::{Fault, Res, Trouble};
use crate::machine::Evaluator;
use crate::transfer::Transfer;
use crate::value::Value;

/// How deep functions may recurse.
const DEPTH: usize = 400_000;

/// How deep they may recurse over a start that is being made, which is small.
const GRANTED_DEPTH: usize = 200;

/// Circles of functions are looked for from this depth on.
const SHALLOW: usize = 64;

/// An application that has not ended, as a mark for those inside of it.
#[derive(Debug, Clone)]
pub(crate) struct Milestone {
    /// How many applications are around it.
    depth: usize,
    function: u32,
    slots: Vec<Value>,
}

/// The measure of a function whose body is being evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// How many applications are around what is applied in the body.
    depth: usize,
    function: u32,
    numbers: Vec<Value>,
}

impl Evaluator<'_> {
    pub(super) fn apply(
        &mut self,
        receiver: &Expr,
        function: u32,
        arguments: &[Expr],
        span: Span,
        slots: &mut [Value],
    ) -> Res<Value> {
        let code = self.code;
        let callee = &code.functions[function as usize];
        let mut inner = callee.frame.initial.clone();
        if !callee.is_static {
            let object = self.eval(receiver, slots)?;
            if object == Value::Null {
                let fault = Fault::new(Flaw::Null, receiver.span, &[]);
                return Err(fault.of_kind(ErrorId::ApplicationPrecondition).into());
            }
            inner[0] = object;
        }
        for (at, argument) in arguments.iter().enumerate() {
            inner[at + 1] = self.eval(argument, slots)?;
        }
        let limit = if self.granting { GRANTED_DEPTH } else { DEPTH };
        if self.evaluating.len() > limit {
            return Err(Box::new(Trouble::Bound("a function does not end", span)));
        }
        self.applies_itself(function, &inner, span)?;
        let outermost = self.evaluating.is_empty() || self.config.check_functions;
        // In an earlier state, that is only asked where it is known who held what.
        let is_checked = outermost && self.scope.checks;
        if is_checked && !callee.requires.is_empty() {
            self.check_application(function, &mut inner, span)?;
        }
        let numbers = self.measure(function, &mut inner, span)?;
        self.evaluating.push(function);
        let depth = self.evaluating.len();
        self.measured.extend(numbers.map(|numbers| Measured { depth, function, numbers }));
        let value = grow_stack(|| self.value_of(function, &mut inner, span));
        self.measured.pop_if(|one| one.depth == depth);
        self.evaluating.pop();
        self.milestone.take_if(|known| known.depth >= self.evaluating.len());
        let value = value?;
        if is_checked && !callee.ensures.is_empty() && !self.evaluating.contains(&function) {
            self.check_value(function, &mut inner, value.clone())?;
        }
        Ok(value)
    }

    /// Nothing changes while an expression is evaluated, so a function that comes to the same
    /// arguments inside of itself does not end. Compared is with what was applied when the depth
    /// was last a power of two (Brent 1980): that finds each circle before it is gone round a third
    /// time.
    fn applies_itself(&mut self, function: u32, inner: &[Value], span: Span) -> Res<()> {
        let depth = self.evaluating.len();
        if let Some(known) = &self.milestone
            && known.function == function
            && known.depth < depth
            && known.slots == inner
        {
            let words = "a function applies itself to the same arguments for ever";
            return Err(Box::new(Trouble::Bound(words, span)));
        }
        if depth >= SHALLOW && depth.is_power_of_two() {
            self.milestone = Some(Milestone { depth, function, slots: inner.to_vec() });
        }
        Ok(())
    }

    /// Returns the measure of what is applied; it is smaller than that of the function in whose
    /// body that is done, if one may come back to the other.
    fn measure(
        &mut self,
        function: u32,
        inner: &mut [Value],
        span: Span,
    ) -> Res<Option<Vec<Value>>> {
        let code = self.code;
        let callee = &code.functions[function as usize];
        if callee.circle.is_empty() || !self.config.checks {
            return Ok(None);
        }
        let numbers = callee.decreases.iter().map(|number| self.eval(number, inner));
        let numbers = numbers.collect::<Res<Vec<_>>>()?;
        if let Some(outer) = self.measured.last()
            && outer.depth == self.evaluating.len()
            && code.functions[outer.function as usize].circle.contains(&function)
            && !is_smaller(&numbers, &outer.numbers)
        {
            return Err(Fault::new(Flaw::Measure, span, &[]).into());
        }
        Ok(Some(numbers))
    }

    fn value_of(&mut self, function: u32, inner: &mut [Value], span: Span) -> Res<Value> {
        let code = self.code;
        let callee = &code.functions[function as usize];
        match (&callee.body, &callee.definition) {
            (Some(body), _) | (None, Some(body)) => {
                self.eval(body, inner).map_err(|mut trouble| {
                    if let Trouble::Fault(fault) = &mut *trouble
                        && fault.kind.is_none()
                    {
                        fault.kind = Some(ErrorId::FunctionNotWellformed);
                        fault.clause = Some(callee.span);
                    }
                    trouble
                })
            }
            (None, None) => Err(Box::new(Trouble::Unknown { what: "function.abstract", span })),
        }
    }

    fn check_application(&mut self, function: u32, inner: &mut [Value], span: Span) -> Res<()> {
        let code = self.code;
        self.counts.checks += 1;
        let result = self.only_looking(|machine| {
            let outer = machine.scope.kappa;
            let kappa = machine.fractions.fresh(Some(outer));
            machine.scope.kappa = kappa;
            let check = Transfer::check(machine.scope.holder).inexact(kappa);
            let requires = &code.functions[function as usize].requires;
            let result = machine.move_all(requires, inner, check);
            machine.scope.kappa = outer;
            result.map(|_| ())
        });
        result.map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.kind.get_or_insert(ErrorId::ApplicationPrecondition);
                fault.clause = Some(span);
            }
            trouble
        })
    }

    /// Runs what moves no permission: the read fractions that it chooses are forgotten with it, so
    /// that a check leaves nothing behind. A start that is being made keeps what it grants for a
    /// check.
    pub(crate) fn only_looking<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.fractions.mark();
        let result = look(self);
        if !self.granting {
            self.fractions.forget_since(mark);
        }
        result
    }

    fn check_value(&mut self, function: u32, inner: &mut [Value], value: Value) -> Res<()> {
        let code = self.code;
        let callee = &code.functions[function as usize];
        inner[callee.parameters + 1] = value;
        self.evaluating.push(function);
        let result = self.only_looking(|machine| {
            let mut check = Transfer::check(machine.scope.holder);
            machine.collect_all(&callee.ensures, inner, &mut check)
        });
        self.evaluating.pop();
        self.counts.checks += 1;
        result.map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.kind.get_or_insert(ErrorId::PostconditionViolated);
                fault.clause = fault.clause.or(Some(fault.span));
            }
            trouble
        })
    }
}

/// Compares measures in the lexicographic order; the first that differs has to be smaller, and not
/// negative before.
fn is_smaller(now: &[Value], before: &[Value]) -> bool {
    let differs = now.iter().zip(before).find(|(now, before)| now != before);
    matches!(differs, Some((Value::Int(now), Value::Int(before)))
        if now < before && *before >= 0)
}
