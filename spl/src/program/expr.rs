//! Expressions; assertions are expressions of type [`Type::Bool`] or [`Type::Permission`].

use front::grow_stack;
use num_bigint::BigInt;

use super::{
    ConstructorId, DestructorId, FieldId, FunctionId, GlobalId, LocalId, PredicateId, Type,
};
use crate::source::Span;
pub use crate::syntax::{ChainOp, Quantifier, UnaryOp};

/// An expression with its type and place.
///
/// Two are equal if they say the same, wherever they are.
#[derive(Debug)]
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
    /// `7`, `'a'`
    Int(BigInt),
    /// `true`, `false`
    Bool(bool),
    /// `null`
    Null,
    /// `emp`, the assertion that holds of nothing.
    Emp,
    /// A parameter, result, variable or bound variable.
    Local(LocalId),
    /// A global variable.
    Global(GlobalId),
    /// A field as a map from objects to values: `f` in `Btwn(f, x, y, z)`.
    FieldMap(FieldId),
    /// `e.f`
    FieldRead {
        /// The object.
        receiver: Box<Expr>,
        /// Its field.
        field: FieldId,
    },
    /// `e.d` of a datatype.
    Destruct {
        /// The term.
        term: Box<Expr>,
        /// The part that is read.
        destructor: DestructorId,
    },
    /// `c(e, ..)`, or `c` alone.
    Construct {
        /// The constructor.
        constructor: ConstructorId,
        /// Its fields in order.
        arguments: Vec<Expr>,
    },
    /// `a.length`
    ArrayLength(Box<Expr>),
    /// `a.cells`, a map from integers to cells.
    ArrayCells(Box<Expr>),
    /// `a.map`, the contents as a map from integers; also where an array stands for that map.
    ArrayMap(Box<Expr>),
    /// `c.array`
    CellArray(Box<Expr>),
    /// `c.index`
    CellIndex(Box<Expr>),
    /// `c[]`, the content of a cell.
    CellContent(Box<Expr>),
    /// `a[i]` of an array.
    Element {
        /// The array.
        array: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `m[k]` of a map.
    MapRead {
        /// The map.
        map: Box<Expr>,
        /// The key.
        key: Box<Expr>,
    },
    /// `m[k := v]`
    MapUpdate {
        /// The map.
        map: Box<Expr>,
        /// The key.
        key: Box<Expr>,
        /// Its new value.
        value: Box<Expr>,
    },
    /// `f(e, ..)`; implicit parameters have no argument. A constant is applied to nothing.
    Apply {
        /// The function.
        function: FunctionId,
        /// One for each explicit parameter.
        arguments: Vec<Expr>,
    },
    /// `p(e, ..)`
    Predicate(PredicateUse),
    /// `acc(..)`
    Access(Box<Access>),
    /// `x.f |-> e`
    PointsTo {
        /// A [`ExprKind::FieldRead`], [`ExprKind::Element`] or [`ExprKind::CellContent`].
        location: Box<Expr>,
        /// The value at that place.
        value: Box<Expr>,
    },
    /// A prefix operator.
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
    /// `a <= b < ..`: at least two operators; every two neighbours are compared.
    Chain {
        /// The first operand.
        first: Box<Expr>,
        /// The operators and what stands behind each.
        rest: Vec<(ChainOp, Expr)>,
    },
    /// `a && b && ..`: two or more. With permissions: all hold, of the same footprint.
    And(Vec<Expr>),
    /// `a || b || ..`: two or more.
    Or(Vec<Expr>),
    /// `a &*& b &*& ..`: two or more, of disjoint footprints.
    Star(Vec<Expr>),
    /// `a &+& b &+& ..`: two or more, of footprints that may overlap.
    Overlap(Vec<Expr>),
    /// `a -** b`: the footprint of `a` is a part of that of `b`.
    PartOf {
        /// The assertion whose footprint is the part.
        part: Box<Expr>,
        /// The assertion whose footprint is the whole.
        whole: Box<Expr>,
    },
    /// `guard ==> body`
    Implies {
        /// The condition; pure.
        guard: Box<Expr>,
        /// The assertion under the guard.
        body: Box<Expr>,
    },
    /// `c ? a : b`
    Conditional {
        /// The condition; pure.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if it does not.
        otherwise: Box<Expr>,
    },
    /// `old(e)`
    Old(Box<Expr>),
    /// `known(e)`: the value of `e`, mentioned so that quantifiers find it.
    Known(Box<Expr>),
    /// `Btwn(f, x, y, z)`: from `x` along `f` one gets to `y`, and not to `z` before.
    Btwn {
        /// The field, or another map from a struct to itself.
        field: Box<Expr>,
        /// Where the path begins.
        from: Box<Expr>,
        /// The reference on the path.
        via: Box<Expr>,
        /// The reference that is not met before.
        to: Box<Expr>,
    },
    /// `Reach(f, x, y)`, which is `Btwn(f, x, y, y)`.
    Reach {
        /// The field, or another map from a struct to itself.
        field: Box<Expr>,
        /// Where the path begins.
        from: Box<Expr>,
        /// The reference on the path.
        to: Box<Expr>,
    },
    /// `Frame(X, A, f, g)`: the fields `f` and `g` agree on `A` without `X`.
    Frame {
        /// The objects that may differ.
        except: Box<Expr>,
        /// Where they agree otherwise.
        within: Box<Expr>,
        /// One field.
        before: Box<Expr>,
        /// The other.
        after: Box<Expr>,
    },
    /// `Disjoint(X, Y)`
    Disjoint(Box<Expr>, Box<Expr>),
    /// `unfolding p(e, ..) in body`
    Unfolding {
        /// The predicate instance that is opened.
        predicate: PredicateUse,
        /// Evaluated with it open.
        body: Box<Expr>,
    },
    /// `{e, ..}`, `Set(e, ..)`, `Set<T>(e, ..)`; the node's type gives the element type.
    Set(Vec<Expr>),
    /// `{x: T :: e}` with a truth value `e`: the set of all x of which it is true.
    SetComprehension {
        /// The element.
        variable: LocalId,
        /// Is it in the set?
        body: Box<Expr>,
    },
    /// `{x: T :: e}` with any other `e`: the map from x to `e`.
    MapComprehension {
        /// The key.
        variable: LocalId,
        /// Its value.
        body: Box<Expr>,
    },
    /// `forall x: T, y in X :: body`
    Quantified {
        /// The quantifier.
        quantifier: Quantifier,
        /// The bound variables.
        variables: Vec<Bound>,
        /// The quantified formula.
        body: Box<Expr>,
    },
    /// `e @(annotation) ..`
    Annotated {
        /// The annotated expression.
        body: Box<Expr>,
        /// How, in source order.
        annotations: Vec<Annotation>,
    },
    /// `byte2int(e)`
    ByteToInt(Box<Expr>),
    /// `int2byte(e)`: modulo 256.
    IntToByte(Box<Expr>),
}

