//! Evaluation of expressions.
//!
//! Every read is checked: of fields against the permission of the scope's holder, of sequences against their bounds.
//! Nothing is evaluated by halves: what cannot be executed is [`Trouble::Unknown`].

mod levels;
mod quantified;

use chalice::Span;
use chalice::program::LockMode;

use crate::amount::{Amount, Sign};
use crate::code::{Access, AmountExpr, Bool2, Compare, EvalState, Expr, Kind, SetOp, Target};
use crate::fault::{Fault, Reason, Res, Trouble, reference_or_null};
use crate::heap::{Holder, Loc, Part, Snapshot};
use crate::machine::{COMMON, Machine, OldState, Opened};
use crate::stack::grow_stack;
use crate::transfer::Transfer;
use crate::value::{Ref, Seq, Value};

/// How deep functions may recurse.
const DEPTH: usize = 400_000;

/// How deep they may recurse over a start that is being made, which is small.
const GRANTED_DEPTH: usize = 200;

impl Machine<'_> {
    /// The value of an expression.
    pub(crate) fn eval(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        match &e.kind {
            Kind::Slot(slot) => return Ok(slots[*slot as usize].clone()),
            Kind::Const(value) => return Ok(value.clone()),
            _ => {}
        }
        self.depth += 1;
        let value = if self.depth.is_multiple_of(32) {
            grow_stack(|| self.eval_inner(e, slots))
        } else {
            self.eval_inner(e, slots)
        };
        self.depth -= 1;
        value
    }

    /// The truth of an expression.
    pub(crate) fn truth(&mut self, e: &Expr, slots: &mut [Value]) -> Res<bool> {
        self.eval(e, slots).map(|value| value.is_true())
    }

    fn eval_inner(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        Ok(match &e.kind {
            Kind::Const(value) => value.clone(),
            Kind::Slot(slot) => slots[*slot as usize].clone(),
            Kind::Constant { slot, flag } => return self.constant(*slot, *flag, slots),
            Kind::Field { receiver, cell } => {
                let object = self.eval(receiver, slots)?;
                let object = reference_or_null(&object, receiver.span, |object| object)?;
                return self.read(object, *cell, e.span);
            }
            Kind::Apply { receiver, function, arguments } => {
                return self.apply(receiver, *function, arguments, e.span, slots);
            }
            Kind::Not(inner) => Value::Bool(!self.truth(inner, slots)?),
            Kind::Negate(inner) => {
                let value = self.eval(inner, slots)?;
                Value::Int(0).arithmetic(crate::value::Arithmetic::Sub, &value)
            }
            Kind::Arithmetic(op, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                left.arithmetic(*op, &right)
            }
            Kind::Divide { remainder, operands } => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                let Some((quotient, rest)) = left.divide(&right) else {
                    let fault =
                        Fault::new(Reason::DivisionByZero, operands.1.span, "the divisor is zero");
                    return Err(fault.into());
                };
                if *remainder { rest } else { quotient }
            }
            Kind::Compare(how, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let order = left.compare(&self.eval(&operands.1, slots)?);
                Value::Bool(match how {
                    Compare::Less => order.is_lt(),
                    Compare::AtMost => order.is_le(),
                    Compare::AtLeast => order.is_ge(),
                    Compare::Greater => order.is_gt(),
                })
            }
            Kind::Equal(how, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                Value::Bool((left == right) == (*how == Bool2::Equal))
            }
            Kind::EqualLevels(how, sides) => {
                let equal = self.equal_levels(&sides.0, &sides.1, slots)?;
                Value::Bool(equal == (*how == Bool2::Equal))
            }
            Kind::Below(sides) => return self.below(&sides.0, &sides.1, e.span, slots),
            Kind::In { negated, operands } => {
                let element = self.eval(&operands.0, slots)?;
                let collection = self.eval(&operands.1, slots)?;
                let found = match &collection {
                    Value::Seq(seq) => seq.contains(&element),
                    Value::Set(set) => set.binary_search(&element).is_ok(),
                    _ => false,
                };
                Value::Bool(found != *negated)
            }
            Kind::And(parts) => {
                for part in parts {
                    if !self.truth(part, slots)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            Kind::Or(parts) => {
                for part in parts {
                    if self.truth(part, slots)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Kind::Implies(parts) => {
                if !self.truth(&parts.0, slots)? {
                    return Ok(Value::Bool(true));
                }
                return self.eval(&parts.1, slots);
            }
            Kind::Conditional(parts) => {
                let chosen = if self.truth(&parts.0, slots)? { &parts.1 } else { &parts.2 };
                return self.eval(chosen, slots);
            }
            Kind::Old(inner) => return self.old(inner, slots),
            Kind::Unfolding(parts) => return self.unfolding(&parts.0, &parts.1, slots),
            Kind::Quantified(quantified) => return self.quantified(quantified, e.span, slots),
            Kind::Holds { target, mode } => {
                let object = self.eval(target, slots)?;
                let object = reference_or_null(&object, target.span, |object| object)?;
                let holds = self.holds(object, *mode)
                    || (self.granting
                        && self.scope.at.is_none()
                        && self.grant_lock(object, *mode)?);
                Value::Bool(holds)
            }
            Kind::Eval(parts) => return self.eval_in_state(&parts.0, &parts.1, slots),
            // Only `assert`, contracts and `assume` hold permission to account; elsewhere the resolver refuses it.
            Kind::Access(_) | Kind::Credit { .. } => {
                let mut check = Transfer::check(self.scope.holder);
                self.collect(e, slots, &mut check)?;
                self.settle(check)?;
                Value::Bool(true)
            }
            _ => return self.collections(e, slots),
        })
    }

    fn collections(&mut self, e: &Expr, slots: &mut [Value]) -> Res<Value> {
        Ok(match &e.kind {
            Kind::Length(inner) => {
                let length = match self.eval(inner, slots)? {
                    Value::Seq(seq) => seq.len(),
                    Value::Set(set) => set.len(),
                    _ => 0,
                };
                Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
            }
            Kind::Seq(items) => {
                let items: Res<Vec<Value>> =
                    items.iter().map(|item| self.eval(item, slots)).collect();
                Value::Seq(Seq::Items(items?.into()))
            }
            Kind::Set(items) => {
                let items: Res<Vec<Value>> =
                    items.iter().map(|item| self.eval(item, slots)).collect();
                Value::set(items?)
            }
            Kind::Range(bounds) => {
                let from = self.eval(&bounds.0, slots)?.to_i64_saturating();
                let to = self.eval(&bounds.1, slots)?.to_i64_saturating();
                Value::Seq(Seq::Range(from, to.max(from)))
            }
            Kind::Append(operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                match (left, right) {
                    (Value::Seq(left), Value::Seq(right)) => {
                        self.limit_length(left.len() + right.len(), e.span)?;
                        Value::Seq(left.append(&right))
                    }
                    (left, _) => left,
                }
            }
            Kind::Sets(op, operands) => {
                let left = self.eval(&operands.0, slots)?;
                let right = self.eval(&operands.1, slots)?;
                sets(*op, &left, &right)
            }
            Kind::Index(operands) => {
                let sequence = self.eval(&operands.0, slots)?;
                let at = self.eval(&operands.1, slots)?;
                return index(&sequence, &at, e.span);
            }
            Kind::Slice(parts) => {
                let sequence = self.eval(&parts.0, slots)?;
                let Value::Seq(seq) = &sequence else { return Ok(sequence) };
                let mut bound = |bound: &Option<Expr>, otherwise: usize| match bound {
                    None => Ok(otherwise),
                    Some(bound) => {
                        let at = self.eval(bound, slots)?.to_i64_saturating();
                        usize::try_from(at).ok().filter(|at| *at <= seq.len()).ok_or_else(|| {
                            let words = format!("{at} is not between 0 and {}", seq.len());
                            Box::from(Fault::new(Reason::SeqSliceBounds, bound.span, words))
                        })
                    }
                };
                let from = bound(&parts.1, 0)?;
                let to = bound(&parts.2, seq.len())?;
                Value::Seq(seq.slice(from, to))
            }
            _ => unreachable!("evaluated by the caller"),
        })
    }

    /// A sequence that would not fit into memory ends the run.
    fn limit_length(&self, length: usize, span: Span) -> Res<()> {
        if length > 50_000_000 {
            return Err(Box::new(Trouble::Bound("a sequence is too long", span)));
        }
        Ok(())
    }

    fn constant(&mut self, slot: u32, flag: u32, slots: &[Value]) -> Res<Value> {
        if slots[flag as usize].is_true() {
            return Ok(slots[slot as usize].clone());
        }
        // Its value is known later; until then it is what an earlier run has found out.
        let key = (
            self.scope.thread.map_or(Holder::Nobody, |thread| {
                self.threads[thread as usize].stack.last().map_or(Holder::Nobody, |top| top.holder)
            }),
            slot,
        );
        let number = match self.read_early.iter().position(|one| *one == key) {
            Some(number) => number,
            None => {
                self.read_early.push(key);
                self.read_early.len() - 1
            }
        };
        Ok(self.foreseen.get(number).cloned().unwrap_or_else(|| slots[slot as usize].clone()))
    }

    /// The value of a cell, if it may be read.
    pub(crate) fn read(&mut self, object: Ref, cell: u32, span: Span) -> Res<Value> {
        let Some(target) = self.heap.objects.get(object.0 as usize) else {
            let words = "nobody has permission to an object that does not exist";
            return Err(Fault::new(Reason::InsufficientPermission, span, words).into());
        };
        let found = &target.cells[cell as usize];
        if let Some(state) = &self.scope.at {
            let value = self.heap.value_at(object, cell, state.epoch).clone();
            return if value == Value::Open { self.decide(object, cell) } else { Ok(value) };
        }
        if self.scope.checks && !found.holdings.is_whole(self.scope.holder) {
            let loc = Loc { object, part: Part::Cell(cell) };
            let amount = self.available(loc);
            if !self.fractions.is_readable(&amount) {
                return Err(Fault::missing(loc, None, span, "no permission to read").into());
            }
        }
        match &self.heap.object(object).cells[cell as usize].value {
            Value::Open => self.decide(object, cell),
            value => Ok(value.clone()),
        }
    }

    /// How much the holder of the scope has of a location, with what is open.
    pub(crate) fn available(&self, loc: Loc) -> Amount {
        self.available_to(loc, self.scope.holder)
    }

    pub(crate) fn available_to(&self, loc: Loc, holder: Holder) -> Amount {
        let Some(holdings) = self.heap.holdings(loc) else { return Amount::NONE };
        let mut sum = holdings.amount(holder);
        for opened in &self.opened {
            let part = holdings.amount(opened.holder);
            if !part.is_none() && opened.holder != holder {
                // Counting permissions inside stay what they are: whoever asks whether it is readable gets an answer.
                let scaled = part.times(&opened.scale).unwrap_or(part);
                sum = sum.plus(&scaled);
            }
        }
        sum
    }

    fn old(&mut self, inner: &Expr, slots: &mut [Value]) -> Res<Value> {
        if matches!(self.scope.old, OldState::Now) {
            return self.eval(inner, slots);
        }
        let Some(state) = self.old_state() else {
            return Err(Box::new(Trouble::NoOldState(inner.span)));
        };
        self.in_state(state, |machine| machine.eval(inner, slots))
    }

    /// Evaluates something in a recorded state. Permission is not checked there.
    pub(crate) fn in_state<T>(
        &mut self,
        state: Snapshot,
        evaluate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let at = self.scope.at.replace(state);
        let checks = std::mem::replace(&mut self.scope.checks, false);
        let result = evaluate(self);
        self.scope.at = at;
        self.scope.checks = checks;
        result
    }

    fn unfolding(&mut self, access: &Access, body: &Expr, slots: &mut [Value]) -> Res<Value> {
        let Target::Predicate { receiver, predicate } = &access.target else {
            return self.eval(body, slots);
        };
        let object = self.eval(receiver, slots)?;
        let object = reference_or_null(&object, receiver.span, |object| object)?;
        if self.scope.at.is_some() || !self.scope.checks {
            return self.eval(body, slots);
        }
        let loc = Loc { object, part: Part::Predicate(*predicate) };
        let available = self.available(loc);
        let amount = if access.amount.is_inexact(true) {
            if !self.fractions.is_divisible(&available) {
                return Err(Fault::missing(loc, None, access.span, "no permission to open").into());
            }
            available.clone()
        } else {
            self.amount(&access.amount, slots)?
        };
        let rest = self.fractions.sign(&available.minus(&amount));
        if !matches!(rest, Sign::Positive | Sign::Zero) {
            let fault = Fault::missing(loc, Some(amount), access.span, "not enough to open");
            return Err(fault.into());
        }
        let holder = Holder::Instance(object, *predicate);
        self.opened.push(Opened { holder, scale: amount });
        let value = self.eval(body, slots);
        self.opened.pop();
        value
    }

    /// A permission amount.
    pub(crate) fn amount(&mut self, amount: &AmountExpr, slots: &mut [Value]) -> Res<Amount> {
        use crate::amount::Rational;
        Ok(match amount {
            AmountExpr::Full => Amount::FULL,
            AmountExpr::Percentage(e) => {
                let number = self.eval(e, slots)?;
                Amount::number(Rational::hundredths(&number.big()))
            }
            AmountExpr::Read => Amount::read(self.scope.kappa),
            AmountExpr::Epsilons(e) => {
                let number = self.eval(e, slots)?;
                Amount::epsilons(Rational::whole(&number.big()))
            }
            AmountExpr::Star => {
                let kappa = self.fractions.fresh(None);
                Amount::read(kappa)
            }
            AmountExpr::Common(e) => {
                self.eval(e, slots)?;
                Amount::read(COMMON)
            }
            AmountExpr::Token(e) => {
                let token = self.eval(e, slots)?;
                let token = reference_or_null(&token, e.span, |token| token)?;
                match self.heap.token(token) {
                    Some(state) => Amount::read(state.kappa),
                    None => {
                        let what = "token.unknown";
                        return Err(Box::new(Trouble::Unknown { what, span: e.span }));
                    }
                }
            }
            AmountExpr::Add(parts) => grow_stack(|| {
                Res::Ok(self.amount(&parts.0, slots)?.plus(&self.amount(&parts.1, slots)?))
            })?,
            AmountExpr::Sub(parts) => grow_stack(|| {
                Res::Ok(self.amount(&parts.0, slots)?.minus(&self.amount(&parts.1, slots)?))
            })?,
            AmountExpr::Scale(parts) => {
                let factor = self.eval(&parts.0, slots)?;
                let factor = Amount::number(Rational::whole(&factor.big()));
                let amount = grow_stack(|| self.amount(&parts.1, slots))?;
                factor.times(&amount).unwrap_or(Amount::NONE)
            }
        })
    }

    fn apply(
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
                let fault = Fault::new(Reason::ReceiverNull, receiver.span, "this is null");
                return Err(fault.of_kind("application.precondition").into());
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
        let outermost = self.evaluating.is_empty() || self.config.check_functions;
        let is_checked = outermost && self.scope.checks && self.scope.at.is_none();
        if is_checked && !callee.requires.is_empty() {
            self.check_application(function, &mut inner, span)?;
        }
        self.evaluating.push(function);
        let value = grow_stack(|| self.value_of(function, &mut inner, span));
        self.evaluating.pop();
        let value = value?;
        if is_checked && !callee.ensures.is_empty() && !self.evaluating.contains(&function) {
            self.check_value(function, &mut inner, value.clone())?;
        }
        Ok(value)
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
                        fault.kind = Some("function.not.wellformed");
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
        let kappa = self.fractions.fresh(Some(self.scope.kappa));
        let outer = std::mem::replace(&mut self.scope.kappa, kappa);
        let mut check = Transfer::check(self.scope.holder).inexact(kappa);
        let result =
            self.collect_all(&code.functions[function as usize].requires, inner, &mut check);
        let result = result.and_then(|()| self.settle(check).map(|_| ()));
        self.scope.kappa = outer;
        result.map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.kind.get_or_insert("application.precondition");
                fault.clause = Some(span);
            }
            trouble
        })
    }

    fn check_value(&mut self, function: u32, inner: &mut [Value], value: Value) -> Res<()> {
        let code = self.code;
        let callee = &code.functions[function as usize];
        inner[callee.parameters + 1] = value;
        self.evaluating.push(function);
        let mut check = Transfer::check(self.scope.holder);
        let result = self.collect_all(&callee.ensures, inner, &mut check);
        self.evaluating.pop();
        self.counts.checks += 1;
        result.map_err(|mut trouble| {
            if let Trouble::Fault(fault) = &mut *trouble {
                fault.kind.get_or_insert("postcondition.violated");
                fault.clause = fault.clause.or(Some(fault.span));
            }
            trouble
        })
    }

    /// Does the thread of the scope hold a lock?
    pub(crate) fn holds(&self, object: Ref, mode: LockMode) -> bool {
        let is_write = mode == LockMode::Write;
        self.held().iter().any(|held| held.object == object && held.write == is_write)
    }

    fn eval_in_state(&mut self, state: &EvalState, body: &Expr, slots: &mut [Value]) -> Res<Value> {
        let unknown = || Box::new(Trouble::Unknown { what: "state.unknown", span: body.span });
        let (target, is_acquire) = match state {
            EvalState::Acquire(target) => (target, true),
            EvalState::Release(target) => (target, false),
            EvalState::Fork { token, receiver, method, arguments } => {
                let token = self.eval(token, slots)?;
                let token = reference_or_null(&token, body.span, |token| token)?;
                if self.granting {
                    self.bind_token(token, receiver, *method, arguments, slots)?;
                }
                if !self.is_fork_of(token, receiver, *method, arguments, slots)? {
                    return Ok(Value::Bool(false));
                }
                let before = self.heap.token(token).map(|state| state.before.clone());
                let before = before.ok_or_else(unknown)?;
                return self.in_state(before, |machine| machine.without_amounts(body, slots));
            }
        };
        let object = self.eval(target, slots)?;
        let object = reference_or_null(&object, target.span, |object| object)?;
        let thread = self.scope.thread.ok_or_else(unknown)?;
        let seen = self.threads[thread as usize].seen.get(&object);
        let state =
            seen.and_then(
                |seen| {
                    if is_acquire { seen.acquired.clone() } else { seen.released.clone() }
                },
            );
        let state = state.ok_or_else(unknown)?;
        self.in_state(state, |machine| machine.without_amounts(body, slots))
    }

    /// What an assertion says of values. What was held in earlier states is not recorded.
    fn without_amounts(&mut self, body: &Expr, slots: &mut [Value]) -> Res<Value> {
        if body.is_pure {
            return self.eval(body, slots);
        }
        match &body.kind {
            Kind::And(parts) => {
                for part in parts {
                    if !self.without_amounts(part, slots)?.is_true() {
                        return Ok(Value::Bool(false));
                    }
                }
                Ok(Value::Bool(true))
            }
            _ => {
                self.skip("old.permission", body.span);
                Ok(Value::Bool(true))
            }
        }
    }

    fn is_fork_of(
        &mut self,
        token: Ref,
        receiver: &Expr,
        method: u32,
        arguments: &[Option<Expr>],
        slots: &mut [Value],
    ) -> Res<bool> {
        let joinable = self.read(token, 0, receiver.span)?;
        let Some(state) = self.heap.token(token).cloned() else { return Ok(false) };
        if !joinable.is_true() || state.method != method {
            return Ok(false);
        }
        if self.eval(receiver, slots)? != state.slots[0] {
            return Ok(false);
        }
        for (at, argument) in arguments.iter().enumerate() {
            if let Some(argument) = argument
                && self.eval(argument, slots)? != state.slots[at + 1]
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A transfer that only checks whether the current holder has what an assertion asks for.
    pub(crate) fn check_now(&mut self, e: &Expr, slots: &mut [Value]) -> Res<()> {
        let mut check = Transfer::check(self.scope.holder);
        self.collect(e, slots, &mut check)?;
        self.settle(check).map(|_| ())
    }
}

fn index(sequence: &Value, at: &Value, span: Span) -> Res<Value> {
    let Value::Seq(seq) = sequence else { return Ok(Value::Null) };
    let at = at.to_i64_saturating();
    if at < 0 {
        let words = format!("the index is {at}");
        return Err(Fault::new(Reason::SeqIndexNegative, span, words).into());
    }
    match usize::try_from(at) {
        Ok(at) if at < seq.len() => Ok(seq.get(at)),
        _ => {
            let words = format!("the index is {at}, the length {}", seq.len());
            Err(Fault::new(Reason::SeqIndexLength, span, words).into())
        }
    }
}

fn sets(op: SetOp, left: &Value, right: &Value) -> Value {
    let (Value::Set(left), Value::Set(right)) = (left, right) else { return left.clone() };
    let has = |set: &[Value], value: &Value| set.binary_search(value).is_ok();
    let subset = || left.iter().all(|value| has(right, value));
    match op {
        SetOp::Union => Value::set(left.iter().chain(right.iter()).cloned().collect()),
        SetOp::Difference => {
            Value::Set(left.iter().filter(|value| !has(right, value)).cloned().collect())
        }
        SetOp::Intersection => {
            Value::Set(left.iter().filter(|value| has(right, value)).cloned().collect())
        }
        SetOp::Subset => Value::Bool(subset()),
        SetOp::ProperSubset => Value::Bool(left.len() < right.len() && subset()),
    }
}
