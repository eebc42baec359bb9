//! eval(σ, e): the value of an expression without permissions (Schwerhoff 2011, section 3.5).

pub(crate) mod aggregates;
mod quantifiers;

use chalice::program::{BinaryOp, Expr, ExprKind, FieldRef, LockMode, Quantifier, Type, UnaryOp};
use num_bigint::{BigInt, Sign};
use sil::source::Span;
use smt::terms::{Quant, Sort, Term, Terms, grow_stack};

pub(super) use self::quantifiers::{Range, is_in};
use super::{Chalice, Direct, Threads, span};
use symex::findings::blame::{Blame, ErrorId, Reason, unsupported_at};
use symex::findings::evaluated::Record;
use symex::{Explore, Stop, View};

impl Chalice<'_, '_> {
    /// Returns the value of an expression, and shows its obligations unless `blame` trusts it.
    pub(super) fn eval(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        self.recorded(span(expr.span), |chalice| grow_stack(|| chalice.eval_kind(expr, blame)))
    }

    fn eval_kind(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        match &expr.kind {
            ExprKind::Int(value) => Ok(self.terms.int(value.clone())),
            ExprKind::Bool(value) => Ok(self.terms.bool(*value)),
            ExprKind::Null => Ok(Terms::NULL),
            ExprKind::This => self.threads.variable(self.direct.this, expr),
            ExprKind::Local(local) => self.threads.variable(Direct::local(*local), expr),
            ExprKind::FieldRead { receiver, field: FieldRef::Joinable } => {
                self.may_be_joined(receiver, span(expr.span), blame)
            }
            ExprKind::BackPointers { receiver, field, .. } => {
                let receiver = self.eval(receiver, blame)?;
                self.threads.pointers_to(receiver, *field, span(expr.span), blame)
            }
            ExprKind::String(text) => self.threads.text(text),
            ExprKind::FieldRead { receiver, field } => {
                let receiver = self.eval(receiver, blame)?;
                let sort = self.threads.sort(&expr.ty);
                let field = self.direct.field(*field);
                self.read_field(receiver, field, sort, span(expr.span), blame)
            }
            ExprKind::Eval { state, body } => self.eval_state(expr, state, body, blame),
            ExprKind::LockBottom => Ok(self.threads.bottom()),
            ExprKind::Holds { target, mode } => self.claims_lock(expr, target, *mode, blame),
            ExprKind::Binary { op, left, right } if left.ty == Type::Mu => {
                self.compare_levels((expr, *op), left, right, blame)
            }
            ExprKind::Unary { op, operand } => {
                let operand = self.eval(operand, blame)?;
                Ok(match op {
                    UnaryOp::Not => self.terms.not(operand),
                    UnaryOp::Negate => self.terms.neg(operand),
                })
            }
            ExprKind::Binary { op, left, right } => {
                let a = self.eval(left, blame)?;
                let b = self.eval(right, blame)?;
                self.threads.binary(*op, (left, a), (right, b), blame)
            }
            ExprKind::And(parts) => self.sequence(parts, true, blame),
            ExprKind::Or(parts) => self.sequence(parts, false, blame),
            ExprKind::Implies { guard, body } => {
                let guard = self.eval(guard, blame)?;
                let value = self.under(guard, |chalice| chalice.eval(body, blame))?;
                Ok(self.terms.implies(guard, value.unwrap_or(Terms::TRUE)))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.eval(condition, blame)?;
                let negation = self.terms.not(condition);
                let then = self.under(condition, |chalice| chalice.eval(then, blame))?;
                let otherwise = self.under(negation, |chalice| chalice.eval(otherwise, blame))?;
                match (then, otherwise) {
                    (Some(then), Some(otherwise)) => Ok(self.terms.ite(condition, then, otherwise)),
                    (Some(only), None) | (None, Some(only)) => Ok(only),
                    (None, None) => Err(Stop::Infeasible),
                }
            }
            ExprKind::Old(body) => {
                if let (None, Some(forked)) = (&self.frame.past.old, self.frame.thread.forked) {
                    return self.old_of_fork(forked, expr, body);
                }
                let Some(old) = self.frame.past.old.clone() else {
                    return unsupported_at(span(expr.span), "`old` where there is none");
                };
                let thread = &self.frame.thread;
                let (locks, credits) = (thread.old_locks.clone(), thread.old_credits.clone());
                let eval =
                    |chalice: &mut Self| chalice.in_heap(old, |chalice| chalice.eval(body, blame));
                let eval = |chalice: &mut Self| {
                    chalice.exchanging(|chalice| &mut chalice.here.credits, credits, eval).0
                };
                self.exchanging(|chalice| &mut chalice.frame.thread.locks, locks, eval).0
            }
            ExprKind::Unfolding { access, body } => self.unfolding(access, body, blame),
            ExprKind::Apply { receiver, function, arguments } => {
                self.application(expr, (receiver, *function, arguments), blame)
            }
            ExprKind::Assigned(local) => match self.direct.assigned.get(*local) {
                Some(&flag) => Ok(self.frame.store.get(flag).unwrap_or(Terms::FALSE)),
                None => unknown(expr),
            },
            ExprKind::Result => match self.frame.result {
                Some(result) => Ok(result),
                None => unknown(expr),
            },
            ExprKind::Quantified { quantifier, variables, domain, body } => {
                let quant = match quantifier {
                    Quantifier::Forall => Quant::Forall,
                    Quantifier::Exists => Quant::Exists,
                    Quantifier::Sum | Quantifier::Max => return self.aggregate(expr, blame),
                };
                self.quantified(quant, variables, domain, body, blame)
            }
            _ => self.eval_collection(expr, blame),
        }
    }

