//! Lowered expressions.

use chalice::Span;
pub use chalice::program::Quantifier;
use chalice::program::{LockMode, Type};
use front::grow_stack;

use crate::value::{Arithmetic, Value};

/// An expression or assertion.
#[derive(Debug, Clone)]
pub struct Expr {
    /// The expression itself.
    pub kind: Kind,
    /// The place of the expression.
    pub span: Span,
    /// Does it speak of no permission and no credit, so that it has a truth value of its own?
    pub is_pure: bool,
}

/// Truth of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bool2 {
    /// `<==>`, `==`
    Equal,
    /// `!=`
    Different,
}

/// Comparisons of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
}

/// Operators on sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOp {
    /// `+`
    Union,
    /// `-`
    Difference,
    /// `*`
    Intersection,
    /// `<=`
    Subset,
    /// `<`
    ProperSubset,
}

/// A side of a comparison of levels.
#[derive(Debug, Clone)]
pub enum LevelSide {
    /// The level that an expression has.
    Value(Expr),
    /// `waitlevel`, or `old(waitlevel)`.
    Wait {
        /// Is it that of the old state?
        old: bool,
    },
}

/// The forms of expressions.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A literal.
    Const(Value),
    /// The value of a slot.
    Slot(u32),
    /// A constant that may be read before it is assigned; the flag says whether it is.
    Constant {
        /// Its slot.
        slot: u32,
        /// The slot of the flag.
        flag: u32,
    },
    /// `e.f`
    Field {
        /// The object.
        receiver: Box<Expr>,
        /// The cell.
        cell: u32,
    },
    /// `e.f(a, ..)`
    Apply {
        /// The object.
        receiver: Box<Expr>,
        /// The function.
        function: u32,
        /// The arguments.
        arguments: Box<[Expr]>,
    },
    /// `!e`
    Not(Box<Expr>),
    /// `-e`
    Negate(Box<Expr>),
    /// `+`, `-`, `*`
    Arithmetic(Arithmetic, Box<(Expr, Expr)>),
    /// `/`, or `%`
    Divide {
        /// Is the remainder meant?
        remainder: bool,
        /// Dividend and divisor.
        operands: Box<(Expr, Expr)>,
    },
    /// `<`, `<=`, `>=`, `>`
    Compare(Compare, Box<(Expr, Expr)>),
    /// `==`, `!=`, `<==>`
    Equal(Bool2, Box<(Expr, Expr)>),
    /// `==`, `!=` where a side is `waitlevel`
    EqualLevels(Bool2, Box<(LevelSide, LevelSide)>),
    /// `<<`
    Below(Box<(LevelSide, LevelSide)>),
    /// `in`, `!in`
    In {
        /// Is it `!in`?
        negated: bool,
        /// Element and collection.
        operands: Box<(Expr, Expr)>,
    },
    /// `++`
    Append(Box<(Expr, Expr)>),
    /// Operators on sets.
    Sets(SetOp, Box<(Expr, Expr)>),
    /// `a && ..`
    And(Box<[Expr]>),
    /// `a || ..`
    Or(Box<[Expr]>),
    /// `a ==> b`
    Implies(Box<(Expr, Expr)>),
    /// `c ? a : b`
    Conditional(Box<(Expr, Expr, Expr)>),
    /// `old(e)`
    Old(Box<Expr>),
    /// `unfolding acc(e.P, p) in body`
    Unfolding(Box<(Access, Expr)>),
    /// `|e|`
    Length(Box<Expr>),
    /// `[a, ..]`
    Seq(Box<[Expr]>),
    /// `{a, ..}`
    Set(Box<[Expr]>),
    /// `[a..b]`
    Range(Box<(Expr, Expr)>),
    /// `s[i]`
    Index(Box<(Expr, Expr)>),
    /// `s[a..b]`
    Slice(Box<(Expr, Option<Expr>, Option<Expr>)>),
    /// Quantifiers.
    Quantified(Box<Quantified>),
    /// `holds(e)`, `rd holds(e)`
    Holds {
        /// The object.
        target: Box<Expr>,
        /// The kind of lock.
        mode: LockMode,
    },
    /// `acc(..)`
    Access(Box<Access>),
    /// `credit(c, n)`
    Credit {
        /// The channel.
        channel: Box<Expr>,
        /// How many; one if absent.
        amount: Option<Box<Expr>>,
    },
    /// `eval(state, e)`
    Eval(Box<(EvalState, Expr)>),
}

