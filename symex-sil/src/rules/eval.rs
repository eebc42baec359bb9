//! eval(σ, e): the value of a pure expression.
//!
//! Evaluation in σ's own heap leaves the heap unchanged, and never splits the execution. The sides
//! of a conditional are evaluated under their guards and joined into one term.

pub(crate) mod applications;
mod locations;
mod one_point;
mod operators;
mod perm;
pub(crate) mod quantifiers;

use std::rc::Rc;

use sil::build::unsupported_construct as unsupported;
use sil::program::{BinaryOp, Collection, Expr, ExprKind, LocalId, OldLabel, Type, UnaryOp};
use sil::recursion::applied;
use sil::source::Span;
use smt::terms::{Term, Terms, grow_stack};

use crate::rules::Sil;
use symex::findings::blame::{Blame, Reason, unsupported_at};
use symex::findings::evaluated::Record;
use symex::rules::language::Language;
use symex::run::explore::Answer;
use symex::state::Labelled;
use symex::{Engine, Explore, Reading, Stop, View};

impl Sil<'_, '_> {
    /// Returns the value of `expr`, and shows its obligations unless `blame` trusts it.
    pub(crate) fn eval(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        self.recorded(expr.span, |sil| grow_stack(|| sil.eval_kind(expr, blame)))
    }

