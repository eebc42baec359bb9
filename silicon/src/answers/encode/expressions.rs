//! Expressions, locations and resources.

use super::{Encoder, Part};
use sil::program::*;
use sil::source::Span;
use sil::syntax::Trigger;

impl Encoder<'_> {
    pub(super) fn field(&mut self, field: FieldId) {
        let name = &self.reader.program.fields[field].name;
        self.reach(Part::Field(field), name);
    }

    pub(super) fn access(&mut self, access: &PredicateAccess) {
        let PredicateAccess { predicate, arguments, amount, span } = access;
        self.predicate(*predicate);
        self.exprs(arguments);
        self.expr(amount);
        self.span(*span);
    }

    pub(super) fn predicate(&mut self, predicate: PredicateId) {
        let name = &self.reader.program.predicates[predicate].name;
        self.reach(Part::Predicate(predicate), name);
    }

    pub(super) fn location(&mut self, location: &Location) {
        match location {
            Location::Field { receiver, field } => {
                self.tag(0);
                self.expr(receiver);
                self.field(*field);
            }
            Location::Predicate { predicate, arguments } => {
                self.tag(1);
                self.predicate(*predicate);
                self.exprs(arguments);
            }
        }
    }

    pub(super) fn resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Location(location) => {
                self.tag(0);
                self.location(location);
            }
            Resource::Wand(wand) => {
                self.tag(1);
                self.expr(wand);
            }
        }
    }

    pub(super) fn exprs(&mut self, exprs: &[Expr]) {
        self.all(exprs, Self::expr);
    }

    /// A tag and the operands behind it.
    fn node<const COUNT: usize>(&mut self, tag: u8, operands: [&Expr; COUNT]) {
        self.tag(tag);
        for operand in operands {
            self.expr(operand);
        }
    }

    /// The same, where their number is open.
    fn list(&mut self, tag: u8, operands: &[Expr]) {
        self.tag(tag);
        self.exprs(operands);
    }

    fn domain_function(&mut self, function: DomainFunctionId) {
        let program = self.reader.program;
        let DomainFunction { name, domain, .. } = &program.domain_functions[function];
        self.reach(Part::Domain(*domain), name);
        self.name(&program.domains[*domain].name);
    }

    fn old_label(&mut self, label: OldLabel) {
        match label {
            OldLabel::Entry => self.tag(0),
            OldLabel::Lhs => self.tag(1),
            OldLabel::Label(label) => {
                self.tag(2);
                self.raw(label);
            }
        }
    }

    /// The variables of the quantifier at `span`. What quantifiers are called are their places: two
    /// with one name may be one for the prover.
    fn bound(&mut self, variables: &[LocalId], span: Span) {
        let place = self.reader.sources.range(span).map_or(String::new(), |(at, _)| at.to_string());
        let (index, _) = self.quantifiers.insert_full(place);
        self.number(index);
        self.all(variables, |this, &variable| this.bind(variable));
    }

    fn trigger(&mut self, trigger: &Trigger<Expr>) {
        let Trigger { terms, span } = trigger;
        self.exprs(terms);
        self.span(*span);
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        let Expr { kind, ty, span, annotations } = expr;
        self.span(*span);
        self.ty(ty);
        self.annotations(annotations);
        match kind {
            ExprKind::Int(number) => {
                self.tag(0);
                self.text(&number.to_string());
            }
            ExprKind::Bool(value) => {
                self.tag(1);
                self.flag(*value);
            }
            ExprKind::Null => self.tag(2),
            ExprKind::NoPerm => self.tag(3),
            ExprKind::FullPerm => self.tag(4),
            ExprKind::Wildcard => self.tag(5),
            ExprKind::Local(local) => {
                self.tag(7);
                self.raw(*local);
            }
            ExprKind::Result => self.tag(8),
            ExprKind::FieldRead { receiver, field } => {
                self.tag(9);
                self.expr(receiver);
                self.field(*field);
            }
            ExprKind::Apply { function, arguments } => {
                self.tag(10);
                let name = &self.reader.program.functions[*function].name;
                self.reach(Part::Function(*function), name);
                self.exprs(arguments);
            }
            ExprKind::DomainApply { function, instance, arguments } => {
                self.tag(11);
                self.domain_function(*function);
                self.all(instance, Self::ty);
                self.exprs(arguments);
            }
            ExprKind::Unary { op, operand } => {
                self.tag(12);
                self.node(unary(*op), [operand]);
            }
            ExprKind::Binary { op, left, right } => {
                self.tag(13);
                self.node(binary(*op), [left, right]);
            }
            ExprKind::And(operands) => self.list(14, operands),
            ExprKind::Or(operands) => self.list(15, operands),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.node(16, [condition, then, otherwise]);
            }
            ExprKind::Old { label, body } => {
                self.tag(17);
                self.old_label(*label);
                self.expr(body);
            }
            ExprKind::Let { variable, value, body } => {
                self.tag(18);
                self.bind(*variable);
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantified { quantifier, variables, triggers, body } => {
                self.tag(19);
                self.tag(match quantifier {
                    Quantifier::Forall => 0,
                    Quantifier::Exists => 1,
                });
                self.bound(variables, *span);
                self.all(triggers, Self::trigger);
                self.expr(body);
            }
            ExprKind::ForPerm { variables, resource, body } => {
                self.tag(20);
                self.bound(variables, *span);
                self.resource(resource);
                self.expr(body);
            }
            ExprKind::Perm(resource) => {
                self.tag(21);
                self.resource(resource);
            }
            ExprKind::Acc { location, amount } => {
                self.tag(22);
                self.location(location);
                self.expr(amount);
            }
            ExprKind::Wand { left, right } => self.node(23, [left, right]),
            ExprKind::InhaleExhale { inhale, exhale } => self.node(24, [inhale, exhale]),
            ExprKind::Unfolding { access, body } => {
                self.tag(25);
                self.access(access);
                self.expr(body);
            }
            ExprKind::Applying { wand, body } => self.node(26, [wand, body]),
            ExprKind::Asserting { assertion, body } => self.node(27, [assertion, body]),
            ExprKind::Literal { collection, elements } => {
                self.tag(28);
                self.list(literal(*collection), elements);
            }
            ExprKind::MapLiteral { entries } => {
                self.tag(29);
                self.all(entries, |this, (key, value)| {
                    this.expr(key);
                    this.expr(value);
                });
            }
            ExprKind::Range { low, high } => self.node(30, [low, high]),
            ExprKind::Index { base, index } => self.node(31, [base, index]),
            ExprKind::Update { base, index, value } => self.node(32, [base, index, value]),
            ExprKind::Take { base, count } => self.node(33, [base, count]),
            ExprKind::Drop { base, count } => self.node(34, [base, count]),
            ExprKind::Cardinality(operand) => self.node(35, [operand]),
            ExprKind::MapDomain(operand) => self.node(36, [operand]),
            ExprKind::MapRange(operand) => self.node(37, [operand]),
        }
    }
}

fn unary(op: UnaryOp) -> u8 {
    match op {
        UnaryOp::Not => 0,
        UnaryOp::Minus => 1,
    }
}

fn literal(collection: Collection) -> u8 {
    match collection {
        Collection::Seq => 0,
        Collection::Set => 1,
        Collection::Multiset => 2,
    }
}

fn binary(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Implies => 0,
        BinaryOp::Eq => 1,
        BinaryOp::Ne => 2,
        BinaryOp::Lt => 3,
        BinaryOp::Le => 4,
        BinaryOp::Gt => 5,
        BinaryOp::Ge => 6,
        BinaryOp::Add => 7,
        BinaryOp::Sub => 8,
        BinaryOp::Mul => 9,
        BinaryOp::IntDiv => 10,
        BinaryOp::Mod => 11,
        BinaryOp::PermDiv => 12,
        BinaryOp::Append => 13,
        BinaryOp::Union => 14,
        BinaryOp::Intersection => 15,
        BinaryOp::Setminus => 16,
        BinaryOp::Subset => 17,
        BinaryOp::In => 18,
    }
}