    /// Evaluates an expression that makes a sequence or set, or looks into one.
    fn eval_collection(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        match &expr.kind {
            ExprKind::Length(operand) => {
                let value = self.eval(operand, blame)?;
                Ok(match operand.ty {
                    Type::Set(_) => self.terms.set_card(value),
                    _ => self.terms.seq_len(value),
                })
            }
            ExprKind::Seq(parts) => {
                let (element, values) = self.elements(expr, parts, blame)?;
                Ok(self.terms.seq_explicit(element, &values))
            }
            ExprKind::Set(parts) => {
                let (element, values) = self.elements(expr, parts, blame)?;
                Ok(self.terms.set_explicit(element, &values))
            }
            ExprKind::Index { sequence, index } => {
                let elements = self.eval(sequence, blame)?;
                let position = self.eval(index, blame)?;
                let (zero, at) = (self.terms.int(0), span(index.span));
                let not_negative = self.terms.le(zero, position);
                self.prove_defined(not_negative, blame, Reason::IndexNegative, at)?;
                let length = self.terms.seq_len(elements);
                let small_enough = self.terms.lt(position, length);
                self.prove_defined(small_enough, blame, Reason::IndexTooLarge, at)?;
                Ok(self.terms.seq_at(elements, position))
            }
            ExprKind::Range { from, to } => {
                let from = self.eval(from, blame)?;
                let to = self.eval(to, blame)?;
                let in_order = self.terms.le(from, to);
                self.prove_defined(in_order, blame, Reason::RangeBounds, span(expr.span))?;
                Ok(self.terms.seq_range(from, to))
            }
            ExprKind::Slice { sequence, from, to } => {
                self.slice(expr, sequence, (from.as_deref(), to.as_deref()), blame)
            }
            _ => unknown(expr),
        }
    }

    /// Evaluates `token.joinable`. Without permission to a token it is unknown whether the token
    /// may be joined. An assertion of it then fails for this reason.
    fn may_be_joined(&mut self, token: &Expr, at: Span, blame: Blame) -> Result<Term, Stop> {
        let token = self.eval(token, blame)?;
        let joinable = self.direct.joinable();
        if blame.error == ErrorId::AssertFailed && !blame.is_trusted() {
            if let Some(value) = self.lookup(joinable, &[token], blame)? {
                return Ok(value);
            }
            self.prove(Terms::FALSE, blame, Reason::AssertionFalse, at)?;
        }
        let joinable = self.direct.joinable;
        self.read_field(token, joinable, Sort::BOOL, at, blame)
    }

    /// Evaluates `s[from..to]`, whose bounds have to lie in the sequence.
    fn slice(
        &mut self,
        whole: &Expr,
        sequence: &Expr,
        (from, to): (Option<&Expr>, Option<&Expr>),
        blame: Blame,
    ) -> Result<Term, Stop> {
        let elements = self.eval(sequence, blame)?;
        let zero = self.terms.int(0);
        let length = self.terms.seq_len(elements);
        let low = match from {
            Some(from) => self.eval(from, blame)?,
            None => zero,
        };
        let high = match to {
            Some(to) => self.eval(to, blame)?,
            None => length,
        };
        let in_order = [(zero, low), (low, high), (high, length)];
        let in_order = in_order.map(|(one, other)| self.terms.le(one, other));
        let in_order = self.terms.and(in_order);
        self.prove_defined(in_order, blame, Reason::SliceBounds, span(whole.span))?;
        let start = if to.is_some() { self.terms.seq_take(elements, high) } else { elements };
        Ok(self.terms.seq_drop(start, low))
    }

    /// Evaluates `holds(e)` or `rd holds(e)`. In contracts, e has to be an object.
    fn claims_lock(
        &mut self,
        claim: &Expr,
        target: &Expr,
        mode: LockMode,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let object = self.eval(target, blame)?;
        if blame.is_of_contract() {
            let exists = self.terms.differs(object, Terms::NULL);
            self.prove_defined(exists, blame, Reason::ReceiverNull, span(target.span))?;
        }
        let locks = self.threads.locks(span(claim.span))?;
        Ok(self.threads.holds(&locks, object, mode))
    }

