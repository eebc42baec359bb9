//! Expressions; assertions are expressions of type `bool`.

use front::grow_stack;
use num_bigint::BigInt;

use super::{Access, ChannelId, ClassId, FieldId, FunctionId, LocalId, MethodId, Type};
use crate::source::Span;
pub use crate::syntax::{LockMode, Quantifier, UnaryOp};

/// An expression with its type and place. Its span starts at its leftmost token.
///
/// Two are equal if they say the same, wherever they are.
#[derive(Debug, Clone)]
pub struct Expr {
    /// The expression itself.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// The place of the expression.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `7`
    Int(BigInt),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `"text"`
    String(String),
    /// `this`, written or implied; in a where clause of a channel, the channel.
    This,
    /// `result`, in postconditions of functions.
    Result,
    /// `waitlevel`
    WaitLevel,
    /// `lockbottom`
    LockBottom,
    /// A parameter, result, variable or bound variable.
    Local(LocalId),
    /// `e.f`, also `e.mu` and `tk.joinable`.
    FieldRead {
        /// The object.
        receiver: Box<Expr>,
        /// The field.
        field: FieldRef,
    },
    /// `e.f(a, ..)`. The receiver of a static function is present but never evaluated.
    Apply {
        /// The object.
        receiver: Box<Expr>,
        /// The function.
        function: FunctionId,
        /// The actual parameters.
        arguments: Vec<Expr>,
    },
    /// `!e`, `-e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// An operator with two operands that is none of the following.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a && b && ..`: two or more conjuncts, none of which is unparenthesised `&&`.
    And(Vec<Expr>),
    /// `a || b || ..`: two or more disjuncts.
    Or(Vec<Expr>),
    /// `guard ==> body`
    Implies {
        /// The condition, never an assertion about permissions.
        guard: Box<Expr>,
        /// The assertion under the guard.
        body: Box<Expr>,
    },
    /// `c ? a : b`, also `ite(c, a, b)`.
    Conditional {
        /// The condition, never an assertion about permissions.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if it does not.
        otherwise: Box<Expr>,
    },
    /// `old(e)`
    Old(Box<Expr>),
    /// `unfolding acc(e.P, p) in body`; the target is a predicate.
    Unfolding {
        /// The predicate instance and the share of it that is opened.
        access: Box<Access>,
        /// Evaluated with the predicate opened.
        body: Box<Expr>,
    },
    /// `|e|` of a sequence or set.
    Length(Box<Expr>),
    /// `[a, ..]`, `[]`, `nil<T>`; the node's type gives the element type.
    Seq(Vec<Expr>),
    /// `{a, ..}`, `{}`, `empty<T>`; the node's type gives the element type.
    Set(Vec<Expr>),
    /// `[from..to]`, without `to`.
    Range {
        /// First element.
        from: Box<Expr>,
        /// One after the last element.
        to: Box<Expr>,
    },
    /// `s[i]`
    Index {
        /// The sequence.
        sequence: Box<Expr>,
        /// Counted from 0.
        index: Box<Expr>,
    },
    /// `s[from..to]`: the first `to` elements without the first `from`; at least one bound is
    /// present.
    Slice {
        /// The sequence.
        sequence: Box<Expr>,
        /// How many elements to drop.
        from: Option<Box<Expr>>,
        /// How many elements to take, counted from the start of `sequence`.
        to: Option<Box<Expr>>,
    },
    /// `forall`, `exists`, `sum` and `max`.
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound variables, all over the same domain.
        variables: Vec<LocalId>,
        /// The range of the variables.
        domain: Domain,
        /// Said of, or summed over, each choice.
        body: Box<Expr>,
    },
    /// `e.~(C.f)`: the set of objects whose tracked field points to `e`.
    BackPointers {
        /// The object pointed to.
        receiver: Box<Expr>,
        /// The class of the objects that point.
        class: ClassId,
        /// Their tracked field.
        field: FieldId,
    },
    /// `holds(e)`, `rd holds(e)`
    Holds {
        /// The object whose lock it is.
        target: Box<Expr>,
        /// For writing or for reading.
        mode: LockMode,
    },
    /// `assigned(x)` of a ghost constant.
    Assigned(LocalId),
    /// An accessibility assertion: `acc(..)`, `rd(..)`, `rd*(..)`, or a predicate by its name
    /// alone.
    Access(Box<Access>),
    /// `credit(c, n)`
    Credit {
        /// The channel.
        channel: Box<Expr>,
        /// How many messages may be received; absent means one.
        amount: Option<Box<Expr>>,
    },
    /// `eval(state, body)`
    Eval {
        /// The state to look at.
        state: Box<EvalState>,
        /// The expression to evaluate, or the assertion, in that state.
        body: Box<Expr>,
    },
}

/// A field of an object: a declared one or one of those every object of its kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldRef {
    /// Declared in a class.
    Declared(FieldId),
    /// The lock level of any object or channel.
    Mu,
    /// The mark of a token that has not been joined yet.
    Joinable,
}

/// Infix operators, told apart by the types of their operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `<==>` on truth values.
    Iff,
    /// `==` on any type.
    Eq,
    /// `!=` on any type.
    Ne,
    /// `<` on integers.
    Less,
    /// `<=` on integers.
    AtMost,
    /// `>=` on integers.
    AtLeast,
    /// `>` on integers.
    Greater,
    /// `<<` on lock levels; a reference operand has been replaced by a read of its `mu`.
    Below,
    /// `in` a sequence or set.
    In,
    /// `!in`
    NotIn,
    /// `+` on integers.
    Add,
    /// `-` on integers.
    Sub,
    /// `*` on integers.
    Mul,
    /// `/` on integers, rounding so that the remainder is not negative.
    Div,
    /// `%` on integers, never negative.
    Mod,
    /// `++` on sequences.
    Append,
    /// `+` on sets.
    Union,
    /// `-` on sets.
    Difference,
    /// `*` on sets.
    Intersection,
    /// `<` on sets.
    ProperSubset,
    /// `<=` on sets.
    Subset,
    /// `>=` on sets.
    Superset,
    /// `>` on sets.
    ProperSuperset,
}

/// The range of bound variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// All values of a type.
    Type(Type),
    /// The elements of a sequence or set.
    Collection(Box<Expr>),
}

/// The states `eval` can speak about.
#[derive(Debug, Clone, PartialEq)]
pub enum EvalState {
    /// `o.acquire`: after the current acquire of `o`.
    Acquire(Expr),
    /// `o.release`: when `o` was last seen unlocked.
    Release(Expr),
    /// `tk.fork o.m(a, ..)`: before the fork of `tk`, which forked `m` on `o` with these arguments.
    Fork {
        /// The token.
        token: Expr,
        /// Claimed receiver.
        receiver: Expr,
        /// The forked method.
        method: MethodId,
        /// Claimed arguments; `None` is `_`, any value.
        arguments: Vec<Option<Expr>>,
    },
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty && grow_stack(|| self.kind == other.kind)
    }
}

impl Expr {
    /// Returns the channel declaration of a channel-typed expression.
    pub fn channel(&self) -> Option<ChannelId> {
        match self.ty {
            Type::Channel(channel) => Some(channel),
            _ => None,
        }
    }
}