    fn eval_kind(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        if let Some(construct) = unsupported(&expr.annotations) {
            return unsupported_at(expr.span, &construct);
        }
        match &expr.kind {
            ExprKind::Int(value) => Ok(self.terms.int(value.clone())),
            ExprKind::Bool(value) => Ok(self.terms.bool(*value)),
            ExprKind::Null => Ok(Terms::NULL),
            ExprKind::NoPerm => Ok(Terms::NONE),
            ExprKind::FullPerm => Ok(Terms::WRITE),
            ExprKind::Wildcard => self.wildcard(),
            ExprKind::Local(local) => Ok(self.eval_local(*local, &expr.ty)),
            ExprKind::Result => match self.frame.result {
                Some(result) => Ok(result),
                None => unsupported_at(expr.span, "`result` outside a postcondition"),
            },
            ExprKind::Unary { op, operand } => {
                let operand = self.eval(operand, blame)?;
                Ok(match op {
                    UnaryOp::Not => self.terms.not(operand),
                    UnaryOp::Minus => self.terms.neg(operand),
                })
            }
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                let guard = self.eval(left, blame)?;
                let value = self.eval_under(guard, right, blame)?.unwrap_or(Terms::TRUE);
                Ok(self.terms.implies(guard, value))
            }
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.eval(left, blame)?, self.eval(right, blame)?);
                operators::binary(self, *op, (left, a), (right, b), blame)
            }
            ExprKind::And(operands) => self.eval_and(operands, blame),
            ExprKind::Or(operands) => self.eval_or(operands, blame),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.eval_conditional(condition, then, otherwise, blame)
            }
            ExprKind::FieldRead { receiver, field } => {
                self.eval_field_read(expr, receiver, *field, blame)
            }
            ExprKind::Apply { function, arguments } => {
                self.eval_application(expr, *function, arguments, blame)
            }
            ExprKind::DomainApply { function, instance, arguments } => {
                let arguments = self.eval_all(arguments, blame)?;
                self.domain_application(*function, instance, &arguments)
            }
            ExprKind::Old { label, body } => self.eval_old(expr, *label, body, blame),
            ExprKind::Let { variable, value, body } => self.eval_let(*variable, value, body, blame),
            ExprKind::Quantified { .. } => self.eval_quantified(expr, blame),
            ExprKind::Perm(resource) => self.eval_perm(resource, blame),
            ExprKind::ForPerm { variables, resource, body } => {
                self.eval_forperm(expr, variables, resource, body, blame)
            }
            ExprKind::InhaleExhale { inhale, exhale } => match self.frame.assertion.reading {
                Reading::Inhale => self.eval(inhale, blame),
                Reading::Exhale => {
                    let blame = self.other_side(blame)?;
                    self.eval(exhale, blame)
                }
            },
            ExprKind::Unfolding { access, body } => self.eval_unfolding(access, body, blame),
            ExprKind::Applying { wand, body } => self.eval_applying(wand, body, blame),
            ExprKind::Asserting { assertion, body } => self.eval_asserting(assertion, body, blame),
            ExprKind::Acc { .. } => {
                unsupported_at(expr.span, "a permission where a value is needed")
            }
            ExprKind::Wand { .. } => unsupported_at(expr.span, "magic wands"),
            ExprKind::Literal { .. }
            | ExprKind::MapLiteral { .. }
            | ExprKind::Range { .. }
            | ExprKind::Index { .. }
            | ExprKind::Update { .. }
            | ExprKind::Take { .. }
            | ExprKind::Drop { .. }
            | ExprKind::Cardinality(_)
            | ExprKind::MapDomain(_)
            | ExprKind::MapRange(_) => self.eval_collection(expr, blame),
        }
    }

    fn eval_conditional(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let asked = condition.span;
        let condition = self.eval(condition, blame)?;
        let negation = self.terms.not(condition);
        if is_never_taken(self, negation, otherwise)? {
            return self.eval(then, blame);
        }
        if is_never_taken(self, condition, then)? {
            return self.eval(otherwise, blame);
        }
        let then = self.on_side((asked, true), |sil| sil.eval_under(condition, then, blame))?;
        let otherwise =
            self.on_side((asked, false), |sil| sil.eval_under(negation, otherwise, blame))?;
        match (then, otherwise) {
            (Some(then), Some(otherwise)) => Ok(self.terms.ite(condition, then, otherwise)),
            (Some(only), None) | (None, Some(only)) => Ok(only),
            (None, None) => Err(Stop::Infeasible),
        }
    }

    /// Evaluates one side of a conditional. Failures there are reported on this side of the path.
    fn on_side<T>(
        &mut self,
        side: (Span, bool),
        eval: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let length = self.here.path.len();
        Rc::make_mut(&mut self.here.path).push(side);
        let result = eval(self);
        Rc::make_mut(&mut self.here.path).truncate(length);
        result
    }

    fn eval_let(
        &mut self,
        variable: LocalId,
        value: &Expr,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let value = self.eval(value, blame)?;
        self.frame.store.set(variable, value);
        if !body.any(|part| matches!(part.kind, ExprKind::Local(it) if it == variable)) {
            self.mention_unused(value)?;
        }
        self.eval(body, blame)
    }

    pub(crate) fn eval_all(&mut self, exprs: &[Expr], blame: Blame) -> Result<Vec<Term>, Stop> {
        exprs.iter().map(|expr| self.eval(expr, blame)).collect()
    }

    /// Evaluates `expr` under a guard. A simple expression needs no scope of its own.
    pub(crate) fn eval_under(
        &mut self,
        guard: Term,
        expr: &Expr,
        blame: Blame,
    ) -> Result<Option<Term>, Stop> {
        if guard == Terms::FALSE {
            return Ok(None);
        }
        if is_simple(expr) {
            return self.eval(expr, blame).map(Some);
        }
        self.under(guard, |sil| sil.eval(expr, blame))
    }

    /// Evaluates `a && b && …`, each operand under those before it.
    fn eval_and(&mut self, operands: &[Expr], blame: Blame) -> Result<Term, Stop> {
        let mut values: Vec<Term> = Vec::with_capacity(operands.len());
        for operand in operands {
            let guard = if is_simple(operand) {
                Terms::TRUE
            } else {
                self.terms.and(values.iter().copied())
            };
            match self.eval_under(guard, operand, blame)? {
                Some(Terms::FALSE) | None => return Ok(Terms::FALSE),
                Some(value) => values.push(value),
            }
        }
        Ok(self.terms.and(values))
    }

    fn eval_or(&mut self, operands: &[Expr], blame: Blame) -> Result<Term, Stop> {
        let mut values: Vec<Term> = Vec::with_capacity(operands.len());
        for operand in operands {
            let guard = if is_simple(operand) {
                Terms::TRUE
            } else {
                let some = self.terms.or(values.iter().copied());
                self.terms.not(some)
            };
            match self.eval_under(guard, operand, blame)? {
                Some(Terms::TRUE) | None => return Ok(Terms::TRUE),
                Some(value) => values.push(value),
            }
        }
        Ok(self.terms.or(values))
    }

    /// Evaluates `old(e)`. Only the heap is old; variables have their current values.
    fn eval_old(
        &mut self,
        expr: &Expr,
        label: OldLabel,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        let heap = match label {
            OldLabel::Entry => self.frame.past.old.clone(),
            OldLabel::Lhs => self.frame.past.lhs.clone(),
            OldLabel::Label(label) => match self.frame.past.labels.get(&label).cloned() {
                Some(Labelled { heap, reached }) if is_reached(self, reached)? => Some(heap),
                _ => None,
            },
        };
        let Some(heap) = heap else {
            let sort = self.sort(&expr.ty);
            let value = self.fresh("unreached", sort);
            if !blame.is_trusted() && !self.is_dead()? {
                let reported = self.fail(Answer::No, blame, Reason::LabelNotReached, expr.span);
                self.taint(value, reported)?;
            }
            return Ok(value);
        };
        let eval = |sil: &mut Self| {
            sil.note_inside()?;
            sil.eval(body, blame)
        };
        let eval = |sil: &mut Self| sil.in_heap(heap, eval);
        let eval = |sil: &mut Self| sil.exchanging(|sil| &mut sil.frame.without_own, None, eval).0;
        self.exchanging(|sil| &mut sil.here.consuming, None, eval).0
    }

    /// Evaluates an expression that makes a collection or looks into one.
    fn eval_collection(&mut self, expr: &Expr, blame: Blame) -> Result<Term, Stop> {
        match &expr.kind {
            ExprKind::Literal { collection, elements } => {
                self.eval_literal(expr, *collection, elements, blame)
            }
            ExprKind::MapLiteral { entries } => self.eval_map_literal(expr, entries, blame),
            ExprKind::Range { low, high } => {
                let (low, high) = (self.eval(low, blame)?, self.eval(high, blame)?);
                Ok(self.terms.seq_range(low, high))
            }
            ExprKind::Index { base, index } => {
                let (collection, position) = (self.eval(base, blame)?, self.eval(index, blame)?);
                operators::index(self, (base, collection), (index, position), blame)
            }
            ExprKind::Update { base, index, value } => {
                let (collection, position) = (self.eval(base, blame)?, self.eval(index, blame)?);
                let value = self.eval(value, blame)?;
                operators::updated(self, (base, collection), (index, position), value, blame)
            }
            ExprKind::Take { base, count } => {
                let (base, count) = (self.eval(base, blame)?, self.eval(count, blame)?);
                Ok(self.terms.seq_take(base, count))
            }
            ExprKind::Drop { base, count } => {
                let (base, count) = (self.eval(base, blame)?, self.eval(count, blame)?);
                Ok(self.terms.seq_drop(base, count))
            }
            ExprKind::Cardinality(operand) => {
                let value = self.eval(operand, blame)?;
                Ok(match &operand.ty {
                    Type::Seq(_) => self.terms.seq_len(value),
                    Type::Set(_) => self.terms.set_card(value),
                    Type::Multiset(_) => self.terms.multiset_card(value),
                    _ => self.terms.map_card(value),
                })
            }
            ExprKind::MapDomain(map) => {
                let map = self.eval(map, blame)?;
                Ok(self.terms.map_domain(map))
            }
            ExprKind::MapRange(map) => {
                let map = self.eval(map, blame)?;
                Ok(self.terms.map_values(map))
            }
            _ => unreachable!("called for collections only"),
        }
    }

    fn eval_literal(
        &mut self,
        expr: &Expr,
        collection: Collection,
        elements: &[Expr],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let elements = self.eval_all(elements, blame)?;
        let (Type::Seq(element) | Type::Set(element) | Type::Multiset(element)) = &expr.ty else {
            return unsupported_at(expr.span, "a collection of unknown type");
        };
        let sort = self.sort(element);
        Ok(match collection {
            Collection::Seq => self.terms.seq_explicit(sort, &elements),
            Collection::Set => self.terms.set_explicit(sort, &elements),
            Collection::Multiset => self.terms.multiset_explicit(sort, &elements),
        })
    }

    fn eval_map_literal(
        &mut self,
        expr: &Expr,
        entries: &[(Expr, Expr)],
        blame: Blame,
    ) -> Result<Term, Stop> {
        let Type::Map(key, value) = &expr.ty else {
            return unsupported_at(expr.span, "a map of unknown type");
        };
        let (key, value) = (self.sort(key), self.sort(value));
        let mut map = self.terms.map_empty(key, value);
        for (key, value) in entries {
            let (key, value) = (self.eval(key, blame)?, self.eval(value, blame)?);
            map = self.terms.map_update(map, key, value);
        }
        Ok(map)
    }

    /// Evaluates `asserting (A) in e`. A is proved and then known; nothing is given away.
    pub(crate) fn eval_asserting(
        &mut self,
        assertion: &Expr,
        body: &Expr,
        blame: Blame,
    ) -> Result<Term, Stop> {
        if self.mode.leaves_out_assertions || self.mode.in_trigger {
            return self.eval(body, blame);
        }
        if blame.is_trusted() {
            self.assume_pure_conjuncts(assertion, blame)?;
        } else {
            self.join(|sil| {
                sil.here.package.reserve.clear();
                sil.consume_all([assertion], |_| blame)?;
                Ok(Terms::TRUE)
            })?;
        }
        self.eval(body, blame)
    }

    /// Assumes the facts that were shown of an assertion where it was not trusted.
    fn assume_pure_conjuncts(&mut self, assertion: &Expr, blame: Blame) -> Result<(), Stop> {
        match &assertion.kind {
            _ if assertion.is_pure() => {
                let value = self.eval(assertion, blame)?;
                self.assume(value)
            }
            ExprKind::And(operands) => {
                operands.iter().try_for_each(|operand| self.assume_pure_conjuncts(operand, blame))
            }
            _ => Ok(()),
        }
    }

    /// Returns the value of a variable. A variable without a value gets any.
    fn eval_local(&mut self, local: LocalId, ty: &Type) -> Term {
        if let Some(value) = self.frame.store.get(local) {
            return value;
        }
        let sort = self.sort(ty);
        let value = self.fresh("undefined", sort);
        self.frame.store.set(local, value);
        value
    }
}

