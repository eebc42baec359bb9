//! Expressions: everything without permissions.

pub(super) mod aggregates;
pub(super) mod back_pointers;
pub(super) mod definedness;
pub(super) mod set_sums;

use chalice::program::{
    BinaryOp, Domain, Expr, ExprKind, FieldRef, LocalId, Quantifier, Type, UnaryOp,
};
use findings::{ErrorId, Reason};
use front::grow_stack;
use sil::syntax as s;

use super::annotations::{Annotate, renamed, said};
use super::env::{Env, OldState, Recorded, Side};
use super::threads::levels::Level;
use super::{Member, permissions::Use};
use crate::build::*;
use crate::names::fixed;

impl Member<'_, '_> {
    /// Returns the value of `e`.
    pub(crate) fn expr(&mut self, e: &Expr, env: &Env) -> s::Expr {
        grow_stack(|| self.expr_inner(e, env))
    }

    fn expr_inner(&mut self, e: &Expr, env: &Env) -> s::Expr {
        match &e.kind {
            ExprKind::Int(value) => int(value.clone()),
            ExprKind::Bool(value) => truth(*value),
            ExprKind::Null => null(),
            ExprKind::String(text) => self.lowering.string(text),
            ExprKind::This => env.this.clone(),
            ExprKind::Result => result(),
            ExprKind::WaitLevel => self.unsupported("waitlevel outside a comparison", e),
            ExprKind::LockBottom => self.lowering.lockbottom(),
            ExprKind::Local(local) => self.variable(*local, env),
            ExprKind::FieldRead { receiver, field } => self.located(e.span, |member| {
                let receiver = member.expr(receiver, env);
                if let Some(then) = &env.then {
                    return member.read_then(then, receiver, *field);
                }
                let read = member.field_of(receiver, *field);
                match field {
                    // Without permission to a token, or without a token, nobody can say that the
                    // token may be joined.
                    FieldRef::Joinable => [
                        (ErrorId::AssertFailed, Reason::InsufficientPermission),
                        (ErrorId::AssertFailed, Reason::ReceiverNull),
                    ]
                    .into_iter()
                    .fold(read, |read, id| {
                        read.with(renamed(id, (ErrorId::AssertFailed, Reason::AssertionFalse)))
                    }),
                    _ => read,
                }
            }),
            ExprKind::Apply { .. }
                if env.then.is_none()
                    && self.promising.is_some_and(|id| self.lowering.is_own_application(id, e)) =>
            {
                result()
            }
            ExprKind::Apply { function, .. }
                if self
                    .promising
                    .is_some_and(|id| self.lowering.recursion.is_mutual(id, *function)) =>
            {
                // The application would have, without proof, the postcondition of which it is a
                // part.
                self.unsupported("a postcondition that leads back to its function", e)
            }
            ExprKind::Apply { receiver, function, arguments } => self.located(e.span, |member| {
                let mut actuals = Vec::new();
                let mut exists = truth(true);
                if !member.program().functions[*function].is_static {
                    let object = member.expr(receiver, env);
                    if !is_never_null(receiver) {
                        exists = member.placed(receiver.span, |_| ne(object.clone(), null()));
                    }
                    actuals.push(object);
                }
                actuals.extend(arguments.iter().map(|argument| member.expr(argument, env)));
                match member.held_by(*function, env) {
                    Some(held) => actuals.extend(held),
                    None => {
                        let what = "a function that asks for locks where there is no thread";
                        return member.unsupported(what, e);
                    }
                }
                if let Some(then) = &env.then {
                    return member.lowering.function_then(&then.state, *function, actuals);
                }
                let name = member.lowering.names.borrow().functions[*function].clone();
                let application = call(&name, actuals);
                let application = if member.reveals(*function) {
                    application.with(annotation("reveal", Vec::new()))
                } else {
                    application
                };
                if is_true(&exists) {
                    return application;
                }
                let exists = exists
                    .with(renamed(
                        Reason::AssertionFalse,
                        (ErrorId::ApplicationPrecondition, Reason::ReceiverNull),
                    ))
                    .with(said(
                        Reason::AssertionFalse,
                        "the receiver `%e` of the function might be null",
                    ));
                asserting(exists, application)
            }),
            ExprKind::Unary { op: UnaryOp::Not, operand } => not(self.expr(operand, env)),
            ExprKind::Unary { op: UnaryOp::Negate, operand } => minus(self.expr(operand, env)),
            ExprKind::Binary { op, left, right } => self.binary(e, *op, left, right, env),
            ExprKind::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.expr(part, env)).collect();
                and(parts)
            }
            ExprKind::Or(parts) => or(parts.iter().map(|part| self.expr(part, env))),
            ExprKind::Implies { guard, body } => {
                let guard = self.expr(guard, env);
                s::Expr::new(
                    s::ExprKind::Binary {
                        op: s::BinaryOp::Implies,
                        left: Box::new(guard),
                        right: Box::new(self.expr(body, env)),
                    },
                    sil::source::Span::default(),
                )
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.expr(condition, env);
                let then = self.expr(then, env);
                conditional(condition, then, self.expr(otherwise, env))
            }
            ExprKind::Old(body) => self.old(e, body, env),
            // The contents of a folded predicate are known of a recorded state like everything
            // else.
            ExprKind::Unfolding { body, .. } if env.then.is_some() => {
                let unchecked = env.then.clone().map(|then| Recorded { is_checked: false, ..then });
                self.expr(body, &Env { then: unchecked, ..env.clone() })
            }
            ExprKind::Unfolding { access, body } => self.located(e.span, |member| {
                let access = member.access(access, env, Use::Opened);
                unfolding(access, member.expr(body, env))
            }),
            ExprKind::Length(collection) => cardinality(self.expr(collection, env)),
            ExprKind::Seq(elements) => self.collection(s::Collection::Seq, e, elements, env),
            ExprKind::Set(elements) => self.collection(s::Collection::Set, e, elements, env),
            ExprKind::Range { from, to } => self.range(e, from, to, env),
            ExprKind::Index { sequence, index: at } => self.located(e.span, |member| {
                let sequence = member.expr(sequence, env);
                index(sequence, member.expr(at, env))
            }),
            ExprKind::Slice { sequence, from, to } => {
                self.slice(e, sequence, from.as_deref(), to.as_deref(), env)
            }
            ExprKind::Quantified { quantifier, variables, domain, body } => {
                self.quantified(e, *quantifier, variables, domain, body, env)
            }
            ExprKind::BackPointers { receiver, field, .. } => self.located(e.span, |member| {
                let receiver = member.expr(receiver, env);
                member.pointers_to(receiver, *field)
            }),
            ExprKind::Holds { target: object, mode } => {
                let target = self.expr(object, env);
                match self.holds(&target, *mode, env) {
                    // In contracts it has to be an object; elsewhere it is none that is held.
                    Some(held)
                        if env.side == Side::Both && !matches!(object.kind, ExprKind::This) =>
                    {
                        let words = self.might_be_null(object);
                        let exists = ne(target, null()).with(said(Reason::AssertionFalse, &words));
                        self.checked(exists, Reason::ReceiverNull, held)
                    }
                    Some(held) => held,
                    None => self.unsupported("holds where there is no thread", e),
                }
            }
            ExprKind::Assigned(local) => match self.assigned.get(local) {
                Some(flag) => var(flag),
                None => truth(true),
            },
            ExprKind::Access(_) => {
                self.unsupported("an accessibility assertion inside an expression", e)
            }
            ExprKind::Credit { .. } => self.unsupported("a credit inside an expression", e),
            ExprKind::Eval { state, body } => self.eval(e, state, body, env),
        }
    }

    /// Returns a variable of the source.
    pub(crate) fn variable(&mut self, local: LocalId, env: &Env) -> s::Expr {
        match env.replaced.get(&local) {
            Some(value) => value.clone(),
            None => var(&self.local(local)),
        }
    }

    /// `receiver.field`
    pub(crate) fn field_of(&self, receiver: s::Expr, of: FieldRef) -> s::Expr {
        match of {
            FieldRef::Declared(id) => field(receiver, &self.lowering.names.borrow().fields[id]),
            FieldRef::Mu => self.lowering.level_of(receiver),
            FieldRef::Joinable => {
                self.lowering.used.borrow_mut().joinable = true;
                field(receiver, fixed::JOINABLE)
            }
        }
    }

    /// Is the function's body hidden from other modules, but not here?
    fn reveals(&self, function: chalice::program::FunctionId) -> bool {
        let program = self.program();
        self.lowering.is_opaque(function)
            && self.class.is_some_and(|class| {
                program.classes[class].module
                    == program.classes[program.functions[function].class].module
            })
    }

    fn old(&mut self, e: &Expr, body: &Expr, env: &Env) -> s::Expr {
        match &env.old {
            OldState::Nowhere => self.unsupported("permission that depends on an earlier state", e),
            OldState::Now => self.expr(body, env),
            OldState::Recorded(state) => self.expr(body, &env.then(state.clone(), false)),
            OldState::Entry => old(self.expr(body, &env.in_old())),
            OldState::Label(label) => old_at(label, self.expr(body, &env.in_old())),
            OldState::Stored(method, values) => {
                match self.lowering.tokens[*method].position_of(body) {
                    Some(position) => values[position].clone(),
                    None => self.unsupported("this old expression in a joined postcondition", e),
                }
            }
        }
    }

    fn collection(
        &mut self,
        kind: s::Collection,
        e: &Expr,
        elements: &[Expr],
        env: &Env,
    ) -> s::Expr {
        let element = e.ty.element().map_or(Type::Int, Clone::clone);
        let element = self.lowering.ty(&element);
        literal(kind, element, elements.iter().map(|element| self.expr(element, env)))
    }

    /// `[from..to]`, which demands that the bounds are in order.
    fn range(&mut self, e: &Expr, from: &Expr, to: &Expr, env: &Env) -> s::Expr {
        self.located(e.span, |member| {
            let (low, high) = (member.expr(from, env), member.expr(to, env));
            let elements = range(low.clone(), high.clone());
            if is_literal_order(from, to) {
                return elements;
            }
            member.checked(le(low, high), Reason::RangeBounds, elements)
        })
    }

    /// `s[from..to]`, whose bounds must lie in the sequence; SIL's slices accept any bounds.
    fn slice(
        &mut self,
        e: &Expr,
        sequence: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        env: &Env,
    ) -> s::Expr {
        self.located(e.span, |member| {
            let base = member.expr(sequence, env);
            let low = from.map(|from| member.expr(from, env));
            let high = to.map(|to| member.expr(to, env));
            let length = cardinality(base.clone());
            let mut bounds = Vec::new();
            if let (Some(low), Some(from)) = (&low, from)
                && !is_zero(from)
            {
                if !is_literal(from) {
                    bounds.push(le(int(0), low.clone()));
                }
                bounds.push(le(low.clone(), high.clone().unwrap_or_else(|| length.clone())));
            }
            if let (Some(high), Some(to)) = (&high, to) {
                if low.is_none() && !is_literal(to) {
                    bounds.push(le(int(0), high.clone()));
                }
                bounds.push(le(high.clone(), length));
            }
            let part = slice(base, low, high);
            if bounds.is_empty() {
                part
            } else {
                member.checked(and(bounds), Reason::SliceBounds, part)
            }
        })
    }

    /// `value`, which is defined only if `condition` holds.
    pub(crate) fn checked(&self, condition: s::Expr, reason: Reason, value: s::Expr) -> s::Expr {
        asserting(condition.with(renamed(Reason::AssertionFalse, reason)), value)
    }

    fn binary(&mut self, e: &Expr, op: BinaryOp, left: &Expr, right: &Expr, env: &Env) -> s::Expr {
        if left.ty == Type::Mu
            && let (Some(left), Some(right)) = (self.level(left, env), self.level(right, env))
        {
            return self.compare_levels(e, op, left, right);
        }
        let has_sides = matches!(
            op,
            BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Less
                | BinaryOp::AtMost
                | BinaryOp::AtLeast
                | BinaryOp::Greater
        );
        let left = self.operand(left, has_sides, env);
        let right = self.operand(right, has_sides, env);
        // The operands are moved: a chain of a thousand sums would be copied a thousand times.
        let op = match op {
            BinaryOp::Below => return self.lowering.below(left, right),
            BinaryOp::In => return contains(&right, &left),
            BinaryOp::NotIn => return not(contains(&right, &left)),
            BinaryOp::Superset => return binary(s::BinaryOp::Subset, right, left),
            BinaryOp::ProperSubset => {
                let differs = ne(left.clone(), right.clone());
                return and([binary(s::BinaryOp::Subset, left, right), differs]);
            }
            BinaryOp::ProperSuperset => {
                let differs = ne(left.clone(), right.clone());
                return and([binary(s::BinaryOp::Subset, right, left), differs]);
            }
            BinaryOp::Div | BinaryOp::Mod => {
                let op = if op == BinaryOp::Div { s::BinaryOp::IntDiv } else { s::BinaryOp::Mod };
                return self.located(e.span, |_| binary(op, left, right));
            }
            BinaryOp::Iff => s::BinaryOp::Iff,
            BinaryOp::Eq => s::BinaryOp::Eq,
            BinaryOp::Ne => s::BinaryOp::Ne,
            BinaryOp::Less => s::BinaryOp::Lt,
            BinaryOp::AtMost => s::BinaryOp::Le,
            BinaryOp::AtLeast => s::BinaryOp::Ge,
            BinaryOp::Greater => s::BinaryOp::Gt,
            BinaryOp::Add => s::BinaryOp::Add,
            BinaryOp::Sub => s::BinaryOp::Sub,
            BinaryOp::Mul => s::BinaryOp::Mul,
            BinaryOp::Append => s::BinaryOp::Append,
            BinaryOp::Union => s::BinaryOp::Union,
            BinaryOp::Difference => s::BinaryOp::Setminus,
            BinaryOp::Intersection => s::BinaryOp::Intersection,
            BinaryOp::Subset => s::BinaryOp::Subset,
        };
        binary(op, left, right)
    }

    /// Lowers an operand. One whose value nothing else tells gets a place of its own, so that a
    /// counterexample can tell it. `is_side`: of a comparison.
    fn operand(&mut self, e: &Expr, is_side: bool, env: &Env) -> s::Expr {
        let is_computed = match &e.kind {
            ExprKind::Apply { .. } | ExprKind::Length(_) | ExprKind::Old(_) => true,
            ExprKind::Binary { op, .. } => {
                is_side && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            }
            _ => false,
        };
        if is_computed {
            self.placed(e.span, |member| member.expr(e, env))
        } else {
            self.expr(e, env)
        }
    }

    /// Returns a lock level, if `e` is one; `waitlevel` is not a value but a set of levels.
    fn level(&mut self, e: &Expr, env: &Env) -> Option<Level> {
        match &e.kind {
            ExprKind::WaitLevel => Some(Level::Wait(env.locks.clone())),
            ExprKind::Old(body) if matches!(body.kind, ExprKind::WaitLevel) => {
                Some(Level::Wait(env.old_locks.clone()))
            }
            _ if e.ty == Type::Mu => Some(Level::Value(self.expr(e, env))),
            _ => None,
        }
    }

    fn compare_levels(&mut self, e: &Expr, op: BinaryOp, left: Level, right: Level) -> s::Expr {
        let compared = match op {
            BinaryOp::Below => self.level_below(left, right),
            BinaryOp::Eq => self.level_equal(left, right),
            BinaryOp::Ne => self.level_equal(left, right).map(not),
            _ => None,
        };
        match compared {
            Some(compared) => compared,
            None => self.unsupported("waitlevel in a function, predicate or monitor invariant", e),
        }
    }

    fn quantified(
        &mut self,
        e: &Expr,
        quantifier: Quantifier,
        variables: &[LocalId],
        domain: &Domain,
        body: &Expr,
        env: &Env,
    ) -> s::Expr {
        if self.asks_for_all_locks(domain, body) {
            return self.unsupported("what is held of all objects, beside channels,", e);
        }
        let quantifier = match quantifier {
            Quantifier::Forall => s::Quantifier::Forall,
            Quantifier::Exists => s::Quantifier::Exists,
            Quantifier::Sum | Quantifier::Max => {
                return self.aggregate(e, quantifier, variables, domain, body, env);
            }
        };
        if let Domain::Collection(collection) = domain
            && matches!(collection.ty, Type::Seq(_))
            && !matches!(collection.kind, ExprKind::Range { .. })
        {
            return self.over_indices(quantifier, variables, collection, body, env);
        }
        let bound = self.bound(variables);
        let (membership, triggers) = self.membership(variables, domain, env);
        let body = self.expr(body, env);
        let body = match quantifier {
            s::Quantifier::Forall => implies(membership, body),
            s::Quantifier::Exists => and([membership, body]),
        };
        quantified(quantifier, bound, triggers, body)
    }

    /// Returns a quantifier over the elements of a sequence, as one over its indices: reading an
    /// element then finds the fact.
    fn over_indices(
        &mut self,
        quantifier: s::Quantifier,
        variables: &[LocalId],
        collection: &Expr,
        body: &Expr,
        env: &Env,
    ) -> s::Expr {
        let elements = self.expr(collection, env);
        let mut replaced = (*env.replaced).clone();
        let mut named = Vec::new();
        let (mut bound, mut trigger, mut inside) = (Vec::new(), Vec::new(), Vec::new());
        for &local in variables {
            let wanted = format!("{}_index", self.program().locals[local].name);
            let name = self.fresh(&wanted);
            let element = index(elements.clone(), var(&name));
            bound.push(typed(&name, ty(s::TypeKind::Int)));
            inside.push(le(int(0), var(&name)));
            inside.push(lt(var(&name), cardinality(elements.clone())));
            trigger.push(element.clone());
            if reads_other_states(body) {
                named.push((local, element));
            } else {
                replaced.insert(local, element);
            }
        }
        let env = Env { replaced: std::rc::Rc::new(replaced), ..env.clone() };
        let body = self.expr(body, &env);
        let body = self.with_values(named, body);
        let body = match quantifier {
            s::Quantifier::Forall => implies(and(inside), body),
            s::Quantifier::Exists => and(inside.into_iter().chain([body])),
        };
        let triggers = if may_trigger(collection) { vec![trigger] } else { Vec::new() };
        quantified(quantifier, bound, triggers, body)
    }

    /// `let variable == (value) in .. body`
    pub(crate) fn with_values(
        &mut self,
        values: Vec<(LocalId, s::Expr)>,
        body: s::Expr,
    ) -> s::Expr {
        values
            .into_iter()
            .rev()
            .fold(body, |body, (local, value)| let_in(&self.local(local), value, body))
    }

    /// Bound variables as SIL declares them.
    pub(crate) fn bound(&mut self, variables: &[LocalId]) -> Vec<s::TypedName> {
        variables
            .iter()
            .map(|&local| {
                let ty = self.lowering.ty(&self.program().locals[local].ty);
                typed(&self.local(local), ty)
            })
            .collect()
    }

    /// Returns the condition that every variable is in the domain, and the triggers that follow
    /// from it. In a range whose bounds are out of order no number is.
    ///
    /// DIVERGENCE: the original verifier asks for bounds in order here as well as where a range is
    /// a value.
    pub(crate) fn membership(
        &mut self,
        variables: &[LocalId],
        domain: &Domain,
        env: &Env,
    ) -> (s::Expr, Vec<Vec<s::Expr>>) {
        let Domain::Collection(collection) = domain else { return (truth(true), Vec::new()) };
        if let ExprKind::Range { from, to } = &collection.kind {
            let (low, high) = (self.expr(from, env), self.expr(to, env));
            let inside = variables.iter().flat_map(|&local| {
                let variable = var(&self.local(local));
                [le(low.clone(), variable.clone()), lt(variable, high.clone())]
            });
            return (and(inside.collect::<Vec<_>>()), Vec::new());
        }
        let elements = self.expr(collection, env);
        let inside: Vec<_> =
            variables.iter().map(|&local| contains(&elements, &var(&self.local(local)))).collect();
        let triggers = if may_trigger(collection) { vec![inside.clone()] } else { Vec::new() };
        (and(inside), triggers)
    }
}