/// A predicate with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateUse {
    /// The predicate.
    pub predicate: PredicateId,
    /// One for each explicit parameter.
    pub arguments: Vec<Expr>,
}

/// `acc(..)`: which form one is follows from the dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// Field dialect: `acc(x.f)`, the field `f` of `x`.
    Field {
        /// The object.
        receiver: Expr,
        /// Its field.
        field: FieldId,
    },
    /// Classic dialect: `acc(x)`, the object that `x` refers to.
    Object(Expr),
    /// Classic dialect: `acc(X)`, all objects of a set.
    Objects(Expr),
    /// Classic dialect: `acc(a, i)`, a cell of an array.
    Cell {
        /// The array.
        array: Expr,
        /// The index.
        index: Expr,
    },
}

/// A variable of a quantifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The variable.
    pub local: LocalId,
    /// The set it is from, if it is written `x in X`; earlier variables may occur there.
    pub domain: Option<Expr>,
}

/// `@(..)`
#[derive(Debug, Clone, PartialEq)]
pub enum Annotation {
    /// `matching t, .. yields u`: when the terms exist, so shall `u`.
    Generator(Generator),
    /// `pattern t`: the quantifier is instantiated where `t` exists.
    Pattern(Expr),
    /// `comment "text"`
    Comment(String),
    /// `noinst x`: a hint of the original's prover.
    NoInstance(String),
}

/// `matching t without f, .. yields u`
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// The terms to match.
    pub terms: Vec<Expr>,
    /// The term to create.
    pub result: Expr,
}

/// Infix operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `<=>`, also `==` of truth values.
    Iff,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<` of numbers.
    Less,
    /// `<=` of numbers.
    AtMost,
    /// `>` of numbers.
    Greater,
    /// `>=` of numbers.
    AtLeast,
    /// `<=` and `subsetof` of sets; `X >= Y` is turned round.
    Subset,
    /// `<` of sets; `X > Y` is turned round.
    ProperSubset,
    /// `in`; `e !in X` is a negation.
    In,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `++` of sets.
    Union,
    /// `**` of sets.
    Intersection,
    /// `--` of sets.
    Difference,
    /// `&` of bits.
    BitAnd,
    /// `|` of bits.
    BitOr,
    /// `<-<`
    ShiftLeft,
    /// `>->`
    ShiftRight,
}

impl Expr {
    /// Is it an assertion that may have a footprint?
    pub fn is_permission(&self) -> bool {
        self.ty == Type::Permission
    }
}

impl Clone for Expr {
    /// Not derived: a tree may be too deep for the stack of the thread.
    fn clone(&self) -> Self {
        grow_stack(|| Self { kind: self.kind.clone(), ty: self.ty.clone(), span: self.span })
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        grow_stack(|| self.kind == other.kind && self.ty == other.ty)
    }
}