/// A quantifier.
#[derive(Debug, Clone)]
pub struct Quantified {
    /// The quantifier.
    pub quantifier: Quantifier,
    /// The bound variables: slot and what it ranges over.
    pub variables: Vec<(u32, Source)>,
    /// The formula or summand for each choice.
    pub body: Expr,
}

/// The range of a bound variable.
#[derive(Debug, Clone)]
pub enum Source {
    /// The distinct elements of a sequence or set.
    Elements(Expr),
    /// Both truth values.
    Bools,
    /// The objects of a class, null, and one that does not exist.
    Objects(u32),
    /// The integers between the bounds that the body's guards give.
    Between {
        /// Lower bounds; `true` if the bound itself is left out.
        lower: Vec<(Expr, bool)>,
        /// Upper bounds; `true` if the bound itself is left out.
        upper: Vec<(Expr, bool)>,
    },
    /// The elements of a collection, by a guard of the body; other values make the body trivial.
    Members(Expr),
    /// The one value that a guard of the body gives.
    Exactly(Expr),
    /// Nothing finite: some values are tried. The literals that the body mentions are among them.
    Samples(Type, Vec<Value>),
}

/// An accessibility assertion.
#[derive(Debug, Clone)]
pub struct Access {
    /// To what.
    pub target: Target,
    /// How much.
    pub amount: AmountExpr,
    /// Where.
    pub span: Span,
}

/// The target of permission.
#[derive(Debug, Clone)]
pub enum Target {
    /// A cell of an object.
    Cell {
        /// The object.
        receiver: Expr,
        /// The cell.
        cell: u32,
    },
    /// A predicate instance.
    Predicate {
        /// The object.
        receiver: Expr,
        /// The predicate.
        predicate: u32,
    },
    /// All declared fields.
    AllFields {
        /// The object.
        receiver: Expr,
        /// How many.
        declared: u32,
    },
    /// A field of each object of a sequence.
    Elements {
        /// The sequence.
        elements: Expr,
        /// The cells: one field, or all.
        cells: std::ops::Range<u32>,
    },
    /// A predicate of each object of a sequence.
    Predicates {
        /// The sequence.
        elements: Expr,
        /// The predicate.
        predicate: u32,
    },
}

/// An amount of permission.
#[derive(Debug, Clone)]
pub enum AmountExpr {
    /// All of it.
    Full,
    /// Hundredths.
    Percentage(Box<Expr>),
    /// The read fraction of the context.
    Read,
    /// Counting permissions.
    Epsilons(Box<Expr>),
    /// `rd*`
    Star,
    /// The read fraction of predicates, monitors and channels; the operand is evaluated for its
    /// definedness.
    Common(Box<Expr>),
    /// The read fraction of a token's fork.
    Token(Box<Expr>),
    /// `p + q`
    Add(Box<(AmountExpr, AmountExpr)>),
    /// `p - q`
    Sub(Box<(AmountExpr, AmountExpr)>),
    /// `n * p`
    Scale(Box<(Expr, AmountExpr)>),
}

/// A state that `eval` speaks of.
#[derive(Debug, Clone)]
pub enum EvalState {
    /// `o.acquire`
    Acquire(Expr),
    /// `o.release`
    Release(Expr),
    /// `tk.fork o.m(a, ..)`
    Fork {
        /// The token.
        token: Expr,
        /// Claimed receiver.
        receiver: Expr,
        /// Claimed method.
        method: u32,
        /// Claimed arguments.
        arguments: Vec<Option<Expr>>,
    },
}