/// Does `e` look at the heap of a state that is not the present one?
///
/// SOUNDNESS: a variable of a quantifier is a value. The term that it ranges over must not stand in
/// its place below an `old`, where the term would be read in that state.
pub(crate) fn reads_other_states(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, ExprKind::Old(_) | ExprKind::Eval { .. }))
}

/// Is it an object in every state?
fn is_never_null(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::This)
}

fn is_literal(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Int(_))
}

fn is_zero(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Int(value) if value.sign() == num_bigint::Sign::NoSign)
}

/// Are the bounds in order whatever the state is?
fn is_literal_order(from: &Expr, to: &Expr) -> bool {
    match (&from.kind, &to.kind) {
        (ExprKind::Int(from), ExprKind::Int(to)) => from <= to,
        (_, ExprKind::Length(_)) => is_zero(from),
        _ => false,
    }
}

/// May a term `x in e` be a trigger? Triggers contain no arithmetic, comparisons or connectives.
pub(crate) fn may_trigger(e: &Expr) -> bool {
    let mut fine = true;
    e.for_each(&mut |part| {
        fine &= match &part.kind {
            ExprKind::Binary { op, .. } => {
                matches!(
                    op,
                    BinaryOp::Append
                        | BinaryOp::Union
                        | BinaryOp::Difference
                        | BinaryOp::Intersection
                )
            }
            // The application itself asserts that its receiver exists.
            ExprKind::Apply { receiver, .. } => is_never_null(receiver),
            ExprKind::Unary { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Implies { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::Unfolding { .. }
            | ExprKind::Slice { .. }
            | ExprKind::Range { .. }
            | ExprKind::Holds { .. }
            | ExprKind::BackPointers { .. }
            | ExprKind::Eval { .. } => false,
            _ => true,
        }
    });
    fine
}
