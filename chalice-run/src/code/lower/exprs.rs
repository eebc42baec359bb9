//! Lowering of expressions.

use chalice::program as p;
use chalice::program::{
    AccessTarget, BinaryOp, Domain, ExprKind, FieldRef, PermissionKind, Type, UnaryOp,
};
use front::grow_stack;

use super::Lowering;
use crate::code::{
    Access, AmountExpr, Bool2, Compare, EvalState, Expr, Kind, LevelSide, Quantified, Quantifier,
    Recorded, SetOp, Source, Target, index, ranges,
};
use crate::value::{Arithmetic, Level, Value};

type Pair = Box<(Expr, Expr)>;

impl Lowering<'_> {
    pub(super) fn expr(&mut self, source: &p::Expr) -> Expr {
        let kind = grow_stack(|| self.kind(source));
        let is_pure = is_pure(&kind);
        Expr { kind, span: source.span, is_pure }
    }

    fn boxed(&mut self, source: &p::Expr) -> Box<Expr> {
        Box::new(self.expr(source))
    }

    #[expect(clippy::unnecessary_box_returns, reason = "nodes own their operands in boxes")]
    fn pair(&mut self, left: &p::Expr, right: &p::Expr) -> Pair {
        Pair::new((self.expr(left), self.expr(right)))
    }

    fn list(&mut self, sources: &[p::Expr]) -> Box<[Expr]> {
        self.exprs(sources).into()
    }

    fn kind(&mut self, source: &p::Expr) -> Kind {
        match &source.kind {
            ExprKind::Int(number) => Kind::Const(Value::int(number.clone())),
            ExprKind::Bool(truth) => Kind::Const(Value::Bool(*truth)),
            ExprKind::Null => Kind::Const(Value::Null),
            ExprKind::String(text) => Kind::Const(Value::Text(text.as_str().into())),
            ExprKind::This => Kind::Slot(0),
            ExprKind::Result => Kind::Slot(self.result.unwrap_or(0)),
            // Comparisons take care of it; alone it has no value, and the resolver lets it stand
            // nowhere else.
            ExprKind::WaitLevel | ExprKind::LockBottom => Kind::Const(Value::Level(Level::BOTTOM)),
            ExprKind::Local(local) => {
                let slot = self.slot(*local);
                match self.flags.get(local) {
                    Some(&flag) => Kind::Constant { slot, flag },
                    None => Kind::Slot(slot),
                }
            }
            ExprKind::FieldRead { receiver, field } => {
                let cell = self.cell(*field);
                Kind::Field { receiver: self.boxed(receiver), cell }
            }
            ExprKind::BackPointers { receiver, field, .. } => {
                let cell = self.back_pointer_cell(receiver, *field);
                Kind::Field { receiver: self.boxed(receiver), cell }
            }
            ExprKind::Apply { receiver, function, arguments } => Kind::Apply {
                receiver: self.boxed(receiver),
                function: index(*function),
                arguments: self.list(arguments),
            },
            ExprKind::Unary { op: UnaryOp::Not, operand } => Kind::Not(self.boxed(operand)),
            ExprKind::Unary { op: UnaryOp::Negate, operand } => Kind::Negate(self.boxed(operand)),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::And(parts) => Kind::And(self.list(parts)),
            ExprKind::Or(parts) => Kind::Or(self.list(parts)),
            ExprKind::Implies { guard, body } => Kind::Implies(self.pair(guard, body)),
            ExprKind::Conditional { condition, then, otherwise } => Kind::Conditional(Box::new((
                self.expr(condition),
                self.expr(then),
                self.expr(otherwise),
            ))),
            ExprKind::Old(inner) => {
                self.saw_old = true;
                Kind::Old(self.boxed(inner))
            }
            ExprKind::Unfolding { access, body } => {
                Kind::Unfolding(Box::new((self.access(access), self.expr(body))))
            }
            ExprKind::Length(inner) => Kind::Length(self.boxed(inner)),
            ExprKind::Seq(items) => Kind::Seq(self.list(items)),
            ExprKind::Set(items) => Kind::Set(self.list(items)),
            ExprKind::Range { from, to } => Kind::Range(self.pair(from, to)),
            ExprKind::Index { sequence, index } => Kind::Index(self.pair(sequence, index)),
            ExprKind::Slice { sequence, from, to } => Kind::Slice(Box::new((
                self.expr(sequence),
                from.as_ref().map(|from| self.expr(from)),
                to.as_ref().map(|to| self.expr(to)),
            ))),
            ExprKind::Quantified { quantifier, variables, domain, body } => {
                self.quantified(*quantifier, variables, domain, body)
            }
            ExprKind::Holds { target, mode } => {
                Kind::Holds { target: self.boxed(target), mode: *mode }
            }
            ExprKind::Assigned(local) => {
                self.slot(*local);
                match self.flags.get(local) {
                    Some(&flag) => Kind::Slot(flag),
                    None => Kind::Const(Value::Bool(true)),
                }
            }
            ExprKind::Access(access) => Kind::Access(Box::new(self.access(access))),
            ExprKind::Credit { channel, amount } => Kind::Credit {
                channel: self.boxed(channel),
                amount: amount.as_ref().map(|amount| self.boxed(amount)),
            },
            ExprKind::Eval { state, body } => {
                let body = self.expr(body);
                let seen = if body.is_pure { Recorded::Values } else { Recorded::Permissions };
                self.recorded = self.recorded.max(seen);
                Kind::Eval(Box::new((self.state(state), body)))
            }
        }
    }

    fn back_pointer_cell(&self, receiver: &p::Expr, field: p::FieldId) -> u32 {
        let Type::Class(class) = &receiver.ty else { return 0 };
        self.layout.back_pointers.get(&(index(*class), field)).copied().unwrap_or(0)
    }

    fn binary(&mut self, op: BinaryOp, left: &p::Expr, right: &p::Expr) -> Kind {
        let compare = |this: &mut Self, how| Kind::Compare(how, this.pair(left, right));
        match op {
            BinaryOp::Iff => Kind::Equal(Bool2::Equal, self.pair(left, right)),
            BinaryOp::Eq => self.equality(Bool2::Equal, left, right),
            BinaryOp::Ne => self.equality(Bool2::Different, left, right),
            BinaryOp::Less => compare(self, Compare::Less),
            BinaryOp::AtMost => compare(self, Compare::AtMost),
            BinaryOp::AtLeast => compare(self, Compare::AtLeast),
            BinaryOp::Greater => compare(self, Compare::Greater),
            BinaryOp::Below => {
                Kind::Below(Box::new((self.level_side(left), self.level_side(right))))
            }
            BinaryOp::In => Kind::In { negated: false, operands: self.pair(left, right) },
            BinaryOp::NotIn => Kind::In { negated: true, operands: self.pair(left, right) },
            BinaryOp::Add => Kind::Arithmetic(Arithmetic::Add, self.pair(left, right)),
            BinaryOp::Sub => Kind::Arithmetic(Arithmetic::Sub, self.pair(left, right)),
            BinaryOp::Mul => Kind::Arithmetic(Arithmetic::Mul, self.pair(left, right)),
            BinaryOp::Div => Kind::Divide { remainder: false, operands: self.pair(left, right) },
            BinaryOp::Mod => Kind::Divide { remainder: true, operands: self.pair(left, right) },
            BinaryOp::Append => Kind::Append(self.pair(left, right)),
            BinaryOp::Union => Kind::Sets(SetOp::Union, self.pair(left, right)),
            BinaryOp::Difference => Kind::Sets(SetOp::Difference, self.pair(left, right)),
            BinaryOp::Intersection => Kind::Sets(SetOp::Intersection, self.pair(left, right)),
            BinaryOp::ProperSubset => Kind::Sets(SetOp::ProperSubset, self.pair(left, right)),
            BinaryOp::Subset => Kind::Sets(SetOp::Subset, self.pair(left, right)),
            BinaryOp::Superset => Kind::Sets(SetOp::Subset, self.pair(right, left)),
            BinaryOp::ProperSuperset => Kind::Sets(SetOp::ProperSubset, self.pair(right, left)),
        }
    }

    fn equality(&mut self, how: Bool2, left: &p::Expr, right: &p::Expr) -> Kind {
        if is_wait_level(left).is_some() || is_wait_level(right).is_some() {
            let sides = (self.level_side(left), self.level_side(right));
            return Kind::EqualLevels(how, Box::new(sides));
        }
        Kind::Equal(how, self.pair(left, right))
    }

    fn level_side(&mut self, source: &p::Expr) -> LevelSide {
        match is_wait_level(source) {
            Some(old) => {
                self.saw_old |= old;
                LevelSide::Wait { old }
            }
            None => LevelSide::Value(self.expr(source)),
        }
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        variables: &[p::LocalId],
        domain: &Domain,
        body: &p::Expr,
    ) -> Kind {
        let mut sources = Vec::new();
        for (at, &variable) in variables.iter().enumerate() {
            let source = match domain {
                Domain::Collection(collection) => Source::Elements(self.expr(collection)),
                Domain::Type(Type::Bool) => Source::Bools,
                Domain::Type(Type::Class(class)) => Source::Objects(index(*class)),
                Domain::Type(ty) => self.range(quantifier, ty, &variables[at..], body),
            };
            let slot = self.slot(variable);
            sources.push((slot, source));
        }
        let body = self.expr(body);
        Kind::Quantified(Box::new(Quantified { quantifier, variables: sources, body }))
    }

    fn range(
        &mut self,
        quantifier: Quantifier,
        ty: &Type,
        variables: &[p::LocalId],
        body: &p::Expr,
    ) -> Source {
        let guards = ranges::guards(quantifier, body);
        match ranges::range(&guards, variables) {
            ranges::Range::Exactly(value) => Source::Exactly(self.expr(value)),
            ranges::Range::Members(collection) => Source::Members(self.expr(collection)),
            ranges::Range::Between { lower, upper } => {
                let bounds = |this: &mut Self, bounds: Vec<(&p::Expr, bool)>| {
                    bounds.into_iter().map(|(bound, open)| (this.expr(bound), open)).collect()
                };
                Source::Between { lower: bounds(self, lower), upper: bounds(self, upper) }
            }
            ranges::Range::Unknown => Source::Samples(ty.clone(), ranges::literals(body)),
        }
    }

    pub(super) fn access(&mut self, source: &p::Access) -> Access {
        let target = match &source.target {
            AccessTarget::Field { receiver, field } => {
                let cell = self.cell(*field);
                Target::Cell { receiver: self.expr(receiver), cell }
            }
            AccessTarget::Predicate { receiver, predicate } => {
                Target::Predicate { receiver: self.expr(receiver), predicate: index(*predicate) }
            }
            AccessTarget::AllFields { receiver, class } => Target::AllFields {
                receiver: self.expr(receiver),
                declared: self.layout.classes[index(*class) as usize].2 as u32,
            },
            AccessTarget::ElementsField { elements, field } => {
                let cell = self.cell(*field);
                Target::Elements { elements: self.expr(elements), cells: cell..cell + 1 }
            }
            AccessTarget::ElementsAllFields { elements, class } => {
                let declared = self.layout.classes[index(*class) as usize].2 as u32;
                Target::Elements { elements: self.expr(elements), cells: 1..declared + 1 }
            }
            AccessTarget::ElementsPredicate { elements, predicate } => {
                Target::Predicates { elements: self.expr(elements), predicate: index(*predicate) }
            }
            AccessTarget::BackPointers { receiver, field, .. } => {
                let cell = self.back_pointer_cell(receiver, *field);
                Target::Cell { receiver: self.expr(receiver), cell }
            }
        };
        Access { target, amount: self.amount(&source.amount), span: source.span }
    }

    fn amount(&mut self, source: &p::Permission) -> AmountExpr {
        match &source.kind {
            PermissionKind::Full => AmountExpr::Full,
            PermissionKind::Percentage(hundredths) => {
                AmountExpr::Percentage(self.boxed(hundredths))
            }
            PermissionKind::AbstractRead => {
                self.saw_read = true;
                AmountExpr::Read
            }
            PermissionKind::Epsilons(count) => AmountExpr::Epsilons(self.boxed(count)),
            PermissionKind::Star => AmountExpr::Star,
            PermissionKind::PredicateRead(object)
            | PermissionKind::MonitorRead(object)
            | PermissionKind::ChannelRead(object) => AmountExpr::Common(self.boxed(object)),
            PermissionKind::TokenRead(token) => AmountExpr::Token(self.boxed(token)),
            PermissionKind::Add(left, right) => {
                AmountExpr::Add(Box::new(grow_stack(|| (self.amount(left), self.amount(right)))))
            }
            PermissionKind::Sub(left, right) => {
                AmountExpr::Sub(Box::new(grow_stack(|| (self.amount(left), self.amount(right)))))
            }
            PermissionKind::Scale { factor, amount } => {
                let factor = self.expr(factor);
                AmountExpr::Scale(Box::new((factor, grow_stack(|| self.amount(amount)))))
            }
        }
    }

    fn state(&mut self, source: &p::EvalState) -> EvalState {
        match source {
            p::EvalState::Acquire(target) => EvalState::Acquire(self.expr(target)),
            p::EvalState::Release(target) => EvalState::Release(self.expr(target)),
            p::EvalState::Fork { token, receiver, method, arguments } => EvalState::Fork {
                token: self.expr(token),
                receiver: self.expr(receiver),
                method: index(*method),
                arguments: arguments
                    .iter()
                    .map(|argument| argument.as_ref().map(|argument| self.expr(argument)))
                    .collect(),
            },
        }
    }
}

/// Is it `waitlevel`, and if so, that of the old state?
fn is_wait_level(source: &p::Expr) -> Option<bool> {
    match &source.kind {
        ExprKind::WaitLevel => Some(false),
        ExprKind::Old(inner) => is_wait_level(inner).map(|_| true),
        _ => None,
    }
}

fn is_pure(kind: &Kind) -> bool {
    match kind {
        Kind::Access(_) | Kind::Credit { .. } => false,
        Kind::And(parts) | Kind::Or(parts) => parts.iter().all(|part| part.is_pure),
        Kind::Implies(parts) => parts.1.is_pure,
        Kind::Conditional(parts) => parts.1.is_pure && parts.2.is_pure,
        Kind::Quantified(quantified) => quantified.body.is_pure,
        Kind::Unfolding(parts) => parts.1.is_pure,
        _ => true,
    }
}

/// Returns the level of a bound that is an object or a level.
pub(super) fn is_level(source: &p::Expr) -> bool {
    matches!(source.ty, Type::Mu)
        || matches!(source.kind, ExprKind::FieldRead { field: FieldRef::Mu, .. })
}