    fn elements(
        &mut self,
        collection: &Expr,
        parts: &[Expr],
        blame: Blame,
    ) -> Result<(Sort, Vec<Term>), Stop> {
        let values = parts.iter().map(|part| self.eval(part, blame));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        match collection.ty.element() {
            Some(element) => Ok((self.threads.sort(element), values)),
            None => unknown(collection),
        }
    }

    /// Evaluates a conjunction (`goes_on`) or disjunction. A part is evaluated where those before
    /// it do not decide.
    fn sequence(&mut self, parts: &[Expr], goes_on: bool, blame: Blame) -> Result<Term, Stop> {
        let mut values: Vec<Term> = Vec::with_capacity(parts.len());
        for part in parts {
            let guard = if goes_on {
                self.terms.and(values.iter().copied())
            } else {
                let some = self.terms.or(values.iter().copied());
                self.terms.not(some)
            };
            match self.under(guard, |chalice| chalice.eval(part, blame))? {
                Some(value) => values.push(value),
                None => break,
            }
        }
        Ok(if goes_on { self.terms.and(values) } else { self.terms.or(values) })
    }
}

impl Threads<'_, '_> {
    fn variable(&mut self, variable: sil::program::LocalId, expr: &Expr) -> Result<Term, Stop> {
        match self.frame.store.get(variable) {
            Some(value) => Ok(value),
            None => unsupported_at(span(expr.span), "a variable without a value"),
        }
    }

    /// Returns the value of a text. Its bytes, behind a 1, are a number that no other text has.
    fn text(&mut self, text: &str) -> Result<Term, Stop> {
        let sort = self.sort(&Type::String);
        let bytes: Vec<u8> = std::iter::once(1).chain(text.bytes()).collect();
        let number = BigInt::from_bytes_be(Sign::Plus, &bytes);
        let value = self.terms.constant(&format!("direct.text.{number}"), sort);
        let code = self.terms.declare_function("direct.text.code", &[sort], Sort::INT);
        let coded = self.terms.apply(code, &[value]);
        let number = self.terms.int(number);
        let fact = self.terms.eq(coded, number);
        self.assume(fact)?;
        Ok(value)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        (left, a): (&Expr, Term),
        (right, b): (&Expr, Term),
        blame: Blame,
    ) -> Result<Term, Stop> {
        if matches!(op, BinaryOp::Div | BinaryOp::Mod) {
            let zero = self.terms.int(0);
            let is_other = self.terms.differs(b, zero);
            self.prove_defined(is_other, blame, Reason::DivisionByZero, span(right.span))?;
        }
        let terms = &mut self.terms;
        Ok(match op {
            BinaryOp::Iff => terms.iff(a, b),
            BinaryOp::Eq => terms.eq(a, b),
            BinaryOp::Ne => terms.differs(a, b),
            BinaryOp::Less => terms.lt(a, b),
            BinaryOp::AtMost => terms.le(a, b),
            BinaryOp::AtLeast => terms.ge(a, b),
            BinaryOp::Greater => terms.gt(a, b),
            BinaryOp::Add => terms.add(a, b),
            BinaryOp::Sub => terms.sub(a, b),
            BinaryOp::Mul => terms.mul(a, b),
            BinaryOp::Div => terms.int_div(a, b),
            BinaryOp::Mod => terms.int_mod(a, b),
            BinaryOp::Append => terms.seq_append(a, b),
            BinaryOp::Union => terms.set_union(a, b),
            BinaryOp::Difference => terms.set_difference(a, b),
            BinaryOp::Intersection => terms.set_intersection(a, b),
            BinaryOp::Subset => terms.set_subset(a, b),
            BinaryOp::Superset => terms.set_subset(b, a),
            BinaryOp::ProperSubset | BinaryOp::ProperSuperset => {
                let (small, large) = if op == BinaryOp::ProperSubset { (a, b) } else { (b, a) };
                let inside = terms.set_subset(small, large);
                let differs = terms.differs(small, large);
                terms.and([inside, differs])
            }
            BinaryOp::In => contains(&mut self.terms, a, b, &right.ty),
            BinaryOp::NotIn => {
                let inside = contains(&mut self.terms, a, b, &right.ty);
                self.terms.not(inside)
            }
            BinaryOp::Below => return unknown(left),
        })
    }
}

fn contains(terms: &mut Terms, element: Term, collection: Term, ty: &Type) -> Term {
    match ty {
        Type::Set(_) => terms.set_contains(element, collection),
        _ => terms.seq_contains(element, collection),
    }
}

/// Stops at a form of expression that no rule has.
///
/// SOUNDNESS: the check of what is supported comes before. A form that this check has forgotten
/// ends here.
pub(super) fn unknown<T>(expr: &Expr) -> Result<T, Stop> {
    unsupported_at(span(expr.span), "this form of expression")
}
