//! Parsed expressions and types.

use front::grow_stack;
use num_bigint::BigInt;

use super::{Formal, Ident, Text};
use crate::source::Span;

/// An expression and its place.
#[derive(Debug)]
pub struct Expr {
    /// The expression itself.
    pub kind: ExprKind,
    /// Where it is, without parentheses around it.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `7`
    Int(BigInt),
    /// `'a'`
    Char(char),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `emp`
    Emp,
    /// A name alone.
    Name(String),
    /// `f(e, ..)`: a procedure, function, predicate, constructor, macro, or something built in.
    Call {
        /// The applied name.
        callee: Ident,
        /// To what.
        arguments: Vec<Expr>,
    },
    /// `e.f`
    Select {
        /// The object or term.
        receiver: Box<Expr>,
        /// The selected member.
        member: Ident,
    },
    /// `e[i]`
    Index {
        /// The array or map.
        base: Box<Expr>,
        /// Where.
        index: Box<Expr>,
    },
    /// `e[i := v]`
    Update {
        /// The map.
        base: Box<Expr>,
        /// Where.
        index: Box<Expr>,
        /// The new value.
        value: Box<Expr>,
    },
    /// `e[]`
    Content(Box<Expr>),
    /// `new T`, `new T(e, ..)`
    New {
        /// The type of the new object.
        ty: TypeExpr,
        /// The arguments in the parentheses, if there are any.
        arguments: Vec<Expr>,
    },
    /// `{e, ..}`, `Set(e, ..)`, `Set<T>(e, ..)`
    Set {
        /// The element type, if it is written.
        element: Option<TypeExpr>,
        /// The elements.
        elements: Vec<Expr>,
    },
    /// `{x: T :: e}`
    Comprehension {
        /// The bound variable.
        variable: Box<Formal>,
        /// Membership or value.
        body: Box<Expr>,
    },
    /// `byte2int(e)`
    ByteToInt(Box<Expr>),
    /// `int2byte(e)`
    IntToByte(Box<Expr>),
    /// A prefix operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a <= b < ..`: one operator or more.
    Chain {
        /// The first operand.
        first: Box<Expr>,
        /// The operators and what stands behind each.
        rest: Vec<(ChainOp, Expr)>,
    },
    /// `a && b && ..`
    And(Vec<Expr>),
    /// `a || b || ..`
    Or(Vec<Expr>),
    /// `a &*& b &*& ..`
    Star(Vec<Expr>),
    /// `a &+& b &+& ..`
    Overlap(Vec<Expr>),
    /// `c ? a : b`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if it does not.
        otherwise: Box<Expr>,
    },
    /// `forall x: T, .. :: e`
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound variables.
        variables: Vec<BoundVariable>,
        /// The quantified formula.
        body: Box<Expr>,
    },
    /// `unfolding p(e, ..) in e`
    Unfolding {
        /// The predicate.
        predicate: Ident,
        /// Its arguments.
        arguments: Vec<Expr>,
        /// Evaluated with it open.
        body: Box<Expr>,
    },
    /// `e @(..) ..`
    Annotated {
        /// The annotated expression.
        body: Box<Expr>,
        /// How.
        annotations: Vec<Annotation>,
    },
}

impl Clone for Expr {
    /// Not derived: a tree may be too deep for the stack of the thread.
    fn clone(&self) -> Self {
        grow_stack(|| Self { kind: self.kind.clone(), span: self.span })
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind)
    }
}

/// A type and its place.
#[derive(Debug, Clone)]
pub struct TypeExpr {
    /// The type itself.
    pub kind: TypeExprKind,
    /// The place of the type.
    pub span: Span,
}

impl PartialEq for TypeExpr {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind)
    }
}

/// The forms of types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeExprKind {
    /// `Int`
    Int,
    /// `Bool`
    Bool,
    /// `Byte`
    Byte,
    /// A struct, datatype or type.
    Name(String),
    /// `Loc<T>`
    Loc(Box<TypeExpr>),
    /// `Set<T>`
    Set(Box<TypeExpr>),
    /// `Array<T>`
    Array(Box<TypeExpr>),
    /// `ArrayCell<T>`
    ArrayCell(Box<TypeExpr>),
    /// `Map<T, U>`
    Map(Box<TypeExpr>, Box<TypeExpr>),
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`, of bits.
    Complement,
}

front::operators! {
    /// Infix operators that are no lists and no chains.
    pub enum BinaryOp {
        Iff = "<=>",
        Implies = "==>",
        PartOf = "-**",
        Eq = "==" | "=",
        Ne = "!=",
        In = "in",
        NotIn = "!in",
        PointsTo = "|->",
        Add = "+",
        Sub = "-",
        Union = "++",
        BitOr = "|",
        Mul = "*",
        Div = "/",
        Mod = "%",
        Intersection = "**",
        BitAnd = "&",
        Difference = "--",
        ShiftLeft = "<-<",
        ShiftRight = ">->",
    }
}

front::operators! {
    /// Operators that can be chained.
    pub enum ChainOp {
        Less = "<",
        AtMost = "<=" | "subsetof",
        Greater = ">",
        AtLeast = ">=",
    }
}

/// The binders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
}

/// `x: T`, `x in X`
#[derive(Debug, Clone, PartialEq)]
pub struct BoundVariable {
    /// The name.
    pub name: Ident,
    /// The range of the variable.
    pub domain: Domain,
}

/// The range of a bound variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// `: T`
    Type(TypeExpr),
    /// `in X`
    In(Expr),
}

/// `@(..)`
#[derive(Debug, Clone, PartialEq)]
pub enum Annotation {
    /// `matching t without f, .. yields u`
    Generator {
        /// The terms; a name behind `without` is a hint that we do not need.
        terms: Vec<Expr>,
        /// The created term.
        result: Expr,
    },
    /// `pattern t`
    Pattern(Expr),
    /// `comment "text"`
    Comment(Text),
    /// `noinst x`
    NoInstance(Ident),
}

impl Expr {
    /// Calls `visit` on each direct subexpression from left to right, those in annotations not
    /// included.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Int(_)
            | ExprKind::Char(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Emp
            | ExprKind::Name(_) => {}
            ExprKind::Call { arguments: all, .. }
            | ExprKind::New { arguments: all, .. }
            | ExprKind::Set { elements: all, .. }
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Star(all)
            | ExprKind::Overlap(all) => all.iter().for_each(visit),
            ExprKind::Select { receiver: only, .. }
            | ExprKind::Content(only)
            | ExprKind::Comprehension { body: only, .. }
            | ExprKind::ByteToInt(only)
            | ExprKind::IntToByte(only)
            | ExprKind::Unary { operand: only, .. }
            | ExprKind::Annotated { body: only, .. } => visit(only),
            ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
                visit(left);
                visit(right);
            }
            ExprKind::Update { base: first, index: second, value: third }
            | ExprKind::Conditional { condition: first, then: second, otherwise: third } => {
                visit(first);
                visit(second);
                visit(third);
            }
            ExprKind::Chain { first, rest } => {
                visit(first);
                rest.iter().for_each(|(_, operand)| visit(operand));
            }
            ExprKind::Quantified { variables, body, .. } => {
                for variable in variables {
                    if let Domain::In(set) = &variable.domain {
                        visit(set);
                    }
                }
                visit(body);
            }
            ExprKind::Unfolding { arguments, body, .. } => {
                arguments.iter().for_each(&mut *visit);
                visit(body);
            }
        }
    }
}
