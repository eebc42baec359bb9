//! Expressions.

use front::grow_stack;

use super::Printer;
use crate::syntax::{AccessForm, BinaryOp, Domain, Expr, ExprKind, Quantifier, StateKind, UnaryOp};

/// How tightly an expression holds together; an operand that holds less tightly than its place
/// needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Anything, also what extends as far right as it can.
    Whole,
    Conditional,
    Iff,
    Implies,
    Junction,
    Comparison,
    Append,
    Sum,
    Product,
    Prefix,
    Postfix,
}

impl Level {
    /// Returns the next tighter level.
    fn above(self) -> Self {
        match self {
            Self::Whole => Self::Conditional,
            Self::Conditional => Self::Iff,
            Self::Iff => Self::Implies,
            Self::Implies => Self::Junction,
            Self::Junction => Self::Comparison,
            Self::Comparison => Self::Append,
            Self::Append => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Prefix,
            Self::Prefix | Self::Postfix => Self::Postfix,
        }
    }
}

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        grow_stack(|| self.kind(&expr.kind));
    }

    /// An operand in a place that needs at least this level.
    fn operand(&mut self, expr: &Expr, needed: Level) {
        if level(&expr.kind) < needed {
            self.put("(");
            self.expr(expr);
            self.put(")");
        } else {
            self.expr(expr);
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        self.list(exprs, Self::expr);
    }

    fn kind(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Int(number) => self.put(&number.to_string()),
            ExprKind::Bool(truth) => self.put(if *truth { "true" } else { "false" }),
            ExprKind::Null => self.put("null"),
            ExprKind::String(text) => {
                let quote = if text.contains('"') { "'" } else { "\"" };
                self.put(&format!("{quote}{text}{quote}"));
            }
            ExprKind::This => self.put("this"),
            ExprKind::Result => self.put("result"),
            ExprKind::WaitLevel => self.put("waitlevel"),
            ExprKind::LockBottom => self.put("lockbottom"),
            ExprKind::Name(name) => self.put(name),
            ExprKind::Select { receiver, member } => {
                self.operand(receiver, Level::Postfix);
                self.put(".");
                self.ident(member);
            }
            ExprKind::Apply { receiver, function, arguments } => {
                if let Some(receiver) = receiver {
                    self.operand(receiver, Level::Postfix);
                    self.put(".");
                }
                self.ident(function);
                self.arguments(arguments);
            }
            ExprKind::AllFields(receiver) => {
                self.operand(receiver, Level::Postfix);
                self.put(".*");
            }
            ExprKind::Elements(sequence) => {
                self.operand(sequence, Level::Postfix);
                self.put("[*]");
            }
            ExprKind::BackPointers { receiver, class, field } => {
                if let Some(receiver) = receiver {
                    self.operand(receiver, Level::Postfix);
                    self.put(".");
                }
                self.put(&format!("~({}.{})", class.name, field.name));
            }
            ExprKind::Index { sequence, index } => {
                self.operand(sequence, Level::Postfix);
                self.put("[");
                self.expr(index);
                self.put("]");
            }
            ExprKind::Slice { sequence, from, to } => {
                self.operand(sequence, Level::Postfix);
                self.put("[");
                for (position, bound) in [from, to].into_iter().enumerate() {
                    if position == 1 {
                        self.put("..");
                    }
                    if let Some(bound) = bound {
                        self.expr(bound);
                    }
                }
                self.put("]");
            }
            ExprKind::Unary { op, operand } => {
                self.put(if *op == UnaryOp::Not { "!" } else { "-" });
                self.operand(operand, Level::Prefix);
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::And(operands) => self.junction(" && ", operands),
            ExprKind::Or(operands) => self.junction(" || ", operands),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.operand(condition, Level::Iff);
                self.put(" ? ");
                self.expr(then);
                self.put(" : ");
                self.expr(otherwise);
            }
            ExprKind::Access { form, target, amount } => {
                self.put(match form {
                    AccessForm::Acc => "acc",
                    AccessForm::Rd => "rd",
                    AccessForm::RdStar => "rd*",
                });
                self.pair(target, amount.as_deref());
            }
            ExprKind::Rd => self.put("rd"),
            ExprKind::Credit { channel, amount } => {
                self.put("credit");
                self.pair(channel, amount.as_deref());
            }
            ExprKind::Holds { target, mode } => {
                self.put(mode.word());
                self.put("holds");
                self.pair(target, None);
            }
            ExprKind::Assigned(name) => self.put(&format!("assigned({})", name.name)),
            ExprKind::Old(inner) => {
                self.put("old");
                self.pair(inner, None);
            }
            ExprKind::Unfolding { access, body } => {
                self.put("unfolding ");
                self.operand(access, Level::Postfix);
                self.put(" in ");
                self.expr(body);
            }
            ExprKind::Length(inner) => {
                self.put("| ");
                self.expr(inner);
                self.put(" |");
            }
            ExprKind::Eval { subject, state, body } => self.eval(subject, state, body),
            ExprKind::Quantified { quantifier, variables, domain, body } => {
                self.put(match quantifier {
                    Quantifier::Forall => "forall ",
                    Quantifier::Exists => "exists ",
                    Quantifier::Sum => "sum ",
                    Quantifier::Max => "max ",
                });
                self.list(variables, Self::ident);
                self.domain(domain);
                self.put(" :: ");
                self.expr(body);
            }
            ExprKind::Range { from, to } => {
                self.put("[");
                self.expr(from);
                self.put("..");
                self.expr(to);
                self.put("]");
            }
            ExprKind::Seq(elements) => {
                self.put("[");
                self.exprs(elements);
                self.put("]");
            }
            ExprKind::Set(elements) => {
                self.put("{");
                self.exprs(elements);
                self.put("}");
            }
            ExprKind::Nil(ty) => {
                self.put("nil<");
                self.type_expr(ty);
                self.put(">");
            }
            ExprKind::Empty(ty) => {
                self.put("empty<");
                self.type_expr(ty);
                self.put(">");
            }
            ExprKind::Any => self.put("_"),
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Expr]) {
        self.put("(");
        self.exprs(arguments);
        self.put(")");
    }

    /// One or two expressions in parentheses.
    fn pair(&mut self, first: &Expr, second: Option<&Expr>) {
        self.put("(");
        self.expr(first);
        if let Some(second) = second {
            self.put(", ");
            self.expr(second);
        }
        self.put(")");
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let own = operator_level(op);
        let (left_level, right_level) = match own {
            Level::Iff | Level::Implies => (own.above(), own),
            Level::Comparison => (own.above(), own.above()),
            _ => (own, own.above()),
        };
        self.operand(left, left_level);
        self.put(&format!(" {} ", op.symbol()));
        self.operand(right, right_level);
    }

    fn junction(&mut self, symbol: &str, operands: &[Expr]) {
        for (position, operand) in operands.iter().enumerate() {
            if position > 0 {
                self.put(symbol);
            }
            self.operand(operand, Level::Comparison);
        }
    }

    fn eval(&mut self, subject: &Expr, state: &StateKind, body: &Expr) {
        self.put("eval(");
        self.operand(subject, Level::Postfix);
        match state {
            StateKind::Acquire => self.put(".acquire"),
            StateKind::Release => self.put(".release"),
            StateKind::Fork(fork) => {
                self.put(".fork ");
                self.call(fork.receiver.as_ref(), &fork.method, &fork.arguments);
            }
        }
        self.put(", ");
        self.expr(body);
        self.put(")");
    }

    /// A call as statements name it.
    pub(super) fn call(
        &mut self,
        receiver: Option<&Expr>,
        method: &crate::syntax::Ident,
        arguments: &[Expr],
    ) {
        if let Some(receiver) = receiver {
            self.postfix(receiver);
            self.put(".");
        }
        self.ident(method);
        self.arguments(arguments);
    }

    /// An expression from which something is selected.
    pub(super) fn postfix(&mut self, expr: &Expr) {
        self.operand(expr, Level::Postfix);
    }

    /// An expression in parentheses, whether it needs them or not.
    pub(super) fn parenthesised(&mut self, expr: &Expr) {
        self.pair(expr, None);
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Type(ty) => {
                self.put(": ");
                self.type_expr(ty);
            }
            Domain::In(collection) => {
                self.put(" in ");
                self.expr(collection);
            }
            // Without parentheses a name would be read as a type.
            Domain::Over(collection) => {
                self.put(": ");
                self.parenthesised(collection);
            }
        }
    }
}

fn level(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Unfolding { .. } | ExprKind::Quantified { .. } => Level::Whole,
        ExprKind::Conditional { .. } => Level::Conditional,
        ExprKind::And(_) | ExprKind::Or(_) => Level::Junction,
        ExprKind::Binary { op, .. } => operator_level(*op),
        ExprKind::Unary { .. } => Level::Prefix,
        _ => Level::Postfix,
    }
}

fn operator_level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Iff => Level::Iff,
        BinaryOp::Implies => Level::Implies,
        BinaryOp::Append => Level::Append,
        BinaryOp::Add | BinaryOp::Sub => Level::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => Level::Product,
        _ => Level::Comparison,
    }
}