/// Asks whether the guard of a side of a conditional cannot hold. The question matters only in
/// definitions of functions. A user of the definition may see no reason why the side is never
/// taken, and the applications in the side make the value depend on more of the heap.
fn is_never_taken(engine: &mut Engine<'_>, guard: Term, side: &Expr) -> Result<bool, Stop> {
    if !engine.mode.is_defining || applied([side]).is_empty() {
        return Ok(false);
    }
    let never = engine.terms.not(guard);
    if !engine.check(never)? {
        return Ok(false);
    }
    engine.assume(never)?;
    Ok(true)
}

/// Asks whether a label has certainly been passed, after states have been merged.
fn is_reached(engine: &mut Engine<'_>, reached: Term) -> Result<bool, Stop> {
    Ok(reached == Terms::TRUE || engine.ask_obligation(reached)? == Answer::Yes)
}

/// Tells whether the evaluation of an expression asks nothing, assumes nothing and makes no fresh
/// symbol.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::NoPerm
        | ExprKind::FullPerm
        | ExprKind::Local(_)
        | ExprKind::Result => true,
        ExprKind::Unary { operand, .. } => is_simple(operand),
        ExprKind::Binary { op, left, right } => {
            !matches!(op, BinaryOp::IntDiv | BinaryOp::Mod | BinaryOp::PermDiv)
                && is_simple(left)
                && is_simple(right)
        }
        ExprKind::And(operands) | ExprKind::Or(operands) => operands.iter().all(is_simple),
        ExprKind::DomainApply { arguments, .. } => arguments.iter().all(is_simple),
        ExprKind::Cardinality(operand) => is_simple(operand),
        _ => false,
    }
}