impl AmountExpr {
    /// Is the giver free to choose how much it is?
    pub(crate) fn is_inexact(&self, read_is_inexact: bool) -> bool {
        match self {
            Self::Star => true,
            Self::Read => read_is_inexact,
            Self::Add(parts) | Self::Sub(parts) => {
                parts.0.is_inexact(read_is_inexact) && parts.1.is_inexact(read_is_inexact)
            }
            Self::Scale(parts) => parts.1.is_inexact(read_is_inexact),
            _ => false,
        }
    }

    /// Is `rd*` part of it?
    pub fn has_star(&self) -> bool {
        match self {
            Self::Star => true,
            Self::Add(parts) | Self::Sub(parts) => parts.0.has_star() || parts.1.has_star(),
            Self::Scale(parts) => parts.1.has_star(),
            _ => false,
        }
    }
}

impl Expr {
    /// Is a claim true of it, or of an expression inside it?
    pub(crate) fn any<'e>(&'e self, claim: &mut dyn FnMut(&'e Self) -> bool) -> bool {
        if claim(self) {
            return true;
        }
        let mut found = false;
        grow_stack(|| self.for_each_child(&mut |child| found = found || child.any(claim)));
        found
    }

    /// Returns the subexpression that stands at a place.
    pub(crate) fn part_at(&self, span: Span) -> Option<&Self> {
        if self.span == span {
            return Some(self);
        }
        let mut found = None;
        grow_stack(|| {
            self.for_each_child(&mut |child| found = found.or_else(|| child.part_at(span)));
        });
        found
    }

    /// Calls `visit` on each direct subexpression that is evaluated with it.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            Kind::Const(_) | Kind::Slot(_) | Kind::Constant { .. } => {}
            Kind::Field { receiver: only, .. }
            | Kind::Not(only)
            | Kind::Negate(only)
            | Kind::Old(only)
            | Kind::Length(only)
            | Kind::Holds { target: only, .. } => visit(only),
            Kind::Apply { receiver, arguments, .. } => {
                visit(receiver);
                arguments.iter().for_each(visit);
            }
            Kind::Arithmetic(_, pair)
            | Kind::Divide { operands: pair, .. }
            | Kind::Compare(_, pair)
            | Kind::Equal(_, pair)
            | Kind::In { operands: pair, .. }
            | Kind::Append(pair)
            | Kind::Sets(_, pair)
            | Kind::Implies(pair)
            | Kind::Range(pair)
            | Kind::Index(pair) => {
                visit(&pair.0);
                visit(&pair.1);
            }
            Kind::EqualLevels(_, sides) | Kind::Below(sides) => {
                for side in [&sides.0, &sides.1] {
                    if let LevelSide::Value(e) = side {
                        visit(e);
                    }
                }
            }
            Kind::And(all) | Kind::Or(all) | Kind::Seq(all) | Kind::Set(all) => {
                all.iter().for_each(visit);
            }
            Kind::Conditional(parts) => {
                visit(&parts.0);
                visit(&parts.1);
                visit(&parts.2);
            }
            Kind::Unfolding(parts) => {
                parts.0.target.receiver(visit);
                visit(&parts.1);
            }
            Kind::Slice(parts) => {
                visit(&parts.0);
                parts.1.iter().chain(&parts.2).for_each(visit);
            }
            Kind::Quantified(quantified) => {
                // The expressions of the other sources are part of the body.
                for (_, source) in &quantified.variables {
                    if let Source::Elements(of) = source {
                        visit(of);
                    }
                }
                visit(&quantified.body);
            }
            Kind::Access(access) => access.target.receiver(visit),
            Kind::Credit { channel, amount } => {
                visit(channel);
                if let Some(amount) = amount {
                    visit(amount);
                }
            }
            Kind::Eval(parts) => visit(&parts.1),
        }
    }
}

impl Target {
    /// Calls `visit` on the object, or the collection of objects.
    pub(super) fn receiver<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Cell { receiver, .. }
            | Self::Predicate { receiver, .. }
            | Self::AllFields { receiver, .. } => visit(receiver),
            Self::Elements { elements, .. } | Self::Predicates { elements, .. } => visit(elements),
        }
    }
}
